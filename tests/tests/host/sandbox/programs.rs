//! Programs that behave: their output, exit code, input, environment, and where they are found.

use super::{Bench, OPS, TEN_SECONDS, collector, run_program, wasm, within};
use innerloop_core::action::{Action, ToolError};
use innerloop_sandbox::{
    ModuleError,
    programs::{ProgramRegistry, ProgramsError},
};
use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt};

#[tokio::test(flavor = "multi_thread")]
async fn a_program_runs_a_module_that_imports_another() {
    let bench = Bench::qjs();
    bench.write("lib/sum.mjs", "export const sum = (a, b) => a + b;\n");
    bench.write(
        "main.mjs",
        "import { sum } from './lib/sum.mjs';\n\
         import * as std from 'qjs:std';\n\
         console.log(sum(40, 2), std.loadFile('/lib/sum.mjs').length);\n",
    );
    let outcome = bench.run("qjs", &["-m", "main.mjs"]).await;
    assert_eq!((outcome.joined_text().as_str(), outcome.exit), ("42 36\n", Some(0)));
    assert_eq!((outcome.error, outcome.changes), (None, vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_program_gives_both_outputs_and_its_exit_code() {
    let bench = Bench::qjs();
    bench.write("t.mjs", "console.log('before'); throw new Error('no good');\n");
    let outcome = bench.run("qjs", &["-m", "t.mjs"]).await;
    let text = outcome.joined_text();
    assert!(text.starts_with("before\nstandard error:\n"), "{text}");
    assert!(text.contains("Error: no good") && text.contains("t.mjs:1"), "{text}");
    assert_eq!((outcome.error, outcome.exit), (Some(ToolError::Exit), Some(1)));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_exit_code_is_the_programs_own() {
    let bench = Bench::new();
    for (letter, code) in [("x", 300), ("y", 127)] {
        let outcome = bench.run("bombs", &[letter]).await;
        assert_eq!((outcome.error, outcome.exit), (Some(ToolError::Exit), Some(code)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d6_m7_the_environment_is_fixed_and_tells_nothing_of_the_host() {
    let outcome = Bench::new().run("ops", &["e"]).await;
    assert_eq!(outcome.joined_text(), "HOME=/\0LANG=C.UTF-8\0PWD=/\0TZ=UTC\0");
}

#[tokio::test(flavor = "multi_thread")]
async fn standard_input_is_what_the_action_says_and_else_empty() {
    let bench = Bench::new();
    let mut action = run_program("ops", &["i"]);
    assert_eq!(bench.executor.run(&action, TEN_SECONDS, None).await.joined_text(), "");
    if let Action::RunProgram { stdin, .. } = &mut action {
        *stdin = Some("größe\n".repeat(50_000));
    }
    let outcome = bench.executor.run(&action, TEN_SECONDS, None).await;
    assert_eq!(outcome.joined_text(), "größe\n".repeat(50_000));
}

#[tokio::test(flavor = "multi_thread")]
async fn output_streams_in_the_order_of_its_coming_and_never_cuts_a_character() {
    let bench = Bench::new();
    let (on_delta, seen) = collector();
    let action = run_program("bombs", &["h"]);
    let outcome = bench.executor.run(&action, TEN_SECONDS, Some(on_delta)).await;
    assert_eq!(*seen.lock().unwrap(), ["half", "half", "€done\n"]);
    assert_eq!(outcome.joined_text(), "half€done\nstandard error:\nhalf");

    let (on_delta, seen) = collector();
    let action = run_program("bombs", &["i"]);
    bench.executor.run(&action, TEN_SECONDS, Some(on_delta)).await;
    assert_eq!(*seen.lock().unwrap(), ["half", "\u{fffd}"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_program_is_answered_with_those_that_exist() {
    let outcome = Bench::new().run("nonesuch", &[]).await;
    assert_eq!(outcome.error, Some(ToolError::NotFound));
    assert_eq!(outcome.joined_text(), "no program `nonesuch`; there is: bombs, ops");
    let outcome = Bench::with(&[]).run("nonesuch", &[]).await;
    assert_eq!(outcome.joined_text(), "no program `nonesuch`; no programs are installed");
    let outcome = Bench::new().run("ruby", &[]).await;
    let text = outcome.joined_text();
    assert!(
        text.starts_with("ruby is not in the sandbox") && text.contains("--env local"),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_no_wasi_command_is_refused_with_the_reason() {
    let library = wasm("(module (func (export \"add\")))");
    let foreign = wasm("(module (import \"env\" \"f\" (func)) (func (export \"_start\")))");
    let component = wasm("(component)");
    let cases: [(&str, &[u8], &str); 6] = [
        ("text", b"#!/bin/sh\n", "it is not a WebAssembly module"),
        ("empty", b"", "it is not a WebAssembly module"),
        ("broken", b"\0asm\x01\0\0\0\xff\xff", "it is not a valid module"),
        ("component", &component, "a WASI preview 1 command is needed"),
        ("library", &library, "no `_start` function"),
        ("foreign", &foreign, "more than WASI preview 1 offers: unknown import: `env::f`"),
    ];
    for (name, bytes, reason) in cases {
        let outcome = Bench::with(&[(name, bytes)]).run(name, &[]).await;
        let text = outcome.joined_text();
        assert!(text.starts_with(&format!("{name} can't be run: ")), "{text}");
        assert!(text.contains(reason), "{text}");
        assert_eq!(outcome.error, Some(ToolError::Crashed));
    }
}

#[test]
fn a_known_name_with_other_bytes_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("qjs.wasm"), wasm(OPS)).unwrap();
    let error = ProgramRegistry::open(dir.path()).unwrap_err();
    assert!(matches!(error, ProgramsError::Program(ModuleError::Pinned { .. })));
    let text = error.to_string();
    assert!(text.contains("qjs.wasm is not QuickJS-ng 0.11"), "{text}");
    assert!(text.contains("expected f9742952f998"), "{text}");
}

#[test]
fn the_registry_describes_its_programs() {
    let facts = ProgramRegistry::open(&super::qjs_folder()).unwrap().facts();
    let qjs = facts.iter().find(|facts| facts.name == "qjs").unwrap();
    assert!(qjs.description.starts_with("runs JavaScript: `qjs FILE.js`"), "{qjs:?}");
    assert!(qjs.description.ends_with("(QuickJS-ng 0.11, MIT)"), "{qjs:?}");

    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("own.wasm"), wasm(OPS)).unwrap();
    fs::write(dir.path().join("notes.txt"), "no program").unwrap();
    fs::create_dir(dir.path().join("folder.wasm")).unwrap();
    let facts = ProgramRegistry::open(dir.path()).unwrap().facts();
    assert_eq!(facts.iter().map(|facts| facts.name.as_str()).collect::<Vec<_>>(), ["own"]);
    assert!(facts[0].description.contains("the user installed"));
}

#[test]
fn a_missing_registry_that_was_named_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let error = ProgramRegistry::find(Some(&dir.path().join("none"))).unwrap_err();
    assert!(matches!(error, ProgramsError::Folder { .. }));
    assert!(error.to_string().starts_with("can't read the programs' folder "));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_folder_is_listed_whole_and_anew_each_time() {
    let bench = Bench::qjs();
    fs::create_dir(bench.path("many")).unwrap();
    for n in 0..10_000 {
        fs::write(bench.path("many").join(format!("a-file-with-number-{n}")), "").unwrap();
    }
    bench.write(
        "t.mjs",
        "import * as os from 'qjs:os';\n\
         import * as std from 'qjs:std';\n\
         const count = () => new Set(os.readdir('many')[0]).size;\n\
         const before = count();\n\
         std.open('many/one-more', 'w').close();\n\
         os.remove('many/a-file-with-number-7');\n\
         os.remove('many/a-file-with-number-8');\n\
         console.log(before, count(), os.readdir('many')[0].includes('one-more'));\n",
    );
    let outcome = bench.run("qjs", &["-m", "t.mjs"]).await;
    assert_eq!(outcome.joined_text(), "10002 10001 true\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_beside_each_other_do_not_mix() {
    let bench = Bench::new();
    let runs = (0..16).map(|n| {
        let executor = bench.executor.clone();
        bench.write(&format!("{n}.txt"), &n.to_string());
        tokio::spawn(async move {
            let action = run_program("ops", &["r", &format!("{n}.txt")]);
            (n, executor.run(&action, TEN_SECONDS, None).await)
        })
    });
    for run in runs.collect::<Vec<_>>() {
        let (n, outcome) = run.await.unwrap();
        assert_eq!((outcome.joined_text(), outcome.exit), (n.to_string(), Some(0)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn output_that_is_no_text_is_shown_as_far_as_it_is() {
    let bench = Bench::new();
    fs::write(bench.path("binary"), b"a\xff\xfeb\0c\xe2\x82").unwrap();
    let outcome = bench.run("ops", &["r", "binary"]).await;
    assert_eq!(outcome.joined_text(), "a\u{fffd}\u{fffd}b\0c\u{fffd}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_is_no_text_does_not_hide_the_others() {
    let bench = Bench::qjs();
    bench.write("folder/good.txt", "");
    bench.write("folder/sub/deep.txt", "");
    fs::write(bench.path("folder").join(OsStr::from_bytes(b"caf\xe9.txt")), "").unwrap();
    bench.write(
        "t.mjs",
        "import * as os from 'qjs:os';\n\
         const names = os.readdir('folder')[0].sort();\n\
         const folders = names.filter((name) => {\n\
           return (os.stat(`folder/${name}`)[0].mode & os.S_IFMT) === os.S_IFDIR;\n\
         });\n\
         console.log(names.join(), folders.join());\n",
    );
    let outcome = bench.run("qjs", &["-m", "t.mjs"]).await;
    assert_eq!(outcome.joined_text(), ".,..,good.txt,sub .,..,sub\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn f1_a_program_sees_the_folder_of_its_agent_and_nothing_else() {
    let bench = Bench::qjs();
    bench.write("secret.txt", "of the root");
    bench.write(
        "sub/main.mjs",
        "import * as std from 'qjs:std';\n\
         for (const path of ['../secret.txt', '/secret.txt', 'secret.txt']) {\n\
           console.log(std.loadFile(path));\n\
         }\n\
         for (const path of ['x.txt', '/y.txt']) {\n\
           const file = std.open(path, 'w'); file.puts('mine'); file.close();\n\
         }\n",
    );
    let run = run_program("qjs", &["-m", "main.mjs"]);
    let outcome = bench.carry_out(&within("sub"), &run).await;
    assert_eq!(outcome.joined_text(), "null\nnull\nnull\n");
    assert_eq!((bench.read("sub/x.txt"), bench.read("sub/y.txt")), ("mine".into(), "mine".into()));
    let changed: Vec<_> = outcome.changes.iter().map(|change| change.path.as_str()).collect();
    assert_eq!(changed, ["sub/x.txt", "sub/y.txt"], "from the workspace's root on");
}

#[tokio::test(flavor = "multi_thread")]
async fn f1_a_folder_that_is_not_there_or_leads_out_is_refused() {
    let bench = Bench::new();
    fs::create_dir(bench.dir.path().join("outside")).unwrap();
    std::os::unix::fs::symlink("../outside", bench.path("link")).unwrap();
    for folder in ["link", "none", ".."] {
        let run = run_program("ops", &["e"]);
        let outcome = bench.carry_out(&within(folder), &run).await;
        assert_eq!(outcome.error, Some(ToolError::NotFound), "{outcome:?}");
        assert_eq!(outcome.joined_text(), format!("there is no folder {folder} to run in"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f2_the_tools_work_in_the_folder_of_their_agent() {
    let bench = Bench::new();
    bench.write("x.txt", "of the root");
    let (path, content) = ("x.txt".to_owned(), "mine".to_owned());
    let write = Action::write(path, content);
    let outcome = bench.carry_out(&within("sub"), &write).await;
    assert_eq!(outcome.joined_text(), "Wrote 4 bytes to x.txt (created).");
    assert_eq!(outcome.changes[0].path, "sub/x.txt");
    assert_eq!(
        (bench.read("sub/x.txt"), bench.read("x.txt")),
        ("mine".into(), "of the root".into())
    );
}
