"""The models that take over where the agent's own fails: the option, and what the core's lines want
of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

from .core import Json
from .errors import InnerloopError
from .protocol import Provider, TaskKind


class _OfProvider(TypedDict):
    provider: str
    """The provider that serves it."""


class Fallback(_OfProvider, total=False):
    """A model that takes over where another one is overloaded, has had too many requests, refuses
    its key or cannot be reached."""

    model: str
    """The model's name at the provider; the provider's default if left out."""
    api_key: str
    """The provider's key; if left out, its environment variable."""
    base_url: str
    """The provider's address; if left out, its environment variable or its own address."""
    cheap: bool
    """True if it writes the summaries. It takes over only where no other model is left."""
    tasks: list[TaskKind]
    """The kinds of tasks, told by the words of an input, for which it goes before the others."""


_KEYS = ("provider", "model", "api_key", "base_url", "cheap", "tasks")


@dataclass(frozen=True)
class FallbackPlace:
    """A model that takes over, with its provider and the name of its endpoint."""

    given: Fallback
    provider: Provider
    endpoint: str

    def setting(self) -> Json:
        """Returns the model as the lines' ``config`` takes it."""
        given = {name: self.given.get(name) for name in ("model", "cheap", "tasks")}
        known = {name: value for name, value in given.items() if value is not None}
        return {"provider": self.provider["name"], "endpoint": self.endpoint, **known}


def check_fallbacks(fallbacks: Sequence[Fallback]) -> None:
    """Refuses what no model can be made of.

    Raises:
        InnerloopError: ``bad_option`` with what does not fit.
    """
    for fallback in fallbacks:
        if not isinstance(fallback, Mapping) or "provider" not in fallback:
            said = f"`fallbacks` is a list of dictionaries with `provider`, not of {fallback!r}"
            raise InnerloopError("bad_option", said, "fallbacks")
        unknown = next((name for name in fallback if name not in _KEYS), None)
        if unknown is not None:
            said = f"`fallbacks`: there is no option `{unknown}`; there are {', '.join(_KEYS)}"
            raise InnerloopError("bad_option", said, "fallbacks")


def check_key(provider: Provider) -> None:
    """Refuses a provider without a key that needs one.

    Raises:
        InnerloopError: ``missing_key`` with the ways to give it.
    """
    if not provider.get("key_optional"):
        name = provider["name"]
        ways = ["give its `api_key`", *(f"set {key}" for key in provider.get("key_variables", []))]
        said = f"`fallbacks`: there is no key for {name}: {' or '.join(ways)}"
        raise InnerloopError("missing_key", said, "fallbacks")


def places(
    fallbacks: Sequence[Fallback], own: Provider, providers: Sequence[Provider]
) -> list[FallbackPlace]:
    """Returns where the models are reached. One without a key and an address of its own shares the
    endpoint of its provider."""
    by_name = {provider["name"]: provider for provider in providers}
    found: list[FallbackPlace] = []
    taken = {own["name"]}
    for fallback in fallbacks:
        name = fallback["provider"]
        if name not in by_name:
            names = ", ".join(by_name)
            raise InnerloopError(
                "unknown_provider", f"`fallbacks`: there is no provider {name!r}; there are {names}"
            )
        is_shared = not fallback.get("api_key") and not fallback.get("base_url")
        endpoint = name if is_shared or name not in taken else f"{name}-{len(found) + 2}"
        taken.add(endpoint)
        found.append(FallbackPlace(fallback, by_name[name], endpoint))
    return found


def logged_fallbacks(config: Json, own: Provider, providers: Sequence[Provider]) -> list[Fallback]:
    """Returns the models that take over in a log's configuration, so far as their providers' keys
    can be found without the option."""
    names = {provider["name"] for provider in providers} - {own["name"]}
    models = config.get("routing", {}).get("models", [])
    endpoints = (model.get("model", {}).get("endpoint") for model in models)
    return [{"provider": endpoint} for endpoint in endpoints if endpoint in names]
