"""``Producer`` and ``Inbox`` for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from inspect import isawaitable
from pathlib import Path
from threading import Event as Flag
from typing import Any, Callable, Union

from ..akep.cursor import CursorStore
from ..akep.envelope import AckStatus, Event
from ..akep.inbox import Inbox
from ..akep.pages import Gap
from ..akep.producer import Producer, Sent
from ..akep.run import HandlerSays, OnErrorSays
from ..akep.waits import Awaited
from ..clock import Clock
from ..faults import LanternError
from ..log import Log
from ..threads import each, in_thread, start


class AsyncProducer:
    """Takes what ``Producer`` takes.

    ``await AsyncProducer(url, producer_id="prod_x", name="x", type="tool", secret=secret).send(event)``
    """

    def __init__(
        self,
        url: str,
        *,
        producer_id: str,
        name: str,
        type: str,
        secret: str,
        key_id: str | None = None,
        clock: Clock | None = None,
        alert: Callable[[LanternError], None] | None = None,
    ) -> None:
        self._producer = Producer(
            url,
            producer_id=producer_id,
            name=name,
            type=type,
            secret=secret,
            key_id=key_id,
            clock=clock,
            alert=alert,
        )

    async def send(self, event: Mapping[str, Any]) -> Sent:
        """Signs and sends one event; it is on the server's disk when this returns."""
        return await in_thread(self._producer.send, event)


class _Stop(Flag):
    """Checked by a run between two items and nowhere else, so that no item is interrupted."""

    has_item = False

    def is_set(self) -> bool:
        self.has_item = False
        return super().is_set()


class AsyncInbox:
    """Takes what ``Inbox`` takes.

    ``async for event in AsyncInbox(url, key, cursor="./inbox.cursor"): …``
    """

    def __init__(
        self,
        url: str,
        api_key: str,
        *,
        cursor: str | Path | CursorStore | None = None,
        log: Log | None = None,
        clock: Clock | None = None,
        alert: Callable[[LanternError], None] | None = None,
        on_cursor_expired: Callable[[Gap], None] | None = None,
    ) -> None:
        self._inbox = Inbox(
            url,
            api_key,
            cursor=cursor,
            log=log,
            clock=clock,
            alert=alert,
            on_cursor_expired=on_cursor_expired,
        )

    def __aiter__(self) -> AsyncIterator[Event]:
        return self.events()

    def events(
        self,
        *,
        types: Sequence[str] | None = None,
        once: bool = False,
        limit: int = 100,
        stop: Flag | None = None,
    ) -> AsyncIterator[Event]:
        """Every event from where the last reader stopped, then each as it comes, unless ``once``."""
        return each(lambda: self._inbox.events(types=types, once=once, limit=limit, stop=stop))

    def resumes(
        self, *, once: bool = False, limit: int = 100, stop: Flag | None = None
    ) -> AsyncIterator[dict[str, Any]]:
        """Every decision of the server that a paused run may go on. ``run`` with ``on_resume`` is quicker."""
        return each(lambda: self._inbox.resumes(once=once, limit=limit, stop=stop))

    async def run(
        self,
        handler: Callable[[Event], Awaitable[HandlerSays]],
        *,
        on_resume: Callable[[dict[str, Any]], Awaitable[None]] | None = None,
        on_error: Callable[[Exception, Any], Union[OnErrorSays, Awaitable[OnErrorSays]]] | None = None,
        types: Sequence[str] | None = None,
        once: bool = False,
        limit: int = 100,
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
        options: dict[str, Any] = {**told, "types": types, "once": once, "limit": limit, "stop": stop}
        done, _ = start(lambda: self._inbox.run(call(handler), **options))
        try:
            await asyncio.shield(done)
        except asyncio.CancelledError:
            stop.set()
            if stop.has_item:
                await done
            raise

    async def ack(
        self, event_id: str, status: AckStatus, *, reason: str | None = None, producer_id: str | None = None
    ) -> None:
        """Says what became of an event. The same again changes nothing."""
        await in_thread(self._inbox.ack, event_id, status, reason=reason, producer_id=producer_id)

    async def get(self, event_id: str, *, producer_id: str | None = None) -> dict[str, Any]:
        """One event, with what was said about it: ``{"event", "cursor", "ack"}``."""
        return await in_thread(self._inbox.get, event_id, producer_id=producer_id)

    async def task(self, task_id: str) -> dict[str, Any]:
        """The state of a task, as its events tell it."""
        return await in_thread(self._inbox.task, task_id)

    async def emit(self, draft: Mapping[str, Any]) -> Sent:
        """Makes something known to other agents, in this agent's own name."""
        return await in_thread(self._inbox.emit, draft)

    async def wait_for(self, run_state_ref: str, *, timeout_seconds: float = 3600, **wait: Any) -> Awaited:
        """Opens a wait and stays until it is resumed or the time is up; then the wait is ended."""
        return await in_thread(self._inbox.wait_for, run_state_ref, timeout_seconds=timeout_seconds, **wait)

    async def subscribe(self, event_types: Sequence[str], **more: Any) -> dict[str, Any]:
        """Takes more events into the inbox."""
        return await in_thread(self._inbox.subscribe, event_types, **more)

    async def subscriptions(self) -> list[dict[str, Any]]:
        """What comes into the inbox."""
        return await in_thread(self._inbox.subscriptions)

    async def unsubscribe(self, subscription_id: str) -> None:
        """Takes a subscription back."""
        await in_thread(self._inbox.unsubscribe, subscription_id)

    async def waits(self) -> list[dict[str, Any]]:
        """The waits that are still open."""
        return await in_thread(self._inbox.waits)

    async def policy(self) -> dict[str, Any]:
        """The agent's own limit on what may wake it."""
        return await in_thread(self._inbox.policy)

    async def set_policy(self, **change: Any) -> dict[str, Any]:
        """Sets that limit."""
        return await in_thread(self._inbox.set_policy, **change)

    async def open_wait(self, run_state_ref: str, **wait: Any) -> dict[str, Any]:
        """Says what a paused run waits for, before it is put away; by ``subject``, ``event_types``, ``interrupt_id``."""
        return await in_thread(self._inbox.open_wait, run_state_ref, **wait)

    async def end_wait(self, wait_id: str) -> None:
        """Ends a wait that nobody waits for any more."""
        await in_thread(self._inbox.end_wait, wait_id)
