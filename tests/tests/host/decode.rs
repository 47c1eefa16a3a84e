//! `innerloop decode`.

use innerloop_tests::{
    anthropic::Message,
    mock::Reply,
    program::{innerloop, run, run_with},
};
use serde_json::{Value, json};

fn decode(args: &[&str], stdin: &[u8]) -> Vec<Value> {
    let mut command = innerloop(["decode", "--wire", "anthropic"]);
    run_with(command.args(args), stdin).exits(0).json_lines()
}

#[test]
fn a_response_is_decoded_the_same_in_any_pieces() {
    let message =
        Message::text("Grüße").thinking("hm").and_raw_call("toolu_1", "f", r#"{"b": 1.50}"#);
    let stream = message.events().concat();
    let want = json!([{
        "id": null,
        "text": "Grüße",
        "reasoning": "hm",
        "refusal": "",
        "tool_calls": [{"id": "toolu_1", "name": "f", "arguments": {"b": 1.5}}],
        "finish": "tool_calls",
        "usage": {
            "input_total": 100, "output_total": 10, "cache_read": 0, "cache_write": 0,
            "reasoning": 0,
        },
        "error": null,
    }]);
    assert_eq!(json!(decode(&[], stream.as_bytes())), want);
    for size in ["1", "2", "7", "4096"] {
        assert_eq!(json!(decode(&["--chunk", size], stream.as_bytes())), want, "pieces of {size}");
        let whole = message.body();
        assert_eq!(json!(decode(&["--chunk", size], whole.as_bytes())), want, "pieces of {size}");
    }
}

#[test]
fn an_error_is_decoded_with_its_status() {
    let body = Reply::error(429, "rate_limit_error", "slow down").body();
    let lines = decode(&["--status", "429"], &body);
    assert_eq!(lines[0]["error"]["kind"], "rate_limit");
    assert_eq!(lines[0]["error"]["status"], 429);
    assert_eq!(lines[0]["finish"], "error");
    assert!(lines[0]["error"]["message"].as_str().unwrap().contains("slow down"));
    let cut = Message::text("hello").events()[..3].concat();
    assert_eq!(decode(&[], cut.as_bytes())[0]["error"]["kind"], "protocol");
}

#[test]
fn interactions_are_decoded_line_by_line() {
    let stream = Message::text("one").events().concat();
    let whole = Message::text("two").body();
    let lines = [
        json!({
            "id": "a", "wire": "anthropic", "status": 200,
            "headers": {"content-type": "text/event-stream"}, "body": stream,
        }),
        json!({"id": 7, "body_base64": "eyJub3BlIjp0cnVlfQ==", "status": 500, "headers": {}}),
        json!({"id": "c", "wire": "anthropic", "body": whole}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let decoded = decode(&["--jsonl", "--chunk", "3"], text.as_bytes());
    assert_eq!(decoded.len(), 3);
    assert_eq!((&decoded[0]["id"], &decoded[0]["text"]), (&json!("a"), &json!("one")));
    assert_eq!((&decoded[1]["id"], &decoded[1]["error"]["status"]), (&json!(7), &json!(500)));
    assert_eq!((&decoded[2]["id"], &decoded[2]["text"]), (&json!("c"), &json!("two")));
}

/// Decodes lines without a protocol of the command's own.
fn lines(args: &[&str], stdin: &[u8]) -> Vec<Value> {
    let mut command = innerloop(["decode", "--jsonl"]);
    run_with(command.args(args), stdin).exits(0).json_lines()
}

#[test]
fn a_line_of_output_has_its_fields_in_order() {
    let call = Message::text("x").and_raw_call("c", "f", "{}").body();
    let line = json!({"id": "a", "wire": "anthropic", "body": call}).to_string();
    let mut command = innerloop(["decode", "--jsonl"]);
    let done = run_with(&mut command, line.as_bytes()).exits(0).stdout;
    let expected = concat!(
        r#"{"id":"a","text":"x","reasoning":"","refusal":"","#,
        r#""tool_calls":[{"id":"c","name":"f","arguments":{}}],"finish":"tool_calls","#,
        r#""usage":{"input_total":100,"output_total":10,"cache_read":0,"cache_write":0,"#,
        r#""reasoning":0},"error":null}"#,
    );
    assert_eq!(done, format!("{expected}\n"));
    let mut command = innerloop(["decode", "--wire", "ollama", "--status", "404"]);
    let failed = run_with(&mut command, br#"{"error":"model 'm' not found"}"#).exits(0).stdout;
    let expected = concat!(
        r#"{"id":null,"text":"","reasoning":"","refusal":"","tool_calls":[],"finish":"error","#,
        r#""usage":null,"error":{"kind":"invalid_request","message":"model 'm' not found","#,
        r#""code":null,"status":404,"retry_after_ms":null}}"#,
    );
    assert_eq!(failed, format!("{expected}\n"));
}

#[test]
fn every_wire_has_its_name_and_a_line_its_own_wire() {
    let ollama = json!({"message": {"content": "hi"}, "done": true}).to_string();
    let anthropic = Message::text("hello").body();
    let input = [
        json!({"id": 1, "wire": "ollama", "body": ollama}),
        json!({"id": 2, "wire": "anthropic", "body": anthropic}),
        json!({"id": 3, "body": ollama}),
        json!({"id": 4, "wire": null, "body": anthropic}),
    ];
    let input: String = input.iter().map(|line| format!("{line}\r\n\n  \n")).collect();
    let decoded = lines(&["--wire", "ollama"], input.as_bytes());
    let texts: Vec<_> = decoded.iter().map(|line| line["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["hi", "hello", "hi", ""]);
    assert_eq!(decoded[3]["error"]["kind"], "protocol");
    for wire in ["openai_responses", "openai_chat", "anthropic", "gemini", "ollama"] {
        let mut command = innerloop(["decode", "--wire", wire, "--status", "401"]);
        let lines = run_with(&mut command, b"{}").exits(0).json_lines();
        assert_eq!(lines[0]["error"]["kind"], "authentication", "{wire}");
        let line = json!({"id": wire, "wire": wire, "status": 401}).to_string();
        let decoded = self::lines(&[], line.as_bytes());
        assert_eq!(
            (&decoded[0]["id"], &decoded[0]["error"]["status"]),
            (&json!(wire), &json!(401))
        );
    }
}

#[test]
fn what_cannot_be_read_gets_its_line_and_ends_nothing() {
    let good = json!({"message": {"content": "hi"}, "done": true}).to_string();
    let bad: [(Value, &str, &[u8]); 17] = [
        (json!(null), "not one JSON object", b"{oops}"),
        (json!(null), "not one JSON object", b"[1]"),
        (json!(null), "not one JSON object", b"7"),
        (json!("cut"), "not one JSON object", br#"{"id": "cut", "wire": "oll"#),
        (json!("two"), "not one JSON object", br#"{"id":"two"} {"id":"three"}"#),
        (json!("u"), "not UTF-8", b"{\"id\":\"u\",\"body\":\"\xff\"}"),
        (json!("w"), "`wire` is missing", br#"{"id":"w","body":"{}"}"#),
        (json!("w"), "known: openai_responses, openai_chat", br#"{"id":"w","wire":"telex"}"#),
        (json!("w"), "`wire` is not a string", br#"{"id":"w","wire":7}"#),
        (json!(5), "`status`", br#"{"id":5,"wire":"ollama","status":99}"#),
        (json!(5), "`status`", br#"{"id":5,"wire":"ollama","status":"ok"}"#),
        (json!(5), "`status`", br#"{"id":5,"wire":"ollama","status":-1}"#),
        (json!({"x": 1}), "`headers`", br#"{"id":{"x":1},"wire":"ollama","headers":"a: b"}"#),
        (json!(null), "header \"a\"", br#"{"wire":"ollama","headers":{"a":{"b":1}}}"#),
        (json!("b"), "`body` is not a string", br#"{"id":"b","wire":"ollama","body":{"x":1}}"#),
        (json!("b"), "not base64", br#"{"id":"b","wire":"ollama","body_base64":"***"}"#),
        (json!("b"), "not base64", br#"{"id":"b","wire":"ollama","body_base64":["eA=="]}"#),
    ];
    let mut input = Vec::new();
    for (_, _, line) in &bad {
        input.extend_from_slice(line);
        input.extend_from_slice(b"\n");
        input.extend_from_slice(
            json!({"id": "ok", "wire": "ollama", "body": good}).to_string().as_bytes(),
        );
        input.push(b'\n');
    }
    let decoded = lines(&[], &input);
    assert_eq!(decoded.len(), 2 * bad.len());
    for ((id, why, line), pair) in bad.iter().zip(decoded.chunks(2)) {
        let error = &pair[0]["error"];
        let shown = String::from_utf8_lossy(line);
        assert_eq!((&pair[0]["id"], &pair[0]["finish"]), (id, &json!("error")), "{shown}");
        assert_eq!(error["kind"], "invalid_request", "{shown}");
        assert!(error["message"].as_str().unwrap().contains(why), "{shown}: {error}");
        assert_eq!((&pair[1]["id"], &pair[1]["text"]), (&json!("ok"), &json!("hi")));
    }
}

#[test]
fn what_is_plainly_meant_is_read() {
    let body = json!({"message": {"content": "hi"}, "done": true}).to_string();
    let error = json!({"error": "slow down"}).to_string();
    let input = [
        json!({"id": 1, "wire": "ollama", "headers": null, "status": null, "body": body}),
        json!({"id": 2, "wire": "ollama", "status": 429, "body": error, "body_base64": null,
            "headers": {"Retry-After": ["2"], "x-n": 7, "x-none": null}}),
        json!({"id": 3, "wire": "ollama", "body": null, "body_base64": "eyJkb25lIjp0cnVlfQ=="}),
        json!({"id": 4, "wire": "ollama"}),
    ];
    let mut input: String = input.iter().map(|line| format!("{line}\n")).collect();
    input.insert(0, '\u{feff}');
    input.push_str(r#"{"id":5,"wire":"ollama","body":"{\"error\":\"\ud800\"}","more":1}"#);
    let decoded = lines(&[], input.as_bytes());
    assert_eq!(decoded[0]["text"], "hi");
    assert_eq!(decoded[1]["error"]["retry_after_ms"], 2_000);
    assert_eq!(decoded[2]["finish"], "stop");
    assert_eq!(decoded[3]["error"]["message"], "the response is empty");
    assert_eq!(decoded[4]["error"]["message"], "\u{fffd}");
}

#[test]
fn arguments_are_the_value_or_the_raw_text() {
    let shown = |arguments: &str| {
        let call = json!({"function": {"name": "f", "arguments": arguments}});
        let body = json!({"message": {"tool_calls": [call]}, "done": true}).to_string();
        let mut command = innerloop(["decode", "--wire", "ollama"]);
        let lines = run_with(&mut command, body.as_bytes()).exits(0).json_lines();
        lines[0]["tool_calls"][0]["arguments"].clone()
    };
    for (arguments, expected) in [
        (r#"{"a": [1]}"#, json!({"a": [1]})),
        (" [1, 2] ", json!([1, 2])),
        ("\"text\"", json!("text")),
        (r#"{"a": "#, json!(r#"{"a": "#)),
        ("{a: 1}", json!("{a: 1}")),
        ("", json!({})),
    ] {
        assert_eq!(shown(arguments), expected, "{arguments}");
    }
}

#[test]
fn a_refusal_stands_in_its_own_field() {
    let refused = Message::text("I can't help with that.").stop_reason("refusal").body();
    let decoded = &decode(&[], refused.as_bytes())[0];
    assert_eq!((&decoded["text"], &decoded["finish"]), (&json!(""), &json!("refusal")));
    assert_eq!(decoded["refusal"], "I can't help with that.");
}

#[test]
fn an_answer_comes_before_the_next_line_is_asked() {
    use std::io::{BufRead, BufReader, Write};
    let mut command = innerloop(["decode", "--jsonl", "--wire", "ollama"]);
    let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    for id in 0..3 {
        writeln!(input, "{{\"id\":{id}}}").unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert!(line.starts_with(&format!("{{\"id\":{id},")), "{line}");
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn misuse_of_the_command_is_told_before_anything_is_read() {
    for args in [
        &["decode"][..],
        &["decode", "--wire", "telex"],
        &["decode", "--wire", "anthropic", "--chunk", "0"],
        &["decode", "--wire", "anthropic", "--status", "99"],
        &["decode", "--text-calls", "telex", "--jsonl"],
        &["decode", "--text-calls", "hermes"],
        &["decode", "--text-calls", "hermes", "--jsonl", "--wire", "ollama"],
    ] {
        let _usage = run(&mut innerloop(args)).exits(2);
    }
}

fn text_calls(family: &str, input: &[u8]) -> String {
    let mut command = innerloop(["decode", "--jsonl", "--text-calls", family]);
    run_with(&mut command, input).exits(0).stdout
}

#[test]
fn calls_are_read_from_text_line_by_line() {
    let body = "<think>hm</think>Look: <tool_call>\n{\"name\": \"f\", \"arguments\": {\"n\": 1}}\n\
                </tool_call>";
    let line = json!({"id": 7, "body": body});
    let expected = concat!(
        r#"{"id":7,"text":"Look:","reasoning":"hm","#,
        r#""tool_calls":[{"id":"","name":"f","arguments":{"n": 1}}]}"#,
    );
    for family in ["hermes", "auto"] {
        let shown = text_calls(family, line.to_string().as_bytes());
        assert_eq!(shown.replace("Look: ", "Look:"), format!("{expected}\n"), "{family}");
    }
    for family in [
        "qwen3_coder_xml",
        "llama_json",
        "mistral",
        "deepseek",
        "pythonic",
        "harmony",
        "glm",
        "kimi",
        "gemma",
        "step3",
        "minimax",
        "cohere",
        "hunyuan",
        "react",
        "functionary",
        "inkling",
        "fenced_json",
        "json",
    ] {
        let shown = text_calls(family, br#"{"id":"a","body":"Just text."}"#);
        let expected = r#"{"id":"a","text":"Just text.","reasoning":"","tool_calls":[]}"#;
        assert_eq!(shown, format!("{expected}\n"), "{family}");
    }
}

#[test]
fn tools_of_any_shape_tell_the_types_of_arguments() {
    let body = "<tool_call>\n<function=f>\n<parameter=n>\n5\n</parameter>\n<parameter=s>\n5\n\
                </parameter>\n</function>\n</tool_call>";
    let schema = json!({"type": "object",
        "properties": {"n": {"type": "integer"}, "s": {"type": "string"}}});
    let nested = json!({"type": "function", "function": {"name": "f", "parameters": schema}});
    for tools in [
        json!([nested]),
        json!([null, 7, {"type": "web_search"}, {"name": 3}, nested]),
        json!([{"type": "function", "name": "f", "parameters": schema}]),
        json!([{"name": "f", "input_schema": schema}]),
        json!([{"functionDeclarations": [{"name": "f", "parameters": schema}]}]),
        json!(nested),
        json!(json!([nested]).to_string()),
    ] {
        let line = json!({"body": body, "tools": tools}).to_string();
        let shown: Value =
            serde_json::from_str(&text_calls("qwen3_coder_xml", line.as_bytes())).unwrap();
        assert_eq!(shown["tool_calls"][0]["arguments"], json!({"n": 5, "s": "5"}), "{tools}");
    }
    for tools in [json!(null), json!("none"), json!([[]]), json!([{"name": "f", "parameters": 1}])]
    {
        let line = json!({"body": body, "tools": tools}).to_string();
        let shown: Value =
            serde_json::from_str(&text_calls("qwen3_coder_xml", line.as_bytes())).unwrap();
        assert_eq!(shown["tool_calls"][0]["name"], "f", "{tools}");
    }
}

#[test]
fn text_that_cannot_be_read_gets_its_line_too() {
    let input = b"{oops}\n{\"id\":1}\n\n{\"id\":2,\"body\":[]}\n{\"id\":3,\"body\":\"x\"}\n";
    let shown = text_calls("json", input);
    let shown: Vec<Value> = shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ids: Vec<_> = shown.iter().map(|line| line["id"].clone()).collect();
    assert_eq!(json!(ids), json!([null, 1, 2, 3]));
    for line in &shown[..3] {
        assert_eq!(line["error"]["kind"], "invalid_request", "{line}");
        assert_eq!(line["tool_calls"], json!([]), "{line}");
    }
    assert_eq!((&shown[3]["text"], &shown[3]["error"]), (&json!("x"), &Value::Null));
}
