//! What a request says of a tool that failed.

use innerloop_core::{
    RequestHead, RequestPrefix,
    config::{ModelConfig, TextCalls, WireKind},
    message::{Block, Part, Reply, ToolCall, ToolResult, TurnKind},
};
use innerloop_tests::wires::{WIRES, read};
use serde_json::Value;

fn model(wire: WireKind) -> ModelConfig {
    ModelConfig { wire, name: "m".into(), ..ModelConfig::default() }
}

fn image() -> Part {
    Part::Image { media_type: "image/png".into(), data: "QUJD".into() }
}

fn turns(wire: WireKind, parts: Vec<Part>, is_error: bool) -> [TurnKind; 3] {
    let call = |id: &str| {
        let (id, name, arguments) = (id.into(), "f".into(), "{}".into());
        Block::ToolCall(ToolCall { id, name, arguments, detail: None })
    };
    let blocks = vec![call("c1"), call("c2")];
    let reply = Reply { blocks, wire: Some(wire), ..Reply::default() };
    let ok = ToolResult { call_id: "c1".into(), parts: vec![Part::text("fine")], is_error: false };
    let result = ToolResult { call_id: "c2".into(), parts, is_error };
    [
        TurnKind::User(vec![Part::text("go")]),
        TurnKind::Assistant(Box::new(reply)),
        TurnKind::ToolResults(vec![ok, result]),
    ]
}

fn body(model: &ModelConfig, turns: &[TurnKind]) -> Value {
    let mut prefix = RequestPrefix::new(model);
    turns.iter().filter_map(TurnKind::said).for_each(|said| prefix.push(said));
    let head = RequestHead::new(model, "", [].iter());
    serde_json::from_slice(&prefix.request(&head, model, "").body.0).unwrap()
}

/// How the second call's result is said: whether as an error, and the text without the word.
fn said(wire: WireKind, parts: Vec<Part>, is_error: bool) -> (bool, String) {
    let results = read::results(wire, &body(&model(wire), &turns(wire, parts, is_error)));
    assert_eq!((results[0].is_error, results[0].text.as_str()), (Some(false), "fine"), "{wire:?}");
    (results[1].is_error.unwrap(), results[1].text.clone())
}

#[test]
fn c22_a_failed_result_says_so_on_every_wire() {
    for wire in WIRES {
        let text = |text: &str| vec![Part::text(text)];
        let told = |parts: Vec<Part>, is_error: bool| said(wire, parts, is_error);
        assert_eq!(told(text("no such folder"), false), (false, "no such folder".into()));
        assert_eq!(told(text("no such folder"), true), (true, "no such folder".into()));
        for silent in [vec![], text(""), text(" \n"), vec![Part::text(""), Part::text(" ")]] {
            let (_, said) = told(silent, true);
            assert_eq!(said, "The tool failed without a word.", "{wire:?}");
        }
        // With a picture beside it: Anthropic refuses the mark, the text says it.
        for parts in [vec![Part::text("half"), image()], vec![image(), Part::text("half")]] {
            let (_, text) = told(parts, true);
            let says_it = wire == WireKind::Gemini || text.starts_with("Error: half");
            assert!(says_it || told(vec![Part::text("half"), image()], true).0, "{wire:?}: {text}");
        }
        let (_, text) = told(vec![image()], true);
        assert!(text.contains("The tool failed without a word."), "{wire:?}: {text}");
    }
}

#[test]
fn c22_a_result_that_says_error_itself_is_not_said_to_be_one_twice() {
    for wire in [WireKind::OpenaiChat, WireKind::OpenaiResponses, WireKind::Ollama] {
        for text in ["error: no", "Error: no", "ERROR 5", "  error[E0308]: mismatched types"] {
            let sent = body(&model(wire), &turns(wire, vec![Part::text(text)], true)).to_string();
            assert!(sent.contains(text) && !sent.contains("Error: error"), "{sent}");
            assert!(!sent.contains("Error: Error") && !sent.contains("Error:   error"), "{sent}");
        }
    }
}

#[test]
fn c22_a_failed_result_says_so_in_text_calls_too() {
    for wire in WIRES {
        let model = ModelConfig { text_calls: TextCalls::Always, ..model(wire) };
        let sent = body(&model, &turns(wire, vec![Part::text("no")], true)).to_string();
        assert!(sent.contains("<tool_response>\\nError: no\\n</tool_response>"), "{sent}");
        assert!(sent.contains("<tool_response>\\nfine\\n</tool_response>"), "{sent}");
    }
}

#[test]
fn c22_the_bytes_of_a_failed_result_stay() {
    for wire in WIRES {
        let model = model(wire);
        let head = RequestHead::new(&model, "", [].iter());
        let (mut prefix, mut before) = (RequestPrefix::new(&model), String::new());
        for round in 0..4 {
            for turn in turns(wire, vec![Part::text("no"), image()], round % 2 == 0) {
                prefix.push(turn.said().unwrap());
            }
            let body = String::from_utf8(prefix.request(&head, &model, "").body.0).unwrap();
            // Anthropic's markers move, and the body's end comes behind the last turn.
            let body = body.replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "");
            let same = before.bytes().zip(body.bytes()).take_while(|(a, b)| a == b).count();
            assert!(same + 60 > before.len(), "{wire:?}: {before}\n{body}");
            before = body;
        }
    }
}
