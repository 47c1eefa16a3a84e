//! The safe output to terminals: colour where it is wanted, and text of models, tools and files
//! that can't control the terminal or deceive its reader.

use super::args::ColourChoice;
use std::{
    borrow::Cow,
    env,
    io::{IsTerminal, stderr},
    mem,
};

/// The style of the output: whether colour is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OutputStyle {
    colour: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum TextColour {
    Dim,
    Bold,
    Red,
    Green,
    Yellow,
    Cyan,
}

/// The style of a piece of text: any combination of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TextStyle(u16);

impl TextStyle {
    pub(super) const PLAIN: Self = Self(0);
    pub(super) const BOLD: Self = Self(1);
    pub(super) const DIM: Self = Self(1 << 1);
    pub(super) const ITALIC: Self = Self(1 << 2);
    pub(super) const UNDERLINE: Self = Self(1 << 3);
    pub(super) const STRIKE: Self = Self(1 << 4);
    pub(super) const RED: Self = Self(1 << 5);
    pub(super) const GREEN: Self = Self(1 << 6);
    pub(super) const YELLOW: Self = Self(1 << 7);
    pub(super) const CYAN: Self = Self(1 << 8);

    /// Each mark and its number in a terminal's "select graphic rendition" (ECMA-48).
    const CODES: [(Self, &str); 9] = [
        (Self::BOLD, "1"),
        (Self::DIM, "2"),
        (Self::ITALIC, "3"),
        (Self::UNDERLINE, "4"),
        (Self::STRIKE, "9"),
        (Self::RED, "31"),
        (Self::GREEN, "32"),
        (Self::YELLOW, "33"),
        (Self::CYAN, "36"),
    ];

    pub(super) const fn with(self, marks: Self) -> Self {
        Self(self.0 | marks.0)
    }

    pub(super) const fn without(self, marks: Self) -> Self {
        Self(self.0 & !marks.0)
    }

    /// Returns whether all of these marks are set.
    pub(super) const fn has(self, marks: Self) -> bool {
        self.0 & marks.0 == marks.0
    }
}

impl OutputStyle {
    /// Returns the style for standard error.
    pub(super) fn new(when: ColourChoice) -> Self {
        // The convention of `NO_COLOR`: it counts if it is set and not empty.
        let no = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        let colour = match when {
            ColourChoice::Always => true,
            ColourChoice::Never => false,
            ColourChoice::Auto => stderr().is_terminal() && !no && !dumb,
        };
        Self { colour }
    }

    /// Returns whether text is marked by colour at all.
    pub(super) const fn is_coloured(self) -> bool {
        self.colour
    }

    /// Changes the style of the text that follows in `out`.
    pub(super) fn turn(self, from: TextStyle, to: TextStyle, out: &mut String) {
        if !self.colour || from == to {
            return;
        }
        if from != TextStyle::PLAIN {
            // Reset as a whole: the code that ends one mark would end others, as 22 bold and dim.
            out.push_str("\x1b[0m");
        }
        let codes =
            TextStyle::CODES.iter().filter(|(mark, _)| to.has(*mark)).map(|(_, code)| *code);
        let codes: Vec<&str> = codes.collect();
        if !codes.is_empty() {
            out.push_str(&format!("\x1b[{}m", codes.join(";")));
        }
    }

    pub(super) fn paint<'a>(self, colour: TextColour, text: &'a str) -> Cow<'a, str> {
        if !self.colour || text.is_empty() {
            return Cow::Borrowed(text);
        }
        let code = match colour {
            TextColour::Dim => 2,
            TextColour::Bold => 1,
            TextColour::Red => 31,
            TextColour::Green => 32,
            TextColour::Yellow => 33,
            TextColour::Cyan => 36,
        };
        Cow::Owned(format!("\x1b[{code}m{text}\x1b[0m"))
    }

    /// Colours a unified diff by line, and makes its lines harmless.
    pub(super) fn diff(self, diff: &str) -> String {
        let lines = diff.lines().map(|line| {
            let colour = match line.as_bytes() {
                [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => Some(TextColour::Bold),
                [b'+', ..] => Some(TextColour::Green),
                [b'-', ..] => Some(TextColour::Red),
                [b'@', ..] => Some(TextColour::Cyan),
                _ => None,
            };
            let line = harmless(line);
            format!("{}\n", colour.map_or(line.clone(), |colour| self.paint(colour, &line)))
        });
        lines.collect()
    }
}

/// Replaces invisible characters other than line feed and tab with escapes: the text of a model or
/// a tool, or the name of a file, must not move the cursor, change a title, or look like something
/// else. The escapes are those of JSON, so that a line of JSON keeps its meaning.
pub(super) fn harmless(text: &str) -> Cow<'_, str> {
    harmless_behind(' ', text)
}

/// Does the same with a piece of text that follows that character.
fn harmless_behind(mut before: char, text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    // The end of the part of `text` that is in `out`; 0 while nothing needed an escape.
    let mut done = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        // The carriage return of a Windows line end is dropped: an escape would clutter each line.
        let ends_line = c == '\r' && chars.peek().is_some_and(|(_, next)| *next == '\n');
        if is_unseen(c) || (is_joining(c) && (before.is_ascii() || is_joining(before))) {
            out.push_str(text.get(done..at).unwrap_or_default());
            done = at + c.len_utf8();
            if !ends_line {
                let mut units = [0; 2];
                let units = c.encode_utf16(&mut units).iter();
                out.extend(units.map(|unit| format!("\\u{unit:04x}")));
            }
        }
        before = c;
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(done..).unwrap_or_default());
    Cow::Owned(out)
}

/// Returns whether the character is invisible: a control, a mark of direction, a filler, a tag.
/// Marks of direction can reorder source code on the screen, and tags can hide text.
fn is_unseen(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
        || matches!(
            c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Returns whether the character joins the one before it, as in Persian words and in emoji. A
/// single one after a character that is not ASCII is legitimate; others could hide data.
const fn is_joining(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
}

/// The sanitizer of a text that arrives in pieces: the result is the same as for the whole text.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextSanitizer {
    before: char,
    /// True if a carriage return is held back until the next character is known.
    returned: bool,
}

impl Default for TextSanitizer {
    fn default() -> Self {
        Self { before: ' ', returned: false }
    }
}

impl TextSanitizer {
    pub(super) fn harmless(&mut self, piece: &str) -> String {
        let returned = if mem::take(&mut self.returned) { "\r" } else { "" };
        let piece = format!("{returned}{piece}");
        let text = piece.strip_suffix('\r').unwrap_or(&piece);
        self.returned = text.len() < piece.len();
        let harmless = harmless_behind(self.before, text).into_owned();
        self.before = text.chars().next_back().unwrap_or(self.before);
        harmless
    }
}

/// Returns the first `chars` characters of `text` on one harmless line, with `…` if it is cut.
pub(super) fn brief(text: &str, chars: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = harmless(&line);
    if line.chars().count() <= chars {
        return line.into_owned();
    }
    let mut cut: String = line.chars().take(chars.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_shown_by_an_escape() {
        let cases = [
            ("plain\ttext\n", "plain\ttext\n"),
            ("lines\r\nof\rDOS\r\n", "lines\nof\\u000dDOS\n"),
            ("\u{1b}[2J\u{7f}\u{9b}", "\\u001b[2J\\u007f\\u009b"),
            ("if \u{202e}lla\u{2066} \u{61c}\u{200f}", "if \\u202ella\\u2066 \\u061c\\u200f"),
            ("\u{feff}a\u{200b}b\u{ad}\u{2028}", "\\ufeffa\\u200bb\\u00ad\\u2028"),
            ("tag\u{e0001}\u{e007f}\u{e0100}", "tag\\udb40\\udc01\\udb40\\udc7f\\udb40\\udd00"),
            // A Persian word, a heart and a family keep their joining characters.
            ("می\u{200c}خواهم ❤\u{fe0f} 👩\u{200d}👧", "می\u{200c}خواهم ❤\u{fe0f} 👩\u{200d}👧"),
            ("a\u{200d}b ❤\u{fe0f}\u{fe0e}", "a\\u200db ❤\u{fe0f}\\ufe0e"),
            ("Grüße, 日本語, עברית", "Grüße, 日本語, עברית"),
        ];
        for (text, want) in cases {
            assert_eq!(harmless(text), want);
            assert_eq!(harmless(&harmless(text)), want);
        }
        for c in ('\u{202a}'..='\u{202e}')
            .chain('\u{2066}'..='\u{2069}')
            .chain('\u{e0000}'..='\u{e007f}')
        {
            let text = harmless(&format!("é{c}")).into_owned();
            assert!(!text.contains(c) && text.starts_with("é\\u"), "{text}");
        }
        assert_eq!(brief("a\u{202e}b\u{1b}", 80), "a\\u202eb\\u001b");
    }

    #[test]
    fn what_comes_in_pieces_is_what_it_is_as_a_whole() {
        let text = "a\r\nb\rc 👩\u{200d}👧 ❤\u{fe0f} x\u{200d}\u{1b}[2J";
        let mut pieces = TextSanitizer::default();
        let mut buffer = [0; 4];
        let shown = text.chars().map(|c| pieces.harmless(c.encode_utf8(&mut buffer)));
        assert_eq!(shown.collect::<String>(), harmless(text));
    }

    #[test]
    fn a_line_of_json_means_the_same() {
        let value = "\u{202e}a\\\u{e0041}\u{7f}\u{1b}é\u{200d}";
        let line = serde_json::to_string(value).unwrap();
        let shown = harmless(&line);
        assert!(!shown.contains(['\u{202e}', '\u{e0041}', '\u{7f}']), "{shown}");
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), value);
    }
}
