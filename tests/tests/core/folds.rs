//! Where a conversation is cut, what is left of it, how full a window is, and what a transcript
//! says (`docs/decisions.md#compaction`): the rules alone, without a session.

use expect_test::{Expect, expect};
use innerloop_core::{
    compaction::WindowFullness,
    config::TokenEstimator,
    fold::{FoldGoal, FoldItem, ItemKind, cut, stub},
    gauge::TokenGauge,
    message::{Block, Part, Reply, ToolCall, ToolResult, Usage, VisibleTurn},
    transcript::{TranscriptLimit, transcript},
};
use std::borrow::Cow;

/// A goal that asks for nothing.
const ANY: FoldGoal = FoldGoal {
    tokens: u64::MAX,
    turns: usize::MAX,
    inputs: usize::MAX,
    rounds: 1,
    first_input: false,
};

/// Turns by their letters, each with its tokens: `i` an input, `w` a word in between, `a` an
/// answer, `c` a reply with calls and `r` its results, whose line takes 3 tokens, `p` what stays.
fn turns(text: &str) -> Vec<FoldItem> {
    let item = |(at, word): (u32, &str)| {
        let (kind, tokens) = word.split_at(1);
        let kind = match kind {
            "i" => ItemKind::Input,
            "w" => ItemKind::Word,
            "a" => ItemKind::Reply,
            "c" => ItemKind::Calls,
            "r" => ItemKind::Results,
            "p" => ItemKind::Pinned,
            other => panic!("{other}"),
        };
        let tokens: u64 = tokens.parse().unwrap();
        let as_stub = if kind == ItemKind::Results { tokens.min(3) } else { tokens };
        FoldItem { at, kind, tokens, as_stub }
    };
    (0..).zip(text.split(' ')).map(item).collect()
}

fn check_cut(text: &str, goal: FoldGoal, expected: &Expect) {
    expected.assert_eq(&format!("{:?}", cut(&turns(text), &goal)));
}

fn check_stub(text: &str, goal: FoldGoal, expected: &Expect) {
    expected.assert_eq(&format!("{:?}", stub(&turns(text), &goal)));
}

const INPUTS: &str = "i1 c2 r9 a1 i1 c2 r9 a1 i1 c2 r9 a1";
const ONE_INPUT: &str = "i5 c1 r9 c1 r9 c1 r9 c1 r9 c1 r9";

#[test]
fn l9_as_few_turns_go_as_reach_the_goal_and_whole_blocks_only() {
    let goal = |tokens| FoldGoal { tokens, ..ANY };
    check_cut(
        INPUTS,
        goal(30),
        &expect!["Some(FoldCut { before: 3, pin: [], stubs: 0, tokens: 27 })"],
    );
    check_cut(
        INPUTS,
        goal(26),
        &expect!["Some(FoldCut { before: 4, pin: [], stubs: 0, tokens: 26 })"],
    );
    check_cut(
        INPUTS,
        goal(25),
        &expect!["Some(FoldCut { before: 5, pin: [], stubs: 0, tokens: 25 })"],
    );
    check_cut(
        INPUTS,
        goal(14),
        &expect!["Some(FoldCut { before: 7, pin: [], stubs: 0, tokens: 14 })"],
    );
}

#[test]
fn k15_a_cut_inside_one_long_input_leaves_the_input_and_the_newest_rounds() {
    let goal = |tokens, rounds| FoldGoal { tokens, rounds, ..ANY };
    let half = expect!["Some(FoldCut { before: 5, pin: [0], stubs: 0, tokens: 35 })"];
    check_cut(ONE_INPUT, goal(40, 3), &half);
    let rounds = expect!["Some(FoldCut { before: 5, pin: [0], stubs: 9, tokens: 23 })"];
    check_cut(ONE_INPUT, goal(20, 3), &rounds);
    check_cut(ONE_INPUT, goal(20, 5), &expect!["None"]);
    check_cut("i5 a9", goal(0, 1), &expect!["None"]);
    check_cut("i5 a9 w1 a9", goal(0, 2), &expect!["None"]);
}

#[test]
fn n3_what_is_pinned_stays_whole_and_its_tokens_count() {
    let goal = |tokens| FoldGoal { tokens, ..ANY };
    let turns = "i5 p1 p9 c1 r9 c1 r9 c1 r9 c1 r9";
    let cut = expect!["Some(FoldCut { before: 5, pin: [0], stubs: 0, tokens: 45 })"];
    check_cut(turns, goal(45), &cut);
    check_cut("i5 p1 p9 a3", goal(0), &expect!["None"]);
    let stubs = expect!["Some(FoldCut { before: 0, pin: [], stubs: 5, tokens: 29 })"];
    check_stub("i5 p1 p9 c1 r9 c1 r9", goal(10), &stubs);
}

#[test]
fn i5_the_first_input_may_stay_and_turns_may_be_counted() {
    let first = FoldGoal { first_input: true, ..ANY };
    let goal = FoldGoal { tokens: 14, ..first };
    check_cut(
        INPUTS,
        goal,
        &expect!["Some(FoldCut { before: 8, pin: [0], stubs: 0, tokens: 14 })"],
    );
    let goal = FoldGoal { turns: 6, ..first };
    check_cut(
        INPUTS,
        goal,
        &expect!["Some(FoldCut { before: 7, pin: [0], stubs: 0, tokens: 15 })"],
    );
    let one = FoldGoal { tokens: 30, ..first };
    check_cut(
        ONE_INPUT,
        one,
        &expect!["Some(FoldCut { before: 7, pin: [0], stubs: 0, tokens: 25 })"],
    );
}

#[test]
fn j14_a_number_of_inputs_is_an_upper_bound_and_no_reason_to_free_nothing() {
    let goal = |inputs, tokens| FoldGoal { inputs, tokens, ..ANY };
    let two = expect!["Some(FoldCut { before: 1, pin: [], stubs: 0, tokens: 38 })"];
    check_cut(INPUTS, goal(2, u64::MAX), &two);
    let one = expect!["Some(FoldCut { before: 5, pin: [], stubs: 0, tokens: 25 })"];
    check_cut(INPUTS, goal(1, u64::MAX), &one);
    let all = expect!["Some(FoldCut { before: 5, pin: [], stubs: 0, tokens: 25 })"];
    check_cut(INPUTS, goal(3, 25), &all);
    let none = expect!["Some(FoldCut { before: 9, pin: [0], stubs: 0, tokens: 15 })"];
    check_cut(ONE_INPUT, goal(0, 15), &none);
}

#[test]
fn i12_old_results_become_lines_and_the_newest_stay() {
    let goal = |tokens, rounds| FoldGoal { tokens, rounds, ..ANY };
    let one = expect!["Some(FoldCut { before: 0, pin: [], stubs: 3, tokens: 49 })"];
    check_stub(ONE_INPUT, goal(50, 2), &one);
    let most = expect!["Some(FoldCut { before: 0, pin: [], stubs: 7, tokens: 37 })"];
    check_stub(ONE_INPUT, goal(0, 2), &most);
    check_stub(ONE_INPUT, goal(0, 5), &expect!["None"]);
    check_stub("i5 c1 r3 c1 r3 c1 r9", goal(0, 1), &expect!["None"]);
    let turns = FoldGoal { turns: 8, ..ANY };
    check_stub(
        ONE_INPUT,
        turns,
        &expect!["Some(FoldCut { before: 0, pin: [], stubs: 3, tokens: 49 })"],
    );
}

#[test]
fn no_cut_whatever_its_goal_parts_a_call_from_its_results_or_forgets_the_task() {
    let texts = [INPUTS, ONE_INPUT, "i1 c2 r9 w1 c2 r9 w1 i3 c1 r1 a2 w1 c2 r4 a1 i1 a2 w1 a1"];
    for text in texts {
        let turns = turns(text);
        let whole: u64 = turns.iter().map(|turn| turn.tokens).sum();
        for (tokens, rounds) in (0..=whole).flat_map(|t| (0..4).map(move |rounds| (t, rounds))) {
            for first_input in [false, true] {
                let goal = FoldGoal { tokens, rounds, first_input, ..ANY };
                let Some(cut) = cut(&turns, &goal) else { continue };
                let kept = &turns[cut.before..];
                assert_ne!(kept[0].kind, ItemKind::Results, "{text} {goal:?}");
                let is_task = |turn: &&FoldItem| turn.kind == ItemKind::Input;
                let task = turns.iter().rfind(is_task).unwrap().at as usize;
                assert!(task >= cut.before || cut.pin.contains(&turns[task].at), "{text} {goal:?}");
                let replies = kept
                    .iter()
                    .filter(|turn| matches!(turn.kind, ItemKind::Reply | ItemKind::Calls));
                assert!(replies.count() >= rounds.max(1), "{text} {goal:?}");
            }
        }
    }
}

#[test]
fn r6_fullness_is_told_by_percent_by_tokens_used_and_by_tokens_left() {
    let told = |json: &str| -> Vec<u64> {
        let fullness: WindowFullness = serde_json::from_str(json).unwrap();
        [8_192, 32_000, 200_000].map(|window| fullness.tokens(window)).to_vec()
    };
    assert_eq!(told(r#"{"percent":75}"#), [6_144, 24_000, 150_000]);
    assert_eq!(told(r#"{"used":20000}"#), [20_000, 20_000, 20_000]);
    assert_eq!(told(r#"{"left":16384}"#), [0, 15_616, 183_616]);
    assert_eq!(told(r#"{"percent":90,"left":16384}"#), [7_372, 28_800, 183_616]);
}

fn user(text: &str) -> VisibleTurn<'static> {
    VisibleTurn::User(Cow::Owned(vec![Part::text(text)]))
}

fn assistant(blocks: Vec<Block>, usage: Option<Usage>) -> VisibleTurn<'static> {
    VisibleTurn::Assistant(Cow::Owned(Reply { blocks, usage, ..Reply::default() }))
}

fn result(id: &str, text: &str, is_error: bool) -> ToolResult {
    ToolResult { call_id: id.into(), parts: vec![Part::text(text)], is_error }
}

fn call(id: &str, name: &str, arguments: &str) -> Block {
    let (id, name, arguments) = (id.into(), name.into(), arguments.into());
    Block::ToolCall(ToolCall { id, name, arguments, detail: None })
}

#[test]
fn k13_the_provider_s_count_goes_before_the_estimate_and_scales_it() {
    let mut gauge = TokenGauge::new(TokenEstimator::Chars);
    let head = 1_000_000;
    gauge.note(&user(&"x".repeat(4_000)));
    assert_eq!(gauge.tokens(head), 2_000, "the head counts before anybody has counted");
    let counted = |input_total| Some(Usage { input_total, ..Usage::default() });
    let reply = |usage| assistant(vec![Block::Text("x".repeat(4_000))], usage);
    for (said, ratio) in [(3_000, 1_000), (1_500, 500), (200, 500), (6_000, 2_000), (50_000, 3_000)]
    {
        let mut gauge = gauge;
        gauge.note(&reply(counted(said)));
        assert_eq!(gauge.tokens(head), said);
        gauge.note(&user(&"x".repeat(4_000)));
        assert_eq!(gauge.tokens(head), said + ratio, "{said}");
        assert_eq!(gauge.scaled(1_000_000, head), ratio, "{said}");
    }
    let mut uncounted = gauge;
    uncounted.note(&reply(None));
    assert_eq!((uncounted.tokens(head), uncounted.counted()), (3_000, None));
}

fn scene() -> Vec<VisibleTurn<'static>> {
    vec![
        user("Fix the cart."),
        VisibleTurn::System("Be brief."),
        assistant(
            vec![
                Block::Reasoning(innerloop_core::message::ReasoningBlock {
                    text: "hidden".into(),
                    ..Default::default()
                }),
                Block::Text("Looking.".into()),
                call("a", "read_file", r#"{"file_path":"src/cart.js"}"#),
                call("b", "shell", r#"{"command":"npm test"}"#),
            ],
            None,
        ),
        VisibleTurn::ToolResults(Cow::Owned(vec![
            result("a", &format!("head{}tail", "-".repeat(500)), false),
            result("b", "2 failed", true),
        ])),
        VisibleTurn::Steering(Cow::Owned(vec![
            Part::text("mind the tests"),
            Part::ImageUrl { url: "https://example.org/a.png".into() },
        ])),
        assistant(vec![Block::Text("Done.".into())], None),
    ]
}

#[test]
fn a_transcript_has_all_that_was_said_and_done_but_not_what_was_thought() {
    let room = TranscriptLimit { chars: usize::MAX, result_chars: 20 };
    expect![[r#"
        [User]
        Fix the cart.

        [System]
        Be brief.

        [Assistant]
        Looking.

        [Assistant calls read_file]
        {"file_pat
        [7 characters are left out]
        /cart.js"}

        [Assistant calls shell]
        {"command"
        [2 characters are left out]
        npm test"}

        [Result of read_file]
        head------
        [488 characters are left out]
        ------tail

        [Error of shell]
        2 failed

        [User, in between]
        mind the tests
        [a picture]

        [Assistant]
        Done.

    "#]]
    .assert_eq(&transcript(scene().into_iter(), room));
}

#[test]
fn a_transcript_that_is_too_long_has_shorter_results_and_then_lacks_its_beginning() {
    let text =
        |chars| transcript(scene().into_iter(), TranscriptLimit { chars, result_chars: 1_000 });
    let whole = text(usize::MAX);
    assert!(whole.contains(&"-".repeat(500)));
    let shorter = text(700);
    assert!(shorter.starts_with("[User]\nFix the cart."), "{shorter}");
    assert!(shorter.contains("[308 characters are left out]"), "{shorter}");
    let cut = text(100);
    assert!(cut.starts_with("[The oldest "), "{cut}");
    assert!(cut.ends_with("mind the tests\n[a picture]\n\n[Assistant]\nDone.\n\n"), "{cut}");
    assert_eq!(cut.split_once('\n').unwrap().1.chars().count(), 100);
}
