"""What every verb of the inbox works with, and pages behind a cursor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Callable
from urllib.parse import urlencode

from ..clock import Clock
from ..faults import LanternError
from ..jsons import text_of
from ..recorder import Recorder
from ..transport import Call, Transport
from .cursor import Bookmark
from .envelope import is_event

_EARLY_PAUSE_SECONDS = 1.0


@dataclass(frozen=True)
class Gap:
    """What came after a cursor is no longer kept (K17): these events will never arrive."""

    expired_cursor: str | None
    oldest_cursor: str


@dataclass(frozen=True)
class InboxParts:
    transport: Transport
    recorder: Recorder
    clock: Clock
    bookmark: Bookmark
    on_cursor_expired: Callable[[Gap], None]


@dataclass(frozen=True)
class Page:
    items: list[dict[str, Any]]
    next_cursor: str
    has_more: bool


def read_events(parts: InboxParts, cursor: str | None, limit: int, wait_seconds: int) -> Page | None:
    """None when nothing came in time. An expired cursor is reported, and reading goes on from the oldest event (K17)."""
    try:
        body = _held_get(parts, "/akep/events", cursor, limit, wait_seconds)
    except LanternError as error:
        oldest = error.wire.oldest_cursor if error.fault == "cursor_expired" and error.wire else None
        if oldest is None or oldest == cursor:
            raise
        parts.recorder.record("cursor_expired", {"expired_cursor": cursor, "oldest_cursor": oldest})
        parts.on_cursor_expired(Gap(cursor, oldest))
        return read_events(parts, oldest, limit, wait_seconds)
    return None if body is None else _demand_page(body, "events", is_event)


def read_resumes(parts: InboxParts, cursor: str | None, limit: int, wait_seconds: int) -> Page | None:
    """None when nothing came in time."""
    body = _held_get(parts, "/akep/resumes", cursor, limit, wait_seconds)
    return None if body is None else _demand_page(body, "resumes", _is_resume)


def unhurried(
    parts: InboxParts,
    read: Callable[[InboxParts, str | None, int, int], Page | None],
    cursor: str | None,
    limit: int,
    wait_seconds: int,
) -> Page | None:
    """A stopping server releases all waiting clients at once; they should not all come back at once."""
    started = parts.clock.now()
    page = read(parts, cursor, limit, wait_seconds)
    is_empty = page is None or not page.items
    if is_empty and parts.clock.now() - started < wait_seconds / 2:
        parts.clock.sleep(_EARLY_PAUSE_SECONDS)
    return page


def odd(what: str) -> LanternError:
    return LanternError(
        "bad_reply",
        f"The server answered with something that is not {what}: check the address and its AKEP version.",
    )


def _held_get(parts: InboxParts, path: str, cursor: str | None, limit: int, wait_seconds: int) -> Any:
    """The page after the cursor, or its waiting counterpart where the server may hold the reply (K12, K41)."""
    wait = {"timeout_seconds": wait_seconds} if wait_seconds > 0 else {}
    wanted = {"limit": limit, "cursor": cursor, **wait}
    return _get(parts, f"{path}/wait" if wait_seconds > 0 else path, wanted, wait_seconds)


def _get(parts: InboxParts, path: str, wanted: Mapping[str, Any], held_seconds: float = 0) -> Any:
    query = urlencode({name: value for name, value in wanted.items() if value is not None})
    try:
        return parts.transport.send(Call("GET", f"{path}?{query}", held_seconds=held_seconds))
    except LanternError as error:
        if error.wire is None or error.wire.field != "cursor":
            raise
        raise LanternError(
            "cursor_failed",
            "The saved cursor does not belong to this inbox: use one cursor file for each agent and server, or remove "
            "the file to read from the beginning.",
        ) from error


def _demand_page(body: Any, name: str, is_item: Callable[[Any], bool]) -> Page:
    items = body.get(name) if isinstance(body, dict) else None
    following = text_of(body.get("next_cursor")) if isinstance(body, dict) else None
    if not isinstance(items, list) or following is None or not all(map(is_item, items)):
        raise odd("an AKEP page")
    return Page(items, following, body.get("has_more") is True)


def _is_resume(value: Any) -> bool:
    return (
        isinstance(value, dict) and isinstance(value.get("resume_id"), str) and isinstance(value.get("event_id"), str)
    )
