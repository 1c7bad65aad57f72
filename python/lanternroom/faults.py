"""Everything that can go wrong for a caller, as a closed list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Fault = Literal[
    "wrong_usage",
    "insecure_url",
    "unauthorized",
    "forbidden",
    "refused",
    "not_found",
    "conflict",
    "cursor_expired",
    "rate_limited",
    "unreachable",
    "server_failed",
    "bad_reply",
    "foreign_delivery",
    "log_failed",
    "cursor_failed",
]

# What is over by itself when the server is back.
PASSING: tuple[Fault, ...] = ("unreachable", "server_failed")


@dataclass(frozen=True)
class WireTrouble:
    """What the server said, when it was the server that refused."""

    status: int
    code: str | None = None
    field: str | None = None
    #: With ``cursor_expired``: where the inbox begins now.
    oldest_cursor: str | None = None
    #: How long the server wants to be left alone, where it said so (``Retry-After``).
    retry_after_seconds: float | None = None


class LanternError(Exception):
    """The only error this package raises on purpose. Its message is a sentence that says what to do.

    >>> try:
    ...     raise LanternError("rate_limited", "Pause the loop.")
    ... except LanternError as error:
    ...     error.fault
    'rate_limited'
    """

    def __init__(self, fault: Fault, message: str, wire: WireTrouble | None = None) -> None:
        super().__init__(message)
        self.fault: Fault = fault
        self.wire = wire
