//! The narrowing of a program's entry by a project's file, which may take permissions away and
//! never add one. A file that tries to add something is refused as a whole.

use super::{
    entry::{ManifestEntry, ProgramLimits},
    error::ManifestFileError,
    file::ToolTable,
};
use crate::limits::RunLimits;

impl ToolTable {
    /// Narrows the entry of a program.
    ///
    /// # Errors
    /// [`ManifestFileError::Field`] with a field that adds something.
    pub(super) fn narrow(
        self,
        name: &str,
        known: &mut ManifestEntry,
    ) -> Result<(), ManifestFileError> {
        let wrong = |field, words: &str| ManifestFileError::Field {
            name: name.to_owned(),
            field,
            words: words.to_owned(),
        };
        if let Some(field) = self.adds() {
            let words = "a project's file may only narrow: enabled, folder and limits";
            return Err(wrong(field, words));
        }
        if let Some(folder) = self.folder {
            let folder = folder.read();
            if folder > known.folder {
                return Err(wrong("folder", "the program may see less than that"));
            }
            known.folder = folder;
        }
        if let Some(limits) = self.limits {
            let limits = limits.read().map_err(|words| wrong("limits", &words))?;
            if let Some(limit) = higher(limits, known.limits) {
                let words = format!("{limit} is more than the program may have");
                return Err(wrong("limits", &words));
            }
            // Kept apart from the program's own limits: an embedder may have set lower ones for all
            // programs, which these must not replace.
            known.most = limits;
        }
        // What the user turned off stays off.
        known.enabled &= self.enabled.unwrap_or(true);
        Ok(())
    }

    /// The first field that a project's file must not have.
    fn adds(&self) -> Option<&'static str> {
        let fields = [
            ("version", self.version.is_some()),
            ("licence", self.licence.is_some()),
            ("description", self.description.is_some()),
            ("source", self.source.is_some()),
            ("sha256", self.sha256.is_some()),
            ("commands", self.commands.is_some()),
            ("drivers", self.drivers.is_some()),
            ("assets", self.assets.is_some()),
            ("env", self.env.is_some()),
        ];
        fields.into_iter().find(|(_, is_said)| *is_said).map(|(field, _)| field)
    }
}

/// The name of a limit that is higher than the program's, or than that of all programs.
fn higher(asked: ProgramLimits, known: ProgramLimits) -> Option<&'static str> {
    let standard = RunLimits::default();
    let memory = u64::try_from(standard.memory_bytes).unwrap_or(u64::MAX);
    let mib = |known: Option<u64>, bytes: u64| Some(known.unwrap_or(bytes >> 20));
    let limits = [
        // Without a limit of its own, the time of a program is that of each call.
        ("timeout_ms", asked.timeout_ms, known.timeout_ms),
        ("memory_mib", asked.memory_mib, mib(known.memory_mib, memory)),
        ("output_mib", asked.output_mib, mib(known.output_mib, standard.output_bytes)),
        ("disk_mib", asked.disk_mib, mib(known.disk_mib, standard.disk_bytes)),
    ];
    let is_higher = |(_, asked, most): &(_, Option<u64>, Option<u64>)| {
        asked.zip(*most).is_some_and(|(asked, most)| asked > most)
    };
    limits.into_iter().find(is_higher).map(|(name, ..)| name)
}
