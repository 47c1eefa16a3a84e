//! The manifest, `tools.toml`: the programs that are known by name, their sources and their
//! permissions. The file that is embedded here is the first layer, the user's own the second. A
//! project's file is the third and may only narrow, since nobody has vouched for a project. The
//! form is in `docs/programs.md`.

mod entry;
mod error;
mod file;
mod narrow;

pub use entry::{FolderAccess, ManifestEntry, ProgramAsset, ProgramLimits, ProgramSource};
pub use error::ManifestError;

use error::{MAX_BYTES, ManifestFileError};
use file::ManifestFile;
use innerloop_workspace::{
    Workspace, app_dirs, plain_file, platform::Errno, private_files::is_absent,
};
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

/// The first layer, which is embedded.
const STANDARD: &str = include_str!("tools.toml");

/// The path of a project's file in its folder.
pub const IN_PROJECT: &str = ".innerloop/tools.toml";

/// The entries for programs, by their names.
#[derive(Clone, Debug)]
pub struct Manifest {
    entries: BTreeMap<String, ManifestEntry>,
}

/// The text of a project's file, if it has one.
pub(crate) fn in_project(workspace: &Workspace) -> Result<Option<String>, ManifestError> {
    let told = |problem| ManifestError { path: PathBuf::from(IN_PROJECT), problem };
    let top = Path::new("");
    // Only a file that does not exist means no rules. One that can't be read might forbid
    // something, so that it is an error.
    let place = workspace.follow((top, top), IN_PROJECT, true);
    match place.and_then(|place| workspace.stat(&place)) {
        Ok(_) => {}
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(error) => return Err(told(ManifestFileError::Unreadable(error.into()))),
    }
    let bytes =
        workspace.read(IN_PROJECT, MAX_BYTES).ok_or_else(|| told(ManifestFileError::TooLong))?;
    let text = String::from_utf8(bytes);
    let unreadable = |error| told(ManifestFileError::Unreadable(io::Error::other(error)));
    text.map(Some).map_err(unreadable)
}

impl FromIterator<(String, ManifestEntry)> for Manifest {
    fn from_iter<I: IntoIterator<Item = (String, ManifestEntry)>>(entries: I) -> Self {
        Self { entries: entries.into_iter().collect() }
    }
}

impl Manifest {
    /// The embedded manifest.
    ///
    /// # Errors
    /// [`ManifestError`] if the program was built with a file that can't be read.
    pub fn standard() -> Result<Self, ManifestError> {
        let mut manifest = Self { entries: BTreeMap::new() };
        manifest.add(STANDARD, Path::new("the program's own tools.toml"))?;
        Ok(manifest)
    }

    /// The embedded manifest with the user's own file, `tools.toml` in `$XDG_CONFIG_HOME/innerloop`
    /// or `~/.config/innerloop`.
    ///
    /// # Errors
    /// [`ManifestError`] if the user's file can't be read or understood.
    pub fn of_user() -> Result<Self, ManifestError> {
        let mut manifest = Self::standard()?;
        let Some(path) = app_dirs::config().map(|folder| folder.join("tools.toml")) else {
            return Ok(manifest);
        };
        let told = |problem| ManifestError { path: path.clone(), problem };
        match fs::metadata(&path) {
            Err(error) if is_absent(&error) => return Ok(manifest),
            Ok(found) if found.len() > MAX_BYTES => return Err(told(ManifestFileError::TooLong)),
            _ => {}
        }
        let text = plain_file::text(&path, MAX_BYTES);
        let text = text.map_err(|error| told(ManifestFileError::Unreadable(error)))?;
        manifest.add(&text, &path)?;
        Ok(manifest)
    }

    /// Adds a file of the user's. Its fields replace those of programs that are known already.
    ///
    /// # Errors
    /// [`ManifestError`] with the place in the file.
    pub fn add(&mut self, text: &str, path: &Path) -> Result<(), ManifestError> {
        let told = |problem| ManifestError { path: path.to_owned(), problem };
        for (name, tool) in ManifestFile::read(text).map_err(told)?.tool {
            let known = self.entries.remove(&name);
            let entry = tool.over(&name, known, path.parent()).map_err(told)?;
            self.entries.insert(name, entry);
        }
        self.check_commands().map_err(told)
    }

    /// Narrows the manifest to what a project's file allows: it may turn programs off, lower their
    /// limits, and take the folder from them. Programs that are not known here are left alone.
    ///
    /// # Errors
    /// [`ManifestError`] if the file asks for more than is granted.
    pub fn narrow(&mut self, text: &str, path: &Path) -> Result<(), ManifestError> {
        let told = |problem| ManifestError { path: path.to_owned(), problem };
        for (name, tool) in ManifestFile::read(text).map_err(told)?.tool {
            // A project is used on machines with other programs: an unknown one is no mistake, but
            // nothing is added either.
            let Some(known) = self.entries.get_mut(&name) else { continue };
            tool.narrow(&name, known).map_err(told)?;
        }
        Ok(())
    }

    /// Returns whether a program may have that name.
    #[must_use]
    pub fn is_name(name: &str) -> bool {
        file::is_command(name)
    }

    /// The entry of a program, by its own name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&ManifestEntry> {
        self.entries.get(name)
    }

    /// All entries, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ManifestEntry)> {
        self.entries.iter().map(|(name, entry)| (name.as_str(), entry))
    }

    /// The name of the program that a command belongs to.
    #[must_use]
    pub fn of_command(&self, command: &str) -> Option<&str> {
        let mut entries = self.iter();
        entries
            .find(|(_, entry)| entry.commands.iter().any(|it| it == command))
            .map(|(name, _)| name)
    }

    /// Refuses a command of two programs.
    fn check_commands(&self) -> Result<(), ManifestFileError> {
        // Without this, the order of names would decide which of the two programs runs.
        let mut owners = BTreeMap::new();
        for (name, entry) in self.iter() {
            for command in &entry.commands {
                if let Some(owner) = owners.insert(command, name) {
                    let words = format!("{command} is a command of {owner} already");
                    return Err(ManifestFileError::Field {
                        name: name.to_owned(),
                        field: "commands",
                        words,
                    });
                }
            }
        }
        Ok(())
    }
}
