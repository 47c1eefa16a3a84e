//! What the fuzz targets check holds of their seeds, and of a few thousand changes of them.

use innerloop_tests::fuzzing::{TARGETS, changed};
use std::{collections::BTreeSet, fs, panic, path::Path};

/// How many changed inputs each target is given.
const CHANGED: u64 = 3_000;

fn check(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).unwrap();
    let seeds = target.inputs();
    assert!(!seeds.is_empty());
    for seed in &seeds {
        (target.check)(seed);
    }
    for number in 0..CHANGED {
        let data = changed(&seeds, number);
        if let Err(cause) = panic::catch_unwind(|| (target.check)(&data)) {
            eprintln!("{name}, change {number}: {:?}", String::from_utf8_lossy(&data));
            panic::resume_unwind(cause);
        }
    }
}

#[test]
fn events_say_the_same_in_any_frame() {
    check("sse");
}

#[test]
fn any_bytes_of_openai_responses_are_read_without_a_panic() {
    check("openai_responses");
}

#[test]
fn any_bytes_of_openai_chat_are_read_without_a_panic() {
    check("openai_chat");
}

#[test]
fn any_bytes_of_anthropic_are_read_without_a_panic() {
    check("anthropic");
}

#[test]
fn any_bytes_of_gemini_are_read_without_a_panic() {
    check("gemini");
}

#[test]
fn any_bytes_of_ollama_are_read_without_a_panic() {
    check("ollama");
}

#[test]
fn x10_any_text_is_taken_apart_without_a_panic() {
    check("text_calls");
}

#[test]
fn h6_any_text_is_read_as_a_patch_without_a_panic() {
    check("patch");
}

#[test]
fn each_target_is_built_by_cargo_fuzz() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("fuzz");
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let files = fs::read_dir(folder.join("targets")).unwrap();
    let files: BTreeSet<_> = files.map(|file| file.unwrap().file_name()).collect();
    assert_eq!(files.len(), TARGETS.len());
    for target in TARGETS {
        let text = fs::read_to_string(folder.join(format!("targets/{}.rs", target.name))).unwrap();
        assert!(text.contains(&format!("fuzzing::{}(data)", target.name)), "{}", target.name);
        assert!(manifest.contains(&format!("path = \"targets/{}.rs\"", target.name)));
    }
}
