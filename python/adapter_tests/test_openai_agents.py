import asyncio
import json
import threading
import unittest
from typing import Any

from agents import Agent, Model, ModelResponse, RunContextWrapper, Runner, Usage, function_tool, set_tracing_disabled
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from room import APPROVE, REJECT, A, B, Room, edit, mixed

from lanternroom import LanternError
from lanternroom.adapters.openai_agents import answer_approvals, open_state, run_with_person, seal_state

set_tracing_disabled(True)
SEAL = {"secret": "a secret of at least thirty-two characters", "run_id": "run-1"}


class Scripted(Model):
    """Says these tool calls first, then that it is done; keeps what it was shown."""

    def __init__(self, calls: Any, tool: str = "refund") -> None:
        self.calls = calls
        self.tool = tool
        self.shown: list = []

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:
        self.shown.append(input)
        output: list = [
            ResponseFunctionToolCall(
                type="function_call", call_id=f"{self.tool}{n}", name=self.tool, arguments=json.dumps(args), status="completed"
            )
            for n, args in enumerate(self.calls)
        ]
        if len(self.shown) > 1:
            text = ResponseOutputText(type="output_text", text="Done.", annotations=[])
            output = [
                ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
            ]
        return ModelResponse(output=output, usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError("not streamed in these tests")


class OpenAIAgents(Room):
    def agent(self, *calls: Any) -> Agent:
        self.entered: list = []

        @function_tool(needs_approval=True)
        def refund(order: str, amount: int) -> str:
            """Pays money back."""
            self.entered.append({"order": order, "amount": amount})
            return f"Refunded {order}."

        self.model = Scripted(calls)
        return Agent(name="clerk", model=self.model, tools=[refund])

    def run_all(self, decides: Any, *calls: Any) -> str:
        agent = self.agent(*calls)
        self.meanwhile(len(calls), decides)
        result = asyncio.run(run_with_person(agent, "Refund.", self.wake, run_id="run-1"))
        self.assertEqual(result.final_output, "Done.")
        return json.dumps(self.model.shown[-1], default=str)

    def test_approved(self) -> None:
        """[W23] an approved call runs once"""
        self.run_all(lambda _: APPROVE, A)
        self.assertEqual(self.entered, [A])

    def test_rejected(self) -> None:
        """[W23] the body of a rejected tool is never entered, and the model reads why"""
        self.assertIn("Not this customer.", self.run_all(lambda _: REJECT, A))
        self.assertEqual(self.entered, [])

    def test_edited(self) -> None:
        """[W23] edited arguments are what the tool receives, and what the model sees it called"""
        self.assertNotIn("40", self.run_all(edit, A))
        self.assertEqual(self.entered, [{"order": "A-17", "amount": 20}])

    def test_nested(self) -> None:
        """[W23] an agent that is a tool of another one is asked about too, and its edited call runs as edited"""
        clerk = self.agent(A, B)
        tools = [clerk.as_tool("ask_clerk", "Asks the clerk.")]
        chief = Agent(name="chief", model=Scripted([{"input": "Refund both."}], "ask_clerk"), tools=tools)
        self.meanwhile(2, lambda detail: REJECT if mixed(detail) is REJECT else edit(detail))
        result = asyncio.run(run_with_person(chief, "Refund.", self.wake, run_id="run-1"))
        self.assertEqual((result.final_output, self.entered), ("Done.", [{"order": "A-17", "amount": 20}]))
        self.assertIn("Not this customer.", json.dumps(self.model.shown[-1], default=str))

    def test_context(self) -> None:
        """[W23] an edit keeps the live context of the run, also what JSON cannot hold"""

        class Till:
            def __init__(self) -> None:
                self.lock = threading.Lock()
                self.paid: list = []

        @function_tool(needs_approval=True)
        def refund(context: RunContextWrapper[Till], order: str, amount: int) -> str:
            """Pays money back."""
            with context.context.lock:
                context.context.paid.append(amount)
            return "paid"

        till = Till()
        agent = Agent(name="clerk", model=Scripted([A]), tools=[refund])

        async def all_of_it() -> None:
            paused = await Runner.run(agent, "Refund.", context=till)
            state = await answer_approvals(agent, paused.to_state(), self.wake, run_id="run-1")
            await Runner.run(agent, state)

        self.meanwhile(1, edit)
        asyncio.run(all_of_it())
        self.assertEqual(till.paid, [20])
        again = Agent(name="clerk", model=Scripted([A]), tools=[refund])
        self.meanwhile(1, edit)
        asyncio.run(run_with_person(again, "Refund.", self.wake, run_id="run-2", context=till, max_turns=2))
        self.assertEqual(till.paid, [20, 20])

    def test_mixed(self) -> None:
        """[W23] of a mixed batch what was approved runs, and nothing else"""
        shown = self.run_all(mixed, A, B)
        self.assertIn("Not this customer.", shown)
        self.assertIn("Refunded A-17.", shown)
        self.assertEqual(self.entered, [A])

    def test_pause(self) -> None:
        """[W12] paused with its state sealed, a run is asked once and goes on in another process"""
        agent = self.agent(A)

        async def pause() -> str:
            return seal_state((await Runner.run(agent, "Refund.")).to_state(), **SEAL)

        async def look(log: str) -> Any:
            state = await open_state(agent, sealed, **SEAL)
            return await answer_approvals(agent, state, self.client(log), run_id="run-1", wait=False)

        async def go_on() -> Any:
            return await Runner.run(agent, await look("log.jsonl"))

        sealed = asyncio.run(pause())
        for log in ("log.jsonl", "log.jsonl", "lost.jsonl"):
            self.assertIsNone(asyncio.run(look(log)))
        self.assertEqual(len(self.rows()), 1)
        self.person(1, lambda _: APPROVE)
        self.assertEqual(asyncio.run(go_on()).final_output, "Done.")
        self.assertEqual((self.entered, len(self.rows())), ([A], 1))

    def test_seal(self) -> None:
        """[W23] a sealed state that was changed, or of another run, is refused"""
        agent = self.agent(A)

        async def refused(text: str, **over: str) -> None:
            with self.assertRaises(LanternError):
                await open_state(agent, text, **{**SEAL, **over})

        async def all_of_them() -> None:
            sealed = seal_state((await Runner.run(agent, "Refund.")).to_state(), **SEAL)
            await open_state(agent, sealed, **SEAL)
            await refused(sealed.replace("A-17", "Z-99"))
            await refused(sealed, run_id="run-2")
            await refused(sealed, secret="another secret of thirty-two characters")
            await refused(sealed.partition(".")[2])

        asyncio.run(all_of_them())


if __name__ == "__main__":
    unittest.main()
