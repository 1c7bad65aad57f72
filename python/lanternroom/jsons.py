"""JSON as it travels."""

from __future__ import annotations

import json
from typing import Any

from .faults import LanternError


def json_of(value: Any) -> str:
    """The text to send. A value that is not JSON, such as NaN, a date or a cycle, is the caller's mistake."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        text.encode("utf-8")
        return text
    except UnicodeEncodeError as error:
        raise LanternError("wrong_usage", "A text holds half of a surrogate pair, which is no character.") from error
    except (TypeError, ValueError, RecursionError) as error:
        raise LanternError("wrong_usage", f"What is to be sent is not JSON: {error}.") from error


def parse_json(text: bytes) -> Any:
    """JSON, or None. What others wrote is checked before it is trusted."""
    try:
        # Left to itself, Python reads NaN and Infinity, and UTF-16 and UTF-32, which are not JSON as it travels.
        return json.loads(text.decode("utf-8-sig"), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def parse_exact(text: str) -> Any:
    """JSON as a person wrote it, or None: no JSON, too deep, or with a name twice in one object, of which one would get
    lost."""
    try:
        return json.loads(text, parse_constant=_refuse, object_pairs_hook=_named_once)
    except (ValueError, RecursionError):
        return None


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    named = dict(pairs)
    if len(named) < len(pairs):
        raise ValueError("a name stands twice in one object")
    return named


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def unmarked(text: str) -> str:
    """Editors on Windows begin a file with a mark that is no part of it."""
    return text[1:] if text.startswith("\ufeff") else text


def text_of(value: Any) -> str | None:
    return value if isinstance(value, str) else None
