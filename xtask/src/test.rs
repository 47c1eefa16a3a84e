//! `cargo xtask test`, in two storeys: what people run before a commit, and every check there is,
//! ordered so that failures show early. What the native host embeds comes before the lints.

use crate::demo;
use crate::dist;
use crate::elsewhere;
use crate::engines;
use crate::failure::TaskError;
use crate::front_ends::FRONT_ENDS;
use crate::load::CpuLoad;
use crate::npm;
use crate::prepare;
use crate::process;
use crate::simulate;
use crate::site;
use crate::size;
use crate::steps::{TaskStep, print_skipped, run_all, run_each, step, test_step};
use crate::workspace::Workspace;
use crate::{features, machine, native, web};

/// The page's tests, each with a browser of its own.
const PAGE_TESTS: [&str; 12] = [
    "demo", "files", "writing", "folder", "sessions", "lasting", "models", "pictures", "hostile",
    "programs", "speed", "looks",
];

/// The word for every check there is.
const ALL: &str = "all";

/// The tests that need nothing to be built before.
const LIGHT: TaskStep =
    test_step("run the tests of core, driver and tools", native::test_without_host);

/// The check that needs nothing but the npm package's tools.
const SCRIPTS: TaskStep = step("check and lint the scripts", npm::check_scripts);

/// Which steps are run.
#[derive(Debug, PartialEq)]
pub(crate) enum StepSelection {
    /// Those before a commit: some four minutes when all is built.
    Quick,
    /// Every step.
    All,
    /// Those with that in their titles, once what they need is built.
    Named(String),
}

impl StepSelection {
    /// The one that a word behind `test` asks for.
    ///
    /// # Errors
    /// No step is named so.
    pub(crate) fn parse(word: Option<&str>) -> Result<Self, String> {
        match word {
            None => Ok(Self::Quick),
            Some(ALL) => Ok(Self::All),
            Some(part) if all().iter().any(|step| step.title.contains(part)) => {
                Ok(Self::Named(part.to_owned()))
            }
            Some(part) => {
                let titles: Vec<&str> = all().iter().map(|step| step.title).collect();
                Err(format!("no step is named {part:?}: {}", titles.join(" · ")))
            }
        }
    }
}

/// Runs the command.
///
/// # Errors
/// The first step's that fails.
pub(crate) fn run(workspace: &mut Workspace, storey: &StepSelection) -> Result<(), TaskError> {
    match storey {
        StepSelection::Quick => run_all(workspace, &quick()),
        StepSelection::All => run_all(workspace, &all()),
        StepSelection::Named(part) => {
            let mut steps = all();
            steps.retain(|step| step.title.contains(part));
            // Who names tests does not mean what is built under the same name.
            if steps.iter().any(|step| step.is_test) {
                steps.retain(|step| step.is_test);
            }
            let light = [LIGHT.title, SCRIPTS.title, FRONT_ENDS.title];
            let is_light = |step: &TaskStep| light.contains(&step.title);
            if !steps.iter().all(is_light) {
                run_all(workspace, &built())?;
            }
            run_all(workspace, &steps)
        }
    }
}

/// Returns what tests need to be built.
fn built() -> Vec<TaskStep> {
    [&prepare::all()[..], &[prepare::INSTALLED_CLANG, site::ASSEMBLE]].concat()
}

/// Returns what people run before a commit: the checks that find most, and one smoke test in each
/// host.
fn quick() -> Vec<TaskStep> {
    let checks = [
        step("look for rustfmt and clippy", machine::look_for_lints),
        step("check the format", native::check_format),
        SCRIPTS,
        LIGHT,
    ];
    let hosts = [
        prepare::EXAMPLE,
        prepare::HOST,
        step("lint with clippy", native::lint),
        test_step("run the smoke test of the native host", native::test_smoke),
    ];
    let node = [test_step("run the smoke test in Node", test_node_quickly)];
    let machine = &prepare::MACHINE[..];
    [machine, &checks, &prepare::CARRIED, &hosts, &prepare::PACKAGE, &node].concat()
}

/// All steps.
fn all() -> Vec<TaskStep> {
    let look = [
        step("look for rustfmt and clippy", machine::look_for_lints),
        step("find a browser", machine::look_for_chromium),
        step("find bubblewrap", machine::look_for_bubblewrap),
        step("check the format", native::check_format),
        SCRIPTS,
    ];
    let light =
        [LIGHT, test_step("read the cases of canitoolcall and skills-ref", native::test_readings)];
    let native = [
        prepare::EXAMPLE,
        step("lint with clippy", native::lint),
        step("lint with each feature alone", features::lint),
        step("check for macOS and Windows", elsewhere::check),
        step("build the documentation", native::document),
        prepare::HOST,
        step("build the Rust examples", native::build_examples),
        prepare::INSTALLED_PYTHON,
        prepare::INSTALLED_CLANG,
        test_step("run the tests of the native host", native::test_host),
        test_step("run the examples in the documentation", native::test_documentation),
        step("start to simulate hostile sessions, for a minute", simulate::start),
    ];
    let web = [
        prepare::PYTHON,
        prepare::PROGRAM_PACKAGES,
        size::WEIGH_ALL,
        test_step("run the Node tests over the packed package", test_node),
        engines::DURABLE_OBJECT,
        engines::RESTATE,
        test_step("run both hosts against a third-party mock", test_aimock),
        site::ASSEMBLE,
        test_step("run the page test in Chromium", test_page),
        FRONT_ENDS,
        test_step("try the packages in bundlers and plain pages", test_places),
        test_step("run the examples of the README", test_readme),
        step("see what the simulation found", simulate::finish),
    ];
    let jobs = [&demo::MAIN_JOB[..], &demo::PYTHON_JOB, &dist::OF_TESTS].concat();
    let build = [&prepare::MACHINE[..], &look, &light, &prepare::CARRIED, &native].concat();
    let elsewhere = [&prepare::ELSEWHERE[..], &prepare::THE_SAME].concat();
    [&build, &jobs, &elsewhere, &prepare::PACKAGE[..], &web].concat()
}

/// The plan of a run under load: how often the tests run, and which of them.
#[derive(Debug, PartialEq)]
pub(crate) struct UnderLoad {
    rounds: u32,
    /// A part of the steps' titles; all of them have an empty one.
    only: String,
}

impl UnderLoad {
    /// The plan that the words behind `--under-load` ask for.
    ///
    /// # Errors
    /// What is wrong with a word.
    pub(crate) fn parse(words: &[&str]) -> Result<Self, String> {
        let mut plan = Self { rounds: 5, only: String::new() };
        for pair in words.chunks(2) {
            match *pair {
                ["--rounds", rounds] => {
                    let count = rounds.parse().ok().filter(|count| *count > 0);
                    let wrong = || format!("--rounds wants a count from 1, not {rounds:?}");
                    plan.rounds = count.ok_or_else(wrong)?;
                }
                ["--only", part] => plan.only = part.to_owned(),
                _ => return Err(format!("unexpected {:?}", pair.join(" "))),
            }
        }
        let is_named = |step: &TaskStep| step.is_test && step.title.contains(&plan.only);
        if all().iter().any(is_named) {
            return Ok(plan);
        }
        let titles: Vec<&str> =
            all().iter().filter(|step| step.is_test).map(|step| step.title).collect();
        Err(format!("no step that runs tests is named {:?}: {}", plan.only, titles.join(" · ")))
    }
}

/// Builds everything, and then runs the steps that run tests on one core, which busy loops share.
///
/// # Errors
/// The first step's that fails to build; all steps that failed under load, with their rounds.
pub(crate) fn run_under_load(workspace: &mut Workspace, plan: &UnderLoad) -> Result<(), TaskError> {
    run_all(workspace, &built())?;
    let mut steps = all();
    steps.retain(|step| step.is_test && step.title.contains(&plan.only));
    let mut failed = Vec::new();
    for round in 1..=plan.rounds {
        println!("\n== round {round} of {} under load", plan.rounds);
        let _load = CpuLoad::start()?;
        let failures = run_each(workspace, &steps);
        failed.extend(failures.iter().map(|TaskError(reason)| format!("round {round}, {reason}")));
    }
    print_skipped(workspace);
    if failed.is_empty() {
        println!("no step failed under load");
        return Ok(());
    }
    Err(TaskError(format!("under load failed:\n{}", failed.join("\n"))))
}

fn test_node(workspace: &mut Workspace) -> Result<(), TaskError> {
    npm::install(workspace, web::FOLDER)?;
    process::run(&mut web::test(workspace, "node.test.mjs", web::TIMEOUT_MS))
}

fn test_node_quickly(workspace: &mut Workspace) -> Result<(), TaskError> {
    npm::install(workspace, web::FOLDER)?;
    process::run(&mut web::test(workspace, "smoke.test.mjs", web::TIMEOUT_MS))
}

fn test_aimock(workspace: &mut Workspace) -> Result<(), TaskError> {
    npm::install(workspace, web::FOLDER)?;
    process::run(&mut web::test(workspace, "aimock.test.mjs", web::TIMEOUT_MS))
}

fn test_page(workspace: &mut Workspace) -> Result<(), TaskError> {
    npm::install(workspace, web::FOLDER)?;
    let tests = PAGE_TESTS.map(|name| format!("page/{name}.test.mjs"));
    let mut node = web::test(workspace, "--test-concurrency=1", web::TIMEOUT_MS);
    process::run(node.args(tests))
}

fn test_places(workspace: &mut Workspace) -> Result<(), TaskError> {
    npm::install(workspace, web::FOLDER)?;
    process::run(&mut web::test(workspace, "places.test.mjs", web::TIMEOUT_MS))
}

fn test_readme(workspace: &mut Workspace) -> Result<(), TaskError> {
    npm::install(workspace, web::FOLDER)?;
    process::run(&mut web::test(workspace, "readme.test.mjs", web::TIMEOUT_MS))
}
