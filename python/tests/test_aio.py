import asyncio
import doctest
import importlib
import pkgutil
import unittest

from world import DRAFT, KEY, SECRET, World, answered, event, inbox_script, received, resume

import lanternroom
from lanternroom import Verdict
from lanternroom.aio import AsyncInbox, AsyncProducer, AsyncWake


class Asyncio(World):
    def test_wake(self) -> None:
        """[W23] the asyncio client delivers and waits as the other one does"""
        self.start(lambda seen, _: received() if seen.method == "POST" else answered("approved"))
        wake = AsyncWake(self.url, KEY, agent_id="a", clock=self.clock, log=self.log)

        async def ask() -> str:
            delivered = await wake.deliver(**DRAFT)
            return (await wake.wait_for(delivered.delivery_id)).status

        self.assertEqual(asyncio.run(ask()), "approved")

    def test_inbox(self) -> None:
        """[K13] the asyncio inbox runs coroutines, and acknowledges after them"""
        self.start(inbox_script([event("evt_1"), event("evt_2")], resumes=[resume("res_1")]))
        inbox = AsyncInbox(self.url, KEY, clock=self.clock, log=self.log)
        steps: list = []

        async def handler(one: dict) -> object:
            steps.append(one["event_id"])
            return Verdict("rejected") if one["event_id"] == "evt_2" else None

        async def on_resume(one: dict) -> None:
            steps.append(one["resume_id"])

        asyncio.run(inbox.run(handler, on_resume=on_resume, once=True))  # type: ignore[arg-type]
        self.assertEqual(steps, ["evt_1", "evt_2", "res_1"])
        self.assertEqual(self.acks(), ["evt_1 applied", "evt_2 rejected"])

    def test_events(self) -> None:
        """[K11] events and sending, for asyncio"""
        self.start(inbox_script([event("evt_1"), event("evt_2")]))
        inbox = AsyncInbox(self.url, KEY, clock=self.clock, log=self.log)

        async def read() -> list:
            return [one["event_id"] async for one in inbox.events(once=True)]

        self.assertEqual(asyncio.run(read()), ["evt_1", "evt_2"])
        self.start(lambda *_: (202, {"accepted": True, "duplicate": False}))
        identity = {"producer_id": "prod_x", "name": "x", "type": "tool", "secret": SECRET, "clock": self.clock}
        sent = asyncio.run(AsyncProducer(self.url, **identity).send(event("evt_00000001")))
        self.assertEqual(sent.event_id, "evt_00000001")


class Examples(unittest.TestCase):
    def test_doctests(self) -> None:
        """[W23] the examples in the doc-strings hold"""
        tried = 0
        for module in pkgutil.walk_packages(lanternroom.__path__, "lanternroom."):
            if not module.name.endswith("__main__"):
                result = doctest.testmod(importlib.import_module(module.name))
                tried += result.attempted
                self.assertEqual(result.failed, 0, module.name)
        self.assertGreater(tried, 10)


if __name__ == "__main__":
    unittest.main()
