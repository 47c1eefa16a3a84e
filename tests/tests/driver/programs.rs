//! What is kept of what a program prints, and how its run is told.

use innerloop_core::action::{Outcome, ToolError};
use innerloop_driver::{
    SecretKeys,
    capture::{ExceededLimit, KEPT, OutputCapture, ProgramExit, StandardStream, unknown_program},
};

fn told(out: &str, err: &str, end: &ProgramExit) -> Outcome {
    let mut capture = OutputCapture::new(&SecretKeys::default(), KEPT);
    let _shown = capture.push(StandardStream::Out, out.as_bytes());
    let _shown = capture.push(StandardStream::Err, err.as_bytes());
    capture.outcome(end, Vec::new(), false)
}

#[test]
fn each_end_is_told_in_its_own_words() {
    let cases = [
        (ProgramExit::Exit(0), "out\n", None),
        (ProgramExit::Exit(3), "out\n", Some(ToolError::Exit)),
        (ProgramExit::TimedOut, "out\n", Some(ToolError::Timeout)),
        (ProgramExit::Interrupted, "out\n[it was interrupted]", Some(ToolError::Interrupted)),
        (ProgramExit::Crash("boom".into()), "out\n[it crashed: boom]", Some(ToolError::Crashed)),
        (
            ProgramExit::Limit(ExceededLimit::Output),
            "out\n[it was stopped because it printed too much]",
            Some(ToolError::Limit),
        ),
    ];
    for (end, text, error) in cases {
        let outcome = told("out\n", "", &end);
        assert_eq!((outcome.joined_text().as_str(), outcome.error), (text, error));
        assert_eq!(outcome.exit, if let ProgramExit::Exit(code) = end { Some(code) } else { None });
        assert_eq!(outcome.timed_out, end == ProgramExit::TimedOut);
    }
}

#[test]
fn c5_of_a_tool_that_went_well_standard_output_alone_is_the_result() {
    let both = "out\nstandard error:\nerr";
    let cases = [
        (ProgramExit::Exit(0), "out\n".to_owned(), None),
        (ProgramExit::Exit(3), format!("{both}\n[exit code 3]"), Some(ToolError::Crashed)),
        (ProgramExit::TimedOut, both.to_owned(), Some(ToolError::Timeout)),
        (
            ProgramExit::Interrupted,
            format!("{both}\n[it was interrupted]"),
            Some(ToolError::Interrupted),
        ),
        (
            ProgramExit::Crash("boom".into()),
            format!("{both}\n[it crashed: boom]"),
            Some(ToolError::Crashed),
        ),
    ];
    for (end, text, error) in cases {
        let mut capture = OutputCapture::new(&SecretKeys::default(), KEPT);
        let _shown = capture.push(StandardStream::Out, b"out\n");
        let _shown = capture.push(StandardStream::Err, b"err");
        let outcome = capture.result(&end, Vec::new(), false);
        assert_eq!((outcome.joined_text(), outcome.error), (text, error));
        assert_eq!(outcome.exit, if let ProgramExit::Exit(code) = end { Some(code) } else { None });
        assert_eq!(outcome.timed_out, end == ProgramExit::TimedOut);
    }
}

#[test]
fn both_outputs_are_told_one_after_the_other() {
    let both = told("a", "b", &ProgramExit::Exit(0)).joined_text();
    assert_eq!(both, "a\nstandard error:\nb");
    assert_eq!(told("", "b\n", &ProgramExit::Exit(1)).joined_text(), "standard error:\nb\n");
    let capture = OutputCapture::new(&SecretKeys::default(), KEPT);
    let told = capture.outcome(&ProgramExit::Exit(0), Vec::new(), true).joined_text();
    assert!(told.contains("not all changes are listed"), "{told}");
}

#[test]
fn of_a_long_output_beginning_and_end_are_kept() {
    let mut capture = OutputCapture::new(&SecretKeys::default(), 10);
    for piece in ["01", "234567", "89abcdef", "gh"] {
        assert_eq!(capture.push(StandardStream::Out, piece.as_bytes()), piece);
    }
    let outcome = capture.outcome(&ProgramExit::Exit(0), Vec::new(), false);
    assert_eq!(outcome.joined_text(), "01234\n[8 bytes of output dropped here]\ndefgh");
    assert!(outcome.capped_at_source);
}

#[test]
fn an_output_that_is_a_little_too_long_is_said_to_be_cut() {
    let printed = |text: &str| {
        let mut capture = OutputCapture::new(&SecretKeys::default(), 10);
        assert_eq!(capture.push(StandardStream::Out, text.as_bytes()), text);
        capture
    };
    let outcome = |text| printed(text).outcome(&ProgramExit::Exit(0), Vec::new(), false);
    assert_eq!(outcome("0123456789").joined_text(), "0123456789");
    assert!(!outcome("0123456789").capped_at_source);
    assert_eq!(printed("0123456789").whole().0.unwrap(), b"0123456789");
    let cut = "01234\n[1 bytes of output dropped here]\n6789a";
    assert_eq!(outcome("0123456789a").joined_text(), cut);
    assert!(outcome("0123456789a").capped_at_source);
    assert_eq!(printed("0123456789a").whole().0, None);
}

#[test]
fn a_character_is_shown_when_it_is_whole() {
    let mut capture = OutputCapture::new(&SecretKeys::default(), KEPT);
    let text = "aü€😀\u{fffd}z";
    let mut shown = String::new();
    for byte in text.as_bytes() {
        shown.push_str(&capture.push(StandardStream::Out, &[*byte]));
    }
    assert_eq!(shown, text);
    assert_eq!(capture.push(StandardStream::Err, b"\xe2\x82"), "");
    assert_eq!(capture.finish(), "\u{fffd}");
}

#[test]
fn an_unknown_program_is_told_with_those_that_there_are() {
    let none = unknown_program("x", &[]);
    assert_eq!(none.joined_text(), "no program `x`; no programs are installed");
    let some = unknown_program("x", &["qjs", "awk"]);
    assert_eq!(some.joined_text(), "no program `x`; there is: awk, qjs");
    assert_eq!(some.error, Some(ToolError::NotFound));
}

#[test]
fn d2_both_outputs_are_kept_apart_and_read_as_one_text() {
    let ends = [
        (ProgramExit::Exit(0), ""),
        (ProgramExit::TimedOut, ""),
        (ProgramExit::Interrupted, "[it was interrupted]"),
        (
            ProgramExit::Limit(ExceededLimit::Memory),
            "[it failed because it needs more memory than it may have]",
        ),
    ];
    for (end, said) in ends {
        for (out, err, text) in [
            ("", "", ""),
            ("größe\n", "", "größe\n"),
            ("größe", "", "größe"),
            ("", "😀\n", "standard error:\n😀\n"),
            ("a", "b", "a\nstandard error:\nb"),
            ("a\n", "b\n", "a\nstandard error:\nb\n"),
            ("standard error:\n", "\n", "standard error:\nstandard error:\n\n"),
        ] {
            let outcome = told(out, err, &end);
            assert_eq!((outcome.stdout(), outcome.stderr()), (Some(out), Some(err)));
            let ends_line = text.is_empty() || text.ends_with('\n');
            let between = if said.is_empty() || ends_line { "" } else { "\n" };
            assert_eq!(outcome.joined_text(), format!("{text}{between}{said}"));
        }
    }
    let plain = Outcome::text("a");
    assert_eq!((plain.stdout(), plain.stderr()), (None, None));
}

#[test]
fn d2_each_output_is_cut_for_itself() {
    let mut capture = OutputCapture::new(&SecretKeys::default(), 10);
    let _shown = capture.push(StandardStream::Err, b"0123456789abc");
    let _shown = capture.push(StandardStream::Out, b"short");
    let outcome = capture.outcome(&ProgramExit::Exit(1), Vec::new(), true);
    let cut = "01234\n[3 bytes of output dropped here]\n89abc";
    assert_eq!((outcome.stdout(), outcome.stderr()), (Some("short"), Some(cut)));
    assert!(outcome.capped_at_source);
    let note = "[more files were touched than are watched: not all changes are listed]";
    let whole = format!("short\nstandard error:\n{cut}\n{note}");
    assert_eq!(outcome.joined_text(), whole);
}
