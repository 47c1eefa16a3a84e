//! The wrapping of lines on a terminal: words are laid out as they arrive, wrapped at the edge, and
//! indented by their line's margin. Wide characters (CJK, emoji) count two columns.

use super::{
    style::{OutputStyle, TextStyle},
    terminal::columns_of_line,
};
use std::mem;
use unicode_width::UnicodeWidthChar;

/// The most columns of prose, however wide the terminal is.
const PROSE: usize = 100;

/// The least columns that lines are laid out for.
const NARROW: usize = 20;

/// The columns of a tab.
const TAB: usize = 4;

/// The most bytes of a word that are held back. Columns alone are no bound: combining marks have
/// none.
const WORD: usize = 1 << 10;

/// The characters that must not begin a line, and those that must not end one, in scripts that do
/// not separate words.
const CLOSING: &str = "、。，．！？；：）」』】〉》〕｝”’…ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ";
const OPENING: &str = "（「『【〈《〔｛“‘([{";

/// Wraps lines of the program's own for a terminal of that many columns. Further rows are indented
/// by two columns, or as far as the line. Escapes for colour take no columns. Without columns the
/// text is returned as it is. A word is never broken, so that a path can be copied.
pub(super) fn wrapped(text: &str, columns: Option<u16>) -> String {
    let Some(columns) = columns else { return text.to_owned() };
    let columns = usize::from(columns).max(NARROW);
    let rows = text.lines().map(|line| {
        let words = line.trim_start_matches(' ');
        let spaces = line.len() - words.len();
        let margin = format!("\n{}", " ".repeat(spaces.max(2)));
        let (mut row, mut column) = (" ".repeat(spaces), spaces);
        for word in words.split_inclusive(' ') {
            let width = columns_of_line(word.trim_end_matches(' '));
            if column + width > columns && column > margin.len() {
                row.truncate(row.trim_end_matches(' ').len());
                row.push_str(&margin);
                column = margin.len() - 1;
            }
            row.push_str(word);
            column += columns_of_line(word);
        }
        row
    });
    rows.collect::<Vec<_>>().join("\n")
}

/// The width that the lines of a text may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LineWidth {
    /// As wide as text is easy to read.
    #[default]
    Prose,
    /// As wide as the terminal.
    Full,
}

/// The text before a line: before its first row and before the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Margin {
    pub(super) first: String,
    pub(super) rest: String,
    pub(super) breadth: LineWidth,
}

impl Margin {
    pub(super) fn new(first: impl Into<String>, rest: impl Into<String>) -> Self {
        Self { first: first.into(), rest: rest.into(), breadth: LineWidth::Prose }
    }

    /// Returns a margin of that many spaces.
    pub(super) fn spaces(count: usize) -> Self {
        Self::new(" ".repeat(count), " ".repeat(count))
    }

    pub(super) fn full(mut self) -> Self {
        self.breadth = LineWidth::Full;
        self
    }
}

/// The wrapper that lays out text in lines.
#[derive(Debug)]
pub(super) struct LineWrapper {
    out: String,
    style: OutputStyle,
    /// The style at the end of `out`.
    open: TextStyle,
    /// The terminal's columns; `None` without a terminal, where nothing is wrapped.
    columns: Option<usize>,
    /// The column of the next character.
    column: usize,
    margin: Margin,
    /// The unfinished word, in pieces of one style each.
    word: Vec<(TextStyle, String)>,
    word_bytes: usize,
    word_columns: usize,
    /// The last character of the word.
    before: char,
    /// The spaces before the word.
    spaces: usize,
    space: TextStyle,
}

impl LineWrapper {
    pub(super) const fn new(style: OutputStyle, columns: Option<usize>) -> Self {
        Self {
            out: String::new(),
            style,
            open: TextStyle::PLAIN,
            columns,
            column: 0,
            margin: Margin { first: String::new(), rest: String::new(), breadth: LineWidth::Prose },
            word: Vec::new(),
            word_bytes: 0,
            word_columns: 0,
            before: ' ',
            spaces: 0,
            space: TextStyle::PLAIN,
        }
    }

    /// Returns a wrapper for one line of any length.
    pub(super) const fn line(style: OutputStyle) -> Self {
        Self::new(style, None)
    }

    pub(super) const fn style(&self) -> OutputStyle {
        self.style
    }

    /// Sets the terminal's columns; `None` without a terminal.
    pub(super) fn set_columns(&mut self, columns: Option<u16>) {
        self.columns = columns.map(|columns| usize::from(columns).max(NARROW));
    }

    pub(super) const fn is_terminal(&self) -> bool {
        self.columns.is_some()
    }

    /// Returns the columns for a line of that breadth.
    pub(super) fn room(&self, breadth: LineWidth) -> usize {
        match (self.columns, breadth) {
            (None, _) => usize::MAX,
            (Some(columns), LineWidth::Prose) => columns.min(PROSE),
            (Some(columns), LineWidth::Full) => columns,
        }
    }

    /// Returns the column of the next character, from 0 on.
    pub(super) const fn column(&self) -> usize {
        self.column
    }

    /// Returns whether the line is still empty.
    pub(super) const fn is_fresh(&self) -> bool {
        self.column == 0 && self.word.is_empty()
    }

    /// Sets the margin of the line that begins now, or of its further rows. If it would take more
    /// than half of the line, its leading spaces are reduced.
    pub(super) fn set_margin(&mut self, margin: Margin) {
        self.margin = margin;
        let most = self.room(self.margin.breadth) / 2;
        shorten(&mut self.margin.first, most);
        shorten(&mut self.margin.rest, most);
    }

    /// Adds text; each word is held back until it is whole.
    pub(super) fn text(&mut self, text: &str, look: TextStyle) {
        text.chars().for_each(|c| self.put(c, look));
    }

    /// Adds a character of a text.
    pub(super) fn put(&mut self, c: char, look: TextStyle) {
        if self.columns.is_none() {
            return self.put_as_is(c, look);
        }
        match c {
            '\n' => self.newline(),
            ' ' | '\t' => {
                self.place();
                let spaces = if c == '\t' { TAB } else { 1 };
                self.spaces = (self.spaces + spaces).min(self.room(LineWidth::Full));
                self.space = look;
            }
            _ => self.put_in_word(c, look),
        }
    }

    fn put_in_word(&mut self, c: char, look: TextStyle) {
        let columns = columns_of(c);
        let most = self.room(self.margin.breadth).saturating_sub(columns_in(&self.margin.rest));
        let is_full = self.word_columns + columns > most || self.word_bytes >= WORD;
        if is_full || may_part(self.before, c) {
            self.place();
        }
        match self.word.last_mut() {
            Some((last, text)) if *last == look => text.push(c),
            _ => self.word.push((look, c.to_string())),
        }
        self.word_bytes += c.len_utf8();
        self.word_columns += columns;
        self.before = c;
    }

    /// Adds a character of code: spaces are kept, and a long line is broken anywhere.
    pub(super) fn put_as_is(&mut self, c: char, look: TextStyle) {
        self.place();
        if c == '\n' {
            return self.newline();
        }
        let is_tab = c == '\t' && self.is_terminal();
        let columns = if is_tab { TAB } else { columns_of(c) };
        if self.column > 0 && self.column.saturating_add(columns) > self.room(self.margin.breadth) {
            self.wrap();
        }
        self.begin();
        self.turn(look);
        if is_tab {
            self.out.extend([' '; TAB]);
        } else {
            self.out.push(c);
        }
        self.column = self.column.saturating_add(columns).max(1);
    }

    /// Places the word that is held back.
    pub(super) fn place(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let end = self.column.saturating_add(self.spaces + self.word_columns);
        let is_first = self.column == 0;
        if !is_first && end > self.room(self.margin.breadth) {
            self.wrap();
        } else if !is_first && self.spaces > 0 {
            self.turn(self.space);
            self.out.extend(std::iter::repeat_n(' ', self.spaces));
            self.column += self.spaces;
        }
        self.begin();
        for (look, text) in mem::take(&mut self.word) {
            self.turn(look);
            self.out.push_str(&text);
        }
        self.column = (self.column + self.word_columns).max(1);
        (self.word_bytes, self.word_columns, self.spaces, self.before) = (0, 0, 0, ' ');
    }

    /// Adds a line that is already laid out and coloured.
    pub(super) fn put_line(&mut self, line: &str) {
        self.end_line();
        self.turn(TextStyle::PLAIN);
        self.out.push_str(line);
        self.out.push('\n');
    }

    /// Leaves the current line for another one; returns its margin, with which it can go on later.
    pub(super) fn interrupt(&mut self) -> Margin {
        self.place();
        self.turn(TextStyle::PLAIN);
        if self.column > 0 {
            self.out.push('\n');
        }
        (self.column, self.spaces) = (0, 0);
        mem::take(&mut self.margin)
    }

    /// Ends the line, which may be empty.
    pub(super) fn newline(&mut self) {
        self.place();
        self.turn(TextStyle::PLAIN);
        if self.column == 0 {
            // An empty line of a quote still has its bar.
            let margin = mem::take(&mut self.margin.first);
            self.out.push_str(margin.trim_end());
        }
        self.out.push('\n');
        (self.column, self.spaces) = (0, 0);
        self.margin = Margin::default();
    }

    /// Ends the line if it is not empty.
    pub(super) fn end_line(&mut self) {
        if !self.is_fresh() {
            self.newline();
        }
        self.spaces = 0;
        self.margin = Margin::default();
    }

    /// Takes the text that was laid out since the last call; it ends in plain style.
    pub(super) fn take(&mut self) -> String {
        self.turn(TextStyle::PLAIN);
        mem::take(&mut self.out)
    }

    /// Begins the next row of the line.
    fn wrap(&mut self) {
        self.turn(TextStyle::PLAIN);
        self.out.push('\n');
        self.column = 0;
    }

    /// Adds the margin at the beginning of a row.
    fn begin(&mut self) {
        if self.column == 0 {
            self.turn(TextStyle::PLAIN);
            let margin = mem::replace(&mut self.margin.first, self.margin.rest.clone());
            self.out.push_str(&margin);
            self.column = columns_in(&margin);
        }
    }

    fn turn(&mut self, look: TextStyle) {
        self.style.turn(self.open, look, &mut self.out);
        self.open = look;
    }
}

/// Returns the columns of a character. The selector that turns a character into an emoji counts
/// one, since the emoji is wider by that.
pub(super) fn columns_of(c: char) -> usize {
    if c == '\u{fe0f}' { 1 } else { c.width().unwrap_or(0) }
}

/// Returns the columns of a text on one line.
pub(super) fn columns_in(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// Removes leading spaces from a margin that is wider than `most` columns.
fn shorten(margin: &mut String, most: usize) {
    let extra = columns_in(margin).saturating_sub(most);
    let spaces = margin.len() - margin.trim_start_matches(' ').len();
    margin.drain(..extra.min(spaces));
}

/// Returns whether a line may break between two characters that are not spaces. CJK text has none
/// and may break almost anywhere.
fn may_part(before: char, c: char) -> bool {
    let is_wide = |c: char| columns_of(c) == 2;
    let is_bound = columns_of(c) == 0 || matches!(c, '\u{fe0f}') || before == '\u{200d}';
    let is_word = |c: char| c.is_alphanumeric() || is_wide(c);
    (is_wide(before) || is_wide(c))
        && !is_bound
        && is_word(c)
        && !CLOSING.contains(c)
        && !OPENING.contains(before)
}

#[cfg(test)]
mod tests {
    use super::{super::args::ColourChoice, *};

    fn set(columns: usize, margin: Margin, text: &str) -> String {
        let mut flow = LineWrapper::new(OutputStyle::new(ColourChoice::Never), Some(columns));
        flow.set_margin(margin);
        flow.text(text, TextStyle::PLAIN);
        flow.end_line();
        flow.take()
    }

    #[test]
    fn own_lines_go_on_two_columns_further() {
        let text = "innerloop: cannot connect to it\n  at all, or so it seems to be\n\nend";
        let want = "innerloop: cannot\n  connect to it\n  at all, or so it\n  seems to be\n\nend";
        assert_eq!(wrapped(text, Some(20)), want);
        assert_eq!(wrapped(text, None), text);
        let path = "kept in /a/path/that/is/longer/than/a/row";
        assert_eq!(wrapped(path, Some(20)), path.replace("in /", "in\n  /"));
        let painted = "\x1b[2mone two three four\x1b[0m and five";
        assert_eq!(wrapped(painted, Some(22)), painted.replace(" five", "\n  five"));
        let deep = "    if x { let y = 1; }";
        assert_eq!(wrapped(deep, Some(20)), deep.replace("= 1", "=\n    1"));
    }

    #[test]
    fn words_go_to_the_next_line_with_their_margin() {
        let text = "one two  three four five six";
        let want = "- one two  three\n  four five six\n";
        assert_eq!(set(20, Margin::new("- ", "  "), text), want);
        assert_eq!(set(200, Margin::default(), text), format!("{text}\n"));
        let long = "x".repeat(50);
        let want = format!("see\n{}\n{}\n{} y\n", "x".repeat(20), "x".repeat(20), "x".repeat(10));
        assert_eq!(set(20, Margin::default(), &format!("see {long} y")), want);
    }

    #[test]
    fn wide_characters_count_two_and_part_where_they_may() {
        let want = "これは日本語の文章で\nす。「長い」行です。\n";
        assert_eq!(set(20, Margin::default(), "これは日本語の文章です。「長い」行です。"), want);
        let want = "ab 👩\u{200d}👧 ❤\u{fe0f} 👍👍👍👍\n👍👍\n";
        assert_eq!(set(20, Margin::default(), "ab 👩\u{200d}👧 ❤\u{fe0f} 👍👍👍👍👍👍"), want);
    }

    #[test]
    fn prose_does_not_spread() {
        let text = "word ".repeat(60);
        let widest = |text: &str| text.lines().map(columns_in).max();
        assert_eq!(widest(&set(200, Margin::default(), &text)), Some(99));
        assert_eq!(widest(&set(200, Margin::default().full(), &text)), Some(199));
    }

    #[test]
    fn marks_without_columns_are_not_held_back_for_ever() {
        let mut flow = LineWrapper::new(OutputStyle::new(ColourChoice::Never), Some(20));
        let mut out = String::new();
        let text = format!("e{}", "\u{301}".repeat(100_000));
        for c in text.chars() {
            flow.put(c, TextStyle::PLAIN);
            out.push_str(&flow.take());
            assert!(flow.word_bytes <= WORD + 4);
        }
        flow.end_line();
        out.push_str(&flow.take());
        assert_eq!(out.replace('\n', ""), text);
    }
}
