"""A real Lanternroom in a process of its own, and the person at its desk."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request
from pathlib import Path
from typing import Any, Callable

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from lanternroom import FileLog, Wake  # noqa: E402

KEY = "wk_test_0123456789abcdefghijklmnopqrstuv"
OWNER = {"email": "owner@example.com", "password": "correct horse battery"}
A = {"order": "A-17", "amount": 40}
B = {"order": "B-2", "amount": 900}
APPROVE = {"status": "approved"}
REJECT = {"status": "rejected", "feedback": "Not this customer."}


class Room(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        env = {
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            "LANTERNROOM_INIT_HANDLE": "home",
            "LANTERNROOM_INIT_EMAIL": OWNER["email"],
            "LANTERNROOM_INIT_PASSWORD": OWNER["password"],
            "LANTERNROOM_INIT_AGENT": "agent-01",
            "LANTERNROOM_INIT_AGENT_KEY": KEY,
            "LANTERNROOM_RATE_TEST": "1000000/100000",
            "LANTERNROOM_UNDO_SECONDS": "0",
        }
        program = str(ROOT / "packages/server/bin/lanternroom.js")
        command = ["node", program, "serve", "--port", "0", "--data", f"{self.folder}/data"]
        server = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(server.stdout.close)  # type: ignore[union-attr]
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.url = next(
            found[1] for line in server.stdout or [] if (found := re.match(r"Lanternroom is at (\S+)", line))
        )
        threading.Thread(target=server.stdout.read, daemon=True).start()  # type: ignore[union-attr]
        self.cookie = ""
        self.cookie = self.until(self._login)
        self.wake = self.client()

    def client(self, log: str = "log.jsonl") -> Wake:
        """Another process of the same agent, as far as the SDK can tell."""
        return Wake(self.url, KEY, agent_id="agent-01", log=FileLog(f"{self.folder}/{log}"))

    def _login(self) -> str | None:
        try:
            with self._open("POST", "/desk/session", OWNER) as reply:
                return str(reply.headers["set-cookie"]).split(";")[0]
        except OSError:
            return None

    def _open(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"} if data else {}
        headers["cookie"] = self.cookie
        return urllib.request.urlopen(urllib.request.Request(self.url + path, data, headers, method=method), timeout=30)

    def desk(self, method: str, path: str, body: Any = None) -> Any:
        with self._open(method, path, body) as reply:
            return json.loads(reply.read())

    def rows(self) -> list[dict[str, Any]]:
        return self.desk("GET", "/desk/deliveries?limit=100&from=2000-01-01T00:00:00Z")["deliveries"]

    def person(self, count: int, decides: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        """Waits for that many open questions, then answers each by its details."""

        def open_ones() -> Any:
            found = [row for row in self.rows() if row["status"] == "pending" and row["type"] == "question"]
            return found if len(found) >= count else None

        for row in self.until(open_ones):
            path = f"/desk/deliveries/{row['delivery_id']}"
            detail = self.desk("GET", path)
            self.desk("POST", f"{path}/decision", {**decides(detail), "content_sha256": detail["content_sha256"]})

    def meanwhile(self, count: int, decides: Callable[[dict[str, Any]], dict[str, Any]]) -> threading.Thread:
        """The person, beside a call that blocks."""
        person = threading.Thread(target=self.person, args=(count, decides))
        person.start()
        self.addCleanup(person.join)
        return person

    def until(self, look: Callable[[], Any]) -> Any:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            found = look()
            if found:
                return found
            time.sleep(0.05)
        self.fail("not in time")


def mixed(detail: dict[str, Any]) -> dict[str, Any]:
    return APPROVE if detail["details"]["arguments"]["order"] == "A-17" else REJECT


def edit(_: dict[str, Any]) -> dict[str, Any]:
    edited = {"tool": "refund", "arguments": {"order": "A-17", "amount": 20}}
    return {"status": "redirected", "edited_content": edited}
