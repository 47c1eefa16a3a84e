//! The sandbox by its public face: a workspace, a folder of programs, and what comes of running
//! them. The rooms below hold the cases.

mod battery;
mod cache;
mod changes;
mod compiler;
mod depth;
mod escapes;
mod limits;
mod lines;
mod overlay;
mod pipelines;
mod programs;
mod reading;
mod shell;
mod stops;
mod tools;
mod whole;

use innerloop_core::{
    action::{Action, Outcome},
    id::AgentId,
};
use innerloop_sandbox::{
    CallContext, EngineOptions, Executor, OnDelta, RunLimits, SandboxEngine,
    programs::ProgramRegistry,
};
use innerloop_workspace::Workspace;
use std::{
    fs,
    future::pending,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};
use tempfile::TempDir;

const OPS: &str = include_str!("../guests/ops.wat");
const BOMBS: &str = include_str!("../guests/bombs.wat");
const TEN_SECONDS: Duration = Duration::from_secs(10);

/// An engine that keeps what it compiles there, and has the program compile modules of the
/// workspace.
fn options(cache: PathBuf) -> EngineOptions {
    let compiler = Some(innerloop_tests::program::binary().to_owned());
    EngineOptions { cache_dir: Some(cache), compiler, ..EngineOptions::default() }
}

/// A call of that agent.
fn of_agent(number: u32) -> CallContext {
    CallContext { agent: AgentId(number), ..CallContext::default() }
}

/// A call of an agent that works in that folder.
fn within(folder: &str) -> CallContext {
    CallContext { folder: folder.to_owned(), ..CallContext::default() }
}

/// A workspace with nothing in it, the guests `ops` and `bombs`, and an executor over them.
struct Bench {
    dir: TempDir,
    engine: Arc<SandboxEngine>,
    executor: Executor,
}

impl Bench {
    fn new() -> Self {
        Self::with(&[("ops", &wasm(OPS)), ("bombs", &wasm(BOMBS))])
    }

    /// With these programs in place of the usual.
    fn with(programs: &[(&str, &[u8])]) -> Self {
        let dir = TempDir::new().unwrap();
        for folder in ["workspace", "programs"] {
            fs::create_dir(dir.path().join(folder)).unwrap();
        }
        for (name, bytes) in programs {
            fs::write(dir.path().join("programs").join(format!("{name}.wasm")), bytes).unwrap();
        }
        let options = options(dir.path().join("cache"));
        let engine = SandboxEngine::new(options);
        let programs = ProgramRegistry::open(&dir.path().join("programs")).unwrap();
        let workspace = Workspace::open(dir.path().join("workspace")).unwrap();
        Self { executor: Executor::new(engine.clone(), workspace, programs), engine, dir }
    }

    /// With the pinned QuickJS, compiled once for all tests.
    fn qjs() -> Self {
        Self::qjs_in(TempDir::new().unwrap())
    }

    /// With the shell and QuickJS, compiled once for all tests.
    fn shell() -> Self {
        let programs = innerloop_tests::example::programs_and_shell();
        Self::compiled_once(TempDir::new().unwrap(), ProgramRegistry::open(&programs).unwrap())
    }

    fn qjs_in(dir: TempDir) -> Self {
        Self::compiled_once(dir, ProgramRegistry::open(&qjs_folder()).unwrap())
    }

    /// With no programs, and the tools compiled once for all tests.
    fn tools() -> Self {
        Self::compiled_once(TempDir::new().unwrap(), ProgramRegistry::default())
    }

    fn compiled_once(dir: TempDir, programs: ProgramRegistry) -> Self {
        fs::create_dir(dir.path().join("workspace")).unwrap();
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sandbox-cache");
        let options = options(cache);
        let engine = SandboxEngine::new(options);
        let workspace = Workspace::open(dir.path().join("workspace")).unwrap();
        Self { executor: Executor::new(engine.clone(), workspace, programs), engine, dir }
    }

    /// Over an overlay of the workspace.
    fn over(self) -> Self {
        let overlay = self.executor.workspace().overlay().unwrap();
        let programs = self.executor.programs().clone();
        Self { executor: Executor::new(self.engine.clone(), overlay, programs), ..self }
    }

    /// One that works in place and one over an overlay, both made so.
    fn both(make: impl Fn() -> Self) -> [Self; 2] {
        [make(), make().over()]
    }

    /// Carries out an action for that call, which nobody stops.
    async fn carry_out(&self, call: &CallContext, action: &Action) -> Outcome {
        self.executor.run_until(call, action, TEN_SECONDS, None, pending()).await
    }

    fn limited(mut self, limits: RunLimits) -> Self {
        self.executor = self.executor.with_limits(limits);
        self
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join("workspace").join(path)
    }

    /// Writes a file of the workspace and the folders above it.
    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Reads a file of the folder, to which an overlay is applied before.
    fn read(&self, path: &str) -> String {
        self.executor.workspace().apply().unwrap();
        fs::read_to_string(self.path(path)).unwrap()
    }

    /// Whether something is in the folder, to which an overlay is applied before.
    fn has(&self, path: &str) -> bool {
        self.executor.workspace().apply().unwrap();
        self.path(path).symlink_metadata().is_ok()
    }

    async fn run(&self, program: &str, args: &[&str]) -> Outcome {
        self.run_for(TEN_SECONDS, program, args).await
    }

    async fn run_for(&self, timeout: Duration, program: &str, args: &[&str]) -> Outcome {
        self.executor.run(&run_program(program, args), timeout, None).await
    }

    /// The error number of one operation of the guest `ops`, 0 for success.
    async fn ops(&self, args: &[&str]) -> i32 {
        let outcome = self.run("ops", args).await;
        outcome.exit.unwrap_or_else(|| panic!("{args:?} gave {outcome:?}"))
    }
}

/// Somebody who swaps the folder `a` of a workspace for what stands at `b`, and back, again and
/// again.
struct Swaps {
    goes_on: Arc<AtomicBool>,
    thread: JoinHandle<u32>,
}

impl Swaps {
    fn of(bench: &Bench) -> Self {
        let goes_on = Arc::new(AtomicBool::new(true));
        let [a, b, c] = ["a", "b", "c"].map(|name| bench.path(name));
        let on = Arc::clone(&goes_on);
        let thread = thread::spawn(move || {
            let mut swaps = 0;
            while on.load(Ordering::Relaxed) {
                for (from, to) in [(&a, &c), (&b, &a), (&c, &b)] {
                    fs::rename(from, to).unwrap();
                }
                swaps += 1;
            }
            swaps
        });
        Self { goes_on, thread }
    }

    /// Ends it; it must have been at work.
    fn end(self) {
        self.goes_on.store(false, Ordering::Relaxed);
        assert!(self.thread.join().unwrap() > 10);
    }
}

/// Numbers that look random and are the same in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % most
    }

    fn roll<T: Copy>(&mut self, faces: &[T]) -> T {
        faces[usize::try_from(self.below(faces.len() as u64)).unwrap()]
    }
}

fn run_program(program: &str, args: &[&str]) -> Action {
    Action::RunProgram {
        program: program.into(),
        args: args.iter().map(|&arg| arg.into()).collect(),
        stdin: None,
    }
}

fn wasm(wat: &str) -> Vec<u8> {
    wat::parse_str(wat).unwrap()
}

/// The folder that holds the pinned QuickJS.
fn qjs_folder() -> PathBuf {
    innerloop_tests::example::programs()
}

/// Collects deltas.
fn collector() -> (OnDelta, Arc<Mutex<Vec<String>>>) {
    let seen = Arc::<Mutex<Vec<String>>>::default();
    let writes = seen.clone();
    (Arc::new(move |text: &str| writes.lock().unwrap().push(text.into())), seen)
}
