//! Skills as `innerloop run` and the crate `innerloop` have them: the user's own, those of a
//! trusted project, and what stays of one over a compaction.

use innerloop::{Agent, SkillFacts};
use innerloop_tests::{
    anthropic::Message,
    program::{KEY, Run, innerloop, run},
    scene::Scene,
};
use serde_json::json;
use std::{fs, path::Path, process::Command};

const OF_PROJECT: &str = "---\nname: pdf\ndescription: Reads PDFs.\n---\n\nPDF-RULES\n";
const OF_USER: &str = "---\nname: notes\ndescription: Writes notes.\n---\n\nNOTE-RULES\n";

fn write(path: impl AsRef<Path>, text: &str) {
    let path = path.as_ref();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A run of a user whose home is beside the workspace.
fn go(scene: &Scene, args: &[&str]) -> Command {
    let mut command = scene.command("go");
    command.args(args).env("INNERLOOP_HOME", scene.path("state"));
    command.env("HOME", scene.path("home"));
    command
}

fn trust(scene: &Scene) -> Run {
    let mut command = innerloop(["trust"]);
    command.arg(scene.workspace()).env("INNERLOOP_HOME", scene.path("state"));
    run(&mut command).exits(0)
}

/// Which of the two skills the newest request lists.
fn listed(scene: &Scene) -> [bool; 2] {
    let requests = scene.model.requests();
    let body = &requests.last().unwrap().body;
    ["- pdf: Reads PDFs. (.agents/skills/pdf/SKILL.md)", "- notes: Writes notes. (~/"]
        .map(|line| body.contains(line))
}

fn says(times: usize) -> Scene {
    Scene::streaming(&vec![Message::text("done"); times]).natively()
}

#[test]
fn n3_the_users_skills_always_count_and_a_projects_only_where_it_is_trusted() {
    let scene = says(5);
    write(scene.path("home/.claude/skills/notes/SKILL.md"), OF_USER);
    write(scene.path("workspace/.agents/skills/pdf/SKILL.md"), OF_PROJECT);
    write(scene.path("home/.agents/skills/pdf/SKILL.md"), &OF_PROJECT.replace("Reads", "Mine"));
    let first = run(&mut go(&scene, &[])).exits(0);
    assert!(first.stderr.contains("pdf/SKILL.md is not used: nobody has said"), "{first:?}");
    assert_eq!(listed(&scene), [false, true]);
    let trusted = trust(&scene);
    assert!(trusted.stdout.contains("  skill pdf: Reads PDFs."), "{trusted:?}");
    let second = run(&mut go(&scene, &[])).exits(0);
    assert_eq!(listed(&scene), [true, true]);
    let hidden = "~/.agents/skills/pdf/SKILL.md is not used: another skill of its name";
    assert!(second.stderr.contains(hidden), "{second:?}");
    let _run = run(&mut go(&scene, &["--no-skills"])).exits(0);
    assert_eq!(listed(&scene), [false, false]);
    write(scene.path("workspace/.agents/skills/pdf/SKILL.md"), &OF_PROJECT.replace("PDF-", "X-"));
    let _run = run(&mut go(&scene, &[])).exits(0);
    assert_eq!(listed(&scene), [false, true], "it has changed");
    let _run = run(&mut go(&scene, &["--no-settings"])).exits(0);
    assert_eq!(listed(&scene), [false, false]);
}

/// What a model says that reads two skills and then much else, until the conversation is made
/// shorter.
fn script() -> Vec<Message> {
    let read = |id: &str, path: &str| Message::call(id, "Read", &json!({"file_path": path}));
    let mut script = vec![
        read("s", ".agents/skills/pdf/SKILL.md").costing(4_000, 20),
        read("t", "~/.agents/skills/notes/SKILL.md").costing(5_000, 20),
    ];
    script.extend((0..6).map(|n| read(&format!("c{n}"), "big.txt").costing(6_000 + n * 1_500, 20)));
    script.push(Message::text("Done."));
    script
}

const CONFIG: &str = r#"{
    "model": {"context_window": 20000, "max_output_tokens": 2000},
    "loops": {"detect": false},
    "compaction": {"auto": [{"from": {"percent": 60}, "to": {"percent": 40}, "step": "truncate"}]}
}"#;

/// Checks that the newest request has both skills, and not all that was read since.
fn check_kept(scene: &Scene) {
    let requests = scene.model.requests();
    let body = &requests.last().unwrap().body;
    assert!(body.contains("[Left out: "), "nothing was made shorter: {body}");
    assert_eq!(["PDF-RULES", "NOTE-RULES"].map(|text| body.matches(text).count()), [1, 1]);
}

#[test]
fn n3_skills_that_were_read_in_a_run_survive_a_compaction() {
    let scene = Scene::streaming(&script()).natively();
    write(scene.path("home/.agents/skills/notes/SKILL.md"), OF_USER);
    write(scene.path("workspace/.agents/skills/pdf/SKILL.md"), OF_PROJECT);
    write(scene.path("workspace/big.txt"), &"words and words\n".repeat(400));
    write(scene.path("c.json"), CONFIG);
    let _run = trust(&scene);
    let file = scene.arg("c.json");
    let run = run(&mut go(&scene, &["--config", &file])).exits(0);
    assert_eq!(run.stdout, "Done.\n");
    check_kept(&scene);
}

#[tokio::test]
async fn n3_skills_of_a_builder_and_of_its_workspace_survive_a_compaction() {
    let scene = Scene::streaming(&script()).natively();
    write(scene.path("workspace/.agents/skills/pdf/SKILL.md"), OF_PROJECT);
    write(scene.path("workspace/big.txt"), &"words and words\n".repeat(400));
    let notes = SkillFacts {
        name: "notes".into(),
        description: "Writes notes.".into(),
        body: Some("NOTE-RULES".into()),
        ..SkillFacts::default()
    };
    let builder = Agent::builder().api_key(KEY).base_url(scene.model.url());
    let builder = builder.workspace(scene.workspace()).skill(notes).config(CONFIG);
    let agent = builder.build().await.unwrap();
    assert_eq!(agent.run("go").await.unwrap().text, "Done.");
    check_kept(&scene);
}
