//! The hooks of a session: the commands that settings name, at the points where the session asks
//! them. A session that was kept may have been asked at others, by settings of that time or by
//! another program.

use crate::{args::SessionArgs, console::warn, exit::CliError};
use innerloop_core::{config::SessionConfig, json::to_string};
use innerloop_driver::providers;
use innerloop_host::local::{HookCommands, HookSite};
use innerloop_workspace::Workspace;

/// Opens the commands for a session over that workspace, and has its configuration name their
/// points.
///
/// # Errors
/// There are some, and this system runs no commands.
pub(super) fn open(
    args: &SessionArgs,
    config: &mut SessionConfig,
    workspace: &Workspace,
) -> Result<Option<HookCommands>, CliError> {
    let commands = args.tuning.settings.hooks.clone();
    let hooks = (!commands.is_empty()).then(|| {
        let variables = providers::all().into_iter().flat_map(|provider| provider.key_variables);
        let site = HookSite {
            folder: workspace.root().to_owned(),
            session: config.id.clone(),
            secrets: variables.chain(args.environment.secrets.iter().cloned()).collect(),
            fail_closed: config.hooks.fail_closed,
        };
        HookCommands::open(commands, site).map_err(CliError::configuration)
    });
    let hooks = hooks.transpose()?;
    let mut points = hooks.as_ref().map(HookCommands::points).unwrap_or_default();
    let known = points.clone();
    let absent = config.hooks.points.iter().filter(|point| !known.contains(point));
    for point in absent {
        let name = to_string(point);
        let name = name.trim_matches('"');
        if config.hooks.fail_closed {
            // Something was guarded there: without its guard it must not pass.
            points.push(*point);
            warn(&format!(
                "no command of settings is asked at {name}: whatever comes there is denied, as \
                 hooks.fail_closed wants it"
            ));
        } else {
            warn(&format!("no command of settings is asked at {name}: nothing is asked there"));
        }
    }
    config.hooks.points = points;
    Ok(hooks)
}
