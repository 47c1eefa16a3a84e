"""Agents beside threads, other agents and other people of the machine; and mistakes in words."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

from support import (
    AsyncCase,
    Exchange,
    Model,
    calls,
    fails,
    message,
    options,
    says,
    told,
    until,
    whole,
)

from innerloop import Agent, InnerloopError, RejectedError, Run, Session, Step, tool
from innerloop import http as sending
from innerloop.protocol import Event, Input

COLD = """
import asyncio, time, innerloop

async def main():
    begun = time.process_time()
    innerloop.Agent("ollama", "m")
    print(time.process_time() - begun)

asyncio.run(main())
"""


class Threads(AsyncCase):
    agent: Agent

    def test_commands_of_other_threads(self) -> None:
        def steers() -> str:
            agent = self.agent
            agent.steer("In words")
            agent.follow_up("And then?")
            return "steered"

        async def work() -> None:
            replies = [calls(("c1", "steers", {})), says("One."), says("Two.")]
            with Model(*replies) as model:
                async with Agent(**options(model, tools=[steers])) as agent:
                    self.agent = agent
                    result = await agent.run("Go").result()
                    self.assertEqual((result.status, result.text), ("completed", "Two."))
                self.assertEqual(told(model.results(1)[0]), "steered")
                self.assertIn("In words", str(model.requests[1].body["messages"][-1]))
                self.assertIn("And then?", str(model.requests[2].body["messages"][-1]))

        self.wait(work())

    def test_another_thread_interrupts(self) -> None:
        gone: list[bool] = []
        faults: list[BaseException] = []

        def hangs(exchange: Exchange) -> None:
            exchange.head(200)
            exchange.piece(message("Let me think")[:400])
            gone.append(exchange.is_gone())

        async def work() -> None:
            with Model(hangs, says("Here again.")) as model:
                async with Agent(**options(model)) as agent:
                    run = agent.run("Think")
                    await until(lambda: len(model.requests) == 1)

                    def stop() -> None:
                        try:
                            agent.configure({"instructions": "Be brief."})
                            run.interrupt()
                            self.assertTrue(run.done)
                            agent.interrupt()  # Nothing is under way.
                        except BaseException as error:
                            faults.append(error)

                    thread = threading.Thread(target=stop)
                    thread.start()
                    self.assertEqual((await run.result()).status, "interrupted")
                    await asyncio.to_thread(thread.join)
                    await until(lambda: gone == [True])
                    self.assertEqual((await agent.run("Hi").result()).text, "Here again.")
            self.assertEqual(faults, [])

        self.wait(work())

    def test_what_is_refused_the_thread_hears(self) -> None:
        async def work() -> None:
            with Model() as model:
                async with Agent(**options(model)) as agent:
                    with self.assertRaises(RejectedError) as refused:
                        await asyncio.to_thread(agent.undo)
                    self.assertEqual(refused.exception.code, "nothing")
                    with self.assertRaises(InnerloopError) as elsewhere:
                        await asyncio.to_thread(lambda: asyncio.run(agent.close()))
                    self.assertEqual(elsewhere.exception.code, "no_loop")
                    self.assertEqual(agent.status()["state"], "idle")

        self.wait(work())

    def test_an_agent_of_one_loop_goes_on_in_the_next(self) -> None:
        with Model(says("One."), says("Two.")) as model:
            agent = Agent(**options(model))

            async def ask(agent: Agent, text: str) -> str:
                return (await agent.run(text).result()).text

            with warnings.catch_warnings():
                # Of the first loop's connection, which ends with it.
                warnings.simplefilter("ignore", ResourceWarning)
                self.assertEqual(asyncio.run(ask(agent, "Say one")), "One.")
                agent.steer("Be quick")
                self.assertEqual(asyncio.run(ask(agent, "Say two")), "Two.")
                asyncio.run(agent.close())
                del agent
                gc.collect()


class Listeners(AsyncCase):
    def test_one_that_ends_the_program_ends_it_behind_the_step(self) -> None:
        async def work() -> None:
            with Model(says("One.")) as model:
                agent = Agent(**options(model))

                def listen(event: Event) -> None:
                    if event["type"] == "user_input":
                        raise SystemExit(3)

                end = agent.subscribe(listen)
                with self.assertRaises(SystemExit):
                    agent.run("Hi")
                end()
                run = agent.current
                assert run is not None
                self.assertEqual((await run.result()).text, "One.")
                await agent.close()

        self.wait(work())

    def test_one_may_begin_the_next_run(self) -> None:
        async def work() -> None:
            with Model(says("One."), says("Two.")) as model:
                async with Agent(**options(model)) as agent:
                    runs: list[Run] = []

                    def listen(event: Event) -> None:
                        # The session is idle by now; that the first run is over is told later.
                        if event["type"] == "assistant_text_end" and not runs:
                            runs.append(agent.run("Say two"))
                            with self.assertRaises(RejectedError):
                                agent.run("Say three")

                    agent.subscribe(listen)
                    first = agent.run("Say one")
                    self.assertEqual((await first.result()).text, "One.")
                    [second] = runs
                    self.assertEqual((await second.result()).text, "Two.")
                    self.assertIsNone(agent.current)

        self.wait(work())


class Costs(AsyncCase):
    def test_certificates_are_read_once(self) -> None:
        async def work() -> None:
            with Model(*[says("Hi.")] * 4) as model:
                for _ in range(2):
                    async with Agent(**options(model)) as agent:
                        await agent.run("Hi").result()

        httpx: Any = sending.__dict__["httpx"]
        if httpx is None:
            self.skipTest("httpx is not installed")
        with mock.patch.dict(sending._trust, clear=True):
            with mock.patch.object(
                httpx, "create_ssl_context", wraps=httpx.create_ssl_context
            ) as made:
                self.wait(work())
                self.assertEqual(made.call_count, 1)
                with mock.patch.dict(os.environ, {"SSL_CERT_DIR": os.path.dirname(__file__)}):
                    self.wait(work())
                self.assertEqual(made.call_count, 2)

    def test_nothing_is_compiled_in_the_event_loop(self) -> None:
        with tempfile.TemporaryDirectory() as cache:
            environment = {
                **os.environ,
                "HOME": cache,
                "XDG_CACHE_HOME": cache,
                "PYTHONPATH": os.pathsep.join(sys.path),
            }
            command = [sys.executable, "-c", COLD]
            said = subprocess.run(command, env=environment, capture_output=True, check=True)
        # Seconds of CPU time of all threads; compiling takes one.
        self.assertLess(float(said.stdout), 0.4)


class Workspaces(AsyncCase):
    @unittest.skipIf(sys.platform == "win32", "there are no pipes")
    def test_a_pipe_is_not_waited_for(self) -> None:
        names = ["pipe", "link"]
        uses = [("Read", {"file_path": name}) for name in names]
        uses += [("Write", {"file_path": name, "content": "x"}) for name in names]
        uses.append(("Grep", {"pattern": "x", "path": "."}))

        async def work(root: str) -> None:
            os.mkfifo(os.path.join(root, "pipe"))
            os.symlink("pipe", os.path.join(root, "link"))
            replies = [calls((f"c{n}", *use)) for n, use in enumerate(uses)]
            with Model(*replies, says("Done.")) as model:
                async with Agent(**options(model, workspace=root)) as agent:
                    begun = time.monotonic()
                    await agent.run("Go").result()
                    self.assertLess(time.monotonic() - begun, 30)
                said = [told(model.results(n + 1)[0]) for n in range(len(uses))]
            for text in said[:4]:
                self.assertIn("neither a file nor a folder", text)
            threads = [thread.name for thread in threading.enumerate()]
            self.assertEqual([name for name in threads if name == "innerloop read"], [])

        with tempfile.TemporaryDirectory() as root:
            self.wait(work(root))

    @unittest.skipIf(sys.platform == "win32", "there are no modes")
    def test_a_recording_is_for_nobody_else(self) -> None:
        async def work(root: str) -> None:
            path = Path(root, "traffic.jsonl")
            with Model(says("Hi.")) as model:
                async with Agent(**options(model, record=path)) as agent:
                    await agent.run("Hi").result()
            self.assertEqual(path.stat().st_mode & 0o777, 0o600)
            self.assertIn(b"Hi.", path.read_bytes())
            with self.assertRaises(InnerloopError) as thrown:
                Agent(**options(model, record=Path(root, "nowhere", "traffic.jsonl")))
            self.assertEqual(
                (thrown.exception.code, thrown.exception.field), ("bad_option", "record")
            )

        with tempfile.TemporaryDirectory() as root:
            self.wait(work(root))


class Troubles(AsyncCase):
    def test_a_run_without_which_nothing_goes_on_fails_in_words(self) -> None:
        async def work() -> None:
            with Model(*[fails(500)] * 9) as model:
                async with Agent(**options(model)) as agent:
                    handle = agent._session.handle

                    def full(input: Input, at: int) -> Step:
                        if "tick" in input:
                            raise InnerloopError("no_memory", "there is no memory")
                        return handle(input, at)

                    with mock.patch.object(agent._session, "handle", full):
                        result = await agent.run("Hi").result()
                assert result.error is not None
                self.assertEqual(result.error.message, "there is no memory")

        self.wait(work())


class Words(AsyncCase):
    def test_a_failure_has_its_status(self) -> None:
        def breaks(exchange: Exchange) -> None:
            exchange.drop()

        async def work() -> None:
            for status, kind in (
                (401, "authentication"),
                (404, "invalid_request"),
                (529, "overloaded"),
            ):
                with self.subTest(status), Model(*[fails(status)] * 9) as model:
                    async with Agent(**options(model)) as agent:
                        error = (await agent.run("Hi").result()).error
                    assert error is not None
                    self.assertEqual((error.status, error.kind), (status, kind))
            with Model(*[breaks] * 9) as model:
                async with Agent(**options(model)) as agent:
                    error = (await agent.run("Hi").result()).error
                assert error is not None
                self.assertEqual((error.status, error.kind), (None, "network"))

        self.wait(work())

    def test_a_recorded_failure_has_its_status(self) -> None:
        async def work(root: str) -> None:
            path = Path(root, "traffic.jsonl")
            with Model(fails(500), fails(404)) as model:
                async with Agent(**options(model, record=path)) as agent:
                    recorded = (await agent.run("Hi").result()).error
            given: dict[str, Any] = {"replay": path.read_text()}
            given["config"] = {"retry": {"base_ms": 1, "max_ms": 2}}
            for log in (None, Path(root, "session.jsonl")):
                async with Agent("anthropic", "mock-1", log=log, **given) as agent:
                    replayed = (await agent.run("Hi").result()).error
                assert replayed is not None
                self.assertEqual((replayed.status, replayed.kind), (404, "invalid_request"))
                self.assertEqual(replayed, recorded)

        with tempfile.TemporaryDirectory() as root:
            self.wait(work(root))

    def test_options_that_do_not_fit(self) -> None:
        given: dict[str, Any] = {"provider": "ollama", "model": "m"}
        cases: list[tuple[dict[str, Any], str, str]] = [
            ({"wokspace": "."}, "bad_option", "did you mean `workspace`?"),
            ({"colour": "red"}, "bad_option", "there are provider"),
            ({"tools": 5}, "bad_option", "`tools` is a list of functions, not 5"),
            ({"tools": ["ls"]}, "bad_tool", "'ls' is no function"),
            ({"headers": ["a"]}, "bad_option", "`headers` is a mapping"),
            ({"headers": {"a": 1}}, "bad_option", "('a', 1)"),
            ({"workspace": 5}, "bad_option", "`workspace` is a path"),
            ({"approve": "yes"}, "bad_option", "`approve` is a function"),
            ({"on_event": 1}, "bad_option", "`on_event` is a function"),
            ({"log": 1}, "bad_option", "`log` is a path"),
            ({"config": "x"}, "bad_option", "`config` is a dictionary"),
            ({"config": {"x": object()}}, "bad_request", "no JSON"),
            ({"facts": {"date": {1}}}, "bad_request", "no JSON"),
            ({"api_key": 5}, "bad_option", "`api_key` is a text"),
        ]
        for more, code, words in cases:
            with self.subTest(more):
                with self.assertRaises(InnerloopError) as thrown:
                    Agent(**{**given, **more})
                self.assertEqual(thrown.exception.code, code)
                self.assertIn(words, thrown.exception.message)
        for seconds in (0, -1, "soon", True, float("inf"), float("nan")):
            timeout: Any = seconds
            with self.subTest(seconds), self.assertRaises(InnerloopError) as thrown:
                tool(timeout=timeout)(lambda: None)
            self.assertEqual(thrown.exception.code, "bad_tool")

    def test_what_is_said_is_a_text_or_parts(self) -> None:
        async def work() -> None:
            with Model() as model:
                async with Agent(**options(model)) as agent:
                    said: Any
                    for said in (5, None, ["text"]):
                        for say in (agent.run, agent.steer, agent.follow_up):
                            with self.assertRaises(InnerloopError) as thrown:
                                say(said)
                            self.assertEqual(thrown.exception.code, "bad_request")
                    self.assertIsNone(agent.current)
                    log = os.path.join(os.path.dirname(__file__), "support.py")
                    with self.assertRaises(InnerloopError) as thrown:
                        Agent.resume(log, **options(model, aprove=None))
                    self.assertIn("did you mean `approve`?", thrown.exception.message)

        self.wait(work())

    def test_what_is_missing_is_named(self) -> None:
        cases = [
            ("anthropic", "missing_key", "ANTHROPIC_API_KEY"),
            ("gemini", "missing_key", "set GEMINI_API_KEY or set GOOGLE_API_KEY"),
            ("azure", "bad_option", "AZURE_OPENAI_BASE_URL"),
        ]
        with mock.patch.dict(os.environ, clear=True):
            for provider, code, words in cases:
                with self.subTest(provider), self.assertRaises(InnerloopError) as thrown:
                    Agent(provider, "m")
                self.assertEqual(thrown.exception.code, code)
                self.assertIn(words, thrown.exception.message)

    def test_l2_ollama_brings_its_preset_and_reads_its_window(self) -> None:
        line = {"model": "m", "message": {"role": "assistant", "content": "Hi."}, "done": True}
        body = json.dumps({**line, "done_reason": "stop"}).encode()

        async def work(window: str, more: dict[str, Any]) -> tuple[int, bool]:
            with (
                mock.patch.dict(os.environ, {"OLLAMA_NUM_CTX": window}),
                Model(whole(body, kind="application/x-ndjson")) as model,
            ):
                given = {**options(model, provider="ollama"), **more}
                async with Agent(**given) as agent:
                    self.assertEqual((await agent.run("Hi").result()).text, "Hi.")
                sent = model.requests[0].body
            return sent["options"]["num_ctx"], sent["stream"]

        self.assertEqual(asyncio.run(work("", {})), (8_192, False))
        self.assertEqual(asyncio.run(work("16384", {})), (16_384, False))
        self.assertEqual(asyncio.run(work("", {"preset": "modern"})), (32_768, True))
        narrow = {"config": {"model": {"context_window": 4_096}}}
        self.assertEqual(asyncio.run(work("16384", narrow)), (4_096, False))
        for window in ("many", "0", "-1", "\u0663"):
            with (
                mock.patch.dict(os.environ, {"OLLAMA_NUM_CTX": window}),
                self.assertRaises(InnerloopError) as thrown,
            ):
                Agent("ollama", "m")
            self.assertIn("OLLAMA_NUM_CTX takes a number", thrown.exception.message)

    def test_surrogates_that_come_in(self) -> None:
        async def work() -> None:
            with Model(calls(("c1", "look", {})), says("Yes.")) as model:

                def look() -> str:
                    return "odd\udcff"

                async with Agent(**options(model, tools=[look])) as agent:
                    run = agent.run("lone \ud83d, a pair \ud83d\ude00")
                    self.assertEqual((await run.result()).status, "completed")
                [part] = model.requests[0].body["messages"][0]["content"]
                self.assertEqual(part["text"], "lone \ufffd, a pair \U0001f600")
                self.assertEqual(told(model.results(1)[0]), "odd\ufffd")
            with self.assertRaises(InnerloopError) as bad:
                Session.resume("\ud83d\n")
            self.assertEqual(bad.exception.code, "bad_log")

        self.wait(work())


if __name__ == "__main__":
    unittest.main()
