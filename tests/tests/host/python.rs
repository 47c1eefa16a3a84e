//! Python in the sandbox, as it is installed: projects are tested with it, by `run_program`, by the
//! shell and from the command line, and it reaches nothing but the folder. What is not of Python
//! alone is shown by the tests of the sandbox.

use crate::sandbox_engine;
use innerloop_core::action::{Action, ChangeKind, Outcome, ToolError};
use innerloop_sandbox::{
    CallContext, Executor, OnDelta, RunLimits, manifest::Manifest, programs::ProgramRegistry,
};
use innerloop_tests::{
    example::{data_home, programs_and_shell, python},
    program::{Run, Started, innerloop, run, run_with, wait_for},
};
use innerloop_workspace::Workspace;
use std::{
    fs,
    path::PathBuf,
    process::Command,
    sync::{Arc, Mutex, OnceLock},
    time::Duration,
};
use tempfile::TempDir;

/// Far longer than anything here takes, also where all tests run at once.
const A_MINUTE: Duration = Duration::from_secs(60);

const SHAPES: &str = "\
def area(width, height):
    return width + height
";
const TEST_SHAPES: &str = "\
import unittest

from shapes import area


class AreaTest(unittest.TestCase):
    def test_a_rectangle(self):
        self.assertEqual(area(3, 5), 15)

    def test_nothing(self):
        self.assertEqual(area(0, 0), 0)
";

/// Each program once for all tests: the large ones are read to be checked.
fn programs() -> ProgramRegistry {
    static PROGRAMS: OnceLock<ProgramRegistry> = OnceLock::new();
    let all = PROGRAMS.get_or_init(|| {
        let manifest = Manifest::standard().unwrap();
        ProgramRegistry::of(vec![programs_and_shell(), python()], &manifest).unwrap()
    });
    all.clone()
}

/// A folder, and an executor over it with Python, QuickJS and the shell.
struct Project {
    dir: TempDir,
    executor: Executor,
}

impl Project {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        fs::create_dir(dir.path().join("workspace")).unwrap();
        fs::write(dir.path().join("secret"), "secret").unwrap();
        let workspace = Workspace::open(dir.path().join("workspace")).unwrap();
        Self { executor: Executor::new(sandbox_engine(), workspace, programs()), dir }
    }

    /// With a module and a test of it that fails.
    fn red() -> Self {
        Self::new().file("shapes.py", SHAPES).file("test_shapes.py", TEST_SHAPES)
    }

    /// One that works in place and one over an overlay.
    fn both(make: impl Fn() -> Self) -> [Self; 2] {
        let over = make();
        let overlay = over.executor.workspace().overlay().unwrap();
        let executor = Executor::new(sandbox_engine(), overlay, programs());
        [make(), Self { executor, ..over }]
    }

    fn limited(self, limits: RunLimits) -> Self {
        Self { executor: self.executor.with_limits(limits), ..self }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join("workspace").join(path)
    }

    fn file(self, path: &str, text: &str) -> Self {
        let place = self.path(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, text).unwrap();
        self
    }

    /// Reads a file of the folder, to which an overlay is applied before.
    fn read(&self, path: &str) -> String {
        self.executor.workspace().apply().unwrap();
        fs::read_to_string(self.path(path)).unwrap()
    }

    async fn run(&self, args: &[&str]) -> Outcome {
        self.executor.run(&program("python", args), A_MINUTE, None).await
    }

    async fn line(&self, command: &str) -> Outcome {
        self.executor.run(&line(command), A_MINUTE, None).await
    }

    /// What a command line that ends well prints.
    async fn prints(&self, command: &str) -> String {
        let outcome = self.line(command).await;
        assert_eq!((outcome.error, outcome.stderr()), (None, Some("")), "{command}: {outcome:?}");
        outcome.stdout().unwrap().to_owned()
    }

    /// The command `innerloop tools run`, of a user who has installed Python, in the folder.
    fn tools_run(&self, args: &[&str]) -> Command {
        let mut command = innerloop(["tools", "run"]);
        command.args(args).current_dir(self.path(""));
        command.env("XDG_DATA_HOME", data_home());
        command
    }
}

fn program(name: &str, args: &[&str]) -> Action {
    let args = args.iter().map(|&arg| arg.to_owned()).collect();
    Action::RunProgram { program: name.into(), args, stdin: None }
}

fn line(command: &str) -> Action {
    Action::Shell { command: command.into(), folder: None }
}

/// Whether Python itself told the error: its words alone, nothing of the host.
fn is_told_by_python(outcome: &Outcome, error: &str) -> bool {
    let said = outcome.stderr().unwrap_or_default();
    let last = said.lines().last().unwrap_or_default();
    outcome.exit == Some(1)
        && said.starts_with("Traceback (most recent call last):\n")
        && last.starts_with(error)
        && !["wasm", "panicked", "/target/", ".rs:"].iter().any(|word| said.contains(word))
}

#[tokio::test(flavor = "multi_thread")]
async fn d1_tests_are_red_and_then_green() {
    for project in Project::both(Project::red) {
        for args in [&["-m", "unittest"][..], &["-m", "unittest", "discover", "-v"]] {
            let red = project.run(args).await;
            assert_eq!((red.exit, red.error), (Some(1), Some(ToolError::Exit)), "{red:?}");
            let said = red.stderr().unwrap();
            let test = "FAIL: test_a_rectangle (test_shapes.AreaTest.test_a_rectangle)\n";
            assert!(said.contains(test), "{said}");
            assert!(
                said.contains("File \"/test_shapes.py\", line 8, in test_a_rectangle"),
                "{said}"
            );
            assert!(said.contains("AssertionError: 8 != 15\n"), "{said}");
            assert!(said.ends_with("\nFAILED (failures=1)\n"), "{said}");
            assert!(red.changes.is_empty(), "nothing is left of compiling: {red:?}");
        }
        assert_eq!(
            project.prints("python -m unittest 2>&1 | tail -1; echo ${PIPESTATUS[0]}").await,
            "FAILED (failures=1)\n1\n"
        );
        project.prints("sed -i 's/width + height/width * height/' shapes.py").await;
        let green = project.run(&["-m", "unittest"]).await;
        assert_eq!((green.exit, green.error), (Some(0), None), "{green:?}");
        assert!(green.stderr().unwrap().ends_with("\nOK\n"), "{green:?}");
        assert_eq!(project.prints("python3 -m unittest 2>&1 | tail -1").await, "OK\n");
        assert!(project.read("shapes.py").contains("width * height"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d1_tests_in_javascript_are_red_and_then_green() {
    let project = Project::new()
        .file("area.mjs", "export const area = (width, height) => width + height;\n")
        .file(
            "test.mjs",
            "import { area } from './area.mjs';\n\
             if (area(3, 5) !== 15) throw new Error(`area is ${area(3, 5)}`);\n\
             console.log('ok');\n",
        );
    let red = project.executor.run(&program("qjs", &["-m", "test.mjs"]), A_MINUTE, None).await;
    assert_eq!(red.exit, Some(1), "{red:?}");
    assert!(red.stderr().unwrap().contains("Error: area is 8\n    at"), "{red:?}");
    let first = project.prints("qjs -m test.mjs 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}").await;
    assert_eq!(first, "Error: area is 8\n1\n");
    project.prints("sed -i 's/+/*/' area.mjs").await;
    let green = project.executor.run(&program("qjs", &["-m", "test.mjs"]), A_MINUTE, None).await;
    assert_eq!((green.exit, green.stdout()), (Some(0), Some("ok\n")));
    assert_eq!(project.prints("qjs -m test.mjs").await, "ok\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn c11_scripts_and_code_take_part_in_command_lines() {
    let project = Project::new()
        .file("args.py", "import sys\nprint(sys.argv)\n")
        .file("tool", "#!/usr/bin/env python3\nimport sys\nprint('tool', *sys.argv[1:])\n")
        .file("direct", "#!/usr/bin/python3\nprint('direct')\n")
        .file("pkg/__init__.py", "")
        .file("pkg/__main__.py", "print('package', __name__)\n");
    for (command, printed) in [
        ("python3 args.py one 'two words' -x", "['args.py', 'one', 'two words', '-x']\n"),
        ("python -m pkg", "package __main__\n"),
        ("chmod +x tool direct; ./tool a 'b c'; ./direct", "tool a b c\ndirect\n"),
        ("(cd pkg && ../tool from below)", "tool from below\n"),
        ("seq 3 | python -c 'import sys; print(sum(map(int, sys.stdin)))' | cat -n", "     1\t6\n"),
        ("x=$(python -c 'print(6 * 7)'); echo \"<$x>\"", "<42>\n"),
        ("python - one <<'END'\nimport sys\nprint(sys.argv)\nEND", "['-', 'one']\n"),
        ("python -c 'print(input())' <<< given", "given\n"),
        ("python -c 'import sys; sys.exit(7)'; echo $?", "7\n"),
        ("python -c 'while True: print(1)' 2>/dev/null | head -2", "1\n1\n"),
        ("export WHO=me; python -c 'import os; print(os.environ[\"WHO\"])'", "me\n"),
        ("python -c 'print(\"é\")' | python -c 'print(ascii(input()))'", "'\\xe9'\n"),
        (
            "python -c 'print(1)' | python -c 'print(input() + \"2\")' | python - < args.py",
            "['-']\n",
        ),
        ("python -c 'import json, re, sqlite3, csv, zlib, decimal' && echo all", "all\n"),
    ] {
        assert_eq!(project.prints(command).await, printed, "{command}");
    }
    let stdin = Some("one\ntwo\n".to_owned());
    let args = vec!["-c".to_owned(), "import sys; print(len(sys.stdin.readlines()))".to_owned()];
    let action = Action::RunProgram { program: "python3".into(), args, stdin };
    let outcome = project.executor.run(&action, A_MINUTE, None).await;
    assert_eq!((outcome.stdout(), outcome.exit), (Some("2\n"), Some(0)), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn d1_files_are_read_and_written_and_what_changed_is_told() {
    let write = "text = open('data/in.txt').read()\n\
                 with open('data/out.txt', 'w') as file:\n    file.write(text.upper())\n";
    let projects = Project::both(|| Project::new().file("data/in.txt", "words\n"));
    for (project, is_in_place) in projects.into_iter().zip([true, false]) {
        let outcome = project.run(&["-c", write]).await;
        let [change] = &outcome.changes[..] else { panic!("{outcome:?}") };
        assert_eq!((change.path.as_str(), change.kind), ("data/out.txt", ChangeKind::Created));
        assert_eq!(project.path("data/out.txt").exists(), is_in_place, "an overlay keeps it");
        let outcome = project
            .line(
                "cd data && python3 -c 'import os, pathlib
pathlib.Path(\"in.txt\").write_text(\"new\")
os.rename(\"out.txt\", \"../moved.txt\")
os.mkdir(\"deep\")
print(*sorted(os.listdir(\".\")))'",
            )
            .await;
        assert_eq!((outcome.stdout(), outcome.error), (Some("deep in.txt\n"), None), "{outcome:?}");
        let mut paths: Vec<_> = outcome.changes.iter().map(|change| &*change.path).collect();
        paths.sort_unstable();
        assert_eq!(paths, ["data/in.txt", "data/out.txt", "moved.txt"], "{outcome:?}");
        assert_eq!(project.read("moved.txt"), "WORDS\n");
        assert_eq!(project.read("data/in.txt"), "new");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn m3_nothing_outside_of_the_folder_is_reached() {
    let project = Project::new().file(".git/config", "mine").file("a.txt", "in the folder");
    for (code, error) in [
        ("open('/etc/passwd')", "FileNotFoundError: "),
        ("open('../secret')", "PermissionError: "),
        ("open('/../secret')", "PermissionError: "),
        ("open('../new', 'w')", "PermissionError: "),
        ("import os; os.listdir('..')", "PermissionError: "),
        ("import os; os.chdir('..'); open('../secret')", "PermissionError: "),
        ("import os; os.symlink('../secret', 'link'); open('link')", "PermissionError: "),
        ("import os; os.symlink('/etc/passwd', 'link'); open('link')", "PermissionError: "),
        ("open('.git/config', 'w')", "PermissionError: "),
        ("import shutil; shutil.rmtree('.git')", "PermissionError: "),
        ("open('/proc/self/environ')", "FileNotFoundError: "),
        ("open('/dev/zero')", "FileNotFoundError: "),
        ("import socket; socket.socket()", "OSError: "),
        ("import socket; socket.socket(fileno=3)", "OSError: "),
        ("import urllib.request as u; u.urlopen('http://127.0.0.1/')", "AttributeError: "),
        ("import subprocess; subprocess.run(['ls'])", "OSError: "),
        ("import os; os.system('ls')", "AttributeError: "),
        ("import os; os.fork()", "AttributeError: "),
        ("import os; os.execv('/bin/ls', ['ls'])", ""),
        ("import os; os.kill(1, 9)", ""),
        ("import threading; threading.Thread(target=print).start()", "RuntimeError: "),
        ("import ctypes", "ModuleNotFoundError: "),
    ] {
        let outcome = project.run(&["-c", code]).await;
        assert!(is_told_by_python(&outcome, error), "{code}: {outcome:?}");
        assert_eq!(outcome.stdout(), Some(""), "{code}");
        assert!(outcome.changes.is_empty(), "{code}: {outcome:?}");
    }
    let variables = "import os; print(*sorted(os.environ))";
    let outcome = project.run(&["-c", variables]).await;
    assert_eq!(outcome.stdout(), Some("HOME LANG PWD PYTHONDONTWRITEBYTECODE TZ\n"));
    assert_eq!(project.read(".git/config"), "mine");
    let around: Vec<_> = fs::read_dir(project.dir.path()).unwrap().collect();
    assert_eq!(around.len(), 2, "{around:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn d4_an_endless_loop_ends_by_the_time_limit() {
    let project = Project::new();
    let endless = "print('begun', flush=True)\nwhile True: pass";
    // Begun, so that the limit does not come before the first word.
    assert_eq!(project.run(&["-c", ""]).await.exit, Some(0));
    for sleeps in [endless, "import time\nprint('begun', flush=True)\ntime.sleep(3600)"] {
        let action = program("python", &["-c", sleeps]);
        let outcome = project.executor.run(&action, Duration::from_secs(3), None).await;
        assert_eq!((outcome.error, outcome.timed_out), (Some(ToolError::Timeout), true));
        assert_eq!(outcome.stdout(), Some("begun\n"), "{outcome:?}");
    }
    let action = line(&format!("echo said; python -c \"{endless}\" | cat"));
    let outcome = project.executor.run(&action, Duration::from_secs(3), None).await;
    assert!(outcome.timed_out, "{outcome:?}");
    assert!(outcome.stdout().unwrap().starts_with("said\n"), "{outcome:?}");
    assert_eq!(project.prints("python -c 'print(1)'").await, "1\n", "the next one runs");
}

#[tokio::test(flavor = "multi_thread")]
async fn i15_an_endless_loop_ends_by_an_interruption() {
    let project = Project::new();
    let seen = Arc::<Mutex<String>>::default();
    let heard = Arc::clone(&seen);
    let on_delta: OnDelta = Arc::new(move |text: &str| heard.lock().unwrap().push_str(text));
    let begun = async move {
        while !seen.lock().unwrap().contains("begun") {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    // Not even an `except` for everything holds it.
    let code = "print('begun', flush=True)
while True:
    try:
        while True: pass
    except BaseException: pass";
    let action = program("python", &["-c", code]);
    let outcome = project
        .executor
        .run_until(&CallContext::default(), &action, A_MINUTE, Some(on_delta), begun)
        .await;
    assert_eq!(outcome.error, Some(ToolError::Interrupted), "{outcome:?}");
    assert_eq!(outcome.stdout(), Some("begun\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn m3_too_much_memory_output_or_disk_ends_it() {
    let limits = RunLimits { memory_bytes: 128 << 20, disk_bytes: 1 << 20, ..RunLimits::default() };
    let project = Project::new().limited(RunLimits { output_bytes: 4 << 20, ..limits });
    for bomb in ["bytearray(2**30)", "'x' * 10**9", "all = []\nwhile True: all.append(' ' * 10**6)"]
    {
        let outcome = project.run(&["-c", bomb]).await;
        assert!(is_told_by_python(&outcome, "MemoryError"), "{bomb}: {outcome:?}");
    }
    let outcome = project.run(&["-c", "def f(n): return f(n + 1)\nf(0)"]).await;
    assert!(is_told_by_python(&outcome, "RecursionError: "), "{outcome:?}");
    for (bomb, words) in [
        ("while True: print('x' * 10**5)", "it was stopped because it printed too much"),
        (
            "open('big', 'w').write('x' * 10**7)",
            "it was stopped because it wrote too much to files",
        ),
    ] {
        let outcome = project.run(&["-c", bomb]).await;
        assert_eq!(outcome.error, Some(ToolError::Limit), "{bomb}: {outcome:?}");
        assert!(outcome.joined_text().contains(words), "{bomb}: {outcome:?}");
    }
    assert_eq!(project.run(&["-c", "print(1)"]).await.stdout(), Some("1\n"));
}

#[test]
fn d1_a_user_runs_python_from_the_command_line() {
    let project = Project::red();
    let ends = |args: &[&str], code: i32| -> Run { run(&mut project.tools_run(args)).exits(code) };
    let code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)";
    let ran = ends(&["python", "-c", code], 3);
    assert_eq!((&*ran.stdout, &*ran.stderr), ("out\n", "err\n"));
    let red = ends(&["python", "-m", "unittest"], 1);
    assert!(red.stderr.ends_with("\nFAILED (failures=1)\n"), "{red:?}");
    fs::write(project.path("shapes.py"), SHAPES.replace('+', "*")).unwrap();
    assert!(ends(&["python3", "-m", "unittest"], 0).stderr.ends_with("\nOK\n"));
    let names = fs::read_dir(project.path("")).unwrap().count();
    assert_eq!(names, 2, "no `__pycache__` is left");
    let mut reading = project.tools_run(&["python", "-c", "print(input()[::-1])"]);
    assert_eq!(run_with(&mut reading, b"abc\n").exits(0).stdout, "cba\n");
    let mut shown = innerloop(["tools", "list"]);
    let list = run(shown.env("XDG_DATA_HOME", data_home())).exits(0);
    assert!(list.stdout.contains("python   installed      CPython 3.12.0"), "{list:?}");
}

#[test]
fn d1_ctrl_c_ends_python_on_the_command_line() {
    let project = Project::new();
    let code = "open('begun', 'w').close()\nwhile True: pass";
    let program = Started::new(&mut project.tools_run(&["python", "-c", code]), b"");
    wait_for("the first file", || project.path("begun").exists());
    program.interrupt();
    let run = program.finish().exits(130);
    assert!(run.complaint().contains("interrupted; what was done so far stays"), "{run:?}");
}
