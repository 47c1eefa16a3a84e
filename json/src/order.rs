//! Sorting. The standard library's sort is compiled anew for each type of item and each order; this
//! one moves places only, whatever the items are.

use crate::list::IntoList;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// Sorts a list; equal items stay in their order.
pub fn sort<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let places = sorted(items.len(), &|a, b| match (items.get(a), items.get(b)) {
        (Some(a), Some(b)) => compare(a, b),
        _ => Ordering::Equal,
    });
    arrange(places, &mut |one, other| items.swap(one, other));
}

/// Moves the item at each of the places to the place of its own in the list, along each circle of
/// items that go where the next one was.
fn arrange(mut places: Vec<usize>, swap: &mut dyn FnMut(usize, usize)) {
    for begin in 0..places.len() {
        let mut to = begin;
        while let Some(from) = places.get_mut(to).map(|place| core::mem::replace(place, to)) {
            if from == begin || from == to {
                break;
            }
            swap(to, from);
            to = from;
        }
    }
}

/// Returns the places of this many items in their order. Runs that are in order are merged by twos,
/// which takes a tenth of the code of the standard library's sort, and as few comparisons.
fn sorted(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).into_list();
    let mut run = 1;
    while run < count {
        let mut merged = Vec::with_capacity(count);
        for two in places.chunks(run.saturating_mul(2)) {
            let (left, right) = two.split_at_checked(run).unwrap_or((two, &[]));
            let mut right = right.iter().copied().peekable();
            for place in left {
                // Only a smaller item goes first, so that equal ones keep their order.
                let is_first = |other: &usize| compare(*other, *place).is_lt();
                while let Some(other) = right.next_if(is_first) {
                    merged.push(other);
                }
                merged.push(*place);
            }
            merged.extend(right);
        }
        places = merged;
        run = run.saturating_mul(2);
    }
    places
}
