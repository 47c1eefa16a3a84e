//! The map side by side with the standard library's.

use innerloop_json::{Map, from_str, to_string};
use std::collections::BTreeMap;

#[test]
fn a_map_is_what_the_standard_map_is() {
    let (mut ours, mut theirs) = (Map::new(), BTreeMap::new());
    let mut state = 1_u64;
    for step in 0..2_000_u32 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let name = format!("{}", (state >> 33) % 50);
        assert_eq!(ours.insert(name.clone(), step), theirs.insert(name.clone(), step));
        assert_eq!(ours.get(&name), theirs.get(&name));
        assert_eq!(ours.get_mut(&name), theirs.get_mut(&name));
        assert_eq!(ours.contains_key(&name), theirs.contains_key(&name));
        assert_eq!((ours.len(), ours.is_empty()), (theirs.len(), theirs.is_empty()));
        assert!(ours.iter().eq(theirs.iter().map(|(name, value)| (name.as_str(), value))));
        assert!(ours.keys().eq(theirs.keys()) && ours.values().eq(theirs.values()));
    }
    assert_eq!(format!("{ours:?}"), format!("{theirs:?}"));
}

#[test]
fn maps_are_equal_whatever_the_order_was() {
    let [a, b] = ["a", "b"].map(String::from);
    let map = Map::from([(a.clone(), 1), (b.clone(), 2)]);
    assert_eq!(map, Map::from([(b.clone(), 2), (a.clone(), 1)]));
    assert_ne!(map, Map::from([(b, 1), (a, 2)]));
    assert_ne!(map, Map::new());
}

#[test]
fn of_equal_names_the_last_counts() {
    let map: Map<Option<u32>> = from_str(r#"{"b":1,"a":2,"b":null}"#).unwrap();
    assert_eq!(to_string(&map), r#"{"a":2,"b":null}"#);
    let error = from_str::<Map<u32>>(r#"{"a":1,"b":true}"#).unwrap_err();
    assert_eq!(error.path(), "b");
}

#[test]
fn what_is_taken_out_comes_in_the_order_of_the_names() {
    let mut map = Map::new();
    for (name, value) in [("b", 1), ("a", 2), ("c", 3), ("a", 4)] {
        map.insert(name.to_owned(), value);
    }
    let taken: Vec<(String, i32)> = map.take().collect();
    assert_eq!(taken, [("a".into(), 4), ("b".into(), 1), ("c".into(), 3)]);
    assert!(map.is_empty());
}
