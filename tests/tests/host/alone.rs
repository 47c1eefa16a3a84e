//! The program alone: its file in an empty folder, of a user who has nothing else.

use innerloop_tests::program::{Run, binary, run};
use std::{
    fs,
    process::{Command, Stdio},
};
use tempfile::TempDir;

/// The copy of the program, with folders of a new user around it.
struct Alone(TempDir);

impl Alone {
    fn new() -> Self {
        let scene = TempDir::new().unwrap();
        for folder in ["bin", "home", "project"] {
            fs::create_dir(scene.path().join(folder)).unwrap();
        }
        fs::copy(binary(), scene.path().join("bin/innerloop")).unwrap();
        Self(scene)
    }

    fn run(&self, args: &[&str]) -> Run {
        let mut command = Command::new(self.0.path().join("bin/innerloop"));
        command.args(args).current_dir(self.0.path().join("project")).env_clear();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        run(command.env("HOME", self.0.path().join("home")))
    }

    /// What was compiled and kept so far.
    fn kept(&self) -> usize {
        let folder = self.0.path().join("home/.cache/innerloop/.innerloop");
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        entries.filter(|name| name.to_string_lossy().ends_with(".cwasm")).count()
    }
}

#[test]
fn d1_the_program_needs_no_file_beside_it_for_tools_shell_and_javascript() {
    let alone = Alone::new();
    let write = r#"{"file_path": "a.js", "content": "console.log(6 * 7)\n"}"#;
    let _ = alone.run(&["tool", "write_file", write, "-C", "."]).exits(0);
    let line = ["tools", "run", "bash", "-c", "qjs a.js | tr 2 3; echo hi | tr a-z A-Z"];
    let first = alone.run(&line).exits(0);
    assert_eq!(first.stdout, "43\nHI\n", "{first:?}");
    assert_eq!(alone.kept(), 3, "the tools, the shell and QuickJS");

    let list = alone.run(&["tools", "list"]).exits(0).stdout;
    for name in ["bash", "qjs"] {
        assert!(list.contains(&format!("{name:<8} comes along ")), "{list}");
    }
    let verified = alone.run(&["tools", "verify"]).exits(0).stdout;
    assert_eq!(verified.matches("ok    ").count(), 2, "{verified}");
    let names = fs::read_dir(alone.0.path().join("bin")).unwrap();
    assert_eq!(names.count(), 1, "nothing was put beside it");
}
