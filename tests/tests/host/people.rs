//! Asking the person at the terminal, and what happens where none is there.

use innerloop_tests::{
    anthropic::Message,
    example::programs_and_shell,
    program::{Run, on_terminal, run, run_with},
    scene::Scene,
};
use serde_json::json;

fn write(text: &str) -> Message {
    Message::call("toolu_1", "write_file", &json!({"file_path": "note.txt", "content": text}))
}

fn ask() -> Message {
    Message::call("toolu_2", "ask_user", &json!({"question": "Which colour?"}))
}

fn scene() -> Scene {
    Scene::streaming(&[write("new\n"), Message::text("done")]).in_place()
}

/// Runs the program on a terminal at which somebody types these lines.
fn typed(scene: &Scene, args: &[&str], lines: &str) -> Run {
    let mut command = scene.command("go");
    run_with(&mut on_terminal(command.args(args).env("NO_COLOR", "1")), lines.as_bytes())
}

/// What the model was told last.
fn told(scene: &Scene) -> String {
    scene.model.requests().last().unwrap().body.clone()
}

#[test]
fn a_yes_lets_the_call_run() {
    let scene = scene();
    let run = typed(&scene, &[], "y\n").exits(0);
    assert_eq!(scene.text("workspace/note.txt"), "new\n");
    let call = "? write note.txt (1 line)";
    for words in [call, "+++ b/note.txt", "+new", "[y]es, [n]o, [a]lways"] {
        assert!(run.stdout.contains(words), "{words}: {}", run.stdout);
    }
}

#[test]
fn a_no_is_read_by_the_model() {
    let scene = scene();
    let _run = typed(&scene, &[], "what?\nn\n").exits(0);
    assert!(!scene.path("workspace/note.txt").exists());
    assert!(told(&scene).contains("The call was denied: the user said no"), "{}", told(&scene));
}

#[test]
fn the_diff_is_shown_before_anything_changes() {
    let scene = scene().file("note.txt", "old\n");
    let run = typed(&scene, &[], "d\nn\n").exits(0);
    assert!(run.stdout.contains("-old\r\n+new\r\n"), "{}", run.stdout);
    assert_eq!(scene.text("workspace/note.txt"), "old\n");
    let edit = |old: &str| {
        let arguments = json!({"file_path": "note.txt", "old_string": old, "new_string": "b"});
        let edit = Message::call("toolu_1", "edit_file", &arguments);
        let read = Message::call("toolu_0", "read_file", &json!({"file_path": "note.txt"}));
        let script = [read, edit, Message::text("done")];
        Scene::streaming(&script).in_place().file("note.txt", "a\n")
    };
    let run = typed(&edit("a"), &[], "d\nn\n").exits(0);
    assert!(run.stdout.contains("-a\r\n+b\r\n"), "{}", run.stdout);
    let scene = edit("nowhere");
    let run = typed(&scene, &[], "d\nn\n").exits(0);
    assert!(!run.stdout.contains("[y]es"), "it can't work: {}", run.stdout);
    assert!(told(&scene).contains("nobody was asked, since it would fail"), "{}", told(&scene));
}

#[test]
fn always_asks_once_for_a_tool() {
    let again = Message::call(
        "toolu_2",
        "write_file",
        &json!({"file_path": "other.txt", "content": "too\n"}),
    );
    let scene = Scene::streaming(&[write("new\n"), again, Message::text("done")]).in_place();
    let run = typed(&scene, &[], "a\n").exits(0);
    assert_eq!(scene.text("workspace/other.txt"), "too\n");
    assert_eq!(run.stdout.matches("[y]es").count(), 1, "{}", run.stdout);
}

#[test]
fn a_yes_to_a_call_that_is_not_shown_whole_counts_once_it_was() {
    let programs = programs_and_shell();
    let programs = programs.to_str().unwrap();
    let lines = "true\n".repeat(100) + "echo yes > made";
    for command in [lines, format!("echo yes > made{} # {}", " ".repeat(5_000), "x".repeat(5_000))]
    {
        let scene = || {
            let call = Message::call("toolu_1", "shell", &json!({"command": command}));
            Scene::streaming(&[call, Message::text("done")]).in_place()
        };
        for hasty in ["y\nn\n", "a\nn\n"] {
            let scene = scene();
            let run = typed(&scene, &["--programs", programs], hasty).exits(0);
            assert!(run.stdout.contains("not all of the call is shown"), "{}", run.stdout);
            assert!(!scene.path("workspace/made").exists());
        }
        let scene = scene();
        let _run = typed(&scene, &["--programs", programs], "d\ny\n").exits(0);
        assert_eq!(scene.text("workspace/made"), "yes\n");
    }
}

#[test]
fn quitting_ends_the_run() {
    let scene = scene();
    let _run = typed(&scene, &[], "q\n").exits(130);
    assert!(!scene.path("workspace/note.txt").exists());
    assert_eq!(scene.model.requests().len(), 1);
}

#[test]
fn a_word_to_the_model_takes_the_place_of_a_yes() {
    let scene = scene();
    let _run = typed(&scene, &[], "s\nUse another file\n").exits(0);
    assert!(!scene.path("workspace/note.txt").exists());
    let told = told(&scene);
    assert!(told.contains("the user said no, and has something to say"), "{told}");
    assert!(told.contains("Use another file"), "{told}");
}

#[test]
fn the_arguments_can_be_edited() {
    let scene = scene();
    let mut command = scene.command("go");
    command.env("VISUAL", "sed -i -e s/new/edited/");
    let _run = run_with(&mut on_terminal(&command), b"e\n").exits(0);
    assert_eq!(scene.text("workspace/note.txt"), "edited\n");
    let scene = self::scene();
    let mut command = scene.command("go");
    command.env_remove("VISUAL").env("EDITOR", "true");
    let run = run_with(&mut on_terminal(&command), b"e\nn\n").exits(0);
    assert!(run.stdout.contains("nothing was changed"), "{}", run.stdout);
}

#[test]
fn a_question_of_the_model_is_answered_in_a_line() {
    let scene = Scene::streaming(&[ask(), Message::text("done")]);
    std::fs::write(scene.path("config.json"), r#"{"ask_user": true}"#).unwrap();
    let run = typed(&scene, &["--config", &scene.arg("config.json")], "Green, please\n").exits(0);
    assert!(run.stdout.contains("? Which colour?"), "{}", run.stdout);
    assert!(told(&scene).contains("Green, please"), "{}", told(&scene));
}

#[test]
fn off_a_terminal_the_option_decides() {
    let scene = scene();
    let _run = scene.run(&[]).exits(0);
    assert_eq!(scene.text("workspace/note.txt"), "new\n", "all is allowed if nothing is said");
    let program =
        Message::call("toolu_2", "run_program", &json!({"program": "qjs", "args": ["-e", "1"]}));
    for (approve, writes, runs) in
        [("none", false, false), ("edits", true, false), ("all", true, true)]
    {
        let script = [write("new\n"), program.clone(), Message::text("done")];
        let scene = Scene::streaming(&script);
        let mut command = scene.command("go");
        command.args(["--approve", approve]);
        let code = if approve == "all" { 0 } else { 5 };
        let _run =
            run(command.arg("--programs").arg(innerloop_tests::example::programs())).exits(code);
        let written = scene.path("workspace/note.txt").exists();
        let requests = scene.model.requests();
        let nobody = |at: usize| requests[at].body.matches("nobody is here to give it").count();
        assert_eq!((written, nobody(1)), (writes, usize::from(!writes)), "{approve}");
        assert_eq!(nobody(2), usize::from(!writes) + usize::from(!runs), "{approve}");
    }
}

#[test]
fn m5_a_command_line_that_only_reads_needs_nobody() {
    let shell = |id: &str, command: &str| Message::call(id, "shell", &json!({"command": command}));
    let lines = [shell("toolu_1", "ls | wc -l"), shell("toolu_2", "ls > list")];
    for (ask, reads) in [("programs", true), ("everything", false)] {
        let script = [lines.to_vec(), vec![Message::text("done")]].concat();
        let scene = Scene::streaming(&script).file("a.txt", "");
        let config = json!({"approval": {"ask": ask}}).to_string();
        std::fs::write(scene.path("config.json"), config).unwrap();
        let mut command = scene.command("go");
        command.args(["--config", &scene.arg("config.json"), "--programs"]);
        let _run = run(command.arg(innerloop_tests::example::programs_and_shell())).exits(5);
        let requests = scene.model.requests();
        let nobody = |at: usize| requests[at].body.matches("nobody is here to give it").count();
        assert_eq!((nobody(1), nobody(2)), (usize::from(!reads), 2 - usize::from(reads)), "{ask}");
        assert_eq!(requests[1].body.contains("\"1\\n\""), reads, "{}", requests[1].body);
        assert!(!scene.path("workspace/list").exists());
    }
}

#[test]
fn off_a_terminal_the_model_reads_that_nobody_answers() {
    let scene = Scene::streaming(&[ask(), Message::text("done")]);
    std::fs::write(scene.path("config.json"), r#"{"ask_user": true}"#).unwrap();
    let _run = scene.run(&["--config", &scene.arg("config.json")]).exits(0);
    assert!(told(&scene).contains("nobody is here to answer; decide for yourself"));
}
