//! What a reply's tokens cost.

use innerloop_types::{
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
    // Micro-dollars for a million tokens are 1/1000 nano-dollar for one. Thousands are counted by
    // themselves: both sums are exact, without a division of 128 bits, which is long.
    let (mut nanos, mut thousandths) = (0_u64, 500_u64);
    for (tokens, each) in [
        (uncached, tier.input),
        (usage.cache_read, tier.cache_read.unwrap_or(tier.input)),
        (usage.cache_write, tier.cache_write.unwrap_or(tier.input)),
        (usage.output_total, tier.output),
    ] {
        nanos = nanos.saturating_add((tokens / 1000).saturating_mul(each));
        nanos = nanos.saturating_add((tokens % 1000) * (each / 1000));
        thousandths += (tokens % 1000) * (each % 1000);
    }
    nanos.saturating_add(thousandths / 1000)
}

/// The sum of two costs; what is not known of either adds nothing.
#[must_use]
pub fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (known, None) | (None, known) => known,
    }
}
