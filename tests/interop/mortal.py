"""An agent that dies in the midst of its work, or goes on from where another has died: a program of
its own, told where its model, its log and its notes are, which scene it is in, and at which point
it dies. `go/mortal.go` is the same in Go."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from innerloop import Agent, Approval, ToolContext, tool

URL, LOG, NOTES, SCENE, DEATH = sys.argv[1:]
GOES_ON = os.path.exists(LOG)
KEY = "sk-secret-0123456789"
# How often an event without a call has come.
seen: Counter[str] = Counter()


def dies_at(point: str) -> None:
    """Nothing is flushed, and nobody says goodbye."""
    if point == DEATH:
        os.kill(os.getpid(), signal.SIGKILL)


def note(words: str) -> None:
    with open(NOTES, "a", encoding="utf-8") as file:
        file.write(words + "\n")


@tool(repeatable=True)
def pay(to: str, context: ToolContext) -> str:
    """Pays somebody, once for each key."""
    dies_at(f"in pay {to}")
    notes = Path(NOTES)
    done = notes.read_text(encoding="utf-8") if notes.exists() else ""
    if f"with {context.key}\n" not in done:
        note(f"pay {to} with {context.key}")
    dies_at(f"behind pay {to}")
    return f"{to} is paid"


@tool(read_only=True)
def look(at: str) -> str:
    """Looks at somebody."""
    dies_at(f"in look {at}")
    note(f"look {at}")
    dies_at(f"behind look {at}")
    return f"{at} is there"


def send(to: str) -> str:
    """Sends a letter, which must not be sent twice."""
    dies_at(f"in send {to}")
    note(f"send {to}")
    dies_at(f"behind send {to}")
    return f"sent to {to}"


def approve(call: Approval) -> bool:
    dies_at("asked")
    note(f"asked about {call.name}")
    dies_at("answered")
    return True


def ask(question: str) -> str:
    dies_at("asked")
    note(f"asked {question}")
    dies_at("answered")
    return "blue"


def listen(event: dict[str, Any]) -> None:
    kind = event["type"]
    if kind in ("request_start", "assistant_text_delta"):
        seen[kind] += 1
        dies_at(f"{kind} {seen[kind]}")
    else:
        dies_at(f"{kind} {event.get('call_id', '')}")


def options() -> dict[str, Any]:
    shared: dict[str, Any] = {"provider": "anthropic", "api_key": KEY, "base_url": URL}
    if SCENE == "approval":
        return {**shared, "tools": [look, send], "approve": approve, "on_event": listen}
    return {**shared, "tools": [pay], "ask": ask, "on_event": listen}


async def main() -> None:
    if GOES_ON:
        agent = Agent.resume(LOG, **options())
        run = agent.current
        assert run is not None, "nothing was under way"
    else:
        # What changes something runs beside others only where that is said.
        config = {"exec_modes": {"pay": "parallel"}}
        facts = {"date": "2026-01-01"}
        opened = {**options(), "config": config, "facts": facts}
        agent = Agent(model="mock-1", log=LOG, id="s-1", **opened)
        run = agent.run("Do it")
    result = await run.result()
    await agent.leave()
    print(result.status, result.text)


asyncio.run(main())
