"""``Caller`` for asyncio."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from ..a2a import Caller, Said
from ..clock import Clock
from ..threads import each, in_thread


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
        push: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """``{"task": …}`` or ``{"message": …}``. Waits for the agent up to half a minute."""
        return await in_thread(
            self._caller.send,
            said,
            message_id=message_id,
            task_id=task_id,
            context_id=context_id,
            return_immediately=return_immediately,
            push=push,
        )

    async def get(self, task_id: str, *, history_length: int | None = None) -> dict[str, Any]:
        """The task as it is now."""
        return await in_thread(self._caller.get, task_id, history_length=history_length)

    async def cancel(self, task_id: str) -> dict[str, Any]:
        """Asks the agent to stop; fault ``conflict`` when the task has ended."""
        return await in_thread(self._caller.cancel, task_id)

    def stream(
        self,
        said: Said,
        *,
        message_id: str | None = None,
        task_id: str | None = None,
        context_id: str | None = None,
        return_immediately: bool = False,
        push: Mapping[str, str] | None = None,
    ) -> AsyncIterator[dict[str, Any]]:
        """Sends, and follows the task to its end or its next question."""
        return each(
            lambda: self._caller.stream(
                said,
                message_id=message_id,
                task_id=task_id,
                context_id=context_id,
                return_immediately=return_immediately,
                push=push,
            )
        )

    def subscribe(self, task_id: str) -> AsyncIterator[dict[str, Any]]:
        """Follows a task that is there already."""
        return each(lambda: self._caller.subscribe(task_id))
