"""Delivering, and finding out who the agent is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..faults import LanternError
from ..jsons import json_of, text_of
from ..transport import Call
from .answers import Delivered
from .parts import Parts


def deliver(parts: Parts, body: Mapping[str, Any], idempotency_key: str, until: float | None) -> Delivered:
    """Intent, request, id: in this order, so that a log that cannot be written is noticed before anything is sent."""
    if not isinstance(idempotency_key, str) or not re.fullmatch(r"[\x21-\x7e]{1,255}", idempotency_key):
        raise LanternError(
            "wrong_usage",
            "An idempotency key is a text of 1 to 255 visible ASCII characters without spaces: give another one.",
        )
    data = json_of(body).encode()
    facts = {"agent_id": body["agent_id"], "idempotency_key": idempotency_key}
    parts.journal.record("deliver", {**facts, "delivery": body})
    headers = {"Idempotency-Key": idempotency_key}
    reply = parts.transport.send(Call("POST", "/wake/v1/deliver", headers=headers, data=data, until=until))
    delivery_id = text_of(reply.get("delivery_id")) if isinstance(reply, dict) else None
    if not delivery_id:
        raise LanternError(
            "bad_reply", "The server took the delivery without giving it an id: check that this is a WAKE server."
        )
    deduplicated = reply.get("deduplicated") is True
    kept = {**facts, "timeout_seconds": body.get("timeout_seconds"), "deduplicated": deduplicated}
    parts.journal.keep("delivered", delivery_id, kept)
    return Delivered(delivery_id, text_of(reply.get("created_at")) or "", deduplicated, idempotency_key)


def discover_agent_id(parts: Parts, until: float | None) -> str:
    """The key decides who the agent is, but the wire wants the id spelled out (W3), so the server is asked."""
    try:
        card = parts.transport.send(Call("GET", "/.well-known/wake.json", until=until))
    except LanternError as error:
        if error.fault not in ("not_found", "refused", "bad_reply"):
            raise
        card = None
    agent_id = text_of(card.get("agent_id")) if isinstance(card, dict) else None
    if not agent_id:
        raise LanternError(
            "wrong_usage",
            "The server does not say which agent this key belongs to: "
            "check the address, or set the agent id (WAKE_AGENT_ID).",
        )
    return agent_id
