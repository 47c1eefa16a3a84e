//! Ollama's `/api/chat` from bytes and to bytes (`docs/wires.md`).

use innerloop_core::{
    Decoder, FailureKind, ModelCallError, RequestHead, RequestPrefix,
    config::{ModelConfig, ToolChoice, WireKind},
    event::ErrorKind,
    json::Json,
    message::{
        Block, FinishReason, Part, ReasoningBlock, Reply, ToolCall, ToolResult, TurnKind, Usage,
    },
    tool::ToolSpec,
};
use innerloop_driver::decode::{CallArguments, DecodedResponse};
use innerloop_tests::feeding::{decoded, head, truncations};
use serde_json::{Value, json};

const STREAM_CALLS: &str = include_str!("../../fixtures/wire/ollama/stream_calls.ndjson");
const STREAM_CACHED: &str = include_str!("../../fixtures/wire/ollama/stream_cached.ndjson");
const STREAM_ERROR: &str = include_str!("../../fixtures/wire/ollama/stream_error.ndjson");
pub(crate) const WHOLE_CALL: &str = include_str!("../../fixtures/wire/ollama/whole_call.json");

const LINES: &str = "application/x-ndjson";

fn stream(body: &str) -> DecodedResponse {
    decoded(WireKind::Ollama, 200, LINES, body)
}

pub(crate) fn lines(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

pub(crate) fn says(message: &Value) -> Value {
    json!({"model": "m", "message": message, "done": false})
}

pub(crate) fn done(reason: &str) -> Value {
    json!({"model": "m", "message": {"role": "assistant", "content": ""}, "done": true,
        "done_reason": reason, "prompt_eval_count": 5, "eval_count": 2})
}

fn calls(decoded: &DecodedResponse) -> String {
    serde_json::to_string(&decoded.tool_calls).unwrap()
}

fn failure(status: u16, body: &str) -> ModelCallError {
    let mut decoder = Decoder::new(WireKind::Ollama, &head(status, "application/json"));
    decoder.feed(body.as_bytes(), &mut Vec::new());
    decoder.finish().unwrap_err()
}

#[test]
fn a_stream_gives_thinking_text_calls_and_usage() {
    let reply = stream(STREAM_CALLS);
    assert_eq!(reply.reasoning, "The user asks for two cities: «Köln».");
    assert_eq!(reply.text, "Looking both up, \"quoted\" 🌦\n");
    let expected = concat!(
        r#"[{"id":"call_a1","name":"weather","arguments":{"city":"Köln","days":2,"brace":"}{"}},"#,
        r#"{"id":"call_b2","name":"weather","arguments":{"city":"Lima","temperature":1.50}},"#,
        r#"{"id":"call_c3","name":"now","arguments":{}}]"#,
    );
    assert_eq!(calls(&reply), expected);
    assert_eq!((reply.finish, reply.error), (FinishReason::ToolCalls, None));
    let usage = Usage { input_total: 217, output_total: 64, ..Usage::default() };
    assert_eq!(reply.usage, Some(usage));
}

#[test]
fn l2_a_whole_body_gives_the_same_as_a_stream() {
    let reply = decoded(WireKind::Ollama, 200, "application/json; charset=utf-8", WHOLE_CALL);
    assert_eq!(
        calls(&reply),
        r#"[{"id":"","name":"read_file","arguments":{"path":"src/main.js"}}]"#
    );
    assert_eq!((reply.finish, reply.usage.unwrap().input_total), (FinishReason::ToolCalls, 512));
    assert_eq!(reply.usage.unwrap().output_total, 48);
    for content_type in ["", "text/event-stream", LINES] {
        let padded = format!("\u{feff}\r\n  {}", WHOLE_CALL.replace('\n', "\r\n"));
        assert_eq!(decoded(WireKind::Ollama, 200, content_type, padded), reply);
    }
    let framed = format!(": ping\n\ndata: {WHOLE_CALL}\ndata: [DONE]\n\n");
    assert_eq!(stream(&framed), reply);
    // Older servers give neither reason nor counts.
    let old =
        json!({"model": "m", "message": {"role": "assistant", "content": "Hi"}, "done": true});
    let reply = stream(&old.to_string());
    assert_eq!((reply.text.as_str(), reply.finish, reply.usage), ("Hi", FinishReason::Stop, None));
}

#[test]
fn l2_errors_tell_their_kind_and_the_providers_own_words() {
    for (status, says, kind) in [
        (400, "\"gemma:2b\" does not support tools", ErrorKind::InvalidRequest),
        (400, "\"gemma:2b\" does not support thinking", ErrorKind::InvalidRequest),
        (400, "\"gemma:2b\" does not support chat", ErrorKind::InvalidRequest),
        (404, "model \"nope\" not found, try pulling it first", ErrorKind::InvalidRequest),
        (429, "too many requests", ErrorKind::RateLimit),
        (500, "llama runner process has terminated: exit status 2", ErrorKind::Server),
        (502, "upstream failed", ErrorKind::Server),
        (
            400,
            "prompt too long; exceeded max context length by 4 tokens (ref: 1)",
            ErrorKind::ContextOverflow,
        ),
        (
            400,
            "the prompt is longer than the context length currently available to the model",
            ErrorKind::ContextOverflow,
        ),
    ] {
        let body = json!({ "error": says }).to_string();
        let error = decoded(WireKind::Ollama, status, "application/json", body).error.unwrap();
        assert_eq!((error.kind, error.status, error.message.as_str()), (kind, status, says));
    }
    let body = r#"{"error":"unauthorized","signin_url":"https://ollama.com/connect?key=x"}"#;
    let error = decoded(WireKind::Ollama, 401, "application/json", body).error.unwrap();
    assert_eq!(error.kind, ErrorKind::Authentication);
    assert_eq!(error.message, "unauthorized: sign in at https://ollama.com/connect?key=x");
    let error = decoded(WireKind::Ollama, 404, "text/plain", "404 page not found").error.unwrap();
    assert_eq!(error.message, "HTTP 404: 404 page not found");
    for body in ["<html>nginx</html>", "Ollama is running", "", "[]", "{}", "[1]", "\u{0}"] {
        let error = decoded(WireKind::Ollama, 200, "text/plain", body).error.unwrap();
        assert_eq!(error.kind, ErrorKind::Protocol, "{body}");
    }
}

#[test]
fn that_a_model_has_no_tools_can_be_told() {
    for (says, no_tools) in [
        (r#"{"error":"\"gemma:2b\" does not support tools"}"#, true),
        (r#"{"error":"registry.ollama.ai/library/gemma:2b does not support tools"}"#, true),
        (r#"{"error":"\"gemma:2b\" does not support thinking"}"#, false),
        (r#"{"error":"the tool read_file is unknown"}"#, false),
        (r#"{"error":{"code":500,"message":"tools param requires --jinja flag"}}"#, true),
    ] {
        let is_told = failure(400, says).kind == FailureKind::NoTools;
        assert_eq!(is_told, no_tools, "{says}");
    }
}

#[test]
fn a_name_of_any_length_is_found() {
    let name = format!("error parsing tool call {}", "x".repeat(500));
    for name in [name.clone(), name.replace('x', "\\u0078")] {
        let failed = stream(&format!("{{\"{name}\":\"it broke\"}}\n"));
        assert!(failed.error.unwrap().message.contains("xxx: it broke"));
    }
}

#[test]
fn k25_a_call_that_the_server_cannot_read_comes_with_a_hint() {
    let error = stream(STREAM_ERROR).error.unwrap();
    let own = "error parsing tool call: raw='{\"path\": \"a.ts\",}', err=invalid character '}'";
    assert!(error.message.starts_with(own), "{}", error.message);
    assert!(error.message.contains("hint: "), "{}", error.message);
    assert_eq!((error.kind, error.status), (ErrorKind::Server, 200));
    for said in ["Failed to parse tool call arguments as JSON", "error parsing tool call: raw='ls'"]
    {
        let failure = failure(500, &json!({ "error": said }).to_string());
        assert!(failure.message.starts_with(said), "{failure}");
        assert!(failure.message.contains("hint: "), "{failure}");
        assert!(failure.is_retryable());
    }
    assert!(!failure(500, r#"{"error":"out of memory"}"#).message.contains("hint"));
    // Some versions say it under another name.
    let odd = r#"{"error parsing tool call":"invalid character 'c'"}"#;
    let error = stream(&format!("{}{odd}\n", lines(&[says(&json!({"content": "x"}))]))).error;
    let message = error.unwrap().message;
    assert!(message.starts_with("error parsing tool call: invalid character 'c'"), "{message}");
    assert!(message.contains("hint: "), "{message}");
}

#[test]
fn an_error_in_mid_stream_stands_above_what_came_before_and_after() {
    let error = json!({"error": "an error was encountered while running the model"});
    let body = lines(&[says(&json!({"content": "half"})), error, done("stop")]);
    let reply = stream(&body);
    assert_eq!((reply.text.as_str(), reply.finish), ("", FinishReason::Error));
    assert_eq!(reply.error.unwrap().message, "an error was encountered while running the model");
    for nothing in [json!(""), json!(null), json!(false)] {
        let mut line = done("stop");
        line["error"] = nothing;
        assert_eq!(stream(&lines(&[line])).error, None);
    }
}

#[test]
fn usage_may_lack_either_count_and_is_absent_without_both() {
    let reply = stream(STREAM_CACHED);
    assert_eq!((reply.text.as_str(), reply.finish), ("Grüße aus 😀.", FinishReason::Length));
    let usage = Usage { input_total: 0, output_total: 3, ..Usage::default() };
    assert_eq!(reply.usage, Some(usage));
    let mut line = done("stop");
    line["prompt_eval_count"] = json!(null);
    line["eval_count"] = json!("7");
    assert_eq!(stream(&lines(&[line.clone()])).usage.unwrap().output_total, 7);
    line["eval_count"] = json!({"tokens": 7});
    assert_eq!(stream(&lines(&[line])).usage, None);
}

#[test]
fn every_done_reason_has_its_meaning() {
    for (reason, finish) in [
        ("stop", FinishReason::Stop),
        ("length", FinishReason::Length),
        ("load", FinishReason::Unknown),
        ("unload", FinishReason::Unknown),
        ("", FinishReason::Stop),
        ("brand_new", FinishReason::Unknown),
    ] {
        let text = says(&json!({"content": "x"}));
        assert_eq!(stream(&lines(&[text, done(reason)])).finish, finish, "{reason}");
        let call = says(&json!({"tool_calls": [{"function": {"name": "f", "arguments": {}}}]}));
        // After the last call another one may have been cut.
        let finish =
            if reason == "length" { FinishReason::Length } else { FinishReason::ToolCalls };
        assert_eq!(stream(&lines(&[call, done(reason)])).finish, finish, "{reason}");
    }
}

#[test]
fn odd_types_cost_themselves_and_nothing_else() {
    let odd = says(&json!({
        "role": 7,
        "thinking": ["a", {"text": "b"}, {"type": "x"}, null],
        "content": [{"type": "text", "text": "c"}, "d"],
        "images": {"x": 1},
        "tool_calls": [
            null,
            "f",
            {"function": null},
            {"id": 5, "function": {"name": "a", "arguments": "{\"x\": 1}"}},
            {"id": null, "function": {"name": "b", "arguments": "not json"}},
            {"function": {"name": "c", "arguments": null}},
            {"function": {"name": "d", "arguments": ""}},
            {"function": {"arguments": {"y": 2}}},
            {"name": "e", "arguments": [1]},
        ],
    }));
    let mut end = done("stop");
    end["model"] = json!(["m"]);
    end["total_duration"] = json!("long");
    let odder = [json!({"message": "text"}), json!({"message": [1]}), json!({"done": "yes"})];
    let repeated = r#"{"message":{"content":"x","content":"e"},"done":true,"done":false}"#;
    let body = format!("{}{repeated}\n", lines(&[odd, odder[0].clone(), odder[1].clone()]));
    let reply = stream(&format!("{body}{}", lines(&[odder[2].clone(), end])));
    assert_eq!((reply.reasoning.as_str(), reply.text.as_str()), ("ab", "cde"));
    let expected = concat!(
        r#"[{"id":"5","name":"a","arguments":{"x": 1}},"#,
        r#"{"id":"","name":"b","arguments":"not json"},"#,
        r#"{"id":"","name":"c","arguments":{}},"#,
        r#"{"id":"","name":"d","arguments":{}},"#,
        r#"{"id":"","name":"","arguments":{"y":2}},"#,
        r#"{"id":"","name":"e","arguments":[1]}]"#,
    );
    assert_eq!(calls(&reply), expected);
    assert_eq!(reply.usage.unwrap().input_total, 5);
    let single = says(&json!({"tool_calls": {"function": {"name": "f", "arguments": {}}}}));
    assert_eq!(stream(&lines(&[single, done("stop")])).tool_calls.len(), 1);
}

#[test]
fn half_a_surrogate_pair_costs_one_character_and_no_more() {
    let text = r#"{"message":{"content":"a \ud800 b","thinking":"\udfff"},"done":true}"#;
    let reply = stream(text);
    assert_eq!((reply.text.as_str(), reply.reasoning.as_str()), ("a \u{fffd} b", "\u{fffd}"));
    let mut broken = says(&json!({"content": "a?b"})).to_string().into_bytes();
    let at = broken.iter().position(|byte| *byte == b'?').unwrap();
    broken[at] = 0xff;
    broken.extend(done("stop").to_string().into_bytes());
    assert_eq!(decoded(WireKind::Ollama, 200, LINES, broken).text, "a\u{fffd}b");
    let error = stream(r#"{"error":"bad \ud800 text"}"#).error.unwrap();
    assert_eq!(error.message, "bad \u{fffd} text");
}

#[test]
fn a_cut_stream_is_an_error_and_never_a_call() {
    for body in [STREAM_CALLS, STREAM_CACHED, STREAM_ERROR, WHOLE_CALL] {
        // Without its last line feed, and with it, a body is whole.
        let errors = truncations(WireKind::Ollama, 200, LINES, body);
        let whole = usize::from(stream(body).error.is_none());
        assert_eq!(errors, body.len() - whole, "{body}");
    }
    let cut = STREAM_CALLS.rsplit_once("{\"model\"").unwrap().0;
    let error = stream(cut).error.unwrap();
    assert_eq!(error.kind, ErrorKind::Protocol);
    assert_eq!(error.message, "the stream ended before the reply was whole");
}

#[test]
fn a_line_that_is_not_json_makes_the_reply_unreadable() {
    let body = format!("{{\"message\": {{oops}}}}\n{}", lines(&[done("stop")]));
    let error = stream(&body).error.unwrap();
    assert!(error.message.contains("not JSON"), "{}", error.message);
}

pub(crate) fn model() -> ModelConfig {
    ModelConfig {
        wire: WireKind::Ollama,
        name: "qwen3:8b".into(),
        context_window: 8_192,
        max_output_tokens: 2_048,
        ..ModelConfig::default()
    }
}

fn tool(name: &str) -> ToolSpec {
    let parameters = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    ToolSpec {
        read_only: true,
        ..ToolSpec::new(name, format!("Does {name}."), Json::parse(parameters.to_string()).unwrap())
    }
}

fn request(model: &ModelConfig, system: &str, tools: &[ToolSpec], turns: &[TurnKind]) -> Value {
    let mut prefix = RequestPrefix::new(model);
    turns.iter().filter_map(TurnKind::said).for_each(|said| prefix.push(said));
    let request = prefix.request(&RequestHead::new(model, system, tools.iter()), model, "key");
    assert_eq!(request.path, "/api/chat");
    serde_json::from_slice(&request.body).unwrap()
}

fn user(text: &str) -> TurnKind {
    TurnKind::User(vec![Part::text(text)])
}

fn image() -> Part {
    Part::Image { media_type: "image/png".into(), data: "aW1n".into() }
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    let (id, name, arguments) = (id.into(), name.into(), arguments.into());
    ToolCall { id, name, arguments, detail: None }
}

fn reply(blocks: Vec<Block>) -> TurnKind {
    TurnKind::Assistant(Box::new(Reply { blocks, ..Reply::default() }))
}

fn result(id: &str, text: &str, is_error: bool) -> ToolResult {
    ToolResult { call_id: id.into(), parts: vec![Part::text(text)], is_error }
}

#[test]
fn l3_a_request_holds_the_reply_once_and_then_one_result_for_each_call() {
    let turns = [
        user("Compare a and b."),
        reply(vec![
            Block::Reasoning(ReasoningBlock { text: "Both.".into(), ..ReasoningBlock::default() }),
            Block::Text("Reading".into()),
            Block::ToolCall(call("c1", "read_file", r#"{"path": "a"}"#)),
            Block::ToolCall(call("c2", "list", "not json")),
        ]),
        TurnKind::ToolResults(vec![
            result("c1", "{\"success\":true}", false),
            result("c2", "no such folder", true),
        ]),
        TurnKind::System("Be brief.".into()),
        TurnKind::Steering(vec![Part::text("See"), image(), Part::text("this")]),
        reply(vec![]),
        user("  "),
    ];
    let body = request(&model(), "You help.", &[tool("read_file"), tool("list")], &turns);
    let function = |name: &str| {
        json!({"type": "function", "function": {"name": name,
            "description": format!("Does {name}."),
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}})
    };
    let expected = json!({
        "model": "qwen3:8b",
        "stream": true,
        "truncate": false,
        "options": {"num_ctx": 8192, "num_predict": 2048},
        "tools": [function("read_file"), function("list")],
        "messages": [
            {"role": "system", "content": "You help."},
            {"role": "user", "content": "Compare a and b."},
            {"role": "assistant", "content": "Reading", "thinking": "Both.", "tool_calls": [
                {"id": "c1", "function": {"name": "read_file", "arguments": {"path": "a"}}},
                {"id": "c2", "function": {"name": "list", "arguments": {}}},
            ]},
            {"role": "tool", "tool_name": "read_file", "tool_call_id": "c1",
                "content": "{\"success\":true}"},
            {"role": "tool", "tool_name": "list", "tool_call_id": "c2",
                "content": "Error: no such folder"},
            {"role": "user", "content": "<system>\nBe brief.\n</system>"},
            {"role": "user", "content": "See\nthis", "images": ["aW1n"]},
        ],
    });
    assert_eq!(body, expected);
}

#[test]
fn images_go_where_they_are_taken() {
    let shot = ToolResult { call_id: "c".into(), parts: vec![image()], is_error: false };
    let turns =
        [reply(vec![Block::ToolCall(call("c", "shot", "{}"))]), TurnKind::ToolResults(vec![shot])];
    let body = request(&model(), "", &[], &turns);
    assert_eq!(body["messages"][1]["images"], json!(["aW1n"]));
    let mut blind = model();
    blind.compat.images = false;
    let body = request(&blind, "", &[], &turns);
    assert_eq!(body["messages"][1]["images"], Value::Null);
    let left_out = "[an image is left out: this model does not take it]";
    assert_eq!(body["messages"][1]["content"], left_out);
}

#[test]
fn a_request_without_system_prompt_tools_and_turns_is_whole() {
    let body = request(&model(), " ", &[], &[]);
    assert_eq!((&body["messages"], &body["tools"]), (&json!([]), &Value::Null));
    let body = request(&model(), "S", &[], &[]);
    assert_eq!(body["messages"], json!([{"role": "system", "content": "S"}]));
}

#[test]
fn effort_is_said_in_the_servers_own_words() {
    let think = |effort: Option<&str>| {
        let model = ModelConfig { reasoning_effort: effort.map(String::from), ..model() };
        request(&model, "", &[], &[])["think"].clone()
    };
    assert_eq!(think(None), Value::Null);
    for (effort, expected) in [
        ("none", json!(false)),
        ("false", json!(false)),
        ("true", json!(true)),
        ("minimal", json!("low")),
        ("low", json!("low")),
        ("medium", json!("medium")),
        ("high", json!("high")),
        ("xhigh", json!("max")),
    ] {
        assert_eq!(think(Some(effort)), expected, "{effort}");
    }
}

#[test]
fn options_of_the_configuration_are_merged() {
    let mut model = ModelConfig { stream: false, ..model() };
    for (name, value) in [
        ("keep_alive", json!(-1)),
        ("options", json!({"num_ctx": 4096, "temperature": 0.1, "stop": ["x"]})),
        ("truncate", json!(true)),
        ("messages", json!([{"role": "user", "content": "not ours"}])),
    ] {
        model.options.insert(name.into(), Json::parse(value.to_string()).unwrap());
    }
    let body = request(&model, "S", &[], &[]);
    assert_eq!((&body["keep_alive"], &body["stream"]), (&json!(-1), &json!(false)));
    let merged = json!({"num_ctx": 4096, "num_predict": 2048, "temperature": 0.1, "stop": ["x"]});
    assert_eq!((&body["options"], &body["truncate"]), (&merged, &json!(true)));
    assert_eq!(body["messages"], json!([{"role": "system", "content": "S"}]));
}

#[test]
fn tools_that_may_not_be_called_are_not_shown() {
    let names = |choice: ToolChoice| {
        let model = ModelConfig { tool_choice: choice, ..model() };
        let body = request(&model, "", &[tool("a"), tool("b")], &[]);
        let tools = body["tools"].as_array().cloned().unwrap_or_default();
        let names = tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    assert_eq!(names(ToolChoice::Auto), ["a", "b"]);
    assert_eq!(names(ToolChoice::Required), ["a", "b"]);
    assert_eq!(names(ToolChoice::Tool("b".into())), ["b"]);
    assert_eq!(names(ToolChoice::None), [""; 0]);
}

#[test]
fn the_bytes_of_earlier_turns_stay_as_they_were() {
    let (model, tools) = (model(), [tool("read_file")]);
    let head = RequestHead::new(&model, "You help.", tools.iter());
    let mut prefix = RequestPrefix::new(&model);
    let mut before: Vec<u8> = Vec::new();
    for turn in 0..20 {
        let id = format!("c{turn}");
        for turn in [
            user("Go on."),
            reply(vec![Block::ToolCall(call(&id, "read_file", "{\"path\": \"a\"}"))]),
            TurnKind::ToolResults(vec![result(&id, "text", false)]),
        ] {
            prefix.push(turn.said().unwrap());
        }
        let body = prefix.request(&head, &model, "key").body.0;
        assert!(body.starts_with(&before), "turn {turn}");
        before = body[..body.len() - b"]}".len()].to_vec();
    }
}

#[test]
fn arguments_are_never_invented() {
    let call = says(&json!({"tool_calls": [{"function": {"name": "f", "arguments": "{\"x\":"}}]}));
    let reply = stream(&lines(&[call, done("stop")]));
    assert_eq!(reply.tool_calls[0].arguments, CallArguments::Raw("{\"x\":".into()));
}
