"""An agent's options, and their conversion into what a session is opened with: its configuration,
and the parts of its driver. Types are checked here; values that the core knows are checked there,
once for all hosts."""

from __future__ import annotations

import contextlib
import datetime
import difflib
import functools
import json
import os
import uuid
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .core import Core, Json
from .documents import documents
from .effects import Approve, Ask
from .errors import InnerloopError
from .fallbacks import Fallback, check_fallbacks, check_key, logged_fallbacks, places
from .hooks import Hooks, check_hooks, points_of
from .protocol import (
    ConfigPreset,
    CorrectionPolicyPatch,
    Endpoint,
    EnvironmentFacts,
    Event,
    HookPolicyPatch,
    NamedAgentPatch,
    Parts,
    Provider,
    ResultPolicyPatch,
    SessionConfig,
    SessionConfigPatch,
    ToolsShown,
)
from .skills import Skill, with_given
from .tools import Function, Tool

_KINDS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "provider": ("a name", (str,)),
    "model": ("a name", (str,)),
    "api_key": ("a text", (str,)),
    "base_url": ("a text", (str,)),
    "fallbacks": ("a list of dictionaries", (list, tuple)),
    "headers": ("a mapping of names to values", (Mapping,)),
    "workspace": ("a path", (str, os.PathLike)),
    "tools": ("a list of functions", (Iterable,)),
    "approve": ("a function", (Callable,)),
    "ask": ("a function", (Callable,)),
    "hooks": ("a dictionary", (Mapping,)),
    "on_event": ("a function", (Callable,)),
    "record": ("a path", (str, os.PathLike)),
    "replay": ("the text of a recording", (str,)),
    "instructions": ("a text", (str,)),
    "system_prompt": ("a text", (str,)),
    "preset": ("a name", (str,)),
    "tools_shown": ("`all`, `staged` or a dictionary", (str, Mapping)),
    "results": ("a dictionary", (Mapping,)),
    "agents": ("a dictionary", (Mapping,)),
    "skills": ("False, or a list of skills", (list, tuple, bool)),
    "facts": ("a dictionary", (Mapping,)),
    "corrections": ("a dictionary", (Mapping,)),
    "config": ("a dictionary", (Mapping,)),
    "id": ("a text", (str,)),
}
"""The kind of each option, in words for messages and as types."""

_AGENT_TOOLS = ["spawn_agent", "spawn_agents", "send_input", "wait", "close_agent"]
"""The tools with which the model starts other agents."""


@dataclass
class Options:
    """The options of :class:`innerloop.Agent`, as they are given."""

    provider: str | None = None
    model: str | None = None
    api_key: str | None = None
    base_url: str | None = None
    fallbacks: Sequence[Fallback] = ()
    headers: Mapping[str, str] | None = None
    workspace: str | os.PathLike[str] | None = None
    tools: Sequence[Function | Tool] = ()
    approve: Approve | None = None
    ask: Ask | None = None
    hooks: Hooks | None = None
    on_event: Callable[[Event], None] | None = None
    record: str | os.PathLike[str] | None = None
    replay: str | None = None
    instructions: str | None = None
    system_prompt: str | None = None
    preset: ConfigPreset | None = None
    tools_shown: ToolsShown | None = None
    results: ResultPolicyPatch | None = None
    agents: Mapping[str, NamedAgentPatch] | None = None
    skills: Sequence[Skill] | Literal[False] | None = None
    facts: EnvironmentFacts | None = None
    corrections: CorrectionPolicyPatch | None = None
    config: SessionConfigPatch | None = None
    id: str | None = None

    def __post_init__(self) -> None:
        for name, (words, kinds) in _KINDS.items():
            value = getattr(self, name)
            if value is not None and not isinstance(value, kinds):
                raise InnerloopError("bad_option", f"`{name}` is {words}, not {value!r}", name)
        for header in (self.headers or {}).items():
            if not all(isinstance(part, str) for part in header):
                raise InnerloopError("bad_option", f"`headers`: {header!r} is no text", "headers")
        check_hooks(self.hooks or {})
        check_fallbacks(self.fallbacks or ())

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Options:
        """Returns the options given by name.

        Raises:
            InnerloopError: ``bad_option`` if one has another type, or there is none of its name.
        """
        check_names(name for name in given if name not in _KINDS)
        return cls(**given)

    def settings(self, core: Core, provider: Provider, tools: Mapping[str, Tool]) -> SessionConfig:
        """Returns the session's configuration."""
        patch: SessionConfigPatch = {
            # No agents are started unless `agents` or `config` asks for it: each costs money that
            # nobody expects.
            "subagents": {"max_depth": 0 if self.agents is None else 1},
        }
        if self.agents is not None:
            patch["agents"] = dict(self.agents)
        if self.workspace is None:
            # Agents need no folder, but tools to be started with.
            patch["builtin_tools"] = "none" if self.agents is None else {"only": _AGENT_TOOLS}
        if self.approve is not None:
            patch["approval"] = {"ask": "changes"}
        if self.ask is not None:
            patch["ask_user"] = True
        if self.hooks is not None:
            hooks: HookPolicyPatch = {"points": points_of(self.hooks)}
            if "fail_closed" in self.hooks:
                hooks["fail_closed"] = self.hooks["fail_closed"]
            patch["hooks"] = hooks
        if self.skills is False:
            patch["skills"] = "off"
        if self.corrections is not None:
            patch["corrections"] = self.corrections
        if self.instructions is not None:
            patch["instructions"] = self.instructions
        if self.tools_shown is not None:
            patch["tools_shown"] = self.tools_shown
        if self.results is not None:
            patch["results"] = self.results
        if self.system_prompt is not None:
            patch["base_prompt"] = self.system_prompt
        # The model sees the workspace as the tools do, which run in the sandbox: as `/`. It must
        # not learn the path on the machine.
        facts: EnvironmentFacts = {
            "working_directory": "/",
            "platform": "wasm",
            "date": datetime.date.today().isoformat(),
        }
        config = functools.partial(
            core.config,
            provider["name"],
            id=self.id or str(uuid.uuid4()),
            model=self.model or ("recorded" if self.replay is not None else None),
            fallbacks=[
                place.setting() for place in places(self.fallbacks, provider, core.providers())
            ],
            preset=self.preset,
            tools=[tool.spec for tool in tools.values()],
            patches=[*_window(provider), patch, *([self.config] if self.config else [])],
        )
        if self.workspace is not None:
            # Families read different instruction files, and a patch may name another family: only
            # the whole configuration tells which.
            family = config(facts=facts)["model"]["profile"]
            facts |= documents(core, family, self.workspace)
        if isinstance(self.skills, (list, tuple)):
            facts["skills"] = with_given(facts.get("skills", []), self.skills)
        return config(facts=facts | (self.facts or {}))

    def parts(
        self, core: Core, provider: Provider, *, keeps_log: bool, log: str | bytes = b""
    ) -> Parts:
        """Returns the parts of the session's driver; ``log`` is the one that it goes on from."""
        providers = core.providers()
        fallbacks = self.fallbacks or logged_fallbacks(header_of(log), provider, providers)
        endpoints = {provider["name"]: self._endpoint(provider, self.api_key, self.base_url)}
        endpoints[provider["name"]]["headers"] = [
            list(header) for header in (self.headers or {}).items()
        ]
        for place in places(fallbacks, provider, providers):
            if place.endpoint not in endpoints:
                given = place.given
                keys = given.get("api_key"), given.get("base_url")
                endpoint = self._endpoint(place.provider, *keys)
                if self.replay is None and not endpoint["key"]:
                    check_key(place.provider)
                endpoints[place.endpoint] = {**endpoint, "name": place.endpoint}
        parts: Parts = {
            "endpoints": list(endpoints.values()),
            "approve": self.approve is not None,
            "answer": self.ask is not None,
            "hooks": points_of(self.hooks or {}),
            "undo": self.workspace is not None,
            # A replay needs the log's lines, too: only they hold the heads of recorded responses.
            "entries": keeps_log or self.replay is not None,
            "record": self.record is not None,
        }
        if self.replay is not None:
            parts["replay"] = {"traffic": self.replay}
        return parts

    def provider_of(self, core: Core, log: str | bytes = b"") -> Provider:
        """Returns the provider's row of the table; for a log, if none is named, its provider."""
        logged = header_of(log).get("model", {}).get("endpoint")
        name = self.provider or logged or ("anthropic" if self.replay is not None else None)
        providers = core.providers()
        found = next((one for one in providers if one["name"] == name), None)
        if found is not None:
            return found
        names = ", ".join(one["name"] for one in providers)
        said = "no provider is named" if name is None else f"there is no provider {name!r}"
        raise InnerloopError("unknown_provider", f"{said}; there are {names}")

    def _endpoint(self, provider: Provider, api_key: str | None, base_url: str | None) -> Endpoint:
        """Returns the endpoint. The environment has what the options leave out."""
        variables = (os.environ.get(name) for name in provider.get("key_variables", []))
        key = api_key if api_key is not None else next(filter(None, variables), "")
        base_url = base_url or os.environ.get(provider.get("base_url_variable") or "") or None
        if base_url is None and provider.get("base_url") is None:
            if self.replay is None:
                raise _placeless(provider)
            # Never reached: a recording answers.
            base_url = "http://localhost"
        place: Endpoint = {
            "provider": provider["name"],
            "key": key,
            "keyless": self.replay is not None,
        }
        if base_url is not None:
            place["base_url"] = base_url
        return place

    @contextlib.contextmanager
    def explained(self, provider: Provider) -> Generator[None, None, None]:
        """Turns the error for a missing key into one that names the option and the variables."""
        try:
            yield
        except InnerloopError as error:
            if error.code != "missing_key":
                raise
            variables = [f"set {name}" for name in provider.get("key_variables", [])]
            words = " or ".join(["give `api_key`", *variables])
            said = f"there is no key for {provider['name']}: {words}"
            raise InnerloopError(error.code, said, "api_key") from error


def check_names(unknown: Iterable[str]) -> None:
    """Refuses unknown options.

    Raises:
        InnerloopError: ``bad_option`` with the name that may be meant.
    """
    known = [*_KINDS, "log"]
    for name in unknown:
        close = difflib.get_close_matches(name, known, 1)
        rest = f"did you mean `{close[0]}`?" if close else f"there are {', '.join(known)}"
        raise InnerloopError("bad_option", f"there is no option `{name}`; {rest}", name)


def header_of(log: str | bytes) -> Json:
    """Returns the configuration in the first line of a log; empty if there is none."""
    text = log if isinstance(log, str) else log.decode("utf-8", "replace")
    try:
        config = json.loads(text.partition("\n")[0])["config"]
    except (ValueError, KeyError, TypeError):
        return {}
    return config if isinstance(config, dict) else {}


def _window(provider: Provider) -> list[SessionConfigPatch]:
    """Returns the window that the provider's environment variable sets, as patches."""
    variable = provider.get("context_window_variable") or ""
    text = os.environ.get(variable, "").strip()
    if not text:
        return []
    # `isdecimal` alone lets through digits of other scripts, which nobody means here.
    if not (text.isascii() and text.isdecimal() and int(text) > 0):
        said = f"{variable} takes a number of tokens above 0, not {text!r}"
        raise InnerloopError("bad_option", said, "config")
    return [{"model": {"context_window": int(text)}}]


def _placeless(provider: Provider) -> InnerloopError:
    example, variable = provider.get("base_url_example"), provider.get("base_url_variable")
    words = [f"{provider['name']} is at a place of your own: give `base_url`"]
    words += [f"for example {example}"] if example else []
    words += [f"or set {variable}"] if variable else []
    return InnerloopError("bad_option", ", ".join(words), "base_url")
