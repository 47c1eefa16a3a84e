//! A run on an overlay: the folder stays as it is until the changes are applied, and then becomes
//! what it would have become at once.

use super::{Bench, Dice, Swaps, TEN_SECONDS};
use innerloop_core::action::ChangeKind;
use innerloop_sandbox::{Executor, ReadIsolation, RunLimits};
use innerloop_workspace::{ApplyError, FileState, Workspace};
use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink},
    path::Path,
};
use tempfile::TempDir;

const SUCCESS: i32 = 0;
const PERM: i32 = 63;

/// All that stands in a folder, by path: what a file holds, where a link leads.
fn tree(root: &Path) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            let found = path.symlink_metadata().unwrap();
            let what = if found.is_dir() {
                open.push(path);
                "folder".to_owned()
            } else if found.is_symlink() {
                format!("link to {}", fs::read_link(path).unwrap().display())
            } else {
                format!("file {}", fs::read_to_string(path).unwrap())
            };
            all.insert(name, what);
        }
    }
    all
}

/// A bench over an overlay of a folder with some files.
fn bench() -> Bench {
    let bench = Bench::new();
    for path in ["a.txt", "src/b.txt", "src/deep/c.txt", "old/d.txt", "old/more/e.txt"] {
        bench.write(path, &format!("{path}\n"));
    }
    symlink("a.txt", bench.path("link")).unwrap();
    bench.over()
}

async fn all(bench: &Bench, steps: &[&[&str]]) {
    for args in steps {
        assert_eq!(bench.ops(args).await, SUCCESS, "{args:?}");
    }
}

fn folder(bench: &Bench) -> BTreeMap<String, String> {
    tree(&bench.path(""))
}

fn workspace(bench: &Bench) -> &Workspace {
    bench.executor.workspace()
}

/// What the workspace tells of its changes.
fn told(bench: &Bench) -> Vec<(String, ChangeKind)> {
    let (changes, is_all) = workspace(bench).changes();
    assert!(is_all);
    changes.into_iter().map(|change| (change.path.clone(), change.kind())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_changes_until_it_is_applied_and_then_all_does() {
    let bench = bench();
    let before = folder(&bench);
    let steps: &[&[&str]] = &[
        &["w", "a.txt"],
        &["w", "new.txt"],
        &["u", "src/b.txt"],
        &["n", "src/deep", "deep"],
        &["w", "deep/more.txt"],
        &["u", "old/d.txt"],
        &["u", "old/more/e.txt"],
        &["d", "old/more"],
        &["d", "old"],
        &["w", "old"],
        &["m", "empty"],
        &["s", "deep/c.txt", "short"],
        &["u", "link"],
        &["m", "link"],
    ];
    all(&bench, steps).await;
    assert_eq!(folder(&bench), before);
    let (created, deleted) = (ChangeKind::Created, ChangeKind::Deleted);
    let want = [
        ("a.txt", ChangeKind::Modified),
        ("deep/c.txt", created),
        ("deep/more.txt", created),
        ("empty", created),
        ("link", ChangeKind::Modified),
        ("new.txt", created),
        ("old", created),
        ("old/d.txt", deleted),
        ("old/more/e.txt", deleted),
        ("short", created),
        ("src/b.txt", deleted),
        ("src/deep/c.txt", deleted),
    ];
    assert_eq!(told(&bench), want.map(|(path, kind)| (path.to_owned(), kind)));

    workspace(&bench).apply().unwrap();
    let want = [
        ("a.txt", "file x"),
        ("deep", "folder"),
        ("deep/c.txt", "file src/deep/c.txt\n"),
        ("deep/more.txt", "file x"),
        ("empty", "folder"),
        ("link", "folder"),
        ("new.txt", "file x"),
        ("old", "file x"),
        ("short", "link to deep/c.txt"),
        ("src", "folder"),
    ];
    let want = want.map(|(path, what)| (path.to_owned(), what.to_owned()));
    assert_eq!(folder(&bench), BTreeMap::from(want));
    assert_eq!(told(&bench), [], "it shows the folder again");
    all(&bench, &[&["w", "later.txt"]]).await;
    workspace(&bench).apply().unwrap();
    assert!(bench.path("later.txt").is_file());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_else_has_changed_is_named_and_nothing_is_applied() {
    let changed = |bench: &Bench| match workspace(bench).apply() {
        Err(ApplyError::Changed(paths)) => paths,
        other => panic!("{other:?}"),
    };
    // A file that was written, one that was removed, one that was moved.
    let written = bench();
    all(&written, &[&["w", "a.txt"], &["u", "src/b.txt"], &["n", "old", "new"]]).await;
    all(&written, &[&["w", "fine.txt"]]).await;
    for path in ["a.txt", "src/b.txt", "old/more/e.txt"] {
        written.write(path, "somebody else\n");
    }
    let before = folder(&written);
    assert_eq!(changed(&written), ["a.txt", "old/more/e.txt", "src/b.txt"]);
    assert_eq!(folder(&written), before);

    // A file that came into a folder that was removed.
    let joined = bench();
    all(&joined, &[&["u", "old/more/e.txt"], &["d", "old/more"]]).await;
    joined.write("old/more/f.txt", "somebody else\n");
    assert_eq!(changed(&joined), ["old/more/f.txt"]);

    // A file where the agent has made one, too, and a folder that is gone.
    let taken = bench();
    all(&taken, &[&["w", "new.txt"], &["w", "old/new.txt"]]).await;
    taken.write("new.txt", "somebody else\n");
    fs::remove_dir_all(taken.path("old")).unwrap();
    assert_eq!(changed(&taken), ["new.txt", "old"]);

    // What is the same again is no other.
    let same = bench();
    all(&same, &[&["w", "a.txt"]]).await;
    fs::remove_file(same.path("a.txt")).unwrap();
    same.write("a.txt", "a.txt\n");
    workspace(&same).apply().unwrap();
    assert_eq!(same.read("a.txt"), "x");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_keeps_its_mode_and_a_hard_link_its_content() {
    let bench = Bench::new();
    bench.write("tool.sh", "#!/bin/sh\n");
    fs::set_permissions(bench.path("tool.sh"), fs::Permissions::from_mode(0o751)).unwrap();
    fs::hard_link(bench.path("tool.sh"), bench.dir.path().join("outside")).unwrap();
    let bench = bench.over();
    all(&bench, &[&["w", "tool.sh"], &["n", "tool.sh", "moved.sh"], &["w", "tool.sh"]]).await;
    workspace(&bench).apply().unwrap();
    let mode = |name: &str| fs::metadata(bench.path(name)).unwrap().mode() & 0o777;
    assert_eq!((mode("tool.sh"), mode("moved.sh")), (0o751, 0o751));
    assert_eq!(fs::read_to_string(bench.dir.path().join("outside")).unwrap(), "#!/bin/sh\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_copied_up_counts_as_written() {
    let limits = RunLimits { disk_bytes: 1 << 20, ..RunLimits::default() };
    let bench = Bench::new().over().limited(limits);
    bench.write("big", &"b".repeat(2 << 20));
    assert_eq!(bench.ops(&["r", "big"]).await, SUCCESS);
    let outcome = bench.run("ops", &["o", "big"]).await;
    assert!(outcome.joined_text().contains("wrote too much to files"), "{outcome:?}");
    let outcome = bench.run("ops", &["T", "big"]).await;
    assert!(outcome.joined_text().contains("wrote too much to files"), "{outcome:?}");
    assert_eq!(bench.ops(&["w", "big"]).await, SUCCESS, "of what is truncated nothing is copied");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_applied_wholly_is_not_applied_at_all() {
    let bench = bench();
    bench.write("p/file", "file");
    let steps: &[&[&str]] = &[
        &["w", "a.txt"],
        &["u", "src/b.txt"],
        &["n", "old", "moved"],
        &["u", "link"],
        &["m", "link"],
        &["w", "link/file"],
        &["w", "new.txt"],
        &["w", "p/z"],
    ];
    all(&bench, steps).await;
    // The user makes a repository, in which nothing may change.
    bench.write("p/HEAD", "ref: refs/heads/main");
    bench.write("p/objects/x", "");
    bench.write("p/refs/x", "");
    let before = folder(&bench);
    match workspace(&bench).apply() {
        Err(ApplyError::Failed { path, .. }) => assert_eq!(path, "p/z"),
        other => panic!("{other:?}"),
    }
    assert_eq!(folder(&bench), before, "all that was done is undone, and nothing is left over");

    fs::remove_file(bench.path("p/HEAD")).unwrap();
    workspace(&bench).apply().unwrap();
    assert_eq!(bench.read("link/file"), "x");
    assert_eq!(bench.read("moved/more/e.txt"), "old/more/e.txt\n");
    assert!(!bench.path("old").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_moved_is_the_same_file() {
    let bench = bench();
    let inode = |path: &str| fs::metadata(bench.path(path)).unwrap().ino();
    let (moved, over) = (inode("old/more/e.txt"), inode("old/d.txt"));
    all(&bench, &[&["n", "old/more", "more"], &["n", "old/d.txt", "a.txt"]]).await;
    workspace(&bench).apply().unwrap();
    assert_eq!((inode("more/e.txt"), inode("a.txt")), (moved, over));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_moved_and_is_removed_below_is_named() {
    let bench = bench();
    all(&bench, &[&["n", "old/d.txt", "src/d.txt"]]).await;
    fs::remove_file(bench.path("old/d.txt")).unwrap();
    assert_eq!(bench.ops(&["L", "src"]).await, SUCCESS, "the rest is still there");
    match workspace(&bench).apply() {
        Err(ApplyError::Changed(paths)) => assert_eq!(paths, ["old/d.txt"]),
        other => panic!("{other:?}"),
    }
}

/// What is shown is what is applied.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_changes_while_it_is_frozen() {
    const ROFS: i32 = 69;
    for bench in Bench::both(Bench::new) {
        bench.write("a.txt", "a");
        workspace(&bench).freeze();
        for args in [&["w", "a.txt"][..], &["u", "a.txt"], &["m", "b"], &["n", "a.txt", "b"]] {
            assert_eq!(bench.ops(args).await, ROFS, "{args:?}");
        }
        assert_eq!(bench.ops(&["r", "a.txt"]).await, SUCCESS);
        workspace(&bench).thaw();
        assert_eq!(bench.ops(&["w", "a.txt"]).await, SUCCESS);
        assert_eq!(bench.read("a.txt"), "x");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_no_folder_takes_is_refused() {
    const NAMETOOLONG: i32 = 37;
    for bench in Bench::both(Bench::new) {
        assert_eq!(bench.ops(&["m", "folder"]).await, SUCCESS);
        let name = format!("folder/{}", "n".repeat(256));
        for args in [&["w", &*name][..], &["m", &name], &["s", "folder", &name]] {
            assert_eq!(bench.ops(args).await, NAMETOOLONG, "{args:?}");
        }
        bench.write("plain", "plain");
        assert_eq!(bench.ops(&["n", "plain", &name]).await, NAMETOOLONG);
        let fits = format!("folder/{}", "n".repeat(255));
        assert_eq!(bench.ops(&["w", &fits]).await, SUCCESS);
        assert!(bench.has(&fits));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_the_hosts_own_do_not_change() {
    for bench in Bench::both(Bench::new) {
        bench.write("logs/session.log", "log");
        fs::hard_link(bench.path("logs/session.log"), bench.path("other")).unwrap();
        bench.write("plain", "plain");
        workspace(&bench).reserve(&bench.path("logs/session.log"));
        for path in ["logs/session.log", "other"] {
            for letter in ["w", "t", "o", "u", "T"] {
                assert_eq!(bench.ops(&[letter, path]).await, PERM, "{letter} {path}");
            }
            assert_eq!(bench.ops(&["n", path, "moved"]).await, PERM, "n {path}");
            assert_eq!(bench.ops(&["n", "plain", path]).await, PERM, "n plain {path}");
        }
        assert_eq!(bench.ops(&["n", "logs", "moved"]).await, PERM);
        assert_eq!(bench.ops(&["w", "logs/beside"]).await, SUCCESS);
        assert_eq!(bench.read("logs/session.log"), "log");
    }
}

/// A guest that sets the time back hides nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_changed_file_without_text_is_told_by_size_and_digest() {
    for bench in Bench::both(Bench::qjs) {
        fs::write(bench.path("binary"), b"\xff\xfe").unwrap();
        bench.write("large", &"l".repeat(300 << 10));
        bench.write("same", &"s".repeat(300 << 10));
        let script = "import * as std from 'qjs:std';\n\
                      import * as os from 'qjs:os';\n\
                      for (const name of ['binary', 'large', 'same']) {\n\
                        const [{ mtime }] = os.stat(name);\n\
                        const file = std.open(name, 'r+');\n\
                        file.puts(name === 'same' ? 's' : 'X'); file.close();\n\
                        os.utimes(name, mtime, mtime);\n\
                      }\n";
        bench.write("t.mjs", script);
        let outcome = bench.run("qjs", &["-m", "t.mjs"]).await;
        assert_eq!((outcome.joined_text().as_str(), outcome.exit), ("", Some(0)));
        let (changes, _) = workspace(&bench).changes();
        let told: Vec<_> = changes
            .iter()
            .map(|change| {
                let size = |state: &FileState| match state {
                    FileState::Opaque { size, digest: Some(_), .. } => Some(*size),
                    _ => None,
                };
                let sizes = (size(&change.before), size(&change.after));
                (change.path.as_str(), sizes, change.is_same())
            })
            .collect();
        let large = Some(300 << 10);
        let want = [
            ("binary", (Some(2), Some(2)), false),
            ("large", (large, large), false),
            ("same", (large, large), true),
        ];
        assert_eq!(told, want);
        let outcome: Vec<_> = outcome.changes.iter().map(|change| change.path.as_str()).collect();
        assert_eq!(outcome, ["binary", "large", "same"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_deserves_a_look_is_named() {
    let bench = Bench::new();
    bench.write("plain", "plain");
    fs::hard_link(bench.path("plain"), bench.dir.path().join("outside")).unwrap();
    let steps: &[&[&str]] = &[
        &["m", ".husky"],
        &["w", ".husky/pre-commit"],
        &["w", ".envrc"],
        &["w", "plain"],
        &["s", "plain", "link"],
        &["w", "README.md"],
    ];
    all(&bench, steps).await;
    let (changes, _) = workspace(&bench).changes();
    let notices: Vec<_> =
        changes.iter().map(|change| (change.path.as_str(), change.notice())).collect();
    let want = [
        (".envrc", Some("direnv or mise runs it")),
        (".husky/pre-commit", Some("Git may run it")),
        ("README.md", None),
        ("link", Some("a symbolic link")),
        ("plain", Some("it has other names, which show the change")),
    ];
    assert_eq!(notices, want);
}

/// A guest that fills the room for texts with large ones hides no small one.
#[tokio::test(flavor = "multi_thread")]
async fn the_smallest_changes_are_read_first() {
    for bench in Bench::both(Bench::qjs) {
        let script = "import * as std from 'qjs:std';\n\
                      import * as os from 'qjs:os';\n\
                      os.mkdir('!pad');\n\
                      const large = 'p'.repeat(256 << 10);\n\
                      const write = (name, text) => {\n\
                        const file = std.open(name, 'w'); file.puts(text); file.close();\n\
                      };\n\
                      for (let n = 0; n < 130; n++) write(`!pad/${n}`, large);\n\
                      write('src.rs', 'small');\n";
        bench.write("t.mjs", script);
        let outcome = bench.run("qjs", &["-m", "t.mjs"]).await;
        assert_eq!((outcome.joined_text().as_str(), outcome.exit), ("", Some(0)));
        let (changes, _) = workspace(&bench).changes();
        let paths: Vec<_> = changes.iter().map(|change| change.path.clone()).collect();
        assert!(paths.is_sorted() && paths.len() == 131, "{paths:?}");
        assert_eq!(changes.last().unwrap().after.text(), Some("small"));
        let is_unread = |state: &FileState| matches!(state, FileState::Opaque { unread: true, .. });
        let unread: Vec<_> = changes.iter().filter(|change| is_unread(&change.after)).collect();
        assert_eq!(unread.len(), 3, "for 128 there is room, less what is small");
        assert_eq!(unread[0].notice(), Some("there was no room to show it"));

        // Who stops at once still hears of each.
        let (stopped, _) = workspace(&bench).changes_until(&|| true);
        let told: Vec<_> = stopped.iter().map(|change| change.path.clone()).collect();
        assert_eq!(told, paths);
        let unread = |state: &FileState| {
            matches!(state, FileState::Opaque { digest: None, unread: true, .. })
        };
        assert!(stopped.iter().all(|change| unread(&change.after)));
    }
}

/// Somebody swaps a folder for a link out of the workspace while changes are applied to it.
#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_becomes_a_link_while_it_is_applied_leads_nowhere() {
    let bench = Bench::new();
    let outside = bench.dir.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("x"), "outside").unwrap();
    bench.write("a/x", "plain");
    symlink("../outside", bench.path("b")).unwrap();
    let swaps = Swaps::of(&bench);
    let mut applied = 0;
    for _ in 0..300 {
        let bench = Bench {
            executor: Executor::new(
                bench.engine.clone(),
                workspace(&bench).overlay().unwrap(),
                bench.executor.programs().clone(),
            ),
            engine: bench.engine.clone(),
            dir: TempDir::new().unwrap(),
        };
        bench.ops(&["w", "a/x"]).await;
        bench.ops(&["w", "a/y"]).await;
        applied += u32::from(workspace(&bench).apply().is_ok());
    }
    swaps.end();
    assert!(applied > 0);
    assert_eq!(tree(&outside), BTreeMap::from([("x".to_owned(), "file outside".to_owned())]));
}

/// All that the tools find, without the order of what is newest first.
async fn all_of(bench: &Bench) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for isolation in [ReadIsolation::Native, ReadIsolation::Wasi] {
        let executor = bench.executor.clone().with_isolation(isolation);
        for asked in [
            r#"{"action":"grep","pattern":".","mode":"content"}"#,
            r#"{"action":"glob","pattern":"**"}"#,
            r#"{"action":"list","path":"a"}"#,
            r#"{"action":"read_many","include":["**"]}"#,
        ] {
            let action = serde_json::from_str(asked).unwrap();
            let outcome = executor.run(&action, TEN_SECONDS, None).await;
            let mut lines: Vec<_> = outcome.joined_text().lines().map(str::to_owned).collect();
            lines.sort();
            all.push(lines);
        }
    }
    all
}

/// Whatever is done to an overlay gives the same answers, and the same folder in the end, as if it
/// had been done in place.
#[tokio::test(flavor = "multi_thread")]
async fn an_overlay_behaves_as_the_folder_itself() {
    let paths = [
        "a", "b", "c", "a/a", "a/b", "b/a", "b/c", "c/c", "a/a/a", "a/b/c", "b/c/a", "d", "d/a",
        "d/e/f", "l", "l/a",
    ];
    for seed in 1..=6 {
        let make = || {
            let bench = Bench::new();
            for path in ["a/a/a", "a/b/c", "b/a", "c", "d/e/f", "d/a"] {
                bench.write(path, path);
            }
            symlink("d", bench.path("l")).unwrap();
            bench
        };
        let [folder, overlay] = Bench::both(make);
        let mut dice = Dice(seed);
        let mut done = Vec::new();
        for step in 0..400 {
            let letter =
                dice.roll(&["w", "w", "m", "m", "u", "d", "n", "n", "n", "s", "r", "T", "t"]);
            let (one, other) = (dice.roll(&paths), dice.roll(&paths));
            let args = match letter {
                "n" | "s" => vec![letter, one, other],
                _ => vec![letter, one],
            };
            let wants = folder.run("ops", &args).await;
            let has = overlay.run("ops", &args).await;
            done.push(args);
            let told = (wants.exit, wants.joined_text());
            let last = done.last();
            assert_eq!((has.exit, has.joined_text()), told, "seed {seed}: {last:?} after {done:?}");
            if step % 20 == 19 {
                let (wants, has) = (all_of(&folder).await, all_of(&overlay).await);
                assert_eq!(has, wants, "seed {seed}: what is read after {done:?}");
            }
            if step % 100 == 99 {
                workspace(&overlay).apply().unwrap();
                assert_eq!(self::folder(&overlay), self::folder(&folder), "seed {seed}: {done:?}");
            }
        }
    }
}
