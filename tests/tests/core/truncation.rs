//! What the model reads of long outputs (FEATURES E; CONFLICTS X3 to X5).

use innerloop_core::rules::truncate::{Keep, OutputLimit, truncate};

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

#[test]
fn what_fits_is_left_alone() {
    assert_eq!(truncate("", &limit(0, Some(0), Keep::HeadTail)), None);
    assert_eq!(truncate("äöü", &limit(3, Some(1), Keep::HeadTail)), None);
    assert_eq!(truncate("a\nb\n", &limit(100, Some(2), Keep::HeadTail)), None);
    assert!(truncate("a\nb\nc", &limit(100, Some(2), Keep::HeadTail)).is_some());
}
