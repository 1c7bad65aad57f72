"""The command line of ``python -m lanternroom``."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

_PROGRAM = "python -m lanternroom"

_ABOUT = """Set on the agent's machine:
  WAKE_API_KEY    the key of the agent (wk_test_… or wk_live_…)
  LANTERN_URL     the server; http://127.0.0.1:8787 when not set
  LANTERN_LOG     the local log; ~/.lantern/log.jsonl when not set, "off" for none

Try:
  python -m lanternroom deliver -t question -H "Release 2.1 is ready" -s "Ship it today?" --wait
  python -m lanternroom listen --once --exec ./on-event.sh

Ends with 0 done, 1 failed, 2 wrong usage; wait and deliver --wait with 0 approved, 3 rejected, 4 redirected,
5 no answer in time."""

_DELIVER = """Prints the delivery id. Examples:
  python -m lanternroom deliver -t output -H "Market report is ready" -s "Ten competitors analysed." -d @report.md
  python -m lanternroom deliver -t question -H "Release 2.1 is ready" -s "Ship it today?" --wait && ./ship.sh"""

_WAIT = """Ends with 0 approved, 3 rejected, 4 redirected (work in what was printed first), 5 no answer in time.

Example:
  python -m lanternroom wait 550e8400-e29b-41d4-a716-446655440000 --timeout 600 && ./ship.sh"""

_RESPONSES = """Examples:
  python -m lanternroom responses
  python -m lanternroom responses --follow --since 2026-03-08T12:00:00.000000Z"""

_DOCTOR = """Ends with 1 when something is wrong.

Example:
  python -m lanternroom doctor"""

_LISTEN = """The command gets {"type":"event","event":{…}} or {"type":"resume","resume":{…},"event":{…}} on its
standard input. Exit code 0: applied. 10: rejected, with the end of standard error as the reason. Other: tried again
after 1, 2, 4, … 60 s; after --retries the listener ends with 1 and the event stays first in line. Without --exec the
events are printed and stay unacknowledged; a command still gets them.

Example:
  python -m lanternroom listen --once --exec 'python3 handle.py'"""

_SEND = """Signs with AKEP_WEBHOOK_SECRET (and AKEP_KEY_ID) as AKEP_PRODUCER_ID. The event is a JSON object from a file
or, with -, from standard input; what it leaves out of the envelope is filled in.

Example:
  echo '{"event_type":"tool.completed","subject":{"task_id":"task_42"},
         "knowledge":{"kind":"tool_result","summary":"Done."}}' | python -m lanternroom send-event -"""


class _Parser(argparse.ArgumentParser):
    """Wrong usage in one line, with where to find the help of that very command."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"lanternroom: {' '.join(message.split())} ({self.prog} --help)\n")


def parser() -> argparse.ArgumentParser:
    top = _Parser(
        prog=_PROGRAM,
        description="Put work before a person, get the answer, read the agent's inbox.",
        epilog=_ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_deliver(commands)
    _add_answers(commands)
    _add_events(commands)
    _add(commands, "doctor", "check address, key, clock and log, and say what to do", _DOCTOR)
    return top


def _add(commands: Any, name: str, about: str, examples: str) -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    made: argparse.ArgumentParser = commands.add_parser(
        name, help=about, description=f"{about[0].upper()}{about[1:]}.", epilog=examples, formatter_class=raw
    )
    return made


def _add_deliver(commands: Any) -> None:
    deliver = _add(commands, "deliver", "deliver an update, a question, an output or an alert", _DELIVER)
    types = ("update", "question", "output", "alert")
    deliver.add_argument("-t", "--type", required=True, choices=types, help="what it is")
    headline = "title, at most 120 characters: lead with what was accomplished"
    deliver.add_argument("-H", "--headline", required=True, metavar="TEXT", help=headline)
    summary = "one plain sentence, at most 280 characters"
    deliver.add_argument("-s", "--summary", required=True, metavar="TEXT", help=summary)
    details = "full content: text, @file, or - for standard input; a JSON object stays one"
    deliver.add_argument("-d", "--details", metavar="TEXT", help=details)
    timeout = "after this the agent goes on by its own judgement (60 to 604800)"
    deliver.add_argument("--timeout", type=_whole, metavar="SECONDS", help=timeout)
    deliver.add_argument("--task-id", metavar="ID", help="groups deliveries of one task")
    deliver.add_argument("--thread-id", metavar="ID", help="groups deliveries of one conversation")
    deliver.add_argument("--interrupt-id", metavar="ID", help="names the pause that the answer ends")
    once = "the same key and content are delivered once"
    deliver.add_argument("--idempotency-key", metavar="KEY", help=once)
    deliver.add_argument("--wait", action="store_true", help='wait for the answer, and end like "wait"')
    deliver.add_argument("--json", action="store_true", help="print JSON")


def _add_answers(commands: Any) -> None:
    wait = _add(commands, "wait", "wait for the answer to one delivery", _WAIT)
    wait.add_argument("delivery_id")
    timeout = "how long from now (otherwise the delivery's own timeout, or an hour)"
    wait.add_argument("--timeout", type=_whole, metavar="SECONDS", help=timeout)
    wait.add_argument("--json", action="store_true", help="print JSON")
    responses = _add(commands, "responses", "list answers as JSON lines, oldest change first", _RESPONSES)
    since = "only what changed after this (resume_from of an earlier line)"
    responses.add_argument("--since", metavar="TIME", help=since)
    responses.add_argument("--follow", "-f", action="store_true", help="go on and print answers as they come")
    responses.add_argument("--all", action="store_true", help="also answers to deliveries not sent from here")
    responses.add_argument("--json", action="store_true", help="as it is; for scripts that run either command")


def _add_events(commands: Any) -> None:
    listen = _add(commands, "listen", "hand each event of the inbox, and each resume, to a command", _LISTEN)
    run = "run this in the shell for each; otherwise they are printed"
    listen.add_argument("--exec", metavar="COMMAND", help=run)
    listen.add_argument("--once", action="store_true", help="take what is there, then end")
    types = "comma-separated event types; others are passed by"
    listen.add_argument("--types", type=_list, metavar="LIST", help=types)
    place = "where to remember the place (otherwise one per agent in ~/.lantern)"
    listen.add_argument("--cursor-file", metavar="PATH", help=place)
    retries = "how often a command that fails is tried again (5)"
    listen.add_argument("--retries", type=_count, default=5, metavar="COUNT", help=retries)
    listen.add_argument("--json", action="store_true", help="as with lantern; here events are always printed as JSON")
    send = _add(commands, "send-event", "sign and send one event", _SEND)
    send.add_argument("event", help="a file with the event as JSON, or - for standard input")
    send.add_argument("--name", default="python", help="source.name")
    send.add_argument("--type", default="tool", help="source.type")


def _whole(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError("give a whole number above 0")
    return int(text)


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError("give a whole number")
    return int(text)


def _list(text: str) -> list[str]:
    types = [one.strip() for one in text.split(",")]
    if not all(types):
        raise argparse.ArgumentTypeError("separate the types by commas")
    return types
