//! The creation of archives: files, folders and links with their modes and times, in GNU's form.

use super::job::{ArchiveCompression, FAILED, NOT_ALL, TarJob, TarWriter, below};
use crate::builtins::shared::{path, reason};
use bashkit::{CommandStatus, Error, FileType, Metadata, Result};
use std::{io, path::PathBuf, time::SystemTime};
use tar::{Builder, EntryType, Header};

/// The length of a name in a header; a longer one has an entry of its own before it.
const NAME: usize = 100;

/// The name of the entries that hold such names.
const LONG: &[u8] = b"././@LongLink";

/// The number and name of the owner and the group that all members get.
const OWNER: (u64, &str) = (1000, "user");

/// Something that goes into the archive.
struct PendingMember {
    path: PathBuf,
    name: String,
}

pub(super) async fn create(job: &TarJob<'_>) -> Result<CommandStatus> {
    let TarJob { context, given, archive, .. } = job;
    if job.names.is_empty() {
        job.warn("Cowardly refusing to create an empty archive").await?;
        return Ok(CommandStatus::with_code(FAILED));
    }
    let place = path(context, archive);
    let mut pack = ArchivePack {
        job,
        place: (*archive != "-").then_some(place.clone()),
        builder: Builder::new(ArchiveCompression::asked(given, archive).writer()),
        told: String::new(),
        is_whole: true,
        is_absolute: false,
    };
    for (folder, name) in &job.names {
        let path = below(folder, name);
        pack.add_all(PendingMember { path, name: name.clone() }).await?;
        if pack.builder.get_ref().is_full() {
            break;
        }
    }
    let ArchivePack { builder, told, is_whole, .. } = pack;
    let packed = match builder.into_inner().and_then(TarWriter::finish) {
        Ok(packed) => packed,
        Err(error) => {
            job.warn(&format!("{archive}: Cannot write: {error}")).await?;
            return Ok(CommandStatus::with_code(FAILED));
        }
    };
    if *archive == "-" {
        context.stderr.write_all(told.as_bytes()).await?;
        context.stdout.write_all(&packed).await?;
    } else if let Err(error) = context.fs.write_file(&place, &packed).await {
        job.warn(&format!("{archive}: Cannot open: {}", reason(&error))).await?;
        return Ok(CommandStatus::with_code(FAILED));
    } else {
        context.stdout.write_all(told.as_bytes()).await?;
    }
    if !is_whole {
        context.stderr.write_all(NOT_ALL.as_bytes()).await?;
    }
    Ok(CommandStatus::with_code(if is_whole { 0 } else { FAILED }))
}

/// The archive that is being made.
struct ArchivePack<'a> {
    job: &'a TarJob<'a>,
    /// The path of the archive, unless it goes to standard output.
    place: Option<PathBuf>,
    builder: Builder<TarWriter>,
    /// The lines to print.
    told: String,
    is_whole: bool,
    /// True if it was told that names begin with no `/` here.
    is_absolute: bool,
}

impl ArchivePack<'_> {
    /// Adds a member and, if it is a folder, all below it.
    async fn add_all(&mut self, member: PendingMember) -> Result<()> {
        let mut waiting = vec![member];
        while let Some(member) = waiting.pop() {
            if self.job.is_excluded(&member.name) {
                continue;
            }
            if self.place.as_ref() == Some(&member.path) {
                let words = format!("{}: archive cannot contain itself; not dumped", member.name);
                self.job.warn(&words).await?;
                continue;
            }
            match self.add(&member).await {
                Ok(false) => {}
                Ok(true) if self.job.given.has('R') => {}
                Ok(true) => {
                    let mut names = self.job.context.fs.read_dir(&member.path).await?;
                    names.sort_by(|a, b| b.name.cmp(&a.name));
                    let folder = member.name.trim_end_matches('/');
                    waiting.extend(names.into_iter().map(|entry| PendingMember {
                        path: below(&member.path, &entry.name),
                        name: format!("{folder}/{}", entry.name),
                    }));
                }
                // Told once the rest of it is given up.
                Err(Error::Io(_)) if self.builder.get_ref().is_full() => return Ok(()),
                Err(error @ Error::Io(_)) => {
                    self.is_whole = false;
                    let words = format!("{}: Cannot stat: {}", member.name, reason(&error));
                    self.job.warn(&words).await?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Adds a member, and returns whether it is a folder.
    async fn add(&mut self, member: &PendingMember) -> Result<bool> {
        let TarJob { context, given, .. } = self.job;
        let found = match given.has('h') {
            true => context.fs.stat(&member.path).await?,
            false => context.fs.lstat(&member.path).await?,
        };
        let mut name = member.name.clone();
        if name.starts_with('/') && !given.has('P') {
            name = name.trim_start_matches('/').to_owned();
            if !std::mem::replace(&mut self.is_absolute, true) {
                self.job.warn("Removing leading `/' from member names").await?;
            }
        }
        let mut header = header(&found);
        match found.file_type {
            FileType::Directory => {
                name = format!("{}/", name.trim_end_matches('/'));
                header.set_entry_type(EntryType::Directory);
                // The root has no name of its own.
                if name != "/" || given.has('P') {
                    named(&mut self.builder, header, &name, &[])?;
                }
            }
            FileType::Symlink => {
                let target = context.fs.read_link(&member.path).await?;
                let target = target.to_string_lossy();
                header.set_entry_type(EntryType::Symlink);
                header.set_size(0);
                if header.set_link_name_literal(target.as_bytes()).is_err() {
                    long(&mut self.builder, EntryType::GNULongLink, &target)?;
                }
                named(&mut self.builder, header, &name, &[])?;
            }
            _ => {
                let content = context.fs.read_file(&member.path).await?;
                header.set_size(content.len() as u64);
                named(&mut self.builder, header, &name, &content)?;
            }
        }
        if given.has('v') {
            self.told.push_str(&format!("{name}\n"));
        }
        Ok(found.file_type == FileType::Directory)
    }
}

fn header(found: &Metadata) -> Header {
    let (number, owner) = OWNER;
    let mut header = Header::new_gnu();
    header.set_mode(found.mode & 0o7777);
    header.set_uid(number);
    header.set_gid(number);
    // The name is one that fits.
    let _fits = header.set_username(owner).and_then(|()| header.set_groupname(owner));
    let since = found.modified.duration_since(SystemTime::UNIX_EPOCH);
    header.set_mtime(since.unwrap_or_default().as_secs());
    header.set_size(0);
    header
}

/// Adds an entry with that name.
fn named(
    builder: &mut Builder<TarWriter>,
    mut header: Header,
    name: &str,
    content: &[u8],
) -> io::Result<()> {
    if name.len() > NAME {
        long(builder, EntryType::GNULongName, name)?;
    }
    append(builder, &mut header, name.as_bytes(), content)
}

/// Adds the entry that holds a name or a target which is too long for the next one's header.
fn long(builder: &mut Builder<TarWriter>, kind: EntryType, text: &str) -> io::Result<()> {
    let text = format!("{text}\0");
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(0o644);
    header.set_size(text.len() as u64);
    append(builder, &mut header, LONG, text.as_bytes())
}

fn append(
    builder: &mut Builder<TarWriter>,
    header: &mut Header,
    name: &[u8],
    content: &[u8],
) -> io::Result<()> {
    // By hand: the library's function leaves out `./`, by which scripts know what they have packed.
    if let Some(gnu) = header.as_gnu_mut() {
        gnu.name.iter_mut().zip(name).for_each(|(byte, given)| *byte = *given);
    }
    header.set_cksum();
    builder.append(header, content)
}
