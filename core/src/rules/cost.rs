//! What a reply's tokens cost.

use crate::types::{
    message::Usage,
    model::{Price, PriceTier},
};

/// The cost of one call's tokens, in nano-dollars (10⁻⁹ US dollars), saturating. The price of the
/// highest tier whose threshold the whole input exceeds is that of all its tokens.
#[must_use]
pub fn nano_usd(usage: &Usage, price: &Price) -> u64 {
    let base = PriceTier {
        above: 0,
        input: price.input,
        output: price.output,
        cache_read: price.cache_read,
        cache_write: price.cache_write,
    };
    let tiers = price.tiers.iter().filter(|tier| usage.input_total > tier.above);
    let tier = tiers.max_by_key(|tier| tier.above).unwrap_or(&base);
    let cached = usage.cache_read.saturating_add(usage.cache_write);
    let uncached = usage.input_total.saturating_sub(cached);
    // Micro-dollars for a million tokens are 1/1000 nano-dollar for one.
    let thousandths = [
        (uncached, tier.input),
        (usage.cache_read, tier.cache_read.unwrap_or(tier.input)),
        (usage.cache_write, tier.cache_write.unwrap_or(tier.input)),
        (usage.output_total, tier.output),
    ]
    .into_iter()
    .fold(0_u128, |sum, (tokens, each)| {
        sum.saturating_add(u128::from(tokens).saturating_mul(u128::from(each)))
    });
    u64::try_from(thousandths.saturating_add(500) / 1000).unwrap_or(u64::MAX)
}

/// The sum of two costs; what is not known of either adds nothing.
#[must_use]
pub fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (known, None) | (None, known) => known,
    }
}
