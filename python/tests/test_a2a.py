import asyncio
import json
import unittest

from world import HANG_UP, KEY, ManualClock, Seen, World

from lanternroom import Caller
from lanternroom.aio import AsyncCaller

WORKING = {"id": "task-1", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}
DONE = {"id": "task-1", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}}


def result(value: object) -> object:
    return 200, {"jsonrpc": "2.0", "id": 1, "result": value}


def sse(*items: object, start: int = 1) -> object:
    lines = [
        f"id: {start + n}\ndata: {json.dumps({'jsonrpc': '2.0', 'id': 1, 'result': item})}\n\n"
        for n, item in enumerate(items)
    ]
    return 200, ": hello\n\n" + "".join(lines), {"content-type": "text/event-stream"}


class Calling(World):
    def caller(self, script: object) -> Caller:
        self.start(script)  # type: ignore[arg-type]
        return Caller(f"{self.url}/@home/helper", KEY, clock=self.clock)

    def said(self, seen: Seen) -> dict:
        return json.loads(seen.body)

    def test_send(self) -> None:
        """[A8] a message is sent as A2A 1.0 says, and sent again under the same id"""
        replies = iter([HANG_UP, result({"task": WORKING})])
        caller = self.caller(lambda *_: next(replies))
        self.assertEqual(caller.send("Review it", context_id="c")["task"], WORKING)
        first, second = (self.said(seen) for seen in self.seen)
        self.assertEqual(first, second)
        self.assertEqual(first["method"], "SendMessage")
        self.assertEqual(first["params"]["message"]["parts"], [{"text": "Review it"}])
        self.assertEqual(self.seen[0].path, "/@home/helper/")
        self.assertEqual(self.seen[0].headers["a2a-version"], "1.0")
        self.assertEqual(self.seen[0].headers["authorization"], f"Bearer {KEY}")

    def test_push(self) -> None:
        """[A18] where the server is to tell about changes goes with the message, sent, streamed and from asyncio"""
        push = {"url": "https://example.com/hook", "token": "secret"}
        reply = lambda seen, _: sse({"task": DONE}) if "Streaming" in seen.body else result({"task": DONE})  # noqa: E731
        caller = self.caller(reply)
        caller.send("x", push=push, return_immediately=True)
        list(caller.stream("x", push=push))
        later = AsyncCaller(f"{self.url}/@home/helper", KEY, clock=self.clock)

        async def both() -> None:
            await later.send("x", push=push)
            self.assertEqual([item async for item in later.stream("x", push=push)], [{"task": DONE}])

        asyncio.run(both())
        asked = [self.said(seen)["params"]["configuration"] for seen in self.seen]
        config = {"taskPushNotificationConfig": push}
        self.assertEqual(asked, [{"returnImmediately": True, **config}, config, config, config])

    def test_get(self) -> None:
        """[A6] a task is looked at and cancelled, and its refusals are faults"""
        caller = self.caller(lambda *_: result(DONE))
        self.assertEqual(caller.get("task-1", history_length=2), DONE)
        self.assertEqual(self.said(self.seen[0])["params"], {"id": "task-1", "historyLength": 2})
        self.assertEqual(caller.cancel("task-1"), DONE)
        for code, fault in ((-32001, "not_found"), (-32002, "conflict"), (-32602, "refused")):
            refused = {"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "No."}}
            caller = self.caller(lambda *_, refused=refused: (200, refused))
            self.assertEqual(self.fault(lambda caller=caller: caller.get("x")).fault, fault)
        self.assertEqual(self.fault(lambda: self.caller(lambda *_: result("odd")).get("x")).fault, "bad_reply")

    def test_wrong_member(self) -> None:
        """[A11] a refusal says which member was wrong"""
        details = [{"reason": "INVALID_PARAMS"}, {"fieldViolations": [{"field": "message.parts"}]}]
        for data, field in ((details, "message.parts"), ([None, {"fieldViolations": []}], None), ({"field": "x"}, None)):
            refused = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "No.", "data": data}}
            caller = self.caller(lambda *_, refused=refused: (200, refused))
            wire = self.fault(lambda caller=caller: caller.get("x")).wire
            self.assertEqual(wire.field if wire else "", field)

    def test_stream(self) -> None:
        """[A10] a stream goes on after a lost connection, from where it was, to the end of the task"""
        update = {"statusUpdate": {"taskId": "task-1", "status": {"state": "TASK_STATE_WORKING"}}}
        end = {"statusUpdate": {"taskId": "task-1", "status": {"state": "TASK_STATE_COMPLETED"}}}
        replies = iter([sse({"task": WORKING}, update), HANG_UP, sse(end, start=3)])
        caller = self.caller(lambda *_: next(replies))
        self.assertEqual(list(caller.stream("Review it")), [{"task": WORKING}, update, end])
        methods = [self.said(seen)["method"] for seen in self.seen]
        self.assertEqual(methods, ["SendStreamingMessage", "SubscribeToTask", "SubscribeToTask"])
        self.assertEqual(self.seen[2].headers["last-event-id"], "2")
        self.assertEqual(self.seen[0].headers["accept"], "text/event-stream")

    def test_stream_options(self) -> None:
        """[A7] a misspelt option of a stream is refused: the message would begin another task"""
        caller = self.caller(lambda *_: result(DONE))
        with self.assertRaises(TypeError):
            caller.stream("Go on", taskid="task-1")  # type: ignore[call-arg]

    def test_stream_ended(self) -> None:
        """[A10] a task that has ended is read instead of followed; another refusal is told"""
        over = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32004, "message": "Read it instead."}}
        caller = self.caller(lambda seen, _: (200, over) if "Subscribe" in seen.body else result(DONE))
        self.assertEqual(list(caller.subscribe("task-1")), [{"task": DONE}])
        unknown = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": "No such task."}}
        caller = self.caller(lambda *_: (200, unknown))
        self.assertEqual(self.fault(lambda: list(caller.subscribe("x"))).fault, "not_found")
        self.assertEqual(len(self.seen), 1)

    def test_stream_refused(self) -> None:
        """[A21] a stream that is refused is told, and not tried for ever"""
        caller = self.caller(lambda *_: (401, {"error": "no"}))
        self.assertEqual(self.fault(lambda: list(caller.subscribe("t"))).fault, "unauthorized")
        self.assertEqual(self.fault(lambda: caller.get("t")).fault, "unauthorized")
        self.assertEqual(len(self.seen), 1)
        caller = self.caller(lambda *_: (503, {}))
        self.assertEqual(self.fault(lambda: list(caller.subscribe("t"))).fault, "server_failed")
        self.assertEqual(len(self.seen), 5)

    def test_stream_over_the_limit(self) -> None:
        """[A21] a stream that meets the limit is tried again, and then told as that"""
        replies = iter([(429, {}), (408, {}), sse({"task": DONE})])
        self.assertEqual(list(self.caller(lambda *_: next(replies)).subscribe("t")), [{"task": DONE}])
        caller = self.caller(lambda *_: (429, {"error": "Slower."}))
        self.assertEqual(self.fault(lambda: list(caller.subscribe("t"))).fault, "rate_limited")

    def test_asked_to_wait(self) -> None:
        """[A21][W23] to send and to stream waits as long as the server asks"""
        held = lambda status, after: (status, {}, {"retry-after": after})  # noqa: E731
        verbs = (lambda caller: caller.get("t"), lambda caller: list(caller.subscribe("t")))
        unknown = 200, {"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": "No such task."}}
        cases = (
            ([held(429, "17"), unknown], [17.0], "not_found", None),
            ([held(429, "17"), held(429, "23")], [17.0], "rate_limited", 23.0),
            ([(429, {}), unknown], [60.0], "not_found", None),
            ([held(503, "20"), unknown], [20.0], "not_found", None),
        )
        for verb in verbs:
            for says, naps, fault, asked in cases:
                caller = self.caller(lambda _, count, says=says: says[count - 1])
                error = self.fault(lambda verb=verb, caller=caller: verb(caller))
                self.assertEqual((error.fault, error.wire and error.wire.retry_after_seconds), (fault, asked))
                self.assertEqual((self.clock.naps, len(self.seen)), (naps, 2))

    def test_broken_answers(self) -> None:
        """[A10] an answer that breaks off, in the middle of a character too, is asked for again"""
        sent = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"task": DONE}, "é": "é"}, ensure_ascii=False)
        text = f"data: {sent}".encode()
        cut = text[: text.index("é".encode()) + 1].decode("latin-1")
        stream = {"content-type": "text/event-stream"}
        for broken in (
            (200, b"{}", {"content-length": "10", "content-type": "application/json"}),
            (200, b"data: {", {**stream, "content-length": "10"}),
            (200, cut.encode("latin-1"), stream),
        ):
            replies = iter([broken, sse({"task": DONE})])
            caller = self.caller(lambda *_, replies=replies: next(replies))
            self.assertEqual(list(caller.subscribe("t")), [{"task": DONE}])

    def test_cancelled(self) -> None:
        """[A12] a task whose cancellation got no reply is cancelled, and one that ended otherwise is not"""
        refused = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32002, "message": "No."}}
        cancelled = {**DONE, "status": {"state": "TASK_STATE_CANCELED"}}
        for task in (cancelled, DONE):
            replies = iter([HANG_UP, (200, refused), result(task)])
            caller = self.caller(lambda *_, replies=replies: next(replies))
            if task is cancelled:
                self.assertEqual(caller.cancel("task-1"), cancelled)
            else:
                self.assertEqual(self.fault(lambda caller=caller: caller.cancel("task-1")).fault, "conflict")

    def test_far_http(self) -> None:
        """[W23] plain http to a far host is refused, with a key, with a token and without"""
        for token in (KEY, "ct_abc", None):
            self.assertEqual(self.fault(lambda token=token: Caller("http://far.example/@a/b", token)).fault, "insecure_url")

    def test_asyncio(self) -> None:
        """[A6] the same for asyncio"""
        self.start(lambda seen, _: sse({"task": DONE}) if "Streaming" in seen.body else result({"task": DONE}))
        caller = AsyncCaller(f"{self.url}/@home/helper", KEY, clock=ManualClock())

        async def both() -> list:
            return [(await caller.send("x"))["task"], *[item["task"] async for item in caller.stream("y")]]

        self.assertEqual(asyncio.run(both()), [DONE, DONE])


if __name__ == "__main__":
    unittest.main()
