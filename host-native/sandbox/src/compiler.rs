//! Compiles a module that anybody may have written, in a process of its own: this program once
//! more, with nothing in its environment and limits of memory and processor time. It reads the
//! module from standard input and writes machine code to standard output. Whoever waits for it no
//! longer ends it.

use super::{cache, error::ModuleError};
use innerloop_workspace::platform::limit_process;
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

/// Bytes of memory that the compiler may write to.
const MAX_MEMORY: u64 = 1 << 30;

/// Seconds of processor time, of all its threads together.
const MAX_SECONDS: u64 = 60;

/// Threads that compile. Each takes memory of its own.
const THREADS: &str = "2";

/// The largest module that is read, and the most machine code that is taken.
pub(super) const MAX_MODULE: u64 = 16 << 20;
const MAX_CODE: u64 = 256 << 20;

/// The longest explanation that is taken.
const MAX_WORDS: u64 = 4096;

/// The compiler's own words for a module that is not valid.
const INVALID: u8 = 3;

/// The settings by which every module is compiled.
pub(super) fn config() -> Config {
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .wasm_memory64(false)
        .max_wasm_stack(1 << 20)
        .async_stack_size(2 << 20);
    config
}

/// Refuses what is no core module.
pub(super) fn check(bytes: &[u8]) -> Result<(), ModuleError> {
    match bytes.first_chunk::<8>() {
        Some(b"\0asm\x01\0\0\0") => Ok(()),
        Some([0, b'a', b's', b'm', _, _, 1, 0]) => Err(ModuleError::Component),
        _ => Err(ModuleError::NotWasm),
    }
}

/// This program's file, to be started as a compiler. `None` if the system does not say where it is.
#[must_use]
pub fn own_program() -> Option<PathBuf> {
    std::env::current_exe().ok()
}

/// If this program was started as a compiler, compiles, and gives the exit code that it ends with.
/// A program that names itself in [`EngineOptions::compiler`](super::EngineOptions::compiler) calls
/// this first.
pub fn compile_if_asked(args: &[OsString]) -> Option<ExitCode> {
    let [_, argument] = args else { return None };
    (argument == ARGUMENT).then(compile)
}

fn compile() -> ExitCode {
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
    // Whoever reads it may be gone.
    let _ = stderr().write_all(why.as_bytes());
    ExitCode::from(INVALID)
}

/// Compiles a module by a compiler of its own, which ends when the future is dropped.
///
/// # Errors
/// [`ModuleError`] if it is no module, is too large, or the compiler can't be started.
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

/// Refuses a module of more functions than are compiled. What is wrong with it otherwise is said
/// by the compiler.
fn count_functions(module: &[u8]) -> Result<(), ModuleError> {
    for payload in Parser::new(0).parse_all(module) {
        match payload {
            Ok(Payload::FunctionSection(functions)) if functions.count() > MAX_FUNCTIONS => {
                return Err(ModuleError::Functions(functions.count(), MAX_FUNCTIONS));
            }
            // Functions come before their code.
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
        // What ends before it has read all says why.
        let _ = to.write_all(&module).await;
    };
    let (_, code, why) = tokio::join!(give, taken(from, MAX_CODE), taken(words, MAX_WORDS));
    let (code, why) = (code.map_err(broken)?, why.map_err(broken)?);
    if code.len() as u64 == MAX_CODE {
        return Err(ModuleError::TooLarge);
    }
    let status = child.wait().await.map_err(broken)?;
    ended(status, code, &why)
}

/// Reads no more than so many bytes. Whoever writes more finds the pipe closed.
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
        _ => Err(ModuleError::TooLarge),
    }
}

fn started(program: &Path) -> std::io::Result<Child> {
    let mut command = Command::new(program);
    command.arg(ARGUMENT).env_clear().env("RAYON_NUM_THREADS", THREADS);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.kill_on_drop(true).spawn()
}
