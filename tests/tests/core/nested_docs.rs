//! Instruction files of folders below the agent's own.

use innerloop_core::{
    Session,
    config::{EnvironmentFacts, ProfileKind, ProgramFacts, ProjectDoc},
    id::AgentId,
    message::TurnKind,
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{EPOCH, TestHost, config},
};
use serde_json::{Value, json};

fn host(profile: ProfileKind) -> TestHost {
    let mut config = config();
    let doc = |path: &str, text: &str| ProjectDoc {
        path: path.into(),
        text: text.into(),
        private: false,
    };
    let docs = vec![doc("pkg/a/AGENTS.md", "RULE-A"), doc("pkg/a/deep/AGENTS.md", "RULE-DEEP")];
    let program = ProgramFacts { name: "sh".into(), description: String::new() };
    config.model.profile = profile;
    config.facts = EnvironmentFacts { nested_docs: docs, programs: vec![program], ..config.facts };
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    host
}

/// The documents that the newest request shows.
fn shown(host: &TestHost) -> [usize; 2] {
    let messages = host.body()["messages"].to_string();
    ["RULE-A", "RULE-DEEP"].map(|text| messages.matches(text).count())
}

fn calls(host: &mut TestHost, name: &str, arguments: &Value) -> [usize; 2] {
    let id = format!("c{}", host.requests.len());
    host.reply(&Message::call(&id, name, arguments));
    let _ = host.answer("ok");
    shown(host)
}

#[test]
fn the_prompt_names_them_and_a_call_into_their_folder_shows_them_once() {
    let mut host = host(ProfileKind::Anthropic);
    let system = host.body()["system"].to_string();
    assert!(system.contains("- pkg/a/AGENTS.md") && !system.contains("RULE-A"), "{system}");
    assert_eq!(calls(&mut host, "read_file", &json!({"file_path": "pkg/b/x.ts"})), [0, 0]);
    assert_eq!(calls(&mut host, "read_file", &json!({"file_path": "pkg/abc/x.ts"})), [0, 0]);
    assert_eq!(calls(&mut host, "read_file", &json!({"file_path": "pkg/a/x.ts"})), [1, 0]);
    assert_eq!(calls(&mut host, "read_file", &json!({"file_path": "pkg/a/y.ts"})), [1, 0]);
    assert_eq!(calls(&mut host, "list_dir", &json!({"path": "./pkg/a/deep"})), [1, 1]);
    let turns = host.session.history(AgentId::ROOT).unwrap().turns();
    let texts: Vec<&str> = turns
        .iter()
        .filter_map(|turn| match &turn.kind {
            TurnKind::System(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let title = "Project instructions for what you work on now, from pkg/a/AGENTS.md:\n\nRULE-A";
    assert_eq!(texts[0], title);
    // A restart does not show them again.
    host.session = Session::restore(&host.session.snapshot(), EPOCH).unwrap();
    assert_eq!(calls(&mut host, "read_file", &json!({"file_path": "pkg/a/z.ts"})), [1, 1]);
}

#[test]
fn any_call_that_names_the_folder_counts() {
    for (name, arguments) in [
        ("glob", json!({"pattern": "pkg/a/**/*.ts"})),
        ("glob", json!({"pattern": "*.ts", "path": "/pkg/a"})),
        ("grep", json!({"pattern": "x", "path": "pkg/a/src"})),
        ("read_many_files", json!({"paths": ["README.md", "pkg/a/*.ts"]})),
        ("write_file", json!({"file_path": "pkg/a/new.ts", "content": ""})),
        (
            "apply_patch",
            json!({"patch":
            "*** Begin Patch\n*** Add File: pkg/a/x\n+x\n*** End Patch"}),
        ),
        ("shell", json!({"command": "cd pkg/a && ls"})),
    ] {
        let mut host = host(match name {
            "read_many_files" => ProfileKind::Gemini,
            "apply_patch" => ProfileKind::Openai,
            _ => ProfileKind::Anthropic,
        });
        assert_eq!(calls(&mut host, name, &arguments), [1, 0], "{name} {arguments}");
    }
    for (name, arguments) in [
        ("shell", json!({"command": "ls other/pkg/a pkg/about pkg/a-b"})),
        ("list_dir", json!({"path": "pkg"})),
        ("grep", json!({"pattern": "pkg/a"})),
    ] {
        let mut host = host(ProfileKind::Anthropic);
        assert_eq!(calls(&mut host, name, &arguments), [0, 0], "{name} {arguments}");
    }
}
