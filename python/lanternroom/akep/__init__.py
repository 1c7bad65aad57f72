"""AKEP: make things known to agents, and read an agent's inbox."""

from .cursor import CursorStore, FileCursor, MemoryCursor
from .envelope import AckStatus, Event
from .follow import Item
from .inbox import Inbox
from .pages import Gap
from .producer import Producer, Sent
from .run import Verdict
from .signature import GenuineEvent, RefusedEvent, sign_event, verify_event
from .waits import Awaited

__all__ = [
    "AckStatus",
    "Awaited",
    "CursorStore",
    "Event",
    "FileCursor",
    "Gap",
    "GenuineEvent",
    "Inbox",
    "Item",
    "MemoryCursor",
    "Producer",
    "RefusedEvent",
    "Sent",
    "Verdict",
    "sign_event",
    "verify_event",
]
