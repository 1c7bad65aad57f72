"""What a paused run waits for (K20, K21)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from math import ceil
from typing import Any, Literal
from urllib.parse import quote

from ..abandon import abandoned
from ..clock import end_of
from ..faults import LanternError
from ..patience import patiently
from ..transport import Call
from .envelope import Event, iso
from .make_once import make_once
from .pages import InboxParts, odd, read_resumes, unhurried
from .run import entry_path

_PAGE = 1000
_WAIT_SECONDS = 50


@dataclass(frozen=True)
class Awaited:
    """``event`` is None when nothing came, when it is no longer kept, or when two producers used its id."""

    status: Literal["resumed", "timed_out"]
    wait_id: str
    resume: dict[str, Any] | None = None
    event: Event | None = None


def open_wait(parts: InboxParts, body: Mapping[str, Any]) -> dict[str, Any]:
    wait = _open_once(parts, body)
    parts.recorder.record("wait_opened", {"wait_id": wait["wait_id"], "run_state_ref": body.get("run_state_ref")})
    return wait


def _open_once(parts: InboxParts, body: Mapping[str, Any]) -> dict[str, Any]:
    """A second wait beside one whose reply got lost would resume the run twice."""

    def make() -> dict[str, Any]:
        wait = parts.transport.send(Call("POST", "/akep/waits", body, once=True))
        if not isinstance(wait, dict) or not isinstance(wait.get("wait_id"), str):
            raise odd("a wait")
        return wait

    def find() -> dict[str, Any] | None:
        return next((one for one in list_waits(parts) if _facts(one) == _facts(body)), None)

    return make_once(parts, make, find)


def list_waits(parts: InboxParts) -> list[dict[str, Any]]:
    reply = parts.transport.send(Call("GET", "/akep/waits"))
    found = reply.get("waits") if isinstance(reply, dict) else None
    if not isinstance(found, list):
        raise odd("a list of waits")
    return found


def _facts(wait: Mapping[str, Any]) -> list[Any]:
    names = ("run_state_ref", "interrupt_id", "event_types", "policy")
    return [*(wait.get(name) for name in names), wait.get("subject") or {}, _moment(wait.get("expires_at"))]


def _moment(text: Any) -> Any:
    try:
        return round(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000)
    except (ValueError, AttributeError):
        return text


def end_wait(parts: InboxParts, wait_id: str, until: float | None = None) -> None:
    parts.transport.send(Call("DELETE", f"/akep/waits/{quote(wait_id, safe='')}", until=until))
    parts.recorder.record("wait_ended", {"wait_id": wait_id})


def wait_for(parts: InboxParts, body: Mapping[str, Any], timeout_seconds: float) -> Awaited:
    deadline = end_of(parts.clock, "timeout_seconds", timeout_seconds)
    # If this process dies, the wait must not catch an event that nobody waits for any more.
    wait_id = open_wait(parts, {"expires_at": iso(deadline), **body})["wait_id"]
    finder = _Finder(parts, wait_id)
    try:
        found = finder.look_until(deadline)
    except BaseException:
        _abandon(parts, wait_id)
        raise
    if found is not None:
        return _resumed(parts, wait_id, found)
    try:
        end_wait(parts, wait_id)
    except LanternError as error:
        if error.fault != "not_found":
            raise
    # It may have been resumed between the last look and its end.
    late = finder.look(0)
    return Awaited("timed_out", wait_id) if late is None else _resumed(parts, wait_id, late)


def _abandon(parts: InboxParts, wait_id: str) -> None:
    """Nobody waits any more. If this does not get through, the wait ends when it expires."""
    was = abandoned.set(None)
    try:
        end_wait(parts, wait_id, until=parts.clock.now())
    except Exception:  # what ended the waiting is what the caller hears of
        pass
    finally:
        abandoned.reset(was)


class _Finder:
    """Looks through the resumes, each time from where the last look ended."""

    def __init__(self, parts: InboxParts, wait_id: str) -> None:
        self._parts = parts
        self._wait_id = wait_id
        self._cursor: str | None = None

    def look_until(self, deadline: float) -> dict[str, Any] | None:
        left = 0.0
        while True:
            found = self.look(min(_WAIT_SECONDS, ceil(left)))
            left = deadline - self._parts.clock.now()
            if found is not None or left <= 0:
                return found

    def look(self, wait_seconds: int) -> dict[str, Any] | None:
        while True:
            page = patiently(
                self._parts.clock,
                lambda: unhurried(self._parts, read_resumes, self._cursor, _PAGE, wait_seconds),
            )
            if page is None:
                return None
            self._cursor = page.next_cursor
            found = next((one for one in page.items if one.get("wait_id") == self._wait_id), None)
            if found is not None or not page.has_more:
                return found


def _resumed(parts: InboxParts, wait_id: str, resume: dict[str, Any]) -> Awaited:
    parts.recorder.record("resume", {**resume, "handled": True})
    try:
        view = parts.transport.send(Call("GET", entry_path(resume["event_id"], "", None)))
    except LanternError as error:
        if error.fault not in ("not_found", "conflict"):
            raise
        view = {}
    return Awaited("resumed", wait_id, resume, view.get("event") if isinstance(view, dict) else None)
