//! What may go to a terminal: colour where it is wanted, and text that cannot steer the
//! terminal.

use super::args::When;
use std::{
    borrow::Cow,
    env,
    io::{IsTerminal, stderr},
};

/// Whether colour is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style {
    colour: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Colour {
    Dim,
    Bold,
    Red,
    Green,
    Yellow,
    Cyan,
}

impl Style {
    /// For standard error.
    pub(super) fn new(when: When) -> Self {
        let no = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        let colour = match when {
            When::Always => true,
            When::Never => false,
            When::Auto => stderr().is_terminal() && !no && !dumb,
        };
        Self { colour }
    }

    pub(super) fn paint<'a>(self, colour: Colour, text: &'a str) -> Cow<'a, str> {
        if !self.colour || text.is_empty() {
            return Cow::Borrowed(text);
        }
        let code = match colour {
            Colour::Dim => 2,
            Colour::Bold => 1,
            Colour::Red => 31,
            Colour::Green => 32,
            Colour::Yellow => 33,
            Colour::Cyan => 36,
        };
        Cow::Owned(format!("\x1b[{code}m{text}\x1b[0m"))
    }

    /// A unified diff, coloured by line.
    pub(super) fn diff(self, diff: &str) -> String {
        let lines = diff.lines().map(|line| {
            let colour = match line.as_bytes() {
                [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => Some(Colour::Bold),
                [b'+', ..] => Some(Colour::Green),
                [b'-', ..] => Some(Colour::Red),
                [b'@', ..] => Some(Colour::Cyan),
                _ => None,
            };
            let line = harmless(line);
            format!("{}\n", colour.map_or(line.clone(), |colour| self.paint(colour, &line)))
        });
        lines.collect()
    }
}

/// `text` without control characters other than line feed and tab: what a model or a tool says
/// must not move the cursor, change a title or hide a line.
pub(super) fn harmless(text: &str) -> Cow<'_, str> {
    let bad = |c: char| c.is_control() && c != '\n' && c != '\t';
    if text.contains(bad) {
        Cow::Owned(text.replace(bad, "\u{fffd}").replace("\u{fffd}\n", "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

/// The first `chars` characters of `text` on one line, with `…` where something is left out.
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
