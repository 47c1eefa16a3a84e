//! Compiled modules on disk: kept, checked, rebuilt, and done without.

use super::{Bench, OPS, run_program, wasm};
use innerloop_sandbox::{
    EngineOptions, Executor, OnProgress, SandboxEngine, programs::ProgramRegistry,
};
use innerloop_workspace::Workspace;
use std::{
    fs,
    os::unix::fs::{PermissionsExt, chown, symlink},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};
use tempfile::TempDir;

/// Runs the guest `ops` in a new engine; gives what the user was told.
async fn run_once(dir: &TempDir) -> Vec<String> {
    run_over(dir, "workspace", "cache").await
}

/// The same over the folder `workspace` with the cache folder `cache`.
async fn run_over(dir: &TempDir, workspace: &str, cache: &str) -> Vec<String> {
    let told = Arc::<Mutex<Vec<String>>>::default();
    let on_progress: OnProgress = {
        let told = told.clone();
        Arc::new(move |line: &str| told.lock().unwrap().push(line.into()))
    };
    let cache_dir = Some(dir.path().join(cache));
    let options =
        EngineOptions { cache_dir, on_progress: Some(on_progress), ..EngineOptions::default() };
    let engine = SandboxEngine::new(options);
    fs::create_dir_all(dir.path().join("programs")).unwrap();
    fs::write(dir.path().join("programs/ops.wasm"), wasm(OPS)).unwrap();
    let programs = ProgramRegistry::open(&dir.path().join("programs")).unwrap();
    let workspace = dir.path().join(workspace);
    fs::create_dir_all(&workspace).unwrap();
    fs::write(workspace.join("file"), "x").unwrap();
    let workspace = Workspace::open(workspace).unwrap();
    let executor = Executor::new(engine, workspace, programs);
    for _ in 0..2 {
        let action = run_program("ops", &["S", "file"]);
        let outcome = executor.run(&action, Duration::from_secs(10), None).await;
        assert_eq!(outcome.exit, Some(0), "{outcome:?}");
    }
    told.lock().unwrap().clone()
}

fn files(dir: &TempDir, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir.path().join("cache/.innerloop")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|found| found == extension)).collect()
}

fn artefact(dir: &TempDir) -> PathBuf {
    files(dir, "cwasm").remove(0)
}

fn signature(dir: &TempDir) -> PathBuf {
    files(dir, "signature").remove(0)
}

fn key(dir: &TempDir) -> PathBuf {
    dir.path().join("cache/.innerloop/key")
}

/// Puts a file in place of another, with that mode.
fn put(path: &Path, bytes: &[u8], mode: u32) {
    drop(fs::remove_file(path));
    fs::write(path, bytes).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

const PREPARING: &str = "preparing ops (0.0 MB), once";

#[tokio::test(flavor = "multi_thread")]
async fn a_module_is_compiled_once_and_kept_privately() {
    let dir = TempDir::new().unwrap();
    assert_eq!(run_once(&dir).await, [PREPARING]);
    assert_eq!(run_once(&dir).await, [""; 0]);
    let mode = fs::metadata(dir.path().join("cache/.innerloop")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    for file in [artefact(&dir), signature(&dir), key(&dir)] {
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o400, "{}", file.display());
    }
    assert_eq!(fs::read_dir(dir.path().join("cache/.innerloop")).unwrap().count(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_artefact_that_was_changed_is_compiled_again() {
    let dir = TempDir::new().unwrap();
    run_once(&dir).await;
    let (artefact, signature) = (artefact(&dir), signature(&dir));
    for path in [&artefact, &signature] {
        let sound = fs::read(path).unwrap();
        let flipped = |at: usize| {
            let mut flipped = sound.clone();
            flipped[at] ^= 1;
            flipped
        };
        let bad = [flipped(0), flipped(sound.len() / 2), flipped(sound.len() - 1)];
        let short = [&sound[..sound.len() - 1], &sound[..16], b""].map(<[u8]>::to_vec);
        for bytes in bad.into_iter().chain(short) {
            put(path, &bytes, 0o400);
            assert_eq!(run_once(&dir).await, [PREPARING]);
            assert_eq!(fs::read(path).unwrap(), sound);
            assert_eq!(run_once(&dir).await, [""; 0]);
        }
    }
    fs::remove_file(&signature).unwrap();
    assert_eq!(run_once(&dir).await, [PREPARING]);
    fs::remove_file(&artefact).unwrap();
    fs::create_dir(&artefact).unwrap();
    let told = run_once(&dir).await;
    assert_eq!(told[0], PREPARING);
    assert!(told[1].starts_with("can't keep a compiled module in "), "{told:?}");
}

/// What another program has signed with its own key, or this one for another module, is not run.
#[tokio::test(flavor = "multi_thread")]
async fn an_artefact_of_somebody_else_is_compiled_again() {
    let (dir, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    run_once(&dir).await;
    run_once(&other).await;
    let (artefact, signature) = (artefact(&dir), signature(&dir));
    let (foreign, signed) = (self::artefact(&other), self::signature(&other));
    assert_eq!(artefact.file_name(), foreign.file_name());
    let (foreign, signed) = (fs::read(foreign).unwrap(), fs::read(signed).unwrap());
    put(&artefact, &foreign, 0o400);
    put(&signature, &signed, 0o400);
    assert_eq!(run_once(&dir).await, [PREPARING]);
    assert_eq!(fs::read(&artefact).unwrap(), foreign, "the same code");
    assert_ne!(fs::read(&signature).unwrap(), signed);

    let engine_of = |path: &Path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.split_once('-').unwrap().1.to_owned()
    };
    let name = innerloop_workspace::digest::Digest::of(&wasm(super::BOMBS));
    let moved = artefact.with_file_name(format!("{name}-{}", engine_of(&artefact)));
    fs::write(dir.path().join("programs/bombs.wasm"), wasm(super::BOMBS)).unwrap();
    fs::rename(&artefact, &moved).unwrap();
    fs::rename(&signature, moved.with_added_extension("signature")).unwrap();
    let told = Arc::<Mutex<Vec<String>>>::default();
    let tell = told.clone();
    let options = EngineOptions {
        cache_dir: Some(dir.path().join("cache")),
        on_progress: Some(Arc::new(move |line: &str| tell.lock().unwrap().push(line.into()))),
        ..EngineOptions::default()
    };
    let programs = ProgramRegistry::open(&dir.path().join("programs")).unwrap();
    let workspace = Workspace::open(dir.path().join("workspace")).unwrap();
    let executor = Executor::new(SandboxEngine::new(options), workspace, programs);
    let outcome = executor.run(&run_program("bombs", &[]), Duration::from_secs(10), None).await;
    assert_eq!(*told.lock().unwrap(), ["preparing bombs (0.0 MB), once"], "{outcome:?}");
}

/// A key that is gone, or that somebody else may know, costs no more than compiling again.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_somebody_may_know_is_replaced() {
    let dir = TempDir::new().unwrap();
    run_once(&dir).await;
    let (key, elsewhere) = (key(&dir), dir.path().join("elsewhere"));
    let known = [7; 32];
    let is_new = || {
        let found = fs::read(&key).unwrap();
        let mode = fs::symlink_metadata(&key).unwrap().permissions().mode();
        found.len() == 32 && found != known && mode == 0o100_400
    };
    fs::remove_file(&key).unwrap();
    assert_eq!(run_once(&dir).await, [PREPARING], "the key is gone");
    assert!(is_new());
    // What a guest makes can be written to by its owner.
    for mode in [0o644, 0o600, 0o440, 0o404] {
        put(&key, &known, mode);
        assert_eq!(run_once(&dir).await, [PREPARING], "{mode:o}");
        assert!(is_new(), "{mode:o}");
    }
    put(&key, &known, 0o400);
    fs::hard_link(&key, &elsewhere).unwrap();
    assert_eq!(run_once(&dir).await, [PREPARING], "it has a second name");
    assert!(is_new());
    fs::remove_file(&key).unwrap();
    symlink(&elsewhere, &key).unwrap();
    assert_eq!(run_once(&dir).await, [PREPARING], "it is a link");
    assert!(is_new());
    assert_eq!(fs::read(&elsewhere).unwrap(), known);
    put(&key, b"short", 0o400);
    assert_eq!(run_once(&dir).await, [PREPARING], "it is too short");
    put(&key, &known, 0o400);
    assert_eq!(run_once(&dir).await, [PREPARING], "it is another");
    assert!(!is_new(), "and sound, so that it stays");
    fs::remove_file(&key).unwrap();
    fs::create_dir(&key).unwrap();
    let told = run_once(&dir).await;
    assert!(told[0].starts_with("compiled modules are not kept, because "), "{told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_belongs_to_somebody_else_is_not_used() {
    let dir = TempDir::new().unwrap();
    run_once(&dir).await;
    let cache = dir.path().join("cache");
    // Only root can give things away; to anybody else `/usr` belongs to another user.
    if chown(&cache, Some(12_345), None).is_err() {
        let told = run_over(&dir, "workspace", "/usr").await;
        assert!(told[0].ends_with("belongs to another user"), "{told:?}");
        return;
    }
    let told = run_once(&dir).await;
    assert!(told[0].ends_with("belongs to another user"), "{told:?}");
    chown(&cache, Some(0), None).unwrap();
    assert_eq!(run_once(&dir).await, [""; 0]);
    chown(cache.join(".innerloop"), Some(12_345), None).unwrap();
    let told = run_once(&dir).await;
    assert!(told[0].ends_with("belongs to another user"), "{told:?}");
    chown(cache.join(".innerloop"), Some(0), None).unwrap();
    for file in [key(&dir), artefact(&dir), signature(&dir)] {
        chown(&file, Some(12_345), None).unwrap();
        assert_eq!(run_once(&dir).await, [PREPARING], "{}", file.display());
        assert_eq!(run_once(&dir).await, [""; 0]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_program_left_that_was_ended_is_removed() {
    let dir = TempDir::new().unwrap();
    run_once(&dir).await;
    fs::remove_file(files(&dir, "cwasm").remove(0)).unwrap();
    let modules = dir.path().join("cache/.innerloop");
    let names = ["left.tmp", "new.tmp", "held.tmp", "old.other"];
    let files = names.map(|name| {
        let file = fs::File::create(modules.join(name)).unwrap();
        let age = if name == "new.tmp" { 0 } else { 60 };
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        file
    });
    // As whoever writes to it does.
    files[2].lock().unwrap();
    assert_eq!(run_once(&dir).await, [PREPARING]);
    let is_there = |name: &str| modules.join(name).exists();
    assert_eq!(names.map(is_there), [false, true, true, true]);
}

/// Whoever could write there once, and put a link in the place of a file that is made later.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_written_through_a_link() {
    let dir = TempDir::new().unwrap();
    let modules = dir.path().join("cache/.innerloop");
    fs::create_dir_all(&modules).unwrap();
    let victim = dir.path().join("victim");
    fs::write(&victim, "untouched").unwrap();
    for count in 0..64 {
        let name = format!("{}-{count}", std::process::id());
        for folder in [&modules, modules.parent().unwrap()] {
            symlink(&victim, folder.join(format!("{name}.probe"))).unwrap();
            symlink(&victim, folder.join(format!("{name}.tmp"))).unwrap();
        }
    }
    assert_eq!(run_once(&dir).await, [PREPARING]);
    assert_eq!(fs::read_to_string(&victim).unwrap(), "untouched");
    assert_eq!(fs::read_dir(dir.path().join("cache")).unwrap().count(), 129);
    let artefact = files(&dir, "cwasm").remove(0);
    fs::remove_file(&artefact).unwrap();
    symlink(&victim, &artefact).unwrap();
    assert_eq!(run_once(&dir).await, [PREPARING]);
    assert_eq!(fs::read_to_string(&victim).unwrap(), "untouched");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_folder_that_can_be_used_modules_are_compiled_in_memory() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("cache"), "a file").unwrap();
    let told = run_once(&dir).await;
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with("compiled modules are not kept, because "), "{told:?}");
    assert_eq!(told[1], PREPARING);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_others_can_write_to_is_not_used() {
    let dir = TempDir::new().unwrap();
    let modules = dir.path().join("cache/.innerloop");
    fs::create_dir_all(&modules).unwrap();
    fs::set_permissions(&modules, fs::Permissions::from_mode(0o777)).unwrap();
    let told = run_once(&dir).await;
    assert!(told[0].contains("can be written to by other users"), "{told:?}");
    assert_eq!(fs::read_dir(&modules).unwrap().count(), 0);

    fs::set_permissions(&modules, fs::Permissions::from_mode(0o700)).unwrap();
    let cache = dir.path().join("cache");
    fs::set_permissions(&cache, fs::Permissions::from_mode(0o777)).unwrap();
    let told = run_once(&dir).await;
    assert!(told[0].contains("can be written to by other users"), "{told:?}");
    assert_eq!(fs::read_dir(&modules).unwrap().count(), 0);

    fs::set_permissions(&cache, fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&modules, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(run_once(&dir).await, [PREPARING]);
    let mode = fs::metadata(&modules).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "a folder that others can only read is closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_is_a_link_is_not_used() {
    let dir = TempDir::new().unwrap();
    fs::create_dir_all(dir.path().join("cache")).unwrap();
    fs::create_dir(dir.path().join("elsewhere")).unwrap();
    symlink(Path::new("../elsewhere"), dir.path().join("cache/.innerloop")).unwrap();
    let told = run_once(&dir).await;
    assert!(told[0].contains("is not a folder"), "{told:?}");
    assert_eq!(fs::read_dir(dir.path().join("elsewhere")).unwrap().count(), 0);
}

/// What a guest may have written is never loaded as machine code.
#[tokio::test(flavor = "multi_thread")]
async fn a_cache_folder_that_guests_could_reach_is_not_used() {
    let dir = TempDir::new().unwrap();
    assert_eq!(run_once(&dir).await, [PREPARING]);
    assert_eq!(run_once(&dir).await, [""; 0], "the artefact is sound");
    symlink("../cache", dir.path().join("workspace/link")).unwrap();
    fs::create_dir(dir.path().join("beside")).unwrap();
    symlink("../workspace", dir.path().join("beside/link")).unwrap();
    for (workspace, cache) in [
        (".", "cache"),
        ("cache", "cache"),
        ("cache/project", "cache"),
        ("workspace", "workspace/link"),
        (".", "beside/../cache"),
    ] {
        let told = run_over(&dir, workspace, cache).await;
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].ends_with("and the workspace overlap"), "{told:?}");
        assert_eq!(told[1], PREPARING, "{workspace} {cache}");
    }
    assert_eq!(fs::read_dir(dir.path().join("cache/.innerloop")).unwrap().count(), 3);
    for cache in ["workspace/new", "workspace/new/deep", "beside/link/new"] {
        let told = run_over(&dir, "workspace", cache).await;
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(!dir.path().join("workspace/new").exists());
    }
    assert_eq!(run_over(&dir, "beside", "cache").await, [""; 0], "apart, it is used");
}

/// A later run over another folder would load what a guest could put there.
#[tokio::test(flavor = "multi_thread")]
async fn a_guest_can_plant_no_artefact_in_a_cache_folder_in_its_workspace() {
    const PERM: i32 = 63;
    let bench = Bench::new();
    bench.write("cache/.innerloop/a.cwasm", "sound");
    bench.write("plain", "evil");
    for letter in ["w", "t", "o", "u"] {
        assert_eq!(bench.ops(&[letter, "cache/.innerloop/a.cwasm"]).await, PERM, "{letter}");
    }
    assert_eq!(bench.ops(&["n", "plain", "cache/.innerloop/a.cwasm"]).await, PERM);
    // A folder that holds one can't be moved, neither away nor to where a cache is looked for.
    assert_eq!(bench.ops(&["n", "cache", "moved"]).await, PERM);
    bench.write("deep/planted/.innerloop/a.cwasm", "evil");
    assert_eq!(bench.ops(&["n", "deep", "other"]).await, PERM);
    assert_eq!(bench.ops(&["n", "deep/planted", "elsewhere"]).await, PERM);
    assert_eq!(bench.ops(&["m", "fresh"]).await, 0);
    assert_eq!(bench.ops(&["m", "fresh/.innerloop"]).await, PERM);
    assert_eq!(bench.read("cache/.innerloop/a.cwasm"), "sound");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_changes_under_its_name_is_not_run() {
    let dir = TempDir::new().unwrap();
    let options =
        EngineOptions { cache_dir: Some(dir.path().join("cache")), ..EngineOptions::default() };
    let engine = SandboxEngine::new(options);
    fs::create_dir(dir.path().join("programs")).unwrap();
    fs::copy(super::qjs_folder().join("qjs.wasm"), dir.path().join("programs/qjs.wasm")).unwrap();
    let programs = ProgramRegistry::open(&dir.path().join("programs")).unwrap();
    fs::write(dir.path().join("programs/qjs.wasm"), wasm(OPS)).unwrap();
    let workspace = Workspace::open(dir.path()).unwrap();
    let executor = Executor::new(engine, workspace, programs);
    let outcome = executor.run(&run_program("qjs", &[]), Duration::from_secs(10), None).await;
    assert!(outcome.joined_text().contains("has changed since it was registered"), "{outcome:?}");
}
