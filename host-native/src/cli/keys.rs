//! The keys of the environment: that of a provider, and all of them, to be kept out of what the
//! program prints.

use innerloop_driver::{
    Key, Keys,
    providers::{self, Provider},
};
use std::env;

/// The provider's key as the environment has it; empty if it has none. What is not UTF-8 gets
/// characters in its place that no key has, so that it is told as a bad key.
pub(super) fn key(provider: &Provider) -> Key {
    let variables = provider.key_variables.iter();
    let mut keys = variables
        .map(|variable| Key::new(&env::var_os(variable).unwrap_or_default().to_string_lossy()));
    keys.find(|key| !key.is_empty()).unwrap_or_default()
}

/// The names of the variables that may hold the provider's key, for people.
pub(super) fn variables(provider: &Provider) -> String {
    match provider.key_variables.split_first() {
        Some((first, [])) => first.clone(),
        Some((first, others)) => format!("{first} (or {})", others.join(", ")),
        None => "the key's variable".to_owned(),
    }
}

/// The keys of all providers.
pub(super) fn of_environment() -> Keys {
    let keys: Vec<Key> = providers::all().iter().map(key).collect();
    Keys::new(keys.iter())
}
