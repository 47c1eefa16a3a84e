//! The members of a tar, one after the other, with long names as GNU and POSIX write them. The
//! records with such names are read here, and bounded; the library would read one of any length
//! into memory.

use super::error::InstallError;
use innerloop_workspace::platform::name_of;
use std::{
    io::{self, Read},
    mem,
    ops::ControlFlow,
    path::PathBuf,
};
use tar::{Archive, EntryType, Header, PaxExtensions};

/// The most members of a tar.
pub(super) const MOST: u64 = 100_000;

/// The most bytes of a record that describes the next member.
const RECORD: u64 = 64 << 10;

/// A member of a tar. Its paths are the author's and may lead anywhere.
#[derive(Debug)]
pub(super) struct TarMember {
    pub(super) path: PathBuf,
    pub(super) kind: TarMemberKind,
}

#[derive(Debug)]
pub(super) enum TarMemberKind {
    File {
        length: u64,
        /// True if its owner may execute it.
        is_program: bool,
    },
    Folder,
    /// A link by a path from its folder.
    Symlink(PathBuf),
    /// Another name of a member, by its path.
    HardLink(PathBuf),
    /// A device, a pipe, a sparse file, …
    Other,
}

/// The fields that earlier records have set for the next member.
#[derive(Default)]
struct HeaderOverrides {
    path: Option<Vec<u8>>,
    target: Option<Vec<u8>>,
    length: Option<u64>,
    has_holes: bool,
}

/// Visits the members with their contents, until `visit` breaks.
///
/// # Errors
/// [`InstallError::Damaged`] if the tar is damaged or has too many members, or the error of
/// `visit`.
pub(super) fn each(
    tar: impl Read,
    what: &str,
    mut visit: impl FnMut(TarMember, &mut dyn Read) -> Result<ControlFlow<()>, InstallError>,
) -> Result<(), InstallError> {
    let damaged =
        |error: io::Error| InstallError::Damaged { what: what.to_owned(), why: error.to_string() };
    let (mut tar, mut ahead) = (Archive::new(tar), HeaderOverrides::default());
    // A member has up to three records. Without this bound, records alone could go on for ever.
    let (mut entries, mut members) = (0, 0);
    for entry in tar.entries().map_err(damaged)?.raw(true) {
        let mut entry = entry.map_err(damaged)?;
        entries += 1;
        if ahead.take(&mut entry).map_err(damaged)? {
            if entries > 4 * MOST {
                return Err(damaged(io::Error::other("it has too many records")));
            }
            continue;
        }
        members += 1;
        if members > MOST {
            return Err(damaged(io::Error::other(format!("it has more than {MOST} members"))));
        }
        let member = mem::take(&mut ahead).member(entry.header()).map_err(damaged)?;
        if visit(member, &mut entry)?.is_break() {
            break;
        }
    }
    Ok(())
}

impl HeaderOverrides {
    /// Takes a record; false if the entry is a member.
    fn take<R: Read>(&mut self, entry: &mut tar::Entry<'_, R>) -> io::Result<bool> {
        match entry.header().entry_type() {
            EntryType::GNULongName => self.path = Some(name(record(entry)?)),
            EntryType::GNULongLink => self.target = Some(name(record(entry)?)),
            EntryType::XHeader => self.read(&record(entry)?)?,
            EntryType::XGlobalHeader => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn read(&mut self, record: &[u8]) -> io::Result<()> {
        for said in PaxExtensions::new(record) {
            let said = said?;
            let value = said.value_bytes();
            match said.key_bytes() {
                b"path" => self.path = Some(value.to_vec()),
                b"linkpath" => self.target = Some(value.to_vec()),
                b"size" => {
                    let length = str::from_utf8(value).ok().and_then(|text| text.parse().ok());
                    self.length = Some(length.ok_or_else(|| io::Error::other("a wrong size"))?);
                }
                key if key.starts_with(b"GNU.sparse.") => self.has_holes = true,
                _ => {}
            }
        }
        Ok(())
    }

    fn member(self, header: &Header) -> io::Result<TarMember> {
        let length = header.entry_size()?;
        // The library finds the next header by the size in this one. Only files of more than 8 GB
        // need another size in a record, and two that differ would be read in two ways.
        if self.length.is_some_and(|said| said != length) {
            return Err(io::Error::other("a member has two sizes"));
        }
        let path = self.path.unwrap_or_else(|| header.path_bytes().into_owned());
        let target = self.target.or_else(|| header.link_name_bytes().map(|name| name.into_owned()));
        let target = || target.clone().map(path_of).unwrap_or_default();
        let kind = match header.entry_type() {
            // The content of a sparse file is a map and its pieces, not what its reader expects.
            _ if self.has_holes => TarMemberKind::Other,
            EntryType::Directory => TarMemberKind::Folder,
            // The first form of tar had no type for folders, only the slash.
            EntryType::Regular if path.ends_with(b"/") => TarMemberKind::Folder,
            EntryType::Regular | EntryType::Continuous => {
                TarMemberKind::File { length, is_program: header.mode()? & 0o100 != 0 }
            }
            EntryType::Symlink => TarMemberKind::Symlink(target()),
            EntryType::Link => TarMemberKind::HardLink(target()),
            _ => TarMemberKind::Other,
        };
        Ok(TarMember { path: path_of(path), kind })
    }
}

fn record(entry: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let length = entry.take(RECORD + 1).read_to_end(&mut bytes)?;
    if u64::try_from(length).is_ok_and(|length| length <= RECORD) {
        return Ok(bytes);
    }
    Err(io::Error::other(format!("a name has more than {RECORD} bytes")))
}

/// The name in a GNU record, which ends with a NUL.
fn name(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    bytes.truncate(end);
    bytes
}

fn path_of(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(name_of(bytes))
}
