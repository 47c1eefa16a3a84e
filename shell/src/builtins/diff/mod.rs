//! `diff`: files, and with `-r` whole folders. [`lines`] finds the lines that differ, and
//! [`formats`] shows them.

mod formats;
mod lines;

use super::{
    options::OptionSpec,
    options::ParsedArguments,
    shared::{content, fail, fits, path, reason},
};
use bashkit::{
    Command, CommandContext, CommandStatus, Error, FileType, Metadata, Result, async_trait,
};
use formats::{DiffFormat, DiffInput};
use lines::IgnoreOptions;
use std::{collections::BTreeMap, io::ErrorKind, time::SystemTime};

pub(super) struct DiffCommand;

const KNOWN: OptionSpec = OptionSpec {
    command: "diff",
    short: "abBcC:dEHiL:NpqrsS:tTuU:wx:Z",
    long: &[
        ("brief", 'q'),
        ("color?", '.'),
        ("context?", 'C'),
        ("exclude:", 'x'),
        ("ignore-all-space", 'w'),
        ("ignore-blank-lines", 'B'),
        ("ignore-case", 'i'),
        ("ignore-space-change", 'b'),
        ("ignore-trailing-space", 'Z'),
        ("label:", 'L'),
        ("minimal", 'd'),
        ("new-file", 'N'),
        ("no-dereference", '.'),
        ("normal", 'n'),
        ("recursive", 'r'),
        ("report-identical-files", 's'),
        ("show-c-function", 'p'),
        ("speed-large-files", 'H'),
        ("strip-trailing-cr", 'R'),
        ("text", 'a'),
        ("unified?", 'U'),
    ],
};

/// The status if something differs.
const DIFFERS: i32 = 1;

/// The status if something could not be compared.
const TROUBLE: i32 = 2;

#[async_trait]
impl Command for DiffCommand {
    async fn execute(&self, context: CommandContext<'_>) -> Result<CommandStatus> {
        let given = match KNOWN.read(context.args) {
            Ok(given) => given,
            Err(words) => return fail(&context, &words, TROUBLE).await,
        };
        let [old, new] = &given.operands[..] else {
            let words = match &given.operands[..] {
                [] => "missing operand after 'diff'".to_owned(),
                [only] => format!("missing operand after '{only}'"),
                [_, _, extra, ..] => format!("extra operand '{extra}'"),
                _ => String::new(),
            };
            return fail(&context, &KNOWN.wrong(&words), TROUBLE).await;
        };
        let mut comparison = DiffRun {
            context: &context,
            format: DiffFormat::of(&given),
            ignored: IgnoreOptions::of(&given),
            labels: given.options.iter().filter(|(letter, _)| *letter == 'L').collect(),
            given: &given,
            status: 0,
        };
        comparison.operands(old, new).await?;
        Ok(CommandStatus::with_code(comparison.status))
    }
}

/// One run of `diff`.
struct DiffRun<'a> {
    context: &'a CommandContext<'a>,
    format: DiffFormat,
    ignored: IgnoreOptions,
    labels: Vec<&'a (char, String)>,
    given: &'a ParsedArguments,
    status: i32,
}

impl DiffRun<'_> {
    async fn operands(&mut self, old: &str, new: &str) -> Result<()> {
        let (old_kind, new_kind) = (self.kind(old).await, self.kind(new).await);
        let is_folder = |kind: &Option<Metadata>| {
            kind.as_ref().is_some_and(|kind| kind.file_type == FileType::Directory)
        };
        let within = |folder: &str, file: &str| {
            let name = file.rsplit('/').next().unwrap_or(file);
            format!("{}/{name}", folder.trim_end_matches('/'))
        };
        match (is_folder(&old_kind), is_folder(&new_kind)) {
            (true, true) => self.folders(old, new).await,
            (true, false) if new_kind.is_some() && new != "-" => {
                self.files(&within(old, new), new, None).await
            }
            (false, true) if old_kind.is_some() && old != "-" => {
                self.files(old, &within(new, old), None).await
            }
            _ => self.files(old, new, None).await,
        }
    }

    async fn kind(&self, operand: &str) -> Option<Metadata> {
        self.context.fs.stat(&path(self.context, operand)).await.ok()
    }

    async fn say(&self, words: &str) -> Result<()> {
        self.context.stdout.write_all(words.as_bytes()).await
    }

    fn differs(&mut self, status: i32) {
        self.status = self.status.max(status);
    }

    async fn folders(&mut self, old: &str, new: &str) -> Result<()> {
        let mut waiting = vec![(old.to_owned(), new.to_owned())];
        while let Some((old, new)) = waiting.pop() {
            let mut names: BTreeMap<String, [Option<FileType>; 2]> = BTreeMap::new();
            for (side, folder) in [&old, &new].into_iter().enumerate() {
                let found = self.context.fs.read_dir(&path(self.context, folder)).await;
                for entry in found.unwrap_or_default() {
                    let kinds = names.entry(entry.name).or_default();
                    if let Some(kind) = kinds.get_mut(side) {
                        *kind = Some(entry.metadata.file_type);
                    }
                }
            }
            let excluded: Vec<&String> =
                self.given.options.iter().filter(|(x, _)| *x == 'x').map(|(_, x)| x).collect();
            let mut below = Vec::new();
            for (name, kinds) in names {
                if excluded.iter().any(|pattern| fits(pattern, &name)) {
                    continue;
                }
                let join = |folder: &str| format!("{}/{name}", folder.trim_end_matches('/'));
                let pair = (join(&old), join(&new));
                if self.entry(&name, [&old, &new], kinds, &pair).await? {
                    // The content of a folder comes where its name stands, and not behind all other
                    // names.
                    below.push(pair);
                    let rest = std::mem::take(&mut below);
                    for (old, new) in rest {
                        Box::pin(self.folders(&old, &new)).await?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Compares what has the same name in two folders, and returns whether both are folders to look
    /// into.
    async fn entry(
        &mut self,
        name: &str,
        folders: [&str; 2],
        kinds: [Option<FileType>; 2],
        pair: &(String, String),
    ) -> Result<bool> {
        let is_folder = |kind: Option<FileType>| kind == Some(FileType::Directory);
        match kinds {
            [Some(old), Some(new)] if is_folder(Some(old)) && is_folder(Some(new)) => {
                if self.given.has('r') {
                    return Ok(true);
                }
                self.say(&format!("Common subdirectories: {} and {}\n", pair.0, pair.1)).await?;
            }
            [Some(old), Some(new)] if is_folder(Some(old)) != is_folder(Some(new)) => {
                let word = |kind| if is_folder(Some(kind)) { "directory" } else { "regular file" };
                let (old, new) = (word(old), word(new));
                let words =
                    format!("File {} is a {old} while file {} is a {new}\n", pair.0, pair.1);
                self.say(&words).await?;
                self.differs(DIFFERS);
            }
            [Some(_), Some(_)] => self.files(&pair.0, &pair.1, Some(self.switches())).await?,
            [old, new] if self.given.has('N') => {
                if is_folder(old) || is_folder(new) {
                    return Ok(self.given.has('r'));
                }
                self.files(&pair.0, &pair.1, Some(self.switches())).await?;
            }
            [old, _] => {
                let folder = if old.is_some() { folders[0] } else { folders[1] };
                self.say(&format!("Only in {}: {name}\n", folder.trim_end_matches('/'))).await?;
                self.differs(DIFFERS);
            }
        }
        Ok(false)
    }

    /// Returns the options as they were given, for the line above each pair of files.
    fn switches(&self) -> String {
        let operands = &self.given.operands;
        let options = self.context.args.iter().filter(|arg| !operands.contains(arg));
        options.fold(String::new(), |all, option| all + " " + option)
    }

    /// Compares two files, with a line above the differences if they are in folders.
    async fn files(&mut self, old: &str, new: &str, switches: Option<String>) -> Result<()> {
        let mut sides = Vec::new();
        for (side, name) in [old, new].into_iter().enumerate() {
            let label = self.labels.get(side).map(|(_, label)| label.clone());
            match self.side(name, label, switches.is_some()).await {
                Ok(side) => sides.push(side),
                Err(error) => {
                    let words = format!("diff: {name}: {}\n", reason(&error));
                    self.context.stderr.write_all(words.as_bytes()).await?;
                    self.differs(TROUBLE);
                }
            }
        }
        let [old_side, new_side] = &sides[..] else { return Ok(()) };
        let is_same = old_side.bytes == new_side.bytes;
        let is_binary = !self.given.has('a') && (old_side.is_binary() || new_side.is_binary());
        let changes = match is_same || is_binary {
            true => Vec::new(),
            false => lines::changes(&old_side.bytes, &new_side.bytes, &self.ignored),
        };
        if is_same || (!is_binary && changes.is_empty()) {
            if self.given.has('s') {
                self.say(&format!("Files {old} and {new} are identical\n")).await?;
            }
            return Ok(());
        }
        if self.given.has('q') {
            self.say(&format!("Files {old} and {new} differ\n")).await?;
            self.differs(DIFFERS);
            return Ok(());
        }
        if is_binary {
            self.say(&format!("Binary files {old} and {new} differ\n")).await?;
            // As in GNU's `diff`, binary files that differ count as trouble.
            self.differs(TROUBLE);
            return Ok(());
        }
        if let Some(switches) = switches {
            self.say(&format!("diff{switches} {old} {new}\n")).await?;
        }
        let told = self.format.tell(old_side, new_side, &changes);
        self.context.stdout.write_all(&told).await?;
        self.differs(DIFFERS);
        Ok(())
    }

    async fn side(&self, name: &str, label: Option<String>, in_folder: bool) -> Result<DiffInput> {
        let may_be_absent = self.given.has('N');
        let bytes = match content(self.context, name).await {
            Err(Error::Io(error)) if may_be_absent && error.kind() == ErrorKind::NotFound => None,
            Err(_) if may_be_absent && in_folder => None,
            bytes => Some(bytes?),
        };
        let found = self.context.fs.stat(&path(self.context, name)).await;
        let now = if bytes.is_some() { SystemTime::now() } else { SystemTime::UNIX_EPOCH };
        let modified = found.map_or(now, |found| found.modified);
        Ok(DiffInput { name: name.to_owned(), label, modified, bytes: bytes.unwrap_or_default() })
    }
}
