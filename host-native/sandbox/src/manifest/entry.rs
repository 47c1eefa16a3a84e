//! What is known of one program.

use crate::{install::PackageSpec, limits::RunLimits};
use std::{collections::BTreeMap, time::Duration};

/// The entry of a manifest for one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestEntry {
    /// The name and the version of the program: `CPython 3.12.0`.
    pub version: String,
    /// Its licences, as SPDX writes them.
    pub licence: String,
    /// The description of the program for the model.
    pub description: String,
    /// The source from which the program can be installed.
    pub source: Option<ProgramSource>,
    /// The SHA-256 of its module, in hex; any file may have its name if it is not said.
    pub sha_256: Option<String>,
    /// The names it is run by; its own if nothing is said. Each is its first argument.
    pub commands: Vec<String>,
    /// Those of its commands that plan jobs, which `-###` makes them tell.
    pub drivers: Vec<String>,
    /// Further files of the package, which it sees beside the folder.
    pub assets: Vec<ProgramAsset>,
    /// Variables that it is given.
    pub env: BTreeMap<String, String>,
    /// The access of the program to the folder.
    pub folder: FolderAccess,
    /// The limits of the program.
    pub limits: ProgramLimits,
    /// The highest limits that a project allows.
    pub most: ProgramLimits,
    /// True if it may be run.
    pub enabled: bool,
}

/// The source of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramSource {
    /// The package.
    pub package: PackageSpec,
    /// The module's path in it.
    pub file: String,
}

/// An archive whose files a program sees beside the folder, and can't change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramAsset {
    /// The path, in the package, of a tar archive.
    pub file: String,
    /// The SHA-256 of the archive, in hex.
    pub sha_256: String,
    /// The path at which the program sees the archive's files: `/usr`.
    pub guest: String,
}

/// The access of a program to the folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum FolderAccess {
    /// Nothing.
    None,
    /// It can read it.
    ReadOnly,
    /// It can change it, as far as guests may.
    #[default]
    ReadWrite,
}

/// The limits of a program, where they differ from those of all programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramLimits {
    /// The time that it may run, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// Most linear memory, in MiB.
    pub memory_mib: Option<u64>,
    /// Most output, in MiB.
    pub output_mib: Option<u64>,
    /// Most that is written to files, in MiB.
    pub disk_mib: Option<u64>,
}

impl ManifestEntry {
    /// Of a program of which nothing is known but its name.
    #[must_use]
    pub fn unknown(name: &str) -> Self {
        Self {
            version: String::new(),
            licence: String::new(),
            description: "a WASI program that the user installed; try `--help`".to_owned(),
            source: None,
            sha_256: None,
            commands: vec![name.to_owned()],
            drivers: Vec::new(),
            assets: Vec::new(),
            env: BTreeMap::new(),
            folder: FolderAccess::ReadWrite,
            limits: ProgramLimits::default(),
            most: ProgramLimits::default(),
            enabled: true,
        }
    }

    /// Returns what the model is told of it.
    #[must_use]
    pub fn told(&self) -> String {
        let about: Vec<&str> =
            [&*self.version, &*self.licence].into_iter().filter(|text| !text.is_empty()).collect();
        match about.is_empty() {
            true => self.description.clone(),
            false => format!("{} ({})", self.description, about.join(", ")),
        }
    }
}

impl ProgramLimits {
    /// These, and the sandbox's own where nothing is said.
    pub(crate) fn over(self, standard: RunLimits) -> RunLimits {
        let bytes = |mib: u64| mib.saturating_mul(1 << 20);
        let size = |mib| usize::try_from(bytes(mib)).unwrap_or(usize::MAX);
        RunLimits {
            memory_bytes: self.memory_mib.map_or(standard.memory_bytes, size),
            output_bytes: self.output_mib.map_or(standard.output_bytes, bytes),
            disk_bytes: self.disk_mib.map_or(standard.disk_bytes, bytes),
            ..standard
        }
    }

    /// The lower ones of these and others.
    pub(crate) fn under(self, others: RunLimits) -> RunLimits {
        let RunLimits { memory_bytes, output_bytes, disk_bytes, .. } = self.over(others);
        RunLimits {
            memory_bytes: memory_bytes.min(others.memory_bytes),
            output_bytes: output_bytes.min(others.output_bytes),
            disk_bytes: disk_bytes.min(others.disk_bytes),
            ..others
        }
    }

    /// Returns how long it may run where a call says so.
    pub(crate) fn time(self, asked: Duration) -> Duration {
        self.timeout_ms.map_or(asked, |limit| asked.min(Duration::from_millis(limit)))
    }
}
