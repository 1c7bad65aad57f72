"""Making what must not exist twice."""

from __future__ import annotations

from typing import Callable, TypeVar

from ..faults import PASSING, LanternError
from .pages import InboxParts

T = TypeVar("T")

_MOST_TRIES = 4


def make_once(parts: InboxParts, make: Callable[[], T], find: Callable[[], T | None]) -> T:
    """If the reply got lost, ``find`` tells whether it was made."""
    tries = 1
    while True:
        try:
            return make()
        except LanternError as error:
            if error.fault not in PASSING or tries == _MOST_TRIES:
                raise
        found = find()
        if found is not None:
            return found
        parts.clock.sleep(tries)
        tries += 1
