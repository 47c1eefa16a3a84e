//! Commands that a person types in a conversation: those of the table that all hosts share, in any
//! case, and those that the user and a trusted project add by files.

use innerloop_tests::{
    anthropic::Message,
    program::{Run, innerloop, run, wait_for},
    scene::Scene,
    terminal::Terminal,
};
use std::{fs, path::Path, process::Command};

const ENTER: &str = "\r";
const CTRL_D: &str = "\x04";

fn write(path: impl AsRef<Path>, text: &str) {
    let path = path.as_ref();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// That command of the program, for a user whose home is beside the workspace.
fn command(scene: &Scene, args: &[&str]) -> Command {
    let mut command = innerloop(args);
    command.env("INNERLOOP_HOME", scene.path("state")).env("HOME", scene.path("home"));
    command.env("NO_COLOR", "1").env("ANTHROPIC_BASE_URL", scene.model.url());
    command.current_dir(scene.workspace());
    command
}

/// A conversation that has begun, on a terminal of so many rows.
fn talk(scene: &Scene, args: &[&str], rows: u16) -> Terminal {
    let terminal = Terminal::start(&command(scene, args), (100, rows));
    terminal.shows("/help tells");
    terminal
}

/// Types a line, and waits until that is seen.
fn says(terminal: &Terminal, line: &str, shown: &str) {
    terminal.press(&format!("{line}{ENTER}"));
    terminal.shows(shown);
}

/// Leaves, and gives all that was written.
fn left(terminal: Terminal) -> Run {
    terminal.press(CTRL_D);
    terminal.finish().exits(0)
}

/// The texts of the user's in a request, joined.
fn body(scene: &Scene, number: usize) -> String {
    scene.model.requests()[number].body.clone()
}

#[test]
fn j13_a_conversation_tells_its_status_its_tools_and_its_version() {
    let scene = Scene::streaming(&[Message::text("Hello.").costing(1_234, 56)]);
    let terminal = talk(&scene, &[], 100);
    says(&terminal, "hi", "\nHello.");
    says(&terminal, "/Status", "cost     $0.00");
    let screen = terminal.screen();
    let (_, status) = screen.split_once("session  ").unwrap();
    for line in ["(anthropic)\n", "preset   modern\n", "state    idle\n"] {
        assert!(status.contains(line), "{line}: {screen}");
    }
    assert!(status.contains("tokens   1,234 in, 56 out\n"), "{screen}");
    says(&terminal, "/TOOLS", "\nno call needs a yes");
    says(&terminal, "/version", concat!("\ninnerloop ", env!("CARGO_PKG_VERSION")));
    let screen = terminal.screen();
    let read = screen.lines().find(|line| line.starts_with("Read  ")).unwrap().to_owned();
    assert!(read.contains(" runs "), "{read}");
    says(&terminal, "/approve none", "from the next call on");
    says(&terminal, "/tools", "\nchanges and programs need a yes");
    wait_for("the second list", || terminal.screen().matches("\nWrite  ").count() == 2);
    let screen = terminal.screen();
    let rows = screen.lines().filter(|line| line.starts_with("Write  "));
    let who: Vec<bool> = rows.map(|line| line.contains(" needs a yes ")).collect();
    assert_eq!(who, [false, true], "{screen}");
    says(&terminal, "/yes", "nothing waits for a yes or a no");
    says(&terminal, "/stop", "nothing goes on that could be stopped");
    let _run = left(terminal);
    assert_eq!(scene.model.requests().len(), 1, "the model hears of none of it");
}

#[test]
fn j12_commands_in_any_case_and_unknown_ones_never_reach_the_model() {
    let scene = Scene::streaming(&[Message::text("First."), Message::text("Second.")]);
    let terminal = talk(&scene, &[], 80);
    says(&terminal, "one", "\nFirst.");
    says(&terminal, "/UNDO", "one");
    says(&terminal, "/?", "/version         the version of this program");
    says(&terminal, "/clera", "there is no /clera, did you mean /clear?");
    says(&terminal, "/undo it", "/undo is used so: /undo [N] | /undo files");
    says(&terminal, "/etc/hosts is wrong", "\nSecond.");
    let _run = left(terminal);
    assert_eq!(scene.model.requests().len(), 2);
    let last = body(&scene, 1);
    assert!(last.contains("/etc/hosts is wrong") && !last.contains("UNDO"), "{last}");
}

#[test]
fn m2_the_user_and_a_trusted_project_add_commands_by_files() {
    let scene = Scene::streaming(&["Ran.", "Mine.", "Theirs."].map(Message::text));
    let fix =
        "---\ndescription: Fixes an issue.\nargument-hint: ID\n---\nFix issue $1 ($ARGUMENTS).\n";
    write(scene.path("home/.claude/commands/fix.md"), fix);
    write(scene.path("home/.agents/commands/quit.md"), "Never.");
    write(scene.path("workspace/.agents/commands/fix.md"), "Their way: $1.\n");
    write(scene.path("workspace/.claude/commands/ship.md"), "Ship it.\n");

    // A project that nobody has trusted adds nothing, and a run does not speak of it.
    let quiet = run(&mut command(&scene, &["run", "--apply", "go"])).exits(0);
    assert!(!quiet.stderr.contains("is not used"), "{quiet:?}");
    let asked = Terminal::start(&command(&scene, &[]), (100, 60));
    asked.shows("command /fix: Their way: $1.");
    asked.press(&format!("n{ENTER}"));
    asked.shows("/help tells");
    asked.shows("quit.md is not used: /quit is the program's own");
    says(&asked, "/help", "/fix ID          Fixes an issue.");
    let screen = asked.screen();
    assert!(!screen.split_once("> /help").unwrap().1.contains("/ship"), "{screen}");
    says(&asked, "/FIX 7 now", "\nMine.");
    assert!(body(&scene, 1).contains("Fix issue 7 (7 now)."), "{}", body(&scene, 1));
    let _run = left(asked);

    let trusted = run(&mut command(&scene, &["trust"])).exits(0);
    assert!(trusted.stdout.contains("  command /ship: Ship it."), "{trusted:?}");
    let terminal = talk(&scene, &[], 60);
    says(&terminal, "/help", "/ship            Ship it.");
    says(&terminal, "/fi\t8", "\nTheirs.");
    assert!(body(&scene, 2).contains("Their way: 8."), "the project's goes before the user's");
    let _run = left(terminal);

    let alone = talk(&scene, &["--no-settings"], 60);
    says(&alone, "/fix 1", "there is no /fix");
    let _run = left(alone);
    assert_eq!(scene.model.requests().len(), 3);
}
