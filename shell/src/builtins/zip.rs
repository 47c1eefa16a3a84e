//! `zip`: archives in the standard format, new or with members added.

use super::{
    calendar::calendar,
    options::OptionSpec,
    options::ParsedArguments,
    shared::{fail, fits, path, reason},
};
use bashkit::{
    Command, CommandContext, CommandStatus, Error, FileType, Metadata, Result, async_trait,
};
use std::{
    collections::BTreeSet,
    io::{Cursor, Write},
    path::Path,
};
use zip::{
    CompressionMethod, DateTime, ZipArchive, ZipWriter, result::ZipError, write::SimpleFileOptions,
};

pub(super) struct ZipCommand;

const KNOWN: OptionSpec = OptionSpec {
    command: "zip",
    short: "0123456789DfjmoqrTuvXy",
    long: &[
        ("junk-paths", 'j'),
        ("no-dir-entries", 'D'),
        ("no-extra", 'X'),
        ("quiet", 'q'),
        ("recurse-paths", 'r'),
        ("symlinks", 'y'),
        ("update", 'u'),
        ("verbose", 'v'),
    ],
};

/// The status if there is nothing to add.
const NOTHING: i32 = 12;

/// The status if something was left out.
const LEFT_OUT: i32 = 18;

/// The status if the archive or the arguments are invalid.
const WRONG: i32 = 3;

type ArchiveWriter = ZipWriter<Cursor<Vec<u8>>>;

#[async_trait]
impl Command for ZipCommand {
    async fn execute(&self, context: CommandContext<'_>) -> Result<CommandStatus> {
        let (args, excluded) = without_excluded(context.args);
        let given = match KNOWN.read(&args) {
            Ok(given) => given,
            Err(words) => return fail(&context, &words, 16).await,
        };
        let Some((archive, names)) = given.operands.split_first() else {
            return fail(&context, "zip error: Nothing to do!\n", 16).await;
        };
        let has_end = Path::new(archive).extension().is_some() || archive == "-";
        let archive = if has_end { archive.clone() } else { format!("{archive}.zip") };
        let mut found =
            MemberCollector { context: &context, given: &given, excluded, members: Vec::new() };
        let mut missing = String::new();
        for name in names {
            if let Err(error) = found.add(name).await? {
                let why = if matches!(error, Error::Io(_)) { "" } else { "un" };
                missing.push_str(&format!("\tzip warning: name not {why}matched: {name}\n"));
            }
        }
        let members = found.members;
        context.stderr.write_all(missing.as_bytes()).await?;
        if members.is_empty() {
            let words = format!("\nzip error: Nothing to do! ({archive})\n");
            return fail(&context, &words, NOTHING).await;
        }
        let at = path(&context, &archive);
        let old = if archive == "-" { None } else { context.fs.read_file(&at).await.ok() };
        let (packed, told) = match pack(old, &members, &given) {
            Ok(packed) => packed,
            Err(error) => {
                let words = format!("zip error: Zip file structure invalid ({archive}: {error})\n");
                return fail(&context, &words, WRONG).await;
            }
        };
        if archive == "-" {
            context.stdout.write_all(&packed).await?;
        } else if let Err(error) = context.fs.write_file(&at, &packed).await {
            let words = format!("zip I/O error: {}\nzip error: {archive}\n", reason(&error));
            return fail(&context, &words, 15).await;
        } else if !given.has('q') {
            context.stdout.write_all(told.as_bytes()).await?;
        }
        if given.has('m') {
            // Files come before the folders that hold them, which have to be empty.
            for member in members.iter().rev() {
                context.fs.remove(&path(&context, &member.source), false).await?;
            }
        }
        Ok(CommandStatus::with_code(if missing.is_empty() { 0 } else { LEFT_OUT }))
    }
}

/// Returns the words without those behind `-x`, and those.
fn without_excluded(args: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut rest, mut excluded) = (Vec::new(), Vec::new());
    let mut excludes = false;
    for arg in args {
        match arg.as_str() {
            "-x" | "--exclude" => excludes = true,
            "-i" | "--include" => excludes = false,
            _ if arg.starts_with('-') && arg.len() > 1 => {
                excludes = false;
                rest.push(arg.clone());
            }
            _ if excludes => excluded.push(arg.clone()),
            _ => rest.push(arg.clone()),
        }
    }
    (rest, excluded)
}

/// A file or folder that goes into an archive.
struct MemberSource {
    name: String,
    source: String,
    metadata: Metadata,
    content: Vec<u8>,
}

/// The collector of the members for an archive.
struct MemberCollector<'a> {
    context: &'a CommandContext<'a>,
    given: &'a ParsedArguments,
    excluded: Vec<String>,
    members: Vec<MemberSource>,
}

impl MemberCollector<'_> {
    async fn add(&mut self, name: &str) -> Result<Result<()>> {
        let mut waiting = vec![name.trim_end_matches('/').to_owned()];
        let mut is_first = true;
        while let Some(source) = waiting.pop() {
            let at = path(self.context, &source);
            let metadata = match self.context.fs.stat(&at).await {
                Err(error) if is_first => return Ok(Err(error)),
                metadata => metadata?,
            };
            is_first = false;
            let is_folder = metadata.file_type == FileType::Directory;
            let inside = source.trim_start_matches('/').trim_start_matches("./").to_owned();
            let shown = if is_folder { format!("{inside}/") } else { inside };
            if self.excluded.iter().any(|pattern| fits(pattern, &shown)) {
                continue;
            }
            let is_whole = matches!(shown.as_str(), "./" | "/");
            if is_folder && self.given.has('r') {
                let mut names = self.context.fs.read_dir(&at).await?;
                names.sort_by(|a, b| b.name.cmp(&a.name));
                let below = |name: &str| match is_whole {
                    true => name.to_owned(),
                    false => format!("{source}/{name}"),
                };
                waiting.extend(names.iter().map(|entry| below(&entry.name)));
            }
            if is_folder && (is_whole || self.given.has('D') || self.given.has('j')) {
                continue;
            }
            let name = match self.given.has('j') {
                true => shown.rsplit('/').next().unwrap_or(&shown).to_owned(),
                false => shown,
            };
            let content =
                if is_folder { Vec::new() } else { self.context.fs.read_file(&at).await? };
            self.members.push(MemberSource { name, source, metadata, content });
        }
        Ok(Ok(()))
    }
}

/// Returns the archive with the members in it, and the lines to print.
fn pack(
    old: Option<Vec<u8>>,
    members: &[MemberSource],
    given: &ParsedArguments,
) -> std::result::Result<(Vec<u8>, String), ZipError> {
    let mut writer: ArchiveWriter = ZipWriter::new(Cursor::new(Vec::new()));
    let new: BTreeSet<&str> = members.iter().map(|member| member.name.as_str()).collect();
    let mut known = BTreeSet::new();
    if let Some(old) = old {
        let mut archive = ZipArchive::new(Cursor::new(old))?;
        for number in 0..archive.len() {
            let file = archive.by_index_raw(number)?;
            let name = file.name()?.into_owned();
            // Old members are copied as they are, without being compressed again.
            if !new.contains(name.as_str()) {
                writer.raw_copy_file(file)?;
            }
            known.insert(name);
        }
    }
    let mut told = String::new();
    for member in members {
        let verb = if known.contains(&member.name) { "updating" } else { "  adding" };
        let packed = add(&mut writer, member, given.has('0'))?;
        let whole = member.content.len();
        let how = match packed {
            Some(len) => format!("deflated {}%", ((whole - len) * 100 + whole / 2) / whole.max(1)),
            None => "stored 0%".to_owned(),
        };
        told.push_str(&format!("{verb}: {} ({how})\n", member.name));
    }
    Ok((writer.finish()?.into_inner(), told))
}

/// Adds a member, and returns its length in the archive if it was compressed.
fn add(
    writer: &mut ArchiveWriter,
    member: &MemberSource,
    stores: bool,
) -> std::result::Result<Option<usize>, ZipError> {
    let options = SimpleFileOptions::default()
        .last_modified_time(time(&member.metadata))
        .unix_permissions(member.metadata.mode);
    if member.metadata.file_type == FileType::Directory {
        writer.add_directory(member.name.trim_end_matches('/'), options)?;
        return Ok(None);
    }
    if !stores && !member.content.is_empty() {
        // Compressed on its own first: the writer can't take back a member that compression made
        // longer.
        let mut alone: ArchiveWriter = ZipWriter::new(Cursor::new(Vec::new()));
        alone.start_file(&member.name, options.compression_method(CompressionMethod::Deflated))?;
        alone.write_all(&member.content)?;
        let mut alone = ZipArchive::new(alone.finish()?)?;
        let file = alone.by_index_raw(0)?;
        let len = usize::try_from(file.compressed_size()).unwrap_or(usize::MAX);
        if len < member.content.len() {
            writer.raw_copy_file(file)?;
            return Ok(Some(len));
        }
    }
    writer.start_file(&member.name, options.compression_method(CompressionMethod::Stored))?;
    writer.write_all(&member.content)?;
    Ok(None)
}

fn time(metadata: &Metadata) -> DateTime {
    let [year, month, day, hour, minute, second] = calendar(metadata.modified);
    let small = |value: u64| u8::try_from(value).unwrap_or(0);
    let year = u16::try_from(year).unwrap_or(1980);
    DateTime::from_date_and_time(
        year,
        small(month),
        small(day),
        small(hour),
        small(minute),
        small(second),
    )
    .unwrap_or_default()
}
