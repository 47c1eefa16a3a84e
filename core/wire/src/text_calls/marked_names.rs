//! Calls whose name stands between marks and whose arguments are the object behind them: ReAct's
//! `Action:` and Functionary's `>>>`, which begin lines. Such marks could stand in any prose, so
//! they call only tools that are offered. Inkling's messages name the tool in the same way, before
//! the token of their call.

use super::{
    scan::SourceText,
    tagged,
    text_findings::{CallRegion, call},
};
use innerloop_types::{model::TextFamily as Family, text::is_word};

/// The marks before and behind a name, and the family that they belong to.
const MARKS: [(&str, &str, Family); 3] = [
    ("Action:", "\nAction Input:", Family::React),
    (">>>", "\n", Family::Functionary),
    ("<|message_model|>", tagged::INKLING.0, Family::Inkling),
];

/// The mark before Functionary's text.
const ALL: &str = ">>>all\n";

/// The text behind a call of ReAct where the model goes on as if there were a result.
const RESULT: &str = "Observation:";

/// The meaning of the marks at a place.
#[derive(Clone, Copy, Debug)]
pub(super) enum LineStart<'a> {
    /// Undecided until more has come.
    Open,
    /// Marks that mean nothing, which end there.
    Drop(usize),
    /// A call of that name. Its object begins there, or the text ends there.
    Call(&'a str, usize),
}

/// Returns whether the family's template writes the first mark, so that the text begins behind it.
pub(super) const fn is_marked(family: Family) -> bool {
    matches!(family, Family::Functionary | Family::Inkling)
}

/// Returns what the marks at `at` begin, if there are any.
pub(super) fn line<'a>(family: Family, doc: &SourceText<'a>, at: usize) -> Option<LineStart<'a>> {
    MARKS.into_iter().find_map(|(open, between, own)| {
        let is_own = family == own;
        let before = at.checked_sub(1).and_then(|at| doc.body().as_bytes().get(at));
        let is_placed = match own {
            Family::Inkling => before != Some(&b'`'),
            // Functionary writes a call directly behind text and behind another call. Where the
            // family is only guessed, a brace or the mark of its text must vouch for that.
            Family::Functionary if is_own || before == Some(&b'}') => true,
            Family::Functionary if doc.after(0, ALL).is_some() => true,
            _ => matches!(before, None | Some(b'\n')),
        };
        if !(is_own || family == Family::Auto) || !is_placed {
            return None;
        }
        let from = match doc.after(at, open) {
            Some(from) => from,
            None if open.starts_with(doc.rest(at)) => return Some(LineStart::Open),
            None if at == 0 && is_own && is_marked(own) => at,
            None => return None,
        };
        let found = named(doc, from, between, own);
        // To drop nothing would keep the walk at this place for ever.
        found.filter(|line| !matches!(line, LineStart::Drop(end) if *end == at))
    })
}

/// Returns what the name at `from` begins, if the mark `between` follows it.
fn named<'a>(
    doc: &SourceText<'a>,
    from: usize,
    between: &str,
    own: Family,
) -> Option<LineStart<'a>> {
    let rest = doc.rest(from);
    let blank = |c| own == Family::React && matches!(c, ' ' | '\r');
    let named = rest.trim_start_matches(blank);
    let tail = named.trim_start_matches(|c| is_word(c) || matches!(c, '.' | '-'));
    let name = named.get(..named.len() - tail.len())?;
    let tail = tail.trim_start_matches(blank);
    doc.read(rest.len() - tail.len());
    let name_end = doc.body().len() - tail.len();
    let Some(behind) = doc.after(name_end, between) else {
        return between.starts_with(tail).then_some(LineStart::Open);
    };
    match own {
        // The token behind the name begins a call of its own, whose JSON has the name again.
        Family::Inkling => return Some(LineStart::Drop(name_end)),
        Family::Functionary if name == "all" => return Some(LineStart::Drop(behind)),
        _ => {}
    }
    let object = doc.skip_space(behind);
    let is_object = matches!(doc.rest(object).as_bytes(), [] | [b'{', ..]);
    (is_object && !name.is_empty()).then_some(LineStart::Call(name, object))
}

/// Returns the call of an offered tool whose object begins at `from`, and whether a result follows
/// that the model has made up.
pub(super) fn called(
    doc: &mut SourceText<'_>,
    name: &str,
    from: usize,
) -> Option<(CallRegion, bool)> {
    if !doc.knows(name) {
        return None;
    }
    let (end, json) = tagged::object(doc, from)?;
    let result = doc.after(doc.skip_space(end), RESULT);
    // A mark with no result behind it is not text: the model stopped there for the real one.
    let is_bare = result.is_some_and(|at| doc.rest(doc.skip_space(at)).is_empty());
    let end = if is_bare { doc.body().len() } else { end };
    Some((CallRegion::new(end, [call(name, json)].into())?, result.is_some()))
}
