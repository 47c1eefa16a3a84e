//! A call of which not all has come is never handed out as whole, whatever the stream says of the
//! reply: it is cut, so that it does not run.

use innerloop_core::{Decoder, config::WireKind, message::FinishReason};
use innerloop_tests::feeding::head;
use serde_json::{Value, json};

/// Why the reply ends of which that are the events, and how many calls it has.
fn read(wire: WireKind, events: &[Value]) -> (FinishReason, usize) {
    let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let mut decoder = Decoder::new(wire, &head(200, "text/event-stream"));
    decoder.feed((body + "data: [DONE]\n\n").as_bytes(), &mut Vec::new());
    let reply = decoder.finish().unwrap();
    (reply.finish, reply.tool_calls().count())
}

const WHOLE: (FinishReason, usize) = (FinishReason::ToolCalls, 1);
const CUT: (FinishReason, usize) = (FinishReason::Length, 1);

#[test]
fn x10_responses_cuts_a_call_that_has_no_end() {
    let call = json!({"type": "custom_tool_call", "call_id": "c", "name": "apply_patch"});
    let begun = json!({"type": "response.output_item.added", "output_index": 0, "item": call});
    let input = "*** Begin Patch\n*** Delete File: a";
    let piece = json!({"type": "response.custom_tool_call_input.delta", "output_index": 0,
        "delta": input});
    let mut done_item = call;
    done_item["input"] = input.into();
    let done = json!({"type": "response.output_item.done", "output_index": 0, "item": done_item});
    let all = json!({"type": "response.custom_tool_call_input.done", "output_index": 0,
        "input": input});
    let end = |output: Value| {
        json!({"type": "response.completed", "response": {"status": "completed",
            "output": output}})
    };
    let read = |events: &[&Value]| {
        let events: Vec<Value> = events.iter().map(|event| (*event).clone()).collect();
        read(WireKind::OpenaiResponses, &events)
    };
    assert_eq!(read(&[&begun, &piece, &end(json!([]))]), CUT);
    assert_eq!(read(&[&begun, &piece, &end(Value::Null)]), CUT);
    assert_eq!(read(&[&begun, &piece, &done, &end(json!([]))]), WHOLE);
    assert_eq!(read(&[&begun, &piece, &all, &end(json!([]))]), WHOLE);
    assert_eq!(read(&[&begun, &piece, &end(json!([done_item]))]), WHOLE);
}

#[test]
fn x10_anthropic_cuts_a_call_that_has_no_end() {
    let start = |input: Value| {
        json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "tool_use", "id": "t", "name": "f", "input": input}})
    };
    let piece = |json: &str| {
        json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": json}})
    };
    let stop = json!({"type": "content_block_stop", "index": 0});
    let reason = json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}});
    let end = json!({"type": "message_stop"});
    let read = |middle: &[Value]| {
        let events = [middle, &[reason.clone(), end.clone()]].concat();
        read(WireKind::Anthropic, &events)
    };
    assert_eq!(read(&[start(json!({}))]), CUT);
    assert_eq!(read(&[start(json!({})), piece("{\"a\":")]), CUT);
    assert_eq!(read(&[start(json!({})), stop]), WHOLE);
    assert_eq!(read(&[start(json!({})), piece("{\"a\":1}")]), WHOLE);
    assert_eq!(read(&[start(json!({"a": 1}))]), WHOLE);
}

#[test]
fn x10_gemini_cuts_a_call_that_has_no_end() {
    let part =
        |call: Value| json!({"candidates": [{"content": {"parts": [{"functionCall": call}]}}]});
    let begun = part(json!({"name": "f", "willContinue": true}));
    let piece = part(json!({"partialArgs": [{"jsonPath": "$.a", "stringValue": "x"}],
        "willContinue": true}));
    let end = json!({"candidates": [{"finishReason": "STOP"}]});
    let read = |events: &[&Value]| {
        let events: Vec<Value> = events.iter().map(|event| (*event).clone()).collect();
        read(WireKind::Gemini, &events)
    };
    assert_eq!(read(&[&begun, &piece, &end]), CUT);
    assert_eq!(read(&[&begun, &piece, &part(json!({})), &end]), WHOLE);
    assert_eq!(read(&[&part(json!({"name": "f", "args": {}})), &end]), WHOLE);
}

#[test]
fn x10_chat_cuts_a_call_where_nothing_says_that_the_reply_is_whole() {
    let chunk = |call: Value, finish: Value| {
        let choice = json!({"delta": {"tool_calls": [call]}, "finish_reason": finish});
        json!({ "choices": [choice] })
    };
    let custom = json!({"index": 0, "id": "c", "type": "custom",
        "custom": {"name": "apply_patch", "input": "*** Delete File: a"}});
    let function = |arguments: &str| {
        let function = json!({"name": "f", "arguments": arguments});
        json!({"index": 0, "id": "c", "function": function})
    };
    let read = |call: Value, finish: Value| read(WireKind::OpenaiChat, &[chunk(call, finish)]);
    assert_eq!(read(custom.clone(), Value::Null), CUT);
    assert_eq!(read(custom, json!("tool_calls")), WHOLE);
    assert_eq!(read(function("{\"a\":"), Value::Null), CUT);
    assert_eq!(read(function("{\"a\":1}"), Value::Null), WHOLE);
}
