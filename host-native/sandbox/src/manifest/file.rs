//! The file `tools.toml` as it is written, and its translation to entries. Unknown fields are
//! refused, so that a misspelt limit is not a limit that does not hold.

use super::{
    entry::{FolderAccess, ManifestEntry, ProgramAsset, ProgramLimits, ProgramSource},
    error::ManifestFileError,
};
use crate::{install::PackageSpec, toml_place::place};
use serde::Deserialize;
use std::{collections::BTreeMap, path::Path};

/// The largest limit, in MiB. Its bytes fit into 64 bits.
const MAX_MIB: u64 = 1 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ManifestFile {
    schema: u32,
    #[serde(default)]
    pub(super) tool: BTreeMap<String, ToolTable>,
}

/// The table of one program in a file. Fields that are absent leave the known ones as they are.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolTable {
    pub(super) version: Option<String>,
    pub(super) licence: Option<String>,
    pub(super) description: Option<String>,
    pub(super) source: Option<WrittenSource>,
    pub(super) sha256: Option<String>,
    pub(super) commands: Option<Vec<String>>,
    pub(super) drivers: Option<Vec<String>>,
    pub(super) assets: Option<Vec<WrittenAsset>>,
    pub(super) env: Option<BTreeMap<String, String>>,
    pub(super) folder: Option<WrittenFolder>,
    pub(super) limits: Option<WrittenLimits>,
    pub(super) enabled: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenSource {
    pypi: Option<String>,
    npm: Option<String>,
    url: Option<String>,
    path: Option<String>,
    #[serde(default)]
    file: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenAsset {
    file: String,
    sha256: String,
    guest: String,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum WrittenFolder {
    None,
    ReadOnly,
    ReadWrite,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenLimits {
    timeout_ms: Option<u64>,
    memory_mib: Option<u64>,
    output_mib: Option<u64>,
    disk_mib: Option<u64>,
}

impl ManifestFile {
    pub(super) fn read(text: &str) -> Result<Self, ManifestFileError> {
        let file: Self =
            toml::from_str(text).map_err(|error| ManifestFileError::Toml(place(text, &error)))?;
        match file.schema {
            1 => Ok(file),
            other => Err(ManifestFileError::Schema(other)),
        }
    }
}

impl ToolTable {
    /// The entry of a program after a user's file has changed it; relative paths begin in `folder`.
    ///
    /// # Errors
    /// [`ManifestFileError::Field`] with the first field that is wrong.
    pub(super) fn over(
        self,
        name: &str,
        known: Option<ManifestEntry>,
        folder: Option<&Path>,
    ) -> Result<ManifestEntry, ManifestFileError> {
        let wrong =
            |field, words: String| ManifestFileError::Field { name: name.to_owned(), field, words };
        if !is_command(name) {
            return Err(wrong("commands", format!("{name:?} is no name for a command")));
        }
        let is_new_source = self.source.is_some();
        let known = known.unwrap_or_else(|| ManifestEntry::unknown(name));
        let source = self.source.map(|source| source.read(folder));
        let source = source.transpose().map_err(|words| wrong("source", words))?;
        let digest = self.sha256.map(|text| digest(&text)).transpose();
        let sha_256 = digest.map_err(|words| wrong("sha256", words))?;
        // The known digest belongs to the known source: a new source needs a digest of its own.
        if is_new_source && sha_256.is_none() {
            let words = "a program that is fetched is pinned by the SHA-256 of its module".into();
            return Err(wrong("sha256", words));
        }
        let assets = self.assets.map(|assets| assets.into_iter().map(WrittenAsset::read).collect());
        let assets: Option<Vec<ProgramAsset>> =
            assets.transpose().map_err(|words| wrong("assets", words))?;
        if let Some((one, other)) = assets.as_deref().and_then(overlap) {
            return Err(wrong("assets", format!("{one} is in {other}")));
        }
        let commands = self.commands.unwrap_or(known.commands);
        if let Some(odd) = commands.iter().find(|command| !is_command(command)) {
            return Err(wrong("commands", format!("{odd:?} is no name for a command")));
        }
        let drivers = self.drivers.unwrap_or(known.drivers);
        if let Some(odd) = drivers.iter().find(|driver| !commands.contains(driver)) {
            return Err(wrong("drivers", format!("{odd:?} is not one of its commands")));
        }
        let limits = match self.limits {
            Some(limits) => limits.read().map_err(|words| wrong("limits", words))?,
            None => known.limits,
        };
        Ok(ManifestEntry {
            version: self.version.unwrap_or(known.version),
            licence: self.licence.unwrap_or(known.licence),
            description: self.description.unwrap_or(known.description),
            source: source.or(known.source),
            sha_256: sha_256.or(known.sha_256),
            commands,
            drivers,
            assets: assets.unwrap_or(known.assets),
            env: known.env.into_iter().chain(self.env.into_iter().flatten()).collect(),
            folder: self.folder.map_or(known.folder, WrittenFolder::read),
            limits,
            most: known.most,
            enabled: self.enabled.unwrap_or(known.enabled),
        })
    }
}

impl WrittenSource {
    fn read(self, folder: Option<&Path>) -> Result<ProgramSource, String> {
        let Self { pypi, npm, url, path, file } = self;
        let package = match (pypi, npm, url, path) {
            (Some(text), None, None, None) => match text.split_once("==") {
                Some((name, version)) => {
                    PackageSpec::Pypi { name: name.to_owned(), version: version.to_owned() }
                }
                None => return Err(format!("pypi takes NAME==VERSION, not {text}")),
            },
            // From the right, since the name of a scope begins with `@`.
            (None, Some(text), None, None) => match text.rsplit_once('@') {
                Some((name, version)) if !name.is_empty() => {
                    PackageSpec::Npm { name: name.to_owned(), version: version.to_owned() }
                }
                _ => return Err(format!("npm takes NAME@VERSION, not {text}")),
            },
            (None, None, Some(url), None) => PackageSpec::Url(url),
            (None, None, None, Some(path)) => {
                PackageSpec::File(folder.unwrap_or(Path::new("")).join(path))
            }
            _ => return Err("say one of pypi, npm, url and path".to_owned()),
        };
        Ok(ProgramSource { package, file })
    }
}

impl WrittenAsset {
    fn read(self) -> Result<ProgramAsset, String> {
        let Self { file, sha256, guest } = self;
        let name = guest.strip_prefix('/').unwrap_or_default();
        // A mount at `/` itself would stand in the place of the workspace.
        let is_plain = |step: &str| !matches!(step, "" | "." | "..");
        if !name.split('/').all(is_plain) {
            return Err(format!("guest is a folder from / on, such as /usr, not {guest:?}"));
        }
        Ok(ProgramAsset { file, sha_256: digest(&sha256)?, guest })
    }
}

impl WrittenFolder {
    pub(super) const fn read(self) -> FolderAccess {
        match self {
            Self::None => FolderAccess::None,
            Self::ReadOnly => FolderAccess::ReadOnly,
            Self::ReadWrite => FolderAccess::ReadWrite,
        }
    }
}

impl WrittenLimits {
    pub(super) fn read(self) -> Result<ProgramLimits, String> {
        let Self { timeout_ms, memory_mib, output_mib, disk_mib } = self;
        let most = [memory_mib, output_mib, disk_mib].into_iter().flatten().max();
        if most.is_some_and(|most| most > MAX_MIB) {
            return Err(format!("a limit is at most {MAX_MIB} MiB"));
        }
        Ok(ProgramLimits { timeout_ms, memory_mib, output_mib, disk_mib })
    }
}

/// Finds two assets of which one would be in the other.
fn overlap(assets: &[ProgramAsset]) -> Option<(&str, &str)> {
    // A libc takes the longest mount that a path begins with: the outer asset's own files would be
    // hidden there.
    let names = || assets.iter().map(|asset| asset.guest.as_str()).enumerate();
    let mut pairs = names().flat_map(|one| names().map(move |other| (one, other)));
    let found = pairs
        .find(|((one, inner), (other, outer))| one != other && Path::new(inner).starts_with(outer));
    found.map(|((_, inner), (_, outer))| (inner, outer))
}

/// Parses a SHA-256 in hex, which is compared in lower case.
fn digest(text: &str) -> Result<String, String> {
    let is_hex = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    match is_hex {
        true => Ok(text.to_ascii_lowercase()),
        false => Err(format!("a SHA-256 has 64 digits in hex, and {text:?} is not one")),
    }
}

/// Returns whether a name can be typed as a command, and is not a path.
pub(super) fn is_command(name: &str) -> bool {
    // Names become file names in the folder of programs, and words of a command line.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte);
    !name.is_empty()
        && name.len() <= 64
        && name.bytes().all(is_plain)
        && !name.starts_with(['.', '-'])
}
