//! The text of a file in which an edit replaces a text: where that stands, and how the new text
//! takes on the file's line ends and indentation. `replace` compares texts and `indent_shift` moves
//! lines; here both meet the file.

use crate::{
    files::MAX_FILE_BYTES,
    indent_shift::{IndentPair, IndentShift, IndentStyle, agrees, indentation, is_placed},
    replace::{self, TextMatches},
};
use innerloop_json::IntoList;
use memchr::{memchr, memchr_iter, memrchr};
use std::{borrow::Cow, ops::Range};

/// A file's text.
pub(crate) struct SourceText<'a> {
    text: &'a str,
    /// The number of its line ends that are CR LF, and the number of all of them.
    crlf: usize,
    feeds: usize,
}

/// The reason why a replacement was not made.
pub(crate) enum ReplaceError {
    NotFound,
    /// The lines where the old text occurs.
    NotUnique(Vec<usize>),
    /// The place has another indentation, which the new text cannot take on.
    Indentation(Range<usize>),
    TooLarge,
}

/// The text after the replacements.
pub(crate) struct EditedText {
    pub(crate) text: String,
    /// The lines of the result at which a replacement begins, counted from 1.
    pub(crate) lines: Vec<usize>,
    /// The place of the first replacement in the result, in bytes.
    pub(crate) first: Range<usize>,
    /// The differences that were ignored to find the old text.
    pub(crate) leniency: Option<&'static str>,
    /// True if the new text repeated the indentation that stands before the old text, so that it
    /// was dropped.
    pub(crate) is_dedented: bool,
}

impl<'a> SourceText<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let feeds = memchr_iter(b'\n', text.as_bytes()).count();
        Self { text, crlf: text.matches("\r\n").count(), feeds }
    }

    pub(crate) fn replace(
        &self,
        old: &str,
        new: &str,
        all: bool,
    ) -> Result<EditedText, ReplaceError> {
        let plain_new = new.replace("\r\n", "\n");
        // Line ends change only if nothing else is to change. In any other edit the new text takes
        // on the file's, since models write `\n` whatever the file has.
        if old != new && old.replace('\r', "") == new.replace('\r', "") {
            let exact = replace::find(self.text, old).filter(TextMatches::is_exact);
            if let Some(found) = exact {
                return self.apply(&found, old, new, all, &|_, new| Cow::Borrowed(new));
            }
        }
        let plain = self.text.replace("\r\n", "\n");
        let old = old.replace("\r\n", "\n");
        let mut found = replace::find(&plain, &old).ok_or(ReplaceError::NotFound)?;
        // A place before a line feed is also before its carriage return.
        let mut returns = self.text.match_indices("\r\n").map(|(at, _)| (at, 1));
        replace::unshorten(&mut found.spans, &mut returns);
        self.apply(&found, &old, &plain_new, all, &|span, new| self.with_line_ends(span, new))
    }

    fn apply(
        &self,
        found: &TextMatches,
        old: &str,
        new: &str,
        all: bool,
        ended: &dyn for<'n> Fn(&Range<usize>, &'n str) -> Cow<'n, str>,
    ) -> Result<EditedText, ReplaceError> {
        if found.spans.len() > 1 && !all {
            return Err(ReplaceError::NotUnique(self.line_numbers(&found.spans)));
        }
        let style = found.pass.reindents().then(|| IndentStyle::of(self.text.lines()));
        let mut text = String::with_capacity(self.text.len() + new.len());
        let mut lines = Vec::with_capacity(found.spans.len());
        let (mut first, mut is_dedented) = (None, false);
        let (mut line, mut counted, mut copied) = (1, 0, 0);
        for span in &found.spans {
            text.push_str(self.text.get(copied..span.start).unwrap_or_default());
            let start = text.len();
            let placed = match &style {
                Some(style) => {
                    let here = self.text.get(span.clone()).unwrap_or_default();
                    let moved = reindented(old, here, new, style);
                    moved.ok_or_else(|| ReplaceError::Indentation(span.clone()))?
                }
                None => Cow::Borrowed(self.dedented(span.start, old, new)),
            };
            is_dedented |= style.is_none() && placed.len() < new.len();
            text.push_str(&ended(span, &placed));
            if u64::try_from(text.len()).unwrap_or(u64::MAX) > MAX_FILE_BYTES {
                return Err(ReplaceError::TooLarge);
            }
            let passed = text.as_bytes().get(counted..start).unwrap_or_default();
            line += memchr_iter(b'\n', passed).count();
            counted = start;
            lines.push(line);
            first.get_or_insert(start..text.len());
            copied = span.end;
        }
        text.push_str(self.text.get(copied..).unwrap_or_default());
        let first = first.unwrap_or(0..0);
        Ok(EditedText { text, lines, first, leniency: found.pass.leniency(), is_dedented })
    }

    /// Returns `new` without the indentation that stands before the old text already, if the old
    /// text begins with none.
    fn dedented<'n>(&self, start: usize, old: &str, new: &'n str) -> &'n str {
        let before = self.text.get(..start).unwrap_or_default();
        let line = memrchr(b'\n', before.as_bytes()).map_or(0, |at| at + 1);
        let before = before.get(line..).unwrap_or_default();
        let is_indented = !before.is_empty() && before.trim_start().is_empty();
        if !is_indented || old.starts_with(char::is_whitespace) || says_the_same(old, new) {
            return new;
        }
        new.strip_prefix(before).unwrap_or(new)
    }

    /// Returns `new` with the file's line ends: lines that stay keep theirs, and new ones take that
    /// of the lines around them.
    fn with_line_ends<'n>(&self, span: &Range<usize>, new: &'n str) -> Cow<'n, str> {
        if self.crlf == 0 || !new.contains('\n') {
            return Cow::Borrowed(new);
        }
        if self.crlf == self.feeds {
            return Cow::Owned(new.replace('\n', "\r\n"));
        }
        let here = self.text.get(span.clone()).unwrap_or_default();
        let old: Vec<&str> = here.split('\n').into_list();
        let lines: Vec<&str> = new.split('\n').into_list();
        let is_same = |(old, new): (&&str, &&str)| old.trim() == new.trim();
        let (breaks, of_new) = (old.len() - 1, lines.len() - 1);
        let first = old.iter().zip(&lines).take_while(|pair| is_same(*pair)).count();
        let last = old.iter().rev().zip(lines.iter().rev());
        let last = last.take_while(|pair| is_same(*pair)).count();
        let mut out = String::with_capacity(new.len() + lines.len());
        for (at, line) in lines.iter().enumerate() {
            out.push_str(line);
            if at == of_new {
                break;
            }
            let of_old = match at {
                at if at < first => at,
                // Counted from the end, this line and its end are among those that stay.
                at if of_new - at < last => (breaks + at).saturating_sub(of_new),
                at => at,
            };
            let is_crlf = match breaks.checked_sub(1) {
                Some(most) => old.get(of_old.min(most)).is_some_and(|line| line.ends_with('\r')),
                None => self.is_crlf_at(span),
            };
            out.push_str(if is_crlf { "\r\n" } else { "\n" });
        }
        Cow::Owned(out)
    }

    /// Returns whether the next line end behind a place is CR LF, or else the last one before it.
    fn is_crlf_at(&self, span: &Range<usize>) -> bool {
        let bytes = self.text.as_bytes();
        let behind = bytes.get(span.end..).unwrap_or_default();
        let before = bytes.get(..span.start).unwrap_or_default();
        let feed = memchr(b'\n', behind).map(|at| span.end + at);
        let feed = feed.or_else(|| memrchr(b'\n', before));
        feed.and_then(|at| at.checked_sub(1)).and_then(|at| bytes.get(at)) == Some(&b'\r')
    }

    /// Returns the number of the line at which each place begins; the places are in order.
    pub(crate) fn line_numbers(&self, spans: &[Range<usize>]) -> Vec<usize> {
        let (mut line, mut counted) = (1, 0);
        spans
            .iter()
            .map(|span| {
                let passed = self.text.as_bytes().get(counted..span.start).unwrap_or_default();
                line += memchr_iter(b'\n', passed).count();
                counted = span.start;
                line
            })
            .into_list()
    }
}

/// Returns `new` with the indentation of `here`, if the old text has another one; `None` if it
/// cannot take that on.
fn reindented<'n>(
    old: &str,
    here: &str,
    new: &'n str,
    style: &IndentStyle,
) -> Option<Cow<'n, str>> {
    let pairs = old.split('\n').zip(here.split('\n'));
    let pairs: Vec<IndentPair<'_>> =
        pairs.filter_map(|(old, here)| Some((indentation(old)?, indentation(here)?))).into_list();
    let indents: Vec<&str> = new.split('\n').filter_map(indentation).into_list();
    let (Some(first), Some(begin)) = (pairs.first(), indents.first()) else {
        return Some(Cow::Borrowed(new));
    };
    if pairs.iter().all(agrees) || is_placed(*first, &indents) {
        return Some(Cow::Borrowed(new));
    }
    // If no line of the old text is as deep as the new text's first line, or if nothing but
    // indentation is to change, nobody can tell which depth is meant.
    if says_the_same(old, new) || !pairs.iter().any(|(given, _)| given == begin) {
        return None;
    }
    let shift = IndentShift::of(&pairs, &indents, style)?;
    let mut out = String::with_capacity(new.len() + indents.len() * first.1.len());
    for (at, line) in new.split('\n').enumerate() {
        if at > 0 {
            out.push('\n');
        }
        out.push_str(&shift.apply(line));
    }
    Some(Cow::Owned(out))
}

/// Returns whether two texts differ only in the white space around their lines.
fn says_the_same(old: &str, new: &str) -> bool {
    let old = old.split('\n').map(str::trim).filter(|line| !line.is_empty());
    old.eq(new.split('\n').map(str::trim).filter(|line| !line.is_empty()))
}
