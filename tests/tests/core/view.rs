//! What the model sees of the log: taking steps back and putting them back, folds, and turns that
//! are taken over from elsewhere.

use expect_test::{Expect, expect};
use innerloop_core::{
    Session,
    config::{SessionConfig, WireKind},
    event::EventKind,
    id::{AgentId, SessionId},
    input::{Command, Input, RejectionReason},
    json::to_string,
    log,
    message::{FoldKind, HistoryFold, RewindReason, Turn, TurnKind, VisibleTurn, joined_text},
    status::AgentState,
    text,
    time::UnixMillis,
};
use innerloop_tests::{
    anthropic::Message,
    snapshot,
    test_host::{self, EPOCH, TestHost, config},
    wires::{self, WIRES},
};
use serde_json::{Value, json};
use std::fmt::Write;

/// What is seen, a line for each turn.
fn seen(session: &Session) -> String {
    let mut out = String::new();
    for said in session.history(AgentId::ROOT).unwrap().seen() {
        let _ = match said {
            VisibleTurn::User(parts) => writeln!(out, "> {}", joined_text(&parts)),
            VisibleTurn::Steering(parts) => writeln!(out, ">> {}", joined_text(&parts)),
            VisibleTurn::System(text) => writeln!(out, "! {text}"),
            VisibleTurn::Assistant(reply) => {
                let calls = reply.tool_calls().map(|call| call.arguments.as_str());
                writeln!(out, "{}{}", reply.text(), calls.collect::<Vec<_>>().join(", "))
            }
            VisibleTurn::ToolResults(results) => {
                let texts = results.iter().map(|result| joined_text(&result.parts));
                writeln!(out, "= {}", texts.collect::<Vec<_>>().join(" | "))
            }
        };
    }
    out
}

/// A session over `wire`, under that id.
fn speaking(wire: WireKind, id: &str) -> SessionConfig {
    let mut config = SessionConfig { id: SessionId(id.into()), ..config() };
    wires::speak(&mut config.model, wire);
    config
}

/// An input whose answer takes a round of calls.
fn step(host: &mut TestHost, said: &str) {
    let _ = host.submit(said);
    host.reply(&Message::call(&format!("call-{said}"), "list_dir", &json!({"path": said})));
    while !host.runs.is_empty() {
        let _ = host.answer(&format!("files of {said}"));
    }
    host.reply(&Message::text(&format!("{said} is done.")));
}

fn refused(host: &mut TestHost, command: Command) -> RejectionReason {
    let rejected = host.offer(Input::command(command.clone())).unwrap_err();
    assert_eq!(rejected.input, Input::command(command));
    rejected.reason
}

/// The rewinds that were told: why, to where, and how many steps can be undone and redone then.
fn rewinds(host: &TestHost) -> Vec<(RewindReason, u32, u32, u32)> {
    host.find(|kind| match *kind {
        EventKind::Rewound { why, to, undo_left, redo_left } => {
            Some((why, to, undo_left, redo_left))
        }
        _ => None,
    })
}

fn body(host: &TestHost) -> String {
    String::from_utf8(host.requests.last().unwrap().body.0.clone()).unwrap()
}

const UNDO: Command = Command::Undo { steps: 1 };
const REDO: Command = Command::Redo { steps: 1 };

#[test]
fn j3_steps_are_undone_and_redone_restored_and_cleared() {
    let mut host = TestHost::default();
    let nothing = RejectionReason::Nothing("there is nothing to undo");
    assert_eq!(refused(&mut host, UNDO), nothing);
    assert_eq!(refused(&mut host, Command::Clear), RejectionReason::Nothing("nothing was said"));
    for said in ["one", "two", "three"] {
        step(&mut host, said);
    }
    let mut shown = String::new();
    let mut log = host.session.history(AgentId::ROOT).unwrap().turns().to_vec();
    for command in [
        UNDO,
        Command::Undo { steps: 9 },
        REDO,
        Command::Redo { steps: 9 },
        Command::Undo { steps: 2 },
        Command::Restore { at: 8 },
        UNDO,
        Command::Clear,
        UNDO,
        Command::Restore { at: 2 },
    ] {
        let _ = host.command(command.clone());
        let inputs = seen(&host.session).lines().filter(|line| line.starts_with('>')).count();
        let last: String = seen(&host.session).lines().last().unwrap_or("nothing").into();
        let last = text::prefix(&last, 30);
        let told = rewinds(&host).pop().unwrap();
        let _ = writeln!(shown, "{}: {told:?}: {inputs} inputs, {last}", to_string(&command));
        let turns = host.session.history(AgentId::ROOT).unwrap().turns();
        assert_eq!(turns[..log.len()], log, "the log only grows");
        log = turns.to_vec();
    }
    expect![[r#"
        {"undo":{"steps":1}}: (Undo, 8, 2, 1): 2 inputs, two is done.
        {"undo":{"steps":9}}: (Undo, 0, 0, 3): 0 inputs, nothing
        {"redo":{"steps":1}}: (Redo, 4, 1, 2): 1 inputs, one is done.
        {"redo":{"steps":9}}: (Redo, 12, 3, 0): 3 inputs, three is done.
        {"undo":{"steps":2}}: (Undo, 15, 1, 2): 1 inputs, one is done.
        {"restore":{"at":8}}: (Restore, 8, 2, 0): 2 inputs, two is done.
        {"undo":{"steps":1}}: (Undo, 17, 1, 1): 1 inputs, one is done.
        {"clear":null}: (Clear, 0, 2, 0): 0 inputs, nothing
        {"undo":{"steps":1}}: (Undo, 19, 1, 1): 1 inputs, one is done.
        {"restore":{"at":2}}: (Restore, 2, 2, 0): 1 inputs, = The call was interrupted: th
    "#]]
    .assert_eq(&shown);
    assert_eq!(host.session.status(AgentId::ROOT).unwrap().turns, 9, "what was said is counted");

    let _ = host.command(UNDO);
    let _ = host.submit("four");
    assert_eq!(refused(&mut host, REDO), RejectionReason::Busy);
    host.reply(&Message::text("Done."));
    assert_eq!(refused(&mut host, REDO), RejectionReason::Nothing("there is nothing to redo"));
    let at = u32::try_from(host.session.history(AgentId::ROOT).unwrap().turns().len()).unwrap();
    let nothing = RejectionReason::Nothing("the log has no more turns than that");
    assert_eq!(refused(&mut host, Command::Restore { at }), nothing);
    let _ = host.command(Command::Close);
    assert_eq!(refused(&mut host, Command::Clear), RejectionReason::Closed);
}

#[test]
fn j3_no_more_steps_are_undone_in_a_row_than_the_configuration_says() {
    let mut config = config();
    config.undo.max_steps = 2;
    let mut host = TestHost::open(config);
    for said in ["one", "two", "three"] {
        step(&mut host, said);
    }
    let _ = host.command(Command::Undo { steps: 9 });
    assert_eq!(rewinds(&host), [(RewindReason::Undo, 4, 0, 2)]);
    assert_eq!(refused(&mut host, UNDO), RejectionReason::Nothing("there is nothing to undo"));
}

#[test]
fn undo_then_the_same_words_is_a_fork_at_that_turn_then_the_same_words() {
    for wire in WIRES {
        let mut host = TestHost::open(speaking(wire, "session-a"));
        step(&mut host, "one");
        step(&mut host, "two");
        let (fork, _) = host.session.fork(SessionId("session-b".into()), 4, EPOCH).unwrap();
        let mut fork = TestHost::around(fork, String::new());
        let _ = host.command(UNDO);
        let restored = Session::restore(&host.session.snapshot(), EPOCH).unwrap();
        let mut restored = TestHost::around(restored, String::new());
        restored.now = host.now;
        for host in [&mut host, &mut restored, &mut fork] {
            let _ = host.submit("three");
        }
        let expected = body(&fork).replace("session-b", "session-a");
        assert_eq!(body(&host), expected, "{wire:?}");
        assert_eq!(body(&restored), expected, "{wire:?}");
        assert!(!expected.contains("files of two"), "{expected}");
    }
}

#[test]
fn undo_and_redo_are_nothing() {
    for wire in WIRES {
        let hosts = [vec![], vec![UNDO, REDO], vec![Command::Clear, UNDO]].map(|commands| {
            let mut host = TestHost::open(speaking(wire, "session-a"));
            step(&mut host, "one");
            step(&mut host, "two");
            commands.into_iter().for_each(|command| drop(host.command(command)));
            let _ = host.submit("three");
            host
        });
        let [plain, redone, cleared] = hosts.each_ref().map(body);
        assert_eq!(redone, plain, "{wire:?}");
        assert_eq!(cleared, plain, "{wire:?}");
    }
}

#[test]
fn what_is_seen_outlives_snapshot_and_replay() {
    let mut host = TestHost::default();
    for said in ["one", "two", "three"] {
        step(&mut host, said);
    }
    for command in [Command::Undo { steps: 2 }, REDO, Command::Restore { at: 3 }] {
        let _ = host.command(command);
        let expected = seen(&host.session);
        let restored = Session::restore(&host.session.snapshot(), EPOCH).unwrap();
        assert_eq!(seen(&restored), expected);
        assert_eq!(restored.snapshot(), host.session.snapshot());
        assert_eq!(seen(&log::replay(&host.log).unwrap().session), expected);
    }
    expect![[r#"
        > one
        {"path":"one"}
        = files of one
    "#]]
    .assert_eq(&seen(&host.session));
}

#[test]
fn after_a_rewind_files_are_unknown_and_what_was_said_last_is_what_is_seen() {
    let mut config = config();
    config.guard.read_before_write = true;
    let mut host = TestHost::open(config);
    let _ = host.submit("Change a.txt");
    host.reply(&Message::call("c1", "read_file", &json!({"file_path": "a.txt"})));
    let _ = host.answer("text");
    host.reply(&Message::text("It has text."));
    let _ = host.submit("Go on");
    host.reply(&Message::text("How?"));
    let outputs = host.command(UNDO);
    let names: Vec<String> = outputs.events().map(|event| test_host::name(&event.kind)).collect();
    assert_eq!(names, ["rewound", "prefix_rebased"]);
    let _ = host.submit("Edit it");
    let edit = json!({"file_path": "a.txt", "old_string": "text", "new_string": "word"});
    host.reply(&Message::call("c2", "edit_file", &edit));
    assert!(host.runs.is_empty(), "{:?}", host.runs);
    assert!(body(&host).contains("Read a.txt before you edit it."), "{}", body(&host));
    let _ = host.command(Command::Interrupt);
    let _ = host.command(UNDO);
    let history = host.session.history(AgentId::ROOT).unwrap();
    assert_eq!(history.unread(), [], "the model's own words come last again");
}

#[test]
fn agents_of_undone_steps_are_closed() {
    let mut host = TestHost::default();
    let spawn = |host: &mut TestHost, id: &str| {
        let _ = host.submit(id);
        host.reply(&Message::call(id, "spawn_agent", &json!({"task": "look"})));
        // The agent's own call came first.
        host.reply(&Message::text("Started."));
    };
    spawn(&mut host, "one");
    spawn(&mut host, "two");
    let states =
        |host: &TestHost| [1, 2].map(|agent| host.session.status(AgentId(agent)).unwrap().state);
    assert!(!states(&host).contains(&AgentState::Closed));
    let _ = host.command(UNDO);
    for id in host.cancelled.clone() {
        host.calls.retain(|call| *call != id);
        let _ = host.input(Input::Lost { id });
    }
    assert_eq!(states(&host)[1], AgentState::Closed);
    assert_ne!(states(&host)[0], AgentState::Closed);
    let restored = Session::restore(&host.session.snapshot(), EPOCH).unwrap();
    assert_eq!(restored.snapshot(), host.session.snapshot());
}

#[test]
fn a_restore_within_a_round_answers_its_calls() {
    let mut host = TestHost::default();
    step(&mut host, "one");
    let _ = host.command(Command::Restore { at: 2 });
    expect![[r#"
        > one
        {"path":"one"}
        = The call was interrupted: the conversation goes on from here.
    "#]]
    .assert_eq(&seen(&host.session));
}

/// A session with these turns.
fn with_turns(config: SessionConfig, turns: &[TurnKind]) -> Session {
    let bytes = TestHost::open(config).session.snapshot();
    let mut state = snapshot::state(&bytes);
    let turns = turns.iter().map(|kind| Turn { at: UnixMillis(EPOCH.0), kind: kind.clone() });
    let turns: Vec<Value> =
        turns.map(|turn| serde_json::from_str(&to_string(&turn)).unwrap()).collect();
    state["agents"][0]["turns"] = turns.into();
    Session::restore(&snapshot::with_state(&bytes, &state.to_string()), EPOCH).unwrap()
}

/// Three inputs with a round of calls each, and these folds behind them.
fn folded(config: SessionConfig, folds: &[HistoryFold]) -> Session {
    let mut host = TestHost::open(speaking(config.model.wire, "session-a"));
    for said in ["one", "two", "three"] {
        step(&mut host, said);
    }
    let turns = host.session.history(AgentId::ROOT).unwrap().turns().iter();
    let mut turns: Vec<TurnKind> = turns.map(|turn| turn.kind.clone()).collect();
    if let TurnKind::ToolResults(results) = &mut turns[2] {
        results[0].parts = test_host::text(&"a line\n".repeat(212));
    }
    if let TurnKind::ToolResults(results) = &mut turns[6] {
        results[0].parts = test_host::text(&format!("gone\n{}", "at a place\n".repeat(40)));
        results[0].is_error = true;
    }
    turns.extend(folds.iter().map(|fold| TurnKind::Folded(Box::new(fold.clone()))));
    with_turns(config, &turns)
}

fn fold(upto: u32, pin: &[u32], stub_before: u32, text: Option<&str>) -> HistoryFold {
    let (text, kind) = (text.map(str::to_owned), FoldKind::Summary);
    HistoryFold { upto, pin: pin.to_vec(), stub_before, text, kind, before: 9, after: 1 }
}

fn check_fold(folds: &[HistoryFold], expected: &Expect) {
    expected.assert_eq(&seen(&folded(config(), folds)));
}

#[test]
fn folds_put_a_text_in_the_place_of_turns_and_a_line_in_that_of_results() {
    check_fold(
        &[fold(0, &[], 8, None)],
        &expect![[r#"
        > one
        {"path":"one"}
        = [list_dir one: 212 lines, 1,484 characters, left out; call it again if you need it]
        one is done.
        > two
        {"path":"two"}
        = gone [list_dir two: 41 lines, 445 characters, left out; call it again if you need it]
        two is done.
        > three
        {"path":"three"}
        = files of three
        three is done.
    "#]],
    );
    check_fold(
        &[fold(8, &[], 0, Some("So far."))],
        &expect![[r#"
        >> So far.
        > three
        {"path":"three"}
        = files of three
        three is done.
    "#]],
    );
    check_fold(
        &[fold(11, &[0, 8], 0, Some("So far."))],
        &expect![[r#"
        > one
        > three
        >> So far.
        three is done.
    "#]],
    );
    // Of two, the newer one's text stands for the older's; a stub leaves it.
    check_fold(
        &[fold(4, &[], 0, Some("One.")), fold(8, &[], 0, Some("One and two."))],
        &expect![[r#"
            >> One and two.
            > three
            {"path":"three"}
            = files of three
            three is done.
        "#]],
    );
    check_fold(
        &[fold(4, &[], 0, Some("One.")), fold(0, &[], 11, None)],
        &expect![[r#"
        >> One.
        > two
        {"path":"two"}
        = gone [list_dir two: 41 lines, 445 characters, left out; call it again if you need it]
        two is done.
        > three
        {"path":"three"}
        = files of three
        three is done.
    "#]],
    );
}

#[test]
fn a_rewind_behind_a_fold_shows_the_turns_again() {
    let fold = fold(8, &[], 0, Some("So far."));
    let session = folded(config(), &[fold]);
    let mut host = TestHost::around(session, String::new());
    let all = seen(&folded(config(), &[]));
    let _ = host.command(Command::Restore { at: 12 });
    assert_eq!(seen(&host.session), all);
    let _ = host.command(UNDO);
    assert!(seen(&host.session).starts_with(">> So far.\n> three\n"), "{}", seen(&host.session));
}

#[test]
fn requests_stay_paired_over_every_wire_whatever_is_folded() {
    for wire in WIRES {
        for upto in (0..=12).filter(|at| at % 4 == 0) {
            for stub_before in 0..=12 {
                let config = speaking(wire, "session-a");
                let fold = fold(upto, &[], stub_before, Some("So far."));
                let mut host = TestHost::around(folded(config, &[fold]), String::new());
                let _ = host.submit("four");
                wires::rules::check(wire, &host.body(), false)
                    .unwrap_or_else(|fault| panic!("{wire:?} {upto} {stub_before}: {fault}"));
            }
        }
    }
}

#[test]
fn k1_what_was_said_elsewhere_is_taken_over() {
    let mut other = TestHost::default();
    step(&mut other, "one");
    let turns = other.session.history(AgentId::ROOT).unwrap().turns().to_vec();
    let mut host = TestHost::open(SessionConfig { id: SessionId("other".into()), ..config() });
    // The last call is left without its answer.
    let _ = host.command(Command::Import { turns: turns[..2].to_vec() });
    let _ = host.command(Command::Import { turns: vec![turns[0].clone()] });
    expect![[r#"
        > one
        {"path":"one"}
        = The call was interrupted: the conversation goes on from here.
        > one
    "#]]
    .assert_eq(&seen(&host.session));
    let _ = host.command(Command::Undo { steps: 2 });
    assert_eq!(seen(&host.session), "");

    let because = |host: &mut TestHost, turns: &[&Turn]| {
        let turns = turns.iter().map(|&turn| turn.clone()).collect();
        match refused(host, Command::Import { turns }) {
            RejectionReason::Import(why) => why,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(refused(&mut host, Command::Import { turns: vec![] }), RejectionReason::Empty);
    assert_eq!(because(&mut host, &[&turns[1]]), "a conversation begins with the user");
    let answers = "results answer the calls of the reply before them, in their order";
    assert_eq!(because(&mut host, &[&turns[0], &turns[2]]), answers);
    assert_eq!(because(&mut host, &[&turns[0], &turns[1], &turns[3]]), answers);
    let none = Turn { kind: TurnKind::ToolResults(Vec::new()), ..turns[0].clone() };
    assert_eq!(because(&mut host, &[&turns[0], &none]), answers);
    let ids = "a call has an id that no other has";
    assert_eq!(because(&mut host, &[&turns[0], &turns[1], &turns[2], &turns[1]]), ids);
    let rewind =
        Turn { kind: TurnKind::Rewound { at: 0, why: RewindReason::Undo }, ..turns[0].clone() };
    let own = "folds and rewinds stay in their own log";
    assert_eq!(because(&mut host, &[&turns[0], &rewind]), own);
    let _ = host.submit("two");
    assert_eq!(refused(&mut host, Command::Import { turns }), RejectionReason::Busy);
}
