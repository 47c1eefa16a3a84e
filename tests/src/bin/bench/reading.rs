//! What searching costs natively, beside ripgrep on the same tree: whole programs, from their start
//! to their end.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// How many files the trees have, and how often a program runs over each for one number.
const TREES: [(usize, u32); 2] = [(5_000, 20), (100_000, 5)];
/// How often a number is taken; the least counts, since what else the machine does only adds to it.
const ROUNDS: usize = 5;
/// How many files stand in one folder.
const FOLDER: usize = 20;
/// One file of so many holds what is searched for.
const RARE: usize = 997;

/// Prints the times of both programs, and how many times ripgrep's ours are.
pub(super) fn run(innerloop: &Path, rg: &Path) {
    for (files, runs) in TREES {
        let tree = Path::new("target/bench").join(format!("tree-{files}"));
        lay_out(&tree, files);
        for (name, tool, arguments, of_rg) in [
            ("grep, a text", "grep", r#"{"pattern":"find_me"}"#, &["-n", "find_me"][..]),
            (
                "grep, an expression",
                "grep",
                r#"{"pattern":"find_\\w+\\("}"#,
                &["-n", r"find_\w+\("][..],
            ),
            (
                "glob, few files",
                "glob",
                r#"{"pattern":"**/file00*.md"}"#,
                &["--files", "-g", "**/file00*.md"][..],
            ),
            (
                "glob, half of the files",
                "glob",
                r#"{"pattern":"**/*.ts"}"#,
                &["--files", "-g", "**/*.ts"][..],
            ),
        ] {
            let mut theirs = Command::new(rg);
            theirs.args(["--no-config", "--hidden", "--no-require-git"]).args(of_rg).arg(".");
            theirs.current_dir(&tree);
            let ours = |isolation: &str| {
                let mut ours = Command::new(innerloop);
                ours.args(["tool", tool, arguments, "--isolation", isolation, "-C"]).arg(&tree);
                ours
            };
            let mut programs = vec![(theirs, runs), (ours("native"), runs)];
            if files <= 5_000 {
                // It takes so long that fewer runs tell as much.
                programs.push((ours("wasi"), runs.div_ceil(10)));
            }
            let times = compare(&mut programs);
            let least = times[0];
            println!("{name}, {files} files:");
            for (program, time) in ["rg", "innerloop", "innerloop in the sandbox"].iter().zip(times)
            {
                println!("  {program}: {}", told(time, least));
            }
        }
    }
}

/// What one run of a program takes.
#[derive(Clone, Copy)]
struct Times {
    wall: Duration,
    processor: Duration,
}

fn told(time: Times, beside: Times) -> String {
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let times = |own: Duration, other: Duration| own.as_secs_f64() / other.as_secs_f64();
    format!(
        "wall {:.1} ms ({:.2}×), processor {:.1} ms ({:.2}×; goal 1.2×)",
        ms(time.wall),
        times(time.wall, beside.wall),
        ms(time.processor),
        times(time.processor, beside.processor),
    )
}

/// Runs the programs in turn, so that whatever else happens meets all of them.
fn compare(programs: &mut [(Command, u32)]) -> Vec<Times> {
    let never = Times { wall: Duration::MAX, processor: Duration::MAX };
    let mut least = vec![never; programs.len()];
    for round in 0..=ROUNDS {
        for ((program, runs), least) in programs.iter_mut().zip(&mut least) {
            let (start, before) = (Instant::now(), processor_time());
            for _ in 0..*runs {
                let status = program.stdout(Stdio::null()).stderr(Stdio::inherit()).status();
                assert!(status.unwrap().success(), "{program:?}");
            }
            // The first round fills the system's caches.
            if round > 0 {
                least.wall = least.wall.min(start.elapsed() / *runs);
                least.processor = least.processor.min((processor_time() - before) / *runs);
            }
        }
    }
    least
}

/// The processor's time that all programs have had that have been waited for, in steps of 10 ms.
fn processor_time() -> Duration {
    let text = fs::read_to_string("/proc/self/stat").expect("a Linux machine");
    let (_, fields) = text.rsplit_once(") ").unwrap();
    let fields: Vec<&str> = fields.split(' ').collect();
    let ticks: u64 = fields[13..15].iter().map(|ticks| ticks.parse::<u64>().unwrap()).sum();
    Duration::from_millis(ticks * 10)
}

/// Writes a tree of that many files as projects have them, unless it is there.
fn lay_out(tree: &PathBuf, files: usize) {
    const WORDS: &str = "let const function return import export from class value index name path \
                         result error config module test data list item state type string number";
    let done = tree.join(".laid-out");
    if done.exists() {
        return;
    }
    println!("laying out {files} files in {}", tree.display());
    let _ = fs::remove_dir_all(tree);
    let words: Vec<&str> = WORDS.split(' ').collect();
    let mut state = 5_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(state >> 33).unwrap() % below
    };
    for folder in 0..files.div_ceil(FOLDER) {
        let place = tree.join(format!("package{:02}/src/part{:03}", folder % 40, folder / 40));
        fs::create_dir_all(&place).unwrap();
        for number in 0..FOLDER.min(files - folder * FOLDER) {
            let ending = ["ts", "ts", "ts", "js", "json", "md", "rs"][random(7)];
            let mut text = Vec::new();
            for _ in 0..20 + random(70) {
                let line: Vec<&str> = (0..2 + random(7)).map(|_| words[random(24)]).collect();
                writeln!(text, "{:indent$}{};", "", line.join(" "), indent = 2 * random(4))
                    .unwrap();
            }
            if (folder * FOLDER + number).is_multiple_of(RARE) {
                text.extend_from_slice(b"const needle = find_me(haystack);\n");
            }
            fs::write(place.join(format!("file{number:03}.{ending}")), text).unwrap();
        }
    }
    let modules = tree.join("node_modules/left-out");
    fs::create_dir_all(&modules).unwrap();
    fs::write(modules.join("index.js"), "find_me()\n").unwrap();
    let ignored = "node_modules\n*.log\n/dist\ntarget/\n.env*\n!keep.log\ncoverage/**\n";
    fs::write(tree.join(".gitignore"), ignored).unwrap();
    fs::write(done, "").unwrap();
}
