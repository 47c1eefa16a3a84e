//! What the commands share: the workspace with its sandbox, the endpoint, a prompt or arguments
//! from standard input.

use super::{
    args::ModelArgs,
    exit::{Exit, Failure},
};
use crate::{
    endpoints::{Endpoint, EndpointError, Provider},
    programs::Programs,
    sandbox::{Executor, OnProgress, Options, SandboxEngine, Workspace},
    secret::Key,
};
use std::{env, io::Read, path::Path};

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

/// The provider that was asked for.
pub(super) fn provider(args: &ModelArgs) -> Result<Provider, Failure> {
    Provider::named(&args.provider).map_err(Failure::configuration)
}

/// The provider's endpoint; options come before the environment.
pub(super) fn endpoint_of(provider: Provider, args: &ModelArgs) -> Result<Endpoint, EndpointError> {
    let set = |name| env::var(name).ok().filter(|value| !value.trim().is_empty());
    let base_url = args.base_url.clone().or_else(|| set(provider.base_url_variable()));
    let base_url = base_url.as_deref().unwrap_or(provider.default_base_url());
    Endpoint::new(provider, base_url, key(provider))
}

/// The provider's key as the environment has it; empty if it has none. What is not UTF-8 gets
/// characters in its place that no key has, so that it is told as a bad key.
pub(super) fn key(provider: Provider) -> Key {
    Key::new(&env::var_os(provider.key_variable()).unwrap_or_default().to_string_lossy())
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
