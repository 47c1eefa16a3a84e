//! What a guest must not reach or change: the world outside of the workspace, `.git` and
//! `.innerloop` in it, and files that are not regular files.

use super::{Bench, Swaps};
use innerloop_core::action::ToolError;
use std::{
    fs,
    os::unix::{fs::symlink, net::UnixListener},
    process::Command,
    time::Duration,
};

const SUCCESS: i32 = 0;
const NOENT: i32 = 44;
const PERM: i32 = 63;

/// A bench with a secret beside the workspace.
fn with_secret() -> Bench {
    let bench = Bench::new();
    fs::write(bench.dir.path().join("secret"), "secret").unwrap();
    bench.write("src/a.txt", "a");
    bench
}

fn secret(bench: &Bench) -> String {
    fs::read_to_string(bench.dir.path().join("secret")).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn paths_that_leave_the_workspace_are_refused() {
    for bench in Bench::both(with_secret) {
        let absolute = bench.dir.path().join("secret");
        let outside = [
            "../secret",
            "src/../../secret",
            "src/../src/../../secret",
            "./../secret",
            "//secret",
            "/etc/passwd",
            "/proc/self/environ",
            absolute.to_str().unwrap(),
        ];
        for path in outside {
            for letter in ["r", "w", "t", "o", "m", "u", "T"] {
                assert_eq!(bench.ops(&[letter, path]).await, PERM, "{letter} {path}");
            }
            for letter in ["n", "s"] {
                assert_eq!(bench.ops(&[letter, "src/a.txt", path]).await, PERM, "{letter} {path}");
            }
            assert_eq!(bench.ops(&["n", path, "taken"]).await, PERM, "n {path} taken");
        }
        assert_eq!(secret(&bench), "secret");
        assert_eq!(bench.ops(&["r", "src/a.txt"]).await, SUCCESS);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn links_of_the_host_that_leave_the_workspace_are_not_followed() {
    for bench in Bench::both(with_secret) {
        symlink("../secret", bench.path("relative")).unwrap();
        symlink(bench.dir.path().join("secret"), bench.path("absolute")).unwrap();
        symlink("relative", bench.path("chained")).unwrap();
        symlink("..", bench.path("up")).unwrap();
        symlink("/proc", bench.path("proc")).unwrap();
        symlink("../created", bench.path("dangling")).unwrap();
        for path in
            ["relative", "absolute", "chained", "up/secret", "proc/self/environ", "dangling"]
        {
            for letter in ["r", "w", "t", "o", "T"] {
                assert_eq!(bench.ops(&[letter, path]).await, PERM, "{letter} {path}");
            }
        }
        assert_eq!(bench.ops(&["D", "up", "secret"]).await, PERM);
        assert_eq!(secret(&bench), "secret");
        assert!(!bench.dir.path().join("created").exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn links_that_lead_in_a_circle_end() {
    const LOOP: i32 = 32;
    for bench in Bench::both(Bench::new) {
        symlink("b", bench.path("a")).unwrap();
        symlink("a", bench.path("b")).unwrap();
        assert_eq!(bench.ops(&["w", "a/x"]).await, LOOP);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_makes_no_link_that_leaves_the_workspace() {
    for bench in Bench::both(with_secret) {
        bench.write("a/b/c.txt", "c");
        for (target, place) in [
            ("..", "up"),
            ("../secret", "link"),
            ("../../secret", "src/link"),
            ("../src/../../secret", "src/link"),
            ("src/..", "link"),
            ("/etc", "etc"),
        ] {
            assert_eq!(bench.ops(&["s", target, place]).await, PERM, "{place} -> {target}");
        }
        assert_eq!(bench.ops(&["s", "../a/b/c.txt", "src/c"]).await, SUCCESS);
        assert_eq!(bench.ops(&["r", "src/c"]).await, SUCCESS);
        // A link that stays inside where it is may leave where it is moved to.
        assert_eq!(bench.ops(&["n", "src/c", "c"]).await, PERM);
        assert_eq!(bench.ops(&["s", "../../src", "a/b/src"]).await, SUCCESS);
        assert_eq!(bench.ops(&["n", "a/b", "b"]).await, PERM);
        assert_eq!(bench.ops(&["n", "a", "z"]).await, SUCCESS);
        assert_eq!(bench.ops(&["n", "z/b/c.txt", "c.txt"]).await, SUCCESS);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_makes_no_hard_link() {
    for bench in Bench::both(with_secret) {
        assert_eq!(bench.ops(&["l", "src/a.txt", "b.txt"]).await, PERM);
        assert_eq!(bench.ops(&["l", "../secret", "b.txt"]).await, PERM);
        assert!(!bench.has("b.txt"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn git_and_our_own_folder_can_be_read_but_not_changed() {
    for bench in Bench::both(Bench::new) {
        for folder in [".git", "sub/.git", ".innerloop"] {
            bench.write(&format!("{folder}/config"), "config");
            bench.write(&format!("{folder}/hooks/sample"), "hook");
        }
        bench.write("plain.txt", "plain");
        symlink(".git", bench.path("link")).unwrap();
        symlink("sub/.git/config", bench.path("config")).unwrap();
        let places = [
            ".git/config",
            "./.git//config",
            "sub/../.git/config",
            "sub/.git/config",
            ".innerloop/config",
            "link/config",
            "config",
        ];
        for path in places {
            assert_eq!(bench.ops(&["r", path]).await, SUCCESS, "r {path}");
            for letter in ["w", "t", "o", "T", "U", "z"] {
                assert_eq!(bench.ops(&[letter, path]).await, PERM, "{letter} {path}");
            }
        }
        for path in [".git/config", "sub/.git/config", ".innerloop/config", "link/config"] {
            assert_eq!(bench.ops(&["u", path]).await, PERM, "u {path}");
            assert_eq!(bench.ops(&["n", path, "moved"]).await, PERM, "n {path}");
            assert_eq!(bench.ops(&["n", "plain.txt", path]).await, PERM, "n plain.txt {path}");
        }
        for path in [".git/new", ".git/hooks/new", "link/new", ".GIT/new", "sub/.Git/new"] {
            for letter in ["w", "m", "F"] {
                assert_eq!(bench.ops(&[letter, path]).await, PERM, "{letter} {path}");
            }
            assert_eq!(bench.ops(&["s", "config", path]).await, PERM, "s {path}");
            assert_eq!(bench.ops(&["n", "plain.txt", path]).await, PERM, "n plain.txt {path}");
        }
        for (folder, path) in [
            (".git", "config"),
            ("sub", ".git/config"),
            ("sub/.git", "hooks/sample"),
            ("link", "x"),
        ] {
            for letter in ["D", "N"] {
                assert_eq!(bench.ops(&[letter, folder, path]).await, PERM, "{letter} {folder}");
            }
        }
        assert_eq!(bench.ops(&["d", ".git/hooks"]).await, PERM);
        assert_eq!(bench.ops(&["n", ".git", "git"]).await, PERM);
        assert_eq!(bench.read(".git/config"), "config");
        assert_eq!(bench.read("sub/.git/hooks/sample"), "hook");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_makes_no_git_folder_under_any_of_its_names() {
    for bench in Bench::both(Bench::new) {
        for name in
            [".git", ".GIT", ".git.", ".git ", ".git::$INDEX_ALLOCATION", "GIT~1", ".g\u{200c}it"]
        {
            for letter in ["w", "m"] {
                assert_eq!(bench.ops(&[letter, name]).await, PERM, "{letter} {name}");
            }
        }
        for name in [".gitignore", ".github", "git", ".git-blame"] {
            assert_eq!(bench.ops(&["m", name]).await, SUCCESS, "m {name}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn other_version_systems_own_folders_are_protected_alike() {
    for bench in Bench::both(Bench::new) {
        bench.write("plain.txt", "plain");
        for name in innerloop_tools::VERSION_SYSTEMS {
            let hooks = format!("sub/{name}/hgrc");
            bench.write(&hooks, "[hooks]");
            let short = format!("{}~1", name.trim_start_matches('.').to_uppercase());
            for path in [name, &name.to_uppercase(), &format!("new/{name}"), &short] {
                for letter in ["w", "m"] {
                    assert_eq!(bench.ops(&[letter, path]).await, PERM, "{letter} {path}");
                }
                assert_eq!(bench.ops(&["n", "plain.txt", path]).await, PERM, "n {path}");
            }
            assert_eq!(bench.ops(&["r", &hooks]).await, SUCCESS, "r {hooks}");
            for letter in ["w", "u", "T"] {
                assert_eq!(bench.ops(&[letter, &hooks]).await, PERM, "{letter} {hooks}");
            }
            assert_eq!(bench.ops(&["n", "sub", "moved"]).await, PERM);
            assert_eq!(bench.read(&hooks), "[hooks]");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renamed_folder_that_is_still_open_leads_to_its_new_place() {
    for bench in Bench::both(Bench::new) {
        bench.write("b/.git/config", "config");
        bench.write("a/.keep", "");
        assert_eq!(bench.ops(&["M", "a", "c", "new.txt"]).await, SUCCESS);
        assert_eq!(bench.read("c/new.txt"), "x");
        bench.write("k/deep/.innerloop/key", "key");
        assert_eq!(bench.ops(&["n", "k", "l"]).await, PERM);
        assert_eq!(bench.ops(&["n", "k/deep", "deep"]).await, PERM);
        // A repository stays where it is, whatever folder around it is moved.
        assert_eq!(bench.ops(&["n", "b", "d"]).await, PERM);
        assert_eq!(bench.ops(&["m", "e"]).await, SUCCESS);
        assert_eq!(bench.ops(&["n", "b", "e/b"]).await, PERM);
        assert_eq!(bench.read("b/.git/config"), "config");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_makes_and_changes_no_repository_under_another_name() {
    for bench in Bench::both(Bench::new) {
        // What is behind a `.git` that is a file, as worktrees and some people have it.
        bench.write(".bare/HEAD", "ref: refs/heads/main");
        bench.write(".bare/config", "config");
        bench.write(".bare/objects/x", "");
        bench.write(".bare/refs/x", "");
        for args in
            [["w", ".bare/config"], ["w", ".bare/hooks"], ["w", ".bare/refs/y"], ["m", ".bare/x"]]
        {
            assert_eq!(bench.ops(&args).await, PERM, "{args:?}");
        }
        assert_eq!(bench.ops(&["n", ".bare", "bare"]).await, PERM);
        assert_eq!(bench.read(".bare/config"), "config");
        // The last part that would make the root one is refused, whichever it is.
        for (folder, parts) in [
            ("", [["m", "objects"], ["m", "refs"], ["w", "HEAD"]]),
            ("b/", [["w", "HEAD"], ["m", "objects"], ["m", "refs"]]),
            ("c/", [["w", "HEAD"], ["m", "refs"], ["m", "objects"]]),
        ] {
            if !folder.is_empty() {
                assert_eq!(bench.ops(&["m", folder]).await, SUCCESS);
            }
            let [first, second, last] =
                parts.map(|[letter, name]| (letter, format!("{folder}{name}")));
            assert_eq!(bench.ops(&[first.0, &first.1]).await, SUCCESS, "{first:?}");
            assert_eq!(bench.ops(&[second.0, &second.1]).await, SUCCESS, "{second:?}");
            assert_eq!(bench.ops(&[last.0, &last.1]).await, PERM, "{last:?}");
        }
        bench.write("plain", "ref: refs/heads/main");
        assert_eq!(bench.ops(&["n", "plain", "HEAD"]).await, PERM);
        assert_eq!(bench.ops(&["w", "b/commondir"]).await, PERM, "beside HEAD it makes one, too");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pipe_and_a_socket_can_not_be_opened_and_hold_nothing_up() {
    for bench in Bench::both(Bench::new) {
        let made = Command::new("mkfifo").arg(bench.path("pipe")).status().unwrap();
        assert!(made.success());
        let _socket = UnixListener::bind(bench.path("socket")).unwrap();
        symlink("pipe", bench.path("link")).unwrap();
        for path in ["pipe", "socket", "link"] {
            for letter in ["r", "w", "o", "t"] {
                assert_eq!(bench.ops(&[letter, path]).await, PERM, "{letter} {path}");
            }
        }
        assert_eq!(bench.ops(&["S", "pipe"]).await, SUCCESS);
        assert_eq!(bench.ops(&["L", "."]).await, SUCCESS);
        assert_eq!(bench.ops(&["u", "pipe"]).await, SUCCESS);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_socket_in_the_workspace_does_not_break_what_looks_at_it() {
    for bench in Bench::both(Bench::new) {
        let _socket = UnixListener::bind(bench.path("socket")).unwrap();
        bench.ops(&["S", "socket"]).await;
        assert_eq!(bench.ops(&["L", "."]).await, SUCCESS);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_missing_is_missing() {
    for bench in Bench::both(Bench::new) {
        for args in [["r", "none"], ["o", "none"], ["w", "no/ne"], ["u", "none"], ["d", "none"]] {
            assert_eq!(bench.ops(&args).await, NOENT, "{args:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_of_another_language_is_held_by_the_same_rules() {
    for bench in Bench::both(Bench::qjs) {
        bench.write(".git/config", "config");
        bench.write(
            "t.mjs",
            "import * as std from 'qjs:std';\n\
         import * as os from 'qjs:os';\n\
         const tried = ['/.git/config', '.git/hooks', '../x', '/../x'].map((path) => {\n\
           const file = std.open(path, 'w');\n\
           return file === null ? 'refused' : 'written';\n\
         });\n\
         console.log(tried.join(), os.mkdir('/.git/new') < 0, os.remove('/.git/config') < 0);\n",
        );
        let outcome = bench.run("qjs", &["-m", "t.mjs"]).await;
        assert_eq!(outcome.joined_text(), "refused,refused,refused,refused true true\n");
        assert_eq!(bench.read(".git/config"), "config");
    }
}

/// No program, not even by a name that looks like a path, is looked for outside of the registry.
#[tokio::test(flavor = "multi_thread")]
async fn a_programs_name_is_no_path() {
    for bench in Bench::both(Bench::new) {
        for name in ["../programs/ops", "/bin/sh", "ops.wasm", ""] {
            let outcome = bench.run(name, &[]).await;
            assert_eq!(outcome.error, Some(ToolError::NotFound), "{name}");
        }
    }
}

/// One guest swaps a folder for a link to `.git` and back while another one writes through it.
#[tokio::test(flavor = "multi_thread")]
async fn two_guests_of_a_session_can_not_change_git_between_them() {
    for bench in Bench::both(Bench::qjs) {
        bench.write(".git/config", "config");
        bench.write("door/config", "plain");
        symlink(".git", bench.path("link")).unwrap();
        bench.write(
            "swap.mjs",
            "import * as os from 'qjs:os';\n\
         const end = Date.now() + 2000;\n\
         let swaps = 0;\n\
         while (Date.now() < end) {\n\
           let failed = 0;\n\
           for (const [from, to] of [['door', 'aside'], ['link', 'door'], ['door', 'link'], \
             ['aside', 'door']]) failed |= os.rename(from, to);\n\
           if (failed === 0) swaps++;\n\
         }\n\
         console.log(swaps > 10);\n",
        );
        bench.write(
            "write.mjs",
            "import * as std from 'qjs:std';\n\
         const end = Date.now() + 2000;\n\
         let written = 0;\n\
         while (Date.now() < end) {\n\
           for (const name of ['config', 'hook']) {\n\
             const file = std.open(`door/${name}`, 'w');\n\
             if (file !== null) { file.puts('evil'); file.close(); written++; }\n\
           }\n\
         }\n\
         console.log(written > 10);\n",
        );
        let scripts =
            (bench.run("qjs", &["-m", "swap.mjs"]), bench.run("qjs", &["-m", "write.mjs"]));
        let (swapped, written) = tokio::join!(scripts.0, scripts.1);
        assert_eq!(swapped.joined_text(), "true\n");
        assert_eq!(written.joined_text(), "true\n");
        assert_eq!(bench.read(".git/config"), "config");
        assert!(!bench.has(".git/hook"));
    }
}

/// The host swaps a folder for a link out of the workspace and back while a guest reads and
/// writes through it.
#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_becomes_a_link_at_the_wrong_moment_leads_nowhere() {
    for bench in Bench::both(Bench::qjs) {
        let outside = bench.dir.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("secret"), "secret").unwrap();
        bench.write("a/plain", "plain");
        symlink("../outside", bench.path("b")).unwrap();
        bench.write(
            "t.mjs",
            "import * as std from 'qjs:std';\n\
         let leaks = 0, reads = 0;\n\
         for (let i = 0; i < 3000; i++) {\n\
           if (std.loadFile('a/secret') !== null) leaks++;\n\
           if (std.loadFile('a/plain') !== null) reads++;\n\
           const file = std.open(`a/${i}`, 'w');\n\
           if (file !== null) file.close();\n\
         }\n\
         console.log(leaks, reads > 0);\n",
        );
        let swaps = Swaps::of(&bench);
        let outcome = bench.run_for(Duration::from_secs(60), "qjs", &["-m", "t.mjs"]).await;
        swaps.end();
        assert_eq!(outcome.joined_text(), "0 true\n");
        let names: Vec<_> =
            fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["secret"]);
    }
}
