"""Skills: those of the workspace, those given as an option, and that one that was read stays."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path
from typing import Any

from support import AsyncCase, Model, calls, long_answers, options, says

from innerloop import Agent, InnerloopError, Skill

FILE = "---\nname: pdf\ndescription: Reads PDFs. Use when: a PDF comes.\n---\n\nPDF-RULES\n"
NOTES: Skill = {"name": "notes", "description": "Writes notes.", "body": "NOTE-RULES"}


class Skills(AsyncCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def prompt(self, **given: Any) -> str:
        """The system prompt of an agent with these options."""

        async def work() -> None:
            async with Agent(**options(model, workspace=self.root, **given)) as agent:
                await agent.run("Hello").result()

        with Model(says("Hello.")) as model:
            self.wait(work())
        return str(model.requests[0].body["system"])

    def test_those_of_the_workspace_are_found_beside_those_given(self) -> None:
        self.write(".agents/skills/pdf/SKILL.md", FILE)
        self.write(".claude/skills/deep/er/SKILL.md", FILE.replace("pdf", "deeper"))
        self.write(".agents/skills/broken/SKILL.md", "Nothing.")
        prompt = self.prompt(skills=[NOTES, {**NOTES, "name": "pdf"}])
        for line in [
            "- pdf: Reads PDFs. Use when: a PDF comes. (.agents/skills/pdf/SKILL.md)",
            "- deeper: Reads PDFs. Use when: a PDF comes. (.claude/skills/deep/er/SKILL.md)",
            "- notes: Writes notes. (~/.agents/skills/notes/SKILL.md)",
        ]:
            self.assertEqual(prompt.count(line), 1, prompt)
        self.assertEqual(prompt.count("- pdf:"), 1, "the workspace's counts")
        self.assertNotIn("broken", prompt)
        self.assertNotIn("# Skills", self.prompt(skills=False))

    def test_none_say_nothing(self) -> None:
        self.assertNotIn("Skills", self.prompt())

    def test_what_is_no_skill_is_refused(self) -> None:
        for skills in ("notes", [7], [{"nam": "notes"}], [{"name": "x", "description": "y"}]):
            with self.subTest(skills), self.assertRaises(InnerloopError) as caught:
                self.prompt(skills=skills)
            self.assertEqual(caught.exception.code, "bad_option")

    def test_those_that_were_read_survive_a_summary(self) -> None:
        self.write(".agents/skills/pdf/SKILL.md", FILE)
        paths = [".agents/skills/pdf/SKILL.md", "~/.agents/skills/notes/SKILL.md"]
        reads = calls(*((path, "Read", {"file_path": path}) for path in paths))
        more = [*long_answers(), says("It was long."), says("Five.")]

        async def work() -> None:
            given = options(model, workspace=self.root, skills=[NOTES])
            async with Agent(**given) as agent:
                for number in range(5):
                    await agent.run(f"Question {number}").result()
                await agent.compact()
                await agent.run("Question 5").result()

        with Model(reads, says("Read."), *more) as model:
            self.wait(work())
        last = str(model.requests[-1].body["messages"])
        self.assertIn("It was long.", last)
        for rules in ("PDF-RULES", "NOTE-RULES"):
            self.assertEqual(last.count(rules), 1, last)


if __name__ == "__main__":
    unittest.main()
