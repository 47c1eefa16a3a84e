//! `innerloop run` with each provider that the table has: over every protocol against a mock
//! server, with the key where it belongs, what its tokens cost, and what is said where something
//! is missing.

use innerloop_driver::providers;
use innerloop_tests::{
    mock::{Mock, Reply},
    program::{KEY, Run, innerloop, run},
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A stream of these events, in the form of server-sent events.
fn sse(events: &[Value]) -> Reply {
    let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    Reply::new(200, "text/event-stream", body)
}

/// The answer of each model, as a sentence: what is shorter is corrected by the preset of Ollama.
const ANSWER: &str = "It is done.";

/// The reply [`ANSWER`] of 1,000 tokens in and 100 out, in that protocol.
fn reply(wire: &str) -> Reply {
    match wire {
        "responses" => sse(&[
            json!({"type": "response.created", "response": {"id": "r", "status": "in_progress"}}),
            json!({"type": "response.output_item.done", "output_index": 0, "item": {
                "type": "message", "id": "m", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": ANSWER, "annotations": []}]}}),
            json!({"type": "response.completed", "response": {"id": "r", "status": "completed",
                "usage": {"input_tokens": 1000, "output_tokens": 100, "total_tokens": 1100}}}),
        ]),
        "anthropic" => sse(&[
            json!({"type": "message_start", "message": {"id": "m", "type": "message",
                "role": "assistant", "model": "m", "content": [], "stop_reason": null,
                "usage": {"input_tokens": 1000, "output_tokens": 1}}}),
            json!({"type": "content_block_start", "index": 0,
                "content_block": {"type": "text", "text": ""}}),
            json!({"type": "content_block_delta", "index": 0,
                "delta": {"type": "text_delta", "text": ANSWER}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
                "usage": {"output_tokens": 100}}),
            json!({"type": "message_stop"}),
        ]),
        "gemini" => sse(&[json!({
            "candidates": [{"content": {"role": "model", "parts": [{"text": ANSWER}]},
                "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 1000, "candidatesTokenCount": 100},
        })]),
        "ollama" => {
            let line = json!({"model": "m", "message": {"role": "assistant", "content": ANSWER},
                "done": true, "done_reason": "stop", "prompt_eval_count": 1000, "eval_count": 100});
            Reply::new(200, "application/x-ndjson", format!("{line}\n"))
        }
        _ => {
            let chunk = json!({"id": "c", "object": "chat.completion.chunk", "choices": [
                {"index": 0, "delta": {"role": "assistant", "content": ANSWER},
                "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}});
            Reply::new(200, "text/event-stream", format!("data: {chunk}\n\ndata: [DONE]\n\n"))
        }
    }
}

/// `innerloop run` in an empty folder, with these variables and no others.
fn go(args: &[&str], variables: &[(&str, &str)]) -> Run {
    let folder: TempDir = tempfile::tempdir().unwrap();
    let mut command = innerloop(["run", "go", "--apply", "--json"]);
    command.arg("--workspace").arg(folder.path()).args(args);
    command.env_remove("ANTHROPIC_API_KEY").envs(variables.iter().copied());
    run(&mut command)
}

#[test]
fn every_protocol_is_spoken_with_the_providers_own_path_key_and_price() {
    let bearer = format!("Bearer {KEY}");
    let cases = [
        ("openai", "OPENAI_API_KEY", "/responses", "authorization", bearer.as_str(), "responses"),
        ("anthropic", "ANTHROPIC_API_KEY", "/v1/messages", "x-api-key", KEY, "anthropic"),
        ("deepseek", "DEEPSEEK_API_KEY", "/chat/completions", "authorization", &bearer, "chat"),
        (
            "gemini",
            "GOOGLE_API_KEY",
            "/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse",
            "x-goog-api-key",
            KEY,
            "gemini",
        ),
        ("xai", "XAI_API_KEY", "/chat/completions", "authorization", &bearer, "chat"),
    ];
    for (provider, variable, path, header, value, wire) in cases {
        let model = Mock::start(vec![reply(wire)]);
        let url = model.url();
        let run = go(&["--provider", provider, "--base-url", &url], &[(variable, KEY)]).exits(0);
        let result = run.json_lines().pop().unwrap();
        assert_eq!(result["text"], ANSWER, "{provider}: {run:#?}");
        let known = providers::find(provider).unwrap();
        let price = innerloop_driver::catalogue::Catalogue::standard()
            .find(provider, known.default_model.as_ref().unwrap())
            .and_then(|known| known.price)
            .unwrap();
        let cost = price.input + price.output / 10;
        assert_eq!(result["cost_nano_usd"], cost, "{provider}: {run:#?}");
        let request = &model.requests()[0];
        assert_eq!(request.line, format!("POST {path} HTTP/1.1"), "{provider}");
        assert_eq!(request.header(header), Some(value), "{provider}");
        assert!(!format!("{}{}", run.stdout, run.stderr).contains(KEY), "{provider}");
    }
}

#[test]
fn a_server_of_ones_own_needs_no_key_and_is_sent_none() {
    for (provider, path, wire) in
        [("ollama", "/api/chat", "ollama"), ("vllm", "/chat/completions", "chat")]
    {
        let model = Mock::start(vec![reply(wire)]);
        let variable = providers::find(provider).unwrap().base_url_variable;
        let args = ["--provider", provider, "--model", "qwen3:8b"];
        let run = go(&args, &[(&variable, &model.url())]).exits(0);
        assert_eq!(run.json_lines().pop().unwrap()["text"], ANSWER, "{provider}: {run:#?}");
        let request = &model.requests()[0];
        assert_eq!(request.line, format!("POST {path} HTTP/1.1"), "{provider}");
        assert_eq!(request.header("authorization"), None, "{provider}");
    }
}

#[test]
fn l2_ollama_brings_its_preset_and_reads_its_window() {
    let cases = [
        // The options, the variable, and the window and streaming of the request.
        (&[][..], "", 8_192, false),
        (&[], "16384", 16_384, false),
        (&["--preset", "modern"], "", 32_768, true),
        (&["--context-window", "4096"], "16384", 4_096, false),
    ];
    for (more, window, num_ctx, stream) in cases {
        let model = Mock::start(vec![reply("ollama")]);
        let url = model.url();
        let args = [&["--provider", "ollama", "--model", "qwen3:8b"], more].concat();
        let set = [("OLLAMA_BASE_URL", url.as_str()), ("OLLAMA_NUM_CTX", window)];
        let _run = go(&args, &set).exits(0);
        let body: Value = serde_json::from_str(&model.requests()[0].body).unwrap();
        assert_eq!(body["options"]["num_ctx"], num_ctx, "{more:?} {window}");
        assert_eq!(body["stream"], stream, "{more:?} {window}");
    }
    for window in ["many", "0", "-1"] {
        let args = ["--provider", "ollama", "--model", "qwen3:8b"];
        let run = go(&args, &[("OLLAMA_NUM_CTX", window)]).exits(3);
        assert!(run.complaint().contains("OLLAMA_NUM_CTX takes a number"), "{run:?}");
    }
}

#[test]
fn the_provider_whose_key_is_set_is_used_and_told() {
    let model = Mock::start(vec![reply("chat")]);
    let folder = tempfile::tempdir().unwrap();
    let mut command = innerloop(["run", "go", "--apply", "--base-url", &model.url()]);
    command.arg("--workspace").arg(folder.path());
    let run = run(command.env_remove("ANTHROPIC_API_KEY").env("GROQ_API_KEY", KEY)).exits(0);
    assert!(run.stderr.contains("using groq, since GROQ_API_KEY is set"), "{run:#?}");
    assert!(run.stderr.contains(" · $0.0002 · "), "the cost: {run:#?}");
    let body: Value = serde_json::from_str(&model.requests()[0].body).unwrap();
    assert_eq!(body["model"], "openai/gpt-oss-120b");
}

#[test]
fn what_is_missing_is_told_with_its_name() {
    let told = |args: &[&str]| {
        let run = go(args, &[]).exits(3);
        run.json_lines().pop().unwrap()["message"].as_str().unwrap().to_owned()
    };
    let message = told(&["--provider", "gemini"]);
    assert!(message.contains("GEMINI_API_KEY (or GOOGLE_API_KEY) is not set"), "{message}");
    let message = told(&["--provider", "openrouter"]);
    assert!(message.contains("openrouter has no model") && message.contains("--model"));
    let run = go(&["--provider", "azure", "--model", "m"], &[("AZURE_OPENAI_API_KEY", KEY)]);
    let message = run.exits(3).json_lines().pop().unwrap()["message"].to_string();
    assert!(message.contains("--base-url or in AZURE_OPENAI_BASE_URL"), "{message}");
    assert!(message.contains("RESOURCE.openai.azure.com"), "{message}");
}

#[test]
fn a_catalogue_of_ones_own_takes_the_place_of_the_one_that_comes_along() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("models.json");
    let known = json!({"groups": [{"providers": ["openai"], "models": [
        {"name": "my-model", "max_output_tokens": 1234, "price": {"input": 1, "output": 10}}]}]});
    std::fs::write(&path, known.to_string()).unwrap();
    let file = path.to_str().unwrap();
    let model = Mock::start(vec![reply("responses")]);
    let url = model.url();
    let args = ["--provider", "openai", "--model", "my-model", "--base-url", &url];
    let key = [("OPENAI_API_KEY", KEY)];
    let run = go(&[&args[..], &["--models", file, "--effort", "low"]].concat(), &key).exits(0);
    assert_eq!(run.json_lines().pop().unwrap()["cost_nano_usd"], 2);
    let body: Value = serde_json::from_str(&model.requests()[0].body).unwrap();
    assert_eq!(
        (&body["max_output_tokens"], &body["reasoning"]["effort"]),
        (&json!(1234), &json!("low"))
    );
    std::fs::write(&path, "{}").unwrap();
    let run = go(&[&args[..], &["--models", file]].concat(), &key).exits(3);
    let message = run.json_lines().pop().unwrap()["message"].to_string();
    assert!(message.contains("models.json") && message.contains("no catalogue"), "{message}");
}

#[test]
fn the_help_names_every_provider() {
    let help = run(&mut innerloop(["run", "--help"])).exits(0).stdout;
    for provider in providers::all() {
        let listed = [",", "."].map(|end| format!(" {}{end}", provider.name));
        assert!(listed.iter().any(|name| help.contains(name.as_str())), "{}", provider.name);
    }
}

#[test]
fn any_gateway_is_asked_at_the_address_that_is_given_in_the_plainest_way() {
    for end in ["/x/v1", "/x/v1/", "/x/v1/chat/completions"] {
        let model = Mock::start(vec![reply("chat")]);
        let url = format!("{}{end}", model.url());
        let args = ["--provider", "openai-compatible", "--model", "m", "--base-url", &url];
        let run = go(&args, &[("OPENAI_COMPATIBLE_API_KEY", KEY)]).exits(0);
        assert_eq!(run.json_lines().pop().unwrap()["text"], ANSWER, "{end}: {run:#?}");
        let request = &model.requests()[0];
        assert_eq!(request.line, "POST /x/v1/chat/completions HTTP/1.1", "{end}");
        let bearer = format!("Bearer {KEY}");
        assert_eq!(request.header("authorization"), Some(bearer.as_str()));
        let body: serde_json::Value = serde_json::from_str(&request.body).unwrap();
        assert_eq!(body["messages"][0]["role"], "system");
        assert!(body["max_tokens"].is_u64() && body.get("store").is_none(), "{body}");
    }
    let nowhere = go(
        &["--provider", "openai-compatible", "--model", "m"],
        &[("OPENAI_COMPATIBLE_API_KEY", KEY)],
    );
    let told = nowhere.exits(3);
    let words = "give it as --base-url or in OPENAI_COMPATIBLE_BASE_URL, for example https://";
    assert!(told.complaint().contains(words), "{told:?}");
}

#[test]
fn a_proxy_that_is_at_fault_is_named_with_its_variable() {
    let args = ["--base-url", "http://model.example"];
    let key = ("ANTHROPIC_API_KEY", KEY);
    let down = ("HTTP_PROXY", "http://me:hidden-word@127.0.0.1:9");
    let run = go(&args, &[key, down]).exits(3);
    let words = "cannot connect to http://model.example through the proxy http://127.0.0.1:9 (from \
                 HTTP_PROXY): ";
    assert!(run.complaint().contains(words), "{run:?}");
    assert!(run.complaint().contains("NO_PROXY"), "{run:?}");
    assert!(!format!("{}{}", run.stdout, run.stderr).contains("hidden-word"), "{run:?}");
    let wants = Mock::start(vec![Reply::new(407, "text/html", "<html>no</html>")]);
    let run = go(&args, &[key, ("http_proxy", &wants.url())]).exits(3);
    let words =
        format!("the proxy {} (from http_proxy) wants a user name and password", wants.url());
    assert!(run.complaint().contains(&words), "{run:?}");
    assert_eq!(wants.requests().len(), 1, "it is not asked again");
    // One that is not used is not blamed.
    let run = go(&args, &[key, down, ("NO_PROXY", "model.example")]);
    assert!(!run.complaint().contains("proxy http"), "{run:?}");
}

#[test]
fn whoever_has_no_key_is_told_all_ways_to_a_model() {
    let run = go(&[], &[]).exits(3);
    for words in [
        "ANTHROPIC_API_KEY is not set",
        "OPENAI_API_KEY",
        "CEREBRAS_API_KEY",
        "innerloop login anthropic",
        "--provider ollama",
        "--provider openai-compatible --base-url URL",
        "--replay FILE",
    ] {
        assert!(run.complaint().contains(words), "{words}: {run:?}");
    }
    let named = go(&["--provider", "groq"], &[]).exits(3);
    assert!(named.complaint().contains("GROQ_API_KEY is not set"), "{named:?}");
    assert!(!named.complaint().contains("ANTHROPIC"), "{named:?}");
}
