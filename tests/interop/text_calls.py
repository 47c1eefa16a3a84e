"""Holds the reading of calls in text against the cases of canitoolcall, a suite with models' raw
outputs: `python3 text_calls.py READER`, where READER is the program `text-calls`. Each case is read
in the family's format and in the one that is told from the marks; whole, streamed in pieces of
several lengths, and cut once at every place. What is judged of a stream is what was shown."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from canitoolcall.checks import case_status, run_checks
from canitoolcall.fixtures import Family, Fixture, load_families, load_fixtures
from canitoolcall.results import Observation, ParsedToolCall, ParseResult, Status

# The names of the suite's families in `text_family`; Llama's models have one each.
FORMATS = {
    "deepseek": "deepseek",
    "gemma4": "gemma",
    "glm": "glm",
    "gpt-oss": "harmony",
    "kimi": "kimi",
    "mistral": "mistral",
    "qwen3-hermes": "hermes",
    "qwen3-xml": "qwen3_coder_xml",
}
# How many cases there are: with fewer, the suite was not found.
COUNT = 469
# What a prompt ends with that opens thinking.
THINKING = ("<think>", "[THINK]", "<|open|>think<|sep|>")
# Cases that contradict others, with the reason. White space is all that may differ in them.
CONTRADICTED = {
    "gemma4/sglang-text-before-call": (
        "keeps the space between text and call that gemma4/vllm-text-before-call, which has the "
        "same form, wants dropped"
    ),
}


def format_of(fixture: Fixture) -> str:
    if fixture.family == "llama":
        return "pythonic" if "Llama-4" in fixture.models[0] else "llama_json"
    return FORMATS[fixture.family]


def begins_in_thinking(fixture: Fixture, family: Family) -> bool:
    prompt = fixture.generation_prompt
    if prompt is None:
        models = (it for it in family.reference_models if it.repo == fixture.models[0])
        prompt = next((it.default_generation_prompt for it in models), None)
    return (prompt or "").rstrip().endswith(THINKING)


def result(told: dict[str, Any]) -> ParseResult:
    calls = (ParsedToolCall(call["name"], call["arguments"]) for call in told["calls"])
    return ParseResult(
        content=told["text"], reasoning_content=told["reasoning"], tool_calls=tuple(calls)
    )


def is_expected(fixture: Fixture, status: Status) -> bool:
    # When a contradicted case passes, the other one fails, or the suite has changed.
    return status is (Status.SOFT_PASS if fixture.id in CONTRADICTED else Status.PASS)


def main() -> None:
    families = load_families()
    fixtures = list(load_fixtures())
    if len(fixtures) != COUNT:
        sys.exit(f"the suite has {len(fixtures)} cases, not {COUNT}")
    cases = [(fixture, name) for fixture in fixtures for name in (format_of(fixture), "auto")]
    lines = (
        json.dumps(
            {
                "family": name,
                "body": fixture.raw_output,
                "tools": list(fixture.tools),
                "in_thinking": begins_in_thinking(fixture, families[fixture.family]),
                "is_cut": "truncated" in fixture.tags,
            }
        )
        for fixture, name in cases
    )
    reader = subprocess.run(
        [sys.argv[1]], input="\n".join(lines), stdout=subprocess.PIPE, text=True, check=True
    )
    wrong = 0
    for (fixture, name), line in zip(cases, reader.stdout.splitlines(), strict=True):
        answer = json.loads(line)
        streams = {way: result(told) for way, told in answer["streams"]}
        seen = Observation(nonstream=result(answer["whole"]), streams=streams)
        rows = run_checks(fixture, families[fixture.family], seen)
        if is_expected(fixture, case_status(rows)):
            continue
        wrong += 1
        print(f"{fixture.id} as {name}: {fixture.raw_output!r}")
        for row in rows:
            if row.status is not Status.PASS:
                print(f"  {row.check}, {row.strategy}: {row.status.value}: {row.detail}")
    if wrong:
        sys.exit(f"{wrong} of {len(cases)} readings are wrong")
    print(f"{COUNT} cases hold, each in its family's format and in the one told from the marks")
    for case, reason in CONTRADICTED.items():
        print(f"  but for white space in {case}, which {reason}")


main()
