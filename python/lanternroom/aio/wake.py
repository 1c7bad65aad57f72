"""``Wake`` for asyncio."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Callable

from ..clock import Clock
from ..faults import LanternError
from ..log import Log
from ..signed_request import Headers
from ..threads import each, in_thread
from ..wake.answers import (
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
from ..wake.client import Wake
from ..wake.sweep import OnForeign
from ..wake.webhook import Refused


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
        """Puts work or a question before a person. Retries by itself and never delivers twice."""
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
        """Looks once, without waiting."""
        return await in_thread(self._wake.check, delivery_id)

    async def wait_for(
        self,
        delivery_id: str,
        *,
        timeout_seconds: float | None = None,
        assumption: str | None = None,
        poll_seconds: float = 60,
    ) -> Answer | TimedOut:
        """Waits for the answer, never for ever. Going on after the timeout takes an assumption, logged first."""
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
        """Every answer since a point, oldest change first, in one loop for all deliveries."""
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
        """Takes back what nobody has decided yet; fault ``conflict`` afterwards."""
        return await in_thread(self._wake.withdraw, delivery_id, reason)

    async def receive(
        self,
        body: bytes | str,
        headers: Headers,
        *,
        secret: str | None = None,
        secrets: Sequence[str] | None = None,
    ) -> Answer | Refused:
        """Checks a callback's signature and that it answers a delivery of this client."""
        return await in_thread(self._wake.receive, body, headers, secret=secret, secrets=secrets)

    async def adopt(self, delivery_id: str) -> None:
        """Accepts the answers to a delivery that another program submitted with this agent's key."""
        await in_thread(self._wake.adopt, delivery_id)

    async def recall(self, idempotency_key: str) -> str | None:
        """The delivery that this agent submitted under an idempotency key, out of the local log; None when there was none."""
        return await in_thread(self._wake.recall, idempotency_key)
