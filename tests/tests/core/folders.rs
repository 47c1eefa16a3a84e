//! Agents that work in a folder of the workspace: what their calls do to files, and what they read
//! of it.

use innerloop_core::{
    Session,
    action::{Action, Outcome},
    config::{
        ApprovalRule, AskAbout, HookPoint, ProfileKind, ProgramFacts, ProjectDoc, SessionConfig,
        VocabularyKind,
    },
    event::EventKind,
    id::AgentId,
    input::{Answer, HookReply, Input},
    output::Ask,
    tool::Job,
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{EPOCH, TestHost, config},
};
use innerloop_tools::{InMemoryFiles, WorkspaceFiles, WorkspacePath, perform_known};
use serde_json::{Value, json};

/// A session over files in memory, some of its agents in folders.
struct Scene {
    host: TestHost,
    files: InMemoryFiles,
    /// The agent that calls its model next.
    agent: AgentId,
}

impl Scene {
    /// The session's own agent has started another one in `sub`.
    fn new(config: SessionConfig, files: &[(&str, &str)]) -> Self {
        let mut memory = InMemoryFiles::new();
        for (path, text) in files {
            memory.write(&WorkspacePath::parse(path).unwrap(), text.as_bytes().to_vec()).unwrap();
        }
        let mut host = TestHost::open(config);
        let _ = host.submit("go");
        let mut scene = Self { host, files: memory, agent: AgentId::ROOT };
        scene.spawn("sub");
        scene
    }

    /// The agent starts another one in `folder`, which goes on.
    fn spawn(&mut self, folder: &str) {
        let call = json!({"task": "t", "working_dir": folder});
        let said = self.calls("spawn_agent", &call);
        let child = said.strip_prefix(r#"{"agent_id":"agent-"#).expect(&said);
        self.agent = AgentId(child.split('"').next().unwrap().parse().unwrap());
    }

    /// The agent's model makes a call, and all that it asks for is done; what it reads of it.
    fn calls(&mut self, name: &str, arguments: &Value) -> String {
        self.replies(&Message::call("c", name, arguments));
        while let Some((id, _)) = self.host.hooks.first() {
            let _ = self.host.input(Input::Hook { id: *id, reply: HookReply::Allow });
        }
        self.run_all();
        self.result()
    }

    fn replies(&mut self, message: &Message) {
        let of_agent = |id: &_| self.host.owners[id] == self.agent;
        let id = self.host.calls.iter().copied().find(of_agent).expect("its model is called");
        self.host.calls.retain(|call| *call != id);
        self.host.calls.push(id);
        self.host.reply(message);
    }

    fn run_all(&mut self) {
        while let Some((&id, run)) = self.host.runs.first_key_value() {
            let outcome = match &run.job {
                Job::Builtin(Action::RunProgram { args, .. }) => Outcome::text(args.join(" ")),
                Job::Builtin(Action::Shell { command, folder }) => {
                    Outcome::text(format!("{folder:?} {command}"))
                }
                Job::Builtin(action) => {
                    perform_known(&mut self.files, &run.folder, action, run.known.as_deref())
                }
                Job::Custom(_) | Job::Kept(_) => Outcome::text(format!("in {}", run.folder)),
            };
            let _ = self.host.done(id, outcome);
        }
    }

    fn body(&self) -> Value {
        let askers = self.host.requests.iter().zip(&self.host.askers).rev();
        let (request, _) = askers.into_iter().find(|(_, asker)| **asker == self.agent).unwrap();
        serde_json::from_slice(&request.body).unwrap()
    }

    fn result(&self) -> String {
        let messages = self.body()["messages"].clone();
        let blocks = messages.as_array().unwrap().last().unwrap()["content"].clone();
        blocks.as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned()
    }

    fn system(&self) -> String {
        self.body()["system"][0]["text"].as_str().unwrap().to_owned()
    }

    fn text(&self, path: &str) -> Option<String> {
        let bytes = self.files.bytes(&WorkspacePath::parse(path).unwrap())?;
        Some(String::from_utf8(bytes.to_vec()).unwrap())
    }
}

fn gemini() -> SessionConfig {
    let mut config = config();
    config.model.profile = ProfileKind::Gemini;
    config
}

fn write(path: &str, content: &str) -> Value {
    json!({"file_path": path, "content": content})
}

#[test]
fn f2_what_an_agent_writes_and_reads_lies_in_its_folder() {
    let mut scene = Scene::new(config(), &[("x.txt", "root"), ("sub/y.txt", "below")]);
    let said = scene.calls("write_file", &write("x.txt", "mine"));
    assert_eq!(said, "Wrote 4 bytes to x.txt (created).");
    assert_eq!(scene.text("sub/x.txt").as_deref(), Some("mine"));
    assert_eq!(scene.text("x.txt").as_deref(), Some("root"));
    assert_eq!(scene.calls("read_file", &json!({"file_path": "y.txt"})), "1 | below");
    let edit = json!({"file_path": "/sub/y.txt", "old_string": "below", "new_string": "here"});
    assert!(scene.calls("edit_file", &edit).starts_with("Edited y.txt: "));
    assert_eq!(scene.text("sub/y.txt").as_deref(), Some("here"));
    let changed = scene.host.find(|kind| match kind {
        EventKind::ToolCallEnd { outcome, .. } => Some(outcome.changes.first()?.path.clone()),
        _ => None,
    });
    assert_eq!(changed, ["sub/x.txt", "sub/y.txt"], "events name files from the root on");
}

#[test]
fn f2_what_an_agent_finds_lies_in_its_folder_and_can_be_read_as_it_is_named() {
    let files = [
        (".gitignore", "*.log\n/sub/gen/\n"),
        ("a.rs", "needle"),
        ("sub/a.rs", "needle"),
        ("sub/deep/b.rs", "needle"),
        ("sub/deep/b.log", "needle"),
        ("sub/gen/c.rs", "needle"),
        ("submarine/a.rs", "needle"),
    ];
    let mut scene = Scene::new(gemini(), &files);
    let found = scene.calls("grep", &json!({"pattern": "needle"}));
    assert_eq!(found, "a.rs:1:needle\ndeep/b.rs:1:needle");
    let below = scene.calls("grep", &json!({"pattern": "needle", "path": "deep"}));
    assert_eq!(below, "deep/b.rs:1:needle");
    let read = scene.calls("read_file", &json!({"file_path": "deep/b.rs"}));
    assert_eq!(read, "1 | needle");
    let mut globbed: Vec<String> =
        scene.calls("glob", &json!({"pattern": "**/*.rs"})).lines().map(str::to_owned).collect();
    globbed.sort();
    assert_eq!(globbed, ["a.rs", "deep/b.rs"]);
    let listed = scene.calls("list_dir", &json!({"depth": 2}));
    assert_eq!(listed, "deep/\ndeep/b.log\ndeep/b.rs\ngen/\ngen/c.rs\na.rs");
    let many = scene.calls("read_many_files", &json!({"paths": ["*.rs", "deep", "/sub/a.rs"]}));
    assert_eq!(
        many,
        "--- a.rs ---\n\nneedle\n\n--- deep/b.rs ---\n\nneedle\n\n--- End of content ---"
    );
    let missing = scene.calls("read_file", &json!({"file_path": "deep/c.rs"}));
    assert!(missing.contains("No such file or folder: deep/c.rs."), "{missing}");
    assert!(missing.contains("deep/b.rs") && !missing.contains("sub/"), "{missing}");
}

#[test]
fn f2_k22_nothing_leads_out_of_an_agents_folder() {
    let mut scene = Scene::new(gemini(), &[("x.txt", "root"), ("submarine/x.txt", "other")]);
    for path in ["../x.txt", "/x.txt", "deep/../../x.txt", "../submarine/x.txt", "/submarine/x.txt"]
    {
        let message = "leads out of your working directory. Use a path relative to that directory.";
        for (name, call) in [
            ("read_file", json!({"file_path": path})),
            ("write_file", write(path, "mine")),
            ("edit_file", json!({"file_path": path, "old_string": "o", "new_string": ""})),
            ("grep", json!({"pattern": "o", "path": path})),
            ("list_dir", json!({"path": path})),
            ("read_many_files", json!({"paths": [path]})),
        ] {
            let said = scene.calls(name, &call);
            assert_eq!(said, format!("Tool error ({name}): {path} {message}"));
        }
    }
    assert_eq!(scene.text("x.txt").as_deref(), Some("root"));
    assert_eq!(scene.text("submarine/x.txt").as_deref(), Some("other"));
}

#[test]
fn f2_a_patch_changes_files_of_the_agents_folder() {
    let mut config = config();
    config.model.profile = ProfileKind::Openai;
    config.guard.read_before_write = true;
    let files = [("old.txt", "one\n"), ("sub/old.txt", "one\n"), ("sub/new.txt", "there\n")];
    let mut scene = Scene::new(config, &files);
    let patch = |text: &str| json!({"patch": format!("*** Begin Patch\n{text}\n*** End Patch")});
    let update = patch("*** Update File: old.txt\n*** Move to: deep/moved.txt\n@@\n-one\n+two");
    assert_eq!(scene.calls("apply_patch", &update), unread("patch", "old.txt"));
    assert_eq!(scene.calls("read_file", &json!({"file_path": "/sub/old.txt"})), "1 | one");
    let said = scene.calls("apply_patch", &update);
    assert_eq!(said, "Success. Updated the following files:\nM deep/moved.txt\n");
    assert_eq!(scene.text("sub/deep/moved.txt").as_deref(), Some("two\n"));
    assert_eq!(scene.text("sub/old.txt"), None);
    assert_eq!(scene.text("old.txt").as_deref(), Some("one\n"));
    let said = scene.calls("apply_patch", &patch("*** Add File: new.txt\n+mine"));
    assert!(said.contains("new.txt is there already. Read it before you overwrite it."), "{said}");
    let said = scene.calls("apply_patch", &patch("*** Add File: ../new.txt\n+mine"));
    assert!(said.contains("../new.txt leads out of your working directory."), "{said}");
}

fn unread(what: &str, path: &str) -> String {
    format!("Tool error (apply_{what}): Read {path} before you {what} it.")
}

#[test]
fn f2_a_gemini_agent_reads_of_its_changes_as_it_named_them() {
    let mut config = gemini();
    config.model.vocabulary = VocabularyKind::Native;
    let mut scene = Scene::new(config, &[("sub/y.txt", "below")]);
    let said = scene.calls("write_file", &write("x.txt", "mine"));
    assert_eq!(said, "Successfully created and wrote to new file: x.txt.");
    let edit = json!({"file_path": "y.txt", "instruction": "i", "old_string": "below",
        "new_string": "here"});
    let said = scene.calls("replace", &edit);
    assert!(said.starts_with("Successfully modified file: y.txt (1 replacement)."), "{said}");
}

#[test]
fn f1_k22_the_host_is_told_the_folder_of_programs_and_of_tools_of_its_own() {
    let mut config = config();
    (config.model.profile, config.model.vocabulary) = (ProfileKind::Openai, VocabularyKind::Native);
    let program = |name: &str| ProgramFacts { name: name.into(), description: "runs".into() };
    config.facts.programs = vec![program("bash"), program("qjs")];
    config.facts.working_directory = "/".into();
    config.tools = serde_json::from_value(
        json!([{"name": "own", "description": "", "parameters": {"type": "object"}}]),
    )
    .unwrap();
    let mut scene = Scene::new(config, &[]);
    scene.replies(&Message::call("c", "run_program", &json!({"program": "qjs", "args": ["x"]})));
    assert_eq!(scene.host.runs.first_key_value().unwrap().1.folder, "sub");
    scene.run_all();
    assert_eq!(scene.calls("own", &json!({})), "in sub");
    let folders =
        [("/sub/lib", Some("lib")), ("/sub", Some("/")), ("lib", Some("lib")), (".", None)];
    for (given, folder) in folders {
        let call = json!({"command": "ls", "workdir": given});
        assert_eq!(scene.calls("shell_command", &call), format!("{folder:?} ls"));
    }
    let system = scene.system();
    assert!(system.contains("Working directory: /sub\nPrograms see it as: /\n"), "{system}");
}

#[test]
fn f1_an_agents_folder_is_in_that_of_the_one_that_starts_it() {
    let mut config = config();
    config.subagents.max_depth = 3;
    let mut scene = Scene::new(config, &[]);
    for folder in ["..", "/", "/submarine", "deep/../..", "~/x", "C:/x", "/sub/../x"] {
        let said = scene.calls("spawn_agent", &json!({"task": "t", "working_dir": folder}));
        let why = format!(
            "Tool error (spawn_agent): working_dir {folder} is not in your working directory: name \
             a folder relative to it"
        );
        assert_eq!(said, why);
    }
    scene.spawn("./deep//down/../");
    let _ = scene.calls("write_file", &write("x.txt", "mine"));
    assert_eq!(scene.text("sub/deep/x.txt").as_deref(), Some("mine"));
    scene.spawn("");
    let _ = scene.calls("write_file", &write("y.txt", "mine"));
    assert_eq!(scene.text("sub/deep/y.txt").as_deref(), Some("mine"), "its parent's folder");
    let started = scene.host.find(|kind| match kind {
        EventKind::AgentStarted { folder, .. } => Some(folder.as_str()),
        _ => None,
    });
    assert_eq!(started[..1], ["sub"]);
    assert_eq!(started[started.len() - 2..], ["sub/deep", "sub/deep"]);
}

#[test]
fn f1_an_agent_is_shown_the_instructions_on_the_way_to_its_folder_and_in_it() {
    let mut config = config();
    config.facts.working_directory = "/project/".into();
    let paths = ["../UP.md", "ROOT.md", "sub/SUB.md", "sub/deep/DEEP.md", "submarine/NOT.md"];
    let doc = |path: &str| ProjectDoc { path: path.into(), text: "Obey.".into(), private: false };
    config.facts.project_docs = paths.map(doc).to_vec();
    let below = [
        "sub/IN.md",
        "sub/.codex/OWN.md",
        "sub/deep/NOT-ON-THE-WAY.md",
        "other/AT-ALL.md",
        "sub.codex/ANOTHER.md",
    ];
    config.facts.nested_docs = below.map(doc).to_vec();
    let mut scene = Scene::new(config, &[]);
    let shown = |scene: &Scene| paths.map(|path| scene.system().contains(path));
    let nested =
        |scene: &Scene| below.map(|path| scene.system().contains(&format!("--- {path} ---")));
    assert_eq!(shown(&scene), [true, true, true, true, false]);
    assert_eq!(nested(&scene), [true, true, false, false, false]);
    assert!(scene.system().contains("Working directory: /project/sub\n"));
    assert!(!scene.system().contains("Programs see it"), "there are none");
    scene.agent = AgentId::ROOT;
    assert_eq!((shown(&scene), nested(&scene)), ([true; 5], [false; 5]));
    assert!(scene.system().contains("Working directory: /project/\n"));
}

#[test]
fn f2_rules_questions_and_hooks_name_files_from_the_workspaces_root_on() {
    let mut config = config();
    config.approval.ask = AskAbout::Changes;
    config.approval.allow = ["docs/", "/sub/src/"]
        .map(|start| ApprovalRule {
            tool: "write_file".into(),
            starting: [("file_path".to_owned(), start.to_owned())].into_iter().collect(),
        })
        .to_vec();
    config.hooks.points = vec![HookPoint::BeforeTool];
    let mut scene = Scene::new(config, &[]);
    for (path, asks) in [
        ("docs/x", true),
        ("src/x", false),
        ("/sub/src/x", false),
        ("./src/y", false),
        ("src/../x", true),
        ("docs/../../sub/src/x", false),
    ] {
        scene.replies(&Message::call("c", "write_file", &write(path, "mine")));
        let (id, hook) = scene.host.hooks[0].clone();
        let told: Value = serde_json::from_str(hook.payload.text()).unwrap();
        assert_eq!((&told["folder"], &told["name"]), (&json!("sub"), &json!("write_file")));
        let _ = scene.host.input(Input::Hook { id, reply: HookReply::Allow });
        assert_eq!(!scene.host.asks.is_empty(), asks, "{path}");
        if let Some((id, ask)) = scene.host.asks.first().cloned() {
            let Ask::Approval { folder, .. } = ask else { panic!("{ask:?}") };
            assert_eq!(folder, "sub");
            let _ = scene.host.input(Input::Answer { id, answer: Answer::Allow });
        }
        scene.run_all();
    }
    assert_eq!(scene.text("sub/docs/x").as_deref(), Some("mine"));
    assert_eq!(scene.text("docs/x"), None);
}

#[test]
fn f2_an_agents_folder_outlives_the_host() {
    let mut scene = Scene::new(config(), &[]);
    scene.replies(&Message::call("c", "write_file", &write("x.txt", "mine")));
    let snapshot = scene.host.session.snapshot();
    let restored = Session::restore(&snapshot, EPOCH).unwrap();
    assert_eq!(restored.owed(), scene.host.session.owed());
    assert_eq!(restored.snapshot(), snapshot);
    let owed = innerloop_core::json::to_string(&restored.owed());
    assert!(owed.contains(r#""folder":"sub""#), "{owed}");
}
