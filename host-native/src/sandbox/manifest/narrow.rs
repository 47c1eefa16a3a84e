//! What a project's file may say of a program: less of everything.

use super::{
    entry::{Entry, ProgramLimits},
    error::Problem,
    file::Tool,
};
use crate::sandbox::limits::Limits;

impl Tool {
    /// Narrows what is known of a program.
    pub(super) fn narrow(self, name: &str, known: &mut Entry) -> Result<(), Problem> {
        let wrong = |field, words: &str| Problem::Field {
            name: name.to_owned(),
            field,
            words: words.to_owned(),
        };
        if let Some(field) = self.adds() {
            let words = "a project's file may only narrow: enabled, folder and limits";
            return Err(wrong(field, words));
        }
        if self.enabled == Some(true) && !known.enabled {
            return Err(wrong("enabled", "the program is turned off by the user"));
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
            known.limits = lower(known.limits, limits).map_err(|limit| {
                let words = format!("{limit} is more than the program may have");
                wrong("limits", &words)
            })?;
        }
        known.enabled &= self.enabled.unwrap_or(true);
        Ok(())
    }

    /// A field that says more than how narrow it is to be.
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

/// The lower ones; the name of one that is not.
fn lower(known: ProgramLimits, asked: ProgramLimits) -> Result<ProgramLimits, &'static str> {
    let standard = Limits::default();
    let mib = |bytes: u64| Some(bytes >> 20);
    let memory = u64::try_from(standard.memory_bytes).unwrap_or(u64::MAX);
    let lower = |known: Option<u64>, otherwise: Option<u64>, asked: Option<u64>, name| {
        let most = known.or(otherwise);
        match (asked, most) {
            (Some(asked), Some(most)) if asked > most => Err(name),
            (asked, _) => Ok(asked.or(known)),
        }
    };
    Ok(ProgramLimits {
        timeout_ms: lower(known.timeout_ms, None, asked.timeout_ms, "timeout_ms")?,
        memory_mib: lower(known.memory_mib, mib(memory), asked.memory_mib, "memory_mib")?,
        output_mib: {
            let standard = mib(standard.output_bytes);
            lower(known.output_mib, standard, asked.output_mib, "output_mib")?
        },
        disk_mib: lower(known.disk_mib, mib(standard.disk_bytes), asked.disk_mib, "disk_mib")?,
    })
}
