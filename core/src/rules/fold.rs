//! Where a conversation is cut to become shorter, which results are shown as a line, and what is
//! kept in spite of it. A cut stands between blocks (an input; a reply with its results), so that
//! no call loses its answer, and inside one long input as well as between two.

use alloc::vec::Vec;

/// A turn of the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldItem {
    /// Its place in the log.
    pub at: u32,
    /// The kind of the turn.
    pub kind: ItemKind,
    /// Its tokens.
    pub tokens: u64,
    /// Its tokens once a line stands for each of its results.
    pub as_stub: u64,
}

/// The origin of a turn, as far as it decides where to cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// The user's input.
    Input,
    /// A word in between, or what stands for turns that were left out.
    Word,
    /// A reply of the model.
    Reply,
    /// A reply of the model with calls, whose results come next.
    Calls,
    /// The results of the calls before.
    Results,
}

/// The size that the conversation is to shrink to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldGoal {
    /// Most tokens that may be left.
    pub tokens: u64,
    /// Most turns that may be left.
    pub turns: usize,
    /// Most inputs of the user that may be left, the pinned ones aside.
    pub inputs: usize,
    /// The number of the newest replies that stay whole in any case.
    pub rounds: usize,
    /// True if the first input stays.
    pub first_input: bool,
}

/// The plan for cutting a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoldCut {
    /// The number of its turns that are left out or pinned: those before the cut.
    pub before: usize,
    /// The places in the log of turns before the cut that stay.
    pub pin: Vec<u32>,
    /// The number of turns, from the oldest on, whose results are shown as a line.
    pub stubs: usize,
    /// The number of tokens that are left.
    pub tokens: u64,
}

/// Leaves the oldest turns out, as few as reach the goal. Where the turns that stay in any case are
/// too long, their results but the newest are shown as lines. Nothing if there is nothing to leave
/// out.
#[must_use]
pub fn cut(turns: &[FoldItem], goal: &FoldGoal) -> Option<FoldCut> {
    let last = last_border(turns, goal.rounds)?;
    let is_input = |turn: &&FoldItem| turn.kind == ItemKind::Input;
    let mut tokens: u64 = turns.iter().map(|turn| turn.tokens).sum();
    let mut inputs = turns.iter().filter(is_input).count();
    let (mut first, mut newest) = (None, None);
    let mut found: Option<FoldCut> = None;
    for (before, turn) in (1..=last).zip(turns) {
        tokens -= turn.tokens;
        if is_input(&turn) {
            inputs -= 1;
            first = first.or(Some(turn).filter(|_| goal.first_input));
            newest = Some(turn);
        }
        if !is_border(turns, before) {
            continue;
        }
        // The input under way stays, though rounds of it may go.
        let under_way = newest.filter(|turn| inputs == 0 && Some(*turn) != first);
        let pins = first.into_iter().chain(under_way);
        let cut = FoldCut {
            before,
            pin: pins.clone().map(|turn| turn.at).collect(),
            stubs: 0,
            tokens: tokens + pins.map(|turn| turn.tokens).sum::<u64>(),
        };
        let fits = cut.tokens <= goal.tokens
            && turns.len() - before + cut.pin.len() <= goal.turns
            && inputs <= goal.inputs;
        if cut.pin.len() == before {
            continue;
        }
        found = Some(cut);
        if fits {
            return found;
        }
    }
    let mut found = found?;
    stub_from(turns, found.before, newest_results(turns, 1), goal.tokens, &mut found);
    Some(found)
}

/// Shows results as lines, the oldest first and as few as reach the goal. Nothing if no result is
/// old enough.
#[must_use]
pub fn stub(turns: &[FoldItem], goal: &FoldGoal) -> Option<FoldCut> {
    let most = newest_results(turns, goal.rounds.max(1));
    let tokens = turns.iter().map(|turn| turn.tokens).sum();
    let mut found = FoldCut { tokens, ..FoldCut::default() };
    let enough = turns.len().saturating_sub(goal.turns);
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
        if turn.kind == ItemKind::Results && turn.as_stub < turn.tokens {
            cut.tokens -= turn.tokens - turn.as_stub;
            cut.stubs = at + 1;
        }
    }
}

/// Returns how many turns stand before the newest `count` results.
fn newest_results(turns: &[FoldItem], count: usize) -> usize {
    let results = turns.iter().enumerate().rev().filter(|(_, t)| t.kind == ItemKind::Results);
    results.map(|(at, _)| at).take(count).last().unwrap_or(0)
}

/// The latest place at which a cut leaves so many replies whole, or none if there are fewer.
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
