"""Everything a command touches outside itself, so that a test can stand in for the machine."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable

from ..akep import Inbox
from ..clock import Clock, SystemClock
from ..faults import LanternError
from ..log import FileLog, Log, MemoryLog, home_folder
from ..wake.client import Wake

_DEFAULT_URL = "http://127.0.0.1:8787"  # where `npm start` listens


def _write(stream: Any) -> Callable[[str], None]:
    def write(text: str) -> None:
        stream().write(text)
        stream().flush()

    return write


@dataclass(frozen=True)
class Machine:
    env: Mapping[str, str]
    out: Callable[[str], None] = field(default_factory=lambda: _write(lambda: sys.stdout))
    err: Callable[[str], None] = field(default_factory=lambda: _write(lambda: sys.stderr))
    stdin: Callable[[], str] = field(default=lambda: sys.stdin.read())
    clock: Clock = field(default_factory=SystemClock)

    def setting(self, name: str) -> str | None:
        return self.env.get(name, "").strip() or None

    def url(self) -> str:
        return self.setting("LANTERN_URL") or self.setting("WAKE_ENDPOINT") or _DEFAULT_URL

    def key(self) -> str:
        key = self.setting("WAKE_API_KEY")
        if key is None:
            raise LanternError(
                "wrong_usage", 'Set WAKE_API_KEY to the key of your agent; "lanternroom agent add NAME" makes one.'
            )
        return key

    def log(self) -> Log:
        path = self.setting("LANTERN_LOG")
        return MemoryLog() if path == "off" else FileLog(path)

    def wake(self) -> Wake:
        return Wake(
            self.url(),
            self.key(),
            agent_id=self.setting("WAKE_AGENT_ID"),
            provider=self.setting("WAKE_PROVIDER") or "custom",
            log=self.log(),
            clock=self.clock,
        )

    def inbox(self, cursor_file: str | None, looking: bool = False) -> Inbox:
        """A reader who only looks has a place of its own, so that what was shown is still handed to a command."""
        told = "Some events were dropped on the server before they were read here; going on after them.\n"
        return Inbox(
            self.url(),
            self.key(),
            cursor=cursor_file or self._cursor_file("-shown" if looking else ""),
            log=self.log(),
            clock=self.clock,
            on_cursor_expired=lambda _: self.err(told),
        )

    def _cursor_file(self, kind: str) -> Path:
        """One per agent and server; the name does not reveal the key. The same file as ``lantern``'s."""
        name = hashlib.sha256(f"{self.url()}\n{self.key()}".encode()).hexdigest()[:16]
        home = self.setting("HOME")
        return (Path(home) if home is not None else home_folder()) / ".lantern" / "cursors" / f"{name}{kind}.json"
