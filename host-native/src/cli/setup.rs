//! What the commands share: the workspace with its sandbox, the endpoint, a prompt or arguments
//! from standard input.

use super::{
    args::{ModelArgs, TuningArgs},
    exit::{Exit, Failure},
};
use crate::{
    endpoints::{Endpoint, EndpointError, key_variables},
    programs::Programs,
    sandbox::{Executor, OnProgress, Options, SandboxEngine, Workspace},
    secret::Key,
};
use innerloop_core::config::ModelConfig;
use innerloop_driver::{
    catalogue::Catalogue,
    providers::{self, Provider},
};
use std::{env, fmt::Display, fs, io::Read, path::Path};

/// The provider where nothing else is said.
const STANDARD: &str = "anthropic";

/// The sandbox over a folder, with its tools ready to run.
pub(super) async fn sandbox(
    workspace: &Path,
    programs: Option<&Path>,
    on_progress: Option<OnProgress>,
) -> Result<Executor, Failure> {
    let workspace = Workspace::open(workspace).map_err(Failure::usage)?;
    let programs = Programs::find(programs).map_err(Failure::configuration)?;
    let engine = SandboxEngine::new(Options { on_progress, ..Options::default() })
        .map_err(Failure::configuration)?;
    let executor = Executor::new(engine, workspace, programs);
    executor.prepare().await.map_err(|error| {
        Failure::new(Exit::Failed, format!("the tools cannot run on this machine: {error}"))
    })?;
    Ok(executor)
}

/// A provider, and why it is this one where nobody asked for it.
pub(super) struct Choice {
    pub(super) provider: Provider,
    pub(super) because: Option<String>,
}

/// The provider that was asked for; else Anthropic, or the first of which a key is set if
/// Anthropic's is not.
pub(super) fn provider(args: &ModelArgs) -> Result<Choice, Failure> {
    let named = |name: &str| providers::find(name).map_err(Failure::configuration);
    if let Some(name) = &args.provider {
        return Ok(Choice { provider: named(name)?, because: None });
    }
    let standard = named(STANDARD)?;
    let has_key = |provider: &Provider| !provider.key_optional && !key(provider).is_empty();
    let other = providers::all().into_iter().find(has_key).filter(|_| !has_key(&standard));
    Ok(match other {
        None => Choice { provider: standard, because: None },
        Some(provider) => {
            let (name, variable) = (&provider.name, key_variables(&provider));
            let because =
                format!("using {name}, since {variable} is set; --provider names another");
            Choice { provider, because: Some(because) }
        }
    })
}

/// The provider that a recording stands in for: its key is not looked at.
pub(super) fn recorded_provider(args: &ModelArgs) -> Result<Choice, Failure> {
    let name = args.provider.as_deref().unwrap_or(STANDARD);
    let provider = providers::find(name).map_err(Failure::configuration)?;
    Ok(Choice { provider, because: None })
}

/// The provider's endpoint; options come before the environment.
pub(super) fn endpoint_of(
    provider: &Provider,
    args: &ModelArgs,
) -> Result<Endpoint, EndpointError> {
    let set = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
    let base_url = args.base_url.clone().or_else(|| set(&provider.base_url_variable));
    Endpoint::new(provider, base_url.as_deref(), key(provider))
}

/// The provider's key as the environment has it; empty if it has none. What is not UTF-8 gets
/// characters in its place that no key has, so that it is told as a bad key.
pub(super) fn key(provider: &Provider) -> Key {
    let variables = provider.key_variables.iter();
    let mut keys = variables
        .map(|variable| Key::new(&env::var_os(variable).unwrap_or_default().to_string_lossy()));
    keys.find(|key| !key.is_empty()).unwrap_or_default()
}

/// The model that was asked for, with what is known of it.
pub(super) fn model(
    provider: &Provider,
    args: &ModelArgs,
    tuning: &TuningArgs,
) -> Result<ModelConfig, Failure> {
    let known = match &tuning.models {
        None => Catalogue::standard(),
        Some(path) => catalogue(path)?,
    };
    let Some(name) = args.model.as_ref().or(provider.default_model.as_ref()) else {
        let provider = &provider.name;
        let message = format!("{provider} has no model of its own choice; name one with --model");
        return Err(Failure::configuration(message));
    };
    let mut model = provider.model(name, tuning.vocabulary.vocabulary());
    known.complete(provider, &mut model);
    model.reasoning_effort.clone_from(&tuning.effort);
    model.context_window = tuning.context_window.unwrap_or(model.context_window);
    model.max_output_tokens = tuning.max_output_tokens.unwrap_or(model.max_output_tokens);
    Ok(model)
}

fn catalogue(path: &Path) -> Result<Catalogue, Failure> {
    let told = |error: &dyn Display| {
        Failure::configuration(format!("cannot use {}: {error}", path.display()))
    };
    let text = fs::read_to_string(path).map_err(|error| told(&error))?;
    Catalogue::parse(&text).map_err(|error| told(&error))
}

/// The text, or what standard input holds where the text is `-`.
pub(super) async fn given(text: String, what: &str) -> Result<String, Failure> {
    let given = if text == "-" {
        // A thread of its own, so that Ctrl-C is heard while somebody types.
        let read = tokio::task::spawn_blocking(|| {
            let mut text = String::new();
            std::io::stdin().lock().read_to_string(&mut text).map(|_| text)
        });
        read.await.map_err(std::io::Error::other).flatten().map_err(|error| {
            Failure::usage(format!("cannot read {what} from standard input: {error}"))
        })?
    } else {
        text
    };
    if given.trim().is_empty() {
        return Err(Failure::usage(format!("{what} is empty; say what you want")));
    }
    Ok(given)
}
