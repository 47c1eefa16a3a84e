//! Overlays that outlive their program: one that is killed at any moment is taken up as it was last
//! saved.

use super::super::{
    ApplyError, EntryKind, FileAccess, FileChange, FileState, Overlay, Workspace, WorkspaceError,
    WorkspaceLayer, file_stat::PathStat, resolve::at,
};
use innerloop_tools::TmpMeaning;
use rustix::fs::{Timespec, Timestamps};
use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs::{self, File},
    io::{Read as _, Write as _},
    os::unix::{
        ffi::OsStrExt as _,
        fs::{PermissionsExt as _, symlink},
    },
    path::{Path, PathBuf},
};
use tempfile::TempDir;

const CREATE: FileAccess =
    FileAccess { write: true, create: true, exclusive: false, truncate: true };

/// A folder with some files, and one beside it in which overlays of it are kept.
struct Bench {
    dir: TempDir,
}

impl Bench {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let bench = Self { dir };
        for path in
            ["a.txt", "plain.txt", "src/b.txt", "src/deep/c.txt", "old/d.txt", "old/more/e.txt"]
        {
            bench.write(path, path);
        }
        symlink("a.txt", bench.path("link")).unwrap();
        fs::set_permissions(bench.path("a.txt"), fs::Permissions::from_mode(0o751)).unwrap();
        bench
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join("workspace").join(path)
    }

    fn store(&self) -> PathBuf {
        self.dir.path().join("state/session/overlay")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn workspace(&self) -> Workspace {
        Workspace::open(self.path("")).unwrap()
    }

    fn try_open(&self) -> Result<Workspace, WorkspaceError> {
        self.workspace().overlay_in(&self.store())
    }

    fn open(&self) -> Workspace {
        self.try_open().unwrap()
    }

    /// Takes up the overlay that a program would leave if it were killed now.
    fn after_kill(&self, number: usize) -> Workspace {
        let folder = self.dir.path().join(format!("killed/{number}"));
        fs::create_dir_all(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        for entry in fs::read_dir(self.store()).into_iter().flatten() {
            let entry = entry.unwrap();
            let copy = folder.join(entry.file_name());
            fs::copy(entry.path(), &copy).unwrap();
            let written = entry.metadata().unwrap().modified().unwrap();
            File::open(copy).unwrap().set_modified(written).unwrap();
        }
        self.workspace().overlay_in(&folder).unwrap()
    }

    /// Copies the overlay, and takes up the copy.
    fn copy(&self, overlay: &Workspace, number: usize) -> Workspace {
        let folder = self.dir.path().join(format!("copies/{number}/overlay"));
        overlay.copy_overlay(&folder).unwrap();
        self.workspace().overlay_in(&folder).unwrap()
    }

    fn stored(&self) -> Vec<String> {
        let entries = fs::read_dir(self.store()).into_iter().flatten();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn tree(&self) -> Picture {
        picture(&self.workspace())
    }
}

/// Everything that a workspace shows.
type Picture = BTreeMap<PathBuf, (EntryKind, u32, u64, Vec<u8>)>;

fn picture(workspace: &Workspace) -> Picture {
    let mut all = BTreeMap::new();
    let mut open = vec![PathBuf::new()];
    let temporary = PathBuf::from("tmp");
    if !workspace.temporary_files().is_empty() {
        open.push(temporary);
    }
    while let Some(folder) = open.pop() {
        for named in workspace.list(&folder).unwrap() {
            let path = at(&folder, Path::new(&named.name));
            let Ok(PathStat { kind, mode, modified, .. }) = workspace.stat(&path) else {
                all.insert(path, (EntryKind::Other, 0, 0, Vec::new()));
                continue;
            };
            assert_eq!(kind, named.kind, "{path:?}");
            let shown = match kind {
                EntryKind::File => {
                    let mut bytes = Vec::new();
                    workspace.file(&path).unwrap().read_to_end(&mut bytes).unwrap();
                    (kind, mode, modified, bytes)
                }
                EntryKind::Link => {
                    let target = workspace.link_target(&path).unwrap();
                    (kind, 0, 0, target.as_os_str().as_bytes().to_vec())
                }
                _ => (kind, 0, 0, Vec::new()),
            };
            if kind == EntryKind::Folder {
                open.push(path.clone());
            }
            all.insert(path, shown);
        }
    }
    all
}

fn inner(workspace: &Workspace) -> &Overlay {
    match &*workspace.shared.layer {
        WorkspaceLayer::Overlay(overlay) => overlay,
        WorkspaceLayer::InPlace(_) => panic!("it is none"),
    }
}

fn told(workspace: &Workspace) -> Vec<(String, FileState, FileState)> {
    let (changes, _) = workspace.changes();
    changes
        .into_iter()
        .map(|FileChange { path, before, after, .. }| (path, before, after))
        .collect()
}

fn put(workspace: &Workspace, path: impl AsRef<Path>, text: &str) {
    let mut file = workspace.open_file(path.as_ref(), CREATE, &mut |_| true).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn rename(workspace: &Workspace, from: &str, to: &str) {
    workspace.rename(Path::new(from), Path::new(to), |_| Ok(())).unwrap();
}

fn remove(workspace: &Workspace, path: &str) {
    workspace.remove_file(Path::new(path)).unwrap();
}

fn strange() -> PathBuf {
    PathBuf::from(OsStr::from_bytes(b"str\xffange\\x41 \"\n"))
}

/// Makes changes of every kind.
fn change(workspace: &Workspace) {
    put(workspace, "a.txt", "other");
    put(workspace, "new.txt", "new");
    put(workspace, strange(), "strange");
    put(&workspace.meaning(TmpMeaning::System), "tmp/scratch", "scratch");
    remove(workspace, "src/b.txt");
    rename(workspace, "src/deep", "deep");
    put(workspace, "deep/more.txt", "more");
    rename(workspace, "old/d.txt", "moved.txt");
    remove(workspace, "old/more/e.txt");
    workspace.remove_folder(Path::new("old/more")).unwrap();
    workspace.create_folder(Path::new("empty")).unwrap();
    workspace.link(Path::new("deep/c.txt"), Path::new("short")).unwrap();
    remove(workspace, "link");
    workspace.create_folder(Path::new("link")).unwrap();
    let at = |tv_sec| Timespec { tv_sec, tv_nsec: 7 };
    let times = Timestamps { last_access: at(1), last_modification: at(1_000_000) };
    workspace.set_times(Path::new("new.txt"), &times, &mut |_| true).unwrap();
}

#[test]
fn a_run_that_changes_nothing_leaves_nothing() {
    let bench = Bench::new();
    let overlay = bench.open();
    overlay.save().unwrap();
    assert!(!bench.dir.path().join("state").exists());
    assert_eq!(overlay.kept_in(), Some(&*bench.store()));
    drop(overlay);
    let overlay = bench.open();
    put(&overlay, "x", "x");
    overlay.save().unwrap();
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for folder in ["state", "state/session", "state/session/overlay"] {
        assert_eq!(mode(bench.dir.path().join(folder)), 0o700, "{folder}");
    }
    for file in ["lock", "view.json"] {
        assert_eq!(mode(bench.store().join(file)), 0o600, "{file}");
    }
    overlay.discard();
    assert!(!bench.store().exists());
}

#[test]
fn what_was_saved_is_taken_up_and_goes_on() {
    let bench = Bench::new();
    let before = bench.tree();
    let overlay = bench.open();
    change(&overlay);
    overlay.save().unwrap();
    let (shown, changes) = (picture(&overlay), told(&overlay));
    assert!(changes.len() > 10, "{changes:?}");
    let killed = bench.after_kill(0);
    assert_eq!(picture(&killed), shown);
    assert_eq!(told(&killed), changes);
    assert!(!killed.temporary_files().is_empty() && killed.taken_back().is_none());
    drop(killed);

    drop(overlay);
    assert_eq!(bench.tree(), before);
    let overlay = bench.open();
    assert_eq!((picture(&overlay), told(&overlay)), (shown, changes));
    // The same view gives the same bytes.
    let text = || fs::read(bench.store().join("view.json")).unwrap();
    let saved = text();
    inner(&overlay).touch_again();
    overlay.save().unwrap();
    assert_eq!(text(), saved);

    put(&overlay, "deep/more.txt", "more and more");
    rename(&overlay, "deep", "src/deeper");
    remove(&overlay, "new.txt");
    let shown = picture(&overlay);
    overlay.save().unwrap();
    drop(overlay);
    let overlay = bench.open();
    assert_eq!(picture(&overlay), shown);
    overlay.apply().unwrap();
    assert_eq!(fs::read_to_string(bench.path("src/deeper/more.txt")).unwrap(), "more and more");
    assert_eq!(fs::read_to_string(bench.path("src/deeper/c.txt")).unwrap(), "src/deep/c.txt");
    assert_eq!(
        fs::read_to_string(bench.dir.path().join("workspace").join(strange())).unwrap(),
        "strange"
    );
    assert_eq!(fs::metadata(bench.path("a.txt")).unwrap().permissions().mode() & 0o777, 0o751);
    assert_eq!(bench.stored(), ["lock"]);
    assert_eq!(told(&overlay), []);
    drop(overlay);
    assert!(!bench.store().exists(), "nothing is left to keep");
}

/// The overlay is changed, saved and changed again, and then its program is killed.
#[test]
fn a_kill_loses_what_was_not_saved_and_nothing_else() {
    let bench = Bench::new();
    let overlay = bench.open();
    change(&overlay);
    // Nothing was saved.
    let killed = bench.after_kill(0);
    assert_eq!(told(&killed), []);
    drop(killed);
    overlay.save().unwrap();
    let saved = picture(&overlay);
    put(&overlay, "later", "later");
    remove(&overlay, "new.txt");
    put(&overlay, "new.txt", "made anew");
    rename(&overlay, "deep/more.txt", "a.txt");
    remove(&overlay, "a.txt");
    let killed = bench.after_kill(1);
    assert_eq!(picture(&killed), saved);
    drop(killed);
    let before = bench.stored().len();
    overlay.save().unwrap();
    assert_eq!(bench.stored().len(), before - 3, "what no view names is removed");
    let saved = picture(&overlay);
    // A change of a file's content is kept even if the view was not saved again.
    put(&overlay, "later", "and later");
    let mut want = saved;
    want.get_mut(Path::new("later")).unwrap().3 = b"and later".to_vec();
    let mut shown = picture(&bench.after_kill(2));
    for picture in [&mut want, &mut shown] {
        picture.get_mut(Path::new("later")).unwrap().2 = 0;
    }
    assert_eq!(shown, want);
}

#[test]
fn what_else_has_changed_meanwhile_is_named() {
    let bench = Bench::new();
    let overlay = bench.open();
    change(&overlay);
    overlay.save().unwrap();
    drop(overlay);
    bench.write("a.txt", "somebody else");
    bench.write("new.txt", "somebody else");
    bench.write("untouched.txt", "somebody else");
    let overlay = bench.open();
    match overlay.apply() {
        Err(ApplyError::Changed(paths)) => assert_eq!(paths, ["a.txt", "new.txt"]),
        other => panic!("{other:?}"),
    }
    assert!(bench.stored().len() > 3, "all is still kept");
    // The same content is no change, whatever the file's inode.
    fs::remove_file(bench.path("a.txt")).unwrap();
    bench.write("a.txt", "a.txt");
    fs::remove_file(bench.path("new.txt")).unwrap();
    overlay.apply().unwrap();
    assert_eq!(fs::read_to_string(bench.path("a.txt")).unwrap(), "other");
}

#[test]
fn what_is_missing_or_broken_is_told_and_nothing_is_removed() {
    let bench = Bench::new();
    let overlay = bench.open();
    change(&overlay);
    overlay.save().unwrap();
    let shown = picture(&overlay);
    drop(overlay);
    let all = bench.stored();
    let number = all.iter().find(|name| name.parse::<u64>().is_ok()).unwrap();
    let (file, aside) = (bench.store().join(number), bench.dir.path().join("aside"));
    fs::rename(&file, &aside).unwrap();
    fs::write(bench.store().join("999"), "left over").unwrap();
    let error = bench.try_open().unwrap_err().to_string();
    assert!(error.contains(&format!("the file {number}, which holds ")), "{error}");
    assert!(error.contains(bench.store().to_str().unwrap()), "{error}");
    assert!(bench.store().join("999").exists());
    fs::rename(&aside, &file).unwrap();

    let view = bench.store().join("view.json");
    let text = fs::read_to_string(&view).unwrap();
    let replaced = |from: &str, to: &str| {
        assert!(text.contains(from), "{from} in {text}");
        text.replacen(from, to, 1)
    };
    let broken = [
        text.chars().take(text.len() / 2).collect(),
        String::new(),
        "null".to_owned(),
        replaced(r#""version":1"#, r#""version":2"#),
        replaced(r#""path":"a.txt""#, r#""path":"../a.txt""#),
        replaced(r#""path":"a.txt""#, r#""path":"/a.txt""#),
        replaced(r#""path":"a.txt""#, r#""path":"a//b.txt""#),
        replaced(r#""path":"a.txt""#, r#""path":"""#),
        replaced(r#""path":"a.txt""#, r#""path":"\\x2e\\x2e/a""#),
        replaced(r#""path":"a.txt""#, r#""path":"a\u0000""#),
        replaced(r#""path":"a.txt""#, r#""path":"new.txt""#),
        replaced(r#""path":"new.txt""#, r#""path":"a.txt/new""#),
        replaced(r#""moved_from":"#, r#""moved":"#),
        replaced(r#""to":"deep/c.txt""#, r#""to":"../c.txt""#),
        replaced(r#""last":"#, r#""last":99999999999999999"#),
        replaced(r#""last":"#, r#""last":0,"was":"#),
        replaced(r#""digest":""#, r#""digest":"x"#),
    ];
    for text in broken {
        fs::write(&view, &text).unwrap();
        let error = bench.try_open();
        assert!(matches!(error, Err(WorkspaceError::Damaged { .. })), "{error:?} for {text}");
    }
    fs::write(&view, b"\xff").unwrap();
    assert!(matches!(bench.try_open(), Err(WorkspaceError::Damaged { .. })));
    // Two names have one file.
    let (first, last) = (r#"{"file":2}"#, r#"{"file":3}"#);
    fs::write(&view, replaced(last, first)).unwrap();
    let error = bench.try_open().unwrap_err().to_string();
    assert!(error.contains("a number that cannot be its own"), "{error}");

    fs::write(&view, &text).unwrap();
    assert_eq!(picture(&bench.open()), shown);
    assert!(!bench.store().join("999").exists(), "what nothing names is removed");
}

/// Every prefix and every changed byte is read without a panic.
#[test]
fn any_bytes_are_read_or_refused() {
    let bench = Bench::new();
    let overlay = bench.open();
    change(&overlay);
    overlay.save().unwrap();
    drop(overlay);
    let text = fs::read_to_string(bench.store().join("view.json")).unwrap();
    let (mut dice, mut taken) = (Dice(7), 0);
    for _ in 0..3_000 {
        let mut bytes = text.clone().into_bytes();
        for _ in 0..=dice.below(3) {
            let at = dice.below(bytes.len());
            match dice.below(3) {
                0 => bytes[at] = b"0129\"{}[],:/.\\x"[dice.below(15)],
                1 => drop(bytes.remove(at)),
                _ => {
                    let (from, to) = (dice.below(bytes.len()), dice.below(bytes.len()));
                    bytes.swap(from, to);
                }
            }
        }
        if let Ok(text) = String::from_utf8(bytes) {
            taken += usize::from(Overlay::is_readable(&text));
        }
    }
    assert!(taken > 10, "some changes make other views");
}

#[test]
fn it_belongs_to_one_folder_and_one_program() {
    let bench = Bench::new();
    let overlay = bench.open();
    put(&overlay, "x", "x");
    overlay.save().unwrap();
    let error = bench.try_open().unwrap_err();
    assert!(matches!(error, WorkspaceError::Busy(_)), "{error}");
    assert!(error.to_string().contains("another innerloop works on"), "{error}");
    drop(overlay);

    let other = bench.dir.path().join("other");
    fs::create_dir(&other).unwrap();
    let other = Workspace::open(other).unwrap();
    let error = other.overlay_in(&bench.store()).unwrap_err();
    assert!(matches!(error, WorkspaceError::OfAnother { .. }), "{error}");
    assert!(error.to_string().contains(bench.path("").to_str().unwrap().trim_end_matches('/')));

    // The folder has moved.
    fs::rename(bench.path(""), bench.dir.path().join("moved")).unwrap();
    let moved = Workspace::open(bench.dir.path().join("moved")).unwrap();
    assert_eq!(told(&moved.overlay_in(&bench.store()).unwrap()).len(), 1);
    // There is another one in its place.
    bench.write("a.txt", "a.txt");
    assert!(matches!(bench.try_open(), Err(WorkspaceError::OfAnother { .. })));
}

#[test]
fn it_is_kept_in_a_folder_of_its_own() {
    let bench = Bench::new();
    let own = bench.workspace();
    for folder in [bench.path("in"), bench.path(""), bench.dir.path().to_owned()] {
        let error = own.overlay_in(&folder).unwrap_err();
        assert!(matches!(error, WorkspaceError::NoOverlay { .. }), "{error}");
    }
    let foreign = bench.dir.path().join("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("1"), "mine").unwrap();
    let error = own.overlay_in(&foreign).unwrap_err().to_string();
    assert!(error.contains("holds other files"), "{error}");
    assert_eq!(fs::read_to_string(foreign.join("1")).unwrap(), "mine");

    // Two begin at once where nothing is. The second finds that out when it has something to keep.
    let (first, second) = (bench.open(), bench.open());
    put(&first, "x", "x");
    let failed = second.open_file(Path::new("y"), CREATE, &mut |_| true);
    assert_eq!(failed.err(), Some(rustix::io::Errno::BUSY));
    first.save().unwrap();
    drop(first);
    assert!(second.create_folder(Path::new("z")).is_ok(), "it takes no file");
    assert!(second.save().is_err(), "what the first has saved is not replaced");
    drop(second);
    assert_eq!(told(&bench.open()).len(), 1);
}

/// Numbers that look random and are the same in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % most
    }

    fn roll<T: Copy>(&mut self, faces: &[T]) -> T {
        faces[self.below(faces.len())]
    }
}

/// Does one thing that an agent may do, or tries it.
fn act(overlay: &Workspace, dice: &mut Dice, step: usize) {
    let paths = [
        "a",
        "b",
        "c",
        "a/a",
        "a/b",
        "b/a",
        "b/c",
        "c/c",
        "a/a/a",
        "a/b/c",
        "src",
        "src/b.txt",
        "src/deep",
        "old",
        "old/d.txt",
        "link",
        "link/a",
        "tmp",
        "tmp/a",
        "a.txt",
    ];
    let [one, other] = [dice.roll(&paths), dice.roll(&paths)].map(Path::new);
    let all = [TmpMeaning::Unsaid, TmpMeaning::System, TmpMeaning::Project, TmpMeaning::Both];
    let overlay = &overlay.meaning(dice.roll(&all));
    let _ = match dice.roll(b"wwwmmudnnnst") {
        b'w' => overlay.open_file(one, CREATE, &mut |_| true).map(|mut file| {
            file.write_all(format!("{step}").as_bytes()).unwrap();
        }),
        b'm' => overlay.create_folder(one),
        b'u' => overlay.remove_file(one),
        b'd' => overlay.remove_folder(one),
        b'n' => overlay.rename(one, other, |_| Ok(())),
        b's' => overlay.link(other, one),
        _ => {
            let time = Timespec { tv_sec: i64::try_from(step).unwrap(), tv_nsec: 0 };
            let times = Timestamps { last_access: time, last_modification: time };
            overlay.set_times(one, &times, &mut |_| true)
        }
    };
}

/// Whatever is done and whenever the program is killed, what was saved is taken up.
#[test]
fn any_sequence_of_changes_is_taken_up() {
    for seed in 1..=5 {
        let bench = Bench::new();
        let mut overlay = bench.open();
        let mut dice = Dice(seed);
        let mut kills = 0;
        for step in 0..600 {
            act(&overlay, &mut dice, step);
            match dice.below(24) {
                0..=3 => {
                    overlay.save().unwrap();
                    let killed = bench.after_kill(kills);
                    assert_eq!(picture(&killed), picture(&overlay), "seed {seed}, step {step}");
                    assert_eq!(told(&killed), told(&overlay), "seed {seed}, step {step}");
                    if kills % 4 == 0 {
                        let copy = bench.copy(&overlay, kills);
                        assert_eq!(picture(&copy), picture(&overlay), "seed {seed}, step {step}");
                        assert_eq!(told(&copy), told(&overlay), "seed {seed}, step {step}");
                    }
                    kills += 1;
                }
                // Nothing was saved since: the overlay opens, and all files that it names exist.
                4..=6 => {
                    drop(picture(&bench.after_kill(kills)));
                    kills += 1;
                }
                7 => {
                    overlay.save().unwrap();
                    let shown = picture(&overlay);
                    drop(overlay);
                    overlay = bench.open();
                    assert_eq!(picture(&overlay), shown, "seed {seed}, step {step}");
                }
                8 if step > 300 => {
                    let (shown, passing) = (picture(&overlay), inner(&overlay).passing());
                    overlay.apply().unwrap();
                    let is_lasting = |path: &PathBuf| !passing.contains(path);
                    let names: Vec<_> = shown.into_keys().filter(is_lasting).collect();
                    assert_eq!(bench.tree().into_keys().collect::<Vec<_>>(), names);
                    let left = bench.stored();
                    assert!(left.iter().all(|name| name == "lock"), "seed {seed}: {left:?}");
                }
                _ => {}
            }
        }
    }
}

mod copied;
mod given_up;
mod interrupted;
mod recorded;
mod whole;
