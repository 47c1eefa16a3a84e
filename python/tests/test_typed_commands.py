"""Commands that people type, as the supervisor's module reads them."""

from __future__ import annotations

import unittest
from typing import Any

from innerloop import InnerloopError, parse_command


class TypedCommands(unittest.TestCase):
    def test_j12_a_text_is_a_command_an_answer_or_text_as_everywhere(self) -> None:
        custom: list[Any] = [{"name": "fix", "template": "Fix $1: $ARGUMENTS"}, {"name": "theme"}]
        rows: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
            ("/UNDO 2", {}, {"type": "undo", "steps": 2}),
            ("/?", {}, {"type": "system", "name": "help", "args": ""}),
            ("ok", {}, {"type": "text", "text": "ok"}),
            ("ok", {"pending": {"approval": True}}, {"type": "approve", "always": False}),
            ("ok", {"pending": {"credential": True}}, {"type": "secret"}),
            ("/clera", {}, {"type": "unknown", "name": "clera", "near": "clear"}),
            ("/etc/hosts is wrong", {}, {"type": "text", "text": "/etc/hosts is wrong"}),
            ("/Fix 7 now", {"custom": custom}, {"type": "text", "text": "Fix 7: 7 now"}),
            ("/theme ä", {"custom": custom}, {"type": "own", "name": "theme", "args": "ä"}),
            ("/undo", {"without": ["undo"]}, {"type": "unknown", "name": "undo"}),
        ]
        for text, options, word in rows:
            self.assertEqual(parse_command(text, **options), word, text)
        long = "x" * 3_000_000
        self.assertEqual(parse_command(f"/job {long}"), {"type": "create_job", "text": long})

    def test_j12_a_wrong_argument_is_named(self) -> None:
        wrong: Any = {"aproval": True}
        with self.assertRaises(InnerloopError) as raised:
            parse_command("ok", pending=wrong)
        self.assertEqual(raised.exception.code, "bad_request")
        self.assertIn("aproval", str(raised.exception))


if __name__ == "__main__":
    unittest.main()
