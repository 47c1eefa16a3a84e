//! The user's own tools, from the folders that `--tool` names.

use super::exit::Failure;
use crate::{sandbox::Executor, tools::OwnTool};
use std::{collections::BTreeMap, path::PathBuf};

/// Reads the definitions. Each tool has a name of its own.
pub(super) fn read(folders: &[PathBuf]) -> Result<Vec<OwnTool>, Failure> {
    let mut seen = BTreeMap::new();
    let mut tools = Vec::new();
    for folder in folders {
        let tool = OwnTool::define(folder).map_err(Failure::configuration)?;
        if let Some(other) = seen.insert(tool.spec().name.clone(), folder) {
            let (name, folder, other) = (&tool.spec().name, folder.display(), other.display());
            let message = format!("{other} and {folder} both define the tool {name}; rename one");
            return Err(Failure::configuration(message));
        }
        tools.push(tool);
    }
    Ok(tools)
}

/// Compiles or loads their modules, so that a bad one is told before the model is asked.
pub(super) async fn prepare(tools: &[OwnTool], sandbox: &Executor) -> Result<(), Failure> {
    for tool in tools {
        let Some(module) = tool.as_module() else { continue };
        sandbox.prepare_module(module).await.map_err(|error| {
            let name = &tool.spec().name;
            Failure::configuration(format!("the tool {name} can't be run: {error}"))
        })?;
    }
    Ok(())
}
