//! `innerloop tools`: programs are listed, installed from files, checked, run and removed, and what
//! goes wrong says what to do.

use innerloop_tests::{
    example::programs,
    program::{Run, Started, binary, innerloop, run},
    scene::Scene,
};
use std::{
    fs,
    io::Write as _,
    path::PathBuf,
    process::{Command, Stdio},
};

/// Prints its standard input in upper case, and ends with the number of its arguments.
const LOUD: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $args (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (func (export "_start") (local $at i32) (local $byte i32)
    (i32.store (i32.const 0) (i32.const 64))
    (i32.store (i32.const 4) (i32.const 1024))
    (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
    (block $end (loop $next
      (br_if $end (i32.ge_u (local.get $at) (i32.load (i32.const 8))))
      (local.set $byte (i32.load8_u offset=64 (local.get $at)))
      (if (i32.and (i32.ge_u (local.get $byte) (i32.const 97))
                   (i32.le_u (local.get $byte) (i32.const 122)))
        (then (i32.store8 offset=64 (local.get $at)
          (i32.sub (local.get $byte) (i32.const 32)))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br $next)))
    (i32.store (i32.const 4) (i32.load (i32.const 8)))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 12)))
    (drop (call $args (i32.const 16) (i32.const 20)))
    (call $exit (i32.sub (i32.load (i32.const 16)) (i32.const 1)))))"#;

/// A user's folders, in which nothing is installed yet.
struct User(Scene);

impl User {
    fn new() -> Self {
        let scene = Scene::new(Vec::new());
        fs::write(scene.path("loud.wasm"), wat::parse_str(LOUD).unwrap()).unwrap();
        Self(scene)
    }

    fn tools(&self, args: &[&str]) -> Command {
        let mut command = innerloop(["tools"]);
        command.args(args).current_dir(self.0.workspace());
        command.env("XDG_DATA_HOME", self.0.path("data"));
        command.env("XDG_CONFIG_HOME", self.0.path("config"));
        command
    }

    fn run(&self, args: &[&str]) -> Run {
        run(&mut self.tools(args))
    }

    fn installed(&self, name: &str) -> PathBuf {
        self.0.path("data/innerloop/programs").join(name)
    }

    fn says(&self, toml: &str) {
        fs::create_dir_all(self.0.path("config/innerloop")).unwrap();
        fs::write(self.0.path("config/innerloop/tools.toml"), toml).unwrap();
    }
}

#[test]
fn d1_a_program_is_installed_from_a_file_listed_run_and_removed() {
    let user = User::new();
    let list = user.run(&["list"]).exits(0);
    for line in ["bash     comes along    bashkit 0.20.2", "python   not installed  CPython 3.12.0"]
    {
        assert!(list.stdout.contains(line), "{list:#?}");
    }
    let file = user.0.arg("loud.wasm");
    let installed = user.run(&["install", "loud", "--from", &file]).exits(0);
    assert_eq!(installed.stdout, "loud is installed, as loud\n");
    assert!(user.run(&["list"]).exits(0).stdout.contains("loud     installed"));
    assert!(user.run(&["verify"]).exits(0).stdout.contains("ok    loud "));

    let ran = Started::new(&mut user.tools(&["run", "loud"]), b"some words\n").finish().exits(0);
    assert_eq!((&*ran.stdout, &*ran.stderr), ("SOME WORDS\n", ""));
    let ran = Started::new(&mut user.tools(&["run", "loud", "-x", "--", "y"]), b"a").finish();
    assert_eq!(ran.exits(3).stdout, "A");
    let mut line = innerloop(["tool", "shell", r#"{"command": "echo hi | loud | cat -A"}"#]);
    line.env("XDG_DATA_HOME", user.0.path("data")).arg("-C").arg(user.0.workspace());
    assert_eq!(run(&mut line).exits(0).stdout, "HI$\n");

    assert_eq!(user.run(&["remove", "loud"]).exits(0).stdout, "loud is removed\n");
    assert!(!user.installed("loud.wasm").exists());
    let gone = user.run(&["run", "loud"]).exits(1);
    assert!(gone.complaint().contains("no program `loud`; there is: bash, "), "{gone:?}");
}

/// An update replaces the program's file while it runs.
#[cfg(target_os = "linux")]
#[test]
fn m3_a_program_whose_file_was_replaced_still_compiles() {
    let user = User::new();
    let own = user.0.path("innerloop");
    fs::copy(binary(), &own).unwrap();
    fs::copy(user.0.path("loud.wasm"), user.0.workspace().join("loud")).unwrap();
    let usual = user.tools(&["run", "bash", "-c", "wasi-run loud"]);
    let mut program = Command::new(&own);
    program.args(usual.get_args()).current_dir(user.0.workspace()).env_clear();
    program.envs(usual.get_envs().filter_map(|(name, value)| Some((name, value?))));
    program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut program = program.spawn().unwrap();
    fs::remove_file(&own).unwrap();
    fs::write(&own, "another version").unwrap();
    // It waits for its input, and compiles what the shell runs afterwards.
    program.stdin.take().unwrap().write_all(b"some words").unwrap();
    let ended = program.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stdout).unwrap();
    assert_eq!(said, "SOME WORDS", "{}", String::from_utf8_lossy(&ended.stderr));
}

#[test]
fn what_can_not_be_installed_says_why_and_leaves_nothing() {
    let user = User::new();
    let complains = |args: &[&str], code: i32, words: &[&str]| {
        let run = user.run(args).exits(code);
        for word in words {
            assert!(run.complaint().contains(word), "{word}: {run:#?}");
        }
    };
    complains(&["install", "nosuch"], 2, &["no program is known as nosuch", "--from FILE"]);
    complains(&["install", "own", "--from", "/no/such"], 1, &["/no/such", "No such file"]);
    complains(&["install", "own", "--from", "/dev/zero"], 1, &["it is no file"]);
    let other = user.0.arg("loud.wasm");
    let words = ["cannot install python", "e5dc5a398b07", "do not use it"];
    complains(&["install", "python3", "--from", &other], 1, &words);
    assert!(!user.installed("python.wasm").exists());
    for name in ["../own", "/tmp/own", ".own", ""] {
        complains(&["install", name, "--from", &other], 2, &["is no name for a program"]);
        complains(&["remove", name], 2, &["is no name for a program"]);
    }
    complains(&["remove", "loud"], 2, &["it is not installed"]);
    complains(&["remove", "qjs"], 2, &["it comes along", "enabled = false"]);
    complains(&["run", "python"], 1, &["innerloop tools install python"]);
    fs::write(user.0.path("text.wasm"), "no module").unwrap();
    let text = user.0.arg("text.wasm");
    complains(&["install", "text", "--from", &text], 1, &["is not a WebAssembly module"]);
    complains(&["install", "bash", "--from", &text], 1, &["is not a WebAssembly module"]);
    assert!(!user.installed("text.wasm").exists() && !user.installed("bash.wasm").exists());
}

#[test]
fn m3_what_was_changed_after_it_was_installed_is_refused() {
    let user = User::new();
    let sha = {
        let list = user.run(&["install", "loud", "--from", &user.0.arg("loud.wasm")]).exits(0);
        drop(list);
        let verified = user.run(&["verify"]).exits(0).stdout;
        let line = verified.lines().find(|line| line.contains(" loud ")).unwrap().to_owned();
        line.rsplit(' ').next().unwrap().to_owned()
    };
    user.says(&format!("schema = 1\n[tool.loud]\nversion = \"Loud 1\"\nsha256 = \"{sha}\"\n"));
    let _fine = user.run(&["verify"]).exits(0);
    let mut bytes = fs::read(user.installed("loud.wasm")).unwrap();
    bytes.extend([0, 2, 1, b'x']);
    fs::remove_file(user.installed("loud.wasm")).unwrap();
    fs::write(user.installed("loud.wasm"), bytes).unwrap();
    let broken = user.run(&["verify"]).exits(1);
    assert!(broken.stdout.contains("FAIL  loud: ") && broken.stdout.contains("ok    qjs "));
    let from = user.run(&[
        "install",
        "loud",
        "--from",
        &user.installed("loud.wasm").display().to_string(),
    ]);
    assert!(from.exits(1).complaint().contains("is not Loud 1: its SHA-256 is"));
    let refused = user.run(&["run", "loud"]).exits(3);
    assert!(refused.complaint().contains("loud.wasm is not Loud 1: its SHA-256 is"), "{refused:?}");
    let _mended = user.run(&["install", "loud", "--from", &user.0.arg("loud.wasm")]).exits(0);
    assert!(user.run(&["verify"]).exits(0).stdout.contains("ok    loud "));
    user.says("schema = 1\n[tool.qjs]\nlimits = { timeout_ms = 200 }\n");
    let late = user.run(&["run", "qjs", "-e", "while (true);"]).exits(1);
    assert!(late.complaint().contains("the program's time limit ended it"), "{late:?}");
    user.says("schema = 1\n[tool.loud]\nenabled = false\n");
    let off = user.run(&["run", "loud"]).exits(1);
    assert!(off.complaint().contains("no program `loud`"), "{off:?}");
    user.says("schema = 3\n");
    let newer = user.run(&["list"]).exits(3);
    assert!(newer.complaint().contains("config/innerloop/tools.toml: schema: "), "{newer:?}");
}

#[test]
fn a_program_runs_in_the_folder_itself_until_it_is_interrupted() {
    let user = User::new();
    let folder = programs();
    let folder = folder.to_str().unwrap();
    let script = "const f = std.open('made', 'w'); f.puts('by qjs'); f.close(); os.sleep(60000)";
    let mut command = user.tools(&["run", "--programs", folder, "qjs", "--std", "-e", script]);
    let program = Started::new(&mut command, b"");
    innerloop_tests::program::wait_for("the file", || {
        fs::read_to_string(user.0.workspace().join("made")).is_ok_and(|text| text == "by qjs")
    });
    program.interrupt();
    let run = program.finish().exits(130);
    assert!(run.complaint().contains("interrupted"), "{run:?}");
}
