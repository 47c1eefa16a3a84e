//! `comm`: two sorted files, compared line by line.

use super::{
    options::OptionSpec,
    shared::{content, fail, reason},
};
use bashkit::{Command, CommandContext, CommandStatus, Result, async_trait};

pub(super) struct CommCommand;

const KNOWN: OptionSpec = OptionSpec {
    command: "comm",
    short: "123z",
    long: &[
        ("check-order", 'c'),
        ("nocheck-order", 'n'),
        ("output-delimiter:", 'd'),
        ("total", 't'),
        ("zero-terminated", 'z'),
    ],
};

#[async_trait]
impl Command for CommCommand {
    async fn execute(&self, context: CommandContext<'_>) -> Result<CommandStatus> {
        let given = match KNOWN.read(context.args) {
            Ok(given) => given,
            Err(words) => return fail(&context, &words, 1).await,
        };
        let [left, right] = &given.operands[..] else {
            let words = match &given.operands[..] {
                [] => "missing operand".to_owned(),
                [only] => format!("missing operand after '{only}'"),
                [_, _, extra, ..] => format!("extra operand '{extra}'"),
                _ => String::new(),
            };
            return fail(&context, &KNOWN.wrong(&words), 1).await;
        };
        let mut files = Vec::new();
        for name in [left, right] {
            match content(&context, name).await {
                Ok(bytes) => files.push(bytes),
                Err(error) => {
                    let words = format!("comm: {name}: {}\n", reason(&error));
                    return fail(&context, &words, 1).await;
                }
            }
        }
        let end = if given.has('z') { 0 } else { b'\n' };
        let (left, right) = match &files[..] {
            [left, right] => (lines(left, end), lines(right, end)),
            _ => return Ok(CommandStatus::with_code(1)),
        };
        let delimiter = given.value('d').unwrap_or("\t");
        let shown = ['1', '2', '3'].map(|column| !given.has(column));
        let mut columns = ColumnWriter { shown, counts: [0; 3], delimiter, end, out: Vec::new() };
        let unsorted = columns.merge(&left, &right);
        if given.has('t') {
            let total = columns.counts.map(|count| count.to_string()).join(delimiter);
            columns.out.extend(format!("{total}{delimiter}total").bytes());
            columns.out.push(end);
        }
        context.stdout.write_all(&columns.out).await?;
        let is_checked = !given.has('n');
        let complaints: Vec<String> = (1..=2)
            .zip(unsorted)
            .filter(|(_, found)| is_checked && *found)
            .map(|(file, _)| format!("comm: file {file} is not in sorted order\n"))
            .collect();
        if complaints.is_empty() {
            return Ok(CommandStatus::success());
        }
        let words = complaints.concat() + "comm: input is not in sorted order\n";
        fail(&context, &words, 1).await
    }
}

/// A writer of the columns that are printed.
struct ColumnWriter<'a> {
    shown: [bool; 3],
    counts: [usize; 3],
    delimiter: &'a str,
    end: u8,
    out: Vec<u8>,
}

impl ColumnWriter<'_> {
    /// Puts each line into its column, and returns for each file whether it is unsorted, where that
    /// matters.
    fn merge(&mut self, left: &[&[u8]], right: &[&[u8]]) -> [bool; 2] {
        let (mut at_left, mut at_right) = (0, 0);
        let mut differs = false;
        loop {
            let (column, line) = match (left.get(at_left), right.get(at_right)) {
                (None, None) => break,
                (Some(line), None) => (0, line),
                (None, Some(line)) => (1, line),
                (Some(a), Some(b)) if a < b => (0, a),
                (Some(a), Some(b)) if a > b => (1, b),
                (Some(line), Some(_)) => (2, line),
            };
            differs |= column != 2;
            at_left += usize::from(column != 1);
            at_right += usize::from(column != 0);
            self.print(column, line);
        }
        // As in GNU's `comm`, the order of equal files does not matter.
        [left, right].map(|lines| differs && !lines.is_sorted())
    }

    fn print(&mut self, column: usize, line: &[u8]) {
        if let Some(count) = self.counts.get_mut(column) {
            *count += 1;
        }
        if self.shown.get(column) != Some(&true) {
            return;
        }
        let before = self.shown.iter().take(column).filter(|shown| **shown).count();
        self.out.extend(self.delimiter.repeat(before).bytes());
        self.out.extend(line);
        self.out.push(self.end);
    }
}

fn lines(bytes: &[u8], end: u8) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == end).collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    lines
}
