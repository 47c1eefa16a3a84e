//! Token counts as the dialects name them.

use super::super::lenient::Raw;
use crate::types::message::Usage;

/// The counts of a chunk or a body, unless none was given.
pub(super) fn usage(raw: Raw<'_>) -> Option<Usage> {
    const NAMES: [&str; 7] = [
        "prompt_tokens",
        "completion_tokens",
        "total_tokens",
        "prompt_tokens_details",
        "completion_tokens_details",
        // DeepSeek.
        "prompt_cache_hit_tokens",
        // Moonshot.
        "cached_tokens",
    ];
    let [input, output, total, prompt, completion, hits, cached] = raw.fields(NAMES);
    let (input, output) = (input.count(), output.count());
    input.or(output).or(total.count())?;
    let [read, write] = prompt.fields(["cached_tokens", "cache_write_tokens"]).map(Raw::count);
    Some(Usage {
        input_total: input.unwrap_or_default(),
        output_total: output.unwrap_or_default(),
        cache_read: read.or(hits.count()).or(cached.count()).unwrap_or_default(),
        cache_write: write.unwrap_or_default(),
        reasoning: completion.field("reasoning_tokens").count().unwrap_or_default(),
    })
}
