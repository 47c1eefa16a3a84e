//! Whether and when a failed model call is tried again.

use innerloop_types::config::RetryPolicy;

/// The delay before try number `attempt` (counted from 2), in milliseconds, or `None` if there is
/// to be no further try. A delay that the provider asked for takes the place of our own; where
/// it asks for more than the policy allows, waiting makes no sense. `salt` stands in for chance:
/// it spreads the tries of many sessions, and the same session gives the same delay again.
#[must_use]
pub(crate) fn delay_ms(
    policy: &RetryPolicy,
    attempt: u32,
    retry_after_ms: Option<u64>,
    salt: u64,
) -> Option<u64> {
    if attempt.saturating_sub(1) > policy.max_retries {
        return None;
    }
    // A delay of nothing is no answer to how long to wait.
    if let Some(asked) = retry_after_ms.filter(|&asked| asked > 0) {
        return (asked <= policy.max_retry_after_ms).then_some(asked);
    }
    let doublings = attempt.saturating_sub(2).min(32);
    let full = policy.base_ms.saturating_mul(1 << doublings).min(policy.max_ms);
    let spread = spread(salt ^ u64::from(attempt));
    let most = full.saturating_mul(policy.jitter_percent.min(100).into()) / 100;
    Some(full - most.saturating_mul(spread) / 1024)
}

/// Returns what stands in for chance: another number for each session and each of its effects.
#[must_use]
pub(crate) fn salt(session: &str, effect: u64) -> u64 {
    let fold = |salt: u64, &byte: &u8| salt.wrapping_mul(31).wrapping_add(u64::from(byte));
    session.as_bytes().iter().fold(effect, fold)
}

/// A number from 0 to 1023 that looks like chance (the finaliser of SplitMix64).
const fn spread(seed: u64) -> u64 {
    let x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ (x >> 31)) & 1023
}
