//! The content of archives: listed, printed or extracted. Nothing is written outside of the folder.

use super::job::{ArchiveCompression, FAILED, NOT_ALL, TarJob, below, found_in};
use crate::builtins::{
    calendar::calendar,
    shared::{content, fits, reason},
};
use bashkit::{CommandStatus, Error, Result};
use std::{
    collections::BTreeSet,
    io::{self, Read},
    path::PathBuf,
    time::{Duration, SystemTime},
};
use tar::{Archive, EntryType};

/// The most bytes of all members together.
const MOST: u64 = 256 << 20;

/// The bits of a mode that others lose when a file is made, unless `-p` keeps them.
const MASK: u32 = 0o022;

/// A member of an archive.
struct TarMember {
    /// The name as it stands in the archive.
    full: String,
    /// The name below the folder.
    name: String,
    kind: EntryType,
    mode: u32,
    modified: SystemTime,
    owner: String,
    size: u64,
    /// The target of a link.
    target: String,
    content: Vec<u8>,
}

/// Lists, prints or extracts the members that are asked for.
pub(super) async fn read_out(job: &TarJob<'_>) -> Result<CommandStatus> {
    let TarJob { context, given, archive, .. } = job;
    let bytes = match content(context, archive).await {
        Ok(bytes) => bytes,
        Err(error) => {
            job.warn(&format!("{archive}: Cannot open: {}", reason(&error))).await?;
            job.warn("Error is not recoverable: exiting now").await?;
            return Ok(CommandStatus::with_code(FAILED));
        }
    };
    let mut unpacking = ArchiveExtraction { job, is_whole: true, met: BTreeSet::new() };
    let members = match found_in(&bytes) {
        Ok(compression) => members(&mut unpacking, compression, bytes),
        Err(unknown) => Err(format!("{unknown} is not known here")),
    };
    let members = match members {
        Ok(members) => members,
        Err(words) => {
            job.warn(&words).await?;
            job.warn("Error is not recoverable: exiting now").await?;
            return Ok(CommandStatus::with_code(FAILED));
        }
    };
    for member in &members {
        if given.has('t') {
            let line = if given.has('v') { described(member) } else { member.full.clone() };
            context.stdout.write_all(format!("{line}\n").as_bytes()).await?;
        } else {
            unpacking.take(member).await?;
        }
    }
    for (_, name) in job.names.iter().filter(|(_, name)| !unpacking.met.contains(name)) {
        unpacking.is_whole = false;
        job.warn(&format!("{name}: Not found in archive")).await?;
    }
    if !unpacking.is_whole {
        context.stderr.write_all(NOT_ALL.as_bytes()).await?;
    }
    Ok(CommandStatus::with_code(if unpacking.is_whole { 0 } else { FAILED }))
}

/// Reads the members that are asked for.
///
/// # Errors
/// The fault of the archive.
fn members(
    unpacking: &mut ArchiveExtraction<'_>,
    compression: ArchiveCompression,
    bytes: Vec<u8>,
) -> std::result::Result<Vec<TarMember>, String> {
    let is_listed = unpacking.job.given.has('t');
    let mut archive = Archive::new(compression.reader(bytes));
    let wrong = |error: io::Error| format!("This does not look like a tar archive: {error}");
    let (mut members, mut left) = (Vec::new(), MOST);
    for entry in archive.entries().map_err(wrong)? {
        let mut entry = entry.map_err(wrong)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let full = text(&entry.path_bytes());
        let Some(name) = unpacking.asked(&full)? else { continue };
        let mut content = Vec::new();
        if !is_listed {
            left = left.checked_sub(entry.size()).ok_or("it unpacks to more than 256 MiB")?;
            entry.read_to_end(&mut content).map_err(wrong)?;
        }
        let header = entry.header();
        let names = [header.username_bytes(), header.groupname_bytes()];
        let seconds = Duration::from_secs(header.mtime().unwrap_or_default());
        members.push(TarMember {
            kind: header.entry_type(),
            mode: header.mode().unwrap_or(0o644) & 0o7777,
            modified: SystemTime::UNIX_EPOCH.checked_add(seconds).unwrap_or(SystemTime::UNIX_EPOCH),
            owner: names.map(|name| text(name.unwrap_or_default())).join("/"),
            size: entry.size(),
            target: entry.link_name_bytes().map_or_else(String::new, |target| text(&target)),
            full,
            name,
            content,
        });
    }
    Ok(members)
}

/// Returns the line of `tar -tv` for a member.
fn described(member: &TarMember) -> String {
    let TarMember { full, kind, mode, modified, owner, size, target, .. } = member;
    let (first, link) = match kind {
        EntryType::Directory => ('d', String::new()),
        EntryType::Symlink => ('l', format!(" -> {target}")),
        EntryType::Link => ('h', format!(" link to {target}")),
        _ => ('-', String::new()),
    };
    let bits = "rwxrwxrwx".chars().zip((0..9).rev());
    let bits: String =
        bits.map(|(letter, bit)| if mode >> bit & 1 == 1 { letter } else { '-' }).collect();
    let [year, month, day, hour, minute, _] = calendar(*modified);
    // The owner and the size share a field, as in GNU's list.
    let size = size.to_string();
    let width = 18_usize.saturating_sub(owner.len());
    format!(
        "{first}{bits} {owner} {size:>width$} {year}-{month:02}-{day:02} {hour:02}:{minute:02} \
         {full}{link}"
    )
}

/// The extraction, as far as it is.
struct ArchiveExtraction<'a> {
    job: &'a TarJob<'a>,
    is_whole: bool,
    /// The names that were asked for and found.
    met: BTreeSet<String>,
}

impl ArchiveExtraction<'_> {
    /// Returns the name below the folder of a member that is asked for.
    ///
    /// # Errors
    /// The message about an option's value.
    fn asked(&mut self, full: &str) -> std::result::Result<Option<String>, String> {
        let bare = |name: &str| name.trim_end_matches('/').to_owned();
        let (name, given) = (bare(full), self.job.given);
        let is_in = |asked: &str| {
            let below = name.strip_prefix(asked).is_some_and(|rest| rest.starts_with('/'));
            name == asked || below || (given.has('W') && fits(asked, &name))
        };
        let names = self.job.names.iter().map(|(_, asked)| asked);
        let met: Vec<String> = names.filter(|asked| is_in(&bare(asked))).cloned().collect();
        let is_asked = self.job.names.is_empty() || !met.is_empty();
        self.met.extend(met);
        if !is_asked || self.job.is_excluded(full) {
            return Ok(None);
        }
        let count = given.value('l').unwrap_or("0");
        let count: usize =
            count.parse().map_err(|_| format!("{count}: Invalid number of elements"))?;
        let parts = full.split('/').filter(|part| !part.is_empty() && *part != ".");
        let left: Vec<&str> = parts.skip(count).collect();
        Ok((count == 0 || !left.is_empty()).then(|| left.join("/")))
    }

    /// Prints or extracts a member.
    async fn take(&mut self, member: &TarMember) -> Result<()> {
        let TarJob { context, given, .. } = self.job;
        if given.has('v') {
            let out = if given.has('O') { &context.stderr } else { &context.stdout };
            out.write_all(format!("{}\n", member.full).as_bytes()).await?;
        }
        if given.has('O') {
            return context.stdout.write_all(&member.content).await;
        }
        if member.name.split('/').any(|part| part == "..") {
            self.is_whole = false;
            return self.job.warn(&format!("{}: Member name contains '..'", member.full)).await;
        }
        match self.put(member).await {
            Ok(()) => Ok(()),
            Err(error @ Error::Io(_)) => {
                self.is_whole = false;
                let TarMember { full, target, .. } = member;
                let why = reason(&error);
                self.job
                    .warn(&match member.kind {
                        EntryType::Directory => format!("{full}: Cannot mkdir: {why}"),
                        EntryType::Symlink => {
                            format!("{full}: Cannot create symlink to '{target}': {why}")
                        }
                        EntryType::Link => format!("{full}: Cannot hard link to '{target}': {why}"),
                        _ => format!("{full}: Cannot open: {why}"),
                    })
                    .await
            }
            Err(error) => Err(error),
        }
    }

    async fn put(&mut self, member: &TarMember) -> Result<()> {
        let TarJob { context, given, folder, .. } = self.job;
        let fs = &context.fs;
        let at: PathBuf = below(folder, &member.name);
        if member.kind == EntryType::Directory {
            fs.mkdir(&at, true).await?;
            return Ok(());
        }
        if let Some(above) = at.parent() {
            fs.mkdir(above, true).await?;
        }
        if let Ok(found) = fs.lstat(&at).await {
            if given.has('s') {
                return Ok(());
            }
            if given.has('k') {
                return Err(io::Error::from(io::ErrorKind::AlreadyExists).into());
            }
            // What was there goes first: written through a link, another file would change.
            if !found.file_type.is_dir() {
                fs.remove(&at, false).await?;
            }
        }
        let content = match member.kind {
            EntryType::Symlink => return fs.symlink(member.target.as_ref(), &at).await,
            // Files have one name here, so that another name gets a copy.
            EntryType::Link => fs.read_file(&below(folder, &member.target)).await?,
            EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
                member.content.clone()
            }
            kind => {
                self.is_whole = false;
                let words = format!("{}: Cannot make what has the type {kind:?}", member.full);
                return self.job.warn(&words).await;
            }
        };
        fs.write_file(&at, &content).await?;
        let mode = if given.has('p') { member.mode } else { member.mode & 0o777 & !MASK };
        if fs.stat(&at).await?.mode & 0o7777 != mode {
            fs.chmod(&at, mode).await?;
        }
        if !given.has('m') {
            fs.set_modified_time(&at, member.modified).await?;
        }
        Ok(())
    }
}
