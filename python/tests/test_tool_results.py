"""What tools return, and how they may end: each result is told to the model, and none ends more
than its own call."""

from __future__ import annotations

import asyncio
import collections
import dataclasses
import datetime
import decimal
import enum
import json
import pathlib
import unittest
import uuid
from collections.abc import Callable, Iterator
from typing import Any, Optional, Union

from support import AsyncCase, Model, calls, options, says, told

from innerloop import Agent, InnerloopError, ToolResult, tool
from innerloop.results import plain, text_of
from innerloop.schema import schema_of, value_of


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


@dataclasses.dataclass
class Point:
    x: int
    colours: set[Colour] = dataclasses.field(default_factory=set)


class Model2:
    """Works like a model of pydantic's."""

    def __init__(self, day: str) -> None:
        self.day = day

    def model_dump(self, mode: str) -> dict[str, Any]:
        assert mode == "json"
        return {"day": self.day}

    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        day = {"type": "string", "format": "date"}
        return {
            "type": "object",
            "properties": {"day": {"$ref": "#/$defs/Day", "description": "when"}},
            "required": ["day"],
            "$defs": {"Day": day},
        }

    @classmethod
    def model_validate(cls, json: Any) -> Model2:
        return cls(**json)


class Endless(Model2):
    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        return {"$ref": "#/$defs/Node", "$defs": {"Node": {"items": {"$ref": "#/$defs/Node"}}}}


class Text(str):
    def __str__(self) -> str:
        return "something else"


class Number:
    """Works like one of NumPy's."""

    def item(self) -> int:
        return 7


class Array:
    def item(self) -> int:
        raise ValueError("an array of more than one")

    def tolist(self) -> list[Number]:
        return [Number(), Number()]


class Values(unittest.TestCase):
    def test_every_type_of_a_parameter_can_be_returned(self) -> None:
        day, utc = datetime.date(2026, 1, 2), datetime.timezone.utc
        number = uuid.UUID(int=1)
        cases: list[tuple[Any, str]] = [
            ("as it is", "as it is"),
            (Text("a text"), "a text"),
            (None, "null"),
            (True, "true"),
            (Colour.RED, "red"),
            (Level.HIGH, "3"),
            (Point(1, {Colour.RED}), '{"x": 1, "colours": ["red"]}'),
            ({3, 1, 2}, "[1, 2, 3]"),
            (frozenset({"b", "a"}), '["a", "b"]'),
            ((1, "ü"), '[1, "ü"]'),
            (range(2), "[0, 1]"),
            (collections.deque([1]), "[1]"),
            ({"a": 1}.keys(), '["a"]'),
            ({"a": 1}.values(), "[1]"),
            (day, "2026-01-02"),
            (datetime.datetime(2026, 1, 2, 3, tzinfo=utc), "2026-01-02T03:00:00+00:00"),
            (datetime.time(3, 4), "03:04:00"),
            (datetime.timedelta(minutes=1), "60.0"),
            (decimal.Decimal("0.10"), "0.10"),
            (number, str(number)),
            (pathlib.PurePosixPath("a/b"), "a/b"),
            (b"bytes", "bytes"),
            (Model2("2026-01-02"), '{"day": "2026-01-02"}'),
            (Number(), "7"),
            (Array(), "[7, 7]"),
            ({Colour.RED: [day], 1: None}, '{"red": ["2026-01-02"], "1": null}'),
            ({"failed": ValueError("no")}, '{"failed": "ValueError: no"}'),
        ]
        for value, expected in cases:
            with self.subTest(value):
                self.assertEqual(text_of(value), expected)

    def test_what_has_no_json_is_said_in_words(self) -> None:
        endless: list[Any] = []
        endless.append(endless)

        def counts() -> Iterator[int]:
            yield 1

        cases: list[tuple[Any, type[Exception], str]] = [
            (object(), TypeError, "a value of type object"),
            (Point, TypeError, "the class Point"),
            (counts(), TypeError, "a value of type generator"),
            ({(1, 2): 3}, TypeError, "a key of type tuple"),
            (float("nan"), ValueError, ""),
            ([float("inf")], ValueError, ""),
            (endless, ValueError, "holds itself"),
            (b"\xff", ValueError, ""),
        ]
        for value, kind, words in cases:
            with self.subTest(str(type(value))), self.assertRaises(kind) as thrown:
                plain(value)
            self.assertIn(words, str(thrown.exception))

    def test_the_types_that_are_written_as_texts_are_parameters_too(self) -> None:
        utc = datetime.timezone.utc
        cases: list[tuple[Any, dict[str, Any], Any, Any]] = [
            (
                datetime.datetime,
                {"type": "string", "format": "date-time"},
                "2026-01-02T03:04:05Z",
                datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=utc),
            ),
            (
                datetime.date,
                {"type": "string", "format": "date"},
                "2026-01-02",
                datetime.date(2026, 1, 2),
            ),
            (
                datetime.timedelta,
                {"type": "number", "description": "seconds"},
                90,
                datetime.timedelta(seconds=90),
            ),
            (decimal.Decimal, {"type": "number"}, 0.1, decimal.Decimal("0.1")),
            (
                uuid.UUID,
                {"type": "string", "format": "uuid"},
                str(uuid.UUID(int=2)),
                uuid.UUID(int=2),
            ),
            (pathlib.Path, {"type": "string"}, "a/b", pathlib.Path("a/b")),
        ]
        for kind, schema, json_value, value in cases:
            with self.subTest(kind):
                self.assertEqual(schema_of(kind), schema)
                self.assertEqual(value_of(kind, json_value), value)
        self.assertEqual(
            value_of(Union[datetime.date, str], "some day"),
            "some day",
        )
        self.assertIsNone(value_of(Optional[datetime.date], None))

    def test_models_are_parameters(self) -> None:
        day = {"type": "string", "format": "date", "description": "when"}
        schema = {"type": "object", "properties": {"day": day}, "required": ["day"]}
        self.assertEqual(schema_of(Model2), schema)
        made = value_of(list[Model2], [{"day": "2026-01-02"}])
        self.assertEqual([one.day for one in made], ["2026-01-02"])

        def walk(node: Endless) -> None: ...

        with self.assertRaises(InnerloopError) as thrown:
            tool(walk)
        self.assertIn("whose part Node holds itself", thrown.exception.message)


class Own(BaseException):
    """Derived from `BaseException`, as test frameworks do it."""


class Ends(AsyncCase):
    def test_results_are_told(self) -> None:
        def point() -> Point:
            return Point(1, {Colour.RED})

        def wrong() -> Exception:
            return ValueError("returned")

        def detailed() -> ToolResult:
            return ToolResult([{"type": "text", "text": "seen"}], details={Level.HIGH: {1}})

        async def work() -> None:
            names = ["point", "wrong", "detailed"]
            replies = [calls(*((f"c{name}", name, {}) for name in names)), says("Done.")]
            with Model(*replies) as model:
                async with Agent(**options(model, tools=[point, wrong, detailed])) as agent:
                    events = [event async for event in agent.run("Go")]
                first, second, third = model.results(1)
            self.assertEqual(json.loads(told(first)), {"x": 1, "colours": ["red"]})
            self.assertEqual(told(second), "Tool error (wrong): ValueError: returned")
            self.assertTrue(second["is_error"])
            self.assertEqual(told(third), "seen")
            ends = [event["outcome"] for event in events if event["type"] == "tool_call_end"]
            self.assertEqual(ends[2]["details"], {"3": [1]})

        self.wait(work())

    def test_what_would_end_the_program_ends_the_call(self) -> None:
        kinds: list[Callable[[], BaseException]] = [
            lambda: SystemExit(3),
            KeyboardInterrupt,
            GeneratorExit,
            StopIteration,
            asyncio.CancelledError,
            lambda: Own("mine"),
        ]

        async def one(made: Callable[[], BaseException]) -> None:
            def plainly() -> None:
                raise made()

            async def waiting() -> None:
                await asyncio.sleep(0)
                raise made()

            two = calls(("c1", "plainly", {}), ("c2", "waiting", {}))
            with Model(two, says("I see.")) as model, Model(says("Unharmed.")) as another:
                async with (
                    Agent(**options(model, tools=[plainly, waiting])) as agent,
                    Agent(**options(another)) as other,
                ):
                    result = await agent.run("Go").result()
                    self.assertEqual((result.status, result.text), ("completed", "I see."))
                    self.assertEqual((await other.run("Hi").result()).text, "Unharmed.")
                for result_of_one in model.results(1):
                    self.assertTrue(result_of_one["is_error"])
                    self.assertIn(type(made()).__name__, told(result_of_one))

        async def work() -> None:
            for made in kinds:
                with self.subTest(type(made()).__name__):
                    await one(made)

        self.wait(work())

    def test_who_is_asked_ends_the_program_no_more(self) -> None:
        def exits(asked: Any) -> bool:
            raise SystemExit(1)

        async def leaves(asked: Any) -> bool:
            raise KeyboardInterrupt

        async def cancels(asked: Any) -> bool:
            raise asyncio.CancelledError

        def odd(asked: Any) -> Any:
            return 1

        def send() -> str:
            return "sent"

        async def work() -> None:
            for function in (exits, leaves, cancels, odd):
                both = calls(("c1", "send", {}), ("c2", "ask_user", {"question": "Why?"}))
                with self.subTest(function.__name__), Model(both, says("I see.")) as model:
                    given = options(model, tools=[send], approve=function, ask=exits)
                    async with Agent(**given) as agent:
                        result = await agent.run("Go").result()
                    self.assertEqual(result.status, "completed")
                    self.assertNotIn("sent", [told(one) for one in model.results(1)])

        with self.assertLogs("innerloop", "ERROR"):
            self.wait(work())

    def test_a_word_of_approval_is_one(self) -> None:
        answers: list[Any] = ["yes", "Y ", "allow", "ok", "no", None, "", "N", "not on Sundays"]
        expected = ["sent"] * 4 + ["the user said no"] * 4 + ["not on Sundays"]

        def send() -> str:
            return "sent"

        async def work() -> None:
            replies = [calls((f"c{n}", "send", {})) for n in range(len(answers))]
            with Model(*replies, says("Done.")) as model:
                given = options(model, tools=[send], approve=lambda _: answers.pop(0))
                # The calls are alike on purpose.
                given["config"] = {"loops": {"detect": False}}
                async with Agent(**given) as agent:
                    await agent.run("Go").result()
                said = [told(model.results(n)[0]) for n in range(1, len(expected) + 1)]
            for words, text in zip(expected, said, strict=True):
                self.assertIn(words, text)

        self.wait(work())


if __name__ == "__main__":
    unittest.main()
