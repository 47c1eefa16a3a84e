//! What the packages of the program hold: the stripped program, the licences, and what the program
//! prints of itself, as a folder and as an archive.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::TaskError;
use crate::workspace::Workspace;
use crate::{files, licences, process};

/// The version of all packages of the workspace.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The texts that a package holds besides the program and what the program prints itself.
pub(crate) const TEXTS: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "README.md"];
/// The shells whose completions the program prints, and what the files are called.
const SHELLS: [(&str, &str); 3] =
    [("bash", "innerloop"), ("zsh", "_innerloop"), ("fish", "innerloop.fish")];

/// The profile with which the packed program was built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BuildProfile {
    /// As people get it.
    Release,
    /// As the tests have it, packed in haste.
    Dev,
}

/// The program with all that goes with it, as files of a folder of its own.
pub(crate) struct PackageTree {
    pub(crate) root: PathBuf,
    profile: BuildProfile,
    /// Of the commit, in seconds since 1970.
    pub(crate) time: String,
}

/// The name of the archive and of the folder in it, without an ending.
pub(crate) fn name() -> String {
    format!("innerloop-{VERSION}-{}-{}", env::consts::ARCH, env::consts::OS)
}

impl PackageTree {
    /// Puts the stripped program, the texts, and what the program prints into a folder.
    ///
    /// # Errors
    /// When a file is missing or cannot be written, or the program does not print it.
    pub(crate) fn gather(
        workspace: &Workspace,
        profile: BuildProfile,
        root: &Path,
    ) -> Result<Self, TaskError> {
        let time = time(workspace)?;
        let tree = Self { root: root.to_owned(), profile, time };
        files::create_folder(root)?;
        let built = match profile {
            BuildProfile::Release => workspace.release(),
            BuildProfile::Dev => workspace.debug(),
        };
        let program = tree.program();
        let mut strip = Command::new("strip");
        process::run(strip.arg("-o").arg(&program).arg(built.join("innerloop")))?;
        for text in TEXTS {
            files::copy_if_changed(&workspace.path(text), &root.join(text))?;
        }
        let notices = licences::collect(workspace)?;
        files::write_if_changed(&root.join(licences::FILE), notices.as_bytes())?;
        if tree.knows("man") {
            files::create_folder(&tree.manual())?;
            process::run(Command::new(&program).arg("man").arg(tree.manual()))?;
        }
        if tree.knows("completions") {
            for (shell, file) in SHELLS {
                let text = process::capture(Command::new(&program).args(["completions", shell]))?;
                files::write_if_changed(&tree.completion(file), format!("{text}\n").as_bytes())?;
            }
        }
        files::set_modes(root, &|path| path == program)?;
        Ok(tree)
    }

    /// Returns whether the program has the command.
    fn knows(&self, command: &str) -> bool {
        let mut help = Command::new(self.program());
        process::capture(help.args(["help", command])).is_ok()
    }

    pub(crate) fn program(&self) -> PathBuf {
        self.root.join("innerloop")
    }

    /// The folder of the manual's pages; it is not there if the program prints none.
    pub(crate) fn manual(&self) -> PathBuf {
        self.root.join("man")
    }

    /// The file of a shell's completions, which may not be there.
    pub(crate) fn completion(&self, file: &str) -> PathBuf {
        self.root.join("completions").join(file)
    }

    /// Returns how hard is compressed: from 1 to 9.
    pub(crate) const fn effort(&self) -> &'static str {
        match self.profile {
            BuildProfile::Release => "9",
            BuildProfile::Dev => "1",
        }
    }

    /// Packs the folder as an archive, and says what that is called.
    ///
    /// # Errors
    /// When `tar` or `gzip` fails.
    pub(crate) fn archive(&self, into: &Path) -> Result<String, TaskError> {
        let (name, tar) = (name(), into.join("archive.tar"));
        let mut command = Command::new("tar");
        command.args(["--create", "--format=ustar", "--sort=name", "--owner=0", "--group=0"]);
        command.args(["--numeric-owner", &format!("--mtime=@{}", self.time)]);
        command.arg(format!("--transform=s,^\\.,{name},")).arg("--file").arg(&tar);
        process::run(command.arg("--directory").arg(&self.root).arg("."))?;
        let mut gzip = Command::new("gzip");
        process::run(gzip.args(["--no-name", &format!("-{}", self.effort())]).arg(&tar))?;
        let file = format!("{name}.tar.gz");
        files::rename(&into.join("archive.tar.gz"), &into.join(&file))?;
        Ok(file)
    }
}

/// The time of the packed files: that of the commit, or `SOURCE_DATE_EPOCH`.
fn time(workspace: &Workspace) -> Result<String, TaskError> {
    if let Ok(time) = env::var("SOURCE_DATE_EPOCH") {
        return Ok(time);
    }
    let mut git = workspace.program("git", "");
    process::capture(git.args(["log", "-1", "--format=%ct"])).map_err(|TaskError(reason)| {
        let advice = "set SOURCE_DATE_EPOCH to the seconds since 1970";
        TaskError(format!("cannot tell the time of the sources: {reason}; {advice}"))
    })
}

/// Checks that a program says its version.
pub(crate) fn runs(program: &Path) -> Result<(), TaskError> {
    let said = process::capture(Command::new(program).arg("--version"))?;
    match said == format!("innerloop {VERSION}") {
        true => Ok(()),
        false => Err(TaskError(format!("{} is {said}, not {VERSION}", program.display()))),
    }
}

/// Returns how many bytes the files of a folder have together.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn size(folder: &Path) -> Result<u64, TaskError> {
    let unreadable = |error| TaskError(format!("cannot read {}: {error}", folder.display()));
    let mut size = 0;
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let found = entry.metadata().map_err(unreadable)?;
        size += if found.is_dir() { self::size(&entry.path())? } else { found.len() };
    }
    Ok(size)
}
