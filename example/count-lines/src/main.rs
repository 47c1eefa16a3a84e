//! A tool of one's own, as a WASI program: counts lines, words and bytes of text files. The
//! arguments come as JSON on standard input, the result goes as JSON to standard output, and what
//! prevents one to standard error, with an exit code. `tool.toml` says what the model is told.

mod count;
mod walk;

use count::FileCounts;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    error::Error,
    fmt::Write,
    io::{self, Read},
    path::{Path, PathBuf},
    process::ExitCode,
};

/// More rows than these are summed up in one: the model reads the table.
const MAX_ROWS: usize = 100;

/// The arguments; they fit the schema in `tool.toml`.
#[derive(Deserialize)]
struct Arguments {
    /// A relative path begins at `/`, which is the folder that the agent works in.
    #[serde(default = "here")]
    path: PathBuf,
    #[serde(default)]
    by: GroupBy,
}

fn here() -> PathBuf {
    ".".into()
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum GroupBy {
    #[default]
    Language,
    File,
}

/// The result: what the model reads, and what only a user interface gets.
#[derive(Serialize)]
struct ToolReply {
    text: String,
    details: ReplyDetails,
}

#[derive(Serialize)]
struct ReplyDetails {
    rows: Vec<CountRow>,
    total: FileCounts,
}

#[derive(Serialize)]
struct CountRow {
    name: String,
    #[serde(flatten)]
    count: FileCounts,
}

fn main() -> ExitCode {
    match run() {
        Ok(json) => {
            println!("{json}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<String, Box<dyn Error>> {
    let mut stdin = String::new();
    io::stdin().read_to_string(&mut stdin)?;
    let Arguments { path, by } = serde_json::from_str(&stdin)?;
    let (rows, total) = rows(&path, by)?;
    let reply = ToolReply { text: table(&rows, total), details: ReplyDetails { rows, total } };
    Ok(serde_json::to_string(&reply)?)
}

/// The rows, the one with most lines first, and their sum.
fn rows(path: &Path, by: GroupBy) -> Result<(Vec<CountRow>, FileCounts), String> {
    let mut counts: BTreeMap<String, FileCounts> = BTreeMap::new();
    let mut total = FileCounts::default();
    walk::files(path, &mut |file| {
        // What can't be read or is no text has no lines.
        let Ok(Some(count)) = FileCounts::of(file) else { return };
        let name = match by {
            GroupBy::Language => count::language(file).to_owned(),
            GroupBy::File => file.display().to_string(),
        };
        counts.entry(name).or_default().add(count);
        total.add(count);
    })?;
    let rows = counts.into_iter().map(|(name, count)| CountRow { name, count });
    let mut rows: Vec<CountRow> = rows.collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.count.lines));
    Ok((rows, total))
}

fn table(rows: &[CountRow], total: FileCounts) -> String {
    if rows.is_empty() {
        return "There are no text files.".to_owned();
    }
    let (shown, others) = rows.split_at(rows.len().min(MAX_ROWS));
    let mut other = FileCounts::default();
    others.iter().for_each(|row| other.add(row.count));
    let more = (!others.is_empty()).then(|| (format!("{} others", others.len()), other));
    let named = shown.iter().map(|row| (row.name.clone(), row.count)).chain(more);
    let mut text = format!("{:>7} {:>9} {:>9} {:>11}  name\n", "files", "lines", "words", "bytes");
    for (name, FileCounts { files, lines, words, bytes }) in
        named.chain([("total".to_owned(), total)])
    {
        // Writing to a text does not fail.
        let _ = writeln!(text, "{files:>7} {lines:>9} {words:>9} {bytes:>11}  {name}");
    }
    text
}
