"""The command line of ``python -m lanternroom``."""

from __future__ import annotations

import argparse

_ABOUT = """Set on the agent's machine:
  WAKE_API_KEY    the key of the agent (wk_test_… or wk_live_…)
  LANTERN_URL     the server; http://127.0.0.1:8787 when not set
  LANTERN_LOG     the local log; ~/.lantern/log.jsonl when not set, "off" for none

Try:
  python -m lanternroom deliver -t question -H "Release 2.1 is ready" -s "Ship it today?" --wait
  python -m lanternroom listen --once --exec ./on-event.sh

Ends with 0 done, 1 failed, 2 wrong usage; wait and deliver --wait with 0 approved, 3 rejected, 4 redirected,
5 no answer in time."""

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


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="lanternroom",
        description="Put work before a person, get the answer, read the agent's inbox.",
        epilog=_ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_deliver(commands)
    _add_answers(commands)
    _add_events(commands)
    commands.add_parser("doctor", help="check address, key, clock and log, and say what to do")
    return top


def _add_deliver(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    deliver = commands.add_parser("deliver", help="deliver an update, a question, an output or an alert")
    deliver.add_argument("-t", "--type", required=True, choices=("update", "question", "output", "alert"))
    deliver.add_argument("-H", "--headline", required=True)
    deliver.add_argument("-s", "--summary", required=True)
    deliver.add_argument("-d", "--details", help="text, @file, or - for standard input; a JSON object stays one")
    deliver.add_argument("--timeout", type=_whole, metavar="SECONDS")
    deliver.add_argument("--task-id")
    deliver.add_argument("--thread-id")
    deliver.add_argument("--interrupt-id")
    deliver.add_argument("--idempotency-key")
    deliver.add_argument("--wait", action="store_true", help='wait for the answer, and end like "wait"')
    deliver.add_argument("--json", action="store_true")


def _add_answers(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    wait = commands.add_parser("wait", help="wait for the answer to one delivery")
    wait.add_argument("delivery_id")
    wait.add_argument("--timeout", type=_whole, metavar="SECONDS")
    wait.add_argument("--json", action="store_true")
    responses = commands.add_parser("responses", help="list answers as JSON lines, oldest change first")
    responses.add_argument("--since")
    responses.add_argument("--follow", "-f", action="store_true")
    responses.add_argument("--all", action="store_true", help="also answers to deliveries not sent from here")
    responses.add_argument("--json", action="store_true", help="as it is; for scripts that run either command")


def _add_events(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    about = "hand each event of the inbox, and each resume, to a command"
    listen = commands.add_parser("listen", help=about, epilog=_LISTEN, formatter_class=raw)
    listen.add_argument("--exec", metavar="COMMAND")
    listen.add_argument("--once", action="store_true", help="take what is there, then end")
    listen.add_argument("--types", type=lambda text: [one.strip() for one in text.split(",")], metavar="LIST")
    listen.add_argument("--cursor-file", metavar="PATH")
    listen.add_argument("--retries", type=int, default=5, metavar="COUNT")
    listen.add_argument("--json", action="store_true", help="as with lantern; here events are always printed as JSON")
    send = commands.add_parser("send-event", help="sign and send one event", epilog=_SEND, formatter_class=raw)
    send.add_argument("event", help="a file with the event as JSON, or - for standard input")
    send.add_argument("--name", default="python", help="source.name")
    send.add_argument("--type", default="tool", help="source.type")


def _whole(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError("give a whole number above 0")
    return int(text)
