//! The order of runs within a reply: a call that runs alone waits until the earlier ones that do
//! are over, whoever still looks at those; for a model without parallel calls each waits for all.

use super::seen::{Seen, require};
use innerloop_core::{
    Profile,
    config::{ExecMode, HookPoint, SessionConfig},
    event::EventKind,
    id::{AgentId, EffectId},
    message::{Turn, TurnKind},
    output::{Effect, Output},
};
use std::collections::{BTreeMap, BTreeSet};

/// The tools of the simulated model that change something, whatever family it is of.
const WRITERS: [&str; 5] = ["write_file", "edit_file", "apply_patch", "run_program", "deploy"];

/// What is over of the calls.
#[derive(Debug, Default)]
pub(super) struct Order {
    ended: BTreeSet<(AgentId, String)>,
    /// Calls that a hook looks at behind their run.
    looked_at: BTreeMap<EffectId, (AgentId, String)>,
}

impl Order {
    pub(super) fn on_outputs(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        if let Some(id) = seen.input.effect() {
            self.looked_at.remove(&id);
        }
        for output in seen.outputs {
            match output {
                Output::Event(event) => {
                    if let EventKind::ToolCallEnd { call_id, .. } = &event.kind {
                        self.ended.insert((event.agent, call_id.clone()));
                    }
                }
                Output::Effect(Effect::RunHook { id, agent, hook })
                    if hook.point == HookPoint::AfterTool =>
                {
                    let told: serde_json::Value =
                        serde_json::from_str(hook.payload.text()).unwrap();
                    let call_id = told["call_id"].as_str().unwrap_or_default().to_owned();
                    self.looked_at.insert(*id, (*agent, call_id));
                }
                Output::Effect(Effect::Cancel { id, .. }) => {
                    self.looked_at.remove(id);
                }
                Output::Effect(Effect::RunTool { agent, run, .. }) => {
                    self.check_run(*agent, &run.call_id, seen)?;
                }
                Output::Effect(_) => {}
            }
        }
        Ok(())
    }

    /// A run begins: what must go before it is over.
    fn check_run(&self, agent: AgentId, call_id: &str, seen: &Seen<'_>) -> Result<(), String> {
        let config = seen.config;
        let one_by_one = is_one_by_one(config);
        let calls = reply_of(seen.turns(agent), call_id);
        let Some(place) = calls.iter().position(|(id, _)| *id == call_id) else {
            return Err(format!("{call_id} runs, and no reply of {agent} has made it"));
        };
        let (earlier, this) = (&calls[..place], calls[place]);
        for (id, name) in earlier {
            let goes_before =
                one_by_one || (runs_alone(this.1, config) && runs_alone(name, config));
            let key = (agent, (*id).to_owned());
            require(!goes_before || self.ended.contains(&key), || {
                format!("{} ({call_id}) of {agent} overtakes {name} ({id})", this.1)
            })?;
            let is_looked_at = self.looked_at.values().any(|looked_at| *looked_at == key);
            require(!one_by_one || !is_looked_at, || {
                format!("{} ({call_id}) of {agent} runs beside a hook on {id}", this.1)
            })?;
        }
        Ok(())
    }
}

/// The calls of the reply that made that one: their ids and names.
fn reply_of<'a>(turns: &'a [Turn], call_id: &str) -> Vec<(&'a str, &'a str)> {
    let replies = turns.iter().rev().filter_map(|turn| match &turn.kind {
        TurnKind::Assistant(reply) => Some(reply),
        _ => None,
    });
    let mut calls = replies.map(|reply| {
        let calls = reply.tool_calls().map(|call| (call.id.as_str(), call.name.as_str()));
        calls.collect::<Vec<_>>()
    });
    calls.find(|calls| calls.iter().any(|(id, _)| *id == call_id)).unwrap_or_default()
}

fn runs_alone(name: &str, config: &SessionConfig) -> bool {
    let usual = || if WRITERS.contains(&name) { ExecMode::Serial } else { ExecMode::Parallel };
    config.exec_modes.get(name).copied().unwrap_or_else(usual) == ExecMode::Serial
}

fn is_one_by_one(config: &SessionConfig) -> bool {
    let model = &config.model;
    let capable = Profile::new(model.profile, model.vocabulary).capabilities().parallel_tool_calls;
    !model.parallel_tool_calls.unwrap_or(capable)
}
