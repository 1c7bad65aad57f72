"""Running a command line of the user's."""

from __future__ import annotations

import codecs
import subprocess
from collections.abc import Mapping
from threading import Thread
from typing import IO, Callable

_PIECE_BYTES = 65_536
_TAIL_LENGTH = 1000
_LAST_WORDS_SECONDS = 1.0  # for what is still in the pipes when the command has ended


def run_command(
    command: str, text: str, env: Mapping[str, str], out: Callable[[str], None], err: Callable[[str], None]
) -> tuple[int, str]:
    """Its code and the end of its standard error; what it says is passed on while it runs. The command's own end counts:
    what it has started and left behind may hold its pipes for days, and goes on by itself."""
    # In a session of its own, Ctrl-C reaches us and not the command, which may finish.
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        command, shell=True, stdin=pipe, stdout=pipe, stderr=pipe, env=dict(env), start_new_session=True
    )
    assert process.stdin and process.stdout and process.stderr
    Thread(target=_feed, args=(process.stdin, text.encode("utf-8", "replace")), daemon=True).start()
    readers = [_Reader(process.stdout, out), _Reader(process.stderr, err)]
    for reader in readers:
        reader.start()
    code = process.wait()
    for reader in readers:
        reader.join(_LAST_WORDS_SECONDS)
        if reader.trouble is not None:
            raise reader.trouble
    return code, readers[1].tail.strip()


def _feed(stdin: IO[bytes], data: bytes) -> None:
    try:
        with stdin:
            stdin.write(data)
    except OSError:
        pass  # a command that does not read its input closes the pipe early; that is its own business


class _Reader(Thread):
    def __init__(self, stream: IO[bytes], tell: Callable[[str], None]) -> None:
        super().__init__(daemon=True)
        self._stream = stream
        self._tell = tell
        self.tail = ""
        #: Nobody reads what is passed on. The command is heard to its end all the same.
        self.trouble: OSError | None = None

    def run(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        with self._stream as stream:
            while piece := stream.read1(_PIECE_BYTES):  # type: ignore[attr-defined]
                self._take(decoder.decode(piece))

    def _take(self, text: str) -> None:
        self.tail = (self.tail + text)[-_TAIL_LENGTH:]
        try:
            if self.trouble is None:
                self._tell(text)
        except OSError as error:
            self.trouble = error
