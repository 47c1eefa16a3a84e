//! The one wasmtime engine of the process: its settings, the functions that guests may import,
//! the modules in memory, and the tick at which a running guest yields.

use super::{
    cache::{ArtefactCache, OnProgress},
    shim,
    state::RunState,
};
use crate::digest::Digest;
use std::{
    borrow::Cow,
    collections::HashMap,
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::Thread,
    time::Duration,
};
use tokio::sync::OnceCell;
use wasmtime::{Config, Engine, ExternType, InstancePre, Linker, Module};

/// How long a guest runs before it yields to timeouts and other tasks.
const TICK: Duration = Duration::from_millis(10);

/// How to set up a [`SandboxEngine`].
#[derive(Clone, Default)]
pub struct Options {
    /// The folder for compiled modules; by default `$INNERLOOP_CACHE_DIR`, else
    /// `$XDG_CACHE_HOME/innerloop`, else `~/.cache/innerloop`; not used if it and a workspace
    /// lie in one another.
    pub cache_dir: Option<PathBuf>,
    /// Who is told that a module is being compiled, or that it can't be kept.
    pub on_progress: Option<OnProgress>,
}

/// Why the engine could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// wasmtime refused the settings on this machine.
    #[error("the sandbox can't be set up on this machine: {0}")]
    Settings(wasmtime::Error),
    /// The thread that interrupts guests could not be started.
    #[error("the sandbox can't start its timer thread: {0}")]
    Timer(std::io::Error),
}

/// Why a module can't be run.
#[derive(Debug, thiserror::Error)]
pub enum ModuleError {
    /// Its file can't be read.
    #[error("can't read {}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// Its file has changed since its digest was taken.
    #[error("{} has changed since it was registered; start again", .0.display())]
    Changed(PathBuf),
    /// It is not WebAssembly at all.
    #[error("it is not a WebAssembly module")]
    NotWasm,
    /// It is a component.
    #[error("it is a WebAssembly component; a WASI preview 1 command is needed")]
    Component,
    /// It does not validate or uses a proposal that the sandbox leaves off.
    #[error("it is not a valid module: {0}")]
    Invalid(String),
    /// It imports something that the sandbox does not offer.
    #[error("it needs more than WASI preview 1 offers: {0}")]
    Import(String),
    /// It is a library.
    #[error("it has no `_start` function, so it is not a WASI command")]
    NoStart,
    /// The task that compiled or ran it broke.
    #[error("the sandbox broke: {0}")]
    Task(String),
}

/// Where a module's bytes come from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    Embedded(&'static [u8]),
    File(PathBuf),
}

impl Source {
    pub(crate) fn read(&self) -> Result<Cow<'static, [u8]>, ModuleError> {
        match self {
            Self::Embedded(bytes) => Ok(Cow::Borrowed(bytes)),
            Self::File(path) => std::fs::read(path)
                .map(Cow::Owned)
                .map_err(|error| ModuleError::Unreadable { path: path.clone(), error }),
        }
    }
}

/// A module that can be run: its name for messages, its digest, its bytes.
#[derive(Clone, Debug)]
pub(crate) struct Guest {
    pub(crate) name: String,
    pub(crate) digest: Digest,
    pub(crate) source: Source,
}

/// A module that is ready to be started any number of times.
pub(super) type Ready = InstancePre<RunState>;

/// The engine. Make one per process and share it.
pub struct SandboxEngine {
    engine: Engine,
    linker: Arc<Linker<RunState>>,
    artefacts: Arc<ArtefactCache>,
    ready: Mutex<HashMap<Digest, Arc<OnceCell<Ready>>>>,
    ticker: Ticker,
    on_progress: OnProgress,
}

impl std::fmt::Debug for SandboxEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SandboxEngine").field("artefacts", &self.artefacts).finish_non_exhaustive()
    }
}

impl SandboxEngine {
    /// Sets up the engine. Nothing is compiled yet.
    ///
    /// # Errors
    /// [`EngineError`] if wasmtime can't run on this machine.
    pub fn new(options: Options) -> Result<Arc<Self>, EngineError> {
        let engine = Engine::new(&config()).map_err(EngineError::Settings)?;
        let mut linker = Linker::new(&engine);
        shim::link(&mut linker).map_err(EngineError::Settings)?;
        let on_progress = options.on_progress.unwrap_or_else(|| Arc::new(|_: &str| ()));
        Ok(Arc::new(Self {
            ticker: Ticker::start(&engine).map_err(EngineError::Timer)?,
            artefacts: Arc::new(ArtefactCache::new(options.cache_dir, on_progress.clone())),
            linker: Arc::new(linker),
            ready: Mutex::default(),
            on_progress,
            engine,
        }))
    }

    pub(super) const fn wasmtime(&self) -> &Engine {
        &self.engine
    }

    /// Stops using the cache folder if guests over the workspace `root` could reach it.
    pub(super) fn keep_cache_from(&self, root: &std::path::Path) {
        self.artefacts.keep_from(root);
    }

    /// Makes guests yield at each tick until the guard is dropped.
    pub(super) fn running(&self) -> Running {
        self.ticker.running()
    }

    /// A module that can be started: from memory, from the cache folder, or compiled now.
    ///
    /// # Errors
    /// [`ModuleError`] if the module can't be read, compiled or linked.
    pub(super) async fn ready(&self, guest: &Guest) -> Result<Ready, ModuleError> {
        let cell = {
            let mut all = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
            all.entry(guest.digest).or_default().clone()
        };
        cell.get_or_try_init(|| self.prepare(guest.clone())).await.cloned()
    }

    /// Compiles a module that no earlier run has compiled. One that is kept is not loaded yet.
    ///
    /// # Errors
    /// As [`SandboxEngine::ready`].
    pub(super) async fn compiled(&self, guest: &Guest) -> Result<(), ModuleError> {
        let (engine, artefacts, digest) =
            (self.engine.clone(), self.artefacts.clone(), guest.digest);
        let is_kept = tokio::task::spawn_blocking(move || artefacts.has(&engine, &digest)).await;
        if is_kept.unwrap_or_default() { Ok(()) } else { self.ready(guest).await.map(drop) }
    }

    async fn prepare(&self, guest: Guest) -> Result<Ready, ModuleError> {
        let engine = self.engine.clone();
        let artefacts = self.artefacts.clone();
        let linker = self.linker.clone();
        let on_progress = self.on_progress.clone();
        tokio::task::spawn_blocking(move || {
            let module = match artefacts.load(&engine, &guest.digest) {
                Some(module) => module,
                None => compile(&engine, &guest, &artefacts, &on_progress)?,
            };
            link(&linker, &module)
        })
        .await
        .map_err(|error| ModuleError::Task(error.to_string()))?
    }
}

fn config() -> Config {
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .wasm_memory64(false)
        .max_wasm_stack(1 << 20)
        .async_stack_size(2 << 20);
    config
}

fn compile(
    engine: &Engine,
    guest: &Guest,
    artefacts: &ArtefactCache,
    on_progress: &OnProgress,
) -> Result<Module, ModuleError> {
    let bytes = guest.source.read()?;
    if Digest::of(&bytes) != guest.digest {
        let Source::File(path) = &guest.source else { return Err(ModuleError::NotWasm) };
        return Err(ModuleError::Changed(path.clone()));
    }
    match bytes.first_chunk::<8>() {
        Some(b"\0asm\x01\0\0\0") => {}
        Some([0, b'a', b's', b'm', _, _, 1, 0]) => return Err(ModuleError::Component),
        _ => return Err(ModuleError::NotWasm),
    }
    let megabytes = bytes.len() as f64 / 1e6;
    on_progress(&format!("preparing {} ({megabytes:.1} MB), once", guest.name));
    let module =
        Module::new(engine, &bytes).map_err(|error| ModuleError::Invalid(format!("{error:#}")))?;
    artefacts.store(engine, &guest.digest, &module);
    Ok(module)
}

fn link(linker: &Linker<RunState>, module: &Module) -> Result<Ready, ModuleError> {
    if !matches!(module.get_export("_start"), Some(ExternType::Func(_))) {
        return Err(ModuleError::NoStart);
    }
    linker.instantiate_pre(module).map_err(|error| ModuleError::Import(format!("{error:#}")))
}

/// The thread that moves the engine's epoch on while a guest runs, and sleeps otherwise.
struct Ticker {
    state: Arc<TickerState>,
    thread: Thread,
}

#[derive(Default)]
struct TickerState {
    running: AtomicUsize,
    closed: AtomicBool,
}

impl Ticker {
    fn start(engine: &Engine) -> std::io::Result<Self> {
        let state = Arc::<TickerState>::default();
        let weak = engine.weak();
        let seen = state.clone();
        let join = std::thread::Builder::new().name("sandbox ticker".into()).spawn(move || {
            while !seen.closed.load(Ordering::Acquire) {
                if seen.running.load(Ordering::Acquire) == 0 {
                    std::thread::park();
                    continue;
                }
                std::thread::sleep(TICK);
                let Some(engine) = weak.upgrade() else { return };
                engine.increment_epoch();
            }
        })?;
        Ok(Self { state, thread: join.thread().clone() })
    }

    fn running(&self) -> Running {
        self.state.running.fetch_add(1, Ordering::AcqRel);
        self.thread.unpark();
        Running(self.state.clone())
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.state.closed.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// Keeps the ticker going while it lives.
pub(super) struct Running(Arc<TickerState>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::AcqRel);
    }
}
