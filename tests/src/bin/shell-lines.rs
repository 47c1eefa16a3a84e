//! Asks this machine's bash and GNU tools for the answers in `fixtures/shell/lines.json`, and
//! writes them there: `shell-lines`. A new line needs `name` and `line` there before; what it
//! prints may depend on neither the clock nor the machine. `LC_ALL` is `C` and `TZ` is `UTC`.

use innerloop_tests::shell_lines::{Line, Lines};
use std::{
    io,
    process::{Command, ExitCode, Stdio},
};
use tempfile::TempDir;

fn main() -> ExitCode {
    match answer() {
        Ok(count) => {
            println!("{count} lines");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn answer() -> io::Result<usize> {
    let mut all = Lines::read();
    let mut answered = Vec::new();
    for line in &all.lines {
        let (first, second) = (ask(&all, line)?, ask(&all, line)?);
        let said = |line: &Line| (line.stdout.clone(), line.stderr.clone(), line.status);
        if said(&first) != said(&second) {
            return Err(io::Error::other(format!("{} is not always the same", line.name)));
        }
        answered.push(first);
    }
    all.lines = answered;
    all.write()?;
    Ok(all.lines.len())
}

/// The line with bash's answer.
fn ask(all: &Lines, line: &Line) -> io::Result<Line> {
    let folder = TempDir::new()?;
    all.put(folder.path())?;
    let mut bash = Command::new("timeout");
    bash.args(["10", "bash", "-c", &line.line]).current_dir(folder.path()).env_clear();
    bash.envs([("PATH", "/usr/bin:/bin"), ("LC_ALL", "C"), ("TZ", "UTC")]);
    let output = bash.env("HOME", folder.path()).stdin(Stdio::null()).output()?;
    let text = |bytes: Vec<u8>| {
        String::from_utf8(bytes)
            .map_err(|_| io::Error::other(format!("{} does not print text", line.name)))
    };
    let (stdout, stderr) = (text(output.stdout)?, text(output.stderr)?);
    let root = folder.path().to_string_lossy();
    if stdout.contains(&*root) || stderr.contains(&*root) {
        return Err(io::Error::other(format!("{} prints where it runs", line.name)));
    }
    let status = output.status.code().unwrap_or(-1);
    Ok(Line {
        stdout,
        stderr: stderr.replace("bash: -c: line", "bash: line"),
        status,
        ..line.clone()
    })
}
