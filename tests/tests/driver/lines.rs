//! Sessions by lines, as hosts in other languages drive them.

use innerloop_core::config::MAX_NESTED_DOCS;
use innerloop_driver::LineServer;
use innerloop_tests::{fuzzing::changed, transcript::exchanges};
use serde_json::{Value, json};

/// How many changed requests are made.
const CHANGED: u64 = 100_000;

/// A session's number.
type Number = u64;

/// A host that makes requests and reads the answers.
#[derive(Default)]
struct Host {
    lines: LineServer,
    log: String,
}

impl Host {
    /// The lines of an answer, the log's apart.
    fn call(&mut self, request: &Value, bytes: &str) -> Vec<Value> {
        let line = if bytes.is_empty() { String::new() } else { format!("\n{bytes}") };
        let answer = self.lines.call(format!("{request}{line}").as_bytes());
        let mut told = Vec::new();
        for line in answer.lines() {
            match line.strip_prefix("{\"entry\":") {
                Some(entry) => self.log.extend([entry.strip_suffix('}').unwrap(), "\n"]),
                None => told.push(serde_json::from_str(line).unwrap()),
            }
        }
        told
    }

    fn open(&mut self, parts: &Value) -> Number {
        let wall = 1_800_000_000_000_u64;
        let told =
            self.call(&json!({"open": {"config": config(), "parts": parts, "wall": wall}}), "");
        told[0]["session"].as_u64().unwrap_or_else(|| panic!("{told:?}"))
    }

    fn handle(&mut self, session: Number, at: u64, input: &Value) -> Vec<Value> {
        self.call(&json!({"handle": {"session": session, "at": at, "input": input}}), "")
    }

    fn submit(&mut self, session: Number) -> Vec<Value> {
        let parts = json!([{"type": "text", "text": "Is it warm in Rome?"}]);
        self.handle(
            session,
            10,
            &json!({"command": {"agent": 0, "command": {"submit": {"parts": parts}}}}),
        )
    }

    /// Answers a request by a call of the weather, or by a text.
    fn reply(&mut self, session: Number, id: u64, calls: bool) -> Vec<Value> {
        let head = json!({"status": 200, "headers": [["content-type", "text/event-stream"]]});
        self.handle(session, 20, &json!({"http": {"id": id, "input": {"head": head}}}));
        let call = json!([{"index": 0, "id": "c1",
            "function": {"name": "weather", "arguments": "{\"city\":\"Rome\"}"}}]);
        let (delta, reason) = if calls {
            (json!({"tool_calls": call}), "tool_calls")
        } else {
            (json!({"content": "Yes."}), "stop")
        };
        let chunk = json!({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]});
        let body = format!("data: {chunk}\n\ndata: [DONE]\n\n");
        self.call(&json!({"chunk": {"session": session, "at": 30, "id": id}}), &body);
        self.handle(session, 40, &json!({"http": {"id": id, "input": {"end": null}}}))
    }

    fn run(&mut self, session: Number, id: u64, said: &str) -> Vec<Value> {
        let outcome = json!({"parts": [{"type": "text", "text": said}]});
        self.handle(session, 50, &json!({"tool": {"id": id, "input": {"done": outcome}}}))
    }
}

fn config() -> Value {
    let parameters = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let tool = json!({"name": "weather", "description": "", "parameters": parameters});
    let model = json!({"endpoint": "vllm", "wire": "openai_chat", "name": "tiny-1"});
    json!({"id": "s-1", "model": model, "builtin_tools": "none", "tools": [tool]})
}

fn parts() -> Value {
    json!({"endpoints": [{"provider": "vllm", "key": "sk-0123456789"}], "entries": true})
}

/// The kinds of lines, those of effects with their ids.
fn kinds(told: &[Value]) -> String {
    let kind = |line: &Value| {
        let (key, value) = line.as_object().unwrap().iter().next().unwrap();
        match value.as_object().and_then(|fields| fields.iter().next()) {
            Some((effect, fields)) if key == "effect" => format!("{effect} {}", fields["id"]),
            _ => key.clone(),
        }
    };
    let kinds: Vec<String> = told.iter().map(kind).filter(|kind| kind != "event").collect();
    kinds.join(", ")
}

/// What a host is told whose request is wrong, with the documentation's session in its second
/// round: the code or the reason, and words of the message.
fn check(request: &str, kind: &str, words: &str) {
    let mut lines = LineServer::default();
    for exchange in exchanges().iter().take(6) {
        lines.call(&exchange.request);
    }
    let answer = lines.call(request.as_bytes());
    let told: Value = serde_json::from_str(answer).unwrap_or_else(|_| panic!("{answer}"));
    let refusal = told.get("error").or_else(|| told.get("rejected")).unwrap();
    let is_kind = refusal["code"] == kind || refusal["reason"].get(kind).is_some();
    let message = refusal["message"].as_str().unwrap();
    assert!(is_kind && message.contains(words), "{request}\n{answer}");
}

#[test]
fn the_conversation_in_the_documentation_is_what_is_said() {
    let mut lines = LineServer::default();
    for exchange in exchanges() {
        let answer = lines.call(&exchange.request);
        assert!(exchange.fits(answer), "{}\n{answer}", String::from_utf8_lossy(&exchange.request));
    }
}

#[test]
fn what_is_no_request_is_told_why() {
    for (request, code, words) in [
        ("", "bad_request", "the JSON ends too early"),
        ("{\"status\":{\"session\":2}}\nbytes", "bad_request", "takes no bytes"),
        (r#"{"status":{"session":2,"agents":1}}"#, "bad_request", "status: unknown field `agents`"),
        (r#"{"handle":{"session":2,"at":1,"input":{"tock":null}}}"#, "bad_request", "`tock`"),
        (r#"{"open":{"blueprint":1,"wall":0}}"#, "bad_request", "a `blueprint` with an `id`"),
        (r#"{"open":{"blueprint":7,"id":"a","wall":0}}"#, "unknown_blueprint", "blueprint 7"),
        (r#"{"open":{"config":{"id":""},"wall":0}}"#, "bad_option", "id: is empty"),
        ("{\"resume\":{\"wall\":0}}\n{}\n", "bad_log", "line 1 of the log cannot be read"),
        ("{\"restore\":{\"wall\":0}}\n{}", "bad_snapshot", "missing field `format`"),
        (r#"{"replay":null}"#, "bad_log", "the log is empty"),
        (r#"{"discard":{"blueprint":2}}"#, "unknown_blueprint", "there is no blueprint 2"),
        (r#"{"model":{"provider":"acme"}}"#, "unknown_provider", "unknown provider \"acme\""),
        (r#"{"config":{"provider":"vllm"}}"#, "bad_option", "name one"),
        (
            r#"{"config":{"provider":"anthropic","patches":[{"retry":{"max":1}}]}}"#,
            "bad_option",
            "config.retry.max: unknown field `max`",
        ),
        (
            r#"{"blueprint":{"config":{},"parts":{"endpoints":[{"provider":"anthropic"}]}}}"#,
            "missing_key",
            "there is no key",
        ),
        (
            r#"{"blueprint":{"config":{},"parts":{"replay":{"traffic":""}}}}"#,
            "replay_unreadable",
            "line 1 of the recording",
        ),
    ] {
        check(request, code, words);
    }
}

#[test]
fn instruction_files_are_found_and_read_until_nothing_is_missing() {
    let files = [
        ("AGENTS.md", "Be brief."),
        ("CLAUDE.md", "See @notes/style.md and @.git/config and @gone.md and @blob."),
        ("notes/style.md", "Tabs, see @more.md."),
        ("notes/more.md", "Eight wide."),
        ("web/CLAUDE.md", "Be bold."),
        ("web/a\nb/CLAUDE.md", "Another line."),
        ("web/GEMINI.md", "Of another family."),
        ("blob", "\0"),
    ];
    let paths: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
    let mut host = Host::default();
    let mut texts = json!({});
    let mut asked = Vec::new();
    let found = loop {
        let wanted = json!({"profile": "anthropic", "paths": paths, "texts": texts});
        let told = host.call(&json!({"docs": wanted}), "").remove(0)["docs"].take();
        let missing: Vec<String> = serde_json::from_value(told["missing"].clone()).unwrap();
        if missing.is_empty() {
            break told;
        }
        for path in &missing {
            let text = files.iter().find(|(known, _)| known == path).map(|(_, text)| *text);
            texts[path] = json!(text);
        }
        asked.push(missing.join(" "));
    };
    let rounds =
        ["AGENTS.md CLAUDE.md web/CLAUDE.md", "notes/style.md gone.md blob", "notes/more.md"];
    assert_eq!(asked, rounds);
    let claude = format!(
        "{}\n\n--- notes/style.md, imported by CLAUDE.md ---\n{}\n\n\
         --- notes/more.md, imported by notes/style.md ---\n{}",
        files[1].1, files[2].1, files[3].1
    );
    let topmost =
        json!([{"path": "AGENTS.md", "text": files[0].1}, {"path": "CLAUDE.md", "text": claude}]);
    let below = json!([{"path": "web/CLAUDE.md", "text": files[4].1}]);
    let docs = json!({"project_docs": topmost, "nested_docs": below, "skills": [],
        "warnings": [], "missing": []});
    assert_eq!(found, docs);
}

#[test]
fn no_more_nested_instruction_files_are_asked_for_than_there_may_be() {
    let paths: Vec<String> = (0..100).map(|n| format!("{n}/AGENTS.md")).collect();
    let docs = json!({"docs": {"profile": "openai", "paths": paths}});
    let told = Host::default().call(&docs, "");
    assert_eq!(told[0]["docs"]["missing"], json!(paths[..MAX_NESTED_DOCS]));
}

#[test]
fn what_is_too_large_is_refused_in_words() {
    let submit = |len: usize| {
        let text = "x".repeat(len);
        let submit = json!({"submit": {"parts": [{"type": "text", "text": text}]}});
        let command = json!({"command": {"agent": 0, "command": submit}});
        json!({"handle": {"session": 2, "at": 250, "input": command}}).to_string()
    };
    check(&submit(32 << 20), "too_large", "its line may have up to 33554432");
    // What is just short of it is read; here it is refused, since a run is under way.
    check(&submit((32 << 20) - 200), "busy", "a run is under way");
    // What stands behind the line may be larger: a log is.
    let log = format!("{}\n{}", json!({"resume": {"wall": 0}}), "x".repeat(33 << 20));
    check(&log, "bad_log", "line 1");
}

#[test]
fn what_breaks_the_rules_is_refused_and_changes_nothing() {
    let input = |input: &str| format!(r#"{{"handle":{{"session":2,"at":250,"input":{input}}}}}"#);
    check(&input(r#"{"lost":{"id":1}}"#), "answered", "effect 1 has its answer already");
    check(&input(r#"{"lost":{"id":7}}"#), "unknown_effect", "never issued effect 7");
    let answer = input(r#"{"answer":{"id":2,"answer":{"allow":null}}}"#);
    check(&answer, "wrong_kind", "not an answer to effect 2");
    let chunk = "{\"chunk\":{\"session\":3,\"at\":250,\"id\":2}}\nbytes";
    check(chunk, "unknown_session", "session 3 is not open");
    let mut host = Host::default();
    let session = host.open(&parts());
    host.submit(session);
    let before = host.call(&json!({"snapshot": {"session": session}}), "");
    host.handle(session, 900, &json!({"lost": {"id": 9}}));
    host.run(session, 1, "wrong kind");
    assert_eq!(host.call(&json!({"snapshot": {"session": session}}), ""), before);
    host.handle(session, 11, &json!({"command": {"agent": 0, "command": {"close": null}}}));
    let told = host.submit(session);
    assert_eq!(told[0]["rejected"]["reason"], json!({"closed": null}));
    // News that were on their way when the host was told to stop are no mistake.
    let late = json!({"http": {"id": 1, "input": {"end": null}}});
    assert_eq!(kinds(&host.handle(session, 12, &late)), "deadline");
}

#[test]
fn a_session_goes_on_from_its_log_in_another_instance() {
    let mut host = Host::default();
    let session = host.open(&parts());
    assert_eq!(kinds(&host.submit(session)), "http 1, deadline");
    assert_eq!(kinds(&host.reply(session, 1, true)), "run_tool 2, deadline");
    let mut other = Host::default();
    let resume = json!({"resume": {"parts": parts(), "wall": 1_800_000_000_500_u64}});
    // The run may have taken effect: the model hears that nobody knows.
    let told = other.call(&resume, &host.log);
    assert_eq!(kinds(&told), "session, now, http 3, deadline");
    let owed = other.call(&json!({"owed": {"session": 1}}), "");
    assert_eq!(kinds(&owed), "http 3, deadline");
    // A host that knows by its own journal what became of the run has it to answer.
    let mut journalling = Host::default();
    let mut resume = resume;
    resume["resume"]["owe_runs"] = true.into();
    let told = journalling.call(&resume, &host.log);
    assert_eq!(kinds(&told), "session, now, run_tool 2, deadline");
    assert_eq!(kinds(&journalling.run(1, 2, "31 °C")), "http 3, deadline");
    other.reply(1, 3, false);
    assert!(other.log.lines().last().unwrap().starts_with("{\"snapshot\":"));
    let replayed = other.call(&json!({"replay": null}), &other.log.clone());
    assert!(replayed.len() > 4 && replayed.iter().all(|line| line["outputs"].is_array()));

    // Its text goes back as it came: another library's JSON is another text.
    let snapshot = other.lines.call(b"{\"snapshot\":{\"session\":1}}").to_owned();
    let restore = json!({"restore": {"parts": parts(), "wall": 1_800_000_000_900_u64}});
    assert_eq!(kinds(&host.call(&restore, &snapshot)), "session, now, deadline");
    let fork = json!({"fork": {"session": 1, "id": "s-2", "wall": 0, "parts": parts()}});
    assert_eq!(kinds(&other.call(&fork, "")), "session, now, deadline");
    let said = other.call(&json!({"history": {"session": 2, "from": 1}}), "");
    assert!(said[0]["history"].as_array().unwrap().len() >= 3, "{said:?}");
}

#[test]
fn a_run_is_recorded_and_played_without_an_endpoint() {
    let mut host = Host::default();
    let session = host.open(&json!({"endpoints": [{"provider": "vllm"}], "record": true}));
    host.submit(session);
    let told = host.reply(session, 1, false);
    let recording = told.iter().find_map(|line| line.get("recording")).expect("a recording");
    let traffic = format!("{recording}\n");
    let session = host.open(&json!({"replay": {"traffic": traffic}}));
    let told = host.submit(session);
    let end = told.iter().find(|line| line["event"]["type"] == "processing_end");
    assert_eq!(end.unwrap()["event"]["text"], "Yes.");
}

#[test]
fn a_key_leaves_in_the_one_header_only() {
    let mut host = Host::default();
    let session = host.open(&parts());
    let mut told = host.submit(session);
    told.extend(host.reply(session, 1, true));
    told.extend(host.run(session, 2, "sk-0123456789"));
    let rekey = json!({"rekey": {"session": session, "key": "sk-9876543210"}});
    assert!(host.call(&rekey, "").is_empty());
    told.extend(host.reply(session, 3, true));
    told.extend(host.run(session, 4, "sk-0123456789 sk-9876543210"));
    let mut keys = Vec::new();
    for line in &mut told {
        let key = line.pointer_mut("/effect/http/request/key").map(Value::take);
        keys.extend(key.map(|key| key[1].as_str().unwrap().to_owned()));
    }
    let (old, new) = ("Bearer sk-0123456789", "Bearer sk-9876543210");
    assert_eq!(keys, [old, old, new]);
    let seen = format!("{told:?}{}", host.log);
    assert!(seen.contains("***"));
    assert!(!seen.contains("sk-0123456789") && !seen.contains("sk-9876543210"));
}

#[test]
fn a_person_is_asked_where_there_is_one() {
    for (approve, follows) in [(false, "http 3, deadline"), (true, "ask 2, deadline")] {
        let mut config = config();
        config["approval"] = json!({"ask": "changes"});
        let parts = json!({"endpoints": [{"provider": "vllm"}], "approve": approve});
        let mut host = Host::default();
        host.call(&json!({"open": {"config": config, "parts": parts, "wall": 0}}), "");
        host.submit(1);
        assert_eq!(kinds(&host.reply(1, 1, true)), follows);
    }
}

/// Each answer is lines of one key; a refusal stands alone.
fn check_answer(request: &[u8], answer: &str) {
    let told = || format!("{}\n{answer}", String::from_utf8_lossy(request));
    let lines: Vec<Value> = answer
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{}", told())))
        .collect();
    for line in &lines {
        let fields = line.as_object().unwrap_or_else(|| panic!("{}", told()));
        let is_snapshot = fields.contains_key("format");
        assert!(fields.len() == 1 || is_snapshot, "{}", told());
        let is_refusal = fields.contains_key("error") || fields.contains_key("rejected");
        assert!(!is_refusal || lines.len() == 1, "{}", told());
    }
}

#[test]
fn a_hundred_thousand_changed_requests_are_answered() {
    let conversation: Vec<Vec<u8>> =
        exchanges().into_iter().map(|exchange| exchange.request).collect();
    // Of what is changed the first three bytes are chosen anew.
    let seeds: Vec<Vec<u8>> =
        conversation.iter().map(|request| [b"   ", &request[..]].concat()).collect();
    let (mut lines, mut refused) = (LineServer::default(), 0);
    for number in 0..CHANGED {
        // In each conversation the requests that change it come in between.
        let place = usize::try_from(number).unwrap() % (conversation.len() * 20);
        if place == 0 {
            lines = LineServer::default();
        }
        if place.is_multiple_of(20) {
            lines.call(&conversation[place / 20]);
        }
        let request = &changed(&seeds, number)[3..];
        let answer = lines.call(request);
        refused += usize::from(answer.starts_with("{\"error\":"));
        if number.is_multiple_of(16) {
            check_answer(request, answer);
        }
    }
    assert!((50_000..100_000).contains(&refused), "{refused}");
}

#[test]
fn files_of_undone_steps_are_told_once_and_with_their_texts() {
    let mut host = Host::default();
    let mut wanted = parts();
    wanted["undo"] = true.into();
    let session = host.open(&wanted);
    host.submit(session);
    host.reply(session, 1, true);
    let changes = json!([
        {"path": "a.txt", "kind": "modified", "before": "old", "after": "new"},
        {"path": "b.txt", "kind": "created", "after": "b"},
        {"path": "c.txt", "kind": "modified", "before": "1", "after": "2"},
    ]);
    let outcome = json!({"parts": [], "changes": changes});
    host.handle(session, 50, &json!({"tool": {"id": 2, "input": {"done": outcome}}}));
    host.reply(session, 3, false);
    let asked = |texts: &Value| json!({"undone": {"session": session, "texts": texts}});
    let nothing = json!([{"undone": {"files": [], "missing": []}}]);
    assert_eq!(json!(host.call(&asked(&json!({})), "")), nothing, "no step is undone");

    host.handle(session, 60, &json!({"command": {"agent": 0, "command": {"undo": {}}}}));
    let seen = host.call(&json!({"seen": {"session": session}}), "");
    assert_eq!(seen, [json!({"seen": []})]);
    let missing = json!(["a.txt", "b.txt", "c.txt"]);
    let told = host.call(&json!({"undone": {"session": session}}), "");
    assert_eq!(json!(told), json!([{"undone": {"files": [], "missing": missing}}]));
    let texts = json!({"a.txt": "new", "b.txt": "b", "c.txt": null});
    let files = json!([
        {"path": "a.txt", "undo": {"write": "old"}},
        {"path": "b.txt", "undo": "remove"},
        {"path": "c.txt", "undo": {"keep": "it has been changed since"}},
    ]);
    let told = host.call(&asked(&texts), "");
    assert_eq!(json!(told), json!([{"undone": {"files": files, "missing": []}}]));
    assert_eq!(json!(host.call(&asked(&texts), "")), nothing, "it is told only once");
}

#[test]
fn a_session_without_undo_keeps_no_changes() {
    let mut host = Host::default();
    let session = host.open(&parts());
    let told = host.call(&json!({"undone": {"session": session}}), "");
    assert_eq!(told[0]["error"]["code"], "bad_option", "{told:?}");
}

#[test]
fn the_model_sees_what_was_said_since_the_conversation_was_cleared() {
    let mut host = Host::default();
    let session = host.open(&parts());
    host.submit(session);
    host.reply(session, 1, false);
    let asked = json!({"seen": {"session": session}});
    let seen = host.call(&asked, "");
    assert_eq!(seen[0]["seen"][0]["user"][0]["text"], "Is it warm in Rome?");
    assert_eq!(seen[0]["seen"][1]["assistant"]["blocks"][0]["text"], "Yes.");
    host.handle(session, 60, &json!({"command": {"agent": 0, "command": {"clear": null}}}));
    assert_eq!(host.call(&asked, ""), [json!({"seen": []})]);
    let nobody = host.call(&json!({"seen": {"session": session, "agent": 9}}), "");
    assert_eq!(nobody, [json!({"seen": null})]);
}

#[test]
fn a2_a_session_tells_what_it_holds_by_one_verb() {
    let mut host = Host::default();
    let session = host.open(&parts());
    host.submit(session);
    let parts = json!([{"type": "text", "text": "and in Oslo?"}]);
    for command in [
        json!({"steer": {"parts": parts}}),
        json!({"follow_up": {"parts": parts, "options": {"tools": []}}}),
    ] {
        host.handle(session, 15, &json!({"command": {"agent": 0, "command": command}}));
    }
    let told = host.call(&json!({"overview": {"session": session}}), "");
    let [overview] = &told[..] else { panic!("{told:?}") };
    let overview = &overview["overview"];
    let waits = json!({
        "steering": [parts],
        "follow_ups": [{"parts": parts, "options": {"tools": []}}],
    });
    assert_eq!((&overview["pending"], &overview["agents"]), (&waits, &json!([])));
    assert_eq!(overview["config"]["model"]["name"], "tiny-1");
    assert!(!overview.to_string().contains("sk-0123456789"), "{overview}");
    let other = host.call(&json!({"overview": {"session": session, "agent": 1}}), "");
    assert_eq!(other[0]["overview"]["pending"], Value::Null);
}

#[test]
fn n19_a_session_tells_what_fills_the_context_window() {
    let mut host = Host::default();
    let session = host.open(&parts());
    host.submit(session);
    host.reply(session, 1, true);
    host.run(session, 2, &"31 degrees, ".repeat(500));
    let told = host.call(&json!({"context": {"session": session}}), "");
    let usage = &told[0]["context"];
    let tokens = |part: &str| usage[part].as_u64().unwrap_or_else(|| panic!("{part}: {told:?}"));
    let parts = ["system", "documents", "tools", "history", "results"].map(tokens);
    assert_eq!(parts.iter().sum::<u64>(), tokens("total"), "{usage}");
    assert!(tokens("results") > tokens("history") && tokens("history") > 0, "{usage}");
    assert_eq!(tokens("window") - tokens("total"), tokens("free"), "{usage}");
    let other = host.call(&json!({"context": {"session": session, "agent": 1}}), "");
    assert_eq!(other, [json!({"context": null})]);
}

#[test]
fn late_news_of_what_was_cancelled_count_once_and_not_for_ever() {
    let mut host = Host::default();
    let session = host.open(&parts());
    let fail = |id| {
        let failed = json!({"kind": "cancelled", "message": "as asked"});
        json!({"http": {"id": id, "input": {"failed": failed}}})
    };
    let interrupt = json!({"command": {"agent": 0, "command": {"interrupt": null}}});
    for _ in 0..1_100 {
        host.submit(session);
        let told = host.handle(session, 10, &interrupt);
        assert!(kinds(&told).starts_with("cancel "), "{told:?}");
    }
    let is_late = |told: Vec<Value>| told[0]["error"]["code"] == "answered";
    assert!(!is_late(host.handle(session, 10, &fail(1_100))), "the first answer of a host");
    assert!(is_late(host.handle(session, 10, &fail(1_100))), "the second");
    assert!(!is_late(host.handle(session, 10, &fail(600))));
    assert!(is_late(host.handle(session, 10, &fail(1))), "too long ago");
}
