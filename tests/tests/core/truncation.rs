//! What the model reads of long outputs (`docs/decisions.md#output-limits`).

use innerloop_core::{
    action::{Outcome, ToolError},
    config::{ProfileKind, SessionConfig, VocabularyKind},
    event::EventKind,
    input::Command,
    truncate::{OutputLimit, TruncateMode, truncate},
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{TestHost, config},
};
use serde_json::{Value, json};

const fn limit(max_chars: usize, max_lines: Option<usize>, keep: TruncateMode) -> OutputLimit {
    OutputLimit { max_chars, max_lines, keep }
}

#[test]
fn e1_characters_are_cut_first_even_where_there_are_two_lines() {
    let text = format!("{}\n{}", "a".repeat(50_000), "b".repeat(50_000));
    let cut = truncate(&text, &limit(1_000, Some(256), TruncateMode::HeadTail)).unwrap();
    assert!(cut.starts_with(&"a".repeat(500)) && cut.ends_with(&"b".repeat(500)));
    assert!(cut.contains("99001 characters were removed from the middle"), "{cut}");
    assert!(!cut.contains("lines omitted"));
}

#[test]
fn e2_lines_are_cut_second_and_counted_from_the_original() {
    let text: String = (1..=5_000).map(|n| format!("line {n} {}\n", "x".repeat(20))).collect();
    let cut = truncate(&text, &limit(30_000, Some(256), TruncateMode::HeadTail)).unwrap();
    assert!(cut.contains("[WARNING: Tool output was truncated."), "the marker stays: {cut}");
    assert!(cut.contains("[... 4744 lines omitted ...]"), "{cut}");
    assert!(cut.starts_with("line 1 ") && cut.contains("line 128 ") && cut.contains("line 4873 "));
    assert!(!cut.contains("line 129 ") && !cut.contains("line 4872 "));
    let only_lines = truncate(&text, &limit(1_000_000, Some(10), TruncateMode::HeadTail)).unwrap();
    assert!(only_lines.contains("[... 4990 lines omitted ...]\nline 4996 "), "{only_lines}");
    assert!(!only_lines.contains("WARNING"));
}

#[test]
fn e3_the_marker_says_how_much_is_gone_and_what_stays_adds_up() {
    for max in [0, 1, 2, 999, 1_000] {
        let text: String = "äö".repeat(1_000);
        let cut = truncate(&text, &limit(max, None, TruncateMode::HeadTail)).unwrap();
        let kept = cut.chars().filter(|c| "äö".contains(*c)).count();
        assert_eq!(kept, max);
        assert!(cut.contains(&format!("{} characters", 2_000 - max)), "{max}: {cut}");
    }
    let tail = truncate("abcdef", &limit(2, None, TruncateMode::Tail)).unwrap();
    assert!(tail.starts_with("[WARNING: Tool output was truncated. First 4 characters were"));
    assert!(tail.ends_with("\n\nef"));
    let head = truncate("abcdef", &limit(2, None, TruncateMode::Head)).unwrap();
    assert!(head.starts_with("ab\n\n[WARNING: Tool output was truncated. Last 4 characters"));
}

/// What the model reads of a run of that tool that says `output`.
fn read_by_model(tool: &str, input: &Value, output: &str, config: SessionConfig) -> String {
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    host.reply(&Message::call("c", tool, input));
    let _ = host.answer(output);
    let messages = host.body()["messages"].clone();
    let whole = host.find(|kind| match kind {
        EventKind::ToolCallEnd { outcome, .. } => Some(outcome.joined_text()),
        _ => None,
    });
    assert_eq!(whole, [output], "the event has all of it");
    messages[2]["content"][0]["content"].as_str().unwrap().to_owned()
}

/// Characters that tell their place, so that a wrong half is seen.
fn counted(chars: usize) -> String {
    ('0'..='9').cycle().take(chars).collect()
}

/// Lines that tell their place.
fn numbered(lines: usize) -> String {
    (1..=lines).map(|n| format!("{n}\n")).collect()
}

/// The markers of the specification, word for word, and ours where the beginning stays.
fn marker(keep: TruncateMode, removed: usize) -> String {
    let full = "The full output is available in the event stream.";
    match keep {
        TruncateMode::HeadTail => format!(
            "\n\n[WARNING: Tool output was truncated. {removed} characters were removed from the \
             middle. {full} If you need to see specific parts, re-run the tool with more targeted \
             parameters.]\n\n"
        ),
        TruncateMode::Tail => format!(
            "[WARNING: Tool output was truncated. First {removed} characters were removed. \
             {full}]\n\n"
        ),
        TruncateMode::Head => format!(
            "\n\n[WARNING: Tool output was truncated. Last {removed} characters were removed. \
             {full}]"
        ),
    }
}

/// All that the model reads of a text that is cut to so many characters.
fn cut(text: &str, max: usize, keep: TruncateMode) -> String {
    let (head, tail) = match keep {
        TruncateMode::HeadTail => (max / 2, max - max / 2),
        TruncateMode::Tail => (0, max),
        TruncateMode::Head => (max, 0),
    };
    let marker = marker(keep, text.len() - max);
    format!("{}{marker}{}", &text[..head], &text[text.len() - tail..])
}

/// The tools of the specification's tables, each with a call, its limit of characters, which part
/// stays, and its limit of lines. Searches keep their beginning, where the best matches and the
/// newest files stand (`docs/decisions.md#output-limits`).
fn table() -> [(&'static str, Value, usize, TruncateMode, Option<usize>); 7] {
    let file = json!({"file_path": "a"});
    let find = json!({"pattern": "a"});
    let edit = json!({"file_path": "a", "old_string": "a", "new_string": "b"});
    let patch = json!({"patch": "*** Begin Patch\n*** Delete File: a\n*** End Patch\n"});
    [
        ("read_file", file, 50_000, TruncateMode::HeadTail, None),
        ("shell", json!({"command": "a"}), 30_000, TruncateMode::HeadTail, Some(256)),
        ("grep", find.clone(), 20_000, TruncateMode::Head, Some(200)),
        ("glob", find, 20_000, TruncateMode::Head, Some(500)),
        ("edit_file", edit, 10_000, TruncateMode::Tail, None),
        ("apply_patch", patch, 10_000, TruncateMode::Tail, None),
        ("write_file", json!({"file_path": "a", "content": ""}), 1_000, TruncateMode::Tail, None),
    ]
}

/// A configuration whose model has that tool under the specification's name.
fn with_tool(tool: &str) -> SessionConfig {
    let mut config = config();
    if tool == "apply_patch" {
        config.model.profile = ProfileKind::Openai;
    }
    config.facts = super::profiles::place();
    config
}

#[test]
fn e5_e3_each_tool_has_the_specifications_limit_its_end_and_its_marker() {
    for (tool, input, max, keep, _) in table() {
        let fits = counted(max);
        assert_eq!(read_by_model(tool, &input, &fits, with_tool(tool)), fits, "{tool}");
        for longer in [max + 1, 2 * max + 7] {
            let text = counted(longer);
            let read = read_by_model(tool, &input, &text, with_tool(tool));
            assert!(read == cut(&text, max, keep), "{tool} of {longer}: {read}");
        }
    }
}

#[test]
fn e5_e3_what_another_agent_says_is_cut_at_20_000_with_both_ends() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    let spawn = Message::call("s", "spawn_agent", &json!({"task": "t"}));
    host.reply(&spawn.and_call("w", "wait", &json!({"agent_id": "agent-1"})));
    host.reply(&Message::text(&counted(30_000)));
    let read = host.body()["messages"][2]["content"][1]["content"].clone();
    let whole = host.find(|kind| match kind {
        EventKind::ToolCallEnd { call_id, outcome, .. } if call_id == "w" => {
            Some(outcome.joined_text())
        }
        _ => None,
    });
    assert!(whole[0].contains(&counted(30_000)), "{whole:?}");
    assert_eq!(read, cut(&whole[0], 20_000, TruncateMode::HeadTail));
}

#[test]
fn e2_each_tool_has_the_specifications_limit_of_lines() {
    for (tool, input, _, keep, lines) in table() {
        let Some(max) = lines else {
            // As many short lines as fit into the characters.
            let many = "\n".repeat(table_chars(tool));
            assert_eq!(read_by_model(tool, &input, &many, with_tool(tool)), many, "{tool}");
            continue;
        };
        let fits = numbered(max);
        assert_eq!(read_by_model(tool, &input, &fits, with_tool(tool)), fits, "{tool}");
        for more in [1, 300] {
            let text = numbered(max + more);
            let read = read_by_model(tool, &input, &text, with_tool(tool));
            let (head, tail) =
                if keep == TruncateMode::HeadTail { (max / 2, max / 2) } else { (max, 0) };
            let tail: String =
                (max + more - tail + 1..=max + more).map(|n| format!("{n}\n")).collect();
            let marker = format!("[... {more} lines omitted ...]\n");
            assert_eq!(read, format!("{}{marker}{tail}", numbered(head)), "{tool}");
        }
    }
}

fn table_chars(tool: &str) -> usize {
    table().into_iter().find(|(name, ..)| *name == tool).unwrap().2
}

#[test]
fn e5_the_families_own_tools_have_the_limits_of_those_that_do_the_same() {
    let find = json!({"pattern": "a"});
    let list = json!({"dir_path": "a"});
    let many = json!({"include": ["a"]});
    let command = json!({"command": "a"});
    let read = json!({"file_path": "a"});
    let write = json!({"file_path": "a", "content": "b"});
    for (kind, tool, input, limit) in [
        (ProfileKind::Openai, "shell_command", &command, 30_000),
        (ProfileKind::Anthropic, "Read", &read, 50_000),
        (ProfileKind::Anthropic, "Write", &write, 1_000),
        (ProfileKind::Anthropic, "Grep", &find, 20_000),
        (ProfileKind::Anthropic, "Glob", &find, 20_000),
        (ProfileKind::Anthropic, "Bash", &command, 30_000),
        (ProfileKind::Gemini, "read_many_files", &many, 50_000),
        (ProfileKind::Gemini, "list_directory", &list, 20_000),
        (ProfileKind::Gemini, "run_shell_command", &command, 30_000),
    ] {
        let mut config = config();
        config.model.profile = kind;
        config.model.vocabulary = VocabularyKind::Native;
        config.facts = super::profiles::place();
        let cut = read_by_model(tool, input, &"%".repeat(limit * 2), config);
        assert!(cut.contains("[WARNING: Tool output was truncated."), "{tool}");
        assert!((limit - 100..=limit).contains(&cut.matches('%').count()), "{tool}");
    }
}

#[test]
fn a_tool_of_the_host_keeps_the_limits_of_the_built_in_one_that_it_replaces() {
    let mut config = config();
    let spec = json!({
        "name": "read_file", "description": "Reads.", "parameters": {"type": "object"}
    });
    config.tools = vec![serde_json::from_str(&spec.to_string()).unwrap()];
    let fits = "x".repeat(50_000);
    let none = json!({});
    assert_eq!(read_by_model("read_file", &none, &fits, config.clone()), fits);
    let cut = read_by_model("read_file", &none, &format!("{fits}y"), config);
    assert!(cut.contains("[WARNING: Tool output was truncated."));
}

#[test]
fn e4_the_event_has_the_whole_output() {
    let file = json!({"file_path": "a"});
    // The helper compares the event's text with all of the output.
    let cut = read_by_model("read_file", &file, &"x".repeat(60_000), config());
    assert!(cut.len() < 60_000);
}

#[test]
fn a_share_of_the_context_window_may_lower_every_limit() {
    let mut config = config();
    config.model.context_window = 20_000;
    config.tool_output_percent = Some(10);
    let file = json!({"file_path": "a"});
    let cut = read_by_model("read_file", &file, &"x".repeat(9_000), config.clone());
    assert!(cut.contains("1000 characters were removed"), "{cut}");
    config.tool_output_percent = Some(0);
    let fits = "x".repeat(1_000);
    assert_eq!(read_by_model("read_file", &file, &fits, config), fits, "never less than 1,000");
}

#[test]
fn e6_limits_can_be_set_lower_and_higher_by_tool() {
    for (tool, input, _, keep, _) in table() {
        for max in [9, 60_001] {
            let mut config = with_tool(tool);
            config.tool_output_limits.insert(tool.into(), max);
            let max = max as usize;
            let (fits, text) = (counted(max), counted(max + 2));
            assert_eq!(read_by_model(tool, &input, &fits, config.clone()), fits, "{tool} {max}");
            let read = read_by_model(tool, &input, &text, config);
            assert!(read == cut(&text, max, keep), "{tool} {max}: {read}");
        }
        let mut config = with_tool(tool);
        config.tool_line_limits.insert(tool.into(), 600);
        let text = "\n".repeat(600);
        assert_eq!(read_by_model(tool, &input, &text, config.clone()), text, "{tool}");
        let read = read_by_model(tool, &input, &"\n".repeat(610), config);
        assert!(read.contains("[... 10 lines omitted ...]"), "{tool}: {read}");
    }
    let mut config = config();
    config.tool_output_limits.insert("read_file".into(), 10);
    config.tool_line_limits.insert("glob".into(), 2);
    let find = json!({"pattern": "a"});
    let cut = read_by_model("glob", &find, "a\nb\nc\nd\n", config.clone());
    assert_eq!(cut, "a\nb\n[... 2 lines omitted ...]\n");
    let file = json!({"file_path": "a"});
    let cut = read_by_model("read_file", &file, "äöüßäöüßäöüß", config);
    assert!(cut.starts_with("äöüßä\n\n[WARNING") && cut.ends_with("]\n\nßäöüß"), "{cut}");
}

#[test]
fn e6_limits_hold_for_the_hosts_own_tools_and_can_change_in_a_session() {
    let spec = json!({"name": "dice", "description": "Throws.", "parameters": {"type": "object"}});
    let mut config = config();
    config.tools = vec![serde_json::from_str(&spec.to_string()).unwrap()];
    let throw = |host: &mut TestHost, id: &str| {
        host.reply(&Message::call(id, "dice", &json!({})));
        let _ = host.answer(&counted(30_001));
        let messages = host.body()["messages"].clone();
        messages.as_array().unwrap().last().unwrap()["content"][0]["content"].clone()
    };
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    assert_eq!(throw(&mut host, "a"), cut(&counted(30_001), 30_000, TruncateMode::HeadTail));
    for (id, max) in [("b", 5), ("c", 30_001)] {
        let patch = json!({"tool_output_limits": {"dice": max}}).to_string();
        let _ = host.command(Command::Configure { patch: serde_json::from_str(&patch).unwrap() });
        let text = counted(30_001);
        let expected = if max == 5 { cut(&text, 5, TruncateMode::HeadTail) } else { text };
        assert_eq!(throw(&mut host, id), expected);
    }
}

#[test]
fn e7_a_timeout_says_how_to_get_more_time() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    host.reply(&Message::call("c", "list_dir", &json!({})));
    let id = *host.runs.keys().next().unwrap();
    let error = Some(ToolError::Timeout);
    let _ = host.done(id, Outcome { timed_out: true, error, ..Outcome::text("so far") });
    let content = host.body()["messages"][2]["content"][0]["content"].clone();
    assert_eq!(
        content[1]["text"],
        "[ERROR: Command timed out after 120000ms. Partial output is shown above. You can retry \
         with a longer timeout by setting the timeout_ms parameter.]"
    );
}

#[test]
fn what_fits_is_left_alone() {
    assert_eq!(truncate("", &limit(0, Some(0), TruncateMode::HeadTail)), None);
    assert_eq!(truncate("äöü", &limit(3, Some(1), TruncateMode::HeadTail)), None);
    assert_eq!(truncate("a\nb\n", &limit(100, Some(2), TruncateMode::HeadTail)), None);
    assert!(truncate("a\nb\nc", &limit(100, Some(2), TruncateMode::HeadTail)).is_some());
}
