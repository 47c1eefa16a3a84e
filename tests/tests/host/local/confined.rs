//! What commands see and reach from inside of bubblewrap, and what is said where it does not work.

use super::{Machine, line};
use innerloop_tests::{
    program::{innerloop, run},
    skip::skip,
};
use std::{
    fs, net::TcpListener, os::unix::fs::PermissionsExt as _, path::Path, thread, time::Duration,
};

#[tokio::test(flavor = "multi_thread")]
async fn m3_a_confined_command_changes_the_workspace_and_nothing_else() {
    let Some(machine) = Machine::confined(false) else { return };
    let beside = machine.dir.path().join("beside");
    fs::write(&beside, "secret\n").unwrap();
    fs::create_dir(machine.path(".git")).unwrap();
    fs::create_dir(machine.path(".innerloop")).unwrap();
    fs::write(machine.path(".git/config"), "[core]\n").unwrap();
    let beside = fs::canonicalize(beside).unwrap();
    let beside = beside.display();
    // The workspace is the real one, and what is not in it is not there.
    assert_eq!(machine.says("mkdir d && echo new >d/f && cat d/f").await, "new\n");
    assert_eq!(machine.text("d/f"), "new\n");
    for (command, expected) in [
        (format!("cat {beside} 2>/dev/null || echo no"), "no\n"),
        (format!("ln -s {beside} link; cat link 2>/dev/null || echo no"), "no\n"),
        (format!("echo changed >{beside} 2>/dev/null; cat {beside}"), "changed\n"),
        ("cat .git/config".into(), "[core]\n"),
        ("echo x 2>/dev/null >>.git/config || echo no".into(), "no\n"),
        ("mkdir .git/hooks 2>/dev/null || echo no".into(), "no\n"),
        ("mv .git elsewhere 2>/dev/null || echo no".into(), "no\n"),
        ("rm -rf .git 2>/dev/null || echo no".into(), "no\n"),
        ("touch .innerloop/x 2>/dev/null || echo no".into(), "no\n"),
        ("touch /usr/x 2>/dev/null || echo no".into(), "no\n"),
        ("mount -o remount,rw /usr 2>/dev/null || echo no".into(), "no\n"),
        ("umount .git 2>/dev/null || echo no".into(), "no\n"),
        (
            "unshare -Urm sh -c 'umount .git; mount -o remount,bind,rw .git; touch .git/x' \
             2>/dev/null || echo no"
                .into(),
            "no\n",
        ),
        ("cat /etc/shadow 2>/dev/null || echo no".into(), "no\n"),
        ("test -e /sys || echo no".into(), "no\n"),
        // Of processes it sees bubblewrap and the shell.
        ("echo /proc/[0-9]*".into(), "/proc/1 /proc/2\n"),
        ("kill -KILL -1 2>/dev/null; echo lives".into(), "lives\n"),
        ("echo there >/tmp/x && cat /tmp/x".into(), "there\n"),
        ("cat /tmp/x 2>/dev/null || echo no".into(), "no\n"),
    ] {
        let outcome = machine.shell(&command).await;
        assert_eq!(outcome.joined_text(), expected, "{command}: {outcome:?}");
    }
    assert_eq!(fs::read_to_string(machine.dir.path().join("beside")).unwrap(), "secret\n");
    assert!(machine.path(".git/config").exists());
    assert!(!Path::new("/tmp/x").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn m3_a_confined_command_finds_an_empty_home_with_its_programs() {
    let Some(machine) = Machine::confined(false) else { return };
    let Some(home) = std::env::home_dir().filter(|_| std::env::var_os("HOME").is_some()) else {
        return skip("all of it", "HOME is not set");
    };
    // What package managers have fetched, but no file of the person's own, and no keys.
    let shown = machine.says("cd && find . -maxdepth 1 ! -type d").await;
    assert_eq!(shown, "", "files of the home folder are seen");
    let keys = ".ssh .aws .gnupg .config .npmrc .cargo/credentials.toml .cargo/config.toml";
    let shown = machine.says(&format!("cd; ls -d {keys} 2>/dev/null || true")).await;
    assert_eq!(shown, "");
    let inside = machine.says("cd; touch own && ls own").await;
    assert_eq!(inside, "own\n");
    assert!(!home.join("own").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn m3_a_confined_command_has_no_network_unless_it_is_allowed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || listener.incoming().for_each(drop));
    let connect = format!("(: </dev/tcp/127.0.0.1/{port}) 2>/dev/null && echo yes || echo no");
    for (network, expected) in [(false, "no\n"), (true, "yes\n")] {
        let Some(machine) = Machine::confined(network) else { return };
        assert_eq!(machine.says(&connect).await, expected, "{network}");
    }
    assert_eq!(Machine::bare().says(&connect).await, "yes\n");
}

/// A folder with a program of that name that does this.
fn with_program(name: &str, script: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join(name);
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    dir
}

#[test]
fn m3_where_bubblewrap_does_not_work_it_is_said_and_nothing_runs_that_needs_it() {
    let workspace = tempfile::tempdir().unwrap();
    let refusing = with_program("bwrap", "echo 'bwrap: No permissions' >&2; exit 1");
    let hanging = with_program("bwrap", "exec /bin/sleep 1000");
    let empty = tempfile::tempdir().unwrap();
    let tool = |path: &Path, when: &str| {
        let mut command = innerloop(["tool", "shell", &line("echo ran").to_string()]);
        command.args(["--env", "local", "--bubblewrap", when, "-C"]).arg(workspace.path());
        run(command.env("PATH", path).env("USER", "me"))
    };
    for (place, why) in [
        (&refusing, "it does not work here: bwrap: No permissions"),
        (&hanging, "it does not work here: it does not end"),
        (&empty, "it is not installed"),
    ] {
        let run = tool(place.path(), "auto").exits(0);
        assert_eq!(run.stdout, "ran\n");
        let notice = format!(
            "--env local: commands run on this machine as me, without bubblewrap ({why}): they \
             can do whatever me can"
        );
        // Behind it stands how many variables are kept back of the one who runs the tests.
        assert!(run.stderr.starts_with(&notice), "{}", run.stderr);
        let run = tool(place.path(), "always").exits(3);
        assert_eq!(run.stdout, "");
        let complaint = format!(
            "innerloop: bubblewrap is wanted, but {why}; install it or allow user namespaces, or \
             say --bubblewrap never"
        );
        assert_eq!(run.complaint(), complaint);
    }
    let run = tool(refusing.path(), "never").exits(0);
    assert!(run.stderr.contains("without bubblewrap (as was wanted)"), "{run:?}");
}

#[test]
fn m3_a_line_says_that_commands_are_confined() {
    if Machine::confined(false).is_none() {
        return;
    }
    let workspace = tempfile::tempdir().unwrap();
    for (network, words) in
        [(None, "without a network"), (Some("--allow-network"), "with the network")]
    {
        let mut command = innerloop(["tool", "shell", &line("echo ran").to_string()]);
        command.args(["--env", "local", "-C"]).arg(workspace.path()).args(network);
        command.env("USER", "me").env("PATH", std::env::var_os("PATH").unwrap());
        let run = run(&mut command).exits(0);
        let folder = fs::canonicalize(workspace.path()).unwrap();
        let notice = format!(
            "--env local: commands run on this machine as me, inside bubblewrap: they change {} \
             and nothing else, {words}; 1 variable that holds a secret is kept from them\n",
            folder.display()
        );
        assert_eq!((run.stdout.as_str(), run.stderr), ("ran\n", notice));
    }
}

#[test]
fn d5_the_line_comes_before_the_command_has_ended() {
    let workspace = tempfile::tempdir().unwrap();
    let mut command = innerloop(["tool", "shell", &line("sleep 30").to_string(), "--env", "local"]);
    let started =
        innerloop_tests::program::Started::new(command.arg("-C").arg(workspace.path()), b"");
    innerloop_tests::program::wait_for("the line", || started.said().contains("--env local: "));
    thread::sleep(Duration::from_millis(50));
    started.interrupt();
    assert_eq!(started.finish().code, Some(130));
}
