//! Tools of the user's own that are WASI modules: defined in files, offered on every profile, run
//! as programs are.

use innerloop_core::config::WireKind;
use innerloop_tests::{
    anthropic::Message,
    example::programs,
    mock::Reply,
    program::{KEY, Run, Started, innerloop, run, wait_for},
    scene::Scene,
    wires::{FAMILIES, read},
};
use serde_json::{Value, json};
use std::fs;

const OPS: &str = include_str!("guests/ops.wat");
const BOMBS: &str = include_str!("guests/bombs.wat");

/// JavaScript that writes what it was asked to and tells what it was given.
const NOTE: &str = "
    const { path, text } = JSON.parse(std.in.readAsString());
    const file = std.open(path, 'w');
    if (file === null) { std.err.puts('no way to write'); std.exit(3); }
    file.puts(text);
    file.close();
    std.err.puts('for the person who watches');
    std.out.puts([std.getenv('INNERLOOP_TOOL'), std.getenv('INNERLOOP_CALL_ID'), path].join());
";

/// A scene with the modules `ops` and `bombs` beside the workspace.
fn scene(calls: &[Message]) -> Scene {
    let replies = calls.iter().cloned().chain([Message::text("done")]);
    with_modules(Scene::streaming(&replies.collect::<Vec<_>>()))
}

fn with_modules(scene: Scene) -> Scene {
    for (name, wat) in [("ops", OPS), ("bombs", BOMBS)] {
        let wasm = wat::parse_str(wat).unwrap();
        fs::write(scene.path(&format!("{name}.wasm")), wasm).unwrap();
    }
    scene
}

fn call(name: &str, arguments: &Value) -> Message {
    Message::call("toolu_1", name, arguments)
}

/// A definition of the tool `probe`.
fn probe(module: &str, args: &[&str]) -> Value {
    let city = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    json!({
        "name": "probe", "description": "Looks at a city.", "parameters": city,
        "module": module, "args": args,
    })
}

/// A definition of the tool `note`, in JavaScript.
fn note(read_only: bool) -> Value {
    let text = json!({"type": "string"});
    let fields = json!({"path": text, "text": text});
    json!({
        "name": "note", "description": "Writes a note.", "read_only": read_only,
        "parameters": {"type": "object", "properties": fields, "required": ["path", "text"]},
        "module": programs().join("qjs.wasm"), "args": ["--std", "-e", NOTE],
    })
}

fn with(mut definition: Value, field: &str, value: Value) -> Value {
    definition[field] = value;
    definition
}

/// Writes a definition beside the workspace.
fn define(scene: &Scene, file: &str, definition: &Value) -> String {
    fs::write(scene.path(file), definition.to_string()).unwrap();
    scene.arg(file)
}

/// Runs the program with that tool.
fn go(scene: &Scene, definition: &Value, args: &[&str]) -> Run {
    let file = define(scene, "tool.json", definition);
    scene.run(&[&["--tool", &file], args].concat())
}

/// What the model has read of the first call.
fn result(scene: &Scene) -> read::Answer {
    let body = serde_json::from_str(&scene.model.requests()[1].body).unwrap();
    read::results(WireKind::Anthropic, &body).remove(0)
}

#[test]
fn c5_a_module_is_a_tool_on_every_profile_in_every_vocabulary() {
    for (wire, family, _) in FAMILIES {
        for is_native in [false, true] {
            let words = [call("probe", &json!({"city": "Lima"})), Message::text("done")];
            let scene = Scene::new(words.iter().map(|m| Reply::stream_in(wire, m)).collect());
            let scene = with_modules(scene.speaking(wire));
            let scene = if is_native { scene.natively() } else { scene };
            let run = go(&scene, &probe("ops.wasm", &["i"]), &["--quiet"]).exits(0);
            assert_eq!(run.stdout, "done\n", "{wire:?}: {run:#?}");
            let requests = scene.model.requests();
            let bodies = requests.iter().map(|r| serde_json::from_str(&r.body).unwrap());
            let bodies: Vec<Value> = bodies.collect();
            let tools = read::tools(wire, &bodies[0]);
            assert!(tools.iter().any(|name| name == "probe"), "{wire:?} {family:?}: {tools:?}");
            let results = read::results(wire, &bodies[1]);
            let texts: Vec<&str> = results.iter().map(|answer| answer.text.as_str()).collect();
            assert_eq!(texts, [r#"{"city":"Lima"}"#], "{wire:?}, native: {is_native}");
            assert_ne!(results[0].is_error, Some(true));
        }
    }
}

#[test]
fn c5_a_module_works_in_the_folder_and_its_changes_are_listed() {
    let arguments = json!({"path": "note.txt", "text": "one\n"});
    let scene = scene(&[call("note", &arguments)]);
    let run = go(&scene, &note(false), &["--json"]).exits(0);
    let record = run.json_lines().pop().unwrap();
    assert_eq!(record["files"], json!([{"path": "note.txt", "kind": "created"}]), "{run:#?}");
    assert_eq!(record["diff"], "--- /dev/null\n+++ b/note.txt\n@@ -0,0 +1 @@\n+one\n");
    assert_eq!(scene.text("workspace/note.txt"), "one\n");
    assert_eq!(result(&scene).text, "note,toolu_1,note.txt", "standard output alone");
    let is_delta = |line: &&Value| line["type"] == "tool_call_output_delta";
    let lines = run.json_lines();
    let seen = lines.iter().filter(is_delta).filter_map(|line| line["text"].as_str());
    assert!(seen.collect::<String>().contains("for the person who"), "{run:#?}");
}

#[test]
fn c5_a_read_only_module_changes_nothing_and_needs_no_yes() {
    let arguments = json!({"path": "note.txt", "text": "one\n"});
    let scene_of = || scene(&[call("note", &arguments)]);
    let scene = scene_of();
    let _run = go(&scene, &note(true), &["--approve", "none"]).exits(0);
    assert!(!scene.path("workspace/note.txt").exists());
    let text = "Tool error (note): standard error:\nno way to write\n[exit code 3]";
    let told = result(&scene);
    assert_eq!((told.text.as_str(), told.is_error), (text, Some(true)));
    let scene = scene_of();
    let _run = go(&scene, &note(false), &["--approve", "none"]).exits(0);
    assert!(!scene.path("workspace/note.txt").exists(), "nobody said yes");
    assert_eq!(result(&scene).is_error, Some(true));
}

#[test]
fn c5_a_module_that_goes_beyond_a_limit_ends_and_the_model_reads_why() {
    let mebibyte = 1 << 20;
    let cases = [
        (
            "bombs.wasm",
            "s",
            json!({"timeout_ms": 300}),
            "half\n[ERROR: Command timed out after 300ms",
        ),
        (
            "bombs.wasm",
            "z",
            json!({"timeout_ms": 300}),
            "half\n[ERROR: Command timed out after 300ms",
        ),
        ("bombs.wasm", "o", json!({"output_bytes": mebibyte}), "it printed too much]"),
        ("bombs.wasm", "m", json!({"memory_bytes": 16 * mebibyte}), "needs more memory"),
        ("ops.wasm", "F", json!({"disk_bytes": mebibyte}), "it wrote too much to files]"),
        ("bombs.wasm", "u", json!({}), "it crashed: "),
        ("bombs.wasm", "x", json!({}), "Tool error (probe): [exit code 300]"),
    ];
    for (module, letter, limits, words) in cases {
        let scene = scene(&[call("probe", &json!({}))]);
        let definition = with(probe(module, &[letter, "big"]), "limits", limits);
        let _run = go(&scene, &definition, &[]).exits(0);
        let told = result(&scene);
        let text = told.text.replace("\n\n", "\n");
        assert!(text.contains(words), "{letter}: {text}");
        assert_eq!(told.is_error, Some(true), "{letter}");
    }
}

#[test]
fn c5_a_key_that_a_module_prints_is_nowhere() {
    let scene = scene(&[call("probe", &json!({}))]).file(".env", KEY);
    let log = scene.arg("session.log");
    let definition = probe("ops.wasm", &["r", ".env"]);
    let run = go(&scene, &definition, &["--json", "--log", &log]).exits(0);
    assert_eq!(result(&scene).text, "***");
    assert!(!format!("{}{}{}", run.stdout, run.stderr, scene.text("session.log")).contains(KEY));
}

#[test]
fn c5_ctrl_c_ends_a_module_that_runs() {
    let scene = scene(&[call("probe", &json!({}))]);
    let file = define(&scene, "tool.json", &probe("bombs.wasm", &["s"]));
    let program = Started::new(scene.command("go").args(["--json", "--tool", &file]), b"");
    wait_for("the module's output", || program.said().contains("tool_call_output_delta"));
    program.interrupt();
    let run = program.finish().exits(130);
    assert_eq!(run.json_lines().pop().unwrap()["status"], "interrupted");
}

#[test]
fn c5_a_module_takes_the_place_of_the_built_in_tool_of_its_name() {
    let arguments = json!({"path": "a.txt"});
    let scene = scene(&[call("read_file", &arguments)]).file("a.txt", "of the file");
    let definition = with(probe("ops.wasm", &["i"]), "name", json!("read_file"));
    let _run = go(&scene, &definition, &[]).exits(0);
    assert_eq!(result(&scene).text, arguments.to_string());
}

#[test]
fn c5_a_bad_definition_is_told_before_the_model_is_asked() {
    let scene = scene(&[]);
    fs::write(scene.path("text.wasm"), "no module").unwrap();
    let library = wat::parse_str("(module (func (export \"add\")))").unwrap();
    fs::write(scene.path("library.wasm"), library).unwrap();
    let good = || probe("ops.wasm", &[]);
    let without = |field: &str| {
        let mut definition = good();
        definition.as_object_mut().unwrap().remove(field);
        definition
    };
    let array = json!({"type": "array"});
    let cases = [
        (json!([]), "tool.json: "),
        (without("name"), "missing field `name`"),
        (without("parameters"), "missing field `parameters`"),
        (without("module"), "missing field `module`"),
        (with(good(), "readonly", json!(true)), "unknown field `readonly`"),
        (with(good(), "limits", json!({"fuel": 1})), "limits: unknown field `fuel`"),
        (with(good(), "limits", json!({"timeout_ms": -1})), "limits.timeout_ms: "),
        (with(good(), "name", json!("two words")), "name: \"two words\" is not a name"),
        (with(good(), "parameters", array), "parameters: probe: the root of the schema must"),
        (with(good(), "module", json!("none.wasm")), "none.wasm: No such file"),
        (with(good(), "module", json!("text.wasm")), "probe can't be run: it is not a WebAssembly"),
        (with(good(), "module", json!("library.wasm")), "no `_start` function"),
    ];
    for (definition, words) in cases {
        let run = go(&scene, &definition, &[]).exits(3);
        assert!(run.complaint().contains(words), "{words}: {run:#?}");
    }
    let (one, two) = (define(&scene, "one.json", &good()), define(&scene, "two.json", &good()));
    let run = scene.run(&["--tool", &one, "--tool", &two]).exits(3);
    let words = "one.json and ";
    assert!(run.complaint().contains(words), "{run:#?}");
    assert!(run.complaint().contains("both define the tool probe; rename one"), "{run:#?}");
    let run = scene.run(&["--tool", &scene.arg("absent.json")]).exits(3);
    assert!(run.complaint().contains("absent.json: No such file"), "{run:#?}");
    let tools = json!({"tools": [{"name": "x", "description": "", "parameters": {}}]});
    let config = define(&scene, "config.json", &tools);
    for args in [&["--config", &config][..], &["--config", &config, "--tool", &one]] {
        let run = scene.run(args).exits(3);
        assert!(run.complaint().contains("config.tools: "), "{run:#?}");
    }
    assert_eq!(scene.model.requests().len(), 0);
}

#[test]
fn c5_the_subcommand_runs_a_tool_of_the_users_own() {
    let scene = scene(&[]);
    let file = define(&scene, "tool.json", &probe("ops.wasm", &["i"]));
    let tool = |file: &str, arguments: &str| {
        let mut command = innerloop(["tool", "probe", arguments, "--tool", file]);
        run(command.arg("--workspace").arg(scene.workspace()))
    };
    let said = tool(&file, r#"{"city": "Lima"}"#).exits(0);
    assert_eq!(said.stdout, "{\"city\": \"Lima\"}\n");
    for (arguments, words) in
        [(r#"{"city": 5}"#, "`city` must be string"), ("[]", "no JSON object")]
    {
        let run = tool(&file, arguments).exits(2);
        assert!(run.complaint().contains(words), "{run:#?}");
    }
    let definition = with(probe("bombs.wasm", &["s"]), "limits", json!({"timeout_ms": 200}));
    let run = tool(&define(&scene, "late.json", &definition), "{}").exits(1);
    assert_eq!(run.stdout, "half\n");
    assert!(run.complaint().contains("timeout, at its time limit"), "{run:#?}");
    let run = tool(&define(&scene, "bad.json", &probe("text.wasm", &[])), "{}").exits(3);
    assert!(run.complaint().contains("text.wasm"), "{run:#?}");
}
