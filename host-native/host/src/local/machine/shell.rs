//! The machine's shell: which one it is, the script that it is given, and the current folder of
//! each agent. Every command is a shell of its own; what one agent's shell would keep between
//! commands is only this folder.

use innerloop_core::id::AgentId;
use innerloop_workspace::private_files;
use rustix::{
    fs::{Mode, OFlags, open},
    process::{Pid, test_kill_process},
};
use std::{
    collections::BTreeMap,
    env,
    ffi::{OsStr, OsString},
    fs,
    io::{self, Read as _},
    os::unix::{
        ffi::{OsStrExt as _, OsStringExt as _},
        fs::DirBuilderExt as _,
    },
    path::{Path, PathBuf},
    process,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// The search path for programs if the environment names none.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The beginning of the names of folders in which shells note their current folder.
const PREFIX: &str = "innerloop-shell-";

/// The number of bytes of a note that are read; a path that is longer has lost its line break and
/// does not count.
const LONGEST: u64 = 4097;

/// Returns where a program of that name is installed, by `PATH`.
pub(super) fn installed(name: &str) -> Option<PathBuf> {
    let places = env::var_os("PATH").unwrap_or_else(|| PATH.into());
    let mut programs = env::split_paths(&places).map(|place| place.join(name));
    // A relative entry of `PATH` would find programs in the workspace, which the agent can write.
    programs.find(|path| path.is_absolute() && path.is_file())
}

/// The shell of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shell {
    pub(super) name: &'static str,
    pub(super) path: PathBuf,
}

impl Shell {
    /// Returns `bash` if there is one, else `sh`.
    pub(super) fn find() -> Self {
        let usual = || Some(PathBuf::from("/bin/bash")).filter(|path| path.is_file());
        if let Some(path) = installed("bash").or_else(usual) {
            return Self { name: "bash", path };
        }
        Self { name: "sh", path: installed("sh").unwrap_or_else(|| PathBuf::from("/bin/sh")) }
    }

    /// Returns the arguments that start the shell with a script.
    pub(super) fn argv(&self, script: OsString) -> Vec<OsString> {
        // The last one is the shell's own name, with which its error messages begin.
        vec![self.path.clone().into(), "-c".into(), script, self.name.into()]
    }
}

/// The folder in which a command line is carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StartFolder {
    /// The agent's own folder.
    Home,
    /// This folder; if it can't be entered, nothing is carried out.
    There(PathBuf),
    /// This folder, where the last command ended, or the agent's own if it is gone.
    Last(PathBuf),
}

/// Returns the script for a shell that starts in the agent's own folder: it goes to the place, and
/// when it ends it writes its current folder to the file `note`.
pub(super) fn script(command: &str, place: &StartFolder, note: Option<&Path>) -> OsString {
    let mut script = Vec::new();
    match place {
        StartFolder::Home => {}
        StartFolder::There(folder) => {
            script.extend([b"cd -- ", &*quoted(folder.as_os_str()), b" || exit 1; "].concat());
        }
        StartFolder::Last(folder) => {
            let folder = quoted(folder.as_os_str());
            script.extend([b"cd -- ", &*folder, b" 2>/dev/null || echo ", &*folder].concat());
            script.extend(b" 'is gone, and this is carried out in' \"$PWD\" >&2; ");
        }
    }
    if let Some(note) = note {
        // `>|` writes even if the command has set `noclobber`. A trap also runs when the command
        // calls `exit`.
        let noting = [b"{ pwd -P >|", &*quoted(note.as_os_str()), b"; } 2>/dev/null"].concat();
        script.extend([b"trap ", &*quoted(OsStr::from_bytes(&noting)), b" EXIT; "].concat());
    }
    // On the same line, so that the line numbers of error messages are those of the command.
    script.extend(command.as_bytes());
    OsString::from_vec(script)
}

/// Returns a text as one word of a script.
fn quoted(text: &OsStr) -> Vec<u8> {
    let mut quoted = vec![b'\''];
    for byte in text.as_bytes() {
        match byte {
            b'\'' => quoted.extend(b"'\\''"),
            byte => quoted.push(*byte),
        }
    }
    quoted.push(b'\'');
    quoted
}

/// The current folders of the agents' shells, and the folder in which the shells note them.
#[derive(Debug)]
pub(super) struct ShellFolders {
    last: Mutex<BTreeMap<AgentId, PathBuf>>,
    folder: PathBuf,
    count: AtomicU64,
}

impl ShellFolders {
    /// Creates the folder for notes.
    ///
    /// # Errors
    /// The folder can't be created.
    pub(super) fn new() -> io::Result<Self> {
        let parent = env::temp_dir();
        sweep(&parent);
        // Temporary folders are shared: with a name that could be guessed, another user could
        // create the folder first.
        let random = u64::from_ne_bytes(private_files::random()?);
        let folder = parent.join(format!("{PREFIX}{}-{random:016x}", process::id()));
        fs::DirBuilder::new().mode(0o700).create(&folder)?;
        Ok(Self { last: Mutex::default(), folder, count: AtomicU64::new(0) })
    }

    /// Creates an empty file for a shell's note.
    pub(super) fn note(&self) -> io::Result<FolderNote> {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.join(number.to_string());
        // It is there before the command, since bubblewrap can only show files that exist.
        fs::File::create_new(&path)?;
        Ok(FolderNote(path))
    }

    /// Returns the current folder of an agent's shell, if it has moved.
    pub(super) fn last(&self, agent: AgentId) -> Option<PathBuf> {
        self.all().get(&agent).cloned()
    }

    /// Remembers where an agent's shell has ended, if it noted that.
    pub(super) fn set(&self, agent: AgentId, note: &FolderNote) {
        if let Some(folder) = note.read() {
            self.all().insert(agent, folder);
        }
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<AgentId, PathBuf>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ShellFolders {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Removes the folders of programs that were killed.
fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let rest = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let id = rest.and_then(|rest| rest.split_once('-')?.0.parse().ok());
        // Any other answer, such as that the process is another user's, means that it runs.
        let is_gone = |id| test_kill_process(id) == Err(rustix::io::Errno::SRCH);
        if id.and_then(Pid::from_raw).is_some_and(is_gone) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// A file to which a shell writes its current folder when it ends.
#[derive(Debug)]
pub(super) struct FolderNote(PathBuf);

impl FolderNote {
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    fn read(&self) -> Option<PathBuf> {
        // The command can have put anything in its place, such as a link to a secret or a pipe that
        // blocks.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = fs::File::from(open(&self.0, flags, Mode::empty()).ok()?);
        file.metadata().ok().filter(fs::Metadata::is_file)?;
        let mut text = Vec::new();
        file.take(LONGEST).read_to_end(&mut text).ok()?;
        // A folder's name may end with a line break, so only the one that `pwd` adds is removed.
        text.pop_if(|last| *last == b'\n')?;
        Some(PathBuf::from(OsString::from_vec(text))).filter(|path| path.is_absolute())
    }
}

impl Drop for FolderNote {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c11_a_script_goes_to_its_place_and_notes_where_it_ends() {
        let path = |text: &str| PathBuf::from(text);
        let note = path("/tmp/it's/0");
        for (place, note, expected) in [
            (StartFolder::Home, None, "ls"),
            (StartFolder::There(path("/a'b")), None, r"cd -- '/a'\''b' || exit 1; ls"),
            (
                StartFolder::Last(path("/a")),
                None,
                "cd -- '/a' 2>/dev/null || \
                 echo '/a' 'is gone, and this is carried out in' \"$PWD\" >&2; ls",
            ),
            (
                StartFolder::Home,
                Some(note.as_path()),
                r"trap '{ pwd -P >|'\''/tmp/it'\''\'\'''\''s/0'\''; } 2>/dev/null' EXIT; ls",
            ),
        ] {
            assert_eq!(script("ls", &place, note), expected);
        }
    }
}
