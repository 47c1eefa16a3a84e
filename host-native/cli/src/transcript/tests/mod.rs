//! Tests of the transcript: what a person sees in six situations.

use super::*;
use crate::{args::ColourChoice, wrap::columns_in};
use expect_test::expect_file;
use innerloop_core::{
    action::{ChangeKind, ReportedChange, ToolError},
    config::SessionConfig,
    id::SessionId,
    message::{Part, Usage},
    time::UnixMillis,
};
use serde_json::json;
use std::sync::Arc;

const fn pipe() -> Option<u16> {
    None
}

const fn narrow() -> Option<u16> {
    Some(40)
}

const fn usual() -> Option<u16> {
    Some(80)
}

const fn wide() -> Option<u16> {
    Some(200)
}

/// A scene of events that are made by hand, and its view.
struct Scene {
    transcript: Transcript<Vec<u8>>,
    seq: u64,
    agent: AgentId,
}

impl Scene {
    fn new(columns: fn() -> Option<u16>, when: ColourChoice) -> Self {
        let mut config = SessionConfig::default();
        config
            .facts
            .programs
            .push(serde_json::from_value(json!({"name": "bash", "description": ""})).unwrap());
        let words = CallDescriber::new(&config);
        let transcript = Transcript::of_width(Vec::new(), OutputStyle::new(when), words, columns);
        Self { transcript, seq: 0, agent: AgentId::ROOT }
    }

    fn event(&mut self, kind: EventKind) {
        self.seq += 1;
        self.transcript.show(&Event {
            seq: self.seq,
            at: SessionInstant(self.seq * 100),
            wall: UnixMillis(0),
            session: Arc::new(SessionId("s".into())),
            effect: None,
            agent: self.agent,
            kind,
        });
    }

    fn user(&mut self) {
        self.event(EventKind::UserInput { parts: vec![Part::text("go")] });
    }

    fn thinks(&mut self, text: &str) {
        for text in pieces(text) {
            self.event(EventKind::AssistantReasoningDelta { text });
        }
    }

    fn writes(&mut self, text: &str) {
        self.event(EventKind::AssistantTextStart);
        for text in pieces(text) {
            self.event(EventKind::AssistantTextDelta { text });
        }
    }

    fn ends_text(&mut self) {
        let (text, reasoning) = (String::new(), String::new());
        let (usage, cost_nano_usd, ttft_ms, ms) = (None, None, None, None);
        self.event(EventKind::AssistantTextEnd {
            text,
            reasoning,
            usage,
            cost_nano_usd,
            ttft_ms,
            ms,
        });
    }

    fn says(&mut self, text: &str) {
        self.writes(text);
        self.ends_text();
    }

    fn calls(&mut self, id: &str, name: &str, arguments: &serde_json::Value) {
        let (call_id, name, arguments) = (id.to_owned(), name.to_owned(), arguments.to_string());
        self.event(EventKind::ToolCallStart { call_id, name, arguments });
    }

    fn prints(&mut self, id: &str, text: &str) {
        let (call_id, text) = (id.to_owned(), text.to_owned());
        self.event(EventKind::ToolCallOutputDelta { call_id, text });
    }

    fn comes(&mut self, id: &str, outcome: Outcome) {
        let (call_id, name, outcome) = (id.to_owned(), String::new(), Arc::new(outcome));
        self.event(EventKind::ToolCallEnd { call_id, name, outcome });
    }

    fn ends(&mut self, end: RunEnd) {
        let usage = Usage {
            input_total: 17_152,
            output_total: 749,
            cache_read: 12_000,
            ..Usage::default()
        };
        let (text, cost_nano_usd) = ("The *end*.".to_owned(), Some(12_345_678));
        let kind = EventKind::ProcessingEnd {
            end,
            text,
            usage,
            cost_nano_usd,
            replies: 2,
            tool_calls: 2,
            rounds: 1,
        };
        self.event(kind);
    }

    fn doing(&self) -> String {
        self.transcript.activity().map_or_else(|| "idle".to_owned(), |it| it.to_string())
    }
}

type Columns = fn() -> Option<u16>;

/// The widths and colours in which each situation is shown.
const SEEN: [(Columns, ColourChoice); 4] = [
    (narrow, ColourChoice::Never),
    (usual, ColourChoice::Always),
    (wide, ColourChoice::Never),
    (pipe, ColourChoice::Never),
];

/// Checks that a situation is shown as in its files: `tests/NAME-COLUMNS.txt`, `-pipe` without a
/// terminal, and `-colour` with `‹1›` in place of `ESC[1m`. No line is wider than the terminal.
fn check(name: &str, situation: fn(Columns, ColourChoice) -> Scene) {
    check_at(name, situation, &SEEN);
}

fn check_at(
    name: &str,
    situation: fn(Columns, ColourChoice) -> Scene,
    seen: &[(Columns, ColourChoice)],
) {
    for (columns, when) in seen {
        let text = String::from_utf8(situation(*columns, *when).transcript.out).unwrap();
        let colour = if matches!(when, ColourChoice::Always) { "-colour" } else { "" };
        let place = columns().map_or_else(|| "pipe".to_owned(), |columns| columns.to_string());
        let coded = coded(&text);
        if let Some(columns) = columns() {
            let plain =
                coded.split('‹').map(|piece| piece.split_once('›').unwrap_or(("", piece)).1);
            let plain: String = plain.collect();
            let widest = plain.lines().map(columns_in).max().unwrap_or(0);
            assert!(widest <= usize::from(columns), "{widest}: {plain}");
        }
        expect_file![format!("{name}-{place}{colour}.txt")].assert_eq(&coded);
    }
}

fn coded(text: &str) -> String {
    let mut pieces = text.split("\x1b[");
    let mut shown = pieces.next().unwrap().to_owned();
    for piece in pieces {
        let (codes, rest) = piece.split_once('m').unwrap();
        shown.push_str(&format!("‹{codes}›{rest}"));
    }
    shown
}

/// Returns the text in pieces of three characters, which split marks and words.
fn pieces(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(3).map(|piece| piece.iter().collect()).collect()
}

fn streams(out: &str, error: &str, exit: i32) -> Outcome {
    Outcome {
        parts: vec![Part::text(out), Part::text(error)],
        streams: true,
        exit: Some(exit),
        error: (exit != 0).then_some(ToolError::Exit),
        ..Outcome::default()
    }
}

fn change(
    path: &str,
    kind: ChangeKind,
    before: Option<&str>,
    after: Option<&str>,
) -> ReportedChange {
    let own = |text: Option<&str>| text.map(str::to_owned);
    ReportedChange { path: path.to_owned(), kind, before: own(before), after: own(after) }
}

fn plain_answer(columns: fn() -> Option<u16>, when: ColourChoice) -> Scene {
    let mut scene = Scene::new(columns, when);
    assert_eq!(scene.doing(), "idle");
    scene.user();
    assert_eq!(scene.doing(), "waiting for the model");
    scene
        .thinks("**Comparing.** The user wants to know how the two numbers compare to each other.");
    assert_eq!(scene.doing(), "thinking");
    scene.writes(
        "## Answer\n\nThe **larger** one is `b`, as [the tests](tests/a.rs) show; nothing else in \
         this folder says anything about it.\n\n1. Look at `src/lib.rs` once more before anything \
         else is changed there.\n   - It has *two* places.\n\n```sh\ncargo test --all-features \
         --workspace --no-fail-fast -- --nocapture\n```\n\n| Name | Value |\n|---|---:|\n| a | 1 \
         |\n| **b** | 22 |\n",
    );
    assert_eq!(scene.doing(), "writing");
    scene.ends_text();
    scene.ends(RunEnd::Completed);
    assert_eq!(scene.doing(), "idle");
    let turn = scene.transcript.turn_line().unwrap();
    scene.transcript.tell(TextStyle::DIM, &turn);
    assert_eq!(scene.transcript.turn_line(), None);
    scene
}

#[test]
fn a_plain_answer() {
    check("answer", plain_answer);
}

fn reading_and_editing(columns: fn() -> Option<u16>, when: ColourChoice) -> Scene {
    let mut scene = Scene::new(columns, when);
    scene.user();
    scene.says("I look at the files first.");
    scene.calls("1", "read_file", &json!({"file_path": "src/main.rs", "offset": 10, "limit": 31}));
    scene.calls("2", "grep", &json!({"pattern": "fn main", "path": "src", "glob_filter": "*.rs"}));
    assert_eq!(scene.doing(), "read: src/main.rs (lines 10–40) and 1 other call");
    let lines: Vec<String> = (10..=40).map(|line| format!("{line:03} | let x = {line};")).collect();
    scene.comes("1", Outcome::text(lines.join("\n")));
    scene.comes("2", Outcome::text("src/main.rs:1:fn main() {}"));
    scene.calls(
        "3",
        "edit_file",
        &json!({"file_path": "src/main.rs", "old_string": "a", "new_string": "b"}),
    );
    let before = "fn main() {\n    let from = tiers.find(|tier| quantity > tier.from);\n}\n";
    let after = before.replace("quantity >", "quantity >=");
    let kind = ChangeKind::Modified;
    let changes = vec![change("src/main.rs", kind, Some(before), Some(&after))];
    scene.comes("3", Outcome { changes, ..Outcome::text("Replaced 1 occurrence") });
    scene.calls("4", "write_file", &json!({"file_path": "new.txt", "content": "1\n2\n"}));
    let text: String = (1..=30).map(|line| format!("line {line}\n")).collect();
    let changes = vec![change("new.txt", ChangeKind::Created, None, Some(&text))];
    scene.comes("4", Outcome { changes, ..Outcome::text("Wrote 30 lines") });
    let patch = "*** Begin Patch\n*** Delete File: a\n*** Add File: b\n+x\n*** End Patch";
    scene.calls("5", "apply_patch", &json!({"patch": patch}));
    let changes = vec![
        change("a", ChangeKind::Deleted, Some("x\n"), None),
        change("b", ChangeKind::Created, None, Some("x\n")),
        change("pic.png", ChangeKind::Modified, None, None),
    ];
    scene.comes("5", Outcome { changes, ..Outcome::text("Done") });
    scene.calls("6", "look_up", &json!({"word": "tier", "deep": true, "of": [{"a": 1}, {"b": 2}]}));
    scene.comes("6", Outcome::error(ToolError::Crashed, "no such word"));
    scene
}

#[test]
fn reading_and_editing_with_diffs() {
    check("edits", reading_and_editing);
}

fn program_that_fails(columns: fn() -> Option<u16>, when: ColourChoice) -> Scene {
    let mut scene = Scene::new(columns, when);
    scene.user();
    scene.calls("1", "shell", &json!({"command": "cargo test --all"}));
    assert_eq!(scene.doing(), "shell: cargo test --all");
    let mut all = String::new();
    for line in 1..=20 {
        let text = format!("   Compiling crate-{line} v0.1.{line} (/home/crates/crate-{line})\n");
        scene.prints("1", &text);
        all.push_str(&text);
    }
    scene.prints("1", "10 %\r50 %");
    let doing = if columns().is_some() {
        "shell: cargo test --all · 50 %"
    } else {
        "shell: cargo test --all"
    };
    assert_eq!(scene.doing(), doing);
    scene.prints("1", "\r99 %\nerror: test failed\n");
    scene.comes("1", streams(&format!("{all}10 %\r50 %\r99 %\n"), "error: test failed\n", 101));
    scene.calls("2", "shell", &json!({"command": "sed -i s/a/b/ x y"}));
    let kind = ChangeKind::Modified;
    let changes = ["x", "y"].map(|path| change(path, kind, Some("a\n"), Some("b\n"))).to_vec();
    scene.comes("2", Outcome { changes, ..streams("", "", 0) });
    scene.calls("3", "shell", &json!({"command": "sleep 100"}));
    let outcome = Outcome {
        exit: None,
        timed_out: true,
        error: Some(ToolError::Timeout),
        ..streams("", "", 1)
    };
    scene.comes("3", outcome);
    scene
}

#[test]
fn a_program_with_live_output_that_fails() {
    check("program", program_that_fails);
}

fn steered(columns: fn() -> Option<u16>, when: ColourChoice) -> Scene {
    let mut scene = Scene::new(columns, when);
    scene.user();
    scene.calls("1", "shell", &json!({"command": "rm -r build"}));
    let reason = "The user did not allow this call: the user said no, and has something to say";
    scene.comes("1", Outcome::error(ToolError::Denied, reason));
    let said = "Leave the build folder alone; what is in there takes half an hour to make again.";
    scene.event(EventKind::SteeringInjected { parts: vec![Part::text(said)] });
    let item = |text: &str, status| PlanItem { text: text.to_owned(), status };
    let items = vec![
        item("Read what the folder is for", PlanStatus::Completed),
        item("Clean up everything else, which may be more than one thinks", PlanStatus::InProgress),
        item("Run the tests", PlanStatus::Pending),
    ];
    scene.event(EventKind::Plan { items });
    scene.says("All right.");
    scene
}

#[test]
fn a_call_is_denied_and_the_model_steered() {
    check("steered", steered);
}

fn cut_off(columns: fn() -> Option<u16>, when: ColourChoice) -> Scene {
    let mut scene = Scene::new(columns, when);
    scene.user();
    scene.writes("Now **the list:\n\n```rust\nfn half(");
    let silent = "nothing more from https://api.example.com for 30 s; Ctrl-C interrupts";
    scene.transcript.tell(TextStyle::YELLOW, silent);
    let message = "the connection was closed before the reply was whole".to_owned();
    scene.event(EventKind::Retry { attempt: 2, delay_ms: 1_500, message });
    assert_eq!(scene.doing(), "trying again");
    scene.event(EventKind::TextReset);
    scene.says("Now *the* list.");
    let message = "\u{1b}[2J the context is nearly full; older results are left out".to_owned();
    scene.event(EventKind::Warning { message });
    scene.event(EventKind::LoopDetection { message: String::new(), period: 2 });
    scene.event(EventKind::TurnLimit { limit: "max_turns", value: 9 });
    scene.ends(RunEnd::Limit);
    scene
}

#[test]
fn what_is_written_is_told_while_it_is_written() {
    let mut scene = Scene::new(|| Some(80), ColourChoice::Never);
    let delta = |index, text: &str| EventKind::ToolCallDelta {
        index,
        call_id: String::new(),
        name: "write_file".to_owned(),
        text: text.to_owned(),
    };
    scene.user();
    scene.event(delta(1, ""));
    assert_eq!(scene.doing(), "writing write_file");
    scene.event(delta(1, r#"{"file_path":"src/cart.js","con"#));
    scene.event(delta(1, r#"tent":"export {};\"#));
    scene.event(delta(1, r#"nlet"#));
    assert_eq!(scene.doing(), "writing src/cart.js · 2 lines");
    scene.event(delta(2, ""));
    assert_eq!(scene.doing(), "writing write_file");
    scene.event(EventKind::TextReset);
    assert_eq!(scene.doing(), "waiting for the model");
}

#[test]
fn a_reply_is_cut_off_and_asked_again() {
    check("cut-off", cut_off);
}

fn side_by_side(columns: fn() -> Option<u16>, when: ColourChoice) -> Scene {
    let mut scene = Scene::new(columns, when);
    scene.user();
    scene.calls("1", "shell", &json!({"command": "make docs"}));
    scene.calls("2", "shell", &json!({"command": "make tests"}));
    scene.prints("1", "文書を作成しています。しばらくお待ちください。\n");
    scene.prints("2", "\u{1b}[1;31mtest\u{1b}[0m one\u{1b}[K\u{1b}[2J\n");
    scene.agent = AgentId(1);
    let (parent, model, folder) = (AgentId::ROOT, "m".to_owned(), String::new());
    let task =
        "翻訳を確認して、間違いがあれば直してください。それから報告してください。".to_owned();
    scene.event(EventKind::AgentStarted { parent, task, model, folder, name: "".into() });
    scene.calls("1", "read_file", &json!({"file_path": "doc/日本語.md"}));
    scene.ends(RunEnd::Completed);
    scene.agent = AgentId::ROOT;
    scene.comes("2", streams("test one\n", "", 0));
    scene.prints("1", "完了 ✅\n");
    scene.comes("1", streams("文書を作成しています。しばらくお待ちください。\n完了 ✅\n", "", 0));
    scene.writes("# 結果\n\n**すべて**のテストが成功しました 🎉。`doc/日本語.md`");
    // A subagent's events come in the middle of it.
    scene.agent = AgentId(2);
    scene.ends(RunEnd::Interrupted);
    scene.agent = AgentId::ROOT;
    let rest = "を確認してください。\n- 一つ目の項目は長いので、次の行に続きます。\n\n| ファイル | \
                結果 |\n|---|---:|\n| `doc/日本語.md` | 直しました：訳語を揃え、段落を二つに分けました \
                |\n| docs | 0 |\n";
    for text in pieces(rest) {
        scene.event(EventKind::AssistantTextDelta { text });
    }
    scene.ends_text();
    scene
}

/// The reply of a model that tries to take over the terminal.
fn hostile(columns: fn() -> Option<u16>, when: ColourChoice) -> Scene {
    let mut scene = Scene::new(columns, when);
    scene.says(
        "a\u{1b}[2Jb \u{1b}]0;title\u{7} \u{9b}31m back\rover \u{8}\u{8} if \u{202e}lla\u{2066} \
         `co\u{1b}cde` [li\u{1b}nk](https://e\u{1b}x.com)\n\n```s\u{1b}h\nx\u{1b}[1A\n```\n\
         | \u{1b}[5m |\n|---|\n| \u{202e} |\n",
    );
    scene.ends(RunEnd::Completed);
    scene
}

#[test]
fn b10_a_reply_does_nothing_to_the_terminal() {
    for columns in [narrow, usual, pipe] {
        let text = String::from_utf8(hostile(columns, ColourChoice::Never).transcript.out).unwrap();
        let is_harmful =
            |c: char| c.is_control() && c != '\n' || ('\u{202a}'..='\u{2069}').contains(&c);
        assert!(!text.contains(is_harmful), "{text:?}");
        let seen = ["a\\u001b[2Jb", "\\u0007", "\\u009b31m", "back\\u000dover", "\\u202ella"];
        seen.iter().for_each(|seen| assert!(text.contains(seen), "{seen}: {text}"));
    }
}

#[test]
fn two_agents_side_by_side() {
    check("side-by-side", side_by_side);
    check_at("side-by-side", side_by_side, &[(pipe, ColourChoice::Always)]);
}
