//! What each model family is shown, and what it reads.

use innerloop_core::{
    Profile,
    action::{Action, Outcome},
    config::{
        EnvironmentFacts, ModelConfig, ProfileKind, ProgramFacts, TextCalls, VocabularyKind,
        WireKind,
    },
    doc_names,
    event::EventKind,
    input::HttpInput,
    tool::{Job, ToolSpec},
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{TestHost, config},
};
use serde_json::{Value, json};

const KINDS: [ProfileKind; 4] =
    [ProfileKind::Openai, ProfileKind::Anthropic, ProfileKind::Gemini, ProfileKind::Small];

fn program(name: &str) -> ProgramFacts {
    ProgramFacts { name: name.into(), description: "a program".into() }
}

/// A place with a shell and another program.
pub(super) fn place() -> EnvironmentFacts {
    EnvironmentFacts {
        programs: vec![program("sh"), program("qjs")],
        ..EnvironmentFacts::default()
    }
}

pub(super) fn all_tools(profile: Profile, facts: &EnvironmentFacts) -> Vec<ToolSpec> {
    let mut tools = profile.tools(facts);
    tools.extend(profile.inner_tools());
    tools
}

fn names(kind: ProfileKind, vocabulary: VocabularyKind, facts: &EnvironmentFacts) -> Vec<String> {
    let tools = all_tools(Profile::new(kind, vocabulary), facts);
    tools.into_iter().map(|tool| tool.name).collect()
}

pub(super) fn host(kind: ProfileKind, vocabulary: VocabularyKind) -> TestHost {
    let mut config = config();
    config.model.profile = kind;
    config.model.vocabulary = vocabulary;
    config.facts = place();
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    host
}

fn action(kind: ProfileKind, vocabulary: VocabularyKind, name: &str, arguments: &Value) -> Value {
    let profile = Profile::new(kind, vocabulary);
    let translated = profile.translate(&place(), name, &arguments.to_string()).unwrap();
    serde_json::to_value(translated.action).unwrap()
}

/// What the model reads of that call's outcome.
pub(super) fn reads(
    kind: ProfileKind,
    vocabulary: VocabularyKind,
    name: &str,
    arguments: &Value,
    outcome: Outcome,
) -> String {
    let mut host = host(kind, vocabulary);
    host.reply(&Message::call("c", name, arguments));
    let id = *host.runs.keys().next().unwrap_or_else(|| panic!("{name} does not run"));
    let raw = Outcome { duration_ms: Some(0), ..outcome.clone() };
    let _ = host.done(id, outcome);
    let emitted = host.find(|kind| match kind {
        EventKind::ToolCallEnd { outcome, .. } => Some((**outcome).clone()),
        _ => None,
    });
    assert_eq!(emitted, [raw], "{name}: the event has the outcome as it is");
    let body = host.body();
    let content = &body["messages"].as_array().unwrap().last().unwrap()["content"][0]["content"];
    match content {
        Value::String(text) => text.clone(),
        parts => {
            let texts = parts.as_array().unwrap().iter().filter_map(|part| part["text"].as_str());
            texts.collect::<Vec<_>>().join("|")
        }
    }
}

#[test]
fn c1_the_openai_profile_has_the_tools_of_the_specification_and_of_codex() {
    let kind = ProfileKind::Openai;
    assert_eq!(
        names(kind, VocabularyKind::Seed, &place()),
        ["read_file", "apply_patch", "write_file", "shell", "grep", "glob", "run_program"]
    );
    assert_eq!(
        names(kind, VocabularyKind::Native, &place()),
        ["shell_command", "apply_patch", "view_image", "run_program", "update_plan"]
    );
    let patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch\n";
    let expected = json!({"action": "patch", "patch": patch});
    assert_eq!(
        action(kind, VocabularyKind::Seed, "apply_patch", &json!({"patch": patch})),
        expected
    );
    assert_eq!(
        action(kind, VocabularyKind::Native, "apply_patch", &json!({"input": patch})),
        expected
    );
}

#[test]
fn a_command_as_a_list_of_words_is_the_same_call_as_its_line() {
    let patch = "*** Begin Patch\n*** Add File: it's.txt\n+x\n*** End Patch";
    let quoted = patch.replace('\'', "'\\''");
    for (words, line) in [
        (json!(["bash", "-lc", "ls | wc -l"]), "ls | wc -l".to_owned()),
        (json!(["apply_patch", patch]), format!("'apply_patch' '{quoted}'")),
    ] {
        for (vocabulary, tool) in
            [(VocabularyKind::Native, "shell_command"), (VocabularyKind::Seed, "shell")]
        {
            let done = action(ProfileKind::Openai, vocabulary, tool, &json!({"command": words}));
            assert_eq!((&done["action"], &done["command"]), (&json!("shell"), &json!(line)));
        }
    }
    let profile = Profile::new(ProfileKind::Openai, VocabularyKind::Native);
    let odd = json!({"command": ["ls", 1]}).to_string();
    let refused = profile.translate(&place(), "shell_command", &odd).unwrap_err();
    assert!(refused.contains("command"), "{refused}");
}

#[test]
fn c1_a_patch_in_free_text_is_the_same_call_as_one_in_json() {
    let patch = "*** Begin Patch\n*** Add File: a\n+\"x\"\n*** End Patch\n";
    let tools = Profile::new(ProfileKind::Openai, VocabularyKind::Native).tools(&place());
    let tool = tools.iter().find(|tool| tool.name == "apply_patch").unwrap();
    let freeform = tool.freeform.as_ref().unwrap();
    assert_eq!(freeform.property, "input");
    for rule in ["start:", "*** Begin Patch", "*** Move to: ", "*** End of File", "%import"] {
        assert!(freeform.grammar.contains(rule), "{rule}");
    }
    let mut config = config();
    config.model.wire = WireKind::OpenaiResponses;
    config.model.profile = ProfileKind::Openai;
    config.model.vocabulary = VocabularyKind::Native;
    let mut jobs = Vec::new();
    for item in [
        json!({"type": "custom_tool_call", "id": "i", "call_id": "c", "name": "apply_patch",
            "input": patch}),
        json!({"type": "function_call", "id": "i", "call_id": "c", "name": "apply_patch",
            "arguments": json!({"input": patch}).to_string()}),
    ] {
        let mut host = TestHost::open(config.clone());
        let _ = host.submit("go");
        let body = json!({"id": "r", "object": "response", "status": "completed", "model": "m",
            "output": [item], "usage": {"input_tokens": 1, "output_tokens": 1}});
        host.head(200, "application/json");
        let chunk = body.to_string().into_bytes().into();
        let _ = host.http(HttpInput::Chunk(chunk));
        let _ = host.http(HttpInput::End);
        let (_, run) = host.runs.first_key_value().expect("the patch runs");
        jobs.push(run.job.clone());
        let shown = host.find(|kind| match kind {
            EventKind::ToolCallStart { arguments, .. } => Some(arguments.clone()),
            _ => None,
        });
        assert_eq!(shown, [json!({"input": patch}).to_string()], "arguments are JSON for hosts");
    }
    let expected = Action::patch(patch);
    assert_eq!(jobs, [Job::Builtin(expected.clone()), Job::Builtin(expected)]);
}

#[test]
fn c2_the_anthropic_profile_has_the_tools_of_the_specification_and_of_claude_code() {
    let kind = ProfileKind::Anthropic;
    assert_eq!(
        names(kind, VocabularyKind::Seed, &place()),
        [
            "read_file",
            "write_file",
            "edit_file",
            "list_dir",
            "glob",
            "grep",
            "shell",
            "run_program"
        ]
    );
    assert_eq!(
        names(kind, VocabularyKind::Native, &place()),
        ["Read", "Write", "Edit", "Bash", "Grep", "Glob", "run_program", "TodoWrite"]
    );
    let edit = json!({"file_path": "a", "old_string": "b", "new_string": "c"});
    let expected = json!({"action": "edit", "path": "a", "old": "b", "new": "c", "all": false});
    assert_eq!(action(kind, VocabularyKind::Seed, "edit_file", &edit), expected);
    assert_eq!(action(kind, VocabularyKind::Native, "Edit", &edit), expected);
    assert_eq!(
        action(kind, VocabularyKind::Native, "Read", &json!({"file_path": "a", "offset": 3.0})),
        json!({"action": "read", "path": "a", "offset": 3, "limit": 2000, "numbering": "tab"})
    );
}

#[test]
fn c3_the_gemini_profile_has_the_tools_of_the_specification_and_of_gemini_cli() {
    let kind = ProfileKind::Gemini;
    assert_eq!(
        names(kind, VocabularyKind::Seed, &place()),
        [
            "read_file",
            "read_many_files",
            "write_file",
            "edit_file",
            "shell",
            "grep",
            "glob",
            "list_dir",
            "run_program"
        ]
    );
    assert_eq!(
        names(kind, VocabularyKind::Native, &place()),
        [
            "read_file",
            "write_file",
            "replace",
            "run_shell_command",
            "grep_search",
            "glob",
            "list_directory",
            "read_many_files",
            "run_program",
            "write_todos"
        ]
    );
    let read = json!({"file_path": "a", "start_line": 3, "end_line": 5});
    let expected = json!({"action": "read", "path": "a", "offset": 3, "limit": 3,
        "numbering": "none", "line_chars": 2000, "notice": "above"});
    assert_eq!(action(kind, VocabularyKind::Native, "read_file", &read), expected);
    let profile = Profile::new(kind, VocabularyKind::Native);
    let backwards = r#"{"file_path": "a", "start_line": 5, "end_line": 3}"#;
    let error = profile.translate(&place(), "read_file", backwards).unwrap_err();
    assert!(error.contains("end_line 3 stands before start_line 5"), "{error}");
}

#[test]
fn small_models_have_five_tools_examples_and_calls_in_text() {
    let kind = ProfileKind::Small;
    let with = |programs: &[&str]| {
        let programs = programs.iter().map(|name| program(name)).collect();
        names(
            kind,
            VocabularyKind::Native,
            &EnvironmentFacts { programs, ..EnvironmentFacts::default() },
        )
    };
    let files = ["read_file", "write_file", "edit_file", "list_dir"];
    assert_eq!(with(&[]), [&files[..], &["grep"]].concat());
    assert_eq!(with(&["qjs"]), [&files[..], &["run_program"]].concat());
    assert_eq!(with(&["qjs", "bash"]), [&files[..], &["shell"]].concat());
    let profile = Profile::new(kind, VocabularyKind::Native);
    assert!(profile.base_prompt().contains("# Examples"));
    assert_eq!(profile.model_defaults().text_calls, TextCalls::Fallback);
    let body = host(kind, VocabularyKind::Seed).body();
    assert_eq!(body["tools"].as_array().unwrap().len(), 5, "no agents to start");
}

#[test]
fn what_nothing_could_carry_out_is_not_offered() {
    let shells = ["shell", "Bash", "shell_command", "run_shell_command"];
    for kind in KINDS {
        for vocabulary in [VocabularyKind::Seed, VocabularyKind::Native] {
            let bare = names(kind, vocabulary, &EnvironmentFacts::default());
            assert!(!bare.iter().any(|name| shells.contains(&name.as_str())), "{bare:?}");
            assert!(!bare.contains(&"run_program".to_owned()), "{bare:?}");
            let only_shell =
                EnvironmentFacts { programs: vec![program("bash")], ..EnvironmentFacts::default() };
            let some = names(kind, vocabulary, &only_shell);
            assert!(some.iter().any(|name| shells.contains(&name.as_str())), "{some:?}");
            assert!(!some.contains(&"run_program".to_owned()), "{some:?}");
        }
    }
}

#[test]
fn c4_each_family_has_a_prompt_of_its_own_that_names_no_tool_it_lacks() {
    let known: Vec<String> = KINDS
        .iter()
        .flat_map(|kind| {
            let of = |vocabulary| names(*kind, vocabulary, &place());
            [of(VocabularyKind::Seed), of(VocabularyKind::Native)].concat()
        })
        // Names that are also plain words do not count: `shell`, `Read`, `replace`, `glob`, `Edit`.
        .filter(|name| name.contains('_') || name == "TodoWrite")
        .collect();
    let mut prompts = Vec::new();
    for kind in KINDS {
        let prompt = Profile::new(kind, VocabularyKind::Seed).base_prompt();
        assert!(prompt.starts_with("You are Innerloop, a coding agent"), "{kind:?}");
        assert!(prompt.len() > 1_500, "{kind:?}");
        for vocabulary in [VocabularyKind::Seed, VocabularyKind::Native] {
            let own = names(kind, vocabulary, &EnvironmentFacts::default());
            for name in known.iter().filter(|name| prompt.contains(name.as_str())) {
                assert!(own.contains(name), "{kind:?} {vocabulary:?}: {name}");
            }
        }
        prompts.push(prompt);
    }
    let [openai, anthropic, gemini, small] = prompts.try_into().unwrap();
    // What a base prompt must cover, by a word that each topic needs.
    for topic in ["AGENTS.md", "`apply_patch`", "*** Begin Patch", "plan", "sandbox", "review"] {
        assert!(openai.contains(topic), "{topic}");
    }
    for topic in ["Read a file before you edit", "occur only once", "creating new ones", "Commit"] {
        assert!(anthropic.contains(topic), "{topic}");
    }
    for topic in ["GEMINI.md", "Research", "Validation", "untrusted_context", "new application"] {
        assert!(gemini.contains(topic), "{topic}");
    }
    assert!(small.contains("Examples") && small.contains("edit_file"));
}

#[test]
fn c7_a_profile_says_what_its_models_can_do_and_which_documents_they_read() {
    for kind in KINDS {
        let profile = Profile::new(kind, VocabularyKind::Native);
        let can = profile.capabilities();
        let is_small = kind == ProfileKind::Small;
        assert_eq!((can.reasoning, can.parallel_tool_calls), (!is_small, !is_small));
        assert!(can.streaming && can.context_window >= 32_768);
        let defaults: ModelConfig = profile.model_defaults();
        assert_eq!((defaults.profile, Profile::of(&defaults)), (kind, profile));
        assert!(defaults.max_output_tokens < defaults.context_window);
        let docs = doc_names(kind);
        assert_eq!(docs[0], "AGENTS.md");
        let own = match kind {
            ProfileKind::Openai => &[".codex/instructions.md"][..],
            ProfileKind::Anthropic => &["CLAUDE.md"],
            ProfileKind::Gemini => &["GEMINI.md"],
            _ => &[],
        };
        assert_eq!(&docs[1..], own, "{kind:?}");
    }
}

#[test]
fn c14_claude_has_120_seconds_grep_modes_and_betas() {
    let kind = ProfileKind::Anthropic;
    let mut shell = host(kind, VocabularyKind::Native);
    shell.reply(&Message::call("c", "Bash", &json!({"command": "make"})));
    assert_eq!(shell.runs.first_key_value().unwrap().1.timeout_ms, 120_000);
    let mut shell = host(kind, VocabularyKind::Seed);
    let most = json!({"command": "make", "timeout_ms": 9_000_000});
    shell.reply(&Message::call("c", "shell", &most));
    assert_eq!(shell.runs.first_key_value().unwrap().1.timeout_ms, 600_000);
    let grep = |mode: &str| json!({"pattern": "a", "output_mode": mode});
    for mode in ["content", "files_with_matches", "count"] {
        assert_eq!(action(kind, VocabularyKind::Seed, "grep", &grep(mode))["mode"], mode);
        assert_eq!(action(kind, VocabularyKind::Native, "Grep", &grep(mode))["mode"], mode);
    }
    assert_eq!(
        action(kind, VocabularyKind::Native, "Grep", &json!({"pattern": "a"})),
        json!({"action": "grep", "pattern": "a", "mode": "files_with_matches",
            "max_results": 250, "ignore_case": false})
    );
    let all = json!({"pattern": "a", "path": "p", "glob": "*.x", "output_mode": "content",
        "-A": 1, "-C": 2, "-n": false, "-i": true, "-o": true, "type": "rust", "head_limit": 0,
        "offset": 4, "multiline": true});
    assert_eq!(
        action(kind, VocabularyKind::Native, "Grep", &all),
        json!({"action": "grep", "pattern": "a", "path": "p", "glob": "*.x", "file_type": "rust",
            "mode": "content", "before": 2, "after": 1, "offset": 4, "max_results": u32::MAX,
            "ignore_case": true, "multiline": true, "only_matching": true, "unnumbered": true})
    );
    let mut config = config();
    config.model.betas = vec!["context-1m".into()];
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    let headers = &host.requests[0].headers;
    assert!(headers.iter().any(|(name, value)| name == "anthropic-beta" && value == "context-1m"));
}

#[test]
fn c15_gpt_has_10_seconds_and_keeps_write_file() {
    let kind = ProfileKind::Openai;
    for (vocabulary, name) in
        [(VocabularyKind::Seed, "shell"), (VocabularyKind::Native, "shell_command")]
    {
        let mut host = host(kind, vocabulary);
        host.reply(&Message::call("c", name, &json!({"command": "ls"})));
        let (_, run) = host.runs.first_key_value().unwrap();
        assert_eq!(run.timeout_ms, 10_000);
        let action = json!({"action": "shell", "command": "ls"});
        assert_eq!(serde_json::to_value(&run.job).unwrap()["builtin"], action);
    }
    let there = json!({"command": "ls", "workdir": "it's/here"});
    let action = action(kind, VocabularyKind::Native, "shell_command", &there);
    assert_eq!(action, json!({"action": "shell", "command": "ls", "folder": "it's/here"}));
}

#[test]
fn c16_gemini_reads_many_files_and_lists_levels() {
    let kind = ProfileKind::Gemini;
    assert_eq!(
        action(kind, VocabularyKind::Seed, "read_many_files", &json!({"paths": ["src/*.ts"]})),
        json!({"action": "read_many", "include": ["src/*.ts"]})
    );
    let list = action(kind, VocabularyKind::Seed, "list_dir", &json!({"depth": 3}));
    assert_eq!(list, json!({"action": "list", "depth": 3}));
    let plain = json!({"include": ["a"], "useDefaultExcludes": false, "recursive": false,
        "file_filtering_options": {"respect_git_ignore": false}});
    assert_eq!(
        action(kind, VocabularyKind::Native, "read_many_files", &plain),
        json!({"action": "read_many", "include": ["a"], "flat": true, "hidden": "nothing"})
    );
    let grep = json!({"pattern": "a", "exclude_pattern": "b", "context": 2, "before": 0,
        "fixed_strings": true, "no_ignore": true, "total_max_matches": 7,
        "max_matches_per_file": 3});
    assert_eq!(
        action(kind, VocabularyKind::Native, "grep_search", &grep),
        json!({"action": "grep", "pattern": "a", "unless": "b", "mode": "content",
            "layout": "by_file", "after": 2, "max_results": 7, "max_per_file": 3,
            "hidden": "nothing", "ignore_case": true, "literal": true})
    );
}

#[test]
fn c1_without_a_shell_codexs_tools_still_read_and_search() {
    let (kind, vocabulary) = (ProfileKind::Openai, VocabularyKind::Native);
    let bare = names(kind, vocabulary, &EnvironmentFacts::default());
    for name in ["read_file", "list_dir", "glob", "grep", "apply_patch"] {
        assert!(bare.iter().any(|known| known == name), "{name}");
    }
    assert!(!names(kind, vocabulary, &place()).contains(&"read_file".to_owned()));
    let read = Profile::new(kind, vocabulary)
        .translate(&EnvironmentFacts::default(), "read_file", r#"{"file_path":"a"}"#)
        .unwrap();
    assert!(matches!(read.action, Action::Read { .. }));
}

#[test]
fn k17_tools_that_the_model_or_the_place_cannot_serve_are_not_shown() {
    let shown = |images: bool, facts: EnvironmentFacts| {
        let mut config = config();
        config.model.profile = ProfileKind::Openai;
        config.model.vocabulary = VocabularyKind::Native;
        config.model.compat.images = images;
        config.facts = facts;
        let mut host = TestHost::open(config);
        let _ = host.submit("go");
        let tools = host.body()["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let has = |tools: &[String], name: &str| tools.iter().any(|tool| tool == name);
    let all = shown(true, place());
    assert!(has(&all, "view_image") && has(&all, "shell_command"), "{all:?}");
    assert!(!has(&shown(false, place()), "view_image"));
    assert!(!has(&shown(true, EnvironmentFacts::default()), "shell_command"));
}

#[test]
fn c7_the_defaults_of_a_family_fit_its_models() {
    use ProfileKind::{Anthropic, Gemini, Openai, Small};
    for (kind, window, reply, parallel) in [
        (Anthropic, 200_000, 16_384, None),
        (Openai, 272_000, 16_384, None),
        (Gemini, 1_048_576, 16_384, None),
        // A reply takes a quarter of a small window at most, and calls come one by one.
        (Small, 32_768, 8_192, Some(false)),
    ] {
        let profile = Profile::new(kind, VocabularyKind::Seed);
        let defaults = profile.model_defaults();
        assert_eq!(
            (defaults.context_window, defaults.max_output_tokens, defaults.parallel_tool_calls),
            (window, reply, parallel),
            "{kind:?}"
        );
        assert_eq!(defaults.stream, profile.capabilities().streaming);
        assert!(profile.knows("read_file") && !profile.knows("read_mind"), "{kind:?}");
    }
}
