//! Gemini from bytes and to bytes (`docs/wires.md`): every kind of chunk, framing and quirk, in any
//! chunking; and requests whose earlier turns never change.

use innerloop_core::{
    Decoder, ReplyPiece, RequestHead, RequestPrefix,
    config::{ModelConfig, ToolChoice, WireKind},
    event::ErrorKind,
    json::Json,
    message::{
        Block, CallDetail, FinishReason, MarkedText, Part, ReasoningBlock, Reply, ToolCall,
        ToolResult, TurnKind, Usage, is_made_up_call_id, made_up_call_id,
    },
    tool::ToolSpec,
};
use innerloop_driver::decode::{DecodedResponse, decode};
use innerloop_tests::feeding::{decoded, head, truncations};
use serde_json::{Value, json};
use std::fs;

const WIRE: WireKind = WireKind::Gemini;
const JSON: &str = "application/json; charset=UTF-8";

fn fixture(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/wire/gemini");
    fs::read(format!("{folder}/{name}")).unwrap()
}

/// A fixture in every chunking. Its content type is what its name ends with; the other one must
/// make no difference.
fn read(name: &str) -> DecodedResponse {
    let body = fixture(name);
    let stream = "text/event-stream";
    let (own, other) = if name.ends_with(".sse") { (stream, JSON) } else { (JSON, stream) };
    let read = decoded(WIRE, 200, own, &body);
    assert_eq!(decode(WIRE, &head(200, other), [&body[..]].into_iter()), read);
    read
}

/// What the machine keeps of a fixture, and what people see while it comes.
fn reply(name: &str) -> (Reply, Vec<ReplyPiece>) {
    let mut decoder = Decoder::new(WIRE, &head(200, ""));
    let mut pieces = Vec::new();
    for chunk in fixture(name).chunks(5) {
        decoder.feed(chunk, &mut pieces);
    }
    (decoder.finish().unwrap(), pieces)
}

fn calls(decoded: &DecodedResponse) -> String {
    serde_json::to_string(&decoded.tool_calls).unwrap()
}

fn usage(input_total: u64, output_total: u64, cache_read: u64, reasoning: u64) -> Option<Usage> {
    Some(Usage { input_total, output_total, cache_read, cache_write: 0, reasoning })
}

#[test]
fn a_stream_gives_thoughts_text_a_signature_of_its_own_and_usage() {
    let read = read("stream_text.sse");
    assert_eq!(read.text, "Grüße, \"Welt\" \u{1F600}\u{2028}\n");
    assert_eq!(read.reasoning, "**Greeting**\n\nI say hello.");
    assert_eq!((read.finish, read.usage), (FinishReason::Stop, usage(12, 16, 4, 9)));
    let (reply, pieces) = reply("stream_text.sse");
    let marked = MarkedText { text: String::new(), mark: "c2lnMQ==".into() };
    assert_eq!(
        reply.blocks,
        [
            Block::Reasoning(ReasoningBlock { text: read.reasoning, ..ReasoningBlock::default() }),
            Block::Text(read.text),
            Block::MarkedText(marked),
        ]
    );
    assert_eq!((reply.wire, reply.response_id.as_deref()), (Some(WIRE), Some("resp-1")));
    assert_eq!(reply.model.as_deref(), Some("gemini-3-flash-preview"));
    let thought = |text: &str| ReplyPiece::Reasoning(text.into());
    let text = |text: &str| ReplyPiece::Text(text.into());
    assert_eq!(
        pieces,
        [
            thought("**Greeting**\n\nI say "),
            thought("hello."),
            text("Grüße, "),
            text("\"Welt\" \u{1F600}\u{2028}\n"),
        ]
    );
}

#[test]
fn parallel_calls_keep_ids_order_numbers_and_the_signature_of_the_first() {
    let read = read("stream_calls.sse");
    let expected = concat!(
        r#"[{"id":"fc1","name":"look_up","arguments":{"b": 1.0, "a": ["ü", null]}},"#,
        r#"{"id":"fc2","name":"look_up","arguments":{"big": 12345678901234567890}}]"#,
    );
    assert_eq!(calls(&read), expected);
    assert_eq!((read.finish, read.usage), (FinishReason::ToolCalls, usage(50, 44, 0, 20)));
    let (reply, _) = reply("stream_calls.sse");
    let signatures: Vec<_> = reply
        .tool_calls()
        .map(|call| call.detail.as_ref().and_then(|detail| detail.signature.as_deref()))
        .collect();
    assert_eq!(signatures, [Some("c2lnQQ=="), None]);
    assert_eq!(reply.refusal, None);
}

#[test]
fn an_array_that_is_no_event_stream_is_read_chunk_by_chunk() {
    let read = read("stream_array.json");
    assert_eq!((read.text.as_str(), read.finish), ("One ]} two \"[.", FinishReason::Stop));
    assert_eq!(read.usage, usage(3, 3, 0, 0));
    let (_, pieces) = reply("stream_array.json");
    assert_eq!(pieces.len(), 3);
}

#[test]
fn whole_bodies_have_the_shape_of_a_chunk() {
    let text = read("whole_text.json");
    assert_eq!((text.text.as_str(), text.finish), ("Done.", FinishReason::Stop));
    // What the provider's own tools read does not count as prompt.
    assert_eq!(text.usage, usage(7, 2, 0, 0));
    let called = read("whole_calls_without_ids.json");
    let expected = concat!(
        r#"[{"id":"","name":"now","arguments":{}},"#,
        r#"{"id":"","name":"at","arguments":{"#,
    );
    assert!(calls(&called).starts_with(expected), "{}", calls(&called));
    assert_eq!((called.text.as_str(), called.finish), ("I look.", FinishReason::ToolCalls));
    let open = read("whole_without_finish.json");
    assert_eq!(
        (open.text.as_str(), open.finish, open.usage),
        ("Here.", FinishReason::Unknown, None)
    );
}

#[test]
fn names_in_snake_case_are_read_as_well() {
    let read = read("snake_case.json");
    assert_eq!((read.text.as_str(), read.reasoning.as_str()), ("Yes.", "hm"));
    assert_eq!((read.finish, read.usage), (FinishReason::ToolCalls, usage(5, 5, 1, 3)));
    let (reply, _) = reply("snake_case.json");
    let [Block::Reasoning(thought), Block::MarkedText(text), Block::ToolCall(call), opaque] =
        reply.blocks.as_slice()
    else {
        panic!("{:?}", reply.blocks)
    };
    assert_eq!((thought.signature.as_deref(), text.mark.as_str()), (Some("czE="), "czI="));
    let detail = CallDetail { signature: Some("czM=".into()), ..CallDetail::default() };
    assert_eq!(call.detail.as_deref(), Some(&detail));
    assert!(matches!(opaque, Block::Opaque(_)));
    assert_eq!(
        (reply.model.as_deref(), reply.response_id.as_deref()),
        (Some("gemini-x"), Some("resp-4"))
    );
}

#[test]
fn arguments_that_vertex_streams_are_put_together_by_their_paths() {
    let read = read("vertex_partial_args.sse");
    let expected = concat!(
        r#"[{"id":"","name":"write","arguments":{"path":"src/a.rs","edits":["#,
        r#"{"old":"x = \"1\"\n","count":2},{"new line":null},""],"force":true}},"#,
        r#"{"id":"","name":"done","arguments":{}}]"#,
    );
    assert_eq!(calls(&read), expected);
    let (reply, _) = reply("vertex_partial_args.sse");
    let first = reply.tool_calls().next().unwrap();
    assert_eq!(first.detail.as_ref().unwrap().signature.as_deref(), Some("c2lnVg=="));
}

#[test]
fn a_piece_of_arguments_without_a_place_makes_the_reply_unreadable() {
    let begin = json!({"name": "f", "willContinue": true});
    for (place, value) in [
        ("$.a[7]", json!("beyond the end")),
        ("$.a[0].b", json!("within a number")),
        ("a", json!("no root")),
        ("$..a", json!("all of a name")),
        ("$[*]", json!("all items")),
        ("$['a", json!("no end")),
        ("$", json!("the root")),
    ] {
        let number = json!({"jsonPath": "$.a[0]", "numberValue": 1});
        let piece = json!({"jsonPath": place, "stringValue": value});
        let parts = [begin.clone(), json!({"partialArgs": [number, piece]}), json!({})];
        let parts: Vec<_> = parts.iter().map(|part| json!({"functionCall": part})).collect();
        let body = json!({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]});
        let read = decoded(WIRE, 200, JSON, body.to_string());
        if place == "$" {
            // A string in place of the object is what the model said; the schema refuses it.
            assert_eq!(calls(&read), r#"[{"id":"","name":"f","arguments":"the root"}]"#);
            continue;
        }
        let error = read.error.unwrap_or_else(|| panic!("{place} has a place"));
        assert_eq!(error.kind, ErrorKind::Protocol);
        assert!(error.message.contains("piece of a call"), "{}", error.message);
    }
    let alone = json!({"functionCall": {"partialArgs": [{"jsonPath": "$.a", "boolValue": true}]}});
    let body = json!({"candidates": [{"content": {"parts": [alone]}, "finishReason": "STOP"}]});
    assert!(decoded(WIRE, 200, JSON, body.to_string()).error.is_some());
}

#[test]
fn what_the_provider_ran_itself_is_kept_in_order_and_untouched() {
    let read = read("provider_tools.json");
    assert_eq!((read.text.as_str(), read.finish), ("First second.", FinishReason::Stop));
    assert!(read.tool_calls.is_empty());
    let (reply, _) = reply("provider_tools.json");
    let shown: Vec<String> = reply
        .blocks
        .iter()
        .map(|block| match block {
            Block::Opaque(json) => {
                let fields: Value = serde_json::from_str(json.text()).unwrap();
                fields.as_object().unwrap().keys().next().unwrap().clone()
            }
            Block::Text(text) => text.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = [
        "thoughtSignature",
        "toolResponse",
        "First ",
        "executableCode",
        "codeExecutionResult",
        "second.",
        "inlineData",
        "fileData",
        "brandNew",
    ];
    assert_eq!(shown.len(), expected.len());
    for (index, expected) in expected.into_iter().enumerate().skip(1) {
        assert_eq!(shown[index], expected);
    }
    let sent =
        contents(&[TurnKind::User(vec![Part::text("x")]), TurnKind::Assistant(reply.into())]);
    let whole: Value = serde_json::from_slice(&fixture("provider_tools.json")).unwrap();
    let parts = whole["candidates"][0]["content"]["parts"].as_array().unwrap();
    assert_eq!(sent[1]["parts"].as_array().unwrap(), &parts[..parts.len() - 1]);
}

#[test]
fn a_blocked_prompt_is_a_reply_without_blocks() {
    for (name, says) in [
        ("blocked_prompt.json", "the prompt was blocked (PROHIBITED_CONTENT)"),
        ("stream_blocked.sse", "the prompt was blocked (SAFETY): No."),
    ] {
        let read = read(name);
        assert_eq!((read.finish, read.error), (FinishReason::ContentFilter, None));
        assert_eq!(read.usage, usage(8, 0, 0, 0));
        let (reply, _) = reply(name);
        assert_eq!((reply.blocks, reply.refusal.as_deref()), (Vec::new(), Some(says)));
    }
}

#[test]
fn what_the_provider_says_of_an_early_end_is_kept() {
    let cut = read("stream_safety.sse");
    assert_eq!((cut.text.as_str(), cut.finish), ("So ", FinishReason::ContentFilter));
    assert_eq!(reply("stream_safety.sse").0.refusal.as_deref(), Some("Stopped for safety."));
    let malformed = read("stream_malformed_call.sse");
    assert_eq!(
        (malformed.finish, malformed.tool_calls.len()),
        (FinishReason::MalformedToolCall, 0)
    );
    let says = reply("stream_malformed_call.sse").0.refusal;
    assert_eq!(says.as_deref(), Some("Malformed function call: print(x"));
}

#[test]
fn every_finish_reason_has_its_meaning() {
    for (reason, finish) in [
        ("STOP", FinishReason::Stop),
        ("stop", FinishReason::Stop),
        ("MAX_TOKENS", FinishReason::Length),
        ("CONTINUATION", FinishReason::Length),
        ("SAFETY", FinishReason::ContentFilter),
        ("RECITATION", FinishReason::ContentFilter),
        ("BLOCKLIST", FinishReason::ContentFilter),
        ("PROHIBITED_CONTENT", FinishReason::ContentFilter),
        ("SPII", FinishReason::ContentFilter),
        ("MODEL_ARMOR", FinishReason::ContentFilter),
        ("IMAGE_SAFETY", FinishReason::ContentFilter),
        ("IMAGE_PROHIBITED_CONTENT", FinishReason::ContentFilter),
        ("IMAGE_RECITATION", FinishReason::ContentFilter),
        ("ESCALATION", FinishReason::ContentFilter),
        ("MALFORMED_FUNCTION_CALL", FinishReason::MalformedToolCall),
        ("UNEXPECTED_TOOL_CALL", FinishReason::MalformedToolCall),
        ("TOO_MANY_TOOL_CALLS", FinishReason::MalformedToolCall),
        ("OTHER", FinishReason::Error),
        ("LANGUAGE", FinishReason::Error),
        ("MISSING_THOUGHT_SIGNATURE", FinishReason::Error),
        ("MALFORMED_RESPONSE", FinishReason::Error),
        ("NO_IMAGE", FinishReason::Error),
        ("IMAGE_OTHER", FinishReason::Error),
        ("1", FinishReason::Stop),
        ("2", FinishReason::Length),
        ("3", FinishReason::ContentFilter),
        ("5", FinishReason::Error),
        ("10", FinishReason::Unknown),
        ("FINISH_REASON_UNSPECIFIED", FinishReason::Unknown),
        ("BRAND_NEW", FinishReason::Unknown),
    ] {
        let part = json!({"text": "x"});
        let chunk = json!({"candidates": [{"content": {"parts": [part]}, "finishReason": reason}]});
        let read = decoded(WIRE, 200, "text/event-stream", format!("data: {chunk}\n\n"));
        assert_eq!((read.finish, read.text.as_str()), (finish, "x"), "{reason}");
    }
    let number = json!({"candidates": [{"content": {"parts": []}, "finishReason": 1}]});
    assert_eq!(decoded(WIRE, 200, JSON, number.to_string()).finish, FinishReason::Stop);
    let call = json!({"functionCall": {"name": "f", "args": {}}});
    let cut = json!({"candidates": [{"content": {"parts": [call]}, "finishReason": "MAX_TOKENS"}]});
    assert_eq!(decoded(WIRE, 200, JSON, cut.to_string()).finish, FinishReason::Length);
}

#[test]
fn counts_of_later_chunks_stand_beside_those_of_earlier_ones() {
    assert_eq!(read("stream_usage_last.sse").usage, usage(3, 6, 0, 4));
}

#[test]
fn counts_that_begin_with_the_prompt_replace_all_earlier_ones() {
    let step = json!({"promptTokenCount": 9, "candidatesTokenCount": 21, "thoughtsTokenCount": 35});
    let last = json!({"promptTokenCount": 87, "thoughtsTokenCount": 78, "totalTokenCount": 165});
    let said = json!({"candidates": [{"finishReason": "STOP"}], "usageMetadata": last});
    let body = format!("data: {}\n\ndata: {said}\n\n", json!({"usageMetadata": step}));
    assert_eq!(decoded(WIRE, 200, "text/event-stream", body).usage, usage(87, 78, 0, 78));
}

#[test]
fn a_blocked_prompt_with_bare_usage_used_nothing() {
    let feedback = json!({"blockReason": "MODEL_ARMOR"});
    let body = json!({"promptFeedback": feedback, "usageMetadata": {"trafficType": "ON_DEMAND"}});
    let read = decoded(WIRE, 200, JSON, body.to_string());
    assert_eq!((read.finish, read.usage), (FinishReason::ContentFilter, usage(0, 0, 0, 0)));
}

#[test]
fn a_stream_without_a_finish_reason_was_cut() {
    let error = read("stream_without_finish.sse").error.unwrap();
    assert_eq!(error.kind, ErrorKind::Protocol);
    assert_eq!(error.message, "the stream ended before the reply was whole");
    let array = r#"[{"candidates":[{"content":{"parts":[{"text":"So"}]}}]}]"#;
    assert!(decoded(WIRE, 200, JSON, array).error.is_some());
}

#[test]
fn a_body_cut_anywhere_is_an_error_and_never_a_call() {
    for name in [
        "stream_text.sse",
        "stream_calls.sse",
        "vertex_partial_args.sse",
        "stream_array.json",
        "whole_text.json",
        "whole_calls_without_ids.json",
        "snake_case.json",
        "provider_tools.json",
        "blocked_prompt.json",
        "stream_then_error.sse",
    ] {
        let body = fixture(name);
        let errors = truncations(WIRE, 200, "", &body);
        assert!(errors + 8 >= body.len(), "{name}: {errors} of {}", body.len());
    }
}

#[test]
fn quirks_of_framing_change_nothing() {
    let expected = read("stream_text.sse");
    let plain = String::from_utf8(fixture("stream_text.sse")).unwrap();
    for variant in [
        plain.replace("\r\n", "\n"),
        plain.replace("\r\n", "\r"),
        format!("\u{feff}: comment\r\n\r\n{plain}"),
        plain.replace("data: ", "data:"),
        plain.replace("data: ", "event: message\ndata: "),
        plain.trim_end().to_owned(),
        format!("{plain}data: [DONE]\n\n"),
        plain.replace("data: ", "").replace("\r\n\r\n", "\n"),
        format!("[{}]", plain.replace("data: ", "").trim_end().replace("\r\n\r\n", ",\r\n")),
        // Chunks that are not framed among others that are.
        plain.replacen("data: {", "{", 1),
    ] {
        assert_eq!(decoded(WIRE, 200, "text/event-stream", &variant), expected, "{variant}");
    }
}

#[test]
fn errors_of_all_shapes_are_the_providers_own() {
    let key = decoded(WIRE, 400, JSON, fixture("error_key.json")).error.unwrap();
    assert_eq!((key.kind, key.status), (ErrorKind::Authentication, 400));
    assert!(key.message.contains("API key not valid"), "{}", key.message);
    let quota = decoded(WIRE, 429, JSON, fixture("error_quota.json")).error.unwrap();
    assert_eq!(
        (quota.kind, quota.code.as_deref()),
        (ErrorKind::RateLimit, Some("RESOURCE_EXHAUSTED"))
    );
    assert_eq!(quota.retry_after_ms, Some(34_400));
    let long = decoded(WIRE, 400, JSON, fixture("error_too_long.json")).error.unwrap();
    assert_eq!(long.kind, ErrorKind::ContextOverflow);
    let html = decoded(WIRE, 502, "text/html", "<html>nginx</html>").error.unwrap();
    assert_eq!(html.kind, ErrorKind::Server);
}

#[test]
fn errors_within_a_stream_that_began_well_are_the_providers_own() {
    for (name, kind, says) in [
        ("stream_then_error.sse", ErrorKind::Overloaded, "The model is overloaded."),
        ("stream_then_error_array.sse", ErrorKind::Server, "An internal error has occurred."),
        ("stream_error_event.sse", ErrorKind::RateLimit, "Resource has been exhausted"),
    ] {
        let read = read(name);
        let error = read.error.unwrap();
        assert_eq!((error.kind, error.status), (kind, 200), "{name}");
        assert!(error.message.starts_with(says), "{}", error.message);
    }
    // The same error with the status of success and nothing before it.
    for name in ["error_key.json", "error_quota.json", "error_too_long.json"] {
        let first = decoded(WIRE, 200, JSON, fixture(name)).error.unwrap();
        assert_ne!(first.kind, ErrorKind::Protocol, "{}", first.message);
    }
}

#[test]
fn values_of_odd_types_cost_themselves_and_no_more() {
    let read = read("odd_types.sse");
    assert_eq!((read.text.as_str(), read.finish), ("A", FinishReason::ToolCalls));
    assert_eq!(calls(&read), r#"[{"id":"12","name":"f","arguments":{"a": 1}}]"#);
    assert_eq!(read.usage, usage(5, 2, 0, 0));
}

#[test]
fn half_a_surrogate_pair_costs_one_character_and_no_more() {
    let part = |text: &str| {
        format!(r#"data: {{"candidates":[{{"content":{{"parts":[{{"text":"{text}"}}]}}}}]}}"#)
    };
    let end = r#"data: {"candidates":[{"finishReason":"STOP"}]}"#;
    let body = [part(r"Hi \ud83d"), part(r"\ude00 \ud83d\ude00"), end.into()].join("\r\n\r\n");
    assert_eq!(decoded(WIRE, 200, "", body).text, "Hi \u{fffd}\u{fffd} \u{1F600}");
}

#[test]
fn rubbish_is_an_error_and_never_a_panic() {
    let rubbish: [&[u8]; 12] = [
        b"",
        b"\xff\xfe\x00",
        b"data: {\"candidates\":[\n\n",
        b"data: []\n\ndata: 1\n\n",
        b"data: [DONE]\n\n",
        b"{}",
        b"[]",
        b"[{}]",
        b"[1]",
        b"{\"text\":\"x\"}",
        b"null",
        b"upstream connect error",
    ];
    for body in rubbish {
        for kind in ["text/event-stream", "application/json", ""] {
            let read = decoded(WIRE, 200, kind, body);
            assert_eq!(read.error.unwrap().kind, ErrorKind::Protocol, "{kind} {body:?}");
        }
    }
}

#[test]
fn a_call_without_a_name_is_a_call_and_an_empty_one_is_none() {
    let parts = json!([{"functionCall": {"args": {"a": 1}}}, {"functionCall": {}}]);
    let body = json!({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]});
    let read = decoded(WIRE, 200, JSON, body.to_string());
    assert_eq!(calls(&read), r#"[{"id":"","name":"","arguments":{"a":1}}]"#);
}

fn model(name: &str) -> ModelConfig {
    ModelConfig { wire: WIRE, name: name.into(), max_output_tokens: 500, ..ModelConfig::default() }
}

fn tool(name: &str, parameters: &Value) -> ToolSpec {
    ToolSpec::new(name, format!("Does {name}."), Json::parse(parameters.to_string()).unwrap())
}

fn body(model: &ModelConfig, tools: &[ToolSpec], turns: &[TurnKind]) -> Value {
    let head = RequestHead::new(model, "Be brief.", tools.iter());
    let mut prefix = RequestPrefix::new(model);
    turns.iter().filter_map(TurnKind::said).for_each(|said| prefix.push(said));
    let request = prefix.request(&head, model, "key");
    serde_json::from_slice(&request.body.0).unwrap()
}

fn contents(turns: &[TurnKind]) -> Value {
    body(&model("gemini-3-flash-preview"), &[], turns)["contents"].clone()
}

fn user(text: &str) -> TurnKind {
    TurnKind::User(vec![Part::text(text)])
}

fn call(id: &str, name: &str, arguments: &str, signature: Option<&str>) -> Block {
    let detail = signature.map(|signature| {
        Box::new(CallDetail { signature: Some(signature.into()), ..CallDetail::default() })
    });
    let (id, name, arguments) = (id.into(), name.into(), arguments.into());
    Block::ToolCall(ToolCall { id, name, arguments, detail })
}

fn said(wire: WireKind, blocks: Vec<Block>) -> TurnKind {
    TurnKind::Assistant(Box::new(Reply { blocks, wire: Some(wire), ..Reply::default() }))
}

fn result(call_id: &str, text: &str, is_error: bool) -> ToolResult {
    ToolResult { call_id: call_id.into(), parts: vec![Part::text(text)], is_error }
}

#[test]
fn c16_safety_settings_and_grounding_are_put_over_prompt_tools_and_settings() {
    let mut model = model("gemini-3-flash-preview");
    model.reasoning_effort = Some("low".into());
    model.tool_choice = ToolChoice::Tool("1 é".into());
    for (name, value) in [
        (
            "generationConfig",
            json!({"temperature": 0.5, "thinkingConfig": {"includeThoughts": false}}),
        ),
        ("safetySettings", json!([{"category": "C", "threshold": "BLOCK_NONE"}])),
        ("tools", json!([{"googleSearch": {}}])),
    ] {
        model.options.insert(name.into(), Json::parse(value.to_string()).unwrap());
    }
    let schema =
        json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/y"}}, "$defs": {"y": {}}});
    let sent = body(&model, &[tool("1 é", &schema)], &[user("Hi")]);
    let expected = json!({
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "tools": [
            {"functionDeclarations": [
                {"name": "_1__", "description": "Does 1 é.", "parametersJsonSchema": schema}
            ]},
            {"googleSearch": {}},
        ],
        "toolConfig": {
            "functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["_1__"]},
            "includeServerSideToolInvocations": true,
        },
        "generationConfig": {
            "maxOutputTokens": 500,
            "thinkingConfig": {"includeThoughts": false, "thinkingLevel": "low"},
            "temperature": 0.5,
        },
        "safetySettings": [{"category": "C", "threshold": "BLOCK_NONE"}],
        "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
    });
    assert_eq!(sent, expected);
}

#[test]
fn the_providers_own_tools_are_announced_where_they_can_stand_beside_ours() {
    let config = |name: &str, tools: &[ToolSpec]| {
        let mut model = model(name);
        model.options.insert("tools".into(), Json::parse(r#"[{"urlContext":{}}]"#).unwrap());
        let sent = body(&model, tools, &[user("x")]);
        assert_eq!(sent["tools"].as_array().unwrap().len(), tools.len() + 1);
        sent["toolConfig"].clone()
    };
    let ours = [tool("f", &json!({"type": "object"}))];
    let shown = json!({"includeServerSideToolInvocations": true});
    assert_eq!(config("gemini-3.6-flash", &ours), shown);
    assert_eq!(config("gemini-3.6-flash", &[]), Value::Null);
    assert_eq!(config("gemini-2.5-flash", &ours), Value::Null);
    assert_eq!(config("publishers/google/models/gemini-3.6-flash", &ours), Value::Null);
}

#[test]
fn a_tool_choice_is_said_only_where_there_are_tools_and_it_is_not_auto() {
    let tools = [tool("f", &json!({"type": "object"}))];
    for (choice, expected) in [
        (ToolChoice::Auto, Value::Null),
        (ToolChoice::None, json!({"functionCallingConfig": {"mode": "NONE"}})),
        (ToolChoice::Required, json!({"functionCallingConfig": {"mode": "ANY"}})),
    ] {
        let model = ModelConfig { tool_choice: choice, ..model("gemini-2.5-flash") };
        assert_eq!(body(&model, &tools, &[user("x")])["toolConfig"], expected);
        assert_eq!(body(&model, &[], &[user("x")])["toolConfig"], Value::Null);
    }
}

#[test]
fn effort_is_a_budget_or_a_level_and_never_both() {
    let thinking = |name: &str, effort: &str, options: &Value| {
        let mut model = model(name);
        model.reasoning_effort = Some(effort.into());
        let options = Json::parse(options.to_string()).unwrap();
        model.options.insert("generationConfig".into(), options);
        let sent = body(&model, &[], &[user("x")]);
        sent["generationConfig"]["thinkingConfig"].clone()
    };
    let budget = |tokens: i64| json!({"includeThoughts": true, "thinkingBudget": tokens});
    let level = |level: &str| json!({"includeThoughts": true, "thinkingLevel": level});
    for (name, effort, expected) in [
        ("gemini-2.5-flash", "none", json!({"thinkingBudget": 0})),
        ("gemini-2.5-flash", "low", budget(1_024)),
        ("gemini-2.5-flash", "medium", budget(8_192)),
        ("gemini-2.5-flash", "max", budget(24_576)),
        ("gemini-2.5-flash", "777", budget(777)),
        ("gemini-2.5-flash", "brand new", budget(-1)),
        ("gemini-2.5-pro", "none", budget(128)),
        ("models/gemini-2.5-pro", "max", budget(32_768)),
        ("gemini-3-flash-preview", "minimal", level("minimal")),
        ("gemini-3-pro-preview", "minimal", level("low")),
        ("gemini-3-pro-preview", "medium", level("high")),
        ("gemini-3.1-pro-preview", "medium", level("medium")),
        ("gemini-3.6-flash", "HIGH", level("high")),
        ("gemini-3.6-flash", "xhigh", level("high")),
        ("gemini-flash-latest", "low", level("low")),
        ("gemini-2.0-flash", "high", Value::Null),
        ("gemma-3-27b-it", "high", Value::Null),
    ] {
        assert_eq!(thinking(name, effort, &json!({})), expected, "{name} {effort}");
    }
    let own = json!({"thinkingConfig": {"thinkingBudget": 5}});
    assert_eq!(thinking("gemini-3.6-flash", "low", &own), own["thinkingConfig"]);
    let sent = body(&model("gemini-3.6-flash"), &[], &[user("x")]);
    assert_eq!(sent["generationConfig"], json!({"maxOutputTokens": 500}));
}

#[test]
fn paths_name_the_method_and_the_resource() {
    let path = |name: &str, stream| {
        let model = ModelConfig { stream, ..model(name) };
        let head = RequestHead::new(&model, "", [].iter());
        RequestPrefix::new(&model).request(&head, &model, "").path
    };
    let stream = ":streamGenerateContent?alt=sse";
    assert_eq!(path("gemini-3.6-flash", true), format!("/v1beta/models/gemini-3.6-flash{stream}"));
    assert_eq!(path("models/x", false), "/v1beta/models/x:generateContent");
    assert_eq!(path("tunedModels/x", false), "/v1beta/tunedModels/x:generateContent");
    assert_eq!(
        path("google/gemini x?y", false),
        "/v1beta/models/google/gemini%20x%3Fy:generateContent"
    );
    let vertex = "projects/p/locations/l/publishers/google/models/m@001";
    assert_eq!(path(vertex, true), format!("/v1beta1/{vertex}{stream}"));
}

#[test]
fn a_step_goes_back_with_each_signature_on_its_own_part() {
    let turns = [
        user("Hi"),
        said(
            WIRE,
            vec![
                Block::Reasoning(ReasoningBlock {
                    text: "unsigned".into(),
                    ..ReasoningBlock::default()
                }),
                Block::Reasoning(ReasoningBlock {
                    text: "signed".into(),
                    signature: Some("s0".into()),
                    item: None,
                }),
                Block::Text("I look.".into()),
                Block::MarkedText(MarkedText { text: String::new(), mark: "s1".into() }),
                call("fc1", "f", r#"{"x": 1.0}"#, Some("s2")),
                call("fc2", "g", "", None),
            ],
        ),
        TurnKind::ToolResults(vec![result("fc1", "one", false), result("fc2", "two", true)]),
        TurnKind::Steering(vec![Part::text("And?"), Part::text("  ")]),
        TurnKind::System("Wake up.".into()),
        said(WIRE, vec![Block::MarkedText(MarkedText { text: "Done.".into(), mark: "s3".into() })]),
    ];
    let expected = json!([
        {"role": "user", "parts": [{"text": "Hi"}]},
        {"role": "model", "parts": [
            {"text": "signed", "thought": true, "thoughtSignature": "s0"},
            {"text": "I look."},
            {"text": "", "thoughtSignature": "s1"},
            {
                "functionCall": {"id": "fc1", "name": "f", "args": {"x": 1.0}},
                "thoughtSignature": "s2",
            },
            {"functionCall": {"id": "fc2", "name": "g", "args": {}}},
        ]},
        {"role": "user", "parts": [
            {"functionResponse": {"id": "fc1", "name": "f", "response": {"output": "one"}}},
            {"functionResponse": {"id": "fc2", "name": "g", "response": {"error": "two"}}},
            {"text": "And?"},
            {"text": "<system>\nWake up.\n</system>"},
        ]},
        {"role": "model", "parts": [{"text": "Done.", "thoughtSignature": "s3"}]},
    ]);
    assert_eq!(contents(&turns), expected);
}

#[test]
fn ids_that_the_provider_does_not_know_are_not_sent_to_it() {
    assert!(is_made_up_call_id(&made_up_call_id(12, 0)));
    for id in
        ["", "call_", "call_1", "call_1_", "call__1", "call_a_1", "fc1", "xcall_1_2", "call_1_2_3"]
    {
        assert!(!is_made_up_call_id(id), "{id}");
    }
    let made_up = made_up_call_id(1, 0);
    let turns = [
        user("Hi"),
        said(WIRE, vec![call(&made_up, "f", "{}", Some("s"))]),
        TurnKind::ToolResults(vec![result(&made_up, "one", false)]),
        said(WireKind::Anthropic, vec![call("toolu_1", "f", "{}", None)]),
        TurnKind::ToolResults(vec![result("toolu_1", "two", false)]),
    ];
    let sent = contents(&turns).to_string();
    assert!(!sent.contains("\"id\""), "{sent}");
    assert!(sent.contains(r#"{"functionResponse":{"name":"f","response":{"output":"two"}}}"#));
}

#[test]
fn what_another_provider_said_goes_on_without_what_only_it_understands() {
    let foreign = |family: &str| {
        let blocks = vec![
            Block::Reasoning(ReasoningBlock {
                text: "hm".into(),
                signature: Some("theirs".into()),
                item: None,
            }),
            Block::Opaque(Json::parse(r#"{"type":"server_tool_use"}"#).unwrap()),
            Block::MarkedText(MarkedText { text: "Text.".into(), mark: "phase".into() }),
            Block::MarkedText(MarkedText { text: String::new(), mark: "phase".into() }),
            call("a", "f x", "not JSON", Some("theirs")),
            call("b", "g", "{}", None),
        ];
        let turns = [user("Hi"), said(WireKind::OpenaiResponses, blocks)];
        body(&model(family), &[], &turns)["contents"][1]["parts"].clone()
    };
    let skip = "skip_thought_signature_validator";
    let expected = |signed: Value| {
        let mut parts = json!([
            {"text": "hm"},
            {"text": "Text."},
            {"functionCall": {"name": "f_x", "args": {}}},
            {"functionCall": {"name": "g", "args": {}}},
        ]);
        if !signed.is_null() {
            parts[2]["thoughtSignature"] = signed;
        }
        parts
    };
    assert_eq!(foreign("gemini-3.1-pro-preview"), expected(json!(skip)));
    assert_eq!(foreign("gemini-2.5-flash"), expected(Value::Null));
    // A turn of which nothing is left is none.
    let silent = said(WireKind::Anthropic, vec![Block::Reasoning(ReasoningBlock::default())]);
    assert_eq!(contents(&[user("a"), silent, user("b")]).as_array().unwrap().len(), 1);
}

#[test]
fn images_stand_in_results_where_the_model_can_and_behind_them_where_not() {
    let image = |kind: &str| Part::Image { media_type: kind.into(), data: "aGk=".into() };
    let turns = [
        TurnKind::User(vec![Part::text("See"), image("image/png")]),
        said(WIRE, vec![call("a", "f", "{}", Some("s")), call("b", "g", "{}", None)]),
        TurnKind::ToolResults(vec![
            ToolResult {
                call_id: "a".into(),
                parts: vec![Part::text("one"), image("image/png"), image("image/gif")],
                is_error: false,
            },
            ToolResult { call_id: "b".into(), parts: vec![image("image/jpeg")], is_error: false },
        ]),
    ];
    let data = |kind: &str| json!({"inlineData": {"mimeType": kind, "data": "aGk="}});
    let one = json!({"id": "a", "name": "f", "response": {"output": "one"}});
    let two = json!({"id": "b", "name": "g", "response": {"output": "The result is an image."}});
    let parts = |name: &str| body(&model(name), &[], &turns)["contents"][2]["parts"].clone();
    let (mut with_one, mut with_two) = (one.clone(), two.clone());
    with_one["parts"] = json!([data("image/png")]);
    with_two["parts"] = json!([data("image/jpeg")]);
    let response = |value: &Value| json!({"functionResponse": value});
    let new = json!([response(&with_one), response(&with_two), data("image/gif")]);
    assert_eq!(parts("gemini-3-flash-preview"), new);
    let old = json!([
        response(&one),
        response(&two),
        data("image/png"),
        data("image/gif"),
        data("image/jpeg"),
    ]);
    assert_eq!(parts("gemini-2.5-flash"), old);
    assert_eq!(contents(&turns)[0]["parts"][1], data("image/png"));
    let mut blind = model("gemini-3-flash-preview");
    blind.compat.images = false;
    let sent = body(&blind, &[], &turns)["contents"].to_string();
    assert!(!sent.contains("inlineData") && sent.contains("an image is left out"), "{sent}");
}

#[test]
fn the_bytes_of_earlier_turns_never_change() {
    let (from_stream, _) = reply("stream_calls.sse");
    let turns = [
        user("Hi"),
        TurnKind::Assistant(from_stream.into()),
        TurnKind::ToolResults(vec![result("fc1", "1", false), result("fc2", "2", false)]),
        TurnKind::Steering(vec![Part::text("more")]),
        said(WIRE, vec![Block::Text("Well.".into())]),
        user("Go on"),
        said(WireKind::Anthropic, vec![call("z", "f", "{}", None)]),
        TurnKind::ToolResults(vec![result("z", "3", true)]),
    ];
    let model = model("gemini-3.5-flash");
    let tools = [tool("f", &json!({"type": "object"}))];
    let head = RequestHead::new(&model, "Be brief.", tools.iter());
    let mut prefix = RequestPrefix::new(&model);
    let mut before = Vec::new();
    for turn in &turns {
        prefix.push(turn.said().unwrap());
        let body = prefix.request(&head, &model, "").body.0;
        serde_json::from_slice::<Value>(&body).unwrap();
        // What closes the last content, the contents and the body may be followed by more.
        let kept = body.strip_suffix(b"]}]}").unwrap();
        assert!(kept.starts_with(&before), "{}", String::from_utf8_lossy(kept));
        before = kept.to_vec();
    }
}

#[test]
fn schemas_can_be_written_in_the_subset_of_older_endpoints() {
    let subset = |schema: &Value| {
        let mut model = model("gemini-2.5-flash");
        model.compat.json_schema = false;
        let sent = body(&model, &[tool("f", schema)], &[user("x")]);
        let declaration = sent["tools"][0]["functionDeclarations"][0].clone();
        assert!(declaration.get("parametersJsonSchema").is_none());
        declaration.get("parameters").cloned().unwrap_or_default()
    };
    for empty in [json!({"type": "object"}), json!({"type": "object", "properties": {}})] {
        assert_eq!(subset(&empty), Value::Null);
    }
    let sent = subset(&json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "additionalProperties": false,
        "$defs": {"tree": {"type": "object", "properties": {
            "leaf": {"type": "string"},
            "inner": {"$ref": "#/$defs/tree", "description": "More"},
        }}},
        "required": ["mode", "gone"],
        "properties": {
            "mode": {"const": "fast", "description": "How"},
            "size": {
                "type": ["integer", "null"],
                "exclusiveMinimum": 0,
                "maximum": 9,
                "format": "int32",
            },
            "either": {"type": ["string", "number"]},
            "level": {"enum": [1, 2], "type": "integer", "description": "How much."},
            "maybe": {"anyOf": [{"type": "string", "format": "uri"}, {"type": "null"}]},
            "one": {"oneOf": [{"type": "string", "enum": ["a", null]}, {"type": "boolean"}]},
            "all": {"allOf": [{"$ref": "#/$defs/tree"}, {"required": ["leaf"]}]},
            "list": {"type": "array", "items": {"not": {}, "type": "string"}, "minItems": 1},
            "bare": {"type": "array"},
            "lost": {"$ref": "#/$defs/none"},
            "nothing": {"type": "null"},
        },
    }));
    let cut = json!({"type": "OBJECT", "description": "More"});
    let tree = json!({"type": "OBJECT", "properties": {"leaf": {"type": "STRING"}, "inner": cut}});
    let mut all = tree;
    all["required"] = json!(["leaf"]);
    assert_eq!(
        sent,
        json!({
            "type": "OBJECT",
            "required": ["mode"],
            "properties": {
                "mode": {"type": "STRING", "enum": ["fast"], "description": "How"},
                "size": {"type": "INTEGER", "nullable": true, "maximum": 9, "format": "int32"},
                "either": {"anyOf": [{"type": "STRING"}, {"type": "NUMBER"}]},
                "level": {"type": "INTEGER", "description": "How much. One of: 1, 2."},
                "maybe": {"type": "STRING", "nullable": true},
                "one": {"anyOf": [{"type": "STRING", "enum": ["a"]}, {"type": "BOOLEAN"}]},
                "all": all,
                "list": {"type": "ARRAY", "items": {"type": "STRING"}, "minItems": 1},
                "bare": {"type": "ARRAY", "items": {"type": "STRING"}},
                "lost": {},
                "nothing": {"type": "NULL"},
            },
        })
    );
}

#[test]
fn a_schema_that_multiplies_itself_stays_bounded() {
    let level = |next: usize| {
        let next = json!({"$ref": format!("#/$defs/d{next}")});
        json!({"type": "object", "properties": {"a": next, "b": next, "c": next, "d": next}})
    };
    let mut defs = serde_json::Map::new();
    for index in 0..20 {
        defs.insert(format!("d{index}"), level(index + 1));
    }
    let schema =
        json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": defs});
    let mut model = model("gemini-2.5-flash");
    model.compat.json_schema = false;
    let size = body(&model, &[tool("f", &schema)], &[user("x")]).to_string().len();
    assert!(size < 1_000_000, "{size}");
}
