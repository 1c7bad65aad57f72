"""``doctor``: checks what an agent needs, and says what to do about whatever is wrong."""

from __future__ import annotations

import sys
import urllib.request
from argparse import Namespace
from email.utils import parsedate_to_datetime
from typing import Any, Callable

from ..endpoint import read_endpoint
from ..faults import LanternError
from ..jsons import text_of
from ..transport import Call, Transport
from .machine import Machine

_NOTABLE_SKEW_SECONDS = 120


def doctor(_: Namespace, machine: Machine) -> int:
    """Ends with 1 when something is wrong. Stops at the first thing that makes the others pointless."""
    version = ".".join(str(one) for one in sys.version_info[:3])
    machine.out(f"ok   Python {version}\n")
    fine = _line(machine, "log", lambda: _log(machine))
    base = _try(machine, "address", lambda: read_endpoint(machine.url(), machine.key()))
    if base is None:
        return 1
    machine.out(f"ok   address: {base}\n")
    card = _try(machine, "server", lambda: _card(machine, base))
    if card is None:
        return 1
    versions = ", ".join(str(one) for one in card.get("versions") or [])
    machine.out(f"ok   server: {text_of(card.get('name')) or 'a WAKE server'}, WAKE {versions}\n")
    fine = _line(machine, "version", lambda: _version(card)) and fine
    fine = _line(machine, "key", lambda: _whose(machine, card)) and fine
    fine = _line(machine, "clock", lambda: _clock(machine, base)) and fine
    return 0 if fine else 1


def _try(machine: Machine, name: str, look: Callable[[], Any]) -> Any:
    try:
        return look()
    except LanternError as error:
        machine.out(f"BAD  {name}: {' '.join(str(error).split())}\n")
        return None


def _line(machine: Machine, name: str, look: Callable[[], str]) -> bool:
    said = _try(machine, name, look)
    if said is not None:
        machine.out(f"ok   {name}: {said}\n")
    return said is not None


def _log(machine: Machine) -> str:
    if machine.setting("LANTERN_LOG") == "off":
        return "switched off; after a restart this agent does not know its own deliveries"
    machine.log().append('{"event":"doctor"}')
    return machine.setting("LANTERN_LOG") or "~/.lantern/log.jsonl"


def _card(machine: Machine, base: str) -> dict[str, Any]:
    transport = Transport(base, machine.key(), machine.clock, lambda _: None)
    card = transport.send(Call("GET", "/.well-known/wake.json"))
    if not isinstance(card, dict):
        raise LanternError("bad_reply", f"{base} is not a WAKE server: check LANTERN_URL.")
    return card


def _version(card: dict[str, Any]) -> str:
    if not any(str(one).lstrip("v").split(".")[0] == "1" for one in card.get("versions") or []):
        raise LanternError("bad_reply", "The server does not speak WAKE v1: upgrade this package, or the server.")
    return "this package speaks WAKE v1"


def _whose(machine: Machine, card: dict[str, Any]) -> str:
    agent_id, wanted = text_of(card.get("agent_id")), machine.setting("WAKE_AGENT_ID")
    if agent_id is None:
        raise LanternError("wrong_usage", "The server does not say whose key this is: set WAKE_AGENT_ID.")
    if wanted is not None and wanted != agent_id:
        raise LanternError("wrong_usage", f"The key is {agent_id}'s, but WAKE_AGENT_ID says {wanted}: unset it.")
    return f"{agent_id} ({_kind(card)})"


def _kind(card: dict[str, Any]) -> str:
    """Which kind of key it is, and how much it may deliver."""
    tier = text_of(card.get("tier"))
    if tier is None:
        return "unknown key"
    limits: Any = card.get("limits")
    deliveries = limits.get("deliveries") if isinstance(limits, dict) else None
    pace = deliveries.get(tier) if isinstance(deliveries, dict) else None
    if not isinstance(pace, dict) or not all(isinstance(pace.get(name), int) for name in ("per_hour", "burst")):
        return f"{tier} key"
    return f"{tier} key: {pace['per_hour']} deliveries an hour, {pace['burst']} at once"


def _clock(machine: Machine, base: str) -> str:
    try:
        with urllib.request.urlopen(f"{base}/.well-known/wake.json", timeout=30) as reply:
            served = parsedate_to_datetime(reply.headers["date"]).timestamp()
    except (OSError, TypeError, ValueError):
        return "the server does not say what time it is"
    skew = machine.clock.now() - served
    if abs(skew) >= _NOTABLE_SKEW_SECONDS:
        where = "ahead of" if skew > 0 else "behind"
        raise LanternError(
            "wrong_usage",
            f"This machine is {round(abs(skew) / 60)} min {where} the server; signed events are refused then: set it.",
        )
    return "within two minutes of the server's"
