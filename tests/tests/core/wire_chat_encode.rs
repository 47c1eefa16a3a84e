//! Requests of Chat Completions, byte for byte, with what each endpoint does otherwise.

use innerloop_core::{
    RequestHead, RequestPrefix,
    config::{
        CallIds, EndpointCompat, MaxTokensField, ModelConfig, ReplayReasoning, SystemRole,
        ThinkingFormat, ToolChoice, WireKind,
    },
    json::Json,
    message::{
        Block, CallDetail, FinishReason, MarkedText, Part, ReasoningBlock, Reply, ToolCall,
        ToolResult, TurnKind,
    },
    tool::{FreeformSpec, ToolSpec},
};
use serde_json::{Value, json};

/// What most servers take.
fn plain() -> ModelConfig {
    ModelConfig {
        wire: WireKind::OpenaiChat,
        name: "m".into(),
        max_output_tokens: 100,
        compat: EndpointCompat {
            system_role: SystemRole::System,
            max_tokens_field: MaxTokensField::MaxTokens,
            custom_tools: false,
            prompt_cache_key: false,
            store: false,
            ..EndpointCompat::default()
        },
        ..ModelConfig::default()
    }
}

fn tool(name: &str, freeform: Option<FreeformSpec>) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: "Does it.".into(),
        parameters: Json::parse(r#"{"type":"object","properties":{"input":{"type":"string"}}}"#)
            .unwrap(),
        read_only: false,
        untrusted: false,
        timeout_ms: None,
        paths: Vec::new(),
        freeform,
    }
}

fn patch() -> ToolSpec {
    let (grammar, property) = ("start: \"x\"".into(), "input".into());
    tool("patch", Some(FreeformSpec { grammar, property, description: "Raw.".into() }))
}

fn sent(model: &ModelConfig, system: &str, tools: &[ToolSpec], turns: &[TurnKind]) -> String {
    let head = RequestHead::new(model, system, tools.iter());
    let mut prefix = RequestPrefix::new(model);
    turns.iter().filter_map(TurnKind::said).for_each(|said| prefix.push(said));
    let request = prefix.request(&head, model, "key-1");
    assert_eq!(request.path, "/chat/completions");
    assert_eq!(request.headers, [("content-type".to_owned(), "application/json".to_owned())]);
    let body = String::from_utf8(request.body.0).unwrap();
    serde_json::from_str::<Value>(&body).unwrap_or_else(|error| panic!("{error}: {body}"));
    body
}

fn messages(model: &ModelConfig, turns: &[TurnKind]) -> Value {
    let body: Value = serde_json::from_str(&sent(model, "", &[], turns)).unwrap();
    body["messages"].clone()
}

fn call(id: &str, arguments: &str) -> Block {
    let (id, name, arguments) = (id.into(), "f".into(), arguments.into());
    Block::ToolCall(ToolCall { id, name, arguments, detail: None })
}

fn said(blocks: Vec<Block>) -> TurnKind {
    let wire = Some(WireKind::OpenaiChat);
    TurnKind::Assistant(Box::new(Reply { blocks, wire, ..Reply::default() }))
}

fn text(text: &str) -> Block {
    Block::Text(text.into())
}

fn user(text: &str) -> TurnKind {
    TurnKind::User(vec![Part::text(text)])
}

fn result(id: &str, parts: Vec<Part>) -> ToolResult {
    ToolResult { call_id: id.into(), parts, is_error: false }
}

fn results(ids: &[&str]) -> TurnKind {
    TurnKind::ToolResults(ids.iter().map(|id| result(id, vec![Part::text("ok")])).collect())
}

fn image() -> Part {
    Part::Image { media_type: "image/png".into(), data: "QUJD".into() }
}

#[test]
fn a_request_to_openai_is_written_to_the_byte() {
    let model = ModelConfig { compat: EndpointCompat::default(), ..plain() };
    let model = ModelConfig {
        reasoning_effort: Some("high".into()),
        parallel_tool_calls: Some(true),
        tool_choice: ToolChoice::Tool("patch".into()),
        ..model
    };
    let turns = [user("Hi"), said(vec![call("call_1", "")]), results(&["call_1"])];
    let expected = concat!(
        r#"{"model":"m","max_completion_tokens":100,"stream":true,"#,
        r#""stream_options":{"include_usage":true},"store":false,"reasoning_effort":"high","#,
        r#""tools":[{"type":"function","function":{"name":"f","description":"Does it.","#,
        r#""parameters":{"type":"object","properties":{"input":{"type":"string"}}}}},"#,
        r#"{"type":"custom","custom":{"name":"patch","description":"Raw.","format":"#,
        r#"{"type":"grammar","grammar":{"syntax":"lark","definition":"start: \"x\""}}}}],"#,
        r#""tool_choice":{"type":"custom","custom":{"name":"patch"}},"parallel_tool_calls":true,"#,
        r#""messages":[{"role":"developer","content":"Be brief."},"#,
        r#"{"role":"user","content":"Hi"},{"role":"assistant","content":null,"#,
        r#""tool_calls":[{"id":"call_1","type":"function","#,
        r#""function":{"name":"f","arguments":"{}"}}]},"#,
        r#"{"role":"tool","tool_call_id":"call_1","content":"ok"}],"prompt_cache_key":"key-1"}"#,
    );
    assert_eq!(sent(&model, "Be brief.", &[tool("f", None), patch()], &turns), expected);
}

#[test]
fn switches_leave_out_what_an_endpoint_does_not_know() {
    let mut model = plain();
    model.parallel_tool_calls = Some(false);
    model.tool_choice = ToolChoice::Required;
    model.compat.tool_choice = false;
    model.compat.parallel_tool_calls = false;
    model.compat.usage_in_stream = false;
    let body = sent(&model, "", &[patch()], &[user("Hi")]);
    let expected = concat!(
        r#"{"model":"m","max_tokens":100,"stream":true,"tools":[{"type":"function","#,
        r#""function":{"name":"patch","description":"Does it.","#,
        r#""parameters":{"type":"object","properties":{"input":{"type":"string"}}}}}],"#,
        r#""messages":[{"role":"user","content":"Hi"}]}"#,
    );
    assert_eq!(body, expected);
    let body = sent(&plain(), "S", &[], &[]);
    assert!(body.ends_with(r#""messages":[{"role":"system","content":"S"}]}"#), "{body}");
    for (choice, shown) in [(ToolChoice::None, "none"), (ToolChoice::Required, "required")] {
        let model = ModelConfig { tool_choice: choice, stream: false, ..plain() };
        let body: Value =
            serde_json::from_str(&sent(&model, "", &[patch()], &[user("Hi")])).unwrap();
        assert_eq!(body["tool_choice"], shown);
        assert_eq!((&body["stream"], body.get("stream_options")), (&json!(false), None));
    }
}

#[test]
fn effort_is_asked_for_in_each_format() {
    for (format, effort, field, value) in [
        (ThinkingFormat::ReasoningEffort, "low", "reasoning_effort", json!("low")),
        (ThinkingFormat::Openrouter, "high", "reasoning", json!({"effort": "high"})),
        (ThinkingFormat::Zai, "high", "thinking", json!({"type": "enabled"})),
        (ThinkingFormat::Zai, "none", "thinking", json!({"type": "disabled"})),
        (ThinkingFormat::Qwen, "low", "enable_thinking", json!(true)),
        (
            ThinkingFormat::QwenChatTemplate,
            "none",
            "chat_template_kwargs",
            json!({"enable_thinking": false}),
        ),
        (ThinkingFormat::None, "high", "reasoning_effort", Value::Null),
    ] {
        let mut model = ModelConfig { reasoning_effort: Some(effort.into()), ..plain() };
        model.compat.thinking = format;
        let body: Value = serde_json::from_str(&sent(&model, "", &[], &[user("Hi")])).unwrap();
        assert_eq!(body[field], value, "{format:?}");
    }
}

#[test]
fn the_hosts_options_stand_in_place_of_our_own() {
    let mut model = plain();
    for (name, value) in [
        ("max_tokens", "7"),
        ("stream_options", "{\"x\":1}"),
        ("temperature", "0.50"),
        ("messages", "[]"),
    ] {
        model.options.insert(name.into(), Json::parse(value).unwrap());
    }
    let expected = concat!(
        r#"{"model":"m","stream":true,"max_tokens":7,"stream_options":{"x":1},"#,
        r#""temperature":0.50,"messages":[{"role":"user","content":"Hi"}]}"#,
    );
    assert_eq!(sent(&model, "", &[], &[user("Hi")]), expected);
}

#[test]
fn images_go_into_users_messages_or_are_told_of() {
    let turns = [
        TurnKind::User(vec![Part::text("Look"), image()]),
        said(vec![call("a", "{}"), call("b", "{}")]),
        TurnKind::ToolResults(vec![
            result("a", vec![image()]),
            result("b", vec![Part::text("two"), image()]),
        ]),
    ];
    let shown = messages(&plain(), &turns);
    let url = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}});
    assert_eq!(shown[0]["content"], json!([{"type": "text", "text": "Look"}, url]));
    assert_eq!(shown[2]["content"], "(see the image below)");
    assert_eq!(shown[3]["content"], "two");
    let behind = &shown[4];
    assert_eq!(behind["role"], "user");
    assert_eq!((&behind["content"][1], &behind["content"][3]), (&url, &url));
    assert_eq!(behind["content"][2]["text"], "From the result of the call b:");

    let mut blind = plain();
    blind.compat.images = false;
    let shown = messages(&blind, &turns);
    assert_eq!(shown.as_array().unwrap().len(), 4);
    let note = "[an image is left out: this model does not take it]";
    assert_eq!(shown[0]["content"], format!("Look\n{note}"));
    assert_eq!(shown[2]["content"], note);
}

#[test]
fn thinking_goes_back_as_the_endpoint_wants_it() {
    let item = r#"[{"type":"reasoning.text","text":"hm", "signature":"s"}]"#;
    let thought = || {
        let item = Some(Json::parse(item).unwrap());
        Block::Reasoning(ReasoningBlock { text: "hm".into(), signature: None, item })
    };
    let called = said(vec![thought(), text("T"), call("a", "{}")]);
    let silent = said(vec![call("b", "{}")]);
    let answer = said(vec![thought(), text("T")]);
    let with = |replay: ReplayReasoning, turn: &TurnKind| {
        let mut model = plain();
        model.compat.replay_reasoning = replay;
        sent(&model, "", &[], std::slice::from_ref(turn))
    };
    for turn in [&called, &answer] {
        assert!(!with(ReplayReasoning::Never, turn).contains("hm"));
        let body = with(ReplayReasoning::ReasoningDetails, turn);
        assert!(body.contains(&format!("\"reasoning_details\":{item}")), "{body}");
        let body = with(ReplayReasoning::Text, turn);
        assert!(body.contains(r#""content":"hm\n\nT""#), "{body}");
    }
    let field = r#""reasoning_content":"#;
    assert!(with(ReplayReasoning::ReasoningContent, &called).contains(&format!("{field}\"hm\"")));
    assert!(with(ReplayReasoning::ReasoningContent, &silent).contains(&format!("{field}\"\"")));
    assert!(!with(ReplayReasoning::ReasoningContent, &answer).contains(field));
}

#[test]
fn what_only_another_provider_understands_stays_behind() {
    let detail = CallDetail { signature: Some("sig".into()), ..CallDetail::default() };
    let (id, name) = ("toolu|1/".to_owned() + &"x".repeat(60), "näme with spaces".into());
    let call =
        ToolCall { id: id.clone(), name, arguments: "{}".into(), detail: Some(Box::new(detail)) };
    let thought =
        ReasoningBlock { text: "hm".into(), signature: Some("secret".into()), item: None };
    let mut reply = Reply {
        blocks: vec![
            Block::Reasoning(thought),
            Block::Opaque(Json::parse("{\"secret\":1}").unwrap()),
            Block::MarkedText(MarkedText { text: "T".into(), mark: "secret".into() }),
            Block::ToolCall(call),
        ],
        wire: Some(WireKind::Gemini),
        ..Reply::default()
    };
    let mut model = plain();
    model.compat.replay_reasoning = ReplayReasoning::ReasoningDetails;
    let turns = [TurnKind::Assistant(Box::new(reply.clone())), results(&[&id])];
    let body = sent(&model, "", &[], &turns);
    assert!(!body.contains("secret") && !body.contains("\"sig\""), "{body}");
    let shown = messages(&model, &turns);
    assert_eq!(shown[0]["content"], "hm\n\nT", "what it thought goes on as text");
    let made = shown[0]["tool_calls"][0]["id"].as_str().unwrap();
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    assert!(made.len() <= 40 && made.chars().all(fits), "{made}");
    assert_eq!(shown[1]["tool_call_id"], made);
    assert_eq!(shown[0]["tool_calls"][0]["function"]["name"], "n_me_with_spaces");

    reply.wire = Some(WireKind::OpenaiChat);
    let body = sent(&model, "", &[], &[TurnKind::Assistant(Box::new(reply))]);
    assert!(body.contains(r#""extra_content":{"google":{"thought_signature":"sig"}}"#), "{body}");
    assert!(body.contains(&id), "{body}");
}

#[test]
fn ids_of_nine_letters_are_made_once_and_never_twice() {
    let mut model = plain();
    model.compat.call_ids = CallIds::Nine;
    let ids: Vec<String> =
        (0..200).map(|n| format!("call_{n}")).chain(["abcDEF123".into()]).collect();
    let turns: Vec<TurnKind> =
        ids.iter().flat_map(|id| [said(vec![call(id, "{}")]), results(&[id])]).collect();
    let shown = messages(&model, &turns);
    let mut seen = std::collections::BTreeSet::new();
    for pair in shown.as_array().unwrap().chunks(2) {
        let id = pair[0]["tool_calls"][0]["id"].as_str().unwrap();
        assert!(id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
        assert_eq!(pair[1]["tool_call_id"], id);
        assert!(seen.insert(id.to_owned()), "{id} twice");
    }
    assert!(seen.contains("abcDEF123"));
}

#[test]
fn results_carry_names_and_a_word_between_where_wanted() {
    let mut model = plain();
    model.compat.tool_result_name = true;
    model.compat.assistant_after_tool_result = true;
    let turns = [said(vec![call("a", "{}")]), results(&["a"]), user("Go on")];
    let shown = messages(&model, &turns);
    assert_eq!(shown[1]["name"], "f");
    let roles: Vec<_> = shown.as_array().unwrap().iter().map(|turn| &turn["role"]).collect();
    assert_eq!(roles, ["assistant", "tool", "assistant", "user"]);
}

#[test]
fn free_form_calls_go_back_in_the_form_that_is_understood() {
    let detail = CallDetail { freeform: true, ..CallDetail::default() };
    let call = ToolCall {
        id: "a".into(),
        name: "patch".into(),
        arguments: "*** \"x\"".into(),
        detail: Some(Box::new(detail)),
    };
    let turns = [said(vec![Block::ToolCall(call)])];
    let mut model = plain();
    let shown = messages(&model, &turns);
    let arguments = &shown[0]["tool_calls"][0]["function"]["arguments"];
    assert_eq!(arguments, r#"{"input":"*** \"x\""}"#);
    model.compat.custom_tools = true;
    let shown = messages(&model, &turns);
    let custom = json!({"name": "patch", "input": "*** \"x\""});
    assert_eq!(shown[0]["tool_calls"][0]["custom"], custom);
}

#[test]
fn what_says_nothing_is_left_out_and_odd_arguments_are_an_object() {
    let refused = Reply {
        finish: FinishReason::Refusal,
        refusal: Some("No.".into()),
        wire: Some(WireKind::OpenaiChat),
        ..Reply::default()
    };
    let thought = ReasoningBlock { text: "hm".into(), ..ReasoningBlock::default() };
    let turns = [
        user("  "),
        said(vec![Block::Reasoning(thought), text(" ")]),
        TurnKind::Assistant(Box::new(refused)),
        TurnKind::System("Time is short.".into()),
        said(vec![call("a", "{\"x\": "), call("b", "[1]"), call("c", " {\"y\": 1.0} ")]),
        TurnKind::ToolResults(vec![result("a", Vec::new())]),
    ];
    let shown = messages(&plain(), &turns);
    assert_eq!(shown[0], json!({"role": "assistant", "content": "No."}));
    let told = "<system>\nTime is short.\n</system>";
    assert_eq!(shown[1], json!({"role": "user", "content": told}));
    let calls = shown[2]["tool_calls"].as_array().unwrap();
    let arguments: Vec<_> = calls.iter().map(|call| &call["function"]["arguments"]).collect();
    assert_eq!(arguments, ["{}", "{}", "{\"y\": 1.0}"]);
    assert_eq!(shown[3]["content"], "(nothing)");
}

#[test]
fn the_bytes_of_earlier_turns_never_change() {
    let turns = [
        user("One"),
        said(vec![text("T"), call("x/1", "{\"a\":1}"), call("b", "{}")]),
        TurnKind::ToolResults(vec![result("x/1", vec![image()]), result("b", Vec::new())]),
        TurnKind::Steering(vec![Part::text("Faster")]),
        said(vec![call("x/1", "{}")]),
        results(&["x/1"]),
        TurnKind::System("Late.".into()),
        said(vec![text("Done")]),
        user("Two"),
    ];
    let mut strict = plain();
    strict.compat.call_ids = CallIds::Nine;
    strict.compat.assistant_after_tool_result = true;
    for model in [plain(), strict, ModelConfig { compat: EndpointCompat::default(), ..plain() }] {
        let head = RequestHead::new(&model, "S", [tool("f", None)].iter());
        let mut prefix = RequestPrefix::new(&model);
        let mut before = String::new();
        for turn in &turns {
            prefix.push(turn.said().unwrap());
            let body = prefix.request(&head, &model, "k").body.0;
            let body = String::from_utf8(body).unwrap();
            let messages = body.rsplit_once(']').unwrap().0.to_owned();
            assert!(messages.starts_with(&before), "{before}\n{messages}");
            before = messages;
        }
    }
}
