//! What happens to a session.

use super::{
    action::outcome,
    config::{patch, rule},
    message::{opaque, parts, turns},
    visitor::{Visitor, one_of_each},
};
use innerloop_core::{
    RestoreError,
    action::DeniedBy,
    bytes::BodyBytes,
    config::{ConfigError, ToolChoice},
    id::{AgentId, EffectId},
    input::{
        Answer, Command, HookReply, HttpFailure, HttpFailureKind, HttpInput, Input, RejectedInput,
        RejectionReason, ResponseHead, ToolInput, TurnOptions,
    },
    json::{Json, JsonFault},
    log::LogError,
    time::UnixMillis,
};

pub(super) fn visit(visitor: &mut impl Visitor) {
    visitor.visit_read("BodyBytes", &[BodyBytes::from("Grüße\n"), BodyBytes(vec![0xff, 0x00])]);
    visitor.visit_read("Command", &commands());
    visitor.visit_read("TurnOptions", &[TurnOptions::default(), turn_options()]);
    visitor.visit_read("HttpFailureKind", &failure_kinds());
    visitor.visit_read("HttpInput", &http_inputs());
    visitor.visit_read("ToolInput", &tool_inputs());
    visitor.visit_read("Answer", &answers());
    visitor.visit_read("HookReply", &hook_replies());
    visitor.visit_read("Input", &inputs());
    let rejected = |reason| RejectedInput { input: Input::Tick, reason };
    let refusals: Vec<RejectedInput> = reasons().into_iter().map(rejected).collect();
    visitor.visit("RejectedInput", &refusals);
    visitor.visit("ConfigError", &[config_error()]);
    visitor.visit("JsonFault", &json_faults());
    visitor.visit("RestoreError", &restore_errors());
    visitor.visit("LogError", &log_errors());
}

fn json_faults() -> Vec<JsonFault> {
    one_of_each!(open JsonFault:
        Eof,
        Syntax { message: "expected value" },
        Unexpected { found: "null".into(), expected: "an object".into() },
        Range { found: "-1".into(), expected: "a whole number, 0 or more".into() },
        UnknownField { name: "max".into(), known: vec!["max_turns"] },
        UnknownValue { name: "sound".into(), known: vec!["text", "image"] },
        MissingField { name: "type".into() },
        DuplicateField { name: "type".into() },
        Invalid { message: "must be an array of two".into() },
    )
}

fn config_error() -> ConfigError {
    ConfigError {
        tool: Some("search".into()),
        fault: Some(Box::new(JsonFault::MissingField { name: "type".into() })),
        ..ConfigError::new("tools[2].name", "is empty")
    }
}

fn restore_errors() -> Vec<RestoreError> {
    one_of_each!(RestoreError:
        Damaged("its digest is another one".into()),
        Version { found: 9, expected: 2 },
        Config(config_error()),
    )
}

fn log_errors() -> Vec<LogError> {
    let error = RestoreError::Version { found: 9, expected: 2 };
    one_of_each!(LogError:
        Unreadable { line: 1, message: "the log is empty".into() },
        Version { found: 9, expected: 3 },
        Config(config_error()),
        Refused { line: 4, reason: RejectionReason::Busy },
        Snapshot { line: 5, error },
    )
}

fn turn_options() -> TurnOptions {
    TurnOptions {
        tools: Some(vec!["read_file".into(), "grep".into()]),
        hide: true,
        paths: Some(vec!["docs".into(), "notes.md".into()]),
        tool_choice: Some(ToolChoice::Tool("grep".into())),
        temperature: Some(Json::of(&0_u32)),
    }
}

fn commands() -> Vec<Command> {
    one_of_each!(Command:
        Submit { parts: parts(), options: Some(Box::new(turn_options())) },
        Steer { parts: parts() },
        FollowUp { parts: parts(), options: Some(Box::new(turn_options())) },
        Configure { patch: patch() },
        Compact { instructions: Some("the names of files".into()) },
        Undo { steps: 1 },
        Redo { steps: 2 },
        Restore { at: 6 },
        Clear,
        Import { turns: turns() },
        Interrupt,
        Close,
    )
}

fn failure_kinds() -> Vec<HttpFailureKind> {
    one_of_each!(HttpFailureKind: Network, Timeout, Cancelled, Refused)
}

fn http_inputs() -> Vec<HttpInput> {
    let headers = vec![("content-type".into(), "text/event-stream".into())];
    let head = ResponseHead { status: 200, headers, at: UnixMillis(1_800_000_000_000) };
    let (kind, message) = (HttpFailureKind::Network, "it broke".into());
    one_of_each!(HttpInput:
        Held { ahead: Some(2) },
        Head(head),
        Chunk(BodyBytes::from("data: {}\n\n")),
        End,
        Failed(HttpFailure { kind, message }),
    )
}

fn tool_inputs() -> Vec<ToolInput> {
    one_of_each!(ToolInput:
        Delta("so far".into()),
        Parked { handle: "job 1".into(), outcome: outcome() },
        Done(outcome()),
    )
}

fn answers() -> Vec<Answer> {
    one_of_each!(Answer:
        Allow,
        AllowAlways,
        AllowRule(rule()),
        AllowEdited(opaque()),
        Deny { reason: "too risky".into(), by: DeniedBy::Nobody },
        Abort,
        Text("blue".into()),
    )
}

fn hook_replies() -> Vec<HookReply> {
    one_of_each!(HookReply:
        Allow,
        Deny { reason: "not here".into() },
        Replace(opaque()),
        Failed { message: "it threw".into() },
    )
}

fn inputs() -> Vec<Input> {
    let id = EffectId(7);
    one_of_each!(Input:
        Command { agent: AgentId::ROOT, command: Command::Interrupt },
        Http { id, input: HttpInput::End },
        Tool { id, input: ToolInput::Delta("so far".into()) },
        Answer { id, answer: Answer::Allow },
        Hook { id, reply: HookReply::Allow },
        Lost { id },
        Tick,
    )
}

fn reasons() -> Vec<RejectionReason> {
    let id = EffectId(7);
    one_of_each!(open RejectionReason:
        Busy,
        Closed,
        HoldsSecret("github".into()),
        UnknownAgent(AgentId(3)),
        UnknownEffect(id),
        WrongKind(id),
        OutOfOrder(id),
        Empty,
        Nothing("there is nothing to undo"),
        Budget,
        Import("a conversation begins with the user"),
        Config(config_error().into()),
        Unsupported("not offered"),
    )
}
