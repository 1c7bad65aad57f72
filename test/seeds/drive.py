"""Runs one sample as it stands in samples/, and tells the test what the sample did.

Whatever the sample calls that it leaves to its reader is one JSON line on standard output. `time.sleep` is one as well,
and it lasts until the test sends a line: the test says what happens meanwhile, and nobody waits for a minute.
"""

import ast
import json
import os
import sys
import time
import types

HERE = os.path.dirname(os.path.abspath(__file__))
try:
    import httpx
except ImportError:
    sys.path.append(os.path.join(HERE, "standin"))
    import httpx

LEFT_TO_THE_READER = [
    "proceed", "handle", "incorporate", "proceed_with_assumptions",
    "proceed_with_next_step", "handle_rejection", "incorporate_edits", "dispatch_response",
]


def tell(name, *args):
    print(json.dumps([name, *args]), flush=True)


class Running:
    """True until the test says stop."""
    stopped = False

    def __bool__(self):
        return not self.stopped


running = Running()


def sleep(seconds):
    tell("sleep", seconds)
    running.stopped = sys.stdin.readline().strip() == "stop"


def names():
    setting = os.environ
    return {
        "httpx": httpx,
        "time": time,
        "agent_is_running": running,
        "agent_id": setting["WAKE_AGENT_ID"],
        "poll_interval": 60,
        "payload": json.loads(setting.get("SAMPLE_PAYLOAD", "null")),
        "WAKE_ENDPOINT": setting["WAKE_ENDPOINT"],
        "HEADERS": {"Authorization": f"Bearer {setting['WAKE_API_KEY']}", "Content-Type": "application/json"},
        **{name: (lambda *args, name=name: tell(name, *args)) for name in LEFT_TO_THE_READER},
    }


def run(path):
    with open(path, encoding="utf-8") as file:
        source = file.read().replace("https://api.gardenroom.ai", os.environ["SAMPLE_BASE"])
    tree = ast.parse(source, path)
    if any(isinstance(node, ast.Return) for top in tree.body if isinstance(top, ast.If) for node in top.body):
        tree = in_handler(tree)  # "In your handler:", says the sample, and returns
    scope = names()
    exec(compile(tree, path, "exec"), scope)
    return scope


def in_handler(tree):
    wrapper = ast.parse("def handler(request):\n    pass")
    wrapper.body[0].body = tree.body
    return wrapper


def argument(value):
    """Bytes and requests do not fit into JSON."""
    if isinstance(value, dict) and "bytes" in value:
        return value["bytes"].encode()
    if isinstance(value, dict) and "request" in value:
        request = value["request"]
        return types.SimpleNamespace(body=request["body"].encode(), headers=request["headers"])
    return value


def call(scope, name, *args):
    try:
        tell("returned", scope[name](*map(argument, args)))
    except Exception as error:
        tell("raised", str(error))


time.sleep = sleep
ran = run(os.path.join(HERE, "samples", sys.argv[1]))
for name, *args in json.loads(os.environ.get("SAMPLE_CALLS", "[]")):
    call(ran, name, *args)
