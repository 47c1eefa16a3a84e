"""An agent that is killed: a program of its own, told by its arguments where the model is, where
the log is, where its tools note what they have done, and at which point it dies."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from innerloop import Agent, Approval, ToolContext, tool

URL, LOG, NOTES, DEATH = sys.argv[1:]


def dies_at(point: str) -> None:
    """Nothing is flushed, and nobody says goodbye."""
    if point == DEATH:
        os.kill(os.getpid(), signal.SIGKILL)


def note(words: str) -> None:
    with open(NOTES, "a", encoding="utf-8") as file:
        file.write(words + "\n")


@tool(read_only=True)
def look(at: str) -> str:
    """Looks at something."""
    dies_at("in look")
    note(f"look {at}")
    return f"{at} is there"


def send(to: str) -> str:
    """Sends a letter, which must not be sent twice."""
    dies_at("before send")
    note(f"send {to}")
    dies_at("behind send")
    return f"sent to {to}"


@tool(repeatable=True)
def pay(amount: int, context: ToolContext) -> str:
    """Pays, once for each key."""
    notes = Path(NOTES)
    done = notes.read_text(encoding="utf-8") if notes.exists() else ""
    if f"key {context.key}" not in done:
        note(f"key {context.key}")
        note(f"pay {amount}")
    dies_at("in pay")
    return f"paid {amount}"


def approve(call: Approval) -> bool:
    dies_at(f"asked {call.name}")
    return True


def listen(event: dict[str, Any]) -> None:
    dies_at(f"{event['type']} {event.get('name', '')}".strip())
    # Behind the snapshot.
    if event["type"] == "processing_end":
        note(f"end {event['end']} {event['text']}")


async def main() -> None:
    options: dict[str, Any] = {
        "provider": "anthropic",
        "api_key": "sk-secret-0123456789",
        "base_url": URL,
        "tools": [look, send, pay],
        "approve": approve,
        "on_event": listen,
    }
    if os.path.exists(LOG):
        agent = Agent.resume(LOG, **options)
        run = agent.current
    else:
        agent = Agent(model="mock-1", log=LOG, id="s-1", **options)
        run = agent.run("Do it")
    if run is not None:
        await run.result()
    await agent.close()


asyncio.run(main())
