//! What holds of agents that are started by a name or several by one call: a name's tools and turns
//! bound them, and a batch tells of each of its tasks, once none of them is under way any more.

use super::{
    events::CallEnd,
    seen::{Seen, require},
};
use innerloop_core::{
    config::NamedAgent,
    event::EventKind,
    id::AgentId,
    output::{Effect, Output},
};
use serde_json::Value;
use std::collections::BTreeMap;

/// The agents that have a name, and what it stood for when they were started.
#[derive(Debug, Default)]
pub(super) struct Batches(BTreeMap<AgentId, (String, NamedAgent)>);

impl Batches {
    pub(super) fn on_outputs(&mut self, seen: &Seen<'_>, ends: &[CallEnd]) -> Result<(), String> {
        for output in seen.outputs {
            match output {
                Output::Event(event) => {
                    if let EventKind::AgentStarted { parent, name, .. } = &event.kind {
                        self.on_started(event.agent, *parent, name, seen)?;
                    }
                }
                Output::Effect(Effect::RunTool { agent, run, .. }) => {
                    let tools = self.0.get(agent).and_then(|(_, named)| named.tools.as_ref());
                    let has = tools.is_none_or(|tools| tools.contains(&run.name));
                    require(has, || format!("{agent} has no tool {}, and runs it", run.name))?;
                }
                Output::Effect(_) => {}
            }
        }
        ends.iter().filter(|end| end.name == "spawn_agents").try_for_each(check)
    }

    fn on_started(
        &mut self,
        id: AgentId,
        parent: AgentId,
        name: &str,
        seen: &Seen<'_>,
    ) -> Result<(), String> {
        // Who has a name starts others of its kind, whatever the configuration says by now.
        let own = self.0.get(&parent).filter(|(own, _)| own == name).cloned();
        let named = seen.config.agents.get(name).map(|named| (name.to_owned(), named.clone()));
        if let Some(named) = own.or(named) {
            self.0.insert(id, named);
        } else {
            require(name.is_empty(), || format!("{id} has the name {name}, which nobody has"))?;
        }
        Ok(())
    }

    /// The most turns of an agent by its name; any number if 0.
    pub(super) fn max_turns(&self, id: AgentId) -> u32 {
        self.0.get(&id).map_or(0, |(_, named)| named.max_turns)
    }
}

/// A batch that was not refused has a result for each task, and none of an agent that still works.
fn check(end: &CallEnd) -> Result<(), String> {
    if end.outcome.error.is_some() {
        return Ok(());
    }
    let arguments: Value = serde_json::from_str(&end.arguments).unwrap_or_default();
    let tasks = arguments["tasks"].as_array().map_or(0, Vec::len);
    let text = end.outcome.joined_text();
    let list = text.split("\nThe time was over").next().unwrap_or_default();
    let results: Vec<Value> = serde_json::from_str(list).unwrap_or_default();
    require(results.len() == tasks, || format!("{} results of {tasks} tasks", results.len()))?;
    let works = |result: &Value| result["status"] == "running" || result["status"].is_null();
    require(!results.iter().any(works), || format!("a batch is over, and says {text}"))
}
