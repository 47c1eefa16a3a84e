//! The renewal of an endpoint's key while its session runs.

use innerloop_driver::ApiKey;
use std::fmt;

/// Looks up the endpoint's key again before each input of the user, and gives it if it has changed.
pub struct KeyRenewal(Box<dyn FnMut() -> Option<ApiKey> + Send>);

impl KeyRenewal {
    /// Creates a renewal. A key that `renew` returns is used from the next request on.
    #[must_use]
    pub fn new(renew: impl FnMut() -> Option<ApiKey> + Send + 'static) -> Self {
        Self(Box::new(renew))
    }

    /// Returns the key if it has changed.
    pub(crate) fn renew(&mut self) -> Option<ApiKey> {
        (self.0)()
    }
}

impl fmt::Debug for KeyRenewal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyRenewal")
    }
}
