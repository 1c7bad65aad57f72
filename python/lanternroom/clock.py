"""Time is passed in, so that tests can turn a clock instead of sleeping."""

from __future__ import annotations

import time
from math import isfinite
from typing import Protocol

from .faults import LanternError


class Clock(Protocol):
    """What the clients read the time from, and how they wait."""

    def now(self) -> float:
        """Seconds since 1970."""
        ...

    def sleep(self, seconds: float) -> None:
        """Waits so long."""
        ...


class SystemClock:
    """The clock of this machine."""

    def now(self) -> float:
        """Seconds since 1970."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        """Waits so long."""
        time.sleep(seconds)


def end_of(clock: Clock, name: str, seconds: float) -> float:
    """When a span that somebody gave has passed. "Never" is no such time (W23), and neither is what no clock can reach."""
    if isinstance(seconds, (int, float)) and isfinite(seconds):
        return clock.now() + seconds
    raise LanternError(
        "wrong_usage", f"{name} is {seconds!r}: give a number of seconds, because nobody waits for ever."
    )
