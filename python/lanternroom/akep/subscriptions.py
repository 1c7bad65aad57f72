"""Which events come into the inbox (K18)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from ..transport import Call
from .make_once import make_once
from .pages import InboxParts, odd

_PATH = "/akep/subscriptions"


def subscribe(parts: InboxParts, body: Mapping[str, Any]) -> dict[str, Any]:
    before = [one["subscription_id"] for one in list_subscriptions(parts)]

    def make() -> dict[str, Any]:
        made = parts.transport.send(Call("POST", _PATH, body, once=True))
        if not _is_subscription(made):
            raise odd("a subscription")
        return dict(made)

    def find() -> dict[str, Any] | None:
        fresh = [one for one in list_subscriptions(parts) if one["subscription_id"] not in before]
        found = next((one for one in fresh if all(one.get(name) == value for name, value in body.items())), None)
        if found is None or found["delivery"].get("type") != "webhook":
            return found
        # Its secret was in the lost reply, so nobody could verify what it forwards.
        unsubscribe(parts, found["subscription_id"])
        return None

    # Two of them would forward everything twice, and ending one would leave the other.
    return make_once(parts, make, find)


def list_subscriptions(parts: InboxParts) -> list[dict[str, Any]]:
    reply = parts.transport.send(Call("GET", _PATH))
    found = reply.get("subscriptions") if isinstance(reply, dict) else None
    if not isinstance(found, list) or not all(map(_is_subscription, found)):
        raise odd("a list of subscriptions")
    return found


def unsubscribe(parts: InboxParts, subscription_id: str) -> None:
    parts.transport.send(Call("DELETE", f"{_PATH}/{quote(subscription_id, safe='')}"))


def _is_subscription(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("subscription_id"), str)
