//! The machine's shell: which one it is, what it is given to carry out, and in which folder each
//! agent's stands.

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

/// So many bytes of a note are read; a path that does not end by then has no line break.
const LONGEST: u64 = 4097;

/// Returns where a program of that name is installed.
pub(super) fn installed(name: &str) -> Option<PathBuf> {
    let places = env::var_os("PATH").unwrap_or_else(|| PATH.into());
    let mut programs = env::split_paths(&places).map(|place| place.join(name));
    programs.find(|path| path.is_absolute() && path.is_file())
}

/// The shell of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shell {
    pub(super) name: &'static str,
    pub(super) path: PathBuf,
}

impl Shell {
    /// `bash` where there is one, else `sh`.
    pub(super) fn find() -> Self {
        let usual = || Some(PathBuf::from("/bin/bash")).filter(|path| path.is_file());
        if let Some(path) = installed("bash").or_else(usual) {
            return Self { name: "bash", path };
        }
        Self { name: "sh", path: installed("sh").unwrap_or_else(|| PathBuf::from("/bin/sh")) }
    }

    /// Returns what is started to carry out a script.
    pub(super) fn argv(&self, script: OsString) -> Vec<OsString> {
        // The last is its own name, with which its complaints begin.
        vec![self.path.clone().into(), "-c".into(), script, self.name.into()]
    }
}

/// The folder in which a command line is carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StartFolder {
    /// In the agent's own folder.
    Home,
    /// In this folder, or not at all.
    There(PathBuf),
    /// In this folder, where the last one has ended; or in the agent's own if it is gone.
    Last(PathBuf),
}

/// Returns what a shell that starts in the agent's own folder is to carry out: it goes to the
/// place, and when it ends it writes to the file `note` where it stands.
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
        let noting = [b"{ pwd -P >|", &*quoted(note.as_os_str()), b"; } 2>/dev/null"].concat();
        script.extend([b"trap ", &*quoted(OsStr::from_bytes(&noting)), b" EXIT; "].concat());
    }
    // On the same line, so that complaints name the lines of the command.
    script.extend(command.as_bytes());
    OsString::from_vec(script)
}

/// A text as one word of a script.
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
    /// # Errors
    /// Why there is no room for notes.
    pub(super) fn new() -> io::Result<Self> {
        let parent = env::temp_dir();
        sweep(&parent);
        let random = u64::from_ne_bytes(private_files::random()?);
        let folder = parent.join(format!("{PREFIX}{}-{random:016x}", process::id()));
        fs::DirBuilder::new().mode(0o700).create(&folder)?;
        Ok(Self { last: Mutex::default(), folder, count: AtomicU64::new(0) })
    }

    /// An empty file for a shell's note.
    pub(super) fn note(&self) -> io::Result<FolderNote> {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.join(number.to_string());
        fs::File::create_new(&path)?;
        Ok(FolderNote(path))
    }

    /// Returns where an agent's shell stands, if it is not where it began.
    pub(super) fn last(&self, agent: AgentId) -> Option<PathBuf> {
        self.all().get(&agent).cloned()
    }

    /// Remembers where an agent's shell has ended, if it has noted that.
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

/// Removes the folders of programs that are gone.
fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let rest = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let id = rest.and_then(|rest| rest.split_once('-')?.0.parse().ok());
        let is_gone = |id| test_kill_process(id) == Err(rustix::io::Errno::SRCH);
        if id.and_then(Pid::from_raw).is_some_and(is_gone) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// A file in which a shell notes where it stands when it ends.
#[derive(Debug)]
pub(super) struct FolderNote(PathBuf);

impl FolderNote {
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    fn read(&self) -> Option<PathBuf> {
        // The command can have put anything in its place.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = fs::File::from(open(&self.0, flags, Mode::empty()).ok()?);
        file.metadata().ok().filter(fs::Metadata::is_file)?;
        let mut text = Vec::new();
        file.take(LONGEST).read_to_end(&mut text).ok()?;
        // A name may end with a line break, but one more follows.
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
