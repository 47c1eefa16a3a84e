//! Requests to Anthropic Messages: effort, tools, cache markers, what goes back of a reply, and
//! what does not go to a provider that did not write it.

use innerloop_core::{
    Decoder, RequestHead, RequestPrefix,
    config::{ModelConfig, ToolChoice, WireKind},
    input::ResponseHead,
    json::Json,
    message::{
        Block, CallDetail, MarkedText, Part, ReasoningBlock, Reply, ToolCall, ToolResult, TurnKind,
    },
    output::HttpRequest,
    tool::ToolSpec,
};
use serde_json::{Value, json};

fn model(name: &str) -> ModelConfig {
    ModelConfig { name: name.into(), ..ModelConfig::default() }
}

fn with_effort(name: &str, effort: &str) -> ModelConfig {
    ModelConfig { reasoning_effort: Some(effort.into()), ..model(name) }
}

fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        read_only: true,
        ..ToolSpec::new(name, "does it", Json::parse(r#"{"type":"object"}"#).unwrap())
    }
}

fn request(model: &ModelConfig, tools: &[ToolSpec], turns: &[TurnKind]) -> HttpRequest {
    let head = RequestHead::new(model, "Be brief.", tools.iter());
    let mut prefix = RequestPrefix::new(model);
    turns.iter().filter_map(TurnKind::said).for_each(|said| prefix.push(said));
    prefix.request(&head, model, "key")
}

fn body(model: &ModelConfig, tools: &[ToolSpec], turns: &[TurnKind]) -> Value {
    serde_json::from_slice(&request(model, tools, turns).body.0).unwrap()
}

fn messages(turns: &[TurnKind]) -> Value {
    let text = String::from_utf8(request(&model("m"), &[], turns).body.0).unwrap();
    let bare = text.replace(r#","cache_control":{"type":"ephemeral"}"#, "");
    serde_json::from_str::<Value>(&bare).unwrap()["messages"].clone()
}

fn says(text: &str) -> TurnKind {
    TurnKind::User(vec![Part::text(text)])
}

fn replies(wire: WireKind, blocks: Vec<Block>) -> TurnKind {
    TurnKind::Assistant(Box::new(Reply { blocks, wire: Some(wire), ..Reply::default() }))
}

fn call(id: &str, arguments: &str) -> ToolCall {
    ToolCall { id: id.into(), name: "f".into(), arguments: arguments.into(), detail: None }
}

fn result(id: &str, parts: Vec<Part>, is_error: bool) -> TurnKind {
    TurnKind::ToolResults(vec![ToolResult { call_id: id.into(), parts, is_error }])
}

#[test]
fn b6_b8_effort_reaches_the_request_in_the_form_that_the_model_takes() {
    let effort = |effort: &str| json!({"effort": effort});
    let adaptive = || json!({"type": "adaptive", "display": "summarized"});
    let budget = |tokens: u32| json!({"type": "enabled", "budget_tokens": tokens});
    let none = || Value::Null;
    for (name, asked, output_config, thinking) in [
        ("claude-opus-4-6", "high", effort("high"), adaptive()),
        ("claude-sonnet-5-5", "low", effort("low"), adaptive()),
        ("claude-haiku-5-5", "medium", effort("medium"), adaptive()),
        ("anthropic/claude-4.6-sonnet", "max", effort("max"), adaptive()),
        ("claude-opus-4-6", "xhigh", effort("max"), adaptive()),
        ("claude-opus-4-7", "xhigh", effort("xhigh"), adaptive()),
        ("claude-opus-5", "brand_new", effort("brand_new"), adaptive()),
        ("claude-opus-5", "minimal", effort("low"), adaptive()),
        ("claude-opus-5", "none", none(), json!({"type": "disabled"})),
        ("claude-opus-5-5", "none", effort("low"), adaptive()),
        ("claude-fable-5", "none", effort("low"), adaptive()),
        ("claude-sonnet-4-5-20250929", "low", none(), budget(2_048)),
        ("claude-opus-4-20250514", "minimal", none(), budget(1_024)),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", "medium", none(), budget(8_192)),
        ("claude-3-7-sonnet-latest", "high", none(), budget(12_288)),
        ("claude-sonnet-4-5", "none", none(), none()),
        ("claude-3-5-haiku-latest", "high", none(), none()),
        ("claude-instant-1.2", "high", none(), none()),
        ("glm-5.1", "high", effort("high"), none()),
        ("claude-mythos-preview", "high", effort("high"), none()),
    ] {
        let body = body(&with_effort(name, asked), &[], &[says("hi")]);
        let said = (&body["output_config"], &body["thinking"]);
        assert_eq!(said, (&output_config, &thinking), "{name} {asked}");
    }
    for name in ["claude-opus-5", "claude-sonnet-4-5", "glm-5.1"] {
        let body = body(&model(name), &[], &[says("hi")]);
        assert_eq!((&body["output_config"], &body["thinking"]), (&none(), &none()), "{name}");
    }
}

#[test]
fn b8_a_budget_is_below_the_output_limit_or_is_left_out() {
    for limit in [1, 1_024, 1_365, 1_366, 2_000, 16_384, 64_000] {
        let model =
            ModelConfig { max_output_tokens: limit, ..with_effort("claude-sonnet-4-5", "high") };
        let body = body(&model, &[], &[says("hi")]);
        match body["thinking"]["budget_tokens"].as_u64() {
            Some(budget) => assert!((1_024..u64::from(limit)).contains(&budget), "{limit}"),
            None => assert!(limit < 1_370, "{limit}"),
        }
    }
}

#[test]
fn the_choice_of_tools_is_said_where_it_is_not_the_default() {
    let choice = |name: &str, choice: ToolChoice, parallel: Option<bool>| {
        let model =
            ModelConfig { tool_choice: choice, parallel_tool_calls: parallel, ..model(name) };
        body(&model, &[tool("f")], &[says("hi")])["tool_choice"].clone()
    };
    let one = || ToolChoice::Tool("f".into());
    assert_eq!(choice("m", ToolChoice::Auto, None), Value::Null);
    assert_eq!(choice("m", ToolChoice::Auto, Some(true)), Value::Null);
    let single = json!({"type": "auto", "disable_parallel_tool_use": true});
    assert_eq!(choice("m", ToolChoice::Auto, Some(false)), single);
    assert_eq!(choice("m", ToolChoice::None, Some(false)), json!({"type": "none"}));
    let any = json!({"type": "any", "disable_parallel_tool_use": true});
    assert_eq!(choice("m", ToolChoice::Required, Some(false)), any);
    assert_eq!(choice("m", one(), None), json!({"type": "tool", "name": "f"}));
    assert_eq!(choice("claude-opus-5", ToolChoice::Required, None), json!({"type": "any"}));
    for refuses in ["claude-opus-5-5", "claude-fable-5-1"] {
        assert_eq!(choice(refuses, one(), None), Value::Null, "{refuses}");
        assert_eq!(choice(refuses, one(), Some(false)), single, "{refuses}");
    }
    let forced = ModelConfig { tool_choice: one(), ..with_effort("claude-sonnet-4-5", "high") };
    let with_tools = body(&forced, &[tool("f")], &[says("hi")]);
    assert_eq!(with_tools["thinking"], Value::Null, "thinking does not go with a forced choice");
    let without = body(&forced, &[], &[says("hi")]);
    assert_eq!((&without["tool_choice"], &without["tools"]), (&Value::Null, &Value::Null));
}

#[test]
fn c14_betas_are_a_header_and_options_fields_of_the_body() {
    let mut model = with_effort("claude-opus-5", "high");
    let header = |model: &ModelConfig| {
        let headers = request(model, &[], &[says("hi")]).headers;
        headers.into_iter().find(|(name, _)| name == "anthropic-beta").map(|(_, value)| value)
    };
    assert_eq!(header(&model), None);
    model.betas = vec!["a-2025-01-01".into(), "b".into()];
    assert_eq!(header(&model).as_deref(), Some("a-2025-01-01,b"));
    model.stream = false;
    for (name, value) in [
        ("temperature", "0.50"),
        ("thinking", r#"{"type":"disabled"}"#),
        ("output_config", r#"{"format":{}}"#),
        ("max_tokens", "9"),
        ("messages", "[]"),
        ("model", "\"other\""),
        ("tools", r#"[{"type":"web_search_20250305","name":"web_search"}]"#),
    ] {
        model.options.insert(name.into(), Json::parse(value).unwrap());
    }
    let sent = request(&model, &[tool("f")], &[says("hi")]).body.0;
    let text = String::from_utf8(sent).unwrap();
    for name in ["temperature", "thinking", "output_config", "max_tokens", "messages", "tools"] {
        assert_eq!(text.matches(&format!("\"{name}\":")).count(), 1, "{name} in {text}");
    }
    assert!(text.contains("\"temperature\":0.50"), "as it was given");
    let body: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&body["model"], &body["stream"]), (&json!("claude-opus-5"), &json!(false)));
    let names: Vec<&Value> = body["tools"].as_array().unwrap().iter().map(|t| &t["name"]).collect();
    assert_eq!(names, ["f", "web_search"]);
}

#[test]
fn at_most_four_markers_stand_where_they_pay() {
    let marker = json!({"type": "ephemeral"});
    let turns = |rounds: usize| {
        let mut turns = vec![says("go")];
        for round in 0..rounds {
            let id = format!("c{round}");
            turns.push(replies(WireKind::Anthropic, vec![Block::ToolCall(call(&id, "{}"))]));
            turns.push(result(&id, vec![Part::text("ok")], false));
        }
        turns
    };
    for rounds in 0..6 {
        let body = body(&model("m"), &[tool("f"), tool("g")], &turns(rounds));
        let marked = body.to_string().matches("cache_control").count();
        assert_eq!(marked, if rounds == 0 { 2 } else { 3 });
        assert_eq!(body["system"][0]["cache_control"], marker);
        let last = body["messages"].as_array().unwrap().last().unwrap();
        assert_eq!(last["content"][0]["cache_control"], marker, "the newest block");
    }
    let head = RequestHead::new(&model("m"), "", [tool("f"), tool("g")].iter());
    let bare = RequestPrefix::new(&model("m")).request(&head, &model("m"), "");
    let body: Value = serde_json::from_slice(&bare.body.0).unwrap();
    assert_eq!(body["tools"][1]["cache_control"], marker, "without a system prompt, the last tool");
    assert_eq!(body["tools"][0]["cache_control"], Value::Null);
}

#[test]
fn what_another_provider_wrote_goes_on_without_its_marks() {
    let blocks = || {
        vec![
            Block::Reasoning(ReasoningBlock {
                text: "hm".into(),
                signature: Some("sig".into()),
                item: Json::parse(r#"{"type":"reasoning"}"#).ok(),
            }),
            Block::MarkedText(MarkedText { text: "Hi".into(), mark: "commentary".into() }),
            Block::Opaque(Json::parse(r#"{"type":"web_search_call"}"#).unwrap()),
            Block::ToolCall(ToolCall {
                detail: Some(Box::new(CallDetail { freeform: true, ..CallDetail::default() })),
                ..call("call_1|fc.2", "*** Begin Patch")
            }),
        ]
    };
    for wire in WireKind::ALL.into_iter().filter(|wire| *wire != WireKind::Anthropic) {
        let done = result("call_1|fc.2", vec![Part::text("ok")], false);
        let sent = messages(&[says("go"), replies(wire, blocks()), done]);
        let content = sent[1]["content"].as_array().unwrap();
        assert_eq!(content[0], json!({"type": "text", "text": "hm"}));
        assert_eq!(content[1], json!({"type": "text", "text": "Hi"}));
        assert_eq!(content[2]["input"], json!({"input": "*** Begin Patch"}));
        assert_eq!((content.len(), &content[2]["type"]), (3, &json!("tool_use")));
        assert_eq!(content[2]["id"], sent[2]["content"][0]["tool_use_id"]);
        for word in ["sig", "commentary", "web_search_call", "\"reasoning\""] {
            assert!(!sent.to_string().contains(word), "{word} for {wire:?}");
        }
    }
}

#[test]
fn ids_are_sendable_the_same_in_call_and_result_and_stay_apart() {
    let long = "x".repeat(65);
    let longer = "x".repeat(66);
    let ids = ["toolu_01-A", "functions.read:0", "functions.read:1", "ü", "y", &long, &longer, " "];
    let mut seen = std::collections::BTreeSet::new();
    for id in ids {
        let asked = replies(WireKind::OpenaiChat, vec![Block::ToolCall(call(id, "{}"))]);
        let sent = messages(&[says("go"), asked, result(id, vec![Part::text("ok")], false)]);
        let sent_id = sent[1]["content"][0]["id"].as_str().unwrap();
        assert_eq!(sent[2]["content"][0]["tool_use_id"], sent_id);
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        assert!((1..=64).contains(&sent_id.len()) && sent_id.chars().all(fits), "{sent_id}");
        let is_kept = matches!(id, "toolu_01-A" | "y");
        assert_eq!(sent_id == id, is_kept);
        assert!(seen.insert(sent_id.to_owned()), "{id} collides");
    }
}

/// A reply goes through the decoder and back: the provider gets what it sent.
#[test]
fn what_the_provider_sent_goes_back_as_it_was() {
    let thinking = r#"{"type":"thinking","thinking":"hm","signature":"s=="}"#;
    let hidden = r#"{"type":"thinking","thinking":"","signature":"t=="}"#;
    let redacted = r#"{"type":"redacted_thinking","data":"xyz"}"#;
    let searched = r#"{"type":"server_tool_use","id":"srv_1","name":"s","input":{"z":1.0,"a":2}}"#;
    let cited = concat!(
        r#"{"type":"text","text":"So it is.","citations":"#,
        r#"[{"type":"web_search_result_location","url":"u","encrypted_index":"e"}]}"#
    );
    let own = r#"{"type":"tool_use","id":"toolu_1","name":"f","input":{"b":1.50,"a":2}}"#;
    let programmed = concat!(
        r#"{"type":"tool_use","id":"toolu_2","name":"f","input":{"x":1},"#,
        r#""caller":{"type":"code_execution_20250825","tool_id":"srv_1"}}"#
    );
    let blocks = [thinking, hidden, redacted, searched, cited, own, programmed].join(",");
    let sent = format!(
        r#"{{"type":"message","content":[{blocks}],"stop_reason":"tool_use","usage":{{}}}}"#
    );
    let head = ResponseHead { status: 200, ..ResponseHead::default() };
    let mut decoder = Decoder::new(WireKind::Anthropic, &head);
    decoder.feed(sent.as_bytes(), &mut Vec::new());
    let reply = decoder.finish().unwrap();
    assert_eq!(reply.tool_calls().count(), 2);
    let turns = [says("go"), TurnKind::Assistant(Box::new(reply))];
    let text = String::from_utf8(request(&model("m"), &[], &turns).body.0).unwrap();
    assert!(text.contains(&blocks), "{text}\n{blocks}");
}

#[test]
fn results_are_sent_in_forms_that_are_not_refused() {
    let image = |media_type: &str| Part::Image { media_type: media_type.into(), data: "AA".into() };
    let sent = |parts: Vec<Part>, is_error: bool| {
        messages(&[result("a", parts, is_error)])[0]["content"][0].clone()
    };
    let ok = sent(vec![Part::text("fine")], false);
    assert_eq!((&ok["content"], &ok["is_error"]), (&json!("fine"), &Value::Null));
    let shown = sent(vec![Part::text("a"), Part::text(" "), image("image/png")], false);
    assert_eq!(shown["content"].as_array().unwrap().len(), 2);
    assert_eq!(shown["content"][1]["source"]["media_type"], "image/png");
    let failed = sent(vec![Part::text("no"), image("image/png")], true);
    assert_eq!(failed["is_error"], Value::Null, "an error may hold text only");
    for empty in [vec![], vec![Part::text(" ")]] {
        let failed = sent(empty, true);
        assert_eq!(failed["is_error"], true);
        assert!(!failed["content"].as_str().unwrap().is_empty(), "an error may not be empty");
    }
    let odd = sent(vec![image("image/svg+xml"), Part::text("b")], false);
    assert_eq!(odd["content"][0]["type"], "text");
    assert!(odd["content"][0]["text"].as_str().unwrap().contains("an image is left out"));
    let mut blind = model("m");
    blind.compat.images = false;
    let turn = TurnKind::User(vec![image("image/png")]);
    assert_eq!(body(&blind, &[], &[turn])["messages"][0]["content"][0]["type"], "text");
}
