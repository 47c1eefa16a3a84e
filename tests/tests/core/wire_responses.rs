//! OpenAI Responses from bytes (`docs/wires.md`): every event and quirk, in any chunking.

use innerloop_core::{
    Decoder, FailureKind, ReplyPiece,
    config::WireKind,
    event::ErrorKind,
    message::{Block, FinishReason, Reply, Usage},
};
use innerloop_driver::decode::{CallArguments, DecodedResponse};
use innerloop_tests::feeding::{decoded, head, truncations};
use serde_json::{Value, json};
use std::{fs, path::Path};

const STREAMS: [&str; 11] = [
    "text.sse",
    "calls.sse",
    "raw_reasoning.sse",
    "custom.sse",
    "refusal.sse",
    "rotating_ids.sse",
    "provider_items.sse",
    "client_items.sse",
    "phases.sse",
    "incomplete.sse",
    "terminal_only.sse",
];

const SSE: &str = "text/event-stream; charset=utf-8";

fn fixture(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/wire/openai_responses");
    fs::read_to_string(folder.join(name)).unwrap()
}

fn stream(body: &str) -> DecodedResponse {
    decoded(WireKind::OpenaiResponses, 200, SSE, body)
}

fn whole(body: &Value) -> DecodedResponse {
    decoded(WireKind::OpenaiResponses, 200, "application/json", body.to_string())
}

fn events(data: &[Value]) -> String {
    data.iter().map(|data| format!("data: {data}\n\n")).collect()
}

/// The reply itself, and what people see while it arrives.
fn reply(body: &str) -> (Reply, Vec<ReplyPiece>) {
    let mut decoder = Decoder::new(WireKind::OpenaiResponses, &head(200, SSE));
    let mut pieces = Vec::new();
    body.as_bytes().chunks(100).for_each(|chunk| decoder.feed(chunk, &mut pieces));
    (decoder.finish().unwrap(), pieces)
}

fn shown(pieces: &[ReplyPiece]) -> (String, String) {
    let (mut said, mut thought) = (String::new(), String::new());
    for piece in pieces {
        match piece {
            ReplyPiece::Restart => panic!("nothing begins anew here"),
            ReplyPiece::Text(text) => said.push_str(text),
            ReplyPiece::Reasoning(text) => thought.push_str(text),
            ReplyPiece::Call(_) => {}
        }
    }
    (said, thought)
}

fn calls(decoded: &DecodedResponse) -> String {
    serde_json::to_string(&decoded.tool_calls).unwrap()
}

fn item_done(number: u32, item: &Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": number, "item": item})
}

fn item_added(number: u32, item: &Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": number, "item": item})
}

fn delta(kind: &str, number: u32, piece: &str) -> Value {
    json!({"type": format!("response.{kind}.delta"), "output_index": number, "delta": piece})
}

fn completed(output: &Value) -> Value {
    json!({"type": "response.completed", "response": {"status": "completed", "output": output}})
}

fn message(text: &str) -> Value {
    json!({"type": "message", "role": "assistant",
        "content": [{"type": "output_text", "text": text}]})
}

fn function(id: &str, name: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments})
}

#[test]
fn a_stream_gives_text_and_usage() {
    let body = &fixture("text.sse");
    let found = stream(body);
    assert_eq!(found.text, "Grüße, \"Welt\" 🌍\n");
    assert_eq!((found.finish, found.error), (FinishReason::Stop, None));
    let usage = Usage {
        input_total: 120,
        output_total: 45,
        cache_read: 64,
        cache_write: 32,
        reasoning: 20,
    };
    assert_eq!(found.usage, Some(usage));
    let (reply, pieces) = reply(body);
    assert_eq!(reply.response_id.as_deref(), Some("resp_1"));
    assert_eq!(reply.model.as_deref(), Some("gpt-5.5-2026-04-02"));
    assert_eq!(reply.wire, Some(WireKind::OpenaiResponses));
    assert_eq!((pieces.len(), shown(&pieces).0), (3, found.text));
}

#[test]
fn very_many_items_are_told_apart_without_a_number() {
    let ids: Vec<String> = (0..1_000).map(|id| format!("c{id}")).collect();
    let mut data = Vec::new();
    for id in &ids {
        for kind in ["response.output_item.added", "response.output_item.done"] {
            data.push(json!({"type": kind, "item": function(id, "f", "{}")}));
        }
    }
    data.push(completed(&json!([])));
    let (reply, _) = reply(&events(&data));
    assert!(reply.tool_calls().map(|call| &call.id).eq(&ids));
}

#[test]
fn a_stream_gives_thinking_and_parallel_calls() {
    let body = &fixture("calls.sse");
    let found = stream(body);
    assert_eq!(found.reasoning, "**Plan**\n\nTwo cities.**Order**\n\nBoth at once.");
    let expected = concat!(
        r#"[{"id":"call_1","name":"weather","arguments":{"city":"Köln","days":2}},"#,
        r#"{"id":"call_2","name":"weather","arguments":{"city":"Lima","temperature":1.50}},"#,
        r#"{"id":"call_3","name":"now","arguments":{}}]"#,
    );
    assert_eq!((calls(&found).as_str(), found.finish), (expected, FinishReason::ToolCalls));
    let (reply, pieces) = reply(body);
    assert_eq!(shown(&pieces).1, found.reasoning);
    let Some(Block::Reasoning(reasoning)) = reply.blocks.first() else { panic!("no thinking") };
    let item: Value = serde_json::from_str(reasoning.item.as_ref().unwrap().text()).unwrap();
    assert_eq!(item["encrypted_content"], "gAAAA-whole");
    assert_eq!((&item["id"], item["summary"].as_array().unwrap().len()), (&Value::Null, 2));
}

#[test]
fn the_whole_item_stands_above_its_pieces() {
    let found = stream(&fixture("raw_reasoning.sse"));
    assert_eq!(found.reasoning, "We need the file.");
    let expected = r#"[{"id":"call_9","name":"read_file","arguments":{"path":"a.txt"}}]"#;
    assert_eq!(calls(&found), expected);
}

#[test]
fn a_custom_call_carries_its_raw_input() {
    let found = stream(&fixture("custom.sse"));
    let patch = "*** Begin Patch\n*** Add File: a.txt\n+one \"1\"\n*** End Patch\n";
    let [first, second] = found.tool_calls.as_slice() else { panic!("{found:?}") };
    assert_eq!((first.id.as_str(), first.name.as_str()), ("call_p", "apply_patch"));
    assert_eq!(first.arguments, CallArguments::Raw(patch.into()));
    assert_eq!(second.arguments, CallArguments::Raw("{\"not\": \"parsed\"}".into()));
}

#[test]
fn a_refusal_is_no_text() {
    let found = stream(&fixture("refusal.sse"));
    assert_eq!((found.text.as_str(), found.finish), ("", FinishReason::Refusal));
    assert_eq!(found.refusal, "I can't help with that.");
    let parts = json!([{"type": "output_text", "text": "Well. "},
        {"type": "refusal", "refusal": "No."}]);
    let both = json!({"object": "response", "status": "completed", "output": [
        {"type": "message", "content": parts}]});
    let found = whole(&both);
    assert_eq!((found.text.as_str(), found.refusal.as_str()), ("Well. ", "No."));
    assert_eq!(found.finish, FinishReason::Refusal);
}

#[test]
fn ids_may_change_from_event_to_event() {
    let found = stream(&fixture("rotating_ids.sse"));
    assert_eq!(found.text, "One text.");
    let expected = r#"[{"id":"call_after","name":"tool_search","arguments":{"goal":"Weather"}}]"#;
    assert_eq!(calls(&found), expected);
}

#[test]
fn what_the_provider_runs_itself_is_kept_as_it_is_and_no_call_of_ours() {
    let body = &fixture("provider_items.sse");
    let found = stream(body);
    assert_eq!((found.text.as_str(), found.finish), ("Found.", FinishReason::Stop));
    assert_eq!(calls(&found), "[]");
    let (reply, _) = reply(body);
    assert_eq!(reply.blocks.len(), 20);
    let Some(Block::Opaque(last)) = reply.blocks.get(18) else { panic!("{:?}", reply.blocks) };
    let expected = r#"{"id":"new_1","type":"brand_new_item","anything":{"goes":[1,2.5]}}"#;
    assert_eq!(last.text(), expected);
}

#[test]
fn every_kind_of_call_that_the_client_runs_is_listed() {
    let body = &fixture("client_items.sse");
    let expected = concat!(
        r#"[{"id":"call_1","name":"local_shell","#,
        r#""arguments":{"type":"exec","command":["ls","-l"],"env":{}}},"#,
        r#"{"id":"call_2","name":"shell","arguments":{"commands":["ls"],"timeout_ms":1000}},"#,
        r#"{"id":"call_3","name":"apply_patch","#,
        r#""arguments":{"type":"create_file","path":"a.txt","diff":"+one\n"}},"#,
        r#"{"id":"call_4","name":"computer","arguments":{"type":"screenshot"}},"#,
        r#"{"id":"call_5","name":"tool_search","arguments":{"goal":"g"}},"#,
        r#"{"id":"call_6","name":"stock","arguments":{"sku":1}}]"#,
    );
    assert_eq!(calls(&stream(body)), expected);
}

#[test]
fn a_message_keeps_its_phase() {
    let (reply, _) = reply(&fixture("phases.sse"));
    let marks: Vec<&str> = reply
        .blocks
        .iter()
        .map(|block| match block {
            Block::MarkedText(text) => text.mark.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(marks, ["commentary", "final_answer"]);
    assert_eq!(reply.text(), "Let me look.Done.");
}

#[test]
fn a_whole_body_gives_the_same_as_a_stream() {
    let found = decoded(WireKind::OpenaiResponses, 200, "application/json", fixture("whole.json"));
    assert_eq!((found.text.as_str(), found.reasoning.as_str()), ("Two parts.", "Hm. Yes."));
    assert_eq!((found.tool_calls.len(), found.finish), (2, FinishReason::ToolCalls));
    assert_eq!(found.usage.unwrap().cache_write, 32);
    for content_type in ["", SSE] {
        let padded = format!("\u{feff}\n\n   \n{}\n ", fixture("whole.json"));
        assert_eq!(decoded(WireKind::OpenaiResponses, 200, content_type, padded), found);
    }
    let response: Value = serde_json::from_str(&fixture("whole.json")).unwrap();
    let event = json!({"type": "response.completed", "response": response});
    assert_eq!(stream(&events(&[event])), found);
}

#[test]
fn the_terminal_event_stands_in_for_items_that_never_came() {
    let body = &fixture("terminal_only.sse");
    let found = stream(body);
    assert_eq!((found.text.as_str(), found.tool_calls.len()), ("All at the end.", 1));
    assert_eq!(shown(&reply(body).1).0, "All at the end.");
    // An item that was announced and streamed, but never came whole.
    let open = [
        item_added(0, &message("")),
        delta("output_text", 0, "Half"),
        item_added(1, &function("c", "f", "")),
    ];
    let output = json!([message("Half and half."), function("c", "f", "{\"x\":1}")]);
    let found = stream(&events(&[&open[..], &[completed(&output)]].concat()));
    assert_eq!(found.text, "Half and half.");
    assert_eq!(calls(&found), r#"[{"id":"c","name":"f","arguments":{"x":1}}]"#);
    // An item in the middle that was never announced.
    let found = stream(&events(&[
        item_added(1, &message("")),
        item_done(1, &message("Text.")),
        completed(&json!([function("c", "f", ""), message("Text.")])),
    ]));
    assert_eq!((found.text.as_str(), found.tool_calls.len()), ("Text.", 1));
}

#[test]
fn pieces_stand_in_where_no_whole_item_comes() {
    let found = stream(&events(&[
        item_added(0, &json!({"type": "reasoning", "encrypted_content": "half"})),
        delta("reasoning_text", 0, "Hm."),
        item_added(1, &message("")),
        delta("output_text", 1, "Te"),
        delta("output_text", 1, "xt"),
        item_added(2, &function("c", "f", "")),
        delta("function_call_arguments", 2, "{\"x\":"),
        delta("function_call_arguments", 2, "1}"),
        json!({"type": "response.refusal.delta", "output_index": 3, "delta": "No."}),
        completed(&json!([])),
    ]));
    assert_eq!((found.text.as_str(), found.reasoning.as_str()), ("Text", "Hm."));
    assert_eq!(calls(&found), r#"[{"id":"c","name":"f","arguments":{"x":1}}]"#);
    assert_eq!(found.refusal, "No.");
}

#[test]
fn items_may_share_a_number_or_have_none() {
    for number in [json!(0), Value::Null] {
        let event = |kind: &str, item: Value| {
            json!({"type": format!("response.output_item.{kind}"), "output_index": number,
                "item": item})
        };
        let found = stream(&events(&[
            event("added", function("a", "f", "")),
            event("added", function("b", "g", "")),
            event("done", function("a", "f", "{\"x\":1}")),
            event("done", function("b", "g", "{\"y\":2}")),
            event("done", message("Text.")),
            completed(&json!([])),
        ]));
        let expected = concat!(
            r#"[{"id":"a","name":"f","arguments":{"x":1}},"#,
            r#"{"id":"b","name":"g","arguments":{"y":2}}]"#,
        );
        assert_eq!((calls(&found).as_str(), found.text.as_str()), (expected, "Text."));
    }
}

#[test]
fn a_second_beginning_makes_void_what_came_before() {
    let created = json!({"type": "response.created", "response": {"id": "r", "output": []}});
    let body = events(&[
        created.clone(),
        item_done(0, &message("old")),
        created,
        item_done(0, &message("new")),
        completed(&json!([message("new")])),
    ]);
    assert_eq!(stream(&body).text, "new");
    let (_, pieces) = reply(&body);
    let text = |text: &str| ReplyPiece::Text(text.to_owned());
    assert_eq!(pieces, [text("old"), ReplyPiece::Restart, text("new")]);
}

#[test]
fn an_item_that_ends_without_a_number_is_the_one_that_is_open() {
    let one = json!({"type": "message", "content": []});
    let done = |item: Value| json!({"type": "response.output_item.done", "item": item});
    let added = |item: &Value| json!({"type": "response.output_item.added", "item": item});
    let text = |piece: &str| json!({"type": "response.output_text.delta", "delta": piece});
    let output = json!([message("One. "), message("Two.")]);
    let numbered = [
        item_added(0, &one),
        delta("output_text", 0, "One. "),
        done(message("One. ")),
        item_added(1, &one),
        delta("output_text", 1, "Two."),
        done(message("Two.")),
        completed(&output),
    ];
    let bare = [
        added(&one),
        text("One. "),
        done(message("One. ")),
        added(&one),
        text("Two."),
        done(message("Two.")),
        completed(&output),
    ];
    for body in [events(&numbered), events(&bare)] {
        assert_eq!(stream(&body).text, "One. Two.");
        assert_eq!(shown(&reply(&body).1).0, "One. Two.");
    }
}

#[test]
fn every_status_has_its_meaning() {
    let of = |status: &str, details: Value, item: Value| {
        whole(&json!({"object": "response", "status": status, "incomplete_details": details,
            "output": [item]}))
    };
    let reason = |reason: &str| json!({"reason": reason});
    let text = || message("x");
    assert_eq!(of("completed", Value::Null, text()).finish, FinishReason::Stop);
    assert_eq!(of("complete", Value::Null, text()).finish, FinishReason::Stop);
    assert_eq!(of("incomplete", reason("max_output_tokens"), text()).finish, FinishReason::Length);
    assert_eq!(
        of("incomplete", reason("content_filter"), text()).finish,
        FinishReason::ContentFilter
    );
    assert_eq!(of("incomplete", Value::Null, text()).finish, FinishReason::Length);
    assert_eq!(of("incomplete", reason("steered"), text()).finish, FinishReason::Unknown);
    assert_eq!(of("queued", Value::Null, text()).finish, FinishReason::Pause);
    assert_eq!(of("in_progress", Value::Null, text()).finish, FinishReason::Pause);
    assert_eq!(of("brand_new", Value::Null, text()).finish, FinishReason::Unknown);
    // A call that was cut is listed, and the loop is told not to run it.
    let mut cut = function("c", "f", "{\"x\":");
    cut["status"] = json!("incomplete");
    let found = of("incomplete", reason("max_output_tokens"), cut.clone());
    assert_eq!(found.tool_calls[0].arguments, CallArguments::Raw("{\"x\":".into()));
    assert_eq!(found.finish, FinishReason::Length);
    assert_eq!(of("incomplete", reason("steered"), cut).finish, FinishReason::Length);
    let error = of("cancelled", Value::Null, text()).error.unwrap();
    assert_eq!(error.message, "the response was cancelled");
    assert_eq!(stream(&fixture("incomplete.sse")).finish, FinishReason::Length);
}

#[test]
fn a_failure_in_the_stream_is_the_providers_own() {
    let error = |body: &str| {
        let found = stream(body);
        assert_eq!(found.tool_calls.len(), 0);
        let error = found.error.unwrap();
        let overflows = error.kind == ErrorKind::ContextOverflow;
        let finish = if overflows { FinishReason::ContextWindow } else { FinishReason::Error };
        assert_eq!(found.finish, finish);
        error
    };
    let overflow = error(&fixture("failed.sse"));
    assert_eq!(overflow.kind, ErrorKind::ContextOverflow);
    assert!(overflow.message.starts_with("Your input exceeds the context window"));
    assert_eq!(overflow.code.as_deref(), Some("context_length_exceeded"));
    let quota = error(&fixture("error_nested.sse"));
    assert_eq!(quota.message, "You exceeded your current quota.");
    assert_eq!((quota.kind, quota.code.as_deref()), (ErrorKind::Quota, Some("insufficient_quota")));
    let limit = error(&fixture("error_flat.sse"));
    assert_eq!((limit.kind, limit.retry_after_ms), (ErrorKind::RateLimit, Some(1_200)));
    assert_eq!(limit.code.as_deref(), Some("rate_limit_exceeded"));
}

#[test]
fn every_code_of_a_failure_has_its_kind() {
    for (code, kind) in [
        ("context_length_exceeded", ErrorKind::ContextOverflow),
        ("rate_limit_exceeded", ErrorKind::RateLimit),
        ("server_is_overloaded", ErrorKind::Overloaded),
        ("slow_down", ErrorKind::Overloaded),
        ("insufficient_quota", ErrorKind::Quota),
        ("usage_not_included", ErrorKind::Quota),
        ("invalid_prompt", ErrorKind::InvalidRequest),
        ("server_error", ErrorKind::Server),
        ("something_else", ErrorKind::Server),
    ] {
        let error = json!({"code": code, "message": "It went wrong."});
        let response = json!({"object": "response", "status": "failed", "error": error,
            "output": []});
        let failed = json!({"type": "response.failed", "response": response});
        for found in [stream(&events(&[failed])), whole(&response)] {
            let error = found.error.unwrap();
            assert_eq!((error.kind, error.message.as_str()), (kind, "It went wrong."), "{code}");
            assert_eq!(error.code.as_deref(), Some(code));
        }
    }
    let silent = json!({"object": "response", "status": "failed", "error": null, "output": []});
    let error = whole(&silent).error.unwrap();
    assert_eq!(error.message, "the response failed, and the provider does not say why");
}

#[test]
fn an_error_body_is_told_as_it_is() {
    let error = |status: u16, body: &str| {
        decoded(WireKind::OpenaiResponses, status, "application/json", body).error.unwrap()
    };
    let bad = error(
        400,
        r#"{"error": {"message": "Unsupported parameter: 'temperature'", "code": null}}"#,
    );
    assert_eq!((bad.kind, bad.status), (ErrorKind::InvalidRequest, 400));
    assert_eq!(bad.message, "Unsupported parameter: 'temperature'");
    // A completed response with an error's status is not a reply.
    assert_eq!(error(500, &fixture("whole.json")).kind, ErrorKind::Server);
    for foreign in ["{\"type\":\"message\"}", "[1]", "<html>"] {
        assert_eq!(error(200, foreign).kind, ErrorKind::Protocol, "{foreign}");
    }
}

#[test]
fn a_stream_cut_anywhere_is_an_error_and_never_a_call() {
    for body in STREAMS.map(fixture) {
        let terminal = body.trim_end().len();
        let errors = truncations(WireKind::OpenaiResponses, 200, SSE, &body);
        let step = body.len().div_ceil(4_096);
        let expected = (0..body.len()).step_by(step).filter(|at| *at < terminal).count();
        assert_eq!(errors, expected);
    }
    assert!(
        truncations(WireKind::OpenaiResponses, 200, "application/json", fixture("whole.json"))
            > 1_700
    );
    let cut = &fixture("calls.sse")[..4_000];
    let error = stream(cut).error.unwrap();
    assert_eq!(error.kind, ErrorKind::Protocol);
    assert_eq!(error.message, "the stream ended before the reply was whole");
}

#[test]
fn quirks_of_framing_change_nothing() {
    let plain = fixture("calls.sse");
    let expected = stream(&plain);
    for variant in [
        plain.replace('\n', "\r\n"),
        plain.replace('\n', "\r"),
        format!("\u{feff}: comment\n\n{plain}data: [DONE]\n\n"),
        plain.replace("event: response.output_item.done\n", ""),
        plain.replace("data: ", "data:"),
        plain.replace("\n\n", "\n: keep-alive\nid: 1\n\n"),
        plain.trim_end().to_owned(),
    ] {
        assert_eq!(stream(&variant), expected);
    }
}

#[test]
fn odd_types_cost_themselves_and_nothing_else() {
    let usage = json!({"input_tokens": 12.0, "output_tokens": "7", "total_tokens": {},
        "input_tokens_details": {"cached_tokens": null, "cache_write_tokens": -1},
        "output_tokens_details": [1]});
    let response = json!({"id": 5, "object": "response", "model": null, "status": "completed",
    "usage": usage, "error": null, "incomplete_details": "none", "output": [
        {"type": "message", "content": "plain", "phase": 3, "role": null},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": {"x": 1}},
        {"type": "reasoning", "summary": null, "content": "thought"},
        {"type": 7}, "text", null, [],
    ]});
    let found = whole(&response);
    assert_eq!((found.text.as_str(), found.reasoning.as_str()), ("plain", "thought"));
    assert_eq!(calls(&found), r#"[{"id":"c","name":"f","arguments":{"x":1}}]"#);
    let usage = Usage { input_total: 12, output_total: 7, ..Usage::default() };
    assert_eq!(found.usage, Some(usage));
    for usage in [json!(null), json!({}), json!([]), json!("9"), json!({"input_tokens": null})] {
        let found = whole(&json!({"object": "response", "output": [], "usage": usage}));
        assert_eq!((found.usage, found.error), (None, None));
    }
    let odd = json!({"type": "response.output_text.delta", "output_index": "0", "delta": {},
        "content_index": [], "item": 5, "response": "x", "text": 9});
    let found = stream(&events(&[odd, item_done(0, &message("a")), completed(&json!(3))]));
    assert_eq!((found.text.as_str(), found.error), ("a", None));
}

#[test]
fn what_cannot_be_read_is_harmless_where_the_whole_item_comes() {
    let lost = "data: {\"type\":\"response.function_call_arguments.delta\",\"output_index\":0,\n\n";
    let call = function("c", "f", "{\"x\":1}");
    let added = events(&[item_added(0, &function("c", "f", ""))]);
    let done = events(&[item_done(0, &call), completed(&json!([]))]);
    let found = stream(&format!("{added}{lost}{done}"));
    assert_eq!((found.tool_calls.len(), found.error), (1, None));
    let found = stream(&format!("{added}{lost}{}", events(&[completed(&json!([call]))])));
    assert_eq!((found.tool_calls.len(), found.error), (1, None));
    let found = stream(&format!("{added}{lost}{}", events(&[completed(&json!([]))])));
    assert_eq!((found.error.unwrap().kind, found.tool_calls.len()), (ErrorKind::Protocol, 0));
    // A call whose beginning never came has no name.
    let nameless = [delta("function_call_arguments", 0, "{}"), completed(&json!([]))];
    assert_eq!(stream(&events(&nameless)).error.unwrap().kind, ErrorKind::Protocol);
}

#[test]
fn half_a_surrogate_pair_costs_one_character_and_no_more() {
    let piece = |kind: &str, piece: &str| {
        let rest = format!(r#""output_index":0,"delta":"{piece}"}}"#);
        format!("data: {{\"type\":\"response.{kind}.delta\",{rest}\n\n")
    };
    let text = |text: &str| piece("output_text", text);
    let pieces = [r"Hello ", r"\ud83d", r"\ude00", r" \ud83d\ude00 \\ud83d"].map(text).concat();
    let end = events(&[completed(&json!([]))]);
    assert_eq!(stream(&format!("{pieces}{end}")).text, "Hello \u{fffd}\u{fffd} \u{1F600} \\ud83d");
    // In a call it would change what the call does, unless the call comes whole.
    let added = events(&[item_added(0, &function("c", "f", ""))]);
    let lost = piece("function_call_arguments", r"\ud83d");
    let found = stream(&format!("{added}{lost}{end}"));
    assert_eq!((found.error.unwrap().kind, found.tool_calls.len()), (ErrorKind::Protocol, 0));
    let done = events(&[item_done(0, &function("c", "f", "\"😀\""))]);
    let found = stream(&format!("{added}{lost}{done}{end}"));
    assert_eq!(calls(&found), r#"[{"id":"c","name":"f","arguments":"😀"}]"#);
}

#[test]
fn rubbish_is_an_error_and_never_a_panic() {
    let rubbish: [&[u8]; 8] = [
        b"",
        b"\xff\xfe\x00",
        b"data: {\"type\":\"response.created\"\n\n",
        b"data: []\n\ndata: 1\n\n",
        b"data: {\"type\":\"response.output_text.delta\",\"output_index\":9,\"delta\":\"x\"}\n\n",
        b"{\"object\":\"list\"}",
        b"[1]",
        b"data: {\"error\":{}}\n\n",
    ];
    for body in rubbish {
        for kind in [SSE, "application/json", ""] {
            let found = decoded(WireKind::OpenaiResponses, 200, kind, body);
            assert!(found.error.is_some(), "{kind} {body:?}");
        }
    }
}

#[test]
fn what_came_before_an_error_does_not_count() {
    let error = json!({"error": {"message": "Upstream is gone", "code": 502}});
    let mut decoder = Decoder::new(WireKind::OpenaiResponses, &head(200, SSE));
    let body = events(&[item_done(0, &message("x")), error]);
    decoder.feed(body.as_bytes(), &mut Vec::new());
    let failure = decoder.finish().unwrap_err();
    assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Server, "Upstream is gone"));
}
