"""Functions that stand in the loop."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, cast

from support import AsyncCase, Model, calls, long_answers, options, says, told, until

from innerloop import Agent, FoldedTurns, HookedCall, HookResult, Hooks, InnerloopError, RunResult
from innerloop.protocol import Event

CALL = calls(("c1", "weather", {"city": "Rome"}))


def weather(city: str) -> str:
    """The weather of a city."""
    return f"31 °C in {city}"


async def run(model: Model, hooks: Hooks, *, said: str = "Hi") -> tuple[RunResult, list[Event]]:
    """A run with hooks, and its events."""
    async with Agent(**options(model, tools=[weather], hooks=hooks)) as agent:
        run = agent.run(said)
        events = [event async for event in run]
        return await run.result(), events


def warnings(events: list[Event]) -> str:
    return " ".join(str(event) for event in events if event["type"] == "warning")


class Points(AsyncCase):
    def test_each_hook_of_text_is_asked_and_may_replace(self) -> None:
        heard: list[tuple[str, str]] = []

        def submit(text: str) -> HookResult:
            heard.append(("submit", text))
            return {"replace": "Good morning"}

        async def before_model(text: str) -> HookResult:
            heard.append(("before_model", text))
            await asyncio.sleep(0)
            return {"replace": "It is nine o'clock."}

        def before_stop(text: str) -> HookResult:
            heard.append(("before_stop", text))
            count = sum(point == "before_stop" for point, _ in heard)
            return {"deny": "Say it louder"} if count == 1 else None

        async def outbound(text: str) -> HookResult:
            heard.append(("outbound", text))
            return {"replace": "[checked] " + text}

        async def work() -> None:
            hooks: Hooks = {
                "submit": submit,
                "before_model": before_model,
                "before_stop": before_stop,
                "outbound": outbound,
            }
            with Model(says("Hello."), says("HELLO.")) as model:
                result, _ = await run(model, hooks)
                self.assertEqual((result.status, result.text), ("completed", "[checked] HELLO."))
                first, second = (str(request.body) for request in model.requests)
            self.assertIn("Good morning", first)
            self.assertNotIn("'Hi'", first)
            self.assertIn("It is nine o'clock.", first)
            self.assertIn("Say it louder", second)
            expected = [("submit", "Hi"), ("before_model", ""), ("before_stop", "Hello.")]
            expected += [("before_model", ""), ("before_stop", "HELLO."), ("outbound", "HELLO.")]
            self.assertEqual(heard, expected)

        self.wait(work())

    def test_hooks_around_a_call_see_it_and_may_change_it(self) -> None:
        heard: list[HookedCall] = []

        def before(call: HookedCall) -> HookResult:
            heard.append(call)
            return {"replace": {"city": "Oslo"}}

        def after(call: HookedCall) -> HookResult:
            heard.append(call)
            return {"replace": f"{call.text}, they say"}

        async def work() -> None:
            with Model(CALL, says("Cool.")) as model:
                await run(model, {"before_tool": before, "after_tool": after})
                said = told(model.results(1)[0])
                self.assertTrue(said.endswith("\n31 °C in Oslo, they say"), said)
            first, second = heard
            self.assertEqual(first, HookedCall("weather", {"city": "Rome"}, "c1", ""))
            self.assertEqual((second.arguments, second.is_error), ({"city": "Oslo"}, False))
            self.assertEqual(second.text, "31 °C in Oslo")

        self.wait(work())

    def test_j7_a_hook_behind_each_round_adds_a_word_or_ends_the_run(self) -> None:
        heard: list[str] = []

        def after_iteration(text: str) -> HookResult:
            heard.append(text)
            return {"replace": "look elsewhere"} if len(heard) == 1 else {"deny": "enough"}

        async def work() -> None:
            with Model(CALL, CALL) as model:
                result, _ = await run(model, {"after_iteration": after_iteration})
                self.assertEqual(result.status, "denied")
                bodies = [str(request.body) for request in model.requests]
            self.assertEqual((len(heard), len(bodies)), (2, 2))
            self.assertIn("look elsewhere", bodies[1])

        self.wait(work())

    def test_a_denied_call_does_not_run_and_the_model_reads_why(self) -> None:
        async def work() -> None:
            with Model(CALL, says("I see.")) as model:
                ran: list[str] = []

                def weather(city: str) -> str:
                    ran.append(city)
                    return city

                hooks: Hooks = {"before_tool": lambda call: {"deny": "not on Sundays"}}
                async with Agent(**options(model, tools=[weather], hooks=hooks)) as agent:
                    await agent.run("Hi").result()
                self.assertIn("not on Sundays", told(model.results(1)[0]))
            self.assertEqual(ran, [])

        self.wait(work())

    def test_a_hook_stands_for_the_model_that_sums_up(self) -> None:
        seen: list[FoldedTurns] = []

        def compact(turns: FoldedTurns) -> HookResult:
            seen.append(turns)
            return {"replace": "Kept elsewhere."}

        async def work() -> None:
            replies = long_answers()
            with Model(*replies, says("Five.")) as model:
                async with Agent(**options(model, hooks={"compact": compact})) as agent:
                    for number in range(4):
                        await agent.run(f"Question {number}").result()
                    self.assertEqual((await agent.compact())["type"], "compacted")
                    await agent.run("Question 5").result()
                self.assertIn("Kept elsewhere.", str(model.requests[4].body["messages"][0]))
            self.assertIn("Question 0", seen[0].transcript)
            self.assertEqual(seen[0].kind, "summary")
            self.assertGreater(seen[0].tokens, 0)

        self.wait(work())


class Broken(AsyncCase):
    def test_a_hook_that_breaks_denies_only_where_it_fails_closed(self) -> None:
        def raises(call: HookedCall) -> HookResult:
            raise SystemExit("no more")

        def says_nonsense(call: HookedCall) -> HookResult:
            return cast(HookResult, "maybe")

        def has_no_json(call: HookedCall) -> HookResult:
            return {"replace": {"city": float("nan")}}

        async def work() -> None:
            for hook, words in (
                (raises, "SystemExit: no more"),
                (says_nonsense, "neither yes nor no"),
                (has_no_json, "ValueError"),
            ):
                for fail_closed in (False, True):
                    with self.subTest(words, closed=fail_closed), Model(CALL, says("Ok.")) as model:
                        hooks: Hooks = {"before_tool": hook, "fail_closed": fail_closed}
                        result, events = await run(model, hooks)
                        self.assertEqual(result.status, "completed")
                        self.assertIn(words, warnings(events))
                        said = told(model.results(1)[0])
                        self.assertEqual(said == "31 °C in Rome", not fail_closed, said)

        self.wait(work())

    def test_a_hook_has_the_time_that_it_is_given(self) -> None:
        stopped: list[bool] = []
        free = threading.Event()

        async def sleeps(call: HookedCall) -> HookResult:
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                stopped.append(True)
                raise
            return None

        def blocks(call: HookedCall) -> HookResult:
            free.wait(30)
            return None

        async def work() -> None:
            hook: Any
            for hook in (sleeps, blocks):
                with Model(CALL, says("Ok.")) as model:
                    hooks: Hooks = {"before_tool": hook, "timeout": 0.05, "fail_closed": True}
                    _, events = await run(model, hooks)
                    self.assertIn("took longer than 0.05 s", warnings(events))
                    self.assertTrue(model.results(1)[0]["is_error"])
            free.set()
            await until(lambda: stopped == [True])

        self.wait(work())

    def test_an_interrupted_run_stops_its_hook(self) -> None:
        async def work() -> None:
            begun, stopped = asyncio.Event(), asyncio.Event()

            async def submit(text: str) -> HookResult:
                begun.set()
                try:
                    await asyncio.sleep(30)
                finally:
                    stopped.set()
                return None

            with Model() as model:
                async with Agent(**options(model, hooks={"submit": submit})) as agent:
                    run = agent.run("Hi")
                    await begun.wait()
                    run.interrupt()
                    self.assertEqual((await run.result()).status, "interrupted")
                    await stopped.wait()
            self.assertEqual(model.requests, [])

        self.wait(work())

    def test_what_are_no_hooks_is_refused_at_once(self) -> None:
        for wrong, words in (
            ({"before_tol": print}, "there is no hook `before_tol`"),
            ({"submit": "print"}, "is a function"),
            ({"timeout": 0}, "is a number of seconds"),
            ({"fail_closed": 1}, "is true or false"),
        ):
            with self.subTest(words), self.assertRaises(InnerloopError) as caught:
                Agent("ollama", "m", hooks=cast(Hooks, wrong))
            self.assertEqual(caught.exception.code, "bad_option")
            self.assertIn(words, caught.exception.message)
