"""The examples of the README, run as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import Model, Reply, calls, says, told

README = Path(__file__).resolve().parents[1] / "README.md"
EXAMPLES = dict(
    re.findall(
        r"^## ([^\n]+)\n(?:(?!^## ).)*?```python\n(.*?)```", README.read_text("utf-8"), re.M | re.S
    )
)


def run(heading: str, *replies: Reply, folder: str | None = None) -> tuple[str, Model]:
    """What the example below a heading prints, and the model that it talked to."""
    with Model(*replies) as model, tempfile.TemporaryDirectory() as root:
        environment = {
            **os.environ,
            "ANTHROPIC_API_KEY": "sk-secret-0123456789",
            "ANTHROPIC_BASE_URL": model.url,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "PYTHONIOENCODING": "utf-8",
        }
        command = [sys.executable, "-c", EXAMPLES[heading]]
        ended = subprocess.run(
            command,
            cwd=folder or root,
            env=environment,
            capture_output=True,
            timeout=120,
            check=False,
        )
        if ended.returncode != 0:
            raise AssertionError(ended.stderr.decode())
        return ended.stdout.decode(), model


class Readme(unittest.TestCase):
    def test_every_example_is_run(self) -> None:
        tests = {
            "Quick start",
            "Tools",
            "A workspace",
            "Going on after a crash",
            "What people type",
            "Engines of your own",
        }
        self.assertEqual(set(EXAMPLES), tests)
        self.assertEqual(README.read_text("utf-8").count("```python"), len(tests))

    def test_what_people_type(self) -> None:
        printed, _model = run("What people type")
        words = [
            {"type": "undo", "steps": 2},
            {"type": "text", "text": "Fix issue 7: 7 today"},
            {"type": "unknown", "name": "clera", "near": "clear"},
            {"type": "text", "text": "/etc/hosts is wrong"},
        ]
        self.assertEqual(printed.splitlines(), [str(word) for word in words])

    def test_quick_start(self) -> None:
        call = ("c1", "weather", {"city": "Rome"})
        said, model = run("Quick start", calls(call, text="I look. "), says("It is."))
        self.assertEqual(said, "I look. It is.\ncompleted, 40 tokens\n")
        self.assertEqual(told(model.results(1)[0]), "31 °C in Rome")
        [tool] = model.requests[0].body["tools"]
        self.assertEqual(tool["description"], "The weather of a city.")
        words = tool["input_schema"]["properties"]["city"]["description"]
        self.assertEqual(words, "Its name, in English.")

    def test_tools(self) -> None:
        looks = [("c1", "stock", {"part": "bolt"}), ("c2", "stock", {"part": "nut"})]
        orders = ("c3", "order", {"part": "nut", "speed": "fast"})
        said, model = run("Tools", calls(*looks), calls(orders), says("Done."))
        self.assertEqual(said, "completed 3\n")
        bolts, nuts = (told(result) for result in model.results(1))
        self.assertEqual(bolts, "3")
        self.assertIn("there is no nut; there are bolt", nuts)
        self.assertEqual(told(model.results(2)[0]), "ordered, fast")

    def test_a_workspace(self) -> None:
        writes = [
            ("c1", "Write", {"file_path": "tides.md", "content": "The moon pulls.\n"}),
            ("c2", "Write", {"file_path": "tides.py", "content": "pull()\n"}),
        ]
        said, model = run("A workspace", calls(*writes), says("Done."))
        self.assertEqual(said, "created tides.md\nThe moon pulls.\n\n")
        self.assertIn("only notes may be changed", told(model.results(1)[1]))

    def test_going_on_after_a_crash(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            heading = "Going on after a crash"
            said, _ = run(heading, says("One."), folder=folder)
            self.assertEqual(said, "One.\n")
            said, model = run(heading, says("Two."), folder=folder)
            self.assertEqual(said, "Two.\n")
            self.assertEqual(len(model.requests[0].body["messages"]), 3)

    def test_the_project_s_own_readme(self) -> None:
        text = README.parents[1].joinpath("README.md").read_text("utf-8")
        EXAMPLES["From Python"] = text.split("### From Python\n\n```python\n")[1].split("```")[0]
        self.addCleanup(EXAMPLES.pop, "From Python")
        calls_of_both = [
            calls(("c1", "temperature", {"city": "Lima"})),
            calls(("c2", "Write", {"file_path": "notes.md", "content": "21\n"})),
        ]
        with tempfile.TemporaryDirectory() as folder:
            said, model = run("From Python", *calls_of_both, says("It is there."), folder=folder)
            self.assertEqual(said, "completed It is there.\n")
            self.assertEqual(told(model.results(1)[0]), "21")
            self.assertEqual(Path(folder, "notes.md").read_text(), "21\n")

    def test_engines_of_your_own(self) -> None:
        said, _ = run("Engines of your own")
        lines = said.splitlines()
        self.assertTrue(lines[0].startswith('durable: {"at":10,"input":{"command"'), said)
        self.assertEqual(lines[1], "to do: http http://localhost:11434/api/chat")
        self.assertTrue(lines[2].startswith("next: "), said)


if __name__ == "__main__":
    unittest.main()
