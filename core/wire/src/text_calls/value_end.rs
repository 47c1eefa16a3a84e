//! The end of a value that stands between tags and may mention them: only its own closing tag ends
//! it, and only where the call goes on behind that. Readers of elements say what opens a value,
//! what closes it, and when a call goes on.

use super::scan::SourceText;

/// The tags around a value.
pub(super) struct ValueTags<'a> {
    /// The words by which the opening of another value is found.
    pub(super) opens: &'a [&'static str],
    /// The check for whether another value is opened at a place where one of them stands.
    pub(super) is_open: &'a dyn Fn(&SourceText<'_>, usize) -> bool,
    /// The tag that closes a value.
    pub(super) close: &'static str,
    /// The check for whether the call goes on at a place behind that tag.
    pub(super) goes_on: &'a dyn Fn(&SourceText<'_>, usize) -> bool,
}

/// The places where the value that begins at `from` is closed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ValueEnds {
    /// Its own closing tag: every value that is opened within it is closed before.
    pub(super) own: Option<usize>,
    /// The first closing tag behind which the call goes on.
    pub(super) first: Option<usize>,
    /// The place where the next value is opened.
    pub(super) next: Option<usize>,
}

/// Looks for the tags that may close the value that begins at `from`.
pub(super) fn ends(doc: &mut SourceText<'_>, from: usize, tags: &ValueTags<'_>) -> ValueEnds {
    let (mut found, mut at, mut depth) = (ValueEnds::default(), from, 0_usize);
    while let Some(close) = doc.find(tags.close, at) {
        let mut from = at;
        while let Some((open, length)) =
            next_open(doc, from, tags).filter(|(open, _)| *open < close)
        {
            if (tags.is_open)(doc, open) {
                found.next = found.next.or(Some(open));
                depth += 1;
            }
            from = open + length;
        }
        at = close + tags.close.len();
        // A closing tag behind which the call does not go on is text, so it closes nothing that was
        // opened either.
        if (tags.goes_on)(doc, at) {
            found.first = found.first.or(Some(close));
            if depth == 0 {
                found.own = Some(close);
                return found;
            }
            depth -= 1;
        }
    }
    // No closing tag is left, but another value may open behind: it ends one whose tag is missing.
    if found.next.is_none() {
        found.next =
            next_open(doc, at, tags).map(|(open, _)| open).filter(|at| (tags.is_open)(doc, *at));
    }
    found
}

fn next_open(
    doc: &mut SourceText<'_>,
    from: usize,
    tags: &ValueTags<'_>,
) -> Option<(usize, usize)> {
    tags.opens.iter().filter_map(|open| Some((doc.find(open, from)?, open.len()))).min()
}
