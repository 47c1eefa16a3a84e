//! The playground as static files, put together as it would be published: from the packed package
//! and not from its sources. Serving it is the business of `playground`.

use crate::failure::Failure;
use crate::files;
use crate::npm;
use crate::process;
use crate::programs;
use crate::wasm;
use crate::workspace::Workspace;

/// The page's own files, the unpacked package, the example and the programs.
pub(crate) const SITE: &str = "target/www";

/// Step: puts the site together.
///
/// # Errors
/// When a part is missing or cannot be copied.
pub(crate) fn assemble(workspace: &mut Workspace) -> Result<(), Failure> {
    let site = workspace.path(SITE);
    files::remove_folder(&site)?;
    files::copy_folder(&workspace.path("www"), &site)?;
    let package = site.join("innerloop");
    files::create_folder(&package)?;
    let mut tar = workspace.program("tar", "");
    tar.args(["-xz", "--strip-components=1", "-C"]).arg(&package).arg("-f");
    process::run(tar.arg(workspace.path(npm::TARBALL)))?;
    files::copy_folder(&workspace.path("example"), &site.join("example"))?;
    files::copy_if_changed(&workspace.path(programs::QJS), &site.join("programs/qjs.wasm"))?;
    let python = site.join("programs/python.wasm.gz");
    files::copy_if_changed(&workspace.path(programs::PYTHON), &python)?;
    files::copy_if_changed(&workspace.path(wasm::SHELL), &site.join("programs/bash.wasm"))?;
    Ok(())
}
