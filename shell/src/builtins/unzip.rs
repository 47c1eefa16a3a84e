//! `unzip`: the members of an archive, listed, printed or extracted. None is written outside of the
//! folder.

use super::{
    options::OptionSpec,
    options::ParsedArguments,
    shared::{content, fail, fits, path, reason},
};
use bashkit::{Command, CommandContext, CommandStatus, Error, Result, async_trait};
use std::{
    io::{Cursor, Read},
    path::Path,
};
use zip::{CompressionMethod, ZipArchive};

pub(super) struct UnzipCommand;

const KNOWN: OptionSpec = OptionSpec { command: "unzip", short: "aCcd:jlLnopqtuvxz", long: &[] };

/// The exit statuses of `unzip`.
mod status {
    pub(super) const WARNING: i32 = 1;
    pub(super) const DAMAGED: i32 = 3;
    pub(super) const NOT_FOUND: i32 = 9;
    pub(super) const USAGE: i32 = 10;
    pub(super) const NO_MATCH: i32 = 11;
}

/// A member of an archive.
struct ArchiveMember {
    name: String,
    is_folder: bool,
    is_stored: bool,
    mode: Option<u32>,
    /// The time as `unzip -l` shows it.
    time: String,
    /// True if its name stays in the folder.
    is_safe: bool,
    size: u64,
    content: Vec<u8>,
}

#[async_trait]
impl Command for UnzipCommand {
    async fn execute(&self, context: CommandContext<'_>) -> Result<CommandStatus> {
        let (args, excluded) = split(context.args);
        let given = match KNOWN.read(&args) {
            Ok(given) => given,
            Err(words) => return fail(&context, &words, status::USAGE).await,
        };
        let Some((archive, wanted)) = given.operands.split_first() else {
            return fail(&context, "unzip: missing operand\n", status::USAGE).await;
        };
        let mut bytes = content(&context, archive).await;
        let mut name = archive.clone();
        if bytes.is_err() {
            name.push_str(".zip");
            bytes = content(&context, &name).await;
        }
        let Ok(bytes) = bytes else {
            let words =
                format!("unzip:  cannot find or open {archive}, {archive}.zip or {archive}.ZIP.\n");
            return fail(&context, &words, status::NOT_FOUND).await;
        };
        let is_wanted = |member: &ArchiveMember| {
            let names = |pattern: &String| fits(pattern, &member.name);
            (wanted.is_empty() || wanted.iter().any(names)) && !excluded.iter().any(names)
        };
        let members = match read(bytes) {
            Ok(members) => members,
            Err(words) => {
                let words = format!("unzip:  {name}: {words}\n");
                return fail(&context, &words, status::DAMAGED).await;
            }
        };
        let members: Vec<ArchiveMember> = members.into_iter().filter(is_wanted).collect();
        if members.is_empty() && !wanted.is_empty() {
            let words = format!("caution: filename not matched:  {}\n", wanted.join(" "));
            return fail(&context, &words, status::NO_MATCH).await;
        }
        if given.has('l') || given.has('v') {
            context.stdout.write_all(listed(&name, &members).as_bytes()).await?;
        } else if given.has('p') || given.has('c') {
            for member in &members {
                context.stdout.write_all(&member.content).await?;
            }
        } else if given.has('t') {
            let words = format!("No errors detected in compressed data of {name}.\n");
            context.stdout.write_all(words.as_bytes()).await?;
        } else {
            return extract(&context, &given, &name, &members).await;
        }
        Ok(CommandStatus::success())
    }
}

/// Returns the words without those behind `-x`, and those; `-d` may follow them.
fn split(args: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut rest, mut excluded) = (Vec::new(), Vec::new());
    let mut excludes = false;
    for arg in args {
        match arg.as_str() {
            "-x" => excludes = true,
            _ if excludes && !arg.starts_with('-') => excluded.push(arg.clone()),
            _ => {
                excludes = false;
                rest.push(arg.clone());
            }
        }
    }
    (rest, excluded)
}

fn read(bytes: Vec<u8>) -> std::result::Result<Vec<ArchiveMember>, String> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| error.to_string())?;
    let mut members = Vec::new();
    for number in 0..archive.len() {
        let mut file = archive.by_index(number).map_err(|error| error.to_string())?;
        let mut content = Vec::new();
        file.read_to_end(&mut content).map_err(|error| error.to_string())?;
        let time = file.last_modified().unwrap_or_default();
        let name = file.name().map_err(|error| error.to_string())?.into_owned();
        members.push(ArchiveMember {
            name,
            is_folder: file.is_dir(),
            is_stored: file.compression() == CompressionMethod::Stored,
            mode: file.unix_mode(),
            time: format!(
                "{}-{:02}-{:02} {:02}:{:02}",
                time.year(),
                time.month(),
                time.day(),
                time.hour(),
                time.minute()
            ),
            is_safe: file.enclosed_name().is_some(),
            size: file.size(),
            content,
        });
    }
    Ok(members)
}

fn listed(archive: &str, members: &[ArchiveMember]) -> String {
    let mut list = format!(
        "Archive:  {archive}\n  Length      Date    Time    Name\n\
         ---------  ---------- -----   ----\n"
    );
    for member in members {
        list.push_str(&format!("{:9}  {}   {}\n", member.size, member.time, member.name));
    }
    let total: u64 = members.iter().map(|member| member.size).sum();
    let (count, end) = (members.len(), if members.len() == 1 { "" } else { "s" });
    list + &format!(
        "---------                     -------\n{total:9}                     {count} file{end}\n"
    )
}

async fn extract(
    context: &CommandContext<'_>,
    given: &ParsedArguments,
    archive: &str,
    members: &[ArchiveMember],
) -> Result<CommandStatus> {
    let mut status = 0;
    let mut told = format!("Archive:  {archive}\n");
    let folder = given
        .value('d')
        .map_or_else(String::new, |folder| format!("{}/", folder.trim_end_matches('/')));
    for member in members {
        let name = match given.has('j') {
            true => member.name.rsplit('/').next().unwrap_or_default(),
            false => &member.name,
        };
        if name.is_empty() || (given.has('j') && member.is_folder) {
            continue;
        }
        let shown = format!("{folder}{name}");
        // An archive may name `../` or an absolute path, and would overwrite files that nobody
        // expects it to.
        if !member.is_safe {
            let words = format!("warning:  skipped {name}, which leads out of the folder\n");
            context.stderr.write_all(words.as_bytes()).await?;
            status = status::WARNING;
            continue;
        }
        match one(context, given, member, &shown).await {
            Ok(line) => told.push_str(&line),
            Err(error @ Error::Io(_)) => {
                let words = format!("error:  cannot create {shown}\n        {}\n", reason(&error));
                context.stderr.write_all(words.as_bytes()).await?;
                status = status::WARNING;
            }
            Err(error) => return Err(error),
        }
    }
    if !given.has('q') {
        context.stdout.write_all(told.as_bytes()).await?;
    }
    Ok(CommandStatus::with_code(status))
}

/// Extracts a member, and returns the line to print.
async fn one(
    context: &CommandContext<'_>,
    given: &ParsedArguments,
    member: &ArchiveMember,
    shown: &str,
) -> Result<String> {
    let at = path(context, shown);
    if member.is_folder {
        if context.fs.exists(&at).await? {
            return Ok(String::new());
        }
        context.fs.mkdir(&at, true).await?;
        return Ok(format!("   creating: {shown}\n"));
    }
    if context.fs.exists(&at).await? && !given.has('o') {
        // Nobody is there to answer, which `unzip` itself takes for a no.
        if !given.has('n') {
            let words = format!(
                "replace {shown}? [y]es, [n]o, [A]ll, [N]one, [r]ename:  NULL\n\
                 (EOF or read error, treating as \"[N]one\" ...)\n"
            );
            context.stderr.write_all(words.as_bytes()).await?;
        }
        return Ok(String::new());
    }
    if let Some(above) = at.parent().filter(|above| *above != Path::new("/")) {
        context.fs.mkdir(above, true).await?;
    }
    context.fs.write_file(&at, &member.content).await?;
    // An archive that was made on a system without modes has none, or no bits.
    let mode = member.mode.map(|mode| mode & 0o777).filter(|mode| *mode != 0);
    if let Some(mode) = mode
        && context.fs.stat(&at).await?.mode & 0o777 != mode
    {
        context.fs.chmod(&at, mode).await?;
    }
    let verb = if member.is_stored { " extracting" } else { "  inflating" };
    Ok(format!("{verb}: {shown}  \n"))
}
