//! A tool of the host's own by its definition: a JSON file that says what the model is told, and
//! which WASI module carries it out.

use super::own::OwnTool;
use crate::sandbox::{Limits, Module, ModuleError};
use innerloop_core::{config::ConfigError, json::Json, schema, tool::ToolSpec};
use innerloop_json::{FromJson, from_str};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// What the file says. Its JSON is in `docs/sandbox.md#own-tools`.
#[derive(FromJson)]
#[json(deny_unknown_fields)]
struct Definition {
    name: String,
    description: String,
    parameters: Json,
    #[json(default)]
    read_only: bool,
    /// The module's path, from the file's folder on.
    module: String,
    #[json(default)]
    args: Vec<String>,
    #[json(default)]
    limits: OwnLimits,
}

#[derive(Default, FromJson)]
#[json(default, deny_unknown_fields)]
struct OwnLimits {
    timeout_ms: Option<u64>,
    memory_bytes: Option<u64>,
    output_bytes: Option<u64>,
    disk_bytes: Option<u64>,
}

/// Why a definition makes no tool.
#[derive(Debug, thiserror::Error)]
#[error("cannot use {}: {problem}", path.display())]
pub struct DefinitionError {
    /// The file.
    path: PathBuf,
    problem: Problem,
}

#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error(transparent)]
    Unreadable(io::Error),
    #[error(transparent)]
    Json(innerloop_json::Error),
    #[error(transparent)]
    Field(ConfigError),
    #[error("module: {0}")]
    Module(ModuleError),
}

impl OwnTool {
    /// The tool that a file defines. The module is read, not compiled yet.
    ///
    /// # Errors
    /// [`DefinitionError`] if the file or the module can't be read, or a field does not fit.
    pub fn define(path: &Path) -> Result<Self, DefinitionError> {
        define(path).map_err(|problem| DefinitionError { path: path.to_owned(), problem })
    }
}

fn define(path: &Path) -> Result<OwnTool, Problem> {
    let text = fs::read_to_string(path).map_err(Problem::Unreadable)?;
    let definition: Definition = from_str(&text).map_err(Problem::Json)?;
    let Definition { name, description, parameters, read_only, module, args, limits } = definition;
    let timeout_ms = limits.timeout_ms;
    let spec = ToolSpec { name, description, parameters, read_only, timeout_ms, freeform: None };
    schema::of_tool(&spec).map_err(Problem::Field)?;
    let module = path.parent().unwrap_or(Path::new("")).join(module);
    let module = Module::open(&spec.name, module).map_err(Problem::Module)?;
    Ok(OwnTool::module(spec, module, args).with_limits(limits.over(Limits::default())))
}

impl OwnLimits {
    fn over(self, standard: Limits) -> Limits {
        let bytes = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        Limits {
            memory_bytes: self.memory_bytes.map_or(standard.memory_bytes, bytes),
            output_bytes: self.output_bytes.unwrap_or(standard.output_bytes),
            disk_bytes: self.disk_bytes.unwrap_or(standard.disk_bytes),
            ..standard
        }
    }
}
