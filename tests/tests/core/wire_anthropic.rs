//! Anthropic Messages from bytes (`docs/wires.md`): every event and quirk, in any chunking.

use innerloop_core::{
    Decoder,
    config::WireKind,
    event::ErrorKind,
    input::ResponseHead,
    json::Json,
    message::{Block, FinishReason, Reply},
};
use innerloop_driver::decode::{CallArguments, DecodedResponse, decode};
use innerloop_tests::{
    anthropic::Message,
    feeding::{decoded, head},
};
use serde_json::json;

fn chunked(head: &ResponseHead, body: &[u8], size: usize) -> DecodedResponse {
    decode(WireKind::Anthropic, head, body.chunks(size.max(1)))
}

/// Decodes a stream whole, byte by byte and split at every position: the same each time.
fn stream(body: &str) -> DecodedResponse {
    decoded(WireKind::Anthropic, 200, "text/event-stream; charset=utf-8", body)
}

fn decoded_whole(body: &str) -> DecodedResponse {
    decoded(WireKind::Anthropic, 200, "application/json", body)
}

/// The reply itself.
fn reply(body: &str) -> Reply {
    let mut decoder = Decoder::new(WireKind::Anthropic, &head(200, ""));
    decoder.feed(body.as_bytes(), &mut Vec::new());
    decoder.finish().unwrap()
}

fn events(data: &[serde_json::Value]) -> String {
    data.iter().map(|data| format!("data: {data}\n\n")).collect()
}

fn start() -> serde_json::Value {
    json!({"type": "message_start", "message": {"id": "m", "model": "x", "content": [],
        "usage": {"input_tokens": 5, "cache_read_input_tokens": 7,
            "cache_creation_input_tokens": 11, "output_tokens": 1}}})
}

fn block(index: u32, block: &serde_json::Value) -> serde_json::Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u32, delta: &serde_json::Value) -> serde_json::Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn stop(reason: &str) -> [serde_json::Value; 2] {
    [
        json!({"type": "message_delta", "delta": {"stop_reason": reason},
            "usage": {"output_tokens": 9, "output_tokens_details": {"thinking_tokens": 4}}}),
        json!({"type": "message_stop"}),
    ]
}

#[test]
fn a_stream_gives_text_thinking_parallel_calls_and_usage() {
    let [done, end] = stop("tool_use");
    let decoded = stream(&events(&[
        start(),
        json!({"type": "ping"}),
        block(0, &json!({"type": "thinking", "thinking": ""})),
        delta(0, &json!({"type": "thinking_delta", "thinking": "hm"})),
        delta(0, &json!({"type": "signature_delta", "signature": "s"})),
        json!({"type": "content_block_stop", "index": 0}),
        block(1, &json!({"type": "text", "text": ""})),
        delta(1, &json!({"type": "text_delta", "text": "Grüße \"\u{1F600}\"\n"})),
        block(2, &json!({"type": "tool_use", "id": "a", "name": "f", "input": {}})),
        delta(2, &json!({"type": "input_json_delta", "partial_json": ""})),
        delta(2, &json!({"type": "input_json_delta", "partial_json": "{\"x\":"})),
        delta(2, &json!({"type": "input_json_delta", "partial_json": " 1.0}"})),
        block(3, &json!({"type": "tool_use", "id": "b", "name": "g", "input": {"y": 2}})),
        done,
        end,
    ]));
    assert_eq!(decoded.text, "Grüße \"\u{1F600}\"\n");
    assert_eq!((decoded.reasoning.as_str(), decoded.finish), ("hm", FinishReason::ToolCalls));
    let shown = serde_json::to_string(&decoded.tool_calls).unwrap();
    let expected = concat!(
        r#"[{"id":"a","name":"f","arguments":{"x": 1.0}},"#,
        r#"{"id":"b","name":"g","arguments":{"y":2}}]"#
    );
    assert_eq!(shown, expected);
    let usage = decoded.usage.unwrap();
    assert_eq!((usage.input_total, usage.output_total), (23, 9));
    assert_eq!((usage.cache_read, usage.cache_write, usage.reasoning), (7, 11, 4));
}

#[test]
fn quirks_of_framing_change_nothing() {
    let message = Message::text("Hello there.").thinking("hm");
    let plain = message.events().concat();
    let expected = stream(&plain);
    for variant in [
        plain.replace('\n', "\r\n"),
        plain.replace('\n', "\r"),
        format!("\u{feff}: comment\n\n{plain}"),
        plain.replace("event: content_block_delta\n", ""),
        plain.replace("}\n\n", "}   \n\n"),
        plain.replace("data: ", "data:"),
        plain.replace("\n\n", "\n: ping - now\nretry: 5\nid: 1\n\n"),
        plain.trim_end().to_owned(),
    ] {
        assert_eq!(stream(&variant), expected, "{variant}");
    }
}

#[test]
fn a_whole_body_and_a_stream_without_content_type_give_the_same() {
    let message = Message::call("a", "f", &json!({"x": [1, 2]}));
    let from_stream = stream(&message.events().concat());
    let body = message.body();
    for content_type in ["application/json", "", "text/plain"] {
        let padded = format!("\n\n   {body}\n");
        let whole = chunked(&head(200, content_type), padded.as_bytes(), 3);
        assert_eq!(whole.tool_calls, from_stream.tool_calls);
        assert_eq!(whole.finish, from_stream.finish);
    }
    let bare = chunked(&head(200, ""), message.events().concat().as_bytes(), 5);
    assert_eq!(bare, from_stream);
}

#[test]
fn a_second_message_start_begins_anew() {
    let [done, end] = stop("end_turn");
    let decoded = stream(&events(&[
        start(),
        block(0, &json!({"type": "text", "text": "old"})),
        start(),
        block(0, &json!({"type": "text", "text": "new"})),
        done,
        end,
    ]));
    assert_eq!(decoded.text, "new");
}

#[test]
fn a_stop_reason_in_the_start_stands_where_no_delta_follows() {
    let mut begin = start();
    begin["message"]["stop_reason"] = json!("tool_use");
    let call = block(0, &json!({"type": "tool_use", "id": "a", "name": "f", "input": {"z": 1}}));
    let decoded = stream(&events(&[begin, call, json!({"type": "message_stop"})]));
    assert_eq!((decoded.finish, decoded.tool_calls.len()), (FinishReason::ToolCalls, 1));
}

#[test]
fn what_the_provider_ran_itself_is_no_call_of_ours() {
    let [done, end] = stop("end_turn");
    let decoded = stream(&events(&[
        start(),
        block(0, &json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}})),
        delta(0, &json!({"type": "input_json_delta", "partial_json": "{\"query\":\"x\"}"})),
        block(1, &json!({"type": "web_search_tool_result", "tool_use_id": "s", "content": []})),
        block(2, &json!({"type": "text", "text": "Found."})),
        done,
        end,
    ]));
    assert_eq!((decoded.tool_calls.len(), decoded.text.as_str()), (0, "Found."));
}

#[test]
fn every_stop_reason_has_its_meaning() {
    for (reason, finish) in [
        ("end_turn", FinishReason::Stop),
        ("stop_sequence", FinishReason::Stop),
        ("tool_use", FinishReason::ToolCalls),
        ("max_tokens", FinishReason::Length),
        ("pause_turn", FinishReason::Pause),
        ("refusal", FinishReason::Refusal),
        ("model_context_window_exceeded", FinishReason::ContextWindow),
        ("brand_new", FinishReason::Unknown),
    ] {
        let decoded = stream(&Message::text("x").stop_reason(reason).events().concat());
        assert_eq!(decoded.finish, finish);
        let refused = finish == FinishReason::Refusal;
        let (text, refusal) = if refused { ("", "x") } else { ("x", "") };
        assert_eq!((decoded.text.as_str(), decoded.refusal.as_str()), (text, refusal));
    }
}

#[test]
fn an_error_in_mid_stream_is_the_providers_own() {
    let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Busy"}});
    let decoded =
        stream(&events(&[start(), block(0, &json!({"type": "text", "text": "x"})), error]));
    let error = decoded.error.unwrap();
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Overloaded, "Busy"));
    assert_eq!((error.code.as_deref(), error.status), (Some("overloaded_error"), 200));
}

#[test]
fn errors_before_the_stream_are_told_apart() {
    for (status, kind, message, expected) in [
        (401, "authentication_error", "invalid x-api-key", ErrorKind::Authentication),
        (403, "permission_error", "no", ErrorKind::Authentication),
        (404, "not_found_error", "model: x", ErrorKind::InvalidRequest),
        (413, "request_too_large", "too large", ErrorKind::ContextOverflow),
        (400, "invalid_request_error", "prompt is too long: 3 > 2", ErrorKind::ContextOverflow),
        (400, "invalid_request_error", "bad", ErrorKind::InvalidRequest),
        (429, "rate_limit_error", "slow", ErrorKind::RateLimit),
        (500, "api_error", "oops", ErrorKind::Server),
        (529, "overloaded_error", "busy", ErrorKind::Overloaded),
        (418, "teapot_error", "tea", ErrorKind::InvalidRequest),
    ] {
        let error = json!({"type": kind, "message": message});
        let body = json!({"type": "error", "error": error}).to_string();
        let error = chunked(&head(status, "application/json"), body.as_bytes(), 7).error.unwrap();
        assert_eq!((error.kind, error.status), (expected, status), "{message}");
        assert_eq!(error.message, message);
    }
    for (body, says) in [
        ("<html>nginx</html>", "HTTP 502 with an HTML page"),
        ("", "HTTP 502 with an empty body"),
        ("upstream gone", "HTTP 502: upstream gone"),
    ] {
        let error = chunked(&head(502, "text/html"), body.as_bytes(), 4).error.unwrap();
        assert_eq!(error.kind, ErrorKind::Server);
        assert!(error.message.starts_with(says), "{}", error.message);
    }
}

#[test]
fn retry_after_is_read_in_all_its_forms_and_only_from_errors() {
    let retry = |name: &str, value: &str, status: u16| {
        let mut head = head(status, "application/json");
        head.at = innerloop_core::time::UnixMillis(784_111_777_000);
        head.headers.push((name.to_owned(), value.to_owned()));
        chunked(&head, b"{\"type\":\"error\",\"error\":{\"type\":\"x\"}}", 9).error.unwrap()
    };
    assert_eq!(retry("retry-after", "2.5", 429).retry_after_ms, Some(2_500));
    assert_eq!(retry("retry-after-ms", "40", 429).retry_after_ms, Some(40));
    let date = "Sun, 06 Nov 1994 08:49:47 GMT";
    assert_eq!(retry("retry-after", date, 429).retry_after_ms, Some(10_000));
    assert_eq!(retry("retry-after", "soon", 429).retry_after_ms, None);
    assert_eq!(retry("retry-after", "-1", 429).retry_after_ms, None);
}

#[test]
fn a_stream_cut_anywhere_is_an_error_and_never_a_call() {
    let reply = Message::text("Text with ü.").and_call("a", "f", &json!({"x": 1}));
    let body = reply.events().concat();
    let head = head(200, "text/event-stream");
    let complete = body.rfind("data: {\"type\":\"message_stop\"}").unwrap()
        + "data: {\"type\":\"message_stop\"}".len();
    for end in 0..complete {
        let decoded = chunked(&head, &body.as_bytes()[..end], 64);
        let error = decoded.error.unwrap_or_else(|| panic!("cut at {end} goes unnoticed"));
        assert_eq!(error.kind, ErrorKind::Protocol);
        assert!(decoded.tool_calls.is_empty());
    }
    assert!(chunked(&head, &body.as_bytes()[..complete], 64).error.is_none());
}

#[test]
fn rubbish_is_an_error_and_never_a_panic() {
    let rubbish: [&[u8]; 8] = [
        b"",
        b"\xff\xfe\x00",
        b"data: {\"type\":\"message_start\"\n\n",
        b"data: []\n\ndata: 1\n\n",
        b"data: {\"type\":\"content_block_delta\",\"index\":9,\"delta\":{\"text\":\"x\"}}\n\n",
        b"{\"type\":\"message\"}",
        b"[1]",
        b"data: {\"type\":\"error\"}\n\n",
    ];
    for body in rubbish {
        for kind in ["text/event-stream", "application/json", ""] {
            for size in [1, 1_000] {
                let decoded = chunked(&head(200, kind), body, size);
                assert_eq!(decoded.error.unwrap().kind, ErrorKind::Protocol, "{kind} {body:?}");
            }
        }
    }
}

#[test]
fn arguments_that_are_not_json_stay_as_they_are() {
    let [done, end] = stop("tool_use");
    let call = json!({"type": "tool_use", "id": "a", "name": "f", "input": {}});
    let piece = json!({"type": "input_json_delta", "partial_json": "{\"x\": "});
    let decoded = stream(&events(&[start(), block(0, &call), delta(0, &piece), done, end]));
    assert_eq!(decoded.tool_calls[0].arguments, CallArguments::Raw("{\"x\": ".into()));
}

#[test]
fn half_a_surrogate_pair_is_joined_or_costs_one_character_and_no_more() {
    let text = |piece: &str| {
        let body = format!(r#""index":0,"delta":{{"type":"text_delta","text":"{piece}"}}"#);
        format!("data: {{\"type\":\"content_block_delta\",{body}}}\n\n")
    };
    let [done, end] = stop("end_turn");
    let begin = events(&[start(), block(0, &json!({"type": "text", "text": ""}))]);
    let pieces = [r"Hello ", r"\ud83d", r"\ude00", r" \ud83d\ude00 \\ud83d", r" world"].map(text);
    let decoded = stream(&format!("{begin}{}{}", pieces.concat(), events(&[done, end])));
    assert_eq!(decoded.text, "Hello \u{1F600} \u{1F600} \\ud83d world");
    for (pieces, expected) in [
        (&[r"a\ud83d", r"\ude00b"][..], "a\u{1F600}b"),
        (&[r"a\ud83d", "b"], "a\u{fffd}b"),
        (&[r"a\ud83d", r"\ud83d", r"\ude00"], "a\u{fffd}\u{1F600}"),
        (&[r"\ude00a"], "\u{fffd}a"),
        (&[r"a\\ud83d", "b"], "a\\ud83db"),
        (&[r"a\ud83d"], "a\u{fffd}"),
        (&[r"\ud83d\ude00", r"\u00e4"], "\u{1F600}ä"),
    ] {
        let pieces: String = pieces.iter().map(|piece| text(piece)).collect();
        let decoded = stream(&format!("{begin}{pieces}{}", events(&stop("end_turn"))));
        assert_eq!(decoded.text, expected);
    }
    let whole = r#"{"type":"message","content":[{"type":"text","text":"hey \ud800"}]}"#;
    let decoded = chunked(&head(200, "application/json"), whole.as_bytes(), 9);
    assert_eq!(decoded.text, "hey \u{fffd}");
}

#[test]
fn a_lost_piece_of_a_call_makes_the_reply_unreadable() {
    let call = json!({"type": "tool_use", "id": "a", "name": "f", "input": {}});
    let begin = events(&[start(), block(0, &call)]);
    let end = events(&stop("tool_use"));
    let piece = |piece: &str| {
        let delta = format!(r#"{{"type":"input_json_delta","partial_json":"{piece}"}}"#);
        let event = r#""type":"content_block_delta","index":0"#;
        format!("data: {{{event},\"delta\":{delta}}}\n\n")
    };
    for lost in [r"\ud83d", r"\ude00"] {
        let decoded = stream(&format!("{begin}{}{end}", piece(lost)));
        let error = decoded.error.unwrap();
        assert_eq!((error.kind, decoded.tool_calls.len()), (ErrorKind::Protocol, 0));
    }
    let pieces = [piece(r#"{\"x\": \"\ud83d"#), piece(r#"\ude00\"}"#)].concat();
    let decoded = stream(&format!("{begin}{pieces}{end}"));
    let arguments = Json::parse("{\"x\": \"\u{1F600}\"}").unwrap();
    assert_eq!(decoded.tool_calls[0].arguments, CallArguments::Value(arguments));
}

#[test]
fn odd_values_cost_themselves_and_nothing_else() {
    let mut begin = start();
    begin["message"]["id"] = json!(7);
    begin["message"]["usage"] = json!({"input_tokens": 5.0, "cache_read_input_tokens": null,
        "cache_creation_input_tokens": "many", "output_tokens": -1, "service_tier": {"a": []}});
    let mut done = stop("end_turn");
    done[0]["usage"] = json!({"output_tokens": 9, "input_tokens": null,
        "output_tokens_details": "none"});
    done[0]["delta"]["stop_details"] = json!(["x"]);
    let text = json!({"type": "text", "text": null, "citations": null});
    let events = events(&[
        begin,
        block(0, &text),
        json!({"type": "content_block_delta", "index": 0, "delta": null}),
        json!({"type": "content_block_delta", "index": "0", "delta": {"text": "Hi"}}),
        json!({"type": "content_block_delta", "delta": {"text": "lost without its number"}}),
        json!({"type": "vendor_event", "usage": 1, "error": "none of ours"}),
        done[0].clone(),
        json!({"type": "message_delta", "delta": {}, "usage": 3}),
        done[1].clone(),
    ]);
    let decoded = stream(&events);
    assert_eq!((decoded.text.as_str(), decoded.finish), ("Hi", FinishReason::Stop));
    let usage = decoded.usage.unwrap();
    assert_eq!((usage.input_total, usage.output_total), (5, 9));
    for content in [r#""Hi""#, r#"["Hi"]"#, r#"[{"type":"text","text":"Hi"},null,7]"#] {
        let body = format!(r#"{{"content":{content},"stop_reason":"end_turn","usage":[]}}"#);
        let whole = decoded_whole(&body);
        assert_eq!(
            (whole.text.as_str(), whole.error, whole.usage),
            ("Hi", None, None),
            "{content}"
        );
    }
}

#[test]
fn every_recorded_block_of_the_providers_own_is_kept_and_is_no_call() {
    for kind in [
        "redacted_thinking",
        "server_tool_use",
        "web_search_tool_result",
        "web_fetch_tool_result",
        "code_execution_tool_result",
        "bash_code_execution_tool_result",
        "text_editor_code_execution_tool_result",
        "tool_search_tool_result",
        "mcp_tool_use",
        "mcp_tool_result",
        "compaction",
        "advisor_tool_result",
        "fallback",
        "brand_new",
    ] {
        let odd = json!({"type": kind, "data": "x", "n": 1.50, "content": [{"z": 1, "a": 2}]});
        let text = json!({"type": "text", "text": "Hi"});
        let [done, end] = stop("pause_turn");
        let body = events(&[start(), block(0, &odd), block(1, &text), done, end]);
        let decoded = stream(&body);
        assert_eq!((decoded.tool_calls.len(), decoded.text.as_str()), (0, "Hi"), "{kind}");
        let reply = reply(&body);
        assert_eq!(reply.blocks.len(), 2);
        assert!(
            matches!(&reply.blocks[0], Block::Opaque(json) if *json.text() == *odd.to_string())
        );
    }
    let compacted = json!({"type": "compaction", "content": null});
    let more = json!({"type": "compaction_delta", "content": "sum", "encrypted_content": "e"});
    let [done, end] = stop("compaction");
    let reply = reply(&events(&[start(), block(0, &compacted), delta(0, &more), done, end]));
    assert_eq!(reply.finish, FinishReason::Pause);
    let kept: serde_json::Value = match &reply.blocks[0] {
        Block::Opaque(json) => serde_json::from_str(json.text()).unwrap(),
        other => panic!("{other:?}"),
    };
    assert_eq!(kept, json!({"type": "compaction", "content": "sum", "encrypted_content": "e"}));
}

#[test]
fn a_refusal_says_why() {
    let mut done = stop("refusal");
    done[0]["delta"]["stop_details"] =
        json!({"type": "refusal", "category": "cyber", "explanation": "Not that."});
    let decoded = stream(&events(&[start(), done[0].clone(), done[1].clone()]));
    assert_eq!((decoded.finish, decoded.refusal.as_str()), (FinishReason::Refusal, "Not that."));
    assert_eq!((decoded.text.as_str(), decoded.error), ("", None));
}

#[test]
fn padding_of_any_length_changes_nothing() {
    let message = Message::text("Hello there.");
    let plain = message.events().concat();
    let padded = plain.replace("}\n\n", &format!("{}}}{}\n\n", " ".repeat(500), " ".repeat(500)));
    assert_eq!(stream(&padded), stream(&plain));
}

#[test]
fn an_error_without_a_type_is_still_the_providers_own() {
    let error = r#"data: {"error":{"type":"overloaded_error","message":"Busy"}}"#;
    let decoded = stream(&format!("{}{error}\n\n", events(&[start()])));
    assert_eq!(decoded.error.unwrap().message, "Busy");
}
