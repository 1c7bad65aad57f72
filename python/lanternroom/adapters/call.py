"""A tool call as the person sees it, and the key under which it is asked."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..jsons import json_of

_HEADLINE, _SUMMARY, _ID = 120, 280, 128


@dataclass(frozen=True)
class HeldCall:
    """A tool call that a framework holds back until a person has decided."""

    #: The framework's own names for this moment. The same names and arguments ask once.
    id: Sequence[str]
    tool: str
    args: Mapping[str, Any]
    purpose: str | None = None
    #: Groups what belongs together on the desk.
    thread_id: str | None = None


def draft_of(call: HeldCall, timeout_seconds: int) -> dict[str, Any]:
    """The question. It holds nothing that changes from one attempt to the next, so that a repeat is a repeat."""
    details: dict[str, Any] = {"tool": call.tool, "arguments": dict(call.args)}
    if call.purpose:
        details["purpose"] = call.purpose
    return {
        "type": "question",
        "headline": one_line(f"Ready to run {call.tool}", _HEADLINE),
        "summary": one_line(f"May it run? {signature(call)}", _SUMMARY),
        "details": details,
        "timeout_seconds": timeout_seconds,
        "thread_id": fitting(call.thread_id),
        "interrupt_id": fitting(call.id[-1] if call.id else None),
    }


def signature(call: HeldCall) -> str:
    """
    >>> signature(HeldCall(["run", "c1"], "refund", {"order": "A-17", "amount": 40}))
    'refund(order: "A-17", amount: 40)'
    """
    args = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in call.args.items()]
    return f"{call.tool}({', '.join(args)})"


def key_of(framework: str, call: HeldCall) -> str:
    """Made of everything that must be the same for the answer to count."""
    text = json.dumps([list(call.id), call.tool, _as_shown(call)], sort_keys=True, ensure_ascii=True)
    return f"{framework}:{hashlib.sha256(text.encode()).hexdigest()[:40]}"


def edited_args(call: HeldCall, edited: Any) -> dict[str, Any] | None:
    """The arguments that a person put in place of the proposed ones, or None: the content of the delivery with other
    ``arguments``. Anything else, such as a text or another tool, is an instruction for the agent and runs nothing.

    >>> call = HeldCall(["run", "c1"], "refund", {"amount": 40})
    >>> edited_args(call, {"tool": "refund", "arguments": {"amount": 20}})
    {'amount': 20}
    >>> edited_args(call, {"tool": "close_account", "arguments": {"amount": 20}}) is None
    True
    """
    if not isinstance(edited, dict) or not isinstance(edited.get("arguments"), dict):
        return None
    if edited.get("tool", call.tool) != call.tool:
        return None
    args: dict[str, Any] = edited["arguments"]
    return None if args == _as_shown(call) else args


def _as_shown(call: HeldCall) -> Any:
    """The arguments as the person reads them, and as they come back in an edit: a tuple is a list there."""
    return json.loads(json_of(dict(call.args)))


def one_line(text: str, longest: int) -> str:
    """Headline and summary are one line without control or direction characters (W9).

    >>> one_line("two\\nlines\\u202e", 20)
    'two lines'
    """
    spaced = "".join(" " if unicodedata.category(one)[0] in "CZ" else one for one in text)
    clean = " ".join(spaced.split())
    return clean if len(clean) <= longest else f"{clean[: longest - 1]}…"


def fitting(name: str | None) -> str | None:
    return name if name and len(name) <= _ID else None
