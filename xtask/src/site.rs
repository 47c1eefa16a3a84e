//! The playground as static files, as it would be published: the page, built, beside the packed
//! package and not its sources. Serving it is the business of `playground`.

use crate::failure::TaskError;
use crate::files;
use crate::npm;
use crate::process;
use crate::programs;
use crate::steps::{TaskStep, step};
use crate::wasm;
use crate::workspace::Workspace;

/// The page, the unpacked package, the example and the programs.
pub(crate) const SITE: &str = "target/www";
/// The page's sources.
const PAGE: &str = "www";

/// Step: builds the page and puts the site together.
pub(crate) const ASSEMBLE: TaskStep = step("build the playground", assemble);

fn assemble(workspace: &mut Workspace) -> Result<(), TaskError> {
    let site = workspace.path(SITE);
    files::remove_folder(&site)?;
    let package = site.join("innerloop");
    files::create_folder(&package)?;
    let mut tar = workspace.program("tar", "");
    tar.args(["-xz", "--strip-components=1", "-C"]).arg(&package).arg("-f");
    process::run(tar.arg(workspace.path(npm::TARBALL)))?;
    let project = "example/project";
    files::copy_folder(&workspace.path(project), &site.join(project))?;
    files::copy_if_changed(&workspace.path(programs::QJS), &site.join("programs/qjs.wasm"))?;
    let python = site.join("programs/python.wasm.gz");
    files::copy_if_changed(&workspace.path(programs::PYTHON), &python)?;
    files::copy_if_changed(&workspace.path(wasm::SHELL), &site.join("programs/bash.wasm"))?;
    npm::install(workspace, PAGE)?;
    process::run(workspace.program("npm", PAGE).args(["run", "--silent", "check"]))?;
    // Compresses what is there, so that it comes last.
    process::run(workspace.program("node", PAGE).arg("build.mjs").arg(&site))
}
