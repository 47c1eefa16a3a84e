//! The processes of one command: how they are started, asked to end, and killed. They are a group
//! of their own, so that one signal reaches all of them. A thread starts them and waits for them:
//! bubblewrap's tie to its parent is one to the thread that started it.

use super::variables::EnvironmentVariables;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid,
};
use std::{
    ffi::OsString,
    io,
    os::{fd::OwnedFd, unix::process::CommandExt as _},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
};
use tokio::sync::oneshot;

/// The script of the guard, which holds a group's id and kills the group when this program is gone,
/// however that ended: then the pipe that the script reads from has no other end.
// It ignores the signals that the group is sent, since it has to outlive the command. `kill 0`
// means the group of the caller.
const GUARD: &str = "trap '' HUP INT QUIT TERM USR1 USR2 PIPE ALRM TSTP TTIN TTOU\n\
                     read -r _\nkill -KILL 0";

/// The process to start.
#[derive(Debug)]
pub(super) struct ProcessSpec {
    /// The program and its arguments.
    pub(super) argv: Vec<OsString>,
    pub(super) variables: EnvironmentVariables,
    /// The folder that it starts in.
    pub(super) folder: PathBuf,
    /// True if the program is bubblewrap, which kills what it runs when it ends.
    pub(super) is_jail: bool,
    /// True if something is written to its standard input.
    pub(super) has_input: bool,
}

/// The processes of a command that runs, and its pipes.
#[derive(Debug)]
pub(super) struct SpawnedProcess {
    pub(super) leash: ProcessGuard,
    /// The exit code, sent when the command's own process has ended: 128 and the signal where one
    /// ended it.
    pub(super) exit: oneshot::Receiver<i32>,
    pub(super) stdin: Option<OwnedFd>,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

/// Starts the processes.
///
/// # Errors
/// The reason why they can't be started.
pub(super) async fn start(plan: ProcessSpec) -> io::Result<SpawnedProcess> {
    let (tell, told) = oneshot::channel();
    let thread = thread::Builder::new().name("command".to_owned());
    thread.spawn(move || run(&plan, tell))?;
    told.await.map_err(io::Error::other)?
}

/// The guard of the processes. When it is dropped, it kills those that are left.
#[derive(Debug)]
pub(super) struct ProcessGuard {
    group: Pid,
    is_jail: bool,
    /// The sender whose drop lets the thread reap the ended processes. Until then their ids can't
    /// be given to other processes, and a signal reaches nobody else.
    _held: mpsc::Sender<()>,
}

impl ProcessGuard {
    /// Asks all of them to end.
    pub(super) fn ask(&self) {
        let asked = if self.is_jail { inside(self.group) } else { Some(self.group) };
        // The signal goes to what runs inside: if bubblewrap itself ended, the kernel would kill
        // the rest at once.
        let Some(group) = asked else { return };
        // A stopped process handles the request only when it goes on.
        for signal in [Signal::TERM, Signal::CONT] {
            let _ = kill_process_group(group, signal);
        }
    }

    /// Kills all of them at once.
    pub(super) fn end(&self) {
        let _ = kill_process_group(self.group, Signal::KILL);
    }
}

impl Drop for ProcessGuard {
    fn drop(&mut self) {
        self.end();
    }
}

/// Starts the processes, and waits for their end and for the drop of their guard.
fn run(plan: &ProcessSpec, tell: oneshot::Sender<io::Result<SpawnedProcess>>) {
    let (mut child, guard) = match spawn(plan) {
        Ok(spawned) => spawned,
        Err(error) => return drop(tell.send(Err(error))),
    };
    let own = Pid::from_child(&child);
    let group = guard.as_ref().map_or(own, Pid::from_child);
    let (held, released) = mpsc::channel();
    let (tell_exit, exit) = oneshot::channel();
    let leash = ProcessGuard { group, is_jail: plan.is_jail, _held: held };
    let stdin = child.stdin.take().map(OwnedFd::from);
    if let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) {
        let (stdout, stderr) = (stdout.into(), stderr.into());
        let _ = tell.send(Ok(SpawnedProcess { leash, exit, stdin, stdout, stderr }));
    }
    let _ = tell_exit.send(ended(own));
    // Nothing is ever sent; the wait ends when the guard is dropped. Only then are the processes
    // reaped.
    let _ = released.recv();
    let _ = child.wait();
    let _ = guard.map(end);
}

/// Starts the command's own process, and the guard of its group unless bubblewrap does that job.
fn spawn(plan: &ProcessSpec) -> io::Result<(Child, Option<Child>)> {
    if plan.is_jail {
        return Ok((command(plan, None).spawn()?, None));
    }
    // The guard comes first: its id is the group's, which the command joins when it starts.
    let guard = guard()?;
    match command(plan, Some(Pid::from_child(&guard))).spawn() {
        Ok(child) => Ok((child, Some(guard))),
        Err(error) => {
            let _ = end(guard);
            Err(error)
        }
    }
}

/// Starts the process that holds the group's id.
fn guard() -> io::Result<Child> {
    Command::new("/bin/sh")
        .args(["-c", GUARD])
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
}

/// Kills the guard and what is left of its group.
fn end(mut guard: Child) -> io::Result<()> {
    kill_process_group(Pid::from_child(&guard), Signal::KILL)?;
    guard.wait().map(drop)
}

fn command(plan: &ProcessSpec, group: Option<Pid>) -> Command {
    let mut argv = plan.argv.iter();
    let mut command = Command::new(argv.next().cloned().unwrap_or_default());
    command
        .args(argv)
        .env_clear()
        .envs(&plan.variables)
        .current_dir(&plan.folder)
        .stdin(if plan.has_input { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(group.map_or(0, Pid::as_raw_pid));
    command
}

/// Waits for the end of a child without reaping it.
fn ended(child: Pid) -> i32 {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    loop {
        match waitid(WaitId::Pid(child), options) {
            Ok(Some(status)) => return code(&status),
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return -1,
        }
    }
}

/// Returns the exit code as a shell shows it.
fn code(status: &WaitIdStatus) -> i32 {
    let signal = status.terminating_signal().map(|signal| 128 + signal);
    status.exit_status().or(signal).unwrap_or(-1)
}

/// Returns the group of what runs inside of bubblewrap: its one child has begun a session there.
fn inside(jail: Pid) -> Option<Pid> {
    let processes = std::fs::read_dir("/proc").ok()?;
    let ids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let parent = jail.as_raw_pid();
    ids.filter(|id| parent_of(*id) == Some(parent)).find_map(Pid::from_raw)
}

/// The parent of a process.
fn parent_of(id: i32) -> Option<i32> {
    let status = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name stands in brackets and may hold anything, also brackets and spaces; behind the last
    // one come the state and the parent.
    let (_, rest) = status.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}
