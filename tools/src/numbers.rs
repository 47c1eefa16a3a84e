//! Numbers in the place of lines: equal lines have equal ones, so that runs of lines are found by
//! comparing numbers. Edits, patches and the search for the closest place share this.

use innerloop_json::PlaceMap;
use std::borrow::Cow;

/// The number of every line that is not looked for.
pub(crate) const OTHER: u32 = u32::MAX;
/// The number of bits of a hash that the filter before the map uses.
const FILTER_BITS: u32 = 16;

/// The numbers of the lines that are looked for.
pub(crate) struct LineInterner {
    numbers: PlaceMap,
    /// A bit for each hash that a wanted line has: most lines of a file have none, and are spared
    /// the map.
    filter: Vec<u64>,
}

impl LineInterner {
    pub(crate) fn new() -> Self {
        Self { numbers: PlaceMap::new(), filter: vec![0; 1 << (FILTER_BITS - 6)] }
    }

    /// Returns how many different lines are looked for; their numbers are smaller.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Adds a line to look for, and returns its number.
    pub(crate) fn add(&mut self, line: Cow<'_, str>) -> u32 {
        let hash = hash(&line);
        if let Some(word) = self.filter.get_mut(word_of(hash)) {
            *word |= bit_of(hash);
        }
        let next = self.numbers.len();
        number(self.numbers.or_insert(line.into_owned(), next))
    }

    /// Returns the number of any line.
    pub(crate) fn of(&self, line: &str) -> u32 {
        let hash = hash(line);
        let may_be = self.filter.get(word_of(hash)).is_some_and(|word| word & bit_of(hash) != 0);
        let place = if may_be { self.numbers.get(line) } else { None };
        place.map_or(OTHER, number)
    }
}

fn number(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(OTHER)
}

const fn word_of(hash: u64) -> usize {
    (hash >> (64 - FILTER_BITS + 6)) as usize
}

const fn bit_of(hash: u64) -> u64 {
    1 << ((hash >> (64 - FILTER_BITS)) & 63)
}

/// Returns a fast hash. It is neither keyed nor secure: a deliberate collision costs a look into
/// the map, not correctness.
fn hash(text: &str) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(FACTOR).rotate_left(29);
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    let mut hash = text.len() as u64;
    for word in words {
        hash = mix(hash, u64::from_le_bytes(*word));
    }
    let last = rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    mix(hash, last).wrapping_mul(FACTOR)
}
