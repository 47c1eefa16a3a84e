//! What the last reply of a run makes of it: only a reply that the model ended itself is a success
//! (`docs/wires.md#what-an-ending-makes-of-the-run`).

use innerloop_core::{
    config::{SessionConfig, WireKind},
    event::{ErrorKind, EventKind},
    input::Command,
    preset::ConfigPreset,
    status::RunEnd,
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{TestHost, config, text},
    wires,
};
use serde_json::{Value, json};

/// A session over that protocol which asks for nothing twice.
fn strict(wire: WireKind) -> SessionConfig {
    let mut config = config();
    wires::speak(&mut config.model, wire);
    (config.repair.continue_on_length, config.repair.retry_on_empty) = (0, 0);
    config
}

/// How the runs ended, with what they came to.
fn ends(host: &TestHost) -> Vec<(RunEnd, String)> {
    host.find(|kind| match kind {
        EventKind::ProcessingEnd { end, text, .. } => Some((*end, text.clone())),
        _ => None,
    })
}

fn errors(host: &TestHost) -> Vec<(ErrorKind, String)> {
    host.find(|kind| match kind {
        EventKind::Error { kind, message } => Some((*kind, message.clone())),
        _ => None,
    })
}

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

/// A stream of Chat: that text, and why it ended.
fn chat(said: &str, finish: &Value) -> String {
    let choice = json!({"index": 0, "delta": {"content": said}, "finish_reason": null});
    let mut end = json!({"index": 0, "delta": {}});
    for (name, value) in finish.as_object().unwrap() {
        end[name] = value.clone();
    }
    let chunks = [choice, end].map(|choice| data(&json!({"choices": [choice]})));
    format!("{}data: [DONE]\n\n", chunks.concat())
}

/// A stream of Gemini: that text, and what the candidate says of its end.
fn gemini(said: &str, end: &Value) -> String {
    let parts = if said.is_empty() { json!([]) } else { json!([{"text": said}]) };
    let mut candidate = end.clone();
    candidate["content"] = json!({"role": "model", "parts": parts});
    data(&json!({"candidates": [candidate]}))
}

/// A stream of Anthropic: that text, and the fields of the last delta.
fn anthropic(said: &str, end: &Value) -> String {
    let usage = json!({"input_tokens": 9, "output_tokens": 1});
    let start = json!({"type": "message_start", "message": {"content": [], "usage": usage}});
    let block = json!({"type": "content_block_start", "index": 0,
        "content_block": {"type": "text", "text": said}});
    let events = [
        start,
        block,
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": end}),
        json!({"type": "message_stop"}),
    ];
    events.iter().map(data).collect()
}

/// A stream of Responses: that text, and the fields of the response that ended.
fn responses(said: &str, step: &str, end: &Value) -> String {
    let content = json!([{"type": "output_text", "text": said, "annotations": []}]);
    let message = json!({"type": "message", "role": "assistant", "content": content});
    let output = if said.is_empty() { json!([]) } else { json!([message]) };
    let mut response = json!({"id": "r", "object": "response", "status": step, "output": output});
    for (name, value) in end.as_object().unwrap() {
        response[name] = value.clone();
    }
    data(&json!({"type": format!("response.{step}"), "response": response}))
}

fn ollama(said: &str, reason: &str) -> String {
    let message = json!({"role": "assistant", "content": said});
    format!("{}\n", json!({"message": message, "done": true, "done_reason": reason}))
}

/// One ending: the stream, how the run ends, the kind of its error, and words that must be told.
type Row = (WireKind, String, RunEnd, Option<ErrorKind>, &'static str);

fn rows() -> Vec<Row> {
    use ErrorKind::{ContentFilter, ContextOverflow, OutputLimit, Refusal, Reply};
    use RunEnd::{Completed, Failed, Incomplete, Refused};
    use WireKind::{Anthropic, Gemini, Ollama, OpenaiChat as Chat, OpenaiResponses as Responses};
    let reason = |word: &str| json!({ "finish_reason": word });
    let native = json!({"finish_reason": "content_filter", "native_finish_reason": "SAFETY"});
    let explained = json!({"stop_reason": "refusal",
        "stop_details": {"type": "refusal", "explanation": "about weapons"}});
    let stop = |word: &str| json!({ "stop_reason": word });
    let finish = |word: &str| json!({ "finishReason": word });
    let malformed = json!({"finishReason": "MALFORMED_FUNCTION_CALL",
        "finishMessage": "Malformed function call: print(default_api.read("});
    let blocked = data(&json!({"promptFeedback":
        {"blockReason": "PROHIBITED_CONTENT", "blockReasonMessage": "not allowed"}}));
    let because = |word: &str| json!({"incomplete_details": {"reason": word}});
    let nothing = json!({});
    let refused = json!({"output": [{"type": "message", "role": "assistant",
        "content": [{"type": "refusal", "refusal": "I may not."}]}]});
    vec![
        (Chat, chat("Hi", &reason("stop")), Completed, None, ""),
        (Chat, chat("Hi", &reason("null")), Completed, None, ""),
        (Chat, chat("Hi", &reason("brand_new")), Completed, None, ""),
        (Chat, chat("Ha", &reason("length")), Incomplete, Some(OutputLimit), "output limit"),
        (Chat, chat("Ha", &reason("content_filter")), Incomplete, Some(ContentFilter), "filter"),
        (Chat, chat("Ha", &native), Incomplete, Some(ContentFilter), "SAFETY"),
        (Chat, chat("", &reason("content_filter")), Refused, Some(ContentFilter), "filter"),
        (Chat, chat("", &reason("sensitive")), Refused, Some(ContentFilter), "sensitive"),
        (Chat, chat("No.", &reason("refusal")), Refused, Some(Refusal), "refused"),
        (Chat, chat("", &reason("stop")), Failed, Some(Reply), "no text and no tool call"),
        (Chat, chat("", &reason("length")), Incomplete, Some(OutputLimit), "output limit"),
        (Chat, chat("Ha", &reason("error")), Failed, Some(Reply), "went wrong"),
        (Chat, chat("Ha", &reason("network_error")), Failed, Some(Reply), "network_error"),
        (Chat, "data: [DONE]\n\n".into(), Failed, Some(Reply), "no text and no tool call"),
        (Anthropic, anthropic("Hi", &stop("end_turn")), Completed, None, ""),
        (Anthropic, anthropic("Ha", &stop("max_tokens")), Incomplete, Some(OutputLimit), "limit"),
        (Anthropic, anthropic("No.", &explained), Refused, Some(Refusal), "about weapons"),
        (Anthropic, anthropic("", &explained), Refused, Some(Refusal), "about weapons"),
        (
            Anthropic,
            anthropic("Ha", &stop("model_context_window_exceeded")),
            Incomplete,
            Some(ContextOverflow),
            "context window",
        ),
        (Anthropic, anthropic(" ", &stop("end_turn")), Failed, Some(Reply), "no text"),
        (Gemini, gemini("Hi", &finish("STOP")), Completed, None, ""),
        (Gemini, gemini("Ha", &finish("MAX_TOKENS")), Incomplete, Some(OutputLimit), "limit"),
        (Gemini, gemini("Ha", &finish("RECITATION")), Incomplete, Some(ContentFilter), "RECIT"),
        (Gemini, gemini("", &finish("SAFETY")), Refused, Some(ContentFilter), "SAFETY"),
        (Gemini, blocked, Refused, Some(ContentFilter), "PROHIBITED_CONTENT): not allowed"),
        (Gemini, gemini("", &malformed), Failed, Some(Reply), "print(default_api.read("),
        (Gemini, gemini("Ha", &finish("OTHER")), Failed, Some(Reply), "OTHER"),
        (Gemini, gemini("", &finish("STOP")), Failed, Some(Reply), "no text and no tool call"),
        (Responses, responses("Hi", "completed", &nothing), Completed, None, ""),
        (
            Responses,
            responses("Ha", "incomplete", &because("max_output_tokens")),
            Incomplete,
            Some(OutputLimit),
            "output limit",
        ),
        (
            Responses,
            responses("Ha", "incomplete", &because("max_prompt_tokens")),
            Incomplete,
            Some(Reply),
            "max_prompt_tokens",
        ),
        (
            Responses,
            responses("Ha", "incomplete", &because("content_filter")),
            Incomplete,
            Some(ContentFilter),
            "filter",
        ),
        (Responses, responses("", "completed", &refused), Refused, Some(Refusal), "I may not."),
        (Responses, responses("", "completed", &nothing), Failed, Some(Reply), "no text"),
        (Ollama, ollama("Hi", "stop"), Completed, None, ""),
        (Ollama, ollama("Ha", "length"), Incomplete, Some(OutputLimit), "output limit"),
        (Ollama, ollama("", "load"), Failed, Some(Reply), "load"),
    ]
}

#[test]
fn each_ending_of_each_protocol_makes_of_the_run_what_it_is() {
    for (wire, stream, end, kind, words) in rows() {
        let mut host = TestHost::open(strict(wire));
        let _ = host.submit("go");
        host.stream(stream.as_bytes(), usize::MAX);
        let ended: Vec<RunEnd> = ends(&host).into_iter().map(|(end, _)| end).collect();
        assert_eq!((ended, host.requests.len()), (vec![end], 1), "{wire:?} {stream}");
        let told = errors(&host);
        let kinds: Vec<ErrorKind> = told.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, kind.into_iter().collect::<Vec<_>>(), "{wire:?} {stream}");
        assert!(told.iter().all(|(_, message)| message.contains(words)), "{words}: {told:?}");
    }
}

#[test]
fn what_there_is_of_a_reply_that_was_cut_is_the_text_of_the_run() {
    for (wire, ..) in wires::FAMILIES {
        let mut config = config();
        wires::speak(&mut config.model, wire);
        let mut host = TestHost::open(config);
        let _ = host.submit("go");
        host.reply(&Message::text("The first half, ").stop_reason("max_tokens"));
        host.reply(&Message::text("and the second").stop_reason("max_tokens"));
        let said = String::from("The first half, and the second");
        assert_eq!(ends(&host), [(RunEnd::Incomplete, said)], "{wire:?}");
        // What was continued to its end is whole.
        let _ = host.submit("again");
        host.reply(&Message::text("One, ").stop_reason("max_tokens"));
        host.reply(&Message::text("two."));
        assert_eq!(ends(&host)[1], (RunEnd::Completed, "One, two.".into()), "{wire:?}");
    }
}

#[test]
fn a_reply_that_is_of_no_use_is_asked_for_again_and_leaves_nothing_behind() {
    let broken = gemini("Half a th", &json!({"finishReason": "OTHER"}));
    let mut config = config();
    wires::speak(&mut config.model, WireKind::Gemini);
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    host.stream(broken.as_bytes(), usize::MAX);
    let sent = &host.requests;
    assert_eq!(sent[0].body, sent[1].body, "the same request");
    assert!(host.names(0).contains(&"text_reset".to_owned()), "{:?}", host.names(0));
    host.reply(&Message::text("Done."));
    assert_eq!((ends(&host), errors(&host)), (vec![(RunEnd::Completed, "Done.".into())], vec![]));
    // Twice is a failure, which says what there was.
    let _ = host.submit("go on");
    host.stream(broken.as_bytes(), usize::MAX);
    host.stream(broken.as_bytes(), usize::MAX);
    assert_eq!(ends(&host)[1], (RunEnd::Failed, "Half a th".into()));
}

#[test]
fn a_reply_that_the_window_has_cut_is_asked_for_again_in_a_shorter_conversation() {
    let mut config = config();
    config.compaction = ConfigPreset::Modern.config().compaction;
    config.compaction.summary.max_tokens = 64;
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    for round in 0..6 {
        host.reply(&Message::call(&format!("c{round}"), "list_dir", &json!({})));
        let _ = host.answer(&"a/\n".repeat(4_000));
    }
    host.reply(&Message::text("Now the second ").stop_reason("model_context_window_exceeded"));
    let folds = host.find(|kind| matches!(kind, EventKind::CompactionStarted { .. }).then_some(()));
    assert_eq!((folds.len(), ends(&host).len()), (1, 0), "{:?}", host.names(0));
    host.reply(&Message::text("The summary."));
    assert!(!String::from_utf8_lossy(&host.requests.last().unwrap().body).contains("the second"));
    host.reply(&Message::text("Now the second half as well."));
    assert_eq!(ends(&host), [(RunEnd::Completed, "Now the second half as well.".into())]);
}

#[test]
fn a_word_of_the_user_goes_on_from_an_ending_and_follow_ups_wait() {
    let mut host = TestHost::open(strict(WireKind::Anthropic));
    let _ = host.submit("go");
    let _ = host.steer("Then only the harmless part");
    host.reply(&Message::text("I will not.").stop_reason("refusal"));
    assert_eq!((ends(&host).len(), host.requests.len()), (0, 2), "{:?}", host.names(0));
    let _ = host.command(Command::follow_up(text("And now the tests")));
    host.reply(&Message::text("Not that either.").stop_reason("refusal"));
    assert_eq!(ends(&host), [(RunEnd::Refused, "Not that either.".into())]);
    assert_eq!(host.requests.len(), 2, "the follow-up waits");
}

#[test]
fn a_request_that_a_filter_refuses_is_a_refusal() {
    let mut config = strict(WireKind::OpenaiChat);
    config.retry.max_retries = 0;
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    host.refuse(400, "content_filter", "The prompt was filtered", &[]);
    assert_eq!(ends(&host), [(RunEnd::Refused, String::new())]);
    assert_eq!(errors(&host), [(ErrorKind::ContentFilter, "The prompt was filtered".into())]);
}
