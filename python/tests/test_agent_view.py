"""What the model sees of a conversation, and what an input leaves behind: run options, summaries,
rewinds, imports, forks, files of inputs that are undone."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any, cast

from support import (
    AsyncCase,
    Exchange,
    Model,
    Reply,
    calls,
    long_answers,
    options,
    says,
    told,
    until,
)

from innerloop import Agent, InnerloopError, KeptFile, RejectedError
from innerloop.protocol import Event, SeenTurn, TurnOptions


def weather(city: str) -> str:
    """The weather of a city."""
    return f"31 °C in {city}"


def texts(turns: list[SeenTurn]) -> list[str]:
    """The texts of turns, by who said them."""
    said = []
    for turn in turns:
        parts: Any = turn.get("user") or turn.get("assistant", {}).get("blocks", [])
        said += [f"{next(iter(turn))}: {part['text']}" for part in parts]
    return said


async def talked(agent: Agent, count: int) -> None:
    for number in range(count):
        await agent.run(f"Question {number}").result()


class Inputs(AsyncCase):
    def test_options_hold_for_one_input_only(self) -> None:
        async def work() -> None:
            call = calls(("c1", "weather", {"city": "Rome"}))
            with Model(call, says("I may not."), says("Fine.")) as model:
                async with Agent(**options(model, tools=[weather])) as agent:
                    run = agent.run("Hi", {"tools": [], "hide": True, "temperature": 0.25})
                    await run.result()
                    await agent.run("And now?").result()
            first, second, third = (request.body for request in model.requests)
            self.assertEqual((first["temperature"], second["temperature"]), (0.25, 0.25))
            self.assertNotIn("temperature", third)
            self.assertEqual([tool["name"] for tool in third["tools"]], ["weather"])
            self.assertFalse(first.get("tools"))
            self.assertTrue(model.results(1)[0]["is_error"])

        self.wait(work())

    def test_an_input_that_waits_has_options_of_its_own(self) -> None:
        async def work() -> None:
            with Model(says("One."), says("Two.")) as model:
                async with Agent(**options(model, tools=[weather])) as agent:
                    run = agent.run("Hi")
                    agent.follow_up("Then", {"tool_choice": "required"})
                    await run.result()
            first, second = (request.body for request in model.requests)
            self.assertNotIn("tool_choice", first)
            self.assertEqual(second["tool_choice"]["type"], "any")

        self.wait(work())

    def test_paths_bind_the_tools_of_one_input(self) -> None:
        async def work() -> None:
            with tempfile.TemporaryDirectory() as root:
                Path(root, "src").mkdir()
                Path(root, "secret.txt").write_text("sesame")
                read = calls(("c1", "Read", {"file_path": "secret.txt"}))
                with Model(read, says("No."), read, says("Yes.")) as model:
                    async with Agent(**options(model, workspace=root)) as agent:
                        await agent.run("Read it", {"paths": ["src"]}).result()
                        await agent.run("Read it").result()
                    self.assertTrue(model.results(1)[0]["is_error"])
                    self.assertNotIn("sesame", told(model.results(1)[0]))
                    self.assertIn("sesame", told(model.results(3)[0]))

        self.wait(work())

    def test_options_that_do_not_fit_are_refused_and_no_run_begins(self) -> None:
        async def work() -> None:
            with Model() as model:
                async with Agent(**options(model)) as agent:
                    for wrong in ({"temprature": 1}, {"temperature": -1}, {"tools": "Read"}):
                        with self.assertRaises(InnerloopError):
                            agent.run("Hi", cast(TurnOptions, wrong))
                        self.assertIsNone(agent.current)
                    self.assertEqual(agent.status()["state"], "idle")
            self.assertEqual(model.requests, [])

        self.wait(work())


class Views(AsyncCase):
    def test_what_was_cleared_or_rewound_the_model_does_not_see(self) -> None:
        async def work() -> None:
            with Model(says("A0."), says("A1."), says("A2.")) as model:
                async with Agent(**options(model)) as agent:
                    await talked(agent, 1)
                    one, at = agent.seen(), len(agent.history())
                    self.assertEqual(texts(one), ["user: Question 0", "assistant: A0."])
                    await talked(agent, 1)
                    two = agent.seen()
                    agent.restore(at)
                    self.assertEqual(agent.seen(), one)
                    agent.undo()
                    self.assertEqual(agent.seen(), two)
                    agent.clear()
                    self.assertEqual(agent.seen(), [])
                    self.assertGreater(len(agent.history()), 4)
                    with self.assertRaises(RejectedError):
                        agent.restore(10_000)
                    await agent.run("Last").result()
            self.assertEqual(len(model.requests[2].body["messages"]), 1)

        self.wait(work())

    def test_another_agents_turns_are_taken_over(self) -> None:
        async def work() -> None:
            call = calls(("c1", "weather", {"city": "Rome"}))
            with Model(call, says("Warm."), says("As I said.")) as model:
                async with Agent(**options(model, tools=[weather])) as one:
                    await one.run("Is it warm?").result()
                    async with Agent(**options(model, tools=[weather])) as other:
                        other.import_(one.seen())
                        self.assertEqual(other.seen(), one.seen())
                        await other.run("Say it again").result()
                        alone: SeenTurn = {"tool_results": one.seen()[2]["tool_results"]}
                        with self.assertRaises(InnerloopError):
                            other.import_([alone])
                self.assertEqual(
                    told(model.requests[2].body["messages"][2]["content"][0]), "31 °C in Rome"
                )

        self.wait(work())


class Summaries(AsyncCase):
    def test_a_conversation_is_summed_up_when_that_is_asked(self) -> None:
        async def work() -> None:
            replies = long_answers()
            with Model(*replies, says("It was long."), says("Five.")) as model:
                async with Agent(**options(model)) as agent:
                    await talked(agent, 4)
                    end = await agent.compact("the numbers")
                    self.assertEqual((end["type"], end["why"]), ("compacted", "asked"))
                    await agent.run("Question 5").result()
                asked = model.requests[4].body["messages"][0]["content"][0]["text"]
                self.assertTrue(asked.endswith("Look above all at this: the numbers"), asked)
                self.assertIn("It was long.", str(model.requests[5].body["messages"][0]))

        self.wait(work())

    def test_a_young_conversation_is_not_summed_up(self) -> None:
        async def work() -> None:
            with Model() as model:
                async with Agent(**options(model)) as agent:
                    with self.assertRaises(RejectedError) as caught:
                        await agent.compact()
            self.assertEqual(caught.exception.code, "nothing")

        self.wait(work())

    def test_a_summary_is_interrupted_or_left_and_never_awaited_for_ever(self) -> None:
        def hangs(exchange: Exchange) -> None:
            exchange.head(200)
            exchange.is_gone()

        async def work() -> None:
            replies: list[Reply] = long_answers()
            with Model(*replies, hangs, hangs) as model:
                async with Agent(**options(model)) as agent:
                    await talked(agent, 4)
                    first = asyncio.ensure_future(agent.compact())
                    await until(lambda: len(model.requests) == 5)
                    self.assertIsNone(agent.current)
                    with self.assertRaises(RejectedError):
                        await agent.compact()
                    agent.interrupt()
                    self.assertEqual((await first)["type"], "compaction_failed")
                    second = asyncio.ensure_future(agent.compact())
                    await until(lambda: len(model.requests) == 6)
                    await agent.leave()
                    with self.assertRaises(InnerloopError) as caught:
                        await second
            self.assertEqual(caught.exception.code, "closed")

        self.wait(work())

    def test_a_summary_under_way_goes_on_from_the_log_without_a_run(self) -> None:
        def hangs(exchange: Exchange) -> None:
            exchange.head(200)
            exchange.is_gone()

        async def work() -> None:
            replies: list[Reply] = long_answers()
            with tempfile.TemporaryDirectory() as root:
                log = Path(root, "log.jsonl")
                with Model(*replies, hangs, says("It was long.")) as model:
                    agent = Agent(**options(model, log=log))
                    await talked(agent, 4)
                    waiting = asyncio.ensure_future(agent.compact())
                    await until(lambda: len(model.requests) == 5)
                    await agent.leave()
                    await asyncio.wait({waiting})
                    self.assertIsNotNone(waiting.exception())
                    events: list[Event] = []
                    again = Agent.resume(log, **options(model, on_event=events.append))
                    async with again:
                        self.assertIsNone(again.current)
                        await until(lambda: any(one["type"] == "compacted" for one in events))

        self.wait(work())


class Forks(AsyncCase):
    def test_a_fork_has_heard_the_same_and_goes_its_own_way(self) -> None:
        async def work() -> None:
            heard: list[Event] = []
            call = calls(("c1", "weather", {"city": "Rome"}))
            with Model(says("A0."), says("A1."), call, says("B.")) as model:
                async with Agent(**options(model, tools=iter([weather]))) as agent:
                    await talked(agent, 1)
                    at = len(agent.history())
                    await talked(agent, 1)
                    before = agent.history()
                    async with agent.fork(turns=at, on_event=heard.append) as other:
                        self.assertNotEqual(other.id, agent.id)
                        self.assertEqual(
                            texts(other.seen()), ["user: Question 0", "assistant: A0."]
                        )
                        result = await other.run("The other way").result()
                        self.assertEqual((result.text, result.tool_calls), ("B.", 1))
                        self.assertEqual(agent.history(), before)
                    self.assertEqual(agent.status()["state"], "idle")
                async with agent.fork() as last:
                    self.assertEqual((last.status()["state"], last.history()), ("idle", before))
            self.assertIn("processing_end", [event["type"] for event in heard])
            self.assertEqual(told(model.results(3)[0]), "31 °C in Rome")

        self.wait(work())

    def test_a_fork_goes_on_from_a_log_of_its_own(self) -> None:
        async def work() -> None:
            with tempfile.TemporaryDirectory() as root, Model(says("A0."), says("B.")) as model:
                first, second = Path(root, "one.jsonl"), Path(root, "two.jsonl")
                async with Agent(**options(model, log=first)) as agent:
                    await talked(agent, 1)
                    with self.assertRaises(InnerloopError):
                        agent.fork(log=first)
                    async with agent.fork(log=second, id="fork-1"):
                        pass
                async with Agent.resume(second, **options(model)) as again:
                    self.assertEqual(again.id, "fork-1")
                    self.assertEqual(texts(again.seen()), ["user: Question 0", "assistant: A0."])
                    self.assertEqual((await again.run("On").result()).text, "B.")

        self.wait(work())


class Files(AsyncCase):
    def wrote(self, *files: tuple[str, str]) -> Reply:
        return calls(
            *(
                (f"c{at}", "Write", {"file_path": path, "content": text})
                for at, (path, text) in enumerate(files)
            )
        )

    def test_files_of_an_undone_input_are_as_they_were(self) -> None:
        async def work() -> None:
            with tempfile.TemporaryDirectory() as root:
                old = Path(root, "old.txt")
                old.write_bytes(b"a\r\nb")
                old.chmod(0o640)
                read = calls(("c9", "Read", {"file_path": "old.txt"}))
                write = self.wrote(("old.txt", "new"), ("sub/made.txt", "x"), ("mine.txt", "y"))
                with Model(says("A0."), read, write, says("Done.")) as model:
                    async with Agent(**options(model, workspace=root)) as agent:
                        await talked(agent, 1)
                        await agent.run("Write").result()
                        self.assertEqual(old.read_text(), "new")
                        self.assertEqual((await agent.undo_files()).restored, [])
                        Path(root, "mine.txt").write_text("changed by me")
                        agent.undo()
                        done = await agent.undo_files()
                        again = await agent.undo_files()
                self.assertEqual(done.restored, ["old.txt", "sub/made.txt"])
                why = "it has been changed since"
                self.assertEqual(done.kept, [KeptFile("mine.txt", why)])
                self.assertEqual((again.restored, again.kept), ([], []))
                self.assertEqual(old.read_bytes(), b"a\r\nb")
                self.assertEqual(old.stat().st_mode & 0o777, 0o640)
                self.assertFalse(Path(root, "sub", "made.txt").exists())
                self.assertEqual(Path(root, "mine.txt").read_text(), "changed by me")

        self.wait(work())

    def test_a_file_behind_a_link_that_leads_out_is_not_touched(self) -> None:
        async def work() -> None:
            with tempfile.TemporaryDirectory() as root, tempfile.TemporaryDirectory() as outside:
                victim = Path(outside, "made.txt")
                with Model(self.wrote(("sub/made.txt", "x")), says("Done.")) as model:
                    async with Agent(**options(model, workspace=root)) as agent:
                        await agent.run("Write").result()
                        Path(root, "sub", "made.txt").unlink()
                        Path(root, "sub").rmdir()
                        victim.write_text("x")
                        Path(root, "sub").symlink_to(outside)
                        agent.undo()
                        done = await agent.undo_files()
                # Not even read: its text is the one that was written.
                kept = KeptFile("sub/made.txt", "it has been changed since")
                self.assertEqual(done.kept, [kept])
                self.assertEqual(victim.read_text(), "x")

        self.wait(work())

    def test_without_a_workspace_there_is_nothing_to_take_back(self) -> None:
        async def work() -> None:
            with Model(says("A0.")) as model:
                async with Agent(**options(model)) as agent:
                    await talked(agent, 1)
                    agent.undo()
                    done = await agent.undo_files()
            self.assertEqual((done.restored, done.kept), ([], []))

        self.wait(work())
