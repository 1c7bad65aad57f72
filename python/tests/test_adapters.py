import asyncio
import json
import threading
import time
import unittest
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from types import MappingProxyType, SimpleNamespace

from world import DRAFT, ID, KEY, OTHER_ID, Seen, World, answered, received

from lanternroom import LanternError, Wake
from lanternroom.adapters import HeldCall, Pending, Refuse, Run, review
from lanternroom.adapters.call import key_of
from lanternroom.adapters.langgraph import answer_question, plain
from lanternroom.adapters.openai_agents import answer_approvals
from lanternroom.aio import AsyncWake

CALL = HeldCall(["run-1", "c1"], "refund", {"order": "A-17", "amount": 40}, "Pays money back.", "run-1")


class Review(World):
    def ask(self, *says: object, **options: object) -> object:
        """One review; the server takes the delivery and then says these."""
        script = iter(says)
        wake = self.start(lambda seen, _: received() if seen.path.endswith("/deliver") else next(script))
        return review("test", CALL, wake, **options)  # type: ignore[arg-type]

    def test_run(self) -> None:
        """[W23] an approved call runs with what the person has seen"""
        self.assertEqual(self.ask(answered("approved")), Run(ID, dict(CALL.args), False, None))
        sent = json.loads(self.seen[0].body)
        details = {"tool": "refund", "arguments": dict(CALL.args), "purpose": "Pays money back."}
        self.assertEqual((sent["details"], sent["thread_id"], sent["interrupt_id"]), (details, "run-1", "c1"))
        self.assertEqual(sent["dedupe_key"], self.seen[0].headers["idempotency-key"])

    def test_gone(self) -> None:
        """[W23] a question that the server no longer has is asked again, and found again under its key"""
        asked = iter([received(), received(OTHER_ID)])
        gone = (404, {"error": {"code": "not_found", "message": "There is none."}})

        def script(seen: Seen, _: int) -> object:
            if seen.path.endswith("/deliver"):
                return next(asked)
            return answered("pending", delivery_id=OTHER_ID) if OTHER_ID in seen.path else gone

        wake = self.start(script)
        key = key_of("test", CALL)
        wake.deliver(**DRAFT, idempotency_key=key)
        self.assertEqual(review("test", CALL, wake, wait=False), Pending(OTHER_ID))
        other = Wake(self.url, KEY, agent_id="research-agent-01", clock=self.clock, log=self.log)
        self.assertEqual([one.recall(key) for one in (wake, other)], [OTHER_ID, OTHER_ID])

    def test_long_thread(self) -> None:
        """[W23] a question of a thread with a name longer than the desk can group by is asked all the same"""
        wake = self.start(lambda seen, _: received() if seen.path.endswith("/deliver") else answered("pending"))
        looks = {"timeout_seconds": 60, "wait": False}
        self.assertIsNone(answer_question(["t" * 200, "i1"], {"asked": 1}, wake, looks))
        sent = json.loads(self.seen[0].body)
        self.assertEqual((sent.get("thread_id"), sent["interrupt_id"]), (None, "i1"))

    def test_refuse(self) -> None:
        """[W23] a rejected call does not run, and the reason is for the model"""
        verdict = self.ask(answered("rejected", feedback="Not this customer."))
        self.assertIsInstance(verdict, Refuse)
        self.assertIn("Not this customer.", verdict.message)  # type: ignore[attr-defined]

    def test_edited(self) -> None:
        """[W23] only other arguments of the same tool run; every other redirect is an instruction"""
        edited = {"tool": "refund", "arguments": {"order": "A-17", "amount": 20}}
        verdict = self.ask(answered("redirected", edited_content=edited, feedback="Half is enough."))
        self.assertEqual((verdict.args, verdict.edited), (edited["arguments"], True))  # type: ignore[attr-defined]
        self.assertIn("Half is enough.", verdict.note)  # type: ignore[attr-defined]
        same = {"tool": "refund", "arguments": dict(CALL.args)}
        for other in ("Half of it.", {"tool": "close"}, {"tool": "close", "arguments": {"a": 1}}, same, None):
            with self.subTest(other=other):
                self.assertIsInstance(self.ask(answered("redirected", edited_content=other)), Refuse)

    def test_unchanged(self) -> None:
        """[W23] arguments that came back as they were shown are an instruction, also those that JSON writes otherwise"""
        args = {"days": (1, 2), "rates": {1: "low"}}
        shown = {"tool": "plan", "arguments": {"days": [1, 2], "rates": {"1": "low"}}}
        says = iter([received(), answered("redirected", edited_content=shown)])
        wake = self.start(lambda *_: next(says))
        self.assertIsInstance(review("test", HeldCall(["r", "c"], "plan", args), wake), Refuse)

    def test_no_json(self) -> None:
        """[W23] arguments that are not JSON are told, and nobody is asked"""
        wake = self.start(lambda seen, _: received() if seen.method == "POST" else answered("pending"))
        for odd in (date(2026, 3, 8), Decimal(1), b"bytes", {1}):
            with self.subTest(odd=odd):
                call = HeldCall(["r", "c"], "plan", {"odd": odd})
                self.assertEqual(self.fault(lambda call=call: review("test", call, wake)).fault, "wrong_usage")
        self.assertEqual(self.seen, [])
        mapping = HeldCall(["r", "c"], "plan", MappingProxyType({1: "a", "b": 2}))
        self.assertEqual(review("test", mapping, wake, wait=False), Pending(ID))

    def test_async_client(self) -> None:
        """[W23] a client of the wrong kind is told, and nobody is asked"""
        self.start(lambda *_: received())
        wake = AsyncWake(self.url, KEY, log=self.log)
        error = self.fault(lambda: review("test", CALL, wake))  # type: ignore[arg-type]
        self.assertEqual((error.fault, self.seen), ("wrong_usage", []))

    def test_once(self) -> None:
        """[W12] the same call asks once, also from another process with the same log"""
        verdict = self.ask(answered("pending"), wait=False)
        self.assertEqual(verdict, Pending(ID))
        again = Wake(self.url, "wk_test_x", agent_id="research-agent-01", log=self.log)
        self.assertEqual(again.recall(key_of("test", CALL)), ID)
        other = HeldCall(CALL.id, CALL.tool, {"order": "A-17", "amount": 41})
        self.assertNotEqual(key_of("test", CALL), key_of("test", other))

    def test_too_late(self) -> None:
        """[W27] what nobody answered in time is taken back and does not run; an answer in the last moment counts"""
        late = answered("pending", timed_out_at="2026-03-08T13:00:00Z")
        withdrawn = answered("rejected", withdrawn_at="2026-03-08T13:00:01Z", feedback="Withdrawn.")
        verdict = self.ask(late, (200, {}), withdrawn, wait=False)
        self.assertIn("Nobody answered in time", verdict.message)  # type: ignore[attr-defined]
        conflict = (409, {"error": {"code": "already_decided", "message": "Decided."}})
        just = self.ask(late, conflict, answered("approved"), answered("approved"), wait=False)
        self.assertIsInstance(just, Run)


class Held:
    """As much of a paused run as is looked at."""

    def __init__(self, *args: dict[str, object]) -> None:
        self.items = [
            SimpleNamespace(
                tool_name="refund",
                raw_item={"type": "function_call", "call_id": f"c{at}", "arguments": json.dumps(one)},
            )
            for at, one in enumerate(args)
        ]
        self.approved: list[object] = []

    def get_interruptions(self) -> list[object]:
        return self.items

    def approve(self, item: object) -> None:
        self.approved.append(item)


class Together(World):
    def test_many(self) -> None:
        """[W23] however many calls a run holds, all are asked before one is answered"""
        asked: set[str] = set()
        all_asked = threading.Event()

        def says(seen: Seen, _: int) -> object:
            if seen.path.endswith("/deliver"):
                asked.add(seen.headers["idempotency-key"])
                if len(asked) == 40:
                    all_asked.set()
                return received()
            return answered("approved" if all_asked.wait(5) else "pending")

        state = Held(*({"order": f"A-{at}"} for at in range(40)))
        wake = self.start(says)
        self.assertIs(asyncio.run(answer_approvals(None, state, wake, run_id="run-1")), state)
        self.assertEqual(len(state.approved), 40)

    def test_refused(self) -> None:
        """[W13] of calls that are held together one that is refused ends the wait for the others"""
        waits, over = threading.Event(), threading.Event()
        in_time: list[bool] = []

        def says(seen: Seen, _: int) -> object:
            if not seen.path.endswith("/deliver"):
                waits.set()
                in_time.append(over.wait(60))
                return answered("pending")
            if "A-17" in seen.body:
                return received()
            waits.wait(60)
            return (422, {"error": {"message": "A secret."}})

        wake = self.start(says)
        state = Held({"order": "A-17"}, {"order": "B-2"})
        self.assertEqual(
            self.fault(lambda: asyncio.run(answer_approvals(None, state, wake, run_id="run-1"))).fault, "refused"
        )
        over.set()
        while not in_time:
            time.sleep(0.01)
        self.assertEqual(in_time, [True])


class Interrupts(unittest.TestCase):
    def test_plain(self) -> None:
        """[W23] an interrupt is shown as it is, whatever a checkpoint can hold; what nobody can be shown is refused"""

        @dataclass
        class Draft:
            due: date
            parts: tuple[str, ...]

        class Message:
            def model_dump(self, mode: str) -> dict[str, str]:
                return {"content": "Hello", "mode": mode}

        given = {"draft": Draft(date(2026, 3, 8), ("a", "b")), "message": Message(), 7: {2, 1}, "ok": True}
        self.assertEqual(
            plain(given),
            {
                "draft": {"due": "2026-03-08", "parts": ["a", "b"]},
                "message": {"content": "Hello", "mode": "json"},
                "7": [1, 2],
                "ok": True,
            },
        )
        with self.assertRaisesRegex(LanternError, "with a bytes, which nobody can be shown"):
            plain({"file": b"x"})


if __name__ == "__main__":
    unittest.main()
