"""Sessions that are killed at every point, and go on."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import tempfile
import unittest
import warnings
from collections import Counter
from pathlib import Path

from support import AsyncCase, Exchange, Model, calls, message, options, says, told, until

from innerloop import Agent, Approval, InnerloopError

VICTIM = Path(__file__).with_name("victim.py")
# The five effects: a request; two tools side by side, of which one asks first; a request.
TWO = calls(("c1", "look", {"at": "Ada"}), ("c2", "send", {"to": "Ada"}))
ALIVE = "never"


def lives(model: Model, folder: Path, death: str) -> int:
    """Lets the agent live until it dies or ends; its exit code."""
    arguments = [model.url, str(folder / "log.jsonl"), str(folder / "notes"), death]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(VICTIM), *arguments]
    return subprocess.run(command, timeout=60, env=environment, check=False).returncode


def notes(folder: Path) -> list[str]:
    file = folder / "notes"
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


@unittest.skipIf(sys.platform == "win32", "there is no SIGKILL")
class Killed(unittest.TestCase):
    def survives(self, death: str, model: Model, folder: Path) -> Counter[str]:
        """Kills the agent at a point and lets it go on; what it has done in both its lives."""
        self.assertEqual(lives(model, folder, death), -signal.SIGKILL, death)
        self.assertEqual(lives(model, folder, ALIVE), 0, death)
        return Counter(notes(folder))

    def test_at_each_effect_all_is_done_once(self) -> None:
        points = [
            "session_start",
            "user_input",
            "request_start",
            "assistant_text_delta",
            "assistant_text_end",
            "tool_call_start look",
            "in look",
            "tool_call_end look",
            "asked send",
            "tool_call_start send",
            "tool_call_end send",
        ]
        everything = ["look Ada", "send Ada", "end completed All done."]
        for death in points:
            with self.subTest(death), tempfile.TemporaryDirectory() as root, Model() as model:
                first = message(
                    "I look.", ("c1", "look", {"at": "Ada"}), ("c2", "send", {"to": "Ada"})
                )
                answers = {0: first, 1: message("All done.")}

                def reply(exchange: Exchange) -> None:
                    # What was asked before is answered the same.
                    rounds = sum(one["role"] == "assistant" for one in exchange.body["messages"])
                    exchange.head(200)
                    exchange.piece(answers[rounds])
                    exchange.end()

                model.replies = [reply] * 9
                if death == "session_start":
                    # There was nothing yet: the user says it again.
                    self.assertEqual(lives(model, Path(root), death), -signal.SIGKILL)
                    (Path(root) / "log.jsonl").unlink(missing_ok=True)
                    self.assertEqual(lives(model, Path(root), ALIVE), 0)
                    done = Counter(notes(Path(root)))
                else:
                    done = self.survives(death, model, Path(root))
                self.assertEqual(done, Counter(everything))
                last = model.requests[-1]
                results = [part for part in last.body["messages"][2]["content"]]
                said = [told(part) for part in results if part["type"] == "tool_result"]
                self.assertEqual(said, ["Ada is there", "sent to Ada"])

    def test_during_a_request(self) -> None:
        for request in (0, 1):
            with self.subTest(request), tempfile.TemporaryDirectory() as root, Model() as model:
                folder = Path(root)
                process: list[subprocess.Popen[bytes]] = []

                def kills(exchange: Exchange) -> None:
                    exchange.head(200)
                    exchange.piece(message("Half of")[:250])
                    process[0].kill()
                    exchange.is_gone()

                model.replies = [TWO, says("All done.")]
                model.replies.insert(request, kills)
                log, noted = str(folder / "log.jsonl"), str(folder / "notes")
                environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
                command = [sys.executable, str(VICTIM), model.url, log, noted, ALIVE]
                process.append(subprocess.Popen(command, env=environment))
                self.assertEqual(process[0].wait(60), -signal.SIGKILL)
                self.assertEqual(lives(model, folder, ALIVE), 0)
                expected = ["look Ada", "send Ada", "end completed All done."]
                self.assertEqual(Counter(notes(folder)), Counter(expected))

    def test_in_a_tool_that_must_not_run_twice(self) -> None:
        for death, sent in (("before send", 0), ("behind send", 1)):
            with self.subTest(death), tempfile.TemporaryDirectory() as root:
                send = calls(("c1", "send", {"to": "Ada"}))
                with Model(send, says("I have checked.")) as model:
                    done = self.survives(death, model, Path(root))
                    self.assertEqual(done["send Ada"], sent)
                    self.assertEqual(done["end completed I have checked."], 1)
                    words = "It may or may not have taken effect"
                    self.assertIn(words, told(model.results(1)[0]))

    def test_in_a_tool_that_knows_its_key(self) -> None:
        with tempfile.TemporaryDirectory() as root:
            with Model(calls(("c1", "pay", {"amount": 5})), says("Paid.")) as model:
                done = self.survives("in pay", model, Path(root))
                self.assertEqual(done["pay 5"], 1)
                self.assertEqual(told(model.results(1)[0]), "paid 5")


class Resumed(AsyncCase):
    def test_a_conversation_goes_on(self) -> None:
        async def work(root: str) -> None:
            log = os.path.join(root, "log.jsonl")
            with Model(says("One."), says("Two."), says("Three.")) as model:
                async with Agent(**options(model, log=log)) as agent:
                    await agent.run("Say one").result()
                    first = agent.id
                    with self.assertRaises(InnerloopError) as busy:
                        Agent.resume(log, **options(model))
                    self.assertEqual(busy.exception.code, "busy")
                    await agent.leave()
                    with self.assertRaises(InnerloopError) as over:
                        agent.run("Hi")
                    self.assertEqual(over.exception.code, "closed")
                    with self.assertRaises(InnerloopError) as there:
                        Agent(**options(model, log=log))
                    self.assertEqual(there.exception.code, "bad_option")
                    for _ in range(2):
                        resumed = Agent.resume(
                            log, api_key="sk-other-0123456789", base_url=model.url
                        )
                        self.assertEqual((resumed.id, resumed.current), (first, None))
                        await resumed.run("And?").result()
                        await resumed.leave()
                    self.assertEqual(len(model.requests[2].body["messages"]), 5)
                    self.assertEqual(model.requests[2].headers["x-api-key"], "sk-other-0123456789")
            self.assertEqual(os.stat(log).st_mode & 0o077, 0)

        with tempfile.TemporaryDirectory() as root:
            self.wait(work(root))

    def test_a_long_log_grows_with_the_conversation_and_not_with_its_square(self) -> None:
        async def work(root: str) -> None:
            log = Path(root, "log.jsonl")
            runs, long = 200, "word " * 300
            with Model(*[says("Noted.")] * (runs + 1)) as model:
                agent = Agent(**options(model, log=log))
                for number in range(runs):
                    await agent.run(f"{number} {long}").result()
                    needed = (number + 1) * 2_500 + 2 * len(agent.snapshot())
                    self.assertLess(log.stat().st_size, 2 * needed + 100_000, number)
                history = agent.history()
                await agent.leave()
                self.assertTrue(log.read_bytes().splitlines()[-1].startswith(b'{"snapshot"'))
                resumed = Agent.resume(log, **options(model))
                self.assertEqual(resumed.history(), history)
                self.assertEqual((await resumed.run("And?").result()).text, "Noted.")
                await resumed.leave()
            self.assertEqual(
                sorted(os.listdir(root)), ["log.jsonl", "log.jsonl.runs"], "nothing else stays"
            )

        with tempfile.TemporaryDirectory() as root:
            self.wait(work(root))

    def test_a_cut_line_does_not_count(self) -> None:
        async def work(root: str) -> None:
            log = os.path.join(root, "log.jsonl")
            with Model(says("One."), says("Two.")) as model:
                agent = Agent(**options(model, log=log))
                await agent.run("Say one").result()
                await agent.leave()
                with open(log, "ab") as file:
                    file.write(b'{"at":99,"input":{"comm')
                resumed = Agent.resume(log, **options(model))
                self.assertEqual((await resumed.run("Say two").result()).text, "Two.")
                await resumed.close()

        with tempfile.TemporaryDirectory() as root:
            self.wait(work(root))

    def test_a_log_in_which_nothing_stands_begins(self) -> None:
        async def work(root: str) -> None:
            whole = os.path.join(root, "whole.jsonl")
            with Model(*[says("One."), says("Two.")] * 4) as model:
                async with Agent(**options(model, log=whole)) as agent:
                    await agent.run("Say one").result()
                header = Path(whole).read_bytes().partition(b"\n")[0]
                # Killed before the first line was whole.
                for number, begun in enumerate([b"", header[:9], header]):
                    log = os.path.join(root, f"{number}.jsonl")
                    Path(log).write_bytes(begun)
                    resumed = Agent.resume(log, **options(model))
                    self.assertIsNone(resumed.current)
                    self.assertEqual((await resumed.run("Hi").result()).status, "completed")
                    await resumed.leave()
                    again = Agent.resume(log, **options(model))
                    self.assertEqual(len(again.history()), 2)
                    await again.leave()
                    opened = os.path.join(root, f"opened-{number}.jsonl")
                    Path(opened).write_bytes(begun)
                    await Agent(**options(model, log=opened)).leave()
                    self.assertEqual(Path(opened).read_bytes().count(b"\n"), 1)
                text = os.path.join(root, "notes.txt")
                Path(text).write_text("not a log", encoding="utf-8")
                with self.assertRaises(InnerloopError):
                    Agent(**options(model, log=text))
                self.assertEqual(Path(text).read_text(encoding="utf-8"), "not a log")

        with tempfile.TemporaryDirectory() as root:
            self.wait(work(root))

    def test_what_the_end_of_the_loop_stops_stays_open(self) -> None:
        asked: list[str] = []

        async def never(approval: Approval) -> bool:
            asked.append(approval.name)
            await asyncio.Event().wait()
            return True

        def send() -> str:
            return "sent"

        async def leave_it(model: Model, log: str) -> Agent:
            agent = Agent(**options(model, log=log, tools=[send], approve=never))
            agent.run("Send")
            await until(lambda: bool(asked))
            return agent

        async def go_on(model: Model, log: str) -> str:
            async with Agent.resume(log, **options(model, tools=[send], approve=ask)) as agent:
                assert agent.current is not None
                return (await agent.current.result()).text

        def ask(approval: Approval) -> bool:
            asked.append(f"{approval.name} again")
            return True

        with tempfile.TemporaryDirectory() as root:
            log = os.path.join(root, "log.jsonl")
            with Model(calls(("c1", "send", {})), says("Done.")) as model:
                # An exception, for example, has ended the program's main task.
                agent = asyncio.run(leave_it(model, log))
                assert agent._journal is not None
                agent._journal.close()
                self.assertEqual(asyncio.run(go_on(model, log)), "Done.")
                with warnings.catch_warnings():
                    # Of the first loop's connection, which ends with it.
                    warnings.simplefilter("ignore", ResourceWarning)
                    del agent
                    gc.collect()
                self.assertEqual(told(model.results(1)[0]), "sent")
        self.assertEqual(asked, ["send", "send again"])

    def test_what_is_no_log_is_told(self) -> None:
        async def work(root: str) -> None:
            log = os.path.join(root, "log.jsonl")
            with Model() as model:
                for content in (None, "nonsense", "nonsense\n", '{"format":"innerloop-log"}\n'):
                    if content is not None:
                        Path(log).write_text(content, encoding="utf-8")
                    with self.assertRaises(InnerloopError) as bad:
                        Agent.resume(log, **options(model))
                    self.assertEqual(bad.exception.code, "bad_log")

        with tempfile.TemporaryDirectory() as root:
            self.wait(work(root))
            with self.assertRaises(InnerloopError) as no_loop:
                Agent.resume(os.path.join(root, "log.jsonl"))
            self.assertEqual(no_loop.exception.code, "no_loop")


if __name__ == "__main__":
    unittest.main()
