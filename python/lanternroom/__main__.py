"""``python -m lanternroom``: the small commands for a machine that has only Python."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Callable

from .cli import parser
from .cli_akep import listen, send_event
from .cli_doctor import doctor
from .cli_wake import deliver, responses, wait
from .cli_world import Machine
from .faults import LanternError

_COMMANDS: Mapping[str, Callable[..., int]] = {
    "deliver": deliver,
    "wait": wait,
    "responses": responses,
    "listen": listen,
    "send-event": send_event,
    "doctor": doctor,
}


def main(argv: Sequence[str], machine: Machine) -> int:
    """Runs one command to its end and says with which code to leave: 0 done, 1 failed, 2 wrong usage."""
    try:
        flags = parser().parse_args(argv)
    except SystemExit as ended:
        return 0 if ended.code in (0, None) else 2
    try:
        return _COMMANDS[flags.command](flags, machine)
    except LanternError as error:
        machine.err(f"lanternroom: {' '.join(str(error).split())}\n")
        return 2 if error.fault in ("wrong_usage", "insecure_url") else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:], Machine(os.environ)))
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(0)  # `… | head` closes the pipe early; that is not an error
