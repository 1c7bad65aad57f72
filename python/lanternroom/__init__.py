"""Deliver work to a person, wait for the answer, verify callbacks; make things known, and read the inbox.

The same for asyncio is in ``lanternroom.aio``.
"""

from .a2a import Caller
from .akep import Inbox, Producer, Verdict, sign_event, verify_event
from .clock import Clock, SystemClock
from .faults import Fault, LanternError, WireTrouble
from .log import FileLog, Log, MemoryLog
from .wake import (
    Answer,
    Approved,
    Checked,
    Delivered,
    Instructions,
    Pending,
    Redirected,
    Refused,
    Rejected,
    Swept,
    TimedOut,
    Verified,
    Wake,
    sign_webhook,
    verify_webhook,
)

__all__ = [
    "Answer",
    "Approved",
    "Caller",
    "Checked",
    "Clock",
    "Delivered",
    "Fault",
    "FileLog",
    "Inbox",
    "Instructions",
    "LanternError",
    "Log",
    "MemoryLog",
    "Pending",
    "Producer",
    "Redirected",
    "Refused",
    "Rejected",
    "Swept",
    "SystemClock",
    "TimedOut",
    "Verdict",
    "Verified",
    "Wake",
    "WireTrouble",
    "sign_event",
    "sign_webhook",
    "verify_event",
    "verify_webhook",
]
