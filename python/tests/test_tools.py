"""Tools made of functions: signature and docstring become the schema."""

from __future__ import annotations

import enum
import unittest
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Optional, TypedDict, Union

from innerloop import InnerloopError, Tool, ToolContext, tool
from innerloop.schema import value_of


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    x: int
    y: int = 0


class Options(TypedDict, total=False):
    deep: bool


def everything(
    name: str,
    count: int,
    ratio: float,
    tags: list[str],
    points: Sequence[Point],
    mode: Literal["fast", "slow"],
    colour: Annotated[Colour, "the paint"],
    by_name: dict[str, int],
    either: Union[int, str],
    options: Optional[Options] = None,
    pair: tuple[int, str] = (0, ""),
    anything: Any = None,
    context: Optional[ToolContext] = None,
) -> str:
    return ""


class Schemas(unittest.TestCase):
    maxDiff = None

    def test_the_types_that_there_are(self) -> None:
        point = {
            "type": "object",
            "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}},
            "required": ["x"],
            "additionalProperties": False,
        }
        options = {
            "type": "object",
            "properties": {"deep": {"type": "boolean"}},
            "additionalProperties": False,
        }
        text, whole = {"type": "string"}, {"type": "integer"}
        expected = {
            "name": text,
            "count": whole,
            "ratio": {"type": "number"},
            "tags": {"type": "array", "items": text},
            "points": {"type": "array", "items": point},
            "mode": {"enum": ["fast", "slow"]},
            "colour": {"enum": ["red", "blue"], "description": "the paint"},
            "by_name": {"type": "object", "additionalProperties": whole},
            "either": {"type": ["integer", "string"]},
            "options": {"anyOf": [options, {"type": "null"}]},
            "pair": {
                "type": "array",
                "prefixItems": [whole, text],
                "minItems": 2,
                "maxItems": 2,
            },
            "anything": {},
        }
        made = tool(everything)
        self.assertEqual(made.parameters["properties"], expected)
        self.assertEqual(made.parameters["required"], list(expected)[:9])
        self.assertEqual(made.context, "context")

    def test_docstrings(self) -> None:
        def google(city: str, days: int = 1) -> str:
            """Tells the weather.

            In words that everybody knows.

            Args:
                city: Where, as people
                    call it.
                days (int): How many.

            Returns:
                A text.
            """
            return ""

        def fields(city: str, days: int = 1) -> str:
            """Tells the weather.

            :param city: Where.
            :param int days: How
                many.
            :returns: A text.
            """
            return ""

        made = tool(google)
        self.assertEqual(made.description, "Tells the weather.\n\nIn words that everybody knows.")
        words = {name: one["description"] for name, one in made.parameters["properties"].items()}
        self.assertEqual(words, {"city": "Where, as people call it.", "days": "How many."})
        made = tool(fields)
        words = {name: one["description"] for name, one in made.parameters["properties"].items()}
        self.assertEqual(words, {"city": "Where.", "days": "How many."})
        self.assertEqual(made.description, "Tells the weather.")
        self.assertEqual(google("Rome"), "")

    def test_options_of_the_decorator(self) -> None:
        @tool(name="forecast", description="Looks ahead", read_only=True, timeout=1.5)
        def ahead() -> str:
            return "sun"

        self.assertIsInstance(ahead, Tool)
        self.assertEqual(ahead(), "sun")
        spec = {
            "name": "forecast",
            "description": "Looks ahead",
            "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
            "read_only": True,
            "timeout_ms": 1500,
        }
        self.assertEqual(ahead.spec, spec)
        self.assertTrue(ahead.repeatable)

    def test_values(self) -> None:
        self.assertEqual(
            value_of(list[Point], [{"x": 1}, {"x": 1, "y": 2}]), [Point(1), Point(1, 2)]
        )
        self.assertEqual(value_of(Colour, "red"), Colour.RED)
        self.assertEqual(value_of(Annotated[float, "x"], 1), 1.0)
        self.assertEqual(value_of(Optional[Point], None), None)
        self.assertEqual(value_of(Optional[Point], {"x": 3}), Point(3))
        self.assertEqual(value_of(Union[int, list[Colour]], ["blue"]), [Colour.BLUE])
        self.assertEqual(value_of(tuple[int, Colour], [1, "red"]), (1, Colour.RED))
        self.assertEqual(value_of(dict[str, Point], {"a": {"x": 1}}), {"a": Point(1)})
        self.assertEqual(value_of(set[int], [1, 1]), {1})
        self.assertEqual(value_of(Union[bool, int], 3), 3)

    def test_what_makes_no_tool(self) -> None:
        def star(*args: str) -> None: ...

        def only(a: str, /) -> None: ...

        def strange(a: complex) -> None: ...

        def unknown(a: "Nowhere") -> None: ...  # type: ignore[name-defined]  # noqa: F821

        cases: list[tuple[Callable[..., None], str]] = [
            (star, "`*args`"),
            (only, "`a` cannot be given by name"),
            (strange, "`a` is of type complex"),
            (unknown, "Nowhere"),
        ]
        for function, words in cases:
            with self.subTest(words), self.assertRaises(InnerloopError) as thrown:
                tool(function)
            self.assertEqual(thrown.exception.code, "bad_tool")
            self.assertIn(words, thrown.exception.message)


if __name__ == "__main__":
    unittest.main()
