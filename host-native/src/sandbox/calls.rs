//! The functions that only a shell imports: to give its reply, and to start programs. Any other
//! guest that calls one is ended.

use super::{
    denied::Denied,
    memory::{bytes, put},
    shell::Shell,
    state::{Guest, RunState},
};
use innerloop_core::json::from_str;
use innerloop_shell_protocol::Launch;
use std::time::Duration;
use tokio::time::timeout;
use wasmtime::{Error, Linker, Result};

/// Where a shell imports from.
pub(super) const MODULE: &str = "innerloop";

/// The longest reply, and the longest description of a program's start.
const MAX_TEXT: i32 = 16 << 20;

/// The most that one call moves.
const MAX_PIECE: usize = 64 << 10;

/// The longest that a shell waits for its programs before it looks at its own timers.
const MAX_WAIT_MS: i32 = 1000;

/// Puts the functions into `linker`.
pub(super) fn link(linker: &mut Linker<RunState>) -> Result<()> {
    linker.func_wrap(MODULE, "reply", |mut guest: Guest<'_>, at: i32, len: i32| {
        let reply = text(&mut guest, at, len)?;
        shell(&mut guest)?.reply(reply);
        Ok(())
    })?;
    linker.func_wrap(MODULE, "program_start", |mut guest: Guest<'_>, at: i32, len: i32| {
        let launch = from_str::<Launch>(&text(&mut guest, at, len)?);
        let launch = launch.map_err(|error| Error::msg(error.to_string()))?;
        Ok(shell(&mut guest)?.start(launch).unwrap_or(-1))
    })?;
    linker.func_wrap(
        MODULE,
        "program_write",
        |mut guest: Guest<'_>, program: i32, at: i32, len: i32| {
            let piece = len.clamp(0, i32::try_from(MAX_PIECE).unwrap_or(i32::MAX));
            let bytes = bytes(&mut guest, at, piece).map_err(broken)?.to_vec();
            Ok(shell(&mut guest)?.write(program, &bytes))
        },
    )?;
    linker.func_wrap(
        MODULE,
        "program_read",
        |mut guest: Guest<'_>, program: i32, channel: i32, at: i32, len: i32| {
            let len = usize::try_from(len).unwrap_or_default().min(MAX_PIECE);
            let (moved, bytes) = shell(&mut guest)?.read(program, channel, len);
            put(&mut guest, at, &bytes).map_err(broken)?;
            Ok(moved)
        },
    )?;
    linker.func_wrap(MODULE, "program_close", |mut guest: Guest<'_>, program: i32| {
        shell(&mut guest)?.close(program);
        Ok(())
    })?;
    linker.func_wrap(MODULE, "program_status", |mut guest: Guest<'_>, program: i32| {
        Ok(shell(&mut guest)?.status(program))
    })?;
    linker.func_wrap(MODULE, "program_end", |mut guest: Guest<'_>, program: i32| {
        shell(&mut guest)?.end(program);
        Ok(())
    })?;
    linker
        .func_wrap_async(MODULE, "programs_wait", |mut guest: Guest<'_>, (ms,): (i32,)| {
            let news = shell(&mut guest).map(|shell| shell.news());
            let at_most = Duration::from_millis(ms.clamp(0, MAX_WAIT_MS).unsigned_abs().into());
            Box::new(async move {
                let _is_over = timeout(at_most, news?.notified()).await;
                Ok(())
            })
        })
        .map(drop)
}

fn shell<'a>(guest: &'a mut Guest<'_>) -> Result<&'a mut Shell> {
    let refused = || Error::msg("only the shell may ask for that");
    guest.data_mut().shell.as_mut().ok_or_else(refused)
}

fn text(guest: &mut Guest<'_>, at: i32, len: i32) -> Result<String> {
    if !(0..=MAX_TEXT).contains(&len) {
        return Err(Error::msg("the shell says too much at once"));
    }
    let bytes = bytes(guest, at, len).map_err(broken)?;
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|error| Error::msg(error.to_string()))
}

fn broken(denied: Denied) -> Error {
    match denied {
        Denied::Errno(code) => Error::msg(format!("the shell named memory it has not ({code})")),
        Denied::End(end) => Error::new(end),
        Denied::Broken(error) => error,
    }
}
