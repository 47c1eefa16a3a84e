//! The providers of models that hosts know by name: the address of each, its way to authenticate,
//! its protocol, and where its endpoint differs from that of the protocol's author. One table of
//! data for all hosts. It names where keys are found and sent; no key is ever in it.

use alloc::{string::String, vec::Vec};
use innerloop_core::{
    Profile,
    config::{EndpointCompat, ModelConfig, ProfileKind, TextCalls, VocabularyKind, WireKind},
    id::EndpointId,
    json::JsonObject,
    preset::ConfigPreset,
};
use innerloop_json::{FromJson, IntoList, Map, ToJson, from_str, joined, quoted};

/// The table. Its order counts: if no provider is named, a host may take the first whose key is
/// set.
const TABLE: &str = include_str!("providers.json");

/// A provider of models.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(deny_unknown_fields)]
pub struct Provider {
    /// Its name in options, which is also its endpoint's.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// The protocol it speaks.
    pub wire: WireKind,
    /// The family whose tools and prompt its models get.
    pub profile: ProfileKind,
    /// Other families, by what a model's name has in it.
    #[json(default)]
    pub families: Map<ProfileKind>,
    /// The URL at which it is reached if no other is given; absent if every user has a URL of their
    /// own. The protocol's paths go below it.
    #[json(default)]
    pub base_url: Option<String>,
    /// An example of such a URL of one's own.
    #[json(default)]
    pub base_url_example: Option<String>,
    /// The environment variable that may hold another base URL.
    pub base_url_variable: String,
    /// The header that carries a key.
    pub auth: AuthHeader,
    /// The environment variables that may hold the key; the first that is set counts.
    pub key_variables: Vec<String>,
    /// True if it works without a key, as servers of one's own do.
    #[json(default)]
    pub key_optional: bool,
    /// The model that is used if none is named.
    #[json(default)]
    pub default_model: Option<String>,
    /// The ways in which it differs from the endpoint of the protocol's author.
    #[json(default)]
    pub compat: EndpointCompat,
    /// The cases in which calls are also looked for in the models' text; those of the family if
    /// absent.
    #[json(default)]
    pub text_calls: Option<TextCalls>,
    /// The environment variable that may hold the number of tokens of a model's window, where the
    /// user decides that.
    #[json(default)]
    pub context_window_variable: Option<String>,
    /// The preset that a session with it starts from if none is named; `modern` if absent.
    #[json(default)]
    pub preset: Option<ConfigPreset>,
    /// The further settings that a session with it starts from, as a merge patch (RFC 7396) of the
    /// configuration.
    #[json(default)]
    pub config: JsonObject,
    /// Headers that it wants from a web page, whose visitors can see the key.
    #[json(default)]
    pub page_headers: Vec<(String, String)>,
}

/// The header that carries a key.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(deny_unknown_fields)]
pub struct AuthHeader {
    /// The header's name.
    pub header: String,
    /// The text in front of the key.
    #[json(default)]
    pub prefix: String,
}

/// A name that is no provider's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown provider {}; known: {}", quoted(name), joined(known, ", "))]
pub struct UnknownProvider {
    /// The name that was asked for.
    pub name: String,
    /// Every name that there is.
    pub known: Vec<String>,
}

/// The name of the provider that a host uses if none is named.
pub const DEFAULT: &str = "anthropic";

/// Returns every provider, in the table's order.
#[must_use]
pub fn all() -> Vec<Provider> {
    // The text is part of the program, and the tests read it.
    from_str(TABLE).unwrap_or_default()
}

/// Returns the provider of that name.
///
/// # Errors
/// [`UnknownProvider`] with the names that there are.
pub fn find(name: &str) -> Result<Provider, UnknownProvider> {
    let mut all = all();
    match all.iter().position(|provider| provider.name == name) {
        Some(at) => Ok(all.swap_remove(at)),
        None => {
            let known = all.into_iter().map(|provider| provider.name).into_list();
            Err(UnknownProvider { name: name.into(), known })
        }
    }
}

impl Provider {
    /// Returns the name under which sessions know its endpoint.
    #[must_use]
    pub fn endpoint(&self) -> EndpointId {
        EndpointId(self.name.clone())
    }

    /// Returns the preset of a session with it: the one that the user has named, if there is one.
    #[must_use]
    pub fn preset(&self, named: Option<ConfigPreset>) -> ConfigPreset {
        named.or(self.preset).unwrap_or(ConfigPreset::Modern)
    }

    /// Returns the family of the model of that name.
    #[must_use]
    pub fn family(&self, model: &str) -> ProfileKind {
        // By a part of the name, since gateways put makers before it and dates behind.
        let model = model.to_ascii_lowercase();
        let found = self.families.iter().find(|(part, _)| model.contains(part));
        found.map_or(self.profile, |(_, family)| *family)
    }

    /// Returns the configuration of the model of that name: the family's defaults, changed where
    /// the provider's endpoint differs.
    #[must_use]
    pub fn model(&self, name: &str, vocabulary: VocabularyKind) -> ModelConfig {
        let defaults = Profile::new(self.family(name), vocabulary).model_defaults();
        ModelConfig {
            endpoint: self.endpoint(),
            wire: self.wire,
            name: name.into(),
            text_calls: self.text_calls.unwrap_or(defaults.text_calls),
            compat: self.compat.clone(),
            ..defaults
        }
    }
}
