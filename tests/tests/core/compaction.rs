//! A conversation that is made shorter: when, by what, what stands afterwards, and what goes wrong
//! on the way (`docs/decisions.md#compaction`).

use innerloop_core::{
    Session,
    compaction::{CompactionTier, OnOverflow, WindowFullness},
    config::{HookPoint, SessionConfig},
    event::EventKind,
    id::AgentId,
    input::{Command, HookReply, Input, RejectionReason},
    json::Json,
    log,
    message::FoldKind,
    output::{Effect, RequestPurpose},
    status::AgentState,
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{EPOCH, TestHost, config, text},
};
use serde_json::{Value, json};

/// A session with a window of 20,000 tokens, and what else is wanted.
fn with(change: impl FnOnce(&mut SessionConfig)) -> TestHost {
    let mut config = config();
    config.model.context_window = 20_000;
    config.model.max_output_tokens = 2_000;
    config.loops.detect = false;
    change(&mut config);
    TestHost::open(config)
}

/// A tier that begins at 60 per cent and leads to 40.
fn tier(config: &mut SessionConfig, step: FoldKind) {
    let (from, to) = (WindowFullness::percent(60), WindowFullness::percent(40));
    config.compaction.auto = vec![CompactionTier { from, to, step, inputs: None }];
}

/// The model's reply, with a token for four bytes of the request.
fn say(host: &mut TestHost, message: Message) {
    let read = host.requests.last().map_or(3_000, |request| request.body.len() as u64 / 4);
    host.reply(&message.costing(read, 20));
}

/// Rounds of a call with a result of 4,000 characters each.
fn rounds(host: &mut TestHost, range: std::ops::Range<usize>) {
    for n in range {
        let call = json!({"file_path": format!("src/{n}.rs")});
        say(host, Message::call(&format!("c{n}"), "read_file", &call));
        let _ = host.answer(&format!("{n}{}", "x".repeat(4_000)));
    }
}

/// Rounds until something is made shorter; says how many there were.
fn fill(host: &mut TestHost) -> usize {
    let before = told(host).len();
    let begun = host.session.status(AgentId::ROOT).unwrap().tool_calls as usize;
    let mut n = begun;
    while told(host).len() == before {
        rounds(host, n..n + 1);
        n += 1;
        assert!(n < begun + 40, "nothing is made shorter");
    }
    n - begun
}

/// What the events say, without what no fold is about.
fn told(host: &TestHost) -> Vec<String> {
    host.find(|kind| match kind {
        EventKind::CompactionStarted { kind, why, .. } => Some(format!("start {kind:?} {why:?}")),
        EventKind::Compacted { kind, why, turns, .. } => {
            Some(format!("{kind:?} {why:?} of {turns}"))
        }
        EventKind::CompactionFailed { kind, why, message, .. } => {
            Some(format!("no {kind:?} {why:?}: {message}"))
        }
        EventKind::PrefixRebased { reason } => Some((*reason).to_owned()),
        EventKind::ProcessingEnd { end, .. } => Some(format!("{end:?}")),
        _ => None,
    })
}

fn messages(host: &TestHost) -> Vec<Value> {
    host.body()["messages"].as_array().unwrap().clone()
}

fn compact(host: &mut TestHost) {
    let _ = host.command(Command::Compact { instructions: None });
}

fn is_compacting(host: &TestHost) -> bool {
    host.session.status(AgentId::ROOT).unwrap().compacting
}

fn state(host: &TestHost) -> AgentState {
    host.session.status(AgentId::ROOT).unwrap().state
}

const SHOWN: &str = "earlier turns are shown shorter";

#[test]
fn i12_stubs_stand_for_old_results_and_the_calls_stay() {
    let mut host = with(|config| tier(config, FoldKind::Stub));
    let _ = host.submit("Read all of it.");
    let count = fill(&mut host);
    assert_eq!(told(&host), ["Stub Full of 0", SHOWN]);
    let body = host.body()["messages"].to_string();
    let stubs = body.matches("4,001 characters, left out; call it again").count();
    assert!((2..=5).contains(&stubs), "{stubs} stubs");
    assert_eq!(body.matches("\"tool_use\"").count(), count, "the calls stay");
    assert_eq!(body.matches(&"x".repeat(4_000)).count(), count - stubs, "the newest stay whole");
}

#[test]
fn k15_turns_are_left_out_inside_one_input_and_its_words_stay() {
    let mut host = with(|config| tier(config, FoldKind::Truncate));
    let _ = host.submit("Read all of it.");
    let count = fill(&mut host);
    let told = told(&host);
    assert!(told[0].starts_with("Truncate Full of "), "{told:?}");
    let first = messages(&host)[0].to_string();
    for words in ["Read all of it.", "[Left out: 10 earlier turns.]", "Files read: src/4.rs, src/3"]
    {
        assert!(first.contains(words), "{words}: {first}");
    }
    assert_eq!(messages(&host)[1]["role"], "assistant");
    let log = host.session.history(AgentId::ROOT).unwrap().turns();
    assert_eq!(log.len(), 2 * count + 2, "the log has all");
}

#[test]
fn j14_a_summary_takes_the_place_of_the_oldest_turns_and_the_users_words_stay() {
    let mut host = with(|config| {
        tier(config, FoldKind::Summary);
        config.compaction.summary.instructions = Some("the names of files".into());
    });
    let _ = host.submit("First: read a few files.");
    rounds(&mut host, 0..4);
    say(&mut host, Message::text("I have read them."));
    assert_eq!(told(&host), ["Completed"]);
    let _ = host.submit("Second: read the others.");
    let _ = fill(&mut host);
    assert_eq!(told(&host)[1..], ["start Summary Full"]);
    assert!(!is_compacting(&host), "a run is under way");
    let asked = host.body();
    assert_eq!(asked["tools"], Value::Null, "{asked}");
    let prompt = asked["messages"][0]["content"][0]["text"].as_str().unwrap();
    assert!(prompt.contains("[User]\nFirst: read a few files."), "{prompt}");
    assert!(prompt.ends_with("Look above all at this: the names of files"), "{prompt}");
    let before = host.events.len();
    host.reply(&Message::text("Four files were read.").costing(9_000, 20));
    let names: Vec<String> =
        host.events[before..].iter().map(|e| innerloop_tests::test_host::name(&e.kind)).collect();
    assert_eq!(names, ["compacted", "prefix_rebased", "request_start"], "nobody watches a summary");
    let first = messages(&host)[0].to_string();
    for words in ["The summary:]", "Four files were read.", "> First: read a few files."] {
        assert!(first.contains(words), "{words}: {first}");
    }
    let usage = host.session.status(AgentId::ROOT).unwrap().usage;
    assert!(usage.input_total >= 9_000, "what a summary takes is counted: {usage:?}");
    let body = host.body()["messages"].to_string();
    assert!(body.contains("Second: read the others."), "{body}");
}

#[test]
fn a_later_summary_takes_up_the_one_before_and_the_words_of_both() {
    let mut host = with(|config| tier(config, FoldKind::Summary));
    for n in 0..3 {
        let _ = host.submit(&format!("Task {n}."));
        let _ = fill(&mut host);
        say(&mut host, Message::text(&format!("Summary {n}.")));
        say(&mut host, Message::text("Done."));
    }
    let prompts: Vec<String> = host
        .requests
        .iter()
        .map(|request| String::from_utf8(request.body.0.clone()).unwrap())
        .filter(|body| body.contains("Write the summary."))
        .collect();
    let newest = prompts.last().unwrap();
    assert!(prompts.len() >= 2, "{}", prompts.len());
    assert!(newest.contains("# The summary so far, to be updated\\n\\nSummary "), "{newest}");
    assert!(!newest.contains("The user's own words"), "they are no part of it: {newest}");
    let first = messages(&host)[0].to_string();
    assert!(first.contains("> Task 0.") && first.contains("> Task 1."), "{first}");
}

#[test]
fn a_summary_that_is_blank_or_saves_nothing_fails_and_nothing_is_lost() {
    let blank = "no Summary Full: the summary is blank";
    let long = "no Summary Full: the conversation would become less than a tenth shorter";
    for (summary, want) in [(" \n".to_owned(), blank), ("y".repeat(60_000), long)] {
        let mut host = with(|config| {
            tier(config, FoldKind::Summary);
            config.repair.retry_on_empty = 0;
        });
        let _ = host.submit("Read all of it.");
        let _ = fill(&mut host);
        let before = host.session.history(AgentId::ROOT).unwrap().turns().to_vec();
        say(&mut host, Message::text(&summary));
        assert_eq!(told(&host)[1], want);
        assert_eq!(host.session.history(AgentId::ROOT).unwrap().turns(), before);
        assert!(host.body()["messages"].to_string().contains(&"x".repeat(4_000)));
    }
}

#[test]
fn after_three_failures_nothing_is_tried_until_the_host_has_it_done() {
    let mut host = with(|config| tier(config, FoldKind::Summary));
    let _ = host.submit("Read all of it.");
    for _ in 0..3 {
        let _ = fill(&mut host);
        say(&mut host, Message::text(""));
        assert_eq!(told(&host).last().unwrap(), "no Summary Full: the summary is blank");
    }
    let tried = told(&host).len();
    rounds(&mut host, 20..24);
    assert_eq!(told(&host).len(), tried);
    say(&mut host, Message::text("Done."));
    compact(&mut host);
    say(&mut host, Message::text("All was read."));
    assert!(told(&host).iter().any(|it| it.starts_with("Summary Asked")), "{:?}", told(&host));
    let _ = host.submit("Once more.");
    let _ = fill(&mut host);
    assert_eq!(told(&host).last().unwrap(), "start Summary Full");
}

#[test]
fn k6_an_overflow_is_folded_and_tried_again_once_for_each_input() {
    let mut host = with(|config| {
        config.compaction.on_overflow = OnOverflow::CompactRetryOnce;
        config.model.context_window = 200_000;
        config.retry.refusal_closes = false;
    });
    let overflow = |host: &mut TestHost| {
        host.refuse(400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum", &[]);
    };
    let _ = host.submit("Read all of it.");
    rounds(&mut host, 0..8);
    overflow(&mut host);
    assert_eq!(told(&host), ["start Summary Overflow"]);
    say(&mut host, Message::text("All was read."));
    let now = told(&host);
    assert!(now[1].starts_with("Summary Overflow of "), "{now:?}");
    overflow(&mut host);
    assert_eq!(told(&host).last().unwrap(), "Failed");
    let _ = host.submit("Read on.");
    rounds(&mut host, 8..14);
    overflow(&mut host);
    assert_eq!(told(&host).last().unwrap(), "start Summary Overflow");
    // The model that sums up cannot read it either: the turns are left out.
    overflow(&mut host);
    let now = told(&host);
    let [failed, left_out, _] = &now[now.len() - 3..] else { panic!("{now:?}") };
    assert!(failed.starts_with("no Summary Overflow: prompt is too long"), "{now:?}");
    assert!(left_out.starts_with("Truncate Overflow of "), "{now:?}");
    say(&mut host, Message::text("Done."));
    assert_eq!(told(&host).last().unwrap(), "Completed");
}

#[test]
fn r7_an_overflow_that_nothing_can_be_done_about_ends_the_run() {
    for truncates in [true, false] {
        let mut host = with(|config| {
            config.compaction.on_overflow = OnOverflow::CompactRetryOnce;
            config.compaction.truncate_if_needed = truncates;
        });
        let _ = host.submit("Too long from the start.");
        let overflow = |host: &mut TestHost| {
            host.refuse(400, "invalid_request_error", "prompt is too long: 9 > 8 maximum", &[]);
        };
        overflow(&mut host);
        assert_eq!(told(&host), ["Failed"], "there is nothing to leave out");
        let _ = host.submit("And again.");
        rounds(&mut host, 0..6);
        overflow(&mut host);
        overflow(&mut host);
        let last = told(&host).pop().unwrap();
        assert_eq!(last == "Failed", !truncates, "{:?}", told(&host));
    }
}

#[test]
fn a_window_that_is_read_to_the_brim_counts_as_an_overflow() {
    let mut host = with(|config| {
        config.compaction.on_overflow = OnOverflow::CompactRetryOnce;
        tier(config, FoldKind::Truncate);
        config.compaction.auto[0].from = WindowFullness::percent(100);
    });
    let _ = host.submit("Read all of it.");
    rounds(&mut host, 0..5);
    let call = json!({"file_path": "src/odd.rs"});
    host.reply(&Message::call("odd", "read_file", &call).costing(19_990, 10));
    assert!(host.runs.is_empty(), "what was read without its beginning is not carried out");
    assert!(told(&host)[0].starts_with("Truncate Overflow of "), "{:?}", told(&host));
    assert!(host.names(0).contains(&"text_reset".to_owned()));
    host.reply(&Message::text("Done.").costing(19_990, 10));
    assert_eq!(told(&host).last().unwrap(), "Completed", "once for each input");
}

fn hooked(kind: FoldKind) -> TestHost {
    let mut host = with(|config| {
        tier(config, kind);
        config.hooks.points = vec![HookPoint::Compact];
    });
    let _ = host.submit("Read all of it.");
    let _ = fill(&mut host);
    host
}

fn reply(host: &mut TestHost, reply: HookReply) {
    let id = host.hooks[0].0;
    let _ = host.input(Input::Hook { id, reply });
}

#[test]
fn j23_the_hosts_hook_stores_the_turns_or_gives_a_summary_of_its_own() {
    let mut host = hooked(FoldKind::Archive);
    let payload: Value = serde_json::from_str(host.hooks[0].1.payload.text()).unwrap();
    assert_eq!(payload["kind"], "archive");
    assert!(payload["transcript"].as_str().unwrap().contains(&"x".repeat(4_000)), "all of it");
    assert_eq!(payload["files"]["read"][0], "src/4.rs", "{payload}");
    assert!(payload["tokens"].as_u64().unwrap() > 10_000);
    reply(&mut host, HookReply::Allow);
    assert!(messages(&host)[0].to_string().contains("[Left out and stored: 10 earlier turns.]"));
    let mut host = hooked(FoldKind::Archive);
    reply(&mut host, HookReply::Replace(Json::of("Kept as day 7.")));
    assert!(messages(&host)[0].to_string().contains("Kept as day 7."));
    let mut host = hooked(FoldKind::Summary);
    reply(&mut host, HookReply::Allow);
    assert!(host.body().to_string().contains("Write the summary."));
    for broken in [
        HookReply::Deny { reason: "not now".into() },
        HookReply::Failed { message: "disk full".into() },
    ] {
        let mut host = hooked(FoldKind::Archive);
        reply(&mut host, broken);
        let told = told(&host);
        assert!(told[1].starts_with("no Archive Full: the hook has not agreed: "), "{told:?}");
        assert!(host.body()["messages"].to_string().contains("src/0.rs"));
    }
}

#[test]
fn j14_without_a_hook_what_would_be_archived_is_left_out() {
    let mut host = with(|config| tier(config, FoldKind::Archive));
    for n in 0..12 {
        let _ = host.submit(&format!("Task {n}."));
        rounds(&mut host, n..n + 1);
        say(&mut host, Message::text("Done."));
    }
    assert!(told(&host).iter().any(|it| it.starts_with("Truncate Full of ")), "{:?}", told(&host));
}

#[test]
fn i5_more_turns_than_wanted_are_too_many_whatever_their_length() {
    let mut host = with(|config| {
        tier(config, FoldKind::Truncate);
        config.compaction.max_messages = 12;
        config.compaction.keep.first_input = true;
        config.model.context_window = 200_000;
    });
    for n in 0..20 {
        let _ = host.submit(&format!("Task {n} {}.", "of many words".repeat(40)));
        say(&mut host, Message::text("Done."));
    }
    let folds = told(&host).iter().filter(|it| it.starts_with("Truncate")).count();
    assert!((4..=8).contains(&folds), "{folds} folds");
    let messages = messages(&host);
    assert!(messages.len() <= 13, "{}", messages.len());
    assert!(messages[0].to_string().contains("Task 0 of many"), "the first input stays");
}

#[test]
fn j14_the_host_has_it_done_while_idle_and_nowhere_else() {
    let mut host = with(|_| {});
    let refused = |host: &mut TestHost| {
        let input = Input::command(Command::Compact { instructions: None });
        host.offer(input).unwrap_err().reason
    };
    assert!(matches!(refused(&mut host), RejectionReason::Nothing(_)));
    let _ = host.submit("Read all of it.");
    rounds(&mut host, 0..6);
    assert_eq!(refused(&mut host), RejectionReason::Busy);
    say(&mut host, Message::text("Done."));
    let outputs = host.command(Command::Compact { instructions: Some("the tests".into()) });
    let purposes = outputs.effects().map(|effect| match effect {
        Effect::Http { purpose, .. } => *purpose,
        other => panic!("{other:?}"),
    });
    assert_eq!(purposes.collect::<Vec<_>>(), [RequestPurpose::Summary]);
    assert!(host.body().to_string().contains("Look above all at this: the tests"));
    assert_eq!(state(&host), AgentState::Processing);
    assert_eq!(refused(&mut host), RejectionReason::Busy);
    let _ = host.command(Command::follow_up(text("And now the docs.")));
    say(&mut host, Message::text("All was read."));
    let told = told(&host);
    assert!(told[2].starts_with("Summary Asked of "), "{told:?}");
    assert!(host.body()["messages"].to_string().contains("And now the docs."));
    say(&mut host, Message::text("Done."));
    assert_eq!(state(&host), AgentState::Idle);
}

#[test]
fn an_interrupt_ends_a_summary_and_the_conversation_stays() {
    let mut host = with(|_| {});
    let _ = host.submit("Read all of it.");
    rounds(&mut host, 0..6);
    say(&mut host, Message::text("Done."));
    let ends = told(&host);
    assert!(!is_compacting(&host));
    compact(&mut host);
    assert!(is_compacting(&host));
    let call = host.call();
    let _ = host.command(Command::Interrupt);
    assert_eq!(host.cancelled, [call]);
    assert_eq!(state(&host), AgentState::Idle);
    assert!(!is_compacting(&host));
    let want = ["start Summary Asked", "no Summary Asked: it was interrupted"];
    assert_eq!(told(&host)[ends.len()..], want, "no run has ended");
    assert!(host.session.owed().is_empty());
    let _ = host.command(Command::Close);
    let mut host = with(|config| tier(config, FoldKind::Summary));
    let _ = host.submit("Read all of it.");
    let _ = fill(&mut host);
    let _ = host.command(Command::Interrupt);
    let told = told(&host);
    assert_eq!(told[1..], ["no Summary Full: it was interrupted", "Interrupted"]);
}

#[test]
fn a_summary_under_way_survives_a_restart_and_whatever_is_configured() {
    let mut host = with(|config| {
        tier(config, FoldKind::Summary);
        config.compaction.summary.model = Some("mock-small".into());
    });
    let _ = host.submit("Read all of it.");
    let _ = fill(&mut host);
    assert_eq!(host.body()["model"], "mock-small");
    let owed = host.session.owed();
    let patch = r#"{"model":{"name":"mock-2"},"compaction":{"summary":{"result_chars":10}}}"#;
    let patch = innerloop_core::json::from_str(patch).unwrap();
    let _ = host.command(Command::Configure { patch });
    assert_eq!(host.session.owed(), owed);
    let replayed = log::replay(&host.log).unwrap().session;
    let resumed = log::resume(&host.log, EPOCH).unwrap().session;
    let restored = Session::restore(&host.session.snapshot(), EPOCH).unwrap();
    for session in [replayed, resumed, restored] {
        assert_eq!(session.snapshot(), host.session.snapshot());
        assert_eq!(session.owed(), owed);
        let mut again = TestHost::around(session, String::new());
        again.calls = host.calls.clone();
        again.reply(&Message::text("All was read."));
        assert_eq!(again.body()["model"], "mock-2");
        assert!(again.body().to_string().contains("All was read."));
    }
    // A try again keeps its model, too.
    let requests = host.requests.len();
    host.broken();
    let _ = host.wait();
    assert_eq!(host.requests.len(), requests + 1);
    assert_eq!(host.body()["model"], "mock-small");
}

#[test]
fn what_an_overflow_has_taught_of_the_window_holds_after_a_restart() {
    let mut host = with(|config| {
        config.compaction.on_overflow = OnOverflow::CompactRetryOnce;
        tier(config, FoldKind::Truncate);
        config.model.context_window = 1_000_000;
    });
    let _ = host.submit("Read all of it.");
    rounds(&mut host, 0..10);
    host.refuse(400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum", &[]);
    assert!(told(&host)[0].starts_with("Truncate Overflow"), "{:?}", told(&host));
    let restored = Session::restore(&host.session.snapshot(), EPOCH).unwrap();
    for session in [restored, log::replay(&host.log).unwrap().session] {
        let mut again = TestHost::around(session, String::new());
        again.calls = host.calls.clone();
        let _ = fill(&mut again);
        assert!(told(&again)[0].starts_with("Truncate Full"), "{:?}", told(&again));
    }
}

#[test]
fn i6_one_output_may_take_a_share_of_what_is_left_of_the_window() {
    let read = |host: &mut TestHost, n: usize| {
        let call = json!({"file_path": "a"});
        host.reply(&Message::call(&format!("s{n}"), "read_file", &call).costing(10_000, 0));
        let _ = host.answer(&"é".repeat(45_000));
        let last = messages(host).pop().unwrap().to_string();
        last.matches('é').count()
    };
    let mut host = with(|config| config.tool_output_share_of_rest = Some(60));
    let _ = host.submit("Read.");
    assert_eq!(read(&mut host, 0), 24_000, "60 per cent of 10,000 tokens");
    let mut host = with(|config| {
        config.tool_output_share_of_rest = Some(1);
        config.model.context_window = 10_100;
    });
    let _ = host.submit("Read.");
    assert_eq!(read(&mut host, 0), 1_000, "never less");
}

#[test]
fn a_tier_that_leads_nowhere_is_refused() {
    let refused = |from: WindowFullness, to: WindowFullness| {
        let mut config = config();
        config.model.context_window = 20_000;
        config.compaction.auto =
            vec![CompactionTier { from, to, step: FoldKind::Stub, inputs: None }];
        Session::open(config, EPOCH).map(drop).map_err(|error| error.to_string())
    };
    let used = |used| WindowFullness { used: Some(used), ..WindowFullness::default() };
    assert_eq!(refused(WindowFullness::percent(70), WindowFullness::percent(50)), Ok(()));
    for (from, to) in [
        (WindowFullness::percent(70), WindowFullness::percent(70)),
        (used(30_000), used(10_000)),
        (WindowFullness::default(), WindowFullness::default()),
    ] {
        let error = refused(from, to).unwrap_err();
        assert!(error.starts_with("compaction.auto[0]: goes from "), "{error}");
    }
}

#[test]
fn m4_folds_can_be_taken_back_as_nothing_was_lost() {
    let mut host = with(|_| {});
    let _ = host.submit("Read all of it.");
    rounds(&mut host, 0..6);
    say(&mut host, Message::text("Done."));
    compact(&mut host);
    say(&mut host, Message::text("All was read."));
    assert!(told(&host).iter().any(|it| it.starts_with("Summary Asked")));
    let _ = host.command(Command::Restore { at: 14 });
    let _ = host.submit("Again.");
    assert!(host.body()["messages"].to_string().contains(&"x".repeat(4_000)));
}
