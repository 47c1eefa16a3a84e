//! The indentation of new lines whose place was found by ignoring indentation. All of them move by
//! the same shift, in the file's own characters, or none does: anything else would be a guess at
//! another structure of the code (`docs/decisions.md#the-v4a-patch-format`).

use innerloop_json::{IntoList, joined};

/// The widest indentation that is moved, in bytes: each new line costs as much.
const MAX_BYTES: usize = 200;
/// The numbers of spaces that may stand for one tab of the file, the likeliest first.
const SPACES_A_TAB: [usize; 4] = [8, 4, 2, 3];
/// The maximum number of spaces that one tab may stand for.
const MAX_SPACES: usize = 16;

/// Returns the white space that a line begins with, or as much of it as shows that it is too wide;
/// `None` if the line is blank.
pub(crate) fn indentation(line: &str) -> Option<&str> {
    let mut letters = line.char_indices().take(MAX_BYTES + 1);
    match letters.find(|(_, letter)| !letter.is_whitespace()) {
        Some((at, _)) => line.get(..at),
        None => line.char_indices().nth(MAX_BYTES + 1).and_then(|(at, _)| line.get(..at)),
    }
}

/// Returns whether a line is indented as in the file.
pub(crate) fn agrees((given, there): &IndentPair<'_>) -> bool {
    given == there && given.len() <= MAX_BYTES
}

/// A line of a text, and the line of the file that it was found to be: the indentation of both.
pub(crate) type IndentPair<'a> = (&'a str, &'a str);

/// The way from the indentation of a text to that of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) enum IndentShift {
    /// Lines stay as they are.
    #[default]
    None,
    /// Lines lose `removed` at their beginning and get `added` there.
    Front { removed: String, added: String },
    /// The file writes its steps with other characters: `base` is a depth in the text and the same
    /// one in the file.
    Steps { base: (usize, usize), from: usize, to: usize, sign: &'static str },
}

/// The white space that a file's lines begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IndentKind {
    Nothing,
    Spaces,
    Tabs,
    Mixed,
}

impl IndentKind {
    fn of<'a>(indents: impl Iterator<Item = &'a str>) -> Self {
        indents.fold(Self::Nothing, |sign, indent| {
            let next = match indent {
                "" => return sign,
                indent if indent.bytes().all(|byte| byte == b' ') => Self::Spaces,
                indent if indent.bytes().all(|byte| byte == b'\t') => Self::Tabs,
                _ => Self::Mixed,
            };
            if sign == Self::Nothing || sign == next { next } else { Self::Mixed }
        })
    }
}

/// The indentation of the lines of a whole file.
pub(crate) struct IndentStyle {
    sign: IndentKind,
    /// The number of spaces by which a line is most often deeper than the one before.
    step: Option<usize>,
}

impl IndentStyle {
    pub(crate) fn of<'a>(lines: impl Iterator<Item = &'a str>) -> Self {
        let (mut tabs, mut spaces, mut last) = (false, false, 0);
        let mut steps = [0_usize; 9];
        for indent in lines.filter_map(indentation) {
            tabs |= indent.starts_with('\t');
            // One space stands before the lines of a block comment, and is not a step.
            spaces |= indent.starts_with("  ");
            if let Some(count) = indent.len().checked_sub(last).and_then(|by| steps.get_mut(by)) {
                *count += 1;
            }
            last = indent.len();
        }
        let sign = match (tabs, spaces) {
            (false, false) => IndentKind::Nothing,
            (true, false) => IndentKind::Tabs,
            (false, true) => IndentKind::Spaces,
            (true, true) => IndentKind::Mixed,
        };
        // Reversed, since `max_by_key` takes the last of equals: that is the likeliest one.
        let step = [4, 2, 8, 3].into_iter().rev().max_by_key(|by| steps.get(*by).copied());
        let step = step.filter(|by| steps.get(*by).is_some_and(|count| *count > 0));
        Self { sign, step }
    }
}

impl IndentShift {
    /// Returns the shift that brings each line to its pair and that all `new` lines can take;
    /// `None` if there is none.
    pub(crate) fn of(pairs: &[IndentPair<'_>], new: &[&str], style: &IndentStyle) -> Option<Self> {
        if pairs.iter().all(agrees) {
            return Some(Self::None);
        }
        let is_long = |indent: &&str| indent.len() > MAX_BYTES;
        if pairs.iter().any(|(given, there)| is_long(given) || is_long(there))
            || new.iter().any(is_long)
        {
            return None;
        }
        Self::in_front(pairs, new, style).or_else(|| Self::in_steps(pairs, new, style))
    }

    fn in_front(pairs: &[IndentPair<'_>], new: &[&str], style: &IndentStyle) -> Option<Self> {
        let (given, there) = *pairs.first()?;
        let (removed, added) = match there.strip_suffix(given) {
            Some(added) => ("", added),
            None => (given.strip_suffix(there)?, ""),
        };
        let shift = Self::Front { removed: removed.to_owned(), added: added.to_owned() };
        let is_said =
            |(given, there): &IndentPair<'_>| shift.moved(given).as_deref() == Some(*there);
        let sign = own_sign(pairs, style);
        // A new line must end up in the file's own characters. One that is indented like a line of
        // the old text does, since the file has that line.
        let suits = |new: &&str| {
            let is_known = pairs.iter().any(|(given, _)| given == new);
            shift.moved(new).is_some_and(|moved| {
                let of_moved = IndentKind::of([moved.as_str()].into_iter());
                let is_own = of_moved == sign || [of_moved, sign].contains(&IndentKind::Nothing);
                is_known || (is_own && of_moved != IndentKind::Mixed)
            })
        };
        (pairs.iter().all(is_said) && new.iter().all(suits)).then_some(shift)
    }

    /// Returns the shift by which spaces become tabs, or tabs spaces.
    fn in_steps(pairs: &[IndentPair<'_>], new: &[&str], style: &IndentStyle) -> Option<Self> {
        let base = pairs.first().map(|(given, there)| (given.len(), there.len()))?;
        let texts = pairs.iter().map(|(given, _)| *given).chain(new.iter().copied());
        let apart = |indent: &str| indent.len().abs_diff(base.0);
        let (steps, sign) = match (IndentKind::of(texts.clone()), own_sign(pairs, style)) {
            (IndentKind::Spaces, IndentKind::Tabs) => {
                // What stands for a tab must divide all depths, or a line would end up between two
                // tabs.
                let common = texts.map(apart).fold(0, common_divisor);
                let fits = SPACES_A_TAB.into_iter().filter(|spaces| common.is_multiple_of(*spaces));
                (fits.map(|spaces| (spaces, 1)).into_list(), "\t")
            }
            (IndentKind::Tabs, IndentKind::Spaces) => {
                let is_flat = texts.map(apart).all(|by| by == 0);
                // A line that is deeper in both says what a tab stands for; if all are equally
                // deep, it does not matter; otherwise the rest of the file says it.
                let deeper = pairs.iter().find(|(given, _)| apart(given) > 0);
                let spaces = match deeper {
                    Some((given, there)) => there.len().abs_diff(base.1).checked_div(apart(given)),
                    None if is_flat => Some(1),
                    None => style.step.or(base.1.checked_div(base.0)),
                };
                let spaces = spaces.filter(|spaces| (1..=MAX_SPACES).contains(spaces))?;
                (vec![(1, spaces)], " ")
            }
            _ => return None,
        };
        steps.into_iter().find_map(|(from, to)| {
            let shift = Self::Steps { base, from, to, sign };
            let is_said =
                |(given, there): &IndentPair<'_>| shift.moved(given).as_deref() == Some(*there);
            let suits = |new: &&str| shift.moved(new).is_some();
            (pairs.iter().all(is_said) && new.iter().all(suits)).then_some(shift)
        })
    }

    /// Returns a new line as it is to stand in the file.
    pub(crate) fn apply(&self, line: &str) -> String {
        let moved = indentation(line).and_then(|indent| Some((indent, self.moved(indent)?)));
        match moved {
            Some((indent, moved)) => {
                joined(&[moved.as_str(), line.get(indent.len()..).unwrap_or_default()], "")
            }
            None => line.to_owned(),
        }
    }

    /// Returns the file's indentation for one of the text; `None` if it has none.
    fn moved(&self, indent: &str) -> Option<String> {
        match self {
            Self::None => Some(indent.to_owned()),
            Self::Front { removed, added } => {
                Some(joined(&[added.as_str(), indent.strip_prefix(removed.as_str())?], ""))
            }
            Self::Steps { base, from, to, sign } => {
                let by = indent.len().abs_diff(base.0);
                if !by.is_multiple_of(*from) {
                    return None;
                }
                let by = by / from * to;
                let depth = match indent.len() >= base.0 {
                    true => base.1 + by,
                    false => base.1.checked_sub(by)?,
                };
                Some(sign.repeat(depth))
            }
        }
    }
}

/// Returns whether the new text has the file's indentation already, although the old text lacks it:
/// its first line begins as the file's does, and the old text begins with none or with other
/// characters.
pub(crate) fn is_placed(first: IndentPair<'_>, new: &[&str]) -> bool {
    let (given, there) = first;
    let sign_of = |indent| IndentKind::of([indent].into_iter());
    let begins = new.first().is_some_and(|new| *new == there && there != given);
    let all = IndentKind::of(new.iter().copied());
    begins
        && (given.is_empty() || (!there.is_empty() && sign_of(given) != sign_of(there)))
        && (all != IndentKind::Mixed || new.iter().all(|new| new.starts_with(there)))
}

/// Returns the white space that the file's lines begin with: those that were found, or else all.
fn own_sign(pairs: &[IndentPair<'_>], style: &IndentStyle) -> IndentKind {
    match IndentKind::of(pairs.iter().map(|(_, there)| *there)) {
        IndentKind::Nothing => style.sign,
        sign => sign,
    }
}

const fn common_divisor(mut a: usize, mut b: usize) -> usize {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}
