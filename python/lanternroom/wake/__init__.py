"""WAKE: deliver work to a person, wait for the answer, verify callbacks."""

from .answers import (
    Answer,
    Approved,
    Checked,
    Delivered,
    Instructions,
    Pending,
    Redirected,
    Rejected,
    Swept,
    TimedOut,
)
from .client import Wake
from .webhook import Refused, Verified, sign_webhook, verify_webhook

__all__ = [
    "Answer",
    "Approved",
    "Checked",
    "Delivered",
    "Instructions",
    "Pending",
    "Redirected",
    "Refused",
    "Rejected",
    "Swept",
    "TimedOut",
    "Verified",
    "Wake",
    "sign_webhook",
    "verify_webhook",
]
