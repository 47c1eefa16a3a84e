//! `cargo xtask mutants`: puts single faults into the code, one at a time, and runs the fast tests
//! over each. A fault that no test notices fails the command, unless `tests/mutants.txt` says why
//! nobody could notice. cargo-mutants makes the faults and runs the tests; here are which of them,
//! which tests, and what to make of the outcome.

mod fault;
mod report;
mod sample;
mod suites;
mod tree;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::TaskError;
use crate::files;
use crate::process;
use crate::workspace::Workspace;
use fault::CodeMutant;
use report::{MutantVerdict, MutationReport};
pub(crate) use sample::MutationPlan;
use suites::{CRATES, MutationSubject, SUBJECTS, TestSuite};

/// The version of cargo-mutants that is installed where there is none.
const CARGO_MUTANTS: &str = "27.1.0";

/// The folder in which cargo-mutants leaves its lists, below the folder that it is given.
const LISTS: &str = "mutants.out";

/// The options for the tests' time limit, which follows from their time without a fault: the
/// machine may be busy.
const TIMEOUT: [&str; 2] = ["--timeout-multiplier=5", "--minimum-test-timeout=120"];

/// The paths of cargo-mutants, and of copies, builds and logs.
struct MutationPaths {
    /// cargo-mutants itself.
    tool: PathBuf,
    /// The copy of the sources that the faults are put into.
    tree: PathBuf,
    build: PathBuf,
    out: PathBuf,
}

impl MutationPaths {
    /// The keys of those that survived the last run.
    fn survivors(&self) -> PathBuf {
        self.out.join("survivors.txt")
    }
}

/// Runs the command.
///
/// # Errors
/// When the tests fail without a fault, and when one is noticed by no test and not written down.
pub(crate) fn run(workspace: &Workspace, plan: &MutationPlan) -> Result<(), TaskError> {
    let inside = |name: &str| workspace.path("target/mutants").join(name);
    let [tool, tree] = [inside("tool"), inside("tree")];
    let places = MutationPaths { tool, tree, build: inside("build"), out: inside("out") };
    install(workspace, &places)?;
    let accepted = fault::accepted(&workspace.path(fault::FILE))?;
    let all = list(workspace, &places, None)?;
    let chosen = choose(workspace, &places, plan, &all)?;
    if plan.lists || chosen.is_empty() {
        chosen.iter().for_each(|fault| println!("{}", fault.name));
        println!("{} single faults", chosen.len());
        return Ok(());
    }
    println!("== copying the sources to {}", places.tree.display());
    let _alone = tree::lock(&places.out)?;
    tree::copy(workspace, &places.tree)?;
    let mut report = MutationReport::new(&accepted);
    for subject in &SUBJECTS {
        let faults = chosen.iter().filter(|fault| subject.holds(fault.file())).collect();
        let trial = MutationTrial { workspace, places: &places, subject, all: &all };
        trial.judge(faults, &mut report)?;
    }
    report.print();
    let survivors: String = report.survivors.iter().map(|key| format!("{key}\n")).collect();
    files::write_if_changed(&places.survivors(), survivors.as_bytes())?;
    report.verdict()
}

fn install(workspace: &Workspace, places: &MutationPaths) -> Result<(), TaskError> {
    let version = process::capture(tool(workspace, places).arg("--version"));
    if version.is_ok_and(|version| version.ends_with(CARGO_MUTANTS)) {
        return Ok(());
    }
    println!(
        "installing cargo-mutants {CARGO_MUTANTS} below target/: it makes the faults and runs the \
         tests (four minutes)"
    );
    let mut cargo = workspace.program("cargo", "");
    cargo.args(["install", "cargo-mutants", "--locked", "--version", CARGO_MUTANTS, "--root"]);
    process::run(cargo.arg(&places.tool).env("CARGO_TARGET_DIR", places.tool.join("build")))?;
    // Its parts are of no more use, and large.
    files::remove_folder(&places.tool.join("build"))
}

/// cargo-mutants, with what all calls have.
fn tool(workspace: &Workspace, places: &MutationPaths) -> Command {
    let mut command = workspace.program(places.tool.join("bin/cargo-mutants"), "");
    command.args(["mutants", "--colors=never", "--no-config"]);
    command
}

/// All faults, or those in lines that a diff changes.
fn list(
    workspace: &Workspace,
    places: &MutationPaths,
    diff: Option<&Path>,
) -> Result<Vec<CodeMutant>, TaskError> {
    let mut command = tool(workspace, places);
    command.arg("--list");
    for (_, package) in CRATES {
        command.args(["-p", package]);
    }
    if let Some(diff) = diff {
        command.arg("--in-diff").arg(diff);
    }
    Ok(fault::numbered(&process::capture(&mut command)?))
}

/// The faults that the plan asks for, in the order of the sources.
fn choose(
    workspace: &Workspace,
    places: &MutationPaths,
    plan: &MutationPlan,
    all: &[CodeMutant],
) -> Result<Vec<CodeMutant>, TaskError> {
    if plan.again {
        let last: BTreeSet<String> = report::lines(&places.survivors())?.into_iter().collect();
        let faults = all.iter().filter(|fault| last.contains(&fault.key()));
        return Ok(plan.sample(faults.cloned().collect()));
    }
    if !plan.is_of_changes() {
        return Ok(plan.sample(plan.inside(all.to_vec())?));
    }
    let Some(diff) = tree::changes(workspace, &places.out)? else {
        println!("nothing has changed in the crates; --all takes them whole");
        return Ok(Vec::new());
    };
    let changed = list(workspace, places, Some(&diff))?;
    let changed: BTreeSet<&str> = changed.iter().map(|fault| fault.name.as_str()).collect();
    let faults = all.iter().filter(|fault| changed.contains(fault.name.as_str()));
    Ok(plan.sample(faults.cloned().collect()))
}

/// A part of the code whose faults are tried.
struct MutationTrial<'a> {
    workspace: &'a Workspace,
    places: &'a MutationPaths,
    subject: &'a MutationSubject,
    all: &'a [CodeMutant],
}

impl MutationTrial<'_> {
    /// Lets one suite after the other judge some faults.
    fn judge(
        &self,
        mut faults: Vec<&CodeMutant>,
        report: &mut MutationReport<'_>,
    ) -> Result<(), TaskError> {
        let MutationSubject { package, suites, .. } = self.subject;
        for (number, suite) in (1..).zip(*suites) {
            if faults.is_empty() {
                return Ok(());
            }
            println!("== {} faults of {package} under the suite {}", faults.len(), suite.name);
            let out = self.places.out.join(format!("{package}-{}", suite.name));
            self.test(suite, &faults, &out)?;
            let verdicts = report::read(&out.join(LISTS))?;
            let mut missed = Vec::new();
            for fault in faults {
                match verdicts.get(&fault.name) {
                    Some(MutantVerdict::Survived) if number < suites.len() => missed.push(fault),
                    Some(verdict) => report.note(fault, *verdict),
                    None => {
                        let (name, folder) = (&fault.name, out.display());
                        return Err(TaskError(format!("no verdict on {name}; see {folder}")));
                    }
                }
            }
            faults = missed;
        }
        Ok(())
    }

    /// Runs one suite over some faults.
    fn test(&self, suite: &TestSuite, faults: &[&CodeMutant], out: &Path) -> Result<(), TaskError> {
        // It leaves out what an earlier run has caught; its other filters let some faults through.
        let chosen: BTreeSet<&str> = faults.iter().map(|fault| fault.name.as_str()).collect();
        let others = self.all.iter().filter(|fault| !chosen.contains(fault.name.as_str()));
        let others: String = others.map(|fault| format!("{}\n", fault.name)).collect();
        files::remove_folder(&out.join(LISTS))?;
        files::write_if_changed(&out.join(LISTS).join("caught.txt"), others.as_bytes())?;
        let mut command = tool(self.workspace, self.places);
        command.args(["--in-place", "--iterate", "--caught", "--unviable", "--cap-lints=true"]);
        command.arg("-d").arg(&self.places.tree).env("CARGO_TARGET_DIR", &self.places.build);
        command.arg("--output").arg(out).args(TIMEOUT);
        command.args(["-p", self.subject.package, "--no-default-features"]);
        for argument in suite.of_build() {
            command.arg(format!("--cargo-arg={argument}"));
        }
        command.args(["--", "--"]).args(suite.of_tests());
        match process::exit_code(&mut command)? {
            // All noticed; some not; some took too long.
            0 | 2 | 3 => Ok(()),
            4 => Err(TaskError("the tests fail without any fault: fix that first".to_owned())),
            code => Err(TaskError(format!("cargo-mutants ended with exit code {code}"))),
        }
    }
}
