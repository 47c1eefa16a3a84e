//! What a patch may cost: no more than its own length and the files' allow, whatever its hunks are.

use innerloop_core::action::{Action, Outcome, ToolError};
use innerloop_tools::{
    FaultyFiles, FileError, InMemoryFiles, MAX_FILE_BYTES, WorkspaceFiles, WorkspacePath, perform,
};
use std::fmt::Write;

const LINES: usize = 20_000;

fn memory(text: String) -> InMemoryFiles {
    let mut memory = InMemoryFiles::new();
    memory.write(&WorkspacePath::parse("a").unwrap(), text.into_bytes()).unwrap();
    memory
}

fn apply(files: &mut impl WorkspaceFiles, operations: &str) -> Outcome {
    let patch = format!("*** Begin Patch\n{operations}*** End Patch\n");
    perform(files, &Action::patch(patch))
}

fn patched(file: String, hunks: &str) -> Outcome {
    apply(&mut memory(file), &format!("*** Update File: a\n{hunks}"))
}

/// Each would compare some hundred million lines.
#[test]
fn h6_hunks_that_are_nearly_everywhere_are_refused_before_they_cost_too_much() {
    let cases: [(&str, String, String); 4] = [
        (
            "a long hunk that fails at its end",
            "a\nb\n".repeat(LINES),
            format!("@@\n{} a\n-a\n+x\n", " a\n b\n".repeat(LINES / 2)),
        ),
        (
            "hunks that all are at the end",
            format!("{}a\nb\n", "a\nx\nb\nx\n".repeat(LINES)),
            "@@\n a\n b\n+c\n".repeat(LINES),
        ),
        (
            "lines that other hunks have taken",
            format!("{}end\n", "x\n".repeat(LINES)),
            "@@\n-x\n+y\n@@\n end\n+z\n".repeat(LINES),
        ),
        (
            "the same with other indentation",
            format!("{}  a\n  b\n", "  a\nx\n\tb\nx\n".repeat(LINES)),
            "@@\n a\n b\n+c\n".repeat(LINES),
        ),
    ];
    for (name, file, hunks) in cases {
        let outcome = patched(file, &hunks);
        let text = outcome.joined_text();
        assert_eq!(outcome.error, Some(ToolError::EditConflict), "{name}: {text}");
        assert!(text.contains("occur in too many places of a"), "{name}: {text}");
        assert!(outcome.changes.is_empty());
    }
}

#[test]
fn h6_many_hunks_of_a_long_file_are_not_costly() {
    let line = |number: usize| format!("    let value_{number} = {number};\n");
    let file: String = (0..LINES).map(|number| line(number) + "}\n\n").collect();
    let hunk = |number: usize| {
        let old = line(number);
        format!("@@\n-{old}+{}\n }}\n", old.trim_end().replace("let", "let mut"))
    };
    let all: Vec<String> = (0..LINES).map(hunk).collect();
    let in_order = all.concat();
    let backwards: String = all.iter().rev().map(String::as_str).collect();
    let dedented = in_order.replace("-    ", "-").replace("+    ", "+");
    let below: String = (0..LINES).fold(String::new(), |mut hunks, number| {
        let _ = write!(hunks, "@@     let value_{number} = {number};\n-}}\n+}};\n");
        hunks
    });
    for hunks in [in_order, backwards, dedented, below] {
        let outcome = patched(file.clone(), &hunks);
        assert_eq!(outcome.error, None, "{}", outcome.joined_text());
    }
    let same = patched("}\n".repeat(LINES), &"@@\n-}\n+};\n".repeat(LINES));
    assert_eq!(same.error, None, "{}", same.joined_text());
}

#[test]
fn h6_a_file_is_not_gone_through_for_each_time_that_it_is_named() {
    let file = format!("x\n{}", "a line of the file\n".repeat(LINES * 5));
    let again = "*** Update File: a\n-x\n+y\n*** Update File: a\n-y\n+x\n";
    let outcome = apply(&mut memory(file.clone()), &again.repeat(10));
    assert_eq!(outcome.error, None, "{}", outcome.joined_text());
    let outcome = apply(&mut memory(file.clone()), &again.repeat(LINES));
    assert_eq!(outcome.error, Some(ToolError::InvalidArguments));
    assert_eq!(
        outcome.joined_text(),
        "The patch names a too often. Put all of its hunks below one header. No file was changed."
    );
    let moved: String = (0..LINES)
        .map(|number| {
            let from = if number == 0 { "a".to_owned() } else { number.to_string() };
            format!("*** Update File: {from}\n*** Move to: {}\n", number + 1)
        })
        .collect();
    let outcome = apply(&mut memory(file.clone()), &moved);
    assert_eq!(outcome.error, Some(ToolError::InvalidArguments), "{}", outcome.joined_text());
    // What stands in a file's place is read once.
    let mut counting = FaultyFiles::operation(memory(file), 0, FileError::Full);
    let outcome = apply(&mut counting, &"*** Add File: a\n+x\n".repeat(LINES));
    assert_eq!(outcome.error, None);
    assert!(counting.operations() < 10, "{}", counting.operations());
}

#[test]
fn h6_a_wide_line_that_many_hunks_have_is_looked_at_once() {
    let file = " ".repeat(usize::try_from(MAX_FILE_BYTES).unwrap() / 16) + "a\n";
    let outcome = patched(file.clone(), &"@@\n-b\n".repeat(LINES));
    assert_eq!(outcome.error, Some(ToolError::EditConflict));
    // New lines are not put so far to the right.
    let outcome = patched(file, &"@@\n a\n+b\n".repeat(LINES));
    assert_eq!(outcome.error, Some(ToolError::EditConflict));
    assert!(outcome.joined_text().contains("only with another indentation, at line 1"));
}
