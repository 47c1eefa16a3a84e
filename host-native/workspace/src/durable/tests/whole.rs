//! Contents and names that are saved together: what a call has begun is not seen after a kill.

use super::*;

const WRITE: FileAccess = FileAccess { create: false, truncate: false, ..CREATE };

/// Writes to a file as a run that is given this workspace does.
fn write(run: &Workspace, path: &str, access: FileAccess, text: &str) -> File {
    let mut file = run.open_file(Path::new(path), access, &mut |_| true).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

fn read(workspace: &Workspace, path: &str) -> String {
    String::from_utf8(workspace.read(path, 100).unwrap()).unwrap()
}

#[test]
fn what_an_earlier_call_has_written_stays_until_the_next_one_ends() {
    let bench = Bench::new();
    let overlay = bench.open();
    let first = overlay.for_run();
    write(&first, "new", CREATE, "first");
    write(&first, "a.txt", WRITE, "FIRST");
    first.end_run();
    for (number, access) in [WRITE, CREATE].into_iter().enumerate() {
        let second = overlay.for_run();
        let open = ["new", "a.txt"].map(|path| write(&second, path, access, "2"));
        second.set_mode(Path::new("plain.txt"), 0o755, &mut |_| true).unwrap();
        let killed = bench.after_kill(number);
        assert_eq!(
            (read(&killed, "new"), read(&killed, "a.txt")),
            ("first".into(), "FIRST".into())
        );
        assert_eq!(killed.stat(Path::new("plain.txt")).unwrap().mode & 0o111, 0);
        assert!(!killed.is_partial());
        drop((open, second));
        // A run that is dropped is not saved, but its changes are still shown.
        assert_eq!(read(&overlay, "new").get(..1), Some("2"));
    }
    overlay.save().unwrap();
    assert_eq!(read(&bench.after_kill(2), "a.txt"), "2");
}

#[test]
fn a_call_changes_its_own_files_where_they_stand() {
    let bench = Bench::new();
    let overlay = bench.open();
    let run = overlay.for_run();
    let mut first = write(&run, "new", CREATE, "one ");
    overlay.save().unwrap();
    let mut second = write(&run, "new", WRITE, "ONE ");
    first.write_all(b"two ").unwrap();
    second.write_all(b"TWO ").unwrap();
    assert_eq!(read(&overlay, "new"), "ONE TWO ");
    assert_eq!(bench.stored().len(), 3, "one content, the lock and the view");
}

#[test]
fn a_copy_is_as_old_as_what_it_is_of_until_it_is_written_to() {
    let bench = Bench::new();
    let overlay = bench.open();
    let run = overlay.for_run();
    write(&run, "new", CREATE, "text");
    run.end_run();
    let before = overlay.stat(Path::new("new")).unwrap();
    let later = overlay.for_run();
    later.set_mode(Path::new("new"), 0o755, &mut |_| false).unwrap();
    let after = overlay.stat(Path::new("new")).unwrap();
    assert_eq!((after.modified, after.size), (before.modified, before.size));
    assert_eq!(after.mode & 0o777, 0o755);
}

/// Another call ends meanwhile, and its save takes along what there is of the first.
#[test]
fn what_is_saved_while_a_call_goes_on_is_said_not_to_be_whole() {
    let bench = Bench::new();
    let overlay = bench.open();
    let (slow, quick) = (overlay.for_run(), overlay.for_run());
    write(&slow, "slow", CREATE, "half");
    write(&quick, "quick", CREATE, "whole");
    quick.end_run();
    let killed = bench.after_kill(0);
    assert!(killed.is_partial());
    write(&killed, "more", CREATE, "x");
    killed.save().unwrap();
    let folder = killed.kept_in().unwrap().to_owned();
    drop(killed);
    let again = bench.workspace().overlay_in(&folder).unwrap();
    assert!(again.is_partial(), "nobody has said yes");
    again.accept_partial();
    assert!(!again.is_partial());
    again.apply().unwrap();
    assert!(!again.is_partial());
    slow.end_run();
    assert!(!bench.after_kill(1).is_partial());
}

#[test]
fn a_folder_that_was_left_half_applied_is_known() {
    let bench = Bench::new();
    let overlay = bench.open();
    put(&overlay, "x", "x");
    put(&overlay, "y", "y");
    overlay.save().unwrap();
    assert!(!bench.workspace().is_half_applied());
    crate::apply::interrupted::apply_until(inner(&overlay), 1);
    let workspace = bench.workspace();
    assert!(workspace.is_half_applied());
    drop(overlay);
    let root = Workspace::overlaid(&bench.store()).unwrap();
    assert_eq!(root.as_deref(), Some(workspace.root()));
    assert!(bench.open().taken_back().is_some());
    assert!(!workspace.is_half_applied());
    assert_eq!(Workspace::overlaid(Path::new("/nowhere")).unwrap(), None);
}
