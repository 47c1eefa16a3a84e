//! What a profile makes of a call, and how the arguments of calls are read.

use crate::types::action::Action;
use alloc::{format, string::String};
use serde::{Deserialize, Deserializer, de::Error};

/// A call in canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translated {
    /// What to do.
    pub action: Action,
    /// The time limit that the call asks for, in milliseconds.
    pub timeout_ms: Option<u64>,
}

impl From<Action> for Translated {
    fn from(action: Action) -> Self {
        Self { action, timeout_ms: None }
    }
}

/// The arguments of the tool `name`.
///
/// # Errors
/// A sentence for the model where they do not fit.
pub(super) fn arguments<'a, T: Deserialize<'a>>(name: &str, text: &'a str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| invalid(name, &format!("{error}")))
}

/// The sentence for arguments that do not fit.
pub(super) fn invalid(name: &str, why: &str) -> String {
    format!("Invalid arguments for tool: {name}: {why}")
}

/// A whole number that a schema calls `number`: models write `3`, and sometimes `3.0`.
///
/// # Errors
/// The number is negative or has a fraction.
pub(super) fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let Some(number) = Option::<f64>::deserialize(deserializer)? else { return Ok(None) };
    // Greater numbers mean the same as this one: as much as there is.
    const MOST: f64 = 9_007_199_254_740_992.0;
    let cut = number.clamp(0.0, MOST);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is clamped")]
    let whole = cut as u64;
    #[expect(clippy::cast_precision_loss, reason = "it is below 2⁵³")]
    let back = whole as f64;
    if number < 0.0 || back < cut {
        return Err(D::Error::custom(format!("{number} is no whole number from 0")));
    }
    Ok(Some(whole))
}
