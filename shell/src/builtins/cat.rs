//! `cat`, which reads from a file or device only as much as the next command takes.

use super::{
    options::OptionSpec,
    options::ParsedArguments,
    shared::{fail, path, reason},
};
use crate::devices::Device;
use bashkit::{Command, CommandContext, CommandStatus, Error, Result, async_trait};

pub(super) struct CatCommand;

/// The number of times that an endless device is read for a reader who never stops.
const MOST_PIECES: usize = 64;

const KNOWN: OptionSpec = OptionSpec {
    command: "cat",
    short: "AbeEnstTuv",
    long: &[
        ("show-all", 'A'),
        ("number-nonblank", 'b'),
        ("show-ends", 'E'),
        ("number", 'n'),
        ("squeeze-blank", 's'),
        ("show-tabs", 'T'),
        ("show-nonprinting", 'v'),
    ],
};

#[async_trait]
impl Command for CatCommand {
    async fn execute(&self, context: CommandContext<'_>) -> Result<CommandStatus> {
        let given = match KNOWN.read(context.args) {
            Ok(given) => given,
            Err(words) => return fail(&context, &words, 1).await,
        };
        let mut shown = LineFormatter::of(&given);
        let mut status = CommandStatus::success();
        let input = ["-".to_owned()];
        let operands = if given.operands.is_empty() { &input[..] } else { &given.operands };
        for operand in operands {
            if let Err(error) = file(&context, operand, &mut shown).await? {
                let words = format!("cat: {operand}: {}\n", reason(&error));
                status = fail(&context, &words, 1).await?;
            }
        }
        Ok(status)
    }
}

/// Prints a file; the inner error is that it could not be read.
async fn file(
    context: &CommandContext<'_>,
    operand: &str,
    shown: &mut LineFormatter,
) -> Result<Result<()>> {
    if matches!(operand, "-" | "/dev/stdin") {
        while let Some(chunk) = context.stdin.read_chunk().await? {
            context.stdout.write_all(&shown.show(chunk)).await?;
        }
        return Ok(Ok(()));
    }
    let path = path(context, operand);
    for _ in 0..MOST_PIECES {
        let content = match context.fs.read_file(&path).await {
            Ok(content) => content,
            Err(error @ Error::Io(_)) => {
                let is_folder = context.fs.stat(&path).await.is_ok_and(|at| at.file_type.is_dir());
                let folder = std::io::Error::from(std::io::ErrorKind::IsADirectory);
                return Ok(Err(if is_folder { folder.into() } else { error }));
            }
            Err(error) => return Err(error),
        };
        context.stdout.write_all(&shown.show(content)).await?;
        // A file was read whole; only an endless device has more.
        if !Device::at(&path).is_some_and(Device::is_endless) {
            return Ok(Ok(()));
        }
    }
    let words = format!("stopped after {MOST_PIECES} MiB of what has no end");
    Ok(Err(std::io::Error::other(words).into()))
}

/// A formatter of the lines that are shown.
struct LineFormatter {
    numbers_all: bool,
    numbers_some: bool,
    squeezes: bool,
    shows_ends: bool,
    shows_tabs: bool,
    shows_bytes: bool,
    /// The number of lines that have been numbered.
    number: usize,
    starts_line: bool,
    /// The number of empty lines directly before this one.
    empty: usize,
}

impl LineFormatter {
    fn of(given: &ParsedArguments) -> Self {
        Self {
            numbers_all: given.has('n'),
            numbers_some: given.has('b'),
            squeezes: given.has('s'),
            shows_ends: given.last("AeE").is_some(),
            shows_tabs: given.last("AtT").is_some(),
            shows_bytes: given.last("Aetv").is_some(),
            number: 0,
            starts_line: true,
            empty: 0,
        }
    }

    fn show(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        let numbers = self.numbers_all || self.numbers_some || self.squeezes;
        if !(numbers || self.shows_ends || self.shows_tabs || self.shows_bytes) {
            return bytes;
        }
        let mut shown = Vec::with_capacity(bytes.len());
        for byte in bytes {
            if self.starts_line {
                let is_empty = byte == b'\n';
                self.empty = if is_empty { self.empty + 1 } else { 0 };
                if self.squeezes && self.empty > 1 {
                    continue;
                }
                if (self.numbers_some && !is_empty) || (self.numbers_all && !self.numbers_some) {
                    self.number += 1;
                    shown.extend(format!("{:6}\t", self.number).bytes());
                }
            }
            self.starts_line = byte == b'\n';
            self.byte(byte, &mut shown);
        }
        shown
    }

    fn byte(&self, byte: u8, shown: &mut Vec<u8>) {
        match byte {
            b'\n' if self.shows_ends => shown.extend(b"$\n"),
            b'\t' if self.shows_tabs => shown.extend(b"^I"),
            b'\n' | b'\t' => shown.push(byte),
            _ if self.shows_bytes => {
                if byte >= 128 {
                    shown.extend(b"M-");
                }
                match byte & 127 {
                    127 => shown.extend(b"^?"),
                    low @ 0..32 => shown.extend([b'^', low + 64]),
                    other => shown.push(other),
                }
            }
            _ => shown.push(byte),
        }
    }
}
