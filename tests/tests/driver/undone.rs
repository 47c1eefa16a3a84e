//! Files of undone steps: what they become again, and which stay as they are.

use expect_test::{Expect, expect};
use innerloop_core::{
    action::{ChangeKind, Outcome, ReportedChange},
    event::{Event, EventKind},
    id::{AgentId, SessionId},
    input::Command,
    message::{RewindReason, Turn, TurnKind},
    time::{SessionInstant, UnixMillis},
};
use innerloop_driver::{FileSteps, FileUndo, SessionFirewall, imported};
use innerloop_tests::test_host::{EPOCH, text};
use std::{collections::BTreeMap, fmt::Write, sync::Arc};

/// What the session says.
fn event(agent: u32, kind: EventKind) -> Event {
    let (at, wall, session) = (SessionInstant(0), UnixMillis(0), Arc::new(SessionId("s".into())));
    Event { seq: 1, at, wall, session, agent: AgentId(agent), effect: None, kind }
}

fn input() -> Event {
    event(0, EventKind::UserInput { parts: text("go") })
}

/// A call of that agent has changed a file; none stands for one that was not there.
fn changed(agent: u32, path: &str, before: Option<&str>, after: Option<&str>) -> Event {
    let kind = match (before, after) {
        (None, _) => ChangeKind::Created,
        (_, None) => ChangeKind::Deleted,
        _ => ChangeKind::Modified,
    };
    let [before, after] = [before, after].map(|text| text.map(str::to_owned));
    // What cannot be told is left out.
    let told = |text: Option<String>| text.filter(|text| text != "binary");
    let change =
        ReportedChange { path: path.into(), kind, before: told(before), after: told(after) };
    let outcome = Arc::new(Outcome { changes: vec![change], ..Outcome::default() });
    event(agent, EventKind::ToolCallEnd { call_id: "c".into(), name: "f".into(), outcome })
}

fn rewound(why: RewindReason, redo_left: u32) -> Event {
    event(0, EventKind::Rewound { why, to: 0, undo_left: 0, redo_left })
}

fn heard(events: impl IntoIterator<Item = Event>) -> FileSteps {
    let mut steps = FileSteps::default();
    events.into_iter().for_each(|event| steps.on_event(&event));
    steps
}

/// What is to be done where these files are there now.
fn check(steps: &FileSteps, now: &[(&str, &str)], expected: &Expect) {
    let now: BTreeMap<&str, &str> = now.iter().copied().collect();
    let mut out = String::new();
    for file in steps
        .undone(&SessionFirewall::default(), &mut |path| Some(now.get(path)?.as_bytes().to_vec()))
    {
        let _ = match file.undo {
            FileUndo::Write(text) => writeln!(out, "{}: write {text:?}", file.path),
            FileUndo::Remove => writeln!(out, "{}: remove", file.path),
            FileUndo::Keep(why) => writeln!(out, "{}: {why}", file.path),
        };
    }
    expected.assert_eq(&out);
}

#[test]
fn files_of_an_undone_step_become_what_they_were_unless_they_have_changed_since() {
    let steps = heard([
        input(),
        changed(0, "edited", Some("1"), Some("2")),
        changed(1, "edited", Some("2"), Some("3")),
        changed(0, "made", None, Some("new")),
        changed(0, "gone", Some("old"), None),
        changed(0, "made and gone", None, Some("x")),
        changed(0, "made and gone", Some("x"), None),
        changed(0, "other", Some("1"), Some("2")),
        changed(0, "binary before", Some("binary"), Some("2")),
        changed(0, "binary after", Some("1"), Some("binary")),
        changed(0, "with a key", Some("‹secret:key20:0a1b2c›"), Some("2")),
        rewound(RewindReason::Undo, 1),
    ]);
    let now = [("edited", "3"), ("made", "new"), ("other", "mine"), ("binary before", "2")];
    let now = [&now[..], &[("with a key", "2")]].concat();
    check(
        &steps,
        &now,
        &expect![[r#"
            edited: write "1"
            made: remove
            gone: write "old"
            other: it has been changed since
            binary before: what it was, or what became of it, is not known
            binary after: what it was, or what became of it, is not known
            with a key: it had a secret that it has no longer, and that is known nowhere else
        "#]],
    );
}

#[test]
fn of_several_undone_steps_each_file_becomes_what_it_was_before_the_first() {
    let step = |before, after| [input(), changed(0, "a", Some(before), Some(after))];
    let both = || step("1", "2").into_iter().chain(step("2", "3"));
    let last = heard(both().chain([rewound(RewindReason::Undo, 1)]));
    check(
        &last,
        &[("a", "3")],
        &expect![[r#"
        a: write "2"
    "#]],
    );
    let mut all =
        heard(both().chain([rewound(RewindReason::Undo, 1), rewound(RewindReason::Undo, 2)]));
    check(
        &all,
        &[("a", "3")],
        &expect![[r#"
        a: write "1"
    "#]],
    );
    all.settle();
    check(&all, &[("a", "1")], &expect![[r#""#]]);
    for end in [rewound(RewindReason::Redo, 0), input()] {
        let none = heard(both().chain([rewound(RewindReason::Undo, 1), end]));
        check(&none, &[("a", "3")], &expect![[r#""#]]);
    }
}

#[test]
fn steps_that_nobody_saw_or_that_were_taken_over_change_nothing() {
    let unseen = heard([rewound(RewindReason::Undo, 2)]);
    check(&unseen, &[], &expect![[r#""#]]);
    let user = Turn { at: EPOCH, kind: TurnKind::User(text("go")) };
    let mut steps = heard([input(), changed(0, "a", Some("1"), Some("2"))]);
    steps.on_import(imported(&Command::Import { turns: vec![user] }));
    steps.on_event(&rewound(RewindReason::Undo, 1));
    check(&steps, &[("a", "2")], &expect![[r#""#]]);
    let cleared =
        heard([input(), changed(0, "a", Some("1"), Some("2")), rewound(RewindReason::Clear, 0)]);
    check(&cleared, &[("a", "2")], &expect![[r#""#]]);
}

#[test]
fn the_texts_of_the_oldest_steps_are_forgotten_where_all_are_too_large() {
    let large = "x".repeat(1 << 20);
    let step = |path: &str| [input(), changed(0, path, Some(&large), Some("small"))];
    let paths: Vec<String> = (10..30).map(|n| n.to_string()).collect();
    let steps = paths.iter().flat_map(|path| step(path));
    let steps = heard(steps.chain([rewound(RewindReason::Undo, 20)]));
    let undone = steps.undone(&SessionFirewall::default(), &mut |_| Some(b"small".to_vec()));
    let kept = undone.iter().filter(|file| matches!(file.undo, FileUndo::Keep(_)));
    let kept: Vec<&str> = kept.map(|file| file.path.as_str()).collect();
    assert_eq!((undone.len(), kept), (20, vec!["10", "11", "12", "13", "14"]));
}
