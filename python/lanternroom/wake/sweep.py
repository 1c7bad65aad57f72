"""Every answer since a point, in one loop for all deliveries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Callable, Literal
from urllib.parse import urlencode

from ..faults import LanternError
from ..jsons import text_of
from ..patience import patiently
from ..transport import Call
from .answers import ResponseStatus, Swept, demand_response, to_answer
from .parts import Parts

OnForeign = Callable[[str], Literal["adopt", "refuse"]]


@dataclass(frozen=True)
class SweepOptions:
    statuses: Sequence[ResponseStatus]
    limit: int | None
    follow: bool
    poll_seconds: float
    on_foreign: OnForeign | None
    agent_id: str | None


@dataclass(frozen=True)
class _Page:
    items: list[dict[str, Any]]
    has_more: bool
    next_since: str | None


def sweep(parts: Parts, since: str | None, options: SweepOptions) -> Iterator[Swept]:
    # The first look forgives nothing: a wrong address is told at once.
    is_patient = False
    while True:
        read = partial(_read_page, parts, since, options)
        page = patiently(parts.clock, read) if is_patient else read()
        is_patient = options.follow
        following = page.next_since if page.items else since
        ours = [body for body in page.items if _is_ours(parts, body["delivery_id"], options.on_foreign)]
        for index, body in enumerate(ours):
            parts.journal.record_answer(body)
            # Until the last item of a page is handled, only the start of the page is safe.
            yield Swept(to_answer(body), following if index == len(ours) - 1 else since)
        if page.has_more and following == since:
            raise LanternError(
                "bad_reply",
                'The server says there is more but gives no new "next_since", so the sweep cannot go on: report it.',
            )
        since = following
        if page.has_more:
            continue
        if not options.follow:
            return
        parts.clock.sleep(options.poll_seconds)


def _read_page(parts: Parts, since: str | None, options: SweepOptions) -> _Page:
    wanted = {
        "status": ",".join(options.statuses),
        "agent_id": options.agent_id,
        "since": since,
        "limit": options.limit,
    }
    query = urlencode({name: value for name, value in wanted.items() if value is not None})
    body = parts.transport.send(Call("GET", f"/wake/v1/responses?{query}"))
    if not isinstance(body, dict) or not isinstance(body.get("deliveries"), list):
        raise LanternError(
            "bad_reply", "The server answered a sweep with something else: check the address and its WAKE version."
        )
    items = [demand_response(item) for item in body["deliveries"]]
    return _Page(items, body.get("has_more") is True, text_of(body.get("next_since")))


def _is_ours(parts: Parts, delivery_id: str, on_foreign: OnForeign | None) -> bool:
    if parts.journal.find(delivery_id) is not None:
        return True
    if on_foreign is not None and on_foreign(delivery_id) == "adopt":
        parts.journal.keep("adopted", delivery_id, {"timeout_seconds": None})
        return True
    # Left out instead of raised: one stranger must not keep a loop from every answer behind it.
    parts.journal.record("refused", {"delivery_id": delivery_id})
    return False
