"""Many tools, few at a time; and outputs that are too long, kept whole."""

from __future__ import annotations

import json
from typing import Any

from support import AsyncCase, Model, Reply, calls, options, says

from innerloop import Agent, InnerloopError


def stocks() -> str:
    """Looks at the stocks."""
    return "0123456789" * 6_000


def weather() -> str:
    """Looks at the weather."""
    return "rain"


class ToolsShown(AsyncCase):
    def play(self, *replies: Reply, **more: Any) -> tuple[str, list[Any], list[str]]:
        """Runs a scripted model; gives the text, the requests, and the ids of what is kept."""
        played: list[tuple[str, list[Any], list[str]]] = []

        async def work() -> None:
            with Model(*replies) as model:
                async with Agent(**options(model, tools=[stocks, weather], **more)) as agent:
                    run = agent.run("Go")
                    result = await run.result()
                    events = [event async for event in run]
                kept = [str(event["id"]) for event in events if event["type"] == "result_kept"]
                bodies = [request.body for request in model.requests]
                played.append((result.text, bodies, kept))

        self.wait(work())
        return played[0]

    def test_n4_tools_beyond_a_number_are_found_by_a_search(self) -> None:
        search = calls(("c1", "tool_search", {"query": "weather"}))
        script = [search, calls(("c2", "weather", {})), says("Done.")]
        text, requests, _ = self.play(*script, tools_shown={"deferred": 1})
        self.assertEqual(text, "Done.")
        self.assertEqual(names(requests[0]), ["stocks", "tool_search"])
        self.assertEqual(names(requests[2]), names(requests[0]))
        self.assertIn("Looks at the weather", json.dumps(requests[1]["messages"]))

    def test_k18_in_stages_a_kind_of_tools_is_chosen_first(self) -> None:
        select = calls(("c1", "select_category", {"category": "run"}))
        _, requests, _ = self.play(select, says("Done."), tools_shown="staged")
        self.assertEqual(names(requests[0]), ["select_category"])
        self.assertEqual(names(requests[1]), ["stocks", "weather", "select_category"])

    def test_k27_the_model_reads_on_in_an_output_that_was_cut(self) -> None:
        read = calls(("c2", "read_result", {"id": "result-1", "offset": 30_001, "limit": 3}))
        script = [calls(("c1", "stocks", {})), read, says("Done.")]
        _, requests, kept = self.play(*script, results={})
        told = "[whole output: result-1, 60,000 characters; read_result]"
        self.assertIn(told, json.dumps(requests[1]["messages"]))
        part = "[result-1: 30001 to 30004 of 60,000 characters]\\n123"
        self.assertIn(part, json.dumps(requests[2]["messages"]))
        self.assertEqual(kept, ["result-1"])

    def test_k19_what_does_not_fit_is_refused(self) -> None:
        with self.assertRaises(InnerloopError):
            self.play(tools_shown="some")


def names(request: Any) -> list[str]:
    """Returns the names of the tools that a request shows."""
    return [str(tool["name"]) for tool in request["tools"]]
