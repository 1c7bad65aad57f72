"""``python -m lanternroom``: the small commands for a machine that has only Python."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Callable

from .cli.akep import listen, send_event
from .cli.doctor import doctor
from .cli.machine import Machine
from .cli.parser import parser
from .cli.wake import deliver, responses, wait
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
    """Runs one command to its end and returns the exit code: 0 done, 1 failed, 2 wrong usage."""
    try:
        flags = parser().parse_args(argv)
    except SystemExit as ended:
        return 0 if ended.code in (0, None) else 2
    try:
        return _COMMANDS[flags.command](flags, machine)
    except LanternError as error:
        machine.err(f"lanternroom: {' '.join(str(error).split())}\n")
        return 2 if error.fault in ("wrong_usage", "insecure_url") else 1


def _output_lost(error: OSError, command: str) -> int:
    """`… | head` closes the pipe early, which is no error; but nobody may read "approved" out of an answer that was not told."""
    # What is left in the buffer would be written again at exit, and fail with another message.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if not isinstance(error, BrokenPipeError):
        sys.stderr.write(f"lanternroom: The output cannot be written ({error.strerror}).\n")
        return 1
    return 1 if command in ("deliver", "wait") else 0


if __name__ == "__main__":
    try:
        if sys.stdout is None:  # closed by whoever started us (`>&-`)
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        code = main(sys.argv[1:], Machine(os.environ))
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = 130
    except OSError as error:
        code = _output_lost(error, "".join(sys.argv[1:2]))
    sys.exit(code)
