//! The order of a call's way (`docs/decisions.md#the-way-of-a-call`): VALIDATE, the hook before it,
//! VALIDATE, PATHS, APPROVE, EXECUTE, EMIT, the hook behind it, TRUNCATE, the result. Each stage is
//! seen in a call that also has something for the next one to object to, or to show.

use innerloop_core::{
    action::Outcome,
    config::{ApprovalPolicy, AskAbout, HookPoint},
    event::EventKind,
    input::{Answer, Command, HookReply, Input},
    json::Json,
    output::{Effect, Output, OutputBatch},
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{TestHost, config, text},
};
use serde_json::{Value, json};

/// The largest result, in characters.
const LIMIT: u32 = 1_000;

/// A session in which a call goes past every stage, for an input that allows one folder.
fn host() -> TestHost {
    let mut config = config();
    config.hooks.points = vec![HookPoint::BeforeTool, HookPoint::AfterTool];
    config.approval = ApprovalPolicy { ask: AskAbout::Everything, allow: Vec::new() };
    config.tool_output_limits.insert("write_file".into(), LIMIT);
    let mut host = TestHost::open(config);
    let options = serde_json::from_str(r#"{"paths": ["in"]}"#).unwrap();
    let _ = host.command(Command::Submit { parts: text("go"), options: Some(Box::new(options)) });
    host
}

fn call(arguments: &Value) -> Message {
    Message::call("c", "write_file", arguments)
}

fn hook(host: &mut TestHost, reply: HookReply) -> OutputBatch {
    let id = host.hooks[0].0;
    host.input(Input::Hook { id, reply })
}

fn replace(value: &Value) -> HookReply {
    HookReply::Replace(Json::parse(value.to_string()).unwrap())
}

/// What the stages so far have led to: a hook, a question, a run, or the result that the model
/// reads.
fn standing(host: &TestHost) -> &'static str {
    match (host.hooks.first(), host.asks.first(), host.runs.first_key_value()) {
        (Some((_, hook)), None, None) if hook.point == HookPoint::BeforeTool => "before",
        (Some((_, hook)), None, None) if hook.point == HookPoint::AfterTool => "after",
        (None, Some(_), None) => "asked",
        (None, None, Some(_)) => "runs",
        (None, None, None) => "result",
        other => panic!("at one stage only: {other:?}"),
    }
}

fn result(host: &TestHost) -> String {
    let messages = host.body()["messages"].clone();
    let last = messages.as_array().unwrap().last().unwrap().clone();
    last["content"][0]["content"].as_str().unwrap().to_owned()
}

#[test]
fn k22_k23_a_call_goes_its_way_in_this_order() {
    let (inside, outside) = ("in/a", "out/a");
    let valid = |path: &str| json!({"file_path": path, "content": "x"});
    // Each without a `content` that the tool takes.
    let invalid = |path: &str| json!({"file_path": path, "content": 1});

    // VALIDATE comes before the hook, which is not asked about what may not run.
    let mut one = host();
    one.reply(&call(&invalid(outside)));
    assert_eq!(standing(&one), "result");
    assert!(result(&one).contains("content"), "{}", result(&one));

    // The hook comes before PATHS: it sees a call out of them, and may put another in its place,
    // which goes through VALIDATE before PATHS and through both before APPROVE.
    for (replacement, objects) in [(invalid(outside), "content"), (valid(outside), "out/a")] {
        let mut one = host();
        one.reply(&call(&valid(outside)));
        assert_eq!(standing(&one), "before");
        let _ = hook(&mut one, replace(&replacement));
        assert_eq!(standing(&one), "result", "nobody is asked: {:?}", one.asks);
        assert!(result(&one).contains(objects), "{objects}: {}", result(&one));
    }

    // APPROVE comes behind PATHS and before EXECUTE.
    let mut one = host();
    one.reply(&call(&valid(outside)));
    let _ = hook(&mut one, replace(&valid(inside)));
    assert_eq!(standing(&one), "asked");
    let id = one.asks[0].0;
    let _ = one.input(Input::Answer { id, answer: Answer::Allow });
    assert_eq!(standing(&one), "runs");

    // EMIT tells of the whole outcome before the hook behind the run sees it, whole as well.
    let whole = "w".repeat(5_000);
    let id = *one.runs.first_key_value().unwrap().0;
    let outputs: Vec<Output> = one.done(id, Outcome::text(&whole)).into_iter().collect();
    let told = |output: &Output| match output {
        Output::Event(event) => match &event.kind {
            EventKind::ToolCallEnd { outcome, .. } => Some(("emit", outcome.joined_text())),
            _ => None,
        },
        Output::Effect(Effect::RunHook { hook, .. }) => {
            let payload: Value = serde_json::from_str(hook.payload.text()).unwrap();
            Some(("after", payload["text"].as_str().unwrap().to_owned()))
        }
        Output::Effect(_) => None,
    };
    let order: Vec<_> = outputs.iter().filter_map(told).collect();
    assert_eq!(order, [("emit", whole.clone()), ("after", whole)]);
    assert_eq!(standing(&one), "after");

    // TRUNCATE comes behind the hook: what it puts in the place of the outcome is cut as well.
    let _ = hook(&mut one, replace(&json!("r".repeat(5_000))));
    assert_eq!(standing(&one), "result");
    let result = result(&one);
    let kept = result.matches('r').count();
    assert!((900..=1_200).contains(&kept) && !result.contains("www"), "{kept}: {result}");
}
