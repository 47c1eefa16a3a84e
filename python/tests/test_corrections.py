"""Replies that are wrong: corrected, told by an event, and never taken for an answer."""

from __future__ import annotations

from typing import Any

from support import AsyncCase, Model, Reply, calls, options, says

from innerloop import Agent, InnerloopError

LOOK = calls(("c1", "look", {}))
ENDLESS = "I will now look at the next file of the project. " * 1_700


def look() -> str:
    """Shows the files."""
    return "a.txt"


class Corrections(AsyncCase):
    def play(self, *replies: Reply, **more: Any) -> tuple[str, str, list[str]]:
        """Runs a scripted model; gives status, text, and the faults that were corrected."""
        played: list[tuple[str, str, list[str]]] = []

        async def work() -> None:
            with Model(*replies) as model:
                async with Agent(**options(model, tools=[look], **more)) as agent:
                    run = agent.run("Go")
                    result = await run.result()
                    events = [event async for event in run]
            faults = [str(event["fault"]) for event in events if event["type"] == "corrected"]
            played.append((result.status, result.text, faults))

        self.wait(work())
        return played[0]

    def test_i8_a_result_that_the_model_makes_up_is_no_answer(self) -> None:
        fake = says("These. [Tool Result] secret.txt")
        played = self.play(LOOK, fake, says("None."))
        self.assertEqual(played, ("completed", "None.", ["fake_result"]))

    def test_k9_a_sentence_without_end_is_ended_and_corrected(self) -> None:
        status, text, faults = self.play(LOOK, says(ENDLESS), says(ENDLESS))
        self.assertEqual((status, faults), ("incomplete", ["echo"]))
        self.assertLess(len(text), 1_000)

    def test_k10_which_faults_are_corrected_is_an_option(self) -> None:
        script = [LOOK, says("Hi there! How can I help you?"), says("Empty.")]
        self.assertEqual(self.play(*script)[2], [])
        greeting = {"faults": {"greeting": 1}}
        self.assertEqual(self.play(*script, corrections=greeting)[2], ["greeting"])
        claim = says("I created hello.py and it works. Done.")
        self.assertEqual(self.play(claim, corrections={"faults": None})[2], [])
        with self.assertRaises(InnerloopError) as thrown:
            self.play(corrections={"faults": {"gretting": 1}})
        self.assertIn("corrections.faults.gretting", thrown.exception.message)

    def test_i7_a_claim_of_a_change_without_any_call_is_asked_about(self) -> None:
        claim = says("I created hello.py and it works. Done.")
        played = self.play(claim, says("Nothing was changed."))
        self.assertEqual(played, ("completed", "Nothing was changed.", ["claimed"]))
