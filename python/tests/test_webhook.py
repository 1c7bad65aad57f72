import json
import unittest
from pathlib import Path

from world import ID, OTHER_ID, World, response

from lanternroom import Approved, LanternError, Refused, Verified, sign_webhook, verify_webhook

VECTORS = json.loads((Path(__file__).resolve().parents[2] / "spec" / "vectors" / "webhook.json").read_text("utf-8"))
SECRET = "whsec_" + "A" * 43 + "="
NOW = 1772971200


class Signatures(unittest.TestCase):
    def test_signing(self) -> None:
        """[W20] the shared vectors are signed alike"""
        for case in VECTORS["sign"]:
            with self.subTest(case["name"]):
                wanted = {name: case[name] for name in ("secrets", "body", "id", "timestamp")}
                self.assertEqual(sign_webhook(**wanted), case["headers"])

    def test_weak_secrets(self) -> None:
        """[W20] weak secrets cannot sign"""
        for secrets in VECTORS["refuse_to_sign"]:
            with self.subTest(secrets), self.assertRaises(LanternError):
                sign_webhook(secrets=secrets, body="{}", id=ID, timestamp=1)

    def test_verifying(self) -> None:
        """[W20] the shared vectors are judged alike"""
        for case in VECTORS["verify"]:
            with self.subTest(case["name"]):
                result = verify_webhook(
                    case["body"].encode(), case["headers"], secrets=case["secrets"], now=case["now"]
                )
                wanted = Verified(json.loads(case["body"])) if case["reason"] is None else Refused(case["reason"])
                self.assertEqual(result, wanted)

    def test_odd_values(self) -> None:
        """[W20] whatever arrives, it never raises and never says yes"""
        headers = {"x-wake-signature": "sha256=00"}
        for odd in (None, 7, True, [], {}, {"a": 1}, object(), b"x", "", "x", float("nan"), "\ud800"):
            family = {"webhook-id": odd, "webhook-timestamp": odd, "webhook-signature": odd}
            for body, given, secret in (
                (odd, headers, SECRET),
                (b"{}", odd, SECRET),
                (b"{}", headers, odd),
                (b"{}", {"x-wake-signature": odd}, SECRET),
                (b"{}", family, SECRET),
                (b"{}", {odd if isinstance(odd, str) else "x": odd}, SECRET),
            ):
                self.assertFalse(verify_webhook(body, given, secret=secret).ok)  # type: ignore[arg-type]
            self.assertFalse(verify_webhook(b"{}", headers, secrets=odd).ok)  # type: ignore[arg-type]


    def test_bodies(self) -> None:
        """[W20] a signed body is read as the TypeScript client reads it: what is not JSON there is none here"""
        whole = json.dumps(response("approved"))
        for body, wanted in (
            (whole.encode(), True),
            (b"\xef\xbb\xbf" + whole.encode(), True),
            (whole.encode("utf-16"), False),
            (whole.replace("null", "NaN", 1).encode(), False),
            (whole.replace('"edited_content": null', '"edited_content": {"a": -Infinity}').encode(), False),
        ):
            headers = sign_webhook(secrets=[SECRET], body=body, id=ID, timestamp=NOW)
            self.assertEqual(verify_webhook(body, headers, secret=SECRET, now=NOW).ok, wanted, body)
        body = json.dumps({**response("approved"), "responded_at": 7})
        headers = sign_webhook(secrets=[SECRET], body=body, id=ID, timestamp=NOW)
        result = verify_webhook(body, headers, secret=SECRET, now=NOW)
        self.assertIsNone(isinstance(result, Verified) and result.response["responded_at"])


class Receiving(World):
    def callback(self, status: str = "approved", **more: str) -> dict:
        body = json.dumps(response(status, **more))
        delivery_id = more.get("delivery_id", ID)
        headers = sign_webhook(secrets=[SECRET], body=body, id=delivery_id, timestamp=NOW)
        return {"body": body, "headers": headers, "secret": SECRET}

    def test_ours(self) -> None:
        """[W23] a genuine answer to a delivery of ours is taken and logged"""
        wake = self.start(lambda *_: None)
        wake.adopt(ID)
        self.assertIsInstance(wake.receive(**self.callback()), Approved)
        self.assertEqual(self.events(), ["adopted", "answer"])

    def test_theirs(self) -> None:
        """[W23] a genuine answer to a delivery of somebody else is refused"""
        wake = self.start(lambda *_: None)
        self.assertEqual(wake.receive(**self.callback(delivery_id=OTHER_ID)), Refused("foreign_delivery"))

    def test_flaws(self) -> None:
        """[W23] a forged one, an old one and one without a decision are refused"""
        wake = self.start(lambda *_: None)
        wake.adopt(ID)
        genuine = self.callback()
        forged = {**genuine, "body": genuine["body"].replace("null", '"x"')}
        self.assertEqual(wake.receive(**forged), Refused("bad_signature"))
        self.assertEqual(wake.receive(**self.callback(status="pending")), Refused("bad_body"))
        self.clock.time += 301
        self.assertEqual(wake.receive(**genuine), Refused("stale_timestamp"))


if __name__ == "__main__":
    unittest.main()
