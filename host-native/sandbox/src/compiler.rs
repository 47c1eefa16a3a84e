//! The compiler for modules that anybody may have written, in a process of its own: this program
//! once more, without an environment and with limits of memory and processor time, since a small
//! module can cost gigabytes. It reads the module from standard input and writes machine code to
//! standard output. It ends with the call that waits for it.

use super::{cache, error::ModuleError};
use innerloop_workspace::platform::{self, limit_process};
use std::{
    ffi::OsString,
    io::{Read as _, Write as _, stderr, stdin, stdout},
    path::{Path, PathBuf},
    process::{ExitCode, ExitStatus, Stdio},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    process::{Child, Command},
};
use wasmparser::{Parser, Payload};
use wasmtime::{Config, Engine, Module};

/// The only argument of a program that is started as a compiler.
const ARGUMENT: &str = "__compile-module";

/// The most functions of a module: one costs some 6 KB of memory and 0.1 ms, however short it is.
const MAX_FUNCTIONS: u32 = 100_000;

/// The most memory in bytes that the compiler may write to.
const MAX_MEMORY: u64 = 1 << 30;

/// The most processor time in seconds, of all its threads together.
const MAX_SECONDS: u64 = 60;

/// The number of threads that compile. Each takes memory of its own.
const THREADS: &str = "2";

/// The largest module in bytes.
pub(super) const MAX_MODULE: u64 = 16 << 20;
/// The most machine code in bytes that is read.
const MAX_CODE: u64 = 256 << 20;

/// The longest error message in bytes that is read.
const MAX_WORDS: u64 = 4096;

/// The exit code of a compiler that says what is wrong. A panic, a signal and a failed allocation
/// give other ones.
const INVALID: u8 = 3;

/// The settings by which every module is compiled.
pub(super) fn config() -> Config {
    // Both processes use these: code that was compiled by other settings is not loaded. Guests
    // yield by epochs, which cost less than fuel and also cover calls that wait in the host. An
    // exhausted wasm stack must trap within the larger stack of its fiber.
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .wasm_memory64(false)
        .max_wasm_stack(2 << 20)
        .async_stack_size(3 << 20);
    config
}

/// Refuses anything but a core module.
///
/// # Errors
/// [`ModuleError`] that tells a component from other bytes.
pub(super) fn check(bytes: &[u8]) -> Result<(), ModuleError> {
    match bytes.first_chunk::<8>() {
        Some(b"\0asm\x01\0\0\0") => Ok(()),
        Some([0, b'a', b's', b'm', _, _, 1, 0]) => Err(ModuleError::Component),
        _ => Err(ModuleError::NotWasm),
    }
}

/// The file of this program, to start it as a compiler. `None` if the system does not tell.
#[must_use]
pub fn own_program() -> Option<PathBuf> {
    platform::own_program()
}

/// Compiles if this program was started as a compiler, and returns the exit code to end with.
/// Returns `None` otherwise. A program that names itself in
/// [`EngineOptions::compiler`](super::EngineOptions::compiler) calls this first.
pub fn compile_if_asked(args: &[OsString]) -> Option<ExitCode> {
    let [_, argument] = args else { return None };
    (argument == ARGUMENT).then(compile)
}

fn compile() -> ExitCode {
    // The limits come first, before anything of the module is read.
    if let Err(error) = limit_process(MAX_MEMORY, MAX_SECONDS) {
        return failed(&format!("it can't be limited: {error}"));
    }
    let mut module = Vec::new();
    if let Err(error) = stdin().take(MAX_MODULE).read_to_end(&mut module) {
        return failed(&format!("it can't be read: {error}"));
    }
    let code = Engine::new(&config()).and_then(|engine| engine.precompile_module(&module));
    match code {
        Ok(code) => match stdout().write_all(&code) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => failed(&format!("its code can't be written: {error}")),
        },
        Err(error) => failed(&format!("{error:#}")),
    }
}

fn failed(why: &str) -> ExitCode {
    // The caller may be gone, and there is nobody else to report to.
    let _ = stderr().write_all(why.as_bytes());
    ExitCode::from(INVALID)
}

/// Compiles a module by a compiler of its own, which ends when the future is dropped.
///
/// # Errors
/// [`ModuleError`] if it is not a module or too large, or the compiler can't be started.
pub(super) async fn compiled(
    program: &Path,
    engine: &Engine,
    module: Vec<u8>,
) -> Result<Module, ModuleError> {
    check(&module)?;
    count_functions(&module)?;
    let code = machine_code(program, module).await?;
    let engine = engine.clone();
    let loaded = tokio::task::spawn_blocking(move || cache::load_compiled(&engine, &code));
    let loaded = loaded.await.map_err(|error| ModuleError::Task(error.to_string()))?;
    loaded.ok_or_else(|| ModuleError::Compiler("is another version than this program".into()))
}

/// Refuses a module with too many functions. Any other fault is left to the compiler.
fn count_functions(module: &[u8]) -> Result<(), ModuleError> {
    // Memory is only limited on Linux. Elsewhere this count is the bound.
    for payload in Parser::new(0).parse_all(module) {
        match payload {
            Ok(Payload::FunctionSection(functions)) if functions.count() > MAX_FUNCTIONS => {
                return Err(ModuleError::Functions(functions.count(), MAX_FUNCTIONS));
            }
            // The function section comes before the code, so nothing else needs to be parsed.
            Ok(Payload::FunctionSection(_) | Payload::CodeSectionStart { .. }) | Err(_) => break,
            Ok(_) => {}
        }
    }
    Ok(())
}

async fn machine_code(program: &Path, module: Vec<u8>) -> Result<Vec<u8>, ModuleError> {
    let broken = |error: std::io::Error| ModuleError::Compiler(format!("can't be run: {error}"));
    let mut child = started(program).map_err(broken)?;
    let (Some(mut to), Some(from), Some(words)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(ModuleError::Compiler("has no pipes".to_owned()));
    };
    let give = async move {
        // A compiler that ends before it has read everything gives the reason on its other pipes.
        let _ = to.write_all(&module).await;
    };
    // All three at once: a process that fills one pipe would wait for ever for a reader that is
    // busy with another.
    let (_, code, why) = tokio::join!(give, taken(from, MAX_CODE), taken(words, MAX_WORDS));
    let (code, why) = (code.map_err(broken)?, why.map_err(broken)?);
    // Checked before the exit status: code that was cut off is no code, however the compiler ends.
    if code.len() as u64 == MAX_CODE {
        return Err(ModuleError::TooLarge);
    }
    let status = child.wait().await.map_err(broken)?;
    ended(status, code, &why)
}

/// Reads at most so many bytes, then closes the pipe.
async fn taken(from: impl AsyncRead + Unpin, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most).read_to_end(&mut bytes).await?;
    Ok(bytes)
}

fn ended(status: ExitStatus, code: Vec<u8>, why: &[u8]) -> Result<Vec<u8>, ModuleError> {
    match status.code() {
        Some(0) => Ok(code),
        Some(code) if code == i32::from(INVALID) => {
            Err(ModuleError::Invalid(String::from_utf8_lossy(why).into_owned()))
        }
        // Memory that is refused aborts the process, and the limit of processor time kills it: both
        // end by a signal.
        _ => Err(ModuleError::TooLarge),
    }
}

fn started(program: &Path) -> std::io::Result<Child> {
    let mut command = Command::new(program);
    command.arg(ARGUMENT).env_clear().env("RAYON_NUM_THREADS", THREADS);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // The call that waits owns the process: when it is cancelled, the compiler is killed.
    command.kill_on_drop(true).spawn()
}
