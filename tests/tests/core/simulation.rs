//! The simulator finds no fault in the session, and its checker finds each fault that is put
//! there.

use innerloop_core::config::WireKind;
use innerloop_tests::simulator::{Fault, Mutation, Plan, run};

/// Seeds of every test run, beside those that failed once. `cargo xtask test all` runs more.
const SEEDS: u64 = 25;

/// Within how many seeds a mutant is caught.
const MUTANT_SEEDS: u64 = 60;

/// A line of the trace of a fault, and what to do.
fn shown(fault: &Fault) -> String {
    let Fault { seed, steps, message, .. } = fault;
    format!(
        "seed {seed} after {steps} steps: {message}\n\
         see: cargo xtask simulate --seeds 1 --from {seed}"
    )
}

#[test]
fn no_seed_finds_a_fault() {
    for seed in 0..SEEDS {
        if let Err(fault) = run(seed, Plan::default()) {
            panic!("{}", shown(&fault));
        }
    }
}

#[test]
fn no_seed_that_failed_once_fails_again() {
    let kept = include_str!("../../fixtures/seeds.txt");
    let lines = kept.lines().map(|line| line.split('#').next().unwrap().trim());
    let mut seeds = 0;
    for line in lines.filter(|line| !line.is_empty()) {
        let seed = line.parse().unwrap_or_else(|_| panic!("{line:?} is not a seed"));
        let whole = Plan::default();
        // What the simulator could not do yet when the oldest of them were found.
        let (folds, views, turns, budgets, faults) = (false, false, false, false, false);
        let routes = false;
        let bare = Plan { folds, views, turns, budgets, faults, routes, shown: false, ..whole };
        let anthropic = Plan { wire: Some(WireKind::Anthropic), ..bare };
        for plan in [whole, bare, anthropic] {
            if let Err(fault) = run(seed, plan) {
                panic!("{}", shown(&fault));
            }
        }
        seeds += 1;
    }
    assert!(seeds > 5, "{seeds}");
}

/// What is to come up somewhere: events, effects, refusals, restarts.
const CORNERS: [&str; 67] = [
    r#""type":"routed""#,
    r#""type":"rerouted""#,
    r#""type":"result_kept""#,
    r#"No further tool fits"#,
    r#"There is no tool of that kind"#,
    r#""type":"queued""#,
    r#""point":"outbound""#,
    r#"may not be called for this input"#,
    r#""type":"session_start""#,
    r#""type":"session_end""#,
    r#""type":"user_input""#,
    r#""type":"processing_end""#,
    r#""end":"completed""#,
    r#""end":"limit""#,
    r#""end":"interrupted""#,
    r#""end":"denied""#,
    r#""end":"failed""#,
    r#""type":"assistant_text_start""#,
    r#""type":"assistant_text_delta""#,
    r#""type":"assistant_reasoning_delta""#,
    r#""type":"assistant_text_end""#,
    r#""type":"text_reset""#,
    r#""type":"tool_call_start""#,
    r#""type":"tool_call_output_delta""#,
    r#""type":"tool_call_end""#,
    r#""type":"steering_injected""#,
    r#""type":"turn_limit""#,
    r#""limit":"max_turns""#,
    r#""limit":"max_tool_rounds_per_input""#,
    r#""type":"loop_detection""#,
    r#""type":"agent_started""#,
    r#""agent":3,"type":"agent_started""#,
    r#""parent":1"#,
    r#""type":"agent_ended""#,
    r#""type":"final_answer""#,
    r#""type":"retry""#,
    r#""type":"prefix_rebased""#,
    r#""type":"warning""#,
    r#""type":"error","kind":"authentication""#,
    r#""type":"error","kind":"context_overflow""#,
    r#""type":"error","kind":"answer""#,
    r#"{"cancel":{"id":"#,
    r#"{"approval":{"#,
    r#"{"question":{"#,
    r#""point":"submit""#,
    r#""point":"before_model""#,
    r#""point":"before_tool""#,
    r#""point":"after_tool""#,
    r#""point":"before_stop""#,
    "refused: a run is under way",
    "refused: the session is closed",
    "refused: that is not an answer",
    "refused: the session never issued",
    "the time to wait is over",
    "goes on from its log",
    "goes on from its snapshot",
    r#""purpose":"summary""#,
    r#""type":"rewound","why":"undo""#,
    r#""type":"rewound","why":"redo""#,
    r#""type":"rewound","why":"restore""#,
    r#""type":"rewound","why":"clear""#,
    "refused: there is nothing to undo",
    "refused: the turns cannot be imported",
    r#""type":"compacted""#,
    r#""type":"budget_limit""#,
    r#""end":"budget""#,
    r#""end":"unverified""#,
];

/// Seeds that come to all corners. Where they no longer do, others are looked for.
const TO_CORNERS: [u64; 12] =
    [1310, 1002, 1036, 1118, 1016, 1040, 1028, 1047, 1009, 1012, 1041, 1235];

#[test]
fn the_world_gets_everywhere() {
    let wire = Some(WireKind::Anthropic);
    let plan = Plan { wire, trace: true, ..Plan::default() };
    let mut missing: Vec<&str> = CORNERS.to_vec();
    for seed in TO_CORNERS.into_iter().chain(1_000..1_300) {
        let trace = run(seed, plan).map_or_else(|fault| fault.trace, |report| report.trace);
        missing.retain(|corner| !trace.iter().any(|line| line.contains(corner)));
        if missing.is_empty() {
            return;
        }
    }
    panic!("{missing:#?}");
}

#[test]
fn a_seed_gives_the_same_run_again() {
    let plan = Plan { mutation: Some(Mutation::NumberGap), trace: true, ..Plan::default() };
    let again = || (0..5).map(|seed| run(seed, plan).err().map(|fault| fault.trace));
    assert!(again().eq(again()));
    assert!(again().any(|trace| trace.is_some()));
}

/// The mutant is caught, by the check that is there for it.
#[track_caller]
fn catches(mutation: Mutation, what: &str) {
    // Some mutants edit the text of requests, in the words of one protocol.
    let wire = Some(WireKind::Anthropic);
    let plan = Plan { mutation: Some(mutation), wire, shown: false, ..Plan::default() };
    let mut others = Vec::new();
    for seed in 0..MUTANT_SEEDS {
        match run(seed, plan) {
            Err(fault) if fault.message.contains(what) => return,
            Err(fault) => others.push(shown(&fault)),
            Ok(_) => {}
        }
    }
    panic!("{mutation:?} gets through; what was seen: {others:#?}");
}

#[test]
fn a_lost_steer_is_caught() {
    catches(Mutation::LostSteer, "is there 0 times");
}

#[test]
fn a_lost_follow_up_is_caught() {
    catches(Mutation::LostFollowUp, "is there 0 times");
}

#[test]
fn a_double_result_is_caught() {
    catches(Mutation::DoubleResult, "were called");
}

#[test]
fn a_dangling_call_is_caught() {
    catches(Mutation::DanglingCall, "were called");
}

#[test]
fn results_in_another_order_are_caught() {
    catches(Mutation::SwappedResults, "were called");
}

#[test]
fn a_rewritten_prefix_is_caught() {
    catches(Mutation::RewrittenPrefix, "rewrites the one before");
}

#[test]
fn a_clock_that_goes_back_is_caught() {
    catches(Mutation::ClockBack, "back in time");
}

#[test]
fn a_gap_between_numbers_is_caught() {
    catches(Mutation::NumberGap, "is followed by");
}

#[test]
fn an_effect_that_comes_twice_is_caught() {
    catches(Mutation::EffectTwice, "is issued twice");
}

#[test]
fn an_effect_that_comes_again_is_caught() {
    catches(Mutation::EffectAgain, "is issued twice");
}

#[test]
fn a_snapshot_that_forgets_a_queue_is_caught() {
    catches(Mutation::ForgetfulSnapshot, "is there 0 times");
}

#[test]
fn a_snapshot_that_forgets_a_turn_is_caught() {
    catches(Mutation::ForgottenTurn, "the history of");
}

#[test]
fn an_effect_that_is_not_owed_is_caught() {
    catches(Mutation::NotOwed, "owed are");
}

#[test]
fn a_run_that_ends_in_silence_is_caught() {
    catches(Mutation::SilentEnd, "runs began");
}

#[test]
fn a_call_that_ends_in_silence_is_caught() {
    catches(Mutation::SilentCall, "are not answered");
}

#[test]
fn a_deadline_that_stays_is_caught() {
    catches(Mutation::StuckDeadline, "the deadline is");
}

#[test]
fn a_word_after_the_end_is_caught() {
    catches(Mutation::LateWord, "after the end comes");
}

#[test]
fn a_refused_input_that_acts_is_caught() {
    catches(Mutation::RefusalActs, "a refused input changed something");
}

#[test]
fn a_write_that_overtakes_another_is_caught() {
    catches(Mutation::Overtaking, "overtakes");
}

#[test]
fn a_hook_after_a_tool_that_is_not_heard_is_caught() {
    catches(Mutation::DeafToHooks, "a hook said");
}

#[test]
fn a_hook_before_a_tool_that_is_not_heard_is_caught() {
    catches(Mutation::DeafBefore, "it is not over");
}

#[test]
fn more_agents_than_the_host_allows_are_caught() {
    catches(Mutation::MoreAgents, "too many agents are open");
}

#[test]
fn agents_nested_deeper_than_the_host_allows_are_caught() {
    catches(Mutation::DeeperAgents, "is nested at");
}

#[test]
fn a_count_that_goes_on_where_it_begins_anew_is_caught() {
    catches(Mutation::CountsOn, "the repairs of");
}

#[test]
fn a_limit_that_stops_a_run_too_early_is_caught() {
    catches(Mutation::EarlyLimit, "stops at");
}

#[test]
fn a_fold_that_parts_a_call_from_its_results_is_caught() {
    catches(Mutation::PartedPair, "were called");
}

#[test]
fn a_fold_that_forgets_the_input_under_way_is_caught() {
    catches(Mutation::ForgottenPin, "is not told");
}

#[test]
fn a_summary_that_is_shown_as_the_models_words_is_caught() {
    catches(Mutation::ShownSummary, "a summary is shown");
}

#[test]
fn an_undo_of_one_step_more_is_caught() {
    catches(Mutation::UndoesMore, "steps, and has");
}

#[test]
fn an_undo_that_is_only_told_is_caught() {
    catches(Mutation::FeignedUndo, "sees what it never saw");
}

#[test]
fn a_rewind_that_does_not_tell_of_the_prefix_is_caught() {
    catches(Mutation::UntoldRebase, "rewrites the one before");
}

#[test]
fn a_session_that_spends_more_than_it_may_is_caught() {
    catches(Mutation::SpendsMore, "is used up");
}

#[test]
fn a_snapshot_that_forgets_what_was_spent_is_caught() {
    catches(Mutation::ForgetfulPurse, "is used up");
}

#[test]
fn a_run_that_goes_on_when_its_time_is_up_is_caught() {
    catches(Mutation::LateEnd, "and the run goes on");
}

#[test]
fn a_model_that_is_asked_while_it_is_left_alone_is_caught() {
    catches(Mutation::Misrouted, "which is left alone");
}

#[test]
fn a_budget_that_ends_a_run_too_early_is_caught() {
    catches(Mutation::EarlyBudget, "stops at");
}

#[test]
fn a_hook_that_denies_the_end_for_ever_is_caught() {
    catches(Mutation::EndlessDenials, "the end was denied");
}

#[test]
fn a_model_that_is_asked_to_go_on_for_ever_is_caught() {
    catches(Mutation::EndlessCorrections, "asks for");
}
