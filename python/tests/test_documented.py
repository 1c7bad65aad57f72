from __future__ import annotations

import inspect
import unittest

import lanternroom
import lanternroom.a2a
import lanternroom.aio
import lanternroom.akep


def own_methods(kind: type) -> list[str]:
    return [name for name, value in vars(kind).items() if inspect.isfunction(value) and not name.startswith("_")]


class Documented(unittest.TestCase):
    def test_names(self) -> None:
        """[W23] an editor explains every public name, and every method of its classes"""
        for module in (lanternroom, lanternroom.akep, lanternroom.a2a, lanternroom.aio):
            self.assertGreater(len(module.__all__), 2)
            for name in module.__all__:
                value = getattr(module, name)
                if not inspect.isclass(value) and not inspect.isfunction(value):
                    continue
                # A data class without a comment gets its signature for one.
                doc = (value.__doc__ or "").replace(f"{name}(", "", 1) if inspect.isclass(value) else value.__doc__
                self.assertRegex(doc or "", r"\w[^>]*\.|``", name)
                for method in own_methods(value) if inspect.isclass(value) else []:
                    self.assertTrue(getattr(value, method).__doc__, f"{name}.{method}")


if __name__ == "__main__":
    unittest.main()
