//! The options of `--env local`: checks them against the other options, and opens the environment
//! in which commands run on this machine. Such commands change the folder itself, so that the user
//! must have meant it.

use super::{
    args::{
        BubblewrapChoice, EnvironmentArgs, ExecutionTarget, GuestArgs, SessionArgs,
        VariableInheritance,
    },
    console::warn,
    exit::CliError,
};
use innerloop_core::config::{EnvironmentFacts, ProgramFacts};
use innerloop_host::{
    local::{BubblewrapMode, InheritPolicy, LocalEnvironment, LocalError, LocalOptions},
    setup::WorkSite,
};
use innerloop_sandbox::programs::ProgramRegistry;

/// Completes the options of a session whose commands run on this machine: it works in place.
/// Without a terminal `--in-place` must be given.
pub(super) fn settled(args: SessionArgs, is_attended: bool) -> Result<SessionArgs, CliError> {
    if args.environment.env == ExecutionTarget::Sandbox {
        return Ok(args);
    }
    let folder = args.workspace.display();
    let refused = |why: &str| Err(CliError::usage(format!("--env local {why}")));
    match (args.apply, args.diff, args.in_place) {
        _ if args.tuning.read_only => refused(
            "does not go with --read-only: nothing could keep commands of this machine from \
             changing files; leave one of them out",
        ),
        (true, ..) => refused(
            "does not go with --apply: commands of this machine change the folder itself; \
             use --in-place",
        ),
        (_, true, _) => refused(
            "does not go with --diff: commands of this machine change the folder itself; \
             leave one of them out",
        ),
        (_, _, false) if !is_attended => refused(&format!(
            "lets commands change {folder} itself while the agent works: add --in-place to say \
             that this is meant"
        )),
        _ => Ok(SessionArgs { in_place: true, ..args }),
    }
}

/// Has commands run on this machine, if that was asked for, and warns of what it means.
pub(super) fn open(
    args: &EnvironmentArgs,
    guests: &GuestArgs,
    site: WorkSite,
) -> Result<WorkSite, CliError> {
    let Some(options) = options(args)? else { return Ok(site) };
    if guests.programs.is_some() {
        return Err(CliError::usage(
            "--programs names programs of the sandbox, and --env local runs those of this machine; \
             leave one of them out",
        ));
    }
    let opened = LocalEnvironment::open(site.sandbox().clone(), &options);
    let local = opened.map_err(|error| match error {
        LocalError::Unconfined(_) => CliError::configuration(format!(
            "{error}; install it or allow user namespaces, or say --bubblewrap never"
        )),
        error => CliError::configuration(error),
    })?;
    warn(&format!("--env local: {}", local.notice()));
    Ok(site.with_local(local))
}

/// Returns the facts about the environment before it is opened: its programs.
pub(super) fn facts(args: &EnvironmentArgs, programs: &ProgramRegistry) -> EnvironmentFacts {
    let shell = || ProgramFacts { name: "sh".to_owned(), description: String::new() };
    let programs = match args.env {
        ExecutionTarget::Sandbox => programs.facts(),
        ExecutionTarget::Local => vec![shell()],
    };
    EnvironmentFacts { programs, ..EnvironmentFacts::default() }
}

/// Returns the options of commands on this machine; none if they run in the sandbox.
fn options(args: &EnvironmentArgs) -> Result<Option<LocalOptions>, CliError> {
    if args.env == ExecutionTarget::Sandbox {
        // An option without effect is an error: somebody would rely on it.
        let given = [
            ("--bubblewrap", args.bubblewrap.is_some()),
            ("--env-policy", args.env_policy.is_some()),
            ("--set-env", !args.set_env.is_empty()),
            ("--allow-network", args.allow_network),
        ];
        return match given.into_iter().find(|(_, is_given)| *is_given) {
            None => Ok(None),
            Some((option, _)) => Err(CliError::usage(format!("{option} needs --env local"))),
        };
    }
    let variable = |text: &String| {
        let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
        let pair = pair.map(|(name, value)| (name.to_owned(), value.to_owned()));
        pair.ok_or_else(|| CliError::usage(format!("--set-env takes NAME=VALUE, not {text}")))
    };
    Ok(Some(LocalOptions {
        inherit: match args.env_policy {
            None | Some(VariableInheritance::Filtered) => InheritPolicy::Filtered,
            Some(VariableInheritance::All) => InheritPolicy::All,
            Some(VariableInheritance::Core) => InheritPolicy::Core,
            Some(VariableInheritance::None) => InheritPolicy::Nothing,
        },
        secrets: args.secrets.clone(),
        variables: args.set_env.iter().map(variable).collect::<Result<_, _>>()?,
        bubblewrap: match args.bubblewrap {
            None | Some(BubblewrapChoice::Auto) => BubblewrapMode::Auto,
            Some(BubblewrapChoice::Always) => BubblewrapMode::Always,
            Some(BubblewrapChoice::Never) => BubblewrapMode::Never,
        },
        network: args.allow_network,
    }))
}
