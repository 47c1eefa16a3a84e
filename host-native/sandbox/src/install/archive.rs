//! An archive at hand: its form, its digest, and its files, which are read within bounds.

use super::{
    error::InstallError,
    members::{self, TarMemberKind},
    unpack,
};
use base64ct::{Base64, Encoding as _};
use flate2::read::MultiGzDecoder;
use innerloop_workspace::{
    digest::Digest,
    platform::{DirBuilderExt as _, FileExt as _},
};
use sha2::{Digest as _, Sha512};
use std::{
    cell::Cell,
    fs::{self, DirBuilder, File},
    io::{self, Read, Seek, SeekFrom, Write},
    ops::ControlFlow,
    path::Path,
};
use zip::{ZipArchive, result::ZipError};

/// Most bytes of a zip that say what is in it.
const DIRECTORY: u64 = 16 << 20;

/// Most bytes of a packed tar that are looked through for a file.
const PASSED: u64 = 4 << 30;

/// Most bytes of a tar for each of its members that are not its content.
const HEADS: u64 = 4 << 10;

/// An archive at hand, as a file without a name.
#[derive(Debug)]
pub struct PackageArchive {
    file: File,
    form: ArchiveFormat,
    /// The name of the archive in messages.
    what: String,
}

#[derive(Clone, Copy, Debug)]
enum ArchiveFormat {
    Zip,
    TarGz,
    /// A bare module, which is all files.
    Module,
}

/// The digest that an index says an archive has.
#[derive(Debug)]
pub(super) enum ExpectedDigest {
    /// SHA-256 in hexadecimal.
    Sha256(String),
    /// SHA-512 in Base64.
    Sha512(String),
}

impl PackageArchive {
    /// The archive that a file holds.
    pub(super) fn open(file: File, what: String) -> Result<Self, InstallError> {
        let mut start = [0; 4];
        let form = match file.read_exact_at(&mut start, 0) {
            Ok(()) if start == *b"PK\x03\x04" => ArchiveFormat::Zip,
            Ok(()) if start.starts_with(b"\x1f\x8b") => ArchiveFormat::TarGz,
            Ok(()) if start == *b"\0asm" => ArchiveFormat::Module,
            _ => {
                let why = "it is neither a wheel, a zip, a .tar.gz nor a .wasm".to_owned();
                return Err(InstallError::Damaged { what, why });
            }
        };
        Ok(Self { file, form, what })
    }

    /// Checks the whole archive.
    pub(super) fn check(&self, expected: &ExpectedDigest) -> Result<(), InstallError> {
        let free = Cell::new(u64::MAX);
        let mut all = self.window(&free);
        let (found, expected) = match expected {
            ExpectedDigest::Sha256(hex) => {
                let digest = Digest::of_rest(&mut all).map_err(damaged(&self.what))?;
                (digest.to_string(), hex.to_ascii_lowercase())
            }
            ExpectedDigest::Sha512(text) => {
                let mut hash = HashWriter(Sha512::new());
                io::copy(&mut all, &mut hash).map_err(damaged(&self.what))?;
                (Base64::encode_string(&hash.0.finalize()), text.clone())
            }
        };
        same(&self.what, found, &expected)
    }

    /// The bytes of one of its files (for a bare `.wasm`: any name gives it), if they are no more
    /// than `most` and have this SHA-256, in hexadecimal.
    ///
    /// # Errors
    /// [`InstallError`]: there is no such file, it is larger, it is damaged, or it is another one.
    pub fn read(&self, file: &str, most: u64, sha_256: &str) -> Result<Vec<u8>, InstallError> {
        let what = self.named(file);
        let bytes = self.with(file, |content| {
            let mut bytes = Vec::new();
            let mut content = content.take(most.saturating_add(1));
            content.read_to_end(&mut bytes).map_err(damaged(&what))?;
            Ok(bytes)
        })?;
        if u64::try_from(bytes.len()).is_ok_and(|length| length > most) {
            return Err(InstallError::TooLarge { what, most });
        }
        same(&what, Digest::of(&bytes).to_string(), &sha_256.to_ascii_lowercase())?;
        Ok(bytes)
    }

    /// Unpacks a tar that is one of its files into a new folder, which only the user may enter:
    /// plain files, folders and links that stay inside. `most` bounds the bytes of all files and
    /// names; members and folders may be 100,000 each. Nothing is unpacked before the tar has
    /// this SHA-256, in hexadecimal, and nothing is left where that fails.
    ///
    /// # Errors
    /// [`InstallError`]: there is no such file, it is another one, is damaged or too large, a
    /// member is something else or leads outside, or `into` is there already.
    pub fn unpack_tar(
        &self,
        file: &str,
        into: &Path,
        most: u64,
        sha_256: &str,
    ) -> Result<(), InstallError> {
        let what = self.named(file);
        let digest = self.with(file, |tar| {
            let bound = most.saturating_add(HEADS * members::MOST);
            let mut tar = tar.take(bound.saturating_add(1));
            let digest = Digest::of_rest(&mut tar).map_err(damaged(&what))?;
            let fits = tar.limit() > 0;
            let too_large = || InstallError::TooLarge { what: what.clone(), most: bound };
            fits.then_some(digest).ok_or_else(too_large)
        })?;
        same(&what, digest.to_string(), &sha_256.to_ascii_lowercase())?;
        DirBuilder::new().mode(0o700).create(into).map_err(InstallError::file(into))?;
        let unpacked = self.with(file, |tar| unpack::unpack(tar, &what, into, most));
        if unpacked.is_err() {
            // The first error says more than one of the removal.
            let _ = fs::remove_dir_all(into);
        }
        unpacked
    }

    /// Does something with one of its files.
    fn with<T>(
        &self,
        file: &str,
        work: impl FnOnce(&mut dyn Read) -> Result<T, InstallError>,
    ) -> Result<T, InstallError> {
        let none = || InstallError::NoFile { what: self.what.clone(), file: file.to_owned() };
        let left = Cell::new(u64::MAX);
        match self.form {
            ArchiveFormat::Module => work(&mut self.window(&left)),
            ArchiveFormat::Zip => {
                left.set(DIRECTORY);
                let zip = ZipArchive::new(self.window(&left));
                let mut zip = zip.map_err(|error| damaged(&self.what)(error.into()))?;
                left.set(u64::MAX);
                match zip.by_name(file) {
                    Ok(mut content) => work(&mut content),
                    Err(ZipError::FileNotFound) => Err(none()),
                    Err(error) => Err(damaged(&self.named(file))(error.into())),
                }
            }
            ArchiveFormat::TarGz => {
                let tar = MultiGzDecoder::new(self.window(&left)).take(PASSED);
                let (mut work, mut done) = (Some(work), None);
                members::each(tar, &self.what, |member, content| {
                    let is_file = matches!(member.kind, TarMemberKind::File { .. });
                    let path = member.path.strip_prefix(".").unwrap_or(&member.path);
                    if !is_file || path != Path::new(file) {
                        return Ok(ControlFlow::Continue(()));
                    }
                    done = work.take().map(|work| work(content));
                    Ok(ControlFlow::Break(()))
                })?;
                done.ok_or_else(none)?
            }
        }
    }

    const fn window<'a>(&'a self, left: &'a Cell<u64>) -> FileWindow<'a> {
        FileWindow { file: &self.file, at: 0, left }
    }

    fn named(&self, file: &str) -> String {
        match self.form {
            ArchiveFormat::Module => self.what.clone(),
            ArchiveFormat::Zip | ArchiveFormat::TarGz => format!("{file} of {}", self.what),
        }
    }
}

/// A place in a file, of which no more than so many bytes are read.
#[derive(Debug)]
struct FileWindow<'a> {
    file: &'a File,
    at: u64,
    left: &'a Cell<u64>,
}

impl Read for FileWindow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.at)?;
        let length = u64::try_from(count).map_err(io::Error::other)?;
        let left = self.left.get().checked_sub(length);
        self.left.set(left.ok_or_else(|| io::Error::other("it has too many files"))?);
        self.at = self.at.saturating_add(length);
        Ok(count)
    }
}

impl Seek for FileWindow<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.file.metadata()?.len().checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

struct HashWriter(Sha512);

impl Write for HashWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn damaged(what: &str) -> impl FnOnce(io::Error) -> InstallError {
    |error| InstallError::Damaged { what: what.to_owned(), why: error.to_string() }
}

fn same(what: &str, found: String, expected: &str) -> Result<(), InstallError> {
    if found == expected {
        return Ok(());
    }
    let (what, expected) = (what.to_owned(), expected.to_owned());
    Err(InstallError::Digest { what, expected, found })
}
