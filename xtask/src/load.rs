//! A slow and busy machine, for tests that must not depend on a fast and quiet one: this process
//! and all that it starts share one core with loops that do nothing else.

use std::process::{self as this, Child, Command, Stdio};
use std::thread;

use crate::failure::TaskError;
use crate::process;

/// The core that everything shares.
const CORE: &str = "0";
/// The number of loops that run beside the tests.
const LOOPS: usize = 4;
/// A loop that nobody ends ends after so many seconds.
const MOST_SECONDS: &str = "10800";

/// The load, which ends when it is dropped.
pub(crate) struct CpuLoad {
    loops: Vec<Child>,
    /// The number of cores that this process had before.
    cores: usize,
}

impl CpuLoad {
    /// Binds this process to the core and starts the loops there.
    ///
    /// # Errors
    /// When a program for that is missing, as on anything but Linux.
    pub(crate) fn start() -> Result<Self, TaskError> {
        // Counts the cores that this process is bound to, so before it is bound to one.
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let mut load = Self { loops: Vec::new(), cores };
        bind_to(CORE)?;
        for _ in 0..LOOPS {
            let mut busy = Command::new("timeout");
            busy.args([MOST_SECONDS, "sh", "-c", "while :; do :; done"]).stdin(Stdio::null());
            let started = busy.spawn().map_err(|error| {
                TaskError(format!("`{}` cannot be started: {error}", process::line(&busy)))
            })?;
            load.loops.push(started);
        }
        println!("on core {CORE}, beside {LOOPS} busy loops");
        Ok(load)
    }
}

impl Drop for CpuLoad {
    fn drop(&mut self) {
        for child in &mut self.loops {
            // `timeout` passes the signal on to its loop.
            let mut kill = Command::new("kill");
            let _ended = process::run(kill.arg(child.id().to_string())).map(|()| child.wait());
        }
        let _unbound = bind_to(&format!("0-{}", self.cores.saturating_sub(1)));
    }
}

/// Binds this process, and what it starts from now on, to a list of cores.
fn bind_to(cores: &str) -> Result<(), TaskError> {
    let id = this::id().to_string();
    process::capture(Command::new("taskset").args(["--pid", "--cpu-list", cores, &id]))
        .map(drop)
        .map_err(|TaskError(reason)| TaskError(format!("{reason}; taskset comes with util-linux")))
}
