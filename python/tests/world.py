"""A real HTTP server on loopback that says what the test tells it to, and a clock that nobody waits for."""

from __future__ import annotations

import json
import sys
import threading
import unittest
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Callable
from urllib.parse import parse_qsl, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from lanternroom import Inbox, LanternError, MemoryLog, Producer, Wake  # noqa: E402

ID = "550e8400-e29b-41d4-a716-446655440000"
OTHER_ID = "661f9511-f30c-42e5-b827-557766551111"
KEY = "wk_test_0123456789abcdefghijklmnopqrstuvwxyz"
DRAFT: dict[str, Any] = {"type": "question", "headline": "Release is ready", "summary": "Ship 2.1 today?"}
HANG_UP = None
SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
AKEP = json.loads((Path(__file__).resolve().parents[2] / "spec" / "vectors" / "akep.json").read_text("utf-8"))
EVENT: dict[str, Any] = {
    "event_type": "tool.completed",
    "subject": {"task_id": "task_42"},
    "knowledge": {"kind": "tool_result", "summary": "The export has 1200 rows."},
}
ACCEPTED = (202, {"accepted": True, "duplicate": False})


@dataclass(frozen=True)
class Seen:
    method: str
    path: str
    headers: dict[str, str]
    body: str


class ManualClock:
    def __init__(self) -> None:
        self.time = 1772971200.0
        self.naps: list[float] = []

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        self.time += seconds


class World(unittest.TestCase):
    """A test with a room. ``script(seen, count)`` returns (status, body, headers), or HANG_UP."""

    def start(self, script: Callable[[Seen, int], Any], **options: Any) -> Wake:
        self.seen: list[Seen] = []
        self.alerts: list[str] = []
        self.clock = ManualClock()
        self.log = MemoryLog()
        self.url = self.serve(script)
        settings = {"agent_id": "research-agent-01", "clock": self.clock, "log": self.log, **options}
        return Wake(self.url, KEY, alert=lambda error: self.alerts.append(error.fault), **settings)

    def start_inbox(self, script: Callable[[Seen, int], Any], **options: Any) -> Inbox:
        self.start(script)
        return self.open_inbox(**options)

    def open_inbox(self, **options: Any) -> Inbox:
        alert = lambda error: self.alerts.append(error.fault)  # noqa: E731
        return Inbox(self.url, KEY, clock=self.clock, log=self.log, alert=alert, **options)

    def start_producer(self, script: Callable[[Seen, int], Any], **options: Any) -> Producer:
        self.start(script)
        identity = {"producer_id": "prod_exporter", "name": "exporter", "type": "tool", "secret": SECRET}
        return Producer(self.url, clock=self.clock, **{**identity, **options})

    def acks(self) -> list[str]:
        posts = [seen for seen in self.seen if seen.method == "POST"]
        return [f"{seen.path.split('/')[3]} {json.loads(seen.body)['status']}" for seen in posts]

    def serve(self, script: Callable[[Seen, int], Any]) -> str:
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self.seen, script))
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}"

    def fault(self, call: Callable[[], Any]) -> LanternError:
        with self.assertRaises(LanternError) as caught:
            call()
        return caught.exception

    def events(self) -> list[str]:
        return [json.loads(line)["event"] for line in self.log.lines]


def _handler(seen: list[Seen], script: Callable[[Seen, int], Any]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
            headers = {name.lower(): value for name, value in self.headers.items()}
            seen.append(Seen(self.command, self.path, headers, body))
            said = script(seen[-1], len(seen))
            if said is HANG_UP:
                self.close_connection = True
                return
            status, reply, more = (*said, {}, {})[:3]
            text = reply if isinstance(reply, (str, bytes)) else json.dumps(reply)
            data = text if isinstance(text, bytes) else text.encode()
            data = b"" if status == 204 else data
            self.send_response_only(status)
            for name, value in {"content-length": str(len(data)), **more}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        do_GET = answer
        do_POST = answer
        do_PUT = answer
        do_DELETE = answer

        def log_message(self, *_: Any) -> None:
            pass

    return Handler


def received(delivery_id: str = ID) -> Any:
    return 201, {"delivery_id": delivery_id, "status": "received", "created_at": "2026-03-08T12:00:00.000000Z"}


def response(status: str, **more: Any) -> dict[str, Any]:
    responded_at = None if status == "pending" else "2026-03-08T12:10:00.000000Z"
    base = {"delivery_id": ID, "status": status, "feedback": None, "edited_content": None}
    return {**base, "responded_at": responded_at, **more}


def answered(status: str, **more: Any) -> Any:
    return 200, response(status, **more)


def event(event_id: str, **more: Any) -> dict[str, Any]:
    return {
        "spec": "akep.v1",
        "event_id": event_id,
        "event_type": "tool.completed",
        "occurred_at": "2026-03-08T12:00:00.000Z",
        "source": {"producer_id": "prod_exporter", "name": "exporter", "type": "tool"},
        "subject": {"task_id": "task_42"},
        "knowledge": {"kind": "tool_result", "content_type": "text/plain", "summary": "Done."},
        "routing": {"resume_policy": "resume_if_waiting"},
        **more,
    }


def resume(resume_id: str, **more: Any) -> dict[str, Any]:
    base = {"resume_id": resume_id, "event_id": "evt_1", "wait_id": "wait_1", "run_state_ref": "runs/42.json"}
    return {**base, "decision": "resume", "reason": "An open wait matches.", "out_of_order": False, **more}


def page(events: list[Any], next_cursor: str, has_more: bool = False, name: str = "events") -> Any:
    return 200, {name: events, "next_cursor": next_cursor, "has_more": has_more}


def inbox_script(events: list[Any], size: int = 100, resumes: list[Any] | None = None) -> Callable[[Seen, int], Any]:
    """A small inbox in the server's words: pages of ``size``, cursors are c0, c1, …; then 204."""

    def script(seen: Seen, _: int) -> Any:
        url = urlsplit(seen.path)
        start = int(dict(parse_qsl(url.query)).get("cursor", "c0")[1:])
        if seen.method == "POST":
            return 200, {}
        if url.path.startswith("/akep/resumes"):
            left = (resumes or [])[start:]
            if not left and url.path.endswith("/wait"):
                return (204,)
            return page(left, f"c{start + len(left)}", name="resumes")
        if url.path == "/akep/events/evt_1":
            return 200, {"event": event("evt_1"), "cursor": "c1", "ack": None}
        items = events[start : start + size]
        if not items and url.path.endswith("/wait"):
            return (204,)
        return page(items, f"c{start + len(items)}", start + len(items) < len(events))

    return script
