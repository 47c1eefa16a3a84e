//! The errors of a guest's call. Most become an error number for the guest; a limit that was
//! reached ends the run, since a guest could ignore a number.

use super::errno;
use innerloop_driver::capture::{ExceededLimit, ProgramExit};
use innerloop_workspace::platform::Errno;

/// The reason why a call is denied.
#[derive(Debug)]
pub(super) enum CallError {
    /// The guest gets this error number.
    Errno(i32),
    /// The run ends.
    End(ProgramExit),
    /// The sandbox itself is broken.
    Broken(wasmtime::Error),
}

/// The result of a call whose output is in the guest's memory.
pub(super) type CallResult = Result<(), CallError>;

/// The return value of an imported function, or the error that ends the run.
pub(super) fn answer(result: CallResult) -> wasmtime::Result<i32> {
    match result {
        Ok(()) => Ok(errno::SUCCESS),
        Err(CallError::Errno(code)) => Ok(code),
        Err(CallError::End(end)) => Err(wasmtime::Error::new(end)),
        Err(CallError::Broken(error)) => Err(error),
    }
}

impl From<i32> for CallError {
    fn from(code: i32) -> Self {
        Self::Errno(code)
    }
}

impl From<Errno> for CallError {
    fn from(error: Errno) -> Self {
        match error {
            // The workspace answers so for our own quotas. A system's quota ends a run as well.
            Errno::DQUOT => Self::End(ProgramExit::Limit(ExceededLimit::Disk)),
            error => Self::Errno(errno::of(error)),
        }
    }
}

impl From<std::io::Error> for CallError {
    fn from(error: std::io::Error) -> Self {
        Self::from(Errno::from_io_error(&error).unwrap_or(Errno::IO))
    }
}

impl From<wasmtime::Error> for CallError {
    fn from(error: wasmtime::Error) -> Self {
        Self::Broken(error)
    }
}
