//! The keys of providers: where each is found, and the set of all known ones, which are masked in
//! everything that the program prints. The environment comes first, then the variable that settings
//! name, then the file of `innerloop login`, then the platform's key ring, the only one that takes
//! time.

use super::{args::OfProviders, credentials, keyring};
use innerloop_driver::{
    ApiKey, SecretKeys,
    providers::{self, Provider},
};
use std::{
    env,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

/// The keys that were read from places other than the providers' own variables.
static READ: Mutex<Vec<ApiKey>> = Mutex::new(Vec::new());

/// The place where a key was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum KeyOrigin {
    /// A variable of the environment.
    Variable(String),
    /// The file of `innerloop login`.
    File(PathBuf),
    /// The platform's key ring.
    KeyRing,
}

/// A key, and where it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundKey {
    pub(super) key: ApiKey,
    pub(super) origin: KeyOrigin,
}

impl KeyOrigin {
    /// Returns the place, for people.
    pub(super) fn told(&self) -> String {
        match self {
            Self::Variable(name) => name.clone(),
            Self::File(path) => path.display().to_string(),
            Self::KeyRing => "the key ring".to_owned(),
        }
    }
}

/// Finds the provider's key in any place; none if it is nowhere.
///
/// # Errors
/// A place can't be read, and no place before it has a key.
pub(super) fn find(
    provider: &Provider,
    settings: &OfProviders,
) -> Result<Option<FoundKey>, String> {
    if let Some(found) = at_hand(provider, settings)? {
        return Ok(Some(found));
    }
    let key = keyring::look_up(&provider.name).map_err(|why| {
        format!("the key ring can't be asked for the key of {}: {why}", provider.name)
    })?;
    Ok(key.map(|key| read(key, KeyOrigin::KeyRing)))
}

/// Finds the provider's key without asking the key ring.
///
/// # Errors
/// The file of `innerloop login` can't be used.
pub(super) fn at_hand(
    provider: &Provider,
    settings: &OfProviders,
) -> Result<Option<FoundKey>, String> {
    if let Some(found) = of_variables(provider, settings) {
        return Ok(Some(found));
    }
    let Some(path) = credentials::path() else { return Ok(None) };
    let kept = credentials::read()?;
    if kept.is_empty() {
        return Ok(None);
    }
    // Several providers may stand for one company's protocols, and share its key.
    let is_same = |other: &Provider| other.key_variables == provider.key_variables;
    let others = || providers::all().into_iter().filter(is_same).map(|other| other.name);
    let names = [provider.name.clone()].into_iter().chain(others());
    let key = names.into_iter().find_map(|name| kept.get(&name).cloned());
    Ok(key.map(|key| read(key, KeyOrigin::File(path))))
}

/// Returns the provider's key from the environment.
pub(super) fn of_variables(provider: &Provider, settings: &OfProviders) -> Option<FoundKey> {
    let own = provider.key_variables.iter().find_map(|name| {
        let key = variable(name);
        let origin = KeyOrigin::Variable(name.clone());
        (!key.is_empty()).then_some(FoundKey { key, origin })
    });
    own.or_else(|| {
        let name = settings.of(&provider.name)?.api_key_env.as_ref()?;
        let key = variable(name);
        (!key.is_empty()).then(|| read(key, KeyOrigin::Variable(name.clone())))
    })
}

/// Returns the provider's key from its own variables; empty if they have none.
pub(super) fn key(provider: &Provider) -> ApiKey {
    of_variables(provider, &OfProviders::default()).map(|found| found.key).unwrap_or_default()
}

/// Returns the value of a variable. Bytes that are not UTF-8 become characters that no key has, so
/// that the value is reported as a bad key rather than as a missing one.
fn variable(name: &str) -> ApiKey {
    ApiKey::new(&env::var_os(name).unwrap_or_default().to_string_lossy())
}

/// Registers a key, so that it is masked from now on.
fn read(key: ApiKey, origin: KeyOrigin) -> FoundKey {
    note(&key);
    FoundKey { key, origin }
}

/// Masks a key in everything that is printed from now on.
pub(super) fn note(key: &ApiKey) {
    let mut known = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if !known.contains(key) {
        known.push(key.clone());
    }
}

/// Returns the names of the variables that may hold the provider's key, for people.
pub(super) fn variables(provider: &Provider) -> String {
    match provider.key_variables.split_first() {
        Some((first, [])) => first.clone(),
        Some((first, others)) => format!("{first} (or {})", others.join(", ")),
        None => "the key's variable".to_owned(),
    }
}

/// Returns the keys of all providers in the environment, and those that were read elsewhere.
pub(super) fn of_environment() -> SecretKeys {
    let read = READ.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let keys: Vec<ApiKey> = providers::all().iter().map(key).chain(read).collect();
    SecretKeys::new(keys.iter())
}
