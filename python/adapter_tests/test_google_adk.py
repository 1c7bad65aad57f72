import asyncio
import threading
import unittest
import uuid
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types
from room import APPROVE, REJECT, A, B, Room, edit, mixed

from lanternroom import LanternError
from lanternroom.adapters.google_adk import lantern_callback


class Scripted(BaseLlm):
    """Calls the tool with each of these first, then says that it is done."""

    calls: list
    id: str = ""

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
        parts = [part for content in llm_request.contents for part in content.parts]
        asked = [
            types.Part(function_call=types.FunctionCall(id=self.id or str(uuid.uuid4()), name="refund", args=dict(args)))
            for args in self.calls
        ]
        is_over = bool(parts[-1].function_response)
        content = types.Content(role="model", parts=[types.Part(text="Done.")] if is_over else asked)
        yield LlmResponse(content=content)


class GoogleADK(Room):
    def run_all(
        self, *calls: Any, turns: int = 1, decides: Any = lambda _: APPROVE, id: str = "", **options: Any
    ) -> str:
        """What is said in that many turns of one session; the person answers after the first."""
        self.entered: list = []

        def refund(order: str, amount: int) -> str:
            """Pays money back."""
            self.entered.append({"order": order, "amount": amount})
            return f"Refunded {order}."

        callback = lantern_callback(self.wake, tools=["refund"], **options)
        model = Scripted(model="scripted", calls=list(calls), id=id)
        agent = LlmAgent(name="clerk", model=model, tools=[refund], before_tool_callback=callback)

        async def go() -> str:
            runner = InMemoryRunner(agent=agent, app_name="test")
            session = await runner.session_service.create_session(app_name="test", user_id="u")
            said = []
            for turn in range(turns):
                if turn == 1 and not options.get("wait", True):
                    self.person(len(calls), decides)
                asked = types.Content(role="user", parts=[types.Part(text="Refund.")])
                events = runner.run_async(user_id="u", session_id=session.id, new_message=asked)
                said += [str(event.content) async for event in events]
            return "\n".join(said)

        return asyncio.run(go())

    def test_approved(self) -> None:
        """[W23] an approved call runs once"""
        self.meanwhile(1, lambda _: APPROVE)
        self.assertIn("Done.", self.run_all(A))
        self.assertEqual(self.entered, [A])

    def test_same_id(self) -> None:
        """[W12] the same call in a later turn is a question of its own, also where the model gives it the same id"""

        def once_only() -> None:
            self.person(1, lambda _: APPROVE)
            self.person(1, lambda _: REJECT)

        person = threading.Thread(target=once_only)
        person.start()
        self.addCleanup(person.join)
        self.run_all(A, turns=2, id="refund:0")
        self.assertEqual(self.entered, [A])

    def test_rejected(self) -> None:
        """[W23] the body of a rejected tool is never entered, and the model reads why"""
        self.meanwhile(1, lambda _: REJECT)
        self.assertIn("Not this customer.", self.run_all(A))
        self.assertEqual(self.entered, [])

    def test_edited(self) -> None:
        """[W23] edited arguments are what the tool receives"""
        self.meanwhile(1, edit)
        self.run_all(A)
        self.assertEqual(self.entered, [{"order": "A-17", "amount": 20}])

    def test_mixed(self) -> None:
        """[W23] of a mixed batch what was approved runs, and nothing else"""
        self.meanwhile(2, mixed)
        self.assertIn("Not this customer.", self.run_all(A, B))
        self.assertEqual(self.entered, [A])

    def test_pending(self) -> None:
        """[W12] without waiting, an undecided call is not run and says so"""
        self.assertIn("Not run yet", self.run_all(A, wait=False))
        self.assertEqual((self.entered, len(self.rows())), ([], 1))

    def test_again(self) -> None:
        """[W12] a call that is made again, under an id of its own, picks up the answer; the one after it asks anew"""
        self.run_all(A, turns=2, wait=False)
        self.assertEqual((self.entered, len(self.rows())), ([A], 1))
        self.run_all(A, turns=3, wait=False)
        self.assertEqual((self.entered, len(self.rows())), ([A], 3))

    def test_twins(self) -> None:
        """[W12] of two calls that are the same, each has a question and an answer of its own"""
        answers = iter([APPROVE, REJECT])
        said = self.run_all(A, A, turns=2, decides=lambda _: next(answers), wait=False)
        self.assertEqual((self.entered, len(self.rows())), ([A], 2))
        self.assertIn("Not this customer.", said)

    def test_names(self) -> None:
        """[W12] a name in place of a list of names is refused: letters of it would be names"""
        with self.assertRaises(LanternError):
            lantern_callback(self.wake, tools="refund")


if __name__ == "__main__":
    unittest.main()
