//! The inline elements of Markdown: emphasis, code, links, escapes. A character is held back only
//! while it may still be a mark or the text of a link.
//!
//! A mark counts only where it can hardly mean anything else: `**/*.rs`, `2 * 3`, `a_b` and `2**8`
//! stay as they are. Emphasis that is never closed ends with its paragraph; its opening mark was
//! taken for one when it arrived, and can't be shown afterwards where there is colour.

use crate::{style::TextStyle, wrap::LineWrapper};
use std::mem;

/// The most bytes of a link's text, and of its address, that are held back.
const LABEL: usize = 200;
const ADDRESS: usize = 2_000;

/// The longest run of backticks that begins code.
const TICKS: usize = 8;

/// The most marks in a row that are held back; that many mean nothing.
const RUN: usize = 64;

#[derive(Clone, Debug, Default)]
pub(super) struct InlineParser {
    /// The styles that `*`, `_` and `~` have begun.
    stars: TextStyle,
    lows: TextStyle,
    waves: TextStyle,
    /// The number of backticks that close the current code span; 0 outside of code.
    ticks: usize,
    held: PendingMark,
    /// The last character that was read and is not held.
    before: Option<char>,
    /// True while text that was held for a link is read again. No link begins in it, so that each
    /// character is read twice at most.
    is_link: bool,
    /// The characters read so far; those that were held count twice.
    #[cfg(test)]
    pub(super) steps: usize,
}

#[derive(Clone, Debug, Default)]
enum PendingMark {
    #[default]
    Nothing,
    /// A run of one mark, with its length.
    Run(char, usize),
    /// A backslash.
    Escape,
    /// After `[`.
    Label(String),
    /// After `[label]`.
    Labelled(String),
    /// After `[label](`; `open` is the number of open brackets in the address.
    Address { label: String, url: String, open: usize },
}

impl InlineParser {
    /// Reads a character of the line; `base` is the style of the line.
    pub(super) fn read(&mut self, c: char, base: TextStyle, flow: &mut LineWrapper) {
        #[cfg(test)]
        {
            self.steps += 1;
        }
        match mem::take(&mut self.held) {
            PendingMark::Nothing => self.read_plain(c, base, flow),
            PendingMark::Run(mark, RUN) if mark == c => {
                self.emit_run(mark, RUN, base, flow);
                self.held = PendingMark::Run(mark, 1);
            }
            PendingMark::Run(mark, count) if mark == c => {
                self.held = PendingMark::Run(mark, count + 1);
            }
            PendingMark::Run(mark, count) => {
                self.mark(mark, count, Some(c), base, flow);
                self.read_plain(c, base, flow);
            }
            PendingMark::Escape if c.is_ascii_punctuation() => self.emit(c, base, flow),
            PendingMark::Escape => {
                self.emit('\\', base, flow);
                self.read_plain(c, base, flow);
            }
            held => self.read_link(held, c, base, flow),
        }
    }

    /// Ends the line; open emphasis and code go on in the next one.
    pub(super) fn end_line(&mut self, base: TextStyle, flow: &mut LineWrapper) {
        match mem::take(&mut self.held) {
            PendingMark::Nothing | PendingMark::Escape => {}
            PendingMark::Run(mark, count) => self.mark(mark, count, None, base, flow),
            held => {
                self.read_again(&held.raw(), base, flow);
                self.end_line(base, flow);
            }
        }
        self.before = None;
    }

    /// Ends the paragraph.
    pub(super) fn reset(&mut self) {
        *self = Self {
            #[cfg(test)]
            steps: self.steps,
            ..Self::default()
        };
    }

    fn read_plain(&mut self, c: char, base: TextStyle, flow: &mut LineWrapper) {
        match c {
            '`' => self.held = PendingMark::Run(c, 1),
            _ if self.ticks > 0 => self.emit(c, base, flow),
            '*' | '_' | '~' => self.held = PendingMark::Run(c, 1),
            '\\' => self.held = PendingMark::Escape,
            '[' if !self.is_link => self.held = PendingMark::Label(String::new()),
            _ => self.emit(c, base, flow),
        }
    }

    fn read_link(&mut self, held: PendingMark, c: char, base: TextStyle, flow: &mut LineWrapper) {
        self.held = match held {
            PendingMark::Label(label) if c == ']' => PendingMark::Labelled(label),
            PendingMark::Label(mut label) if c != '[' && label.len() < LABEL => {
                label.push(c);
                PendingMark::Label(label)
            }
            PendingMark::Labelled(label) if c == '(' => {
                PendingMark::Address { label, url: String::new(), open: 0 }
            }
            PendingMark::Address { label, url, open: 0 } if c == ')' => {
                return self.link(&label, &url, base, flow);
            }
            PendingMark::Address { label, mut url, open }
                if !c.is_whitespace() && url.len() < ADDRESS =>
            {
                url.push(c);
                let open = match c {
                    '(' => open + 1,
                    ')' => open - 1,
                    _ => open,
                };
                PendingMark::Address { label, url, open }
            }
            held => {
                self.read_again(&held.raw(), base, flow);
                return self.read(c, base, flow);
            }
        };
    }

    /// Shows a link as `text (url)`, or as one of them if that says it all. The address is always
    /// visible: a text that names another one must not deceive.
    fn link(&mut self, label: &str, url: &str, base: TextStyle, flow: &mut LineWrapper) {
        self.read_again(label, base.with(TextStyle::UNDERLINE), flow);
        self.end_line(base.with(TextStyle::UNDERLINE), flow);
        let is_same = url == label || url.strip_prefix("mailto:") == Some(label);
        if !is_same && !url.is_empty() {
            let address = if label.is_empty() { url.to_owned() } else { format!(" ({url})") };
            flow.text(&address, base.with(TextStyle::DIM));
        }
        self.before = Some(')');
    }

    /// Reads text that was held for a link again, as text without links.
    fn read_again(&mut self, text: &str, base: TextStyle, flow: &mut LineWrapper) {
        let is_link = mem::replace(&mut self.is_link, true);
        text.chars().for_each(|c| self.read(c, base, flow));
        self.is_link = is_link;
    }

    /// Handles a whole run of marks, followed by `next`: it opens or closes emphasis or code, or it
    /// is text.
    fn mark(
        &mut self,
        mark: char,
        count: usize,
        next: Option<char>,
        base: TextStyle,
        flow: &mut LineWrapper,
    ) {
        if mark == '`' {
            return self.tick(count, next, base, flow);
        }
        let marks = match (mark, count) {
            ('~', 2) => TextStyle::STRIKE,
            ('*' | '_', 1) => TextStyle::ITALIC,
            ('*' | '_', 2) => TextStyle::BOLD,
            ('*' | '_', 3) => TextStyle::BOLD.with(TextStyle::ITALIC),
            _ => return self.emit_run(mark, count, base, flow),
        };
        let begun = match mark {
            '*' => self.stars,
            '_' => self.lows,
            _ => self.waves,
        };
        let before = self.before.filter(|c| !c.is_whitespace());
        // As in CommonMark, `_` inside of a word is never a mark: names such as `a_b_c` hold it.
        let is_low = mark == '_';
        let ends = begun.has(marks)
            && before.is_some()
            && !(is_low && next.is_some_and(char::is_alphanumeric));
        let inside = |c: char| c.is_ascii_alphanumeric() || is_low && c.is_alphanumeric();
        let begins = begun.without(marks) == begun
            && !before.is_some_and(inside)
            && next.is_some_and(may_be_marked);
        let now = match (ends, begins) {
            (true, _) => begun.without(marks),
            (false, true) => begun.with(marks),
            (false, false) => return self.emit_run(mark, count, base, flow),
        };
        // A mark that is shown looks like the text before it.
        let look = self.look(base);
        match mark {
            '*' => self.stars = now,
            '_' => self.lows = now,
            _ => self.waves = now,
        }
        self.emit_mark(mark, count, look, flow);
    }

    fn tick(&mut self, count: usize, next: Option<char>, base: TextStyle, flow: &mut LineWrapper) {
        let ticks = match self.ticks {
            0 if count <= TICKS && next.is_some_and(|c| !c.is_whitespace()) => count,
            ticks if ticks == count => 0,
            _ => return self.emit_run('`', count, base, flow),
        };
        let look = self.look(base);
        self.ticks = ticks;
        self.emit_mark('`', count, look, flow);
    }

    /// Shows a mark that was understood where there is no colour to show it.
    fn emit_mark(&mut self, mark: char, count: usize, look: TextStyle, flow: &mut LineWrapper) {
        if !flow.style().is_coloured() {
            (0..count).for_each(|_| flow.put(mark, look));
        }
        self.before = Some(mark);
    }

    fn emit_run(&mut self, mark: char, count: usize, base: TextStyle, flow: &mut LineWrapper) {
        (0..count).for_each(|_| self.emit(mark, base, flow));
    }

    fn emit(&mut self, c: char, base: TextStyle, flow: &mut LineWrapper) {
        flow.put(c, self.look(base));
        self.before = Some(c);
    }

    fn look(&self, base: TextStyle) -> TextStyle {
        let code = if self.ticks > 0 { TextStyle::CYAN } else { TextStyle::PLAIN };
        base.with(self.stars).with(self.lows).with(self.waves).with(code)
    }

    /// Returns the number of bytes that are held back.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        match &self.held {
            PendingMark::Nothing | PendingMark::Run(..) | PendingMark::Escape => 0,
            held => held.raw().len(),
        }
    }
}

impl PendingMark {
    /// Returns the held text as it was written.
    fn raw(&self) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::Run(mark, count) => mark.to_string().repeat(*count),
            Self::Escape => "\\".to_owned(),
            Self::Label(label) => format!("[{label}"),
            Self::Labelled(label) => format!("[{label}]"),
            Self::Address { label, url, .. } => format!("[{label}]({url}"),
        }
    }
}

/// Returns whether emphasis may open before that character.
fn may_be_marked(c: char) -> bool {
    c.is_alphanumeric() || !c.is_ascii() && !c.is_whitespace() || "\"'(`[<$#@&%+-~*_\\".contains(c)
}
