//! Programs that only plan the work of others, as `clang` does: where one program can't start
//! another, the plan is asked for (`-###`), and each of its jobs is run as a guest.

use innerloop_driver::capture::End;
use std::future::Future;
use wasmtime_wasi::p2::pipe::MemoryOutputPipe;

/// What makes a driver tell its jobs, on standard error, in place of doing them.
const PLAN: &str = "-###";

/// The longest plan.
const MAX_PLAN: usize = 1 << 20;

/// Most jobs of a plan.
const MAX_JOBS: usize = 1_000;

/// One guest of a program's run: its arguments, its own name first, and where its plan goes if it
/// is only to tell that: then it reads nothing, and what it prints is not shown.
pub(super) struct Job {
    pub(super) argv: Vec<String>,
    pub(super) plan: Option<MemoryOutputPipe>,
}

impl Job {
    const fn work(argv: Vec<String>) -> Self {
        Self { argv, plan: None }
    }
}

/// Runs a program as one job, or if it is a driver that has planned jobs those, one after the other
/// until one fails. Gives how the last one ended, and the files that they have left for one
/// another, which nobody has asked for.
pub(super) async fn run<F: Future<Output = End>>(
    is_driver: bool,
    argv: Vec<String>,
    run: impl Fn(Job) -> F,
) -> (End, Vec<String>) {
    if !is_driver {
        return (run(Job::work(argv)).await, Vec::new());
    }
    let mut asked = argv.clone();
    asked.insert(1.min(asked.len()), PLAN.to_owned());
    let plan = MemoryOutputPipe::new(MAX_PLAN);
    let end = run(Job { argv: asked, plan: Some(plan.clone()) }).await;
    let jobs = jobs(&String::from_utf8_lossy(&plan.contents()));
    if end != End::Exit(0) || !(1..=MAX_JOBS).contains(&jobs.len()) {
        // What is no job it does by itself, and it says what is wrong in its own words.
        return (run(Job::work(argv)).await, Vec::new());
    }
    let between = outputs(&jobs, &argv);
    let mut end = End::Exit(0);
    for job in jobs {
        end = run(Job::work(job)).await;
        if end != End::Exit(0) {
            break;
        }
    }
    (end, between)
}

/// The jobs of a plan: each is a line of quoted words that begins with a space.
fn jobs(plan: &str) -> Vec<Vec<String>> {
    plan.lines().filter(|line| line.starts_with(" \"")).map(words).collect()
}

/// The words of a line, in which `\` stands before `"`, `\` and `$`.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut letters = line.chars();
    while letters.by_ref().any(|letter| letter == '"') {
        let mut word = String::new();
        while let Some(letter) = letters.next() {
            match letter {
                '"' => break,
                '\\' => word.extend(letters.next()),
                letter => word.push(letter),
            }
        }
        words.push(word);
    }
    words
}

/// What the jobs but the last write, and nobody has asked for.
fn outputs(jobs: &[Vec<String>], asked: &[String]) -> Vec<String> {
    let but_last = jobs.split_last().map(|(_, rest)| rest).unwrap_or_default();
    let outputs = but_last.iter().flat_map(|job| {
        job.windows(2).filter_map(|pair| match pair {
            [option, path] if option == "-o" => Some(path.clone()),
            _ => None,
        })
    });
    outputs.filter(|path| !asked.contains(path)).collect()
}

#[cfg(test)]
mod tests {
    use super::{jobs, outputs};

    #[test]
    fn a_plan_is_read_word_for_word() {
        let plan = "clang version 22\nTarget: wasm32\n \"clang\" \"-cc1\" \"-D\" \"A=\\\"b c\\\"\" \
                    \"-o\" \"/x-1.o\" \"\"\n \"wasm-ld\" \"/x-1.o\" \"y\\\\z\" \"-o\" \"x\"\n\
                    clang: warning: \"quoted\"\n";
        let read = jobs(plan);
        assert_eq!(read[0], ["clang", "-cc1", "-D", "A=\"b c\"", "-o", "/x-1.o", ""]);
        assert_eq!(read[1], ["wasm-ld", "/x-1.o", "y\\z", "-o", "x"]);
        assert_eq!(read.len(), 2);
        let asked = ["clang".to_owned(), "x.c".to_owned(), "-o".to_owned(), "x".to_owned()];
        assert_eq!(outputs(&read, &asked), ["/x-1.o"]);
    }
}
