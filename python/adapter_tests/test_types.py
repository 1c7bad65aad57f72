import os
import subprocess
import sys
import unittest

from room import ROOT


class Types(unittest.TestCase):
    def test_strict(self) -> None:
        """[W23] the package and its examples pass mypy's strict checks, with the frameworks beside them"""
        checked = [str(ROOT / "python" / name) for name in ("lanternroom", "examples")]
        # Without a cache of its own, which would lie in the repository.
        mypy = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull]
        env = {**os.environ, "MYPYPATH": str(ROOT / "python")}
        ended = subprocess.run([*mypy, *checked], env=env, capture_output=True, text=True, timeout=600)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""), ended.stdout)


if __name__ == "__main__":
    unittest.main()
