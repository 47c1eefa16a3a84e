//! `tools.toml`: what is known of programs, what a user adds, and that a project only narrows; and
//! that programs are held to it in each way they are run.

use crate::sandbox_engine;
use innerloop_core::action::{Action, Outcome};
use innerloop_sandbox::{
    Executor,
    manifest::{FolderAccess, Manifest},
    programs::{ProgramRegistry, ProgramsError},
};
use innerloop_tests::example::{programs, programs_and_shell};
use innerloop_workspace::Workspace;
use std::{fs, path::Path, time::Duration};
use tempfile::TempDir;

const SHA: &str = "e5dc5a398b07b54ea8fdb503bf68fb583d533f10ec3f930963e02b9505f7a763";

/// What comes along, with this in the user's file.
fn with(text: &str) -> Result<Manifest, String> {
    let mut manifest = Manifest::standard().unwrap();
    let text = format!("schema = 1\n{text}");
    manifest.add(&text, Path::new("tools.toml")).map_err(|error| error.to_string())?;
    Ok(manifest)
}

#[test]
fn d1_what_comes_along_is_pinned_and_says_what_it_is() {
    let manifest = Manifest::standard().unwrap();
    for (name, entry) in manifest.iter().filter(|(_, entry)| entry.source.is_some()) {
        assert_eq!(entry.sha_256.as_ref().map(String::len), Some(64), "{name}");
        assert!(!entry.version.is_empty() && !entry.licence.is_empty(), "{name}");
        assert!(!entry.description.contains('\n'), "{name}: {}", entry.description);
    }
    assert_eq!(manifest.of_command("python3"), Some("python"));
    assert_eq!(manifest.of_command("nosuch"), None);
}

#[test]
fn a_user_adds_programs_and_says_more_of_those_that_are_known() {
    let manifest = with(&format!(
        "[tool.own]\nversion = \"1\"\nsha256 = \"{SHA}\"\nfolder = \"none\"\n\
         source = {{ npm = \"@scope/own@1.2.3-4\", file = \"package/own.wasm\" }}\n\
         [tool.python]\nenv = {{ A = \"b\" }}\nlimits = {{ memory_mib = 1024 }}\n"
    ))
    .unwrap();
    let own = manifest.get("own").unwrap();
    assert_eq!((own.folder, &*own.commands), (FolderAccess::None, &["own".to_owned()][..]));
    let source = own.source.as_ref().unwrap();
    assert_eq!(source.package.to_string(), "@scope/own 1.2.3-4 of npm");
    let python = manifest.get("python").unwrap();
    assert_eq!((python.env["A"].as_str(), python.limits.memory_mib), ("b", Some(1024)));
    assert_eq!(python.sha_256.as_deref(), Some(SHA));
}

#[test]
fn a_file_that_can_not_be_used_says_where_and_why() {
    for (text, why) in [
        ("[tool.a]\nsize = 1", "line 3, column 1: unknown field `size`"),
        ("[tool.a\n", "line 2, column "),
        ("[tool.a]\nsource = { pypi = \"a\", file = \"b\" }", "pypi takes NAME==VERSION, not a"),
        ("[tool.a]\nsource = { npm = \"@a/b\", file = \"b\" }", "npm takes NAME@VERSION, not @a/b"),
        ("[tool.a]\nsource = { file = \"b\" }", "say one of pypi, npm, url and path"),
        ("[tool.a]\nsource = { path = \"b\", file = \"c\" }", "tool.a.sha256: a program that is"),
        ("[tool.a]\nsha256 = \"12\"", "tool.a.sha256: a SHA-256 has 64 digits"),
        ("[tool.\"../a\"]\n", "\"../a\" is no name for a command"),
        ("[tool.a]\ncommands = [\"x/y\"]", "\"x/y\" is no name for a command"),
        ("[tool.a]\ncommands = [\"python\"]", "python is a command of "),
        ("[tool.a]\nlimits = { memory_mib = 9999999 }", "a limit is at most"),
    ] {
        let error = with(text).unwrap_err();
        assert!(error.starts_with("cannot use tools.toml: "), "{error}");
        assert!(error.contains(why), "{text}: {error}");
    }
    let asset = |guest: &str| {
        with(&format!(
            "[tool.a]\nassets = [{{ file = \"a.tar\", sha256 = \"{SHA}\", guest = \"{guest}\" }}]"
        ))
    };
    let two = |one: &str, other: &str| {
        let asset =
            |guest: &str| format!("{{ file = \"a\", sha256 = \"{SHA}\", guest = \"{guest}\" }}");
        with(&format!("[tool.a]\nassets = [{}, {}]", asset(one), asset(other)))
    };
    assert!(two("/usr", "/usr/lib").unwrap_err().contains("/usr/lib is in /usr"));
    assert!(two("/opt", "/opt").unwrap_err().contains("/opt is in /opt"));
    two("/usr", "/usrlib").unwrap();
    for guest in ["/", "usr", "/usr/../etc", "/usr//x", "//", ""] {
        assert!(asset(guest).unwrap_err().contains("guest is a folder"), "{guest}");
    }
    asset("/usr/share").unwrap();
    let mut newer = Manifest::standard().unwrap();
    let error = newer.add("schema = 2", Path::new("t")).unwrap_err().to_string();
    assert!(error.contains("reads schema 1, not 2"), "{error}");
}

#[test]
fn m3_a_project_only_narrows() {
    let narrowed = |text: &str| {
        let mut manifest = with("[tool.python]\nfolder = \"read-only\"").unwrap();
        let text = format!("schema = 1\n{text}");
        let narrowed = manifest.narrow(&text, Path::new(".innerloop/tools.toml"));
        narrowed.map(|()| manifest).map_err(|error| error.to_string())
    };
    for (text, why) in [
        ("[tool.python]\nfolder = \"read-write\"", "folder: the program may see less"),
        ("[tool.python]\nlimits = { memory_mib = 513 }", "memory_mib is more than"),
        (
            "[tool.python]\nsource = { url = \"https://x/y.whl\" }",
            "source: a project's file may only",
        ),
        ("[tool.python]\nenv = { A = \"b\" }", "env: a project's file may only narrow"),
        ("[tool.python]\ncommands = [\"ls\"]", "commands: a project's file may only narrow"),
    ] {
        let error = narrowed(text).unwrap_err();
        assert!(error.contains(why), "{text}: {error}");
    }
    let manifest = narrowed(
        "[tool.python]\nfolder = \"none\"\nlimits = { timeout_ms = 9, disk_mib = 0 }\n\
         [tool.qjs]\nenabled = false\n[tool.not-here]\nsource = { url = \"https://x\" }\n",
    )
    .unwrap();
    let python = manifest.get("python").unwrap();
    assert_eq!((python.folder, python.most.timeout_ms), (FolderAccess::None, Some(9)));
    assert!(!manifest.get("qjs").unwrap().enabled);
    assert!(manifest.get("not-here").is_none(), "nothing is added");
}

/// QuickJS and the shell over a folder with the file `a.txt`, where the user's file says so of
/// QuickJS.
struct Held {
    dir: TempDir,
    executor: Executor,
}

impl Held {
    fn new(text: &str) -> Self {
        let dir = TempDir::new().unwrap();
        let folder = |name| dir.path().join(name);
        fs::create_dir_all(folder("programs").join("qjs.files").join(SHA).join("lib")).unwrap();
        fs::create_dir(folder("workspace")).unwrap();
        fs::write(folder("workspace/a.txt"), "in the folder").unwrap();
        fs::write(folder("programs").join("qjs.files").join(SHA).join("lib/x"), "an asset")
            .unwrap();
        fs::copy(programs().join("qjs.wasm"), folder("programs/qjs.wasm")).unwrap();
        fs::copy(programs_and_shell().join("bash.wasm"), folder("programs/bash.wasm")).unwrap();
        let manifest = with(text).unwrap();
        let programs = ProgramRegistry::of(vec![folder("programs")], &manifest).unwrap();
        let workspace = Workspace::open(folder("workspace")).unwrap();
        Self { executor: Executor::new(sandbox_engine(), workspace, programs), dir }
    }

    /// What the script prints as a program, and as a command of the shell; both must be the same.
    async fn prints(&self, script: &str) -> String {
        let args = vec!["--std".to_owned(), "-e".to_owned(), script.to_owned()];
        let program = Action::RunProgram { program: "qjs".into(), args, stdin: None };
        let command = format!("qjs --std -e \"{script}\" | cat");
        let line = Action::Shell { command, folder: None };
        let [program, line] = [self.run(program).await, self.run(line).await];
        let all = |outcome: &Outcome| {
            [outcome.stdout(), outcome.stderr()].map(Option::unwrap_or_default).concat()
        };
        assert_eq!(all(&program), all(&line), "{script}: {program:?} {line:?}");
        all(&program)
    }

    async fn run(&self, action: Action) -> Outcome {
        self.executor.run(&action, Duration::from_secs(20), None).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn m3_assets_are_seen_beside_the_folder_and_can_not_be_changed() {
    let held = Held::new(&format!(
        "[tool.qjs]\nenv = {{ WHO = \"me\" }}\n\
         assets = [{{ file = \"a.tar\", sha256 = \"{SHA}\", guest = \"/usr\" }}]\n"
    ));
    for (script, printed) in [
        ("print(std.loadFile('/usr/lib/x'), std.loadFile('a.txt'))", "an asset in the folder\n"),
        ("print(os.readdir('/usr')[0].sort())", ".,..,lib\n"),
        ("print(std.loadFile('/usr/../a.txt'), std.loadFile('/usr/../../workspace/a.txt'))", ""),
        ("print(std.open('/usr/lib/x', 'w'), std.open('/usr/new', 'w'))", "null null\n"),
        ("print(os.remove('/usr/lib/x') < 0, os.mkdir('/usr/m') < 0)", "true true\n"),
        (
            "print(os.rename('/usr/lib/x', 'mine') < 0, os.rename('a.txt', '/usr/y') < 0)",
            "true true\n",
        ),
        ("print(os.utimes('/usr/lib/x', 0, 0) < 0)", "true\n"),
        ("print(std.getenv('WHO'), std.getenv('HOME'))", "me /\n"),
    ] {
        let said = held.prints(script).await;
        match printed {
            "" => assert!(!said.contains("an asset"), "{script}: {said}"),
            printed => assert_eq!(said, printed, "{script}"),
        }
    }
    let kept = held.dir.path().join("programs/qjs.files").join(SHA);
    assert_eq!(fs::read_to_string(kept.join("lib/x")).unwrap(), "an asset");
    assert_eq!(fs::read_dir(kept).unwrap().count(), 1);
    assert!(!held.dir.path().join("workspace/mine").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn m3_d4_a_program_is_held_to_what_it_may_see_and_use() {
    let blind = Held::new("[tool.qjs]\nfolder = \"none\"");
    let script = "print(std.loadFile('a.txt'), std.open('b', 'w'), os.readdir('/')[1] > 0)";
    assert_eq!(blind.prints(script).await, "null null true\n");
    let reader = Held::new("[tool.qjs]\nfolder = \"read-only\"\nlimits = { memory_mib = 16 }");
    let script = "print(std.loadFile('a.txt'), std.open('a.txt', 'w'))";
    assert_eq!(reader.prints(script).await, "in the folder null\n");
    let script = "try { new Uint8Array(3e7) } catch (error) { print(error.message) }";
    assert_eq!(reader.prints(script).await, "out of memory\n");
    let hasty = Held::new("[tool.qjs]\nlimits = { timeout_ms = 200 }");
    let endless = "while (true);".to_owned();
    let args = vec!["-e".to_owned(), endless.clone()];
    let outcome = hasty.run(Action::RunProgram { program: "qjs".into(), args, stdin: None }).await;
    assert!(outcome.timed_out, "{outcome:?}");
    let command = format!("qjs -e '{endless}'; echo $?");
    let outcome = hasty.run(Action::Shell { command, folder: None }).await;
    assert_eq!(outcome.stdout(), Some("137\n"), "{outcome:?}");
    assert!(outcome.stderr().unwrap().contains("qjs: the time limit ended it"), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_known_and_not_there_is_told_with_what_to_do() {
    let held = Held::new("");
    let args = Vec::new();
    let outcome =
        held.run(Action::RunProgram { program: "python3".into(), args, stdin: None }).await;
    let words = "python3 is not installed here; the user can install it: \
                 innerloop tools install python";
    assert_eq!(outcome.joined_text(), words);
    let command = "clang x.c; echo $?; command -v clang || echo none; nosuch".to_owned();
    let outcome = held.run(Action::Shell { command, folder: None }).await;
    assert_eq!(outcome.stdout(), Some("127\nnone\n"), "{outcome:?}");
    let words = "bash: clang is not installed here; the user can install it: \
                 innerloop tools install clang\nbash: nosuch: command not found";
    assert!(outcome.stderr().unwrap().starts_with(words), "{outcome:?}");
    // What only a machine has.
    let elsewhere = "is not in the sandbox; with --env local the user lets commands run on the \
                     machine";
    let command = "git status; echo $?".to_owned();
    let outcome = held.run(Action::Shell { command, folder: None }).await;
    assert_eq!(outcome.stdout(), Some("127\n"), "{outcome:?}");
    assert_eq!(outcome.stderr().unwrap().trim_end(), format!("bash: git {elsewhere}"));
    let args = Vec::new();
    let outcome = held.run(Action::RunProgram { program: "node".into(), args, stdin: None }).await;
    assert_eq!(outcome.joined_text(), format!("node {elsewhere}"));
    let args = Vec::new();
    let outcome = held.run(Action::RunProgram { program: "curl".into(), args, stdin: None }).await;
    let words = "curl: the sandbox has no network; the tool web_fetch reads pages of domains that \
                 --allow-domain names";
    assert_eq!(outcome.joined_text(), words);
    let all = [
        ("pytest -q", format!("bash: pytest {elsewhere}")),
        ("curl -s https://example.com", format!("bash: {words}")),
        (
            "ssh host ls",
            "bash: ssh: the sandbox has no network; with --env local the user lets commands run \
             on the machine"
                .to_owned(),
        ),
        ("grpe x a.txt", "bash: grpe: command not found".to_owned()),
        ("vim a.txt", "bash: vim: command not found".to_owned()),
    ];
    for (command, words) in all {
        let line = Action::Shell { command: command.to_owned(), folder: None };
        let outcome = held.run(line).await;
        assert_eq!((outcome.exit, outcome.stderr().map(str::trim_end)), (Some(127), Some(&*words)));
        // No more of a line of a result is shown to a person.
        assert!(words.chars().count() <= 110, "{words}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn m3_a_projects_file_is_read_from_its_folder() {
    let held = Held::new("");
    let project = held.dir.path().join("workspace/.innerloop");
    fs::create_dir(&project).unwrap();
    let narrow = |text: &str| {
        fs::write(project.join("tools.toml"), text).unwrap();
        held.executor.programs().in_project(held.executor.workspace())
    };
    let without = narrow("schema = 1\n[tool.qjs]\nenabled = false\n").unwrap();
    assert_eq!(without.names().collect::<Vec<_>>(), ["bash"]);
    let less = narrow(
        "schema = 1\n[tool.bash]\nfolder = \"read-only\"\n[tool.wasi-run]\nenabled = false\n",
    );
    let less = Executor::new(sandbox_engine(), held.executor.workspace().clone(), less.unwrap());
    let command = "echo x > new; cat a.txt; wasi-run a.txt".to_owned();
    let line = Action::Shell { command, folder: None };
    let outcome = less.run(&line, Duration::from_secs(20), None).await;
    assert_eq!(outcome.stdout(), Some("in the folder"), "{outcome:?}");
    assert!(outcome.stderr().unwrap().contains("wasi-run: command not found"), "{outcome:?}");
    assert!(!held.dir.path().join("workspace/new").exists());
    let error = narrow("schema = 1\n[tool.qjs]\nsha256 = \"\"\n").unwrap_err().to_string();
    assert!(error.starts_with("cannot use .innerloop/tools.toml: tool.qjs.sha256: "), "{error}");
    let outside = held.dir.path().join("outside.toml");
    fs::write(&outside, "schema = 1\n").unwrap();
    fs::remove_file(project.join("tools.toml")).unwrap();
    std::os::unix::fs::symlink(&outside, project.join("tools.toml")).unwrap();
    let error = held.executor.programs().in_project(held.executor.workspace()).unwrap_err();
    assert!(error.to_string().starts_with("cannot use .innerloop/tools.toml: "), "{error}");
    fs::remove_file(project.join("tools.toml")).unwrap();
    assert!(narrow(&"#".repeat(2 << 20)).unwrap_err().to_string().contains("at most 1048576"));
}

#[test]
fn a_pinned_program_with_other_bytes_is_not_run() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("python.wasm"), "\0asm\x01\0\0\0").unwrap();
    let error = ProgramRegistry::open(dir.path()).unwrap_err();
    assert!(matches!(error, ProgramsError::Program(_)), "{error}");
    assert!(error.to_string().contains("python.wasm is not CPython 3.12.0: its SHA-256 is "));
}
