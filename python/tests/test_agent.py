"""Agents against a scripted model."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import Any, cast
from unittest import mock

from support import (
    FIXTURES,
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

from innerloop import (
    Agent,
    Approval,
    InnerloopError,
    RejectedError,
    ToolContext,
    ToolError,
    ToolResult,
    tool,
)
from innerloop.protocol import Event, Part


def weather(city: str) -> str:
    """The weather of a city."""
    return f"31 °C in {city}"


class Runs(AsyncCase):
    def test_a_run_with_one_tool(self) -> None:
        async def work() -> None:
            replies = [calls(("c1", "weather", {"city": "Rome"}), text="I look."), says("Warm.")]
            with Model(*replies) as model:
                async with Agent(**options(model, tools=[weather])) as agent:
                    run = agent.run("Is it warm in Rome?")
                    kinds = [event["type"] async for event in run]
                    result = await run.result()
            self.assertEqual((result.status, result.text), ("completed", "Warm."))
            self.assertEqual((result.replies, result.tool_calls), (2, 1))
            self.assertEqual(result.usage.input_total, 20)
            for kind in ("user_input", "assistant_text_delta", "tool_call_end", "processing_end"):
                self.assertIn(kind, kinds)
            self.assertEqual(told(model.results(1)[0]), "31 °C in Rome")
            self.assertEqual(model.requests[0].headers["x-api-key"], "sk-secret-0123456789")

        self.wait(work())

    def test_events_can_be_read_twice_and_late(self) -> None:
        async def work() -> None:
            with Model(says("Hello.")) as model:
                async with Agent(**options(model)) as agent:
                    run = agent.run("Hi")
                    await run.result()
                    first = [event["seq"] async for event in run]
                    self.assertEqual(first, [event["seq"] async for event in run])
                    self.assertIsNone(agent.current)

        self.wait(work())

    def test_calls_that_only_read_run_side_by_side(self) -> None:
        both = threading.Barrier(2, timeout=30)

        @tool(read_only=True)
        def look(at: int) -> int:
            both.wait()  # Breaks unless the other one runs, too.
            return at

        async def work() -> None:
            two = calls(("c1", "look", {"at": 1}), ("c2", "look", {"at": 2}))
            with Model(two, says("Done.")) as model:
                async with Agent(**options(model, tools=[look])) as agent:
                    result = await agent.run("Look").result()
            self.assertEqual(result.status, "completed")
            self.assertEqual([told(one) for one in model.results(1)], ["1", "2"])

        self.wait(work())

    def test_what_fails_in_a_tool_the_model_reads(self) -> None:
        def crashes() -> None:
            raise ValueError("not today")

        async def refuses() -> None:
            raise ToolError("try tomorrow")

        def slow() -> None:
            time.sleep(5)

        def strange() -> ToolResult:
            return ToolResult(parts=[cast(Part, {"type": "smell"})])

        def endless() -> float:
            return float("inf")

        async def work() -> None:
            names = ["crashes", "refuses", "slow", "strange", "endless"]
            replies = [calls(*((f"c{name}", name, {}) for name in names)), says("I see.")]
            tools = [crashes, refuses, tool(timeout=0.05)(slow), strange, endless]
            with Model(*replies) as model:
                async with Agent(**options(model, tools=tools)) as agent:
                    result = await agent.run("Go").result()
                self.assertEqual(result.status, "completed")
                crash, refusal, late, odd, infinite = (told(one) for one in model.results(1))
            self.assertEqual(crash, "Tool error (crashes): ValueError: not today")
            self.assertEqual(refusal, "Tool error (refuses): try tomorrow")
            self.assertIn("timed out after 50ms", late)
            self.assertIn("does not fit", odd)
            self.assertIn("ValueError", infinite)
            self.assertTrue(all(one["is_error"] for one in model.results(1)))

        self.wait(work())

    def test_a_tool_knows_its_call_and_tells_more(self) -> None:
        async def walk(steps: int, context: ToolContext) -> ToolResult:
            for step in range(steps):
                context.output(f"{step};")
            picture: Part = {"type": "text", "text": context.call_id}
            return ToolResult(parts=[picture], details={"key": context.key})

        async def work() -> None:
            with Model(calls(("c1", "walk", {"steps": 3})), says("Done.")) as model:
                async with Agent(**options(model, tools=[walk], id="s-7")) as agent:
                    events = [event async for event in agent.run("Walk")]
            deltas = [e["text"] for e in events if e["type"] == "tool_call_output_delta"]
            ends = [e["outcome"] for e in events if e["type"] == "tool_call_end"]
            self.assertEqual("".join(deltas), "0;1;2;")
            self.assertEqual(ends[0]["details"], {"key": "s-7/2"})
            self.assertEqual(told(model.results(1)[0]), "c1")

        self.wait(work())

    def test_a_key_does_not_get_to_the_model(self) -> None:
        def leak() -> str:
            return "the key is sk-secret-0123456789"

        async def work() -> None:
            with Model(calls(("c1", "leak", {})), says("Done.")) as model:
                async with Agent(**options(model, tools=[leak])) as agent:
                    await agent.run("Go").result()
            mask = "‹secret:key20:[0-9a-f]{6}›"
            self.assertRegex(told(model.results(1)[0]), f"^the key is {mask}$")

        self.wait(work())

    def test_five_protocols(self) -> None:
        wire = FIXTURES / "wire"
        fixtures = [
            ("openai-chat", "/chat/completions", "openai_chat/azure.sse", "Fine."),
            ("openai", "/responses", "openai_responses/text.sse", 'Grüße, "Welt" 🌍\n'),
            (
                "gemini",
                ":streamGenerateContent",
                "gemini/stream_text.sse",
                'Grüße, "Welt" 😀\u2028\n',
            ),
            ("ollama", "/api/chat", "ollama/stream_cached.ndjson", "Grüße aus 😀."),
        ]
        cases = [
            (name, path, (wire / file).read_bytes(), said) for name, path, file, said in fixtures
        ]
        cases.append(("anthropic", "/v1/messages", message("Hello.").encode(), "Hello."))

        async def work() -> None:
            for provider, path, reply, text in cases:
                body = reply.replace(b'"done_reason":"length"', b'"done_reason":"stop"')
                kind = "application/x-ndjson" if provider == "ollama" else "text/event-stream"
                with self.subTest(provider), Model(whole(body, kind=kind)) as model:
                    async with Agent(**options(model, provider=provider)) as agent:
                        result = await agent.run("Hi").result()
                    self.assertEqual((result.status, result.text), ("completed", text))
                    self.assertIn(path, model.requests[0].path)

        self.wait(work())


class Conversations(AsyncCase):
    def test_approvals(self) -> None:
        asked: list[Approval] = []
        answers: list[Any] = [True, "not this one", False, "always"]
        done: list[str] = []

        def approve(call: Approval) -> Any:
            asked.append(call)
            return answers.pop(0)

        def send(to: str) -> str:
            """Sends a letter."""
            done.append(to)
            return f"sent to {to}"

        async def work() -> None:
            names = ["Ada", "Bob", "Cyd", "Dan", "Eve"]
            replies = [calls((f"c{n}", "send", {"to": name})) for n, name in enumerate(names)]
            with Model(*replies, says("Done.")) as model:
                async with Agent(**options(model, tools=[send], approve=approve)) as agent:
                    result = await agent.run("Send").result()
                said = [told(model.results(n)[0]) for n in range(1, 6)]
            self.assertEqual(result.status, "completed")
            self.assertEqual(done, ["Ada", "Dan", "Eve"])
            self.assertEqual([call.arguments["to"] for call in asked], names[:4])
            self.assertIn("not this one", said[1])
            self.assertIn("the user said no", said[2])

        self.wait(work())

    def test_questions(self) -> None:
        async def ask(text: str) -> str:
            return f"{text} Blue."

        async def work() -> None:
            replies = [
                calls(("c1", "ask_user", {"question": "Which colour?"})),
                says("Blue it is."),
            ]
            with Model(*replies) as model:
                async with Agent(**options(model, ask=ask)) as agent:
                    result = await agent.run("Paint").result()
                self.assertEqual(result.status, "completed")
                self.assertIn("Which colour? Blue.", told(model.results(1)[0]))

        self.wait(work())

    def test_steering_is_read_after_the_round_of_tools(self) -> None:
        async def work() -> None:
            begun = asyncio.Event()
            go_on = asyncio.Event()

            async def build() -> str:
                begun.set()
                await go_on.wait()
                return "built"

            with Model(calls(("c1", "build", {})), says("Quickly done.")) as model:
                async with Agent(**options(model, tools=[build])) as agent:
                    run = agent.run("Build")
                    await begun.wait()
                    agent.steer("Be quick")
                    with self.assertRaises(RejectedError) as refused:
                        agent.run("Something else")
                    self.assertEqual(refused.exception.code, "busy")
                    self.assertIs(agent.current, run)
                    go_on.set()
                    result = await run.result()
                    self.assertEqual(result.text, "Quickly done.")
                self.assertIn("Be quick", str(model.requests[1].body["messages"][-1]))

        self.wait(work())

    def test_a_listener_may_steer(self) -> None:
        async def work() -> None:
            with Model(calls(("c1", "weather", {"city": "Rome"})), says("Done.")) as model:
                async with Agent(**options(model, tools=[weather])) as agent:
                    seen: list[int] = []

                    def listen(event: Event) -> None:
                        seen.append(event["seq"])
                        if event["type"] == "tool_call_start":
                            agent.steer("In words")

                    agent.subscribe(listen)
                    await agent.run("Go").result()
                self.assertEqual(seen, sorted(seen))
                self.assertIn("In words", str(model.requests[1].body["messages"][-1]))

        self.wait(work())

    def test_follow_ups_belong_to_the_run(self) -> None:
        async def work() -> None:
            with Model(says("One."), says("Two.")) as model:
                async with Agent(**options(model)) as agent:
                    run = agent.run("Say one")
                    agent.follow_up("Say two")
                    self.assertEqual((await run.result()).text, "Two.")
                    self.assertEqual(len(agent.history()), 4)

        self.wait(work())

    def test_an_interrupt_stops_tools_and_requests(self) -> None:
        async def work() -> None:
            begun = asyncio.Event()
            stopped = asyncio.Event()

            async def build() -> None:
                begun.set()
                try:
                    await asyncio.sleep(SECONDS_TOO_MANY)
                finally:
                    stopped.set()

            gone: list[bool] = []

            def hangs(exchange: Exchange) -> None:
                exchange.head(200)
                exchange.piece(message("Let me think about")[:400])
                gone.append(exchange.is_gone())

            with Model(calls(("c1", "build", {})), hangs, says("Here again.")) as model:
                async with Agent(**options(model, tools=[build])) as agent:
                    run = agent.run("Build")
                    await begun.wait()
                    run.interrupt()
                    self.assertEqual((await run.result()).status, "interrupted")
                    await stopped.wait()
                    run = agent.run("Think")
                    await until(lambda: len(model.requests) == 2)
                    await asyncio.sleep(0.05)
                    agent.interrupt()
                    self.assertEqual((await run.result()).status, "interrupted")
                    await until(lambda: gone == [True])
                    self.assertEqual((await agent.run("Hi").result()).text, "Here again.")

        self.wait(work())

    def test_undo_and_configure(self) -> None:
        async def work() -> None:
            with Model(says("One."), says("Two."), says("Three.")) as model:
                async with Agent(**options(model)) as agent:
                    await agent.run("Say one").result()
                    await agent.run("Say two").result()
                    agent.undo()
                    agent.configure({"model": {"name": "mock-2"}})
                    await agent.run("Say three").result()
                    self.assertGreater(agent.usage().input_total, 0)
                body = model.requests[2].body
                self.assertEqual(body["model"], "mock-2")
                self.assertNotIn("Say two", str(body))

        self.wait(work())


SECONDS_TOO_MANY = 3600


class HostileServers(AsyncCase):
    def test_what_fails_is_tried_again_and_then_told(self) -> None:
        def breaks(exchange: Exchange) -> None:
            exchange.head(200)
            exchange.piece(message("Half of")[:300])
            exchange.drop()

        def hangs_up(exchange: Exchange) -> None:
            exchange.drop()

        async def work() -> None:
            replies = [
                fails(500),
                fails(529, "overloaded_error"),
                breaks,
                hangs_up,
                says("At last."),
            ]
            with Model(*replies) as model:
                async with Agent(**options(model)) as agent:
                    events = [event async for event in agent.run("Hi")]
                assert events[-1]["type"] == "processing_end"
                self.assertEqual(events[-1]["text"], "At last.")
                self.assertEqual(sum(event["type"] == "retry" for event in events), 4)
                self.assertEqual(len(model.requests), 5)
            with Model(*[fails(500)] * 9) as model:
                async with Agent(**options(model)) as agent:
                    result = await agent.run("Hi").result()
                self.assertEqual(result.status, "failed")
                assert result.error is not None
                self.assertEqual((result.error.kind, result.error.retryable), ("server", True))
            with Model(fails(401, "authentication_error")) as model:
                async with Agent(**options(model)) as agent:
                    result = await agent.run("Hi").result()
                assert result.error is not None
                self.assertEqual(result.error.kind, "authentication")
                self.assertFalse(result.error.retryable)

        self.wait(work())

    def test_a_silence_that_is_too_long_ends(self) -> None:
        gone: list[bool] = []

        def silent(exchange: Exchange) -> None:
            exchange.head(200)
            gone.append(exchange.is_gone())

        async def work() -> None:
            retry = {"retry": {"base_ms": 1, "max_ms": 2, "idle_ms": 100}}
            # On a busy machine the next ones may be late, too.
            with Model(silent, *[says("Here.")] * 9) as model:
                async with Agent(**options(model, config=retry)) as agent:
                    result = await agent.run("Hi").result()
                    self.assertEqual(result.text, "Here.")
                    await until(lambda: gone == [True])

        self.wait(work())

    def test_a_slow_reply_is_whole(self) -> None:
        def slow(exchange: Exchange) -> None:
            exchange.head(200)
            body = message("Grüße aus 😀.").encode()
            for at in range(0, len(body), 7):
                exchange.piece(body[at : at + 7])
            exchange.end()

        async def work() -> None:
            with Model(slow) as model:
                async with Agent(**options(model)) as agent:
                    self.assertEqual((await agent.run("Hi").result()).text, "Grüße aus 😀.")

        self.wait(work())

    def test_a_redirect_does_not_get_the_key(self) -> None:
        async def work() -> None:
            with Model() as other, Model() as model:
                to = f"{other.url}/v1/messages"
                model.replies = [lambda exchange: _redirect(exchange, to)]
                async with Agent(**options(model)) as agent:
                    result = await agent.run("Hi").result()
                self.assertEqual(result.status, "failed")
                assert result.error is not None
                self.assertIn("redirects are not followed", result.error.message)
                self.assertEqual(other.requests, [])

        self.wait(work())

    def test_nobody_is_there(self) -> None:
        async def work() -> None:
            with Model() as model:
                gone = model.url
            async with Agent(**options(model, base_url=gone)) as agent:
                result = await agent.run("Hi").result()
            assert result.error is not None
            self.assertEqual(result.error.kind, "network")

        self.wait(work())


def _redirect(exchange: Exchange, to: str) -> None:
    exchange.head(307, location=to)
    exchange.end()


class BareHostileServers(HostileServers):
    """The same by the standard library, as where httpx is not installed."""

    def setUp(self) -> None:
        missing = mock.patch("innerloop.http.httpx", None)
        missing.start()
        self.addCleanup(missing.stop)

    def test_an_interrupt_ends_the_connection(self) -> None:
        gone: list[bool] = []

        def hangs(exchange: Exchange) -> None:
            exchange.head(200)
            gone.append(exchange.is_gone())

        async def work() -> None:
            with Model(hangs) as model:
                async with Agent(**options(model)) as agent:
                    run = agent.run("Hi")
                    await until(lambda: len(model.requests) == 1)
                    await asyncio.sleep(0.05)
                    run.interrupt()
                    await until(lambda: gone == [True])

        self.wait(work())


class Workspaces(AsyncCase):
    def test_a_folder_of_many_files_is_listed_whole(self) -> None:
        async def work(root: str) -> None:
            # More than a runtime is asked for at once, several times.
            for number in range(9_000):
                Path(root, f"{number:05} {'x' * 100}.txt").touch()
            with Model(calls(("g", "Glob", {"pattern": "*7 *.txt"})), says("Done.")) as model:
                async with Agent(**options(model, workspace=root)) as agent:
                    ended = [
                        event async for event in agent.run("Go") if event["type"] == "tool_call_end"
                    ]
            self.assertEqual(ended[0]["outcome"]["count"], 900)

        with tempfile.TemporaryDirectory() as root:
            self.wait(work(root))

    @unittest.skipIf(sys.platform != "linux", "names are text elsewhere")
    def test_a_name_that_is_not_utf8_hides_no_other(self) -> None:
        async def work(root: str) -> None:
            os.mkdir(os.path.join(root, "below"))
            odd = os.path.join(os.fsencode(root), b"below", b"caf\xe9.txt")
            for path in [os.fsencode(os.path.join(root, "below", "plain.txt")), odd]:
                with open(path, "w", encoding="utf-8") as file:
                    file.write("needle\n")
            os.symlink("/", os.path.join(root, "below", "out"))
            searches = calls(
                ("g", "Glob", {"pattern": "**/*.txt"}),
                ("s", "Grep", {"pattern": "needle", "output_mode": "content"}),
                ("o", "Glob", {"pattern": "*", "path": "below/out"}),
            )
            with Model(searches, says("Done.")) as model:
                async with Agent(**options(model, workspace=root)) as agent:
                    ended = {
                        event["call_id"]: event["outcome"]
                        async for event in agent.run("Go")
                        if event["type"] == "tool_call_end"
                    }
            said = {
                id: "".join(str(part.get("text")) for part in one["parts"])
                for id, one in ended.items()
            }
            note = "\n[1 name that is not UTF-8, left out.]"
            self.assertEqual(said["g"], "below/plain.txt" + note)
            self.assertEqual(said["s"], "below/plain.txt:1:needle" + note)
            self.assertEqual(ended["o"].get("error"), "permission_denied", said["o"])

        with tempfile.TemporaryDirectory() as root:
            self.wait(work(root))

    def test_the_tools_stay_in_the_workspace(self) -> None:
        async def work(root: str) -> None:
            secret = os.path.join(root, "secret.txt")
            workspace = os.path.join(root, "work")
            os.makedirs(workspace)
            with open(secret, "w", encoding="utf-8") as file:
                file.write("do not read")
            with open(os.path.join(workspace, "notes.md"), "w", encoding="utf-8") as file:
                file.write("# Notes\n")
            script = os.path.join(workspace, "run.sh")
            with open(script, "w", encoding="utf-8") as file:
                file.write("echo old\n")
            os.chmod(script, 0o750)
            os.symlink("run.sh", os.path.join(workspace, "again"))
            os.symlink("..", os.path.join(workspace, "up"))
            os.symlink(secret, os.path.join(workspace, "link.txt"))
            reads = ["notes.md", "link.txt", "up/secret.txt", "../secret.txt", secret]
            replies = [
                calls(*((f"r{n}", "Read", {"file_path": path}) for n, path in enumerate(reads))),
                calls(
                    ("w1", "Write", {"file_path": "new/a.txt", "content": "fresh\n"}),
                    ("w2", "Write", {"file_path": "up/b.txt", "content": "out\n"}),
                    ("w3", "Write", {"file_path": "again", "content": "echo new\n"}),
                ),
                says("Done."),
            ]
            with Model(*replies) as model:
                more = {"workspace": workspace, "config": {"guard": {"read_before_write": False}}}
                async with Agent(**options(model, **more)) as agent:
                    events = [event async for event in agent.run("Go")]
                seen = [told(result) for result in model.results(1)]
                written = [told(result) for result in model.results(2)]
            self.assertIn("# Notes", seen[0])
            self.assertTrue(all("do not read" not in text for text in seen), seen)
            self.assertIn("Permission denied", seen[1])
            with open(os.path.join(workspace, "new", "a.txt"), encoding="utf-8") as file:
                self.assertEqual(file.read(), "fresh\n")
            self.assertFalse(os.path.exists(os.path.join(root, "b.txt")), written)
            with open(script, encoding="utf-8") as file:
                self.assertEqual(file.read(), "echo new\n")
            self.assertEqual(stat.S_IMODE(os.stat(script).st_mode), 0o750)
            self.assertTrue(os.path.islink(os.path.join(workspace, "again")))
            names = {"notes.md", "run.sh", "again", "up", "link.txt", "new"}
            self.assertEqual(set(os.listdir(workspace)), names)
            ends = [event for event in events if event["type"] == "tool_call_end"]
            self.assertEqual(ends[5]["outcome"]["changes"][0]["path"], "new/a.txt")

        with tempfile.TemporaryDirectory() as root:
            self.wait(work(root))

    def test_what_instructs_the_models_is_read(self) -> None:
        async def work(root: str) -> None:
            with open(os.path.join(root, "CLAUDE.md"), "w", encoding="utf-8") as file:
                file.write("Use tabs.")
            with Model(says("Yes.")) as model:
                async with Agent(**options(model, workspace=root)) as agent:
                    await agent.run("Hi").result()
                self.assertIn("Use tabs.", str(model.requests[0].body["system"]))

        with tempfile.TemporaryDirectory() as root:
            self.wait(work(root))

    def test_a_search_without_an_end_is_stopped(self) -> None:
        async def work(root: str) -> None:
            for number in range(300):
                with open(os.path.join(root, f"{number}.txt"), "w", encoding="utf-8") as file:
                    file.write("a" * 200_000)
            limits = {"default_command_ms": 50, "max_command_ms": 50}
            grep = {"pattern": "(a*)*b", "path": "."}
            with Model(calls(("c1", "Grep", grep)), says("Done.")) as model:
                more = {"workspace": root, "config": {"timeouts": limits}}
                async with Agent(**options(model, **more)) as agent:
                    # It would go on for longer than anybody waits.
                    await agent.run("Search").result()
                self.assertTrue(model.results(1)[0].get("is_error"), model.results(1))

        with tempfile.TemporaryDirectory() as root:
            self.wait(work(root))


class Mistakes(AsyncCase):
    def test_a_mistake_has_a_code(self) -> None:
        cases: list[tuple[dict[str, Any], str]] = [
            ({"provider": "acme"}, "unknown_provider"),
            ({}, "unknown_provider"),
            ({"provider": "vllm"}, "bad_option"),
            ({"provider": "anthropic", "api_key": ""}, "missing_key"),
            ({"provider": "ollama", "model": "m", "config": {"limits": {"x": 1}}}, "bad_option"),
            ({"provider": "ollama", "model": "m", "workspace": "/nowhere"}, "bad_workspace"),
            ({"provider": "ollama", "model": "m", "workspace": "/"}, "bad_workspace"),
            ({"provider": "ollama", "model": "m", "tools": [weather, weather]}, "bad_tool"),
            ({"provider": "ollama", "model": "m", "replay": "{"}, "replay_unreadable"),
        ]
        for given, code in cases:
            with self.subTest(given), self.assertRaises(InnerloopError) as thrown:
                Agent(**given)
            self.assertEqual(thrown.exception.code, code)

    def test_a_run_needs_an_event_loop(self) -> None:
        with Model() as model:
            agent = Agent(**options(model))
            with self.assertRaises(InnerloopError) as thrown:
                agent.run("Hi")
            self.assertEqual(thrown.exception.code, "no_loop")
            self.assertEqual(agent.status()["state"], "idle")

    def test_a_closed_agent_runs_no_more(self) -> None:
        async def work() -> None:
            with Model(says("One.")) as model:
                agent = Agent(**options(model))
                await agent.run("Hi").result()
                await agent.close()
                await agent.close()
                with self.assertRaises(InnerloopError) as refused:
                    agent.run("Hi")
                self.assertEqual(refused.exception.code, "closed")
                self.assertEqual(agent.status()["state"], "closed")

        self.wait(work())

    def test_a_recording_plays_without_a_server(self) -> None:
        async def work(root: str) -> None:
            path = os.path.join(root, "traffic.jsonl")
            with Model(calls(("c1", "weather", {"city": "Rome"})), says("Warm.")) as model:
                async with Agent(**options(model, tools=[weather], record=path)) as agent:
                    await agent.run("Is it warm in Rome?").result()
            with open(path, encoding="utf-8") as file:
                traffic = file.read()
            async with Agent(tools=[weather], replay=traffic) as agent:
                result = await agent.run("Is it warm in Rome?").result()
            self.assertEqual((result.status, result.text), ("completed", "Warm."))

        with tempfile.TemporaryDirectory() as root:
            self.wait(work(root))
