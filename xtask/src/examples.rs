//! The examples of agents in other languages: run against a scripted model, where the language is
//! on this machine.

use crate::failure::Failure;
use crate::files;
use crate::process;
use crate::steps::{Step, step};
use crate::workspace::Workspace;

/// Runs the examples.
pub(crate) const EXAMPLES: Step = step("run the examples in other languages", run);
/// Where they work.
const FOLDER: &str = "target/examples/go";

fn run(workspace: &mut Workspace) -> Result<(), Failure> {
    if process::on_path("go").is_none() {
        println!(
            "left out: the example in Go; https://go.dev/dl has Go, or `apt-get install golang`"
        );
        return Ok(());
    }
    let go = || workspace.program("go", "examples/go");
    process::run(go().args(["vet", "./..."]))?;
    process::run(go().args(["test", "-count=1", "./..."]))?;
    let folder = workspace.path(FOLDER);
    files::remove_folder(&folder)?;
    files::write_if_changed(&folder.join("notes.md"), b"# Notes\n")?;
    let mut example = workspace.program("python3", "");
    example.args(["examples/mock.py", "go", "run", "-C", "examples/go", ".", "-workspace"]);
    let said = process::capture(example.arg(&folder).arg("Write a report of the notes"))?;
    println!("{said}");
    let is_whole = said.ends_with("completed") && said.contains("> Read");
    match is_whole && files::read(&folder.join("report.md"))? == b"# Report\n" {
        true => Ok(()),
        false => Err(Failure("the example in Go did not write its report".to_owned())),
    }
}
