//! Arguments that do not fit the schema and plainly mean something that does: `null` for what need
//! not be there, values as text, names of other agents' tools.

use innerloop_core::{
    action::Action,
    config::SessionConfig,
    tool::{Job, ToolSpec},
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{TestHost, config},
};
use serde_json::{Value, json};

fn bending() -> SessionConfig {
    let mut config = config();
    config.repair.coerce_arguments = true;
    config
}

fn with_tool(mut config: SessionConfig, parameters: &Value) -> TestHost {
    let spec = json!({"name": "own", "description": "", "parameters": parameters});
    config.tools = vec![serde_json::from_value::<ToolSpec>(spec).unwrap()];
    TestHost::open(config)
}

fn call(host: &mut TestHost, name: &str, arguments: &Value) {
    let _ = host.submit("go");
    host.reply(&Message::call("c", name, arguments));
}

/// The arguments with which a tool of the host's runs; nothing if the call is refused.
fn own(config: SessionConfig, parameters: &Value, arguments: &Value) -> Option<Value> {
    let mut host = with_tool(config, parameters);
    call(&mut host, "own", arguments);
    let (_, run) = host.runs.first_key_value()?;
    let Job::Custom(arguments) = &run.job else { panic!("{run:?}") };
    Some(serde_json::from_str(arguments.text()).unwrap())
}

/// The built-in action that a call comes to.
fn action(name: &str, arguments: &Value) -> Option<Action> {
    let mut host = TestHost::open(bending());
    call(&mut host, name, arguments);
    let (_, run) = host.runs.first_key_value()?;
    let Job::Builtin(action) = &run.job else { panic!("{run:?}") };
    Some(action.clone())
}

#[test]
fn null_for_what_need_not_be_there_counts_as_absent() {
    let null = json!({"file_path": "a", "offset": null, "limit": null});
    assert_eq!(action("read_file", &null), action("read_file", &json!({"file_path": "a"})));
    let grep = json!({"pattern": "x", "path": null, "glob_filter": null, "case_insensitive": null});
    assert_eq!(action("grep", &grep), action("grep", &json!({"pattern": "x"})));
    assert_eq!(action("read_file", &json!({"file_path": null})), None, "it must be there");

    let parameters = json!({"type": "object", "required": ["r"], "properties": {
        "r": {"type": ["string", "null"]},
        "n": {"type": "integer"},
        "kept": {"type": ["integer", "null"]},
        "choice": {"enum": ["a", "b"]},
        "deep": {"type": "object", "properties": {"x": {"type": "string"}}},
        "list": {"type": "array", "items":
            {"type": "object", "properties": {"y": {"type": "string"}}}},
    }});
    let given = json!({"r": null, "n": null, "kept": null, "choice": null,
        "deep": {"x": null}, "list": [{"y": null}, {"y": "z"}], "other": null});
    let meant =
        json!({"r": null, "kept": null, "deep": {}, "list": [{}, {"y": "z"}], "other": null});
    for config in [config(), bending()] {
        assert_eq!(own(config, &parameters, &given).as_ref(), Some(&meant));
    }
}

#[test]
fn text_that_is_json_counts_as_the_value_in_each_form_of_a_schema() {
    let list = json!({"type": "array", "items": {"type": "string"}});
    let none = json!({"type": "null"});
    let forms = [
        json!({"type": ["array", "null"], "items": {"type": "string"}}),
        json!({"anyOf": [list, none]}),
        json!({"oneOf": [none, list]}),
        json!({"allOf": [list]}),
        json!({"anyOf": [{"type": "object", "required": ["x"]}, list]}),
        json!({"type": "array", "nullable": true, "items": {"type": "string"}}),
    ];
    for form in forms {
        let parameters = json!({"type": "object", "properties": {"v": form}});
        let found = own(bending(), &parameters, &json!({"v": "[\"a\", \"b\"]"}));
        assert_eq!(found, Some(json!({"v": ["a", "b"]})), "{form}");
        assert_eq!(own(bending(), &parameters, &json!({"v": "a, b"})), None, "{form}");
        assert_eq!(own(config(), &parameters, &json!({"v": "[\"a\"]"})), None, "{form}");
    }
    // What fits as it is stays so.
    let text = json!({"anyOf": [{"type": "string"}, {"type": "array"}]});
    let parameters =
        json!({"type": "object", "properties": {"v": text, "n": {"type": ["integer", "string"]}}});
    let given = json!({"v": "[1]", "n": "5"});
    assert_eq!(own(bending(), &parameters, &given), Some(given.clone()));
    let parameters = json!({"type": "object", "properties": {"n": {"type": ["integer", "null"]}}});
    assert_eq!(own(bending(), &parameters, &json!({"n": "5"})), Some(json!({"n": 5})));
    assert_eq!(own(bending(), &parameters, &json!({"n": "null"})), Some(json!({"n": null})));
}

#[test]
fn names_of_other_agents_tools_are_taken_with_a_note() {
    let read = action("read_file", &json!({"file_path": "a"}));
    for name in ["path", "filePath", "file-path", "filename", "absolute_path"] {
        assert_eq!(action("read_file", &json!({name: "a"})), read, "{name}");
    }
    let edit = json!({"file_path": "a", "old_string": "x", "new_string": "y"});
    for names in [
        ["path", "old_str", "new_str"],
        ["filePath", "oldString", "newString"],
        ["file", "search", "replace"],
    ] {
        let [path, old, new] = names;
        let given = json!({path: "a", old: "x", new: "y"});
        assert_eq!(action("edit_file", &given), action("edit_file", &edit), "{names:?}");
    }
    let write = action("write_file", &json!({"file_path": "a", "content": "x"}));
    assert_eq!(action("write_file", &json!({"path": "a", "file_text": "x"})), write);
    let find = action("glob", &json!({"pattern": "*.rs", "path": "src"}));
    assert_eq!(action("glob", &json!({"glob": "*.rs", "directory": "src"})), find);

    let mut host = TestHost::open(bending());
    call(&mut host, "read_file", &json!({"path": "a"}));
    let _ = host.answer("1 | x");
    let body = host.body();
    let told = &body["messages"][2]["content"][0]["content"];
    let note = "[Note: this tool's argument is `file_path`, not `path`.]";
    assert_eq!(told, &json!(format!("1 | x\n{note}")));
    assert_eq!(body["messages"][1]["content"][0]["input"], json!({"path": "a"}));
}

#[test]
fn a_name_that_may_mean_two_things_is_not_guessed() {
    assert_eq!(action("read_file", &json!({"path": "a", "file": "b"})), None);
    assert_eq!(action("read_file", &json!({"file_path": "a", "path": "b"})), None);
    assert_eq!(action("read_file", &json!({"place": "a"})), None);
    let both = json!({"type": "object", "additionalProperties": false,
        "properties": {"path": {"type": "string"}, "file": {"type": "string"}}});
    assert_eq!(own(bending(), &both, &json!({"filename": "a"})), None);
    assert_eq!(own(bending(), &both, &json!({"File": "a"})), Some(json!({"file": "a"})));
    // A tool of the host's that takes any argument is given them as they are.
    let open = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    assert_eq!(own(bending(), &open, &json!({"file_path": "a"})), Some(json!({"file_path": "a"})));
    let must = json!({"type": "object", "required": ["path"],
        "properties": {"path": {"type": "string"}}});
    assert_eq!(own(bending(), &must, &json!({"file_path": "a"})), Some(json!({"path": "a"})));
}
