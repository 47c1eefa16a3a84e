//! The configuration in force and what is derived from it: the table of tools, and the encoded head
//! of requests. It is built once, shared between agents and sessions, and replaced whole when the
//! configuration changes, so that no step sees half of a change.

use super::{
    agent_state::{AgentData, SpawnOptions},
    config_check::{check, check_prices, cost_limit},
    route::Route,
    tool_stages::{ToolStage, last_two},
    tool_table::{RegisteredTool, names_of, tools},
    turn_tools::allows,
};
use crate::{
    profile::{NO_TOOLS_PROMPT, Profile, ToolCategory, ToolPolicy, ToolRow, inner::CATEGORIES},
    rules::{
        availability::further,
        folder_instructions::doc_folder,
        gauge::{code_cost, prose_cost},
        prompt::{PromptEnvironment, system_prompt},
        task_kind,
        truncate::OutputLimit,
    },
};
use alloc::{format, string::String, sync::Arc, vec::Vec};
use innerloop_json::{IntoList, JsonObject, joined, quoted};
use innerloop_types::{
    config::{
        ConfigError, EnvironmentFacts, ExecMode, LimitAction, LoopStep, ModelConfig, ProjectDoc,
        SessionConfig, SkillFacts, SkillUse, TextCalls, ToolChoice,
    },
    event::EventKind,
    input::TurnOptions,
    path::seen,
    tool::ToolsShown,
};

/// The configuration in force and what follows from it.
#[derive(Clone, Debug)]
pub(crate) struct AgentSetup {
    pub(crate) config: SessionConfig,
    /// The route to the model.
    pub(crate) route: Arc<Route>,
    /// The estimated cost of what comes before the turns in a request, in thousandths of a token.
    pub(crate) head_cost: u64,
    /// The folder of the workspace that the agent works in, from the root on.
    pub(crate) folder: String,
    /// True if the calls of a reply run one after the other, whatever they do.
    pub(crate) one_by_one: bool,
    /// The place of the model among those of the session; 0 for its own.
    pub(crate) at: usize,
    /// The setup with the session's own model, where another one is in force.
    home: Option<Arc<Self>>,
    tools: Vec<RegisteredTool>,
    /// The route of each stage, where tools are shown in stages.
    stages: Vec<Arc<Route>>,
}

impl AgentSetup {
    /// Returns the setup of the session's own agent.
    pub(crate) fn new(config: SessionConfig) -> Result<Self, ConfigError> {
        check_prices(&config)?;
        check_routing(&config)?;
        Profile::of(&config.model).check(&config)?;
        Self::of(config, 0, String::new())
    }

    /// Returns the setup with the model at that place in force.
    ///
    /// # Errors
    /// As [`AgentSetup::new`].
    pub(crate) fn at(self: &Arc<Self>, at: usize) -> Result<Arc<Self>, ConfigError> {
        let home = self.own();
        if !cfg!(feature = "routing") || at == 0 {
            return Ok(home);
        }
        let mut setup = Self::routed(&home.config, at)?;
        (setup.at, setup.home) = (at, Some(home));
        Ok(Arc::new(setup))
    }

    /// Returns the setup of a configuration with the model at that place of it.
    fn routed(config: &SessionConfig, at: usize) -> Result<Self, ConfigError> {
        let mut config = config.clone();
        if let Some(model) = further(&config.routing, at).map(|further| further.model.clone()) {
            config.model = model;
            // It is that of the session's own model.
            config.facts.knowledge_cutoff.clear();
        }
        Profile::of(&config.model).check(&config)?;
        Self::of(config, 0, String::new())
    }

    /// Returns the setup with the session's own model.
    pub(crate) fn own(self: &Arc<Self>) -> Arc<Self> {
        Arc::clone(self.home.as_ref().unwrap_or(self))
    }

    /// Returns the configuration as the host gave it, whatever model is in force.
    pub(crate) fn given(&self) -> &SessionConfig {
        self.home.as_ref().map_or(&self.config, |home| &home.config)
    }

    /// Returns the model of the session at that place.
    pub(crate) fn model_at(&self, at: usize) -> &ModelConfig {
        let given = self.given();
        further(&given.routing, at).map_or(&given.model, |further| &further.model)
    }

    /// Returns the setup of an agent at that nesting depth that works in that folder.
    pub(crate) fn of(
        config: SessionConfig,
        depth: u32,
        folder: String,
    ) -> Result<Self, ConfigError> {
        check(&config)?;
        let profile = Profile::of(&config.model);
        let tools = tools(&config, depth)?;
        let capable = profile.capabilities().parallel_tool_calls;
        let one_by_one = !config.model.parallel_tool_calls.unwrap_or(capable);
        // On a copy: the configuration that hosts read back stays as they gave it.
        let mut model = config.model.clone();
        if one_by_one {
            model.parallel_tool_calls = Some(false);
        }
        let choice = config.model.tool_choice.clone();
        let shown: Vec<_> = tools.iter().filter(|tool| tool.is_shown(&choice)).into_list();
        let route = Arc::new(route(&config, &folder, model, &shown));
        let by = config.estimator;
        let head_cost = route.tools.iter().fold(prose_cost(by, &route.system), |cost, spec| {
            cost + prose_cost(by, &spec.description) + code_cost(by, spec.parameters.text())
        });
        let (at, home, stages) = (0, None, Vec::new());
        let mut setup =
            Self { config, route, head_cost, folder, one_by_one, at, home, tools, stages };
        let is_free = cfg!(feature = "tools-shown")
            && matches!(choice, ToolChoice::Auto | ToolChoice::Required);
        if setup.config.tools_shown == ToolsShown::Staged && is_free {
            setup.stages = (0..=CATEGORIES.len()).map(|stage| setup.stage(stage)).into_list();
        }
        Ok(setup)
    }

    /// Returns the event that begins a session.
    pub(crate) fn start(&self) -> EventKind {
        let model = &self.config.model;
        EventKind::SessionStart {
            model: model.name.clone(),
            provider: model.endpoint.0.clone(),
            profile: model.profile,
            vocabulary: model.vocabulary,
            tools: self.tools.iter().map(|tool| tool.spec.name.clone()).into_list(),
            context_window: model.context_window,
            limits: self.config.limits,
        }
    }

    /// Returns the setup of an agent that was started with `options`; this one is the session's
    /// own.
    pub(crate) fn spawned(&self, options: &SpawnOptions) -> Result<Self, ConfigError> {
        let mut config = self.config.clone();
        // The name is one of the session's own endpoint.
        if let Some(model) = options.model.as_ref().filter(|_| self.at == 0) {
            config.model.rename(model, &config.prices);
            if config.model.name != self.config.model.name {
                config.facts.knowledge_cutoff.clear();
            }
        }
        move_facts(&mut config.facts, &options.folder);
        let mut max_turns = least(config.limits.max_turns, options.max_turns);
        if let Some((_, named)) = options.named.as_ref().filter(|_| cfg!(feature = "named-agents"))
        {
            max_turns = least(max_turns, named.max_turns);
            if !named.prompt.trim().is_empty() {
                config.base_prompt = Some(named.prompt.clone());
            }
            if let Some(names) = &named.tools {
                Profile::of(&config.model).narrow(&mut config, names);
            }
        }
        config.limits.max_turns = max_turns;
        let mut setup = Self::of(config, options.depth, options.folder.clone())?;
        (setup.at, setup.home) = (self.at, self.home.clone());
        Ok(setup)
    }

    /// Returns the configuration with a patch of its JSON applied. The price and the knowledge
    /// cutoff go with the model's name, unless there are new ones.
    ///
    /// # Errors
    /// The field that does not fit, or that cannot change.
    pub(crate) fn patched(&self, patch: &JsonObject) -> Result<SessionConfig, ConfigError> {
        let given = self.given();
        let mut config = given.merged(patch)?;
        let (model, own) = (&mut config.model, &given.model);
        // The old price would be counted for a model that costs something else.
        if model.name != own.name && model.price == own.price {
            model.price = config.prices.get(&model.name).cloned();
        }
        let (known, before) = (&mut config.facts.knowledge_cutoff, &given.facts);
        if model.name != own.name && *known == before.knowledge_cutoff {
            known.clear();
        }
        if config.id != given.id {
            return Err(ConfigError::new("id", "it cannot change in a session"));
        }
        Ok(config)
    }

    /// Returns the configuration with the tools described in the prompt; `None` if they are
    /// already.
    pub(crate) fn in_text(&self) -> Option<SessionConfig> {
        self.with_model(&|model| model.text_calls = TextCalls::Always)
    }

    /// Returns the configuration without those fields in its requests; `None` if they are absent
    /// already.
    pub(crate) fn without(&self, fields: &[&str]) -> Option<SessionConfig> {
        self.with_model(&|model| innerloop_wire::leave_out(model, fields))
    }

    /// Returns the configuration with a change of the model in force; `None` if it changes nothing.
    fn with_model(&self, change: &dyn Fn(&mut ModelConfig)) -> Option<SessionConfig> {
        let mut config = self.given().clone();
        let further = self.at.checked_sub(1).and_then(|at| config.routing.models.get_mut(at));
        let model = further.map_or(&mut config.model, |further| &mut further.model);
        let before = model.clone();
        change(model);
        (*model != before).then_some(config)
    }

    /// Returns whether a model is out of the question: the cost is limited, and its price is not
    /// known.
    pub(crate) fn cannot_pay(&self, model: &str) -> bool {
        let model = model.trim();
        let config = &self.config;
        let is_known = model == config.model.name || config.prices.contains_key(model);
        cost_limit(config).is_some() && !model.is_empty() && !is_known
    }

    /// Returns the profile of the model.
    pub(crate) const fn profile(&self) -> Profile {
        Profile::of(&self.config.model)
    }

    pub(crate) fn tool(&self, name: &str) -> Option<&RegisteredTool> {
        self.tools.iter().find(|tool| tool.spec.name == name)
    }

    /// Returns the skills that are used.
    pub(crate) fn skills(&self) -> &[SkillFacts] {
        let is_used = cfg!(feature = "skills") && self.config.skills != SkillUse::Off;
        if is_used { &self.config.facts.skills } else { &[] }
    }

    pub(crate) fn skill(&self, name: &str) -> Option<&SkillFacts> {
        self.skills().iter().find(|skill| skill.name == name)
    }

    /// Returns the names of the tools.
    pub(crate) fn tool_names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|tool| &*tool.spec.name)
    }

    /// Returns the tools that a request may leave out.
    pub(crate) fn unshown(&self) -> impl Iterator<Item = &RegisteredTool> {
        let may_hide = cfg!(feature = "tools-shown");
        self.tools.iter().filter(move |tool| may_hide && (tool.is_deferred || self.is_staged()))
    }

    /// Returns the names of the tools of a category.
    pub(super) fn names_of(&self, category: usize) -> Vec<&str> {
        names_of(category, &self.tools)
    }

    /// Returns whether tools are shown in stages.
    pub(crate) const fn is_staged(&self) -> bool {
        cfg!(feature = "tools-shown") && !self.stages.is_empty()
    }

    /// Returns whether requests of both begin with the same bytes.
    pub(crate) fn begins_as(&self, other: &Self) -> bool {
        let mut stages = self.stages.iter().zip(&other.stages);
        self.route.begins_as(&other.route)
            && self.stages.len() == other.stages.len()
            && stages.all(|(one, other)| one.begins_as(other))
    }

    /// Returns the route of a stage.
    fn stage(&self, stage: usize) -> Arc<Route> {
        let mut model = self.route.model.clone();
        if stage == 0 && model.tool_choice == ToolChoice::Auto {
            model.tool_choice = ToolChoice::Required;
        }
        let shown: Vec<_> = self.tools.iter().filter(|tool| tool.is_at(stage)).into_list();
        Arc::new(route(&self.config, &self.folder, model, &shown))
    }

    /// Returns the route to the model for the input of an agent that is under way.
    pub(crate) fn route_of(&self, agent: &AgentData) -> Arc<Route> {
        let stage = self.is_staged().then(|| last_two(&agent.history).1).flatten();
        self.route_for(agent.run.options.as_deref(), stage)
    }

    /// Returns the route to the model for an input with such options, at that stage.
    pub(super) fn route_for(&self, options: Option<&TurnOptions>, stage: ToolStage) -> Arc<Route> {
        // Where an input says itself which tools there are, there are no stages.
        let is_own = |of: &TurnOptions| of.tools.is_some() || of.tool_choice.is_some();
        let stage = stage.filter(|_| !options.is_some_and(is_own));
        let base = stage.and_then(|stage| self.stages.get(stage)).unwrap_or(&self.route);
        let Some(options) = options else { return Arc::clone(base) };
        let mut model = base.model.clone();
        if let Some(choice) = &options.tool_choice {
            model.tool_choice = choice.clone();
        }
        // A choice that the input does not allow cannot be required: no reply could fulfil it.
        let may_any = self.tool_names().any(|name| allows(options, name));
        let fits = match &model.tool_choice {
            ToolChoice::Tool(name) => allows(options, name),
            ToolChoice::Required => may_any,
            ToolChoice::Auto | ToolChoice::None => true,
        };
        if !fits {
            model.tool_choice = ToolChoice::Auto;
        }
        if let Some(temperature) = &options.temperature {
            model.set_temperature(temperature);
        }
        let hides = options.hide && options.tools.is_some();
        // The shared route where nothing differs: its head is encoded already, and whoever compares
        // routes sees at once that they are the same.
        if !hides && model == base.model {
            return Arc::clone(base);
        }
        let is_shown = |tool: &&RegisteredTool| match stage {
            _ if hides => allows(options, tool.name()),
            Some(stage) => tool.is_at(stage),
            None => tool.is_shown(&model.tool_choice),
        };
        let shown: Vec<_> = self.tools.iter().filter(is_shown).into_list();
        Arc::new(route(&self.config, &self.folder, model, &shown))
    }

    /// Returns whether a file must be known to be changed. It need not where no tool shows files,
    /// as where a model family reads them by its shell: nobody can tell what the model knows.
    pub(crate) fn guards_files(&self) -> bool {
        let shows_files =
            |tool: &RegisteredTool| tool.row.is_some_and(|row| row.policy().shows_files);
        self.config.guard.read_before_write && self.tools.iter().any(shows_files)
    }

    /// Returns whether one of the tools is of such a category.
    pub(crate) fn has_category(&self, fits: impl Fn(ToolCategory) -> bool) -> bool {
        self.tools.iter().any(|tool| fits(tool.policy.category))
    }

    /// The name of the tool that writes a file as a whole, if there is one.
    pub(crate) fn whole_file_tool(&self) -> Option<&str> {
        let mut tools = self.tools.iter();
        let tool = tools.find(|tool| tool.policy.writes_files && tool.row.is_some())?;
        Some(&tool.spec.name)
    }

    /// Returns the policy of a tool.
    pub(crate) fn policy(&self, name: &str) -> ToolPolicy {
        self.tool(name).map_or(ToolPolicy::READS, |tool| tool.policy)
    }

    /// Returns the number of tokens that count as the context window; `known` is the window that
    /// refusals have taught, 0 if none has.
    pub(crate) fn window(&self, known: u64) -> u64 {
        let configured = u64::from(self.config.model.context_window);
        let limits = [u64::from(self.config.compaction.max_window), known];
        limits.into_iter().filter(|&limit| limit > 0).fold(configured, u64::min)
    }

    /// Returns the limit of a tool's output, with `left` tokens of the window left.
    pub(crate) fn output_limit(&self, name: &str, left: u64) -> OutputLimit {
        let mut limit = self.policy(name).output;
        if let Some(&chars) = self.config.tool_output_limits.get(name) {
            limit.max_chars = chars as usize;
        }
        let shares = [
            (u64::from(self.config.model.context_window), self.config.tool_output_percent),
            (left, self.config.tool_output_share_of_rest),
        ];
        for (tokens, percent) in shares {
            let Some(percent) = percent else { continue };
            // A token is about four characters. However full the window is, 1,000 of them stay.
            let share = (tokens * 4 * u64::from(percent.min(100)) / 100).max(1_000);
            limit.max_chars = limit.max_chars.min(usize::try_from(share).unwrap_or(usize::MAX));
        }
        if let Some(&lines) = self.config.tool_line_limits.get(name) {
            limit.max_lines = Some(lines as usize);
        }
        limit
    }

    /// Returns how a tool's calls run: beside others, or alone.
    pub(crate) fn exec_mode(&self, name: &str, category: ToolCategory) -> ExecMode {
        match self.config.exec_modes.get(name) {
            // Before the configured modes: for such a model calls run one after the other, whatever
            // they do.
            _ if self.one_by_one => ExecMode::Serial,
            Some(mode) => *mode,
            None if category == ToolCategory::Reads => ExecMode::Parallel,
            None => ExecMode::Serial,
        }
    }

    /// Returns the time limit of a run whose call asks for `asked`
    /// (`docs/decisions.md#command-time-limits`).
    pub(crate) fn timeout_ms(&self, asked: Option<u64>) -> u64 {
        let timeouts = &self.config.timeouts;
        let wanted = asked.unwrap_or_else(|| self.profile().command_ms(timeouts));
        wanted.clamp(1, timeouts.max_command_ms)
    }
}

/// Returns the lower of two limits, of which 0 is none: a model may ask for less than the host
/// allows, not for more.
fn least(one: u32, other: u32) -> u32 {
    if one == 0 || other == 0 { one.max(other) } else { one.min(other) }
}

/// Returns the route over which an agent in that folder is shown those tools.
fn route(
    config: &SessionConfig,
    folder: &str,
    model: ModelConfig,
    tools: &[&RegisteredTool],
) -> Route {
    // The family's words are about tools: where there are none, they would have it call some.
    let family = Profile::of(&config.model).base_prompt();
    let base = if tools.is_empty() { NO_TOOLS_PROMPT } else { family };
    let system = system_prompt(
        config.base_prompt.as_deref().unwrap_or(base),
        &PromptEnvironment {
            facts: &config.facts,
            folder,
            model: &config.model.name,
            has_workspace: tools.iter().any(|tool| tool.row.is_some_and(ToolRow::is_action)),
            skills: config.skills,
        },
        tools.iter().map(|tool| &*tool.spec),
        config.instructions.as_deref(),
    );
    let specs = tools.iter().map(|tool| Arc::clone(&tool.spec)).into_list();
    Route::new(model, system, specs, may_sum_up(config))
}

/// Turns the facts of the workspace's root into those of one of its folders. Of the project's
/// instructions only those stay that belong to a folder on the way to it, to itself or below it.
/// Those of the way and of itself are read from the start; those below wait for a call.
fn move_facts(facts: &mut EnvironmentFacts, to: &str) {
    if to.is_empty() {
        return;
    }
    let nested = core::mem::take(&mut facts.nested_docs);
    let root = facts.working_directory.trim_end_matches('/');
    facts.working_directory = format!("{root}/{to}");
    let folder = |doc: &ProjectDoc| doc_folder(&doc.path);
    facts.project_docs.retain(|doc| {
        // A file above the workspace is on the way to all of it.
        folder(doc).is_none_or(|above| seen(&above, to).is_some() || seen(to, &above).is_some())
    });
    let ends = to.match_indices('/').map(|(end, _)| end).chain([to.len()]);
    for place in ends.filter_map(|end| to.get(..end)) {
        let docs = nested.iter().filter(|doc| folder(doc).is_some_and(|above| above == place));
        facts.project_docs.extend(docs.cloned());
    }
    let is_below = |doc: &ProjectDoc| {
        folder(doc).is_some_and(|above| seen(to, &above).is_some_and(|rest| !rest.is_empty()))
    };
    facts.nested_docs = nested.into_iter().filter(is_below).into_list();
    // As this agent names them: what is not below its folder begins at the workspace's root.
    for skill in facts.skills.iter_mut().filter(|skill| !skill.path.is_empty()) {
        skill.path = match seen(to, &skill.path) {
            Some(below) => below.into(),
            None if skill.path.starts_with("~/") => continue,
            None => format!("/{}", skill.path.trim_start_matches('/')),
        };
    }
}

/// Returns whether a run may end with a summary made without tools.
fn may_sum_up(config: &SessionConfig) -> bool {
    config.limits.action == LimitAction::Summarize
        || config.loops.ladder.contains(&LoopStep::Summarize)
}

/// Checks that a session works with each of its models.
fn check_routing(config: &SessionConfig) -> Result<(), ConfigError> {
    let models = &config.routing.models;
    if !cfg!(feature = "routing") {
        return match models.is_empty() {
            true => Ok(()),
            false => Err(ConfigError::new("routing", "this build has none: leave it out")),
        };
    }
    for (at, further) in models.iter().enumerate() {
        let is_known = |task: &&String| task_kind::names().any(|name| name == **task);
        let unknown = further.tasks.iter().find(|task| !is_known(task));
        let checked = match unknown {
            Some(task) => Err(ConfigError::new("tasks", unknown_task(task))),
            None => AgentSetup::routed(config, at + 1).map(drop),
        };
        checked.map_err(|error| ConfigError {
            field: format!("routing.models[{at}].{}", error.field).into(),
            ..error
        })?;
    }
    Ok(())
}

fn unknown_task(task: &str) -> String {
    let names: Vec<&str> = task_kind::names().into_list();
    format!("{} is no kind of task: {}", quoted(task), joined(&names, ", "))
}
