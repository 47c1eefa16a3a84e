//! Sorting. The standard library's sort is compiled anew for each type of item; this one moves
//! numbers only, whatever the items are.

use alloc::vec::Vec;

/// The items by their keys; of those with one key, the first stays first.
pub(crate) fn by_key<T>(items: Vec<T>, key: impl Fn(&T) -> Option<u64>) -> Vec<T> {
    let mut places: Vec<(Option<u64>, usize)> = items.iter().map(key).zip(0..).collect();
    places.sort_unstable();
    let mut items: Vec<Option<T>> = items.into_iter().map(Some).collect();
    places.into_iter().filter_map(|(_, at)| items.get_mut(at)?.take()).collect()
}
