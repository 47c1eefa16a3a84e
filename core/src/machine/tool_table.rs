//! The tools of an agent: those of the profile and the host's own, with what is known of each, and
//! which of them requests show (`docs/decisions.md#tools-shown`).

use crate::{
    profile::{
        Profile, TimeoutNote, ToolCategory, ToolPolicy, ToolRow,
        inner::{CATEGORIES, FINAL_ANSWER, SELECT_CATEGORY, TOOL_SEARCH},
    },
    rules::schema,
};
use alloc::{format, string::String, sync::Arc, vec::Vec};
use innerloop_json::{IntoList, Value, joined};
use innerloop_types::{
    config::{AskAbout, ConfigError, SessionConfig, ToolChoice},
    tool::{ToolSpec, ToolsShown},
};

/// A tool that an agent has.
#[derive(Clone, Debug)]
pub struct AgentTool {
    /// The tool as the model sees it.
    pub spec: Arc<ToolSpec>,
    /// True if calls of it wait for an approval, unless a rule allows them.
    pub needs_approval: bool,
}

/// A registered tool.
#[derive(Clone, Debug)]
pub(crate) struct RegisteredTool {
    pub(crate) spec: Arc<ToolSpec>,
    pub(crate) schema: Value,
    pub(crate) policy: ToolPolicy,
    /// The definition of a built-in tool; `None` for the host's tools, which only the host runs.
    pub(crate) row: Option<&'static ToolRow>,
    /// True if requests leave it out, unless it must be called.
    pub(crate) is_deferred: bool,
}

impl RegisteredTool {
    fn builtin(row: &'static ToolRow, spec: ToolSpec) -> Result<Self, ConfigError> {
        let (schema, spec, policy) = (schema(&spec, 0)?, Arc::new(spec), row.policy());
        Ok(Self { spec, schema, policy, row: Some(row), is_deferred: false })
    }

    pub(crate) fn name(&self) -> &str {
        &self.spec.name
    }

    /// Returns whether a request with that choice of tools shows it.
    pub(super) fn is_shown(&self, choice: &ToolChoice) -> bool {
        // A provider refuses the choice of a tool that the request does not have.
        !self.is_deferred || matches!(choice, ToolChoice::Tool(name) if name == self.name())
    }

    /// Returns it as hosts are told of it, under that policy of approvals.
    pub(crate) fn told(&self, ask: AskAbout) -> AgentTool {
        let is_inner = self.row.is_some_and(|row| !row.is_action());
        let needs_approval = !is_inner && self.policy.category.is_asked_about(ask);
        AgentTool { spec: Arc::clone(&self.spec), needs_approval }
    }

    /// Returns the place of its category among [`CATEGORIES`].
    fn category(&self) -> usize {
        let is_inner = self.row.is_some_and(|row| !row.is_action());
        match self.policy.category {
            _ if is_inner => 4,
            ToolCategory::Runs => 3,
            ToolCategory::Changes => 1,
            // A tool of the host's that only reads may do either. Among those that read is where
            // it is looked for.
            ToolCategory::Reads if self.policy.shows_files || self.row.is_none() => 0,
            ToolCategory::Reads => 2,
        }
    }

    /// Returns whether it is shown at that stage: at the first one only the choice of a category,
    /// then that category as well.
    pub(super) fn is_at(&self, stage: usize) -> bool {
        let is_always = |row: &ToolRow| row.name() == FINAL_ANSWER.name() && stage > 0;
        self.is_choice() || self.row.is_some_and(is_always) || self.category() + 1 == stage
    }

    fn is_choice(&self) -> bool {
        self.row.is_some_and(|row| row.name() == SELECT_CATEGORY.name())
    }
}

/// Returns the names of the tools of a category.
pub(super) fn names_of(category: usize, tools: &[RegisteredTool]) -> Vec<&str> {
    let own = tools.iter().filter(|tool| !tool.is_choice() && tool.category() == category);
    own.map(RegisteredTool::name).into_list()
}

/// Returns the tools of an agent at nesting depth `depth`. Among equal names the latest
/// registration wins, in the place of the earlier one. A tool of the host with the name of a
/// built-in one keeps that one's output limit.
pub(super) fn tools(
    config: &SessionConfig,
    depth: u32,
) -> Result<Vec<RegisteredTool>, ConfigError> {
    let profile = Profile::of(&config.model);
    let answer = config.answer.as_ref().map(|answer| &answer.schema);
    let mut tools: Vec<RegisteredTool> = Vec::new();
    for row in profile.rows(config, depth) {
        let spec = |agents| row.spec(profile.command_ms(&config.timeouts), answer, agents);
        let mut tool = RegisteredTool::builtin(row, spec(Some(&config.agents)))?;
        if row.starts_agents() {
            // A call is checked anew in a session that was restored, and must stay valid although
            // the configuration has lost the name by then: names are looked up when agents are
            // started.
            tool.schema = schema(&spec(None), 0)?;
        }
        if config.timeouts.has_default() {
            // A limit that the user has configured goes before that of the model family.
            tool.policy.default_ms = None;
        }
        tools.push(tool);
    }
    let builtin = tools.len();
    for (at, spec) in config.tools.iter().enumerate() {
        let place = tools.iter_mut().find(|known| known.spec.name == spec.name);
        let mut policy = match &place {
            Some(replaced) => replaced.policy,
            None => profile.row(&spec.name).map_or(ToolPolicy::READS, ToolRow::policy),
        };
        policy.category = if spec.read_only { ToolCategory::Reads } else { ToolCategory::Runs };
        // The host's tool has no argument that could ask for more time.
        policy.timeout = TimeoutNote::Plain;
        let tool = RegisteredTool {
            schema: schema(spec, at)?,
            spec: Arc::new(spec.clone()),
            policy,
            row: None,
            is_deferred: false,
        };
        match place {
            Some(replaced) => *replaced = tool,
            None => tools.push(tool),
        }
    }
    match config.tools_shown {
        _ if !cfg!(feature = "tools-shown") => {}
        ToolsShown::All => {}
        ToolsShown::Staged => stage(&mut tools)?,
        ToolsShown::Deferred(most) => defer(&mut tools, builtin.max(most as usize))?,
    }
    Ok(tools)
}

/// Leaves the tools from that place on out of requests, and adds one that finds them.
fn defer(tools: &mut Vec<RegisteredTool>, from: usize) -> Result<(), ConfigError> {
    let Some(further) = tools.get(from..).filter(|further| !further.is_empty()) else {
        return Ok(());
    };
    let names: Vec<&str> = further.iter().map(RegisteredTool::name).into_list();
    let search = described(&TOOL_SEARCH, &joined(&names, ", "))?;
    if add(tools, search) {
        tools.iter_mut().skip(from).for_each(|tool| tool.is_deferred = true);
        // The one that was added is behind them.
        tools.iter_mut().rev().take(1).for_each(|search| search.is_deferred = false);
    }
    Ok(())
}

/// Adds the tool that chooses a category.
fn stage(tools: &mut Vec<RegisteredTool>) -> Result<(), ConfigError> {
    let categories = CATEGORIES.iter().enumerate().filter_map(|(at, category)| {
        let names = names_of(at, tools);
        (!names.is_empty()).then(|| format!("{category}: {}", joined(&names, ", ")))
    });
    let categories: Vec<String> = categories.into_list();
    let mut choice = described(&SELECT_CATEGORY, &joined(&categories, "; "))?;
    // Shown at stages alone.
    choice.is_deferred = true;
    add(tools, choice);
    Ok(())
}

/// Adds a tool, unless the host has one of its name. Returns whether it was added.
fn add(tools: &mut Vec<RegisteredTool>, tool: RegisteredTool) -> bool {
    let is_new = tools.iter().all(|known| known.name() != tool.name());
    if is_new {
        tools.push(tool);
    }
    is_new
}

fn described(row: &'static ToolRow, what: &str) -> Result<RegisteredTool, ConfigError> {
    let mut spec = row.spec(0, None, None);
    spec.description = format!("{} {what}.", spec.description);
    RegisteredTool::builtin(row, spec)
}

/// Returns the schema of the tool at that place of the configuration.
fn schema(spec: &ToolSpec, place: usize) -> Result<Value, ConfigError> {
    schema::of_tool(spec).map_err(|error| ConfigError {
        field: format!("tools[{place}].{}", error.field).into(),
        ..error
    })
}
