"""Reading a signed request, whatever arrived: nothing here raises. Standard Webhooks, for callbacks and events."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable, Literal, Protocol

StandardFlaw = Literal["incomplete_headers", "bad_timestamp", "stale_timestamp", "bad_secret", "bad_signature"]


class Headers(Protocol):
    """A dict, or what a framework or ``http.server`` has instead, which need not be a ``Mapping``."""

    def items(self) -> Iterable[tuple[str, str]]: ...


_MOST_TAGS = 8  # no honest sender has more; without a limit a header is work for the receiver


def standard_of(headers: Mapping[str, str]) -> list[str | None]:
    return [headers.get(name) for name in ("webhook-id", "webhook-timestamp", "webhook-signature")]


def standard_flaw(
    body: bytes, headers: Sequence[str | None], keys: Sequence[bytes], fresh: Callable[[int], bool]
) -> StandardFlaw | None:
    id_, timestamp, signature = headers
    if not (id_ and timestamp and signature):
        return "incomplete_headers"
    # ASCII digits only: float("nan") compares with nothing, and int() reads other alphabets.
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        return "bad_timestamp"
    if not fresh(int(timestamp)):
        return "stale_timestamp"
    if not keys:
        return "bad_secret"
    content = f"{id_}.{timestamp}.".encode("utf-8", "replace") + body
    tags = tags_of(signature.split(), "v1,", from_base64)
    return None if holds_any(keys, tags, content) else "bad_signature"


def holds_any(keys: Sequence[bytes], tags: Sequence[bytes], content: bytes) -> bool:
    wanted = [hmac_of(key, content) for key in keys]
    return any([hmac.compare_digest(tag, want) for tag in tags for want in wanted])


def tags_of(parts: Sequence[str], prefix: str, read: Callable[[str], bytes | None]) -> list[bytes]:
    found = [read(part[len(prefix) :]) for part in parts[:_MOST_TAGS] if part.startswith(prefix)]
    return [tag for tag in found if tag is not None]


def hmac_of(key: bytes, content: bytes) -> bytes:
    return hmac.new(key, content, hashlib.sha256).digest()


def from_hex(text: str) -> bytes | None:
    return bytes.fromhex(text) if re.fullmatch(r"([0-9a-fA-F]{2})+", text) else None


def from_base64(text: str) -> bytes | None:
    if len(text) % 4 or not re.fullmatch(r"[A-Za-z0-9+/]+={0,2}", text):
        return None
    return base64.b64decode(text)


def from_loose_base64(text: str) -> bytes | None:
    """Secrets from elsewhere are often URL-safe base64, or lack the padding."""
    letters = re.sub("={1,2}$", "", text).translate(str.maketrans("-_", "+/"))
    return from_base64(letters + "=" * (-len(letters) % 4))


def usable(secrets: Any) -> list[str] | None:
    if not isinstance(secrets, (list, tuple)) or not secrets:
        return None
    return list(secrets) if all(isinstance(secret, str) and secret for secret in secrets) else None


def body_of(body: Any) -> bytes | None:
    if isinstance(body, str):
        return body.encode("utf-8", "replace")
    return bytes(body) if isinstance(body, (bytes, bytearray)) else None


def lowered(headers: Any) -> dict[str, str]:
    """Header names in lower case. A header that came twice counts as empty: nobody should choose between the two."""
    found: dict[str, str] = {}
    try:
        pairs = list(headers.items())
    except AttributeError:
        return found
    for name, value in pairs:
        if isinstance(name, str) and value is not None:
            key = name.lower()
            found[key] = value if isinstance(value, str) and key not in found else ""
    return found
