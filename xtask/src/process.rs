//! Starting other programs: with their output passing through, captured, or quietly within a time
//! limit. What they are told is decided elsewhere.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::TaskError;

/// Runs a program to its end; what it prints passes through.
///
/// # Errors
/// When it cannot be started or its exit code is not 0.
pub(crate) fn run(command: &mut Command) -> Result<(), TaskError> {
    match exit_code(command)? {
        0 => Ok(()),
        code => Err(TaskError(format!("`{}` ended with exit code {code}", line(command)))),
    }
}

/// A program that runs beside other steps. It ends with this one.
pub(crate) struct BackgroundProcess {
    child: Child,
    line: String,
    /// The file that its output goes to until somebody waits for it.
    log: PathBuf,
}

impl BackgroundProcess {
    /// Starts a program; what it prints goes to the file `log`.
    ///
    /// # Errors
    /// When it cannot be started or the file cannot be written.
    pub(crate) fn start(command: &mut Command, log: PathBuf) -> Result<Self, TaskError> {
        let unwritable = |error| TaskError(format!("cannot write {}: {error}", log.display()));
        let out = File::create(&log).map_err(unwritable)?;
        let both = out.try_clone().map_err(unwritable)?;
        command.stdout(Stdio::from(out)).stderr(Stdio::from(both));
        let child = command.spawn().map_err(|error| not_started(command, &error))?;
        Ok(Self { child, line: line(command), log })
    }

    /// Waits for its end and shows what it printed.
    ///
    /// # Errors
    /// When its exit code is not 0.
    pub(crate) fn finish(mut self) -> Result<(), TaskError> {
        let lost = |error| TaskError(format!("`{}` is lost: {error}", self.line));
        let status = self.child.wait().map_err(lost)?;
        print!("{}", fs::read_to_string(&self.log).map_err(lost)?);
        if status.success() {
            return Ok(());
        }
        Err(TaskError(format!("`{}` ended with {status}", self.line)))
    }
}

impl Drop for BackgroundProcess {
    fn drop(&mut self) {
        // It has ended already, unless a step in between has failed.
        let _ended = self.child.kill().and_then(|()| self.child.wait());
    }
}

/// Runs a program to its end and gives its exit code; what it prints passes through.
///
/// # Errors
/// When it cannot be started or a signal ended it.
pub(crate) fn exit_code(command: &mut Command) -> Result<i32, TaskError> {
    let status = command.status().map_err(|error| not_started(command, &error))?;
    status.code().ok_or_else(|| ended_by_signal(command))
}

/// Runs a program and gives what it wrote to standard output, without the last line break.
///
/// # Errors
/// When it cannot be started or its exit code is not 0; the reason carries its standard error.
pub(crate) fn capture(command: &mut Command) -> Result<String, TaskError> {
    let output = command.output().map_err(|error| not_started(command, &error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(TaskError(format!("`{}` failed: {said}", line(command))))
}

/// Runs a program to its end and gives its exit code and its standard output; what it writes to
/// standard error passes through.
///
/// # Errors
/// When it cannot be started or a signal ended it.
pub(crate) fn exit_code_and_output(command: &mut Command) -> Result<(i32, String), TaskError> {
    let output =
        command.stderr(Stdio::inherit()).output().map_err(|error| not_started(command, &error))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let code = output.status.code().ok_or_else(|| ended_by_signal(command))?;
    Ok((code, printed))
}

/// Returns whether a program ends with exit code 0 within the limit; what it prints is dropped.
pub(crate) fn succeeds_within(command: &mut Command, limit: Duration) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = quiet.spawn() else { return false };
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if start.elapsed() < limit => thread::sleep(Duration::from_millis(50)),
            _ => break,
        }
    }
    // A child that has already ended cannot be killed; the answer is no either way.
    let _ = child.kill();
    let _ = child.wait();
    false
}

/// The command line as one would type it, environment left out.
pub(crate) fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(word).collect::<Vec<_>>().join(" ")
}

/// The same with the variables that it is given before it, for those who would do it again.
pub(crate) fn line_with_environment(command: &Command) -> String {
    let given = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
    let set = given.map(|(name, value)| format!("{}={} ", name.to_string_lossy(), word(value)));
    set.chain([line(command)]).collect()
}

/// Returns where a program lies on PATH.
pub(crate) fn on_path(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(program)).find(|file| is_program(file))
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

fn word(word: &OsStr) -> String {
    let text = word.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:@+,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.into_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

fn ended_by_signal(command: &Command) -> TaskError {
    TaskError(format!("`{}` was ended by a signal", line(command)))
}

fn not_started(command: &Command, error: &std::io::Error) -> TaskError {
    TaskError(format!("cannot start `{}`: {error}", line(command)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_can_be_typed_as_it_is_shown() {
        let mut command = Command::new("innerloop");
        command.args(["tool", r#"{"a":"it's"}"#, "--workspace", "/tmp/a-b", ""]);
        assert_eq!(line(&command), r#"innerloop tool '{"a":"it'\''s"}' --workspace /tmp/a-b ''"#);
        let mut command = Command::new("env");
        command.env("A", "b c").env_remove("PATH");
        assert_eq!(line_with_environment(&command), "A='b c' env");
    }

    #[test]
    fn a_program_that_hangs_is_ended_at_its_limit() {
        // Waited for, it would succeed.
        assert!(!succeeds_within(Command::new("sleep").arg("60"), Duration::from_millis(100)));
        assert!(succeeds_within(&mut Command::new("true"), Duration::from_secs(300)));
    }
}
