//! A table of Markdown. Its rows are held back until it is whole, so that its columns can be
//! aligned; one that is too long for that is given back as text.

use super::inline::InlineParser;
use crate::{
    style::{OutputStyle, TextStyle},
    terminal::columns_of_line,
    wrap::LineWrapper,
};

/// The most bytes of a table that are held back.
pub(super) const HELD: usize = 16 << 10;

/// The columns between two cells, for ` │ `.
const GAP: usize = 3;

/// The least columns of a wrapped cell.
const LEAST: usize = 8;

/// The rows that are held back.
#[derive(Clone, Debug, Default)]
pub(super) struct TableBuffer {
    rows: Vec<String>,
    bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellAlignment {
    Left,
    Middle,
    Right,
}

/// A line of a cell as it is shown, and its columns.
type CellLine = (String, usize);

impl TableBuffer {
    pub(super) const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a row; returns whether all of it may still be a table.
    pub(super) fn add(&mut self, row: String) -> bool {
        // Only the second row, of dashes, tells a table from lines that begin with a bar.
        let is_table = self.rows.len() != 1 || sides(&row).is_some();
        self.bytes += row.len();
        self.rows.push(row);
        is_table && self.bytes < HELD
    }

    /// Returns the rows as they were written.
    pub(super) fn into_rows(self) -> Vec<String> {
        self.rows
    }

    /// Returns the table's lines, each of at most `room` columns. Cells are wrapped if they need
    /// more; none if even that does not help, or the rows are not a table.
    pub(super) fn lines(
        &self,
        room: usize,
        base: TextStyle,
        style: OutputStyle,
    ) -> Option<Vec<String>> {
        let sides = sides(self.rows.get(1)?)?;
        let texts = self.rows.iter().enumerate().filter(|(index, _)| *index != 1);
        let rows: Vec<Vec<String>> = texts.map(|(_, row)| cells(row)).collect();
        let look = |index| if index == 0 { base.with(TextStyle::BOLD) } else { base };
        let mut widths: Vec<usize> = Vec::new();
        for (index, row) in rows.iter().enumerate() {
            widths.resize(widths.len().max(row.len()), 0);
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(columns(cell, look(index), style));
            }
        }
        let widths = fitting(widths, room)?;
        let side = |at: usize| sides.get(at).copied().unwrap_or(CellAlignment::Left);
        let mut lines = Vec::new();
        for (index, row) in rows.iter().enumerate() {
            let cells = row.iter().zip(&widths);
            let cells: Vec<Vec<CellLine>> =
                cells.map(|(cell, width)| shown(cell, *width, look(index), style)).collect();
            let height = cells.iter().map(Vec::len).max().unwrap_or_default().max(1);
            for line in 0..height {
                let pieces = widths.iter().enumerate().map(|(at, width)| {
                    let piece = cells.get(at).and_then(|cell| cell.get(line));
                    piece.map_or_else(|| " ".repeat(*width), |it| padded(it, *width, side(at)))
                });
                lines.push(pieces.collect::<Vec<_>>().join(" │ ").trim_end().to_owned());
            }
            if index == 0 {
                let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                lines.push(rule.join("─┼─"));
            }
        }
        Some(lines)
    }
}

/// Reduces the columns' widths until a row fits: the widest ones first, down to a common width.
fn fitting(widths: Vec<usize>, room: usize) -> Option<Vec<usize>> {
    let gaps = GAP * widths.len().saturating_sub(1);
    let room = room.checked_sub(gaps)?;
    let sum = |most: usize| widths.iter().map(|width| (*width).min(most)).sum::<usize>();
    if sum(usize::MAX) <= room {
        return Some(widths);
    }
    let most = (LEAST..room).rev().find(|most| sum(*most) <= room)?;
    Some(widths.iter().map(|width| (*width).min(most)).collect())
}

/// Returns the columns' alignments, if the row is the one of dashes below the head.
fn sides(row: &str) -> Option<Vec<CellAlignment>> {
    let cells = cells(row);
    let is_rule = |cell: &String| {
        let line = cell.trim_start_matches(':').trim_end_matches(':');
        !line.is_empty() && line.bytes().all(|byte| byte == b'-') && cell.len() <= line.len() + 2
    };
    if cells.is_empty() || !cells.iter().all(is_rule) {
        return None;
    }
    let side = |cell: &String| match (cell.starts_with(':'), cell.ends_with(':')) {
        (true, true) => CellAlignment::Middle,
        (false, true) => CellAlignment::Right,
        _ => CellAlignment::Left,
    };
    Some(cells.iter().map(side).collect())
}

/// Returns the texts between the bars; a bar after a backslash is text.
fn cells(row: &str) -> Vec<String> {
    let row = row.trim();
    let mut cells = vec![String::new()];
    let mut chars = row.strip_prefix('|').unwrap_or(row).chars().peekable();
    while let Some(c) = chars.next() {
        match (c, cells.last_mut()) {
            ('|', _) if chars.peek().is_none() => {}
            ('|', _) => cells.push(String::new()),
            ('\\', Some(cell)) if chars.peek() == Some(&'|') => cell.extend(chars.next()),
            (c, Some(cell)) => cell.push(c),
            (_, None) => {}
        }
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

/// Returns the number of columns of a cell in one line. Marks of emphasis take none, so that the
/// cell is laid out to measure it.
fn columns(cell: &str, look: TextStyle, style: OutputStyle) -> usize {
    set(cell, look, LineWrapper::line(style)).column()
}

/// Returns the lines of a cell in a column of that width.
fn shown(cell: &str, width: usize, look: TextStyle, style: OutputStyle) -> Vec<CellLine> {
    let mut flow = set(cell, look, LineWrapper::new(style, Some(width.max(1))));
    let text = flow.take();
    text.lines().map(|line| (line.to_owned(), columns_of_line(line))).collect()
}

fn set(cell: &str, look: TextStyle, mut flow: LineWrapper) -> LineWrapper {
    let mut inline = InlineParser::default();
    cell.chars().for_each(|c| inline.read(c, look, &mut flow));
    inline.end_line(look, &mut flow);
    flow.place();
    flow
}

fn padded((text, columns): &CellLine, width: usize, side: CellAlignment) -> String {
    let room = width.saturating_sub(*columns);
    let left = match side {
        CellAlignment::Left => 0,
        CellAlignment::Middle => room / 2,
        CellAlignment::Right => room,
    };
    format!("{}{text}{}", " ".repeat(left), " ".repeat(room - left))
}
