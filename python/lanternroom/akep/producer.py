"""A system that makes things known to agents: it signs what it says and never says it twice."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Callable

from ..clock import Clock, SystemClock
from ..endpoint import read_producer_endpoint
from ..faults import LanternError
from ..jsons import json_of
from ..transport import Call, Transport
from .envelope import Event, envelope_of
from .signature import event_key, sign_event


@dataclass(frozen=True)
class Sent:
    """``duplicate``: the server had this very event, sent before or by an attempt whose reply was lost."""

    event_id: str
    duplicate: bool
    accepted: bool = True


class Producer:
    """An outside system that makes things known to agents.

    >>> producer = Producer("http://127.0.0.1:8787", producer_id="prod_exporter", name="exporter", type="tool",
    ...                     key_id="pk_1", secret="dev-secret")
    """

    def __init__(
        self,
        url: str,
        *,
        producer_id: str,
        name: str,
        type: str,
        secret: str,
        key_id: str | None = None,
        clock: Clock | None = None,
        alert: Callable[[LanternError], None] | None = None,
    ) -> None:
        if event_key(secret) is None:
            raise LanternError("wrong_usage", _no_secret(secret))
        if key_id is not None and not re.fullmatch(r"[\x21-\x7e]+", key_id):
            raise LanternError("wrong_usage", "The key id holds spaces or line breaks: give it as it was shown.")
        self._clock = clock or SystemClock()
        told = alert if alert is not None else (lambda _: None)
        self._transport = Transport(read_producer_endpoint(url), None, self._clock, told)
        self._source = {"producer_id": producer_id, "name": name, "type": type}
        self._secret = secret
        self._key_id = key_id

    def send(self, event: Mapping[str, Any]) -> Sent:
        """Signs and sends one event, and returns when it is on the server's disk. Retries with the same id and bytes
        under a fresh signature. Bring ``event_id`` and ``occurred_at`` when you may send it again after a restart.

        ``producer.send({"event_type": "tool.completed", "subject": {"task_id": "task_42"},
        "knowledge": {"kind": "tool_result", "summary": "The export has 1200 rows."}})``
        """
        envelope = envelope_of(event, self._source, self._clock.now())
        data = encode(envelope)
        headers = lambda: sign_event(  # noqa: E731
            secret=self._secret,
            body=data,
            id=envelope["event_id"],
            timestamp=int(self._clock.now()),
            key_id=self._key_id,
        )
        reply = self._transport.send(Call("POST", "/akep/events", headers=headers, data=data))
        return accepted(envelope, reply)


def _no_secret(secret: str) -> str:
    if isinstance(secret, str) and secret.startswith(("whsk_", "whpk_")):
        return "Ed25519 is not in Python's standard library: use a whsec_ secret here, or the TypeScript client."
    return "The producer has no secret: set AKEP_WEBHOOK_SECRET to it."


def encode(envelope: Event) -> bytes:
    return json_of(envelope).encode("utf-8")


def accepted(envelope: Event, reply: Any) -> Sent:
    if not isinstance(reply, dict) or reply.get("accepted") is not True:
        raise LanternError(
            "bad_reply",
            "The server did not say that it accepted the event: check that this is the address of an AKEP server.",
        )
    return Sent(envelope["event_id"], reply.get("duplicate") is True)
