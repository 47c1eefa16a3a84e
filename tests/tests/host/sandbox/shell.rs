//! The shell: command lines over the workspace, with the programs of the registry in its pipelines.

use super::{Bench, OPS, TEN_SECONDS, collector, of_agent, wasm};
use innerloop_core::action::{Action, ChangeKind, Outcome, ToolError};
use innerloop_sandbox::{CallContext, RunLimits, SessionLimits};
use std::{fs, future::pending, os::unix::fs::PermissionsExt as _, time::Duration};
use tokio::sync::oneshot;

impl Bench {
    pub(super) async fn line(&self, command: &str) -> Outcome {
        self.line_for(TEN_SECONDS, command).await
    }

    async fn line_for(&self, timeout: Duration, command: &str) -> Outcome {
        self.executor.run(&line(command, None), timeout, None).await
    }

    /// What a command line that ends well prints.
    async fn prints(&self, command: &str) -> String {
        let outcome = self.line(command).await;
        assert_eq!((outcome.error, outcome.stderr()), (None, Some("")), "{command}: {outcome:?}");
        outcome.stdout().unwrap().to_owned()
    }
}

fn line(command: &str, folder: Option<&str>) -> Action {
    Action::Shell { command: command.into(), folder: folder.map(Into::into) }
}

#[tokio::test(flavor = "multi_thread")]
async fn c11_d2_a_command_line_prints_changes_files_and_has_a_status() {
    for bench in Bench::both(Bench::shell) {
        bench.write("words.txt", "b\na\nb\n");
        let outcome = bench.line("sort words.txt | uniq -c > out/counts; cat nosuch").await;
        assert_eq!((outcome.exit, outcome.error), (Some(1), Some(ToolError::Exit)));
        let stderr = "bash: line 1: out/counts: No such file or directory\n\
                      cat: nosuch: No such file or directory\n";
        assert_eq!((outcome.stdout(), outcome.stderr()), (Some(""), Some(stderr)));
        let outcome = bench.line("mkdir out && sort words.txt | uniq -c > out/counts").await;
        assert_eq!((outcome.exit, outcome.error), (Some(0), None));
        let [change] = &outcome.changes[..] else { panic!("{outcome:?}") };
        assert_eq!((change.path.as_str(), change.kind), ("out/counts", ChangeKind::Created));
        assert_eq!(bench.read("out/counts"), "      1 a\n      2 b\n");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c11_folder_variables_and_functions_are_kept_for_each_agent() {
    let bench = Bench::shell();
    bench.write("lib/a.txt", "");
    bench.write("src/b.txt", "");
    bench.prints("cd lib; name='a b'; export LEVEL=3; greet() { echo \"hello $1\"; }").await;
    let said = bench.prints("pwd; echo \"$name\" $LEVEL; greet you; ls").await;
    assert_eq!(said, "/lib\na b 3\nhello you\na.txt\n");
    let there = bench.executor.run(&line("ls; cd ..; x=1", Some("src")), TEN_SECONDS, None).await;
    assert_eq!(there.stdout(), Some("b.txt\n"));
    assert_eq!(bench.prints("pwd; echo $x").await, "/lib\n1\n");
    let other = of_agent(1);
    let said = bench.carry_out(&other, &line("pwd; echo \"[$name]\"", None)).await;
    assert_eq!(said.stdout(), Some("/\n[]\n"));
    let nowhere = bench.executor.run(&line("ls", Some("nowhere")), TEN_SECONDS, None).await;
    assert_eq!(nowhere.stderr(), Some("bash: there is no folder /nowhere to run in\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn c11_what_may_be_executed_is_so_on_the_machine_too() {
    for bench in Bench::both(Bench::shell) {
        let mode =
            |path: &str| fs::metadata(bench.path(path)).unwrap().permissions().mode() & 0o777;
        for (path, mode) in [("plain", 0o644), ("script", 0o755), ("odd", 0o750), ("moved", 0o755)]
        {
            bench.write(path, "#!/bin/bash\necho one $1");
            bench.write(".git/config", "");
            let mode = fs::Permissions::from_mode(mode);
            fs::set_permissions(bench.path(path), mode).unwrap();
        }
        assert_eq!(bench.line("./plain").await.exit, Some(126));
        assert_eq!(bench.prints("./script x; [ -x script ] && echo yes").await, "one x\nyes\n");
        bench.prints("sed -i s/one/two/ script odd plain; cp script copy; mv moved new").await;
        bench.prints("cp plain script2; chmod +x script2; cat script > rewritten").await;
        bench.prints("mkdir d; cp -r script d; cat plain > script; chmod u+x,go-x rewritten").await;
        let shown = bench.prints("stat -c '%a %n' script odd copy script2 d/script").await;
        assert_eq!(shown, "755 script\n750 odd\n755 copy\n755 script2\n755 d/script\n");
        assert_eq!(bench.prints("./script2 y; ./new z").await, "two y\none z\n");
        let changes = bench.executor.workspace().changes().0;
        let modes: Vec<_> =
            changes.iter().filter_map(|it| Some((it.path.as_str(), it.modes()?))).collect();
        let new = |path, mode| (path, (None, mode));
        let all = [
            new("copy", 0o755),
            new("d/script", 0o755),
            new("new", 0o755),
            new("rewritten", 0o744),
            new("script2", 0o755),
        ];
        assert_eq!(modes, all);
        assert_eq!(bench.read("script"), "#!/bin/bash\necho two $1");
        assert_eq!(["plain", "script", "odd", "new"].map(mode), [0o644, 0o755, 0o750, 0o755]);
        assert_eq!(["copy", "script2", "d/script"].map(mode), [0o755; 3]);
        assert_eq!(mode("rewritten"), 0o744);

        // Its owner can always read and write a file; the shell remembers what it was told.
        let line = "chmod -x odd; chmod 100 plain; stat -c %a odd plain";
        assert_eq!(bench.prints(line).await, "640\n100\n");
        let [change] = &bench.line("chmod +x odd").await.changes[..] else { panic!() };
        assert_eq!((change.path.as_str(), change.kind), ("odd", ChangeKind::Modified));
        bench.prints("chmod -x odd").await;
        assert!(bench.has("odd"));
        assert_eq!(["odd", "plain"].map(mode), [0o640, 0o700]);
        assert_eq!(bench.line("chmod +x .git/config").await.exit, Some(1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c11_what_is_written_over_keeps_its_mode() {
    for bench in Bench::both(Bench::shell) {
        let names = ["over", "more", "teed", "clobbered", "copied", "moved", "from"];
        for name in names {
            bench.write(name, "#!/bin/bash\necho one");
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(bench.path(name), mode).unwrap();
        }
        bench.write("plain", "#!/bin/bash\necho two");
        bench.prints("cat plain > over; echo 'echo three' >> more; cat plain >| clobbered").await;
        bench.prints("tee teed < plain > new; cp plain copied; echo x > a.sh").await;
        let shown = bench.prints("stat -c '%a %n' over more teed clobbered copied new a.sh").await;
        let kept =
            ["over", "more", "teed", "clobbered", "copied"].map(|name| format!("755 {name}"));
        assert_eq!(shown, format!("{}\n644 new\n644 a.sh\n", kept.join("\n")));
        assert_eq!(bench.prints("./over; ./teed; ./copied").await, "two\n".repeat(3));
        // What is moved brings its own.
        bench.prints("cp plain /tmp/p; mv /tmp/p moved; cp from /tmp/f; mv /tmp/f plain").await;
        assert_eq!(bench.prints("stat -c %a moved plain").await, "644\n755\n");
        // A file that is new has nothing of one that had its name.
        bench.prints("chmod 4100 new; rm new; echo x > new").await;
        assert_eq!(bench.prints("stat -c %a new").await, "644\n");
        bench.prints("echo 'echo new' > run.sh; chmod +x run.sh").await;
        let changes = bench.executor.workspace().changes().0;
        let of = |name: &str| changes.iter().find(|it| it.path == name).and_then(|it| it.modes());
        assert_eq!(of("run.sh"), Some((None, 0o755)));
        assert_eq!(of("moved"), Some((Some(0o755), 0o644)));
        assert_eq!([of("over"), of("copied"), of("a.sh")], [None; 3]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c11_modes_travel_through_archives_copies_and_patches() {
    for bench in Bench::both(Bench::shell) {
        for (path, mode) in [("in/run", 0o755), ("in/own", 0o700), ("in/plain", 0o644)] {
            bench.write(path, "#!/bin/bash\necho one");
            fs::set_permissions(bench.path(path), fs::Permissions::from_mode(mode)).unwrap();
        }
        let long = "d".repeat(120);
        bench.prints(&format!("mkdir in/{long}; cp in/run in/{long}/run; ln -s run in/link")).await;
        let lines = [
            "mkdir to; tar cf a.tar in; tar xf a.tar -C to",
            "mkdir to; tar -C in -cf a.tar .; mkdir to/in; tar -x -f a.tar -C to/in",
            "mkdir to; tar czf a.tgz in; tar xzf a.tgz --directory=to",
            "mkdir to; tar caf a.tar.bz2 in; tar xf a.tar.bz2 -C to",
            "mkdir to; tar c in | tar x -C to",
            "mkdir -p to/in; cp in/own in/plain to/in; chmod 644 to/in/own; chmod 755 to/in/plain; \
             tar cf a.tar in; tar xf a.tar -C to",
            "zip -qry a.zip in; mkdir to; unzip -q a.zip -d to; rm -f to/in/link; \
             ln -s run to/in/link",
            "mkdir to; cp -r in to; rm -f to/in/link; ln -s run to/in/link",
            "mkdir to; cp -a in to",
            "mkdir to; cp -r in /tmp/kept; mv /tmp/kept to/in; rm -f to/in/link; \
             ln -s run to/in/link",
            "mkdir to; cp -a in copy; mv copy to/in",
            "mkdir -p to/in; install in/run to/in/run; install -m 700 in/own to/in/own; \
             install -m 644 in/plain to/in/plain; install -D in/run to/in/LONG/run; \
             ln -s run to/in/link",
        ];
        for line in lines {
            let line = line.replace("LONG", &long);
            let outcome = bench.line(&line).await;
            assert_eq!((outcome.exit, outcome.stderr()), (Some(0), Some("")), "{line}");
            let modes = format!("cd to/in; stat -c '%a %n' run own plain {long}/run; cd ../..");
            let all = format!("755 run\n700 own\n644 plain\n755 {long}/run\n");
            assert_eq!(bench.prints(&modes).await, all, "{line}");
            assert_eq!(bench.prints("readlink to/in/link; to/in/link").await, "run\none\n");
            let mode = |path: &str| fs::metadata(bench.path(path)).unwrap().permissions().mode();
            bench.executor.workspace().apply().unwrap();
            let there = ["to/in/run", "to/in/own", "to/in/plain"].map(|path| mode(path) & 0o777);
            assert_eq!(there, [0o755, 0o700, 0o644], "{line}");
            bench.prints("rm -rf to a.tar a.tgz a.tar.bz2 a.zip").await;
        }
        let patch = "diff --git a/in/run b/in/run\n--- a/in/run\n+++ b/in/run\n@@ -1,2 +1,2 @@\n \
                     #!/bin/bash\n-echo one\n\\ No newline at end of file\n+echo two\n";
        bench.write("p", patch);
        bench.prints("patch -p1 < p").await;
        assert_eq!(bench.prints("stat -c %a in/run; in/run").await, "755\ntwo\n");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c11_archives_say_what_does_not_go_in_or_out() {
    let bench = Bench::shell();
    bench.write("a/b", "text");
    for (line, status, stderr) in [
        ("tar", 2, "tar: You must specify one of the '-ctx' options\nTry 'tar --help' for more"),
        ("tar cf x", 2, "tar: Cowardly refusing to create an empty archive\n"),
        ("tar cf x none a", 2, "tar: none: Cannot stat: No such file or directory\ntar: Exiting"),
        ("tar xf none", 2, "tar: none: Cannot open: No such file or directory\ntar: Error is not"),
        ("tar xf a/b", 2, "tar: This does not look like a tar archive: "),
        ("tar cf x a; tar xf x none", 2, "tar: none: Not found in archive\ntar: Exiting with"),
        ("tar xkf x", 2, "tar: a/b: Cannot open: File exists\ntar: Exiting with failure status"),
        ("tar cf /out.tar /a", 0, "tar: Removing leading `/' from member names\n"),
        ("tar cJf x a", 2, "tar: xz and zstd are not known here\n"),
        ("tar cPf x a/../a; tar xf x", 2, "tar: a/../a/: Member name contains '..'\n"),
        ("tar cf a/x a", 0, ""),
        ("tar cf a/x a", 0, "tar: a/x: archive cannot contain itself; not dumped\n"),
    ] {
        let outcome = bench.line(line).await;
        assert_eq!(outcome.exit, Some(status), "{line}: {outcome:?}");
        assert!(outcome.stderr().unwrap().starts_with(stderr), "{line}: {outcome:?}");
    }
    let listed =
        bench.prints("chmod 755 a/b; touch -d '2024-05-06 07:08' a/b; tar cf x a/b; tar tvf x");
    assert_eq!(listed.await, "-rwxr-xr-x user/user         4 2024-05-06 07:08 a/b\n");
    let line = "tar cf x --exclude=b a; tar tf x; tar cf x a; rm -r a; \
                tar xvf x --strip-components=1; tar xOf x a/b; stat -c %a b";
    assert_eq!(bench.prints(line).await, "a/\na/x\na/b\na/x\ntext755\n");
    let line = "head -c 30M /dev/zero > z; tar cf - z z z | wc -c; rm z";
    let too_large = bench.line(line).await;
    assert!(too_large.stderr().unwrap().contains("more than 64 MiB"), "{too_large:?}");
    assert_eq!(too_large.stdout(), Some("0\n"), "no half of an archive is printed");
    // What unpacks to more than there is room for is an error, however small it is.
    bench.prints("head -c 30M /dev/zero > z; tar czf x z z z z z z z z z; rm z").await;
    let outcome = bench.line("tar xf x; echo after").await;
    assert_eq!(outcome.stdout(), Some("after\n"), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn c11_names_are_checked_again_for_a_shell_of_the_users_own_too() {
    let bench = Bench::with(&[("bash", &wasm(OPS))]);
    let call = CallContext::default();
    let action = line("build", None);
    let run = || bench.carry_out(&call, &action);
    let names = ["build".to_owned()];
    assert!(bench.executor.runs_as_named(&call, &names, &[]).await);
    assert_ne!(run().await.error, Some(ToolError::PermissionDenied));
    assert!(bench.executor.runs_as_named(&call, &names, &[]).await);
    bench.write("usr/bin/build", "something else");
    assert_eq!(run().await.error, Some(ToolError::PermissionDenied));
    // The yes was for that one call.
    assert_ne!(run().await.error, Some(ToolError::PermissionDenied));
}

#[tokio::test(flavor = "multi_thread")]
async fn c11_a_patch_is_applied_as_a_command() {
    for bench in Bench::both(Bench::shell) {
        bench.write("src/a.txt", "one\ntwo\n");
        let patch = "*** Begin Patch\n*** Update File: src/a.txt\n@@\n-one\n+1\n two\n\
                     *** Add File: b.txt\n+new\n*** End Patch";
        let outcome = bench.line(&format!("apply_patch <<'EOF'\n{patch}\nEOF")).await;
        let said = "Success. Updated the following files:\nA b.txt\nM src/a.txt\n";
        assert_eq!((outcome.exit, outcome.stdout()), (Some(0), Some(said)), "{outcome:?}");
        let paths: Vec<_> = outcome.changes.iter().map(|it| it.path.as_str()).collect();
        assert_eq!(paths, ["b.txt", "src/a.txt"]);
        assert_eq!(
            (bench.read("src/a.txt"), bench.read("b.txt")),
            ("1\ntwo\n".into(), "new\n".into())
        );

        let add =
            |path: &str| format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n");
        for (path, line) in [
            ("src/c", format!("cd src && applypatch <<'EOF'\n{}EOF\ncd ..", add("c"))),
            ("d", format!("apply_patch '{}' | grep -c A", add("d"))),
            ("e", format!("bash -lc \"apply_patch <<'EOF'\n{}EOF\"", add("e"))),
            ("f", format!("printf '{}' | apply_patch && ls f", add("f").replace('\n', "\\n"))),
        ] {
            bench.prints(&line).await;
            assert!(bench.has(path), "{line}");
        }
        let outcome = bench.line(&format!("apply_patch <<'EOF'\n{patch}\nEOF")).await;
        assert_eq!((outcome.exit, outcome.stdout()), (Some(1), Some("")), "{outcome:?}");
        assert!(outcome.stderr().unwrap().starts_with("apply_patch: "), "{outcome:?}");
        assert_eq!(bench.line("apply_patch a b").await.exit, Some(2));
        let outside = bench.line(&format!("apply_patch <<'EOF'\n{}EOF", add("../out"))).await;
        assert_eq!(outside.exit, Some(1), "{outside:?}");
        assert!(!bench.executor.reads_only(&CallContext::default(), "apply_patch < p").await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c11_a_program_takes_part_in_pipelines_and_redirections_by_name() {
    let bench = Bench::shell();
    bench.write("count.js", "console.log(std.in.readAsString().length)");
    let said = bench.prints("seq 1 20000 | qjs --std count.js | cat -n").await;
    assert_eq!(said, "     1\t108894\n");
    assert_eq!(bench.prints("qjs --std count.js <<< four > n; cat n").await, "5\n");
    assert_eq!(bench.prints("x=$(echo hi | qjs --std count.js); echo \"<$x>\"").await, "<3>\n");
    let endless = "qjs --std -e 'while (true) print(1)' | head -2; echo ${PIPESTATUS[@]}";
    assert_eq!(bench.prints(endless).await, "1\n1\n141 0\n");
    let failing = bench.line(
        "qjs --std -e 'std.err.puts(\"no\\n\"); std.exit(7)' | cat; \
                              echo ${PIPESTATUS[0]}",
    );
    let failing = failing.await;
    assert_eq!((failing.stdout(), failing.stderr()), (Some("7\n"), Some("no\n")));
    let both = bench.prints("qjs -e 'print(1)' | qjs --std count.js | qjs --std count.js").await;
    assert_eq!(both, "2\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn c11_a_program_runs_in_the_folder_of_the_command_line_with_its_variables() {
    let bench = Bench::shell();
    bench.write("sub/a.txt", "in sub");
    bench.write("b.txt", "above");
    let script = "const [read, get] = [std.loadFile, std.getenv]; \
                  print(read('a.txt'), read('../b.txt'), read('../../b.txt')); \
                  print(get('LEVEL'), get('TZ'), get('PWD'))";
    bench.write("show.js", script);
    let said = bench.prints("cd sub; export TZ=Asia/Tokyo; LEVEL=3 qjs --std ../show.js").await;
    assert_eq!(said, "in sub above null\n3 Asia/Tokyo /\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn c11_d4_i15_a_time_limit_ends_it_and_keeps_what_was_said_and_done() {
    let bench = Bench::shell();
    let half = Duration::from_millis(500);
    for forever in ["while true; do :; done", "sleep 60 | cat", "qjs -e 'while (true);' | cat"] {
        let outcome = bench.line_for(half, &format!("echo said; x=7; {forever}")).await;
        assert!(outcome.timed_out, "{forever}: {outcome:?}");
        assert_eq!((outcome.error, outcome.stdout()), (Some(ToolError::Timeout), Some("said\n")));
        assert_eq!(bench.prints("echo $x; unset x").await, "7\n", "{forever}");
    }
    // What does not look at the time ends all the same.
    let outcome = bench.line_for(half, "y=1; awk 'BEGIN { while (1) {} }'").await;
    assert!(outcome.timed_out, "{outcome:?}");
    assert_eq!(bench.prints("echo \"[$y]\"").await, "[]\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn c11_it_is_cancelled_in_the_middle_of_a_pipeline() {
    let bench = Bench::shell();
    let (on_delta, seen) = collector();
    let (stop, stopped) = oneshot::channel::<()>();
    let endless = "echo begun; qjs --std -e 'for (;;) os.sleep(10)' | sort | cat";
    let executor = bench.executor.clone();
    let action = line(endless, None);
    let running = tokio::spawn(async move {
        let stop = async move { drop(stopped.await) };
        executor
            .run_until(&CallContext::default(), &action, TEN_SECONDS, Some(on_delta), stop)
            .await
    });
    while seen.lock().unwrap().concat() != "begun\n" {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!running.is_finished(), "the pipeline goes on");
    stop.send(()).unwrap();
    let outcome = running.await.unwrap();
    assert_eq!((outcome.error, outcome.stdout()), (Some(ToolError::Interrupted), Some("begun\n")));
    assert_eq!(bench.prints("echo goes on").await, "goes on\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn c11_all_guests_of_a_command_line_share_one_quota() {
    let limits = RunLimits { disk_bytes: 1 << 20, output_bytes: 1 << 20, ..RunLimits::default() };
    let bench = Bench::shell().limited(limits);
    let write = |name: &str| {
        let open = format!("const f = std.open(\"{name}\", \"w\")");
        format!("qjs --std -e '{open}; f.puts(\"x\".repeat(6e5)); f.close()'")
    };
    let outcome = bench.line(&format!("{}; {}; ls", write("a"), write("b"))).await;
    let said = outcome.joined_text();
    assert!(said.contains("qjs: it was stopped because it wrote too much to files"), "{said}");
    let outcome = bench.line("cat a a; yes").await;
    assert_eq!(outcome.error, Some(ToolError::Limit), "{outcome:?}");
    assert!(outcome.joined_text().contains("printed too much"));
}

#[tokio::test(flavor = "multi_thread")]
async fn c11_a_hundred_command_lines_at_once() {
    let bench = Bench::shell();
    bench.prints("mkdir out").await;
    // Each may hold a part of what a session may.
    bench.executor.run(&line("true", None), TEN_SECONDS, None).await;
    let executor = bench
        .executor
        .clone()
        .with_session_limits(&SessionLimits { memory_bytes: 8 << 30, ..SessionLimits::default() });
    let tasks: Vec<_> = (0..100)
        .map(|number| {
            let (executor, call) = (executor.clone(), of_agent(number));
            let action = line(&format!("seq {number} | wc -l > out/{number}"), None);
            tokio::spawn(async move {
                executor.run_until(&call, &action, 6 * TEN_SECONDS, None, pending()).await
            })
        })
        .collect();
    for task in tasks {
        let outcome = task.await.unwrap();
        assert_eq!((outcome.error, outcome.changes.len()), (None, 1), "{outcome:?}");
    }
    for number in 0..100 {
        assert_eq!(bench.read(&format!("out/{number}")).trim(), number.to_string());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c11_nothing_outside_of_the_workspace_is_reached() {
    let bench = Bench::shell();
    fs::write(bench.dir.path().join("secret"), "secret").unwrap();
    bench.write(".git/config", "mine");
    for attempt in [
        "cat ../secret",
        "cat /../secret",
        "cd ..; cat secret",
        "ln -s ../secret link; cat link",
        "qjs --std -e 'print(std.loadFile(\"../secret\"))' | grep secret",
        "cd /; find .. -name secret | grep secret",
        "echo x > .git/config",
        "cd .git; echo x > hooks; cat hooks",
        "rm -r .git",
        "cat /proc/self/environ | grep .",
    ] {
        let outcome = bench.line(attempt).await;
        assert_eq!(outcome.error, Some(ToolError::Exit), "{attempt}: {outcome:?}");
        assert_eq!(outcome.stdout(), Some(""), "{attempt}");
    }
    assert_eq!(bench.read(".git/config"), "mine");
}

#[tokio::test(flavor = "multi_thread")]
async fn c11_what_is_put_into_the_systems_tmp_goes_with_the_session() {
    let bench = Bench::shell().over();
    bench.write("a.txt", "");
    bench.prints("echo 'print(6 * 7)' > /tmp/a.js; echo x > kept; mkdir -p /tmp/b/c").await;
    assert_eq!(
        bench.prints("ls; qjs /tmp/a.js; ls /tmp; find . | sort").await,
        "\
        a.txt\nkept\n42\na.js\nb\n.\n./a.txt\n./kept\n"
    );
    let every = bench.executor.run(&Action::glob("**/*", None), TEN_SECONDS, None).await;
    assert_eq!(every.joined_text().lines().count(), 2, "{every:?}");
    assert_eq!(bench.prints("mv /tmp/a.js . && ls").await, "a.js\na.txt\nkept\n");
    assert_eq!(bench.line("rm -r /tmp; ls /tmp").await.stdout(), Some(""));
    let workspace = bench.executor.workspace();
    assert_eq!(workspace.temporary_files(), [""; 0]);
    bench.prints("echo x > /tmp/y").await;
    assert_eq!(workspace.temporary_files(), ["tmp/y"]);
    let changes = workspace.changes().0;
    let paths: Vec<_> = changes.iter().map(|change| change.path.as_str()).collect();
    assert_eq!(paths, ["a.js", "kept"]);
    assert!(bench.has("kept") && bench.has("a.js") && !bench.has("tmp"));
    assert_eq!(bench.prints("ls /tmp").await, "", "it is new after the changes were applied");

    // In one that the workspace has, too.
    let bench = Bench::shell();
    bench.write("tmp/mine", "");
    let bench = bench.over();
    assert_eq!(bench.prints("echo x > /tmp/y; echo y > /tmp/mine").await, "");
    assert_eq!(bench.prints("ls; ls tmp").await, "tmp\nmine\ny\n");
    assert_eq!(bench.executor.workspace().temporary_files(), ["tmp/y"]);
    assert!(!bench.has("tmp/y"));
    assert_eq!(bench.read("tmp/mine"), "y\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn c11_what_is_put_into_the_projects_tmp_stays() {
    for bench in Bench::both(Bench::shell) {
        bench.write("f", "b a\n");
        // Where there is none, any name is free.
        bench.prints("awk '{ print $2 }' f > tmp && mv tmp f").await;
        assert_eq!(bench.read("f"), "a\n");
        assert_eq!(bench.prints("mkdir tmp; echo x > tmp/a; ls").await, "f\ntmp\n");
        assert_eq!(bench.read("tmp/a"), "x\n");
        bench.prints("rm -r tmp").await;
        assert!(!bench.has("tmp"));
        bench.prints("mkdir -p ./tmp/b/c && echo y > tmp/b/c/d").await;
        assert_eq!(bench.read("tmp/b/c/d"), "y\n");
        bench.prints("rm -r tmp").await;
        let write = Action::write("tmp/plan.md", "plan\n");
        let outcome = bench.executor.run(&write, TEN_SECONDS, None).await;
        assert_eq!(outcome.error, None, "{outcome:?}");
        assert_eq!(bench.prints("cat tmp/plan.md /tmp/plan.md").await, "plan\nplan\n");
        assert_eq!(bench.read("tmp/plan.md"), "plan\n");
        bench.prints("rm -r tmp").await;
        // A program says nothing of it.
        let script = "import * as std from 'qjs:std'; import * as os from 'qjs:os'; \
                      os.mkdir('tmp'); const f = std.open('tmp/out', 'w'); f.puts('z'); f.close();";
        bench.write("gen.js", script);
        bench.prints("qjs -m gen.js").await;
        assert_eq!(bench.read("tmp/out"), "z");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c11_both_folders_are_there_each_by_its_name() {
    let bench = Bench::shell().over();
    let temporary = || bench.executor.workspace().temporary_files();
    bench.prints("echo log > /tmp/log; mkdir -p /tmp/d").await;
    bench.prints("mkdir tmp; cp /tmp/log tmp/kept; mkdir -p tmp/d; echo x > tmp/d/e").await;
    assert_eq!(temporary(), ["tmp/log"]);
    assert_eq!(bench.prints("cat /tmp/log /tmp/kept").await, "log\nlog\n");
    // Whoever writes to it for the project has it stay.
    bench.prints("echo more > /tmp/other; echo mine > tmp/log").await;
    assert_eq!(temporary(), [""; 0]);
    bench.prints("echo passing > /tmp/passing").await;
    assert_eq!(temporary(), ["tmp/passing"]);
    assert!(bench.has("tmp/kept") && bench.has("tmp/d/e") && !bench.has("tmp/passing"));
    assert_eq!(bench.read("tmp/log"), "mine\n");
    // A file that a tool is told to put there by the system's name.
    let bench = Bench::shell().over();
    let write = Action::write("/tmp/plan.md", "plan\n");
    assert_eq!(bench.executor.run(&write, TEN_SECONDS, None).await.error, None);
    assert_eq!(bench.prints("cat /tmp/plan.md").await, "plan\n");
    assert_eq!(bench.executor.workspace().temporary_files(), ["tmp/plan.md"]);
    assert!(!bench.has("tmp"));
}

#[tokio::test(flavor = "multi_thread")]
async fn c11_the_shell_is_a_program_too() {
    let bench = Bench::shell();
    bench.write("s.sh", "echo \"$0 $# $1\"; exit 3\n");
    let outcome = bench.run("bash", &["s.sh", "one", "two"]).await;
    assert_eq!((outcome.stdout(), outcome.exit), (Some("s.sh 2 one\n"), Some(3)));
    let outcome = bench.run("sh", &["-c", "x=1; echo $x | qjs --std -e 'print(2)'"]).await;
    assert_eq!((outcome.stdout(), outcome.exit), (Some("2\n"), Some(0)));
    assert_eq!(bench.prints("echo \"[$x]\"").await, "[]\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn m5_a_command_line_that_only_reads_is_known() {
    let bench = Bench::shell();
    for reads in [
        "ls -la src | wc -l",
        "cat a.txt; head -n 3 b.txt 2>/dev/null",
        "cd src && grep -rn 'fn main' . | sort -u | head",
        "find . -name '*.rs' -newer a.txt",
        "for f in *.txt; do echo \"$f: $(wc -l < \"$f\")\"; done",
        "if [ -f a ]; then cat a; else pwd; fi",
        "sed -n '1,20p' a.txt",
        "awk '{ print $1 }' a.txt",
        "x=3; echo $((x + 1))",
        "[[ -d src ]] && ls src",
    ] {
        assert!(bench.executor.reads_only(&CallContext::default(), reads).await, "{reads}");
    }
    for writes in [
        "ls > list",
        "echo x >> a.txt",
        "rm a.txt",
        "find . -delete",
        "find . -name x -exec rm {} +",
        "sort -o a.txt a.txt",
        "sort -uo a.txt a.txt",
        "uniq a.txt b.txt",
        "sed -i s/a/b/ a.txt",
        "sed -n 'w b.txt' a.txt",
        "awk '{ print > \"b\" }' a.txt",
        "awk 'BEGIN { system(\"rm a\") }'",
        "echo rm a | sh",
        "$cmd a.txt",
        "find . $how",
        "ls() { rm a; }; ls",
        "eval 'rm a'",
        "cat a | tee b",
        "qjs a.js",
        "cat $(rm a)",
        "cat <(rm a)",
        "ls | xargs rm",
        "trap 'rm a' EXIT",
        "bash -c 'rm a'",
    ] {
        assert!(!bench.executor.reads_only(&CallContext::default(), writes).await, "{writes}");
    }
    bench.prints("cat() { echo mine > x; }; alias wc='rm x'").await;
    for changed in ["cat a.txt", "ls | wc"] {
        assert!(!bench.executor.reads_only(&CallContext::default(), changed).await, "{changed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn m5_a_call_that_was_found_to_only_read_is_held_to_it() {
    let bench = Bench::shell();
    let call = CallContext { id: "call-1".to_owned(), ..CallContext::default() };
    assert!(bench.executor.reads_only(&call, "ls").await);
    // As if the shell had been changed meanwhile.
    let outcome = bench.carry_out(&call, &line("echo x > y; qjs -e 1", None)).await;
    assert_eq!(outcome.error, Some(ToolError::Exit));
    let said = outcome.joined_text();
    assert!(said.contains("y: ") && said.contains("qjs: command not found"), "{said}");
    assert!(!bench.has("y"));
    bench.prints("echo x > y").await;
    assert!(bench.has("y"), "another call is free");
}

#[tokio::test(flavor = "multi_thread")]
async fn d1_a_wasi_program_of_the_workspace_is_run_by_its_path() {
    for bench in Bench::both(Bench::shell) {
        let module = wasm(OPS);
        fs::create_dir_all(bench.path("bin")).unwrap();
        fs::write(bench.path("bin/ops"), &module).unwrap();
        bench.write("a.txt", "words");
        bench.write("x.sh", "#!/bin/bash\necho script $0\n");
        assert_eq!(bench.prints("bin/ops r a.txt | tr a-z A-Z").await, "WORDS");
        assert_eq!(
            bench.prints("cd bin; ./ops r ../a.txt; cd ..; chmod +x x.sh; ./x.sh").await,
            "wordsscript ./x.sh\n"
        );
        assert_eq!(bench.prints("cp bin/ops new; wasi-run new r a.txt").await, "words");
        let made = "cp bin/ops copy -o made 2>/dev/null; cp bin/ops made; ./made r a.txt";
        assert_eq!(bench.line(made).await.stdout(), Some("words"));
        let later = "printf '#!/bin/bash\\necho later' > late -o late; chmod +x late; ./late";
        assert!(bench.line(later).await.stdout().unwrap().ends_with("later\n"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn m3_a_program_of_the_workspace_reaches_no_further_than_others() {
    let bench = Bench::shell();
    fs::write(bench.dir.path().join("secret.wasm"), wasm(OPS)).unwrap();
    fs::write(bench.path("ops"), wasm(OPS)).unwrap();
    bench.write(".git/config", "mine");
    bench.write("text", "no module");
    fs::write(bench.path("large"), vec![0; (16 << 20) + 1]).unwrap();
    for (attempt, why) in [
        ("wasi-run ../secret.wasm r x", "../secret.wasm: can't be run: it is no file"),
        ("wasi-run nosuch", "nosuch: can't be run: it is no file"),
        ("wasi-run text", "it is not a WebAssembly module"),
        ("wasi-run large", "it is no file of at most 16 MiB"),
        ("wasi-run", "which file is to be run?"),
    ] {
        let outcome = bench.line(attempt).await;
        assert_eq!(outcome.error, Some(ToolError::Exit), "{attempt}: {outcome:?}");
        assert!(outcome.stderr().unwrap().contains(why), "{attempt}: {outcome:?}");
    }
    assert_eq!(bench.line("./ops w .git/config; echo $?").await.stdout(), Some("63\n"));
    assert_eq!(bench.read(".git/config"), "mine");
    assert!(!bench.executor.reads_only(&CallContext::default(), "./ops r text").await);
    assert!(!bench.executor.reads_only(&CallContext::default(), "wasi-run ops r text").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_calls_itself_without_an_end_is_an_error_and_the_shell_goes_on() {
    let bench = Bench::shell();
    assert_eq!(bench.prints("kept=1; f() { f; }").await, "");
    for command in ["f", "g() { echo $(g); }; g", "g() { eval g; }; g"] {
        let outcome = bench.line(&format!("echo said; {command}")).await;
        let told = outcome.joined_text();
        assert_eq!(outcome.error, Some(ToolError::Exit), "{command}: {told}");
        assert!(told.contains("said\n") && told.contains("depth exceeded"), "{command}: {told}");
    }
    let outcome = bench.line("echo said; x='eval \"$x\"'; eval \"$x\"; echo after").await;
    assert_eq!(outcome.stdout(), Some("said\nafter\n"), "{outcome:?}");
    assert_eq!(outcome.stderr(), Some("bash: eval: nested too deeply\n"), "{outcome:?}");
    let outcome = bench.line("echo said; jq -n 'def f: f + 1; f'").await;
    let told = outcome.joined_text();
    assert_eq!(outcome.error, Some(ToolError::Crashed), "{told}");
    assert!(told.contains("may call itself without an end"), "{told}");
    assert_eq!(bench.prints("echo $kept").await, "1\n", "what was there before is still there");
}
