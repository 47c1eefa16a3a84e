//! What small models on one's own machine need: the preset `ollama` over Ollama's protocol, with
//! examples in the prompt, calls read from whatever the model writes, and errors that it can fix.

use innerloop_core::{
    action::{Action, Outcome, ToolError},
    config::{AskAbout, ProgramFacts, SessionConfig},
    event::EventKind,
    input::{Answer, Input},
    preset::ConfigPreset,
    status::RunEnd,
    tool::Job,
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{TestHost, config},
    wires::read,
};
use serde_json::{Value, json};

/// The preset with a model, and a program to run.
fn preset() -> SessionConfig {
    let base = config();
    let mut config = SessionConfig { id: base.id, ..ConfigPreset::Ollama.config() };
    config.model.endpoint = base.model.endpoint;
    config.model.name = "qwen3:8b".into();
    let description = "Runs JavaScript.".into();
    config.facts.programs = vec![ProgramFacts { name: "qjs".into(), description }];
    config
}

fn host() -> TestHost {
    let mut host = TestHost::open(preset());
    let _ = host.submit("fix it");
    host
}

fn ends(host: &TestHost) -> Vec<(RunEnd, String)> {
    host.find(|kind| match kind {
        EventKind::ProcessingEnd { end, text, .. } => Some((*end, text.clone())),
        _ => None,
    })
}

/// The names of the runs that are open.
fn running(host: &TestHost) -> Vec<&str> {
    host.runs.values().map(|run| run.name.as_str()).collect()
}

/// The results in the newest request: what the model reads.
fn results(host: &TestHost) -> Vec<String> {
    let results = read::results(host.wire(), &host.body());
    results.into_iter().map(|result| result.text).collect()
}

fn action(host: &TestHost) -> &Action {
    match &host.runs.values().next().expect("a run").job {
        Job::Builtin(action) => action,
        Job::Custom(_) | Job::Kept(_) => panic!("{:?}", host.runs),
    }
}

fn call(name: &str, arguments: &Value) -> Message {
    Message::call("call_1", name, arguments)
}

/// A call in a model's text, as bare JSON and in the tags of Hermes and Qwen.
fn in_text(name: &str, arguments: &Value) -> [String; 2] {
    let json = json!({"name": name, "arguments": arguments}).to_string();
    [json.clone(), format!("<tool_call>\n{json}\n</tool_call>")]
}

#[test]
fn l4_native_calls_come_before_json_in_the_text_and_that_before_tags() {
    let read_file = |path: &str| json!({"file_path": path});
    let [json, tagged] = in_text("read_file", &read_file("a.js"));
    // Each layer alone.
    for message in
        [call("read_file", &read_file("a.js")), Message::text(&json), Message::text(&tagged)]
    {
        let mut host = host();
        host.reply_whole(&message);
        let Action::Read { path, .. } = action(&host) else { panic!("{:?}", action(&host)) };
        assert_eq!(path, "a.js");
        let _ = host.answer("1 | broken");
        assert_eq!(results(&host), ["1 | broken"]);
    }
    // Where there are native calls, what the text holds is text.
    let mut host = host();
    host.reply_whole(&Message::text(&json).and_call("n", "list_dir", &json!({})));
    assert_eq!(running(&host), ["list_dir"]);
    let _ = host.answer("a.js");
    let body = host.body();
    let said = read::said(host.wire(), &body);
    assert!(said.contains(&read::Said::Text(json)), "{said:?}");
    // None of the three, but text: the final answer. A text that only announces is no answer.
    host.reply_whole(&Message::text("It is done: a.js is fixed."));
    assert_eq!(ends(&host), [(RunEnd::Completed, "It is done: a.js is fixed.".into())]);
}

#[test]
fn l4_l5_a_reply_with_nothing_in_it_is_asked_for_once_more() {
    let mut host = host();
    host.reply_whole(&Message::text(""));
    assert_eq!((host.requests.len(), ends(&host).len()), (2, 0));
    assert_eq!(host.requests[0].body, host.requests[1].body);
    host.reply_whole(&Message::text("<think>What to say?</think>"));
    assert_eq!(host.requests.len(), 2, "not twice");
    assert_eq!(ends(&host), [(RunEnd::Failed, String::new())]);
}

#[test]
fn l10_texts_that_mean_a_number_or_a_truth_are_turned_to_it_by_the_schema() {
    let edit = json!({
        "file_path": "7", "old_string": "30000", "new_string": "true", "replace_all": "true",
    });
    let run = json!({"program": "qjs", "args": ["1"], "timeout_ms": "30000"});
    let read_file = json!({"file_path": "a", "offset": "3", "limit": 5});
    for way in 0..3 {
        let asked = |name: &str, arguments: &Value| {
            let mut host = host();
            let message = match way {
                0 => call(name, arguments),
                _ => Message::text(&in_text(name, arguments)[way - 1]),
            };
            host.reply_whole(&message);
            host
        };
        // Only where the schema wants it: texts that are to be texts stay.
        let edited = asked("edit_file", &edit);
        let (path, old, new) = ("7".into(), "30000".into(), "true".into());
        assert_eq!(
            action(&edited),
            &Action::Edit { path, old, new, all: true, salt: None },
            "{way}"
        );
        assert_eq!(asked("run_program", &run).runs.values().next().unwrap().timeout_ms, 30_000);
        let looked = asked("read_file", &read_file);
        let Action::Read { offset, limit, .. } = action(&looked) else { panic!() };
        assert_eq!((*offset, *limit), (Some(3), Some(5)), "{way}");
        // What is not plainly meant is an error result that says what is wrong.
        let unclear = asked("read_file", &json!({"file_path": "a", "offset": "many"}));
        assert!(unclear.runs.is_empty());
        assert!(
            results(&unclear)[0].contains("`offset` must be integer"),
            "{:?}",
            results(&unclear)
        );
    }
}

#[test]
fn l14_the_prompt_has_examples_and_no_more_than_five_tools() {
    let host = host();
    let body = host.body();
    let prompt = body["messages"][0]["content"].as_str().unwrap();
    let examples = prompt.split("# Examples").nth(1).unwrap();
    for part in ["Call read_file with {", "Call edit_file with {", "Result: ", "Answer: "] {
        assert!(examples.contains(part), "{part}: {examples}");
    }
    let tools = read::tools(host.wire(), &body);
    assert_eq!(tools, ["read_file", "write_file", "edit_file", "list_dir", "run_program"]);
    // Each example calls a tool that there is.
    for line in examples.lines().filter(|line| line.contains("Call ")) {
        let name = line.split("Call ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
        assert!(tools.contains(&name.to_owned()), "{line}");
    }
}

#[test]
fn l14_all_calls_of_a_reply_are_run_and_answered() {
    let write = |path: &str| json!({"file_path": path, "content": "x"});
    let three = call("read_file", &json!({"file_path": "a"}))
        .and_call("call_2", "write_file", &write("b"))
        .and_call("call_3", "read_file", &json!({"file_path": "c"}));
    let texts: Vec<String> =
        ["a", "b", "c"].iter().map(|path| in_text("write_file", &write(path))[1].clone()).collect();
    for message in [three, Message::text(&texts.join("\n"))] {
        let mut host = host();
        host.reply_whole(&message);
        for said in ["one", "two", "three"] {
            assert_eq!(host.requests.len(), 1, "the model waits for all of them");
            let _ = host.answer(said);
        }
        assert_eq!(results(&host), ["one", "two", "three"]);
    }
}

#[test]
fn i15_a_tool_whose_time_is_up_is_told_as_text_and_the_loop_goes_on() {
    let mut host = host();
    host.reply_whole(&call("run_program", &json!({"program": "qjs", "timeout_ms": 900})));
    let id = *host.runs.keys().next().unwrap();
    let late = Outcome { timed_out: true, ..Outcome::error(ToolError::Timeout, "so far") };
    let _ = host.done(id, late);
    let [told] = &results(&host)[..] else { panic!("{:?}", results(&host)) };
    assert!(told.starts_with("so far"), "{told}");
    assert!(told.contains("[ERROR: Command timed out after 900ms."), "{told}");
    host.reply_whole(&call("list_dir", &json!({})));
    let _ = host.answer("a.js");
    host.reply_whole(&Message::text("Done, in smaller steps."));
    assert_eq!(ends(&host)[0].0, RunEnd::Completed);
}

#[test]
fn i17_an_unknown_or_denied_call_is_told_as_text_and_the_loop_goes_on() {
    let mut config = preset();
    config.approval.ask = AskAbout::Changes;
    let mut host = TestHost::open(config);
    let _ = host.submit("fix it");
    host.reply_whole(&call("browse", &json!({"url": "x"})));
    assert_eq!(results(&host), ["Unknown tool: browse"]);
    for (reason, told) in
        [("not that file", "The call was denied: not that file"), ("", "The call was denied.")]
    {
        host.reply_whole(&call("write_file", &json!({"file_path": "a", "content": reason})));
        assert!(host.runs.is_empty(), "it waits for the person");
        let id = host.asks[0].0;
        let _ = host.input(Input::Answer { id, answer: Answer::deny(reason) });
        assert_eq!(results(&host), [told]);
    }
    host.reply_whole(&call("list_dir", &json!({})));
    assert_eq!(running(&host), ["list_dir"]);
    let _ = host.answer("a.js");
    host.reply_whole(&Message::text("I am done without it."));
    assert_eq!(ends(&host)[0].0, RunEnd::Completed);
}
