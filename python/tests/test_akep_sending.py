import base64
import hmac
import json
import unittest

from world import ACCEPTED, AKEP, EVENT, HANG_UP, SECRET, World, event

from lanternroom import LanternError, Producer, sign_event, verify_event
from lanternroom.akep import GenuineEvent, RefusedEvent


class Signatures(unittest.TestCase):
    def test_signing(self) -> None:
        """[K2] the shared vectors are signed alike"""
        for case in AKEP["sign"]:
            with self.subTest(case["name"]):
                wanted = {name: case[name] for name in ("secret", "body", "id", "timestamp", "key_id") if name in case}
                self.assertEqual(sign_event(**wanted), case["headers"])

    def test_refusing_to_sign(self) -> None:
        """[K2] without a secret, or for an id with a dot, nothing is signed"""
        for case in AKEP["refuse_to_sign"]:
            with self.subTest(case), self.assertRaises(LanternError):
                sign_event(**case, body="{}", timestamp=1)

    def test_verifying(self) -> None:
        """[K3] the shared vectors are judged alike"""
        for case in AKEP["verify"]:
            with self.subTest(case["name"]):
                result = verify_event(case["body"].encode(), case["headers"], secrets=case["secrets"], now=case["now"])
                genuine = case["reason"] is None
                wanted = GenuineEvent(json.loads(case["body"])) if genuine else RefusedEvent(case["reason"])
                self.assertEqual(result, wanted)

    def test_odd_values(self) -> None:
        """[K3] whatever arrives, it never raises and never says yes"""
        case = AKEP["verify"][0]
        body, headers = case["body"], case["headers"]
        for odd in (None, 7, True, [], {}, object(), b"x", "", "x", float("nan"), "\ud800"):
            for args in (
                (odd, headers, {"secret": SECRET}),
                (body, odd, {"secret": SECRET}),
                (body, headers, {"secret": odd}),
                (body, headers, {"secrets": odd if odd is not None else [None]}),
                (body, {**headers, "webhook-signature": odd}, {"secret": SECRET}),
                (body, {**headers, "Webhook-Id": odd if odd is not None else 7}, {"secret": SECRET}),
            ):
                result = verify_event(args[0], args[1], **args[2], now=case["now"])  # type: ignore[arg-type]
                self.assertFalse(result.ok)


class Producing(World):
    def test_signed(self) -> None:
        """[K1] it is signed over the exact bytes, and a receiver believes it"""
        producer = self.start_producer(lambda *_: ACCEPTED, key_id="pk_1")
        sent = producer.send({**EVENT, "knowledge": {**EVENT["knowledge"], "summary": "Kürzer 🏮"}})
        seen = self.seen[0]
        self.assertEqual((seen.method, seen.path), ("POST", "/akep/events"))
        self.assertEqual(seen.headers["webhook-signature-key-id"], "pk_1")
        self.assertNotIn("authorization", seen.headers)
        verified = verify_event(seen.body, seen.headers, secret=SECRET, now=self.clock.now())
        self.assertIsInstance(verified, GenuineEvent)
        self.assertEqual(json.loads(seen.body)["event_id"], sent.event_id)

    def test_filled_in(self) -> None:
        """[K4] the rest of the envelope is filled in, and what the caller gives stays"""
        producer = self.start_producer(lambda *_: ACCEPTED)
        producer.send(EVENT)
        producer.send({**EVENT, "event_id": "evt_mine_0001", "routing": {"resume_policy": "never"}})
        one, two = (json.loads(seen.body) for seen in self.seen)
        self.assertRegex(one["event_id"], "^evt_[0-9a-f]{32}$")
        self.assertEqual(one["occurred_at"], "2026-03-08T12:00:00.000Z")
        self.assertEqual(one["source"], {"producer_id": "prod_exporter", "name": "exporter", "type": "tool"})
        self.assertEqual(one["knowledge"]["content_type"], "text/plain")
        self.assertEqual((two["event_id"], two["routing"]), ("evt_mine_0001", {"resume_policy": "never"}))

    def test_retries(self) -> None:
        """[K6] the shared vectors of retries come to the same"""
        for case in AKEP["retries"]:
            with self.subTest(case):

                def script(_: object, count: int, says: list = case["says"]) -> object:
                    status = says[count - 1]
                    return HANG_UP if status is None else ACCEPTED if status == 202 else (status, {"error": "no"})

                producer = self.start_producer(script)
                try:
                    outcome = "accepted" if producer.send(EVENT).accepted else ""
                except LanternError as error:
                    outcome = error.fault
                self.assertEqual((outcome, len(self.seen)), (case["comes"], case["requests"]))
                self.assertEqual(len({seen.body for seen in self.seen}), 1)

    def test_fresh_signature(self) -> None:
        """[K8] every retry has the same id and bytes, and a signature of its own time"""
        script = [HANG_UP, (429, {}, {"retry-after": "900"}), ACCEPTED]
        self.start_producer(lambda _, count: script[count - 1]).send(EVENT)
        self.assertEqual(len({(seen.body, seen.headers["webhook-id"]) for seen in self.seen}), 1)
        last = self.seen[2]
        self.assertTrue(verify_event(last.body, last.headers, secret=SECRET, now=self.clock.now()).ok)

    def test_public_key(self) -> None:
        """[K24] a public key is never taken for a secret that two share: anybody could sign with it"""
        for key in ("whpk_" + "A" * 43 + "=", "whsk_" + "A" * 43 + "="):
            body = json.dumps(event("evt_00000001"))
            content = f"evt_00000001.1772971200.{body}".encode()
            tag = base64.b64encode(hmac.new(key.encode(), content, "sha256").digest()).decode()
            headers = {"webhook-id": "evt_00000001", "webhook-timestamp": "1772971200", "webhook-signature": f"v1,{tag}"}
            self.assertEqual(verify_event(body, headers, secret=key, now=1772971200), RefusedEvent("bad_secret"))
            caught = self.fault(lambda key=key: self.start_producer(lambda *_: ACCEPTED, secret=key))
            self.assertEqual(caught.fault, "wrong_usage")

    def test_key_id(self) -> None:
        """[K24] a key id that no header could hold is wrong usage"""
        caught = self.fault(lambda: self.start_producer(lambda *_: ACCEPTED, key_id="pk_1\n"))
        self.assertEqual(caught.fault, "wrong_usage")

    def test_duplicate(self) -> None:
        """[K8] a duplicate is said to be one"""
        producer = self.start_producer(lambda *_: (202, {"accepted": True, "duplicate": True}))
        self.assertTrue(producer.send(EVENT).duplicate)

    def test_wrong_usage(self) -> None:
        """[K4] what would surely be refused is not sent"""
        producer = self.start_producer(lambda *_: ACCEPTED)
        for more in (
            {"command": "rm"},
            {"event_id": "evt.export"},
            {"event_type": "Tool.Completed"},
            {"subject": {"colour": "red"}},
            {"knowledge": {"kind": "message", "summary": ""}},
            {"knowledge": {"kind": "message", "summary": "x", "content": {1, 2}}},
        ):
            self.assertEqual(self.fault(lambda more=more: producer.send({**EVENT, **more})).fault, "wrong_usage")
        self.assertEqual(self.seen, [])

    def test_addresses(self) -> None:
        """[K1] https only, except on this machine; and not without a secret"""
        identity = {"producer_id": "prod_x", "name": "x", "type": "tool"}
        far = self.fault(lambda: Producer("http://example.com", **identity, secret=SECRET))
        self.assertEqual(far.fault, "insecure_url")
        self.assertEqual(self.fault(lambda: Producer("https://x.example", **identity, secret="")).fault, "wrong_usage")
        Producer("http://localhost:8787/@home", **identity, secret="dev-secret")


if __name__ == "__main__":
    unittest.main()
