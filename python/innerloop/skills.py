"""Skills that are given as an option, beside those of the workspace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict

from .errors import InnerloopError
from .protocol import SkillFacts


class _Instructions(TypedDict):
    name: str
    """Its name, which ``/name`` and ``$name`` in an input call for."""
    description: str
    """The sentence by which the model tells that a task needs it."""
    body: str
    """The instructions, in Markdown."""


class Skill(_Instructions, total=False):
    """Instructions for one kind of task, which the model reads when a task needs them."""

    path: str
    """The path under which the model reads it; one of the package's if left out."""
    keywords: list[str]
    """With ``config={"skills": "selected"}``: the words of an input that select it."""
    exclude: list[str]
    """The words of an input that rule it out."""
    tags: list[str]
    """Words for its area, which count less than keywords."""
    max_tokens: int
    """The tokens that it counts for, if they are more than a quarter of its bytes."""


def with_given(found: Iterable[SkillFacts], given: Sequence[Skill]) -> list[SkillFacts]:
    """Returns the skills that were found, and those given whose names are not among them.

    Raises:
        InnerloopError: ``bad_option`` if one is no dictionary.
    """
    skills = {skill["name"]: skill for skill in found}
    for skill in given:
        if not isinstance(skill, Mapping):
            message = f"`skills` has dictionaries, not {skill!r}"
            raise InnerloopError("bad_option", message, "skills")
        facts: SkillFacts = {"path": "", **skill}
        # What is no name is left to the core's check.
        skills.setdefault(str(skill.get("name")), facts)
    return list(skills.values())
