//! A run of 300 rounds with results of 4 KB in one input, with a model whose window has 32,000
//! tokens: whatever provider refuses what is too long, and whether or not the window is known, the
//! task is done.

use innerloop_core::{
    compaction::FoldReason,
    config::{SessionConfig, WireKind},
    event::EventKind,
    input::Command,
    json::Json,
    preset::ConfigPreset,
    status::RunEnd,
    tool::ToolSpec,
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{self, TestHost, text},
    wires::{self, rules},
};
use serde_json::json;

const WINDOW: usize = 32_000;
const ROUNDS: usize = 300;
const TASK: &str = "Visit all three hundred pages and say how many there are.";
const WIRES: [WireKind; 5] = wires::WIRES;

/// Whether the configuration knows the window.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Window {
    Known,
    Unknown,
}

fn config(preset: ConfigPreset, wire: WireKind, window: Window) -> SessionConfig {
    let mut config = test_host::preset(preset, wire);
    config.model.max_output_tokens = 2_048;
    config.model.context_window = if window == Window::Known { 32_000 } else { 1_000_000 };
    config.limits.max_tool_rounds_per_input = 0;
    config.loops.detect = false;
    let parameters = r#"{"type":"object","properties":{"page":{"type":"integer"}}}"#;
    config.tools = vec![ToolSpec {
        read_only: true,
        ..ToolSpec::new("visit", "Visits a page.", Json::parse(parameters).unwrap())
    }];
    config
}

/// A page of 4 KB that is unlike any other.
fn page(number: usize) -> String {
    let line = format!("Page {number} tells of thing {} and of much else besides.\n", number * 7);
    let mut page = line.repeat(4_096 / line.len() + 1);
    page.truncate(4_096);
    page
}

/// How a provider says that a request is too long.
fn refuse(host: &mut TestHost, tokens: usize) {
    let message = match host.wire() {
        WireKind::OpenaiResponses => {
            "Your input exceeds the context window of this model. Please adjust your input and \
             try again."
                .to_owned()
        }
        WireKind::OpenaiChat => format!(
            "This model's maximum context length is {WINDOW} tokens. However, your messages \
             resulted in {tokens} tokens. Please reduce the length of the messages."
        ),
        WireKind::Gemini => format!(
            "The input token count ({tokens}) exceeds the maximum number of tokens allowed \
             ({WINDOW})."
        ),
        WireKind::Ollama => "the input length exceeds the context length".to_owned(),
        _ => format!("prompt is too long: {tokens} tokens > {WINDOW} maximum"),
    };
    host.refuse(400, "invalid_request_error", &message, &[]);
}

/// What came of a run.
#[derive(Debug, Default)]
struct Outcome {
    refused: usize,
    /// How often the request for a reply did not go on from the one before.
    rebased: usize,
}

/// Plays the model and its tool until the run is over. A token has four bytes here.
fn play(host: &mut TestHost) -> Outcome {
    let mut outcome = Outcome::default();
    let mut page_number = 0;
    let mut before: Option<String> = None;
    for _ in 0..ROUNDS * 4 {
        if host.calls.is_empty() {
            break;
        }
        let body = String::from_utf8(host.requests.last().unwrap().body.0.clone()).unwrap();
        let tokens = body.len() / 4;
        let sums_up = body.contains("You write the summary with which a coding agent");
        if tokens > WINDOW {
            outcome.refused += 1;
            refuse(host, tokens);
            continue;
        }
        let costing = |message: Message| message.costing(tokens as u64, 40);
        if sums_up {
            let seen = format!("Visited the pages up to {page_number}. All is well so far.");
            host.reply(&costing(Message::text(&seen)));
            continue;
        }
        assert!(body.contains(TASK), "the input's words are gone");
        let extends = |before: &String| rules::extends(host.wire(), before, &body).is_ok();
        outcome.rebased += usize::from(!before.as_ref().is_none_or(extends));
        before = Some(body);
        if page_number == ROUNDS {
            host.reply(&costing(Message::text("Done: there are 300 pages.")));
            break;
        }
        page_number += 1;
        let call = json!({"page": page_number});
        host.reply(&costing(Message::call(&format!("call{page_number}"), "visit", &call)));
        let _ = host.answer(&page(page_number));
    }
    outcome
}

fn folds(host: &TestHost) -> Vec<FoldReason> {
    host.find(|kind| match kind {
        EventKind::Compacted { why, before, after, .. } => {
            assert!(after < before);
            Some(*why)
        }
        _ => None,
    })
}

fn ends(host: &TestHost) -> Vec<(RunEnd, String)> {
    host.find(|kind| match kind {
        EventKind::ProcessingEnd { end, text, .. } => Some((*end, text.clone())),
        _ => None,
    })
}

fn done() -> Vec<(RunEnd, String)> {
    vec![(RunEnd::Completed, "Done: there are 300 pages.".to_owned())]
}

fn check_run(preset: ConfigPreset, wire: WireKind, window: Window) {
    let mut host = TestHost::open(config(preset, wire, window));
    let _ = host.submit(TASK);
    let outcome = play(&mut host);
    let what = format!("{preset:?} over {wire:?}: {outcome:?}");
    assert_eq!(ends(&host), done(), "{what}");
    let folds = folds(&host);
    let overflows = folds.iter().filter(|why| **why == FoldReason::Overflow).count();
    assert!(overflows <= 1 && outcome.refused <= 1, "{what}: {folds:?}");
    // 300 rounds of about 1,050 tokens fill a window of 32,000 some ten times.
    assert!((10..=80).contains(&folds.len()), "{what}: {} folds", folds.len());
    assert!(outcome.rebased <= folds.len(), "{what}: {} folds", folds.len());
    if window == Window::Known {
        assert_eq!(outcome.refused, 0, "{what}");
    } else {
        assert_eq!(overflows, 1, "{what}");
    }
}

fn check_preset(preset: ConfigPreset) {
    for wire in WIRES {
        check_run(preset, wire, Window::Known);
    }
    check_run(preset, WireKind::Anthropic, Window::Unknown);
    check_run(preset, WireKind::Ollama, Window::Unknown);
}

#[test]
fn m4_the_preset_modern_gets_through_300_rounds_in_a_small_window() {
    check_preset(ConfigPreset::Modern);
}

#[test]
fn l9_the_preset_ollama_gets_through_300_rounds_in_a_small_window() {
    check_preset(ConfigPreset::Ollama);
}

#[test]
fn j14_the_preset_ironclaw_gets_through_300_rounds_in_a_small_window() {
    check_preset(ConfigPreset::Ironclaw);
}

#[test]
fn k14_the_preset_gnoma_gets_through_300_rounds_in_a_small_window() {
    check_preset(ConfigPreset::Gnoma);
}

/// The specification's preset does nothing by itself. Its run ends, nothing is lost, and the host
/// may have it made shorter.
#[test]
fn r7_the_preset_of_the_specification_warns_and_goes_on_once_it_is_told_to() {
    for wire in WIRES {
        let mut host = TestHost::open(config(ConfigPreset::Seed001, wire, Window::Known));
        let _ = host.submit(TASK);
        assert_eq!(play(&mut host).refused, 1, "{wire:?}");
        assert_eq!(ends(&host).len(), 1, "{wire:?}");
        assert_eq!(ends(&host)[0].0, RunEnd::Failed, "{wire:?}");
        assert_eq!(folds(&host), [], "{wire:?}");
        let _ = host.command(Command::Compact { instructions: None });
        let _ = play(&mut host);
        assert_eq!(folds(&host), [FoldReason::Asked], "{wire:?}");
        let _ = host.command(Command::submit(text("Go on.")));
        let tokens = host.requests.last().unwrap().body.len() / 4;
        assert!(tokens < WINDOW * 3 / 5, "{wire:?}: {tokens}");
    }
}
