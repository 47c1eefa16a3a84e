//! Corrections: replies that are wrong are answered with a word, so often as the policy says
//! (`docs/decisions.md#corrections`).

use innerloop_core::{
    Session,
    action::{Outcome, ToolError},
    config::SessionConfig,
    corrections::{CorrectionPolicy, ReplyFault},
    echo::EchoDetector,
    event::EventKind,
    id::AgentId,
    input::HttpInput,
    message::{FinishReason, TurnKind},
    preset::ConfigPreset,
    status::RunEnd,
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{EPOCH, TestHost, config},
    wires,
};
use serde_json::json;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// A configuration that corrects everything twice.
fn strict() -> SessionConfig {
    let corrections = CorrectionPolicy::of(&ReplyFault::ALL.map(|fault| (fault, 2)));
    SessionConfig { corrections, ..config() }
}

/// The faults that were corrected, each with its number.
fn corrected(host: &TestHost) -> Vec<(ReplyFault, u32)> {
    host.find(|kind| match kind {
        EventKind::Corrected { fault, attempt, .. } => Some((*fault, *attempt)),
        _ => None,
    })
}

fn ends(host: &TestHost) -> Vec<RunEnd> {
    host.find(|kind| match kind {
        EventKind::ProcessingEnd { end, .. } => Some(*end),
        _ => None,
    })
}

/// Ends the one tool that runs.
fn run(host: &mut TestHost, outcome: Outcome) {
    let id = *host.runs.keys().next().unwrap();
    let _ = host.done(id, outcome);
}

/// Answers the model call until it is given up; returns how many bytes are left.
fn stream(host: &mut TestHost, message: &Message) -> usize {
    let stream = wires::events(host.wire(), message).concat();
    host.head(200, wires::stream_type(host.wire()));
    let call = host.call();
    let mut pieces = stream.as_bytes().chunks(40);
    while !host.cancelled.contains(&call) {
        let piece = pieces.next().expect("the stream is given up before its end");
        let _ = host.http(HttpInput::Chunk(piece.to_vec().into()));
    }
    pieces.map(<[u8]>::len).sum()
}

/// A host whose model has called a tool, which has answered.
fn after_a_call(config: SessionConfig) -> TestHost {
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    host.reply(&Message::call("c1", "list_dir", &json!({})));
    run(&mut host, Outcome::text("a.txt"));
    host
}

#[test]
fn i7_each_fault_before_any_call_is_corrected_as_often_as_is_said() {
    let long = "A paragraph about the matter, with nothing in it. ".repeat(8);
    for (text, fault) in [
        ("I'll read the file first.", ReplyFault::Promised),
        ("ok", ReplyFault::TooShort),
        ("Would you like me to begin?", ReplyFault::AskedInstead),
        (&*long, ReplyFault::WroteOnly),
        ("I created hello.py and it works. Done.", ReplyFault::Claimed),
    ] {
        let mut host = TestHost::open(strict());
        let _ = host.submit("go");
        host.reply(&Message::text(text));
        assert_eq!(corrected(&host), [(fault, 1)], "{text}");
        assert_eq!(host.requests.len(), 2, "{text}");
        let messages = host.body()["messages"].to_string();
        assert!(messages.contains(text) && messages.contains("tool"), "{messages}");
        // Over its number, and later in the conversation, a fault stands.
        for _ in 0..2 {
            if ends(&host).is_empty() {
                host.reply(&Message::text(text));
            }
        }
        assert_eq!(ends(&host), [RunEnd::Completed], "{text}");
        assert!(corrected(&host).len() <= 2, "{text}");
    }
}

#[test]
fn i8_a_result_that_the_model_makes_up_is_cut_off_and_not_sent_back() {
    for (said, kept) in [("I see. [Tool Result] b.txt", "I see."), ("<tool_response>b.txt", "")] {
        let mut host = after_a_call(strict());
        host.reply(&Message::text(said));
        assert_eq!(corrected(&host), [(ReplyFault::FakeResult, 1)]);
        assert!(host.names(0).contains(&"text_reset".to_owned()));
        let messages = host.body()["messages"].to_string();
        assert!(!messages.contains("b.txt"), "{messages}");
        assert_eq!(messages.contains("I see."), !kept.is_empty());
        host.reply(&Message::text(said));
        host.reply(&Message::text(said));
        // Nothing is left of it to stand as an answer.
        let end = if kept.is_empty() { RunEnd::Failed } else { RunEnd::Completed };
        assert_eq!((ends(&host), corrected(&host).len()), (vec![end], 2));
        let text = host.find(|kind| match kind {
            EventKind::ProcessingEnd { text, .. } => Some(text.clone()),
            _ => None,
        });
        assert_eq!(text, [kept]);
    }
}

#[test]
fn k10_a_greeting_after_a_call_is_no_answer() {
    let mut host = after_a_call(strict());
    host.reply(&Message::text("Hi there! How can I help you today?"));
    assert_eq!(corrected(&host), [(ReplyFault::Greeting, 1)]);
    host.reply(&Message::text("list_dir()"));
    assert_eq!(corrected(&host).len(), 2);
    // Those after calls share a limit of their own.
    host.reply(&Message::text("Hello there!"));
    assert_eq!((ends(&host), corrected(&host).len()), (vec![RunEnd::Completed], 2));
}

#[test]
fn k9_a_reply_that_repeats_itself_is_ended_while_it_streams() {
    let passage = "I will now look at the next file of the project.\n";
    let mut host = after_a_call(strict());
    let message = Message::text(&format!("A plan.\n{}", passage.repeat(1_600)));
    let left = stream(&mut host, &message);
    assert!(left > 70_000, "{left} bytes are left");
    assert_eq!(corrected(&host), [(ReplyFault::Echo, 1)]);
    let messages = host.body()["messages"].to_string();
    assert_eq!(messages.matches("look at the next file").count(), 1, "{messages}");
    // The third time nothing is left to try, and the run says why it ends.
    for _ in 0..2 {
        assert!(stream(&mut host, &Message::text(&passage.repeat(40))) > 0);
    }
    assert_eq!(ends(&host), [RunEnd::Incomplete]);
    let turns = host.session.history(AgentId::ROOT).unwrap().turns();
    let finish = turns.iter().rev().find_map(|turn| match &turn.kind {
        TurnKind::Assistant(reply) => Some(reply.finish),
        _ => None,
    });
    assert_eq!(finish, Some(FinishReason::Repetition));
}

#[test]
fn k9_hardly_any_file_counts_as_an_echo() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let folders = ["core", "driver", "host-native", "tools", "shell", "docs", "python", "wasm/npm"];
    let mut open: Vec<PathBuf> = folders.iter().map(|folder| root.join(folder)).collect();
    let (mut files, mut found) = (0, Vec::new());
    while let Some(path) = open.pop() {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() && name != "target" {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        let Ok(text) = fs::read_to_string(&path) else { continue };
        files += 1;
        if EchoDetector::default().feed(&text).is_some() {
            found.push(path);
        }
    }
    assert!(files > 800, "{files}");
    assert!(found.len() * 1_000 <= files, "{found:#?} of {files}");
}

#[test]
fn k11_edits_that_fail_again_and_again_are_told_to_write_the_whole_file() {
    let mut host = TestHost::open(strict());
    let _ = host.submit("go");
    for number in 0..9 {
        let edit =
            json!({"file_path": "a.txt", "old_string": number.to_string(), "new_string": ""});
        host.reply(&Message::call(&format!("c{number}"), "edit_file", &edit));
        run(&mut host, Outcome::error(ToolError::NotFound, "nothing like that"));
    }
    assert_eq!(corrected(&host), [(ReplyFault::PatchSpiral, 1)]);
    let messages = host.body()["messages"].to_string();
    assert!(messages.contains("Edits of a.txt have failed"), "{messages}");
    assert!(messages.contains("write it as a whole with write_file"), "{messages}");
}

/// The session goes on from its snapshot.
fn restart(host: &mut TestHost) {
    host.session = Session::restore(&host.session.snapshot(), EPOCH).unwrap();
}

#[test]
fn k11_a_spiral_survives_a_restart() {
    let mut host = TestHost::open(strict());
    let _ = host.submit("go");
    for number in 0..4 {
        let edit =
            json!({"file_path": "a.txt", "old_string": number.to_string(), "new_string": ""});
        host.reply(&Message::call(&format!("c{number}"), "edit_file", &edit));
        restart(&mut host);
        run(&mut host, Outcome::error(ToolError::NotFound, "nothing like that"));
        restart(&mut host);
    }
    assert_eq!(corrected(&host), [(ReplyFault::PatchSpiral, 1)]);
}

#[test]
fn k11_each_file_of_a_spiral_is_told_of_once() {
    let corrections = CorrectionPolicy::of(&[(ReplyFault::PatchSpiral, 1)]);
    let mut host = TestHost::open(SessionConfig { corrections, ..config() });
    let _ = host.submit("go");
    for number in 0..16 {
        let path = if number % 2 == 0 { "a.txt" } else { "b.txt" };
        let edit = json!({"file_path": path, "old_string": number.to_string(), "new_string": ""});
        host.reply(&Message::call(&format!("c{number}"), "edit_file", &edit));
        run(&mut host, Outcome::error(ToolError::NotFound, "nothing like that"));
    }
    assert_eq!(corrected(&host), [(ReplyFault::PatchSpiral, 1), (ReplyFault::PatchSpiral, 2)]);
}

#[test]
fn i7_only_the_end_of_a_long_text_counts_and_code_in_it_never() {
    let fault = |text: String| {
        let mut host = TestHost::open(strict());
        let _ = host.submit("go");
        host.reply(&Message::text(&text));
        corrected(&host).first().map(|(fault, _)| *fault)
    };
    let lines: String = (0..2_000).map(|at| format!("Étape {at}, done.\n")).collect();
    let promise = "I'll read the file now.\n";
    assert_eq!(fault(format!("{lines}{promise}")), Some(ReplyFault::Promised));
    assert_eq!(fault(format!("{promise}{lines}")), Some(ReplyFault::WroteOnly));
    assert_eq!(fault(format!("```\n{lines}{promise}```\nThat.\n")), Some(ReplyFault::WroteOnly));
}

#[test]
fn the_presets_correct_what_their_sources_do() {
    let most = |preset: ConfigPreset| {
        let policy = preset.config().corrections;
        ReplyFault::ALL.map(|fault| policy.most(fault))
    };
    assert_eq!(most(ConfigPreset::Seed001), [0; 10]);
    assert_eq!(most(ConfigPreset::Modern), [0, 0, 0, 0, 1, 1, 0, 0, 1, 1]);
    assert_eq!(most(ConfigPreset::Ollama), [2, 2, 2, 2, 2, 2, 2, 0, 2, 1]);
    assert_eq!(most(ConfigPreset::Ironclaw), [2, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(most(ConfigPreset::Gnoma), [0, 0, 0, 0, 0, 0, 0, 2, 2, 1]);
}
