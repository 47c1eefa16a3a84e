//! Pictures that are larger than the provider takes, attached by a person or read by a tool: they
//! are made smaller on their way to the model, which is told so.

use base64ct::{Base64, Encoding as _};
use image::{ImageBuffer, Luma};
use innerloop_tests::{anthropic::Message, program::run, scene::Scene};
use serde_json::{Value, json};
use std::fs;

/// A grey picture that hardly compresses.
fn draw(scene: &Scene, name: &str, (width, height): (u32, u32)) {
    let mut seed = 1_u32;
    let picture = ImageBuffer::from_fn(width, height, |_, _| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        Luma([seed.to_be_bytes()[0]])
    });
    picture.save(scene.path(name)).unwrap();
}

/// The pixels and the bytes of the first picture in a list of blocks, and the words behind it.
fn first_picture(blocks: &Value) -> ((u32, u32), usize, String) {
    let blocks = blocks.as_array().unwrap();
    let at = blocks.iter().position(|block| block["type"] == "image").unwrap();
    let data = blocks[at]["source"]["data"].as_str().unwrap();
    let picture = image::load_from_memory(&Base64::decode_vec(data).unwrap()).unwrap();
    let words = blocks[at + 1]["text"].as_str().unwrap_or_default().to_owned();
    ((picture.width(), picture.height()), data.len(), words)
}

#[test]
fn what_a_person_attaches_is_made_smaller() {
    let scene = Scene::streaming(&[Message::text("I see.")]);
    draw(&scene, "wide.png", (9_000, 300));
    let _run = run(scene.command("Look").args(["--attach", &scene.arg("wide.png")])).exits(0);
    let body: Value = serde_json::from_str(&scene.model.requests()[0].body).unwrap();
    let (size, _, words) = first_picture(&body["messages"][0]["content"]);
    assert_eq!(size, (2_000, 67));
    assert_eq!(words, "[The picture has 9000 × 300 pixels and is shown with 2000 × 67.]");
}

#[test]
fn what_a_tool_reads_is_made_smaller() {
    let read = Message::call("toolu_1", "read_file", &json!({"file_path": "big.png"}));
    let scene = Scene::streaming(&[read, Message::text("I see.")]);
    let file = scene.workspace().join("big.png");
    fs::create_dir_all(scene.workspace()).unwrap();
    draw(&scene, "big.png", (2_600, 2_600));
    fs::rename(scene.path("big.png"), &file).unwrap();
    assert!(fs::metadata(&file).unwrap().len() > 5 << 20);
    let _run = run(&mut scene.command("Look")).exits(0);
    let body: Value = serde_json::from_str(&scene.model.requests()[1].body).unwrap();
    let result = &body["messages"][2]["content"][0]["content"];
    let (size, bytes, words) = first_picture(result);
    assert_eq!(size, (2_000, 2_000));
    assert!(bytes <= 5 << 20);
    assert_eq!(words, "[The picture has 2600 × 2600 pixels and is shown with 2000 × 2000.]");
}
