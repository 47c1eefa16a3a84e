"""Instruction files below the workspace's top, and what they import."""

from __future__ import annotations

import struct
import tempfile
import unittest
from pathlib import Path
from typing import Any

from support import AsyncCase, Model, calls, options, says

from innerloop import Agent, Core
from innerloop.documents import documents
from innerloop.protocol import ProfileKind

CORE = Core()


def index(version: int, *paths: str) -> bytes:
    """Git's index of these files, which are to be in order."""
    made = struct.pack(">4sII", b"DIRC", version, len(paths))
    before = b""
    for path in map(str.encode, paths):
        # Version 3 may have more flags.
        flags, more = (0x4000, b"\0\0") if version == 3 else (0, b"")
        entry = bytes(60) + struct.pack(">H", flags | min(len(path), 0xFFF)) + more
        if version == 4:
            kept = next(n for n in range(len(path), -1, -1) if before.startswith(path[:n]))
            entry += _number(len(before) - kept) + path[kept:] + b"\0"
        else:
            entry += path
            entry += bytes(8 - len(entry) % 8)
        made, before = made + entry, path
    return made + bytes(20)


def _number(number: int) -> bytes:
    made = [number & 0x7F]
    while number := number >> 7:
        number -= 1
        made.insert(0, number & 0x7F | 0x80)
    return bytes(made)


class Case(AsyncCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name, "work")
        self.root.mkdir()

    def write(self, path: str, text: str | bytes) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)

    def track(self, *paths: str, version: int = 2) -> None:
        self.write(".git/index", index(version, *sorted(paths)))

    def found(
        self, below: str = "", profile: ProfileKind = "anthropic"
    ) -> tuple[dict[str, str], ...]:
        """The texts of both kinds by their paths."""
        facts = documents(CORE, profile, self.root / below)
        kinds = (facts["project_docs"], facts["nested_docs"])
        return tuple({doc["path"]: doc["text"] for doc in docs} for docs in kinds)


class Documents(Case):
    def test_tracked_ones_below_the_top_are_found(self) -> None:
        self.write("CLAUDE.md", "Use tabs.")
        self.write("web/CLAUDE.md", "Be bold.")
        self.write("web/long/path/AGENTS.md", "Be brief.")
        self.write("web/GEMINI.md", "Of another family.")
        self.write("node_modules/a/CLAUDE.md", "Not tracked.")
        self.assertEqual(self.found(), ({"CLAUDE.md": "Use tabs."}, {}), "without a repository")
        files = ["CLAUDE.md", "web/CLAUDE.md", "web/GEMINI.md", "web/long/path/AGENTS.md"]
        # Version 4 writes what an entry does not share with the one before.
        files += [f"web/{'deep/' * 60}x", "web/long/gone/CLAUDE.md"]
        below = {"web/CLAUDE.md": "Be bold.", "web/long/path/AGENTS.md": "Be brief."}
        for version in (2, 3, 4):
            with self.subTest(version):
                self.track(*files, version=version)
                self.assertEqual(self.found(), ({"CLAUDE.md": "Use tabs."}, below))
        self.track(*files)
        inside = ({"CLAUDE.md": "Be bold."}, {"long/path/AGENTS.md": "Be brief."})
        self.assertEqual(self.found("web"), inside, "of a repository above")

    def test_a_work_tree_says_where_its_repository_is(self) -> None:
        self.write("web/AGENTS.md", "Be bold.")
        self.write("../elsewhere/index", index(2, "web/AGENTS.md"))
        self.write(".git", "gitdir: ../elsewhere\n")
        self.assertEqual(self.found()[1], {"web/AGENTS.md": "Be bold."})

    def test_an_index_that_is_broken_has_nothing(self) -> None:
        self.write("web/AGENTS.md", "Be bold.")
        whole = index(4, "a", "web/AGENTS.md")
        # Each path goes on behind the one before, without an end.
        entry = bytes(62) + b"\0" + b"x" * 99 + b"\0"
        endless = struct.pack(">4sII", b"DIRC", 4, 200_000) + entry * 200_000
        strange = whole[:7] + b"\5" + whole[8:]
        for broken in (b"", b"DIRC", whole[:80], b"X" + whole, strange, endless):
            with self.subTest(broken[:12]):
                self.write(".git/index", broken)
                self.assertEqual(self.found()[1], {})

    def test_no_more_than_there_may_be_are_read(self) -> None:
        paths = [f"{n:03}/AGENTS.md" for n in range(100)]
        for path in paths:
            self.write(path, "x" * 100_000)
        self.track(*paths)
        below = self.found()[1]
        self.assertEqual(list(below), paths[:32])
        self.assertEqual({len(text) for text in below.values()}, {(32 << 10) + 1})

    def test_imports_are_followed_inside_of_the_workspace(self) -> None:
        self.write("CLAUDE.md", "See @notes/style.md, @.git/index, @../secret and @link.")
        self.write("notes/style.md", "Tabs, see @more.md.")
        self.write("notes/more.md", "Eight wide.")
        self.write("web/CLAUDE.md", "@../notes/more.md")
        self.write("../secret", "A secret.")
        (self.root / "link").symlink_to("../secret")
        self.track("web/CLAUDE.md")
        (top,), (below,) = (docs.values() for docs in self.found())
        self.assertIn("--- notes/style.md, imported by CLAUDE.md ---\nTabs", top)
        self.assertIn("--- notes/more.md, imported by notes/style.md ---\nEight wide.", top)
        self.assertNotIn("secret.", top)
        self.assertNotIn("DIRC", top)
        self.assertIn("Eight wide.", below)

    def test_links_count_once_and_stay_inside(self) -> None:
        self.write("AGENTS.md", "Use tabs.")
        self.write("web/CLAUDE.md", "Be bold.")
        self.write("../elsewhere/CLAUDE.md", "Not of the workspace.")
        (self.root / "CLAUDE.md").symlink_to("AGENTS.md")
        (self.root / "out").symlink_to("../elsewhere")
        (self.root / "round").mkdir()
        (self.root / "round/CLAUDE.md").symlink_to("CLAUDE.md")
        self.track("CLAUDE.md", "out/CLAUDE.md", "round/CLAUDE.md", "web/CLAUDE.md")
        found = ({"AGENTS.md": "Use tabs."}, {"web/CLAUDE.md": "Be bold."})
        self.assertEqual(self.found(), found)


class Agents(Case):
    def test_one_is_said_when_a_call_first_comes_into_its_folder(self) -> None:
        async def work() -> None:
            self.write("CLAUDE.md", "Use tabs.")
            self.write("web/CLAUDE.md", "Be bold.")
            self.write("web/a.txt", "a\n")
            self.track("CLAUDE.md", "web/CLAUDE.md", "web/a.txt")
            read = ("c1", "Read", {"file_path": "web/a.txt"})
            with Model(calls(read), says("Done.")) as model:
                async with Agent(**options(model, workspace=self.root)) as agent:
                    await agent.run("Read it").result()
                first, second = (str(request.body) for request in model.requests)
            self.assertIn("Use tabs.", first)
            self.assertIn("web/CLAUDE.md", first)
            self.assertNotIn("Be bold.", first)
            self.assertIn("Be bold.", second)

        self.wait(work())

    def test_the_family_is_that_of_the_configuration(self) -> None:
        self.write("GEMINI.md", "For one family.")
        given = {"config": {"model": {"profile": "gemini"}}, "workspace": self.root}
        self.assertTrue(self.told(**given))
        self.assertFalse(self.told(**given, facts={"project_docs": []}))

    def told(self, **given: Any) -> bool:
        """Whether the model is told what stands there."""
        requests: list[str] = []

        async def work() -> None:
            with Model(says("Yes.")) as model:
                async with Agent(**options(model, **given)) as agent:
                    await agent.run("Hi").result()
                requests.append(str(model.requests[0].body))

        self.wait(work())
        return "For one family." in requests[0]


if __name__ == "__main__":
    unittest.main()
