//! `--env local`: the options that say where commands run, what follows from them for a run, and
//! the line that says what it means.

use super::{
    args::{Bubblewrap, EnvironmentArgs, GuestArgs, Inherited, SessionArgs, Where},
    console::warn,
    exit::Failure,
};
use innerloop_core::config::{Facts, ProgramFacts};
use innerloop_host::{
    local::{Confined, Inherit, Local, LocalError, Options},
    setup::WorkSite,
};
use innerloop_sandbox::programs::Programs;

/// What a run's options mean where commands change the folder itself: that it is worked on in
/// place. Off a terminal that must have been said.
pub(super) fn settled(args: SessionArgs, is_attended: bool) -> Result<SessionArgs, Failure> {
    if args.environment.env == Where::Sandbox {
        return Ok(args);
    }
    let folder = args.workspace.display();
    let refused = |why: &str| Err(Failure::usage(format!("--env local {why}")));
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

/// Has commands run on the machine itself, if that was asked for; what it means is told.
pub(super) fn open(
    args: &EnvironmentArgs,
    guests: &GuestArgs,
    site: WorkSite,
) -> Result<WorkSite, Failure> {
    let Some(options) = options(args)? else { return Ok(site) };
    if guests.programs.is_some() {
        return Err(Failure::usage(
            "--programs names programs of the sandbox, and --env local runs those of this machine; \
             leave one of them out",
        ));
    }
    let opened = Local::open(site.sandbox().clone(), &options);
    let local = opened.map_err(|error| match error {
        LocalError::Unconfined(_) => Failure::configuration(format!(
            "{error}; install it or allow user namespaces, or say --bubblewrap never"
        )),
        error => Failure::configuration(error),
    })?;
    warn(&format!("--env local: {}", local.notice()));
    Ok(site.with_local(local))
}

/// What is known of the place before it is opened: which programs it has.
pub(super) fn facts(args: &EnvironmentArgs, programs: &Programs) -> Facts {
    let shell = || ProgramFacts { name: "sh".to_owned(), description: String::new() };
    let programs = match args.env {
        Where::Sandbox => programs.facts(),
        Where::Local => vec![shell()],
    };
    Facts { programs, ..Facts::default() }
}

/// What the options say of commands on this machine; nothing where they run in the sandbox.
fn options(args: &EnvironmentArgs) -> Result<Option<Options>, Failure> {
    if args.env == Where::Sandbox {
        let given = [
            ("--bubblewrap", args.bubblewrap.is_some()),
            ("--env-policy", args.env_policy.is_some()),
            ("--set-env", !args.set_env.is_empty()),
            ("--allow-network", args.allow_network),
        ];
        return match given.into_iter().find(|(_, is_given)| *is_given) {
            None => Ok(None),
            Some((option, _)) => Err(Failure::usage(format!("{option} needs --env local"))),
        };
    }
    let variable = |text: &String| {
        let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
        let pair = pair.map(|(name, value)| (name.to_owned(), value.to_owned()));
        pair.ok_or_else(|| Failure::usage(format!("--set-env takes NAME=VALUE, not {text}")))
    };
    Ok(Some(Options {
        inherit: match args.env_policy {
            None | Some(Inherited::Filtered) => Inherit::Filtered,
            Some(Inherited::All) => Inherit::All,
            Some(Inherited::Core) => Inherit::Core,
            Some(Inherited::None) => Inherit::Nothing,
        },
        secrets: args.secrets.clone(),
        variables: args.set_env.iter().map(variable).collect::<Result<_, _>>()?,
        bubblewrap: match args.bubblewrap {
            None | Some(Bubblewrap::Auto) => Confined::Auto,
            Some(Bubblewrap::Always) => Confined::Always,
            Some(Bubblewrap::Never) => Confined::Never,
        },
        network: args.allow_network,
    }))
}
