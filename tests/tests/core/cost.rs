//! What tokens cost: per call, per run, per session.

use innerloop_core::{
    config::{Price, PriceTier},
    cost::nano_usd,
    event::EventKind,
    id::AgentId,
    message::Usage,
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{TestHost, config},
};
use serde_json::json;

/// 3 and 15 dollars per million, a tenth for reads of the cache, a quarter more for writes.
fn price() -> Price {
    Price {
        input: 3_000_000,
        output: 15_000_000,
        cache_read: Some(300_000),
        cache_write: Some(3_750_000),
        tiers: Vec::new(),
    }
}

#[test]
fn a_calls_cost_is_the_sum_of_its_tokens_prices() {
    let usage = |input_total, output_total, cache_read, cache_write| Usage {
        input_total,
        output_total,
        cache_read,
        cache_write,
        reasoning: 0,
    };
    let tier =
        PriceTier { above: 200_000, input: 6_000_000, output: 22_500_000, ..PriceTier::default() };
    let higher = PriceTier { above: 500_000, input: 1, ..PriceTier::default() };
    let tiered = Price { tiers: vec![higher, tier], ..price() };
    let bare = Price { input: 1_000_000, ..Price::default() };
    for (price, usage, expected) in [
        (price(), usage(0, 0, 0, 0), 0),
        (price(), usage(1_000_000, 0, 0, 0), 3_000_000_000),
        (price(), usage(1, 1, 0, 0), 18_000),
        (price(), usage(1_000, 10, 600, 300), 300_000 + 180_000 + 1_125_000 + 150_000),
        (price(), usage(5, 0, 10, 0), 3_000),
        (bare, usage(10, 99, 4, 4), 10_000),
        (tiered.clone(), usage(200_000, 1, 0, 0), 600_015_000),
        (tiered.clone(), usage(200_001, 1, 1, 0), 1_200_006_000 + 22_500),
        (tiered, usage(500_001, 0, 0, 0), 500),
        (price(), usage(u64::MAX, u64::MAX, u64::MAX, u64::MAX), u64::MAX),
    ] {
        assert_eq!(nano_usd(&usage, &price), expected, "{usage:?}");
    }
}

fn costs(host: &TestHost) -> (Vec<Option<u64>>, Vec<Option<u64>>, Option<u64>) {
    let calls = host.find(|kind| match kind {
        EventKind::AssistantTextEnd { cost_nano_usd, .. } => Some(*cost_nano_usd),
        _ => None,
    });
    let runs = host.find(|kind| match kind {
        EventKind::ProcessingEnd { cost_nano_usd, .. } => Some(*cost_nano_usd),
        _ => None,
    });
    (calls, runs, host.session.status(AgentId::ROOT).unwrap().cost_nano_usd)
}

#[test]
fn cost_is_told_by_call_run_and_session_where_the_price_is_known() {
    let mut config = config();
    config.model.price = Some(price());
    let mut host = TestHost::open(config);
    for _ in 0..2 {
        let _ = host.submit("go");
        host.reply(&Message::call("a", "list_dir", &json!({})));
        let _ = host.answer("a/");
        host.reply(&Message::text("Done."));
    }
    let (calls, runs, session) = costs(&host);
    let calls: Vec<u64> = calls.into_iter().map(Option::unwrap).collect();
    assert!(calls.iter().all(|cost| *cost > 0));
    assert_eq!(runs, [Some(calls[0] + calls[1]), Some(calls[2] + calls[3])]);
    assert_eq!(session, Some(calls.iter().sum()));
    let patch = serde_json::from_value(json!({"model": {"name": "mock-2"}})).unwrap();
    let _ = host.command(innerloop_core::input::Command::Configure { patch });
    let _ = host.submit("go");
    host.reply(&Message::text("Done."));
    let (calls, _, after) = costs(&host);
    assert_eq!((calls.last(), after), (Some(&None), session), "another model's price is not known");
}

#[test]
fn without_a_price_no_cost_is_told() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    host.reply(&Message::text("Done."));
    assert_eq!(costs(&host), (vec![None], vec![None], None));
    assert!(!serde_json::to_string(&host.events).unwrap().contains("cost_nano_usd"));
}
