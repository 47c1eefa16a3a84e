//! The name that a misspelt one was most likely meant to be.

use alloc::vec::Vec;
use core::mem;

/// The bytes of a name up to which it is compared. Longer ones are no slips of the finger, and the
/// work stays small whatever is typed.
const LONGEST: usize = 32;

/// Returns the name that takes the fewest changes of letters, if they are few for its length: one
/// for up to four letters, two for up to seven, and then three.
pub(super) fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let most = match name.len() {
        0..=1 | LONGEST.. => return None,
        2..=4 => 1,
        5..=7 => 2,
        _ => 3,
    };
    // Every word of two letters is like a name of one.
    let near = names.filter(|other| (2..=LONGEST).contains(&other.len()));
    let near = near.map(|other| (changes(name.as_bytes(), other.as_bytes()), other));
    // The first of several, as the host has ordered them.
    near.filter(|(count, _)| *count <= most).min_by_key(|(count, _)| *count).map(|(_, other)| other)
}

/// Returns the number of letters to add, drop, replace, or swap with their neighbour.
fn changes(from: &[u8], to: &[u8]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=to.len()).collect();
    for (row, letter) in from.iter().enumerate() {
        let mut line: Vec<usize> = Vec::from([row + 1]);
        let at = |line: &[usize], place: usize| line.get(place).copied().unwrap_or(usize::MAX);
        for (column, other) in to.iter().enumerate() {
            let is_same = letter.eq_ignore_ascii_case(other);
            let mut least = at(&above, column) + usize::from(!is_same);
            least = least.min(at(&above, column + 1) + 1).min(at(&line, column) + 1);
            let [last, other_last] = [(from, row), (to, column)]
                .map(|(word, place)| place.checked_sub(1).and_then(|place| word.get(place)));
            let is_swap = last == Some(other) && other_last == Some(letter);
            if is_swap && !is_same {
                least = least.min(at(&before, column.saturating_sub(1)) + 1);
            }
            line.push(least);
        }
        before = mem::replace(&mut above, line);
    }
    above.last().copied().unwrap_or_default()
}
