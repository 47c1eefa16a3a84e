//! The provider's key while a session runs: its origin, whether it was refused, and its replacement
//! by a newer one, so that `innerloop login` in another terminal helps a running conversation.

use super::{
    args::ModelArgs,
    keys::{self, FoundKey, KeyOrigin},
};
use innerloop_driver::{ApiKey, providers::Provider};
use innerloop_host::host::KeyRenewal;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The key that requests are sent with; clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct KeyInUse(Arc<Mutex<KeyState>>);

#[derive(Debug, Default)]
struct KeyState {
    /// The provider's name.
    provider: String,
    /// The variables that may hold the key, for people.
    variables: String,
    found: Option<FoundKey>,
    /// True if the provider has refused it.
    is_refused: bool,
}

impl KeyState {
    fn of(provider: &Provider, found: Option<FoundKey>) -> Self {
        let (name, variables) = (provider.name.clone(), keys::variables(provider));
        Self { provider: name, variables, found, is_refused: false }
    }
}

impl KeyInUse {
    /// Returns the provider's key as it was found.
    pub(super) fn new(provider: &Provider, found: Option<FoundKey>) -> Self {
        Self(Arc::new(Mutex::new(KeyState::of(provider, found))))
    }

    /// Returns the key of a recording, which is not known: only its origin is named in advice.
    pub(super) fn recorded(provider: &Provider) -> Self {
        let origin = KeyOrigin::Variable(keys::variables(provider));
        Self::new(provider, Some(FoundKey { key: ApiKey::default(), origin }))
    }

    /// Goes over to the key of another provider.
    pub(super) fn change(&self, provider: &Provider, found: Option<FoundKey>) {
        *self.state() = KeyState::of(provider, found);
    }

    /// Notes that the provider has refused the key.
    pub(super) fn refuse(&self) {
        self.state().is_refused = true;
    }

    /// Returns the advice for a key that the provider refuses.
    pub(super) fn advice(&self) -> String {
        let KeyState { provider, variables, found, .. } = &*self.state();
        match found.as_ref().map(|found| &found.origin) {
            Some(KeyOrigin::Variable(name)) => format!("check the provider's key in {name}"),
            Some(origin @ KeyOrigin::File(_)) => format!(
                "check the provider's key in {}: `innerloop login {provider}` keeps another one",
                origin.told()
            ),
            Some(KeyOrigin::KeyRing) => format!(
                "check the provider's key in the key ring: `innerloop login --keyring {provider}` \
                 keeps another one"
            ),
            None => format!(
                "no key was sent: put one in {variables}, or keep it with `innerloop login \
                 {provider}`"
            ),
        }
    }

    /// Returns a function that looks for a newer key, which the host calls before each input of the
    /// user.
    pub(super) fn renewal(&self, provider: &Provider, args: &ModelArgs) -> KeyRenewal {
        let (own, provider, args) = (self.clone(), provider.clone(), args.clone());
        KeyRenewal::new(move || {
            let found = own.newer(&provider, &args)?;
            let key = found.key.clone();
            let mut state = own.state();
            (state.found, state.is_refused) = (Some(found), false);
            Some(key)
        })
    }

    /// Returns the key that a session would begin with now, if it is another one. The key ring,
    /// which takes time and may ask for a password, is asked only if the key was refused.
    fn newer(&self, provider: &Provider, args: &ModelArgs) -> Option<FoundKey> {
        let is_refused = self.state().is_refused;
        let found = match is_refused && !provider.key_optional {
            true => keys::find(provider, &args.settings),
            false => keys::at_hand(provider, &args.settings),
        };
        let found = found.ok().flatten()?;
        let is_same = self.state().found.as_ref().is_some_and(|known| known.key == found.key);
        (!is_same).then_some(found)
    }

    fn state(&self) -> MutexGuard<'_, KeyState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
