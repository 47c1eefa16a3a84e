//! The user's own tools, from the folders of `--tool`: read, filtered and compiled before the model
//! is asked, so that a broken one costs nothing.

use super::{console::warn, exit::CliError};
use innerloop_host::tools::OwnTool;
use innerloop_sandbox::Executor;
use std::{collections::BTreeMap, path::PathBuf};

/// Reads the definitions. Two tools of the same name are an error.
pub(super) fn read(folders: &[PathBuf]) -> Result<Vec<OwnTool>, CliError> {
    let mut seen = BTreeMap::new();
    let mut tools = Vec::new();
    for folder in folders {
        let tool = OwnTool::define(folder).map_err(CliError::configuration)?;
        if let Some(other) = seen.insert(tool.spec().name.clone(), folder) {
            let (name, folder, other) = (&tool.spec().name, folder.display(), other.display());
            let message = format!("{other} and {folder} both define the tool {name}; rename one");
            return Err(CliError::configuration(message));
        }
        tools.push(tool);
    }
    Ok(tools)
}

/// Returns the tools that only read, with a warning about each of the others.
pub(super) fn that_only_read(tools: Vec<OwnTool>) -> Vec<OwnTool> {
    let (reading, others): (Vec<_>, Vec<_>) =
        tools.into_iter().partition(|tool| tool.spec().read_only);
    for other in others {
        let name = &other.spec().name;
        warn(&format!("--read-only: the tool {name} is left out, since it is not read_only"));
    }
    reading
}

/// Compiles or loads their modules.
pub(super) async fn prepare(tools: &[OwnTool], sandbox: &Executor) -> Result<(), CliError> {
    for tool in tools {
        let Some(module) = tool.as_module() else { continue };
        sandbox.prepare_module(module).await.map_err(|error| {
            let name = &tool.spec().name;
            CliError::configuration(format!("the tool {name} can't be run: {error}"))
        })?;
    }
    Ok(())
}
