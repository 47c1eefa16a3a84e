//! The set-up that commands share: the workspace with its sandbox, the provider with its endpoint
//! and key, and texts from standard input.

use super::{
    args::{ModelArgs, WebArgs},
    exit::CliError,
    keys::{self, FoundKey},
};
use innerloop_driver::{
    Endpoint, EndpointError,
    providers::{self, Provider},
};
use innerloop_host::{
    setup::WorkSite,
    tools::OwnTool,
    web::{self, AllowedDomains, SessionDomains},
};
use innerloop_sandbox::{EngineOptions, OnProgress, SandboxEngine, own_program};
use innerloop_workspace::Workspace;
use std::{collections::BTreeSet, env, io::Read, path::Path, time::Duration};

/// The time after which tools are compiled ahead: a command that has ended by then needs none.
const SHORTEST_RUN: Duration = Duration::from_millis(30);

/// Opens the folder to work on; `any` also allows a home folder or one of the system.
pub(super) fn workspace(path: &Path, any: bool) -> Result<Workspace, CliError> {
    let opened = if any { Workspace::insist(path) } else { Workspace::open(path) };
    opened.map_err(CliError::usage)
}

/// Opens the sandbox over a folder. Its tools are compiled when one is called.
pub(super) fn site(
    workspace: Workspace,
    programs: Option<&Path>,
    on_progress: Option<OnProgress>,
) -> Result<WorkSite, CliError> {
    let engine = SandboxEngine::new(EngineOptions {
        on_progress,
        compiler: own_program(),
        ..EngineOptions::default()
    });
    WorkSite::open(workspace, programs, engine).map_err(CliError::configuration)
}

/// Compiles the tools in the background, if they have to be. A failure is reported by the first
/// call that needs them.
pub(super) fn compile_meanwhile(site: &WorkSite) {
    let sandbox = site.sandbox().clone();
    drop(tokio::spawn(async move {
        tokio::time::sleep(SHORTEST_RUN).await;
        sandbox.compile().await
    }));
}

/// Returns the tool that reads pages of the web, if any may be read.
pub(super) fn web(args: &WebArgs) -> Result<Option<OwnTool>, CliError> {
    let allowed = domains(args)?;
    Ok((!allowed.is_empty()).then(|| web::reader(SessionDomains::new(allowed))))
}

/// Returns the domains whose pages may be read.
pub(super) fn domains(args: &WebArgs) -> Result<AllowedDomains, CliError> {
    let allowed = AllowedDomains::parse(&args.domains);
    allowed.map_err(|error| CliError::usage(format!("--allow-domain: {error}")))
}

/// A provider, and the reason for the choice if nobody has named one.
pub(super) struct ProviderChoice {
    pub(super) provider: Provider,
    pub(super) because: Option<String>,
}

/// Returns the provider that was asked for; else Anthropic, or, if its key is missing, the first
/// provider whose key is found, in the environment before the file of `innerloop login`.
pub(super) fn provider(args: &ModelArgs) -> Result<ProviderChoice, CliError> {
    let named = |name: &str| providers::find(name).map_err(CliError::configuration);
    if let Some(name) = &args.provider {
        return Ok(ProviderChoice { provider: named(name)?, because: None });
    }
    let standard = named(providers::DEFAULT)?;
    let of_variables = |provider: &Provider| keys::of_variables(provider, &args.settings).is_some();
    // A file of keys that can't be used is reported only when a key of it is needed.
    let at_hand =
        |provider: &Provider| matches!(keys::at_hand(provider, &args.settings), Ok(Some(_)));
    if of_variables(&standard) || at_hand(&standard) {
        return Ok(ProviderChoice { provider: standard, because: None });
    }
    let others: Vec<Provider> =
        providers::all().into_iter().filter(|it| !it.key_optional).collect();
    let other =
        others.iter().find(|it| of_variables(it)).or_else(|| others.iter().find(|it| at_hand(it)));
    Ok(match other {
        None => ProviderChoice { provider: standard, because: None },
        Some(provider) => {
            let name = &provider.name;
            let why = match of_variables(provider) {
                true => format!("{} is set", keys::variables(provider)),
                false => "`innerloop login` has kept its key".to_owned(),
            };
            let because = format!("using {name}, since {why}; --provider names another");
            ProviderChoice { provider: provider.clone(), because: Some(because) }
        }
    })
}

/// Returns the provider that a recording stands in for, without looking for its key.
pub(super) fn recorded_provider(args: &ModelArgs) -> Result<ProviderChoice, CliError> {
    let name = args.provider.as_deref().unwrap_or(providers::DEFAULT);
    let provider = providers::find(name).map_err(CliError::configuration)?;
    Ok(ProviderChoice { provider, because: None })
}

/// An endpoint, and the key that it is reached with, if there is one.
pub(super) struct EndpointAccess {
    pub(super) endpoint: Endpoint,
    pub(super) found: Option<FoundKey>,
}

/// Returns the provider's endpoint; options come before the environment, and that before settings.
pub(super) fn endpoint_of(
    provider: &Provider,
    args: &ModelArgs,
) -> Result<EndpointAccess, CliError> {
    // The key ring may ask the user to unlock it: not for a provider that needs no key.
    let found = match provider.key_optional {
        true => keys::at_hand(provider, &args.settings),
        false => keys::find(provider, &args.settings),
    };
    let found = found.map_err(CliError::configuration)?;
    let origin = found.as_ref().map(|found| found.origin.told());
    let key = found.as_ref().map(|found| found.key.clone()).unwrap_or_default();
    let endpoint =
        Endpoint::new(provider, base_url(provider, args).as_deref(), key).map_err(|error| {
            match error {
                EndpointError::MissingKey if args.provider.is_none() => {
                    CliError::configuration(first_steps())
                }
                error => CliError::configuration(told(&error, provider, origin)),
            }
        })?;
    Ok(EndpointAccess { endpoint, found })
}

/// Returns the endpoint that a recording stands in for. Nothing is sent there, but its key is known
/// and thus masked, as in the run that was recorded.
pub(super) fn recorded_endpoint(provider: &Provider, args: &ModelArgs) -> Option<Endpoint> {
    let base_url = base_url(provider, args);
    let found = keys::at_hand(provider, &args.settings).ok().flatten();
    let key = found.map(|found| found.key).unwrap_or_default();
    Endpoint::without_check(provider, base_url.as_deref(), key).ok()
}

/// Returns the model's name from options or settings, else the provider's default.
pub(super) fn model<'a>(provider: &'a Provider, args: &'a ModelArgs) -> Option<&'a str> {
    let of_settings = || args.settings.of(&provider.name)?.model.as_deref();
    args.model.as_deref().or_else(of_settings).or(provider.default_model.as_deref())
}

/// Returns the provider's address, if it is not the usual one.
pub(super) fn base_url(provider: &Provider, args: &ModelArgs) -> Option<String> {
    let set = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
    let settings = &args.settings;
    let option = args.base_url.clone().or_else(|| set(&provider.base_url_variable));
    option
        .or_else(|| settings.base_url.clone())
        .or_else(|| settings.of(&provider.name)?.base_url.clone())
}

/// Returns the message with all ways to get a model, for somebody who has none yet.
fn first_steps() -> String {
    let all = providers::all();
    let (own, others): (Vec<&Provider>, Vec<&Provider>) =
        all.iter().filter(|provider| provider.base_url.is_some()).partition(|it| it.key_optional);
    let mut variables: Vec<&str> =
        others.iter().filter_map(|it| it.key_variables.first()).map(String::as_str).collect();
    // Several providers may stand for one company's protocols, and share a variable.
    let mut seen = BTreeSet::new();
    variables.retain(|name| seen.insert(*name));
    let own: Vec<&str> = own.iter().map(|provider| provider.name.as_str()).collect();
    let own = match own.split_first() {
        Some((first, others)) => format!("{first} (or {})", others.join(", ")),
        None => String::new(),
    };
    let (standard, others) =
        variables.split_first().map_or(("", Vec::new()), |(first, rest)| (*first, rest.to_vec()));
    format!(
        "there is no key of a model's provider: {standard} is not set, nor is {}; put a key into \
         one of them; or keep one with `innerloop login {}` (`innerloop providers` lists \
         the others); or use a model of this machine, without a key: --provider {} --model NAME; \
         or another gateway: --provider openai-compatible --base-url URL --model NAME; or play a \
         recording: --replay FILE",
        others.join(", "),
        providers::DEFAULT,
        own,
    )
}

/// Returns the fault of an endpoint, with advice. `origin` is the place of the key.
fn told(error: &EndpointError, provider: &Provider, origin: Option<String>) -> String {
    let key = keys::variables(provider);
    match error {
        EndpointError::MissingKey => format!(
            "{key} is not set; put your API key in it, or keep one with `innerloop login {}`, or \
             use --replay with a recording",
            provider.name
        ),
        EndpointError::BadKey => {
            let origin = origin.unwrap_or(key);
            format!("{origin} holds characters that no API key has; set it again")
        }
        EndpointError::MissingUrl => format!(
            "{} is at a place of your own; give it as --base-url or in {}, for example {}",
            provider.name,
            provider.base_url_variable,
            provider.base_url_example.as_deref().unwrap_or_default()
        ),
        EndpointError::BadUrl { .. } => error.to_string(),
    }
}

/// Returns the text, or standard input if the text is `-`.
pub(super) async fn given(text: String, what: &str) -> Result<String, CliError> {
    let given = if text == "-" {
        // On another thread, so that signals are handled while somebody types.
        let read = tokio::task::spawn_blocking(|| {
            let mut text = String::new();
            std::io::stdin().lock().read_to_string(&mut text).map(|_| text)
        });
        read.await.map_err(std::io::Error::other).flatten().map_err(|error| {
            CliError::usage(format!("cannot read {what} from standard input: {error}"))
        })?
    } else {
        text
    };
    if given.trim().is_empty() {
        return Err(CliError::usage(format!("{what} is empty; say what you want")));
    }
    Ok(given)
}
