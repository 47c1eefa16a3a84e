//! Agents that are started by name, as `innerloop run` has them: from the configuration and from
//! files, those of a project only where it is trusted; several by one call; and councils.

use innerloop_tests::{
    anthropic::Message,
    program::{Run, innerloop, on_terminal, run, run_with},
    scene::Scene,
};
use serde_json::{Value, json};
use std::{fs, path::Path, process::Command};

const REVIEWER: &str = "---\nname: reviewer\ndescription: Reviews changes.\n\
                        tools: Read, Grep, WebSearch\nmodel: sonnet\n---\n\nYou review.\n";

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

fn body(scene: &Scene, number: usize) -> Value {
    serde_json::from_str(&scene.model.requests()[number].body).unwrap()
}

/// The names that the model can start agents by.
fn names(scene: &Scene) -> Vec<String> {
    let requests = scene.model.requests();
    let body: Value = serde_json::from_str(&requests.last().unwrap().body).unwrap();
    let tools = body["tools"].as_array().unwrap().clone();
    let spawn = tools.iter().find(|tool| tool["name"] == "spawn_agent").unwrap();
    let names = spawn["input_schema"]["properties"]["agent"]["enum"].as_array().cloned();
    names.unwrap_or_default().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

fn tools(body: &Value) -> Vec<&str> {
    let tools = body["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap()).collect()
}

fn says(times: usize) -> Scene {
    Scene::streaming(&vec![Message::text("done"); times]).natively()
}

#[test]
fn n17_an_agent_of_the_configuration_works_with_what_its_name_stands_for() {
    let spawn = json!({"task": "look", "agent": "looker"});
    let wait = json!({"agent_id": "agent-1"});
    let scene = Scene::streaming(&[
        Message::call("s", "spawn_agent", &spawn).and_call("w", "wait", &wait),
        Message::text("Seen."),
        Message::text("Done."),
    ])
    .natively();
    let looker = json!({"prompt": "You look.", "model": "mock-2", "tools": ["Read"]});
    write(scene.path("c.json"), &json!({"agents": {"looker": looker}}).to_string());
    let file = scene.arg("c.json");
    let run = run(&mut go(&scene, &["--config", &file])).exits(0);
    assert_eq!(run.stdout, "Done.\n");
    assert!(run.stderr.contains("[agent-1] starts as looker: look"), "{run:?}");
    let own = body(&scene, 1);
    assert_eq!((&own["model"], tools(&own)), (&json!("mock-2"), vec!["Read"]));
    assert!(own["system"][0]["text"].as_str().unwrap().starts_with("You look."));
    write(scene.path("c.json"), r#"{"agents": {"x": {"tools": ["Raed"]}}}"#);
    let refused = innerloop_tests::program::run(&mut go(&scene, &["--config", &file])).exits(3);
    assert!(refused.complaint().contains("config.agents.x.tools: there is no tool"), "{refused:?}");
}

#[test]
fn n17_a_project_describes_agents_where_it_is_trusted() {
    let scene = says(4);
    write(scene.path("workspace/.claude/agents/reviewer.md"), REVIEWER);
    let first = run(&mut go(&scene, &[])).exits(0);
    assert!(first.stderr.contains(".claude/agents is not used: nobody has said"), "{first:?}");
    assert_eq!(names(&scene), [""; 0]);
    let trusted = trust(&scene);
    assert!(trusted.stdout.contains("  agent reviewer: Reviews changes."), "{trusted:?}");
    let second = run(&mut go(&scene, &[])).exits(0);
    assert_eq!(names(&scene), ["reviewer"]);
    assert!(second.stderr.contains("the agent has no WebSearch here"), "{second:?}");
    write(scene.path("workspace/.claude/agents/reviewer.md"), &REVIEWER.replace("You", "I"));
    let _run = run(&mut go(&scene, &[])).exits(0);
    assert_eq!(names(&scene), [""; 0], "it has changed");
    let _run = trust(&scene);
    let _run = run(&mut go(&scene, &["--no-settings"])).exits(0);
    assert_eq!(names(&scene), [""; 0]);
}

#[test]
fn n17_the_users_own_agents_are_always_there_and_a_project_may_have_others() {
    let scene = says(3);
    let own = REVIEWER.replace("Reviews changes", "Mine");
    write(scene.path("home/.agents/agents/reviewer.md"), &own);
    write(scene.path("home/.agents/agents/broken.md"), "You break.");
    let first = run(&mut go(&scene, &[])).exits(0);
    assert_eq!(names(&scene), ["reviewer"]);
    assert!(first.stderr.contains("broken.md is not used: it does not begin"), "{first:?}");
    write(scene.path("workspace/.agents/agents/reviewer.md"), REVIEWER);
    write(scene.path("workspace/.agents/agents/patcher.md"), "---\ntools: apply_patch\n---\n");
    let _run = trust(&scene);
    let second = run(&mut go(&scene, &[])).exits(0);
    assert_eq!(names(&scene), ["reviewer"]);
    let body = body(&scene, 1).to_string();
    assert!(body.contains("- reviewer: Reviews changes.") && !body.contains("Mine"), "{body}");
    let left_out = "patcher.md is not used: there is no tool apply_patch here";
    assert!(second.stderr.contains(left_out), "{second:?}");
}

#[test]
fn n17_on_a_terminal_a_projects_agents_are_asked_about() {
    for (answer, want) in [("y\n", vec!["reviewer"]), ("n\n", Vec::new())] {
        let scene = says(1);
        write(scene.path("workspace/.agents/agents/reviewer.md"), REVIEWER);
        let command = go(&scene, &["--diff"]);
        let mut asked = Command::new(command.get_program());
        asked.args(command.get_args().filter(|arg| *arg != "--apply")).env_clear();
        asked.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let run = run_with(&mut on_terminal(&asked), answer.as_bytes()).exits(0);
        assert!(run.stdout.contains("  agent reviewer: Reviews changes."), "{run:#?}");
        assert_eq!(names(&scene), want);
    }
}

#[test]
fn k27_one_call_starts_several_and_brings_their_results_in_order() {
    let tasks = json!([{"task": "one", "working_dir": "../up"}, {"task": "two"}]);
    let scene = Scene::streaming(&[
        Message::call("b", "spawn_agents", &json!({ "tasks": tasks })),
        Message::text("Second."),
        Message::text("Both."),
    ])
    .natively();
    let run = run(&mut go(&scene, &[])).exits(0);
    assert_eq!(run.stdout, "Both.\n");
    let last = body(&scene, 2)["messages"].as_array().unwrap().last().unwrap().clone();
    let text = last["content"][0]["content"].as_str().unwrap().to_owned();
    let results: Vec<Value> = serde_json::from_str(&text).unwrap();
    let told = |at: usize| (&results[at]["status"], results[at]["output"].as_str().unwrap());
    assert!(told(0).1.contains("working_dir ../up is not in your working directory"), "{text}");
    assert_eq!(told(1), (&json!("completed"), "Second."));
}

#[test]
fn i10_a_member_of_a_council_reasons_without_tools() {
    for role in ["council-member", "council-discusser", "council-reviewer"] {
        let scene = says(1);
        let _run = run(&mut go(&scene, &["--preset", role])).exits(0);
        let body = body(&scene, 0);
        assert_eq!(body.get("tools"), None, "{role}");
        let system = body["system"][0]["text"].as_str().unwrap();
        assert!(system.starts_with("You sit on a council") && !system.contains("tool"), "{system}");
    }
}
