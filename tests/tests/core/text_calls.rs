//! Calls and thinking in a model's text: a table of cases for each family, in every chunking and
//! cut at every place, and what endless brackets cost.

use innerloop_core::{
    Piece,
    json::Json,
    message::ToolCall,
    steps,
    text_calls::{Family, Parsed, Scanner, parse},
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
const FILES: [&str; 12] = [
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
    ToolSpec {
        name: function["name"].as_str().unwrap().into(),
        description: String::new(),
        parameters: Json::parse(function["parameters"].to_string()).unwrap(),
        read_only: false,
        timeout_ms: None,
        freeform: None,
    }
}

fn shown(parsed: &Parsed) -> Value {
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

fn streamed<'a>(family: Family, chunks: impl Iterator<Item = &'a str>) -> (Scanner, Vec<Piece>) {
    let (mut scanner, mut pieces) = (Scanner::new(family), Vec::new());
    chunks.for_each(|chunk| scanner.feed(chunk, &mut pieces));
    (scanner, pieces)
}

/// What was shown, white space aside.
fn joined(pieces: &[Piece]) -> (String, String) {
    let (mut text, mut reasoning) = (String::new(), String::new());
    for piece in pieces {
        match piece {
            Piece::Restart => (text, reasoning) = (String::new(), String::new()),
            Piece::Text(more) => text.push_str(more),
            Piece::Reasoning(more) => reasoning.push_str(more),
        }
    }
    (dense(&text), dense(&reasoning))
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
        for (scanner, pieces) in ways {
            let (text, reasoning) = joined(&pieces);
            let parsed = scanner.finish(&case.tools);
            assert_eq!(parsed, whole, "{}", case.name);
            let is_shown = dense(&parsed.text).starts_with(&text)
                && dense(&parsed.reasoning).starts_with(&reasoning);
            assert!(is_shown, "{}: shown {text:?} {reasoning:?} of {parsed:?}", case.name);
        }
    }
}

#[test]
fn l4_a_text_is_shown_while_it_arrives() {
    let text =
        "See `a < b`, [1, 2] and {\"a\": 1}:\n```rust\nfn f() {}\n```\nIt is <b>so</b>, really so.";
    let (_, pieces) = streamed(Family::Auto, text.split_inclusive(' '));
    assert_eq!(joined(&pieces).0, dense(text));
    let (_, pieces) = streamed(Family::Auto, ["So </thin", "k>", "N", "o."].into_iter());
    assert_eq!(joined(&pieces), ("No.".into(), "So".into()));
    let (_, pieces) = streamed(Family::Auto, ["One ", "two <tool", "_call>{\"name\""].into_iter());
    assert_eq!(joined(&pieces).0, "Onetwo");
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
        }
    }
}

/// What a text may consist of that promises a call and never keeps it.
const OPENINGS: [&str; 45] = [
    "\n",
    "functools",
    " functools",
    "<",
    "{",
    "[",
    "`",
    "```",
    "{\"",
    "[{",
    "{\"a\":",
    "[f(",
    "[f(a='",
    "<think>",
    "</think>",
    "<tool_call>",
    "<tool_call>{",
    "<tool_call>a<arg_key>",
    "<function=a>",
    "<function=a><parameter=b>",
    "[TOOL_CALLS]",
    "[TOOL_CALLS]a",
    "<｜tool▁calls▁begin｜>",
    "<|tool_call_begin|>a:0",
    "<|message|>",
    "<|channel|>",
    "<invoke name=\"a\">",
    "```json\n{",
    "<tool_call>{'a': \"",
    "[f(a=1),",
    "[[1],",
    "{\"name\":\"a\",\"arguments\":{}}",
    "<|tool_call_begin|>a:0<|tool_call_argument_begin|>{",
    "[TOOL_CALLS]a{\"",
    "<｜tool▁call▁begin｜>a<｜tool▁sep｜>{",
    "<invoke name=\"a\"><parameter name=\"b\">",
    "<tool_call>a<arg_key>b</arg_key><arg_value>",
    "[f(x=b'",
    "\n```",
    "<tool_call>\n```json\n{",
    "[TOOL_CALLS] ",
    "{{1,",
    "<|tool_calls_section_begin|> a",
    "<|open|>tools<|sep|><|open|>call tool=\"a\"<|sep|>",
    "<|open|>tools<|sep|><|open|>call tool=\"a\"<|sep|><|open|>argument key=\"b\"<|sep|>",
];

/// How many bytes may be looked at for each byte of a text: the tries in vain, and JSON that is
/// followed as deep as it may nest.
const PER_BYTE: usize = 300;

/// How many bytes are looked at while a text is taken apart as a whole, streamed in one piece, and
/// streamed character by character.
fn steps_of(family: Family, body: &str) -> [usize; 3] {
    let counted = |work: &dyn Fn()| {
        let _ = steps();
        work();
        steps()
    };
    let chars: Vec<&str> =
        body.char_indices().map(|(at, c)| &body[at..at + c.len_utf8()]).collect();
    [
        counted(&|| drop(parse(family, body, &[]))),
        counted(&|| drop(streamed(family, [body].into_iter()))),
        counted(&|| drop(streamed(family, chars.iter().copied()))),
    ]
}

#[test]
fn x10_endless_brackets_cost_no_more_than_their_length() {
    let families = FILES.into_iter().map(|file| file.trim_end_matches(".jsonl").parse().unwrap());
    let each = families.map(|family: Family| (family, "", 2_000));
    // What grows with the square of the length shows in a long one; white space and words before
    // all else are as endless.
    let befores = ["", " ", "x", "functools "];
    let long = befores.into_iter().map(|before| (Family::Auto, before, 16_000));
    for (family, before, length) in each.chain(long) {
        for opening in OPENINGS {
            let half = if before.is_empty() { 0 } else { length / 2 };
            let before = before.repeat(half / before.len().max(1));
            let body = before + &opening.repeat((length - half) / opening.len());
            for steps in steps_of(family, &body) {
                let each = steps / body.len();
                assert!(each <= PER_BYTE, "{family:?}: {each} for each byte of …{opening:?}…");
            }
        }
    }
}
