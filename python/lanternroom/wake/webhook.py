"""Callback signatures (W20): as WAKE v1.0 has them, and as Standard Webhooks has them."""

from __future__ import annotations

import base64
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Callable, Literal

from ..faults import LanternError
from ..jsons import parse_json
from ..signed_request import (
    Headers,
    body_of,
    from_hex,
    from_loose_base64,
    hmac_of,
    holds_any,
    lowered,
    standard_flaw,
    standard_of,
    tags_of,
    usable,
)
from .answers import read_response

Refusal = Literal[
    "no_signature",
    "bad_signature",
    "incomplete_headers",
    "bad_timestamp",
    "stale_timestamp",
    "bad_secret",
    "bad_body",
    "wrong_delivery",
    "foreign_delivery",
]

_SHORTEST_SECRET = 16


@dataclass(frozen=True)
class Verified:
    """A genuine callback, and what it says."""

    response: dict[str, Any]
    ok: Literal[True] = field(default=True, init=False)


@dataclass(frozen=True)
class Refused:
    """Not genuine, or no callback; the reason is for the log, a sender need not know."""

    reason: Refusal
    ok: Literal[False] = field(default=False, init=False)


def verify_webhook(
    body: bytes | str,
    headers: Headers,
    *,
    secret: str | None = None,
    secrets: Sequence[str] | None = None,
    tolerance_seconds: float = 300,
    now: float | None = None,
) -> Verified | Refused:
    """Whether a callback is genuine. Never raises. Where both header families are present both must hold;
    during a rotation, the one that carries both signatures.

    >>> verify_webhook(b"{}", {}, secret="whsec_abc")
    Refused(reason='no_signature', ok=False)
    """
    raw = body_of(body)
    keys = usable(secrets if secrets is not None else [secret])
    if keys is None:
        return Refused("bad_secret")
    if raw is None:
        return Refused("bad_body")
    found = lowered(headers)
    at = time.time() if now is None else now
    flaw = _find_flaw(raw, found, keys, fresh=lambda stamp: abs(at // 1 - stamp) <= tolerance_seconds)
    if flaw is not None:
        return Refused(flaw)
    response = read_response(parse_json(raw))
    if response is None:
        return Refused("bad_body")
    named = found.get("x-wake-delivery-id")
    if named is not None and named.lower() != response["delivery_id"].lower():
        return Refused("wrong_delivery")
    return Verified(response)


def sign_webhook(
    *, secrets: Sequence[str], body: bytes | str, id: str, timestamp: int, delivery_id: str | None = None
) -> dict[str, str]:
    """All headers of a signed callback: what a test of a receiver needs.

    >>> secret = "whsec_" + "A" * 32
    >>> sorted(sign_webhook(secrets=[secret], body="{}", id="d-1", timestamp=1))[-1]
    'x-wake-signature'
    """
    raw = body.encode() if isinstance(body, str) else body
    keys = [_secret_bytes(secret) for secret in secrets]
    if not keys or None in keys:
        raise LanternError(
            "wrong_usage", 'A callback secret is "whsec_" and at least 16 characters: make a new one.'
        )
    content = f"{id}.{timestamp}.".encode() + raw
    tags = [base64.b64encode(hmac_of(key, content)).decode() for key in keys if key is not None]
    return {
        "content-type": "application/json",
        "x-wake-signature": "sha256=" + hmac_of(secrets[0].encode(), raw).hex(),
        "x-wake-delivery-id": id if delivery_id is None else delivery_id,
        "webhook-id": id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(f"v1,{tag}" for tag in tags),
    }


def _find_flaw(
    body: bytes, headers: Mapping[str, str], secrets: Sequence[str], fresh: Callable[[int], bool]
) -> Refusal | None:
    wake = headers.get("x-wake-signature")
    standard = standard_of(headers)
    # One of them is enough to count as the family: leaving two out must not switch the freshness check off.
    has_standard = any(value is not None for value in standard)
    if wake is None and not has_standard:
        return "no_signature"
    if has_standard:
        keys = [key for key in map(_secret_bytes, secrets) if key is not None]
        flaw = standard_flaw(body, standard, keys, fresh)
        # X-Wake-Signature has room for one: during a rotation the family that carries both signatures decides.
        if flaw is not None or sum(tag.startswith("v1,") for tag in (standard[2] or "").split(" ")) > 1:
            return flaw
    if wake is None:
        return None
    tags = tags_of(re.split(r" *, *", wake.strip()), "sha256=", from_hex)
    return (
        None if holds_any([secret.encode("utf-8", "replace") for secret in secrets], tags, body) else "bad_signature"
    )


def _secret_bytes(secret: str) -> bytes | None:
    text = secret[6:] if secret.startswith("whsec_") else secret
    if len(text) < _SHORTEST_SECRET:
        return None
    # An operator's own text need not be base64; then its UTF-8 is the key.
    return from_loose_base64(text) or secret.encode("utf-8", "replace")
