import asyncio
import doctest
import importlib
import pkgutil
import threading
import unittest
from collections.abc import Coroutine
from inspect import signature
from typing import Any, Callable

from world import DRAFT, ID, KEY, SECRET, Seen, World, answered, event, inbox_script, received, resume

import lanternroom
from lanternroom import Inbox, Producer, Verdict, Wake
from lanternroom.a2a import Caller
from lanternroom.aio import AsyncCaller, AsyncInbox, AsyncProducer, AsyncWake


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


    def test_many_waits(self) -> None:
        """[W23] calls that wait keep no other call from its turn, however many they are"""
        released = threading.Event()
        self.addCleanup(released.set)

        def script(seen: Seen, _: int) -> object:
            if seen.method == "POST":
                return received()
            if "wait=" in seen.path:
                released.wait(60)
            return answered("approved" if released.is_set() else "pending")

        self.start(script)
        wake = AsyncWake(self.url, KEY, agent_id="a", log=self.log)

        async def ask() -> list:
            await wake.deliver(**DRAFT)
            waits = [asyncio.create_task(wake.wait_for(ID)) for _ in range(50)]
            while len(self.seen) < 51:
                await asyncio.sleep(0.01)
            try:
                await asyncio.wait_for(wake.deliver(**DRAFT), 60)
            finally:
                released.set()
            return [answer.status for answer in await asyncio.gather(*waits)]

        self.assertEqual(self.in_time(ask), ["approved"] * 50)

    def test_cancelled_loop(self) -> None:
        """[W23] a loop that is cancelled ends, and keeps neither the event loop nor the process"""
        looked = threading.Event()

        def script(*_: object) -> object:
            looked.set()
            return 200, {"deliveries": [], "total": 0, "has_more": False, "next_since": None}

        self.start(script)
        wake = AsyncWake(self.url, KEY, agent_id="a", clock=self.clock, log=self.log)

        async def leave() -> str:
            async def follow() -> None:
                async for _ in wake.sweep(follow=True):
                    pass

            following = asyncio.create_task(follow())
            await asyncio.get_running_loop().run_in_executor(None, looked.wait)
            following.cancel()
            return "left"

        self.assertEqual(self.in_time(leave), "left")
        for thread in threading.enumerate():
            if thread.name == "lanternroom":
                self.assertTrue(thread.daemon)
                thread.join(60)
                self.assertFalse(thread.is_alive())

    def test_cancelled_wait(self) -> None:
        """[K20] a wait that is cancelled is ended on the server too"""
        looked, ended = threading.Event(), threading.Event()

        def script(seen: Any, _: int) -> object:
            if seen.method == "POST":
                return 201, {"wait_id": "wait_1", "run_state_ref": "here"}
            if seen.method == "DELETE":
                ended.set()
                return 204, None
            looked.set()
            return 200, {"resumes": [], "next_cursor": "c1", "has_more": False}

        self.start(script)
        inbox = AsyncInbox(self.url, KEY, clock=self.clock, log=self.log)

        async def leave() -> bool:
            waiting = asyncio.create_task(inbox.wait_for("here"))
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(None, looked.wait)
            waiting.cancel()
            return await loop.run_in_executor(None, ended.wait, 60)

        self.assertTrue(self.in_time(leave))

    def test_cancelled_run(self) -> None:
        """[K13] a run that is cancelled finishes and acknowledges the item at hand, and no other"""
        self.start(inbox_script([event("evt_1"), event("evt_2")]))
        inbox = AsyncInbox(self.url, KEY, clock=self.clock, log=self.log)
        steps: list = []

        async def stop() -> str:
            begun = asyncio.Event()

            async def handler(one: dict) -> None:
                steps.append(f"begun {one['event_id']}")
                begun.set()
                await asyncio.sleep(0.05)
                steps.append(f"done {one['event_id']}")

            running = asyncio.create_task(inbox.run(handler))
            await begun.wait()
            running.cancel()
            try:
                await running
            except asyncio.CancelledError:
                return "cancelled"
            return "ended"

        self.assertEqual(self.in_time(stop), "cancelled")
        self.assertEqual(steps, ["begun evt_1", "done evt_1"])
        self.assertEqual(self.acks(), ["evt_1 applied"])

    def test_async_on_error(self) -> None:
        """[K13] what a coroutine says about a handler that failed is waited for"""
        self.start(inbox_script([event("evt_1")]))
        inbox = AsyncInbox(self.url, KEY, clock=self.clock, log=self.log)

        async def handler(_: dict) -> None:
            raise ValueError("broken")

        async def on_error(error: Exception, _: object) -> Verdict:
            return Verdict("rejected", str(error))

        asyncio.run(inbox.run(handler, on_error=on_error, once=True))
        self.assertEqual(self.acks(), ["evt_1 rejected"])

    def test_same_methods(self) -> None:
        """[W23] the asyncio clients have the methods of the others"""
        pairs = ((Wake, AsyncWake), (Inbox, AsyncInbox), (Producer, AsyncProducer), (Caller, AsyncCaller))
        for plain, asynchronous in pairs:
            public = {name for name in vars(plain) if not name.startswith("_")}
            self.assertEqual(public - set(vars(asynchronous)), set(), plain.__name__)

    def test_same_options(self) -> None:
        """[W23] the asyncio clients name the options of the others, so that an editor knows them and a wrong one is found"""
        pairs = ((Wake, AsyncWake), (Inbox, AsyncInbox), (Producer, AsyncProducer), (Caller, AsyncCaller))
        for plain, asynchronous in pairs:
            for name in ["__init__", *(name for name in vars(plain) if not name.startswith("_"))]:
                with self.subTest(f"{asynchronous.__name__}.{name}"):
                    options = dict(signature(getattr(plain, name)).parameters)
                    if asynchronous is AsyncInbox and name == "run":
                        # Its handlers are coroutines, and cancelling it is how it is stopped.
                        options.pop("stop")
                        self.assertEqual([*signature(AsyncInbox.run).parameters], [*options])
                    else:
                        self.assertEqual(dict(signature(getattr(asynchronous, name)).parameters), options)

    def in_time(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        """In a thread, so that a loop that never ends is a failure and not a standstill."""
        results: list = []
        thread = threading.Thread(target=lambda: results.append(asyncio.run(work())), daemon=True)
        thread.start()
        thread.join(120)
        self.assertFalse(thread.is_alive(), "asyncio.run does not end")
        return results[0]


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
