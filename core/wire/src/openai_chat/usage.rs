//! Token counts under the names of the dialects.

use super::super::lenient::ValueRef;
use innerloop_types::message::Usage;

/// Returns the counts of a chunk or a body; nothing if there are none.
pub(super) fn usage(raw: ValueRef<'_>) -> Option<Usage> {
    let (input, output) = (raw.count_of("prompt_tokens"), raw.count_of("completion_tokens"));
    input.or(output).or_else(|| raw.count_of("total_tokens"))?;
    let prompt = raw.field("prompt_tokens_details");
    let completion = raw.field("completion_tokens_details");
    let read = prompt.count_of("cached_tokens");
    // DeepSeek has its own name for the cached tokens, and Moonshot its own place.
    let read = read.or_else(|| raw.count_of("prompt_cache_hit_tokens"));
    let read = read.or_else(|| raw.count_of("cached_tokens"));
    Some(Usage {
        input_total: input.unwrap_or_default(),
        output_total: output.unwrap_or_default(),
        cache_read: read.unwrap_or_default(),
        cache_write: prompt.count_of("cache_write_tokens").unwrap_or_default(),
        reasoning: completion.count_of("reasoning_tokens").unwrap_or_default(),
    })
}
