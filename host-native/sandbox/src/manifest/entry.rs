//! The entry of one program in a manifest: its identity, its source and its permissions. The fields
//! are checked already; the file as it is written is in [`file`](super::file).

use crate::{install::PackageSpec, limits::RunLimits};
use std::{collections::BTreeMap, time::Duration};

/// The entry of a manifest for one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestEntry {
    /// The name and the version of the program: `CPython 3.12.0`.
    pub version: String,
    /// The program's licences, as an SPDX expression.
    pub licence: String,
    /// The description of the program for the model.
    pub description: String,
    /// The source from which the program can be installed.
    pub source: Option<ProgramSource>,
    /// The SHA-256 of the module, in hex; without one, any file may have the name.
    pub sha_256: Option<String>,
    /// The names that run the program; its own by default. The program gets the name as its first
    /// argument.
    pub commands: Vec<String>,
    /// The commands that are drivers, which list their jobs with `-###`.
    pub drivers: Vec<String>,
    /// Further files of the package, which the program sees beside the folder.
    pub assets: Vec<ProgramAsset>,
    /// Environment variables besides those of every program.
    pub env: BTreeMap<String, String>,
    /// The access of the program to the folder.
    pub folder: FolderAccess,
    /// The limits of the program.
    pub limits: ProgramLimits,
    /// The highest limits that a project allows.
    pub most: ProgramLimits,
    /// True if the program may be run.
    pub enabled: bool,
}

/// The source of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramSource {
    /// The package.
    pub package: PackageSpec,
    /// The path of the module in the package.
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

/// The access of a program to the folder, in ascending order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum FolderAccess {
    /// The program does not see the folder.
    None,
    /// The program can read the folder.
    ReadOnly,
    /// The program can change the folder, as far as guests may.
    #[default]
    ReadWrite,
}

/// The limits of a program, where they differ from those of all programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramLimits {
    /// The longest run, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// The most linear memory, in MiB.
    pub memory_mib: Option<u64>,
    /// The most output, in MiB.
    pub output_mib: Option<u64>,
    /// The most that is written to files, in MiB.
    pub disk_mib: Option<u64>,
}

impl ManifestEntry {
    /// The entry of a program that is known by nothing but its name.
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

    /// The description for the model, with version and licence.
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
    /// These limits, with `standard` for those that are not set.
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

    /// The lower ones of these limits and others.
    pub(crate) fn under(self, others: RunLimits) -> RunLimits {
        let RunLimits { memory_bytes, output_bytes, disk_bytes, .. } = self.over(others);
        RunLimits {
            memory_bytes: memory_bytes.min(others.memory_bytes),
            output_bytes: output_bytes.min(others.output_bytes),
            disk_bytes: disk_bytes.min(others.disk_bytes),
            ..others
        }
    }

    /// The time that the program may run where a call asks for `asked`.
    pub(crate) fn time(self, asked: Duration) -> Duration {
        self.timeout_ms.map_or(asked, |limit| asked.min(Duration::from_millis(limit)))
    }
}
