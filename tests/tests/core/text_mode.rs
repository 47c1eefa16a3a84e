//! Sessions whose model calls tools in its text: as a fallback, always, and from the moment on
//! at which an endpoint says that it has no tools.

use innerloop_core::{
    Decoder, ReplyPiece, Session,
    config::{ModelConfig, SessionConfig, TextCalls, TextFamily, WireKind},
    event::EventKind,
    log,
    message::{Block, FinishReason, TurnKind},
    output::OutputBatch,
    tool::ToolSpec,
};
use innerloop_tests::feeding;
use innerloop_tests::test_host::{EPOCH, TestHost, config};
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
fn reply(host: &mut TestHost, text: &str, reason: &str) {
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
    host.stream(lines.as_bytes(), usize::MAX);
}

fn refuse(host: &mut TestHost, status: u16, message: &str) {
    host.head(status, "application/json");
    let body = json!({"error": {"message": message}}).to_string();
    let _ = host.http(innerloop_core::input::HttpInput::Chunk(body.into_bytes().into()));
    let _ = host.http(innerloop_core::input::HttpInput::End);
}

fn system(body: &Value) -> &str {
    body["messages"][0]["content"].as_str().unwrap()
}

fn warnings(host: &TestHost) -> Vec<&str> {
    host.find(|kind| match kind {
        EventKind::Warning { message } => Some(message.as_str()),
        _ => None,
    })
}

/// The log gives the same session again, and so does a snapshot.
fn assert_survives(host: &TestHost) {
    let replayed = log::replay(&host.log).unwrap();
    assert_eq!(replayed.session.snapshot(), host.session.snapshot());
    let restored = Session::restore(&host.session.snapshot(), EPOCH).unwrap();
    let owed = |outputs: OutputBatch| serde_json::to_value(outputs).unwrap();
    assert_eq!(owed(restored.owed()), owed(host.session.owed()));
    assert_eq!(restored.config(), host.session.config());
}

#[test]
fn i16_l4_an_endpoint_without_tools_is_asked_again_with_the_tools_in_the_prompt() {
    let mut host = TestHost::open(ollama(TextCalls::Fallback));
    let _ = host.submit("fix it");
    assert!(host.body()["tools"].is_array());
    refuse(&mut host, 400, "registry.example/library/m:1b does not support tools");
    assert_eq!(host.requests.len(), 2, "asked again at once");
    let body = host.body();
    assert!(body["tools"].as_array().is_none_or(Vec::is_empty), "{body}");
    assert!(system(&body).contains("<tools>\n{\"name\": \"read_file\""));
    assert!(system(&body).contains("<tool_call>\n{\"name\": "), "an example");
    assert!(!host.names(0).contains(&"retry".to_owned()), "no retry is counted");
    assert_eq!(warnings(&host).len(), 1);
    assert_survives(&host);
    reply(&mut host, CALL, "stop");
    assert_eq!(host.runs.len(), 1);
    assert_survives(&host);
    let _ = host.answer("1 | broken");
    let body = host.body();
    let said: Vec<(&str, &str)> = body["messages"].as_array().unwrap()[1..]
        .iter()
        .map(|turn| (turn["role"].as_str().unwrap(), turn["content"].as_str().unwrap()))
        .collect();
    let response = "<tool_response>\n1 | broken\n</tool_response>";
    assert_eq!(said, [("user", "fix it"), ("assistant", CALL), ("user", response)]);
    reply(&mut host, "Fixed.", "stop");
    assert_eq!(host.requests.len(), 3);
    let _ = host.submit("again");
    assert!(host.body()["tools"].as_array().is_none_or(Vec::is_empty), "for the whole session");
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
        let mut host = TestHost::open(ollama(TextCalls::Fallback));
        let _ = host.submit("fix it");
        refuse(&mut host, status, message);
        assert_eq!(host.requests.len(), 2, "{message}");
        assert_eq!(host.session.config().model.text_calls, TextCalls::Always);
        // Said again, it is an error like any other.
        refuse(&mut host, 400, message);
        assert_eq!(host.requests.len(), 2, "{message}");
    }
    for (text_calls, message) in [
        (TextCalls::Fallback, "tools[0].name is too long"),
        (TextCalls::Never, "\"m\" does not support tools"),
    ] {
        let mut host = TestHost::open(ollama(text_calls));
        let _ = host.submit("fix it");
        refuse(&mut host, 400, message);
        assert_eq!(host.requests.len(), 1);
    }
}

#[test]
fn l4_a_call_in_text_is_run_and_goes_back_as_the_protocols_own() {
    let mut host = TestHost::open(ollama(TextCalls::Fallback));
    let _ = host.submit("fix it");
    reply(&mut host, &format!("<think>Where?</think>{CALL}"), "stop");
    assert_eq!(host.runs.values().map(|run| run.name.as_str()).collect::<Vec<_>>(), ["read_file"]);
    let shown: String = host
        .find(|kind| match kind {
            EventKind::AssistantTextDelta { text } => Some(text.as_str()),
            _ => None,
        })
        .concat();
    assert_eq!(shown, "I look.");
    let thought: String = host
        .find(|kind| match kind {
            EventKind::AssistantReasoningDelta { text } => Some(text.as_str()),
            _ => None,
        })
        .concat();
    assert_eq!(thought, "Where?");
    let _ = host.answer("1 | broken");
    let body = host.body();
    let turn = &body["messages"][2];
    assert_eq!(turn["content"], "I look.");
    assert_eq!(turn["tool_calls"][0]["function"]["arguments"], json!({"file_path": "a.js"}));
    assert_eq!(body["messages"][3]["role"], "tool");
    assert_survives(&host);
}

#[test]
fn l13_thinking_in_the_text_is_told_apart_and_a_call_cut_by_the_limit_is_not_run() {
    let mut host = TestHost::open(ollama(TextCalls::Fallback));
    let _ = host.submit("fix it");
    reply(&mut host, "Hm.</think>\n\nDone.", "stop");
    let history = host.session.history(innerloop_core::id::AgentId::ROOT).unwrap();
    let TurnKind::Assistant(said) = &history.turns().last().unwrap().kind else { panic!() };
    assert_eq!((said.text().as_str(), said.reasoning().as_str()), ("Done.", "Hm."));
    let _ = host.submit("more");
    reply(&mut host, CALL, "length");
    assert!(host.runs.is_empty());
    let history = host.session.history(innerloop_core::id::AgentId::ROOT).unwrap();
    let is_cut = |kind: &TurnKind| match kind {
        TurnKind::Assistant(reply) => {
            reply.finish == FinishReason::Length
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
    let mut host = TestHost::open(config);
    let _ = host.submit("fix it");
    let call = "<tool_call>\n<function=read_file>\n<parameter=file_path>\n7\n</parameter>\n\
        <parameter=offset>\n30\n</parameter>\n</function>\n</tool_call>";
    reply(&mut host, call, "stop");
    let run = serde_json::to_value(host.runs.values().next().unwrap()).unwrap().to_string();
    assert!(run.contains("\"7\"") && run.contains("30"), "{run}");
}

#[test]
fn l4_the_bytes_of_earlier_turns_told_in_text_do_not_change() {
    let mut host = TestHost::open(ollama(TextCalls::Always));
    let _ = host.submit("fix it");
    for _ in 0..3 {
        let before = turns(&host);
        reply(&mut host, CALL, "stop");
        let _ = host.answer("1 | broken");
        let now = turns(&host);
        assert_eq!(now[..before.len()], before);
        assert_eq!(now.len(), before.len() + 2);
    }
}

fn turns(host: &TestHost) -> Vec<String> {
    let body = host.body();
    body["messages"].as_array().unwrap().iter().map(Value::to_string).collect()
}

#[test]
fn l4_no_protocol_is_given_tools_that_are_told_in_the_prompt() {
    for wire in WireKind::ALL {
        let mut config = ollama(TextCalls::Always);
        config.model.wire = wire;
        let mut host = TestHost::open(config);
        let _ = host.submit("fix it");
        let body = host.body();
        assert!(body["tools"].as_array().is_none_or(Vec::is_empty), "{wire:?}: {body}");
        assert!(body.get("tool_choice").is_none(), "{wire:?}: {body}");
        assert!(body.to_string().contains("<tool_response>"), "{wire:?}: {body}");
    }
}

/// What is shown of a chat's reply, text and thinking, and how often it begins anew.
fn chat(model: &ModelConfig, deltas: &[Value], finish: &str) -> ([String; 2], usize, FinishReason) {
    let head = feeding::head(200, "text/event-stream");
    let mut decoder = Decoder::new(WireKind::OpenaiChat, &head)
        .with_text_calls(model, std::iter::empty::<&ToolSpec>());
    let (mut shown, last) = (Vec::new(), json!({"delta": {}, "finish_reason": finish}));
    let deltas = deltas.iter().map(|delta| json!({"delta": delta}));
    for choice in deltas.chain([last]) {
        let event = json!({"choices": [choice]});
        decoder.feed(format!("data: {event}\n\n").as_bytes(), &mut shown);
    }
    let reply = decoder.finish_into(&mut shown).unwrap();
    let (mut told, mut restarts) = ([String::new(), String::new()], 0);
    for piece in shown {
        match piece {
            ReplyPiece::Text(more) => told[0].push_str(&more),
            ReplyPiece::Reasoning(more) => told[1].push_str(&more),
            ReplyPiece::Restart => (told, restarts) = (Default::default(), restarts + 1),
            ReplyPiece::Call(_) => panic!("the protocol has no calls here"),
        }
    }
    assert_eq!(told, [reply.text(), reply.reasoning()]);
    (told, restarts, reply.finish)
}

fn texts(text: &str) -> Vec<Value> {
    text.split_inclusive(' ').map(|word| json!({"content": word})).collect()
}

#[test]
fn l13_a_text_begins_in_thinking_where_the_template_has_opened_it() {
    let model = ModelConfig {
        wire: WireKind::OpenaiChat,
        name: "zai-org/GLM-4.7".into(),
        text_calls: TextCalls::Fallback,
        ..ModelConfig::default()
    };
    let told = |model: &ModelConfig, text: &str, finish| {
        let ([text, reasoning], restarts, _) = chat(model, &texts(text), finish);
        (text, reasoning, restarts)
    };
    let is = |text: &str, reasoning: &str, restarts| (text.into(), reasoning.into(), restarts);
    let closed = "Which one? Oak.</think>I plant an oak.";
    assert_eq!(told(&model, closed, "stop"), is("I plant an oak.", "Which one? Oak.", 0));
    let opened = "<think>Which one? Oak.</think>I plant an oak.";
    assert_eq!(told(&model, opened, "stop"), is("I plant an oak.", "Which one? Oak.", 0));
    assert_eq!(told(&model, "Which one? Oak", "length"), is("", "Which one? Oak", 0));
    // The endpoint has kept the thinking to itself, or there was none.
    assert_eq!(told(&model, "I plant an oak.", "stop"), is("I plant an oak.", "", 1));
    let apart = [vec![json!({"reasoning_content": "Oak."})], texts("I plant an oak.")].concat();
    let ([text, reasoning], restarts, _) = chat(&model, &apart, "stop");
    assert_eq!((text, reasoning, restarts), is("I plant an oak.", "Oak.", 0));
    for model in [
        ModelConfig { begins_in_thinking: Some(false), ..model.clone() },
        ModelConfig { reasoning_effort: Some("none".into()), ..model.clone() },
        ModelConfig { name: "zai-org/GLM-4.5".into(), ..model.clone() },
    ] {
        assert_eq!(told(&model, "I plant an oak.", "stop"), is("I plant an oak.", "", 0));
        assert_eq!(told(&model, closed, "stop"), is("I plant an oak.", "Which one? Oak.", 1));
    }
    let other = ModelConfig { name: "mine".into(), begins_in_thinking: Some(true), ..model };
    assert_eq!(told(&other, closed, "stop"), is("I plant an oak.", "Which one? Oak.", 0));
}

#[test]
fn l4_a_call_that_is_cut_though_the_model_was_done_is_asked_for_again() {
    let cut = "I look.\n<tool_call>\n{\"name\": \"read_file\", \"arguments\": {\"file_path\": \"a";
    let model = ModelConfig {
        wire: WireKind::OpenaiChat,
        text_calls: TextCalls::Fallback,
        ..ModelConfig::default()
    };
    assert_eq!(chat(&model, &texts(cut), "stop").2, FinishReason::MalformedToolCall);
    assert_eq!(chat(&model, &texts(cut), "length").2, FinishReason::Length);
    let words = "Write <tool_call> before a call and </tool_call> behind it.";
    assert_eq!(chat(&model, &texts(words), "stop").2, FinishReason::Stop);
    let mut host = TestHost::open(ollama(TextCalls::Fallback));
    let _ = host.submit("fix it");
    let asked = host.requests.len();
    reply(&mut host, cut, "stop");
    assert!(host.runs.is_empty());
    assert_eq!(host.requests.len(), asked + 1);
    reply(&mut host, CALL, "stop");
    assert_eq!(host.runs.len(), 1);
}
