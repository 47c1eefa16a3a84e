//! Many tools, and outputs that are too long, as the program meets them
//! (`docs/decisions.md#tools-shown`, `docs/decisions.md#kept-results`).

use innerloop_tests::{anthropic::Message, scene::Scene};
use serde_json::{Value, json};
use std::fs;

/// The tools that a request shows.
fn shown(scene: &Scene, request: usize) -> Vec<String> {
    let body: Value = serde_json::from_str(&scene.model.requests()[request].body).unwrap();
    let tools = body["tools"].as_array().unwrap().clone();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// A tool of the user's, beside the workspace.
fn define(scene: &Scene, name: &str) -> String {
    let folder = scene.path(name);
    fs::create_dir_all(&folder).unwrap();
    let module = r#"(module (memory (export "memory") 1) (func (export "_start")))"#;
    fs::write(folder.join("tool.wasm"), wat::parse_str(module).unwrap()).unwrap();
    let text = format!(
        "name = {name:?}\ndescription = \"Looks at the {name}.\"\nmodule = \"tool.wasm\"\n\
         parameters = {{ type = \"object\" }}\n"
    );
    fs::write(folder.join("tool.toml"), text).unwrap();
    scene.arg(name)
}

#[test]
fn n4_tools_of_the_user_are_found_by_a_search() {
    let messages = [
        Message::call("c1", "tool_search", &json!({"query": "weather"})),
        Message::call("c2", "weather", &json!({})),
        Message::text("Done."),
    ];
    let scene = Scene::streaming(&messages);
    let (one, two) = (define(&scene, "weather"), define(&scene, "stocks"));
    let run = scene.run(&["--tools-shown", "0", "--tool", &one, "--tool", &two]).exits(0);
    assert_eq!(run.stdout, "Done.\n");
    let tools = shown(&scene, 0);
    assert!(tools.contains(&"tool_search".into()) && !tools.contains(&"weather".into()));
    // The head of each request is the same, and the search's result has the schema.
    assert_eq!(shown(&scene, 2), tools);
    let found = &scene.model.requests()[1].body;
    assert!(found.contains("Looks at the weather") && !found.contains("Looks at the stocks"));
}

#[test]
fn k18_small_models_choose_a_category_first() {
    let messages = [
        Message::call("c1", "select_category", &json!({"category": "read"})),
        Message::text("Ok."),
    ];
    let scene = Scene::streaming(&messages);
    let _run = scene.run(&["--tools-shown", "staged"]).exits(0);
    assert_eq!(shown(&scene, 0), ["select_category"]);
    assert_eq!(shown(&scene, 1), ["read_file", "select_category"]);
}

#[test]
fn k27_the_model_reads_on_in_an_output_that_was_cut() {
    let text: String = (1..=9_000).map(|line| format!("line {line}\n")).collect();
    let read = json!({"id": "result-1", "offset": 30_000, "limit": 20});
    for args in [&["--keep-results"][..], &[]] {
        let messages = [
            Message::call("c1", "read_file", &json!({"file_path": "a.txt", "limit": 9_000})),
            Message::call("c2", "read_result", &read),
            Message::text("Done."),
        ];
        let scene = Scene::streaming(&messages).file("a.txt", &text);
        let run = if args.is_empty() {
            // As a setting it does the same.
            let mut command = scene.command("go");
            command.env("INNERLOOP_KEEP_RESULTS", "on");
            innerloop_tests::program::run(&mut command)
        } else {
            scene.run(args)
        };
        assert_eq!(run.exits(0).stdout, "Done.\n");
        let bodies = scene.model.requests();
        assert!(bodies[1].body.contains("[whole output: result-1, "), "{}", bodies[1].body);
        assert!(bodies[2].body.contains("[result-1: 30000 to 30020 of "), "{}", bodies[2].body);
    }
}

#[test]
fn k19_how_many_tools_are_shown_is_checked() {
    let run = Scene::streaming(&[]).run(&["--tools-shown", "some"]).exits(2);
    assert!(run.stderr.contains("give all, staged, or the number of tools"), "{run:?}");
}
