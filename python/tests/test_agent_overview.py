"""What an agent tells of itself while it works: what fills its context window, what waits, whom it
has started, and the configuration in force."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from support import AsyncCase, Exchange, Model, Reply, calls, message, options, says, whole

from innerloop import Agent, InnerloopError
from innerloop.protocol import ContextUsage, Event, PendingInputs, SubagentInfo

PARTS = ("system", "documents", "tools", "history", "results")
NUMBERS = " ".join(f"Number {count} is followed by {count + 1}." for count in range(400))


def look() -> str:
    """Shows the files."""
    return NUMBERS


class Overview(AsyncCase):
    def adds_up(self, usage: ContextUsage) -> None:
        parts = [usage["system"], usage["documents"], usage["tools"]]
        parts += [usage["history"], usage["results"]]
        self.assertEqual(sum(parts), usage["total"])
        self.assertEqual(usage["window"] - usage["total"], usage["free"])

    def test_n19_what_fills_the_context_window_is_told_by_part(self) -> None:
        async def work(root: str) -> None:
            Path(root, "AGENTS.md").write_text("Be brief. " * 99)
            call = whole(message("", ("c1", "look", {}), usage=(4_000, 100)))
            end = whole(message("Seen.", usage=(9_000, 1_000)))
            with Model(call, end) as model:
                async with Agent(**options(model, tools=[look], workspace=root)) as agent:
                    before = agent.context()
                    self.adds_up(before)
                    self.assertTrue(200 <= before["documents"] <= 300, before)
                    self.assertTrue(before["system"] > 0 and before["tools"] > 0, before)
                    self.assertEqual((before["history"], before["results"]), (0, 0))
                    await agent.run("Look").result()
                    after = agent.context()
                    self.adds_up(after)
                    self.assertEqual(after["total"], 10_000)
                    self.assertTrue(after["results"] > after["history"] > 0, after)
                    with self.assertRaisesRegex(InnerloopError, "no agent 7") as refused:
                        agent.context(7)
                    self.assertEqual(refused.exception.code, "bad_option")
                self.assertEqual(agent.context(), after)

        with tempfile.TemporaryDirectory() as root:
            self.wait(work(root))

    def test_a2_what_waits_to_be_read_is_told_until_it_is_read(self) -> None:
        seen: list[PendingInputs] = []

        async def work() -> None:
            with Model(calls(("c1", "talk", {})), says("One."), says("Two.")) as model:

                async def talk() -> str:
                    """Talks to the agent while it works."""
                    agent.steer("soon")
                    agent.follow_up("later", {"tools": []})
                    seen.append(agent.pending())
                    return "talked"

                async with Agent(**options(model, tools=[talk])) as agent:
                    nothing: PendingInputs = {"steering": [], "follow_ups": []}
                    self.assertEqual(agent.pending(), nothing)
                    await agent.run("Go").result()
                    self.assertEqual(agent.pending(), nothing)
                    with self.assertRaisesRegex(InnerloopError, "no agent 1"):
                        agent.pending(1)
            soon, later = ({"type": "text", "text": text} for text in ("soon", "later"))
            follow_up = {"parts": [later], "options": {"tools": []}}
            self.assertEqual(seen, [{"steering": [[soon]], "follow_ups": [follow_up]}])

        self.wait(work())

    def test_a2_agents_that_were_started_and_the_configuration_are_told(self) -> None:
        scripts: dict[str, list[Reply]] = {
            "Lead": [
                calls(("c1", "spawn_agent", {"task": "Look around"})),
                calls(("c2", "wait", {"agent_id": "agent-1"})),
                says("Led."),
            ],
            "Look": [says("There is nothing.")],
        }

        def step(exchange: Exchange) -> None:
            first = str(exchange.body["messages"][0])
            name = next(name for name in scripts if name in first)
            scripts[name].pop(0)(exchange)

        told: list[list[SubagentInfo]] = []

        async def work(root: str) -> None:
            config: dict[str, Any] = {"subagents": {"max_depth": 1}, "limits": {"max_turns": 40}}
            with Model(*[step] * 4) as model:

                def listen(event: Event) -> None:
                    if event["type"] == "tool_call_end":
                        told.append(agent.agents())

                given = options(model, workspace=root, config=config, on_event=listen)
                async with Agent(**given) as agent:
                    self.assertEqual(agent.agents(), [])
                    self.assertEqual((await agent.run("Lead").result()).text, "Led.")
                    known = {"id": 1, "parent": 0, "task": "Look around", "folder": "", "name": ""}
                    self.assertEqual(told[0], [{**known, "state": "running", "output": ""}])
                    ended = {**known, "state": "completed", "output": "There is nothing."}
                    self.assertEqual(agent.agents(), [ended])
                    self.assertGreater(agent.context(1)["history"], 0)
                    agent.configure({"limits": {"max_turns": 30}})
                    now = agent.config()
            self.assertEqual((now["model"]["name"], now["limits"]["max_turns"]), ("mock-1", 30))
            self.assertNotIn("sk-secret-0123456789", str(now))

        with tempfile.TemporaryDirectory() as root:
            self.wait(work(root))
