//! Sets of characters: the classes of expressions, as ranges in any order. They are few and short,
//! so they are searched from end to end.

use innerloop_json::IntoList;

/// The ranges of a class, each with its first and its last character.
#[derive(Clone, Debug, Default)]
pub(super) struct CharClass(Vec<(u32, u32)>);

impl CharClass {
    /// Returns the class of the characters from one to another.
    pub(super) fn range(first: char, last: char) -> Self {
        Self(vec![(first.into(), last.into())])
    }

    /// Returns the class with a name between `[:` and `:]`.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(Self::of(match name {
            "alnum" => "09AZaz",
            "alpha" => "AZaz",
            "ascii" => "\0\x7f",
            "blank" => "\t\t  ",
            "cntrl" => "\0\x1f\x7f\x7f",
            "digit" => "09",
            "graph" => "!~",
            "lower" => "az",
            "print" => " ~",
            "punct" => "!/:@[`{~",
            "space" => "\t\r  ",
            "upper" => "AZ",
            "word" => "09AZ__az",
            "xdigit" => "09AFaf",
            _ => return None,
        }))
    }

    /// Returns the class of a letter behind a backslash; that of a capital has all other
    /// characters.
    pub(super) fn perl(letter: char) -> Option<Self> {
        let name = match letter.to_ascii_lowercase() {
            'd' => "digit",
            's' => "space",
            'w' => "word",
            _ => return None,
        };
        let class = Self::named(name)?;
        Some(if letter.is_ascii_uppercase() { class.negated() } else { class })
    }

    /// Returns the class of these ranges, given by the first and the last character of each.
    fn of(ends: &str) -> Self {
        let pairs = ends.as_bytes().chunks_exact(2);
        let range = |ends: &[u8]| Some(((*ends.first()?).into(), (*ends.last()?).into()));
        Self(pairs.filter_map(range).into_list())
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the characters of another class.
    pub(super) fn add(&mut self, other: &Self) {
        self.0.extend(&other.0);
    }

    /// Adds the letters in the other case.
    pub(super) fn fold_case(&mut self) {
        // Only the ranges from before: those that are added have been folded.
        for place in 0..self.0.len() {
            let Some((first, last)) = self.0.get(place).copied() else { return };
            for (letters, other) in [(b'a', b'A'), (b'A', b'a')] {
                let (letters, other) = (u32::from(letters), u32::from(other));
                let (first, last) = (first.max(letters), last.min(letters + 25));
                if first <= last {
                    self.0.push((first - letters + other, last - letters + other));
                }
            }
        }
    }

    /// Returns the class of all characters that are not in this one.
    pub(super) fn negated(mut self) -> Self {
        innerloop_json::sort(&mut self.0, Ord::cmp);
        let (mut rest, mut next) = (Vec::new(), 0);
        for (first, last) in self.0 {
            // Sorted ranges may still overlap, so `next` never goes back.
            if next < first {
                rest.push((next, first - 1));
            }
            next = next.max(last + 1);
        }
        if next <= char::MAX.into() {
            rest.push((next, char::MAX.into()));
        }
        Self(rest)
    }

    /// Returns whether a character is in the class.
    pub(super) fn contains(&self, c: char) -> bool {
        let c = u32::from(c);
        self.0.iter().any(|(first, last)| (*first..=*last).contains(&c))
    }
}
