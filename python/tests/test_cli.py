import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from email.utils import formatdate
from io import StringIO
from pathlib import Path

from world import ID, KEY, SECRET, World, answered, event, inbox_script, received, resume

from lanternroom import verify_event
from lanternroom.__main__ import main
from lanternroom.cli.machine import Machine

DELIVER = ("deliver", "-t", "question", "-H", "Release is ready", "-s", "Ship 2.1 today?")
TWO = [event("evt_1"), event("evt_2", event_type="human.approved")]
PACKAGE = Path(__file__).resolve().parent.parent


class Commands(World):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_in(self, *argv: str, stdin: str = "", hear: object = None, **env: str) -> tuple:
        """Runs a command against the room and tells code, output and complaints."""
        out: list = []
        err: list = []
        base = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "LANTERN_URL": self.url, "WAKE_API_KEY": KEY}
        log = {"LANTERN_LOG": str(self.folder / "log.jsonl"), "WAKE_AGENT_ID": "research-agent-01"}
        machine = Machine({**base, **log, **env}, hear or out.append, err.append, lambda: stdin, self.clock)
        return main(argv, machine), "".join(out), "".join(err)

    def file(self, name: str) -> Path:
        return self.folder / name


class Doctor(Commands):
    def look(self, over: object = None, now: float = 0.0, **env: str) -> tuple:
        card = {"name": "lanternroom", "versions": ["v1"], "agent_id": "research-agent-01", "tier": "test"}
        date = {"date": formatdate(1772971200.0, usegmt=True)}
        self.start(lambda *_: over or (200, card, date))
        self.clock.time += now
        return self.run_in("doctor", **env)

    def test_fine(self) -> None:
        """[W23] doctor says what it found, and ends with 0 when all is well"""
        code, out, err = self.look()
        self.assertEqual((code, err), (0, ""), out)
        self.assertNotIn("BAD", out)
        for said in ("address: http://127.0.0.1", "WAKE v1", "research-agent-01 (test key)", "within two minutes"):
            self.assertIn(said, out)

    def test_pace(self) -> None:
        """[W5] doctor says how much the key may deliver: a limit that is met looks like a hang"""
        card = {"versions": ["v1"], "agent_id": "a", "tier": "live"}
        for limits, said in (
            ({"deliveries": {"live": {"per_hour": 500, "burst": 50}}}, "a (live key: 500 deliveries an hour, 50 at once)\n"),
            ({"deliveries": {"live": None}}, "a (live key)\n"),
            (None, "a (live key)\n"),
        ):
            _, out, _ = self.look((200, {**card, "limits": limits}), WAKE_AGENT_ID="")
            self.assertIn(said, out)

    def test_wrong(self) -> None:
        """[W23] doctor names what is wrong and what to do, and ends with 1"""
        for wanted, result in (
            ("min ahead of the server", self.look(now=600)),
            ("min behind the server", self.look(now=-600)),
            ("does not accept this API key", self.look((401,))),
            ("WAKE_AGENT_ID says other", self.look(WAKE_AGENT_ID="other")),
            ("does not speak WAKE v1", self.look((200, {"versions": ["v2"], "agent_id": "research-agent-01"}))),
            ("travel unprotected", self.look(LANTERN_URL="http://far.example")),
            ("Nothing answers", self.look(LANTERN_URL="http://127.0.0.1:1")),
            ("cannot be written", self.look(LANTERN_LOG="/dev/null/log")),
            ("Set WAKE_API_KEY", self.look(WAKE_API_KEY="")),
        ):
            with self.subTest(wanted=wanted):
                self.assertEqual(result[0], 1)
                self.assertRegex(result[1], f"BAD .*{wanted}")


class People(Commands):
    def test_deliver(self) -> None:
        """[W6] deliver prints the id of the delivery and nothing else"""
        self.start(lambda *_: received())
        self.assertEqual(self.run_in(*DELIVER, "-d", "-", stdin='{"words":3}'), (0, f"{ID}\n", ""))
        self.assertEqual(json.loads(self.seen[0].body)["details"], {"words": 3})
        self.file("report.json").write_bytes(b'\xef\xbb\xbf{"words":4}\r\n')
        self.run_in(*DELIVER, "-d", f"@{self.file('report.json')}")
        self.assertEqual(json.loads(self.seen[1].body)["details"], {"words": 4})

    def test_details_as_written(self) -> None:
        """[W9] an object that would not arrive as it stands is sent as the text that it is"""
        self.start(lambda *_: received())
        for details in ('{"keep":"all","keep":"none"}', '{"ratio":NaN}', '{"a":' * 100_000):
            self.run_in(*DELIVER, "-d", details)
            self.assertEqual(json.loads(self.seen[-1].body)["details"], details)

    def test_codes(self) -> None:
        """[W23] wait and deliver --wait end with a code for each answer"""
        for status, code in (("approved", 0), ("rejected", 3), ("redirected", 4), ("pending", 5)):
            answer = answered(status, feedback="a\x1bb")
            self.start(lambda seen, _, answer=answer: received() if seen.method == "POST" else answer)
            self.assertEqual(self.run_in(*DELIVER, "--wait")[0], code)
            ended, out, _ = self.run_in("wait", ID, "--timeout", "90")
            self.assertEqual(ended, code)
            self.assertNotIn("\x1b", out)

    def test_json(self) -> None:
        """[W14] --json prints an answer in the words of the wire, as lantern does"""
        for status, edited in (("approved", None), ("rejected", {"brief": "short"}), ("redirected", {"brief": "short"})):
            answer = answered(status, feedback="Good.", edited_content=edited)
            self.start(lambda *_, answer=answer: answer)
            self.assertEqual(json.loads(self.run_in("wait", ID, "--json")[1]), answer[1])
            body = {"deliveries": [answer[1]], "has_more": False, "next_since": "s1"}
            self.start(lambda *_, body=body: (200, body))
            line = json.loads(self.run_in("responses", "--all", "--json")[1])
            self.assertEqual(line, {**answer[1], "resume_from": "s1"})

    def test_edited_approval(self) -> None:
        """[W23] an approval with edited content ends as redirected: what follows && must not run"""
        answer = answered("approved", edited_content="Short text")
        self.start(lambda *_: answer)
        code, out, _ = self.run_in("wait", ID, "--json")
        self.assertEqual((code, json.loads(out)), (4, {**answer[1], "status": "redirected"}))

    def test_responses(self) -> None:
        """[W17] responses prints a JSON line for each answer"""
        body = {"deliveries": [answered("approved")[1]], "has_more": False, "next_since": "s1"}
        self.start(lambda *_: (200, body))
        code, out, _ = self.run_in("responses", "--all")
        self.assertEqual((code, json.loads(out)["status"], json.loads(out)["resume_from"]), (0, "approved", "s1"))
        self.assertEqual(self.run_in("responses", LANTERN_LOG="off")[1], "")

    def test_usage(self) -> None:
        """[W23] wrong usage is 2, a refusal is 1, and each is one sentence"""
        self.start(lambda *_: (422, {"error": {"code": "too_long", "message": "Shorten\nit."}}))
        sentence = "lanternroom: The server refused (422 too_long): Shorten it.\n"
        self.assertEqual(self.run_in(*DELIVER)[::2], (1, sentence))
        for env in ({"WAKE_API_KEY": ""}, {"LANTERN_URL": "http://example.com"}):
            code, _, err = self.run_in(*DELIVER, **env)
            self.assertEqual((code, len(err.splitlines())), (2, 1))
        self.assertEqual(self.run_in(*DELIVER, "-d", "@/no/such/file")[0], 2)

    def spoken(self, *argv: str) -> tuple:
        """What the parser itself says, which goes past the machine."""
        with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
            code = self.run_in(*argv)[0]
        return code, out.getvalue(), err.getvalue()

    def test_wrong_words(self) -> None:
        """[W23] a word that no command knows is one line that names the help of that very command"""
        self.start(lambda *_: None)
        for argv, help_of in (
            ((), ""),
            (("delivr",), ""),
            (("wait",), " wait"),
            (("deliver", "-t", "x"), " deliver"),
            (("listen", "--retries", "-1"), " listen"),
            (("listen", "--types", "a,,b"), " listen"),
        ):
            code, out, err = self.spoken(*argv)
            self.assertEqual((code, out), (2, ""))
            self.assertRegex(err, rf"^lanternroom: .+ \(python -m lanternroom{help_of} --help\)\n$")

    def test_help(self) -> None:
        """[W23] every help teaches by example"""
        self.start(lambda *_: None)
        for command in ("deliver", "wait", "responses", "listen", "send-event", "doctor"):
            code, out, err = self.spoken(command, "--help")
            self.assertEqual((code, err), (0, ""))
            self.assertRegex(out, r"Examples?:\n  (python -m lanternroom |echo )")


class Output(Commands):
    def ended(self, stdout: int, *argv: str) -> tuple:
        """As a process of its own: what is lost is told at its very end."""
        env = {"LANTERN_URL": self.url, "WAKE_API_KEY": KEY, "LANTERN_LOG": "off", "PYTHONPATH": str(PACKAGE)}
        command = [sys.executable, "-m", "lanternroom", *argv]
        try:
            child = subprocess.run(command, env=env, stdout=stdout, stderr=subprocess.PIPE, check=False)
        finally:
            os.close(stdout)
        return child.returncode, child.stderr.decode()

    def closed_pipe(self) -> int:
        read, write = os.pipe()
        os.close(read)
        return write

    def test_closed_early(self) -> None:
        """[W23] whoever closes the pipe early is told nothing, and never that an answer was an approval"""
        self.start(lambda *_: answered("rejected"))
        self.assertEqual(self.ended(self.closed_pipe(), "wait", ID), (1, ""))
        self.assertEqual(self.ended(self.closed_pipe(), "--help"), (0, ""))

    @unittest.skipUnless(os.path.exists("/dev/full"), "a disk that is always full")
    def test_full_disk(self) -> None:
        """[W23] output that cannot be kept is a failure, in one line"""
        self.start(lambda *_: answered("approved"))
        code, said = self.ended(os.open("/dev/full", os.O_WRONLY), "wait", ID)
        self.assertEqual((code, said), (1, "lanternroom: The output cannot be written (No space left on device).\n"))

    def test_no_output(self) -> None:
        """[W23] without an output nothing is begun that could not be told, and one line says so"""
        self.start(lambda *_: answered("approved"))
        env = {"LANTERN_URL": self.url, "WAKE_API_KEY": KEY, "LANTERN_LOG": "off", "PYTHONPATH": str(PACKAGE)}
        command = ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-m", "lanternroom", "wait", ID]
        child = subprocess.run(command, env={**os.environ, **env}, stderr=subprocess.PIPE, check=False)
        sentence = "lanternroom: The output cannot be written (Bad file descriptor).\n"
        self.assertEqual((child.returncode, child.stderr.decode(), self.seen), (1, sentence, []))


class Events(Commands):
    def test_listen(self) -> None:
        """[K13] each event is on standard input, and exit code 0 acknowledges it as applied"""
        self.start(inbox_script(TWO, resumes=[resume("res_1")]))
        argv = ("listen", "--once", "--exec", f"cat >> {self.file('taken')}; echo done")
        self.assertEqual(self.run_in(*argv), (0, "done\n" * 3, ""))
        lines = [json.loads(line) for line in self.file("taken").read_text("utf-8").splitlines()]
        self.assertEqual([line["type"] for line in lines], ["event", "event", "resume"])
        self.assertEqual((lines[0]["event"], lines[2]["event"]), (TWO[0], event("evt_1")))
        self.assertEqual(self.acks(), ["evt_1 applied", "evt_2 applied"])
        self.assertEqual(self.run_in(*argv)[1], "")

    def test_reject(self) -> None:
        """[K13] exit code 10 rejects, with the end of standard error as the reason"""
        self.start(inbox_script(TWO[:1]))
        code, _, err = self.run_in("listen", "--once", "--exec", "echo 'Not for me.' >&2; exit 10")
        self.assertEqual((code, err, self.acks()), (0, "Not for me.\n", ["evt_1 rejected"]))
        self.assertEqual(json.loads(self.seen[1].body)["reason"], "Not for me.")

    def test_background(self) -> None:
        """[K13] what the command leaves running in the background is not waited for, and what it says comes at once"""
        self.start(inbox_script(TWO[:1]))
        pid, go = self.file("pid"), self.file("go")
        self.addCleanup(lambda: os.kill(int(pid.read_text()), signal.SIGTERM))
        command = f"echo now; until test -e {go}; do sleep 0.05; done; sleep 3000 & echo $! > {pid}; echo why >&2; exit 10"
        out: list = []

        def hear(text: str) -> None:
            out.append(text)
            go.touch()

        code, _, err = self.run_in("listen", "--once", "--exec", command, hear=hear)
        self.assertEqual((code, out, err), (0, ["now\n"], "why\n"))
        self.assertEqual(json.loads(self.seen[1].body)["reason"], "why")

    def test_flood(self) -> None:
        """[K13] a command may say as much as it likes, in any bytes, and need not read what it is given"""
        self.start(inbox_script([event("evt_1", knowledge={**TWO[0]["knowledge"], "summary": "x" * 300_000})]))
        sizes: list = []
        flood = "yes é | head -c 9000001; printf '\\303' >&2; exit 0"
        code, _, err = self.run_in("listen", "--once", "--exec", flood, hear=lambda text: sizes.append(len(text)))
        self.assertEqual((code, self.acks()), (0, ["evt_1 applied"]))
        self.assertLess(max(sizes), 100_000)

    def test_retry(self) -> None:
        """[K13] any other code is tried again with pauses, then the listener ends with 1 and keeps its place"""
        self.start(inbox_script(TWO))
        code, _, err = self.run_in("listen", "--once", "--retries", "2", "--exec", "exit 7")
        self.assertEqual((code, self.acks(), self.clock.naps), (1, [], [1.0, 2.0]))
        self.assertIn("The command ended with code 7 on evt_1, 3 times", err)
        self.run_in("listen", "--once", "--exec", "cat > /dev/null")
        self.assertEqual(self.acks(), ["evt_1 applied", "evt_2 applied"])

    def test_signal(self) -> None:
        """[K12] a signal lets the running command finish, acknowledges, and ends with 0"""
        self.start(inbox_script(TWO))
        code, _, err = self.run_in("listen", "--exec", f"kill -TERM {os.getpid()}; cat > {self.file('taken')}")
        self.assertEqual((code, self.acks()), (0, ["evt_1 applied"]))
        self.assertTrue(self.file("taken").exists())
        self.assertRegex(err, r"^Listening to the inbox at http://127\.0\.0\.1:\d+\. Ctrl-C ends\.$")

    def test_printing(self) -> None:
        """[K11] without --exec events are printed and stay unacknowledged"""
        self.start(inbox_script(TWO))
        options = ("--types", "human.approved", "--cursor-file", str(self.file("c")))
        code, out, _ = self.run_in("listen", "--once", *options)
        self.assertEqual((code, [json.loads(line)["event"]["event_id"] for line in out.splitlines()]), (0, ["evt_2"]))
        self.assertEqual(self.acks(), [])

    def test_looking(self) -> None:
        """[K11] what was only printed is still handed to the command"""
        self.start(inbox_script(TWO))
        self.assertEqual(len(self.run_in("listen", "--once", "--json")[1].splitlines()), 2)
        self.assertEqual(self.run_in("listen", "--once")[1], "")
        self.run_in("listen", "--once", "--exec", "cat > /dev/null")
        self.assertEqual(self.acks(), ["evt_1 applied", "evt_2 applied"])

    def test_send(self) -> None:
        """[K1] send-event signs what it is given"""
        self.start(lambda *_: (202, {"accepted": True, "duplicate": False}))
        draft = {"event_type": "tool.completed", "subject": {"task_id": "t"}, "knowledge": TWO[0]["knowledge"]}
        env = {"AKEP_WEBHOOK_SECRET": SECRET, "AKEP_PRODUCER_ID": "prod_exporter", "AKEP_KEY_ID": "pk_1"}
        code, out, _ = self.run_in("send-event", "-", stdin=json.dumps(draft), **env)
        self.assertEqual((code, json.loads(out)["accepted"]), (0, True))
        seen = self.seen[0]
        self.assertTrue(verify_event(seen.body, seen.headers, secret=SECRET, now=self.clock.now()).ok)
        self.assertEqual(self.run_in("send-event", "-", stdin="\ufeff" + json.dumps(draft), **env)[0], 0)
        self.assertEqual(self.run_in("send-event", "-", stdin="[]", **env)[0], 2)
        self.assertEqual(self.run_in("send-event", "-", stdin="{}")[0], 2)


if __name__ == "__main__":
    unittest.main()
