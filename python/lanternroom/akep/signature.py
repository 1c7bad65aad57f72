"""Signatures of events (K1…K3): Standard Webhooks over the exact bytes."""

from __future__ import annotations

import base64
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Union

from ..faults import LanternError
from ..jsons import parse_json
from ..signed_request import (
    Headers,
    StandardFlaw,
    body_of,
    from_loose_base64,
    hmac_of,
    lowered,
    standard_flaw,
    standard_of,
    usable,
)
from .envelope import Event, is_event

EventRefusal = Union[StandardFlaw, Literal["no_signature", "bad_id", "bad_body", "wrong_event"]]


@dataclass(frozen=True)
class GenuineEvent:
    """An event that may be believed."""

    event: Event
    ok: Literal[True] = field(default=True, init=False)


@dataclass(frozen=True)
class RefusedEvent:
    """Not genuine, or no event; the reason is for the log, a sender need not know."""

    reason: EventRefusal
    ok: Literal[False] = field(default=False, init=False)


def sign_event(*, secret: str, body: bytes | str, id: str, timestamp: int, key_id: str | None = None) -> dict[str, str]:
    """The headers of one event. ``Producer`` does this by itself; a test of a receiver needs it.

    >>> sign_event(secret="dev-secret", body="{}", id="evt_00000001", timestamp=1)["webhook-id"]
    'evt_00000001'
    """
    key = event_key(secret)
    if key is None or not id or "." in id or not isinstance(timestamp, int):
        raise LanternError(
            "wrong_usage", "Signing needs a secret, an id without a dot and a timestamp in whole seconds."
        )
    raw = body.encode() if isinstance(body, str) else body
    tag = base64.b64encode(hmac_of(key, f"{id}.{timestamp}.".encode() + raw)).decode()
    headers = {"webhook-id": id, "webhook-timestamp": str(timestamp), "webhook-signature": f"v1,{tag}"}
    return headers if key_id is None else {**headers, "webhook-signature-key-id": key_id}


def verify_event(
    body: bytes | str,
    headers: Headers,
    *,
    secret: str | None = None,
    secrets: Sequence[str] | None = None,
    tolerance_seconds: float = 300,
    now: float | None = None,
) -> GenuineEvent | RefusedEvent:
    """Whether an event that arrived at a receiver of your own is genuine. Never raises, compares in constant time,
    and reads the body only after somebody has vouched for it.

    >>> verify_event(b"{}", {}, secret="dev-secret")
    RefusedEvent(reason='no_signature', ok=False)
    """
    raw = body_of(body)
    known = usable(secrets if secrets is not None else [secret])
    if known is None:
        return RefusedEvent("bad_secret")
    if raw is None:
        return RefusedEvent("bad_body")
    standard = standard_of(lowered(headers))
    if all(value is None for value in standard):
        return RefusedEvent("no_signature")
    # With a dot in the id, two different pairs of id and time would be signed as the same text.
    if "." in (standard[0] or ""):
        return RefusedEvent("bad_id")
    keys = [key for key in map(event_key, known) if key is not None]
    at = time.time() if now is None else now
    flaw = standard_flaw(raw, standard, keys, fresh=lambda stamp: abs(at // 1 - stamp) <= tolerance_seconds)
    if flaw is not None:
        return RefusedEvent(flaw)
    event = parse_json(raw)
    if not is_event(event):
        return RefusedEvent("bad_body")
    return GenuineEvent(event) if event["event_id"] == standard[0] else RefusedEvent("wrong_event")


def event_key(secret: str) -> bytes | None:
    """``whsec_<base64>`` decodes to the key; any other text is its own UTF-8 bytes (K2). None when there is none."""
    if not isinstance(secret, str) or not secret:
        return None
    # What everybody may know, or what must never leave its owner, is no secret that two share. Ed25519 itself (K24) is
    # not in the standard library.
    if secret.startswith(("whpk_", "whsk_")):
        return None
    coded = re.fullmatch(r"whsec_([A-Za-z0-9+/_-]+={0,2})", secret)
    return secret.encode("utf-8", "replace") if coded is None else from_loose_base64(coded.group(1))
