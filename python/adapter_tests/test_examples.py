import os
import subprocess
import sys
import unittest

from room import APPROVE, KEY, REJECT, ROOT, Room


class Examples(Room):
    def test_all(self) -> None:
        """[W23] each example refunds after a yes, and nothing after a no"""
        for path in sorted((ROOT / "python/examples").glob("*.py")):
            for decision, wanted in ((APPROVE, "Refunded 40 for A-17."), (REJECT, "Not this customer.")):
                with self.subTest(example=path.name, decision=decision["status"]):
                    self.meanwhile(1, lambda _, decision=decision: decision)  # type: ignore[misc]
                    ours = {"LANTERN_URL": self.url, "WAKE_API_KEY": KEY, "HOME": self.folder}
                    env = {**os.environ, **ours, "PYTHONPATH": str(ROOT / "python")}
                    ended = subprocess.run([sys.executable, path], env=env, capture_output=True, text=True, timeout=120)
                    self.assertIn(wanted, ended.stdout, ended.stderr)
                    self.assertEqual("Refunded" in ended.stdout, decision is APPROVE)


if __name__ == "__main__":
    unittest.main()
