"""The same clients for asyncio: each call runs in a thread of its own, so that the loop goes on, however many wait. A call
that is cancelled is no longer waited for, but what it has sent is sent: its thread ends with the request at hand, which
for a long-poll is up to a minute and the time for a reply (90 s). It keeps neither the loop nor the process from ending."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from inspect import isawaitable
from pathlib import Path
from threading import Event as Flag
from typing import Any, Callable, Union

from .a2a import Caller, Said
from .akep.cursor import CursorStore
from .akep.envelope import AckStatus, Event
from .akep.inbox import Inbox
from .akep.pages import Gap
from .akep.producer import Producer, Sent
from .akep.run import HandlerSays, OnErrorSays
from .akep.waits import Awaited
from .answers import (
    ANSWERED,
    Answer,
    Checked,
    Content,
    Delivered,
    DeliveryType,
    Rejected,
    ResponseStatus,
    Swept,
    TimedOut,
)
from .clock import Clock
from .faults import LanternError
from .log import Log
from .signed_request import Headers
from .sweep import OnForeign
from .threads import each, in_thread, start
from .wake import Wake
from .webhook import Refused


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

    def __init__(
        self,
        url: str,
        api_key: str,
        *,
        agent_id: str | None = None,
        provider: str = "custom",
        log: Log | None = None,
        clock: Clock | None = None,
        alert: Callable[[LanternError], None] | None = None,
    ) -> None:
        self._wake = Wake(url, api_key, agent_id=agent_id, provider=provider, log=log, clock=clock, alert=alert)

    async def deliver(
        self,
        *,
        type: DeliveryType,
        headline: str,
        summary: str,
        details: Content = None,
        timeout_seconds: int | None = None,
        callback_webhook: str | None = None,
        allow_secrets: list[dict[str, str]] | None = None,
        task_id: str | None = None,
        thread_id: str | None = None,
        interrupt_id: str | None = None,
        revises: str | None = None,
        dedupe_key: str | None = None,
        idempotency_key: str | None = None,
        within_seconds: float | None = None,
    ) -> Delivered:
        return await in_thread(
            self._wake.deliver,
            type=type,
            headline=headline,
            summary=summary,
            details=details,
            timeout_seconds=timeout_seconds,
            callback_webhook=callback_webhook,
            allow_secrets=allow_secrets,
            task_id=task_id,
            thread_id=thread_id,
            interrupt_id=interrupt_id,
            revises=revises,
            dedupe_key=dedupe_key,
            idempotency_key=idempotency_key,
            within_seconds=within_seconds,
        )

    async def check(self, delivery_id: str) -> Checked:
        return await in_thread(self._wake.check, delivery_id)

    async def wait_for(
        self,
        delivery_id: str,
        *,
        timeout_seconds: float | None = None,
        assumption: str | None = None,
        poll_seconds: float = 60,
    ) -> Answer | TimedOut:
        options = {"timeout_seconds": timeout_seconds, "assumption": assumption, "poll_seconds": poll_seconds}
        return await in_thread(self._wake.wait_for, delivery_id, **options)

    def sweep(
        self,
        *,
        since: str | None = None,
        statuses: Sequence[ResponseStatus] = ANSWERED,
        limit: int | None = None,
        follow: bool = False,
        poll_seconds: float = 10,
        on_foreign: OnForeign | None = None,
    ) -> AsyncIterator[Swept]:
        return each(
            lambda: self._wake.sweep(
                since=since,
                statuses=statuses,
                limit=limit,
                follow=follow,
                poll_seconds=poll_seconds,
                on_foreign=on_foreign,
            )
        )

    async def withdraw(self, delivery_id: str, reason: str) -> Rejected:
        return await in_thread(self._wake.withdraw, delivery_id, reason)

    async def receive(
        self,
        body: bytes | str,
        headers: Headers,
        *,
        secret: str | None = None,
        secrets: Sequence[str] | None = None,
    ) -> Answer | Refused:
        return await in_thread(self._wake.receive, body, headers, secret=secret, secrets=secrets)

    async def adopt(self, delivery_id: str) -> None:
        await in_thread(self._wake.adopt, delivery_id)

    async def recall(self, idempotency_key: str) -> str | None:
        return await in_thread(self._wake.recall, idempotency_key)


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
        return await in_thread(self._producer.send, event)


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
        return each(lambda: self._inbox.events(types=types, once=once, limit=limit, stop=stop))

    def resumes(
        self, *, once: bool = False, limit: int = 100, stop: Flag | None = None
    ) -> AsyncIterator[dict[str, Any]]:
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
        await in_thread(self._inbox.ack, event_id, status, reason=reason, producer_id=producer_id)

    async def get(self, event_id: str, *, producer_id: str | None = None) -> dict[str, Any]:
        return await in_thread(self._inbox.get, event_id, producer_id=producer_id)

    async def task(self, task_id: str) -> dict[str, Any]:
        return await in_thread(self._inbox.task, task_id)

    async def emit(self, draft: Mapping[str, Any]) -> Sent:
        return await in_thread(self._inbox.emit, draft)

    async def wait_for(self, run_state_ref: str, *, timeout_seconds: float = 3600, **wait: Any) -> Awaited:
        return await in_thread(self._inbox.wait_for, run_state_ref, timeout_seconds=timeout_seconds, **wait)

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

    def __init__(self, agent: str, token: str | None = None, *, clock: Clock | None = None) -> None:
        self._caller = Caller(agent, token, clock=clock)

    async def send(
        self,
        said: Said,
        *,
        message_id: str | None = None,
        task_id: str | None = None,
        context_id: str | None = None,
        return_immediately: bool = False,
    ) -> dict[str, Any]:
        return await in_thread(
            self._caller.send,
            said,
            message_id=message_id,
            task_id=task_id,
            context_id=context_id,
            return_immediately=return_immediately,
        )

    async def get(self, task_id: str, *, history_length: int | None = None) -> dict[str, Any]:
        return await in_thread(self._caller.get, task_id, history_length=history_length)

    async def cancel(self, task_id: str) -> dict[str, Any]:
        return await in_thread(self._caller.cancel, task_id)

    def stream(
        self,
        said: Said,
        *,
        message_id: str | None = None,
        task_id: str | None = None,
        context_id: str | None = None,
        return_immediately: bool = False,
    ) -> AsyncIterator[dict[str, Any]]:
        return each(
            lambda: self._caller.stream(
                said,
                message_id=message_id,
                task_id=task_id,
                context_id=context_id,
                return_immediately=return_immediately,
            )
        )

    def subscribe(self, task_id: str) -> AsyncIterator[dict[str, Any]]:
        return each(lambda: self._caller.subscribe(task_id))
