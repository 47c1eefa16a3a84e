"""Several models: one that fails is left alone, and the next one takes over, each with a key of its
own."""

from __future__ import annotations

import os
import pathlib
import tempfile
from typing import Any
from unittest import mock

from support import AsyncCase, Model, fails, options, says

from innerloop import Agent, InnerloopError

KEY = "sk-other-0123456789"


def fallback(model: Model, **more: Any) -> dict[str, Any]:
    """A model of the same provider at another place."""
    return {
        "provider": "anthropic",
        "model": "mock-2",
        "api_key": KEY,
        "base_url": model.url,
        **more,
    }


class Routing(AsyncCase):
    def test_n18_another_provider_takes_over_with_its_own_key(self) -> None:
        async def work() -> None:
            with Model(fails(529, "overloaded_error")) as own, Model(says("Done.")) as other:
                settings = options(own, fallbacks=[fallback(other)], headers={"x-own": "1"})
                async with Agent(**settings) as agent:
                    run = agent.run("Go")
                    result = await run.result()
                    events = [event async for event in run]
                self.assertEqual((result.status, result.text), ("completed", "Done."))
                changes = [event for event in events if event["type"] == "rerouted"]
                self.assertEqual([change["to"]["model"] for change in changes], ["mock-2"])
                request = other.requests[0]
                self.assertEqual(request.headers["x-api-key"], KEY)
                self.assertNotIn("x-own", request.headers)
                self.assertEqual(request.body["model"], "mock-2")

        self.wait(work())

    def test_n18_a_resumed_session_routes_alike(self) -> None:
        async def work(log: pathlib.Path) -> None:
            with (
                Model(fails(529, "overloaded_error")) as own,
                Model(says("One."), says("Two.")) as other,
            ):
                settings = options(own, fallbacks=[fallback(other)])
                async with Agent(**settings, log=log) as agent:
                    await agent.run("Go").result()
                async with Agent.resume(log, **settings) as again:
                    result = await again.run("Again").result()
                self.assertEqual((result.text, len(own.requests)), ("Two.", 1))

        with tempfile.TemporaryDirectory() as folder:
            self.wait(work(pathlib.Path(folder) / "session.log"))

    def test_n18_what_cannot_be_a_fallback_is_refused_by_its_name(self) -> None:
        with mock.patch.dict(os.environ, {}, clear=True):
            for given, said in (
                ([{"provider": "anthropik"}], "anthropik"),
                ([{"provider": "openai"}], "OPENAI_API_KEY"),
                ([{"model": "m"}], "provider"),
                ([{"provider": "openai", "key": "k"}], "`key`"),
                ([{"provider": "ollama", "model": "m", "tasks": ["cooking"]}], "cooking"),
            ):
                with self.subTest(given), self.assertRaisesRegex(InnerloopError, said):
                    Agent("anthropic", api_key="sk-ant-0123456789", fallbacks=given)  # type: ignore[arg-type]
