//! Pictures and documents that a provider does not take: what is above a known limit is not sent,
//! and what is refused all the same does not stay in the way.

use innerloop_core::{
    Session,
    action::Outcome,
    config::WireKind,
    event::EventKind,
    id::{AgentId, SessionId},
    input::Command,
    message::{LeftOutKind, Part, TurnKind},
    status::RunEnd,
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{EPOCH, TestHost, config, name},
    wires,
};
use serde_json::{Value, json};

const INVALID: &str = "invalid_request_error";

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |group: &[u8]| {
        let bits = (0..3).fold(0, |all, at| all << 8 | usize::from(*group.get(at).unwrap_or(&0)));
        let digit = |at: usize| char::from(DIGITS[bits >> (18 - 6 * at) & 63]);
        (0..4).map(|at| if at > group.len() { '=' } else { digit(at) }).collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}

/// A PNG with that header whose data has so many bytes.
fn png(width: u32, height: u32, bytes: usize) -> Part {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    png.extend(width.to_be_bytes());
    png.extend(height.to_be_bytes());
    png.extend(b"\x08\x02\0\0\0CRC.");
    png.extend(u32::try_from(bytes).unwrap().to_be_bytes());
    png.extend(b"IDAT");
    png.extend(vec![7; bytes]);
    png.extend(b"CRC.\0\0\0\0IENDCRC.");
    Part::Image { media_type: "image/png".into(), data: base64(&png) }
}

fn pdf(pages: usize) -> Part {
    let text =
        format!("%PDF-1.4\n{}", "1 0 obj <</Type /Page /Parent 2 0 R>> endobj\n".repeat(pages));
    let data = base64(text.as_bytes());
    Part::File { media_type: "application/pdf".into(), name: "paper.pdf".into(), data }
}

fn host(wire: WireKind) -> TestHost {
    let mut config = config();
    wires::speak(&mut config.model, wire);
    config.retry.refusal_closes = false;
    let tool = json!({"name": "shot", "description": "", "parameters": {"type": "object"}});
    config.tools = vec![serde_json::from_value(tool).unwrap()];
    TestHost::open(config)
}

/// A conversation whose model has just been given these parts by a tool.
fn shown(wire: WireKind, parts: Vec<Part>) -> TestHost {
    let mut host = host(wire);
    let _ = host.submit("go");
    host.reply(&Message::call("c1", "shot", &json!({})));
    give(&mut host, parts);
    host
}

fn give(host: &mut TestHost, parts: Vec<Part>) {
    let id = *host.runs.keys().next().unwrap();
    let _ = host.done(id, Outcome { parts, ..Outcome::default() });
}

fn labelled(name: &str, picture: Part) -> Vec<Part> {
    vec![Part::text(format!("{name}: image/png, 9 bytes.")), picture]
}

fn data(part: &Part) -> &str {
    let (Part::Image { data, .. } | Part::File { data, .. }) = part else { panic!("{part:?}") };
    data
}

fn sends(host: &TestHost, part: &Part) -> bool {
    host.body().to_string().contains(data(part))
}

fn warnings(host: &TestHost) -> Vec<String> {
    host.find(|kind| match kind {
        EventKind::Warning { message } => Some(message.clone()),
        _ => None,
    })
}

fn ends(host: &TestHost) -> Vec<RunEnd> {
    host.find(|kind| match kind {
        EventKind::ProcessingEnd { end, .. } => Some(*end),
        _ => None,
    })
}

fn leavings(host: &TestHost) -> Vec<LeftOutKind> {
    let turns = host.session.history(AgentId::ROOT).unwrap().turns();
    let left = turns.iter().filter_map(|turn| match &turn.kind {
        TurnKind::LeftOut(left) => Some(left.how),
        _ => None,
    });
    left.collect()
}

/// The session as it is restored from its snapshot, and its next request.
fn restored(host: &TestHost, said: &str) -> TestHost {
    let session = Session::restore(&host.session.snapshot(), EPOCH).unwrap();
    let mut host = TestHost { now: host.now, ..TestHost::around(session, String::new()) };
    let _ = host.submit(said);
    host
}

#[test]
fn what_is_above_a_known_limit_is_told_in_words() {
    let heavy = png(1_270, 1_270, 4_800_000);
    let cases = [
        (heavy, "an image is left out: it has 6,400,"),
        (png(9_000, 10, 9), "its longer side has 9,000 pixels, and this model takes at most 8,000"),
        (pdf(101), "paper.pdf is left out: it has 101 pages, and this model takes at most 100"),
    ];
    for (part, told) in cases {
        for wire in [WireKind::Anthropic, WireKind::OpenaiResponses] {
            let host = shown(wire, labelled("shot.png", part.clone()));
            let is_limited = wire == WireKind::Anthropic;
            assert_eq!(sends(&host, &part), !is_limited, "{wire:?} {told}");
            assert_eq!(host.body().to_string().contains(told), is_limited, "{wire:?} {told}");
            let warned = warnings(&host).iter().any(|it| it.contains("is not sent to the model"));
            assert_eq!(warned, is_limited, "{wire:?} {:?}", warnings(&host));
        }
    }
    // What fits is sent: 3,932,160 bytes are 5 MiB in base64.
    let fits = png(8_000, 8_000, 3_932_160 - 57);
    assert_eq!(data(&fits).len(), 5 << 20);
    for part in [fits, pdf(100)] {
        assert!(sends(&shown(WireKind::Anthropic, vec![part.clone()]), &part));
    }
}

#[test]
fn what_cannot_be_read_goes_to_no_model() {
    let Part::Image { media_type, data } = png(10, 10, 3_000) else { panic!() };
    let cut = Part::Image { media_type: media_type.clone(), data: data[..2_000].to_owned() };
    let url = Part::Image { media_type, data: format!("data:image/png;base64,{data}") };
    for wire in [WireKind::Anthropic, WireKind::OpenaiChat, WireKind::Gemini, WireKind::Ollama] {
        for (part, told) in [(&cut, "its end is missing"), (&url, "its data is not base64")] {
            let host = shown(wire, vec![part.clone()]);
            assert!(!sends(&host, part), "{wire:?} {told}");
            assert!(host.body().to_string().contains(told), "{wire:?} {told}");
        }
    }
}

#[test]
fn a_picture_goes_under_its_own_type() {
    let Part::Image { data, .. } = png(10, 10, 9) else { panic!() };
    let host =
        shown(WireKind::Anthropic, vec![Part::Image { media_type: "image/jpeg".into(), data }]);
    let body = host.body().to_string();
    assert!(body.contains("image/png") && !body.contains("image/jpeg"), "{body}");
}

#[test]
fn of_many_pictures_the_large_ones_are_not_sent() {
    let (large, small) = (png(2_001, 10, 9), png(2_000, 10, 9));
    let mut host = shown(WireKind::Anthropic, vec![large.clone()]);
    assert!(sends(&host, &large));
    host.reply(&Message::call("c2", "shot", &json!({})));
    give(&mut host, vec![small.clone(); 19]);
    assert!(sends(&host, &large), "twenty are not many");
    let since = host.events.last().unwrap().seq;
    host.reply(&Message::call("c3", "shot", &json!({})));
    give(&mut host, vec![small.clone()]);
    assert!(!sends(&host, &large) && sends(&host, &small));
    let told = "at most 2,000 in a conversation of more than 20 images";
    assert!(host.body().to_string().contains(told), "{}", host.body());
    let newer = host.events.iter().filter(|event| event.seq > since);
    assert!(newer.map(|event| name(&event.kind)).any(|kind| kind == "prefix_rebased"));
    // The same bytes after a restart.
    host.reply(&Message::text("ok"));
    let again = restored(&host, "more");
    let _ = host.submit("more");
    assert_eq!(again.body(), host.body());
    assert!(!sends(&again, &large));
}

#[test]
fn a_part_that_is_refused_by_name_stays_out() {
    let (good, bad) = (png(10, 10, 9), png(11, 11, 9));
    let parts = [labelled("good.png", good.clone()), labelled("bad.png", bad.clone())].concat();
    let mut host = shown(WireKind::Anthropic, parts);
    host.refuse(
        400,
        INVALID,
        "messages.2.content.0.tool_result.content.3.image.source.base64: Could not process image",
        &[],
    );
    assert_eq!(host.calls.len(), 1, "the call is made again at once");
    assert!(sends(&host, &good) && !sends(&host, &bad), "{}", host.body());
    assert!(host.body().to_string().contains("an image is left out: the provider refused"));
    let told = warnings(&host).into_iter().filter(|it| it.contains("bad.png")).count();
    assert_eq!(told, 1, "{:?}", warnings(&host));
    assert_eq!(leavings(&host), [LeftOutKind::Named]);
    host.reply(&Message::text("ok"));
    assert_eq!(ends(&host), [RunEnd::Completed]);

    let later = restored(&host, "more");
    assert!(sends(&later, &good) && !sends(&later, &bad));
    let turns = host.session.history(AgentId::ROOT).unwrap().turns().len();
    let fork = host.session.fork(SessionId("fork".into()), turns, EPOCH);
    let mut fork = TestHost::around(fork.unwrap().0, String::new());
    let _ = fork.submit("more");
    assert!(sends(&fork, &good) && !sends(&fork, &bad));
    let _ = host.submit("more");
    assert_eq!(host.body(), later.body());
    assert_eq!(host.requests.len(), 4, "nothing is tried once more");
}

#[test]
fn a_new_part_is_left_out_where_the_provider_does_not_name_it() {
    for wire in wires::FAMILIES.map(|(wire, ..)| wire) {
        for message in ["Could not process image", "Provided input is not valid."] {
            let bad = png(11, 11, 9);
            let mut host = shown(wire, labelled("bad.png", bad.clone()));
            host.refuse(400, INVALID, message, &[]);
            assert!(!sends(&host, &bad), "{wire:?} {message}");
            assert!(warnings(&host).iter().any(|it| it.contains("bad.png")), "{wire:?}");
            host.reply(&Message::text("ok"));
            assert_eq!(ends(&host), [RunEnd::Completed], "{wire:?} {message}");
            assert!(!sends(&restored(&host, "more"), &bad), "{wire:?}");
        }
    }
}

#[test]
fn what_the_user_attached_is_left_out_as_well_and_the_words_stay() {
    let paper = pdf(3);
    let mut host = host(WireKind::Anthropic);
    let _ = host.command(Command::submit(vec![Part::text("Read this"), paper.clone()]));
    host.refuse(400, INVALID, "The PDF specified was not valid.", &[]);
    assert!(!sends(&host, &paper) && host.body().to_string().contains("Read this"));
    assert!(host.body().to_string().contains("[paper.pdf is left out"));
    // It can be undone as if nothing had happened.
    host.reply(&Message::text("ok"));
    let _ = host.command(Command::Undo { steps: 1 });
    let _ = host.submit("again");
    assert_eq!(host.body()["messages"].as_array().unwrap().len(), 1);
}

#[test]
fn where_the_part_is_not_at_fault_it_is_put_back() {
    let good = png(10, 10, 9);
    let mut host = shown(WireKind::Anthropic, labelled("good.png", good.clone()));
    for _ in 0..2 {
        host.refuse(400, INVALID, "max_tokens: must be less", &[]);
    }
    assert_eq!(leavings(&host), [LeftOutKind::Tried, LeftOutKind::PutBack]);
    assert_eq!(ends(&host), [RunEnd::Failed]);
    let later = restored(&host, "more");
    assert!(sends(&later, &good));
}

#[test]
fn a_refusal_without_a_new_part_fails_as_it_did() {
    let good = png(10, 10, 9);
    let mut host = shown(WireKind::Anthropic, vec![good.clone()]);
    host.reply(&Message::text("I see"));
    let _ = host.submit("more");
    host.refuse(400, INVALID, "max_tokens: must be less", &[]);
    assert_eq!(leavings(&host), []);
    assert_eq!(ends(&host), [RunEnd::Completed, RunEnd::Failed]);

    let mut host = shown(WireKind::Anthropic, vec![good]);
    host.refuse(404, "not_found_error", "model: mock-1", &[]);
    assert_eq!(leavings(&host), [], "a model that is not there");
}

#[test]
fn a_session_that_is_poisoned_already_lives_again() {
    let bad: Vec<Part> = (0..30).map(|n| png(10 + n, 10, 9)).collect();
    let mut host = shown(WireKind::Anthropic, bad.clone());
    // A server that is down leaves it as it was before.
    host.refuse(400, INVALID, "messages.2.content.0.tool_result.content.0.image: no", &[]);
    let mut tries = 1;
    while host.calls.len() == 1 && tries < 40 {
        let body = host.body();
        let content = body["messages"][2]["content"][0]["content"].as_array().unwrap();
        let Some(at) = content.iter().position(|part| part["type"] == "image") else { break };
        let message = format!("messages.2.content.0.tool_result.content.{at}.image: no");
        host.refuse(400, INVALID, &message, &[]);
        tries += 1;
    }
    assert!(tries < 12, "not each by itself: {tries}");
    assert!(bad.iter().all(|part| !sends(&host, part)));
    host.reply(&Message::text("ok"));
    assert_eq!(ends(&host), [RunEnd::Completed]);
}

#[test]
fn the_log_keeps_what_is_left_out() {
    let bad = png(11, 11, 9);
    let mut host = shown(WireKind::Anthropic, vec![bad.clone()]);
    host.refuse(400, INVALID, "Could not process image", &[]);
    host.reply(&Message::text("ok"));
    let turns = host.session.history(AgentId::ROOT).unwrap().turns();
    let kept = turns.iter().any(|turn| match &turn.kind {
        TurnKind::ToolResults(results) => results[0].parts.contains(&bad),
        _ => false,
    });
    assert!(kept);
    let json: Value = serde_json::to_value(
        turns.iter().find(|turn| matches!(turn.kind, TurnKind::LeftOut(_))).unwrap(),
    )
    .unwrap();
    let at = json!({"turn": 2, "result": 0, "part": 0});
    assert_eq!(json["kind"]["left_out"]["parts"], json!([at]));
    assert_eq!(json["kind"]["left_out"]["how"], "tried");
}

#[test]
fn signatures_that_another_account_has_made_are_left_out() {
    let words = [
        (WireKind::Anthropic, "messages.1.content.0: Invalid `signature` in `thinking` block"),
        (WireKind::OpenaiResponses, "The encrypted content gAAA could not be verified."),
    ];
    for (wire, refusal) in words {
        let mut host = host(wire);
        let _ = host.submit("go");
        host.reply(&Message::text("One.").thinking("I weigh it."));
        let _ = host.submit("more");
        let signed = |host: &TestHost| {
            let body = host.body().to_string();
            body.contains("\"signature\"") || body.contains("encrypted_content\":")
        };
        assert!(signed(&host), "{wire:?}: {}", host.body());
        host.refuse(400, INVALID, refusal, &[]);
        assert_eq!(host.calls.len(), 1, "the call is made again at once");
        assert!(!signed(&host) && host.body().to_string().contains("I weigh it."));
        assert!(warnings(&host).last().unwrap().contains("without its signatures"));

        // Thinking of its own stays signed.
        host.reply(&Message::text("Two.").thinking("And again."));
        let later = restored(&host, "on");
        assert!(signed(&later), "{}", later.body());
        let _ = host.submit("on");
        assert_eq!(host.body(), later.body());
        // What is refused without them is refused for good.
        host.refuse(400, INVALID, refusal, &[]);
        assert!(!signed(&host) && host.calls.len() == 1);
        host.refuse(400, INVALID, refusal, &[]);
        assert_eq!(ends(&host).last(), Some(&RunEnd::Failed));
    }
}
