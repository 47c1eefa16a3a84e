//! The cost of a reply's tokens, in whole nano-dollars. Everything is integer arithmetic: costs are
//! added up, compared with limits and written to logs, and must be the same on every machine.

use innerloop_types::{
    message::Usage,
    model::{Price, PriceTier},
};

/// Returns the cost of one call's tokens, in nano-dollars (10⁻⁹ US dollars), rounded to the nearest
/// and saturating. The prices of the highest tier whose threshold the whole input exceeds hold for
/// all tokens of the call.
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
    // `input_total` contains the cached tokens, whatever the protocol: the wire adds them where a
    // provider counts them apart. They are taken off here so that they are not paid for twice.
    let uncached = usage.input_total.saturating_sub(cached);
    // A micro-dollar for a million tokens is 1/1000 nano-dollar for one. Thousands and the rest are
    // counted apart, so that both sums are exact without arithmetic of 128 bits, whose division
    // takes much room in the page's module. The rest begins at 500 thousandths, which rounds the
    // result.
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

/// Returns the sum of two costs, where one that is not known adds nothing; `None` if neither is
/// known.
#[must_use]
pub fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (known, None) | (None, known) => known,
    }
}
