//! Calls and thinking in a model's text: a table of cases for each family, in every chunking and
//! cut at every place.

use innerloop_core::{
    ReplyPiece,
    json::Json,
    message::ToolCall,
    text_calls::{Family, ParsedText, TextScanner, parse},
    tool::ToolSpec,
};
use serde_json::{Value, json};
use std::{fs, path::Path};

struct Case {
    family: Family,
    name: String,
    body: String,
    tools: Vec<ToolSpec>,
    expect: Value,
}

/// One file of cases for each family, named after it.
const FILES: [&str; 20] = [
    "auto.jsonl",
    "hermes.jsonl",
    "qwen3_coder_xml.jsonl",
    "llama_json.jsonl",
    "mistral.jsonl",
    "deepseek.jsonl",
    "pythonic.jsonl",
    "harmony.jsonl",
    "glm.jsonl",
    "kimi.jsonl",
    "gemma.jsonl",
    "step3.jsonl",
    "minimax.jsonl",
    "cohere.jsonl",
    "hunyuan.jsonl",
    "react.jsonl",
    "functionary.jsonl",
    "inkling.jsonl",
    "fenced_json.jsonl",
    "json.jsonl",
];

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/text_calls");
    let mut cases = Vec::new();
    for file in FILES {
        let name = file.trim_end_matches(".jsonl");
        let family: Family = name.parse().unwrap();
        let text = fs::read_to_string(folder.join(file)).unwrap();
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            cases.push(Case {
                family,
                name: format!("{name}: {}", line["id"].as_str().unwrap()),
                body: line["body"].as_str().unwrap().into(),
                tools: line["tools"].as_array().into_iter().flatten().map(tool).collect(),
                expect: line["expect"].clone(),
            });
        }
    }
    cases
}

fn tool(value: &Value) -> ToolSpec {
    let function = &value["function"];
    ToolSpec::new(
        function["name"].as_str().unwrap(),
        "",
        Json::parse(function["parameters"].to_string()).unwrap(),
    )
}

fn shown(parsed: &ParsedText) -> Value {
    let arguments = |call: &ToolCall| {
        serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!(call.arguments))
    };
    let call =
        |call: &ToolCall| json!({"id": call.id, "name": call.name, "arguments": arguments(call)});
    json!({
        "text": parsed.text,
        "reasoning": parsed.reasoning,
        "tool_calls": parsed.calls.iter().map(call).collect::<Vec<_>>(),
    })
}

fn streamed<'a>(
    family: Family,
    chunks: impl Iterator<Item = &'a str>,
) -> (TextScanner, Vec<ReplyPiece>) {
    let (mut scanner, mut pieces) = (TextScanner::new(family), Vec::new());
    chunks.for_each(|chunk| scanner.feed(chunk, &mut pieces));
    (scanner, pieces)
}

/// What was shown.
fn joined(pieces: &[ReplyPiece]) -> (String, String) {
    let (mut text, mut reasoning) = (String::new(), String::new());
    for piece in pieces {
        match piece {
            ReplyPiece::Restart => (text, reasoning) = (String::new(), String::new()),
            ReplyPiece::Text(more) => text.push_str(more),
            ReplyPiece::Reasoning(more) => reasoning.push_str(more),
            ReplyPiece::Call(_) => panic!("a text holds no calls of the protocol"),
        }
    }
    (text, reasoning)
}

fn dense(text: &str) -> String {
    text.split_whitespace().collect()
}

#[test]
fn l4_l13_x10_x11_every_family_reads_its_cases() {
    let mut wrong = Vec::new();
    for case in cases() {
        let parsed = shown(&parse(case.family, &case.body, &case.tools));
        if parsed != case.expect {
            wrong.push(format!("{}\n  is   {parsed}\n  not  {}", case.name, case.expect));
        }
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn l4_a_text_gives_the_same_in_any_chunking() {
    for case in cases() {
        let whole = parse(case.family, &case.body, &case.tools);
        let by_char: Vec<String> = case.body.chars().map(String::from).collect();
        let mut ways = vec![streamed(case.family, by_char.iter().map(String::as_str))];
        for (at, _) in case.body.char_indices() {
            let (a, b) = case.body.split_at(at);
            ways.push(streamed(case.family, [a, b].into_iter()));
        }
        for (scanner, mut pieces) in ways {
            let mut rest = Vec::new();
            let parsed = scanner.finish(&case.tools, &mut rest);
            assert_eq!(parsed, whole, "{}", case.name);
            // Nothing that was shown turns out to be wrong at the end.
            assert!(!rest.contains(&ReplyPiece::Restart), "{}: {pieces:?} {rest:?}", case.name);
            pieces.append(&mut rest);
            let told = (parsed.text.clone(), parsed.reasoning.clone());
            assert_eq!(joined(&pieces), told, "{}", case.name);
        }
    }
}

#[test]
fn l4_a_text_is_shown_while_it_arrives() {
    let text =
        "See `a < b`, [1, 2] and {\"a\": 1}:\n```rust\nfn f() {}\n```\nIt is <b>so</b>, really so.";
    let (_, pieces) = streamed(Family::Auto, text.split_inclusive(' '));
    assert_eq!(dense(&joined(&pieces).0), dense(text));
    let (_, pieces) = streamed(Family::Auto, ["So </thin", "k>", "N", "o."].into_iter());
    assert_eq!(joined(&pieces), ("No.".into(), "So".into()));
    let (_, pieces) = streamed(Family::Auto, ["One ", "two <tool", "_call>{\"name\""].into_iter());
    assert_eq!(joined(&pieces).0, "One two");
}

#[test]
fn l4_lines_are_held_back_only_while_they_may_become_a_call() {
    let text = "Action: we brew.\nAction: tea\nA > b, >> c\n>>>all of it\n>>> and so on\n1.";
    for family in [Family::Auto, Family::React, Family::Functionary] {
        let (_, pieces) = streamed(family, text.split_inclusive(' '));
        assert_eq!(dense(&joined(&pieces).0), dense(text), "{family:?}");
    }
    let (_, pieces) = streamed(Family::Auto, ["So.\nAction: a\nAction In", "put: {"].into_iter());
    assert_eq!(joined(&pieces).0, "So.");
    let (_, pieces) = streamed(Family::Functionary, ["all", "\nSo.>>", ">a\n{"].into_iter());
    assert_eq!(joined(&pieces).0, "So.");
}

#[test]
fn l4_a_line_is_a_malformed_call_only_if_it_names_a_tool() {
    let tools = [tool(&json!({"function": {"name": "brew", "parameters": {}}}))];
    for (body, is_malformed) in [
        ("Action: brew\nAction Input: {\"leaf\": ", true),
        ("Action: brew\nAction Input:", true),
        ("Action: bake\nAction Input: {\"leaf\": ", false),
        ("Action: brew\n", false),
        (">>>brew\n{\"leaf\": ", true),
        (">>>bake\n{\"leaf\": ", false),
        ("Action: brew\nAction Input: {}\nObservation: 1\nAction: brew\nAction Input: {", false),
    ] {
        assert_eq!(parse(Family::Auto, body, &tools).is_malformed, is_malformed, "{body}");
        assert!(!parse(Family::Auto, body, &[]).is_malformed, "{body}");
    }
}

#[test]
fn l4_a_cut_text_loses_nothing_and_never_panics() {
    for case in cases() {
        let whole = parse(case.family, &case.body, &case.tools);
        for (at, _) in case.body.char_indices() {
            let cut = parse(case.family, &case.body[..at], &case.tools);
            // A call in thinking that is cut before its end is taken for one.
            let most = whole.calls.len() + usize::from(case.name.contains("closed thinking"));
            assert!(cut.calls.len() <= most, "{} cut at {at}", case.name);
            // A call is what it is in the whole text, or there is none.
            let is_same = cut.calls.iter().zip(&whole.calls).all(|(cut, whole)| cut == whole);
            assert!(is_same, "{} cut at {at}: {:?}", case.name, cut.calls);
        }
    }
}
