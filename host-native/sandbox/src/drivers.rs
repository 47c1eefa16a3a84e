//! Drivers: programs such as `clang` that start other programs to do the work. A guest can't start
//! another, so the host asks the driver for its plan (`-###`) and runs each job of it as a guest. A
//! driver without a plan that can be read runs like any other program.

use innerloop_driver::capture::ProgramExit;
use std::future::Future;
use wasmtime_wasi::p2::pipe::MemoryOutputPipe;

/// The argument that makes a driver list its jobs on standard error instead of doing them.
const PLAN: &str = "-###";

/// The longest plan in bytes.
const MAX_PLAN: usize = 1 << 20;

/// The most jobs of a plan.
const MAX_JOBS: usize = 1_000;

/// One guest of a program's run: its arguments, its own name first, and if it is asked for its
/// plan, the pipe that receives it. It reads nothing then, and its output is not shown.
pub(super) struct DriverJob {
    pub(super) argv: Vec<String>,
    pub(super) plan: Option<MemoryOutputPipe>,
}

impl DriverJob {
    const fn work(argv: Vec<String>) -> Self {
        Self { argv, plan: None }
    }
}

/// Runs a program as one job, or if it is a driver, its planned jobs, one after the other until one
/// fails. Returns the end of the last one. Before the first job runs, `leaves` receives the paths
/// of the files that jobs leave for one another and that nobody has asked for.
pub(super) async fn run<F: Future<Output = ProgramExit>>(
    is_driver: bool,
    argv: Vec<String>,
    run: impl Fn(DriverJob) -> F,
    leaves: impl FnOnce(Vec<String>),
) -> ProgramExit {
    // A user who asks for the plan gets it.
    if !is_driver || argv.iter().any(|word| word == PLAN) {
        return run(DriverJob::work(argv)).await;
    }
    let mut asked = argv.clone();
    asked.insert(1.min(asked.len()), PLAN.to_owned());
    let plan = MemoryOutputPipe::new(MAX_PLAN);
    let end = run(DriverJob { argv: asked, plan: Some(plan.clone()) }).await;
    let jobs = jobs(&String::from_utf8_lossy(&plan.contents())).unwrap_or_default();
    if end != ProgramExit::Exit(0) || !(1..=MAX_JOBS).contains(&jobs.len()) {
        // Without jobs there is nothing to start: `--version` and wrong arguments are the driver's
        // own business, and its messages say more than ours.
        return run(DriverJob::work(argv)).await;
    }
    // Before the first job, since a time limit may end any of them.
    leaves(between(&jobs, &argv));
    let mut end = ProgramExit::Exit(0);
    for job in jobs {
        end = run(DriverJob::work(job)).await;
        if end != ProgramExit::Exit(0) {
            break;
        }
    }
    end
}

/// The jobs of a plan: each is a line of quoted words that begins with a space. `None` if a quote
/// is not closed.
fn jobs(plan: &str) -> Option<Vec<Vec<String>>> {
    let mut jobs = Vec::new();
    let mut rest = plan;
    while !rest.is_empty() {
        if !rest.starts_with(" \"") {
            rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
            continue;
        }
        let (job, behind) = words(rest)?;
        jobs.push(job);
        rest = behind;
    }
    Some(jobs)
}

/// The words of a line, in which `\` escapes `"`, `\` and `$`, and the text behind that line.
fn words(line: &str) -> Option<(Vec<String>, &str)> {
    // Read by character, not by line: a quoted word may have line breaks.
    let mut words = Vec::new();
    let mut letters = line.chars();
    loop {
        match letters.next() {
            None | Some('\n') => return Some((words, letters.as_str())),
            Some('"') => {}
            Some(_) => continue,
        }
        let mut word = String::new();
        loop {
            match letters.next()? {
                '"' => break,
                '\\' => word.push(letters.next()?),
                letter => word.push(letter),
            }
        }
        words.push(word);
    }
}

/// The paths that jobs write for later ones, in the folder for temporary files, which is `/`.
fn between(jobs: &[Vec<String>], asked: &[String]) -> Vec<String> {
    let mut between = Vec::new();
    for (at, job) in jobs.iter().enumerate() {
        let later = jobs.get(at + 1..).unwrap_or_default();
        let outputs = job.windows(2).filter_map(|pair| match pair {
            [option, path] if option == "-o" => Some(path),
            _ => None,
        });
        // `clang -c a.c b.c` has outputs as well, but those were asked for and are not read by a
        // later job; a path that was given stays, whoever reads it.
        let is_temporary = |path: &&String| {
            let name = path.strip_prefix('/').unwrap_or_default();
            let is_read = later.iter().any(|job| job.contains(path));
            !name.is_empty() && !name.contains('/') && is_read && !asked.contains(path)
        };
        between.extend(outputs.filter(is_temporary).cloned());
    }
    between
}

#[cfg(test)]
mod tests {
    use super::{between, jobs};

    fn owned(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn a_plan_is_read_word_for_word() {
        let plan = "clang version 22\nTarget: wasm32\n \"clang\" \"-cc1\" \"-D\" \
                    \"A=\\\"b c\\\"\" \
                    \"-o\" \"/x-1.o\" \"\" \"two\nlines\"\n \"wasm-ld\" \"/x-1.o\" \
                    \"y\\\\z\" \"-o\" \
                    \"x\"\nclang: warning: \"quoted\"\n";
        let read = jobs(plan).unwrap();
        let first = ["clang", "-cc1", "-D", "A=\"b c\"", "-o", "/x-1.o", "", "two\nlines"];
        assert_eq!(read[0], first);
        assert_eq!(read[1], ["wasm-ld", "/x-1.o", "y\\z", "-o", "x"]);
        assert_eq!(read.len(), 2);
        assert_eq!(between(&read, &owned(&["clang", "x.c", "-o", "x"])), ["/x-1.o"]);
        assert_eq!(jobs(" \"clang\" \"open"), None);
        assert_eq!(jobs("clang version 22\n"), Some(Vec::new()));
    }

    #[test]
    fn what_was_asked_for_is_not_taken_for_something_between() {
        let plan = [owned(&["clang", "-o", "a.o", "a.c"]), owned(&["clang", "-o", "b.o", "b.c"])];
        assert!(between(&plan, &owned(&["clang", "-c", "a.c", "b.c"])).is_empty());
        let plan = [owned(&["clang", "-o", "/a-1.o"]), owned(&["wasm-ld", "/a-1.o", "/sub/b.o"])];
        assert!(between(&plan, &owned(&["clang", "/a-1.o"])).is_empty());
        let plan = [owned(&["clang", "-o", "/sub/a.o"]), owned(&["wasm-ld", "/sub/a.o"])];
        assert!(between(&plan, &owned(&["clang"])).is_empty());
    }
}
