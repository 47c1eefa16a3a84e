//! Delays before a failed model call is tried again, and the end of the tries
//! (`docs/decisions.md#retries`). Chance is computed from the session, so that a replay waits
//! equally long.

use innerloop_types::config::RetryPolicy;

/// Returns the delay before try number `attempt` (counted from 2), in milliseconds, or `None` if
/// there is no further try: the retries are used up, or the provider asks for more time than the
/// policy allows. A delay that the provider asks for takes the place of our own. `salt` stands in
/// for chance.
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
    // A delay of 0 says nothing: without one of our own, the tries would be used up at once.
    if let Some(asked) = retry_after_ms.filter(|&asked| asked > 0) {
        // A shorter delay than the provider asks for would only use up a try.
        return (asked <= policy.max_retry_after_ms).then_some(asked);
    }
    // The shift must stay below 64; any doubling beyond this is above `max_ms` anyway.
    let doublings = attempt.saturating_sub(2).min(32);
    let full = policy.base_ms.saturating_mul(1 << doublings).min(policy.max_ms);
    let spread = spread(salt ^ u64::from(attempt));
    let most = full.saturating_mul(policy.jitter_percent.min(100).into()) / 100;
    Some(full - most.saturating_mul(spread) / 1024)
}

/// Returns a number that stands in for chance: another one for each session and each of its
/// effects.
#[must_use]
pub(crate) fn salt(session: &str, effect: u64) -> u64 {
    // Sessions that fail together must not come back together, so the session's id goes in; the
    // same session replays to the same delay.
    let fold = |salt: u64, &byte: &u8| salt.wrapping_mul(31).wrapping_add(u64::from(byte));
    session.as_bytes().iter().fold(effect, fold)
}

/// Returns a number from 0 to 1023 that looks like chance (the finaliser of SplitMix64).
const fn spread(seed: u64) -> u64 {
    let x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ (x >> 31)) & 1023
}
