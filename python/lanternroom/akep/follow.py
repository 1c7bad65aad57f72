"""Events in their order, and after each page what they have resumed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Event as Flag
from typing import Any, Callable, Literal, Union

from ..faults import LanternError
from ..patience import patiently
from .cursor import List
from .pages import InboxParts, Page, read_events, read_resumes, unhurried

Look = Callable[[Callable[[], Union[Page, None]]], Union[Page, None]]

_WAIT_SECONDS = 50


@dataclass(frozen=True)
class Item:
    """One thing for the agent: something is known now, or a paused run may go on."""

    type: Literal["event", "resume"]
    value: dict[str, Any]


@dataclass(frozen=True)
class Wanted:
    lists: Sequence[List]
    types: Sequence[str] | None = None
    once: bool = False
    limit: int = 100
    stop: Flag | None = None

    @property
    def is_stopped(self) -> bool:
        return self.stop is not None and self.stop.is_set()


def follow(parts: InboxParts, wanted: Wanted) -> Iterator[Item]:
    """An item counts as handled when the next one is asked for; a reader who leaves before that gets it again."""
    is_patient = False
    while not wanted.is_stopped:
        # The first look neither waits nor retries: a wrong address is reported at once.
        look: Look = (lambda call: patiently(parts.clock, call)) if is_patient else (lambda call: call())
        wait_seconds = _WAIT_SECONDS if is_patient else 0
        page: Page | None = None
        if "events" in wanted.lists:
            page = look(partial(_next_events, parts, wanted, wait_seconds))
        if page is not None:
            events = [one for one in page.items if wanted.types is None or one["event_type"] in wanted.types]
            yield from _hand_out(parts, wanted, "events", [Item("event", one) for one in events], page.next_cursor)
        is_patient = not wanted.once
        if page is not None and page.has_more:
            continue
        if "resumes" in wanted.lists:
            # Every resume comes with an event: after waiting for events there is no need to wait again.
            resume_wait = 0 if "events" in wanted.lists else wait_seconds
            yield from _all_resumes(parts, wanted, look, resume_wait)
        if wanted.once:
            return


def _next_events(parts: InboxParts, wanted: Wanted, wait_seconds: int) -> Page | None:
    cursor = parts.bookmark.cursor("events")
    page = unhurried(parts, read_events, cursor, wanted.limit, wait_seconds)
    if page is not None and page.has_more and page.next_cursor == cursor:
        raise _stuck()
    return page


def _all_resumes(parts: InboxParts, wanted: Wanted, look: Look, wait_seconds: int) -> Iterator[Item]:
    while not wanted.is_stopped:
        cursor = parts.bookmark.cursor("resumes")
        page = look(partial(unhurried, parts, read_resumes, cursor, wanted.limit, wait_seconds))
        if page is None:
            return
        items = [Item("resume", one) for one in page.items]
        yield from _hand_out(parts, wanted, "resumes", items, page.next_cursor)
        if not page.has_more:
            return
        if page.next_cursor == cursor:
            raise _stuck()


def _hand_out(
    parts: InboxParts, wanted: Wanted, of: List, items: Sequence[Item], next_cursor: str
) -> Iterator[Item]:
    done = parts.bookmark.done(of)
    left = [item for item in items if _id(item) not in done]
    for index, item in enumerate(left):
        if wanted.is_stopped:
            return
        yield item
        if index < len(left) - 1:
            parts.bookmark.mark(of, _id(item))
    parts.bookmark.turn(of, next_cursor)


def _id(item: Item) -> str:
    """Ids are unique per producer only (K8)."""
    if item.type == "resume":
        return str(item.value["resume_id"])
    return f"{item.value['source'].get('producer_id')} {item.value['event_id']}"


def _stuck() -> LanternError:
    return LanternError(
        "bad_reply",
        "The server says there is more but gives no new cursor, so the inbox cannot be read on: report it.",
    )
