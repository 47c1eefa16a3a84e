//! OpenAI Responses to bytes: the head, each kind of turn, what goes back untouched.

use innerloop_core::{
    Decoder, RequestHead, RequestPrefix,
    config::{ModelConfig, ToolChoice, WireKind},
    event::EventKind,
    input::{HttpInput, ResponseHead},
    json::Json,
    message::{
        Block, CallDetail, MarkedText, Part, ReasoningBlock, Reply, ToolCall, ToolResult, TurnKind,
    },
    output::HttpRequest,
    tool::{FreeformSpec, ToolSpec},
};
use innerloop_tests::{
    feeding::head,
    test_host::{TestHost, config},
};
use serde_json::{Value, json};
use std::{fs, path::Path};

fn model() -> ModelConfig {
    ModelConfig {
        wire: WireKind::OpenaiResponses,
        name: "gpt-5.5".into(),
        max_output_tokens: 2_048,
        ..ModelConfig::default()
    }
}

fn tool(name: &str) -> ToolSpec {
    ToolSpec::new(
        name,
        format!("Does {name}."),
        Json::parse(r#"{"type":"object","properties":{}}"#).unwrap(),
    )
}

fn patch_tool() -> ToolSpec {
    let freeform = FreeformSpec {
        grammar: "start: \"x\"".into(),
        property: "input".into(),
        description: "No JSON.".into(),
    };
    ToolSpec { freeform: Some(freeform), ..tool("apply_patch") }
}

fn sent(model: &ModelConfig, system: &str, tools: &[ToolSpec], turns: &[TurnKind]) -> HttpRequest {
    let mut prefix = RequestPrefix::new(model);
    turns.iter().filter_map(TurnKind::said).for_each(|said| prefix.push(said));
    prefix.request(&RequestHead::new(model, system, tools.iter()), model, "session-1")
}

fn request(model: &ModelConfig, system: &str, tools: &[ToolSpec], turns: &[TurnKind]) -> Value {
    serde_json::from_slice(&sent(model, system, tools, turns).body).unwrap()
}

fn input(model: &ModelConfig, turns: &[TurnKind]) -> Value {
    request(model, "", &[], turns)["input"].clone()
}

fn user(text: &str) -> TurnKind {
    TurnKind::User(vec![Part::text(text)])
}

fn image() -> Part {
    Part::Image { media_type: "image/png".into(), data: "aW1n".into() }
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: id.into(), name: name.into(), arguments: arguments.into(), detail: None }
}

fn reply(wire: WireKind, blocks: Vec<Block>) -> TurnKind {
    TurnKind::Assistant(Box::new(Reply { wire: Some(wire), blocks, ..Reply::default() }))
}

fn results(results: &[(&str, &str, bool)]) -> TurnKind {
    let result = |&(id, text, is_error): &(&str, &str, bool)| ToolResult {
        call_id: id.into(),
        parts: vec![Part::text(text)],
        is_error,
    };
    TurnKind::ToolResults(results.iter().map(result).collect())
}

fn said(role: &str, text: &str) -> Value {
    let kind = if role == "assistant" { "output_text" } else { "input_text" };
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}

fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/wire/openai_responses");
    fs::read(folder.join(name)).unwrap()
}

/// The reply that a fixture holds.
fn recorded(name: &str) -> TurnKind {
    let body = fixture(name);
    let mut decoder = Decoder::new(WireKind::OpenaiResponses, &head(200, ""));
    decoder.feed(&body, &mut Vec::new());
    TurnKind::Assistant(Box::new(decoder.finish().unwrap()))
}

#[test]
fn a_request_says_what_is_wanted_and_that_nothing_is_to_be_stored() {
    let model = ModelConfig { reasoning_effort: Some("high".into()), ..model() };
    let tools = [tool("read_file"), patch_tool()];
    let request = sent(&model, "You help.", &tools, &[user("Hi")]);
    assert_eq!(request.path, "/responses");
    let accept = ("accept".to_owned(), "text/event-stream".to_owned());
    assert!(request.headers.contains(&accept));
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    let expected = json!({
        "model": "gpt-5.5",
        "instructions": "You help.",
        "stream": true,
        "max_output_tokens": 2048,
        "store": false,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"effort": "high", "summary": "auto"},
        "tools": [
            {"type": "function", "name": "read_file", "description": "Does read_file.",
                "parameters": {"type": "object", "properties": {}}, "strict": false},
            {"type": "custom", "name": "apply_patch", "description": "No JSON.",
                "format": {"type": "grammar", "syntax": "lark", "definition": "start: \"x\""}},
        ],
        "input": [said("user", "Hi")],
        "prompt_cache_key": "session-1",
    });
    assert_eq!(body, expected);
}

#[test]
fn b8_any_effort_is_asked_for_in_its_own_name() {
    for effort in ["low", "medium", "high", "xhigh", "brand_new"] {
        let model = ModelConfig { reasoning_effort: Some(effort.into()), ..model() };
        assert_eq!(request(&model, "", &[], &[])["reasoning"]["effort"], effort);
    }
    assert_eq!(request(&model(), "", &[], &[])["reasoning"], Value::Null);
}

#[test]
fn an_endpoint_is_sent_nothing_that_it_does_not_understand() {
    let mut model = ModelConfig { stream: false, ..model() };
    model.reasoning_effort = Some("low".into());
    model.parallel_tool_calls = Some(false);
    model.tool_choice = ToolChoice::Required;
    let full = request(&model, "", &[patch_tool()], &[]);
    assert_eq!(full["parallel_tool_calls"], json!(false));
    assert_eq!((&full["tool_choice"], &full["stream"]), (&json!("required"), &json!(false)));
    model.compat.custom_tools = false;
    model.compat.strict_tools = false;
    model.compat.tool_choice = false;
    model.compat.parallel_tool_calls = false;
    model.compat.prompt_cache_key = false;
    model.compat.store = false;
    model.compat.thinking = innerloop_core::config::ThinkingFormat::None;
    let body = request(&model, " ", &[patch_tool()], &[]);
    let expected = json!({"model": "gpt-5.5", "stream": false, "max_output_tokens": 2048,
        "input": [], "tools": [{"type": "function", "name": "apply_patch",
            "description": "Does apply_patch.",
            "parameters": {"type": "object", "properties": {}}}]});
    assert_eq!(body, expected);
}

#[test]
fn tool_choice_is_said_in_the_providers_words() {
    let choice = |choice: ToolChoice, tools: &[ToolSpec]| {
        let model = ModelConfig { tool_choice: choice, ..model() };
        request(&model, "", tools, &[])["tool_choice"].clone()
    };
    let tools = [tool("a"), patch_tool()];
    assert_eq!(choice(ToolChoice::Auto, &tools), Value::Null);
    assert_eq!(choice(ToolChoice::None, &tools), json!("none"));
    let named = |kind: &str, name: &str| json!({"type": kind, "name": name});
    assert_eq!(choice(ToolChoice::Tool("a".into()), &tools), named("function", "a"));
    let custom = choice(ToolChoice::Tool("apply_patch".into()), &tools);
    assert_eq!(custom, named("custom", "apply_patch"));
    assert_eq!(choice(ToolChoice::Required, &[]), Value::Null);
}

#[test]
fn options_of_the_configuration_override_and_add_tools() {
    let mut model = model();
    for (name, value) in [
        ("store", json!(true)),
        ("text", json!({"verbosity": "low"})),
        ("prompt_cache_key", json!("mine")),
        ("tools", json!([{"type": "web_search"}])),
        ("input", json!("not ours")),
    ] {
        model.options.insert(name.into(), Json::parse(value.to_string()).unwrap());
    }
    let request = sent(&model, "", &[tool("a")], &[user("Hi")]);
    let text = String::from_utf8(request.body.0).unwrap();
    assert_eq!(text.matches("prompt_cache_key").count(), 1);
    let body: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&body["store"], &body["prompt_cache_key"]), (&json!(true), &json!("mine")));
    assert_eq!(body["text"], json!({"verbosity": "low"}));
    assert_eq!(body["tools"][0]["name"], json!("a"));
    assert_eq!(body["tools"][1], json!({"type": "web_search"}));
    assert_eq!(body["input"], json!([said("user", "Hi")]));
}

#[test]
fn calls_go_back_with_their_results_in_order() {
    let turns = [
        user("Compare."),
        reply(
            WireKind::OpenaiResponses,
            vec![
                Block::Text("Reading".into()),
                Block::ToolCall(call("c1", "read_file", r#"{"path": "a"}"#)),
                Block::ToolCall(call("c2", "list", "not json")),
            ],
        ),
        results(&[("c1", "{}", false), ("c2", "no such folder", true)]),
        TurnKind::Steering(vec![Part::text("Faster."), Part::text("  ")]),
        TurnKind::System("Be brief.".into()),
        reply(WireKind::OpenaiResponses, vec![Block::Text(" ".into())]),
        user(" "),
    ];
    let expected = json!([
        said("user", "Compare."),
        said("assistant", "Reading"),
        {"type": "function_call", "call_id": "c1", "name": "read_file",
            "arguments": "{\"path\": \"a\"}"},
        {"type": "function_call", "call_id": "c2", "name": "list", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "{}"},
        {"type": "function_call_output", "call_id": "c2", "output": "Error: no such folder"},
        said("user", "Faster."),
        said("developer", "Be brief."),
    ]);
    assert_eq!(input(&model(), &turns), expected);
}

#[test]
fn images_stand_in_messages_and_in_results() {
    let shot = ToolResult {
        call_id: "c".into(),
        parts: vec![Part::text("Here:"), image()],
        is_error: false,
    };
    let turns = [
        TurnKind::User(vec![Part::text("See"), image()]),
        reply(WireKind::OpenaiResponses, vec![Block::ToolCall(call("c", "shot", "{}"))]),
        TurnKind::ToolResults(vec![shot]),
    ];
    let picture =
        json!({"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,aW1n"});
    let found = input(&model(), &turns);
    assert_eq!(found[0]["content"][1], picture);
    let text = json!({"type": "input_text", "text": "Here:"});
    assert_eq!(found[2]["output"], json!([text, picture]));
    let mut blind = model();
    blind.compat.images = false;
    let left_out = "[an image is left out: this model does not take it]";
    assert_eq!(input(&blind, &turns)[2]["output"], format!("Here:\n{left_out}"));
}

#[test]
fn thinking_goes_back_sealed_and_only_before_what_it_led_to() {
    let sealed = |text: &str| {
        let item = json!({"type": "reasoning", "summary": [], "encrypted_content": text});
        let item = Some(Json::parse(item.to_string()).unwrap());
        Block::Reasoning(ReasoningBlock { text: "Hm.".into(), signature: None, item })
    };
    let bare = Block::Reasoning(ReasoningBlock { text: "Hm.".into(), ..ReasoningBlock::default() });
    let turns = [
        reply(
            WireKind::OpenaiResponses,
            vec![
                sealed("one"),
                bare,
                Block::ToolCall(call("c", "f", "{}")),
                sealed("two"),
                Block::Text(String::new()),
            ],
        ),
        results(&[("c", "ok", false)]),
    ];
    let found = input(&model(), &turns);
    assert_eq!(found.as_array().unwrap().len(), 3);
    assert_eq!(found[0]["encrypted_content"], "one");
    assert_eq!(found[1]["type"], "function_call");
    // What a recorded stream said goes back as it came, but for the thinking's id.
    let found = input(&model(), &[recorded("calls.sse")]);
    assert_eq!(found[0]["encrypted_content"], "gAAAA-whole");
    assert_eq!((&found[0]["id"], found.as_array().unwrap().len()), (&Value::Null, 4));
}

#[test]
fn items_go_back_with_their_ids_only_where_the_provider_stores_them() {
    let turns = [recorded("provider_items.sse"), recorded("client_items.sse")];
    let ids = |compat: bool, option: Option<&str>| {
        let mut model = model();
        model.compat.store = compat;
        if let Some(option) = option {
            model.options.insert("store".into(), Json::parse(option).unwrap());
        }
        let found = input(&model, &turns);
        let items = found.as_array().unwrap().clone();
        let count = items.iter().filter(|item| !item["id"].is_null()).count();
        // Nothing else is lost.
        assert!(items.iter().all(|item| item["type"].is_string()));
        assert_eq!((items[0]["action"].is_object(), items.len()), (true, 26));
        assert_eq!(items[20]["call_id"], "call_1");
        (count, items)
    };
    let (all, kept) = ids(true, Some("true"));
    assert_eq!(all, 22);
    assert_eq!(ids(false, None).0, all, "nothing is said of it");
    assert_eq!(ids(false, Some("null")).0, all, "the provider's default is to store");
    for (compat, option) in [(true, None), (true, Some("false")), (false, Some("false"))] {
        let (none, bare) = ids(compat, option);
        assert_eq!(none, 0, "{bare:?}");
        for (mut item, bare) in kept.clone().into_iter().zip(bare) {
            item.as_object_mut().unwrap().remove("id");
            assert_eq!(item, bare, "only the id is left out");
        }
    }
}

#[test]
fn a_failed_result_with_a_picture_says_so_in_front() {
    let shot = |is_error, text: &str| {
        let parts = vec![image(), Part::text(text)];
        let shot = ToolResult { call_id: "c".into(), parts, is_error };
        let turns = [
            reply(WireKind::OpenaiResponses, vec![Block::ToolCall(call("c", "shot", "{}"))]),
            TurnKind::ToolResults(vec![shot]),
        ];
        let found = input(&model(), &turns)[1]["output"].clone();
        let texts = found.as_array().unwrap().iter().filter_map(|part| part["text"].as_str());
        texts.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(shot(false, "half a page"), ["half a page"]);
    assert_eq!(shot(true, "half a page"), ["Error: half a page"]);
    assert_eq!(shot(true, " "), ["The tool failed without a word."]);
}

#[test]
fn what_only_the_provider_understands_goes_back_untouched_and_to_no_other() {
    let turn = recorded("provider_items.sse");
    let found = input(&model(), std::slice::from_ref(&turn));
    let types: Vec<&str> =
        found.as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap()).collect();
    assert_eq!(types.len(), 20);
    assert_eq!((types[0], types[18], types[19]), ("web_search_call", "brand_new_item", "message"));
    assert_eq!(found[18]["anything"], json!({"goes": [1, 2.5]}));
    let TurnKind::Assistant(reply) = turn else { panic!("no reply") };
    let foreign = Reply { wire: Some(WireKind::OpenaiChat), ..*reply };
    let found = input(&model(), &[TurnKind::Assistant(Box::new(foreign))]);
    assert_eq!(found, json!([said("assistant", "Found.")]));
}

#[test]
fn each_kind_of_call_gets_its_own_kind_of_result() {
    let ids = ["call_1", "call_2", "call_3", "call_4", "call_5", "call_6"];
    let answers = ids.map(|id| (id, "out", id == "call_3"));
    let found = input(&model(), &[recorded("client_items.sse"), results(&answers)]);
    assert_eq!(found[0]["action"]["command"], json!(["ls", "-l"]));
    assert_eq!(found[2]["operation"]["diff"], "+one\n");
    // A result in words is not a screenshot: such a call goes back as a function's.
    assert_eq!(
        (&found[3]["type"], &found[3]["name"]),
        (&json!("function_call"), &json!("computer"))
    );
    assert_eq!(found[5]["caller"], json!({"type": "program", "caller_id": "call_p"}));
    let outcome = json!({"type": "exit", "exit_code": 0});
    let expected = json!([
        {"type": "local_shell_call_output", "call_id": "call_1", "output": "out"},
        {"type": "shell_call_output", "call_id": "call_2",
            "output": [{"stdout": "out", "stderr": "", "outcome": outcome}]},
        {"type": "apply_patch_call_output", "call_id": "call_3", "status": "failed",
            "output": "out"},
        {"type": "function_call_output", "call_id": "call_4", "output": "out"},
        {"type": "function_call_output", "call_id": "call_5", "output": "out"},
        {"type": "function_call_output", "call_id": "call_6", "output": "out"},
    ]);
    assert_eq!(json!(found.as_array().unwrap()[6..]), expected);
}

#[test]
fn a_custom_call_goes_back_with_its_raw_input() {
    let turns = [recorded("custom.sse"), results(&[("call_p", "Done!", false)])];
    let found = input(&model(), &turns);
    let patch = "*** Begin Patch\n*** Add File: a.txt\n+one \"1\"\n*** End Patch\n";
    let custom = json!({"type": "custom_tool_call", "call_id": "call_p", "name": "apply_patch",
        "input": patch});
    assert_eq!(found[0], custom);
    let output = json!({"type": "custom_tool_call_output", "call_id": "call_p", "output": "Done!"});
    assert_eq!(found[2], output);
    let mut plain = model();
    plain.compat.custom_tools = false;
    let found = input(&plain, &turns);
    assert_eq!(found[0]["type"], "function_call");
    let arguments: Value = serde_json::from_str(found[0]["arguments"].as_str().unwrap()).unwrap();
    assert_eq!(arguments, json!({"input": patch}));
    assert_eq!(found[2]["type"], "function_call_output");
}

#[test]
fn a_conversation_of_another_provider_goes_on() {
    let marked = MarkedText { text: "Hello".into(), mark: "signature".into() };
    let signature = Some("foreign".to_owned());
    let signed = ReasoningBlock { text: "I think.".into(), signature, item: None };
    let detail = CallDetail { signature: Some("s".into()), ..CallDetail::default() };
    let long = "x".repeat(70);
    let turns = [
        reply(
            WireKind::Gemini,
            vec![
                Block::Reasoning(signed),
                Block::Reasoning(ReasoningBlock::default()),
                Block::MarkedText(marked),
                Block::ToolCall(ToolCall {
                    detail: Some(Box::new(detail)),
                    ..call("a.b:1", "f g", "{}")
                }),
                Block::ToolCall(call(&long, "f", "{}")),
                Block::ToolCall(call("toolu_01", "f", "{}")),
                Block::Opaque(Json::parse("{\"foreign\":1}").unwrap()),
            ],
        ),
        results(&[("a.b:1", "1", false), (&long, "2", false), ("toolu_01", "3", false)]),
    ];
    let found = input(&model(), &turns);
    assert_eq!(found.as_array().unwrap().len(), 8);
    assert_eq!(found[0], said("assistant", "I think."));
    assert_eq!(found[1], said("assistant", "Hello"));
    assert_eq!(found[2]["name"], "f_g");
    for (at, id) in [(2, "a_b_1_06a771b513588e09"), (4, "toolu_01")] {
        assert_eq!((&found[at]["call_id"], &found[at + 3]["call_id"]), (&json!(id), &json!(id)));
    }
    let id = found[3]["call_id"].as_str().unwrap();
    assert!(id.len() <= 64 && found[6]["call_id"] == id, "{id}");
}

#[test]
fn a_phase_and_a_refusal_go_back_as_such() {
    let found = input(&model(), &[recorded("phases.sse"), recorded("refusal.sse")]);
    assert_eq!(
        (&found[0]["phase"], &found[1]["phase"]),
        (&json!("commentary"), &json!("final_answer"))
    );
    let refusal = json!([{"type": "refusal", "refusal": "I can't help with that."}]);
    assert_eq!(found[2]["content"], refusal);
}

#[test]
fn the_bytes_of_earlier_turns_stay_as_they_were() {
    let model = model();
    let head = RequestHead::new(&model, "S", [tool("f")].iter());
    let mut prefix = RequestPrefix::new(&model);
    let mut before: Vec<u8> = Vec::new();
    let turns = ["calls.sse", "custom.sse", "client_items.sse", "provider_items.sse", "text.sse"];
    for turn in turns.map(recorded) {
        let TurnKind::Assistant(reply) = &turn else { panic!("no reply") };
        let answers: Vec<(String, &str, bool)> =
            reply.tool_calls().map(|call| (call.id.clone(), "out", false)).collect();
        let answers: Vec<(&str, &str, bool)> =
            answers.iter().map(|(id, text, is_error)| (id.as_str(), *text, *is_error)).collect();
        for turn in [user("Go on."), turn.clone(), results(&answers)] {
            prefix.push(turn.said().unwrap());
            let body = prefix.request(&head, &model, "k").body.0;
            let kept = before.len().saturating_sub("],\"prompt_cache_key\":\"k\"}".len());
            assert_eq!(body[..kept], before[..kept]);
            serde_json::from_slice::<Value>(&body).unwrap();
            before = body;
        }
    }
}

fn answer(host: &mut TestHost, body: &[u8]) {
    let head = ResponseHead { status: 200, ..ResponseHead::default() };
    let _ = host.http(HttpInput::Head(head));
    for piece in body.chunks(11) {
        let _ = host.http(HttpInput::Chunk(piece.to_vec().into()));
    }
    let _ = host.http(HttpInput::End);
}

#[test]
fn a_session_goes_from_thinking_and_calls_to_results_and_back() {
    let mut config = config();
    config.model = ModelConfig { endpoint: config.model.endpoint, ..model() };
    let mut host = TestHost::open(config);
    let _ = host.submit("Read a.txt");
    let body = String::from_utf8(fixture("raw_reasoning.sse")).unwrap();
    answer(&mut host, body.replace(r#"\"path\":"#, r#"\"file_path\":"#).as_bytes());
    let _ = host.answer("one");
    let body = host.body();
    let items = body["input"].as_array().unwrap();
    let [thought, call, result] = &items[items.len() - 3..] else { panic!("{items:?}") };
    assert_eq!(thought["content"][0]["text"], "We need the file.");
    assert_eq!((&call["type"], &call["call_id"]), (&json!("function_call"), &json!("call_9")));
    assert_eq!(result["type"], "function_call_output");
    assert_eq!((&result["call_id"], &result["output"]), (&json!("call_9"), &json!("one")));
    answer(&mut host, &fixture("text.sse"));
    let ends = host.find(|kind| match kind {
        EventKind::ProcessingEnd { text, usage, .. } => Some((text.clone(), usage.input_total)),
        _ => None,
    });
    assert_eq!(ends, [("Grüße, \"Welt\" 🌍\n".to_owned(), 240)]);
}
