//! Cuts of a conversation that is to become shorter: the place of the cut, the results that are
//! shown as a line, and the turns that stay all the same. A cut is between blocks (an input; a
//! reply with its results), so that no call is parted from its result; it may be inside one long
//! input.

use alloc::vec::Vec;
use innerloop_json::IntoList;

/// A turn of the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldItem {
    /// Its place in the log.
    pub at: u32,
    /// The kind of the turn.
    pub kind: ItemKind,
    /// The estimate of its tokens.
    pub tokens: u64,
    /// Its tokens if a line stands for each of its results.
    pub as_stub: u64,
}

/// The origin of a turn, as far as it decides where to cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// An input of the user.
    Input,
    /// A steering or system message, or the text that stands for turns that were left out.
    Word,
    /// A reply of the model.
    Reply,
    /// A reply of the model with calls, whose results come next.
    Calls,
    /// The results of the calls before.
    Results,
    /// A turn that stays whole in any case.
    Pinned,
}

/// The size that the conversation is to shrink to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldGoal {
    /// Most tokens that may be left.
    pub tokens: u64,
    /// Most turns that may be left.
    pub turns: usize,
    /// Most inputs of the user that may be left, not counting pinned ones.
    pub inputs: usize,
    /// The number of the newest replies that stay whole in any case.
    pub rounds: usize,
    /// True if the first input stays.
    pub first_input: bool,
}

/// The plan for cutting a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoldCut {
    /// The number of turns before the cut, which are left out or pinned.
    pub before: usize,
    /// The places in the log of inputs before the cut that stay.
    pub pin: Vec<u32>,
    /// The number of turns, from the oldest on, whose results are shown as a line.
    pub stubs: usize,
    /// The number of tokens that are left.
    pub tokens: u64,
}

/// Leaves out the oldest turns, as few as reach the goal. If the turns that stay in any case are
/// too long, all of their results but the newest are shown as lines. Returns `None` if there is
/// nothing to leave out.
#[must_use]
pub fn cut(turns: &[FoldItem], goal: &FoldGoal) -> Option<FoldCut> {
    let last = last_border(turns, goal.rounds)?;
    let is_input = |turn: &&FoldItem| turn.kind == ItemKind::Input;
    let mut tokens: u64 = turns.iter().map(|turn| turn.tokens).sum();
    let mut inputs = turns.iter().filter(is_input).count();
    let (mut first, mut newest, mut pinned) = (None, None, 0);
    let mut found: Option<FoldCut> = None;
    // One pass with running sums: a conversation may have thousands of turns, and summing anew at
    // each border would be quadratic.
    for (before, turn) in (1..=last).zip(turns) {
        if turn.kind == ItemKind::Pinned {
            pinned += 1;
        } else {
            tokens -= turn.tokens;
        }
        if is_input(&turn) {
            inputs -= 1;
            first = first.or(Some(turn).filter(|_| goal.first_input));
            newest = Some(turn);
        }
        if !is_border(turns, before) {
            continue;
        }
        // The input under way stays, though rounds of it may go: without it the model would not
        // know its task. The first input is pinned anyway if it is this one.
        let under_way = newest.filter(|turn| inputs == 0 && Some(*turn) != first);
        let pins = first.into_iter().chain(under_way);
        let cut = FoldCut {
            before,
            pin: pins.clone().map(|turn| turn.at).into_list(),
            stubs: 0,
            tokens: tokens + pins.map(|turn| turn.tokens).sum::<u64>(),
        };
        let fits = cut.tokens <= goal.tokens
            && turns.len() - before + cut.pin.len() + pinned <= goal.turns
            && inputs <= goal.inputs;
        // Everything before this border would be pinned, so that nothing would get shorter.
        if cut.pin.len() + pinned == before {
            continue;
        }
        // A cut that does not reach the goal is kept as well: the last border is the best that can
        // be done.
        found = Some(cut);
        if fits {
            return found;
        }
    }
    let mut found = found?;
    stub_from(turns, found.before, newest_results(turns, 1), goal.tokens, &mut found);
    Some(found)
}

/// Shows results as lines, the oldest first, as few as reach the goal. Returns `None` if no result
/// is old enough.
#[must_use]
pub fn stub(turns: &[FoldItem], goal: &FoldGoal) -> Option<FoldCut> {
    let most = newest_results(turns, goal.rounds.max(1));
    let tokens = turns.iter().map(|turn| turn.tokens).sum();
    let mut found = FoldCut { tokens, ..FoldCut::default() };
    let enough = turns.len().saturating_sub(goal.turns);
    // First the turns above the number that may be left, whatever their length (a goal of 0
    // tokens), then as many as the tokens ask for.
    stub_from(turns, 0, most.min(enough), 0, &mut found);
    let from = found.stubs;
    stub_from(turns, from, most, goal.tokens, &mut found);
    (found.stubs > 0).then_some(found)
}

/// Shows the results of `turns` from `from` up to `most` as lines until no more than `goal` tokens
/// are left.
fn stub_from(turns: &[FoldItem], from: usize, most: usize, goal: u64, cut: &mut FoldCut) {
    for (at, turn) in turns.iter().enumerate().take(most).skip(from) {
        if cut.tokens <= goal {
            return;
        }
        // A short result may be shorter than the line that would stand for it.
        if turn.kind == ItemKind::Results && turn.as_stub < turn.tokens {
            cut.tokens -= turn.tokens - turn.as_stub;
            cut.stubs = at + 1;
        }
    }
}

/// Returns the number of turns before the newest `count` results.
fn newest_results(turns: &[FoldItem], count: usize) -> usize {
    let results = turns.iter().enumerate().rev().filter(|(_, t)| t.kind == ItemKind::Results);
    results.map(|(at, _)| at).take(count).last().unwrap_or(0)
}

/// Returns the last place at which a cut leaves `rounds` replies whole, at least one; `None` if
/// there are fewer.
fn last_border(turns: &[FoldItem], rounds: usize) -> Option<usize> {
    let is_reply = |turn: &FoldItem| matches!(turn.kind, ItemKind::Reply | ItemKind::Calls);
    let replies = turns.iter().enumerate().rev().filter(|(_, turn)| is_reply(turn));
    replies.map(|(at, _)| at).nth(rounds.max(1) - 1)
}

/// Returns whether a cut before that turn parts no call from its results.
fn is_border(turns: &[FoldItem], at: usize) -> bool {
    let kind = |at: usize| turns.get(at).map(|turn| turn.kind);
    kind(at) != Some(ItemKind::Results) && kind(at - 1) != Some(ItemKind::Calls)
}
