//! The demands that an expression may make of a place between two characters. They look at those
//! two alone, so that a search need not keep the text.

/// A demand on a place between two characters.
#[derive(Clone, Copy, Debug)]
pub(super) enum RegexAssertion {
    Start,
    End,
    LineStart,
    LineEnd,
    /// The beginning or the end of a line, where a carriage return and a line feed end one, alone
    /// or together.
    CrlfStart,
    CrlfEnd,
    WordBorder,
    NoWordBorder,
    WordStart,
    WordEnd,
    /// No character of a word stands before it.
    WordStartHalf,
    /// No character of a word stands behind it.
    WordEndHalf,
}

impl RegexAssertion {
    /// Returns whether the demand is met between two characters.
    pub(super) fn holds(self, before: Option<char>, after: Option<char>) -> bool {
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
        let (word_before, word_after) = (is_word(before), is_word(after));
        match self {
            Self::Start => before.is_none(),
            Self::End => after.is_none(),
            Self::LineStart => matches!(before, None | Some('\n')),
            Self::LineEnd => matches!(after, None | Some('\n')),
            Self::CrlfStart => {
                // Between a carriage return and its line feed no line begins.
                matches!(before, None | Some('\n')) || (before == Some('\r') && after != Some('\n'))
            }
            Self::CrlfEnd => {
                matches!(after, None | Some('\r')) || (after == Some('\n') && before != Some('\r'))
            }
            Self::WordBorder => word_before != word_after,
            Self::NoWordBorder => word_before == word_after,
            Self::WordStart => !word_before && word_after,
            Self::WordEnd => word_before && !word_after,
            Self::WordStartHalf => !word_before,
            Self::WordEndHalf => !word_after,
        }
    }
}
