"""Taking back what nobody has decided yet."""

from __future__ import annotations

from urllib.parse import quote

from ..faults import LanternError
from ..transport import Call
from .answers import Rejected, to_answer
from .parts import Parts, look


def withdraw(parts: Parts, delivery_id: str, reason: str) -> Rejected:
    parts.journal.demand(delivery_id)
    parts.journal.record("withdrawing", {"delivery_id": delivery_id, "reason": reason})
    conflict: LanternError | None = None
    try:
        parts.transport.send(Call("POST", f"/wake/v1/withdraw/{quote(delivery_id, safe='')}", {"reason": reason}))
    except LanternError as error:
        if error.fault != "conflict":
            raise
        conflict = error
    # A retry after a lost reply meets 409 although it was withdrawn: what the delivery says now decides.
    answer = to_answer(look(parts, delivery_id))
    if isinstance(answer, Rejected) and (answer.withdrawn_at is not None or conflict is None):
        return answer
    raise conflict or LanternError(
        "bad_reply", f"The server accepted the withdrawal of {delivery_id} but still shows it as open: check again."
    )
