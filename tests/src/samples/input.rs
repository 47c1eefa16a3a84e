//! What happens to a session.

use super::{
    action::outcome,
    config::{patch, rule},
    message::{opaque, parts},
    visitor::{Visitor, one_of_each},
};
use innerloop_core::{
    bytes::Bytes,
    id::{AgentId, EffectId},
    input::{
        Answer, Command, HookReply, HttpFailure, HttpFailureKind, HttpInput, Input, Reason,
        Rejected, ResponseHead, ToolInput,
    },
    time::UnixMillis,
};

pub(super) fn visit(visitor: &mut impl Visitor) {
    visitor.visit("Bytes", &[Bytes::from("Grüße\n"), Bytes(vec![0xff, 0x00])]);
    visitor.visit("Command", &commands());
    visitor.visit("HttpFailureKind", &failure_kinds());
    visitor.visit("HttpInput", &http_inputs());
    visitor.visit("ToolInput", &tool_inputs());
    visitor.visit("Answer", &answers());
    visitor.visit("HookReply", &hook_replies());
    visitor.visit("Input", &inputs());
    let rejected = |reason| Rejected { input: Input::Tick, reason };
    let refusals: Vec<Rejected> = reasons().into_iter().map(rejected).collect();
    visitor.visit("Rejected", &refusals);
}

fn commands() -> Vec<Command> {
    one_of_each!(Command:
        Submit { parts: parts() },
        Steer { parts: parts() },
        FollowUp { parts: parts() },
        Configure { patch: patch() },
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
        Head(head),
        Chunk(Bytes::from("data: {}\n\n")),
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
        Deny { reason: "too risky".into() },
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

fn reasons() -> Vec<Reason> {
    let id = EffectId(7);
    one_of_each!(open Reason:
        Busy,
        Closed,
        UnknownAgent(AgentId(3)),
        UnknownEffect(id),
        WrongKind(id),
        OutOfOrder(id),
        Empty,
        Config("model.name"),
        Unsupported("not offered"),
    )
}
