//! What a person sees of a run: on a terminal, on a narrow one, without colour, and in a pipe.

use innerloop_tests::{
    anthropic::Message,
    example::programs,
    program::{on_terminal, run},
    scene::Scene,
};
use serde_json::json;
use std::process::Command;

const ANSWER: &str = "\
## Done

All **twenty** lines are there, as [the notes](note.txt) say; nothing else was changed here.

- one `item` that is longer than the terminal is wide
";

/// A model that runs a program which prints twenty lines, reads and edits a file, and sums it up.
fn scene() -> Scene {
    let print = "for (let line = 1; line <= 20; line++) print(`line ${line}`)";
    let program = json!({"program": "qjs", "args": ["-e", print]});
    let edit = json!({"file_path": "note.txt", "old_string": "old", "new_string": "new"});
    let messages = [
        Message::call("toolu_1", "run_program", &program),
        Message::call("toolu_2", "read_file", &json!({"file_path": "note.txt"})),
        Message::call("toolu_3", "edit_file", &edit),
        Message::text(ANSWER).thinking("I have *all* that I need."),
    ];
    Scene::streaming(&messages).file("note.txt", "an old note\n")
}

fn command(scene: &Scene) -> Command {
    let mut command = scene.command("go");
    command.arg("--programs").arg(programs());
    command
}

/// What stands on a terminal of so many columns between the header and the summary of the run.
fn on_columns(columns: u16, command: &Command) -> String {
    let mut sized = Command::new("/bin/sh");
    let script = format!("stty cols {columns}; exec \"$0\" \"$@\"");
    sized.args(["-c", &script]).arg(command.get_program()).args(command.get_args());
    sized.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let run = run(&mut on_terminal(&sized)).exits(0);
    let seen = run.stdout.replace("\r\n", "\n");
    let (header, seen) = seen.split_at(seen.find('•').unwrap());
    for words in ["claude-sonnet-5-5 (anthropic)", "/workspace", "session "] {
        assert!(header.contains(words), "{header}");
    }
    seen.split("\n\n--- a/").next().unwrap_or_default().to_owned()
}

#[test]
fn a_narrow_terminal_wraps_words_and_lays_markdown_out() {
    let seen = on_columns(40, command(&scene()).env("NO_COLOR", "1"));
    let want = "\
• run qjs -e 'for (let line = 1; line <=
    20; line++) print(`line ${line}`)'
  line 1
  line 2
  line 3
  line 4
  line 5
  line 6
  … 11 more lines
  line 18
  line 19
  line 20
• read note.txt
  1 | an old note
• edit note.txt
  @@ -1 +1 @@
  -an old note
  +an new note
I have *all* that I need.
## Done

All **twenty** lines are there, as the
notes (note.txt) say; nothing else was
changed here.

- one `item` that is longer than the
  terminal is wide";
    assert_eq!(seen, want);
}

#[test]
fn a_terminal_with_colour_shows_marks_as_what_they_mean() {
    let seen = on_columns(200, &command(&scene()));
    for part in [
        "• \u{1b}[36medit\u{1b}[0m note.txt\n",
        "  \u{1b}[31m-an old note\u{1b}[0m\n  \u{1b}[32m+an new note\u{1b}[0m\n",
        "\u{1b}[2;3mall\u{1b}[0m",
        "\u{1b}[1mDone\u{1b}[0m\n",
        "\u{1b}[1mtwenty\u{1b}[0m",
        "\u{1b}[2m (note.txt)\u{1b}[0m",
        "\u{1b}[36mitem\u{1b}[0m",
    ] {
        assert!(seen.contains(part), "{part:?} is missing: {seen:?}");
    }
}

#[test]
fn in_a_pipe_the_text_is_as_the_model_wrote_it() {
    let run = run(&mut command(&scene())).exits(0);
    assert_eq!(run.stdout.trim_end(), ANSWER.trim_end());
    assert!(run.stderr.contains(ANSWER), "{run:#?}");
    let lines = ["  line 3\n  … 14 more lines\n  line 18\n", "  -an old note\n  +an new note\n"];
    for line in lines {
        assert!(run.stderr.contains(line), "{line} is missing: {run:#?}");
    }
    assert!(!run.stderr.contains('\u{1b}'), "{run:#?}");
}
