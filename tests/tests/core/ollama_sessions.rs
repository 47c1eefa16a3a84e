//! Sessions with Ollama: calls and results, empty replies, replies that its limit has cut.

use crate::wire_ollama::{WHOLE_CALL, done, lines, model, says};
use innerloop_core::{
    config::{ModelConfig, TextCalls},
    event::EventKind,
    input::{HttpInput, ResponseHead},
};
use innerloop_tests::test_host::{TestHost, config};
use serde_json::json;

/// A session that talks to Ollama.
fn host() -> TestHost {
    host_that_grows(false)
}

fn host_that_grows(grow_output: bool) -> TestHost {
    let mut config = config();
    config.model = ModelConfig { endpoint: config.model.endpoint, ..model() };
    config.model.text_calls = TextCalls::Fallback;
    config.repair.grow_output = grow_output;
    TestHost::open(config)
}

fn answer(host: &mut TestHost, body: &str) {
    let head = ResponseHead { status: 200, ..ResponseHead::default() };
    let _ = host.http(HttpInput::Head(head));
    for piece in body.as_bytes().chunks(11) {
        let _ = host.http(HttpInput::Chunk(piece.to_vec().into()));
    }
    let _ = host.http(HttpInput::End);
}

#[test]
fn l3_a_session_with_ollama_goes_from_calls_to_results_and_back() {
    let mut host = host();
    let _ = host.submit("Read src/main.js");
    answer(&mut host, WHOLE_CALL.replace("\"path\"", "\"file_path\"").as_str());
    let _ = host.answer("let x = 1;");
    let body = host.body();
    let messages = body["messages"].as_array().unwrap();
    let [said, results] = &messages[messages.len() - 2..] else { panic!("{messages:?}") };
    let id = said["tool_calls"][0]["id"].as_str().unwrap();
    assert!(!id.is_empty(), "a call without an id is given one");
    assert_eq!((&results["tool_name"], &results["role"]), (&json!("read_file"), &json!("tool")));
    assert_eq!(results["tool_call_id"], id);
    answer(&mut host, &lines(&[says(&json!({"content": "Done."})), done("stop")]));
    let texts = host.find(|kind| match kind {
        EventKind::ProcessingEnd { text, usage, .. } => Some((text.clone(), usage.input_total)),
        _ => None,
    });
    assert_eq!(texts, [("Done.".to_owned(), 517)]);
}

#[test]
fn l5_an_empty_reply_is_asked_for_once_more_and_then_final() {
    let mut host = host();
    let _ = host.submit("Hello");
    answer(&mut host, &lines(&[done("stop")]));
    assert_eq!(host.requests.len(), 2);
    assert_eq!(host.requests[0].body, host.requests[1].body);
    answer(&mut host, &lines(&[says(&json!({"content": " \n"})), done("load")]));
    assert_eq!(host.requests.len(), 2);
    assert!(host.calls.is_empty());
}

#[test]
fn k12_a_text_cut_by_num_predict_is_continued() {
    let mut host = host();
    let _ = host.submit("Tell a story");
    assert_eq!(host.body()["options"]["num_predict"], 2_048);
    answer(&mut host, &lines(&[says(&json!({"content": "Once upon"})), done("length")]));
    let body = host.body();
    let messages = body["messages"].as_array().unwrap();
    let [said, asked] = &messages[messages.len() - 2..] else { panic!("{messages:?}") };
    assert_eq!((&said["content"], &asked["role"]), (&json!("Once upon"), &json!("user")));
    answer(&mut host, &lines(&[says(&json!({"content": " a time."})), done("stop")]));
    assert!(host.calls.is_empty());
}

#[test]
fn l12_a_call_cut_by_num_predict_is_asked_for_once_more_with_twice_as_much() {
    let mut host = host_that_grows(true);
    let _ = host.submit("Write a story to a file");
    let calls = json!([{"function": {"name": "write_file", "arguments": {"file_path": "a"}}}]);
    let cut = lines(&[says(&json!({"content": "I write", "tool_calls": calls})), done("length")]);
    let first = host.body();
    answer(&mut host, &cut);
    let second = host.body();
    assert_eq!(second["options"]["num_predict"], 4_096);
    assert_eq!(first["messages"], second["messages"], "nothing of the cut reply is said");
    // What was shown of it is taken back; its tokens count.
    let ends = host.find(|kind| match kind {
        EventKind::TextReset => Some(None),
        EventKind::AssistantTextEnd { text, usage, .. } => Some(Some((text.clone(), *usage))),
        _ => None,
    });
    let [None, Some((text, Some(usage)))] = &ends[..] else { panic!("{ends:?}") };
    assert!(text.is_empty() && usage.output_total > 0, "{text} {usage:?}");
    // Cut once more, the calls are answered, and the limit stays as large until the next input.
    answer(&mut host, &cut);
    let body = host.body();
    let results = body["messages"].as_array().unwrap().last().unwrap();
    assert!(results["content"].as_str().unwrap().contains("cut by a limit"), "{results}");
    assert_eq!(body["options"]["num_predict"], 4_096);
    answer(&mut host, &lines(&[says(&json!({"content": "Enough."})), done("stop")]));
    let _ = host.submit("And now?");
    assert_eq!(host.body()["options"]["num_predict"], 2_048);
}

#[test]
fn l12_a_call_in_text_is_a_call_too() {
    let mut host = host_that_grows(true);
    let _ = host.submit("Write a story to a file");
    let cut = "<tool_call>{\"name\": \"write_file\", \"arguments\": {\"content\": \"Once";
    answer(&mut host, &lines(&[says(&json!({ "content": cut })), done("length")]));
    let body = host.body();
    assert_eq!(body["options"]["num_predict"], 4_096);
    assert_eq!(body["messages"].as_array().unwrap().last().unwrap()["role"], "user");
    let said = "Once upon a time";
    answer(&mut host, &lines(&[says(&json!({ "content": said })), done("length")]));
    let asked = host.body()["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    assert_eq!(asked, "Continue from where you left off.", "a text is continued");
}

#[test]
fn l12_without_growth_a_cut_call_is_answered() {
    let mut host = host();
    let _ = host.submit("Write a story to a file");
    let calls = json!([{"function": {"name": "write_file", "arguments": {"file_path": "a"}}}]);
    answer(&mut host, &lines(&[says(&json!({"tool_calls": calls})), done("length")]));
    let body = host.body();
    let results = body["messages"].as_array().unwrap().last().unwrap();
    assert!(results["content"].as_str().unwrap().contains("cut by a limit"), "{results}");
    assert_eq!(body["options"]["num_predict"], 2_048);
}
