//! Rust front ends with an agent in the page: the example of the crate `innerloop-web`, and the
//! chat on Leptos, built as people build them and driven in Chromium.

use crate::failure::TaskError;
use crate::files;
use crate::machine;
use crate::npm;
use crate::process;
use crate::steps::{TaskStep, test_step};
use crate::toolchain::PAGE;
use crate::wasm;
use crate::wasm_targets;
use crate::web;
use crate::workspace::Workspace;

/// Tests them. It builds what it needs itself.
pub(crate) const FRONT_ENDS: TaskStep = test_step("test the Leptos example in Chromium", run);
/// A workspace of its own.
const CHAT: &str = "examples/rust/leptos-chat";
/// The folder of the built front ends, for the tests.
const BUILT: &str = "target/front-ends";

fn run(workspace: &mut Workspace) -> Result<(), TaskError> {
    if workspace.toolchain.is_none() {
        wasm_targets::find(workspace)?;
    }
    if workspace.chromium.is_none() {
        machine::look_for_chromium(workspace)?;
    }
    println!("the first build takes two minutes");
    let mut script = workspace.cargo_for_front_ends("build", "")?;
    // What both are made of is built once, and quickly.
    for plain in ["profile.dev.package.\"*\".opt-level=0", "profile.dev.debug=false"] {
        script.args(["--config", plain]);
    }
    process::run(script.args(["-p", "innerloop-web", "--example", "from_javascript"]))?;
    // Its lock file knows our crates, too: one that is out of date is to be seen.
    process::run(workspace.cargo_for_front_ends("build", CHAT)?.arg("--locked"))?;
    let built = workspace.wasm_target().join(PAGE).join("debug");
    for (module, name) in
        [("examples/from_javascript.wasm", "from-javascript"), ("leptos-chat.wasm", "leptos-chat")]
    {
        let folder = workspace.path(BUILT).join(name);
        wasm::write_plain_glue(workspace, &built.join(module), &folder)?;
    }
    let page = workspace.path(CHAT).join("index.html");
    files::copy_if_changed(&page, &workspace.path(BUILT).join("leptos-chat/index.html"))?;
    npm::install(workspace, web::FOLDER)?;
    process::run(&mut web::test(workspace, "front-ends.test.mjs", web::TIMEOUT_MS))
}
