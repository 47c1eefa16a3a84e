//! The files that every system has and no workspace: `/dev`, and a file in `/bin` and `/usr/bin`
//! for each command. They stand where the workspace has nothing of that name, and can't be changed.
//! Lists of `/` do not show them.

use crate::devices::{self, Device};
use bashkit::{DirEntry, Error, FileType, Metadata, Result};
use std::{
    collections::BTreeSet,
    fs,
    io::{Error as IoError, ErrorKind},
    path::Path,
    time::SystemTime,
};

/// The folders of commands.
const PROGRAMS: [&str; 2] = ["/bin", "/usr/bin"];

/// Builtins of the shell, which are not programs on any system.
const SHELL_ONLY: [&str; 51] = [
    ".",
    ":",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "cd",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "declare",
    "dirs",
    "disown",
    "enable",
    "eval",
    "exec",
    "exit",
    "export",
    "fc",
    "fg",
    "getopts",
    "hash",
    "help",
    "history",
    "jobs",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "pushd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "times",
    "trap",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "wait",
];

/// A file or folder of the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SystemEntry {
    /// A device of `/dev`.
    Device(Device),
    /// A folder of devices.
    Devices,
    /// A command, by its name.
    Program(String),
    /// A folder of commands.
    Programs,
    /// A folder with a folder of commands in it.
    Above,
}

impl SystemEntry {
    /// Returns what the system has at a normalised path.
    pub(crate) fn at(path: &Path, commands: &BTreeSet<String>) -> Option<Self> {
        if let Some(device) = Device::at(path) {
            return Some(Self::Device(device));
        }
        let text = path.to_str()?;
        let found = match text {
            "/dev" => Self::Devices,
            "/usr" => Self::Above,
            _ if PROGRAMS.contains(&text) => Self::Programs,
            _ => {
                let (folder, name) = text.rsplit_once('/')?;
                let is_program = PROGRAMS.contains(&folder) && commands.contains(name);
                Self::Program(is_program.then(|| name.to_owned())?)
            }
        };
        // Files of the workspace come first, but for devices: no script expects `/dev/null` to be a
        // file of the project.
        fs::symlink_metadata(path).is_err().then_some(found)
    }

    /// Returns the metadata of an entry.
    pub(crate) fn metadata(&self) -> Metadata {
        let (file_type, mode) = match self {
            Self::Device(_) => (FileType::File, 0o666),
            Self::Program(_) => (FileType::File, 0o755),
            Self::Devices | Self::Programs | Self::Above => (FileType::Directory, 0o755),
        };
        let size = if let Self::Program(name) = self { program(name).len() } else { 0 };
        let modified = SystemTime::UNIX_EPOCH;
        let size = u64::try_from(size).unwrap_or(0);
        Metadata { file_type, mode, size, modified, created: modified }
    }

    /// Returns the content of a device or a command's file.
    pub(crate) fn read(&self) -> Result<Vec<u8>> {
        match self {
            Self::Device(device) => Ok(device.read()),
            Self::Program(name) => Ok(program(name).into_bytes()),
            _ => Err(IoError::from(ErrorKind::IsADirectory).into()),
        }
    }

    /// Accepts what is written to a device, and refuses everything else.
    pub(crate) fn write(&self) -> Result<()> {
        match self {
            Self::Device(_) => Ok(()),
            _ => Err(self.refused()),
        }
    }

    /// Returns the entries of a folder.
    pub(crate) fn entries(&self, commands: &BTreeSet<String>) -> Result<Vec<DirEntry>> {
        let entry =
            |name: &str, kind: Self| DirEntry { name: name.to_owned(), metadata: kind.metadata() };
        match self {
            Self::Devices => {
                Ok(devices::ALL.map(|(name, device)| entry(name, Self::Device(device))).into())
            }
            Self::Programs => {
                let all = commands.iter();
                Ok(all.map(|name| entry(name, Self::Program(name.clone()))).collect())
            }
            Self::Above => Ok(vec![entry("bin", Self::Programs)]),
            _ => Err(IoError::from(ErrorKind::NotADirectory).into()),
        }
    }

    /// Returns the error for a change.
    pub(crate) fn refused(&self) -> Error {
        let words = if matches!(self, Self::Device(_)) { "it is a device" } else { "read-only" };
        IoError::new(ErrorKind::PermissionDenied, words).into()
    }
}

/// Returns the names of commands that have a file.
pub(crate) fn programs(commands: Vec<String>) -> BTreeSet<String> {
    let all = commands.into_iter().chain(["bash", "sh"].map(str::to_owned));
    all.filter(|name| !SHELL_ONLY.contains(&name.as_str()) && !name.contains('/')).collect()
}

/// Returns the text by which bashkit recognises a file that stands for a command of its own.
fn program(name: &str) -> String {
    format!("#!/bin/sh\n# bashkit builtin: {name}\nexec {name} \"$@\"\n")
}
