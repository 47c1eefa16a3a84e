//! The entries of indexes: the address of a package's archive, and its digest. Names and versions
//! are checked before they become part of an address, and answers are bounded.

use super::{
    archive::ExpectedDigest,
    download::{FileDownloader, link, parse, shown},
    error::InstallError,
};
use reqwest::Url;
use serde::{Deserialize, de::DeserializeOwned};
use std::{fs::File, io::Seek as _};

/// The most bytes of an index's answer on one package.
const LARGEST: u64 = 16 << 20;

/// An archive that an index names.
#[derive(Debug)]
pub(super) struct ArchiveLocation {
    pub(super) address: Url,
    /// The archive's digest, if the index gives it.
    pub(super) digest: Option<ExpectedDigest>,
}

/// A project in PyPI's simple index (PEP 691).
#[derive(Deserialize)]
struct PypiProject {
    files: Vec<PypiFile>,
}

#[derive(Deserialize)]
struct PypiFile {
    filename: String,
    url: String,
    #[serde(default)]
    hashes: PypiHashes,
}

#[derive(Default, Deserialize)]
struct PypiHashes {
    sha256: Option<String>,
}

/// A version in npm's registry.
#[derive(Deserialize)]
struct NpmVersion {
    dist: NpmDistribution,
}

#[derive(Deserialize)]
struct NpmDistribution {
    tarball: String,
    integrity: Option<String>,
}

/// Finds the wheel for any machine of a version in a simple index.
///
/// # Errors
/// [`InstallError`] if the name or version is not one, or the index does not have it.
pub(super) async fn wheel(
    download: &FileDownloader,
    index: &str,
    name: &str,
    version: &str,
) -> Result<ArchiveLocation, InstallError> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    checked(name, is_name)?;
    checked(version, |byte| byte.is_ascii_alphanumeric() || b".+!_-".contains(&byte))?;
    // In a wheel's file name `-` separates the parts, so that a version is written with `_`.
    let (name, version) = (normalised(name), version.to_ascii_lowercase().replace('-', "_"));
    let address = parse(&format!("{}/{name}/", index.trim_end_matches('/')))?;
    let missing = || missing(&address, &name, &version);
    let kinds = "application/vnd.pypi.simple.v1+json";
    let project: PypiProject = said(download, &address, kinds).await.map_err(or(missing))?;
    let fits = project.files.into_iter().filter(|file| is_wheel(&file.filename, &name, &version));
    // A wheel with a build number replaces the one without (binary distribution format).
    let file = fits.max_by_key(|file| file.filename.matches('-').count()).ok_or_else(missing)?;
    let digest = file.hashes.sha256.map(ExpectedDigest::Sha256);
    Ok(ArchiveLocation { address: link(&address, &file.url)?, digest })
}

/// Finds the package of a version in npm's registry.
///
/// # Errors
/// [`InstallError`] if the name or version is not one, or the registry does not have it.
pub(super) async fn package(
    download: &FileDownloader,
    registry: &str,
    name: &str,
    version: &str,
) -> Result<ArchiveLocation, InstallError> {
    let scope = name.strip_prefix('@').and_then(|name| name.split_once('/'));
    let path = match scope {
        Some((scope, bare)) => {
            [scope, bare].into_iter().try_for_each(|part| checked(part, is_of_npm))?;
            // A scope and its name are one segment of the path.
            format!("@{scope}%2f{bare}")
        }
        None => checked(name, is_of_npm).map(|()| name.to_owned())?,
    };
    checked(version, |byte| is_of_npm(byte) || byte == b'+')?;
    let address = parse(&format!("{}/{path}/{version}", registry.trim_end_matches('/')))?;
    let missing = || missing(&address, name, version);
    let found: NpmVersion =
        said(download, &address, "application/json").await.map_err(or(missing))?;
    // As Subresource Integrity has it: several digests, each perhaps with options behind a `?`.
    let digests = found.dist.integrity.unwrap_or_default();
    let digest = digests.split_whitespace().find_map(|digest| digest.strip_prefix("sha512-"));
    let digest = digest.map(|digest| {
        let digest = digest.split('?').next().unwrap_or_default();
        ExpectedDigest::Sha512(digest.to_owned())
    });
    Ok(ArchiveLocation { address: link(&address, &found.dist.tarball)?, digest })
}

/// Gets and parses the answer of an index.
async fn said<T: DeserializeOwned>(
    download: &FileDownloader,
    address: &Url,
    kinds: &str,
) -> Result<T, InstallError> {
    let file = download.get(address, kinds, LARGEST, &mut |_, _| {}).await?;
    read(file).map_err(|why| InstallError::Index { address: shown(address), why })
}

fn read<T: DeserializeOwned>(mut file: File) -> Result<T, String> {
    // The download has left the position at the end.
    file.rewind().map_err(|error| error.to_string())?;
    let mut text = String::new();
    std::io::Read::read_to_string(&mut file, &mut text).map_err(|error| error.to_string())?;
    serde_json::from_str(&text).map_err(|error| error.to_string())
}

/// Returns whether a file's name is that of a wheel of a version for any machine:
/// `name-version(-build)-python-none-any.whl`.
fn is_wheel(file: &str, name: &str, version: &str) -> bool {
    let Some(stem) = file.strip_suffix(".whl") else { return false };
    let parts: Vec<&str> = stem.split('-').collect();
    let (found, tags) = match parts.as_slice() {
        [found @ .., _, abi, platform] if matches!(found.len(), 2 | 3) => {
            (found, (*abi, *platform))
        }
        _ => return false,
    };
    let [of_name, of_version, ..] = found else { return false };
    let is_it = normalised(of_name) == name && of_version.eq_ignore_ascii_case(version);
    is_it && tags == ("none", "any")
}

/// A project's name as the index spells it (PEP 503).
fn normalised(name: &str) -> String {
    let parts = name.split(['-', '_', '.']).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}

const fn is_of_npm(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~')
}

/// Refuses a name or a version that would lead to another path.
fn checked(text: &str, fits: impl Fn(u8) -> bool) -> Result<(), InstallError> {
    // 214 is npm's limit for names. Without a letter or digit a name could be `..`.
    let is_fit = text.len() <= 214
        && text.bytes().any(|byte| byte.is_ascii_alphanumeric())
        && text.bytes().all(fits);
    if is_fit { Ok(()) } else { Err(InstallError::Name(text.to_owned())) }
}

fn missing(address: &Url, name: &str, version: &str) -> InstallError {
    let index = address.host_str().unwrap_or_default().to_owned();
    InstallError::Missing { index, package: format!("{name} {version}") }
}

/// Turns the status of an unknown package into the error `missing`, and leaves other errors alone.
fn or(missing: impl FnOnce() -> InstallError) -> impl FnOnce(InstallError) -> InstallError {
    |error| match error {
        InstallError::Status { status: 404 | 410, .. } => missing(),
        error => error,
    }
}

#[cfg(test)]
mod tests {
    use super::{is_wheel, normalised};

    #[test]
    fn a_wheel_is_known_by_its_name() {
        assert_eq!(normalised("Safe__Load.AI-runtime"), "safe-load-ai-runtime");
        for (file, is_it) in [
            ("a_b-1.0-py3-none-any.whl", true),
            ("A.b-1.0-2-py2.py3-none-any.whl", true),
            ("a_b-1.0.1-py3-none-any.whl", false),
            ("a_b-1.0-cp312-cp312-manylinux_2_17_x86_64.whl", false),
            ("a_b-1.0-py3-none-linux_x86_64.whl", false),
            ("a_b_c-1.0-py3-none-any.whl", false),
            ("a_b-1.0.tar.gz", false),
            ("any.whl", false),
        ] {
            assert_eq!(is_wheel(file, "a-b", "1.0"), is_it, "{file}");
        }
    }
}
