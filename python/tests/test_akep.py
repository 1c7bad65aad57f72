import json
import os
import stat
import tempfile
import unittest
from itertools import islice
from pathlib import Path
from threading import Event as Flag
from urllib.parse import parse_qs, urlsplit

from world import ACCEPTED, AKEP, EVENT, HANG_UP, Seen, World, event, inbox_script, page, resume

from lanternroom import Inbox, Verdict
from lanternroom.akep import FileCursor, Gap

THREE = [event("evt_1"), event("evt_2"), event("evt_3")]


def cursor_of(path: str) -> object:
    return parse_qs(urlsplit(path).query).get("cursor", [None])[0]


def first(items: object, count: int) -> list:
    return list(islice(items, count))  # type: ignore[call-overload]


class Reading(World):
    def test_order(self) -> None:
        """[K11] every event comes once and in order, over page borders"""
        inbox = self.start_inbox(inbox_script(THREE, size=2))
        self.assertEqual([one["event_id"] for one in inbox.events(once=True)], ["evt_1", "evt_2", "evt_3"])

    def test_waiting(self) -> None:
        """[K12] it looks at once, then waits for more by long-poll after the last cursor"""
        script = [page([], "c0"), (204,), page([event("evt_9")], "c1")]
        inbox = self.start_inbox(lambda _, count: script[count - 1])
        first(inbox, 1)
        parked = "/akep/events/wait?limit=100&cursor=c0&timeout_seconds=50"
        self.assertEqual([seen.path for seen in self.seen], ["/akep/events?limit=100", parked, parked])
        self.assertEqual(self.clock.naps, [1.0])

    def test_cursors(self) -> None:
        """[K11] a cursor goes back as it came"""
        for cursor in AKEP["cursors"]:
            inbox = self.start_inbox(lambda _, count, cursor=cursor: page([event(f"evt_{count}")], cursor))
            first(inbox, 2)
            self.assertEqual([cursor_of(seen.path) for seen in self.seen][:2], [None, cursor])

    def test_types(self) -> None:
        """[K11] only the wanted types are handed out"""
        inbox = self.start_inbox(inbox_script([event("evt_1"), event("evt_2", event_type="human.approved")]))
        found = [one["event_id"] for one in inbox.events(types=["human.approved"], once=True)]
        self.assertEqual(found, ["evt_2"])

    def test_expired(self) -> None:
        """[K17] a cursor that has expired is told, and reading goes on from the oldest"""
        gaps: list = []
        expired = (410, {"error": "No longer kept.", "oldest_cursor": "c7"})
        inbox = self.start_inbox(
            lambda seen, _: page([event("evt_8")], "c8") if cursor_of(seen.path) == "c7" else expired,
            on_cursor_expired=gaps.append,
        )
        self.assertEqual(first(inbox, 1), [event("evt_8")])
        self.assertEqual((gaps, self.events()), ([Gap(None, "c7")], ["cursor_expired"]))

    def test_bad_pages(self) -> None:
        """[K11] what is no page is not taken for one, and nothing is asked for ever"""
        for reply in ("[]", '{"events":[{}],"next_cursor":"c"}', '{"events":[]}', "<html>"):
            inbox = self.start_inbox(lambda *_, reply=reply: (200, reply))
            self.assertEqual(self.fault(lambda inbox=inbox: first(inbox, 1)).fault, "bad_reply")
        stuck = self.start_inbox(lambda *_: page([], "c0", True))
        self.assertEqual(self.fault(lambda: first(stuck, 1)).fault, "bad_reply")

    def test_restart(self) -> None:
        """[K12] a restart of the server is waited for, but a wrong address is told at once"""
        inbox = self.start_inbox(
            lambda _, count: page([], "c0") if count == 1 else (503,) if count < 12 else page([event("evt_9")], "c1")
        )
        self.assertEqual(len(first(inbox, 1)), 1)
        wrong = self.start_inbox(lambda *_: HANG_UP)
        self.assertEqual(self.fault(lambda: first(wrong, 1)).fault, "unreachable")

    def test_refused_key(self) -> None:
        """[K11] after 401 or 403 it stops, and says what to do once"""
        for status in (401, 403):
            inbox = self.start_inbox(lambda *_, status=status: (status, {"error": "This token is not valid here."}))
            self.assertIn("ask a person for a new key", str(self.fault(lambda inbox=inbox: first(inbox, 1))))
            self.fault(lambda inbox=inbox: inbox.task("task_42"))
            self.assertEqual((len(self.seen), len(self.alerts)), (1, 1))

    def test_resumes(self) -> None:
        """[K21] resumes are read once"""
        inbox = self.start_inbox(inbox_script([], resumes=[resume("res_1"), resume("res_2")]))
        self.assertEqual([one["resume_id"] for one in inbox.resumes(once=True)], ["res_1", "res_2"])
        self.assertEqual(list(inbox.resumes(once=True)), [])


class CursorFiles(World):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "deep" / "inbox.cursor"

    def test_file(self) -> None:
        """[K11] an event counts as read when the next one is asked for, also over a restart"""
        items = iter(self.start_inbox(inbox_script(THREE), cursor=self.path))
        next(items), next(items)
        place = json.loads(self.path.read_text("utf-8"))
        self.assertEqual(place["events"], {"cursor": None, "done": ["prod_exporter evt_1"]})
        self.assertEqual(stat.S_IMODE(os.stat(self.path).st_mode), 0o600)
        self.assertEqual(os.listdir(self.path.parent), ["inbox.cursor"])
        rest = [one["event_id"] for one in self.open_inbox(cursor=str(self.path)).events(once=True)]
        self.assertEqual(rest, ["evt_2", "evt_3"])
        self.assertEqual(list(self.open_inbox(cursor=self.path).events(once=True)), [])

    def test_shared(self) -> None:
        """[K11] the place of the other client is understood"""
        self.path.parent.mkdir()
        self.path.write_text(json.dumps(AKEP["place"]), "utf-8")
        inbox = self.start_inbox(lambda *_: page([event("evt_export_0001"), event("evt_2")], "c9"), cursor=self.path)
        self.assertEqual([one["event_id"] for one in inbox.events(once=True)], ["evt_2"])
        self.assertEqual(cursor_of(self.seen[0].path), AKEP["place"]["events"]["cursor"])

    def test_broken(self) -> None:
        """[K11] what is not a place is not taken for one, and nothing is read twice"""
        self.path.parent.mkdir()
        for text in AKEP["not_a_place"]:
            self.path.write_text(text, "utf-8")
            inbox = self.start_inbox(inbox_script(THREE), cursor=self.path)
            self.assertEqual(self.fault(lambda inbox=inbox: first(inbox, 1)).fault, "cursor_failed", text)
            self.assertEqual(self.seen, [])

    def test_unwritable(self) -> None:
        """[K11] a place that cannot be kept is told, and leaves nothing behind"""
        self.path.mkdir(parents=True)
        (self.path / "in the way").touch()
        store = FileCursor(self.path)
        self.assertEqual(self.fault(lambda: store.save(AKEP["place"])).fault, "cursor_failed")
        self.assertEqual(os.listdir(self.path.parent), ["inbox.cursor"])

    def test_foreign(self) -> None:
        """[K11] the cursor of another inbox leads to a sentence about the file"""
        inbox = self.start_inbox(lambda *_: (400, {"error": "Not one of this inbox.", "path": "cursor"}))
        self.assertEqual(self.fault(lambda: first(inbox, 1)).fault, "cursor_failed")


class Running(World):
    def test_limited_ack(self) -> None:
        """[K13] what was handled is acknowledged when the limit is over, and not handled again"""
        script, refusals, handled, stop = inbox_script(THREE), iter(range(4)), [], Flag()

        def limited(seen: Seen, count: int) -> object:
            is_over = seen.method != "POST" or next(refusals, None) is None
            return script(seen, count) if is_over else (429, {}, {"retry-after": "1"})

        def handle(one: dict) -> None:
            handled.append(one["event_id"])
            if len(handled) == 3:
                stop.set()

        self.start_inbox(limited).run(handle, stop=stop)
        self.assertEqual((handled, self.alerts), (["evt_1", "evt_2", "evt_3"], ["rate_limited"]))

    def test_acks(self) -> None:
        """[K13] each event is acknowledged after its handler: applied, or as it says"""
        says = [None, Verdict("rejected", "x" * 1500), "skip"]
        inbox = self.start_inbox(inbox_script(THREE))
        inbox.run(lambda event: says[len(self.acks())] if event["event_id"] != "evt_3" else "skip", once=True)
        self.assertEqual(self.acks(), ["evt_1 applied", "evt_2 rejected"])
        self.assertEqual(self.events(), ["ack", "ack", "skipped"])
        self.assertEqual(len(json.loads(self.seen[2].body)["reason"]), 1000)

    def test_failing(self) -> None:
        """[K13] a handler that raises leaves its event unacknowledged, ends the run, and gets it again"""
        inbox = self.start_inbox(inbox_script(THREE))
        handled: list = []

        def handler(event: dict) -> None:
            handled.append(event["event_id"])
            if len(handled) == 2:
                raise OSError("disk full")

        with self.assertRaises(OSError):
            inbox.run(handler, once=True)
        self.assertEqual(self.acks(), ["evt_1 applied"])
        inbox.run(handler, once=True)
        self.assertEqual(handled, ["evt_1", "evt_2", "evt_2", "evt_3"])

    def test_misunderstood(self) -> None:
        """[K13] what a handler returns by mistake is never taken as applied"""

        async def asynchronous(_: dict) -> None:
            raise AssertionError("nobody awaits this")

        for handler in (asynchronous, lambda _: "rejected", lambda _: {"status": "rejected"}):
            inbox = self.start_inbox(inbox_script([event("evt_1")]))
            caught = self.fault(lambda inbox=inbox, handler=handler: inbox.run(handler, once=True))
            self.assertEqual(caught.fault, "wrong_usage")
            self.assertEqual(self.acks(), [])

    def test_on_error(self) -> None:
        """[K13] on_error skips, rejects or stops"""
        inbox = self.start_inbox(inbox_script(THREE))
        says = iter(["skip", Verdict("rejected", "odd"), "stop"])

        def handler(_: dict) -> None:
            raise OSError("no")

        with self.assertRaises(OSError):
            inbox.run(handler, once=True, on_error=lambda *_: next(says))
        self.assertEqual(self.acks(), ["evt_2 rejected"])

    def test_other_ack(self) -> None:
        """[K13] what was acknowledged otherwise before, or is gone, does not stop the run"""
        script = inbox_script(THREE)
        answers = {"evt_1": (409, {"error": "was rejected"}), "evt_2": (404, {"error": "gone"})}

        def by_path(seen: object, n: int) -> object:
            name = next((name for name in answers if name in seen.path), None)  # type: ignore[attr-defined]
            return answers[name] if name else script(seen, n)  # type: ignore[arg-type]

        inbox = self.start_inbox(by_path)
        inbox.run(lambda _: None, once=True)
        self.assertEqual(self.events(), ["ack_refused", "ack_refused", "ack"])

    def test_resume(self) -> None:
        """[K21] resumes come after the events that caused them, and are logged"""
        inbox = self.start_inbox(inbox_script(THREE, size=2, resumes=[resume("res_1")]))
        steps: list = []
        inbox.run(
            lambda event: steps.append(event["event_id"]),
            on_resume=lambda one: steps.append(one["resume_id"]),
            once=True,
        )
        self.assertEqual(steps, ["evt_1", "evt_2", "evt_3", "res_1"])
        self.assertEqual(self.events(), ["ack", "ack", "ack", "resume"])

    def test_stop(self) -> None:
        """[K12] a stop ends it after what was begun"""
        stop = Flag()
        inbox = self.start_inbox(inbox_script(THREE))
        inbox.run(lambda _: stop.set(), stop=stop)
        self.assertEqual(self.acks(), ["evt_1 applied"])


class Verbs(World):
    def test_entries(self) -> None:
        """[K14] one event, its task, and acknowledging by hand"""
        view = {"event": event("evt_1"), "cursor": "c1", "ack": None}
        inbox = self.start_inbox(lambda seen, _: (200, view))
        self.assertEqual(inbox.get("evt 1", producer_id="p/1"), view)
        inbox.task("t/1")
        inbox.ack("evt_1", "rejected", reason="Not ours.")
        paths = ["/akep/events/evt%201?producer_id=p%2F1", "/akep/tasks/t%2F1", "/akep/events/evt_1/ack"]
        self.assertEqual([seen.path for seen in self.seen], paths)
        self.assertEqual(self.fault(lambda: inbox.ack("evt_1", "done")).fault, "wrong_usage")  # type: ignore[arg-type]

    def test_emit(self) -> None:
        """[K25] an event is emitted in the name of the agent, by its key"""
        inbox = self.start_inbox(lambda *_: ACCEPTED)
        sent = inbox.emit(EVENT)
        self.assertEqual(self.seen[0].path, "/akep/emit")
        self.assertIn("authorization", self.seen[0].headers)
        body = json.loads(self.seen[0].body)
        self.assertEqual((body["event_id"], body["source"]), (sent.event_id, {"name": "agent", "type": "agent"}))

    def test_subscriptions(self) -> None:
        """[K18] subscriptions are made with what an inbox needs, listed and removed"""
        made = {"subscription_id": "sub_1", "event_types": ["tool.completed"]}
        replies = {"POST": (201, made), "GET": (200, {"subscriptions": [made]}), "DELETE": (204,)}
        inbox = self.start_inbox(lambda seen, _: replies[seen.method])
        self.assertEqual(inbox.subscribe(["tool.completed"], filters={"subject.task_id": "x"}), made)
        sent = next(seen for seen in self.seen if seen.method == "POST")
        self.assertEqual(json.loads(sent.body)["delivery"], {"type": "long_poll"})
        self.assertEqual(inbox.subscriptions(), [made])
        inbox.unsubscribe("sub_1")

    def forgetful(self, kept: list[dict]) -> Inbox:
        """At a server that loses the first reply to whoever makes or ends a subscription."""
        lost: set[str] = set()

        def script(seen: Seen, _: int) -> object:
            if seen.method == "GET":
                return 200, {"subscriptions": kept}
            is_lost = seen.method not in lost
            lost.add(seen.method)
            if seen.method == "DELETE":
                gone = [one for one in kept if seen.path.endswith(one["subscription_id"])]
                for one in gone:
                    kept.remove(one)
                return (HANG_UP if is_lost else (204,)) if gone else (404, {})
            made = {**json.loads(seen.body), "subscription_id": f"sub_{len(kept)}"}
            kept.append(made)
            return HANG_UP if is_lost else (201, {**made, "secret": "whsec_x"})

        return self.start_inbox(script)

    def test_lost_subscription(self) -> None:
        """[K18] one whose reply got lost is found instead of being made twice, and ended once"""
        base = {"spec": "akep.v1", "sink": "inbox", "delivery": {"type": "long_poll"}, "event_types": ["tool.completed"]}
        kept = [{**base, "subscription_id": "sub_old"}]
        inbox = self.forgetful(kept)
        made = inbox.subscribe(["tool.completed"])
        self.assertEqual((made["subscription_id"], len(kept)), ("sub_1", 2))
        inbox.unsubscribe("sub_1")
        self.assertEqual([one["subscription_id"] for one in kept], ["sub_old"])
        self.assertEqual(self.fault(lambda: inbox.unsubscribe("sub_1")).fault, "not_found")

    def test_lost_secret(self) -> None:
        """[K19] a forwarding one whose secret got lost with the reply is made anew"""
        kept: list[dict] = []
        delivery = {"type": "webhook", "url": "https://example.com/events"}
        made = self.forgetful(kept).subscribe(["tool.completed"], delivery=delivery)
        self.assertEqual((made["secret"], len(kept)), ("whsec_x", 1))

    def test_policy(self) -> None:
        """[K20] the policy is read and set"""
        policy = {"max_resume_policy": "append_only"}
        inbox = self.start_inbox(lambda *_: (200, policy))
        self.assertEqual((inbox.policy(), inbox.set_policy(**policy)), (policy, policy))
        self.assertEqual([seen.method for seen in self.seen], ["GET", "PUT"])

    def waiting(self, resumes: list) -> object:
        looks = iter(resumes)

        def script(seen: object, _: int) -> object:
            if seen.method == "POST":  # type: ignore[attr-defined]
                return 201, {"wait_id": "wait_1"}
            if seen.method == "DELETE":  # type: ignore[attr-defined]
                return (204,)
            if seen.path.startswith("/akep/events/"):  # type: ignore[attr-defined]
                return 200, {"event": event("evt_1"), "cursor": "c1", "ack": None}
            found = next(looks, [])
            is_held = seen.path.startswith("/akep/resumes/wait?")  # type: ignore[attr-defined]
            return (204,) if is_held and not found else page(found, "c1", name="resumes")

        return script

    def test_lost_wait(self) -> None:
        """[K20] a wait whose reply got lost is found instead of being opened twice; one that never arrived is opened"""
        empty = {"event_types": None, "interrupt_id": None, "policy": None}
        ours = {"wait_id": "wait_1", "run_state_ref": "here", "expires_at": "2026-03-08T13:00:00.000000Z", **empty}
        waits = [{**ours, "wait_id": "wait_0", "run_state_ref": "there"}, ours]
        for loss in (HANG_UP, (502, {})):
            script = lambda seen, _, loss=loss: loss if seen.method == "POST" else (200, {"waits": waits})  # noqa: E731
            wait = self.start_inbox(script).open_wait("here", expires_at="2026-03-08T13:00:00.000Z")
            self.assertEqual(wait["wait_id"], "wait_1")
            self.assertEqual([seen.method for seen in self.seen], ["POST", "GET"])
        answers = [HANG_UP, (200, {"waits": []}), (201, ours)]
        self.start_inbox(lambda _, count: answers[count - 1]).open_wait("here")
        self.assertEqual([seen.method for seen in self.seen], ["POST", "GET", "POST"])

    def test_wait_for(self) -> None:
        """[K21][K41] wait_for stays until its own wait is resumed, and brings the event"""
        script = self.waiting([[resume("res_0", wait_id="wait_0")], [], [resume("res_1")]])
        came = self.start_inbox(script).wait_for("here", subject={"task_id": "task_42"})  # type: ignore[arg-type]
        self.assertEqual((came.status, came.resume, came.event), ("resumed", resume("res_1"), event("evt_1")))
        held = "/akep/resumes/wait?limit=1000&cursor=c1&timeout_seconds=50"
        looks = [seen.path for seen in self.seen if seen.path.startswith("/akep/resumes")]
        self.assertEqual(looks, ["/akep/resumes?limit=1000", held, held])
        # One that is let go early is not asked again at once.
        self.assertEqual(self.clock.naps, [1])
        self.assertEqual(json.loads(self.seen[0].body)["expires_at"], "2026-03-08T13:00:00.000Z")

    def test_wait_times_out(self) -> None:
        """[K20] it never waits for ever, and ends its wait; a resume in the last moment is not lost"""
        inbox = self.start_inbox(self.waiting([]))  # type: ignore[arg-type]
        self.assertEqual(inbox.wait_for("here", timeout_seconds=5).status, "timed_out")
        self.assertEqual(self.clock.naps, [1, 1, 1, 1, 1])
        self.assertIn("DELETE", [seen.method for seen in self.seen])
        late = self.start_inbox(self.waiting([[], [resume("res_1")]]))  # type: ignore[arg-type]
        self.assertEqual(late.wait_for("here", timeout_seconds=0).status, "resumed")

    def test_wait_interrupted(self) -> None:
        """[K20] when it is interrupted it ends its wait, which would catch an event that nobody waits for"""
        inbox = self.start_inbox(self.waiting([]))  # type: ignore[arg-type]

        def interrupt(_: float) -> None:
            raise KeyboardInterrupt

        self.clock.sleep = interrupt  # type: ignore[method-assign]
        with self.assertRaises(KeyboardInterrupt):
            inbox.wait_for("here")
        self.assertEqual((self.seen[-1].method, self.seen[-1].path), ("DELETE", "/akep/waits/wait_1"))


if __name__ == "__main__":
    unittest.main()
