//! Sets of characters.

/// The ranges of a class, each with its first and its last character.
#[derive(Clone, Debug, Default)]
pub(super) struct CharClass(Vec<(u32, u32)>);

impl CharClass {
    /// The characters from one to another.
    pub(super) fn range(first: char, last: char) -> Self {
        Self(vec![(first.into(), last.into())])
    }

    /// The class that has a name between `[:` and `:]`.
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

    /// The class of a letter behind a backslash; that of a capital is all else.
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

    /// The class of these ranges: the first and the last of each one after the other.
    fn of(ends: &str) -> Self {
        let pairs = ends.as_bytes().chunks_exact(2);
        let range = |ends: &[u8]| Some(((*ends.first()?).into(), (*ends.last()?).into()));
        Self(pairs.filter_map(range).collect())
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds what another class has.
    pub(super) fn add(&mut self, other: &Self) {
        self.0.extend(&other.0);
    }

    /// Adds the letters in the other case.
    pub(super) fn fold_case(&mut self) {
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

    /// All characters that are not in this class.
    pub(super) fn negated(mut self) -> Self {
        innerloop_json::sort(&mut self.0, Ord::cmp);
        let (mut rest, mut next) = (Vec::new(), 0);
        for (first, last) in self.0 {
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

    /// Returns whether a character is in it.
    pub(super) fn contains(&self, c: char) -> bool {
        let c = u32::from(c);
        self.0.iter().any(|(first, last)| (*first..=*last).contains(&c))
    }
}
