//! Whole configurations by name. Where the sources of this loop disagree, each has a preset with
//! its own values (`docs/decisions.md#sources`).

use crate::compaction::{
    CompactionPolicy, CompactionTier, OnOverflow, RetentionPolicy, WindowFullness,
};
use crate::config::{
    AfterToolPolicy, AskAbout, DeniedResult, LimitAction, LoopPolicy, LoopStep, ProfileKind,
    RetryPolicy, SessionConfig, SkillUse, TextCalls, TokenEstimator, VocabularyKind, WireKind,
};
use crate::corrections::{CorrectionPolicy, ReplyFault};
use crate::message::FoldKind;
use crate::tool::BuiltinTools;
use alloc::{format, vec, vec::Vec};
use innerloop_json::{FromJson, ToJson};

/// A configuration by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ConfigPreset {
    /// The defaults of the Coding Agent Loop Specification.
    #[default]
    Seed001,
    /// The settings that users of codex, Claude Code or pi expect: the tools that the model was
    /// trained on, files that must be read before they are changed, arguments that are converted to
    /// fit their schema, sessions that survive a refused request, and at most 200 rounds for an
    /// input; calls that still repeat after two warnings end the run.
    Modern,
    /// Small local models: 25 rounds, then a summary; loops stop early; outputs take less than a
    /// third of the window.
    Ollama,
    /// Approval of changes, 50 rounds, and only failing calls count as a loop.
    Ironclaw,
    /// Few retries with long delays, none in mid-stream; reaching a limit is an error.
    Gnoma,
    /// A member of a council, who gives a position on a question by reasoning alone, without any
    /// tool.
    CouncilMember,
    /// A member of a council who weighs the positions of the others, also without tools.
    CouncilDiscusser,
    /// A member of a council who reviews its outcome, also without tools.
    CouncilReviewer,
}

impl ConfigPreset {
    /// The list of all presets.
    pub const ALL: [Self; 8] = [
        Self::Seed001,
        Self::Modern,
        Self::Ollama,
        Self::Ironclaw,
        Self::Gnoma,
        Self::CouncilMember,
        Self::CouncilDiscusser,
        Self::CouncilReviewer,
    ];

    /// Returns the configuration; `id`, `endpoint` and the model's name are still to be set.
    #[must_use]
    pub fn config(self) -> SessionConfig {
        // The default is `seed001`, and each other preset says only where it differs: a field that
        // is new gets the specification's value everywhere.
        let mut config = SessionConfig::default();
        match self {
            Self::Seed001 => {}
            Self::Modern => modern(&mut config),
            Self::Ollama => ollama(&mut config),
            Self::Ironclaw => ironclaw(&mut config),
            Self::Gnoma => gnoma(&mut config),
            Self::CouncilMember => council(
                &mut config,
                "Give your own position and the grounds for it, and say what would change it.",
            ),
            Self::CouncilDiscusser => council(
                &mut config,
                "Weigh the positions that you are shown: where you agree, where you do not and \
                 why, and what all of them miss. Then give your own.",
            ),
            Self::CouncilReviewer => council(
                &mut config,
                "Review the answer that you are shown: look for errors, gaps and claims without \
                 grounds, and say which of them change it. End with your verdict.",
            ),
        }
        config
    }
}

fn modern(config: &mut SessionConfig) {
    config.model.vocabulary = VocabularyKind::Native;
    config.guard.read_before_write = true;
    config.repair.coerce_arguments = true;
    // A person is there who can give another key or another model, and go on.
    config.retry.refusal_closes = false;
    config.corrections = CorrectionPolicy::of(&[
        (ReplyFault::Claimed, 1),
        (ReplyFault::FakeResult, 1),
        (ReplyFault::Echo, 1),
        (ReplyFault::PatchSpiral, 1),
    ]);
    // More rounds than work takes, and fewer than a night of them costs.
    config.limits.max_tool_rounds_per_input = 200;
    // The default only ever warns. After two warnings about a window of ten calls, thirty equal
    // calls in a row are nobody's work.
    config.loops.ladder = vec![LoopStep::Warn, LoopStep::Warn, LoopStep::Stop];
    // The later of the two counts: in windows of less than 160,000 tokens, the percentage keeps the
    // tokens left from coming too early.
    let from = WindowFullness { left: Some(16_384), ..WindowFullness::percent(90) };
    let to = WindowFullness::percent(60);
    config.compaction =
        by_tiers(vec![CompactionTier { from, to, step: FoldKind::Summary, inputs: None }]);
}

/// Configures the session of a council's member for its part.
fn council(config: &mut SessionConfig, part: &str) {
    // No family's own words, all of which speak of work on files: there is nothing to work with.
    config.base_prompt = Some(format!(
        "You sit on a council that deliberates on a question. {part} Reason from what you are \
         given and what you know, say how sure you are, and be brief."
    ));
    config.builtin_tools = BuiltinTools::None;
    config.retry.refusal_closes = false;
}

/// Returns a policy with these tiers that also compacts once if the provider refuses a conversation
/// as too long.
fn by_tiers(auto: Vec<CompactionTier>) -> CompactionPolicy {
    CompactionPolicy {
        auto,
        on_overflow: OnOverflow::CompactRetryOnce,
        ..CompactionPolicy::default()
    }
}

/// Creates a tier between two percentages of the window.
const fn tier(from: u32, to: u32, step: FoldKind, inputs: Option<u32>) -> CompactionTier {
    CompactionTier {
        from: WindowFullness::percent(from),
        to: WindowFullness::percent(to),
        step,
        inputs,
    }
}

fn ollama(config: &mut SessionConfig) {
    config.model.wire = WireKind::Ollama;
    config.model.profile = ProfileKind::Small;
    config.model.text_calls = TextCalls::Fallback;
    config.model.stream = false;
    config.model.context_window = 8_192;
    config.model.max_output_tokens = 2_048;
    config.limits.max_tool_rounds_per_input = 25;
    config.limits.action = LimitAction::Summarize;
    config.loops = LoopPolicy {
        same_args: 3,
        same_name: 5,
        ladder: vec![LoopStep::Summarize],
        ..LoopPolicy::default()
    };
    config.tool_output_percent = Some(30);
    config.estimator = TokenEstimator::CodeAndProse;
    config.repair.coerce_arguments = true;
    config.corrections = CorrectionPolicy::of(&[
        (ReplyFault::Promised, 2),
        (ReplyFault::TooShort, 2),
        (ReplyFault::AskedInstead, 2),
        (ReplyFault::WroteOnly, 2),
        (ReplyFault::Claimed, 2),
        (ReplyFault::FakeResult, 2),
        (ReplyFault::NamedTool, 2),
        (ReplyFault::Echo, 2),
        (ReplyFault::PatchSpiral, 1),
    ]);
    config.repair.grow_output = true;
    // The list alone would take much of such a window.
    config.skills = SkillUse::Off;
    config.retry.idle_ms = 120_000;
    config.tool_output_share_of_rest = Some(60);
    let stub = tier(70, 50, FoldKind::Stub, None);
    let truncate = tier(85, 50, FoldKind::Truncate, None);
    config.compaction = CompactionPolicy {
        // The direct process trims at 40 messages or at 70 percent of the window.
        max_messages: 40,
        keep: RetentionPolicy { first_input: true, ..RetentionPolicy::default() },
        ..by_tiers(vec![stub, truncate])
    };
}

fn ironclaw(config: &mut SessionConfig) {
    config.approval.ask = AskAbout::Changes;
    config.limits.max_tool_rounds_per_input = 50;
    config.limits.action = LimitAction::Partial;
    config.loops = LoopPolicy {
        same_args: 3,
        // A warning at 3 equal rounds, and the end at 5.
        again_after: 2,
        only_if_failed: true,
        mask_volatile: true,
        ladder: vec![LoopStep::Warn, LoopStep::Summarize],
        ..LoopPolicy::default()
    };
    config.estimator = TokenEstimator::Words;
    config.corrections = CorrectionPolicy::of(&[(ReplyFault::Promised, 2)]);
    config.repair.coerce_arguments = true;
    config.compaction = CompactionPolicy {
        // 1.3 tokens for a word make one token of a line of minified JSON. Taken at its word, such
        // an estimate would overrun a large window.
        max_window: 100_000,
        ..by_tiers(vec![
            tier(80, 60, FoldKind::Archive, Some(10)),
            tier(85, 60, FoldKind::Summary, Some(5)),
            tier(95, 60, FoldKind::Truncate, Some(3)),
        ])
    };
    config.undo.max_steps = 20;
    config.skills = SkillUse::Selected;
}

fn gnoma(config: &mut SessionConfig) {
    config.limits.action = LimitAction::Error;
    config.corrections = CorrectionPolicy::of(&[
        (ReplyFault::Greeting, 2),
        (ReplyFault::Echo, 2),
        (ReplyFault::PatchSpiral, 1),
    ]);
    config.subagents.coordinate = true;
    config.loops.detect = false;
    config.hooks.after_tool = AfterToolPolicy { denial: DeniedResult::Keep };
    config.retry = RetryPolicy {
        max_retries: 4,
        base_ms: 1_000,
        max_ms: 8_000,
        jitter_percent: 0,
        // The engine gives up if a provider asks for half a minute or more.
        max_retry_after_ms: 29_999,
        mid_stream: false,
        ..RetryPolicy::default()
    };
    config.compaction = by_tiers(vec![tier(90, 50, FoldKind::Truncate, None)]);
}
