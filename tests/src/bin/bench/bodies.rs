//! Bodies of long streamed responses, each event as the provider itself would send it.

use innerloop_core::config::WireKind;
use serde_json::{Value, json};

/// A text in so many deltas, a word each: the body, and the text.
pub(super) fn text(wire: WireKind, deltas: usize) -> (Vec<u8>, String) {
    let words = [" the", " total", " of", " a", " cart", ".", "\n", " `sum`", " is", " computed"];
    // In no order that comes again: a text that repeats itself would be ended as an echo.
    let mut state = 1_u64;
    let mut next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(state >> 33).map_or("", |place| words[place % words.len()])
    };
    let pieces: Vec<&str> = (0..deltas).map(&mut next).collect();
    let text = pieces.concat();
    let mut events: Vec<String> = pieces.iter().map(|piece| text_event(wire, piece)).collect();
    if wire == WireKind::OpenaiResponses {
        let item = json!({"id": ITEM, "type": "message", "status": "completed",
            "role": "assistant", "content": [{"type": "output_text", "text": text}]});
        let (begin, end) = responses_frame(&item);
        events.insert(0, begin);
        events.push(end);
    } else {
        events.insert(0, begin(wire, &json!({"type": "text", "text": ""})));
        events.push(end(wire, "end_turn", "stop"));
    }
    (events.concat().into_bytes(), text)
}

/// A call whose arguments have about so many bytes, in pieces of 16: the body, and the
/// arguments. Ollama sends them whole.
pub(super) fn arguments(wire: WireKind, bytes: usize) -> (Vec<u8>, String) {
    let line = "    let total = sum(\"cart\");\n";
    let content: String = line.chars().cycle().take(bytes * line.len() / 32).collect();
    let arguments = json!({"path": "src/cart.rs", "content": content}).to_string();
    let pieces = |text: &str| -> Vec<String> {
        text.as_bytes().chunks(16).map(|piece| String::from_utf8_lossy(piece).into()).collect()
    };
    let events: Vec<String> = match wire {
        WireKind::OpenaiResponses => {
            let item = json!({"id": ITEM, "type": "function_call", "status": "completed",
                "call_id": "call_1", "name": "write_file", "arguments": arguments});
            let (begin, end) = responses_frame(&item);
            let pieces = pieces(&arguments).into_iter().map(|piece| {
                let kind = "response.function_call_arguments.delta";
                responses_event(&json!({"type": kind, "item_id": ITEM, "output_index": 0,
                    "delta": piece, "sequence_number": 4, "obfuscation": "xJ4k"}))
            });
            [begin].into_iter().chain(pieces).chain([end]).collect()
        }
        WireKind::Ollama => {
            let call = json!({"function": {"name": "write_file",
                "arguments": {"path": "src/cart.rs", "content": content}}});
            let message = json!({"role": "assistant", "content": "", "tool_calls": [call]});
            vec![ollama_line(&message), end(wire, "", "")]
        }
        WireKind::Gemini => {
            let part = |call: Value| gemini_event(&json!({"functionCall": call}));
            let begin = part(json!({"name": "write_file", "willContinue": true}));
            let path = part(json!({"willContinue": true,
                "partialArgs": [{"jsonPath": "$.path", "stringValue": "src/cart.rs"}]}));
            let piece = |piece: String| {
                let piece = json!({"jsonPath": "$.content", "stringValue": piece,
                    "willContinue": true});
                part(json!({"partialArgs": [piece], "willContinue": true}))
            };
            let end = [part(json!({})), end(wire, "", "")];
            let pieces = pieces(&content).into_iter().map(piece);
            [begin, path].into_iter().chain(pieces).chain(end).collect()
        }
        _ => {
            let call = json!({"type": "tool_use", "id": "toolu_1", "name": "write_file",
                "input": {}});
            let pieces = pieces(&arguments).into_iter().map(|piece| call_event(wire, &piece));
            let end = [end(wire, "tool_use", "tool_calls")];
            [begin(wire, &call)].into_iter().chain(pieces).chain(end).collect()
        }
    };
    (events.concat().into_bytes(), arguments)
}

const ITEM: &str = "msg_68a3f1c2d4e5819ca7b2f0e1d3c4b5a6";

/// The first event of a stream; in Anthropic's and in Chat Completions, of a call besides.
fn begin(wire: WireKind, block: &Value) -> String {
    let is_call = block["type"] == "tool_use";
    match wire {
        WireKind::Anthropic => [
            json!({"type": "message_start", "message": {"id": "msg_01", "type": "message",
                "role": "assistant", "model": "mock-1", "content": [],
                "usage": {"input_tokens": 9, "output_tokens": 1}}}),
            json!({"type": "content_block_start", "index": 0, "content_block": block}),
        ]
        .iter()
        .map(anthropic_event)
        .collect(),
        WireKind::OpenaiChat if is_call => chat_event(
            &json!({"role": "assistant", "tool_calls": [{"index": 0, "id": "call_1",
                "type": "function", "function": {"name": "write_file", "arguments": ""}}]}),
            None,
        ),
        _ => text_event(wire, ""),
    }
}

/// The last events of a stream.
fn end(wire: WireKind, stop_reason: &str, finish_reason: &str) -> String {
    match wire {
        WireKind::Anthropic => [
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": {"stop_reason": stop_reason},
                "usage": {"output_tokens": 9}}),
            json!({"type": "message_stop"}),
        ]
        .iter()
        .map(anthropic_event)
        .collect(),
        WireKind::OpenaiChat => chat_event(&json!({}), Some(finish_reason)) + "data: [DONE]\n\n",
        WireKind::Gemini => {
            let last = json!({"candidates": [{"finishReason": "STOP", "index": 0}],
                "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 9}});
            format!("data: {last}\r\n\r\n")
        }
        WireKind::Ollama => {
            let last = json!({"model": "mock-1", "message": {"role": "assistant", "content": ""},
                "done": true, "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 9});
            format!("{last}\n")
        }
        // The last event of OpenAI Responses repeats the item.
        _ => String::new(),
    }
}

fn text_event(wire: WireKind, piece: &str) -> String {
    match wire {
        WireKind::OpenaiResponses => responses_event(&json!({
            "type": "response.output_text.delta", "item_id": ITEM, "output_index": 0,
            "content_index": 0, "delta": piece, "logprobs": [], "sequence_number": 4,
            "obfuscation": "xJ4k"})),
        WireKind::OpenaiChat => chat_event(&json!({"content": piece}), None),
        WireKind::Anthropic => anthropic_event(&json!({"type": "content_block_delta",
            "index": 0, "delta": {"type": "text_delta", "text": piece}})),
        WireKind::Gemini => gemini_event(&json!({"text": piece})),
        _ => ollama_line(&json!({"role": "assistant", "content": piece})),
    }
}

fn call_event(wire: WireKind, piece: &str) -> String {
    if wire == WireKind::Anthropic {
        return anthropic_event(&json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": piece}}));
    }
    let call = json!({"index": 0, "function": {"arguments": piece}});
    chat_event(&json!({"tool_calls": [call]}), None)
}

/// What stands around the pieces of an item.
fn responses_frame(item: &Value) -> (String, String) {
    let response = |status: &str, output: Value| {
        json!({"id": "resp_1", "object": "response", "status": status, "model": "mock-1",
            "output": output, "usage": {"input_tokens": 9, "output_tokens": 9}})
    };
    let mut announced = item.clone();
    for (name, empty) in [("content", json!([])), ("arguments", json!(""))] {
        if let Some(value) = announced.get_mut(name) {
            *value = empty;
        }
    }
    let begin = [
        json!({"type": "response.created", "response": response("in_progress", json!([]))}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": announced}),
    ];
    let end = [
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": response("completed", json!([item]))}),
    ];
    (begin.iter().map(responses_event).collect(), end.iter().map(responses_event).collect())
}

fn responses_event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap())
}

fn anthropic_event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap())
}

fn chat_event(delta: &Value, finish: Option<&str>) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
    let chunk = json!({"id": "chatcmpl-7Qk", "object": "chat.completion.chunk",
        "created": 1_790_000_000, "model": "mock-1", "choices": [choice], "usage": null,
        "service_tier": "default", "obfuscation": "xJ4k"});
    format!("data: {chunk}\n\n")
}

fn gemini_event(part: &Value) -> String {
    let chunk = json!({
        "candidates": [{"content": {"parts": [part], "role": "model"}, "index": 0}],
        "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 8,
            "totalTokenCount": 17,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 9}]},
        "modelVersion": "mock-1", "responseId": "resp-1"});
    format!("data: {chunk}\r\n\r\n")
}

fn ollama_line(message: &Value) -> String {
    let line = json!({"model": "mock-1", "created_at": "2026-09-14T08:30:01.123456789Z",
        "message": message, "done": false});
    format!("{line}\n")
}
