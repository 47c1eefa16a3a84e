"""Agents that can be started by name, from files such as ``.agents/agents/NAME.md``. A file begins
with its front matter, between two lines of ``---``; what is below is the agent's prompt. Of YAML
only what such files hold is read: texts, lists of names, and texts over several lines."""

from __future__ import annotations

import os
import re
from pathlib import Path

from .errors import InnerloopError
from .protocol import NamedAgentPatch

_ALIASES = {"inherit", "default", "sonnet", "opus", "haiku"}
"""The words that stand for a model in files of other programs: no endpoint knows them."""


def agents_from(folder: str | os.PathLike[str]) -> dict[str, NamedAgentPatch]:
    """Returns the agents that the files of a folder describe, for the option ``agents``.

    Only read folders whose files you would obey: what they say is said to a model.

    Raises:
        InnerloopError: ``bad_option`` if a file describes no agent.
        OSError: The folder or a file cannot be read.
    """
    agents: dict[str, NamedAgentPatch] = {}
    for path in sorted(Path(folder).iterdir()):
        if path.suffix == ".md" and path.is_file():
            name, agent = _agent(path, path.read_text(encoding="utf-8-sig"))
            agents[name] = agent
    return agents


def _agent(path: Path, text: str) -> tuple[str, NamedAgentPatch]:
    parts = re.fullmatch(r"---[ \t]*\n(.*?)^---[ \t]*(?:\n(.*))?", text, re.DOTALL | re.MULTILINE)
    if parts is None:
        raise _refusal(path, "it does not begin with front matter")
    fields = _fields(parts[1])
    name = fields.get("name") or path.stem
    if re.fullmatch(r"[A-Za-z0-9_-]+", name) is None:
        raise _refusal(path, f"its name {name!r} is not made of letters, digits, - and _")
    agent: NamedAgentPatch = {"prompt": (parts[2] or "").strip()}
    if description := fields.get("description"):
        agent["description"] = description
    model = fields.get("model")
    if model and model not in _ALIASES:
        agent["model"] = model
    tools = fields.get("tools")
    if tools and tools != "*":
        names = (_unquoted(name) for name in tools.removeprefix("[").removesuffix("]").split(","))
        agent["tools"] = [name for name in names if name]
    if turns := fields.get("max_turns") or fields.get("maxTurns"):
        if not turns.isdecimal():
            raise _refusal(path, f"max_turns is no whole number: {turns}")
        agent["max_turns"] = int(turns)
    return name, agent


def _fields(head: str) -> dict[str, str]:
    """Returns the fields of front matter. Lines that are indented, or items of a list, go on with
    the field above them."""
    fields: dict[str, str] = {}
    last = ""
    for line in head.splitlines():
        if line[:1] in (" ", "\t", "-") and last:
            stripped = line.strip()
            is_item = stripped.startswith("- ")
            more = _unquoted(stripped[2:]) if is_item else stripped
            separator = "," if is_item else " "
            fields[last] += (separator if fields[last] else "") + more
        elif ":" in line:
            last, _, value = line.partition(":")
            last, value = last.strip(), value.strip()
            fields[last] = "" if value in (">", ">-", "|", "|-") else _unquoted(value)
    return fields


def _unquoted(text: str) -> str:
    text = text.strip()
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if is_quoted else text


def _refusal(path: Path, why: str) -> InnerloopError:
    return InnerloopError("bad_option", f"{path} describes no agent: {why}", "agents")
