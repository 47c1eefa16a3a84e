//! What follows: effects, events, and when to send a tick.

use super::{
    action::actions,
    event::stamped,
    message::opaque,
    visitor::{Visitor, one_of_each},
};
use innerloop_core::{
    bytes::BodyBytes,
    config::HookPoint,
    event::EventKind,
    id::{AgentId, EffectId, EndpointId},
    output::{
        Ask, Deadline, DeadlineReason, Effect, HookRun, HttpRequest, Output, OutputBatch,
        RequestPurpose,
    },
    time::SessionInstant,
    tool::{Job, ResultQuery, ToolRun},
};

pub(super) fn visit(visitor: &mut impl Visitor) {
    let purposes: Vec<RequestPurpose> = one_of_each!(RequestPurpose: Model, Summary, Mcp);
    visitor.visit("RequestPurpose", &purposes);
    visitor.visit("Ask", &asks());
    visitor.visit("Job", &jobs());
    visitor.visit("Effect", &effects());
    let outputs: Vec<Output> = one_of_each!(Output:
        Effect(Effect::Cancel { id: EffectId(7), grace_ms: 5_000 }),
        Event(stamped((1, EventKind::TextReset))),
    );
    visitor.visit("Output", &outputs);
    visitor.visit("OutputBatch", &[OutputBatch(outputs.clone())]);
    let reasons: Vec<DeadlineReason> =
        one_of_each!(open DeadlineReason: Retry, ModelIdle, Grace, Wait, Budget);
    let deadline = |reason| Deadline { at: SessionInstant(900), reason };
    let deadlines: Vec<Deadline> = reasons.into_iter().map(deadline).collect();
    visitor.visit("Deadline", &deadlines);
}

fn asks() -> Vec<Ask> {
    let (call_id, name, after) = ("call_1".into(), "shell".into(), vec!["call_0".into()]);
    one_of_each!(Ask:
        Approval { call_id, name, arguments: opaque(), folder: "sub".into(), after },
        Question { text: "Which colour?".into() },
        Elicitation { message: "Your name?".into(), schema: opaque() },
    )
}

fn jobs() -> Vec<Job> {
    let action = actions().remove(0);
    let query = ResultQuery { id: Some("result-17".into()), offset: 10_000, ..Default::default() };
    let mut jobs = one_of_each!(Job: Builtin(action), Custom(opaque()), Kept(query));
    jobs.push(Job::Kept(ResultQuery { tool: Some("shell".into()), ..Default::default() }));
    jobs
}

fn effects() -> Vec<Effect> {
    let (id, agent) = (EffectId(7), AgentId(1));
    let request = HttpRequest {
        endpoint: EndpointId("anthropic".into()),
        path: "/v1/messages".into(),
        headers: vec![("anthropic-version".into(), "2023-06-01".into())],
        body: BodyBytes::from("{}"),
    };
    let job = Job::Custom(opaque());
    let run = ToolRun {
        call_id: "call_1".into(),
        name: "weather".into(),
        job,
        folder: "sub".into(),
        known: Some(vec![None, Some("cbf29ce484222325".into())]),
        timeout_ms: 10_000,
    };
    let ask = Ask::Question { text: "Which colour?".into() };
    let hook = HookRun { point: HookPoint::BeforeTool, payload: opaque() };
    one_of_each!(Effect:
        Http { id, agent, request, purpose: RequestPurpose::Model },
        RunTool { id, agent, run: run.into() },
        Ask { id, agent, ask },
        RunHook { id, agent, hook },
        Cancel { id, grace_ms: 5_000 },
    )
}
