//! What an expression may demand of a place between two characters.

/// A demand.
#[derive(Clone, Copy, Debug)]
pub(super) enum RegexAssertion {
    Start,
    End,
    LineStart,
    LineEnd,
    /// As the two before, where a carriage return and a line feed end a line, each or both.
    CrlfStart,
    CrlfEnd,
    WordBorder,
    NoWordBorder,
    WordStart,
    WordEnd,
    /// Nothing of a word is before it.
    WordStartHalf,
    /// Nothing of a word is behind it.
    WordEndHalf,
}

impl RegexAssertion {
    /// Returns whether it holds between two characters.
    pub(super) fn holds(self, before: Option<char>, after: Option<char>) -> bool {
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
        let (word_before, word_after) = (is_word(before), is_word(after));
        match self {
            Self::Start => before.is_none(),
            Self::End => after.is_none(),
            Self::LineStart => matches!(before, None | Some('\n')),
            Self::LineEnd => matches!(after, None | Some('\n')),
            Self::CrlfStart => {
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
