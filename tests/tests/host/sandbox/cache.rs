//! Compiled modules on disk: kept, checked, rebuilt, and done without.

use super::{Bench, OPS, run_program, wasm};
use innerloop_host::{
    programs::Programs,
    sandbox::{Executor, OnProgress, Options, SandboxEngine, Workspace},
};
use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
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
    let options =
        Options { cache_dir: Some(dir.path().join(cache)), on_progress: Some(on_progress) };
    let engine = SandboxEngine::new(options).unwrap();
    fs::create_dir_all(dir.path().join("programs")).unwrap();
    fs::write(dir.path().join("programs/ops.wasm"), wasm(OPS)).unwrap();
    let programs = Programs::open(&dir.path().join("programs")).unwrap();
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

const PREPARING: &str = "preparing ops (0.0 MB), once";

#[tokio::test(flavor = "multi_thread")]
async fn a_module_is_compiled_once_and_kept_privately() {
    let dir = TempDir::new().unwrap();
    assert_eq!(run_once(&dir).await, [PREPARING]);
    assert_eq!(run_once(&dir).await, [""; 0]);
    let mode = fs::metadata(dir.path().join("cache/.innerloop")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert_eq!((files(&dir, "cwasm").len(), files(&dir, "sha256").len()), (1, 1));
    assert_eq!(fs::read_dir(dir.path().join("cache/.innerloop")).unwrap().count(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_artefact_that_was_changed_is_compiled_again() {
    let dir = TempDir::new().unwrap();
    run_once(&dir).await;
    let artefact = files(&dir, "cwasm").remove(0);
    let sidecar = files(&dir, "sha256").remove(0);
    let sound = fs::read(&artefact).unwrap();
    let mut flipped = sound.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    for bytes in [&flipped[..], &sound[..sound.len() - 1], &sound[..100], b""] {
        fs::write(&artefact, bytes).unwrap();
        assert_eq!(run_once(&dir).await, [PREPARING]);
        assert_eq!(fs::read(&artefact).unwrap(), sound);
        assert_eq!(run_once(&dir).await, [""; 0]);
    }
    fs::write(&sidecar, "0".repeat(64)).unwrap();
    assert_eq!(run_once(&dir).await, [PREPARING]);
    fs::remove_file(&sidecar).unwrap();
    assert_eq!(run_once(&dir).await, [PREPARING]);
}

/// Even with a digest that fits, wasmtime itself must accept the artefact.
#[tokio::test(flavor = "multi_thread")]
async fn an_artefact_of_something_else_is_compiled_again() {
    let dir = TempDir::new().unwrap();
    run_once(&dir).await;
    let artefact = files(&dir, "cwasm").remove(0);
    let foreign = b"\x7fELF no artefact of ours";
    fs::write(&artefact, foreign).unwrap();
    let digest = innerloop_host::sandbox::Digest::of(foreign).to_string();
    fs::write(files(&dir, "sha256").remove(0), digest).unwrap();
    assert_eq!(run_once(&dir).await, [PREPARING]);
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
        assert!(told[0].ends_with("and the workspace lie in one another"), "{told:?}");
        assert_eq!(told[1], PREPARING, "{workspace} {cache}");
    }
    assert_eq!(fs::read_dir(dir.path().join("cache/.innerloop")).unwrap().count(), 2);
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
    assert_eq!(bench.ops(&["n", "cache", "moved"]).await, 0);
    assert_eq!(bench.ops(&["m", "cache"]).await, 0);
    assert_eq!(bench.ops(&["m", "cache/.innerloop"]).await, PERM);
    assert_eq!(bench.read("moved/.innerloop/a.cwasm"), "sound");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_changes_under_its_name_is_not_run() {
    let dir = TempDir::new().unwrap();
    let options = Options { cache_dir: Some(dir.path().join("cache")), on_progress: None };
    let engine = SandboxEngine::new(options).unwrap();
    fs::create_dir(dir.path().join("programs")).unwrap();
    fs::copy(super::qjs_folder().join("qjs.wasm"), dir.path().join("programs/qjs.wasm")).unwrap();
    let programs = Programs::open(&dir.path().join("programs")).unwrap();
    fs::write(dir.path().join("programs/qjs.wasm"), wasm(OPS)).unwrap();
    let workspace = Workspace::open(dir.path()).unwrap();
    let executor = Executor::new(engine, workspace, programs);
    let outcome = executor.run(&run_program("qjs", &[]), Duration::from_secs(10), None).await;
    assert!(outcome.joined_text().contains("has changed since it was registered"), "{outcome:?}");
}
