//! What fills the context window, as a conversation tells it by `/context`.

use innerloop_tests::{
    anthropic::Message,
    program::{innerloop, wait_for},
    scene::Scene,
    terminal::Terminal,
};
use serde_json::json;

const ENTER: &str = "\r";
const CTRL_D: &str = "\x04";
const CYAN: &str = "\x1b[36m";
const TITLE: &str = "context: about ";

/// A conversation about a long file, in a terminal of that many columns.
fn talked(columns: u16, args: &[&str]) -> (Scene, Terminal) {
    let read = Message::call("toolu_1", "Read", &json!({"file_path": "long.txt"}));
    let replies = [read.costing(40_000, 200), Message::text("Read.").costing(60_000, 1_000)];
    let scene = Scene::streaming(&replies)
        .file("long.txt", &"a line of text\n".repeat(1_000))
        .file("AGENTS.md", &"Be brief. ".repeat(300));
    let mut command = innerloop(args);
    command.env("XDG_STATE_HOME", scene.path("state")).current_dir(scene.workspace());
    command.env("ANTHROPIC_BASE_URL", scene.model.url());
    let terminal = Terminal::start(&command, (columns, 120));
    terminal.shows("/help tells");
    terminal.press(&format!("read it{ENTER}"));
    terminal.shows("\nRead.");
    terminal.press(&format!("/context{ENTER}"));
    terminal.shows("\nfree  ");
    (scene, terminal)
}

/// The tokens and the bar of each part that the screen shows, in order.
fn rows(screen: &str) -> Vec<(String, u64, usize)> {
    let (_, table) = screen.split_once(TITLE).unwrap();
    let names = ["system prompt", "instructions", "tools", "history", "tool results", "free"];
    let lines = table.lines().skip_while(|line| !line.starts_with(names[0]));
    lines
        .zip(names)
        .map(|(line, name)| {
            let rest = line.strip_prefix(name).unwrap_or_else(|| panic!("{name}:\n{screen}"));
            let count = rest.split_whitespace().next().unwrap().replace(',', "");
            (name.to_owned(), count.parse().unwrap(), rest.matches('█').count())
        })
        .collect()
}

#[test]
fn n19_a_conversation_tells_what_fills_the_context_window() {
    let (_scene, terminal) = talked(100, &["--color", "always"]);
    let screen = terminal.screen();
    // As the provider has counted the last request and its reply.
    assert!(screen.contains("context: about 61,000 of 1,000,000 tokens"), "{screen}");
    let rows = rows(&screen);
    let tokens: Vec<u64> = rows.iter().map(|(_, tokens, _)| *tokens).collect();
    assert_eq!(tokens.iter().sum::<u64>(), 1_000_000, "{screen}");
    assert!(tokens.iter().all(|tokens| *tokens > 0), "{screen}");
    assert!(tokens[4] > tokens[3], "the file is more than what was said about it:\n{screen}");
    assert!(rows[..5].iter().all(|(.., bar)| *bar > 0) && rows[5].2 == 0, "{screen}");
    assert!(terminal.written().contains(&format!("{CYAN}█")), "{screen}");
    terminal.press(CTRL_D);
    let _run = terminal.finish().exits(0);
}

#[test]
fn n19_the_table_fits_a_narrow_terminal_without_colour() {
    let (_scene, terminal) = talked(36, &["--color", "never"]);
    let rows = rows(&terminal.screen());
    assert!(rows.iter().all(|(.., bar)| *bar == 0), "{}", terminal.screen());
    let written = terminal.written();
    let (_, table) = written.split_once(TITLE).unwrap();
    let (table, _) = table.split_once("free").unwrap();
    assert!(!table.contains(CYAN), "no colour: {table:?}");
    // Also by completion, and it is one of the commands that /help tells of.
    terminal.press(&format!("/con\t{ENTER}"));
    wait_for("another table", || terminal.screen().matches(TITLE).count() == 2);
    terminal.press(&format!("/help{ENTER}"));
    terminal.shows("/context         what fills the");
    terminal.press(CTRL_D);
    let _run = terminal.finish().exits(0);
}
