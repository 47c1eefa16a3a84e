//! Applications that are interrupted: a program is killed while it applies an overlay.

use super::{Bench, Picture, change, inner, picture, put, remove, rename, told};
use crate::{ApplyError, EntryKind, Workspace, WorkspaceError, apply::interrupted};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Makes an overlay that takes steps of every kind to apply.
fn bench() -> (Bench, Workspace) {
    let bench = Bench::new();
    let overlay = bench.open();
    change(&overlay);
    rename(&overlay, "moved.txt", "a.txt");
    rename(&overlay, "deep/c.txt", "old/c.txt");
    put(&overlay, "src/deep", "a file where a folder was");
    put(&overlay, "plain.txt", "written");
    (bench, overlay)
}

/// Returns what a tree holds, without what moving and copying changes.
fn contents(picture: &Picture) -> Vec<(PathBuf, EntryKind, Vec<u8>)> {
    let lasting = |path: &Path| !path.starts_with("tmp") && !path.starts_with(".innerloop");
    let lasting = picture.iter().filter(|(path, _)| lasting(path));
    lasting.map(|(path, (kind, _, _, bytes))| (path.clone(), *kind, bytes.clone())).collect()
}

/// Returns what the folder holds after such an overlay is applied, and how many steps that takes.
fn applied() -> (Vec<(PathBuf, EntryKind, Vec<u8>)>, usize) {
    let (bench, overlay) = bench();
    let steps = interrupted::apply_until(inner(&overlay), usize::MAX);
    (contents(&bench.tree()), steps)
}

#[test]
fn a_kill_between_two_steps_is_taken_back() {
    let (want, steps) = applied();
    assert!(steps > 12, "{steps}");
    for done in 0..=steps {
        let (bench, overlay) = bench();
        let (before, shown, changes) = (bench.tree(), picture(&overlay), told(&overlay));
        assert_eq!(interrupted::apply_until(inner(&overlay), done), steps);
        assert!(done == 0 || bench.tree() != before);
        drop(overlay);

        let overlay = bench.open();
        let taken_back = overlay.taken_back().expect("it was told");
        assert_eq!(taken_back.kept, None, "after {done} steps");
        assert_eq!(bench.tree(), before, "after {done} steps");
        assert_eq!(picture(&overlay), shown, "after {done} steps");
        assert_eq!(told(&overlay), changes, "after {done} steps");
        drop(overlay);
        let overlay = bench.open();
        assert_eq!(overlay.taken_back(), None, "it is done");
        overlay.apply().unwrap();
        assert_eq!(contents(&bench.tree()), want, "after {done} steps");
    }
}

#[test]
fn a_kill_after_the_last_step_is_an_end() {
    let (want, steps) = applied();
    let (bench, overlay) = bench();
    interrupted::apply_until(inner(&overlay), steps);
    inner(&overlay).set_applied();
    drop(overlay);
    assert!(bench.path(".innerloop").exists());
    let overlay = bench.open();
    assert_eq!((overlay.taken_back(), told(&overlay)), (None, vec![]));
    assert_eq!(contents(&bench.tree()), want);
    assert!(!bench.path(".innerloop").exists(), "it is removed");
    drop(overlay);
    assert!(!bench.store().exists());
}

#[test]
fn what_somebody_has_changed_since_stays() {
    let (bench, overlay) = bench();
    let shown = picture(&overlay);
    interrupted::apply_until(inner(&overlay), usize::MAX);
    drop(overlay);
    // One file that was created, one that was replaced, and one that was only moved.
    for path in ["new.txt", "deep/more.txt", "plain.txt", "old/c.txt"] {
        bench.write(path, "somebody else");
    }
    fs::write(bench.path("link/more"), "somebody else").unwrap();
    bench.write("src/b.txt", "somebody else");
    let overlay = bench.open();
    let kept = overlay.taken_back().unwrap().kept.clone().unwrap();
    assert!(kept.starts_with(bench.path(".innerloop")), "{kept:?}");
    for path in ["new.txt", "deep/more.txt", "src/b.txt", "src/deep/c.txt", "link/more"] {
        assert_eq!(fs::read_to_string(bench.path(path)).unwrap(), "somebody else", "{path}");
    }
    assert_eq!(fs::read_to_string(bench.path("a.txt")).unwrap(), "a.txt");
    assert_eq!(fs::read_to_string(kept.join("new/plain.txt")).unwrap(), "plain.txt");
    assert_eq!(fs::read_link(kept.join("old/link")).unwrap(), Path::new("a.txt"));
    assert_eq!(contents(&picture(&overlay)).len(), contents(&shown).len());
    match overlay.apply() {
        Err(ApplyError::Changed(paths)) => {
            let want = ["deep/more.txt", "new.txt", "plain.txt", "src/b.txt", "src/deep/c.txt"];
            assert_eq!(paths, want);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_cannot_be_taken_back_is_told_until_it_can() {
    let (bench, overlay) = bench();
    let (before, shown) = (bench.tree(), picture(&overlay));
    interrupted::apply_until(inner(&overlay), usize::MAX);
    drop(overlay);
    let own = fs::read_dir(bench.path(".innerloop")).unwrap();
    let stage = own.map(|entry| entry.unwrap().path()).find(|path| path.is_dir()).unwrap();
    let lock = fs::File::open(stage.join("lock")).unwrap();
    lock.try_lock().unwrap();
    for _ in 0..2 {
        let error = bench.try_open().unwrap_err();
        let WorkspaceError::HalfApplied { kept, .. } = &error else { panic!("{error}") };
        assert_eq!(kept, &stage);
    }
    drop(lock);
    let overlay = bench.open();
    assert_eq!((bench.tree(), picture(&overlay)), (before, shown));
}

#[test]
fn an_application_that_fails_is_no_interrupted_one() {
    let (bench, overlay) = bench();
    let shown = picture(&overlay);
    // The user makes the folder a repository, in which nothing may change.
    for part in ["deep/HEAD", "deep/objects/x", "deep/refs/x"] {
        bench.write(part, "");
    }
    assert!(overlay.apply().is_err());
    fs::remove_dir_all(bench.path("deep")).unwrap();
    drop(overlay);
    let overlay = bench.open();
    assert_eq!(overlay.taken_back(), None);
    assert_eq!(picture(&overlay), shown);
}

#[test]
fn what_was_put_aside_and_is_gone_holds_nothing_up() {
    let (bench, overlay) = bench();
    interrupted::apply_until(inner(&overlay), usize::MAX);
    drop(overlay);
    fs::remove_dir_all(bench.path(".innerloop")).unwrap();
    let overlay = bench.open();
    assert_eq!(overlay.taken_back(), None);
    assert!(overlay.apply().is_err(), "what was moved is not where it was");
}

#[test]
fn steps_that_no_plan_has_are_not_taken_back() {
    for (from, to) in [
        (r#""stage":".innerloop/apply-"#, r#""stage":"old/apply-"#),
        (r#""path":"src/b.txt","work":"#, r#""path":".git/hooks/x","work":"#),
    ] {
        let (bench, overlay) = bench();
        interrupted::apply_until(inner(&overlay), usize::MAX);
        drop(overlay);
        let before = bench.tree();
        let view = bench.store().join("view.json");
        let text = fs::read_to_string(&view).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(&view, text.replace(from, to)).unwrap();
        let error = bench.try_open().unwrap_err();
        assert!(matches!(error, WorkspaceError::HalfApplied { .. }), "{error}");
        assert_eq!(bench.tree(), before);
    }
}

/// A file that is so large has no digest: it is known by the time of its last change, which a move
/// sets, too.
#[test]
fn what_is_too_large_to_be_read_is_known_again() {
    let bench = Bench::new();
    for name in ["large", "larger", "gone"] {
        fs::File::create(bench.path(name)).unwrap().set_len(257 << 20).unwrap();
    }
    let overlay = bench.open();
    put(&overlay, "large", "small");
    rename(&overlay, "larger", "moved");
    remove(&overlay, "gone");
    interrupted::apply_until(inner(&overlay), usize::MAX);
    drop(overlay);
    let overlay = bench.open();
    overlay.apply().unwrap();
    assert_eq!(fs::read_to_string(bench.path("large")).unwrap(), "small");
    assert_eq!(fs::metadata(bench.path("moved")).unwrap().len(), 257 << 20);
}
