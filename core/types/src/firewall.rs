//! The rules about secrets and about text that nobody has checked. The driver applies them to all
//! that comes into a session, so that no request, log, snapshot or event holds a secret
//! (`docs/decisions.md#secrets`).

use alloc::{string::String, vec::Vec};
use innerloop_json::{FromJson, ToJson};

/// The rules about secrets and about text that nobody has checked.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct FirewallPolicy {
    /// The handling of secrets in what tools return, in the facts and in the instructions.
    pub secrets: SecretHandling,
    /// The handling of secrets in what the user says; `warn` is not possible.
    pub user: SecretHandling,
    /// The handling of text that comes from elsewhere: pages of the web, and results of tools that
    /// are `untrusted`.
    pub untrusted: UntrustedText,
    /// True if the tools that write files put a secret in the place of its mask, where the file has
    /// that secret.
    pub unmask: bool,
    /// Texts that are no secrets: what contains one of them is never masked.
    pub allow: Vec<String>,
    /// The salt of the masks; if absent, the driver makes one of the session's id. A fork keeps it,
    /// since its history has masks that were made with it.
    #[json(skip_serializing_if = "Option::is_none")]
    pub salt: Option<u64>,
}

impl Default for FirewallPolicy {
    fn default() -> Self {
        Self {
            secrets: SecretHandling::Off,
            user: SecretHandling::Off,
            untrusted: UntrustedText::Wrap,
            unmask: true,
            allow: Vec::new(),
            salt: None,
        }
    }
}

impl FirewallPolicy {
    /// Returns whether any text is looked through for secrets.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.secrets != SecretHandling::Off || self.user != SecretHandling::Off
    }
}

/// The handling of secrets in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum SecretHandling {
    /// They are not looked for.
    #[default]
    Off,
    /// The text stays; the outcome names the kinds of secrets.
    Warn,
    /// Each secret is replaced by a mask such as `‹secret:github:3f9a2c›`.
    Mask,
    /// A result is withheld, and what the user says is refused.
    Block,
}

/// The handling of text that comes from elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum UntrustedText {
    /// It stays as it is.
    Off,
    /// It stands between two lines that no such text can contain, with a sentence that says that it
    /// is information and not instructions.
    #[default]
    Wrap,
}
