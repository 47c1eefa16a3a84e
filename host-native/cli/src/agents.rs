//! Agents from files as a patch of the configuration. What a file asks for that this session does
//! not have is told, and never given more widely than it was asked for.

use super::console::warn;
use innerloop_core::{
    Profile,
    config::{NamedAgent, SessionConfig},
};
use innerloop_host::facts::agent_files::AgentFile;
use innerloop_json::{Map, to_string};

/// Returns the patch with the agents that the files describe, for a session with that
/// configuration; none if they describe none.
pub(super) fn patch(files: &[AgentFile], config: &SessionConfig) -> Option<String> {
    let mut agents = Map::new();
    for file in files {
        let told = file.agent().and_then(|(name, agent)| Ok((name, known(agent, file, config)?)));
        match told {
            Ok((name, agent)) => {
                agents.insert(name, agent);
            }
            Err(why) => warn(&format!("{} is not used: {why}", file.path.display())),
        }
    }
    (!agents.is_empty()).then(|| format!("{{\"agents\":{}}}", to_string(&agents)))
}

/// Returns an agent with those of its tools that the session knows.
fn known(
    agent: NamedAgent,
    file: &AgentFile,
    config: &SessionConfig,
) -> Result<NamedAgent, String> {
    let Some(tools) = agent.tools else { return Ok(agent) };
    let profile = Profile::of(&config.model);
    let is_known = |name: &String| {
        profile.has_tool(name) || config.tools.iter().any(|tool| tool.name == *name)
    };
    let (known, unknown): (Vec<String>, Vec<String>) = tools.into_iter().partition(is_known);
    // Files are written for one family's names. An agent that is left with no tool could not do
    // what it is for, and one with all of them would do more than it was given.
    if known.is_empty() && !unknown.is_empty() {
        return Err(format!("there is no tool {} here", unknown.join(", ")));
    }
    if !unknown.is_empty() {
        let path = file.path.display();
        warn(&format!("{path}: the agent has no {} here", unknown.join(", ")));
    }
    Ok(NamedAgent { tools: Some(known), ..agent })
}
