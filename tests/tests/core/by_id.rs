//! The list of what has an id, side by side with the standard library's map.

use innerloop_core::id::{ById, EffectId};
use std::collections::BTreeMap;

#[test]
fn what_is_taken_out_leaves_no_trace() {
    let (mut ours, mut theirs) = (ById::new(), BTreeMap::new());
    let mut state = 1_u64;
    for step in 0..4_000_u64 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let id = EffectId((state >> 33) % 60);
        if state >> 63 == 0 {
            assert_eq!(ours.remove(id), theirs.remove(&id));
        } else {
            assert_eq!(ours.insert(id, step), theirs.insert(id, step));
        }
        assert_eq!(ours.get(id), theirs.get(&id));
        assert_eq!(ours.get_mut(id), theirs.get_mut(&id));
        assert_eq!((ours.len(), ours.is_empty()), (theirs.len(), theirs.is_empty()));
        assert!(ours.iter().eq(theirs.iter().map(|(id, value)| (*id, value))));
        assert!(ours.iter_mut().eq(theirs.iter_mut().map(|(id, value)| (*id, value))));
        assert!(ours.values().eq(theirs.values()) && ours.values_mut().eq(theirs.values_mut()));
    }
}
