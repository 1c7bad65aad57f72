"""The same clients for asyncio: each call runs in a thread, so that the loop goes on. A call that is cancelled is no
longer waited for, but what it has sent is sent: its thread goes on until the request at hand has ended, which for a
long-poll is up to a minute and the time for a reply (90 s), and for a whole ``wait_for`` until the answer or its timeout."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping
from threading import Event as Flag
from typing import Any, Callable, TypeVar

from .a2a import Caller, Said
from .akep.envelope import AckStatus, Event
from .akep.inbox import Inbox
from .akep.producer import Producer, Sent
from .akep.run import HandlerSays
from .akep.waits import Awaited
from .answers import Answer, Checked, Delivered, Rejected, Swept, TimedOut
from .wake import Wake

T = TypeVar("T")


async def _each(make: Callable[[], Iterator[T]]) -> AsyncIterator[T]:
    items = make()
    nothing: Any = object()
    while True:
        item = await asyncio.to_thread(next, items, nothing)
        if item is nothing:
            return
        yield item


class AsyncWake:
    """Takes what ``Wake`` takes.

    ``answer = await AsyncWake(url, key).wait_for(delivery_id)``
    """

    def __init__(self, url: str, api_key: str, **options: Any) -> None:
        self._wake = Wake(url, api_key, **options)

    async def deliver(self, **draft: Any) -> Delivered:
        return await asyncio.to_thread(self._wake.deliver, **draft)

    async def check(self, delivery_id: str) -> Checked:
        return await asyncio.to_thread(self._wake.check, delivery_id)

    async def wait_for(self, delivery_id: str, **options: Any) -> Answer | TimedOut:
        return await asyncio.to_thread(self._wake.wait_for, delivery_id, **options)

    def sweep(self, **options: Any) -> AsyncIterator[Swept]:
        return _each(lambda: self._wake.sweep(**options))

    async def withdraw(self, delivery_id: str, reason: str) -> Rejected:
        return await asyncio.to_thread(self._wake.withdraw, delivery_id, reason)

    async def adopt(self, delivery_id: str) -> None:
        await asyncio.to_thread(self._wake.adopt, delivery_id)

    async def recall(self, idempotency_key: str) -> str | None:
        return await asyncio.to_thread(self._wake.recall, idempotency_key)


class AsyncProducer:
    """Takes what ``Producer`` takes.

    ``await AsyncProducer(url, producer_id="prod_x", name="x", type="tool", secret=secret).send(event)``
    """

    def __init__(self, url: str, **options: Any) -> None:
        self._producer = Producer(url, **options)

    async def send(self, event: Mapping[str, Any]) -> Sent:
        return await asyncio.to_thread(self._producer.send, event)


class AsyncInbox:
    """Takes what ``Inbox`` takes.

    ``async for event in AsyncInbox(url, key, cursor="./inbox.cursor"): …``
    """

    def __init__(self, url: str, api_key: str, **options: Any) -> None:
        self._inbox = Inbox(url, api_key, **options)

    def __aiter__(self) -> AsyncIterator[Event]:
        return self.events()

    def events(self, **options: Any) -> AsyncIterator[Event]:
        return _each(lambda: self._inbox.events(**options))

    def resumes(self, **options: Any) -> AsyncIterator[dict[str, Any]]:
        return _each(lambda: self._inbox.resumes(**options))

    async def run(
        self,
        handler: Callable[[Event], Awaitable[HandlerSays]],
        *,
        on_resume: Callable[[dict[str, Any]], Awaitable[None]] | None = None,
        **options: Any,
    ) -> None:
        """Handlers are coroutines on the loop that called this; cancelling it stops after the item at hand."""
        loop = asyncio.get_running_loop()
        stop = Flag()

        def call(work: Callable[[Any], Awaitable[Any]]) -> Callable[[Any], Any]:
            async def started(value: Any) -> Any:
                return await work(value)

            return lambda value: asyncio.run_coroutine_threadsafe(started(value), loop).result()

        resume = None if on_resume is None else call(on_resume)
        try:
            await asyncio.to_thread(self._inbox.run, call(handler), on_resume=resume, stop=stop, **options)
        finally:
            stop.set()

    async def ack(self, event_id: str, status: AckStatus, **options: Any) -> None:
        await asyncio.to_thread(self._inbox.ack, event_id, status, **options)

    async def get(self, event_id: str, **options: Any) -> dict[str, Any]:
        return await asyncio.to_thread(self._inbox.get, event_id, **options)

    async def task(self, task_id: str) -> dict[str, Any]:
        return await asyncio.to_thread(self._inbox.task, task_id)

    async def emit(self, draft: Mapping[str, Any]) -> Sent:
        return await asyncio.to_thread(self._inbox.emit, draft)

    async def wait_for(self, run_state_ref: str, **wait: Any) -> Awaited:
        return await asyncio.to_thread(self._inbox.wait_for, run_state_ref, **wait)

    async def open_wait(self, run_state_ref: str, **wait: Any) -> dict[str, Any]:
        return await asyncio.to_thread(self._inbox.open_wait, run_state_ref, **wait)

    async def end_wait(self, wait_id: str) -> None:
        await asyncio.to_thread(self._inbox.end_wait, wait_id)


class AsyncCaller:
    """Takes what ``Caller`` takes.

    ``answer = await AsyncCaller(agent, key).send("Review it")``
    """

    def __init__(self, agent: str, token: str | None = None, **options: Any) -> None:
        self._caller = Caller(agent, token, **options)

    async def send(self, said: Said, **options: Any) -> dict[str, Any]:
        return await asyncio.to_thread(self._caller.send, said, **options)

    async def get(self, task_id: str, **options: Any) -> dict[str, Any]:
        return await asyncio.to_thread(self._caller.get, task_id, **options)

    async def cancel(self, task_id: str) -> dict[str, Any]:
        return await asyncio.to_thread(self._caller.cancel, task_id)

    def stream(self, said: Said, **options: Any) -> AsyncIterator[dict[str, Any]]:
        return _each(lambda: self._caller.stream(said, **options))

    def subscribe(self, task_id: str) -> AsyncIterator[dict[str, Any]]:
        return _each(lambda: self._caller.subscribe(task_id))
