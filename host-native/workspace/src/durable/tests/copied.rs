//! Copies of an overlay that is kept.

use super::{Bench, put};
use crate::{ApplyError, WorkspaceError};
use std::{fs, path::Path};

#[test]
fn a_copy_is_an_overlay_of_its_own() {
    let bench = Bench::new();
    let overlay = bench.open();
    let folder = bench.dir.path().join("copies/none/overlay");
    overlay.copy_overlay(&folder).unwrap();
    assert!(!folder.exists(), "nothing is changed");
    put(&overlay, "new", "one");
    let copy = bench.copy(&overlay, 1);
    put(&copy, "new", "two");
    put(&copy, "more", "more");
    let there = overlay.copy_overlay(copy.kept_in().unwrap());
    assert!(matches!(there, Err(WorkspaceError::Busy(_))), "{there:?}");
    overlay.apply().unwrap();
    assert_eq!(fs::read_to_string(bench.path("new")).unwrap(), "one");
    assert!(matches!(copy.apply(), Err(ApplyError::Changed(names)) if names == ["new"]));
    overlay.discard();
    copy.remove_file(Path::new("new")).unwrap();
    assert!(copy.stat(Path::new("more")).is_ok(), "it does without the other");
}
