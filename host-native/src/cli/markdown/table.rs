//! A table of Markdown: its rows are held back until it is whole, so that its columns can be
//! aligned.

use super::inline::Inline;
use crate::cli::{
    style::{Look, Style},
    wrap::Flow,
};

/// Bytes of a table that are held back at most.
pub(super) const HELD: usize = 16 << 10;

/// The rows that are held back.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    rows: Vec<String>,
    bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Left,
    Middle,
    Right,
}

/// A cell as it is shown, and its columns.
type Cell = (String, usize);

impl Table {
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

    /// The table's lines if each has at most `room` columns.
    pub(super) fn lines(&self, room: usize, base: Look, style: Style) -> Option<Vec<String>> {
        let sides = sides(self.rows.get(1)?)?;
        let mut rows: Vec<Vec<Cell>> = Vec::new();
        for (index, row) in self.rows.iter().enumerate().filter(|(index, _)| *index != 1) {
            let look = if index == 0 { base.with(Look::BOLD) } else { base };
            rows.push(cells(row).iter().map(|cell| shown(cell, look, style)).collect());
        }
        let mut widths: Vec<usize> = Vec::new();
        for row in &rows {
            widths.resize(widths.len().max(row.len()), 0);
            widths.iter_mut().zip(row).for_each(|(width, cell)| *width = cell.1.max(*width));
        }
        if widths.iter().sum::<usize>() + 3 * widths.len().saturating_sub(1) > room {
            return None;
        }
        let side = |at: usize| sides.get(at).copied().unwrap_or(Side::Left);
        let laid_out = |row: &Vec<Cell>| {
            let cells = widths.iter().enumerate().map(|(at, width)| {
                row.get(at)
                    .map_or_else(|| " ".repeat(*width), |cell| padded(cell, *width, side(at)))
            });
            cells.collect::<Vec<_>>().join(" │ ").trim_end().to_owned()
        };
        let mut lines: Vec<String> = rows.iter().map(laid_out).collect();
        let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
        lines.insert(1, rule.join("─┼─"));
        Some(lines)
    }
}

/// Where the texts of a column stand, if the row is the one below the head.
fn sides(row: &str) -> Option<Vec<Side>> {
    let cells = cells(row);
    let is_rule = |cell: &String| {
        let line = cell.trim_start_matches(':').trim_end_matches(':');
        !line.is_empty() && line.bytes().all(|byte| byte == b'-') && cell.len() <= line.len() + 2
    };
    if cells.is_empty() || !cells.iter().all(is_rule) {
        return None;
    }
    let side = |cell: &String| match (cell.starts_with(':'), cell.ends_with(':')) {
        (true, true) => Side::Middle,
        (false, true) => Side::Right,
        _ => Side::Left,
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

fn shown(cell: &str, look: Look, style: Style) -> Cell {
    let (mut flow, mut inline) = (Flow::line(style), Inline::default());
    cell.chars().for_each(|c| inline.read(c, look, &mut flow));
    inline.end_line(look, &mut flow);
    let columns = flow.column();
    (flow.take(), columns)
}

fn padded((text, columns): &Cell, width: usize, side: Side) -> String {
    let room = width.saturating_sub(*columns);
    let left = match side {
        Side::Left => 0,
        Side::Middle => room / 2,
        Side::Right => room,
    };
    format!("{}{text}{}", " ".repeat(left), " ".repeat(room - left))
}
