//! The members of a tar, one after the other, with long names as GNU and POSIX write them. What is
//! read ahead is bounded, which it is not where the library does it.

use super::error::InstallError;
use innerloop_workspace::platform::name_of;
use std::{
    io::{self, Read},
    mem,
    ops::ControlFlow,
    path::PathBuf,
};
use tar::{Archive, EntryType, Header, PaxExtensions};

/// Most members of a tar.
pub(super) const MOST: u64 = 100_000;

/// Most bytes of a record that says more of the next member.
const RECORD: u64 = 64 << 10;

/// A member of a tar. Whatever a path says is what somebody else wrote.
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
    /// A device, a pipe, a file with holes, …
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

/// Visits the members with their contents, until it is told to stop.
pub(super) fn each(
    tar: impl Read,
    what: &str,
    mut visit: impl FnMut(TarMember, &mut dyn Read) -> Result<ControlFlow<()>, InstallError>,
) -> Result<(), InstallError> {
    let damaged =
        |error: io::Error| InstallError::Damaged { what: what.to_owned(), why: error.to_string() };
    let (mut tar, mut ahead) = (Archive::new(tar), HeaderOverrides::default());
    // A member has up to three records.
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
    /// Takes a record; `false` if it is a member instead.
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
        // Only files of more than 8 GB need to say it twice.
        if self.length.is_some_and(|said| said != length) {
            return Err(io::Error::other("a member has two sizes"));
        }
        let path = self.path.unwrap_or_else(|| header.path_bytes().into_owned());
        let target = self.target.or_else(|| header.link_name_bytes().map(|name| name.into_owned()));
        let target = || target.clone().map(path_of).unwrap_or_default();
        let kind = match header.entry_type() {
            _ if self.has_holes => TarMemberKind::Other,
            EntryType::Directory => TarMemberKind::Folder,
            // So wrote the first programs of that name.
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

/// A name of GNU's ends with a NUL.
fn name(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    bytes.truncate(end);
    bytes
}

fn path_of(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(name_of(bytes))
}
