//! `tail`, which keeps no more of its input than it will print.

use super::{
    options::OptionSpec,
    options::ParsedArguments,
    shared::{fail, path, reason},
};
use bashkit::{Command, CommandContext, CommandStatus, Error, Result, async_trait};
use std::collections::VecDeque;

pub(super) struct TailCommand;

const KNOWN: OptionSpec = OptionSpec {
    command: "tail",
    short: "c:fFn:qs:vz",
    long: &[
        ("bytes:", 'c'),
        ("follow?", 'f'),
        ("lines:", 'n'),
        ("pid:", '.'),
        ("quiet", 'q'),
        ("retry", '.'),
        ("silent", 'q'),
        ("sleep-interval:", 's'),
        ("verbose", 'v'),
        ("zero-terminated", 'z'),
    ],
};

/// The number of lines that are printed by default.
const LINES: usize = 10;

#[async_trait]
impl Command for TailCommand {
    async fn execute(&self, context: CommandContext<'_>) -> Result<CommandStatus> {
        let read = KNOWN.read(&plain(context.args));
        let read = read.and_then(|given| Ok((TailRange::of(&given)?, given)));
        let (wanted, given) = match read {
            Ok(read) => read,
            Err(words) => return fail(&context, &words, 1).await,
        };
        let input = ["-".to_owned()];
        let operands = if given.operands.is_empty() { &input[..] } else { &given.operands };
        let names = match given.last("qv") {
            Some(last) => last == 'v',
            None => operands.len() > 1,
        };
        let mut status = CommandStatus::success();
        let mut gap = "";
        for operand in operands {
            let content = match operand.as_str() {
                "-" => Ok(None),
                _ => context.fs.read_file(&path(&context, operand)).await.map(Some),
            };
            let content = match content {
                Ok(content) => content,
                Err(error) => {
                    let words = missing(&context, operand, &error).await;
                    status = fail(&context, &words, 1).await?;
                    continue;
                }
            };
            if names {
                let name = if operand == "-" { "standard input" } else { operand };
                let header = format!("{gap}==> {name} <==\n");
                context.stdout.write_all(header.as_bytes()).await?;
                gap = "\n";
            }
            match content {
                Some(content) => context.stdout.write_all(wanted.end_of(&content)).await?,
                None => stream(&context, &wanted).await?,
            }
        }
        Ok(status)
    }
}

async fn missing(context: &CommandContext<'_>, operand: &str, error: &Error) -> String {
    let found = context.fs.stat(&path(context, operand)).await;
    if found.is_ok_and(|found| found.file_type.is_dir()) {
        return format!("tail: error reading '{operand}': Is a directory\n");
    }
    format!("tail: cannot open '{operand}' for reading: {}\n", reason(error))
}

/// Returns the words with `-5` and `+5` written as options.
fn plain(args: &[String]) -> Vec<String> {
    let mut plain = args.to_vec();
    if let Some(first) = plain.first_mut() {
        let digits = first.strip_prefix(['-', '+']).unwrap_or_default();
        if digits.starts_with(|digit: char| digit.is_ascii_digit()) {
            let sign = if first.starts_with('+') { "+" } else { "" };
            let count: String = digits.chars().take_while(char::is_ascii_digit).collect();
            let unit = if digits.contains('c') { 'c' } else { 'n' };
            *first = format!("-{unit}{sign}{count}");
        }
    }
    plain
}

/// The part of a file that is printed.
struct TailRange {
    count: usize,
    is_bytes: bool,
    /// True if the count is that of the first line or byte.
    from_start: bool,
    end: u8,
}

impl TailRange {
    fn of(given: &ParsedArguments) -> std::result::Result<Self, String> {
        let is_bytes = given.last("cn") == Some('c');
        let text = given.value(if is_bytes { 'c' } else { 'n' });
        let count = match text {
            None => LINES,
            Some(text) => {
                super::arguments::bytes(text.trim_start_matches(['-', '+'])).ok_or_else(|| {
                    let what = if is_bytes { "bytes" } else { "lines" };
                    format!("tail: invalid number of {what}: '{text}'\n")
                })?
            }
        };
        let from_start = text.is_some_and(|text| text.starts_with('+'));
        let end = if given.has('z') { 0 } else { b'\n' };
        Ok(Self { count, is_bytes, from_start, end })
    }

    /// Returns the wanted part of a whole file.
    fn end_of<'a>(&self, content: &'a [u8]) -> &'a [u8] {
        let start = match (self.is_bytes, self.from_start) {
            (true, true) => self.count.saturating_sub(1),
            (true, false) => content.len().saturating_sub(self.count),
            (false, true) => {
                let mut ends = memchr_iter(self.end, content);
                match self.count.checked_sub(2) {
                    None => 0,
                    Some(lines) => ends.nth(lines).map_or(content.len(), |at| at + 1),
                }
            }
            (false, false) => {
                let body = content.strip_suffix(&[self.end]).unwrap_or(content);
                let mut ends = body.iter().enumerate().rev().filter(|(_, byte)| **byte == self.end);
                match self.count.checked_sub(1) {
                    None => content.len(),
                    Some(lines) => ends.nth(lines).map_or(0, |(at, _)| at + 1),
                }
            }
        };
        content.get(start..).unwrap_or_default()
    }
}

fn memchr_iter(wanted: u8, content: &[u8]) -> impl Iterator<Item = usize> {
    content.iter().enumerate().filter(move |(_, byte)| **byte == wanted).map(|(at, _)| at)
}

/// Prints the wanted part of standard input.
async fn stream(context: &CommandContext<'_>, wanted: &TailRange) -> Result<()> {
    if wanted.from_start {
        let mut left = wanted.count.saturating_sub(1);
        while let Some(chunk) = context.stdin.read_chunk().await? {
            let skipped = match wanted.is_bytes {
                true => left.min(chunk.len()),
                false if left == 0 => 0,
                false => {
                    memchr_iter(wanted.end, &chunk).nth(left - 1).map_or(chunk.len(), |at| at + 1)
                }
            };
            let passed = chunk.get(..skipped).unwrap_or_default();
            left -= match wanted.is_bytes {
                true => skipped,
                false => memchr_iter(wanted.end, passed).count(),
            };
            context.stdout.write_all(chunk.get(skipped..).unwrap_or_default()).await?;
        }
        return Ok(());
    }
    // The last chunks, which together hold what is wanted.
    let mut chunks: VecDeque<(Vec<u8>, usize)> = VecDeque::new();
    let mut held = 0;
    while let Some(chunk) = context.stdin.read_chunk().await? {
        let worth = match wanted.is_bytes {
            true => chunk.len(),
            false => chunk.iter().filter(|byte| **byte == wanted.end).count(),
        };
        held += worth;
        chunks.push_back((chunk, worth));
        // One line more is kept, since the first wanted one may begin in the chunk before.
        while chunks.front().is_some_and(|(_, worth)| held - worth > wanted.count) {
            held -= chunks.pop_front().map_or(0, |(_, worth)| worth);
        }
    }
    let content: Vec<u8> = chunks.into_iter().flat_map(|(chunk, _)| chunk).collect();
    context.stdout.write_all(wanted.end_of(&content)).await
}
