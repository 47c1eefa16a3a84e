//! Replies that are wrong, as `innerloop run` meets them: corrected, told by one line, and never
//! taken for an answer (`docs/decisions.md#corrections`).

use innerloop_tests::{anthropic::Message, scene::Scene};
use serde_json::{Value, json};

/// A call, after which other faults can follow.
fn look() -> Message {
    Message::call("toolu_1", "Glob", &json!({"pattern": "*"}))
}

/// The faults that a run's events tell of.
fn corrected(stdout: &str) -> Vec<String> {
    let events = stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let corrected = events.filter(|event| event["type"] == "corrected");
    corrected.map(|event| event["fault"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn i8_a_made_up_result_is_not_the_answer() {
    let fake = "The files are these. [Tool Result] secret.txt";
    let scene = Scene::streaming(&[look(), Message::text(fake), Message::text("Only a.txt.")])
        .natively()
        .file("a.txt", "x\n");
    let run = scene.run(&[]).exits(0);
    assert_eq!(run.stdout, "Only a.txt.\n");
    assert!(run.stderr.contains("(the model was told: You wrote a tool's result"), "{run:?}");
}

#[test]
fn i7_a_claim_without_a_call_is_asked_about() {
    let claim = Message::text("I created hello.py and it works. Done.");
    let write = json!({"file_path": "hello.py", "content": "print()\n"});
    let write = Message::call("toolu_1", "Write", &write);
    let scene = Scene::streaming(&[claim, write, Message::text("Now it is there.")]).natively();
    let run = scene.run(&["--json"]).exits(0);
    assert_eq!(corrected(&run.stdout), ["claimed"]);
    assert_eq!(scene.text("workspace/hello.py"), "print()\n");
}

#[test]
fn k9_a_sentence_without_end_is_ended_and_corrected() {
    let endless = "I will now look at the next file of the project. ".repeat(1_700);
    let messages = [look(), Message::text(&endless), Message::text(&endless)];
    let run = Scene::streaming(&messages).natively().run(&["--json"]).exits(6);
    assert_eq!(corrected(&run.stdout), ["echo"]);
    assert!(run.stdout.contains("the model repeated itself over and over"), "{run:?}");
    assert!(run.stdout.len() < 40_000, "{} bytes", run.stdout.len());
}

#[test]
fn k10_a_greeting_after_calls_is_corrected_where_the_preset_says_so() {
    let messages = [look(), Message::text("Hi there! How can I help?"), Message::text("Empty.")];
    let scene = Scene::streaming(&messages).natively();
    let run = scene.run(&["--json", "--preset", "gnoma"]).exits(0);
    assert_eq!(corrected(&run.stdout), ["greeting"]);
}

#[test]
fn k11_edits_that_fail_again_and_again_are_told_another_way() {
    let edit = |number: usize| {
        let edit =
            json!({"file_path": "a.txt", "old_string": format!("no {number}"), "new_string": ""});
        Message::call(&format!("toolu_{number}"), "Edit", &edit)
    };
    let read = Message::call("toolu_r", "Read", &json!({"file_path": "a.txt"}));
    let messages: Vec<Message> = std::iter::once(read)
        .chain((0..6).map(edit))
        .chain([Message::text("I give up.")])
        .collect();
    let scene = Scene::streaming(&messages).natively().file("a.txt", "x\n");
    let run = scene.run(&["--json"]).exits(0);
    assert_eq!(corrected(&run.stdout), ["patch_spiral"]);
    assert!(run.stdout.contains("write it as a whole with Write"), "{run:?}");
}
