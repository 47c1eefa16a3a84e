//! The layout of a list of `ls`: one name a line, in columns, or with all metadata of a file.

use crate::builtins::{
    calendar::{calendar, stamp},
    options::ParsedArguments,
};
use bashkit::{FileType, Metadata};
use std::{
    fmt::Write,
    time::{Duration, SystemTime},
};

/// The width of all columns together, unless the user sets another.
const WIDTH: usize = 80;

/// The disk space that the smallest file takes, in bytes.
const BLOCK: u64 = 4096;

/// The age from which times are shown with the year.
const HALF_A_YEAR: Duration = Duration::from_secs(15_778_476);

/// A file that is listed.
pub(super) struct ListEntry {
    pub(super) name: String,
    pub(super) metadata: Metadata,
    /// The path that it leads to, if it is a link.
    pub(super) target: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ListFormat {
    Lines,
    Long,
    Commas,
    Down,
    Across,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TimeStyle {
    Usual,
    Full,
    LongIso,
    Iso,
}

/// The layout of a list.
pub(super) struct ListLayout {
    form: ListFormat,
    times: TimeStyle,
    width: usize,
    is_human: bool,
    marks_all: bool,
    marks_folders: bool,
    has_blocks: bool,
    has_inode: bool,
    has_owner: bool,
    has_group: bool,
    is_numeric: bool,
    is_quoted: bool,
    now: SystemTime,
}

impl ListLayout {
    /// Returns the layout that the options ask for.
    pub(super) fn of(given: &ParsedArguments) -> Self {
        let form = match (given.last("lgonCxm1OE"), given.value('O')) {
            (Some('l' | 'g' | 'o' | 'n' | 'E'), _) => ListFormat::Long,
            // `-l` has one name a line anyway, so `-1` behind it changes nothing.
            (Some('1'), _) if given.last("lgon").is_some() => ListFormat::Long,
            (Some('C'), _) => ListFormat::Down,
            (Some('x'), _) => ListFormat::Across,
            (Some('m'), _) => ListFormat::Commas,
            (Some('O'), Some("long" | "verbose")) => ListFormat::Long,
            (Some('O'), Some("commas")) => ListFormat::Commas,
            (Some('O'), Some("vertical")) => ListFormat::Down,
            (Some('O'), Some("horizontal" | "across")) => ListFormat::Across,
            _ => ListFormat::Lines,
        };
        let times = match given.value('W') {
            _ if given.has('E') => TimeStyle::Full,
            Some("full-iso") => TimeStyle::Full,
            Some("long-iso" | "+%Y-%m-%d %H:%M") => TimeStyle::LongIso,
            Some("iso" | "+%Y-%m-%d") => TimeStyle::Iso,
            _ => TimeStyle::Usual,
        };
        Self {
            form,
            times,
            width: given.value('w').and_then(|width| width.parse().ok()).unwrap_or(WIDTH),
            is_human: given.has('h'),
            marks_all: given.has('F'),
            marks_folders: given.has('p'),
            has_blocks: given.has('s'),
            has_inode: given.has('i'),
            has_owner: !given.has('g'),
            has_group: !given.has('o') && !given.has('G'),
            is_numeric: given.has('n'),
            is_quoted: given.has('Q'),
            now: SystemTime::now(),
        }
    }

    /// Returns whether all metadata of a file is shown.
    pub(super) fn is_long(&self) -> bool {
        self.form == ListFormat::Long
    }

    /// Returns whether a folder's list begins with its disk space.
    pub(super) fn has_total(&self) -> bool {
        self.is_long() || self.has_blocks
    }

    /// Returns the line with the disk space.
    pub(super) fn total(&self, entries: &[ListEntry]) -> String {
        let blocks = entries.iter().map(blocks).sum();
        format!("total {}\n", self.blocks(blocks))
    }

    /// Appends the entries in this layout.
    pub(super) fn list(&self, entries: &[ListEntry], out: &mut String) {
        if self.is_long() {
            return self.long(entries, out);
        }
        let prefixes: Vec<String> = entries.iter().map(|entry| self.prefix(entry)).collect();
        let wide = prefixes.iter().map(String::len).max().unwrap_or(0);
        let pairs = entries.iter().zip(&prefixes);
        let is_spaced = !matches!(self.form, ListFormat::Commas);
        let names: Vec<String> = pairs
            .map(|(entry, prefix)| {
                let width = if is_spaced { wide } else { 0 };
                format!("{prefix:>width$}{}", self.name(entry))
            })
            .collect();
        match self.form {
            ListFormat::Lines | ListFormat::Long => {
                out.extend(names.into_iter().flat_map(|name| [name, "\n".into()]));
            }
            ListFormat::Commas => self.commas(&names, out),
            ListFormat::Down => self.columns(&names, true, out),
            ListFormat::Across => self.columns(&names, false, out),
        }
    }

    fn prefix(&self, entry: &ListEntry) -> String {
        let mut prefix = String::new();
        if self.has_inode {
            prefix.push_str(&format!("{} ", inode(entry)));
        }
        if self.has_blocks {
            prefix.push_str(&format!("{} ", self.blocks(blocks(entry))));
        }
        prefix
    }

    fn blocks(&self, blocks: u64) -> String {
        if self.is_human { human(blocks * 1024) } else { blocks.to_string() }
    }

    fn name(&self, entry: &ListEntry) -> String {
        let metadata = &entry.metadata;
        let mark = match metadata.file_type {
            FileType::Directory if self.marks_all || self.marks_folders => "/",
            FileType::Symlink if self.marks_all && !self.is_long() => "@",
            FileType::File if self.marks_all && metadata.mode & 0o111 != 0 => "*",
            _ => "",
        };
        if self.is_quoted {
            let escaped = entry.name.replace('\\', "\\\\").replace('"', "\\\"");
            return format!("\"{escaped}\"{mark}");
        }
        format!("{}{mark}", entry.name)
    }

    fn long(&self, entries: &[ListEntry], out: &mut String) {
        let sizes: Vec<String> = entries.iter().map(|entry| self.size(entry)).collect();
        let wide = sizes.iter().map(String::len).max().unwrap_or(0);
        let prefixes: Vec<String> = entries.iter().map(|entry| self.prefix(entry)).collect();
        let prefix_wide = prefixes.iter().map(String::len).max().unwrap_or(0);
        let who = if self.is_numeric { "1000" } else { "user" };
        for ((entry, size), prefix) in entries.iter().zip(&sizes).zip(&prefixes) {
            let mode = mode(entry);
            let owner = if self.has_owner { format!("{who} ") } else { String::new() };
            let group = if self.has_group { format!("{who} ") } else { String::new() };
            let time = self.time(entry.metadata.modified);
            let name = self.name(entry);
            let _never = write!(
                out,
                "{prefix:>prefix_wide$}{mode} 1 {owner}{group}{size:>wide$} {time} {name}"
            );
            if let Some(target) = &entry.target {
                out.push_str(" -> ");
                out.push_str(target);
            }
            out.push('\n');
        }
    }

    fn size(&self, entry: &ListEntry) -> String {
        let size = size(entry);
        if self.is_human { human(size) } else { size.to_string() }
    }

    fn time(&self, time: SystemTime) -> String {
        let [year, month, day, hour, minute, _] = calendar(time);
        let clock = format!("{hour:02}:{minute:02}");
        let iso = format!("{year}-{month:02}-{day:02}");
        let is_recent =
            time <= self.now && self.now.duration_since(time).is_ok_and(|age| age < HALF_A_YEAR);
        match self.times {
            TimeStyle::Full => stamp(time),
            TimeStyle::LongIso => format!("{iso} {clock}"),
            TimeStyle::Iso => iso,
            TimeStyle::Usual => {
                let end = if is_recent { clock } else { format!(" {year}") };
                format!("{} {day:2} {end}", name_of(month))
            }
        }
    }

    fn commas(&self, names: &[String], out: &mut String) {
        let mut column = 0;
        for (number, name) in names.iter().enumerate() {
            let len = name.chars().count();
            if number > 0 {
                let breaks = column + len + 3 > self.width;
                out.push_str(if breaks { ",\n" } else { ", " });
                column = if breaks { 0 } else { column + 2 };
            }
            out.push_str(name);
            column += len;
        }
        if !names.is_empty() {
            out.push('\n');
        }
    }

    fn columns(&self, names: &[String], is_down: bool, out: &mut String) {
        let count = names.len();
        let at = |row: usize, column: usize, rows: usize, columns: usize| {
            if is_down { column * rows + row } else { row * columns + column }
        };
        // From many columns to few, as the widths are only known for a given number: the first that
        // fits is the best.
        for columns in (1..=count.min(self.width / 3).max(1)).rev() {
            let rows = count.div_ceil(columns);
            let width_of = |column: usize| {
                let in_column =
                    (0..rows).filter_map(|row| names.get(at(row, column, rows, columns)));
                in_column.map(|name| name.chars().count()).max().unwrap_or(0)
            };
            let widths: Vec<usize> = (0..columns).map(width_of).collect();
            let is_full = !is_down || at(0, columns - 1, rows, columns) < count;
            let total: usize = widths.iter().sum::<usize>() + 2 * (columns - 1);
            if columns > 1 && (!is_full || total >= self.width) {
                continue;
            }
            for row in 0..rows {
                let mut line = String::new();
                for (column, width) in widths.iter().enumerate() {
                    let Some(name) = names.get(at(row, column, rows, columns)) else { continue };
                    let _never = write!(line, "{name:<width$}  ");
                }
                out.push_str(line.trim_end());
                out.push('\n');
            }
            return;
        }
    }
}

fn size(entry: &ListEntry) -> u64 {
    if entry.metadata.file_type.is_dir() { BLOCK } else { entry.metadata.size }
}

/// Returns the disk space of a file, in units of 1024 bytes.
fn blocks(entry: &ListEntry) -> u64 {
    if entry.metadata.file_type.is_symlink() { 0 } else { size(entry).div_ceil(BLOCK) * 4 }
}

/// Returns a number in place of an inode: a digest of the name, equal from run to run.
fn inode(entry: &ListEntry) -> u32 {
    entry
        .name
        .bytes()
        .fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

fn mode(entry: &ListEntry) -> String {
    let kind = match entry.metadata.file_type {
        FileType::Directory => 'd',
        FileType::Symlink => 'l',
        FileType::File => '-',
        _ => 'p',
    };
    let mode = entry.metadata.mode;
    let bits = (0..9).rev().map(|bit| match mode >> bit & 1 {
        0 => '-',
        _ if bit % 3 == 2 => 'r',
        _ if bit % 3 == 1 => 'w',
        _ => 'x',
    });
    std::iter::once(kind).chain(bits).collect()
}

/// Returns a number of bytes as people read it, rounded up.
fn human(bytes: u64) -> String {
    let (mut unit, mut size) = (1_u64, bytes);
    let mut letters = "KMGTPE".chars();
    let mut letter = None;
    while size >= 1024 {
        letter = letters.next();
        unit *= 1024;
        size = bytes.div_ceil(unit);
    }
    match letter {
        None => bytes.to_string(),
        Some(letter) if bytes <= unit * 10 - unit / 10 => {
            let tenths = (bytes * 10).div_ceil(unit);
            format!("{}.{}{letter}", tenths / 10, tenths % 10)
        }
        Some(letter) => format!("{size}{letter}"),
    }
}

fn name_of(month: u64) -> &'static str {
    let names =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    usize::try_from(month).ok().and_then(|month| names.get(month.wrapping_sub(1))).unwrap_or(&"?")
}
