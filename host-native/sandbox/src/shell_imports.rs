//! The imported functions for the shell: to give its reply, to start programs, and for bulk calls
//! on files. Any guest may import them, but a call ends a guest that is not run as a shell.

use super::{
    bulk_calls,
    files::GuestFiles,
    memory::{bytes, path, put},
    shell::ShellProcess,
    state::{GuestCaller, RunState, work},
    wasi_error::{CallError, CallResult, answer},
};
use innerloop_shell_protocol::ProgramLaunch;
use innerloop_types::json::from_str;
use std::time::Duration;
use tokio::time::timeout;
use wasmtime::{Error, Linker, Result};

/// The name of the module from which a shell imports the host's functions.
pub(super) const MODULE: &str = "innerloop";

/// The longest reply, and the longest description of a program's start, in bytes.
const MAX_TEXT: i32 = 16 << 20;

/// The most bytes that one call moves to or from a pipe.
const MAX_PIECE: usize = 64 << 10;

/// The longest wait for programs, in milliseconds, after which a shell looks at its own timers.
const MAX_WAIT_MS: i32 = 1000;

/// Links the functions.
pub(super) fn link(linker: &mut Linker<RunState>) -> Result<()> {
    link_files(linker)?;
    link_programs(linker)
}

/// The path and its length, and the address of the result or the mode.
type ShellStatArgs = (i32, i32, i32);
/// The path and its length.
type ShellPathArgs = (i32, i32);

/// Links the functions on files. Those with a result of a fixed length return an error number. The
/// others return the length of their result, or an error number below zero.
fn link_files(linker: &mut Linker<RunState>) -> Result<()> {
    linker.func_wrap_async(
        MODULE,
        "path_stat",
        |mut guest: GuestCaller<'_>, args: ShellStatArgs| {
            Box::new(async move { answer(stat(&mut guest, args).await) })
        },
    )?;
    linker.func_wrap_async(
        MODULE,
        "path_set_mode",
        |mut guest: GuestCaller<'_>, args: ShellStatArgs| {
            Box::new(async move { answer(set_mode(&mut guest, args).await) })
        },
    )?;
    linker.func_wrap_async(
        MODULE,
        "folder_list",
        |mut guest: GuestCaller<'_>, args: ShellPathArgs| {
            Box::new(async move { found(&mut guest, args, bulk_calls::list).await })
        },
    )?;
    linker.func_wrap_async(
        MODULE,
        "file_read",
        |mut guest: GuestCaller<'_>, args: ShellPathArgs| {
            Box::new(async move { found(&mut guest, args, bulk_calls::read).await })
        },
    )?;
    // In two steps, since the guest must know the length to allocate memory for the result.
    linker
        .func_wrap(MODULE, "take", |mut guest: GuestCaller<'_>, at: i32| {
            let found = shell(&mut guest)?.take();
            put(&mut guest, at, &found).map_err(broken)
        })
        .map(drop)
}

async fn stat(guest: &mut GuestCaller<'_>, (at, len, result): ShellStatArgs) -> CallResult {
    // Any guest is refused here that is not the shell, before a file is touched.
    shell(guest)?;
    let path = relative(guest, at, len)?;
    let about = work(guest, move |files| bulk_calls::stat(files, &path)).await?;
    put(guest, result, &about)
}

async fn set_mode(guest: &mut GuestCaller<'_>, (at, len, mode): ShellStatArgs) -> CallResult {
    shell(guest)?;
    let path = relative(guest, at, len)?;
    work(guest, move |files| bulk_calls::set_mode(files, &path, mode.cast_unsigned())).await
}

/// Keeps the result of `find` until the shell takes it, and returns its length.
async fn found(
    guest: &mut GuestCaller<'_>,
    (at, len): ShellPathArgs,
    find: fn(&mut GuestFiles, &str) -> std::result::Result<Vec<u8>, CallError>,
) -> Result<i64> {
    shell(guest)?;
    let found = match relative(guest, at, len) {
        Ok(path) => work(guest, move |files| find(files, &path)).await,
        Err(denied) => Err(denied),
    };
    let error = match found {
        Ok(found) => {
            let length = found.len();
            shell(guest)?.keep(found);
            return Ok(i64::try_from(length).unwrap_or(i64::MAX));
        }
        Err(denied) => answer(Err(denied))?,
    };
    Ok(-i64::from(error))
}

/// A path of the shell, from the folder on that it sees as `/`.
fn relative(
    guest: &mut GuestCaller<'_>,
    at: i32,
    len: i32,
) -> std::result::Result<String, CallError> {
    let path = path(guest, at, len)?;
    // bashkit's paths are absolute, and those of WASI begin in an open folder.
    let inside = path.trim_start_matches('/');
    Ok(if inside.is_empty() { ".".to_owned() } else { inside.to_owned() })
}

fn link_programs(linker: &mut Linker<RunState>) -> Result<()> {
    linker.func_wrap(MODULE, "reply", |mut guest: GuestCaller<'_>, at: i32, len: i32| {
        let reply = text(&mut guest, at, len)?;
        shell(&mut guest)?.reply(reply);
        Ok(())
    })?;
    linker.func_wrap(
        MODULE,
        "program_start",
        |mut guest: GuestCaller<'_>, at: i32, len: i32| {
            let launch = from_str::<ProgramLaunch>(&text(&mut guest, at, len)?);
            let launch = launch.map_err(|error| Error::msg(error.to_string()))?;
            Ok(shell(&mut guest)?.start(launch).unwrap_or(-1))
        },
    )?;
    linker.func_wrap(
        MODULE,
        "program_write",
        |mut guest: GuestCaller<'_>, program: i32, at: i32, len: i32| {
            // A part may be written: the shell gets the number of bytes and writes the rest later.
            let piece = len.clamp(0, i32::try_from(MAX_PIECE).unwrap_or(i32::MAX));
            let bytes = bytes(&mut guest, at, piece).map_err(broken)?.to_vec();
            Ok(shell(&mut guest)?.write(program, &bytes))
        },
    )?;
    linker.func_wrap(
        MODULE,
        "program_read",
        |mut guest: GuestCaller<'_>, program: i32, channel: i32, at: i32, len: i32| {
            let len = usize::try_from(len).unwrap_or_default().min(MAX_PIECE);
            let (moved, bytes) = shell(&mut guest)?.read(program, channel, len);
            put(&mut guest, at, &bytes).map_err(broken)?;
            Ok(moved)
        },
    )?;
    linker.func_wrap(MODULE, "program_close", |mut guest: GuestCaller<'_>, program: i32| {
        shell(&mut guest)?.close(program);
        Ok(())
    })?;
    linker.func_wrap(MODULE, "program_status", |mut guest: GuestCaller<'_>, program: i32| {
        Ok(shell(&mut guest)?.status(program))
    })?;
    linker.func_wrap(MODULE, "program_end", |mut guest: GuestCaller<'_>, program: i32| {
        shell(&mut guest)?.end(program);
        Ok(())
    })?;
    linker
        .func_wrap_async(MODULE, "programs_wait", |mut guest: GuestCaller<'_>, (ms,): (i32,)| {
            // Taken out before the wait, which must not borrow the guest. A signal that came since
            // the shell last looked is kept, so that the wait returns at once.
            let news = shell(&mut guest).map(|shell| shell.news());
            let at_most = Duration::from_millis(ms.clamp(0, MAX_WAIT_MS).unsigned_abs().into());
            Box::new(async move {
                let _is_over = timeout(at_most, news?.notified()).await;
                Ok(())
            })
        })
        .map(drop)
}

/// The shell that the guest is.
///
/// # Errors
/// An error that ends the guest, if it is not a shell.
fn shell<'a>(guest: &'a mut GuestCaller<'_>) -> Result<&'a mut ShellProcess> {
    let refused = || Error::msg("only the shell may ask for that");
    guest.data_mut().shell.as_mut().ok_or_else(refused)
}

fn text(guest: &mut GuestCaller<'_>, at: i32, len: i32) -> Result<String> {
    if !(0..=MAX_TEXT).contains(&len) {
        return Err(Error::msg("the shell says too much at once"));
    }
    let bytes = bytes(guest, at, len).map_err(broken)?;
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|error| Error::msg(error.to_string()))
}

fn broken(denied: CallError) -> Error {
    match denied {
        CallError::Errno(code) => Error::msg(format!("the shell named memory it has not ({code})")),
        CallError::End(end) => Error::new(end),
        CallError::Broken(error) => error,
    }
}
