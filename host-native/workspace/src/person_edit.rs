//! Changes that a person makes without a tool, such as an undo: a file gets a text, or is removed.
//! They go through the same checks as those of guests.

use super::{EntryKind, Workspace};
use crate::platform::{Errno, Result};
use std::{io::Write as _, path::Path};

impl Workspace {
    /// Writes a text to the plain file that a path names, and creates the folders above it if they
    /// are missing; without a text, removes the file.
    pub fn put(&self, path: &str, text: Option<&str>) -> Result<()> {
        let top = Path::new("");
        let real = self.follow((top, top), path, true)?;
        // There is no run here whose recorder would touch the file before it changes.
        self.note(&real);
        let Some(text) = text else { return self.remove_file(&real) };
        let above: Vec<&Path> = real.ancestors().skip(1).collect();
        for folder in above.into_iter().rev().filter(|folder| *folder != top) {
            match self.stat(folder) {
                Ok(stat) if stat.kind == EntryKind::Folder => {}
                Ok(_) => return Err(Errno::NOTDIR),
                Err(_) => self.create_folder(folder)?,
            }
        }
        let (draft, mut file) = self.draft(&real)?;
        let failed = |error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
        file.write_all(text.as_bytes()).map_err(failed)?;
        self.settle(draft, &file)
    }
}
