"""The same clients for asyncio: each call runs in a thread of its own, so that the loop goes on, however many wait. A call
that is cancelled is no longer waited for, but what it has sent is sent: its thread ends with the request at hand, which
for a long-poll is up to a minute and the time for a reply (90 s). It keeps neither the loop nor the process from ending."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping, Sequence
from contextvars import copy_context
from inspect import isawaitable
from threading import Event as Flag
from threading import Thread
from typing import Any, Callable, TypeVar, Union

from .a2a import Caller, Said
from .abandon import abandoned
from .akep.envelope import AckStatus, Event
from .akep.inbox import Inbox
from .akep.producer import Producer, Sent
from .akep.run import HandlerSays, OnErrorSays
from .akep.waits import Awaited
from .answers import Answer, Checked, Delivered, Rejected, Swept, TimedOut
from .wake import Wake
from .webhook import Refused

T = TypeVar("T")


def _start(work: Callable[[], T]) -> tuple[asyncio.Future[T], Flag]:
    """Not in the loop's own threads: those are few, shared with everybody, and waited for at the end."""
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
    done, left = _start(lambda: work(*given, **options))
    try:
        return await done
    finally:
        left.set()


async def _each(make: Callable[[], Iterator[T]]) -> AsyncIterator[T]:
    items = make()
    nothing: Any = object()
    while True:
        item = await in_thread(next, items, nothing)
        if item is nothing:
            return
        yield item


class _Stop(Flag):
    """A run looks at it between two items and nowhere else: whoever looks has nothing in hand."""

    has_item = False

    def is_set(self) -> bool:
        self.has_item = False
        return super().is_set()


class AsyncWake:
    """Takes what ``Wake`` takes.

    ``answer = await AsyncWake(url, key).wait_for(delivery_id)``
    """

    def __init__(self, url: str, api_key: str, **options: Any) -> None:
        self._wake = Wake(url, api_key, **options)

    async def deliver(self, **draft: Any) -> Delivered:
        return await in_thread(self._wake.deliver, **draft)

    async def check(self, delivery_id: str) -> Checked:
        return await in_thread(self._wake.check, delivery_id)

    async def wait_for(self, delivery_id: str, **options: Any) -> Answer | TimedOut:
        return await in_thread(self._wake.wait_for, delivery_id, **options)

    def sweep(self, **options: Any) -> AsyncIterator[Swept]:
        return _each(lambda: self._wake.sweep(**options))

    async def withdraw(self, delivery_id: str, reason: str) -> Rejected:
        return await in_thread(self._wake.withdraw, delivery_id, reason)

    async def receive(self, body: bytes | str, headers: Mapping[str, str], **options: Any) -> Answer | Refused:
        return await in_thread(self._wake.receive, body, headers, **options)

    async def adopt(self, delivery_id: str) -> None:
        await in_thread(self._wake.adopt, delivery_id)

    async def recall(self, idempotency_key: str) -> str | None:
        return await in_thread(self._wake.recall, idempotency_key)


class AsyncProducer:
    """Takes what ``Producer`` takes.

    ``await AsyncProducer(url, producer_id="prod_x", name="x", type="tool", secret=secret).send(event)``
    """

    def __init__(self, url: str, **options: Any) -> None:
        self._producer = Producer(url, **options)

    async def send(self, event: Mapping[str, Any]) -> Sent:
        return await in_thread(self._producer.send, event)


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
        on_error: Callable[[Exception, Any], Union[OnErrorSays, Awaitable[OnErrorSays]]] | None = None,
        **options: Any,
    ) -> None:
        """Handlers are coroutines on the loop that called this; cancelling it stops after the item at hand."""
        loop = asyncio.get_running_loop()
        stop = _Stop()

        def call(work: Callable[..., Any]) -> Callable[..., Any]:
            async def started(*given: Any) -> Any:
                says = work(*given)
                return await says if isawaitable(says) else says

            def handed(*given: Any) -> Any:
                stop.has_item = True
                return asyncio.run_coroutine_threadsafe(started(*given), loop).result()

            return handed

        told = {name: call(work) for name, work in (("on_resume", on_resume), ("on_error", on_error)) if work}
        done, _ = _start(lambda: self._inbox.run(call(handler), stop=stop, **told, **options))
        try:
            await asyncio.shield(done)
        except asyncio.CancelledError:
            stop.set()
            if stop.has_item:
                await done
            raise

    async def ack(self, event_id: str, status: AckStatus, **options: Any) -> None:
        await in_thread(self._inbox.ack, event_id, status, **options)

    async def get(self, event_id: str, **options: Any) -> dict[str, Any]:
        return await in_thread(self._inbox.get, event_id, **options)

    async def task(self, task_id: str) -> dict[str, Any]:
        return await in_thread(self._inbox.task, task_id)

    async def emit(self, draft: Mapping[str, Any]) -> Sent:
        return await in_thread(self._inbox.emit, draft)

    async def wait_for(self, run_state_ref: str, **wait: Any) -> Awaited:
        return await in_thread(self._inbox.wait_for, run_state_ref, **wait)

    async def subscribe(self, event_types: Sequence[str], **more: Any) -> dict[str, Any]:
        return await in_thread(self._inbox.subscribe, event_types, **more)

    async def subscriptions(self) -> list[dict[str, Any]]:
        return await in_thread(self._inbox.subscriptions)

    async def unsubscribe(self, subscription_id: str) -> None:
        await in_thread(self._inbox.unsubscribe, subscription_id)

    async def waits(self) -> list[dict[str, Any]]:
        return await in_thread(self._inbox.waits)

    async def policy(self) -> dict[str, Any]:
        return await in_thread(self._inbox.policy)

    async def set_policy(self, **change: Any) -> dict[str, Any]:
        return await in_thread(self._inbox.set_policy, **change)

    async def open_wait(self, run_state_ref: str, **wait: Any) -> dict[str, Any]:
        return await in_thread(self._inbox.open_wait, run_state_ref, **wait)

    async def end_wait(self, wait_id: str) -> None:
        await in_thread(self._inbox.end_wait, wait_id)


class AsyncCaller:
    """Takes what ``Caller`` takes.

    ``answer = await AsyncCaller(agent, key).send("Review it")``
    """

    def __init__(self, agent: str, token: str | None = None, **options: Any) -> None:
        self._caller = Caller(agent, token, **options)

    async def send(self, said: Said, **options: Any) -> dict[str, Any]:
        return await in_thread(self._caller.send, said, **options)

    async def get(self, task_id: str, **options: Any) -> dict[str, Any]:
        return await in_thread(self._caller.get, task_id, **options)

    async def cancel(self, task_id: str) -> dict[str, Any]:
        return await in_thread(self._caller.cancel, task_id)

    def stream(self, said: Said, **options: Any) -> AsyncIterator[dict[str, Any]]:
        return _each(lambda: self._caller.stream(said, **options))

    def subscribe(self, task_id: str) -> AsyncIterator[dict[str, Any]]:
        return _each(lambda: self._caller.subscribe(task_id))
