//! Skills in a session: those that an input calls for enter the history behind it, and what has
//! made a skill active stays whole when the conversation is folded (`docs/decisions.md#skills`).

use super::{
    ctx::StepContext,
    pipeline::{self, ToolTask},
    setup::AgentSetup,
};
use crate::{
    profile::inner::InnerCall,
    rules::{
        fold::{FoldItem, ItemKind},
        skill::{reading::read_by, selection::selected},
    },
};
use alloc::{format, string::String, vec::Vec};
use innerloop_types::{
    config::SkillFacts,
    message::{Reply, ToolCall, VisibleTurn},
    tool::Job,
};

/// Returns the texts of the skills that an input calls for, without those that the model sees
/// already.
pub(super) fn called_for(text: &str, ctx: &StepContext<'_>) -> Vec<String> {
    let found = selected(text, ctx.setup.skills(), ctx.setup.config.skills);
    let mut texts = Vec::new();
    for skill in found {
        let title = title(skill);
        if !ctx.body.history.seen().any(|said| is_titled(&said, &title)) {
            let body = skill
                .body
                .as_deref()
                .unwrap_or("Read that file whole before anything else, and do as it says.");
            texts.push(format!("{title}\n\n{}", body.trim()));
        }
    }
    texts
}

fn title(skill: &SkillFacts) -> String {
    format!("The skill {} is for this task. Its file is {}:", skill.name, skill.place())
}

fn is_titled(said: &VisibleTurn<'_>, title: &str) -> bool {
    matches!(said, VisibleTurn::System(text) if text.starts_with(title))
}

/// Returns the skills that a turn makes active: by the text of one, or as the results of `calls`
/// that have read their files.
pub(super) fn active<'a>(
    said: &VisibleTurn<'_>,
    calls: Option<&Reply>,
    setup: &'a AgentSetup,
) -> Vec<&'a SkillFacts> {
    let mut active = Vec::new();
    match (said, calls) {
        _ if setup.skills().is_empty() => {}
        (VisibleTurn::System(_), _) => {
            active.extend(setup.skills().iter().find(|skill| is_titled(said, &title(skill))));
        }
        (VisibleTurn::ToolResults(results), Some(reply)) => {
            for (call, result) in reply.tool_calls().zip(results.iter()) {
                active.extend(read(call, setup).filter(|_| !result.is_error));
            }
        }
        _ => {}
    }
    active
}

/// Pins what has made skills active: the newest turn for each skill, as long as they take no more
/// than a quarter of the window. `active` are the names of the skills with the places of their
/// turns.
pub(super) fn pin(active: &[(&str, usize)], window: u64, items: &mut [FoldItem]) {
    let (mut left, mut known) = (window / 4, Vec::new());
    for (name, place) in active.iter().rev() {
        if known.contains(&name) {
            continue;
        }
        known.push(name);
        // The whole round, since no call is parted from its result.
        let is_round = items.get(*place).is_some_and(|item| item.kind == ItemKind::Results);
        let turns = items.get_mut(*place - usize::from(is_round)..=*place).unwrap_or_default();
        let tokens: u64 = turns.iter().map(|item| item.tokens).sum();
        if tokens <= left {
            left -= tokens;
            turns.iter_mut().for_each(|item| item.kind = ItemKind::Pinned);
        }
    }
}

/// Returns the skill whose file a call has read.
fn read<'a>(call: &ToolCall, setup: &'a AgentSetup) -> Option<&'a SkillFacts> {
    let call = pipeline::with_own_arguments(call.clone(), setup);
    match pipeline::prepare(&call, setup).ok()? {
        ToolTask::Inner(InnerCall::Skill { name }) => setup.skill(&name),
        ToolTask::Run { run, .. } => match &run.run.job {
            Job::Builtin(action) => read_by(action, &setup.folder, setup.skills()),
            _ => None,
        },
        ToolTask::Inner(_) => None,
    }
}
