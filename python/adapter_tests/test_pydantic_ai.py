import asyncio
import threading
import unittest
from typing import Any

from pydantic import TypeAdapter
from pydantic_ai import Agent, DeferredToolRequests, ModelMessagesTypeAdapter
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from room import APPROVE, REJECT, A, B, Room, edit, mixed

from lanternroom import LanternError
from lanternroom.adapters.pydantic_ai import answer_approvals, run_with_person

Requests = TypeAdapter(DeferredToolRequests)


class PydanticAI(Room):
    def agent(self, *steps: Any, id_of: str = "c{at}-{n}") -> Any:
        """An agent whose model makes these calls, step by step, and then says that it is done."""
        self.entered: list = []
        self.shown: list = []

        def scripted(messages: Any, _: Any) -> ModelResponse:
            self.shown.append(messages)
            at = sum(isinstance(one, ModelResponse) for one in messages)
            if at >= len(steps):
                return ModelResponse([TextPart("Done.")])
            ids = [id_of.format(at=at, n=n) for n in range(len(steps[at]))]
            return ModelResponse([ToolCallPart("refund", args, id) for args, id in zip(steps[at], ids)])

        agent = Agent(FunctionModel(scripted), output_type=[str, DeferredToolRequests])

        @agent.tool_plain(requires_approval=True)
        def refund(order: str, amount: int) -> str:
            """Pays money back."""
            self.entered.append({"order": order, "amount": amount})
            return f"Refunded {order}."

        return agent

    def run_all(self, decides: Any, *calls: Any) -> str:
        agent = self.agent(calls)
        self.meanwhile(len(calls), decides)
        result = asyncio.run(run_with_person(agent, "Refund.", self.wake, run_id="run-1"))
        self.assertEqual(result.output, "Done.")
        return ModelMessagesTypeAdapter.dump_json(self.shown[-1]).decode()

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
        self.assertNotRegex(self.run_all(edit, A), r"amount\W+40")
        self.assertEqual(self.entered, [{"order": "A-17", "amount": 20}])

    def test_invalid(self) -> None:
        """[W23] edited arguments that the tool does not take run nothing"""
        wrong = {"tool": "refund", "arguments": {"order": "A-17", "amount": "a lot"}}
        self.run_all(lambda _: {"status": "redirected", "edited_content": wrong}, A)
        self.assertEqual(self.entered, [])

    def test_mixed(self) -> None:
        """[W23] of a mixed batch what was approved runs, and nothing else"""
        shown = self.run_all(mixed, A, B)
        self.assertIn("Not this customer.", shown)
        self.assertIn("Refunded A-17.", shown)
        self.assertEqual(self.entered, [A])

    def test_steps(self) -> None:
        """[W23] each call of a longer run is asked about, and what happened before is not forgotten"""
        agent = self.agent([A], [B])

        def one_after_the_other() -> None:
            self.person(1, lambda _: APPROVE)
            self.person(1, lambda _: APPROVE)

        person = threading.Thread(target=one_after_the_other)
        person.start()
        self.addCleanup(person.join)
        asyncio.run(run_with_person(agent, "Refund.", self.wake, run_id="run-1"))
        self.assertEqual(self.entered, [A, B])
        self.assertIn("Refunded A-17.", ModelMessagesTypeAdapter.dump_json(self.shown[-1]).decode())

    def test_same_id(self) -> None:
        """[W12] the same call in a later turn is a question of its own, also where the model gives it the same id"""
        agent = self.agent([A], [A], id_of="refund:{n}")

        def once_only() -> None:
            self.person(1, lambda _: APPROVE)
            self.person(1, lambda _: REJECT)

        person = threading.Thread(target=once_only)
        person.start()
        self.addCleanup(person.join)
        asyncio.run(run_with_person(agent, "Refund.", self.wake, run_id="run-1"))
        self.assertEqual(self.entered, [A])

    def test_pause(self) -> None:
        """[W12] paused and stored as JSON, a run is asked once and goes on in another process"""
        agent = self.agent([A])
        paused = asyncio.run(agent.run("Refund."))
        messages, requests = paused.all_messages_json(), Requests.dump_json(paused.output)

        async def look(log: str) -> Any:
            history = ModelMessagesTypeAdapter.validate_json(messages)
            wanted = Requests.validate_json(requests)
            return await answer_approvals(history, wanted, self.client(log), run_id="run-1", wait=False)

        async def go_on() -> Any:
            return await agent.run(**(await look("log.jsonl")))

        for log in ("log.jsonl", "log.jsonl", "lost.jsonl"):
            self.assertIsNone(asyncio.run(look(log)))
        self.assertEqual(len(self.rows()), 1)
        self.person(1, lambda _: APPROVE)
        self.assertEqual(asyncio.run(go_on()).output, "Done.")
        self.assertEqual((self.entered, len(self.rows())), ([A], 1))

    def test_looking_once(self) -> None:
        """[W12] a run that may not wait comes back as it is, and its question is on the desk"""
        run = run_with_person(self.agent([A]), "Refund.", self.wake, run_id="run-1", wait=False)
        self.assertIsInstance(asyncio.run(run).output, DeferredToolRequests)
        self.assertEqual((self.entered, len(self.rows())), ([], 1))

    def test_no_id(self) -> None:
        """[W12] a run without an id of its own is refused before anybody is asked"""
        with self.assertRaises(LanternError):
            asyncio.run(run_with_person(self.agent([A]), "Refund.", self.wake, run_id=""))
        self.assertEqual(self.rows(), [])


if __name__ == "__main__":
    unittest.main()
