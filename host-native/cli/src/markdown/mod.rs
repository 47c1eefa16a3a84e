//! Markdown on a terminal, laid out as it arrives in pieces that may end anywhere. Only text that
//! may still become something else is held back: the start of a line, a mark, the text of a link,
//! a table. Each of these has a bound, so that hostile text costs bounded memory and linear time.
//!
//! Without colour, the marks of emphasis, code and headings stay, since nothing else would show
//! them; lists, quotes, code, tables and rules are laid out in either case. Line ends stay where
//! the model has put them.

mod inline;
mod start;
mod table;
#[cfg(test)]
mod tests;

use super::{
    style::TextStyle,
    wrap::{LineWidth, LineWrapper, Margin, columns_in},
};
use inline::InlineParser;
use start::{HELD, LineStart, start};
use std::mem;
use table::TableBuffer;

/// The most spaces before a line.
const INDENT: usize = 40;

/// The most quotes and items within each other.
const DEPTH: usize = 8;

/// The most columns of a rule.
const RULE: usize = 40;

/// The text before each line of a code block.
const CODE: &str = "  ";

/// The text before each line of a quote.
const QUOTE: &str = "│ ";

/// The parser that lays out Markdown in lines.
#[derive(Debug, Default)]
pub(super) struct Markdown {
    /// The style of the whole text.
    base: TextStyle,
    /// The style of the current line, such as that of a heading.
    line: TextStyle,
    place: Place,
    inline: InlineParser,
    /// True if the previous line belongs to a paragraph, which may go on.
    is_paragraph: bool,
    table: TableBuffer,
    /// The margin of the table's rows.
    table_margin: Margin,
    /// True if the current table is too long to be aligned, and its rows are shown as text.
    is_long_table: bool,
}

/// The place of the next character.
#[derive(Debug)]
enum Place {
    Begin(Beginning),
    Text,
    /// In the row of a table.
    Row(String),
    /// At the start of a line of code, which may still be the closing fence.
    Code(Fence, String),
    /// In a line of code that is not the fence.
    CodeLine(Fence),
}

impl Default for Place {
    fn default() -> Self {
        Self::Begin(Beginning::default())
    }
}

/// The start of a line, after its quotes and the marks of items.
#[derive(Debug, Default)]
struct Beginning {
    indent: usize,
    held: String,
    first: String,
    rest: String,
    depth: usize,
    quotes: usize,
    is_item: bool,
}

/// The opening fence of a code block.
#[derive(Debug)]
struct Fence {
    mark: char,
    length: usize,
    indent: usize,
    quotes: usize,
    margin: String,
}

impl Markdown {
    /// Begins a text in the style `base`.
    pub(super) fn new(base: TextStyle) -> Self {
        Self { base, line: base, ..Self::default() }
    }

    pub(super) fn read(&mut self, text: &str, flow: &mut LineWrapper) {
        text.chars().for_each(|c| self.step(c, flow));
    }

    /// Ends the text and shows what is held back; the next text begins anew.
    pub(super) fn finish(&mut self, flow: &mut LineWrapper) {
        let is_between =
            matches!(&self.place, Place::Begin(at) if at.held.is_empty() && at.depth == 0);
        let is_code_start = matches!(&self.place, Place::Code(_, held) if held.is_empty());
        if !is_between && !is_code_start {
            self.step('\n', flow);
        }
        self.end_table(flow);
        self.discard();
        flow.end_line();
    }

    /// Drops what is held back; the next text begins anew.
    pub(super) fn discard(&mut self) {
        self.inline.reset();
        // Kept for its count of steps, which tests read.
        let inline = mem::take(&mut self.inline);
        *self = Self { inline, ..Self::new(self.base) };
    }

    fn step(&mut self, c: char, flow: &mut LineWrapper) {
        match mem::take(&mut self.place) {
            Place::Begin(at) => self.read_start(at, c, flow),
            Place::Text if c == '\n' => self.end_text(flow),
            Place::Text => {
                self.inline.read(c, self.line, flow);
                self.place = Place::Text;
            }
            Place::Row(row) => self.read_row(row, c, flow),
            Place::Code(fence, held) => self.read_code_start(fence, held, c, flow),
            Place::CodeLine(fence) if c == '\n' => {
                flow.newline();
                self.place = Place::Code(fence, String::new());
            }
            Place::CodeLine(fence) => {
                flow.put_as_is(c, self.base);
                self.place = Place::CodeLine(fence);
            }
        }
    }

    fn read_start(&mut self, mut at: Beginning, c: char, flow: &mut LineWrapper) {
        if at.held.is_empty() && matches!(c, ' ' | '\t') {
            at.indent = (at.indent + if c == '\t' { 4 } else { 1 }).min(INDENT);
            self.place = Place::Begin(at);
            return;
        }
        let is_whole = c == '\n';
        if !is_whole {
            at.held.push(c);
        }
        match start(&at.held, is_whole) {
            LineStart::Open => self.place = Place::Begin(at),
            kind => {
                self.begin(kind, at, flow);
                if is_whole {
                    self.end_begun(flow);
                }
            }
        }
    }

    /// Begins a line whose kind is known now.
    fn begin(&mut self, kind: LineStart, mut at: Beginning, flow: &mut LineWrapper) {
        // The table may be within the quote.
        let may_be_row = match kind {
            LineStart::Row => true,
            LineStart::Quote(length) => at.may_hold(length, flow),
            _ => false,
        };
        if !may_be_row {
            self.end_table(flow);
            self.is_long_table = false;
        }
        match kind {
            LineStart::Item(length) if at.may_hold(length, flow) => {
                let mark = at.held.get(..length).unwrap_or_default().replace(['*', '+'], "-");
                at.is_item = true;
                self.enter(&at, length, &mark, &" ".repeat(length), flow);
            }
            LineStart::Quote(length) if at.may_hold(length, flow) => {
                at.quotes += 1;
                self.enter(&at, length, QUOTE, QUOTE, flow);
            }
            LineStart::Fence(length) => self.begin_code(&at, length, flow),
            LineStart::Rule => {
                let margin = at.margin();
                let room = flow.room(LineWidth::Prose).saturating_sub(columns_in(&margin.first));
                flow.set_margin(margin);
                flow.text(&"─".repeat(room.min(RULE)), self.base.with(TextStyle::DIM));
                self.begin_paragraph(false);
            }
            LineStart::Blank => {
                flow.set_margin(Margin::new(at.first, at.rest));
                self.begin_paragraph(false);
            }
            LineStart::Row if !self.is_long_table => {
                let margin = at.margin();
                if columns_in(&margin.first) != columns_in(&self.table_margin.first) {
                    self.end_table(flow);
                }
                if self.table.is_empty() {
                    self.table_margin = margin;
                }
                self.place = Place::Row(at.held);
            }
            LineStart::Heading(length) => {
                self.begin_paragraph(false);
                self.line = self.base.with(TextStyle::BOLD);
                flow.set_margin(at.margin());
                let (marks, words) = at.held.split_at_checked(length).unwrap_or_default();
                if !flow.style().is_coloured() {
                    flow.text(marks, self.line);
                }
                self.text(words, flow);
            }
            _ => {
                self.begin_paragraph(self.is_paragraph && !at.is_item);
                flow.set_margin(at.margin());
                self.is_paragraph = true;
                self.text(&at.held, flow);
            }
        }
    }

    /// Enters an item or a quote whose mark has that many bytes, and reads the text after it.
    fn enter(
        &mut self,
        at: &Beginning,
        length: usize,
        first: &str,
        rest: &str,
        flow: &mut LineWrapper,
    ) {
        let margin = at.margin();
        let content = at.held.get(length..).unwrap_or_default();
        self.place = Place::Begin(Beginning {
            first: format!("{}{first}", margin.first),
            rest: format!("{}{rest}", margin.rest),
            depth: at.depth + 1,
            quotes: at.quotes,
            is_item: at.is_item,
            ..Beginning::default()
        });
        content.chars().for_each(|c| self.step(c, flow));
    }

    /// Begins a paragraph, or goes on with one. Emphasis that nobody has closed ends with it.
    fn begin_paragraph(&mut self, goes_on: bool) {
        self.is_paragraph = goes_on;
        self.line = self.base;
        if !goes_on {
            self.inline.reset();
        }
        self.place = Place::Text;
    }

    fn text(&mut self, text: &str, flow: &mut LineWrapper) {
        text.chars().for_each(|c| self.inline.read(c, self.line, flow));
        self.place = Place::Text;
    }

    /// Ends a line whose kind was known only at its end.
    fn end_begun(&mut self, flow: &mut LineWrapper) {
        match mem::take(&mut self.place) {
            Place::Code(fence, held) => self.place = Place::Code(fence, held),
            // A quote or an item with nothing in it.
            Place::Begin(at) => self.read_start(at, '\n', flow),
            Place::Row(row) => self.read_row(row, '\n', flow),
            Place::Text | Place::CodeLine(_) => self.end_text(flow),
        }
    }

    fn end_text(&mut self, flow: &mut LineWrapper) {
        self.inline.end_line(self.line, flow);
        flow.newline();
        self.line = self.base;
        self.place = Place::default();
    }

    fn read_row(&mut self, mut row: String, c: char, flow: &mut LineWrapper) {
        if c != '\n' {
            row.push(c);
            if self.table.bytes() + row.len() < table::HELD {
                self.place = Place::Row(row);
                return;
            }
            // The table is too long to be held back any longer: its rows become text.
            self.is_long_table = true;
            self.rows_as_text(flow);
            flow.set_margin(self.margin_of_row());
            return self.text(&row, flow);
        }
        if !self.table.add(row) {
            self.is_long_table = true;
            self.rows_as_text(flow);
        }
    }

    fn end_table(&mut self, flow: &mut LineWrapper) {
        if self.table.is_empty() {
            return;
        }
        let room = flow.room(LineWidth::Full).saturating_sub(columns_in(&self.table_margin.first));
        let Some(lines) = self.table.lines(room, self.base, flow.style()) else {
            return self.rows_as_text(flow);
        };
        self.table = TableBuffer::default();
        for line in lines {
            flow.put_line(&format!("{}{line}", self.table_margin.first));
            self.table_margin.first.clone_from(&self.table_margin.rest);
        }
    }

    /// Shows the rows that were held back as they were written.
    fn rows_as_text(&mut self, flow: &mut LineWrapper) {
        for row in mem::take(&mut self.table).into_rows() {
            flow.set_margin(self.margin_of_row());
            self.table_margin.first.clone_from(&self.table_margin.rest);
            self.inline.reset();
            self.text(&row, flow);
            self.end_text(flow);
        }
        self.inline.reset();
    }

    /// Returns the margin of a row that is shown as it was written.
    fn margin_of_row(&self) -> Margin {
        let Margin { first, rest, .. } = &self.table_margin;
        Margin::new(first.clone(), format!("{rest}  "))
    }

    fn begin_code(&mut self, at: &Beginning, length: usize, flow: &mut LineWrapper) {
        let label = at.held.get(length..).unwrap_or_default().trim();
        let mark = at.held.chars().next().unwrap_or('`');
        // The indentation of an item's lines is not part of the code.
        let around = columns_in(&at.rest).saturating_sub(at.quotes * columns_in(QUOTE));
        let (indent, quotes) = (at.indent + around, at.quotes);
        let Margin { first, rest, .. } = at.margin();
        let (first, margin) = (format!("{first}{CODE}"), format!("{rest}{CODE}"));
        if !label.is_empty() || at.is_item {
            flow.set_margin(Margin::new(first, margin.clone()));
            let label = if label.is_empty() { String::new() } else { format!("{label}:") };
            flow.text(&label, self.base.with(TextStyle::DIM));
            flow.newline();
        }
        self.begin_paragraph(false);
        self.place = Place::Code(Fence { mark, length, indent, quotes, margin }, String::new());
    }

    fn read_code_start(&mut self, fence: Fence, mut held: String, c: char, flow: &mut LineWrapper) {
        if c == '\n' && fence.is_ended_by(&held) {
            self.place = Place::default();
            return;
        }
        if c != '\n' {
            held.push(c);
            if held.len() < HELD && fence.may_be_ended_by(&held) {
                self.place = Place::Code(fence, held);
                return;
            }
        }
        flow.set_margin(Margin::new(fence.margin.clone(), fence.margin.clone()).full());
        fence.code(&held).chars().for_each(|c| flow.put_as_is(c, self.base));
        self.place = Place::CodeLine(fence);
        if c == '\n' {
            self.step('\n', flow);
        }
    }

    /// Returns the number of bytes that are held back.
    #[cfg(test)]
    fn held(&self) -> usize {
        let place = match &self.place {
            Place::Begin(at) => at.held.len(),
            Place::Row(held) | Place::Code(_, held) => held.len(),
            Place::Text | Place::CodeLine(_) => 0,
        };
        place + self.table.bytes() + self.inline.held()
    }
}

impl Beginning {
    /// Returns whether there is room for an item or a quote with a mark of that length: its margin
    /// must leave half of the line.
    fn may_hold(&self, length: usize, flow: &LineWrapper) -> bool {
        let margin = columns_in(self.first.trim_start()) + length;
        self.depth < DEPTH && margin <= flow.room(LineWidth::Prose) / 2
    }

    fn margin(&self) -> Margin {
        let indent = " ".repeat(self.indent);
        Margin::new(format!("{}{indent}", self.first), format!("{}{indent}", self.rest))
    }
}

impl Fence {
    /// Returns a line of the block without the quotes and the indentation of the fence.
    fn code<'a>(&self, line: &'a str) -> &'a str {
        let mut line = line;
        for _ in 0..self.quotes {
            let Some(inner) = line.trim_start_matches(' ').strip_prefix('>') else { break };
            line = inner.strip_prefix(' ').unwrap_or(inner);
        }
        for _ in 0..self.indent {
            line = line.strip_prefix(' ').unwrap_or(line);
        }
        line
    }

    fn is_ended_by(&self, line: &str) -> bool {
        let line = self.code(line).trim();
        line.chars().count() >= self.length && line.chars().all(|c| c == self.mark)
    }

    fn may_be_ended_by(&self, line: &str) -> bool {
        let line = self.code(line).trim();
        line.chars().all(|c| c == self.mark)
    }
}
