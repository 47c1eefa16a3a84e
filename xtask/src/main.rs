//! `cargo xtask <command>`: prepares the machine, builds the wasm parts, runs the demo, the tests
//! and the playground. Here lives the command line; each command is a list of steps in its own
//! module. No dependencies: the first line of output comes at once on a fresh clone.

mod abi;
mod bench;
mod corpus;
mod crates;
mod debian;
mod deltas;
mod demo;
mod dist;
mod elsewhere;
mod engines;
mod everywhere;
mod examples;
mod failure;
mod features;
mod files;
mod front_ends;
mod fuzz;
mod instruction;
mod kills;
mod licences;
mod load;
mod locals;
mod machine;
mod module;
mod mutants;
mod native;
mod npm;
mod order;
mod package;
mod playground;
mod prepare;
mod process;
mod programs;
mod python;
mod simulate;
mod site;
mod size;
mod steps;
mod symbol;
mod test;
mod toolchain;
mod wasm;
mod wasm_targets;
mod web;
mod workspace;

use std::env;
use std::process::ExitCode;

use failure::TaskError;
use workspace::Workspace;

const USAGE: &str = "\
Usage: cargo xtask <command>

Commands:
  demo         Fix the example project in the sandbox, from a recording; no key is needed
               (--python: the same with Python and the shell)
  test         Check what finds most in some minutes, before a commit: format, lints, the tests of
               core, driver and tools, a smoke test in each host
               (all: everything, in half an hour when built: docs, native, macOS and Windows, which
               are only compiled, Node, Chromium, bundlers, other languages; TITLE: the steps with
               that in their title, for example core)
               (--under-load: the steps that run tests, five times, on one core beside four busy
               loops, on Linux, to find tests that depend on a fast machine; --rounds N: so often;
               --only TITLE: the steps with that in their title)
  everywhere   Try the npm packages in Node 20, 22 and 24, Deno, Bun, workerd, Vite, webpack, Next,
               Parcel, Rollup, esbuild and Vitest, which come from npm (1.4 GB); what is skipped
               is said, and why
  npm          Build and pack the npm package, and nothing beside it
  playground   Build the page and serve it (--port PORT, otherwise 8080 or the next free one)
  simulate     Drive the session core through a hostile world (--seeds N, --from SEED, --seconds S)
  size         Weigh the page's module, by crate and by cause, beside its budget, and the module
               for other languages beside its own
  bench        Measure the session core and the program beside the physical limits and ripgrep,
               a text delta in other languages, the package in Node (--peers: beside
               pi-agent-core, the AI SDK and openai-agents, which npm installs), and the page
  mutants      Put single faults into core, driver and tools, and see whether a test notices
               each: in changed lines, otherwise --all, CRATE[/MODULE]…, or --again: those that
               survived the last run (--count N --seed N: so many, drawn by the seed; --list: only
               their names). On two cores five to ten seconds each, a minute if it survives
  fuzz         Feed the decoders and parsers what a fuzzer invents (--seconds N each, otherwise
               60; TARGET…, otherwise all of fuzz/targets)
  dist         Build the program for release and pack it: in target/dist an archive, a package
               for Debian where there is dpkg-deb, and SHA256SUMS (--profile dev: the program that
               the tests run, as it was built last)
  crates       Pack each crate, and build it from its package alone, as those get it who build on
               it
  python       Build the Python package, check it and run its tests; run the examples in other
               languages
  corpus       Replay a corpus of logs natively and in each runtime for other languages that is
               here, to the same digests; kill sessions in Python and Go at each effect, and go
               on with them in the other language
  prepare      Install and build all that the other commands need, and stop there
  help         Print this text

What is missing on the machine is installed by the step that needs it, after saying what, why
and how long; what cannot be installed is named with the command that does it.

Environment:
  CHROMIUM                  The browser of the page test; otherwise chromium or google-chrome
                            on PATH
  INNERLOOP_WASM_TOOLCHAIN  rustup or debian: what builds for wasm and checks for other systems;
                            otherwise the first that works
";

/// The task that the command line asks for.
enum TaskCommand {
    Corpus,
    Crates,
    Help,
    Demo,
    DemoPython,
    Test(test::StepSelection),
    TestUnderLoad(test::UnderLoad),
    Everywhere,
    Prepare,
    Dist(package::BuildProfile),
    Npm,
    Simulate {
        arguments: Vec<String>,
    },
    Size,
    /// Beside other packages?
    Bench {
        with_peers: bool,
    },
    Fuzz(fuzz::Plan),
    Mutants(mutants::MutationPlan),
    Playground {
        port: Option<u16>,
    },
    Python,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let ask = match parse(&arguments) {
        Ok(TaskCommand::Help) => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Ok(ask) => ask,
        Err(reason) => {
            eprint!("error: {reason}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(&ask) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn parse(arguments: &[String]) -> Result<TaskCommand, String> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => Err("no command given".to_owned()),
        [.., "--help" | "-h"] | ["help"] => Ok(TaskCommand::Help),
        ["demo"] => Ok(TaskCommand::Demo),
        ["demo", "--python"] => Ok(TaskCommand::DemoPython),
        ["test"] => test::StepSelection::parse(None).map(TaskCommand::Test),
        ["test", "--under-load", rest @ ..] => {
            test::UnderLoad::parse(rest).map(TaskCommand::TestUnderLoad)
        }
        ["test", word] => test::StepSelection::parse(Some(word)).map(TaskCommand::Test),
        ["everywhere"] => Ok(TaskCommand::Everywhere),
        ["npm"] => Ok(TaskCommand::Npm),
        ["prepare"] => Ok(TaskCommand::Prepare),
        ["dist"] | ["dist", "--profile", "release"] => {
            Ok(TaskCommand::Dist(package::BuildProfile::Release))
        }
        ["dist", "--profile", "dev"] => Ok(TaskCommand::Dist(package::BuildProfile::Dev)),
        ["corpus"] => Ok(TaskCommand::Corpus),
        ["crates"] => Ok(TaskCommand::Crates),
        ["python"] => Ok(TaskCommand::Python),
        ["size"] => Ok(TaskCommand::Size),
        ["bench"] => Ok(TaskCommand::Bench { with_peers: false }),
        ["bench", "--peers"] => Ok(TaskCommand::Bench { with_peers: true }),
        ["simulate", rest @ ..] => Ok(TaskCommand::Simulate {
            arguments: rest.iter().map(|&word| word.to_owned()).collect(),
        }),
        ["fuzz", rest @ ..] => fuzz::Plan::parse(rest).map(TaskCommand::Fuzz),
        ["mutants", rest @ ..] => mutants::MutationPlan::parse(rest).map(TaskCommand::Mutants),
        ["playground"] => Ok(TaskCommand::Playground { port: None }),
        ["playground", "--port", port] => match port.parse() {
            Ok(port) => Ok(TaskCommand::Playground { port: Some(port) }),
            Err(_) => Err(format!("--port wants a number from 0 to 65535, not {port:?}")),
        },
        [
            "demo" | "test" | "everywhere" | "prepare" | "playground" | "bench" | "size" | "dist"
            | "python" | "corpus" | "crates" | "npm",
            rest @ ..,
        ] => Err(format!("unexpected {:?}", rest.join(" "))),
        [command, ..] => Err(format!("unknown command {command:?}")),
    }
}

fn run(ask: &TaskCommand) -> Result<(), TaskError> {
    let mut workspace = Workspace::find()?;
    match ask {
        TaskCommand::Help => Ok(()),
        TaskCommand::Corpus => prepare::run_corpus(&mut workspace),
        TaskCommand::Crates => crates::run(&workspace),
        TaskCommand::Demo => demo::run(&mut workspace),
        TaskCommand::DemoPython => demo::run_python(&mut workspace),
        TaskCommand::Test(storey) => test::run(&mut workspace, storey),
        TaskCommand::TestUnderLoad(plan) => test::run_under_load(&mut workspace, plan),
        TaskCommand::Everywhere => everywhere::run(&mut workspace),
        TaskCommand::Npm => prepare::run_npm(&mut workspace),
        TaskCommand::Prepare => prepare::run(&mut workspace),
        TaskCommand::Dist(profile) => dist::run(&mut workspace, *profile),
        TaskCommand::Simulate { arguments } => simulate::run(&workspace, arguments),
        TaskCommand::Size => size::run(&mut workspace),
        TaskCommand::Bench { with_peers } => bench::run(&mut workspace, *with_peers),
        TaskCommand::Fuzz(plan) => fuzz::run(&workspace, plan),
        TaskCommand::Mutants(plan) => mutants::run(&workspace, plan),
        TaskCommand::Playground { port } => playground::run(&mut workspace, *port),
        TaskCommand::Python => prepare::run_python(&mut workspace),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<TaskCommand, String> {
        parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_command_line_is_understood_or_refused_with_its_reason() {
        assert!(matches!(parsed("demo"), Ok(TaskCommand::Demo)));
        assert!(matches!(parsed("demo --help"), Ok(TaskCommand::Help)));
        assert!(matches!(parsed("demo --python"), Ok(TaskCommand::DemoPython)));
        assert!(matches!(parsed("playground"), Ok(TaskCommand::Playground { port: None })));
        let chosen = parsed("playground --port 81");
        assert!(matches!(chosen, Ok(TaskCommand::Playground { port: Some(81) })));
        let reason = |line| parsed(line).err().unwrap_or_default();
        assert_eq!(reason(""), "no command given");
        assert!(matches!(parsed("bench"), Ok(TaskCommand::Bench { with_peers: false })));
        assert!(matches!(parsed("dist"), Ok(TaskCommand::Dist(package::BuildProfile::Release))));
        assert!(matches!(
            parsed("dist --profile dev"),
            Ok(TaskCommand::Dist(package::BuildProfile::Dev))
        ));
        assert!(matches!(parsed("npm"), Ok(TaskCommand::Npm)));
        assert!(matches!(parsed("everywhere"), Ok(TaskCommand::Everywhere)));
        assert_eq!(reason("dist --profile fast"), "unexpected \"--profile fast\"");
        assert!(matches!(parsed("fuzz --seconds 5 sse"), Ok(TaskCommand::Fuzz(_))));
        assert_eq!(reason("fuzz --all"), "unexpected \"--all\"");
        assert!(matches!(parsed("mutants --all --seed 1 --count 9"), Ok(TaskCommand::Mutants(_))));
        assert_eq!(reason("brew"), "unknown command \"brew\"");
        assert_eq!(reason("demo --ruby"), "unexpected \"--ruby\"");
        assert!(matches!(parsed("test"), Ok(TaskCommand::Test(test::StepSelection::Quick))));
        assert!(matches!(parsed("test all"), Ok(TaskCommand::Test(test::StepSelection::All))));
        assert!(matches!(
            parsed("test core"),
            Ok(TaskCommand::Test(test::StepSelection::Named(_)))
        ));
        assert!(reason("test brew").starts_with("no step is named \"brew\": "));
        assert_eq!(reason("test core all"), "unexpected \"core all\"");
        assert!(matches!(parsed("test --under-load"), Ok(TaskCommand::TestUnderLoad(_))));
        let chosen = parsed("test --under-load --rounds 2 --only Node");
        assert!(matches!(chosen, Ok(TaskCommand::TestUnderLoad(_))));
        assert!(reason("test --under-load --rounds 0").starts_with("--rounds wants a count"));
        assert!(reason("test --under-load --only brew").starts_with("no step that runs tests"));
        assert_eq!(reason("test --under-load --fast"), "unexpected \"--fast\"");
        assert!(reason("playground --port 70000").starts_with("--port wants a number"));
    }
}
