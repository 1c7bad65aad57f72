"""Work in a thread of its own, waited for by an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextvars import copy_context
from threading import Event as Flag
from threading import Thread
from typing import Any, Callable, TypeVar

from .abandon import abandoned

T = TypeVar("T")


def start(work: Callable[[], T]) -> tuple[asyncio.Future[T], Flag]:
    """Not in the loop's own threads: those are few, shared, and awaited at the end."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()
    left = Flag()

    def tell(settle: Callable[[Any], None], value: Any) -> None:
        if not done.done():
            settle(value)

    def run() -> None:
        abandoned.set(left)
        try:
            settle, value = done.set_result, work()
        except BaseException as error:
            settle, value = done.set_exception, error  # type: ignore[assignment]
        try:
            loop.call_soon_threadsafe(tell, settle, value)
        except RuntimeError:
            pass  # the loop is closed: nobody waits any more

    Thread(target=copy_context().run, args=(run,), name="lanternroom", daemon=True).start()
    return done, left


async def in_thread(work: Callable[..., T], *given: Any, **options: Any) -> T:
    done, left = start(lambda: work(*given, **options))
    try:
        return await done
    finally:
        left.set()


async def each(make: Callable[[], Iterator[T]]) -> AsyncIterator[T]:
    items = make()
    nothing: Any = object()
    while True:
        item: T = await in_thread(next, items, nothing)
        if item is nothing:
            return
        yield item
