//! The file for the final message: looked at before the run, so that no work is lost for a wrong
//! name, and put in the place of what was there when the run is over.

use super::exit::{CliError, ExitReason};
use innerloop_workspace::platform::permissions;
use std::{
    fs::{self, OpenOptions, Permissions},
    io::{self, Write as _},
    path::{Path, PathBuf},
};
use tempfile::{Builder, NamedTempFile};

/// The mode of a new file, less what the user's mask takes away.
const MODE: u32 = 0o666;

/// The destination of the final message.
#[derive(Debug)]
pub(super) struct MessageFile {
    /// As the user has named it.
    name: PathBuf,
    /// Without links.
    path: PathBuf,
    kind: MessageFileKind,
}

#[derive(Debug)]
enum MessageFileKind {
    /// Nothing is there yet.
    New,
    /// A plain file, whose mode is kept.
    File(Permissions),
    /// A pipe or a device, which is written to as it is.
    Stream,
}

impl MessageFile {
    /// Looks whether that file can be written.
    ///
    /// # Errors
    /// It is a folder, or can't be made or replaced.
    pub(super) fn check(name: &Path) -> Result<Self, CliError> {
        let unusable = |why: &dyn std::fmt::Display| {
            CliError::usage(format!("--output {}: {why}", name.display()))
        };
        if name == Path::new("-") {
            return Err(unusable(&"the final message goes to standard output anyway; name a file"));
        }
        let found = match fs::metadata(name) {
            Ok(found) => Some(found),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(unusable(&error)),
        };
        let (path, kind) = match found {
            Some(found) if found.is_dir() => return Err(unusable(&"it is a folder; name a file")),
            Some(found) => {
                let path = fs::canonicalize(name).map_err(|error| unusable(&error))?;
                let is_file = found.is_file();
                (
                    path,
                    if is_file {
                        MessageFileKind::File(found.permissions())
                    } else {
                        MessageFileKind::Stream
                    },
                )
            }
            None => (place_of(name).map_err(|error| unusable(&error))?, MessageFileKind::New),
        };
        let file = Self { name: name.to_owned(), path, kind };
        if !matches!(file.kind, MessageFileKind::Stream) {
            // It goes away at once.
            file.begin().map_err(|error| unusable(&error))?;
        }
        Ok(file)
    }

    /// The file, without links.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the message, with a line feed at its end.
    ///
    /// # Errors
    /// It can't be written; what was there stays.
    pub(super) fn write(&self, message: &str) -> Result<(), CliError> {
        let text = format!("{}\n", message.trim_end());
        self.put(text.as_bytes()).map_err(|error| {
            let name = self.name.display();
            let why = format!("cannot write the final message to {name}: {error}");
            CliError::new(ExitReason::Failed, why)
        })
    }

    fn put(&self, text: &[u8]) -> io::Result<()> {
        if matches!(self.kind, MessageFileKind::Stream) {
            return OpenOptions::new().write(true).open(&self.path)?.write_all(text);
        }
        let mut file = self.begin()?;
        file.write_all(text)?;
        if let MessageFileKind::File(permissions) = &self.kind {
            file.as_file().set_permissions(permissions.clone())?;
        }
        file.persist(&self.path)?;
        Ok(())
    }

    /// An empty file beside the one that it becomes.
    fn begin(&self) -> io::Result<NamedTempFile> {
        let folder = self.path.parent().unwrap_or_else(|| Path::new("/"));
        let mut builder = Builder::new();
        let mode = permissions(MODE);
        if let Some(mode) = mode {
            builder.permissions(mode);
        }
        builder.prefix(".innerloop-").tempfile_in(folder)
    }
}

/// Returns where a file that is not there yet would be, its folder without links.
fn place_of(name: &Path) -> io::Result<PathBuf> {
    let last = name.file_name().ok_or_else(|| io::Error::other("it names no file"))?;
    let folder = name.parent().filter(|folder| !folder.as_os_str().is_empty());
    Ok(fs::canonicalize(folder.unwrap_or_else(|| Path::new(".")))?.join(last))
}
