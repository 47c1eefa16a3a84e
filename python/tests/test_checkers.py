"""What type checkers say of the protocol's types: a field of another name is refused, in what is
read and in what is given."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CACHES = Path(__file__).resolve().parents[2] / "target/python"
RIGHT = """\
from innerloop import Agent, Core, Session
from innerloop.protocol import Command, Event, EventToolCallEnd, SessionConfigPatch


def told(event: Event) -> str:
    if event["type"] == "tool_call_end":
        return exit_of(event)
    return event["message"] if event["type"] == "error" else event["session"]


def exit_of(event: EventToolCallEnd) -> str:
    return f"{event['outcome'].get('exit')} {event['outcome']['parts']}"


def request_of(session: Session) -> str:
    effect = session.owed().effects[0]
    return effect["http"]["request"]["url"] if "http" in effect else ""


patch: SessionConfigPatch = {"limits": {"max_turns": 3}, "model": {"reasoning_effort": None}}
command: Command = {"submit": {"parts": [{"type": "text", "text": "Go"}]}}
agent = Agent("anthropic", on_event=lambda event: print(told(event)), config=patch)
print(agent.status()["turns"], agent.history()[0]["kind"].get("user"))
print(Core().model("anthropic")["context_window"])
"""
WRONG = """\
from innerloop import Agent, Session
from innerloop.protocol import Command, Event, SessionConfigPatch


def told(event: Event) -> None:
    print(event["sesion"])  # wrong
    if event["type"] == "tool_call_ended":  # wrong
        return
    if event["type"] == "tool_call_end":
        print(event["outcom"])  # wrong
        print(event["outcome"]["part"])  # wrong
    if event["type"] == "error":
        print(event["text"])  # wrong


def follow(session: Session, agent: Agent) -> None:
    session.handle({"tik": None}, at=1)  # wrong
    session.command({"submitt": {"parts": []}}, at=1)  # wrong
    print(agent.status()["turn"])  # wrong
    agent.configure({"limits": {"max_turn": 3}})  # wrong


part: Command = {"steer": {"parts": [{"type": "text", "txt": "Go"}]}}  # wrong
patch: SessionConfigPatch = {"modle": {"name": "m"}}  # wrong
"""


def marked(text: str) -> set[int]:
    lines = enumerate(text.splitlines(), 1)
    return {number for number, line in lines if line.endswith("# wrong")}


class Checkers(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name, text in (("right.py", RIGHT), ("wrong.py", WRONG)):
            (self.folder / name).write_text(text, "utf-8")

    def run_module(self, *arguments: str) -> str:
        environment = {
            **os.environ,
            # The program behind pyright is kept with what else is built.
            "PYRIGHT_PYTHON_CACHE_DIR": str(CACHES / "pyright"),
            "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1",
        }
        ended = subprocess.run(
            [sys.executable, "-m", *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            timeout=300,
            check=False,
        )
        said = ended.stdout.decode()
        self.assertEqual(ended.returncode, 1, said + ended.stderr.decode())
        return said

    def test_mypy_refuses_what_is_misspelt(self) -> None:
        said = self.run_module(
            "mypy", "--strict", "--cache-dir", str(CACHES / "mypy"), "right.py", "wrong.py"
        )
        errors = [line.split(":") for line in said.splitlines() if ": error:" in line]
        self.assertEqual({name for name, *_ in errors}, {"wrong.py"}, said)
        self.assertEqual({int(line) for _, line, *_ in errors}, marked(WRONG), said)

    def test_pyright_refuses_what_is_misspelt(self) -> None:
        settings = {"typeCheckingMode": "strict", "include": ["right.py", "wrong.py"]}
        (self.folder / "pyrightconfig.json").write_text(json.dumps(settings), "utf-8")
        said = self.run_module("pyright", "--outputjson", "--pythonpath", sys.executable)
        errors = json.loads(said)["generalDiagnostics"]
        self.assertEqual({Path(error["file"]).name for error in errors}, {"wrong.py"}, said)
        lines = {error["range"]["start"]["line"] + 1 for error in errors}
        self.assertEqual(lines, marked(WRONG), said)


if __name__ == "__main__":
    unittest.main()
