//! The program `innerloop` as a child process: the real binary that the same build made, with
//! an environment of its own.

use crate::patience::PATIENCE;
pub use crate::patience::wait_for;
use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, OnceLock, PoisonError},
    thread,
    time::{Duration, Instant, SystemTime},
};

/// The key that tests use, long enough to be searched for.
pub const KEY: &str = "sk-ant-test-0123456789abcdef";

/// The repository's root.
#[must_use]
pub fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().expect("the repository").to_owned()
}

/// The binary that stands beside this test's own.
///
/// # Panics
/// There is none, or it is older than its sources.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        let own = std::env::current_exe().expect("the path of this test");
        let folders = own.ancestors().skip(1).take(2);
        let name = format!("innerloop{}", std::env::consts::EXE_SUFFIX);
        let found = folders.map(|folder| folder.join(&name)).find(|path| path.is_file());
        let how = "build it with `cargo build`, or run `cargo xtask prepare`";
        let binary = found.unwrap_or_else(|| panic!("there is no program innerloop: {how}"));
        let built = modified(&binary);
        for part in ["core", "driver/src", "host-native"] {
            let newest = newest_source(&repository().join(part));
            assert!(newest <= built, "{} is older than its sources: {how}", binary.display());
        }
        binary
    })
}

fn modified(path: &Path) -> SystemTime {
    let metadata = fs::metadata(path).expect("a readable file");
    metadata.modified().expect("a file system with times")
}

fn newest_source(folder: &Path) -> SystemTime {
    let entries = fs::read_dir(folder).expect("a readable folder");
    let times = entries.map(|entry| {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() { newest_source(&path) } else { modified(&path) }
    });
    times.max().unwrap_or(SystemTime::UNIX_EPOCH)
}

/// What a run of the program gave.
#[derive(Clone, Debug)]
pub struct Run {
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Run {
    /// What a terminal has shown, without the breaks of the program's own lines, which go on behind
    /// two blanks.
    #[must_use]
    pub fn unwrapped(&self) -> String {
        self.stdout.replace("\r\n  ", " ")
    }

    /// The same run, if it ended with that exit code.
    ///
    /// # Panics
    /// It did not, or it panicked.
    #[must_use]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        assert!(!self.stderr.contains("panicked"), "{self:#?}");
        self
    }

    /// The lines on standard output, each one JSON value.
    ///
    /// # Panics
    /// One is no JSON.
    #[must_use]
    pub fn json_lines(&self) -> Vec<serde_json::Value> {
        let lines = self.stdout.lines();
        lines.map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
    }

    /// The one line on standard error that says what went wrong.
    ///
    /// # Panics
    /// There is none, or more than one.
    #[must_use]
    pub fn complaint(&self) -> &str {
        let lines = self.stderr.lines().filter(|line| line.starts_with("innerloop: "));
        let lines: Vec<&str> = lines.collect();
        let [line] = lines.as_slice() else { panic!("not one complaint: {self:#?}") };
        line
    }
}

/// The program, ready to be started: with a key, without colour, with a cache of compiled
/// modules that all tests share.
#[must_use]
pub fn innerloop<S: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(binary());
    let cache = binary().with_file_name("innerloop-test-cache");
    command.args(args).env_clear().env("ANTHROPIC_API_KEY", KEY);
    command.env("INNERLOOP_CACHE_DIR", cache).env("RUST_BACKTRACE", "1");
    // Nobody's own settings, keys and sessions.
    let nobody = binary().with_file_name("innerloop-test-nobody");
    for variable in ["XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
        command.env(variable, &nobody);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A started program whose output is read as it comes.
#[derive(Debug)]
pub struct Started {
    process: Child,
    stdout: Gathered,
    stderr: Gathered,
}

type Gathered = Arc<Mutex<Vec<u8>>>;

impl Started {
    /// Starts `command` and gives it `stdin`.
    ///
    /// # Panics
    /// It cannot be started.
    #[must_use]
    pub fn new(command: &mut Command, stdin: &[u8]) -> Self {
        Self::reading(command, io::Cursor::new(stdin.to_vec()))
    }

    /// Starts `command`, which is given as it comes what `stdin` has.
    ///
    /// # Panics
    /// It cannot be started.
    #[must_use]
    pub fn reading(command: &mut Command, mut stdin: impl Read + Send + 'static) -> Self {
        let mut process = command.stdin(Stdio::piped()).spawn().expect("the program starts");
        let mut pipe = process.stdin.take().expect("a pipe");
        // The program may end without having read everything.
        thread::spawn(move || drop(io::copy(&mut stdin, &mut pipe)));
        let stdout = process.stdout.take().map(gather).unwrap_or_default();
        let stderr = process.stderr.take().map(gather).unwrap_or_default();
        Self { process, stdout, stderr }
    }

    /// What it has written to standard output and to standard error so far.
    #[must_use]
    pub fn said(&self) -> String {
        text(&self.stdout) + &text(&self.stderr)
    }

    /// The bytes of memory that it has in use.
    ///
    /// # Panics
    /// The system does not tell.
    #[cfg(target_os = "linux")]
    #[must_use]
    pub fn memory(&self) -> u64 {
        let status = format!("/proc/{}/status", self.process.id());
        let status = fs::read_to_string(status).expect("a running program");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        kilobytes.expect("its memory") * 1024
    }

    /// Sends it what Ctrl-C sends.
    ///
    /// # Panics
    /// The signal cannot be sent.
    pub fn interrupt(&self) {
        self.signal("INT");
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// It hangs.
    #[must_use]
    pub fn finish(mut self) -> Run {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.process.try_wait().expect("a child process") {
                break status;
            }
            if begun.elapsed() > PATIENCE {
                self.signal("KILL");
                panic!("the program hangs; so far it said: {}", self.said());
            }
            thread::sleep(Duration::from_millis(5));
        };
        // The readers let go of the output when they have seen its end.
        wait_for("the end of the output", || {
            [&self.stdout, &self.stderr].iter().all(|text| Arc::strong_count(text) == 1)
        });
        Run { code: status.code(), stdout: text(&self.stdout), stderr: text(&self.stderr) }
    }

    /// Sends it the signal of that name, for example `TERM`.
    ///
    /// # Panics
    /// The signal cannot be sent.
    pub fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.process.id());
        let status = Command::new("sh").args(["-c", &kill]).status().expect("a shell");
        assert!(status.success(), "{kill} failed");
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // A test that fails leaves nothing behind; what has ended is no matter.
        drop(self.process.kill());
    }
}

fn gather(mut stream: impl Read + Send + 'static) -> Gathered {
    let gathered = Gathered::default();
    let to = Arc::clone(&gathered);
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            to.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&buffer[..count]);
        }
    });
    gathered
}

fn text(gathered: &Gathered) -> String {
    String::from_utf8_lossy(&gathered.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
}

/// Starts `command`, gives it `stdin` and waits for its end.
#[must_use]
pub fn run_with(command: &mut Command, stdin: &[u8]) -> Run {
    Started::new(command, stdin).finish()
}

/// The same command on a terminal of its own, by `script` of util-linux: what it writes comes on
/// standard output, and its standard input is what somebody types.
#[must_use]
pub fn on_terminal(command: &Command) -> Command {
    let quoted =
        |text: &std::ffi::OsStr| format!("'{}'", text.to_string_lossy().replace('\'', "'\\''"));
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let line: Vec<String> = words.map(quoted).collect();
    let mut terminal = Command::new("script");
    terminal.args(["--quiet", "--return", "--flush", "--command", &line.join(" "), "/dev/null"]);
    terminal.env_clear().env("SHELL", "/bin/sh").env("PATH", "/usr/bin:/bin");
    let set = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
    terminal.envs(set).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(folder) = command.get_current_dir() {
        terminal.current_dir(folder);
    }
    terminal
}

/// Starts `command` without input and waits for its end.
#[must_use]
pub fn run(command: &mut Command) -> Run {
    run_with(command, b"")
}
