"""Agents that are started by name, several that one call starts, and the roles of a council."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from support import AsyncCase, Exchange, Model, Reply, calls, options, says

from innerloop import Agent, InnerloopError, agents_from
from innerloop.protocol import Event, NamedAgentPatch

REVIEWER: NamedAgentPatch = {
    "description": "Reviews changes.",
    "prompt": "You review.",
    "model": "mock-2",
    "tools": ["look"],
}


def look() -> str:
    """Shows the files."""
    return "a.txt"


def weather() -> str:
    """The weather."""
    return "31 °C"


def by_task(**scripts: list[Reply]) -> list[Reply]:
    """Replies that go to the agent whose task has the word."""

    def reply(exchange: Exchange) -> None:
        first = json.dumps(exchange.body["messages"][0])
        name = next(name for name in scripts if name in first)
        scripts[name].pop(0)(exchange)

    return [reply] * sum(len(replies) for replies in scripts.values())


class NamedAgents(AsyncCase):
    def test_n17_an_agent_that_has_a_name_works_with_its_prompt_model_and_tools(self) -> None:
        call = ("c1", "spawn_agent", {"task": "Check it", "agent": "reviewer"})
        replies = by_task(
            Lead=[calls(call), calls(("c2", "wait", {"agent_id": "agent-1"})), says("Done.")],
            Check=[says("It is right.")],
        )

        names: list[str] = []

        def listen(event: Event) -> None:
            if event["type"] == "agent_started":
                names.append(event.get("name", ""))

        async def work() -> None:
            with Model(*replies) as model:
                given = options(model, tools=[look, weather], agents={"reviewer": REVIEWER})
                async with Agent(**given, on_event=listen) as agent:
                    self.assertEqual((await agent.run("Lead").result()).text, "Done.")
                    self.assertEqual([known["name"] for known in agent.agents()], names)
            self.assertEqual(names, ["reviewer"])
            bodies = [exchange.body for exchange in model.requests]
            own = next(body for body in bodies if body["model"] == "mock-2")
            self.assertTrue(own["system"][0]["text"].startswith("You review."))
            self.assertEqual([tool["name"] for tool in own["tools"]], ["look"])
            spawn = next(tool for tool in bodies[0]["tools"] if tool["name"] == "spawn_agent")
            self.assertIn("- reviewer: Reviews changes.", spawn["description"])

        self.wait(work())

    def test_n17_a_tool_that_there_is_not_is_refused(self) -> None:
        with self.assertRaisesRegex(InnerloopError, r"agents\.x\.tools.*no tool"):
            Agent("anthropic", "m", api_key="k" * 20, agents={"x": {"tools": ["nope"]}})

    def test_k27_one_call_starts_several_and_brings_their_results_in_order(self) -> None:
        tasks = [{"task": "First part"}, {"task": "Second part", "working_dir": "../up"}]
        replies = by_task(
            Lead=[calls(("c1", "spawn_agents", {"tasks": tasks})), says("Both.")],
            First=[says("One.")],
        )
        results: list[Any] = []

        async def work() -> None:
            with Model(*replies) as model:
                async with Agent(**options(model, agents={})) as agent:
                    run = agent.run("Lead")
                    self.assertEqual((await run.result()).text, "Both.")
                    events = [event async for event in run]
            for event in events:
                if event["type"] == "tool_call_end":
                    part = event["outcome"]["parts"][0]
                    results.extend(json.loads(part["text"] if part["type"] == "text" else "[]"))

        self.wait(work())
        told = [(result["status"], result["success"]) for result in results]
        self.assertEqual(told, [("completed", True), ("failed", False)])
        self.assertEqual(results[0]["output"], "One.")


class AgentFiles(AsyncCase):
    def read(self, text: str) -> dict[str, NamedAgentPatch]:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "reviewer.md").write_text(text, encoding="utf-8")
            Path(folder, "notes.txt").write_text("no agent", encoding="utf-8")
            return agents_from(folder)

    def test_n17_a_file_is_its_front_matter_and_a_prompt(self) -> None:
        head = 'name: looker\ndescription: "Looks: closely"\ntools: Read, Grep\nmodel: sonnet\n'
        found = self.read(f"---\n{head}maxTurns: 9\n---\n\nYou look.\n---\nOn.\n")
        want: NamedAgentPatch = {
            "description": "Looks: closely",
            "prompt": "You look.\n---\nOn.",
            "tools": ["Read", "Grep"],
            "max_turns": 9,
        }
        self.assertEqual(found, {"looker": want})

    def test_n17_lists_and_long_texts_may_take_several_lines(self) -> None:
        text = "---\ndescription: >\n  Looks\n  closely\ntools:\n  - Read\n  - 'Grep'\n---\n"
        found = self.read(text)["reviewer"]
        self.assertEqual(found["description"], "Looks closely")
        self.assertEqual(found["tools"], ["Read", "Grep"])
        self.assertEqual(self.read("---\ntools: []\n---\n")["reviewer"]["tools"], [])

    def test_n17_what_describes_no_agent_says_why(self) -> None:
        for text in ["You look.", "---\nname: x\n", "---\nname: two words\n---\n"]:
            with self.assertRaisesRegex(InnerloopError, "describes no agent"):
                self.read(text)


class Council(AsyncCase):
    def test_i10_a_member_of_a_council_reasons_without_tools(self) -> None:
        async def work() -> None:
            with Model(says("Spaces.")) as model:
                async with Agent(**options(model, preset="council_member")) as agent:
                    self.assertEqual((await agent.run("Tabs or spaces?").result()).text, "Spaces.")
            body = model.requests[0].body
            system = body["system"][0]["text"]
            self.assertTrue(system.startswith("You sit on a council"))
            self.assertNotIn("tool", system.lower())
            self.assertNotIn("tools", body)

        self.wait(work())
