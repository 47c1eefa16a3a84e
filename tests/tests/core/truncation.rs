//! What the model reads of long outputs (`docs/decisions.md#output-limits`).

use innerloop_core::{
    action::{Outcome, ToolError},
    config::{ProfileKind, SessionConfig, Vocabulary},
    event::EventKind,
    truncate::{Keep, OutputLimit, truncate},
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{TestHost, config},
};

const fn limit(max_chars: usize, max_lines: Option<usize>, keep: Keep) -> OutputLimit {
    OutputLimit { max_chars, max_lines, keep }
}

#[test]
fn e1_characters_are_cut_first_even_where_there_are_two_lines() {
    let text = format!("{}\n{}", "a".repeat(50_000), "b".repeat(50_000));
    let cut = truncate(&text, &limit(1_000, Some(256), Keep::HeadTail)).unwrap();
    assert!(cut.starts_with(&"a".repeat(500)) && cut.ends_with(&"b".repeat(500)));
    assert!(cut.contains("99001 characters were removed from the middle"), "{cut}");
    assert!(!cut.contains("lines omitted"));
}

#[test]
fn e2_lines_are_cut_second_and_counted_from_the_original() {
    let text: String = (1..=5_000).map(|n| format!("line {n} {}\n", "x".repeat(20))).collect();
    let cut = truncate(&text, &limit(30_000, Some(256), Keep::HeadTail)).unwrap();
    assert!(cut.contains("[WARNING: Tool output was truncated."), "the marker stays: {cut}");
    assert!(cut.contains("[... 4744 lines omitted ...]"), "{cut}");
    assert!(cut.starts_with("line 1 ") && cut.contains("line 128 ") && cut.contains("line 4873 "));
    assert!(!cut.contains("line 129 ") && !cut.contains("line 4872 "));
    let only_lines = truncate(&text, &limit(1_000_000, Some(10), Keep::HeadTail)).unwrap();
    assert!(only_lines.contains("[... 4990 lines omitted ...]\nline 4996 "), "{only_lines}");
    assert!(!only_lines.contains("WARNING"));
}

#[test]
fn e3_the_marker_says_how_much_is_gone_and_what_stays_adds_up() {
    for max in [0, 1, 2, 999, 1_000] {
        let text: String = "äö".repeat(1_000);
        let cut = truncate(&text, &limit(max, None, Keep::HeadTail)).unwrap();
        let kept = cut.chars().filter(|c| "äö".contains(*c)).count();
        assert_eq!(kept, max);
        assert!(cut.contains(&format!("{} characters", 2_000 - max)), "{max}: {cut}");
    }
    let tail = truncate("abcdef", &limit(2, None, Keep::Tail)).unwrap();
    assert!(tail.starts_with("[WARNING: Tool output was truncated. First 4 characters were"));
    assert!(tail.ends_with("\n\nef"));
    let head = truncate("abcdef", &limit(2, None, Keep::Head)).unwrap();
    assert!(head.starts_with("ab\n\n[WARNING: Tool output was truncated. Last 4 characters"));
}

/// What the model reads of a run of that tool that says `output`.
fn read_by_model(
    tool: &str,
    input: &serde_json::Value,
    output: &str,
    config: SessionConfig,
) -> String {
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

#[test]
fn e5_each_tool_has_its_own_limit() {
    let file = serde_json::json!({"file_path": "a"});
    let find = serde_json::json!({"pattern": "a"});
    let write = serde_json::json!({"file_path": "a", "content": ""});
    let edit = serde_json::json!({"file_path": "a", "old_string": "a", "new_string": "b"});
    for (tool, input, limit) in [
        ("read_file", &file, 50_000),
        ("grep", &find, 20_000),
        ("glob", &find, 20_000),
        ("edit_file", &edit, 10_000),
        ("write_file", &write, 1_000),
    ] {
        let fits = "x".repeat(limit);
        assert_eq!(read_by_model(tool, input, &fits, config()), fits, "{tool}");
        let cut = read_by_model(tool, input, &format!("{fits}y"), config());
        assert!(cut.contains("[WARNING: Tool output was truncated."), "{tool}");
        let kept = cut.matches(['x', 'y']).count();
        assert!((limit..limit + 10).contains(&kept), "{tool}: {kept}");
    }
}

#[test]
fn e5_the_families_own_tools_have_the_limits_of_those_that_do_the_same() {
    let find = serde_json::json!({"pattern": "a"});
    let list = serde_json::json!({"dir_path": "a"});
    let many = serde_json::json!({"include": ["a"]});
    let command = serde_json::json!({"command": "a"});
    let read = serde_json::json!({"file_path": "a"});
    let write = serde_json::json!({"file_path": "a", "content": "b"});
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
        config.model.vocabulary = Vocabulary::Native;
        config.facts = super::profiles::place();
        let cut = read_by_model(tool, input, &"%".repeat(limit * 2), config);
        assert!(cut.contains("[WARNING: Tool output was truncated."), "{tool}");
        assert!((limit - 100..=limit).contains(&cut.matches('%').count()), "{tool}");
    }
}

#[test]
fn a_tool_of_the_host_keeps_the_limits_of_the_built_in_one_that_it_replaces() {
    let mut config = config();
    let spec = serde_json::json!({
        "name": "read_file", "description": "Reads.", "parameters": {"type": "object"}
    });
    config.tools = vec![serde_json::from_str(&spec.to_string()).unwrap()];
    let fits = "x".repeat(50_000);
    let none = serde_json::json!({});
    assert_eq!(read_by_model("read_file", &none, &fits, config.clone()), fits);
    let cut = read_by_model("read_file", &none, &format!("{fits}y"), config);
    assert!(cut.contains("[WARNING: Tool output was truncated."));
}

#[test]
fn e4_the_event_has_the_whole_output() {
    let file = serde_json::json!({"file_path": "a"});
    // The helper compares the event's text with all of the output.
    let cut = read_by_model("read_file", &file, &"x".repeat(60_000), config());
    assert!(cut.len() < 60_000);
}

#[test]
fn a_share_of_the_context_window_may_lower_every_limit() {
    let mut config = config();
    config.model.context_window = 20_000;
    config.tool_output_percent = Some(10);
    let file = serde_json::json!({"file_path": "a"});
    let cut = read_by_model("read_file", &file, &"x".repeat(9_000), config.clone());
    assert!(cut.contains("1000 characters were removed"), "{cut}");
    config.tool_output_percent = Some(0);
    let fits = "x".repeat(1_000);
    assert_eq!(read_by_model("read_file", &file, &fits, config), fits, "never less than 1,000");
}

#[test]
fn e6_limits_can_be_set_by_tool() {
    let mut config = config();
    config.tool_output_limits.insert("read_file".into(), 10);
    config.tool_line_limits.insert("glob".into(), 2);
    let file = serde_json::json!({"file_path": "a"});
    let cut = read_by_model("read_file", &file, "0123456789abcdef", config.clone());
    assert!(cut.starts_with("01234\n\n[WARNING") && cut.ends_with("bcdef"), "{cut}");
    let find = serde_json::json!({"pattern": "a"});
    let cut = read_by_model("glob", &find, "a\nb\nc\nd\n", config);
    assert_eq!(cut, "a\nb\n[... 2 lines omitted ...]\n");
}

#[test]
fn e7_a_timeout_says_how_to_get_more_time() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    host.reply(&Message::call("c", "list_dir", &serde_json::json!({})));
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
    assert_eq!(truncate("", &limit(0, Some(0), Keep::HeadTail)), None);
    assert_eq!(truncate("äöü", &limit(3, Some(1), Keep::HeadTail)), None);
    assert_eq!(truncate("a\nb\n", &limit(100, Some(2), Keep::HeadTail)), None);
    assert!(truncate("a\nb\nc", &limit(100, Some(2), Keep::HeadTail)).is_some());
}
