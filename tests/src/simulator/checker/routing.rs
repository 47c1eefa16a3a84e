//! Which of several models is asked: none that is left alone while another one is free, and no call
//! waits where one is free.

use super::seen::{Seen, require};
use innerloop_core::{
    event::EventKind,
    output::{Effect, Output, RequestPurpose},
};
use serde_json::Value;

/// Holds what came of an input beside what the session says of its models in its snapshot.
// Afterwards: what was free before the outputs and is left alone behind them is the model that has
// failed. Where a tick is late for several agents, only what follows the last switch counts.
pub(super) fn check(seen: &Seen<'_>) -> Result<(), String> {
    let models = &seen.config.routing.models;
    let concerns = |output: &Output| match output {
        Output::Event(event) => matches!(event.kind, EventKind::Retry { .. }),
        Output::Effect(effect) => matches!(effect, Effect::Http { .. }),
    };
    // A tick that is still to come may bring the switch to a model that is free by now.
    let is_late = seen.session().deadline().is_some_and(|deadline| deadline.at <= seen.now);
    if models.is_empty() || is_late || !seen.outputs.iter().any(concerns) {
        return Ok(());
    }
    let state = crate::snapshot::state(&seen.subject.snapshot());
    let off = |at: usize| state["off_until"][at].as_u64().unwrap_or(0) > seen.now.0;
    let all_off = (0..=models.len()).all(off);
    let own = std::iter::once(&seen.config.model);
    let names: Vec<&str> = own
        .chain(models.iter().map(|further| &further.model))
        .map(|model| &*model.endpoint.0)
        .collect();
    let switches = |output: &Output| match output {
        Output::Event(event) => matches!(event.kind, EventKind::Rerouted { .. }),
        Output::Effect(_) => false,
    };
    let outputs: Vec<&Output> = seen.outputs.iter().collect();
    let last = outputs.iter().rposition(|output| switches(output)).unwrap_or(0);
    for output in outputs.into_iter().skip(last) {
        match output {
            Output::Event(event) if matches!(event.kind, EventKind::Retry { .. }) => {
                require(all_off, || format!("waits while a model is free: {}", told(&state)))?;
            }
            Output::Effect(Effect::Http { request, purpose: RequestPurpose::Model, .. }) => {
                let at = names.iter().position(|name| *name == request.endpoint.0);
                let at = at.ok_or_else(|| format!("asks {:?} of {names:?}", request.endpoint))?;
                require(all_off || !off(at), || {
                    format!("asks model {at}, which is left alone: {}", told(&state))
                })?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn told(state: &Value) -> String {
    format!("{} is in force, left alone until {}", state["model"], state["off_until"])
}
