//! Skills in whole sessions: the list in the prompt, how one becomes active, and that it stays so
//! (`docs/decisions.md#skills`).

use innerloop_core::{
    Session,
    compaction::{CompactionTier, WindowFullness},
    config::{AudienceKind, ProfileKind, ProgramFacts, SessionConfig, SkillFacts, SkillUse},
    event::EventKind,
    id::AgentId,
    log,
    message::FoldKind,
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{EPOCH, TestHost, config},
    wires::{self, WIRES},
};
use serde_json::json;

const PATH: &str = ".agents/skills/pdf/SKILL.md";
const BODY: &str = "PDF-RULES: count the pages first.";

fn skill(path: &str, body: Option<&str>) -> SkillFacts {
    SkillFacts {
        name: "pdf".into(),
        description: "Reads and fills in PDF files.".into(),
        path: path.into(),
        body: body.map(String::from),
        keywords: vec!["pdf".into()],
        ..SkillFacts::default()
    }
}

fn with(skill: SkillFacts, change: impl FnOnce(&mut SessionConfig)) -> TestHost {
    let mut config = config();
    config.model.context_window = 20_000;
    config.model.max_output_tokens = 2_000;
    config.loops.detect = false;
    config.facts.skills = vec![skill];
    change(&mut config);
    TestHost::open(config)
}

fn body(host: &TestHost) -> String {
    String::from_utf8(host.requests.last().unwrap().body.0.clone()).unwrap()
}

/// Rounds with long results until the conversation is made shorter.
fn fill(host: &mut TestHost) {
    let folds = |host: &TestHost| {
        host.find(|kind| matches!(kind, EventKind::Compacted { .. }).then_some(())).len()
    };
    let before = folds(host);
    for n in 0.. {
        if folds(host) > before {
            return;
        }
        assert!(n < 40, "nothing is made shorter");
        let id = format!("c{}", host.requests.len());
        let call = Message::call(&id, "read_file", &json!({"file_path": format!("{n}.rs")}));
        // A token for four bytes of the request, as providers count.
        let read = host.requests.last().map_or(0, |request| request.body.len() as u64 / 4);
        host.reply(&call.costing(read, 20));
        let _ = host.answer(&"x".repeat(4_000));
    }
}

fn tier(config: &mut SessionConfig, step: FoldKind) {
    let (from, to) = (WindowFullness::percent(60), WindowFullness::percent(40));
    config.compaction.auto = vec![CompactionTier { from, to, step, inputs: None }];
}

#[test]
fn n3_the_prompt_lists_skills_in_a_hundred_tokens_each_and_nothing_without_any() {
    let mut host = with(skill(PATH, None), |_| {});
    let _ = host.submit("go");
    let entry = format!("- pdf: Reads and fills in PDF files. ({PATH})");
    assert!(body(&host).contains(&entry));
    let mut long = skill(PATH, None);
    long.description = "ä".repeat(2_000);
    let mut host = with(long, |_| {});
    let _ = host.submit("go");
    let text = body(&host);
    let entry = text.split("- pdf: ").nth(1).and_then(|rest| rest.split(')').next()).unwrap();
    assert!(entry.len() < 420 && entry.contains('…'), "{entry}");
    for (change, why) in [(SkillUse::Off, "off"), (SkillUse::Selected, "selected")] {
        let mut host = with(skill(PATH, None), |config| config.skills = change);
        let _ = host.submit("go");
        assert!(!body(&host).contains("# Skills"), "{why}");
    }
    let mut host = with(skill(PATH, None), |config| config.facts.skills.clear());
    let _ = host.submit("go");
    assert!(!body(&host).contains("Skills"));
}

#[test]
fn n3_a_skill_that_was_read_survives_folds_of_every_kind_in_every_protocol() {
    for wire in WIRES {
        for step in [FoldKind::Stub, FoldKind::Truncate] {
            let mut host = with(skill(PATH, None), |config| {
                tier(config, step);
                wires::speak(&mut config.model, wire);
                config.model.context_window = 20_000;
            });
            let _ = host.submit("Fill it in.");
            host.reply(&Message::call("s", "read_file", &json!({"file_path": PATH})));
            // Longer than the line that stands for results.
            let _ = host.answer(&format!("{BODY}{}", "y".repeat(2_000)));
            for _ in 0..2 {
                fill(&mut host);
                let text = body(&host);
                assert_eq!(text.matches(BODY).count(), 1, "{wire:?} {step:?}: {text}");
            }
            // A restart from the log, and one from a snapshot, send the same.
            let replayed = log::replay(&host.log).unwrap().session;
            let restored = Session::restore(&host.session.snapshot(), EPOCH).unwrap();
            let seen = |session: &Session| {
                format!("{:?}", session.history(AgentId::ROOT).unwrap().seen().collect::<Vec<_>>())
            };
            for session in [replayed, restored] {
                assert_eq!(seen(&session), seen(&host.session));
            }
        }
    }
}

#[test]
fn n3_what_was_not_read_whole_is_folded_like_anything_else() {
    for call in [json!({"file_path": PATH, "limit": 2}), json!({"file_path": "other.md"})] {
        let mut host = with(skill(PATH, None), |config| tier(config, FoldKind::Truncate));
        let _ = host.submit("Fill it in.");
        host.reply(&Message::call("s", "read_file", &call));
        let _ = host.answer(BODY);
        fill(&mut host);
        assert!(!body(&host).contains(BODY), "{call}");
    }
}

#[test]
fn n3_a_skill_outside_of_the_workspace_is_answered_from_its_body() {
    for path in ["", "~/.claude/skills/pdf/SKILL.md"] {
        let mut host = with(skill(path, Some(BODY)), |config| tier(config, FoldKind::Truncate));
        let place = host.session.config().facts.skills[0].place();
        let _ = host.submit("Fill it in.");
        assert!(body(&host).contains(&format!("({place})")), "{place}");
        host.reply(&Message::call("s", "read_file", &json!({"file_path": place})));
        assert!(host.runs.is_empty(), "no tool runs");
        assert!(body(&host).contains(BODY));
        fill(&mut host);
        assert!(body(&host).contains(BODY), "it stays");
    }
    // A family that has a shell only reads by the shell.
    let mut host = with(skill("", Some(BODY)), |config| {
        config.model.profile = ProfileKind::Openai;
        config.model.vocabulary = innerloop_core::config::VocabularyKind::Native;
        let (name, description) = ("sh".into(), String::new());
        config.facts.programs = vec![ProgramFacts { name, description }];
    });
    let _ = host.submit("Fill it in.");
    let command = "sed -n 1,200p ~/.agents/skills/pdf/SKILL.md";
    host.reply(&Message::call("s", "shell_command", &json!({"command": command})));
    assert!(host.runs.is_empty() && body(&host).contains(BODY));
}

#[test]
fn j18_the_words_of_an_input_put_a_skill_behind_it_and_it_stays() {
    let mut host = with(skill("", Some(BODY)), |config| {
        tier(config, FoldKind::Truncate);
        config.skills = SkillUse::Selected;
    });
    let _ = host.submit("Fill it in.");
    assert!(!body(&host).contains(BODY));
    host.reply(&Message::text("What?"));
    let _ = host.submit("The PDF.");
    assert_eq!(body(&host).matches(BODY).count(), 1);
    host.reply(&Message::text("Done."));
    let _ = host.submit("The other PDF.");
    assert_eq!(body(&host).matches(BODY).count(), 1, "it is seen already");
    fill(&mut host);
    assert_eq!(body(&host).matches(BODY).count(), 1);
}

#[test]
fn m2_a_name_in_an_input_calls_for_a_skill_in_every_setting() {
    let mut host = with(skill(PATH, None), |_| {});
    let _ = host.submit("/pdf fill it in");
    let text = body(&host);
    assert!(text.contains("The skill pdf is for this task.") && text.contains("Read that file"));
    let mut host = with(skill("", Some(BODY)), |_| {});
    let _ = host.submit("fill it in by $pdf");
    assert!(body(&host).contains(BODY));
}

#[test]
fn n3_an_agent_in_a_folder_is_told_its_own_way_to_a_skill() {
    let mut host = with(skill("web/.agents/skills/pdf/SKILL.md", None), |_| {});
    let _ = host.submit("go");
    let call = json!({"task": "look", "working_dir": "web"});
    host.reply(&Message::call("s", "spawn_agent", &call));
    let told = host.requests.iter().map(|it| String::from_utf8(it.body.0.clone()).unwrap());
    let own = format!(" ({PATH})");
    assert_eq!(told.filter(|text| text.contains(&own)).count(), 1);
}

#[test]
fn j5_what_is_private_is_left_out_where_a_group_reads_along() {
    let doc = |path: &str, private: bool| innerloop_core::config::ProjectDoc {
        path: path.into(),
        text: format!("text of {path}"),
        private,
    };
    let docs = ["AGENTS.md", "MEMORY.md", "notes/memory.md", "DIARY.md"];
    for (audience, shown) in [(AudienceKind::Private, 4), (AudienceKind::Group, 1)] {
        let mut config = config();
        config.facts.project_docs = docs.map(|path| doc(path, path == "DIARY.md")).to_vec();
        config.facts.nested_docs = vec![doc("web/DIARY.md", true), doc("web/AGENTS.md", false)];
        config.facts.audience = audience;
        config.facts.reply_route = Some("channel 7".into());
        let mut host = TestHost::open(config);
        let _ = host.submit("go");
        let text = body(&host);
        assert_eq!(text.matches("text of ").count(), shown, "{audience:?}");
        assert!(text.contains("Your answers are delivered to: channel 7"));
        host.reply(&Message::call("c", "read_file", &json!({"file_path": "web/x"})));
        let _ = host.answer("x");
        let diary = audience == AudienceKind::Private;
        assert_eq!(body(&host).contains("text of web/DIARY.md"), diary);
        assert!(body(&host).contains("text of web/AGENTS.md"));
    }
}
