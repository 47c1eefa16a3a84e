//! The checks of a configuration that need no more than itself: values that contradict each other,
//! fields that would make every model call fail, settings of features that a build lacks.

use alloc::{format, string::String};
use innerloop_types::{
    config::{ConfigError, SessionConfig, SkillFacts},
    corrections::{CorrectionPolicy, ReplyFault},
    tool::ToolsShown,
};

/// Checks what every agent's configuration must hold.
pub(super) fn check(config: &SessionConfig) -> Result<(), ConfigError> {
    if !cfg!(feature = "corrections") && config.corrections != CorrectionPolicy::default() {
        return Err(ConfigError::new("corrections", "this build has none: leave them out"));
    }
    let is_usual = [ToolsShown::All, ToolsShown::default()].contains(&config.tools_shown);
    if !cfg!(feature = "tools-shown") && !is_usual {
        return Err(ConfigError::new("tools_shown", "this build shows all tools: leave it out"));
    }
    if !cfg!(feature = "kept-results") && config.results.is_some() {
        return Err(ConfigError::new("results", "this build keeps none: leave it out"));
    }
    if !cfg!(feature = "named-agents") && !config.agents.is_empty() {
        return Err(ConfigError::new("agents", "this build has none: leave them out"));
    }
    check_skills(config)?;
    let is_known = |name: &str| ReplyFault::ALL.iter().any(|fault| fault.name() == name);
    if let Some(fault) = config.corrections.faults.keys().find(|name| !is_known(name)) {
        let field = format!("corrections.faults.{fault}");
        return Err(ConfigError::new(field, "is no fault that can be corrected"));
    }
    check_model(config)?;
    check_loops(config)
}

fn check_skills(config: &SessionConfig) -> Result<(), ConfigError> {
    let skills = &config.facts.skills;
    if !cfg!(feature = "skills") && !skills.is_empty() {
        return Err(ConfigError::new("facts.skills", "this build has none: leave them out"));
    }
    let is_bare = |skill: &SkillFacts| {
        skill.name.is_empty() || (skill.body.is_none() && skill.place().starts_with("~/"))
    };
    match skills.iter().position(is_bare) {
        Some(at) => {
            let message = "it needs a name, and a body where no tool can read its path";
            Err(ConfigError::new(format!("facts.skills[{at}]"), message))
        }
        None => Ok(()),
    }
}

fn check_model(config: &SessionConfig) -> Result<(), ConfigError> {
    let required = |field: &'static str, value: &str, what: &str| {
        if value.trim().is_empty() {
            let message = format!("is empty: {what}");
            return Err(ConfigError::new(field, message));
        }
        Ok(())
    };
    required("id", &config.id.0, "give the session a unique id, a UUID for example")?;
    required("model.endpoint", &config.model.endpoint.0, "name an endpoint of the host's table")?;
    required("model.name", &config.model.name, "name the model to talk to")?;
    innerloop_wire::check(&config.model)?;
    if config.model.max_output_tokens == 0 {
        let message = String::from("is 0: a reply needs room for at least one token");
        return Err(ConfigError::new("model.max_output_tokens", message));
    }
    if config.model.context_window <= config.model.max_output_tokens {
        let message = format!(
            "is {}: it must be more than model.max_output_tokens ({})",
            config.model.context_window, config.model.max_output_tokens
        );
        return Err(ConfigError::new("model.context_window", message));
    }
    let timeouts = &config.timeouts;
    if timeouts.default_command_ms == 0 || timeouts.default_command_ms > timeouts.max_command_ms {
        let message = format!(
            "is {}: it must be from 1 to timeouts.max_command_ms ({})",
            timeouts.default_command_ms, timeouts.max_command_ms
        );
        return Err(ConfigError::new("timeouts.default_command_ms", message));
    }
    let response = &config.response;
    let has_room = response.max_bytes > 0 && response.max_kept_bytes > 0;
    if !(has_room && response.max_items > 0 && response.max_calls > 0) {
        let message = String::from("a limit is 0: no reply of a model could be read");
        return Err(ConfigError::new("response", message));
    }
    if config.retry.idle_ms == 0 {
        let message = String::from("is 0: every model call would count as broken at once");
        return Err(ConfigError::new("retry.idle_ms", message));
    }
    Ok(())
}

fn check_loops(config: &SessionConfig) -> Result<(), ConfigError> {
    if config.loops.detect && config.loops.window < 2 {
        let message = String::from("must be at least 2: one call alone repeats nothing");
        return Err(ConfigError::new("loops.window", message));
    }
    if config.loops.detect && config.loops.max_period == 0 {
        let message = String::from("is 0: the shortest cycle has one call");
        return Err(ConfigError::new("loops.max_period", message));
    }
    if config.loops.detect && config.loops.ladder.is_empty() {
        let message = String::from("is empty: say what is done, or set loops.detect to false");
        return Err(ConfigError::new("loops.ladder", message));
    }
    for (at, tier) in config.compaction.auto.iter().enumerate() {
        let window = config.model.context_window.into();
        let (from, to) = (tier.from.tokens(window), tier.to.tokens(window));
        if to >= from || from > window {
            let message = format!(
                "goes from {from} to {to} tokens of a window of {window}: it must begin within \
                 the window and lead further down"
            );
            return Err(ConfigError::new(format!("compaction.auto[{at}]"), message));
        }
    }
    Ok(())
}

/// Returns the field that limits the cost, if one does.
pub(super) fn cost_limit(config: &SessionConfig) -> Option<&'static str> {
    let limits = &config.limits;
    let costs = [
        ("limits.run.cost_nano_usd", limits.run.cost_nano_usd),
        ("limits.session.cost_nano_usd", limits.session.cost_nano_usd),
    ];
    costs.into_iter().find(|(_, limit)| *limit > 0).map(|(field, _)| field)
}

/// Checks that a limit of the cost comes with the prices of all models.
pub(super) fn check_prices(config: &SessionConfig) -> Result<(), ConfigError> {
    let Some(field) = cost_limit(config) else { return Ok(()) };
    let model = &config.model;
    let named = config.agents.values().filter_map(|agent| agent.model.as_ref());
    let mut others = config.compaction.summary.model.iter().chain(named);
    let is_unknown = |name: &&String| {
        !name.trim().is_empty() && **name != model.name && !config.prices.contains_key(name)
    };
    let other = others.find(is_unknown);
    let further = config.routing.models.iter().map(|further| &further.model);
    let unpriced = core::iter::once(model).chain(further).find(|model| model.price.is_none());
    let unknown = unpriced.map(|model| &model.name).or(other);
    let message = |name| format!("cannot be kept: the price of {name} is not known");
    unknown.map_or(Ok(()), |name| Err(ConfigError::new(field, message(name))))
}
