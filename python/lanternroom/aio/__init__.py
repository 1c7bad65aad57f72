"""The same clients for asyncio: each call runs in a thread of its own, so that the loop goes on, however many wait. A call
that is cancelled is no longer waited for, but what it has sent is sent: its thread ends with the request at hand, which
for a long-poll is up to a minute and the time for a reply (90 s). It keeps neither the loop nor the process from ending."""

from .a2a import AsyncCaller
from .akep import AsyncInbox, AsyncProducer
from .wake import AsyncWake

__all__ = ["AsyncCaller", "AsyncInbox", "AsyncProducer", "AsyncWake"]
