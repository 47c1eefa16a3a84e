//! Token counts as the dialects name them (WIRE.md A6).

use super::lenient::{Count, Map};
use crate::types::message::Usage;
use serde::Deserialize;

/// The counts of a chunk or a body.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Tokens {
    prompt_tokens: Count,
    completion_tokens: Count,
    total_tokens: Count,
    prompt_tokens_details: Map<PromptDetails>,
    completion_tokens_details: Map<CompletionDetails>,
    /// DeepSeek.
    prompt_cache_hit_tokens: Count,
    /// Moonshot.
    cached_tokens: Count,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct PromptDetails {
    cached_tokens: Count,
    cache_write_tokens: Count,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct CompletionDetails {
    reasoning_tokens: Count,
}

impl Tokens {
    /// The counts, unless none was given.
    pub(super) fn usage(&self) -> Option<Usage> {
        let (input, output) = (self.prompt_tokens.0, self.completion_tokens.0);
        if input.is_none() && output.is_none() && self.total_tokens.0.is_none() {
            return None;
        }
        let prompt = self.prompt_tokens_details.0.unwrap_or_default();
        let completion = self.completion_tokens_details.0.unwrap_or_default();
        let cached = prompt.cached_tokens.0.or(self.prompt_cache_hit_tokens.0);
        Some(Usage {
            input_total: input.unwrap_or_default(),
            output_total: output.unwrap_or_default(),
            cache_read: cached.or(self.cached_tokens.0).unwrap_or_default(),
            cache_write: prompt.cache_write_tokens.0.unwrap_or_default(),
            reasoning: completion.reasoning_tokens.0.unwrap_or_default(),
        })
    }
}
