//! Tables of texts and the words that they are.

use super::*;
use alloc::{format, vec};
use innerloop_json::{from_str, to_string};

/// The JSON of the word that a text is.
fn json(text: &str, pending: &PendingAsks, custom: &[CustomCommand]) -> String {
    let word = read(text, pending, custom);
    let json = to_string(&word);
    assert_eq!(from_str::<CommandWord>(&json).unwrap(), word, "{json} is read as it is written");
    json
}

/// Checks texts of which each is read as the word beside it, without its braces.
fn check(pending: &PendingAsks, custom: &[CustomCommand], rows: &[(&str, &str)]) {
    for (text, word) in rows {
        assert_eq!(json(text, pending, custom), format!("{{{word}}}"), "{text:?}");
    }
}

/// Checks that texts are for the model, as they are typed.
fn check_texts(pending: &PendingAsks, texts: &[&str]) {
    for text in texts {
        let word = CommandWord::Text { text: (*text).into() };
        assert_eq!(read(text, pending, &[]), word, "{text:?}");
    }
}

/// All that can be pending.
fn all_pending() -> Vec<PendingAsks> {
    let one = |bits: u8| PendingAsks {
        approval: bits & 1 > 0,
        question: bits & 2 > 0,
        credential: bits & 4 > 0,
        choices: if bits & 2 > 0 { vec!["ping".into(), "/help".into()] } else { Vec::new() },
    };
    (0..8).map(one).collect()
}

fn custom(name: &str, template: Option<&str>) -> CustomCommand {
    CustomCommand { name: name.into(), template: template.map(Into::into) }
}

#[test]
fn j12_the_table_of_commands() {
    let rows = [
        ("/undo", r#""type":"undo","steps":1"#),
        ("  /UNDO 3 ", r#""type":"undo","steps":3"#),
        ("/undo Files", r#""type":"undo_files""#),
        ("/redo", r#""type":"redo","steps":1"#),
        ("/redo\t12", r#""type":"redo","steps":12"#),
        ("/clear", r#""type":"clear""#),
        ("/compact", r#""type":"compact""#),
        ("/compact  the API, then", r#""type":"compact","instructions":"the API, then""#),
        ("/interrupt", r#""type":"interrupt""#),
        ("/Stop", r#""type":"interrupt""#),
        ("/heartbeat", r#""type":"heartbeat""#),
        ("/summarize", r#""type":"summarize""#),
        ("/summary", r#""type":"summarize""#),
        ("/suggest", r#""type":"suggest""#),
        ("/new", r#""type":"new_thread""#),
        ("/thread New", r#""type":"new_thread""#),
        ("/thread 6ba7", r#""type":"thread","id":"6ba7""#),
        ("/thread 6BA7B810-9", r#""type":"thread","id":"6ba7b810-9""#),
        ("/threads", r#""type":"list_threads""#),
        ("/resume", r#""type":"list_threads""#),
        (
            "/resume 6ba7b810-9dad-11d1-80b4-00c04fd430c8",
            r#""type":"resume_thread","id":"6ba7b810-9dad-11d1-80b4-00c04fd430c8""#,
        ),
        (
            "/resume 6ba7b8109dad11d180b400c04fd430c8",
            r#""type":"resume_thread","id":"6ba7b8109dad11d180b400c04fd430c8""#,
        ),
        ("/quit", r#""type":"quit""#),
        ("/exit", r#""type":"quit""#),
        ("/shutdown", r#""type":"quit""#),
    ];
    check(&PendingAsks::default(), &[], &rows);
    assert_eq!(read("", &PendingAsks::default(), &[]), CommandWord::Text { text: "".into() });
}

#[test]
fn j12_slash_words_approve_whatever_is_pending() {
    let rows = [
        ("/approve", r#""type":"approve","always":false"#),
        ("/yes", r#""type":"approve","always":false"#),
        ("/Y", r#""type":"approve","always":false"#),
        ("/always", r#""type":"approve","always":true"#),
        ("/a", r#""type":"approve","always":true"#),
        ("/deny", r#""type":"deny""#),
        ("/no", r#""type":"deny""#),
        ("/n", r#""type":"deny""#),
    ];
    all_pending().iter().for_each(|pending| check(pending, &[], &rows));
}

#[test]
fn j12_bare_words_approve_only_while_an_approval_is_pending() {
    let once = ["yes", "Y", " approve ", "OK"];
    let always = ["always", "a", "yes always", "Approve  always"];
    let deny = ["no", "n", "deny", "reject", "Cancel"];
    let pending = PendingAsks { approval: true, ..PendingAsks::default() };
    for text in once {
        check(&pending, &[], &[(text, r#""type":"approve","always":false"#)]);
    }
    for text in always {
        check(&pending, &[], &[(text, r#""type":"approve","always":true"#)]);
    }
    for text in deny {
        check(&pending, &[], &[(text, r#""type":"deny""#)]);
    }
    let others = ["yes, but", "yes always now", "ok go", "approve this", "no no", "nope", "yes."];
    check_texts(&pending, &others);
    check_texts(&pending, &[r#"{"ExecApproval":{"request_id":"1","approved":true}}"#]);
    let bare = [&once[..], &always, &deny].concat();
    check_texts(&PendingAsks::default(), &bare);
    // With a question open as well, the person may mean that: a yes by mistake cannot be undone.
    check_texts(&PendingAsks { question: true, ..pending }, &bare);
}

#[test]
fn j12_an_answer_that_a_question_names_is_text_as_it_is_spelt_there() {
    let choices = vec!["Yes".to_owned(), "Plan B".into(), "cancel".into()];
    let pending = PendingAsks { approval: true, choices, ..PendingAsks::default() };
    let rows = [
        ("yes", r#""type":"text","text":"Yes""#),
        (" plan b ", r#""type":"text","text":"Plan B""#),
        ("CANCEL", r#""type":"text","text":"cancel""#),
        ("no", r#""type":"deny""#),
        ("/cancel 4", r#""type":"cancel_job","id":"4""#),
    ];
    check(&pending, &[], &rows);
}

#[test]
fn j12_while_a_credential_is_pending_all_but_commands_is_secret() {
    for pending in all_pending().iter().filter(|pending| pending.credential) {
        let secrets = ["sk-123", "yes", "/etc/key", "//x", "/a=b/c==", "-----BEGIN\nabc\n-----END"];
        secrets.iter().for_each(|text| check(pending, &[], &[(text, r#""type":"secret""#)]));
        let rows = [
            ("/stop", r#""type":"interrupt""#),
            ("/sotp", r#""type":"unknown","name":"sotp","near":"stop""#),
            ("  ", r#""type":"text","text":"  ""#),
        ];
        check(pending, &[], &rows);
    }
}

#[test]
fn j12_wrong_arguments_and_unknown_commands_are_answers_to_the_person() {
    let pending = PendingAsks::default();
    let wrong = [
        "/undo 0",
        "/undo -1",
        "/undo it",
        "/undo 1 2",
        "/undo 4294967296",
        "/redo files",
        "/clear all",
        "/stop it",
        "/new one",
        "/thread",
        "/thread foo",
        "/thread 6ba",
        "/thread 6ba7b8109",
        "/thread 6ba7b810-9dad-11d1-80b4-00c04fd430c8f",
        "/threads all",
        "/resume foo",
        "/cancel",
        "/cancel a b",
        "/job",
        "/create",
        "/status a b",
        "/help me please",
        "/? undo",
        "/skills find",
        "/skills search",
        "/version 1",
        "/yes please",
        "/deny it",
        "/quit now",
    ];
    for text in wrong {
        let word = read(text, &pending, &[]);
        let CommandWord::Unknown { name, near: None, usage: Some(usage) } = word else {
            panic!("{text:?} is {word:?}");
        };
        assert!(text.starts_with(&format!("/{name}")) && usage.starts_with('/'), "{text}: {usage}");
    }
    let added = [custom("Deploy", Some("Deploy it.")), custom("diff", None)];
    for (text, near) in [
        ("/unod", Some("undo")),
        ("/modl x", Some("model")),
        ("/statsu", Some("status")),
        ("/sumarise", Some("summarize")),
        ("/deplou", Some("Deploy")),
        ("/dif", Some("diff")),
        ("/frobnicate", None),
        ("/zq", None),
        ("/x", None),
        ("/?x", None),
        ("/modelling x", None),
    ] {
        let name = text.split(' ').next().unwrap().trim_start_matches('/').into();
        let near = near.map(Into::into);
        let word = CommandWord::Unknown { name, near, usage: None };
        assert_eq!(read(text, &pending, &added), word, "{text}");
    }
    let long = format!("/{}", "u".repeat(100_000));
    assert!(matches!(read(&long, &pending, &[]), CommandWord::Unknown { near: None, .. }));
}

#[test]
fn j12_paths_and_several_lines_are_text() {
    let texts = [
        "fix it",
        "/etc/hosts is wrong",
        "/etc/hosts",
        "//x",
        "/",
        "/ undo",
        "/readme.md says so",
        "/1",
        "/-x",
        "/über",
        "/undo!",
        "/undo\nand redo",
        "/compact this\r\nand that",
        "\u{a0}indented",
        "undo",
        "a /undo",
        "  yes\n",
    ];
    check_texts(&PendingAsks::default(), &texts);
}

#[test]
fn j11_jobs_are_created_listed_asked_for_and_cancelled_by_commands() {
    let rows = [
        ("/job build the site", r#""type":"create_job","text":"build the site""#),
        ("/CREATE a Report", r#""type":"create_job","text":"a Report""#),
        ("/status", r#""type":"job_status""#),
        ("/status J-4", r#""type":"job_status","id":"J-4""#),
        ("/progress 4", r#""type":"job_status","id":"4""#),
        ("/list", r#""type":"list_jobs""#),
        ("/list failed today", r#""type":"list_jobs","filter":"failed today""#),
        ("/jobs", r#""type":"list_jobs""#),
        ("/cancel 4", r#""type":"cancel_job","id":"4""#),
        ("/help 4", r#""type":"help_job","id":"4""#),
    ];
    all_pending().iter().for_each(|pending| check(pending, &[], &rows));
    check_texts(&PendingAsks::default(), &["create a report", "cancel 4", "job build", "status"]);
}

#[test]
fn j13_system_words_and_quit_are_read_alike_in_any_state() {
    let rows = [
        ("/help", r#""type":"system","name":"help","args":"""#),
        ("/?", r#""type":"system","name":"help","args":"""#),
        ("/Version", r#""type":"system","name":"version","args":"""#),
        ("/tools", r#""type":"system","name":"tools","args":"""#),
        ("/skills", r#""type":"system","name":"skills","args":"""#),
        ("/skills search git", r#""type":"system","name":"skills","args":"search git""#),
        ("/ping", r#""type":"system","name":"ping","args":"""#),
        ("/debug", r#""type":"system","name":"debug","args":"""#),
        ("/model", r#""type":"system","name":"model","args":"""#),
        ("/model  gpt-5 x", r#""type":"system","name":"model","args":"gpt-5 x""#),
        ("/quit", r#""type":"quit""#),
        ("/stop", r#""type":"interrupt""#),
    ];
    all_pending().iter().for_each(|pending| check(pending, &[], &rows));
}

#[test]
fn m2_a_custom_command_is_the_text_of_its_template() {
    for (template, args, text) in [
        ("Look at $ARGUMENTS.", "a  b", "Look at a  b."),
        ("$ARGUMENTS$ARGUMENTS", "x", "xx"),
        ("From $1 to $2, not $9.", "a b c", "From a to b, not ."),
        ("$2 $1 $10 $0", "a b", "b a a0 $0"),
        ("$$1 costs $ 5 and $$$1", "x", "$1 costs $ 5 and $x"),
        ("$1", "$2 $ARGUMENTS", "$2"),
        ("$$ARGUMENTS $", "", "$ARGUMENTS $"),
        ("$é$", "", "$é$"),
        ("Fix it.\n", "", "Fix it.\n"),
        ("Fix it.\n", "now: $1", "Fix it.\n\nnow: $1"),
        ("/undo", "", "/undo"),
    ] {
        let commands = [custom("fix", Some(template))];
        let typed = format!("/FIX {args}");
        let word = CommandWord::Text { text: text.into() };
        assert_eq!(read(&typed, &PendingAsks::default(), &commands), word, "{template:?}");
    }
}

#[test]
fn m2_the_table_goes_before_templates_and_a_hosts_own_words_before_the_table() {
    let pending = PendingAsks::default();
    let custom = vec![
        custom("Fix", Some("first")),
        custom("fix", Some("second")),
        custom("undo", Some("never")),
        custom("ping", Some("pong")),
        custom("approve", None),
        custom("diff", None),
    ];
    let rows = [
        ("/fix", r#""type":"text","text":"first""#),
        ("/undo", r#""type":"undo","steps":1"#),
        ("/ping", r#""type":"system","name":"ping","args":"""#),
        ("/approve  all of it", r#""type":"own","name":"approve","args":"all of it""#),
        ("/DIFF", r#""type":"own","name":"diff","args":"""#),
    ];
    check(&pending, &custom, &rows);
    let table = CommandTable { custom, without: vec!["ping".into(), "Thread".into()] };
    assert_eq!(table.read("/ping", &pending), CommandWord::Text { text: "pong".into() });
    let near = Some("Threads".to_ascii_lowercase());
    let unknown = CommandWord::Unknown { name: "thread".into(), near, usage: None };
    assert_eq!(table.read("/thread new", &pending), unknown);
    for (name, is_taken) in [("undo", true), ("Diff", true), ("ping", false), ("fix", false)] {
        assert_eq!(table.is_taken(name), is_taken, "{name}");
    }
    for (name, is_right) in [("a-1_b", true), ("?", true), ("1a", false), ("a.b", false)] {
        assert_eq!(is_name(name), is_right, "{name}");
    }
}

#[test]
fn j12_other_languages_read_by_lines_of_json() {
    let said = |request: &str| crate::answer(request.as_bytes());
    assert_eq!(
        said(r#"{"command":{"text":"ok","pending":{"approval":true}}}"#),
        "{\"word\":{\"type\":\"approve\",\"always\":false}}\n"
    );
    let added = r#"{"custom":[{"name":"f","template":"<$1>"}],"without":["undo"]}"#;
    let request = format!(r#"{{"command":{{"text":"/f \u00e9","commands":{added}}}}}"#);
    assert_eq!(said(&request), "{\"word\":{\"type\":\"text\",\"text\":\"<é>\"}}\n");
    for wrong in ["", "[]", r#"{"command":{"texts":""}}"#, r#"{"sing":{}}"#, "\u{0}"] {
        let answer = said(wrong);
        assert!(answer.starts_with(r#"{"error":{"code":"bad_request","message":"#), "{answer}");
    }
    assert!(crate::answer(b"\xff").contains("bad_request"));
}
