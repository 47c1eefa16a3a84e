"""The bare session: lines in, lines out."""

from __future__ import annotations

import json
import threading
import time
import unittest
from typing import Any, cast

from support import message

from innerloop import Core, InnerloopError, RejectedError, Session, Step
from innerloop.protocol import (
    EventProcessingEnd,
    HttpFailure,
    Input,
    Outcome,
    Parts,
    SessionConfig,
    SessionConfigPatch,
    ToolSpec,
)

PARTS: Parts = {"endpoints": [{"provider": "anthropic", "key": "sk-0123456789"}], "entries": True}
TOOL: ToolSpec = {"name": "weather", "description": "", "parameters": {"type": "object"}}
WALL = 1_800_000_000_000


def config(core: Core, **more: Any) -> SessionConfig:
    patch: SessionConfigPatch = {"builtin_tools": "none", "subagents": {"max_depth": 0}}
    patch.update(cast(SessionConfigPatch, more))
    return core.config("anthropic", id="s-1", model="mock-1", tools=[TOOL], patches=[patch])


def opened(core: Core) -> tuple[Session, Step]:
    return Session.open(config(core), parts=PARTS, wall=WALL, core=core)


def reply(session: Session, id: int, body: str, at: int = 20) -> Step:
    """Answers a request; what follows from its end."""
    session.handle({"http": {"id": id, "input": {"head": {"status": 200}}}}, at)
    session.chunk(id, body.encode(), at)
    return session.handle({"http": {"id": id, "input": {"end": None}}}, at)


def done(session: Session, id: int, text: str, at: int = 40) -> Step:
    said: Outcome = {"parts": [{"type": "text", "text": text}]}
    return session.handle({"tool": {"id": id, "input": {"done": said}}}, at)


def kinds(step: Step) -> list[str]:
    effects = [cast("dict[str, Any]", effect) for effect in step.effects]
    return [f"{kind} {value['id']}" for one in effects for kind, value in one.items()]


def last_end(step: Step) -> EventProcessingEnd:
    event = step.events[-1]
    assert event["type"] == "processing_end"
    return event


class Sessions(unittest.TestCase):
    def test_a_session_is_driven_by_hand(self) -> None:
        core = Core()
        session, step = opened(core)
        log = list(step.entries)
        self.assertEqual((session.now, kinds(step)), (0, []))
        step = session.submit("Is it warm in Rome?\u2028\x85", 10)
        log += step.entries
        self.assertEqual((kinds(step), step.deadline), (["http 1"], 300_010))
        request = step.effects[0]["http"]["request"]
        self.assertEqual(request["url"], "https://api.anthropic.com/v1/messages")
        self.assertEqual(request["key"], ["x-api-key", "sk-0123456789"])
        self.assertIn("Is it warm", session.said() or "")
        body = request["body"]
        assert isinstance(body, str)
        said = json.loads(body)["messages"][0]["content"]
        self.assertEqual(said[0]["text"], "Is it warm in Rome?\u2028\x85")
        session.handle({"http": {"id": 1, "input": {"head": {"status": 200}}}}, 20)
        half = message("", ("c1", "weather", {"city": "Köln"})).encode()
        # A piece may end within a character.
        events = [
            e for at in range(len(half)) for e in session.chunk(1, half[at : at + 1], 20).events
        ]
        self.assertEqual({event["type"] for event in events}, {"tool_call_delta"})
        step = session.handle({"http": {"id": 1, "input": {"end": None}}}, 30)
        self.assertEqual(kinds(step), ["run_tool 2"])
        self.assertEqual(step.effects[0]["run_tool"]["run"]["job"], {"custom": {"city": "Köln"}})
        self.assertEqual(kinds(session.owed()), ["run_tool 2"])
        self.assertEqual(kinds(done(session, 2, "31 °C")), ["http 3"])
        step = reply(session, 3, message("Yes."), at=50)
        self.assertEqual(last_end(step)["end"], "completed")
        self.assertTrue(step.entries[-1].startswith('{"snapshot":'))
        status = session.status()
        assert status is not None
        self.assertEqual((status["state"], status["tool_calls"]), ("idle", 1))
        self.assertEqual(len(session.history(start=2) or []), 2)
        self.assertIsNone(session.status(agent=7))

    def test_what_breaks_the_rules_is_refused(self) -> None:
        core = Core()
        session, _ = opened(core)
        session.submit("Hi", 10)
        before = session.snapshot()
        with self.assertRaises(RejectedError) as refused:
            session.submit("Hi again", 11)
        self.assertEqual(
            (refused.exception.code, refused.exception.reason), ("busy", {"busy": None})
        )
        self.assertIn("Hi again", str(refused.exception.input))
        with self.assertRaises(RejectedError) as refused:
            session.handle({"lost": {"id": 9}}, 12)
        self.assertEqual(refused.exception.code, "unknown_effect")
        reply(session, 1, message("Yes."))
        with self.assertRaises(InnerloopError) as late:
            session.handle({"lost": {"id": 1}}, 30)
        self.assertEqual(late.exception.code, "answered")
        with self.assertRaises(InnerloopError) as wrong:
            session.handle(cast(Input, {"tock": None}), 30)
        self.assertEqual(wrong.exception.code, "bad_request")
        with self.assertRaises(InnerloopError) as field:
            core.config(
                "anthropic", id="s", patches=[cast(SessionConfigPatch, {"retry": {"max": 1}})]
            )
        self.assertIn("retry.max", str(field.exception))
        self.assertEqual(field.exception.field, "config.retry.max")
        fault = field.exception.fault
        assert fault is not None and fault["kind"] == "unknown_field"
        self.assertEqual(fault["name"], "max")
        self.assertIn("max_retries", fault["known"])
        _, step = Session.restore(before, parts=PARTS, wall=WALL, core=core)
        self.assertEqual(kinds(step), ["http 1"])
        session.close()
        with self.assertRaises(InnerloopError) as closed:
            session.status()
        self.assertEqual(closed.exception.code, "unknown_session")

    def test_a_session_goes_on_from_its_log(self) -> None:
        session, step = opened(Core())
        log = [*step.entries, *session.submit("Is it warm in Rome?", 10).entries]
        for line in message("", ("c1", "weather", {})).splitlines(keepends=True):
            if not log[-1].startswith('{"at":20'):
                head: Input = {"http": {"id": 1, "input": {"head": {"status": 200}}}}
                log += session.handle(head, 20).entries
            log += session.chunk(1, line.encode(), 20).entries
        log += session.handle({"http": {"id": 1, "input": {"end": None}}}, 30).entries
        text = "\n".join(log) + "\n"
        self.assertEqual(session.core.replay(text)[-1][-1]["effect"]["run_tool"]["id"], 2)
        lost, step = Session.resume(text, parts=PARTS, wall=WALL + 500)
        self.assertEqual(kinds(step), ["http 3"])
        self.assertIn("may or may not have taken effect", str(lost.history()))
        owing, step = Session.resume(text, parts=PARTS, owe_runs=True, wall=WALL + 500)
        self.assertEqual(kinds(step), ["run_tool 2"])
        self.assertEqual(owing.now, 30)
        self.assertEqual(kinds(done(owing, 2, "31 °C")), ["http 3"])
        with self.assertRaises(InnerloopError) as bad:
            Session.resume("{}\n")
        self.assertEqual(bad.exception.code, "bad_log")

    def test_sessions_of_a_blueprint_and_forks(self) -> None:
        core = Core()
        blueprint = core.blueprint(config(core), PARTS)
        sessions = [Session.open_as(core, blueprint, f"s-{n}")[0] for n in range(3)]
        for session in sessions:
            self.assertEqual(kinds(session.submit("Hi", 10)), ["http 1"])
        reply(sessions[0], 1, message("Yes."))
        fork, step = sessions[0].fork("s-9", parts=PARTS)
        self.assertEqual(len(fork.history() or []), 2)
        self.assertTrue(step.entries)
        core.discard(blueprint)
        with self.assertRaises(InnerloopError) as gone:
            Session.open_as(core, blueprint, "s-4")
        self.assertEqual(gone.exception.code, "unknown_blueprint")

    def test_the_tables(self) -> None:
        core = Core()
        names = [provider["name"] for provider in core.providers()]
        self.assertIn("anthropic", names)
        self.assertEqual(core.model("anthropic", "claude-sonnet-5-5")["profile"], "anthropic")
        self.assertIn("AGENTS.md", core.doc_names("openai"))

    def test_threads_may_share_a_core(self) -> None:
        core = Core()
        faults: list[object] = []

        def work() -> None:
            try:
                session, _ = opened(core)
                session.submit("Hi" * 1000, 10)
                step = reply(session, 1, message("Yes."))
                assert last_end(step)["text"] == "Yes."
            except BaseException as error:
                faults.append(error)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(faults, [])

    def test_a_large_request_and_a_small_one(self) -> None:
        session, _ = opened(Core())
        large = "x" * 5_000_000
        step = session.submit(large, 10)
        self.assertIn(large, step.effects[0]["http"]["request"]["body"])
        self.assertEqual(last_end(reply(session, 1, message("Yes.")))["text"], "Yes.")

    def test_what_is_too_large_is_refused_and_harms_nobody(self) -> None:
        core = Core()
        session, _ = opened(core)
        with self.assertRaises(InnerloopError) as large:
            session.submit("x" * (64 << 20), 10)
        self.assertEqual(large.exception.code, "too_large")
        self.assertEqual(kinds(session.submit("Hi", 11)), ["http 1"])

    def test_full_memory_is_refused_and_harms_nobody(self) -> None:
        core = Core()
        core._store.set_limits(memory_size=128 << 20)
        sessions: list[Session] = []
        codes: list[str] = []
        while len(codes) < 5:
            self.assertLess(len(sessions), 500)
            try:
                session, _ = opened(core)
                sessions.append(session)
                session.submit("x" * 1_000_000, 10)
            except InnerloopError as error:
                codes.append(error.code)
        self.assertEqual(codes, ["no_memory"] * 5)
        with self.assertRaises(InnerloopError) as large:
            sessions[0].core.replay(b"x" * (200 << 20))
        self.assertEqual(large.exception.code, "no_memory")
        # All of them are as they were.
        self.assertEqual(last_end(reply(sessions[0], 1, message("Yes.")))["text"], "Yes.")
        for session in sessions:
            session.close()
        session, _ = opened(core)
        self.assertEqual(kinds(session.submit("x" * 1_000_000, 10)), ["http 1"])

    def test_a_response_that_memory_cannot_hold_fails_alone(self) -> None:
        core = Core()
        core._store.set_limits(memory_size=48 << 20)
        session, _ = opened(core)
        other, _ = opened(core)
        session.submit("Hi", 10)
        session.handle({"http": {"id": 1, "input": {"head": {"status": 200}}}}, 20)
        session.chunk(1, message("x").split("event: content_block_stop")[0].encode(), 20)
        delta = {"type": "text_delta", "text": "word " * 20_000}
        event = {"type": "content_block_delta", "index": 0, "delta": delta}
        piece = f"event: content_block_delta\ndata: {json.dumps(event)}\n\n".encode()
        with self.assertRaises(InnerloopError) as full:
            for _ in range(500):
                session.chunk(1, piece, 20)
        self.assertEqual(full.exception.code, "no_memory")
        failed: HttpFailure = {"kind": "network", "message": full.exception.message}
        step = session.handle({"http": {"id": 1, "input": {"failed": failed}}}, 30)
        self.assertIn("retry", [event["type"] for event in step.events])
        other.submit("Hi", 40)
        self.assertEqual(last_end(reply(other, 1, message("Yes."), 50))["text"], "Yes.")

    def test_a_lone_surrogate_is_no_mistake(self) -> None:
        session, _ = opened(Core())
        step = session.submit("\ud83d", 10)
        self.assertEqual(kinds(step), ["http 1"])

    def test_a_delta_costs_little(self) -> None:
        session, _ = Session.open(
            config(core := Core()), parts={**PARTS, "entries": False}, core=core
        )
        session.submit("Hi", 10)
        session.handle({"http": {"id": 1, "input": {"head": {"status": 200}}}}, 20)
        body = message("x").split("event: content_block_stop")[0].encode()
        session.chunk(1, body, 20)
        delta = {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": "word "},
        }
        piece = f"event: content_block_delta\ndata: {json.dumps(delta)}\n\n".encode()
        count = 2_000
        before = time.process_time()
        for _ in range(count):
            session.chunk(1, piece, 20)
        each = (time.process_time() - before) / count * 1e6
        print(f"a text delta: {each:.0f} µs of CPU time")
        # Ten times what it should: this machine may be busy with other things.
        self.assertLess(each, 500)


if __name__ == "__main__":
    unittest.main()
