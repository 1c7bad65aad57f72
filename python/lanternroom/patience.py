"""Going on through what passes by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Callable, TypeVar

from .clock import Clock
from .faults import PASSING, Fault, LanternError

T = TypeVar("T")

_LONGEST_PAUSE_SECONDS = 60.0


def patiently(clock: Clock, look: Callable[[], T], passing: Sequence[Fault] = PASSING) -> T:
    """Goes on through a restart of the server, for as long as it takes."""
    pause = 1.0
    while True:
        try:
            return look()
        except LanternError as error:
            if error.fault not in passing:
                raise
            asked = None if error.wire is None else error.wire.retry_after_seconds
        clock.sleep(max(pause, asked or 0.0))
        pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)
