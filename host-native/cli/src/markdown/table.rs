//! A table of Markdown: its rows are held back until it is whole, so that its columns can be
//! aligned.

use super::inline::InlineParser;
use crate::{
    style::{OutputStyle, TextStyle},
    terminal::columns_of_line,
    wrap::LineWrapper,
};

/// Bytes of a table that are held back at most.
pub(super) const HELD: usize = 16 << 10;

/// The columns between two cells, where a line stands.
const GAP: usize = 3;

/// The columns of a wrapped cell at least.
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

    /// Adds a row; whether all of it may still be a table.
    pub(super) fn add(&mut self, row: String) -> bool {
        // The second row tells.
        let is_table = self.rows.len() != 1 || sides(&row).is_some();
        self.bytes += row.len();
        self.rows.push(row);
        is_table && self.bytes < HELD
    }

    /// The rows as they were written.
    pub(super) fn into_rows(self) -> Vec<String> {
        self.rows
    }

    /// The table's lines if each has at most `room` columns. Where a row needs more, the texts of
    /// its cells are wrapped; nothing where even that needs more.
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

/// The columns' widths so that a row has room: the widest ones give what is missing.
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

/// Returns where the texts of a column stand, if the row is the one below the head.
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

/// The texts between the bars; a bar behind a backslash is text.
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

/// Returns how many columns a cell has in one line.
fn columns(cell: &str, look: TextStyle, style: OutputStyle) -> usize {
    set(cell, look, LineWrapper::line(style)).column()
}

/// The lines of a cell in a column of that width.
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
