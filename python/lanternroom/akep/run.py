"""Handing events to a handler, and acknowledging them afterwards (K13)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from inspect import isawaitable, iscoroutine
from typing import Any, Callable, Literal, Union
from urllib.parse import quote, urlencode

from ..faults import PASSING, LanternError
from ..patience import patiently
from ..transport import Call
from .envelope import ACK_STATUSES, AckStatus, Event, iso
from .follow import Item, Wanted, follow
from .pages import InboxParts

_LONGEST_REASON = 1000


@dataclass(frozen=True)
class Verdict:
    """How an event ended. The reason is shown on the desk beside it."""

    status: AckStatus
    reason: str | None = None


#: A verdict; or "skip", which goes on and leaves the event unacknowledged; or None, which is "applied".
HandlerSays = Union[Verdict, Literal["skip"], None]
Handler = Callable[[Event], HandlerSays]
OnResume = Callable[[dict[str, Any]], None]
OnErrorSays = Union[Verdict, Literal["stop", "skip"]]
OnError = Callable[[Exception, Item], OnErrorSays]


def run(
    parts: InboxParts, wanted: Wanted, handler: Handler, on_resume: OnResume | None, on_error: OnError | None
) -> None:
    for item in follow(parts, wanted):
        try:
            says = _hand(item, handler, on_resume)
        except Exception as error:
            decided = "stop" if on_error is None else on_error(error, item)
            if decided == "stop":
                raise
            says = decided
        _settle(parts, item, says, is_patient=not wanted.once)


def acknowledge(
    parts: InboxParts,
    event_id: str,
    verdict: Verdict,
    producer_id: str | None = None,
    event: Mapping[str, Any] | None = None,
) -> None:
    try:
        _post_ack(parts, event_id, verdict, producer_id)
    except LanternError as error:
        # The development producer signs for other names (K30), so its own is tried only when needed.
        named = event["source"].get("producer_id") if event is not None else None
        if error.fault != "conflict" or named is None:
            raise
        try:
            _post_ack(parts, event_id, verdict, named)
        except LanternError:
            raise error from None
    reason = {} if verdict.reason is None else {"reason": verdict.reason}
    parts.recorder.record("ack", {"event_id": event_id, "status": verdict.status, **reason})


def entry_path(event_id: str, rest: str, producer_id: str | None) -> str:
    query = "" if producer_id is None else "?" + urlencode({"producer_id": producer_id})
    return f"/akep/events/{quote(event_id, safe='')}{rest}{query}"


def _hand(item: Item, handler: Handler, on_resume: OnResume | None) -> HandlerSays:
    if item.type == "event":
        return handler(item.value)
    if on_resume is not None:
        on_resume(item.value)
    return None


def _settle(parts: InboxParts, item: Item, says: HandlerSays, is_patient: bool) -> None:
    if item.type == "resume":
        parts.recorder.record("resume", {**item.value, "handled": says != "skip"})
        return
    event_id = item.value["event_id"]
    if says == "skip":
        parts.recorder.record("skipped", {"event_id": event_id})
        return
    verdict = _verdict(says)

    def ack() -> None:
        acknowledge(parts, event_id, verdict, event=item.value)

    try:
        # An alert about the limit was raised by then, and finished work must be reported: waiting harms nobody.
        patiently(parts.clock, ack, (*PASSING, "rate_limited")) if is_patient else ack()
    except LanternError as error:
        # Acknowledged differently before, or no longer kept: repeating it would change nothing.
        if error.fault not in ("conflict", "not_found"):
            raise
        facts = {"event_id": event_id, "status": verdict.status, "fault": error.fault}
        parts.recorder.record("ack_refused", facts)


def _verdict(says: Any) -> Verdict:
    if isinstance(says, Verdict):
        return says
    if isawaitable(says):
        if iscoroutine(says):
            says.close()
        raise LanternError("wrong_usage", "The handler is asynchronous and was not run: use AsyncInbox for it.")
    # A value that a function happens to return says nothing; one that looks like a verdict must not be taken for "applied".
    if says in (*ACK_STATUSES, "stop") if isinstance(says, str) else isinstance(says, Mapping) and "status" in says:
        raise LanternError(
            "wrong_usage", f'The handler returned {says!r}: return Verdict("rejected", "why"), "skip", or nothing.'
        )
    return Verdict("applied")


def _post_ack(parts: InboxParts, event_id: str, verdict: Verdict, producer_id: str | None) -> None:
    if verdict.status not in ACK_STATUSES:
        raise LanternError(
            "wrong_usage", f"An event is acknowledged as {', '.join(ACK_STATUSES)}: use one of them."
        )
    reason = {} if verdict.reason is None else {"reason": verdict.reason[:_LONGEST_REASON]}
    body = {"status": verdict.status, "processed_at": iso(parts.clock.now()), **reason}
    parts.transport.send(Call("POST", entry_path(event_id, "/ack", producer_id), body))
