//! No command, outcome, delta, body, event, snapshot, log, recording or error holds a key of the
//! endpoint table, whole or cut at any place.

use crate::stage::{KEY, OTHER, Stage, endpoints, parts};
use innerloop_core::{
    action::{ChangeKind, Outcome, ReportedChange},
    bytes::BodyBytes,
    config::{ApprovalRule, AskAbout, HookPoint, ProjectDoc, SessionConfig},
    id::{AgentId, EndpointId, SessionId},
    input::{
        Answer, Command, HookReply, HttpFailure, HttpFailureKind, HttpInput, Input, ResponseHead,
        ToolInput,
    },
    json::Json,
    message::Part,
    status::AgentState,
    tool::ToolSpec,
};
use innerloop_driver::{
    ApiKey, Driver, DriverOptions, DriverOutput, Endpoint, EndpointTable, HostCapabilities,
    LineServer, ModelSource, SecretKeys, StreamMasker,
    capture::{KEPT, OutputCapture, ProgramExit, StandardStream},
    providers,
    traffic::{TrafficPlayer, TrafficRecorder},
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{EPOCH, config},
};
use serde_json::{Value, json};

/// No piece of a key of this length is anywhere.
const PIECE: usize = 14;

#[track_caller]
fn clean(stage: &Stage) -> String {
    let traces = stage.traces();
    for key in [KEY, OTHER] {
        let pieces = (0..=key.len() - PIECE).map(|at| &key[at..at + PIECE]);
        for piece in pieces {
            let at = traces.find(piece);
            assert_eq!(at, None, "{}", &traces[at.unwrap().saturating_sub(200)..at.unwrap()]);
        }
    }
    traces
}

fn recorded() -> DriverOptions {
    DriverOptions { models: ModelSource::Recorded(TrafficRecorder::default()), ..parts() }
}

fn asked() -> SessionConfig {
    let mut config = config();
    config.approval.ask = AskAbout::Everything;
    config
}

fn everybody() -> DriverOptions {
    let hooks = vec![HookPoint::BeforeTool, HookPoint::AfterTool, HookPoint::Submit];
    DriverOptions { people: HostCapabilities { approve: true, answer: true, hooks }, ..recorded() }
}

#[test]
fn a_key_in_the_words_of_the_user_is_masked() {
    let mut stage = Stage::new(recorded());
    stage.submit(&format!("my key is {KEY}, {OTHER}"));
    stage.input(Input::command(Command::Steer { parts: vec![Part::text(KEY)] }));
    stage.input(Input::command(Command::follow_up(vec![Part::text(OTHER)])));
    let patch = json!({
        "instructions": format!("the key: {KEY}"),
        "model": {"name": KEY, "reasoning_effort": OTHER, "options": {"user": KEY}},
    });
    let patch = serde_json::from_value(patch).unwrap();
    stage.input(Input::command(Command::Configure { patch }));
    assert!(stage.body().contains("my key is ***, ***"));
    stage.reply(&Message::text("fine"));
    clean(&stage);
}

#[test]
fn a_key_given_anew_is_sent_and_the_one_before_stays_masked() {
    const BETWEEN: &str = "sk-ant-api03-between-them-5a4b3c2d";
    const NEW: &str = "sk-ant-api03-given-anew-9f8e7d6c";
    let mut stage = Stage::new(recorded());
    for key in [BETWEEN, NEW, NEW] {
        stage.driver.rekey(ApiKey::new(key));
    }
    stage.submit(&format!("first {KEY}, then {BETWEEN}, then {NEW}"));
    assert!(stage.body().contains("first ***, then ***, then ***"), "{}", stage.body());
    let (_, sent) = stage.newest(|output| match output {
        DriverOutput::Send { request, .. } => request.key.clone(),
        _ => None,
    });
    assert_eq!(sent.expose(), NEW);
    assert!(!clean(&stage).contains(NEW));
}

#[test]
fn a_key_in_a_file_is_masked() {
    let mut stage = Stage::new(recorded());
    stage.submit("go");
    stage.reply(&Message::call("c1", "read_file", &json!({"file_path": ".env"})));
    let change = ReportedChange {
        path: format!("{KEY}.txt"),
        kind: ChangeKind::Modified,
        before: Some(format!("a={KEY}")),
        after: Some(format!("b={OTHER}")),
    };
    let outcome = Outcome { changes: vec![change], ..Outcome::text(format!("KEY={KEY}\n")) };
    let id = stage.run();
    stage.input(Input::Tool { id, input: ToolInput::Done(outcome) });
    assert!(stage.body().contains("KEY=***"), "{}", stage.body());
    stage.reply(&Message::text("done"));
    assert!(clean(&stage).contains("***.txt"));
}

#[test]
fn a_key_in_deltas_is_masked_wherever_it_is_cut() {
    let text = format!("one {KEY} two {OTHER}{KEY} sk-ant-01 three");
    for size in 1..text.len() {
        let mut stage = Stage::new(recorded());
        stage.submit("go");
        stage.reply(&Message::call("c1", "run_it", &json!({})));
        stage.reply(&Message::call("c2", "read_file", &json!({"file_path": "a"})));
        let id = stage.run();
        for piece in text.as_bytes().chunks(size) {
            let piece = String::from_utf8(piece.to_vec()).unwrap();
            stage.input(Input::Tool { id, input: ToolInput::Delta(piece) });
        }
        stage.input(Input::Tool { id, input: ToolInput::Done(Outcome::text("")) });
        let deltas: String = stage
            .events()
            .filter_map(|kind| match kind {
                innerloop_core::event::EventKind::ToolCallOutputDelta { text, .. } => {
                    Some(text.as_str())
                }
                _ => None,
            })
            .collect();
        assert_eq!(deltas, "one *** two ****** sk-ant-01 three", "pieces of {size}");
        clean(&stage);
    }
}

#[test]
fn a_key_in_a_response_is_masked_wherever_it_is_cut() {
    let escaped = KEY.replace('/', "\\/");
    let said = format!("invalid x-api-key: {KEY}, {escaped}, {OTHER}");
    let error = json!({"type": "error", "error": {"type": "authentication_error", "message": "M"}});
    let body = error.to_string().replace('M', &said);
    for size in 1..body.len() {
        let mut stage = Stage::new(recorded());
        stage.submit("go");
        stage.answer(401, "application/json", body.as_bytes(), size);
        assert!(clean(&stage).contains("invalid x-api-key: ***"), "pieces of {size}");
        assert!(stage.recording.contains("***") && stage.log.contains("***"));
    }
}

#[test]
fn a_key_in_heads_and_failures_is_masked() {
    let mut stage = Stage::new(recorded());
    stage.submit("go");
    let headers = vec![("retry-after".to_owned(), KEY.to_owned()), (OTHER.into(), "x".into())];
    stage.http(HttpInput::Head(ResponseHead { status: 200, headers, ..ResponseHead::default() }));
    let message = format!("the connection with {KEY} broke");
    stage.http(HttpInput::Failed(HttpFailure { kind: HttpFailureKind::Network, message }));
    clean(&stage);
}

#[test]
fn a_key_in_answers_and_replies_is_masked() {
    let answers = [
        Answer::deny(KEY),
        Answer::Text(KEY.into()),
        Answer::AllowEdited(Json::parse(json!({"file_path": KEY}).to_string()).unwrap()),
        Answer::AllowEdited(
            Json::parse(r#"{"file_path":"\u0073k-ant-0123456789\/abcdef"}"#).unwrap(),
        ),
        Answer::AllowRule(ApprovalRule {
            tool: OTHER.into(),
            starting: [("file_path".to_owned(), KEY.to_owned())].into(),
        }),
    ];
    for answer in answers {
        let mut stage = Stage::open(asked(), everybody());
        stage.submit("go");
        stage.reply(&Message::call("c1", "read_file", &json!({"file_path": "a"})));
        let id = stage.newest(|output| match output {
            DriverOutput::Ask { id, .. } => Some(*id),
            _ => None,
        });
        stage.input(Input::Answer { id, answer });
        clean(&stage);
    }
    let replies = [
        HookReply::Deny { reason: KEY.into() },
        HookReply::Failed { message: OTHER.into() },
        HookReply::Replace(Json::parse(format!("{KEY:?}")).unwrap()),
    ];
    for reply in replies {
        let mut config = config();
        config.hooks.points = vec![HookPoint::Submit];
        let mut stage = Stage::open(config, everybody());
        stage.submit("go");
        let id = stage.newest(|output| match output {
            DriverOutput::Hook { id, .. } => Some(*id),
            _ => None,
        });
        stage.input(Input::Hook { id, reply });
        clean(&stage);
    }
}

#[test]
fn a_key_in_the_configuration_is_masked() {
    let mut config = config();
    config.instructions = Some(format!("use {KEY}"));
    let text = format!("# Keys\n{OTHER}\n");
    config.facts.project_docs = vec![ProjectDoc { path: "AGENTS.md".into(), text, private: false }];
    config.model.options.insert("user".into(), Json::parse(format!("{KEY:?}")).unwrap());
    let parameters = json!({"type": "object", "description": KEY}).to_string();
    config.tools = vec![ToolSpec {
        read_only: true,
        ..ToolSpec::new("t", format!("with {KEY}"), Json::parse(parameters).unwrap())
    }];
    let mut stage = Stage::open(config, recorded());
    stage.submit("go");
    stage.reply(&Message::text("done"));
    clean(&stage);
}

#[test]
fn a_key_in_a_refused_input_comes_back_masked() {
    let mut stage = Stage::new(parts());
    stage.submit("go");
    let parts = vec![Part::text(format!("again, {KEY}"))];
    let rejected = stage.offer(Input::command(Command::submit(parts))).unwrap_err();
    assert!(!format!("{rejected:?} {rejected}").contains(KEY));
}

#[test]
fn a_key_in_a_recording_of_somebody_elses_is_masked() {
    let mut exchange = TrafficRecorder::default().begin("user: go\n");
    exchange.head(400, &[("content-type".into(), "application/json".into())]);
    exchange.body.0.extend_from_slice(format!("{{\"error\": \"{KEY}\"}}").as_bytes());
    exchange.failed = Some(KEY.into());
    let player = TrafficPlayer::parse(&exchange.line()).unwrap();
    let models = ModelSource::Replayed { player, pace_ms: 0 };
    let mut stage = Stage::new(DriverOptions { models, ..parts() });
    stage.submit("go");
    clean(&stage);
    let mut other = TrafficRecorder::default().begin(&format!("user: {KEY}\n"));
    other.head(200, &[]);
    let player = TrafficPlayer::parse(&other.line()).unwrap();
    let models = ModelSource::Replayed { player, pace_ms: 0 };
    let mut stage = Stage::new(DriverOptions { models, ..parts() });
    stage.submit("go");
    let seen: Vec<_> = stage.events().map(|kind| format!("{kind:?}")).collect();
    assert!(!seen.concat().contains(KEY), "{seen:?}");
}

#[test]
fn a_key_that_a_program_prints_is_masked_before_anything_is_dropped() {
    let keys = endpoints().keys();
    let text = format!("ü{KEY}ü{OTHER}ü");
    for size in 1..=text.len() {
        let mut capture = OutputCapture::new(&keys, KEPT);
        let mut deltas = String::new();
        for piece in text.as_bytes().chunks(size) {
            deltas.push_str(&capture.push(StandardStream::Out, piece));
            deltas.push_str(&capture.push(StandardStream::Err, piece));
        }
        deltas.push_str(&capture.finish());
        let outcome = capture.outcome(&ProgramExit::Exit(0), Vec::new(), false);
        assert_eq!(outcome.joined_text(), "ü***ü***ü\nstandard error:\nü***ü***ü");
        let both = (outcome.stdout(), outcome.stderr());
        assert_eq!(both, (Some("ü***ü***ü"), Some("ü***ü***ü")));
        assert!(!deltas.contains('\u{fffd}') && !deltas.contains("0123456789"), "{deltas}");
    }
    // Wherever the beginning that is kept ends, no key is cut there.
    for kept in 2..120 {
        let mut capture = OutputCapture::new(&keys, kept);
        let _shown = capture.push(StandardStream::Out, format!("{text}{text}{text}").as_bytes());
        let told = capture.outcome(&ProgramExit::Exit(0), Vec::new(), false).joined_text();
        assert!(!told.contains("sk-a") && !told.contains("6789"), "{kept}: {told}");
    }
}

#[test]
fn keys_that_hold_one_another_are_masked_whole() {
    let keys = [ApiKey::new("secret-0123456789"), ApiKey::new("my-secret-0123456789-long")];
    let keys = SecretKeys::new(keys.iter());
    let text = "a my-secret-0123456789-long b secret-0123456789 c my-secret-0123456789 d";
    assert_eq!(keys.masked(text), "a *** b *** c *** d");
    for size in 1..=text.len() {
        let mut masking = StreamMasker::new(&keys);
        let mut out = Vec::new();
        for piece in text.as_bytes().chunks(size) {
            out.extend(masking.push(piece.to_vec()));
        }
        out.extend(masking.end());
        assert_eq!(String::from_utf8(out).unwrap(), "a *** b *** c *** d", "{size}");
    }
}

#[test]
fn simple_keys_and_beginnings_of_keys_are_left_alone() {
    let simple = ["test", "placeholder", "eleven-ch-1", "sk-no-key-required.at all"];
    let keys: Vec<ApiKey> =
        simple.into_iter().chain(["0123456789abcdef"]).map(ApiKey::new).collect();
    assert_eq!(keys.iter().filter(|key| key.is_simple()).count(), simple.len());
    let keys = SecretKeys::new(keys.iter());
    // A mask in its place could be a pattern of the shell.
    let line = "rm -rf cache/placeholder";
    assert_eq!(keys.masked(line), line);
    let mut masking = StreamMasker::new(&keys);
    let text = "a test 012345 zz0123456789abcdef 0123";
    let out = [masking.push(text.into()), masking.end()].concat();
    assert_eq!(String::from_utf8(out).unwrap(), "a test 012345 zz*** 0123");
}

#[test]
fn pieces_of_a_key_are_masked_wherever_it_is_cut() {
    let long = "sk-ant-api03-Zq8x0fJ2mW5vK7tYb1cR4dN6hL9pS3gU-aE_uXiOoQ";
    for (key, piece) in [(KEY, PIECE), (OTHER, PIECE), ("short-key-123", 13), (long, PIECE)] {
        let keys = SecretKeys::new([ApiKey::new(key)].iter());
        for start in 0..key.len() {
            for end in start + 1..=key.len() {
                let cut = &key[start..end];
                let text = format!("= {cut} .");
                let expected = if cut.len() >= piece { "= *** ." } else { &text };
                assert_eq!(keys.masked(&text), expected);
                for size in [1, 3, piece, piece + 1] {
                    let mut masking = StreamMasker::new(&keys);
                    let pieces = text.as_bytes().chunks(size);
                    let mut out: Vec<u8> = pieces.flat_map(|p| masking.push(p.to_vec())).collect();
                    out.extend(masking.end());
                    assert_eq!(String::from_utf8(out).unwrap(), expected, "by {size}");
                }
            }
        }
    }
    // A line that a tool has cut within the key.
    let mut stage = Stage::new(recorded());
    stage.submit("go");
    stage.reply(&Message::call("c1", "read_file", &json!({"file_path": ".env"})));
    let id = stage.run();
    let outcome = Outcome::text(format!("KEY={}... (truncated)\n", &KEY[..KEY.len() - 3]));
    stage.input(Input::Tool { id, input: ToolInput::Done(outcome) });
    assert!(stage.body().contains("KEY=***... (truncated)"), "{}", stage.body());
    clean(&stage);
}

#[test]
fn text_like_a_key_is_left_alone() {
    let keys = SecretKeys::new([ApiKey::new(&format!("{}b", "a".repeat(40)))].iter());
    let text = "aaaaaaaaaaaaac aaaaaaaaaaaaa ".repeat(1_000);
    assert_eq!(keys.masked(&text), text);
    let mut masking = StreamMasker::new(&keys);
    let out = [masking.push(text.clone().into()), masking.end()].concat();
    assert_eq!(String::from_utf8(out).unwrap(), text);
}

#[test]
fn a_key_that_a_session_met_before_it_was_one_is_masked() {
    let provider = providers::find("anthropic").unwrap();
    let endpoint = Endpoint::new(&provider, None, ApiKey::new("quite-another-key")).unwrap();
    let endpoints = EndpointTable::default().with(EndpointId("mock".into()), endpoint);
    let mut config = config();
    config.instructions = Some(format!("use {KEY}"));
    let mut stage = Stage::open(config, DriverOptions { endpoints, ..parts() });
    stage.submit(&format!("take {OTHER}"));
    stage.reply(&Message::text(&format!("I take {OTHER} and {KEY}")));
    stage.submit("go on");
    let snapshot = stage.driver.session().snapshot();
    let again = [
        Driver::restore(&snapshot, EPOCH, recorded()).unwrap(),
        Driver::resume(&stage.log, EPOCH, recorded()).unwrap(),
        stage.driver.fork(SessionId("fork".into()), 9, EPOCH, recorded()).unwrap(),
    ];
    for driver in again {
        let mut stage = Stage::around(driver);
        if stage.driver.session().status(AgentId::ROOT).unwrap().state == AgentState::Idle {
            stage.submit("go on");
        }
        assert!(stage.body().contains("I take *** and ***"), "{}", stage.body());
        stage.reply(&Message::text("done"));
        clean(&stage);
    }
    let mut damaged = snapshot;
    let at = damaged.windows(4).position(|bytes| bytes == b"take").unwrap();
    damaged[at] = b'T';
    assert!(Driver::restore(&damaged, EPOCH, recorded()).is_err());
}

#[test]
fn a_key_shows_itself_nowhere() {
    let key = ApiKey::new(&format!(" {KEY}\n"));
    assert_eq!((format!("{key} {key:?}").as_str(), key.expose()), ("*** ***", KEY));
    let driver = Driver::open(config(), EPOCH, parts()).unwrap();
    assert!(!format!("{driver:?} {:?} {:?}", endpoints(), driver.keys()).contains("0123456789"));
}

/// A streamed reply of one text that comes in these pieces of JSON, and of a call.
fn streamed(pieces: &[&str], call: &[&str]) -> String {
    let mut body = String::new();
    let mut event = |json: String| body.push_str(&format!("data: {json}\n\n"));
    let usage = r#""usage":{"input_tokens":1,"output_tokens":1}"#;
    event(format!(
        r#"{{"type":"message_start","message":{{"id":"m","role":"assistant","model":"x",{usage}}}}}"#
    ));
    let block = |index, block| {
        format!(r#"{{"type":"content_block_start","index":{index},"content_block":{block}}}"#)
    };
    let delta = |index, delta: String| {
        format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#)
    };
    event(block(0, r#"{"type":"text","text":""}"#));
    for piece in pieces {
        event(delta(0, format!(r#"{{"type":"text_delta","text":"{piece}"}}"#)));
    }
    event(r#"{"type":"content_block_stop","index":0}"#.into());
    if !call.is_empty() {
        event(block(1, r#"{"type":"tool_use","id":"c1","name":"run_it","input":{}}"#));
        for piece in call {
            let json = serde_json::to_string(piece).unwrap();
            event(delta(1, format!(r#"{{"type":"input_json_delta","partial_json":{json}}}"#)));
        }
        event(r#"{"type":"content_block_stop","index":1}"#.into());
    }
    let stop = if call.is_empty() { "end_turn" } else { "tool_use" };
    event(format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"{stop}"}},{usage}}}"#));
    event(r#"{"type":"message_stop"}"#.into());
    body
}

/// All that is told but the pieces as they came, and what is kept.
fn put_together(stage: &Stage) -> String {
    let told = stage.events().filter(|kind| {
        use innerloop_core::event::EventKind;
        let is_piece = |kind: &EventKind| {
            matches!(kind, EventKind::AssistantTextDelta { .. } | EventKind::ToolCallDelta { .. })
        };
        !is_piece(kind)
    });
    let events: Vec<String> = told.map(|kind| serde_json::to_string(kind).unwrap()).collect();
    let snapshot = String::from_utf8(stage.driver.snapshot()).unwrap();
    let history = stage.driver.session().history(AgentId::ROOT).unwrap().turns();
    let shown = stage.driver.shown(innerloop_core::json::to_string(&history));
    let turns = innerloop_core::json::to_string(&stage.driver.shown_turns(AgentId::ROOT));
    assert_eq!(turns, shown);
    format!("{}\n{snapshot}\n{shown}", events.join("\n"))
}

#[test]
fn a_key_that_is_put_together_of_pieces_is_masked_where_it_stands_whole() {
    let (head, tail) = KEY.split_at(11);
    let mut stage = Stage::new(parts());
    stage.submit("go");
    let body = streamed(&["The key is ", head, tail, "."], &["{\"a\":\"", head, tail, "\"}"]);
    stage.answer(200, "text/event-stream", body.as_bytes(), usize::MAX);
    let told = put_together(&stage);
    assert!(!told.contains(KEY) && told.contains("The key is ***."), "in mid-run: {told}");
    stage.reply(&Message::text("done"));
    assert_eq!(stage.driver.session().status(AgentId::ROOT).unwrap().state, AgentState::Idle);
    let whole = String::from_utf8(stage.driver.session().snapshot()).unwrap();
    assert!(!whole.contains(KEY) && whole.contains("The key is ***."), "{whole}");
    let snapshot = stage.log.lines().rfind(|line| line.starts_with("{\"snapshot\"")).unwrap();
    assert!(!snapshot.contains(KEY), "{snapshot}");
    stage.submit("again");
    assert!(!stage.body().contains(KEY) && stage.body().contains("The key is ***."));
    stage.reply(&Message::text("done again"));
    assert_eq!(stage.driver.session().status(AgentId::ROOT).unwrap().state, AgentState::Idle);
}

#[test]
fn a_key_that_is_put_together_of_pieces_is_in_no_answer_in_lines() {
    let (head, tail) = KEY.split_at(11);
    let mut lines = LineServer::default();
    let mut call = |request: Value, bytes: &str| {
        let line = if bytes.is_empty() { String::new() } else { format!("\n{bytes}") };
        lines.call(format!("{request}{line}").as_bytes()).to_owned()
    };
    let model = json!({"endpoint": "anthropic", "wire": "anthropic", "name": "claude"});
    let parts = json!({"endpoints": [{"provider": "anthropic", "key": KEY}]});
    call(json!({"open": {"config": {"id": "s", "model": model}, "parts": parts, "wall": 0}}), "");
    let handle = |input: Value| json!({"handle": {"session": 1, "at": 1, "input": input}});
    let parts = json!([{"type": "text", "text": "go"}]);
    let submit = json!({"command": {"agent": 0, "command": {"submit": {"parts": parts}}}});
    call(handle(submit), "");
    let head_of = json!({"status": 200, "headers": [["content-type", "text/event-stream"]]});
    call(handle(json!({"http": {"id": 1, "input": {"head": head_of}}})), "");
    let task = ["{\"task\":\"", head, tail, "\"}"];
    let body = streamed(&["The key is ", head, tail, "."], &task).replace("run_it", "spawn_agent");
    call(json!({"chunk": {"session": 1, "at": 1, "id": 1}}), &body);
    call(handle(json!({"http": {"id": 1, "input": {"end": null}}})), "");
    for verb in ["history", "seen", "overview"] {
        let told = call(json!({verb: {"session": 1, "agent": 0}}), "");
        assert!(told.contains("***") && !told.contains(KEY), "{verb}: {told}");
    }
}

#[test]
fn a_key_in_the_pieces_of_half_a_reply_is_in_no_snapshot() {
    let (head, tail) = KEY.split_at(11);
    let mut stage = Stage::new(parts());
    stage.submit("go");
    let body = streamed(&["The key is ", head, tail, "."], &[]);
    let (half, _) = body.split_once(r#"data: {"type":"content_block_stop""#).unwrap();
    let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
    stage.http(HttpInput::Head(ResponseHead { status: 200, headers, ..ResponseHead::default() }));
    stage.http(HttpInput::Chunk(BodyBytes(half.into())));
    let raw = String::from_utf8(stage.driver.session().snapshot()).unwrap();
    assert!(raw.contains(KEY), "the session has put it together: {raw}");
    let snapshot = String::from_utf8(stage.driver.snapshot()).unwrap();
    assert!(!snapshot.contains(KEY) && snapshot.contains("The key is ***."), "{snapshot}");
}

#[test]
fn a_key_that_comes_escaped_is_masked_in_its_piece_and_where_it_stands_whole() {
    let escaped: String = KEY.chars().map(|one| format!("\\u{:04x}", u32::from(one))).collect();
    let mut stage = Stage::new(parts());
    stage.submit("go");
    let body = streamed(&["The key is ", &escaped, "."], &[]);
    stage.answer(200, "text/event-stream", body.as_bytes(), 7);
    let told = put_together(&stage);
    let pieces: Vec<String> = stage.events().map(|kind| format!("{kind:?}")).collect();
    assert!(!pieces.join("\n").contains(KEY), "{pieces:?}");
    assert!(!told.contains(KEY) && told.contains("The key is ***."), "{told}");
}
