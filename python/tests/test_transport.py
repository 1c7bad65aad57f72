import json
import socket
import ssl
import threading
import time
import unittest
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from unittest.mock import patch

from world import DRAFT, HANG_UP, ID, KEY, ManualClock, World, received

from lanternroom import LanternError, MemoryLog, Wake
from lanternroom.retry import retry_after_seconds

KNOWN = {"kind": "tool_result", "summary": "Done."}


class Sending(World):
    def test_bearer(self) -> None:
        """[W1] every request carries the key as a bearer token, and JSON"""
        self.start(lambda *_: received()).deliver(**DRAFT)
        self.assertEqual(self.seen[0].headers["authorization"], f"Bearer {KEY}")
        self.assertEqual(self.seen[0].headers["content-type"], "application/json")

    def test_unauthorized(self) -> None:
        """[W23] after 401 it stops: no further request leaves, and the sentence says what to do"""
        wake = self.start(lambda *_: (401,))
        self.assertEqual(self.fault(lambda: wake.deliver(**DRAFT)).fault, "unauthorized")
        self.assertRegex(str(self.fault(lambda: wake.deliver(**DRAFT))), "stop, ask a person for a new key")
        self.assertEqual(self.fault(lambda: next(iter(wake.sweep()))).fault, "unauthorized")
        self.assertEqual(len(self.seen), 1)
        self.assertEqual(self.alerts, ["unauthorized"])

    def test_limited_once(self) -> None:
        """[W23] on 429 it waits Retry-After and tries once more"""
        wake = self.start(lambda _, count: (429, {}, {"retry-after": "7"}) if count == 1 else received())
        self.assertEqual(wake.deliver(**DRAFT).delivery_id, ID)
        self.assertEqual(self.clock.naps, [7.0])
        self.assertEqual(self.alerts, [])

    def test_no_json(self) -> None:
        """[W23] what is no JSON is wrong usage, before anything is noted or leaves"""
        wake = self.start(lambda *_: received())
        circle: dict = {}
        circle["self"] = circle
        deep: list = []
        for _ in range(100_000):
            deep = [deep]
        for details in (circle, {"at": datetime.now()}, {"nan": float("nan")}, {"deep": deep}, {"half": "\ud800"}):
            self.assertEqual(self.fault(lambda given=details: wake.deliver(**DRAFT, details=given)).fault, "wrong_usage")
        self.assertEqual((self.seen, self.log.lines), ([], []))

    def test_cut_anywhere(self) -> None:
        """[W23] a reply that breaks off, wherever it does, is asked for again"""
        body = json.dumps(received()[1])
        whole = f"HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        cuts = [0, 4, 12, 18, 22, 30, whole.index("Content-Length"), whole.index("{") - 1, len(whole) - 1]
        replies = [whole[:cut] for cut in cuts]
        wake = self.bare(([one.encode()] for cut in replies for one in (cut, whole)))
        for text in replies:
            self.assertEqual(wake.deliver(**DRAFT).delivery_id, ID, text)

    def test_drips(self) -> None:
        """[W23] a reply that never stands still and never ends is given up like one that does not come"""

        def drip(status: int) -> Iterator[bytes]:
            body = json.dumps(received()[1]).encode()
            yield f"HTTP/1.1 {status} X\r\nContent-Length: {len(body) + 200}\r\n\r\n".encode()
            for piece in [b" "] * 200:
                time.sleep(0.02)
                yield piece
            yield body

        for status in (201, 422):
            wake = self.bare(drip(status) for _ in range(4))
            with patch("lanternroom.transport._REPLY_SECONDS", 0.25):
                self.assertEqual(self.fault(lambda wake=wake: wake.deliver(**DRAFT)).fault, "unreachable")

    def bare(self, replies: Iterable[Iterable[bytes]]) -> Wake:
        """A client of a server that sends these bytes, piece by piece, on one connection after the other."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def answer() -> None:
            for pieces in replies:
                connection = listener.accept()[0]
                with connection, connection.makefile("rb") as request:
                    length = 0
                    for line in iter(request.readline, b"\r\n"):
                        length = int(line.split(b":")[1]) if line.lower().startswith(b"content-length") else length
                    request.read(length)
                    with suppress(OSError):
                        for piece in pieces:
                            connection.sendall(piece)

        threading.Thread(target=answer, daemon=True).start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        return Wake(url, KEY, agent_id="a", clock=ManualClock(), log=MemoryLog())

    def test_limited_until(self) -> None:
        """[W23] a date in Retry-After counts from the date of the reply, with a clock hours off too"""
        for offset in (-3 * 3600, 3 * 3600):
            served_at = 1772971200 + offset
            headers = {"date": formatdate(served_at, usegmt=True), "retry-after": formatdate(served_at + 7, usegmt=True)}
            wake = self.start(lambda _, count, said=headers: (429, {}, said) if count == 1 else received())
            wake.deliver(**DRAFT)
            self.assertEqual(self.clock.naps, [7.0])

    def test_limited_for_long(self) -> None:
        """[W23] a delivery that may not take as long as the server asks for is told at once"""
        wake = self.start(lambda *_: (429, {"error": {"message": "Five an hour."}}, {"retry-after": "819"}))
        caught = self.fault(lambda: wake.deliver(**DRAFT, within_seconds=45))
        self.assertEqual(caught.fault, "rate_limited")
        self.assertRegex(str(caught), "in 819 s.*Five an hour")
        self.assertEqual((self.clock.naps, len(self.seen)), ([], 1))

    def test_limited_twice(self) -> None:
        """[W23] a second 429 raises one alert, also when the agent goes on calling"""
        wake = self.start(lambda *_: (429, {"error": {"message": "Five an hour."}}, {"retry-after": "7"}))
        for _ in range(3):
            error = self.fault(lambda: wake.deliver(**DRAFT))
            self.assertEqual(error.fault, "rate_limited")
            self.assertIn("It says: Five an hour.", str(error))
        self.assertEqual(len(self.seen), 6)
        self.assertEqual(self.alerts, ["rate_limited"])

    def test_version(self) -> None:
        """[W25] a server that speaks another version is told apart, with what to upgrade"""
        error = {"code": "unsupported_version", "message": "No WAKE v1 here.", "supported": ["v2"]}
        wake = self.start(lambda *_: (404, {"error": error}))
        self.assertIn("speaks v2, this SDK v1", str(self.fault(lambda: wake.deliver(**DRAFT))))

    def test_clock(self) -> None:
        """[K3] a clock that is wrong is named when the server refuses what was signed, and only then"""
        event = {"event_type": "tool.completed", "subject": {"task_id": "t"}, "knowledge": KNOWN}
        for skew, said in ((420, "7 min behind"), (-540, "9 min ahead of"), (60, None)):
            date = {"date": formatdate(1772971200.0 + skew, usegmt=True)}
            producer = self.start_producer(lambda *_, date=date: (400, {"error": "Too old."}, date))
            told = str(self.fault(lambda producer=producer: producer.send(event)))
            self.assertIn(said or "Too old.", told)
            self.assertEqual("clock" in told, said is not None)

    def test_retries(self) -> None:
        """[W12] a lost reply and a 503 are retried with the same idempotency key and body"""
        script = [HANG_UP, (503,), received()]
        wake = self.start(lambda _, count: script[count - 1])
        wake.deliver(**DRAFT)
        wake_keys = {seen.headers["idempotency-key"] for seen in self.seen}
        self.assertEqual((len(self.seen), len(wake_keys), len({seen.body for seen in self.seen})), (3, 1, 1))
        self.assertEqual(len(self.clock.naps), 2)

    def test_unreachable(self) -> None:
        """[W23] a server that is not there is told in one sentence, after the retries"""
        error = self.fault(lambda: self.start(lambda *_: HANG_UP).deliver(**DRAFT))
        self.assertEqual(error.fault, "unreachable")
        self.assertRegex(str(error), r"^Nothing answers at http://127.+then try again\.$")
        self.assertEqual(len(self.seen), 4)

    def test_certificate(self) -> None:
        """[W23] a certificate that is not trusted is called so, and not silence"""
        folder = Path(__file__).parents[2] / "packages/server/src/testing/network/tls"
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "receiver.pem", folder / "receiver.key")
        with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
            server.socket = context.wrap_socket(server.socket, server_side=True)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            url = f"https://127.0.0.1:{server.server_port}"
            wake = Wake(url, KEY, log=MemoryLog(), clock=ManualClock())
            error = self.fault(lambda: wake.deliver(**DRAFT))
            server.shutdown()
        self.assertEqual(error.fault, "unreachable")
        self.assertRegex(str(error), "shows a certificate that this machine does not trust .*SSL_CERT_FILE")

    def test_without_tls(self) -> None:
        """[W23] a server without TLS is called so under an https address, and not silence"""

        class Quiet(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

        with HTTPServer(("127.0.0.1", 0), Quiet) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            url = f"https://127.0.0.1:{server.server_port}"
            wake = Wake(url, KEY, log=MemoryLog(), clock=ManualClock())
            error = self.fault(lambda: wake.deliver(**DRAFT))
            server.shutdown()
        self.assertEqual(error.fault, "unreachable")
        self.assertRegex(str(error), r"answers, but not in TLS \(.+\): .*http://")

    def test_redirect(self) -> None:
        """[W23] the key does not follow a redirect, and the sentence names where it leads"""
        for status in (301, 302, 307, 308):
            wake = self.start(lambda _, count, status=status: (status, {}, {"location": "/wake/v1/trap"}))
            error = self.fault(lambda wake=wake: wake.deliver(**DRAFT))
            self.assertEqual(error.fault, "bad_reply")
            self.assertIn('sends on to "/wake/v1/trap": give the final address', str(error))
            self.assertEqual([seen.path for seen in self.seen], ["/wake/v1/deliver"])

    def test_refusals(self) -> None:
        """[W8] a refusal is a fault with the words of the server, and is not retried"""
        error = {"code": "too_long", "message": "Shorten the headline.", "field": "headline", "docs": ""}
        table = {400: "refused", 403: "forbidden", 404: "not_found", 409: "conflict", 422: "refused"}
        for status, fault in table.items():
            wake = self.start(lambda *_, status=status: (status, {"error": error}))
            caught = self.fault(lambda wake=wake: wake.deliver(**DRAFT))
            self.assertEqual((caught.fault, caught.wire and caught.wire.field), (fault, "headline"))
            self.assertIn("Shorten the headline.", str(caught))
            self.assertEqual(len(self.seen), 1)

    def test_bad_replies(self) -> None:
        """[W23] a reply that is no delivery is not taken for one"""
        for body in ("<html>", "[]", '{"delivery_id":7}', "null"):
            wake = self.start(lambda *_, body=body: (200, body))
            self.assertEqual(self.fault(lambda wake=wake: wake.deliver(**DRAFT)).fault, "bad_reply")


class Addresses(unittest.TestCase):
    def fault_for(self, url: str, key: str) -> object:
        try:
            Wake(url, key)
        except LanternError as error:
            return error.fault
        return None

    def test_https_only(self) -> None:
        """[W23] https only, except loopback with a test key"""
        for url in ("https://desk.example.com", "https://desk.example.com/wake/v1/"):
            self.assertIsNone(self.fault_for(url, "wk_live_a"))
        for url in ("http://127.0.0.1:8787", "http://localhost:1", "http://[::1]:1", "http://a.localhost"):
            self.assertIsNone(self.fault_for(url, "wk_test_a"), url)
            self.assertEqual(self.fault_for(url, "wk_live_a"), "insecure_url")
        for url in ("http://example.com", "http://localhost.example.com", "http://10.0.0.1", "ftp://127.0.0.1"):
            self.assertEqual(self.fault_for(url, "wk_test_a"), "insecure_url")

    def test_other_secrets(self) -> None:
        """[W23] a token or a secret is told to be something else than a key"""
        for secret in ("lr_abc", "ct_abc", "whsec_abc"):
            for url in ("http://127.0.0.1:8787", "https://example.com"):
                with self.assertRaisesRegex(LanternError, r"^This is .* and not the key of an agent: .* wk_"):
                    Wake(url, secret)

    def test_wrong_usage(self) -> None:
        """[W23] what is not an address or not a key is wrong usage"""
        for url in ("nonsense", "", "localhost:8787", "https://a..b", "https://u:p@x.example", "https://x.example?a=1", "https://x.example/\n"):
            self.assertEqual(self.fault_for(url, "wk_test_a"), "wrong_usage", url)
        for key in ("", "wk_test_a b", "wk_test_a\n", "wk_test_ä"):
            self.assertEqual(self.fault_for("https://x.example", key), "wrong_usage")

    def test_retry_after(self) -> None:
        """[W23] Retry-After is read as seconds or as a date"""
        now = 1772971200.0
        for header, seconds in (
            ("0", 0.0),
            (" 12 ", 12.0),
            ("Sun, 08 Mar 2026 12:00:30 GMT", 30.0),
            ("Sun, 08 Mar 2026 11:00:00 GMT", 0.0),
            ("999999999", 86400.0),
            ("soon", None),
            ("", None),
            (None, None),
        ):
            self.assertEqual(retry_after_seconds(header, now), seconds, header)


if __name__ == "__main__":
    unittest.main()
