//! Pictures by their address, files, and what a tool says to the user interface alone.

use innerloop_core::{
    action::Outcome, config::WireKind, event::EventKind, input::Command, json::Json, message::Part,
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{TestHost, config},
    wires,
};
use serde_json::{Value, json};

const LEFT_OUT: &str = "is left out: this model does not take it]";

fn parts() -> Vec<Part> {
    let file = |media_type: &str, name: &str| Part::File {
        media_type: media_type.into(),
        name: name.into(),
        data: "JVBERi0=".into(),
    };
    vec![
        Part::text("Look"),
        Part::ImageUrl { url: "https://example.com/a.png".into() },
        file("application/pdf", "a.pdf"),
        file("application/zip", "b.zip"),
    ]
}

fn host(wire: WireKind, images: bool) -> TestHost {
    let mut config = config();
    wires::speak(&mut config.model, wire);
    config.model.compat.images = images;
    config.tools = vec![
        serde_json::from_value(
            json!({"name": "shot", "description": "", "parameters": {"type": "object"}}),
        )
        .unwrap(),
    ];
    TestHost::open(config)
}

/// Each protocol's own forms of an address and of a PDF; nothing where it has none.
fn forms(wire: WireKind) -> [Value; 2] {
    let (url, data) = ("https://example.com/a.png", "data:application/pdf;base64,JVBERi0=");
    match wire {
        WireKind::OpenaiResponses => [
            json!({"type": "input_image", "detail": "auto", "image_url": url}),
            json!({"type": "input_file", "filename": "a.pdf", "file_data": data}),
        ],
        WireKind::OpenaiChat => [
            json!({"type": "image_url", "image_url": {"url": url}}),
            json!({"type": "file", "file": {"filename": "a.pdf", "file_data": data}}),
        ],
        WireKind::Anthropic => [
            json!({"type": "image", "source": {"type": "url", "url": url}}),
            json!({"type": "document", "title": "a.pdf", "source": {"type": "base64",
                "media_type": "application/pdf", "data": "JVBERi0="}}),
        ],
        WireKind::Gemini => [
            json!({"fileData": {"fileUri": url}}),
            json!({"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0="}}),
        ],
        _ => [Value::Null, Value::Null],
    }
}

/// Whether a value stands somewhere in another.
fn holds(place: &Value, what: &Value) -> bool {
    place == what
        || place.as_array().is_some_and(|items| items.iter().any(|item| holds(item, what)))
        || place.as_object().is_some_and(|fields| fields.values().any(|item| holds(item, what)))
}

#[test]
fn addresses_and_files_go_to_each_provider_in_its_own_form() {
    for (wire, ..) in wires::FAMILIES {
        let mut host = host(wire, true);
        let _ = host.command(Command::submit(parts()));
        let body = host.body();
        for form in forms(wire) {
            assert!(form.is_null() || holds(&body, &form), "{wire:?}: {form} in {body}");
        }
        let told = body.to_string().matches(LEFT_OUT).count();
        // An archive goes nowhere but to Gemini, which decides itself.
        let expected = match wire {
            WireKind::Ollama => 3,
            WireKind::Gemini => 0,
            _ => 1,
        };
        assert_eq!(told, expected, "{wire:?}: {body}");
    }
}

#[test]
fn a_result_shows_them_too_and_a_model_that_takes_none_is_told() {
    for (wire, ..) in wires::FAMILIES {
        for images in [true, false] {
            let mut host = host(wire, images);
            let _ = host.submit("go");
            host.reply(&Message::call("c1", "shot", &json!({})));
            let id = *host.runs.keys().next().unwrap();
            let _ = host.done(id, Outcome { parts: parts(), ..Outcome::default() });
            let body = host.body();
            let shown = forms(wire).iter().filter(|form| holds(&body, form)).count();
            let expected = if images && !forms(wire)[0].is_null() { 2 } else { 0 };
            assert_eq!(shown, if wire == WireKind::Ollama { shown } else { expected }, "{wire:?}");
            if !images {
                let told = body.to_string().matches(LEFT_OUT).count();
                assert_eq!(told, 3, "{wire:?}: {body}");
                assert!(body.to_string().contains("[a.pdf is left out"), "{wire:?}");
            }
        }
    }
}

#[test]
fn details_are_for_the_user_interface_alone() {
    let mut host = host(WireKind::Anthropic, true);
    let _ = host.submit("go");
    host.reply(&Message::call("c1", "shot", &json!({})));
    let details = Json::parse(r#"{"secret_of_the_interface":[1]}"#).unwrap();
    let id = *host.runs.keys().next().unwrap();
    let outcome = Outcome { details: Some(Box::new(details.clone())), ..Outcome::text("seen") };
    let _ = host.done(id, outcome);
    let told = host.find(|kind| match kind {
        EventKind::ToolCallEnd { outcome, .. } => outcome.details.as_deref().cloned(),
        _ => None,
    });
    assert_eq!(told, [details]);
    let body = host.body().to_string();
    assert!(body.contains("seen") && !body.contains("secret_of_the_interface"), "{body}");
}
