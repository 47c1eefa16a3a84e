//! The definition of a tool of the host's own by a folder: a `tool.toml` with what the model reads,
//! and the WASI module that carries it out. The format is in `docs/custom-tools.md`.

use super::own_tools::OwnTool;
use innerloop_core::{config::ConfigError, json::Json, schema, tool::ToolSpec};
use innerloop_sandbox::{ModuleError, RegisteredModule, RunLimits, toml_place::place};
use innerloop_workspace::plain_file;
use serde::Deserialize;
use std::{
    io::{self, Read},
    path::{Component, Path, PathBuf},
};
use toml::{Table, Value};

/// The name of the file that defines a tool.
const FILE: &str = "tool.toml";
/// The largest number of bytes of that file.
const MAX_BYTES: u64 = 1 << 20;
/// The largest limit, in MiB.
const MAX_MIB: u64 = 1 << 20;

/// The content of the file that defines a tool.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolDefinition {
    name: String,
    description: String,
    /// The module's path in the folder.
    module: String,
    #[serde(default)]
    read_only: bool,
    /// Its output comes from elsewhere, such as the web.
    #[serde(default)]
    untrusted: bool,
    /// The arguments that name files or folders.
    #[serde(default)]
    paths: Vec<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    limits: OwnLimits,
    /// The schema of the arguments.
    #[serde(default = "no_arguments")]
    parameters: Table,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct OwnLimits {
    timeout_ms: Option<u64>,
    memory_mib: Option<u64>,
    output_mib: Option<u64>,
    disk_mib: Option<u64>,
}

/// The reason why a folder is not a tool.
#[derive(Debug, thiserror::Error)]
#[error("cannot use {}: {problem}", path.display())]
pub struct DefinitionError {
    /// The definition, or what was given in its place.
    path: PathBuf,
    problem: DefinitionFileError,
}

#[derive(Debug, thiserror::Error)]
enum DefinitionFileError {
    #[error("give a tool's folder, or the `{FILE}` in it")]
    NoDefinition,
    #[error("{0}")]
    Unreadable(io::Error),
    #[error("{0}; a tool's folder has a `{FILE}`")]
    Missing(io::Error),
    #[error("it has more than {MAX_BYTES} bytes")]
    TooLong,
    #[error("{0}")]
    Toml(String),
    #[error("{0}")]
    Field(ConfigError),
    #[error("{field}: JSON, in which the model reads a schema, has no {kind}")]
    NoJson { field: String, kind: &'static str },
    #[error("{field}: a limit is at most {MAX_MIB} MiB")]
    TooMuch { field: &'static str },
    #[error("module: {0:?} must be the path of a file in the tool's folder")]
    Outside(String),
    #[error("module: {0}; build it, and copy it into the tool's folder")]
    Module(ModuleError),
}

impl OwnTool {
    /// Reads the tool that a folder holds, by the folder or by the `tool.toml` in it. The module is
    /// read, but not compiled yet.
    ///
    /// # Errors
    /// [`DefinitionError`] if the definition or the module can't be read, or a field does not fit.
    pub fn define(path: &Path) -> Result<Self, DefinitionError> {
        let file = if path.is_dir() { path.join(FILE) } else { path.to_owned() };
        define(&file).map_err(|problem| DefinitionError { path: file, problem })
    }
}

fn define(file: &Path) -> Result<OwnTool, DefinitionFileError> {
    let text = read(file)?;
    let definition =
        toml::from_str(&text).map_err(|error| DefinitionFileError::Toml(place(&text, &error)))?;
    let ToolDefinition { name, description, module, args, limits, .. } = definition;
    let spec = ToolSpec {
        read_only: definition.read_only,
        untrusted: definition.untrusted,
        timeout_ms: limits.timeout_ms,
        paths: definition.paths,
        ..ToolSpec::new(name, description, json_of(definition.parameters)?)
    };
    // The session would refuse the specification, too, but could not name the file.
    schema::of_tool(&spec).map_err(DefinitionFileError::Field)?;
    let limits = limits.over(RunLimits::default())?;
    let module = inside(file, &module).ok_or(DefinitionFileError::Outside(module))?;
    let module = RegisteredModule::open(&spec.name, module).map_err(DefinitionFileError::Module)?;
    Ok(OwnTool::module(spec, module, args).with_limits(limits))
}

fn read(file: &Path) -> Result<String, DefinitionFileError> {
    if file.file_name().is_none_or(|name| name != FILE) {
        return Err(DefinitionFileError::NoDefinition);
    }
    // Only a plain file: a pipe of this name would block the start.
    let opened = plain_file::open(file).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => DefinitionFileError::Missing(error),
        _ => DefinitionFileError::Unreadable(error),
    })?;
    let mut text = String::new();
    opened
        .take(MAX_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(DefinitionFileError::Unreadable)?;
    if u64::try_from(text.len()).is_ok_and(|length| length <= MAX_BYTES) {
        Ok(text)
    } else {
        Err(DefinitionFileError::TooLong)
    }
}

/// Returns the module's file, if its path stays in the folder.
fn inside(file: &Path, module: &str) -> Option<PathBuf> {
    let path = Path::new(module);
    let is_plain = |step| matches!(step, Component::Normal(_) | Component::CurDir);
    let stays = path.file_name().is_some() && path.components().all(is_plain);
    stays.then(|| file.parent().unwrap_or(Path::new("")).join(path))
}

/// Returns the schema of a tool without arguments.
fn no_arguments() -> Table {
    Table::from_iter([("type".to_owned(), Value::from("object"))])
}

/// Returns a schema's JSON, with its fields in the order of the file.
fn json_of(table: Table) -> Result<Json, DefinitionFileError> {
    let value = Value::Table(table);
    check_json(&value, &mut vec!["parameters".to_owned()])?;
    let refused = |words: String| DefinitionFileError::Toml(format!("parameters: {words}"));
    let text = serde_json::to_string(&value).map_err(|error| refused(error.to_string()))?;
    Json::parse(text).map_err(|error| refused(error.to_string()))
}

/// Checks that a value has nothing that JSON lacks.
fn check_json(value: &Value, path: &mut Vec<String>) -> Result<(), DefinitionFileError> {
    let refused = |kind| Err(DefinitionFileError::NoJson { field: path.join("."), kind });
    match value {
        Value::Datetime(_) => refused("dates; write it as a text"),
        Value::Float(number) if !number.is_finite() => refused("`inf` and `nan`"),
        Value::Table(table) => table.iter().try_for_each(|(name, value)| within(name, value, path)),
        Value::Array(items) => {
            let mut items = items.iter().enumerate();
            items.try_for_each(|(at, value)| within(&at.to_string(), value, path))
        }
        _ => Ok(()),
    }
}

fn within(name: &str, value: &Value, path: &mut Vec<String>) -> Result<(), DefinitionFileError> {
    path.push(name.to_owned());
    check_json(value, path)?;
    path.pop();
    Ok(())
}

impl OwnLimits {
    fn over(&self, standard: RunLimits) -> Result<RunLimits, DefinitionFileError> {
        let bytes = |field, mib: Option<u64>, standard| match mib {
            Some(mib) if mib > MAX_MIB => Err(DefinitionFileError::TooMuch { field }),
            Some(mib) => Ok(mib << 20),
            None => Ok(standard),
        };
        let memory = u64::try_from(standard.memory_bytes).unwrap_or(u64::MAX);
        let memory = bytes("limits.memory_mib", self.memory_mib, memory)?;
        Ok(RunLimits {
            memory_bytes: usize::try_from(memory).unwrap_or(usize::MAX),
            output_bytes: bytes("limits.output_mib", self.output_mib, standard.output_bytes)?,
            disk_bytes: bytes("limits.disk_mib", self.disk_mib, standard.disk_bytes)?,
            ..standard
        })
    }
}
