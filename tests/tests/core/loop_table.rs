//! The loop's table in `docs/architecture.md` is the one that runs: each of its rows is followed by
//! a session, and no session follows another one.

use innerloop_tests::{
    anthropic::Message,
    simulator::{Plan, run},
    test_host::TestHost,
};
use serde_json::json;
use std::collections::BTreeSet;

/// The phase and the cause, or nothing and the step; then what follows.
type Row = [String; 3];

/// Seeds that together follow nearly all rows, each with whether the view changes and inputs have
/// options. Where they no longer do, others are looked for.
const SEEDS: [(u64, bool); 28] = [
    (3437, false),
    (3312, true),
    (3517, false),
    (3783, true),
    (3114, false),
    (3150, true),
    (3730, true),
    (3204, false),
    (3273, true),
    (3551, true),
    (4030, false),
    (3563, false),
    (3823, false),
    (3855, true),
    (3979, false),
    (3042, false),
    (3051, true),
    (3093, true),
    (3126, false),
    (3137, true),
    (3246, false),
    (3299, false),
    (3508, true),
    (3577, true),
    (3692, false),
    (3953, true),
    (5621, true),
    (5961, true),
];

/// Rows that a seed in some thousands follows.
const RARE: [[&str; 3]; 3] =
    [["", "Answer", "Call"], ["Folding", "Http", "GiveIn"], ["Hooked", "Hook", "GiveIn"]];

#[test]
fn the_table_of_the_loop_in_the_docs_is_the_one_that_runs() {
    let told = told_rows(include_str!("../../../docs/architecture.md"));
    assert!(told.len() > 100, "{told:?}");
    let rare: BTreeSet<Row> = RARE.into_iter().map(|row| row.map(str::to_owned)).collect();
    let mut seen = owned(cut_again_and_again().session.rows());
    for (seed, switch) in SEEDS.into_iter().chain((5_000..5_400).map(|seed| (seed, true))) {
        let plan = Plan { views: switch, turns: switch, shown: false, ..Plan::default() };
        let plan = Plan { agents: false, ..plan };
        seen.extend(owned(run(seed, plan).expect("no finding").rows));
        let untold: Vec<_> = seen.difference(&told).collect();
        assert!(untold.is_empty(), "not in docs/architecture.md: {untold:#?}");
        if told.difference(&seen).all(|row| rare.contains(row)) {
            return;
        }
    }
    let missing: Vec<_> = told.difference(&seen).filter(|row| !rare.contains(*row)).collect();
    panic!("no session follows these rows of docs/architecture.md: {missing:#?}");
}

fn owned(rows: impl IntoIterator<Item = [&'static str; 3]>) -> BTreeSet<Row> {
    rows.into_iter().map(|row| row.map(str::to_owned)).collect()
}

/// A session whose model makes calls that the output limit cuts.
fn cut_again_and_again() -> TestHost {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    for number in 0..9 {
        let call = Message::call(&format!("c{number}"), "list_dir", &json!({}));
        host.reply(&call.stop_reason("max_tokens"));
    }
    host
}

#[test]
fn calls_that_are_cut_nine_times_in_a_row_end_the_run() {
    let host = cut_again_and_again();
    assert!(host.names(0).contains(&"processing_end".to_owned()), "{:?}", host.names(0));
    let rows = host.session.rows();
    assert!(rows.contains(&["", "EndRound", "Fail"]), "{rows:?}");
}

/// The rows of the two tables of the docs.
fn told_rows(text: &str) -> BTreeSet<Row> {
    let mut rows = BTreeSet::new();
    let (_, section) = text.split_once("\n## The loop\n").expect("the section");
    let (section, _) = section.split_once("\n## ").expect("another section behind it");
    for line in section.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<Vec<&str>> =
            line.split('|').map(|cell| cell.split('`').skip(1).step_by(2).collect()).collect();
        let [_, first, second, follow, _] = &cells[..] else { panic!("a row of three: {line}") };
        for name in first {
            // A step says in words what it does; a phase names the causes.
            let heads = second.iter().map(|cause| [*name, *cause]);
            let heads = heads.chain(second.is_empty().then_some(["", *name]));
            for [phase, cause] in heads {
                rows.extend(follow.iter().map(|next| [phase, cause, *next].map(str::to_owned)));
            }
        }
    }
    rows
}
