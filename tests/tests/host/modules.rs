//! Tools of the user's own that are WASI modules: folders with a `tool.toml`, offered on every
//! profile, run as programs are.

use innerloop_core::config::WireKind;
use innerloop_tests::{
    anthropic::Message,
    example::{count_lines, programs},
    masks::starred,
    mock::Reply,
    program::{KEY, Run, Started, innerloop, run, wait_for},
    scene::Scene,
    wires::{FAMILIES, read},
};
use serde_json::{Value, json};
use std::{fmt::Write, fs, path::Path};

const OPS: &str = include_str!("guests/ops.wat");
const BOMBS: &str = include_str!("guests/bombs.wat");
/// What a tool prints, and what is read of it, on every host.
const REPLIES: &str = include_str!("../../fixtures/tool-replies.json");

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

/// A scene with a workspace, and the tools' modules beside it.
fn scene(calls: &[Message]) -> Scene {
    let replies = calls.iter().cloned().chain([Message::text("done")]);
    Scene::streaming(&replies.collect::<Vec<_>>())
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
        "module": "qjs.wasm", "args": ["--std", "-e", NOTE],
    })
}

/// A definition of the tool `say`, which prints what it is given.
fn say() -> Value {
    let code = "std.out.puts(JSON.parse(std.in.readAsString()).printed)";
    json!({
        "name": "say", "description": "Says it.", "parameters": {"type": "object"},
        "module": "qjs.wasm", "args": ["--std", "-e", code],
    })
}

fn with(mut definition: Value, field: &str, value: Value) -> Value {
    definition[field] = value;
    definition
}

/// Makes a tool's folder beside the workspace, with that definition and all modules.
fn define(scene: &Scene, folder: &str, definition: &Value) -> String {
    let path = scene.path(folder);
    fs::create_dir_all(&path).unwrap();
    let mut text = String::new();
    for (name, value) in definition.as_object().unwrap() {
        writeln!(text, "{name} = {}", inline(value)).unwrap();
    }
    fs::write(path.join("tool.toml"), text).unwrap();
    add_modules(&path);
    scene.arg(folder)
}

fn add_modules(folder: &Path) {
    let library = "(module (func (export \"add\")))";
    for (name, wat) in [("ops", OPS), ("bombs", BOMBS), ("library", library)] {
        fs::write(folder.join(format!("{name}.wasm")), wat::parse_str(wat).unwrap()).unwrap();
    }
    fs::write(folder.join("text.wasm"), "no module").unwrap();
    fs::copy(programs().join("qjs.wasm"), folder.join("qjs.wasm")).unwrap();
}

/// A value as TOML has it on one line.
fn inline(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let pairs = fields.iter().map(|(name, value)| format!("{name:?} = {}", inline(value)));
            format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// Runs the program with that tool.
fn go(scene: &Scene, definition: &Value, args: &[&str]) -> Run {
    let folder = define(scene, "tool", definition);
    scene.run(&[&["--tool", &folder], args].concat())
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
            let scene = scene.speaking(wire);
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
    let _run = go(&scene, &note(false), &["--approve", "none"]).exits(5);
    assert!(!scene.path("workspace/note.txt").exists(), "nobody said yes");
    assert_eq!(result(&scene).is_error, Some(true));
}

#[test]
fn c5_a_module_that_goes_beyond_a_limit_ends_and_the_model_reads_why() {
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
        ("bombs.wasm", "o", json!({"output_mib": 1}), "it printed too much]"),
        ("bombs.wasm", "m", json!({"memory_mib": 16}), "needs more memory"),
        ("ops.wasm", "F", json!({"disk_mib": 1}), "it wrote too much to files]"),
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
    assert_eq!(starred(&result(&scene).text), "***");
    assert!(!format!("{}{}{}", run.stdout, run.stderr, scene.text("session.log")).contains(KEY));
}

#[test]
fn c5_ctrl_c_ends_a_module_that_runs() {
    let scene = scene(&[call("probe", &json!({}))]);
    let folder = define(&scene, "tool", &probe("bombs.wasm", &["s"]));
    let program = Started::new(scene.command("go").args(["--json", "--tool", &folder]), b"");
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
fn c5_a_module_may_say_more_than_a_text() {
    let cases: Vec<Value> = serde_json::from_str(REPLIES).unwrap();
    let said = |case: &Value| {
        let arguments = json!({"printed": case["printed"]});
        let scene = scene(&[call("say", &arguments)]);
        let run = go(&scene, &say(), &["--json"]).exits(0);
        (result(&scene), run)
    };
    let misfit = "Tool error (say): The tool say failed: what it printed does not fit: ";
    for case in &cases {
        let (answer, _) = said(case);
        match case["read"].as_str() {
            Some(text) => assert_eq!(answer.text, text, "{case}"),
            None => assert!(answer.text.starts_with(misfit), "{case}: {}", answer.text),
        }
        let is_error = case["misfit"] == true || case["is_error"] == true;
        assert_eq!(answer.is_error == Some(true), is_error, "{case}");
    }
    let image = json!({"type": "image", "media_type": "image/png", "data": "iVBORw0KGgo="});
    let reply = json!({"text": "seen", "parts": [image], "details": {"rows": 2}}).to_string();
    let (_, run) = said(&json!({ "printed": reply }));
    let lines = run.json_lines();
    let ended = lines.iter().find(|line| line["type"] == "tool_call_end").unwrap();
    assert_eq!(ended["outcome"]["details"], json!({"rows": 2}));
    assert_eq!(ended["outcome"]["parts"][1], image);
}

#[test]
fn c5_the_example_counts_lines() {
    let scene = scene(&[call("count_lines", &json!({"by": "file"}))])
        .file("a.rs", "fn main() {}\n\n// end")
        .file("b.py", "print(1)\n")
        .file(".hidden", "not counted\n");
    fs::write(scene.workspace().join("picture.png"), [137, 80, 0, 1]).unwrap();
    let run = scene.run(&["--json", "--tool", count_lines().to_str().unwrap()]).exits(0);
    let lines = [
        "  files     lines     words       bytes  name",
        "      1         3         5          20  a.rs",
        "      1         1         1           9  b.py",
        "      2         4         6          29  total",
    ];
    assert_eq!(result(&scene).text.trim_end(), lines.join("\n").trim_end());
    let events = run.json_lines();
    let ended = events.iter().find(|line| line["type"] == "tool_call_end").unwrap();
    assert_eq!(ended["outcome"]["details"]["total"]["words"], 6);
    // The other ways to name it, its other arguments, and what it can't do.
    let definition = count_lines().join("tool.toml");
    let tool = |arguments: &str| {
        let command = innerloop(["tool", "count_lines", arguments, "--workspace"]);
        run_in(command, &scene, &definition)
    };
    assert!(tool("{}").exits(0).stdout.contains("  Python\n"));
    assert!(tool(r#"{"path": "a.rs"}"#).exits(0).stdout.contains("  Rust\n"));
    assert!(tool(r#"{"path": "none"}"#).exits(1).stdout.contains("none: No such file"));
    assert!(tool(r#"{"path": "../.."}"#).exits(1).stdout.contains("../..: "));
    assert!(tool(r#"{"by": "colour"}"#).exits(2).complaint().contains("`by` must be"));
}

fn run_in(mut command: std::process::Command, scene: &Scene, tool: &Path) -> Run {
    run(command.arg(scene.workspace()).arg("--tool").arg(tool))
}

#[test]
fn c5_the_model_is_shown_a_schema_in_the_order_of_its_file() {
    let scene = scene(&[]);
    let folder = define(&scene, "tool", &probe("ops.wasm", &[]));
    let text = "name = \"probe\"\ndescription = \"\"\nmodule = \"ops.wasm\"\n[parameters]\n\
                type = \"object\"\nrequired = [\"z\"]\n[parameters.properties]\n\
                z = { type = \"number\", minimum = 0.5 }\na = { enum = [1, true, \"x\"] }\n";
    fs::write(scene.path("tool/tool.toml"), text).unwrap();
    let _run = scene.run(&["--tool", &folder]).exits(0);
    let schema = "{\"type\":\"object\",\"required\":[\"z\"],\"properties\":{\
                  \"z\":{\"type\":\"number\",\"minimum\":0.5},\"a\":{\"enum\":[1,true,\"x\"]}}}";
    assert!(scene.model.requests()[0].body.contains(schema), "{:?}", scene.model.requests()[0]);
}

#[test]
fn c5_a_bad_definition_is_told_before_the_model_is_asked() {
    let scene = scene(&[]);
    let good = || probe("ops.wasm", &[]);
    let without = |field: &str| {
        let mut definition = good();
        definition.as_object_mut().unwrap().remove(field);
        definition
    };
    let array = json!({"type": "array"});
    let cases = [
        (without("name"), "tool.toml: missing field `name`"),
        (without("module"), "missing field `module`"),
        (with(good(), "readonly", json!(true)), "line 6, column 1: unknown field `readonly`"),
        (with(good(), "limits", json!({"fuel": 1})), "unknown field `fuel`, expected one of"),
        (
            with(good(), "limits", json!({"timeout_ms": -1})),
            "line 3, column 27: invalid value: integer `-1`",
        ),
        (with(good(), "limits", json!({"disk_mib": 1 << 30})), "limits.disk_mib: a limit is at"),
        (with(good(), "args", json!("one")), "line 1, column 8: invalid type: string"),
        (with(good(), "parameters", json!("schema.json")), "invalid type: string"),
        (with(good(), "name", json!("two words")), "name: \"two words\" is not a name"),
        (with(good(), "parameters", array), "parameters: probe: the root of the schema must"),
        (with(good(), "module", json!("none.wasm")), "none.wasm: No such file"),
        (with(good(), "module", json!("none.wasm")), "build it, and copy it into the tool's"),
        (with(good(), "module", json!("../ops.wasm")), "must be the path of a file in the"),
        (with(good(), "module", json!("/ops.wasm")), "must be the path of a file in the"),
        (with(good(), "module", json!("")), "must be the path of a file in the"),
        (with(good(), "module", json!("text.wasm")), "probe can't be run: it is not a WebAssembly"),
        (with(good(), "module", json!("library.wasm")), "no `_start` function"),
    ];
    for (definition, words) in cases {
        let run = go(&scene, &definition, &[]).exits(3);
        assert!(run.complaint().contains(words), "{words}: {run:#?}");
    }
    let texts = [
        ("name = 'a'\nname = 'b'\n", "line 2, column 1: duplicate key"),
        ("name = 'a\n", "line 1, column "),
        ("[parameters]\ndefault = 1979-05-27\n", "parameters.default: JSON, in which"),
        ("[parameters]\nx = [{y = nan}]\n", "parameters.x.0.y: JSON, in which"),
    ];
    for (text, words) in texts {
        let folder = define(&scene, "tool", &json!({}));
        let all = "description = ''\nmodule = 'ops.wasm'\n";
        let text =
            if text.starts_with('[') { format!("name = 'a'\n{all}{text}") } else { text.into() };
        fs::write(scene.path("tool/tool.toml"), text).unwrap();
        let run = scene.run(&["--tool", &folder]).exits(3);
        assert!(run.complaint().contains(words), "{words}: {run:#?}");
    }
    let (one, two) = (define(&scene, "one", &good()), define(&scene, "two", &good()));
    let run = scene.run(&["--tool", &one, "--tool", &two]).exits(3);
    let words = "one and ";
    assert!(run.complaint().contains(words), "{run:#?}");
    assert!(run.complaint().contains("both define the tool probe; rename one"), "{run:#?}");
    for (given, words) in [
        ("absent.json", "absent.json: give a tool's folder, or the `tool.toml` in it"),
        ("workspace", "workspace/tool.toml: No such file"),
        ("none/tool.toml", "none/tool.toml: No such file"),
    ] {
        let run = scene.run(&["--tool", &scene.arg(given)]).exits(3);
        assert!(run.complaint().contains(words), "{run:#?}");
    }
    let tools = json!({"tools": [{"name": "x", "description": "", "parameters": {}}]});
    let config = scene.arg("config.json");
    fs::write(&config, tools.to_string()).unwrap();
    for args in [&["--config", &config][..], &["--config", &config, "--tool", &one]] {
        let run = scene.run(args).exits(3);
        assert!(run.complaint().contains("config.tools: "), "{run:#?}");
    }
    assert_eq!(scene.model.requests().len(), 0);
}

#[test]
fn c5_the_subcommand_runs_a_tool_of_the_users_own() {
    let scene = scene(&[]);
    let file = define(&scene, "tool", &probe("ops.wasm", &["i"]));
    let tool = |file: &str, arguments: &str| {
        let mut command = innerloop(["tool", "probe", arguments, "--tool", file]);
        run(command.arg("--workspace").arg(scene.workspace()))
    };
    let said = tool(&file, r#"{"city": "Lima"}"#).exits(0);
    assert_eq!(said.stdout, "{\"city\": \"Lima\"}\n");
    for (arguments, words) in
        [(r#"{"city": 5}"#, "city: expected a text, got 5"), ("[]", "no JSON object")]
    {
        let run = tool(&file, arguments).exits(2);
        assert!(run.complaint().contains(words), "{run:#?}");
    }
    let definition = with(probe("bombs.wasm", &["s"]), "limits", json!({"timeout_ms": 200}));
    let run = tool(&define(&scene, "late", &definition), "{}").exits(1);
    assert_eq!(run.stdout, "half\n");
    assert!(run.complaint().contains("timeout, at its time limit"), "{run:#?}");
    let run = tool(&define(&scene, "bad", &probe("text.wasm", &[])), "{}").exits(3);
    assert!(run.complaint().contains("it is not a WebAssembly module"), "{run:#?}");
}
