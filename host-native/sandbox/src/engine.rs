//! The one wasmtime engine of the process: the functions that guests may import, the modules in
//! memory, and the tick at which a running guest yields. It is set up when the first module needs
//! it, so that a session without tools does not pay for it. A module of the registry is compiled
//! once, however many calls want it.

use super::{
    cache::{ArtefactCache, OnProgress},
    compiler::{self, check, config},
    embedded_modules::EmbeddedModule,
    error::{EngineError, ModuleError},
    shell_imports,
    state::RunState,
    wasi_shim,
};
use innerloop_workspace::{digest::Digest, plain_file};
use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::Thread,
    time::Duration,
};
use tokio::{sync::OnceCell, task::spawn_blocking};
use wasmtime::{Engine, ExternType, InstancePre, Linker, Module};

/// The time that a guest runs before it yields to timeouts and other tasks.
const TICK: Duration = Duration::from_millis(10);

/// The options for setting up a [`SandboxEngine`].
#[derive(Clone, Default)]
pub struct EngineOptions {
    /// The folder for compiled modules; by default `$INNERLOOP_CACHE_DIR`, else
    /// `$XDG_CACHE_HOME/innerloop`, else `~/.cache/innerloop`; not used if it and a workspace
    /// overlap.
    pub cache_dir: Option<PathBuf>,
    /// The function that receives a line when a module that somebody waits for is being compiled,
    /// and when one can't be kept.
    pub on_progress: Option<OnProgress>,
    /// The program that compiles modules of the workspace, in a process of its own: one that
    /// begins with [`compile_if_asked`](super::compile_if_asked), such as `innerloop` itself or
    /// [`own_program`](super::own_program). Without one they can't be run.
    pub compiler: Option<PathBuf>,
}

/// The source of a module's bytes.
#[derive(Clone, Debug)]
pub(crate) enum ModuleSource {
    Carried(&'static EmbeddedModule),
    File(PathBuf),
}

impl ModuleSource {
    pub(crate) fn read(&self) -> Result<Vec<u8>, ModuleError> {
        match self {
            Self::Carried(carried) => Ok(carried.unpacked()?),
            Self::File(path) => plain_file::bytes(path, u64::MAX)
                .map_err(|error| ModuleError::Unreadable { path: path.clone(), error }),
        }
    }
}

/// A module that can be run: its name for messages, its digest, its bytes.
#[derive(Clone, Debug)]
pub(crate) struct GuestModule {
    pub(crate) name: String,
    pub(crate) digest: Digest,
    pub(crate) source: ModuleSource,
}

impl GuestModule {
    /// The module that is embedded in this program.
    pub(crate) fn carried(carried: &'static EmbeddedModule) -> Self {
        let source = ModuleSource::Carried(carried);
        Self { name: carried.name.to_owned(), digest: carried.digest, source }
    }
}

/// A module that is ready to be started any number of times.
#[derive(Clone)]
pub(super) struct PreparedModule {
    pub(super) module: InstancePre<RunState>,
    machine: Arc<WasmRuntime>,
}

impl PreparedModule {
    /// Returns whether the module is our shell, that is, imports the functions for shells.
    pub(super) fn is_shell(&self) -> bool {
        self.module.module().imports().any(|import| import.module() == shell_imports::MODULE)
    }

    /// Makes guests yield at each tick until the guard is dropped.
    pub(super) fn running(&self) -> TickerGuard {
        self.machine.ticker.running()
    }
}

/// The engine that compiles and runs guests. Make one per process and share it. wasmtime is set up
/// when the first module needs it.
pub struct SandboxEngine {
    machine: Arc<OnceLock<Arc<WasmRuntime>>>,
    artefacts: Arc<ArtefactCache>,
    ready: Mutex<HashMap<Digest, Arc<ModulePreparation>>>,
    compiler: Option<PathBuf>,
    /// The turn to compile a module of a workspace.
    transient: tokio::sync::Mutex<()>,
    on_progress: OnProgress,
}

/// The state of a module's preparation, which is done once however many calls want it.
#[derive(Default)]
struct ModulePreparation {
    module: OnceCell<PreparedModule>,
    notice: Mutex<CompileNotice>,
}

impl ModulePreparation {
    fn notice(&self) -> MutexGuard<'_, CompileNotice> {
        self.notice.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The notice that a module is being compiled. It is shown once somebody waits for the module, and
/// not at all if nobody does: compiling in the background is of no interest to the user.
#[derive(Default)]
struct CompileNotice {
    is_awaited: bool,
    line: Option<String>,
}

impl CompileNotice {
    /// Notes that somebody waits; returns the line to show now.
    fn awaited(&mut self) -> Option<String> {
        self.is_awaited = true;
        self.line.take()
    }

    /// Notes that the module is being compiled; returns the line to show now.
    fn compiling(&mut self, line: String) -> Option<String> {
        self.line = Some(line);
        self.is_awaited.then(|| self.line.take()).flatten()
    }
}

/// The running wasmtime: engine, imports and ticker.
struct WasmRuntime {
    engine: Engine,
    linker: Linker<RunState>,
    ticker: EpochTicker,
}

impl WasmRuntime {
    /// The runtime in the cell, which is set up if the cell is empty.
    ///
    /// # Errors
    /// [`EngineError`] if it can't be set up. The cell stays empty, so the next call tries again.
    fn of(cell: &OnceLock<Arc<Self>>) -> Result<Arc<Self>, EngineError> {
        if let Some(machine) = cell.get() {
            return Ok(Arc::clone(machine));
        }
        // Two threads may both get here. One runtime is dropped then, so that every module is
        // compiled and run by the same engine.
        let machine = Arc::new(Self::new()?);
        Ok(Arc::clone(cell.get_or_init(|| machine)))
    }

    fn new() -> Result<Self, EngineError> {
        let engine = Engine::new(&config()).map_err(EngineError::Settings)?;
        let mut linker = Linker::new(&engine);
        wasi_shim::link(&mut linker).map_err(EngineError::Settings)?;
        let ticker = EpochTicker::start(&engine).map_err(EngineError::Timer)?;
        Ok(Self { engine, linker, ticker })
    }
}

impl std::fmt::Debug for SandboxEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SandboxEngine").field("artefacts", &self.artefacts).finish_non_exhaustive()
    }
}

impl SandboxEngine {
    /// Makes an engine with these options. Nothing is set up or compiled yet.
    #[must_use]
    pub fn new(options: EngineOptions) -> Arc<Self> {
        let on_progress = options.on_progress.unwrap_or_else(|| Arc::new(|_: &str| ()));
        Arc::new(Self {
            machine: Arc::default(),
            artefacts: Arc::new(ArtefactCache::new(options.cache_dir, on_progress.clone())),
            ready: Mutex::default(),
            compiler: options.compiler,
            transient: tokio::sync::Mutex::default(),
            on_progress,
        })
    }

    /// Stops using the cache folder if guests over the workspace `root` could reach it.
    pub(super) fn keep_cache_from(&self, root: &std::path::Path) {
        self.artefacts.keep_from(root);
    }

    /// Returns a module that can be started: from memory, from the cache folder, or compiled now.
    ///
    /// # Errors
    /// [`ModuleError`] if the module can't be read, compiled or linked.
    pub(super) async fn ready(&self, guest: &GuestModule) -> Result<PreparedModule, ModuleError> {
        // If the module is being compiled in the background, its line is due now.
        let line = self.preparation(guest).notice().awaited();
        line.iter().for_each(|line| (self.on_progress)(line));
        self.prepared(guest).await
    }

    /// Compiles a module that no earlier run has compiled, before anybody waits for it. One that
    /// is in the cache folder is not loaded yet.
    ///
    /// # Errors
    /// As [`SandboxEngine::ready`].
    pub(super) async fn compiled(&self, guest: &GuestModule) -> Result<(), ModuleError> {
        let (machine, artefacts, digest) =
            (Arc::clone(&self.machine), Arc::clone(&self.artefacts), guest.digest);
        let is_kept =
            spawn_blocking(move || Ok(artefacts.has(&WasmRuntime::of(&machine)?.engine, &digest)));
        match is_kept.await.map_err(|error| ModuleError::Task(error.to_string()))? {
            Ok(true) => Ok(()),
            Ok(false) => self.prepared(guest).await.map(drop),
            Err(error) => Err(error),
        }
    }

    fn preparation(&self, guest: &GuestModule) -> Arc<ModulePreparation> {
        let mut all = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(guest.digest).or_default().clone()
    }

    async fn prepared(&self, guest: &GuestModule) -> Result<PreparedModule, ModuleError> {
        // A failure leaves the cell empty, so that the next call tries again.
        let preparation = self.preparation(guest);
        let prepare = || self.prepare(guest.clone(), Arc::clone(&preparation));
        preparation.module.get_or_try_init(prepare).await.cloned()
    }

    /// Compiles a module that is a file of a workspace. It is not kept: anybody may make such
    /// files. Dropping the future ends the compiler.
    ///
    /// # Errors
    /// [`ModuleError`] if there is no compiler, or the module can't be read, compiled or linked.
    pub(super) async fn transient(
        &self,
        read: impl FnOnce() -> Option<Vec<u8>> + Send + 'static,
    ) -> Result<PreparedModule, ModuleError> {
        let none = || ModuleError::Compiler("is not set: see `Options::compiler`".to_owned());
        let program = self.compiler.as_deref().ok_or_else(none)?;
        // One at a time, since each may take 1 GiB. The file is read once the turn has come, so
        // that calls that wait do not hold their modules in memory.
        let _turn = self.transient.lock().await;
        let cell = Arc::clone(&self.machine);
        let read = spawn_blocking(move || {
            Ok::<_, ModuleError>((WasmRuntime::of(&cell)?, read().ok_or(ModuleError::NoFile)?))
        });
        let read = read.await.map_err(|error| ModuleError::Task(error.to_string()))?;
        let (machine, bytes) = read?;
        let module = compiler::compiled(program, &machine.engine, bytes).await?;
        let module = link(&machine.linker, &module)?;
        Ok(PreparedModule { module, machine })
    }

    async fn prepare(
        &self,
        guest: GuestModule,
        preparation: Arc<ModulePreparation>,
    ) -> Result<PreparedModule, ModuleError> {
        let (machine, artefacts) = (Arc::clone(&self.machine), Arc::clone(&self.artefacts));
        let on_progress = self.on_progress.clone();
        // A cancelled call does not stop this thread. The compiled module is still written to the
        // cache folder, where the next call finds it.
        let prepared = spawn_blocking(move || {
            let machine = WasmRuntime::of(&machine)?;
            let tell = |line| {
                let line = preparation.notice().compiling(line);
                line.iter().for_each(|line| on_progress(line));
            };
            let module = match artefacts.load(&machine.engine, &guest.digest) {
                Some(module) => module,
                None => compile(&machine.engine, &guest, &artefacts, tell)?,
            };
            // The line is not due any more: whoever asks from now on waits for nothing.
            preparation.notice().line = None;
            let module = link(&machine.linker, &module)?;
            Ok(PreparedModule { module, machine })
        });
        prepared.await.map_err(|error| ModuleError::Task(error.to_string()))?
    }
}

fn compile(
    engine: &Engine,
    guest: &GuestModule,
    artefacts: &ArtefactCache,
    tell: impl FnOnce(String),
) -> Result<Module, ModuleError> {
    let bytes = guest.source.read()?;
    // An embedded module's digest was checked when it was unpacked. A file's is checked on the
    // bytes that are compiled, since the file may have changed after it was registered.
    if let ModuleSource::File(path) = &guest.source
        && Digest::of(&bytes) != guest.digest
    {
        return Err(ModuleError::Changed(path.clone()));
    }
    check(&bytes)?;
    let megabytes = bytes.len() as f64 / 1e6;
    tell(format!("preparing {} ({megabytes:.1} MB), once", guest.name));
    let invalid = |error| ModuleError::Invalid(format!("{error:#}"));
    let module = Module::new(engine, &bytes).map_err(invalid)?;
    artefacts.store(engine, &guest.digest, &module);
    Ok(module)
}

fn link(linker: &Linker<RunState>, module: &Module) -> Result<InstancePre<RunState>, ModuleError> {
    // A library would link, and only fail when a call starts it.
    if !matches!(module.get_export("_start"), Some(ExternType::Func(_))) {
        return Err(ModuleError::NoStart);
    }
    linker.instantiate_pre(module).map_err(|error| ModuleError::Import(format!("{error:#}")))
}

/// The thread that advances the engine's epoch while a guest runs, and sleeps otherwise.
struct EpochTicker {
    state: Arc<TickerState>,
    thread: Thread,
}

#[derive(Default)]
struct TickerState {
    running: AtomicUsize,
    closed: AtomicBool,
}

impl EpochTicker {
    fn start(engine: &Engine) -> std::io::Result<Self> {
        let state = Arc::<TickerState>::default();
        // A weak handle, or the thread would keep the engine alive.
        let weak = engine.weak();
        let seen = state.clone();
        let join = std::thread::Builder::new().name("sandbox ticker".into()).spawn(move || {
            while !seen.closed.load(Ordering::Acquire) {
                // An `unpark` between this check and `park` is not lost: the next `park` returns.
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

    fn running(&self) -> TickerGuard {
        // Counted before the thread is woken, or it could go back to sleep.
        self.state.running.fetch_add(1, Ordering::AcqRel);
        self.thread.unpark();
        TickerGuard(self.state.clone())
    }
}

impl Drop for EpochTicker {
    fn drop(&mut self) {
        self.state.closed.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// A guard that keeps the ticker going until it is dropped.
pub(super) struct TickerGuard(Arc<TickerState>);

impl Drop for TickerGuard {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::AcqRel);
    }
}
