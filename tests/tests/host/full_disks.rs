//! A full disk below the workspace, the sessions or the cache: what a tool was to change is as it
//! was or as it was to be, and who has started the run is told.

use innerloop_tests::{
    anthropic::Message,
    example::programs_and_shell as programs,
    program::{Run, binary, run},
    scene::Scene,
    skip::skip,
};
use serde_json::json;
use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

/// What the new content of a file has, in bytes; its room on the small disk is less.
const NEW: usize = 300_000;

/// The first line of the file.
const FIRST: &str = "the first";

/// A disk of 1 MiB, until it is dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// In the place of that folder. `None` where this user may mount nothing.
    fn mount(folder: &Path) -> Option<Self> {
        fs::create_dir_all(folder).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs"]).arg(folder);
        mount.output().is_ok_and(|done| done.status.success()).then(|| Self(folder.to_owned()))
    }

    /// Leaves room for so many bytes.
    fn fill(&self, left: usize) {
        let mut file = fs::File::create(self.0.join("filler")).unwrap();
        while file.write_all(&[7; 4096]).is_ok() {}
        let length = file.metadata().unwrap().len();
        file.set_len(length.saturating_sub(left as u64)).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg("-l").arg(&self.0).status();
        assert!(unmounted.is_ok_and(|status| status.success()), "the disk stays mounted");
    }
}

/// Which folder is on the small disk.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Small {
    Workspace,
    State,
    Cache,
}

/// The calls that change `big.txt`, which was read before, by their tools, and what it holds then.
fn calls(old: &str, new: &str) -> [(&'static str, Message, String); 4] {
    let added: String = new.lines().map(|line| format!("+{line}\n")).collect();
    let patch =
        format!("*** Begin Patch\n*** Update File: big.txt\n-{FIRST}\n{added}*** End Patch");
    let shell = |line: &str| Message::call("t2", "shell", &json!({"command": line}));
    let line = "cat big.txt big.txt big.txt > more.txt && mv more.txt big.txt";
    let write = json!({"file_path": "big.txt", "content": new});
    let edit = json!({"file_path": "big.txt", "old_string": FIRST, "new_string": new.trim_end()});
    let longer = old.replacen(&format!("{FIRST}\n"), new, 1);
    [
        ("write", Message::call("t2", "write_file", &write), new.to_owned()),
        ("edit", Message::call("t2", "edit_file", &edit), longer.clone()),
        ("patch", shell(&format!("apply_patch <<'EOF'\n{patch}\nEOF")), longer),
        ("shell", shell(line), old.repeat(3)),
    ]
}

/// One run with a full disk; gives what came of it and what the file holds then.
fn filled(
    (small, cache): (Small, &Path),
    in_place: bool,
    call: &Message,
    old: &str,
) -> Option<(Run, String)> {
    let read = Message::call("t1", "read_file", &json!({"file_path": "big.txt"}));
    let scene = Scene::streaming(&[read, call.clone(), Message::text("done")]);
    let scene = if in_place { scene.in_place() } else { scene };
    let folder = match small {
        Small::Workspace => scene.workspace(),
        Small::State => scene.path("state"),
        Small::Cache => cache.join("overlays"),
    };
    let disk = SmallDisk::mount(&folder)?;
    fs::write(scene.workspace().join("big.txt"), old).unwrap();
    let mut command = scene.command("go");
    command.arg("--programs").arg(programs()).env("XDG_STATE_HOME", scene.path("state"));
    if small == Small::Cache {
        // What a session changes that is not kept stands there.
        command.env("INNERLOOP_CACHE_DIR", cache).arg("--ephemeral");
    }
    disk.fill(if small == Small::Workspace { old.len() + 40_000 } else { 60_000 });
    let run = run(&mut command);
    Some((run, scene.text("workspace/big.txt")))
}

#[test]
fn m3_a_full_disk_leaves_files_whole_and_is_told() {
    if SmallDisk::mount(&tempfile::tempdir().unwrap().path().join("disk")).is_none() {
        return skip("all of it", "this user may mount no file system");
    }
    // With the modules that other tests have compiled.
    let cache = tempfile::tempdir().unwrap();
    let shared = binary().with_file_name("innerloop-test-cache").join(".innerloop");
    let _copied = Command::new("cp").arg("-a").arg(shared).arg(cache.path()).status().unwrap();
    let line = |letter: &str| format!("{}\n", letter.repeat(99));
    let old = format!("{FIRST}\n{}", line("o").repeat(2_000));
    let new = line("n").repeat(NEW / 100);
    let cases = [
        (Small::Workspace, false),
        (Small::Workspace, true),
        (Small::State, false),
        (Small::Cache, false),
    ];
    for (small, in_place) in cases {
        for (tool, call, changed) in calls(&old, &new) {
            let (run, found) = filled((small, cache.path()), in_place, &call, &old).unwrap();
            let of = format!("{tool} with a full {small:?}, in place: {in_place}: {run:#?}");
            assert!(!run.stderr.contains("panicked"), "{of}");
            let length = found.len();
            let is_new = found == changed;
            assert!(found == old || is_new, "{length} bytes: {of}");
            // What was not done is a failure that has a reason, whatever the model says.
            let is_told = ["No space left", "no room", "full"].iter();
            let is_told = is_told.clone().any(|words| run.stderr.contains(words));
            assert!(is_new || run.code != Some(0) && is_told, "{of}");
        }
    }
}
