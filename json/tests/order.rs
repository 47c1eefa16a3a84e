//! The sort beside the standard library's.

use innerloop_json::sort;
use std::cell::Cell;

/// Lists of all lengths up to `most`, with few different keys; each item knows where it stood.
fn lists(most: usize, keys: u64) -> impl Iterator<Item = Vec<(u64, usize)>> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    (0..=most).map(move |length| {
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % keys
        };
        (0..length).map(|at| (next(), at)).collect()
    })
}

#[test]
fn lists_are_sorted_and_equal_items_stay_in_their_order() {
    for keys in [1, 2, 5, u64::from(u32::MAX)] {
        for list in lists(200, keys) {
            let (mut ours, mut theirs) = (list.clone(), list);
            sort(&mut ours, |a, b| a.0.cmp(&b.0));
            theirs.sort_by_key(|item| item.0);
            assert_eq!(ours, theirs);
        }
    }
}

#[test]
fn no_order_costs_more_than_n_log_n_comparisons() {
    const COUNT: usize = 1 << 12;
    let organ: Vec<usize> = (0..COUNT / 2).chain((0..COUNT / 2).rev()).collect();
    let teeth: Vec<usize> = (0..COUNT).map(|at| at % 2 * COUNT + at).collect();
    let rising: Vec<usize> = (0..COUNT).collect();
    let falling: Vec<usize> = rising.iter().copied().rev().collect();
    for mut list in [organ, teeth, rising, falling, vec![7; COUNT]] {
        let comparisons = Cell::new(0);
        sort(&mut list, |a, b| {
            comparisons.set(comparisons.get() + 1);
            a.cmp(b)
        });
        assert!(list.is_sorted());
        assert!(comparisons.get() <= COUNT * 12, "{}", comparisons.get());
    }
}
