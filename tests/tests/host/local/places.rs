//! Where an agent's shell stands from one command to the next.

use super::{Machine, request, said, shell};
use innerloop_core::{action::Outcome, id::AgentId};
use innerloop_host::environment::{ActionRequest, CallContext, Environment};
use std::fs;
use tokio::task::JoinSet;

impl Machine {
    async fn shell_of(&self, agent: AgentId, folder: &str, command: &str) -> Outcome {
        let call = CallContext { agent, folder: folder.to_owned(), ..CallContext::default() };
        let request = ActionRequest { call, ..request(shell(command, None)) };
        self.local.carry_out(request).await
    }

    async fn shell_in(&self, folder: &str, command: &str) -> Outcome {
        self.local.carry_out(request(shell(command, Some(folder)))).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d7_the_shell_stands_where_the_last_command_has_left_it() {
    for machine in Machine::both() {
        let path = |path: &str| format!("{}\n", machine.path(path).display());
        let root = path("").replace("/\n", "\n");
        assert_eq!(machine.says("mkdir -p a/b \"it's\nhere\"; pwd").await, root);
        assert_eq!(machine.says("cd a").await, "");
        assert_eq!(machine.says("pwd; cd b").await, path("a"));
        // Also where it ends by an exit, by a failure, or within a list.
        assert_eq!(machine.shell("cd ..; exit 3").await.exit, Some(3));
        assert_eq!(machine.says("pwd").await, path("a"));
        assert_eq!(machine.shell("set -e; cd ..; false; cd a").await.exit, Some(1));
        assert_eq!(machine.says("pwd; (cd a/b); cd \"it's\nhere\" && true").await, root);
        assert_eq!(machine.says("pwd").await, path("it's\nhere"));
        // Variables and functions are not kept.
        let _ = machine.says("export X=1; Y=2; f() { echo 3; }; cd").await;
        assert_eq!(
            machine.says("echo \"<$X$Y>\"; type f 2>/dev/null || echo no").await,
            "<>\nno\n"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d7_a_folder_that_is_named_is_for_that_command_alone() {
    for machine in Machine::both() {
        let path = |path: &str| format!("{}\n", machine.path(path).display());
        let root = path("").replace("/\n", "\n");
        let _ = machine.says("mkdir -p a/b c").await;
        let _ = machine.says("cd a").await;
        let absolute = machine.path("c").to_str().unwrap().to_owned();
        for (folder, expected) in [("c", path("c")), ("/", root.clone()), (&absolute, path("c"))] {
            assert_eq!(said(&machine.shell_in(folder, "pwd; cd /").await), expected, "{folder}");
            assert_eq!(machine.says("pwd").await, path("a"), "after {folder}");
        }
        let missing = machine.shell_in("none", "touch was-here").await;
        assert_eq!(missing.exit, Some(1));
        assert!(missing.joined_text().contains("No such file or directory"), "{missing:?}");
        assert!(!machine.path("was-here").exists() && !machine.path("a/was-here").exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d7_each_agent_has_a_shell_of_its_own_in_its_own_folder() {
    let machine = Machine::bare();
    let (one, two) = (AgentId(1), AgentId(2));
    fs::create_dir_all(machine.path("sub/deep")).unwrap();
    let path = |path: &str| format!("{}\n", machine.path(path).display());
    assert_eq!(said(&machine.shell_of(one, "sub", "pwd; cd deep").await), path("sub"));
    assert_eq!(said(&machine.shell_of(two, "sub", "pwd").await), path("sub"));
    assert_eq!(said(&machine.shell_of(one, "sub", "pwd").await), path("sub/deep"));
    let none = machine.shell_of(two, "none", "pwd").await;
    assert!(none.joined_text().contains("there is no folder none to run in"), "{none:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn d7_a_folder_that_is_gone_is_told_and_the_shell_begins_again() {
    let machine = Machine::bare();
    let _ = machine.says("mkdir -p gone; cd gone").await;
    fs::remove_dir(machine.path("gone")).unwrap();
    let (gone, root) = (machine.path("gone"), machine.path(""));
    let (gone, root) = (gone.display(), root.to_str().unwrap().trim_end_matches('/'));
    let told = format!("{gone} is gone, and this is carried out in {root}");
    let text = machine.says("pwd").await;
    assert!(text.starts_with(&format!("{root}\n")) && text.contains(&told), "{text}");
    assert_eq!(machine.says("pwd").await, format!("{root}\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn d7_many_commands_at_once_do_not_mix() {
    let machine = Machine::bare();
    let mut tasks = JoinSet::new();
    for n in 0..40 {
        let local = machine.local.clone();
        tasks.spawn(async move {
            let say = async |command: &str| {
                let call = CallContext { agent: AgentId(n + 1), ..CallContext::default() };
                said(
                    &local.carry_out(ActionRequest { call, ..request(shell(command, None)) }).await,
                )
            };
            assert_eq!(say(&format!("mkdir d{n}; cd d{n}; echo {n}")).await, format!("{n}\n"));
            assert_eq!(say("basename \"$PWD\"").await, format!("d{n}\n"));
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d7_whatever_a_command_puts_in_place_of_its_note_harms_nobody() {
    let machine = Machine::bare();
    let own =
        "n=$(trap -p EXIT | sed -n \"s/.*>|[^/]*\\(\\/[^';\\\\]*\\).*/\\1/p\"); test -f \"$n\"";
    let _ = machine.says("mkdir a; cd a").await;
    for deed in [
        "trap - EXIT; rm $n",
        "trap - EXIT; rm $n; mkfifo $n",
        "trap - EXIT; rm $n; ln -s /etc/passwd $n",
        "trap - EXIT; rm $n; mkdir $n",
        "trap - EXIT; printf relative >$n",
        "trap - EXIT; head -c 100000 /dev/zero | tr '\\0' / >$n",
        "trap 'echo mine' EXIT; cd ..",
        "cd ..; exec true",
    ] {
        let outcome = machine.shell(&format!("{own} && {{ {deed}; }}")).await;
        assert_eq!(outcome.exit, Some(0), "{deed}: {outcome:?}");
        let stands = machine.says("basename \"$PWD\"").await;
        assert_eq!(stands, "a\n", "{deed}");
    }
}
