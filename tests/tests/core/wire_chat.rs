//! Chat Completions and its dialects from bytes (`docs/wires.md`): a fixture for each
//! dialect and for each rule of gathering calls, in every chunking.

use expect_test::expect_file;
use innerloop_core::{
    Decoder, ReplyPiece,
    config::WireKind,
    event::ErrorKind,
    message::{Block, FinishReason, Reply, Usage},
};
use innerloop_driver::decode::{CallArguments, DecodedResponse, decode};
use innerloop_tests::feeding::{decoded, head, truncations};
use serde_json::{Value, json};
use std::{fmt::Write, fs, path::PathBuf};

const CHAT: WireKind = WireKind::OpenaiChat;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/wire/openai_chat")
}

fn fixture(name: &str) -> String {
    fs::read_to_string(folder().join(name)).unwrap()
}

fn stream(body: &str) -> DecodedResponse {
    decoded(CHAT, 200, "text/event-stream; charset=utf-8", body)
}

fn whole(body: &str) -> DecodedResponse {
    decoded(CHAT, 200, "application/json", body)
}

fn chunk(delta: &Value, finish: &Value) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
    format!("data: {}\n\n", json!({"id": "c", "choices": [choice]}))
}

fn says(text: &str) -> String {
    chunk(&json!({"content": text}), &Value::Null)
}

fn ends(reason: &str) -> String {
    chunk(&json!({}), &json!(reason))
}

/// The reply itself, with what replay needs.
fn reply(body: &str) -> Reply {
    let mut decoder = Decoder::new(CHAT, &head(200, "text/event-stream"));
    decoder.feed(body.as_bytes(), &mut Vec::new());
    decoder.finish().unwrap()
}

/// A fixture for each dialect, then for each rule; what they say stands in `expected.jsonl`.
const FIXTURES: [&str; 42] = [
    "alibaba.sse",
    "anthropic_compat.sse",
    "azure.sse",
    "azure_filter.json",
    "deepseek.sse",
    "gemini_compat.sse",
    "groq.sse",
    "groq_tool_use_failed.sse",
    "huggingface.sse",
    "llama_cpp.sse",
    "mistral.sse",
    "mistral_call_without_index.sse",
    "mistral_whole.json",
    "moonshot.sse",
    "ollama.sse",
    "openai.sse",
    "openai_custom.sse",
    "openai_function_call.sse",
    "openai_refusal.sse",
    "openai_refusal_whole.json",
    "openai_several_answers.sse",
    "openai_whole.json",
    "openrouter.sse",
    "openrouter_error.sse",
    "openrouter_sealed.sse",
    "openrouter_whole.json",
    "perplexity.sse",
    "rule_arguments_as_object.sse",
    "rule_arguments_broken.sse",
    "rule_calls_cut_by_length.sse",
    "rule_interleaved.sse",
    "rule_name_in_pieces.sse",
    "rule_new_id_same_index.sse",
    "rule_no_index.sse",
    "rule_odd_types.sse",
    "rule_repeated_id_and_name.sse",
    "rule_same_index_without_ids.sse",
    "snowflake.sse",
    "vercel_gateway.sse",
    "vllm.sse",
    "xai.sse",
    "zai.sse",
];

#[test]
fn every_dialect_and_rule_is_read_as_written_down() {
    let mut shown = String::new();
    for name in FIXTURES {
        let body = fixture(name);
        let found = if name.ends_with(".json") { whole(&body) } else { stream(&body) };
        let found = serde_json::to_string(&found).unwrap();
        writeln!(shown, "{{\"fixture\":\"{name}\",{}", &found[1..]).unwrap();
    }
    expect_file![folder().join("expected.jsonl")].assert_eq(&shown);
}

#[test]
fn a_stream_cut_anywhere_is_an_error_until_its_reason_to_end_has_come() {
    for name in ["openai.sse", "openrouter.sse", "perplexity.sse", "anthropic_compat.sse"] {
        let body = fixture(name);
        let full = stream(&body);
        let reason = body.find("\"finish_reason\":\"").unwrap();
        for at in 0..body.len() {
            let kept = &body.as_bytes()[..at];
            let cut = decode(CHAT, &head(200, "text/event-stream"), [kept].into_iter());
            if let Some(error) = cut.error {
                assert_eq!(error.kind, ErrorKind::Protocol, "{name} cut at {at}");
                assert!(cut.tool_calls.is_empty(), "{name} cut at {at}");
            } else {
                assert!(at > reason, "{name} cut at {at} goes unnoticed");
                let (said, calls) = (cut.text, cut.tool_calls);
                assert_eq!((said, calls), (full.text.clone(), full.tool_calls.clone()), "{at}");
            }
        }
    }
    let whole = truncations(CHAT, 200, "application/json", fixture("openai_whole.json"));
    assert!(whole > 500, "{whole}");
}

#[test]
fn what_replay_needs_is_kept() {
    let reasoning = |name: &str| {
        let blocks = reply(&fixture(name)).blocks;
        let items = blocks.into_iter().filter_map(|block| match block {
            Block::Reasoning(reasoning) => reasoning.item,
            _ => None,
        });
        items.map(|item| item.text().to_owned()).collect::<Vec<_>>()
    };
    let thought = concat!(
        r#"[{"type":"reasoning.text","text":"The user wants weather.","#,
        r#""format":"anthropic-claude-v1","index":0,"signature":"EqQB"}]"#
    );
    assert_eq!(reasoning("openrouter.sse"), [thought]);
    let sealed = concat!(
        r#"[{"type":"reasoning.summary","summary":"**Planning**\nthe route","#,
        r#""format":"openai-responses-v1","index":0},"#,
        r#"{"type":"reasoning.encrypted","data":"gAAA","id":"rs_1","#,
        r#""format":"openai-responses-v1","index":0}]"#
    );
    assert_eq!(reasoning("openrouter_sealed.sse"), [sealed]);

    let gemini = reply(&fixture("gemini_compat.sse"));
    let signatures: Vec<_> = gemini
        .tool_calls()
        .map(|call| call.detail.as_ref().and_then(|detail| detail.signature.as_deref()))
        .collect();
    assert_eq!(signatures, [Some("CsQB"), None]);
    let custom = reply(&fixture("openai_custom.sse"));
    assert!(custom.tool_calls().all(|call| call.is_freeform()));
    assert_eq!((custom.wire, custom.model.as_deref()), (Some(CHAT), Some("gpt-5.4")));
    assert_eq!(custom.response_id.as_deref(), Some("chatcmpl-7Qk"));
}

#[test]
fn text_and_thinking_come_out_piece_by_piece() {
    let mut decoder = Decoder::new(CHAT, &head(200, "text/event-stream"));
    let mut pieces = Vec::new();
    for line in fixture("mistral.sse").split_inclusive("\n\n") {
        decoder.feed(line.as_bytes(), &mut pieces);
    }
    let expected = [
        ReplyPiece::Reasoning("Let me ".into()),
        ReplyPiece::Reasoning("count.".into()),
        ReplyPiece::Text("There ".into()),
        ReplyPiece::Text("are three".into()),
        ReplyPiece::Text(".".into()),
    ];
    assert_eq!(pieces, expected);
}

#[test]
fn every_reason_to_end_has_its_meaning() {
    let call = json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f"}}]});
    for (reason, alone, with_call) in [
        ("stop", FinishReason::Stop, FinishReason::ToolCalls),
        ("eos", FinishReason::Stop, FinishReason::ToolCalls),
        ("end_turn", FinishReason::Stop, FinishReason::ToolCalls),
        ("", FinishReason::Unknown, FinishReason::ToolCalls),
        ("tool_calls", FinishReason::ToolCalls, FinishReason::ToolCalls),
        ("function_call", FinishReason::ToolCalls, FinishReason::ToolCalls),
        ("length", FinishReason::Length, FinishReason::Length),
        ("max_tokens", FinishReason::Length, FinishReason::Length),
        ("model_length", FinishReason::Length, FinishReason::Length),
        ("content_filter", FinishReason::ContentFilter, FinishReason::ContentFilter),
        ("content_filter: RECITATION", FinishReason::ContentFilter, FinishReason::ContentFilter),
        ("insufficient_system_resource", FinishReason::Error, FinishReason::Error),
        ("error", FinishReason::Error, FinishReason::Error),
        ("brand_new", FinishReason::Unknown, FinishReason::ToolCalls),
    ] {
        let done = "data: [DONE]\n\n";
        let plain = stream(&format!("{}{}{done}", says("x"), ends(reason)));
        let called = format!("{}{}{done}", chunk(&call, &Value::Null), ends(reason));
        assert_eq!((plain.finish, stream(&called).finish), (alone, with_call), "{reason}");
    }
    let ended = stream(&format!("{}data: [DONE]\n\n", says("x")));
    assert_eq!((ended.finish, ended.text.as_str()), (FinishReason::Unknown, "x"));
}

#[test]
fn a_call_that_begins_behind_a_reason_to_end_must_have_one_of_its_own() {
    let piece = |index: u32, name: &str, arguments: &str, finish: Value| {
        let function = json!({"name": name, "arguments": arguments});
        let call = json!({"index": index, "id": format!("c{index}"), "function": function});
        chunk(&json!({"tool_calls": [call]}), &finish)
    };
    let first = piece(0, "f", "{}", json!("tool_calls"));
    let begun = piece(1, "g", "{\"x\":", Value::Null);
    let ended = piece(1, "", "1}", json!("tool_calls"));
    assert_eq!(stream(&first).tool_calls.len(), 1);
    assert_eq!(stream(&format!("{first}{begun}")).error.unwrap().kind, ErrorKind::Protocol);
    assert_eq!(stream(&format!("{first}{begun}{ended}")).tool_calls.len(), 2);
    // A reason that is told once, and a marker behind all calls, are enough.
    let late = piece(1, "g", "{}", Value::Null);
    assert_eq!(stream(&format!("{first}{late}data: [DONE]\n\n")).tool_calls.len(), 2);
}

#[test]
fn quirks_of_framing_change_nothing() {
    let plain = fixture("openai.sse");
    let expected = stream(&plain);
    for variant in [
        plain.replace('\n', "\r\n"),
        plain.replace("\n\n", "\r\r"),
        format!("\u{feff}: comment\n\n{plain}"),
        format!("\n\n{plain}"),
        plain.replace("data: ", "data:"),
        plain.replace("\n\n", "   \n\n"),
        plain.replace("\n\n", "\n: ping - now\nretry: 5\nid: 1\n\n"),
        plain.replace("data: {", "event: chunk\ndata: {"),
        plain.trim_end().to_owned(),
        format!("{plain}data: {{\"error\": {{\"message\": \"too late\"}}}}\n\n"),
    ] {
        assert_eq!(stream(&variant), expected, "{variant}");
    }
    for kind in ["application/json", "", "application/octet-stream"] {
        assert_eq!(decoded(CHAT, 200, kind, &plain), expected);
        let body = format!("\n\n  \u{feff}{}", fixture("openai_whole.json"));
        assert_eq!(decoded(CHAT, 200, kind, body), whole(&fixture("openai_whole.json")));
    }
}

#[test]
fn the_last_usage_that_says_something_counts() {
    let usage = |value: &Value| format!("data: {}\n\n", json!({"choices": [], "usage": value}));
    let first = usage(&json!({"prompt_tokens": 3, "completion_tokens": 1}));
    for later in [json!(null), json!({}), json!("many"), json!({"cost": 1}), json!([])] {
        let found = stream(&format!("{first}{}{}", usage(&later), ends("stop"))).usage.unwrap();
        assert_eq!((found.input_total, found.output_total), (3, 1), "{later}");
    }
    let later = json!({"prompt_tokens": 5, "completion_tokens": -1, "prompt_tokens_details": 7});
    let found = stream(&format!("{first}{}{}", usage(&later), ends("stop"))).usage;
    assert_eq!(found, Some(Usage { input_total: 5, ..Usage::default() }));
    assert_eq!(stream(&ends("stop")).usage, None);
}

#[test]
fn errors_in_any_place_are_the_providers_own() {
    let said = json!({"message": "Out of paper", "code": "paper"});
    for event in [
        format!("event: error\ndata: {}\n\n", json!({"error": said})),
        format!("data: {}\n\n", json!({"error": "Out of paper"})),
        format!("data: {}\n\n", json!({"object": "error", "message": "Out of paper"})),
        format!("data: {}\n\n", json!({"detail": "Out of paper"})),
        format!("error: {}\n\n", json!({"detail": "x", "error": said})),
        format!("data: {}\n\n", json!({"choices": [], "x_groq": {"error": "Out of paper"}})),
        format!("{}\n", json!({"error": said})),
    ] {
        let found = stream(&format!("{}{event}", says("x")));
        let error = found.error.unwrap();
        assert!(error.message.contains("Out of paper"), "{event}");
        assert_eq!((error.status, found.finish), (200, FinishReason::Error));
    }
    for nothing in [json!(null), json!({}), json!("")] {
        let body = json!({"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}],
            "error": nothing});
        assert_eq!(whole(&body.to_string()).text, "x");
    }
    let found = decoded(CHAT, 400, "", r#"{"code":"invalid-argument","error":"Bad key: xai-1"}"#);
    assert_eq!(found.error.unwrap().message, "Bad key: xai-1");
    let found = decoded(CHAT, 422, "application/json", r#"{"detail":"Input too odd"}"#);
    assert_eq!(found.error.unwrap().message, "Input too odd");
}

#[test]
fn rubbish_is_an_error_and_never_a_panic() {
    let rubbish: [&[u8]; 9] = [
        b"",
        b"\xff\xfe\x00",
        b"data: {\"choices\":[\n\n",
        b"data: []\n\ndata: 1\n\ndata: null\n\n",
        b"data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n",
        b"{\"choices\":[]}",
        b"{\"choices\":null}",
        b"[1]",
        b"upstream gone",
    ];
    for body in rubbish {
        for kind in ["text/event-stream", "application/json", ""] {
            let error = decoded(CHAT, 200, kind, body).error.unwrap();
            assert_eq!(error.kind, ErrorKind::Protocol, "{kind} {body:?}");
        }
    }
}

#[test]
fn a_surrogate_pair_cut_in_two_is_joined_and_a_half_costs_one_character() {
    let text = |piece: &str| {
        format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{piece}\"}}}}]}}\n\n")
    };
    let end = ends("stop");
    for (pieces, expected) in [
        (vec![r"Hi \ud83d", r"\ude00!"], "Hi \u{1F600}!"),
        (vec![r"\ud83d", r"\ude00\ud83d", r"\ude01"], "\u{1F600}\u{1F601}"),
        (vec![r"a\ud83d", r"b"], "a\u{fffd}b"),
        (vec![r"a\ud83d b", r"\ude00"], "a\u{fffd} b\u{fffd}"),
        (vec![r"a \\ud83d", r"\u00fc"], "a \\ud83dü"),
        (vec![r"end\ud83d"], "end\u{fffd}"),
    ] {
        let body: String = pieces.iter().map(|piece| text(piece)).collect();
        let last = if expected.starts_with("end") { "data: [DONE]\n\n" } else { &end };
        assert_eq!(stream(&format!("{body}{last}")).text, expected);
    }
    let whole = whole(r#"{"choices":[{"message":{"content":"hey \ud800"}}]}"#);
    assert_eq!(whole.text, "hey \u{fffd}");
}

#[test]
fn a_lost_piece_of_a_call_makes_the_reply_unreadable() {
    let piece = |text: &str| {
        let call =
            format!(r#"{{"index":0,"id":"a","function":{{"name":"f","arguments":"{text}"}}}}"#);
        format!("data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{call}]}}}}]}}\n\n")
    };
    let end = ends("tool_calls");
    let joined = stream(&format!("{}{}{end}", piece(r#"[\"\ud83d"#), piece(r#"\ude00\"]"#)));
    let CallArguments::Value(value) = &joined.tool_calls[0].arguments else { panic!("{joined:?}") };
    assert_eq!(value.text(), "[\"\u{1F600}\"]");
    for lost in [piece(r#"[\"\ud83d x\"]"#), piece(r#"[\"\ud83d"#)] {
        let found = stream(&format!("{lost}{end}"));
        assert_eq!(found.error.unwrap().kind, ErrorKind::Protocol);
        assert!(found.tool_calls.is_empty());
    }
}

#[test]
fn half_a_character_is_joined_behind_chunks_that_say_nothing() {
    let text = |piece: &str| {
        format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{piece}\"}}}}]}}\n\n")
    };
    let body = [text(r"a\ud83d"), text(""), text(r"\ude00b"), ends("stop")].concat();
    assert_eq!(stream(&body).text, "a\u{1F600}b");
    let broken = r#"{"choices":[{"message":{"tool_calls":[{"function":{"name":"f","#.to_owned()
        + r#""arguments":"[\"\ud83d\"]"}}]}}]}"#;
    assert_eq!(whole(&broken).error.unwrap().kind, ErrorKind::Protocol);
}

#[test]
fn an_answer_that_is_an_object_is_its_json() {
    let body = r#"{"choices":[{"message":{"content":{"city": "Lima"}},"finish_reason":"stop"}]}"#;
    assert_eq!(whole(body).text, r#"{"city": "Lima"}"#);
    let part = body.replace(r#"{"city": "Lima"}"#, r#"{"type":"text","text":"Lima"}"#);
    assert_eq!(whole(&part).text, "Lima");
}

#[test]
fn content_that_is_a_value_is_its_json() {
    for (content, text) in [
        (r#"{"city": "Lima"}"#, r#"{"city": "Lima"}"#),
        (r#"{"type":"circle","radius":3}"#, r#"{"type":"circle","radius":3}"#),
        (r#"{"type":"text","text":"Lima"}"#, "Lima"),
        ("42", "42"),
        ("true", "true"),
        (r#"["a", "b"]"#, r#"["a", "b"]"#),
        ("[1,2]", "[1,2]"),
        (r#"[{"city":"Lima"}]"#, r#"[{"city":"Lima"}]"#),
        (r#"["a",{"type":"text","text":"b"}]"#, "ab"),
        (r#"[{"type":"reference","reference_ids":[3]}]"#, ""),
        ("{}", ""),
        ("[]", ""),
        ("null", ""),
    ] {
        let choice = format!(r#"{{"CONTENT":{{"content":{content}}},"finish_reason":"stop"}}"#);
        let body = format!(r#"{{"choices":[{choice}]}}"#);
        assert_eq!(whole(&body.replace("CONTENT", "message")).text, text, "{content}");
        let events = format!("data: {}\n\n", body.replace("CONTENT", "delta"));
        assert_eq!(stream(&events).text, text, "{content}");
    }
}

#[test]
fn numbers_that_json_cannot_write_cost_nothing_else() {
    for number in ["NaN", "Infinity", "-Infinity", "-NaN"] {
        let logprobs = format!(r#"{{"x":[{number}],"said":"NaN \" NaN"}}"#);
        let message = r#""message":{"content":"NaN \"Infinity\" N"}"#;
        let body = format!(r#"{{"choices":[{{{message},"logprobs":{logprobs}}}]}}"#);
        assert_eq!(whole(&body).text, "NaN \"Infinity\" N", "{number}");
        let event = format!("data: {}\n\n", body.replace("message", "delta"));
        assert_eq!(stream(&format!("{event}{}", ends("stop"))).text, "NaN \"Infinity\" N");
    }
    let broken = format!("data: {{\"choices\":[NaN\n\n{}", ends("stop"));
    let error = stream(&broken).error.unwrap();
    assert!(error.message.contains("not JSON"), "{error:?}");
}

/// A piece of a call without an index or an id, as some servers send them.
fn named(name: &str, arguments: &str) -> Value {
    json!({"function": {"name": name, "arguments": arguments}})
}

fn pieces(pieces: &[Value]) -> Vec<(String, String)> {
    let body: String =
        pieces.iter().map(|piece| chunk(&json!({"tool_calls": [piece]}), &Value::Null)).collect();
    let reply = reply(&(body + &ends("tool_calls")));
    reply.tool_calls().map(|call| (call.name.clone(), call.arguments.clone())).collect()
}

#[test]
fn calls_without_ids_and_arguments_are_told_apart_by_their_names() {
    let two = [("list_files", "{}"), ("git_status", "{}")].map(|(a, b)| (a.into(), b.into()));
    for arguments in ["", "{}"] {
        assert_eq!(pieces(&[named("list_files", ""), named("git_status", arguments)]), two);
    }
    let bare = |name: &str| json!({"index": 0, "function": {"name": name}});
    assert_eq!(pieces(&[bare("list_files"), bare("git_status")]), two);
    let both = json!({"tool_calls": [named("list_files", ""), named("git_status", "")]});
    let reply = reply(&(chunk(&both, &Value::Null) + &ends("tool_calls")));
    assert!(reply.tool_calls().map(|call| call.name.as_str()).eq(["list_files", "git_status"]));
    // A name in pieces is one.
    for (begin, end) in [("list_", "files"), ("list", "_files"), ("list.", "files")] {
        let found =
            pieces(&[named(begin, ""), named(end, ""), json!({"function": {"arguments": "{}"}})]);
        assert_eq!(found, [(format!("{begin}{end}"), "{}".into())]);
    }
}

#[test]
fn a_call_that_is_repeated_at_the_end_is_not_doubled() {
    let arguments = r#"{"path":"a"}"#;
    let piece = |index: Value, id: Value, arguments: &str| {
        let mut piece = named("f", arguments);
        (piece["index"], piece["id"]) = (index, id);
        piece
    };
    for (index, id) in [(json!(0), json!("a")), (json!(null), json!("a")), (json!(0), json!(null))]
    {
        let whole = piece(index.clone(), id.clone(), arguments);
        let begun = piece(index, id, r#"{"path""#);
        let rest = json!({"index": 0, "function": {"arguments": ":\"a\"}"}});
        let body = [&begun, &rest]
            .map(|piece| chunk(&json!({"tool_calls": [piece]}), &Value::Null))
            .concat()
            + &chunk(&json!({"tool_calls": [whole]}), &json!("tool_calls"));
        let found = reply(&body);
        assert!(found.tool_calls().map(|call| call.arguments.as_str()).eq([arguments]), "{body}");
    }
}

#[test]
fn an_error_behind_the_output_limit_says_nothing_new() {
    let error = json!({"error": {"code": 400, "message": "Token limit reached"}});
    let choice = json!([{"index": 0, "delta": {}, "finish_reason": "length"}]);
    let beside = json!({"choices": choice, "error": error["error"]});
    for end in [
        format!("{}data: {error}\n\n", ends("length")),
        format!("data: {beside}\n\n"),
        format!("{}data: {error}\n\ndata: [DONE]\n\n", ends("length")),
    ] {
        let found = stream(&format!("{}{end}", says("Once upon")));
        assert_eq!(
            (found.text.as_str(), found.finish, &found.error),
            ("Once upon", FinishReason::Length, &None)
        );
    }
    let found = stream(&format!("{}{}data: {error}\n\n", says("x"), ends("stop")));
    assert!(found.error.is_some());
}

#[test]
fn a_name_that_is_repeated_with_each_piece_costs_no_more_than_its_length() {
    let piece = |arguments: &str| {
        let function = json!({"name": "f", "arguments": arguments});
        chunk(&json!({"tool_calls": [{"function": function}]}), &Value::Null)
    };
    let pieces = 20_000;
    let body = piece(r#"{"x":""#) + &piece("{}").repeat(pieces) + &piece(r#""}"#);
    let reply = reply(&(body + &ends("tool_calls")));
    let lengths = reply.tool_calls().map(|call| call.arguments.len());
    assert!(lengths.eq([r#"{"x":""}"#.len() + 2 * pieces]));
}

#[test]
fn keys_that_repeat_keep_the_last_value() {
    let body = r#"{"choices":[{"message":{"content":null,"content":"x"},"finish_reason":"stop"}]}"#;
    assert_eq!(whole(body).text, "x");
    let body = body.replace("message", "delta");
    assert_eq!(stream(&format!("data: {body}\n\n")).text, "x");
}

#[test]
fn long_arguments_in_small_pieces_are_put_together() {
    let function = json!({"name": "f", "arguments": "\""});
    let first = json!({"tool_calls": [{"index": 0, "id": "a", "function": function}]});
    let mut body = chunk(&first, &Value::Null);
    let piece =
        json!({"tool_calls": [{"index": 0, "function": {"arguments": "0123456789abcdef"}}]});
    body.push_str(&chunk(&piece, &Value::Null).repeat(20_000));
    let last = json!({"tool_calls": [{"index": 0, "function": {"arguments": "\""}}]});
    body.push_str(&chunk(&last, &json!("tool_calls")));
    let found = decode(CHAT, &head(200, ""), body.as_bytes().chunks(1_000));
    let CallArguments::Value(value) = &found.tool_calls[0].arguments else { panic!("not JSON") };
    assert_eq!(value.text().len(), 320_002);
}
