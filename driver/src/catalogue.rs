//! The catalogue of models: by name, how much a model reads and writes in one call, whether it
//! takes pictures, which efforts it knows and what its tokens cost. It is a file that people can
//! replace; [`STANDARD`] is the one that comes along. An unknown model is no error: its
//! configuration is left as it is.

use crate::providers::Provider;
use alloc::{string::String, vec::Vec};
use innerloop_core::config::{ModelConfig, Price, SessionConfig};
use innerloop_json::{Error, FromJson, IntoList, ToJson, from_str, quoted};

/// The catalogue that comes along, as text, distilled on 2026-11-22: windows, limits, images and
/// efforts from `@oh-my-pi/pi-catalog` 18.2.11, prices and the windows of the newest models from
/// `genai-prices` 0.2.3. Knowledge cutoffs are those that Anthropic's documentation states, and
/// for models of others those of models.dev as of 2026-07-02; where neither knows, there is none.
/// Prices are micro-dollars per million tokens; those of a group hold at its providers, all else
/// anywhere. Whoever ships it ships the notices of all (MIT), too: they are in the README and in
/// the packages.
pub const STANDARD: &str = include_str!("models.json");

/// The maximum number of tokens of one reply, even if the model could write more: a longer one is
/// hardly ever intended, and some providers demand credit for all of it in advance.
const REPLY: u32 = 32_000;

/// A catalogue of models.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(deny_unknown_fields)]
pub struct Catalogue {
    /// The source of the catalogue.
    #[json(default)]
    pub about: String,
    /// The models, by whose prices hold where.
    pub groups: Vec<PricingGroup>,
}

/// Models with the providers at which their prices hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(deny_unknown_fields)]
pub struct PricingGroup {
    /// The providers at which the prices hold; a model's limits hold at any provider.
    pub providers: Vec<String>,
    /// The models.
    pub models: Vec<ModelEntry>,
}

/// The facts that are known about a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(deny_unknown_fields)]
pub struct ModelEntry {
    /// Its name, without a date and without what stands before the last slash.
    pub name: String,
    /// The month in which its knowledge ends, as `YYYY-MM`.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub knowledge_cutoff: Option<String>,
    /// The number of tokens that it reads and writes in one call.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u32>,
    /// The maximum number of tokens that it writes in one reply.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
    /// True if it takes pictures.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<bool>,
    /// The efforts that it knows; empty if it knows none, or if nothing is known of them.
    #[json(default, skip_serializing_if = "Vec::is_empty")]
    pub efforts: Vec<String>,
    /// The price of its tokens.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
}

/// The reason why a text is not a catalogue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogueError {
    /// Its JSON is not that of a catalogue.
    #[error("this is no catalogue of models: {0}")]
    Json(#[from] Error),
    /// A model without a name, or with a limit of 0.
    #[error("this is no catalogue of models: the model {name} needs a name, and limits above 0")]
    Model {
        /// Its name, in quotes.
        name: String,
    },
}

impl Catalogue {
    /// Reads a catalogue.
    ///
    /// # Errors
    /// [`CatalogueError`] with the place where the text does not fit.
    pub fn parse(text: &str) -> Result<Self, CatalogueError> {
        let read: Self = from_str(text)?;
        let is_unfit = |known: &&ModelEntry| {
            let none = [known.context_window, known.max_output_tokens].contains(&Some(0));
            none || known.name.trim().is_empty()
        };
        for group in &read.groups {
            if let Some(known) = group.models.iter().find(is_unfit) {
                return Err(CatalogueError::Model { name: quoted(&known.name) });
            }
        }
        Ok(read)
    }

    /// Returns the catalogue that comes along.
    #[must_use]
    pub fn standard() -> Self {
        // The text is part of the program, and the tests read it.
        Self::parse(STANDARD).unwrap_or_default()
    }

    /// Returns what is known of the model of that name at that provider. The name may have a date,
    /// a tag or a path around the one in the catalogue. The price is left out if it does not hold
    /// at that provider.
    #[must_use]
    pub fn find(&self, provider: &str, model: &str) -> Option<ModelEntry> {
        let wanted = plain(model);
        // The provider's own group first: another one may have the same name with another price.
        let own = self.longest(Some(provider), &wanted).cloned();
        let mut known = own
            .or_else(|| Some(ModelEntry { price: None, ..self.longest(None, &wanted)?.clone() }))?;
        // Gateways offer the same model for nothing under the tag `:free`; the price in the
        // catalogue is that of the paid one.
        if wanted.ends_with("-free") {
            known.price = None;
        }
        Some(known)
    }

    /// Returns whether the model of that name is known to be at that provider.
    #[must_use]
    pub fn has(&self, provider: &str, model: &str) -> bool {
        self.longest(Some(provider), &plain(model)).is_some()
    }

    /// Returns the names of the models that are known to be at that provider.
    #[must_use]
    pub fn names(&self, provider: &str) -> Vec<String> {
        let mut names = Vec::new();
        for group in self.groups.iter().filter(|group| group.is_at(provider)) {
            names.extend(group.models.iter().map(|known| known.name.clone()));
        }
        names
    }

    /// Returns the model with the longest name that `wanted` begins with, at that provider or at
    /// any.
    fn longest(&self, provider: Option<&str>, wanted: &str) -> Option<&ModelEntry> {
        let mut longest: Option<&ModelEntry> = None;
        for group in &self.groups {
            if provider.is_some_and(|provider| !group.is_at(provider)) {
                continue;
            }
            for known in &group.models {
                let rest = wanted.strip_prefix(plain(&known.name).as_str());
                // Of names of equal length the first counts.
                let is_longer = longest.is_none_or(|best| known.name.len() > best.name.len());
                if is_longer && rest.is_some_and(is_variant) {
                    longest = Some(known);
                }
            }
        }
        longest
    }

    /// Adds the prices of the other models of that provider that the session may ask: the one that
    /// writes summaries and, where the cost is limited, those of agents that it starts. A price
    /// that is there already stays.
    pub fn add_prices(&self, provider: &Provider, config: &mut SessionConfig) {
        let mut names: Vec<String> = config.compaction.summary.model.iter().cloned().into_list();
        let limits = [&config.limits.run, &config.limits.session];
        // Without a limit nobody needs them, and they would make each log longer.
        if config.subagents.max_depth > 0 && limits.iter().any(|limit| limit.cost_nano_usd > 0) {
            names.extend(self.names(&provider.name));
        }
        for name in names {
            let price = self.find(&provider.name, &name).and_then(|known| known.price);
            if let Some(price) = price.filter(|_| !config.prices.contains_key(&name)) {
                config.prices.insert(name, price);
            }
        }
    }

    /// Completes a model's configuration with what is known. The window of a provider of one's
    /// own is not made larger: it takes the memory of one's own machine. Returns the month in which
    /// its knowledge ends, empty if that is not known.
    pub fn complete(&self, provider: &Provider, model: &mut ModelConfig) -> String {
        let Some(known) = self.find(&provider.name, &model.name) else { return String::new() };
        if let Some(window) = known.context_window {
            let most = if provider.key_optional { model.context_window } else { u32::MAX };
            model.context_window = window.min(most);
        }
        if let Some(output) = known.max_output_tokens {
            // At most a quarter of the window, which a reply shares with all that the model reads.
            model.max_output_tokens = output.min(REPLY).min((model.context_window / 4).max(1));
        }
        model.compat.images = known.images.unwrap_or(model.compat.images);
        model.price = known.price;
        known.knowledge_cutoff.unwrap_or_default()
    }
}

impl PricingGroup {
    /// Returns whether the group is that of this provider.
    fn is_at(&self, provider: &str) -> bool {
        self.providers.iter().any(|name| name == provider)
    }
}

/// Returns the name's last part in lower case, with hyphens for all other marks.
fn plain(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or(name);
    let mark = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    last.chars().map(mark).collect()
}

/// Returns whether a name with this suffix still means the same model: a date, or a word for one of
/// its variants.
fn is_variant(rest: &str) -> bool {
    const WORDS: &str = "latest|preview|exp|beta|instruct|it|free|cloud|thinking|fp8";
    let Some(rest) = rest.strip_prefix('-') else { return rest.is_empty() };
    // Fewer than three digits would be the next version: what is known of `gpt-5` is not true of
    // `gpt-5-9`. Behind the first piece two are enough, for the days and months of a date.
    let is_number = |piece: &str, least| {
        piece.len() >= least && piece.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_word = |piece| WORDS.split('|').any(|word| word == piece);
    rest.split('-')
        .enumerate()
        .all(|(at, piece)| is_word(piece) || is_number(piece, if at == 0 { 3 } else { 2 }))
}
