//! `ls`: the files that are listed, and their order. [`layout`] lays them out.

mod layout;

use super::{
    options::OptionSpec,
    shared::{fail, fits, path, reason},
};
use bashkit::{
    Command, CommandContext, CommandStatus, FileType, Metadata, Result, async_trait, vfs_join,
};
use layout::{ListEntry, ListLayout};
use std::{cmp::Ordering, path::Path, path::PathBuf};

const KNOWN: OptionSpec = OptionSpec {
    command: "ls",
    short: "1AaBbCcdDFfGgHhI:ikLlmNnopQqRrSsT:tUuvw:XxZ",
    long: &[
        ("all", 'a'),
        ("almost-all", 'A'),
        ("author", '.'),
        ("classify?", 'F'),
        ("color?", '.'),
        ("directory", 'd'),
        ("dereference", 'L'),
        ("file-type", 'p'),
        ("format:", 'O'),
        ("full-time", 'E'),
        ("group-directories-first", 'D'),
        ("hide:", 'I'),
        ("human-readable", 'h'),
        ("ignore:", 'I'),
        ("ignore-backups", 'B'),
        ("indicator-style:", '.'),
        ("inode", 'i'),
        ("no-group", 'G'),
        ("numeric-uid-gid", 'n'),
        ("quote-name", 'Q'),
        ("recursive", 'R'),
        ("reverse", 'r'),
        ("size", 's'),
        ("sort:", 'K'),
        ("time:", '.'),
        ("time-style:", 'W'),
        ("width:", 'w'),
    ],
};

/// The status where an operand could not be listed.
const TROUBLE: i32 = 2;

pub(super) struct LsCommand;

/// A run of `ls`: what is listed, and in what order.
struct LsRun<'a> {
    context: &'a CommandContext<'a>,
    layout: ListLayout,
    shows_hidden: bool,
    shows_dots: bool,
    is_flat: bool,
    is_recursive: bool,
    follows: bool,
    is_reversed: bool,
    folders_first: bool,
    /// The letter of the option that sets the order.
    order: char,
    ignored: Vec<String>,
    out: String,
    status: i32,
}

#[async_trait]
impl Command for LsCommand {
    async fn execute(&self, context: CommandContext<'_>) -> Result<CommandStatus> {
        let given = match KNOWN.read(context.args) {
            Ok(given) => given,
            Err(words) => return fail(&context, &words, TROUBLE).await,
        };
        let order = match given.value('K') {
            Some("none") => 'U',
            Some("size") => 'S',
            Some("time") => 't',
            Some("version") => 'v',
            Some("extension") => 'X',
            _ => given.last("tSUfvX").unwrap_or(' '),
        };
        let mut listing = LsRun {
            context: &context,
            layout: ListLayout::of(&given),
            shows_hidden: given.last("aAf").is_some(),
            shows_dots: given.last("aAf").is_some_and(|last| last != 'A'),
            is_flat: given.has('d'),
            is_recursive: given.has('R'),
            follows: given.has('L'),
            is_reversed: given.has('r'),
            folders_first: given.has('D'),
            order,
            ignored: Vec::new(),
            out: String::new(),
            status: 0,
        };
        let ignored = given.options.iter().filter(|(letter, _)| *letter == 'I');
        listing.ignored.extend(ignored.map(|(_, pattern)| pattern.clone()));
        if given.has('B') {
            listing.ignored.push("*~".to_owned());
        }
        listing.operands(&given.operands).await?;
        listing.flush().await?;
        Ok(CommandStatus::with_code(listing.status))
    }
}

impl LsRun<'_> {
    async fn operands(&mut self, operands: &[String]) -> Result<()> {
        let here = [".".to_owned()];
        let operands = if operands.is_empty() { &here[..] } else { operands };
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        for operand in operands {
            match self.operand(operand).await {
                Ok(entry) if entry.metadata.file_type == FileType::Directory && !self.is_flat => {
                    folders.push(entry);
                }
                Ok(entry) => files.push(entry),
                Err(error) => {
                    let words = format!("ls: cannot access '{operand}': {}\n", reason(&error));
                    self.context.stderr.write_all(words.as_bytes()).await?;
                    self.status = TROUBLE;
                }
            }
        }
        self.sort(&mut files);
        self.sort(&mut folders);
        self.layout.list(&files, &mut self.out);
        let has_header = operands.len() > 1 || self.is_recursive;
        let mut waiting: Vec<(String, PathBuf)> = Vec::new();
        for folder in folders.into_iter().rev() {
            let path = path(self.context, &folder.name);
            waiting.push((folder.name, path));
        }
        while let Some((shown, path)) = waiting.pop() {
            if has_header {
                let gap = if self.out.is_empty() && files.is_empty() { "" } else { "\n" };
                self.out.push_str(&format!("{gap}{shown}:\n"));
                files.clear();
            }
            let below = self.folder(&shown, &path).await?;
            waiting.extend(below.into_iter().rev());
            if self.out.len() > 1 << 16 {
                self.flush().await?;
                self.out.clear();
                // What follows is not the first any more, and needs the gap above it.
                files.push(dot(".", Metadata::default()));
            }
        }
        Ok(())
    }

    async fn flush(&self) -> Result<()> {
        self.context.stdout.write_all(self.out.as_bytes()).await
    }

    async fn operand(&self, operand: &str) -> Result<ListEntry> {
        let path = path(self.context, operand);
        let mut metadata = self.context.fs.lstat(&path).await?;
        let is_link = metadata.file_type == FileType::Symlink;
        let mut target = None;
        if is_link {
            let shows_link = self.is_flat || self.layout.is_long();
            let followed = self.context.fs.stat(&path).await;
            match followed {
                Ok(followed) if self.follows || (!shows_link && followed.file_type.is_dir()) => {
                    metadata = followed;
                }
                _ => target = self.target(&path).await,
            }
        }
        Ok(ListEntry { name: operand.to_owned(), metadata, target })
    }

    async fn target(&self, path: &Path) -> Option<String> {
        let target = self.context.fs.read_link(path).await.ok()?;
        Some(target.to_string_lossy().into_owned())
    }

    /// Lists a folder, and returns the folders in it if they are listed, too.
    async fn folder(&mut self, shown: &str, path: &Path) -> Result<Vec<(String, PathBuf)>> {
        let found = match self.context.fs.read_dir(path).await {
            Ok(found) => found,
            Err(error) => {
                let words = format!("ls: cannot open directory '{shown}': {}\n", reason(&error));
                self.context.stderr.write_all(words.as_bytes()).await?;
                self.status = TROUBLE;
                return Ok(Vec::new());
            }
        };
        let mut entries = Vec::new();
        for entry in found {
            let is_hidden = entry.name.starts_with('.') && !self.shows_hidden;
            let is_ignored = self.ignored.iter().any(|pattern| fits(pattern, &entry.name));
            if is_hidden || is_ignored || matches!(entry.name.as_str(), "." | "..") {
                continue;
            }
            let at = path.join(&entry.name);
            let is_link = entry.metadata.file_type == FileType::Symlink;
            let target = if is_link { self.target(&at).await } else { None };
            let metadata = match is_link && self.follows {
                true => self.context.fs.stat(&at).await.unwrap_or(entry.metadata),
                false => entry.metadata,
            };
            entries.push(ListEntry { name: entry.name, metadata, target });
        }
        if self.shows_dots {
            let here = self.context.fs.stat(path).await?;
            let above = self.context.fs.stat(&vfs_join(path, Path::new(".."))).await?;
            entries.extend([dot(".", here), dot("..", above)]);
        }
        self.sort(&mut entries);
        if self.layout.has_total() {
            self.out.push_str(&self.layout.total(&entries));
        }
        self.layout.list(&entries, &mut self.out);
        if !self.is_recursive {
            return Ok(Vec::new());
        }
        let is_below = |entry: &&ListEntry| {
            entry.metadata.file_type.is_dir() && !matches!(entry.name.as_str(), "." | "..")
        };
        let shown = shown.trim_end_matches('/');
        let below = entries.iter().filter(is_below);
        Ok(below.map(|entry| (format!("{shown}/{}", entry.name), path.join(&entry.name))).collect())
    }

    fn sort(&self, entries: &mut [ListEntry]) {
        let named = |a: &ListEntry, b: &ListEntry| a.name.as_bytes().cmp(b.name.as_bytes());
        let order = |a: &ListEntry, b: &ListEntry| match self.order {
            't' => b.metadata.modified.cmp(&a.metadata.modified).then_with(|| named(a, b)),
            'S' => b.metadata.size.cmp(&a.metadata.size).then_with(|| named(a, b)),
            'X' => end(a).cmp(end(b)).then_with(|| named(a, b)),
            'v' => by_version(&a.name, &b.name),
            'U' | 'f' => Ordering::Equal,
            _ => named(a, b),
        };
        entries.sort_by(|a, b| if self.is_reversed { order(b, a) } else { order(a, b) });
        // A stable sort, so that the order within folders and files stays.
        if self.folders_first {
            entries.sort_by_key(|entry| !entry.metadata.file_type.is_dir());
        }
    }
}

fn dot(name: &str, metadata: Metadata) -> ListEntry {
    ListEntry { name: name.to_owned(), metadata, target: None }
}

fn end(entry: &ListEntry) -> &str {
    entry.name.rsplit_once('.').map_or("", |(_, end)| end)
}

/// Compares names, with their numbers as numbers.
fn by_version(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    loop {
        let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (in_a, in_b) = (digits(a), digits(b));
        let order = if in_a > 0 && in_b > 0 {
            let value = |text: &[u8], len| {
                let number = text.get(..len).unwrap_or_default();
                number.trim_ascii_start().iter().copied().skip_while(|byte| *byte == b'0').collect()
            };
            let (left, right): (Vec<u8>, Vec<u8>) = (value(a, in_a), value(b, in_b));
            left.len().cmp(&right.len()).then(left.cmp(&right))
        } else {
            a.first().cmp(&b.first())
        };
        if order != Ordering::Equal || a.is_empty() || b.is_empty() {
            return order;
        }
        a = a.get(in_a.max(1)..).unwrap_or_default();
        b = b.get(in_b.max(1)..).unwrap_or_default();
    }
}
