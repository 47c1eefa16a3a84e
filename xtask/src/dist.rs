//! `cargo xtask dist`: the program as people install it, in `target/dist`: an archive for any Linux
//! with its SHA-256, and a package for Debian. Equal sources give equal bytes: names are sorted,
//! all times are the commit's, everything belongs to root.

use std::process::Command;

use crate::failure::TaskError;
use crate::package::{self, BuildProfile, PackageTree, TEXTS, runs};
use crate::steps::{TaskStep, run_all, step};
use crate::workspace::Workspace;
use crate::{debian, files, licences, machine, native, prepare, process};

/// The folder in which the packages are left.
const FOLDER: &str = "target/dist";

/// Packs the program as the tests have it and looks at what was packed.
pub(crate) const OF_TESTS: [TaskStep; 3] = [
    step("pack the program", |workspace| pack(workspace, BuildProfile::Dev)),
    LOOK,
    step("pack it again, to the same bytes", pack_again),
];
const LOOK: TaskStep = step("look at the packages", look);

/// Runs the command.
///
/// # Errors
/// The first step's that fails.
pub(crate) fn run(workspace: &mut Workspace, profile: BuildProfile) -> Result<(), TaskError> {
    let released = [
        step("build the program for release", native::build_release),
        step("pack the program", |workspace| pack(workspace, BuildProfile::Release)),
        LOOK,
    ];
    let steps = match profile {
        BuildProfile::Release => [&prepare::MACHINE[..], &prepare::CARRIED, &released].concat(),
        BuildProfile::Dev => OF_TESTS.to_vec(),
    };
    run_all(workspace, &steps)?;
    println!("\nThe packages are in {FOLDER}; `sha256sum --check` reads the file beside them.");
    Ok(())
}

fn pack(workspace: &mut Workspace, profile: BuildProfile) -> Result<(), TaskError> {
    for tool in ["tar", "gzip", "sha256sum", "strip", "readelf"] {
        machine::need(tool, "binutils coreutils gzip tar")?;
    }
    let folder = workspace.path(FOLDER);
    files::remove_folder(&folder)?;
    let tree = PackageTree::gather(workspace, profile, &folder.join("tree"))?;
    let mut packed = vec![tree.archive(&folder)?];
    packed.extend(debian::pack(&tree, &folder)?);
    files::remove_folder(&tree.root)?;
    let mut sums = Command::new("sha256sum");
    let sums = process::capture(sums.args(&packed).current_dir(&folder))?;
    files::write_if_changed(&folder.join("SHA256SUMS"), format!("{sums}\n").as_bytes())?;
    println!("{sums}");
    Ok(())
}

/// Step: unpacks what was packed, compares it with what was promised, and runs it.
fn look(workspace: &mut Workspace) -> Result<(), TaskError> {
    let folder = workspace.path(FOLDER);
    let mut check = Command::new("sha256sum");
    process::run(check.args(["--check", "--strict", "SHA256SUMS"]).current_dir(&folder))?;
    let unpacked = folder.join("unpacked");
    files::remove_folder(&unpacked)?;
    files::create_folder(&unpacked)?;
    let archive = folder.join(format!("{}.tar.gz", package::name()));
    let mut tar = Command::new("tar");
    process::run(tar.arg("-xzf").arg(&archive).arg("--directory").arg(&unpacked))?;
    for text in TEXTS {
        let packed = unpacked.join(package::name()).join(text);
        if !files::same(&packed, &workspace.path(text)) {
            return Err(TaskError(format!("{} is not as it is here", packed.display())));
        }
    }
    let notices = files::read(&unpacked.join(package::name()).join(licences::FILE))?;
    licences::look(&String::from_utf8_lossy(&notices))?;
    runs(&unpacked.join(package::name()).join("innerloop"))?;
    debian::look(&folder, &unpacked)?;
    files::remove_folder(&unpacked)
}

fn pack_again(workspace: &mut Workspace) -> Result<(), TaskError> {
    let sums = workspace.path(FOLDER).join("SHA256SUMS");
    let before = files::read(&sums)?;
    pack(workspace, BuildProfile::Dev)?;
    match files::read(&sums)? == before {
        true => Ok(()),
        false => Err(TaskError("the same program was packed to other bytes".to_owned())),
    }
}
