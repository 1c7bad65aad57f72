import json
import os
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest.mock import patch

from world import DRAFT, HANG_UP, ID, KEY, OTHER_ID, ManualClock, Seen, World, answered, received, response

from lanternroom import Approved, FileLog, MemoryLog, Pending, Redirected, Rejected, TimedOut, Wake
from lanternroom.akep import FileCursor
from lanternroom.log import home_folder


class Delivering(World):
    def test_body(self) -> None:
        """[W26] the call becomes the body of the wire, with nothing that was not given"""
        wake = self.start(lambda *_: received(), provider="claude")
        more = {"details": {"words": 3200}, "timeout_seconds": 3600, "task_id": "t", "dedupe_key": "d"}
        wake.deliver(**DRAFT, **more)
        wake.deliver(**DRAFT)
        plain = {"agent_id": "research-agent-01", "provider": "claude", **DRAFT}
        self.assertEqual([json.loads(seen.body) for seen in self.seen], [{**plain, **more}, plain])

    def test_idempotency(self) -> None:
        """[W12] each call has its own key, unless the caller brings one"""
        wake = self.start(lambda *_: received())
        wake.deliver(**DRAFT)
        wake.deliver(**DRAFT)
        wake.deliver(**DRAFT, idempotency_key="run-7")
        keys = [seen.headers["idempotency-key"] for seen in self.seen]
        self.assertEqual((len(set(keys)), keys[2]), (3, "run-7"))
        for odd in ("a b", 4711):
            self.assertEqual(self.fault(lambda odd=odd: wake.deliver(**DRAFT, idempotency_key=odd)).fault, "wrong_usage")

    def test_several_keys(self) -> None:
        """[W26] a delivery that met an open dedupe key is found again under its own key too"""
        wake = self.start(lambda *_: received())
        wake.deliver(**DRAFT, idempotency_key="run-7")
        wake.deliver(**DRAFT, idempotency_key="run-8")
        log = MemoryLog()
        log.lines.extend(self.log.lines)
        restarted = Wake(self.url, KEY, agent_id="research-agent-01", log=log)
        self.assertEqual([restarted.recall("run-7"), restarted.recall("run-8")], [ID, ID])

    def test_shared_log(self) -> None:
        """[W12] agents that share a log and a key each find what is theirs"""
        agents = {KEY + "1": ("first", ID), KEY + "2": ("second", OTHER_ID)}

        def script(seen: Seen, _: int) -> object:
            name, delivery_id = agents[seen.headers["authorization"].split(" ")[1]]
            return (200, {"agent_id": name}) if seen.method == "GET" else received(delivery_id)

        self.start(script)
        first, second = (Wake(self.url, key, log=self.log) for key in agents)
        first.deliver(**DRAFT, idempotency_key="run-7")
        self.assertIsNone(second.recall("run-7"))
        second.deliver(**DRAFT, idempotency_key="run-7")
        found = [Wake(self.url, key, log=self.log).recall("run-7") for key in agents]
        self.assertEqual(found, [ID, OTHER_ID])

    def test_asked_again(self) -> None:
        """[W12] a question that was asked again under its key is the one that is found"""
        wake = self.start(lambda _, count: received(ID if count == 1 else OTHER_ID))
        wake.deliver(**DRAFT, idempotency_key="run-7")
        log = MemoryLog()
        log.lines.extend(self.log.lines)
        following = Wake(self.url, KEY, agent_id="research-agent-01", log=log)
        following.deliver(**DRAFT, idempotency_key="run-7")
        self.assertEqual(following.recall("run-7"), OTHER_ID)

    def test_agent_id(self) -> None:
        """[W3] without an agent id the server is asked whose key it is, once"""
        card = (200, {"agent_id": "from-the-key"})
        wake = self.start(lambda seen, _: card if seen.method == "GET" else received(), agent_id=None)
        wake.deliver(**DRAFT)
        wake.deliver(**DRAFT)
        paths = ["/.well-known/wake.json", "/wake/v1/deliver", "/wake/v1/deliver"]
        self.assertEqual([seen.path for seen in self.seen], paths)
        self.assertEqual(json.loads(self.seen[1].body)["agent_id"], "from-the-key")

    def test_no_agent_id(self) -> None:
        """[W3] a server that does not know leads to a sentence about the address and WAKE_AGENT_ID"""
        wake = self.start(lambda *_: (404,), agent_id=None)
        self.assertRegex(str(self.fault(lambda: wake.deliver(**DRAFT))), "check the address.*WAKE_AGENT_ID")


class Checking(World):
    def test_statuses(self) -> None:
        """[W14] each status has its own shape, and only approved may proceed"""
        script = [
            answered("pending", timed_out_at="x"),
            answered("approved", feedback="Good."),
            answered("rejected", feedback="No."),
            answered("redirected", feedback="Cut.", edited_content={"brief": "short"}),
        ]
        wake = self.start(lambda _, count: script[count - 1])
        wake.adopt(ID)
        pending, approved, rejected, redirected = (wake.check(ID) for _ in range(4))
        self.assertEqual(pending, Pending(ID, "x"))
        assert isinstance(approved, Approved) and isinstance(rejected, Rejected) and isinstance(redirected, Redirected)
        self.assertEqual((approved.may_proceed, approved.feedback), (True, "Good."))
        self.assertEqual((rejected.may_proceed, rejected.feedback), (False, "No."))
        self.assertEqual((redirected.may_proceed, redirected.instructions.feedback), (False, "Cut."))
        self.assertEqual(redirected.instructions.edited_content, {"brief": "short"})

    def test_edited_approval(self) -> None:
        """[W23] an approval with edited content is no leave to go on with the original"""
        for edited in ({"brief": "short"}, "Short text", {}, ""):
            wake = self.start(lambda *_, edited=edited: answered("approved", edited_content=edited))
            wake.adopt(ID)
            answer = wake.check(ID)
            assert isinstance(answer, Redirected)
            self.assertEqual((answer.may_proceed, answer.instructions.edited_content), (False, edited))

    def test_foreign(self) -> None:
        """[W23] an id that this client never submitted is refused before anything is asked"""
        wake = self.start(lambda *_: answered("approved"))
        for call in (lambda: wake.check(ID), lambda: wake.wait_for(ID), lambda: wake.withdraw(ID, "x")):
            self.assertEqual(self.fault(call).fault, "foreign_delivery")
        self.assertEqual(self.seen, [])

    def test_no_id(self) -> None:
        """[W23] what deliver() returned is no delivery id, and the sentence says what is"""
        wake = self.start(lambda *_: received())
        whole: Any = wake.deliver(**DRAFT)
        for call in (wake.check, wake.wait_for, wake.adopt, lambda id: wake.withdraw(id, "x")):
            with self.subTest(call=call):
                error = self.fault(lambda call=call: call(whole))
                self.assertEqual(error.fault, "wrong_usage")
                self.assertIn("give delivery_id", str(error))

    def test_injected(self) -> None:
        """[W23] an answer to another delivery than the one asked for is refused, even if that one is ours too"""
        wake = self.start(lambda *_: answered("approved", delivery_id=OTHER_ID))
        wake.adopt(ID)
        wake.adopt(OTHER_ID)
        self.assertEqual(self.fault(lambda: wake.check(ID)).fault, "foreign_delivery")
        self.assertEqual(self.events(), ["adopted", "adopted", "refused"])

    def test_unreadable(self) -> None:
        """[W23] nobody proceeds on a reply that cannot be read"""
        for odd in ({"status": "approved!"}, {"feedback": 7}, {"edited_content": ["x"]}, {"delivery_id": 7}):
            wake = self.start(lambda *_, odd=odd: (200, {**response("approved"), **odd}))
            wake.adopt(ID)
            self.assertEqual(self.fault(lambda wake=wake: wake.check(ID)).fault, "bad_reply")


class Waiting(World):
    def test_held(self) -> None:
        """[W15] the server is asked to hold the request, and nobody sleeps in between"""

        def script(_: object, count: int) -> object:
            self.clock.time += 60
            return answered("pending" if count < 3 else "approved")

        wake = self.start(script)
        wake.adopt(ID)
        self.assertTrue(wake.wait_for(ID).may_proceed)
        look = f"/wake/v1/response/{ID}"
        # The first one to a server that has not answered before is not held, so that a wrong address is told at once.
        self.assertEqual([seen.path for seen in self.seen], [look, f"{look}?wait=60", f"{look}?wait=60"])
        self.assertEqual(self.clock.naps, [])

    def test_polled(self) -> None:
        """[W15] a plain server that does not hold is polled once a minute"""
        wake = self.start(lambda _, count: answered("pending" if count < 4 else "rejected"))
        wake.adopt(ID)
        self.assertFalse(wake.wait_for(ID).may_proceed)
        self.assertEqual(self.clock.naps, [60, 60])

    def test_timed_out(self) -> None:
        """[W23] without an answer in time nobody may proceed"""
        wake = self.start(lambda *_: answered("pending"))
        wake.adopt(ID)
        answer = wake.wait_for(ID, timeout_seconds=90)
        self.assertEqual((answer, answer.may_proceed), (TimedOut(ID, None), False))
        self.assertEqual(self.clock.naps, [60, 30])
        self.assertEqual(self.events(), ["adopted", "timed_out"])

    def test_assumption(self) -> None:
        """[W23] with an assumption one may proceed, and it is in the log by then"""
        wake = self.start(lambda *_: answered("pending"))
        wake.adopt(ID)
        answer = wake.wait_for(ID, timeout_seconds=1, assumption="Nobody objects.")
        self.assertEqual((answer, answer.may_proceed), (TimedOut(ID, "Nobody objects."), True))
        self.assertIn('"assumption":"Nobody objects."', self.log.lines[-1])
        self.assertEqual(self.fault(lambda: wake.wait_for(ID, assumption=" ")).fault, "wrong_usage")

    def test_first_question(self) -> None:
        """[W23] how long a delivery may take counts for the question whose key it is too"""
        wake = self.start(lambda *_: (429, {}, {"retry-after": "3600"}), agent_id=None)
        self.assertEqual(self.fault(lambda: wake.deliver(**DRAFT, within_seconds=30)).fault, "rate_limited")
        self.assertEqual((self.clock.naps, len(self.seen)), ([], 1))

    def test_for_ever(self) -> None:
        """[W23] nobody waits for ever, or for what is no number"""
        wake = self.start(lambda *_: answered("pending"))
        wake.adopt(ID)
        for seconds in (float("nan"), float("inf"), "60"):
            error = self.fault(lambda seconds=seconds: wake.wait_for(ID, timeout_seconds=seconds))
            self.assertEqual((error.fault, f"is {seconds!r}:" in str(error)), ("wrong_usage", True))
            late = self.fault(lambda seconds=seconds: wake.deliver(**DRAFT, within_seconds=seconds))
            self.assertEqual(late.fault, "wrong_usage")
        self.assertEqual(self.seen, [])

    def test_own_timeout(self) -> None:
        """[W23] it ends with the timeout of the delivery itself, counted from the delivery"""
        wake = self.start(lambda seen, _: received() if seen.method == "POST" else answered("pending"))
        wake.deliver(**DRAFT, timeout_seconds=600)
        self.clock.time += 500
        wake.wait_for(ID)
        self.assertEqual(self.clock.naps, [60, 40])

    def test_outage(self) -> None:
        """[W23] a wait survives a server that is away for a while"""
        script = [answered("pending"), *[HANG_UP] * 8, answered("approved")]
        wake = self.start(lambda _, count: script[count - 1])
        wake.adopt(ID)
        self.assertTrue(wake.wait_for(ID).may_proceed)

    def test_early_outage(self) -> None:
        """[W23] a restart during the very first look is waited out, when the server was there before"""
        script = [received(), *[HANG_UP] * 8, answered("approved")]
        wake = self.start(lambda _, count: script[count - 1])
        wake.deliver(**DRAFT)
        self.assertTrue(wake.wait_for(ID).may_proceed)
        # Beside the short ones between attempts: the next looks are near, not a minute away.
        self.assertEqual([nap for nap in self.clock.naps if nap >= 5], [])

    def test_asked_to_wait_too_long(self) -> None:
        """[W23] a server that asks for an hour does not make the wait longer"""
        for status, fault in ((429, "rate_limited"), (503, "server_failed")):
            later = (status, {}, {"retry-after": "3600"})
            wake = self.start(lambda _, count, later=later: received() if count == 1 else later)
            wake.deliver(**DRAFT)
            caught = self.fault(lambda wake=wake: wake.wait_for(ID, timeout_seconds=20))
            self.assertEqual(caught.fault, fault)
            self.assertLessEqual(sum(self.clock.naps), 20)
            self.assertEqual(self.alerts, [])

    def test_slept(self) -> None:
        """[W23] a look that broke off while the laptop slept past the end is taken once more"""
        replies = iter([received(), HANG_UP, answered("approved")])

        def script(_: Seen, count: int) -> object:
            self.clock.time += 3600 if count == 2 else 0
            return next(replies)

        wake = self.start(script)
        wake.deliver(**DRAFT)
        self.assertEqual(wake.wait_for(ID, timeout_seconds=120).status, "approved")
        self.assertEqual(len(self.seen), 3)

    def test_unreachable_at_the_end(self) -> None:
        """[W23] out of reach at the end is not "no answer": a person may have said no"""
        wake = self.start(lambda _, count: answered("pending") if count == 1 else HANG_UP)
        wake.adopt(ID)
        caught = self.fault(lambda: wake.wait_for(ID, timeout_seconds=120, assumption="Fine."))
        self.assertEqual(caught.fault, "unreachable")
        self.assertNotIn("assumption", self.events())


class Sweeping(World):
    def page(self, *deliveries: dict, since: object = "s1", more: bool = False) -> object:
        return 200, {"deliveries": deliveries, "total": 9, "has_more": more, "next_since": since}

    def test_pages(self) -> None:
        """[W17] asks for answers of this agent, page by page, each behind the last"""
        theirs = response("redirected", delivery_id=OTHER_ID)
        script = [self.page(response("approved"), more=True), self.page(theirs, since="s2")]
        wake = self.start(lambda _, count: script[count - 1])
        wake.adopt(ID)
        wake.adopt(OTHER_ID)
        swept = list(wake.sweep(since="s0", limit=1))
        self.assertEqual(
            [(one.answer.status, one.resume_from) for one in swept], [("approved", "s1"), ("redirected", "s2")]
        )
        query = "/wake/v1/responses?status=approved%2Crejected%2Credirected&agent_id=research-agent-01"
        self.assertEqual([seen.path for seen in self.seen], [f"{query}&since=s{n}&limit=1" for n in (0, 1)])

    def test_follow(self) -> None:
        """[W19] following goes on from the same point through empty pages"""
        script = [self.page(response("approved")), self.page(since=None), self.page(response("approved"), since="s2")]
        wake = self.start(lambda _, count: script[count - 1])
        wake.adopt(ID)
        items = wake.sweep(follow=True, poll_seconds=5)
        self.assertEqual([next(iter(items)).resume_from, next(iter(items)).resume_from], ["s1", "s2"])
        self.assertEqual(["since=s1" in seen.path for seen in self.seen], [False, True, True])
        self.assertEqual(self.clock.naps, [5, 5])

    def test_follow_outage(self) -> None:
        """[W19] following goes on through a server that is away for a while, from where it was"""
        outage = [*[HANG_UP] * 4, *[(503, {})] * 4]
        script = [self.page(response("approved")), *outage, self.page(response("approved"), since="s2")]
        wake = self.start(lambda _, count: script[count - 1])
        wake.adopt(ID)
        items = iter(wake.sweep(follow=True))
        self.assertEqual([next(items).resume_from, next(items).resume_from], ["s1", "s2"])
        self.assertTrue(all("since=s1" in seen.path for seen in self.seen[1:]))
        away = self.start(lambda *_: HANG_UP)
        self.assertEqual(self.fault(lambda: next(iter(away.sweep(follow=True)))).fault, "unreachable")

    def test_follow_as_asked(self) -> None:
        """[W19][W23] following leaves a server alone for as long as it asks"""
        script = [self.page(since=None), *[(503, {}, {"retry-after": "30"})] * 4, self.page(response("approved"))]
        wake = self.start(lambda _, count: script[count - 1])
        wake.adopt(ID)
        next(iter(wake.sweep(follow=True)))
        self.assertEqual(self.clock.naps, [10, 30.0, 30.0, 30.0, 30.0])

    def test_foreign(self) -> None:
        """[W23] answers to deliveries of others are left out and noted, unless the caller adopts them"""
        theirs = response("rejected", delivery_id=OTHER_ID)
        wake = self.start(lambda *_: self.page(theirs, response("approved")))
        wake.adopt(ID)
        self.assertEqual([one.answer.delivery_id for one in wake.sweep()], [ID])
        self.assertIn("refused", self.events())
        self.assertEqual(len(list(wake.sweep(on_foreign=lambda _: "adopt"))), 2)

    def test_foreign_last(self) -> None:
        """[W19] a later sweep resumes after what was left out at the end of a page"""
        wake = self.start(lambda *_: self.page(response("approved"), response("rejected", delivery_id=OTHER_ID)))
        wake.adopt(ID)
        self.assertEqual([one.resume_from for one in wake.sweep(since="s0")], ["s1"])

    def test_stuck(self) -> None:
        """[W18] a server that promises more without a way to it is not asked for ever"""
        wake = self.start(lambda *_: self.page(response("approved"), since=None, more=True))
        wake.adopt(ID)
        self.assertEqual(self.fault(lambda: list(wake.sweep())).fault, "bad_reply")
        self.assertEqual(len(self.seen), 1)


class Withdrawing(World):
    def test_withdraw(self) -> None:
        """[W27] what is taken back answers as rejected and withdrawn, also after a lost reply and a 409"""
        for first in ((200,), HANG_UP):
            script = [first, *([(409,)] if first is HANG_UP else []), answered("rejected", withdrawn_at="x")]
            wake = self.start(lambda _, count, script=script: script[count - 1])
            wake.adopt(ID)
            self.assertEqual(wake.withdraw(ID, "no build").withdrawn_at, "x")
            self.assertEqual(
                (self.seen[0].path, self.seen[0].body), (f"/wake/v1/withdraw/{ID}", '{"reason":"no build"}')
            )

    def test_too_late(self) -> None:
        """[W27] what a person decided cannot be taken back"""
        for status in ("approved", "rejected"):
            wake = self.start(lambda seen, _, s=status: (409,) if seen.method == "POST" else answered(s))
            wake.adopt(ID)
            self.assertEqual(self.fault(lambda wake=wake: wake.withdraw(ID, "x")).fault, "conflict")


class Logging(World):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "deep" / "log.jsonl"

    def script(self, seen: object, _: int) -> object:
        if seen.method == "POST":  # type: ignore[attr-defined]
            return received()
        return answered("approved", delivery_id=seen.path.split("/")[-1])  # type: ignore[attr-defined]

    def test_home(self) -> None:
        """[W23] lies with the user also when HOME is empty, and not in the root of the disk"""
        without = {name: value for name, value in os.environ.items() if name != "HOME"}
        with patch.dict(os.environ, without, clear=True):
            own = Path.home()
        with patch.dict(os.environ, {"HOME": ""}):
            self.assertEqual(home_folder(), own)

    def test_folder(self) -> None:
        """[W23][K11] the same files also after the program has changed its folder"""
        folder = self.path.parent.parent
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder)
        log, cursor = FileLog("log.jsonl"), FileCursor("inbox.cursor")
        os.chdir(Path.home())
        log.append("{}")
        cursor.save({})
        self.assertEqual(sorted(os.listdir(folder)), ["inbox.cursor", "log.jsonl"])

    def test_lines(self) -> None:
        """[W23] holds every delivery and answer, readable by the owner only, and never the key"""
        wake = self.start(self.script, log=FileLog(self.path))
        wake.deliver(**DRAFT, details=f"key={KEY} ü")
        wake.check(ID)
        text = self.path.read_text("utf-8")
        lines = [json.loads(line) for line in text.splitlines()]
        self.assertEqual([line["event"] for line in lines], ["deliver", "delivered", "answer"])
        self.assertNotIn(KEY, text)
        self.assertEqual(stat.S_IMODE(os.stat(self.path).st_mode), 0o600)

    def test_restart(self) -> None:
        """[W23] restores the known ids after a restart, for the same server and agent only"""
        self.start(self.script, log=FileLog(self.path)).deliver(**DRAFT)
        again = Wake(self.url, KEY, log=FileLog(self.path))
        self.assertEqual(again.check(ID).status, "approved")
        elsewhere = Wake("https://other.example", KEY, log=FileLog(self.path))
        self.assertEqual(self.fault(lambda: elsewhere.check(ID)).fault, "foreign_delivery")
        other = Wake(self.url, KEY, agent_id="other", log=FileLog(self.path))
        self.assertEqual(self.fault(lambda: other.check(ID)).fault, "foreign_delivery")

    def test_two_processes(self) -> None:
        """[W23] sees what another process delivered meanwhile"""
        wake = self.start(self.script, log=FileLog(self.path))
        watcher = Wake(self.url, KEY, log=FileLog(self.path), clock=ManualClock())
        self.assertEqual(self.fault(lambda: watcher.check(ID)).fault, "foreign_delivery")
        wake.deliver(**DRAFT)
        self.assertEqual(watcher.check(ID).status, "approved")

    def test_torn_line(self) -> None:
        """[W23] half a line, left by a crash, costs no other line"""
        self.start(self.script, log=FileLog(self.path)).deliver(**DRAFT)
        with open(self.path, "a", encoding="utf-8") as file:
            file.write('{"at":"2026-03-08T12:0')
        Wake(self.url, KEY, log=FileLog(self.path)).adopt(OTHER_ID)
        third = Wake(self.url, KEY, log=FileLog(self.path))
        self.assertEqual([third.check(ID).status, third.check(OTHER_ID).status], ["approved", "approved"])

    def test_glued_line(self) -> None:
        """[W23] half a line costs no line that another process writes after it"""
        wake = self.start(self.script, log=FileLog(self.path))
        wake.adopt(OTHER_ID)
        with open(self.path, "a", encoding="utf-8") as file:
            file.write('{"at":"2026-03-08T12:00:00.000Z","event":"deliver","delivery":{"details":"half')
        wake.adopt(ID)
        self.assertEqual(Wake(self.url, KEY, log=FileLog(self.path)).check(ID).status, "approved")

    def test_shared_log(self) -> None:
        """[W23] clients that share a log each find what is theirs"""
        self.start(self.script, log=FileLog(self.path)).deliver(**DRAFT)
        shared = FileLog(self.path)
        others = Wake(self.url, KEY, agent_id="other", log=shared)
        self.assertEqual(self.fault(lambda: others.check(ID)).fault, "foreign_delivery")
        self.assertEqual(Wake(self.url, KEY, log=shared).check(ID).status, "approved")

    @unittest.skipIf(os.name == "nt", "Windows has no limit on the size of files.")
    def test_full_disk(self) -> None:
        """[W23] a line that fits only in part is told, and costs no later one"""
        program = """
import resource, sys
from lanternroom import FileLog, LanternError
log = FileLog(sys.argv[1])
log.append("{}")
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (20, hard))
try:
    log.append("x" * 100)
except LanternError as error:
    print(error.fault)
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
log.append("[]")
"""
        run = [sys.executable, "-c", program, str(self.path)]
        package = str(Path(__file__).resolve().parent.parent)
        ended = subprocess.run(run, env={**os.environ, "PYTHONPATH": package}, capture_output=True, text=True, check=True)
        self.assertEqual(ended.stdout, "log_failed\n")
        self.assertEqual(FileLog(self.path).new_lines(), ["{}", "x" * 17, "[]"])

    def test_unwritable(self) -> None:
        """[W23] a log that cannot be written stops a delivery before it leaves"""
        self.path.mkdir(parents=True)
        wake = self.start(self.script, log=FileLog(self.path))
        self.assertEqual(self.fault(lambda: wake.deliver(**DRAFT)).fault, "log_failed")
        self.assertEqual(self.seen, [])


if __name__ == "__main__":
    unittest.main()
