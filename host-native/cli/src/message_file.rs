//! The file for the final message: checked before the run, so that a wrong name costs no work, and
//! replaced as a whole when the run is over, so that nobody ever reads half of a message.

use super::exit::{CliError, ExitReason};
use innerloop_workspace::platform::permissions;
use std::{
    fs::{self, OpenOptions, Permissions},
    io::{self, Write as _},
    path::{Path, PathBuf},
};
use tempfile::{Builder, NamedTempFile};

/// The mode of a new file, before the user's mask applies. Temporary files are private by default,
/// which the message's file should not be.
const MODE: u32 = 0o666;

/// The destination of the final message.
#[derive(Debug)]
pub(super) struct MessageFile {
    /// The name that the user has given.
    name: PathBuf,
    /// The path without links: a link's target is replaced, not the link.
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
    /// Checks that the file can be written.
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
            // A trial: the temporary file is removed at once.
            file.begin().map_err(|error| unusable(&error))?;
        }
        Ok(file)
    }

    /// Returns the file's path, without links.
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

    /// Creates an empty file beside the final one: a rename works only within one file system.
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

/// Returns the path of a file that does not exist yet, with its folder free of links.
fn place_of(name: &Path) -> io::Result<PathBuf> {
    let last = name.file_name().ok_or_else(|| io::Error::other("it names no file"))?;
    let folder = name.parent().filter(|folder| !folder.as_os_str().is_empty());
    Ok(fs::canonicalize(folder.unwrap_or_else(|| Path::new(".")))?.join(last))
}
