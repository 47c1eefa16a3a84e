//! What the README tells people to type, typed.

use innerloop_tests::{
    anthropic::Message,
    example::JAVASCRIPT,
    mock::{Mock, Reply},
    program::{binary, on_terminal, repository, run_with},
};
use serde_json::json;
use std::{fs, path::Path, process::Command};

/// The text of the README.
fn readme() -> String {
    fs::read_to_string(repository().join("README.md")).expect("the README")
}

/// The first block in that language below a heading.
fn block(heading: &str, language: &str) -> String {
    let text = readme();
    let below = text.split(&format!("{heading}\n")).nth(1).expect("the heading");
    let fenced = below.split(&format!("```{language}\n")).nth(1).expect("a block below it");
    fenced.split("```").next().expect("its end").to_owned()
}

/// The messages of a model that writes one file and is done.
fn model() -> Mock {
    let write = json!({"file_path": "done.txt", "content": "done\n"});
    let messages = [Message::call("c1", "Write", &write), Message::text("Done.")];
    Mock::start(messages.iter().map(Reply::stream).collect())
}

#[test]
fn the_native_quick_start_runs_as_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    JAVASCRIPT.copy_project(&folder.path().join("my-project"));
    // As cargo installs it.
    let bin = folder.path().join("bin");
    fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(binary(), bin.join("innerloop")).unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let script = block("### Natively", "sh");
    assert!(script.lines().count() >= 4, "{script}");
    let model = model();
    let script = format!("cd '{}'\n{script}", folder.path().display());
    let mut shell = Command::new("bash");
    shell.args(["-euo", "pipefail", "-c", &script]).env("ANTHROPIC_BASE_URL", model.url());
    shell.env("PATH", format!("{}:{path}", bin.display()));
    shell.env("INNERLOOP_CACHE_DIR", folder.path().join("cache")).env("NO_COLOR", "1");
    // The newcomer sits at a terminal, looks at the changes, and says yes.
    let done = run_with(&mut on_terminal(&shell), b"y\n").exits(0);
    let written = fs::read_to_string(folder.path().join("my-project/done.txt")).unwrap();
    assert_eq!((written.as_str(), model.left()), ("done\n", 0));
    let shown = ["Done.", "+++ b/done.txt", "apply these changes", " | "];
    let places = shown.map(|words| done.stdout.find(words).expect(words));
    assert!(places.is_sorted(), "first the message, at last the numbered file: {}", done.stdout);
}

#[test]
fn the_two_commands_are_xtasks_and_ci_calls_the_second() {
    let commands: Vec<String> = block("## Two commands", "sh")
        .lines()
        .map(|line| line.split('#').next().unwrap().trim().to_owned())
        .collect();
    assert_eq!(commands, ["cargo xtask demo", "cargo xtask test all"]);
    let ci = fs::read_to_string(repository().join(".ci/run")).unwrap();
    assert!(ci.lines().any(|line| line.trim() == commands[1]), "{ci}");
    let workflow = fs::read_to_string(repository().join(".github/workflows/ci.yml")).unwrap();
    assert!(workflow.lines().any(|line| line.trim() == "run: .ci/run"), "{workflow}");
    let usage = fs::read_to_string(repository().join("xtask/src/main.rs")).unwrap();
    let text = readme();
    for named in text.split("cargo xtask ").skip(1) {
        let word: String = named.chars().take_while(char::is_ascii_lowercase).collect();
        assert!(word.is_empty() || usage.contains(&format!("  {word} ")), "{word}: {usage}");
    }
}

#[test]
fn every_file_that_the_readme_links_to_is_there() {
    for link in readme().split("](").skip(1) {
        // Whether the heading is there is looked at by the tests of the house.
        let path = link.split([')', '#']).next().unwrap();
        assert!(path.starts_with("http") || repository().join(Path::new(path)).exists(), "{path}");
    }
}
