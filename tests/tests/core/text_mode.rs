//! Sessions whose model calls tools in its text: as a fallback, always, and from the moment on
//! at which an endpoint says that it has no tools.

use innerloop_core::{
    Session,
    config::{SessionConfig, TextCalls, TextFamily, WireKind},
    event::EventKind,
    log,
    message::{Block, Finish, TurnKind},
    output::Outputs,
};
use innerloop_tests::desk::{Desk, EPOCH, config};
use serde_json::{Value, json};

const CALL: &str = "I look.\n<tool_call>\n\
    {\"name\": \"read_file\", \"arguments\": {\"file_path\": \"a.js\"}}\n</tool_call>";

fn ollama(text_calls: TextCalls) -> SessionConfig {
    let mut config = config();
    config.model.wire = WireKind::Ollama;
    config.model.text_calls = text_calls;
    config
}

/// Answers the model call with Ollama's lines, the text in pieces.
fn reply(desk: &mut Desk, text: &str, reason: &str) {
    let chars: Vec<char> = text.chars().collect();
    let mut lines = String::new();
    for piece in chars.chunks(7) {
        let content: String = piece.iter().collect();
        let message = json!({"role": "assistant", "content": content});
        lines += &format!("{}\n", json!({"model": "m", "message": message, "done": false}));
    }
    let message = json!({"role": "assistant", "content": ""});
    lines += &format!(
        "{}\n",
        json!({"model": "m", "message": message, "done": true,
        "done_reason": reason, "prompt_eval_count": 5, "eval_count": 3})
    );
    desk.stream(lines.as_bytes(), usize::MAX);
}

fn refuse(desk: &mut Desk, status: u16, message: &str) {
    desk.head(status, "application/json");
    let body = json!({"error": {"message": message}}).to_string();
    let _ = desk.http(innerloop_core::input::HttpInput::Chunk(body.into_bytes().into()));
    let _ = desk.http(innerloop_core::input::HttpInput::End);
}

fn system(body: &Value) -> &str {
    body["messages"][0]["content"].as_str().unwrap()
}

fn warnings(desk: &Desk) -> Vec<&str> {
    desk.find(|kind| match kind {
        EventKind::Warning { message } => Some(message.as_str()),
        _ => None,
    })
}

/// The log gives the same session again, and so does a snapshot.
fn assert_survives(desk: &Desk) {
    let replayed = log::replay(&desk.log).unwrap();
    assert_eq!(replayed.session.snapshot(), desk.session.snapshot());
    let restored = Session::restore(&desk.session.snapshot(), EPOCH).unwrap();
    let owed = |outputs: Outputs| serde_json::to_value(outputs).unwrap();
    assert_eq!(owed(restored.owed()), owed(desk.session.owed()));
    assert_eq!(restored.config(), desk.session.config());
}

#[test]
fn i16_l4_an_endpoint_without_tools_is_asked_again_with_the_tools_in_the_prompt() {
    let mut desk = Desk::open(ollama(TextCalls::Fallback));
    let _ = desk.submit("mend it");
    assert!(desk.body()["tools"].is_array());
    refuse(&mut desk, 400, "registry.example/library/m:1b does not support tools");
    assert_eq!(desk.requests.len(), 2, "asked again at once");
    let body = desk.body();
    assert!(body["tools"].as_array().is_none_or(Vec::is_empty), "{body}");
    assert!(system(&body).contains("<tools>\n{\"name\": \"read_file\""));
    assert!(system(&body).contains("<tool_call>\n{\"name\": "), "an example");
    assert!(!desk.names(0).contains(&"retry".to_owned()), "no retry is counted");
    assert_eq!(warnings(&desk).len(), 1);
    assert_survives(&desk);
    reply(&mut desk, CALL, "stop");
    assert_eq!(desk.runs.len(), 1);
    assert_survives(&desk);
    let _ = desk.answer("1 | broken");
    let body = desk.body();
    let said: Vec<(&str, &str)> = body["messages"].as_array().unwrap()[1..]
        .iter()
        .map(|turn| (turn["role"].as_str().unwrap(), turn["content"].as_str().unwrap()))
        .collect();
    let response = "<tool_response>\n1 | broken\n</tool_response>";
    assert_eq!(said, [("user", "mend it"), ("assistant", CALL), ("user", response)]);
    reply(&mut desk, "Mended.", "stop");
    assert_eq!(desk.requests.len(), 3);
    let _ = desk.submit("again");
    assert!(desk.body()["tools"].as_array().is_none_or(Vec::is_empty), "for the whole session");
}

#[test]
fn i16_every_servers_words_for_it_are_known_and_no_others() {
    for (status, message) in [
        (400, "\"m\" does not support tools"),
        (404, "No endpoints found that support tool use. Try another model."),
        (500, "Cannot use tools with stream"),
        (500, "tools param requires --jinja flag"),
        (400, "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser"),
        (400, "m does not support function calling"),
        (400, "Tool calling is not supported with this model"),
        (400, "Tool use is not supported for this model"),
        (422, "tools are not supported"),
    ] {
        let mut desk = Desk::open(ollama(TextCalls::Fallback));
        let _ = desk.submit("mend it");
        refuse(&mut desk, status, message);
        assert_eq!(desk.requests.len(), 2, "{message}");
        assert_eq!(desk.session.config().model.text_calls, TextCalls::Always);
        // Said again, it is an error like any other.
        refuse(&mut desk, 400, message);
        assert_eq!(desk.requests.len(), 2, "{message}");
    }
    for (text_calls, message) in [
        (TextCalls::Fallback, "tools[0].name is too long"),
        (TextCalls::Never, "\"m\" does not support tools"),
    ] {
        let mut desk = Desk::open(ollama(text_calls));
        let _ = desk.submit("mend it");
        refuse(&mut desk, 400, message);
        assert_eq!(desk.requests.len(), 1);
    }
}

#[test]
fn l4_a_call_in_text_is_run_and_goes_back_as_the_protocols_own() {
    let mut desk = Desk::open(ollama(TextCalls::Fallback));
    let _ = desk.submit("mend it");
    reply(&mut desk, &format!("<think>Where?</think>{CALL}"), "stop");
    assert_eq!(desk.runs.values().map(|run| run.name.as_str()).collect::<Vec<_>>(), ["read_file"]);
    let shown: String = desk
        .find(|kind| match kind {
            EventKind::AssistantTextDelta { text } => Some(text.as_str()),
            _ => None,
        })
        .concat();
    assert_eq!(shown, "I look.");
    let thought: String = desk
        .find(|kind| match kind {
            EventKind::AssistantReasoningDelta { text } => Some(text.as_str()),
            _ => None,
        })
        .concat();
    assert_eq!(thought, "Where?");
    let _ = desk.answer("1 | broken");
    let body = desk.body();
    let turn = &body["messages"][2];
    assert_eq!(turn["content"], "I look.");
    assert_eq!(turn["tool_calls"][0]["function"]["arguments"], json!({"file_path": "a.js"}));
    assert_eq!(body["messages"][3]["role"], "tool");
    assert_survives(&desk);
}

#[test]
fn l13_thinking_in_the_text_is_told_apart_and_a_call_cut_by_the_limit_is_not_run() {
    let mut desk = Desk::open(ollama(TextCalls::Fallback));
    let _ = desk.submit("mend it");
    reply(&mut desk, "Hm.</think>\n\nDone.", "stop");
    let history = desk.session.history(innerloop_core::id::AgentId::ROOT).unwrap();
    let TurnKind::Assistant(said) = &history.turns().last().unwrap().kind else { panic!() };
    assert_eq!((said.text().as_str(), said.reasoning().as_str()), ("Done.", "Hm."));
    let _ = desk.submit("more");
    reply(&mut desk, CALL, "length");
    assert!(desk.runs.is_empty());
    let history = desk.session.history(innerloop_core::id::AgentId::ROOT).unwrap();
    let is_cut = |kind: &TurnKind| match kind {
        TurnKind::Assistant(reply) => {
            reply.finish == Finish::Length
                && reply.blocks.iter().any(|block| matches!(block, Block::ToolCall(_)))
        }
        _ => false,
    };
    assert!(history.turns().iter().any(|turn| is_cut(&turn.kind)));
}

#[test]
fn l10_untyped_arguments_are_turned_to_what_the_schema_says() {
    let mut config = ollama(TextCalls::Always);
    config.model.text_family = TextFamily::Qwen3CoderXml;
    let mut desk = Desk::open(config);
    let _ = desk.submit("mend it");
    let call = "<tool_call>\n<function=read_file>\n<parameter=file_path>\n7\n</parameter>\n\
        <parameter=offset>\n30\n</parameter>\n</function>\n</tool_call>";
    reply(&mut desk, call, "stop");
    let run = serde_json::to_value(desk.runs.values().next().unwrap()).unwrap().to_string();
    assert!(run.contains("\"7\"") && run.contains("30"), "{run}");
}

#[test]
fn l4_the_bytes_of_earlier_turns_told_in_text_do_not_change() {
    let mut desk = Desk::open(ollama(TextCalls::Always));
    let _ = desk.submit("mend it");
    for _ in 0..3 {
        let before = turns(&desk);
        reply(&mut desk, CALL, "stop");
        let _ = desk.answer("1 | broken");
        let now = turns(&desk);
        assert_eq!(now[..before.len()], before);
        assert_eq!(now.len(), before.len() + 2);
    }
}

fn turns(desk: &Desk) -> Vec<String> {
    let body = desk.body();
    body["messages"].as_array().unwrap().iter().map(Value::to_string).collect()
}

#[test]
fn l4_no_protocol_is_given_tools_that_are_told_in_the_prompt() {
    for wire in WireKind::ALL {
        let mut config = ollama(TextCalls::Always);
        config.model.wire = wire;
        let mut desk = Desk::open(config);
        let _ = desk.submit("mend it");
        let body = desk.body();
        assert!(body["tools"].as_array().is_none_or(Vec::is_empty), "{wire:?}: {body}");
        assert!(body.get("tool_choice").is_none(), "{wire:?}: {body}");
        assert!(body.to_string().contains("<tool_response>"), "{wire:?}: {body}");
    }
}
