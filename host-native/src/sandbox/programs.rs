//! The registry of programs for `run_program`: a folder of `NAME.wasm` files, each a WASI
//! preview 1 command. A program with a known name is checked and described.

use super::engine::{Guest, ModuleError, Source};
use crate::digest::Digest;
use innerloop_core::config::ProgramFacts;
use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// A program that is known by its name.
struct Known {
    name: &'static str,
    sha_256: &'static str,
    licence: &'static str,
    version: &'static str,
    description: &'static str,
}

const KNOWN: &[Known] = &[Known {
    name: "qjs",
    sha_256: "f9742952f9989b1558c4a79bedfb351d6ca33ff22a41e886517cae5196e6d783",
    licence: "MIT",
    version: "QuickJS-ng 0.11",
    description: "runs JavaScript: `qjs FILE.js`, or `qjs -m FILE.mjs` for a module; \
                  `import * as std from 'qjs:std'` reads files",
}];

/// The programs that can be run. Clones are cheap enough for one per executor.
#[derive(Clone, Debug, Default)]
pub struct Programs {
    folder: Option<PathBuf>,
    all: BTreeMap<String, Program>,
}

#[derive(Clone, Debug)]
struct Program {
    path: PathBuf,
    digest: OnceLock<Digest>,
}

/// Why a registry can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ProgramsError {
    /// The folder can't be listed.
    #[error("can't read the programs' folder {}: {error}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A program that is known by its name has other bytes.
    #[error(
        "{} is not {version}: its SHA-256 is {found}, expected {expected}; \
         replace the file, or rename it if it is another program",
        path.display()
    )]
    Digest {
        /// The file.
        path: PathBuf,
        /// What the name stands for.
        version: &'static str,
        /// The file's digest.
        found: Digest,
        /// The digest of the known program.
        expected: &'static str,
    },
    /// A program's file can't be read.
    #[error("{0}")]
    Unreadable(ModuleError),
}

impl Programs {
    /// Opens the first of: `explicit`, the folder in `INNERLOOP_PROGRAMS`, `programs` beside the
    /// running program, `$XDG_DATA_HOME/innerloop/programs` (or `~/.local/share/…`). The last
    /// two may be missing; without any there are no programs.
    ///
    /// # Errors
    /// [`ProgramsError`] if the folder can't be read, or a known program has other bytes.
    pub fn find(explicit: Option<&Path>) -> Result<Self, ProgramsError> {
        if let Some(folder) = explicit {
            return Self::open(folder);
        }
        if let Some(folder) = set("INNERLOOP_PROGRAMS") {
            return Self::open(&folder);
        }
        let beside =
            std::env::current_exe().ok().and_then(|exe| Some(exe.parent()?.join("programs")));
        let data = set("XDG_DATA_HOME")
            .filter(|data| data.is_absolute())
            .or_else(|| Some(std::env::home_dir()?.join(".local").join("share")))
            .map(|data| data.join("innerloop").join("programs"));
        match beside.into_iter().chain(data).find(|folder| folder.is_dir()) {
            Some(folder) => Self::open(&folder),
            None => Ok(Self::default()),
        }
    }

    /// Opens a folder of `NAME.wasm` files.
    ///
    /// # Errors
    /// [`ProgramsError`] if the folder can't be read, or a known program has other bytes.
    pub fn open(folder: &Path) -> Result<Self, ProgramsError> {
        let unreadable = |error| ProgramsError::Folder { path: folder.to_path_buf(), error };
        let mut all = BTreeMap::new();
        for entry in fs::read_dir(folder).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            let Some(name) = program_name(&path) else { continue };
            let program = Program { path, digest: OnceLock::new() };
            if let Some(known) = known(&name) {
                program.check(known)?;
            }
            all.insert(name, program);
        }
        Ok(Self { folder: Some(folder.to_path_buf()), all })
    }

    /// The folder that was opened, if there is one.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// What the model is told of the programs, by name.
    #[must_use]
    pub fn facts(&self) -> Vec<ProgramFacts> {
        let facts = |name: &String| ProgramFacts {
            name: name.clone(),
            description: known(name).map_or_else(
                || "a WASI program that the user installed; try `--help`".to_owned(),
                |known| format!("{} ({}, {})", known.description, known.version, known.licence),
            ),
        };
        self.all.keys().map(facts).collect()
    }

    /// The programs' names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.all.keys().map(String::as_str)
    }

    /// The program of this name, ready for the engine; `None` if there is none.
    ///
    /// # Errors
    /// [`ModuleError`] if its file can't be read.
    pub(crate) fn guest(&self, name: &str) -> Result<Option<Guest>, ModuleError> {
        let Some(program) = self.all.get(name) else { return Ok(None) };
        let digest = program.digest()?;
        let source = Source::File(program.path.clone());
        Ok(Some(Guest { name: name.to_owned(), digest, source }))
    }
}

impl Program {
    fn digest(&self) -> Result<Digest, ModuleError> {
        if let Some(digest) = self.digest.get() {
            return Ok(*digest);
        }
        let digest = Digest::of(&Source::File(self.path.clone()).read()?);
        Ok(*self.digest.get_or_init(|| digest))
    }

    fn check(&self, known: &'static Known) -> Result<(), ProgramsError> {
        let found = self.digest().map_err(ProgramsError::Unreadable)?;
        if found.to_string() == known.sha_256 {
            return Ok(());
        }
        Err(ProgramsError::Digest {
            path: self.path.clone(),
            version: known.version,
            found,
            expected: known.sha_256,
        })
    }
}

fn known(name: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.name == name)
}

/// `NAME` of a file `NAME.wasm`.
fn program_name(path: &Path) -> Option<String> {
    let wasm = path.extension().and_then(OsStr::to_str) == Some("wasm");
    if wasm && path.is_file() { Some(path.file_stem()?.to_str()?.to_owned()) } else { None }
}

fn set(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}
