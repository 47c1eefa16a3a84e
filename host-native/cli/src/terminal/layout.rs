//! The layout of a text that is being typed: broken into rows of the terminal's width, with the
//! cursor's place. The screen relies on no row being wider than the terminal.

use crate::style::harmless;
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// The rows of a text, and the cursor's place in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowLayout {
    pub(crate) rows: Vec<String>,
    /// Row and column, from 0.
    pub(crate) cursor: (usize, usize),
}

impl RowLayout {
    /// Returns the layout with those rows above it.
    pub(crate) fn below(self, mut rows: Vec<String>) -> Self {
        let cursor = (rows.len() + self.cursor.0, self.cursor.1);
        rows.extend(self.rows);
        Self { rows, cursor }
    }
}

/// Lays out the text `before` and `behind` the cursor, after a `mark`, in rows of `width` columns;
/// at most `most` rows, those around the cursor.
pub(crate) fn laid_out(
    mark: &str,
    before: &str,
    behind: &str,
    width: usize,
    most: usize,
) -> RowLayout {
    let indent = " ".repeat(mark.width());
    let mut page =
        LayoutBuilder { rows: vec![mark.to_owned()], column: indent.len(), width, indent };
    page.add(before);
    // A cursor can't be placed after the last column, so that it goes to the next row.
    if page.column >= width && !behind.starts_with('\n') {
        page.break_row();
    }
    let cursor = (page.rows.len() - 1, page.column);
    page.add(behind);
    let first = cursor.0.saturating_sub(most.saturating_sub(1));
    let rows = page.rows.into_iter().skip(first).take(most.max(1)).collect();
    RowLayout { rows, cursor: (cursor.0 - first, cursor.1) }
}

struct LayoutBuilder {
    rows: Vec<String>,
    column: usize,
    width: usize,
    indent: String,
}

impl LayoutBuilder {
    fn add(&mut self, text: &str) {
        for (index, line) in text.split('\n').enumerate() {
            if index > 0 {
                self.break_row();
            }
            // Tabs have no fixed width, and escapes in a pasted text would move the cursor.
            for character in harmless(&line.replace('\t', "    ")).graphemes(true) {
                let columns = character.width();
                if self.column + columns > self.width && self.column > self.indent.len() {
                    self.break_row();
                }
                if let Some(row) = self.rows.last_mut() {
                    row.push_str(character);
                }
                self.column += columns;
            }
        }
    }

    fn break_row(&mut self) {
        self.rows.push(self.indent.clone());
        self.column = self.indent.len();
    }
}

/// Returns the number of columns of a line; escapes that colour it take none.
pub(crate) fn columns_of_line(line: &str) -> usize {
    let mut columns = 0;
    let mut rest = line;
    while let Some((text, escape)) = rest.split_once('\x1b') {
        columns += text.width();
        rest = escape.split_once('m').map_or("", |(_, rest)| rest);
    }
    columns + rest.width()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_at_the_edge_and_the_cursor_goes_along() {
        let layout = |before, behind| {
            let RowLayout { rows, cursor } = laid_out("> ", before, behind, 8, 3);
            (rows.join("\n"), cursor)
        };
        assert_eq!(layout("", ""), ("> ".into(), (0, 2)));
        assert_eq!(layout("abc", "d"), ("> abcd".into(), (0, 5)));
        assert_eq!(layout("abcdef", ""), ("> abcdef\n  ".into(), (1, 2)));
        assert_eq!(layout("abcdefg", "h"), ("> abcdef\n  gh".into(), (1, 3)));
        assert_eq!(layout("日本語x", ""), ("> 日本語\n  x".into(), (1, 3)));
        assert_eq!(layout("a\n", "b"), ("> a\n  b".into(), (1, 2)));
        assert_eq!(layout("a\x1b", ""), ("> a\\u001\n  b".into(), (1, 3)), "nothing steers");
        assert_eq!(layout("1\n2\n3\n4", "\n5"), ("  2\n  3\n  4".into(), (2, 3)));
        assert_eq!(layout("", "1\n2\n3\n4"), ("> 1\n  2\n  3".into(), (0, 2)));
    }

    #[test]
    fn escapes_take_no_room() {
        assert_eq!(columns_of_line("\x1b[2mab\x1b[0m日"), 4);
    }
}
