"""What every verb of the client works with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from ..clock import Clock
from ..transport import Call, Transport
from .answers import demand_response
from .journal import Journal, foreign


@dataclass(frozen=True)
class Parts:
    transport: Transport
    journal: Journal
    clock: Clock


def look(parts: Parts, delivery_id: str, hold_seconds: int = 0, until: float | None = None) -> dict[str, Any]:
    """One look at one delivery, believed only when it is ours and the reply is about it."""
    parts.journal.demand(delivery_id)
    # A plain server ignores the wish to hold the reply (W15).
    query = f"?wait={hold_seconds}" if hold_seconds > 0 else ""
    path = f"/wake/v1/response/{quote(delivery_id, safe='')}{query}"
    body = demand_response(parts.transport.send(Call("GET", path, held_seconds=hold_seconds, until=until)))
    if body["delivery_id"].lower() != delivery_id.lower():
        parts.journal.record("refused", {"delivery_id": body["delivery_id"], "asked_for": delivery_id})
        raise foreign(body["delivery_id"])
    parts.journal.record_answer(body)
    return body
