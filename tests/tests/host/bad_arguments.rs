//! Every command and every option with something that it does not take: which sentence is said,
//! and how the program ends. The table is `fixtures/bad-arguments.txt`, a line for each case:
//! `arguments → exit code: sentence`. To add one, write its arguments down, and have the rest
//! written by `UPDATE_EXPECT=1`.

use expect_test::expect_file;
use innerloop_tests::program::{innerloop, run};
use std::{collections::BTreeSet, fs, path::Path, thread};

const TABLE: &str = include_str!("../../fixtures/bad-arguments.txt");

/// Between a case and what is expected of it.
const ARROW: &str = " → ";

/// How many programs run side by side.
const SIDE_BY_SIDE: usize = 4;

/// What is told of a mistake on the command line, where it is no line of ours.
const OF_USAGE: [&str; 5] = ["error: ", "  [possible values: ", "  tip: ", "  <", "  --"];

/// The arguments of the cases, without headings and empty lines.
fn cases() -> impl Iterator<Item = &'static str> {
    TABLE.lines().filter(|line| is_case(line)).map(arguments)
}

fn is_case(line: &str) -> bool {
    !line.is_empty() && !line.starts_with('#')
}

fn arguments(line: &str) -> &str {
    line.split(ARROW).next().unwrap().trim()
}

/// The words of a case: what stands between single quotes is one.
fn words(case: &str) -> Vec<String> {
    let pieces = case.split('\'').enumerate();
    let words = pieces.flat_map(|(number, piece)| match number % 2 {
        0 => piece.split_whitespace().collect(),
        _ => vec![piece],
    });
    words.map(str::to_owned).collect()
}

/// What comes of a case in that folder: the exit code and the sentence.
fn told(case: &str, place: &Path) -> String {
    let mut command = innerloop(words(case));
    command.current_dir(place).env("ANTHROPIC_BASE_URL", "http://127.0.0.1:1");
    for folder in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"] {
        command.env(folder, place.with_file_name("nobody"));
    }
    let run = run(&mut command);
    assert!(!run.stderr.contains("panicked"), "{case}: {run:#?}");
    let code = run.code.expect("an exit code");
    let is_told = |line: &&str| {
        line.starts_with("innerloop: ") || OF_USAGE.iter().any(|begin| line.starts_with(begin))
    };
    let lines = run.stderr.lines().take_while(|line| !line.starts_with("Usage: "));
    let lines = lines.filter(is_told).map(str::trim);
    let sentence = lines.collect::<Vec<_>>().join(" ");
    let sentence = sentence.trim_start_matches("innerloop: ").trim_start_matches("error: ");
    let sentence = match sentence {
        "" if run.stderr.contains("Usage: ") => "(the help)",
        sentence => sentence,
    };
    let [place, nobody] = [place.to_owned(), place.with_file_name("nobody")]
        .map(|path| path.into_os_string().into_string().expect("a path of text"));
    let sentence = sentence.replace(&place, "HERE").replace(&nobody, "NOBODY");
    format!("{case}{ARROW}{code}: {sentence}")
}

#[test]
fn each_mistake_is_told_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().canonicalize().unwrap().join("here");
    fs::create_dir_all(place.join("ws")).unwrap();
    fs::write(place.join("ws/a.txt"), "hello\n").unwrap();
    let lines: Vec<&str> = TABLE.lines().collect();
    let part = lines.len().div_ceil(SIDE_BY_SIDE);
    let seen: Vec<String> = thread::scope(|scope| {
        let place = &place;
        let told = |line: &&str| match is_case(line) {
            true => told(arguments(line), place),
            false => (*line).to_owned(),
        };
        let parts = lines
            .chunks(part)
            .map(|part| scope.spawn(move || part.iter().map(told).collect::<Vec<String>>()));
        let parts: Vec<_> = parts.collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });
    expect_file!["../../fixtures/bad-arguments.txt"].assert_eq(&(seen.join("\n") + "\n"));
    let left: Vec<_> = fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left, [place.join("ws")], "nothing is made of a mistake");
}

/// The commands below that one, itself first, and what each one's help says.
fn helps(command: &[String], all: &mut Vec<(Vec<String>, String)>) {
    let args = command.iter().map(String::as_str).chain(["--help"]);
    let help = run(&mut innerloop(args)).exits(0).stdout;
    let listed = help.split("\nCommands:\n").nth(1).unwrap_or_default().split("\n\n").next();
    let listed = listed.unwrap_or_default().lines().filter(|line| !line.starts_with("   "));
    let below = listed.filter_map(|line| line.split_whitespace().next()).filter(|it| *it != "help");
    let below: Vec<Vec<String>> =
        below.map(|name| [command, &[name.to_owned()]].concat()).collect();
    all.push((command.to_vec(), help));
    below.iter().for_each(|command| helps(command, all));
}

/// The options that a help lists, each with its one letter, if it has one.
fn options(help: &str) -> impl Iterator<Item = (String, Option<String>)> {
    // What is said of them stands further right.
    let lines = help.lines().filter(|line| !line.starts_with("       "));
    lines.filter_map(|line| {
        let line = line.trim_start();
        let (short, long) = match line.split_once(", --") {
            Some((short, long)) if short.len() == 2 => (Some(short.to_owned()), long),
            _ => (None, line.strip_prefix("--")?),
        };
        let long = long.split([' ', '.']).next()?;
        (long != "help" && long != "version").then(|| (format!("--{long}"), short))
    })
}

#[test]
fn the_table_has_every_command_and_every_option() {
    let cases: Vec<Vec<String>> = cases().map(words).collect();
    let mut all = Vec::new();
    helps(&[], &mut all);
    assert!(all.len() > 25, "{all:#?}");
    let of_run: BTreeSet<String> = all
        .iter()
        .filter(|(command, _)| *command == ["run"])
        .flat_map(|(_, help)| options(help).map(|(long, _)| long))
        .collect();
    let mut missing = Vec::new();
    for (command, help) in &all {
        let own: Vec<_> = cases.iter().filter(|case| case.starts_with(command)).collect();
        if own.is_empty() {
            missing.push(format!("{} has no case", command.join(" ")));
        }
        for (long, short) in options(help) {
            // A conversation has the options of a run.
            let is_known = command.is_empty() && of_run.contains(&long);
            let is = |word: &String| {
                word.split('=').next() == Some(&long) || short.as_ref() == Some(word)
            };
            if !is_known && !own.iter().any(|case| case.iter().any(is)) {
                missing.push(format!("{} {long} has no case", command.join(" ")));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}
