"""Calls that nobody waits for any more: asyncio gives one up, but the thread that makes it cannot be stopped."""

from __future__ import annotations

from contextvars import ContextVar
from threading import Event as Flag


class Abandoned(BaseException):
    """Ends the work of a thread whose result nobody wants. No handler of errors should catch it."""


#: Set when the call that this thread makes was given up.
abandoned: ContextVar[Flag | None] = ContextVar("abandoned", default=None)


def end_if_abandoned() -> None:
    """Checked before each request, so that a loop of requests ends after the current one."""
    flag = abandoned.get()
    if flag is not None and flag.is_set():
        raise Abandoned
