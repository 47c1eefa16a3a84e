"""Sessions of five effects that are killed in one language, at each effect, and go on in the other
from what is on disk. `cargo xtask corpus` runs this with the programs in Python and Go."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from support import Exchange, Model, message, told

from innerloop import Core

HERE = Path(__file__).parent
ALIVE = "never"
# Where each language's program begins; xtask says where the one in Go lies.
LANGUAGES = {
    "Python": [sys.executable, str(HERE / "mortal.py")],
    "Go": os.environ["MORTAL_GO"].split(os.pathsep),
}
DIRECTIONS = (("Python", "Go"), ("Go", "Python"))
UNKNOWN = "It may or may not have taken effect"


@dataclass
class Scene:
    """What the model calls at once, which effects follow, at which of their points an agent dies,
    and what it must have done once."""

    calls: tuple[tuple[str, str, dict[str, str]], ...]
    effects: tuple[str, ...]
    points: dict[str, tuple[str, ...]]
    once: tuple[str, ...]


SCENES = {
    # Two runs side by side, of a tool that takes the key, and an open question.
    "parallel": Scene(
        (
            ("c1", "pay", {"to": "Ada"}),
            ("c2", "pay", {"to": "Bob"}),
            ("c3", "ask_user", {"question": "Which colour?"}),
        ),
        ("http", "run_tool", "run_tool", "ask", "http"),
        {
            "the first request": ("request_start 1", "assistant_text_delta 1"),
            "a run": ("tool_call_start c1", "in pay Ada", "behind pay Ada", "tool_call_end c1"),
            "a run beside it": ("tool_call_start c2", "in pay Bob", "behind pay Bob"),
            "a question": ("asked", "answered", "tool_call_end c3"),
            "the last request": ("request_start 2", "assistant_text_delta 2"),
        },
        ("pay Ada", "pay Bob"),
    ),
    # A run that only reads beside a question, and behind it a run that must not happen twice.
    "approval": Scene(
        (("c1", "look", {"at": "Ada"}), ("c2", "send", {"to": "Ada"})),
        ("http", "ask", "run_tool", "run_tool", "http"),
        {
            "the first request": ("request_start 1", "assistant_text_delta 1"),
            "a run that reads": ("tool_call_start c1", "in look Ada", "behind look Ada"),
            "a question": ("asked", "answered"),
            "a run": ("tool_call_start c2", "in send Ada", "behind send Ada", "tool_call_end c2"),
            "the last request": ("request_start 2", "assistant_text_delta 2"),
        },
        ("send Ada",),
    ),
}
# Here nobody can know whether the letter was sent, and the model is told so.
LOST = {"in send Ada": 0, "behind send Ada": 1}


@dataclass
class Life:
    """What came of a session."""

    codes: list[int]
    said: str
    notes: Counter[str]
    effects: tuple[str, ...]
    last_request: str
    results: list[str]


def live(scene: str, lives: list[tuple[str, str]]) -> Life:
    """Lets agents of these languages die or end at these points, one after the other."""
    answers = [message("I begin.", *SCENES[scene].calls), message("All is done.")]

    def reply(exchange: Exchange) -> None:
        # What was asked before is answered the same.
        exchange.head(200)
        exchange.piece(
            answers[sum(one["role"] == "assistant" for one in exchange.body["messages"])]
        )
        exchange.end()

    with tempfile.TemporaryDirectory() as folder, Model(*[reply] * 9) as model:
        files = [os.path.join(folder, name) for name in ("log.jsonl", "notes")]
        codes, said = [], ""
        for language, death in lives:
            command = [*LANGUAGES[language], model.url, *files, scene, death]
            ended = subprocess.run(command, timeout=120, stdout=subprocess.PIPE, check=False)
            codes.append(ended.returncode)
            said = ended.stdout.decode().strip()
        log = Path(files[0]).read_bytes()
        noted = Path(files[1]).read_text(encoding="utf-8").splitlines()
        last = model.requests[-1].raw.decode()
        results = [told(result) for result in model.results(-1)]
    outputs = [output for step in Core().replay(log) for output in step]
    effects = tuple(kind for output in outputs for kind in output.get("effect", {}))
    done = Counter(note.split(" with ")[0] for note in noted)
    return Life(codes, said, done, effects, last, results)


class Killed(unittest.TestCase):
    maxDiff = None

    def test_the_tools_run_once_and_the_end_is_the_same(self) -> None:
        with ThreadPoolExecutor(os.cpu_count() or 2) as pool:
            whole = {
                (scene, first): pool.submit(live, scene, [(first, ALIVE)])
                for scene in SCENES
                for first, _ in DIRECTIONS
            }
            killed = {
                (scene, first, second, effect, point): pool.submit(
                    live, scene, [(first, point), (second, ALIVE)]
                )
                for scene, of in SCENES.items()
                for first, second in DIRECTIONS
                for effect, points in of.points.items()
                for point in points
            }
        print(f"{len(killed)} sessions of five effects were killed and went on")
        for (scene, first), life in whole.items():
            with self.subTest(scene, first=first):
                self.check_whole(scene, life.result())
        for (scene, first, second, effect, point), life in killed.items():
            with self.subTest(scene, killed=first, goes_on=second, effect=effect, point=point):
                self.check_killed(scene, point, life.result(), whole[scene, first].result())

    def check_whole(self, scene: str, life: Life) -> None:
        self.assertEqual((life.codes, life.said), ([0], "completed All is done."))
        self.assertEqual(life.effects, SCENES[scene].effects)
        for words in SCENES[scene].once:
            self.assertEqual(life.notes[words], 1)

    def check_killed(self, scene: str, point: str, life: Life, whole: Life) -> None:
        self.assertEqual(life.codes, [-signal.SIGKILL, 0])
        self.assertEqual(life.said, whole.said)
        for words in SCENES[scene].once:
            self.assertEqual(life.notes[words], LOST.get(point, 1), words)
        if point in LOST:
            self.assertIn(UNKNOWN, life.results[-1])
            self.assertEqual(life.results[:-1], whole.results[:-1])
        else:
            # To the byte: what the model was told in the end is what it is told without a crash.
            self.assertEqual(life.last_request, whole.last_request)


if __name__ == "__main__":
    unittest.main()
