//! What gateways and servers send otherwise than the protocols say: choices, errors, blocks and
//! words in other places (`docs/wires.md`).

use innerloop_core::{
    Decoder, ReplyPiece,
    config::WireKind,
    event::ErrorKind,
    input::Command,
    message::{FinishReason, Part},
};
use innerloop_driver::decode::DecodedResponse;
use innerloop_tests::{
    feeding::{decoded, head},
    test_host::{TestHost, config},
    wires,
};
use serde_json::{Value, json};

const CHAT: WireKind = WireKind::OpenaiChat;

fn stream(wire: WireKind, events: &[Value]) -> DecodedResponse {
    let frame = |event: &Value| match wire {
        WireKind::Ollama => format!("{event}\n"),
        _ => format!("data: {event}\n\n"),
    };
    let body: String = events.iter().map(frame).collect();
    decoded(wire, 200, wires::stream_type(wire), body)
}

/// A stream of Chat with one choice in each chunk.
fn chat(choices: &[Value]) -> DecodedResponse {
    let chunks = choices.iter().map(|choice| json!({ "choices": [choice] }));
    let body: String = chunks.map(|chunk| format!("data: {chunk}\n\n")).collect();
    decoded(CHAT, 200, "text/event-stream", format!("{body}data: [DONE]\n\n"))
}

fn called(decoded: &DecodedResponse) -> Vec<&str> {
    decoded.tool_calls.iter().map(|call| call.name.as_str()).collect()
}

#[test]
fn choices_whose_index_rises_with_each_block_are_one_reply() {
    let call = json!([{"index": 0, "id": "c1", "type": "function",
        "function": {"name": "look", "arguments": "{\"at\":"}}]);
    let rest = json!([{"index": 0, "function": {"arguments": "1}"}}]);
    let read = chat(&[
        json!({"index": 0, "delta": {"reasoning_content": "Where?"}}),
        json!({"index": 1, "delta": {"content": "I look"}}),
        json!({"index": 1, "delta": {"content": " at it."}}),
        json!({"index": 2, "delta": {"tool_calls": call}}),
        json!({"index": 2, "delta": {"tool_calls": rest}}),
        json!({"index": 3, "delta": {}, "finish_reason": "tool_calls"}),
    ]);
    let said = (read.reasoning.as_str(), read.text.as_str(), read.finish);
    assert_eq!(said, ("Where?", "I look at it.", FinishReason::ToolCalls));
    assert_eq!(serde_json::to_value(called(&read)).unwrap(), json!(["look"]));
    // The reason to end may come under the first number again.
    let read = chat(&[
        json!({"index": 0, "delta": {"reasoning_content": "Where?"}}),
        json!({"index": 1, "delta": {"content": "Here."}}),
        json!({"index": 0, "delta": {}, "finish_reason": "stop"}),
    ]);
    let said = (read.reasoning.as_str(), read.text.as_str(), read.finish);
    assert_eq!(said, ("Where?", "Here.", FinishReason::Stop));
    // A whole reply with text and call in two choices.
    let message =
        |message: Value, finish: &str| json!({"message": message, "finish_reason": finish});
    let call = json!([{"id": "c1", "type": "function",
        "function": {"name": "look", "arguments": "{}"}}]);
    let body = json!({"choices": [
        message(json!({"role": "assistant", "content": "I look."}), "stop"),
        message(json!({"role": "assistant", "content": null, "tool_calls": call}), "tool_calls"),
    ]});
    let read = decoded(CHAT, 200, "application/json", body.to_string());
    assert_eq!((read.text.as_str(), read.finish), ("I look.", FinishReason::ToolCalls));
    assert_eq!(called(&read), ["look"]);
}

#[test]
fn an_error_within_a_choice_is_the_providers_own() {
    let error = json!({"code": 502, "message": "upstream provider exploded: shard 7"});
    let broken = json!({"index": 0, "delta": {"content": ""}, "finish_reason": "error",
        "error": error});
    let whole = json!({"choices": [{"message": {"content": "Ha"}, "finish_reason": "error",
        "error": error}]});
    let streamed = chat(&[json!({"index": 0, "delta": {"content": "Ha"}}), broken]);
    let whole = decoded(CHAT, 200, "application/json", whole.to_string());
    for read in [streamed, whole] {
        let told = read.error.unwrap();
        assert_eq!((told.kind, told.status), (ErrorKind::Server, 200));
        assert!(told.message.contains("shard 7"), "{}", told.message);
    }
    let limited = json!({"code": 429, "message": "Rate limited, try again in 3s"});
    let told = chat(&[json!({"delta": {}, "finish_reason": "error", "error": limited})]);
    let told = told.error.unwrap();
    assert_eq!((told.kind, told.retry_after_ms), (ErrorKind::RateLimit, Some(3_000)));
    // Behind the output limit it says no more than that.
    let limit = json!({"code": 502, "message": "Token limit reached"});
    let cut = chat(&[
        json!({"delta": {"content": "Ha"}}),
        json!({"delta": {}, "finish_reason": "length", "error": limit}),
    ]);
    assert_eq!((cut.text.as_str(), cut.finish, cut.error), ("Ha", FinishReason::Length, None));
}

#[test]
fn minimax_says_beside_the_answer_what_has_failed() {
    let kinds = [
        (1002, ErrorKind::RateLimit),
        (1004, ErrorKind::Authentication),
        (1008, ErrorKind::Quota),
        (1027, ErrorKind::ContentFilter),
        (2013, ErrorKind::InvalidRequest),
        (1000, ErrorKind::Server),
    ];
    for (code, kind) in kinds {
        let status = json!({"status_code": code, "status_msg": "what went wrong"});
        let body = json!({"id": "a", "choices": null, "base_resp": status});
        let streamed = stream(CHAT, std::slice::from_ref(&body));
        let whole = decoded(CHAT, 200, "application/json", body.to_string());
        for read in [streamed, whole] {
            let told = read.error.unwrap();
            assert_eq!((told.kind, told.message.as_str()), (kind, "what went wrong"), "{code}");
        }
    }
    let fine = json!({"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}],
        "base_resp": {"status_code": 0, "status_msg": ""}});
    let read = decoded(CHAT, 200, "application/json", fine.to_string());
    assert_eq!((read.text.as_str(), read.error), ("Hi", None));
}

#[test]
fn databricks_reasons_in_a_summary_within_a_part() {
    let thought = |text: &str| {
        json!([{"type": "reasoning", "summary":
            [{"type": "summary_text", "text": text, "signature": "c2ln"}]}])
    };
    let said = json!([{"type": "text", "text": "Here."}]);
    let read = chat(&[
        json!({"delta": {"content": thought("I ")}}),
        json!({"delta": {"content": thought("think.")}}),
        json!({"delta": {"content": said}}),
        json!({"delta": {}, "finish_reason": "stop"}),
    ]);
    assert_eq!((read.reasoning.as_str(), read.text.as_str()), ("I think.", "Here."));
}

#[test]
fn a_reason_that_is_the_word_null_is_none() {
    let read = chat(&[
        json!({"delta": {"content": "Hi"}, "finish_reason": "null"}),
        json!({"delta": {"content": " there"}, "finish_reason": "None"}),
        json!({"delta": {}, "finish_reason": "length"}),
    ]);
    assert_eq!((read.text.as_str(), read.finish), ("Hi there", FinishReason::Length));
    let delta = |reason: &str| json!({"type": "message_delta", "delta": {"stop_reason": reason}});
    let start = json!({"type": "message_start", "message": {"content": []}});
    let stop = json!({"type": "message_stop"});
    let read = stream(WireKind::Anthropic, &[start, delta("max_tokens"), delta("null"), stop]);
    assert_eq!(read.finish, FinishReason::Length);
    let end = json!({"message": {"content": "Hi"}, "done": true, "done_reason": "null"});
    assert_eq!(stream(WireKind::Ollama, &[end]).finish, FinishReason::Stop);
}

#[test]
fn deltas_of_anthropic_begin_a_block_where_no_start_has_come() {
    let delta = |index: u64, delta: Value| {
        let kind = "content_block_delta";
        json!({"type": kind, "index": index, "delta": delta})
    };
    let thinking = |text: &str| json!({"type": "thinking_delta", "thinking": text});
    let text = |text: &str| json!({"type": "text_delta", "text": text});
    let ends = [
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
        json!({"type": "message_stop"}),
    ];
    let start = json!({"type": "message_start", "message": {"content": []}});
    // Each block under its own number, and all under one.
    for second in [1, 0] {
        let mut events = vec![
            start.clone(),
            delta(0, thinking("Hm")),
            delta(0, thinking(".")),
            delta(second, text("Hi ")),
            delta(second, text("there.")),
        ];
        events.extend(ends.clone());
        let read = stream(WireKind::Anthropic, &events);
        let said = (read.reasoning.as_str(), read.text.as_str(), read.finish);
        assert_eq!(said, ("Hm.", "Hi there.", FinishReason::Stop), "{second}");
    }
    // Of a call, its name would be missing: that is no whole reply.
    let piece = json!({"type": "input_json_delta", "partial_json": "{\"a\":1}"});
    let events = [vec![start, delta(0, piece)], ends.to_vec()].concat();
    let told = stream(WireKind::Anthropic, &events).error.unwrap();
    assert_eq!(told.kind, ErrorKind::Protocol);
}

#[test]
fn the_last_piece_of_geminis_arguments_may_end_the_call() {
    let part =
        |call: Value| json!({"candidates": [{"content": {"parts": [{"functionCall": call}]}}]});
    let piece = |value: &str, more: bool, goes_on: bool| {
        let mut piece = json!({"jsonPath": "$.path", "stringValue": value});
        if more {
            piece["willContinue"] = true.into();
        }
        let mut call = json!({ "partialArgs": [piece] });
        if goes_on {
            call["willContinue"] = true.into();
        }
        part(call)
    };
    let begun = part(json!({"name": "read", "willContinue": true}));
    let end = json!({"candidates": [{"finishReason": "STOP"}]});
    let read = |pieces: &[Value]| {
        let events = [vec![begun.clone()], pieces.to_vec(), vec![end.clone()]].concat();
        let read = stream(WireKind::Gemini, &events);
        (read.finish, serde_json::to_value(called(&read)).unwrap())
    };
    let whole = (FinishReason::ToolCalls, json!(["read"]));
    assert_eq!(read(&[piece("src/", true, true), piece("a.rs", false, false)]), whole);
    // What still comes behind belongs to it.
    let late = [piece("src/", false, false), piece("a.rs", false, false), part(json!({}))];
    assert_eq!(read(&late), whole);
    for cut in [piece("src/", true, true), piece("src/", false, true), piece("src/", true, false)] {
        assert_eq!(read(&[cut]).0, FinishReason::Length);
    }
}

#[test]
fn words_in_place_of_data_are_the_servers_own() {
    let said = "model m1 is not loaded";
    for wire in WireKind::ALL {
        let framed = [format!("data: {said}\n\n"), format!("event: error\ndata: {said}\n\n")];
        let bare = [said.to_owned(), format!("{said}\n"), format!("\"{said}\"")];
        for body in framed.iter().chain(&bare) {
            let told = decoded(wire, 200, wires::stream_type(wire), body).error.unwrap();
            assert!(told.message.contains(said), "{wire:?} {body:?}: {}", told.message);
            assert!(!told.message.contains('\n'), "{wire:?} {body:?}: {}", told.message);
        }
    }
    let told = decoded(CHAT, 200, "", "data: Rate limit reached, try again in 2s\n\n");
    assert_eq!(told.error.unwrap().retry_after_ms, Some(2_000));
    // A reply that is whole is one, whatever else was said.
    let read = chat(&[json!({"delta": {"content": "Hi"}, "finish_reason": "stop"})]);
    let body = "data: warming up\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\
                \"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    assert_eq!(decoded(CHAT, 200, "", body), read);
    // Comments, names and numbers of events are no words.
    let told = decoded(CHAT, 200, "", ": waiting\n\nevent: x\nid: 7\nretry: 9\n\n").error.unwrap();
    assert_eq!((told.kind, told.message.contains("waiting")), (ErrorKind::Protocol, false));
}

#[test]
fn an_error_within_a_stream_ends_it() {
    for wire in [WireKind::OpenaiResponses, CHAT, WireKind::Gemini, WireKind::Ollama] {
        let event = wires::error_event(wire, "api_error", "all is lost");
        let mut decoder = Decoder::new(wire, &head(200, ""));
        decoder.feed(event.as_bytes(), &mut Vec::new());
        assert!(decoder.is_whole(), "{wire:?}");
        assert_eq!(decoder.finish().unwrap_err().message, "all is lost", "{wire:?}");
    }
}

#[test]
fn a_text_in_a_file_goes_as_text_where_the_protocol_takes_no_such_file() {
    let file = |media_type: &str, data: &str| Part::File {
        media_type: media_type.into(),
        name: "notes.txt".into(),
        data: data.into(),
    };
    for wire in WireKind::ALL {
        let mut config = config();
        wires::speak(&mut config.model, wire);
        let mut host = TestHost::open(config);
        // "Grüße, 世界\n", a byte that is no text, and a text under the type of a program's data.
        let parts = vec![
            file("text/plain", "R3LDvMOfZSwg5LiW55WMCg=="),
            file("application/octet-stream", "AAEC/w=="),
            file("application/json", "eyJhIjoxfQ=="),
        ];
        let _ = host.command(Command::submit(parts));
        let body = host.body().to_string();
        let is_text = body.contains("notes.txt:\\n\\nGrüße, 世界\\n");
        assert_eq!(is_text, wire != WireKind::Gemini, "{wire:?}: {body}");
        let is_data = body.contains("R3LDvMOfZSwg5LiW55WMCg==");
        assert_eq!(is_data, wire == WireKind::Gemini, "{wire:?}: {body}");
        assert!(body.contains("notes.txt:\\n\\n{\\\"a\\\":1}"), "{wire:?}: {body}");
        let left_out = body.matches("[notes.txt is left out").count();
        assert_eq!(left_out, usize::from(wire != WireKind::Gemini), "{wire:?}: {body}");
    }
}

#[test]
fn tiny_pieces_that_come_at_once_are_few() {
    let parts = vec![json!({"text": "ab"}); 50_000];
    let value = json!({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]});
    let mut decoder = Decoder::new(WireKind::Gemini, &head(200, ""));
    let mut pieces = Vec::new();
    decoder.feed(format!("data: {value}\n\n").as_bytes(), &mut pieces);
    assert!(pieces.len() <= 64, "{}", pieces.len());
    let shown: String = pieces
        .iter()
        .map(|piece| match piece {
            ReplyPiece::Text(text) => text.as_str(),
            _ => panic!("{piece:?}"),
        })
        .collect();
    assert_eq!(shown.len(), 100_000);
    assert_eq!(decoder.finish().unwrap().text(), shown);
}
