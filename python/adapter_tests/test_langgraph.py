import unittest
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from room import APPROVE, REJECT, A, B, Room, edit, mixed
from typing_extensions import TypedDict

from lanternroom.adapters.langgraph import answer_interrupts, ask_person, run_with_person

CONFIG = {"configurable": {"thread_id": "thread-1"}}
ASKED = {"messages": [("user", "Refund both orders.")]}
MODES = ("batched", "per_call")


class Scripted(GenericFakeChatModel):
    def bind_tools(self, *_: Any, **__: Any) -> "Scripted":
        return self


class LangGraph(Room):
    def agent(self, mode: str, *calls: Any) -> Any:
        self.entered: list = []

        @tool
        def refund(order: str, amount: int) -> str:
            """Pays money back."""
            self.entered.append({"order": order, "amount": amount})
            return f"Refunded {order}."

        asked = [{"name": "refund", "args": args, "id": f"c{n}"} for n, args in enumerate(calls)]
        model = Scripted(messages=iter([AIMessage("", tool_calls=asked), AIMessage("Done.")]))
        middleware = [HumanInTheLoopMiddleware(interrupt_on={"refund": True}, interrupt_mode=mode)]
        return create_agent(model, tools=[refund], middleware=middleware, checkpointer=InMemorySaver())

    def run_all(self, mode: str, decides: Any, *calls: Any) -> str:
        agent = self.agent(mode, *calls)
        self.meanwhile(len(calls), decides)
        result = run_with_person(agent, ASKED, {"configurable": {"thread_id": mode}}, self.wake)
        self.assertEqual(result["messages"][-1].content, "Done.")
        return "\n".join(str(one.content) for one in result["messages"])

    def test_approved(self) -> None:
        """[W23] an approved call runs once"""
        for mode in MODES:
            self.run_all(mode, lambda _: APPROVE, A)
            self.assertEqual(self.entered, [A], mode)

    def test_rejected(self) -> None:
        """[W23] the body of a rejected tool is never entered, and the model reads why"""
        for mode in MODES:
            self.assertIn("Not this customer.", self.run_all(mode, lambda _: REJECT, A))
            self.assertEqual(self.entered, [], mode)

    def test_edited(self) -> None:
        """[W23] edited arguments are what the tool receives"""
        for mode in MODES:
            self.run_all(mode, edit, A)
            self.assertEqual(self.entered, [{"order": "A-17", "amount": 20}], mode)

    def test_mixed(self) -> None:
        """[W23] of a mixed batch what was approved runs, and nothing else"""
        for mode in MODES:
            self.assertIn("Not this customer.", self.run_all(mode, mixed, A, B))
            self.assertEqual(self.entered, [A], mode)

    def test_pause(self) -> None:
        """[W12] paused and looked at again, also without its log, a call is asked once and resumes from the answer"""
        for mode in MODES:
            agent = self.agent(mode, A)
            config = {"configurable": {"thread_id": mode}}
            agent.invoke(ASKED, config)
            before = len(self.rows())
            for log in ("log.jsonl", "log.jsonl", f"lost-{mode}.jsonl"):
                self.assertIsNone(answer_interrupts(agent, config, self.client(log), wait=False))
            self.assertEqual(len(self.rows()), before + 1)
            self.person(1, lambda _: APPROVE)
            self.assertEqual(self.entered, [])
            result = run_with_person(agent, None, config, self.client())
            self.assertEqual((result["messages"][-1].content, self.entered), ("Done.", [A]))

    def test_question(self) -> None:
        """[W23] a node asks with ask_person, and goes on with the answer"""

        class State(TypedDict):
            answer: str

        def ask(_: State) -> State:
            return {"answer": ask_person(type="question", headline="Draft is ready", summary="Send it?")["status"]}

        graph = StateGraph(State).add_node("ask", ask).add_edge(START, "ask").add_edge("ask", END)
        self.meanwhile(1, lambda _: APPROVE)
        result = run_with_person(graph.compile(checkpointer=InMemorySaver()), {"answer": ""}, CONFIG, self.wake)
        self.assertEqual(result["answer"], "approved")

    def test_again(self) -> None:
        """[W23] a node that asks the same again gets an answer of its own each time"""

        class State(TypedDict):
            answer: str

        def insist(_: State) -> State:
            while interrupt("Ship it?")["status"] != "approved":
                pass
            return {"answer": "shipped"}

        inner = StateGraph(State).add_node("insist", insist).add_edge(START, "insist").compile()

        def call(state: State) -> Any:
            return inner.invoke(state)

        for at, node in enumerate((insist, inner, call)):
            graph = StateGraph(State).add_node("ask", node).add_edge(START, "ask").compile(InMemorySaver())
            config = {"configurable": {"thread_id": f"thread-{at}"}}
            following: Any = {"answer": ""}
            for answer in (REJECT, APPROVE):
                graph.invoke(following, config)
                self.assertIsNone(answer_interrupts(graph, config, self.client(), wait=False))
                self.person(1, lambda _, said=answer: said)
                following = answer_interrupts(graph, config, self.client(), wait=False)
            self.assertEqual(graph.invoke(following, config)["answer"], "shipped")
        self.assertEqual(len(self.rows()), 6)

    def test_fails(self) -> None:
        """[W12] a node that fails behind its answer goes on with that answer"""

        class State(TypedDict):
            answer: str

        failures = [RuntimeError("the post office is closed")]

        def ask(_: State) -> State:
            status = interrupt("Ship it?")["status"]
            if failures:
                raise failures.pop()
            return {"answer": status}

        graph = StateGraph(State).add_node("ask", ask).add_edge(START, "ask").compile(InMemorySaver())
        self.meanwhile(1, lambda _: APPROVE)
        with self.assertRaisesRegex(RuntimeError, "post office"):
            run_with_person(graph, {"answer": ""}, CONFIG, self.wake)
        self.assertEqual(run_with_person(graph, None, CONFIG, self.client())["answer"], "approved")
        self.assertEqual(len(self.rows()), 1)


if __name__ == "__main__":
    unittest.main()
