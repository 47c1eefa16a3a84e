//! `innerloop models` and `innerloop providers`: list the known models with limits and prices, and
//! the providers as they are set up here.

use super::{
    args::{ModelArgs, ModelsArgs, ProvidersArgs},
    config::catalogue,
    console::{say, say_escaped, warn},
    credentials,
    exit::CliError,
    keys, settings, setup,
};
use innerloop_core::config::Price;
use innerloop_driver::{
    ApiKey, Endpoint, EndpointError,
    catalogue::{Catalogue, ModelEntry},
    providers::{self, Provider},
};
use serde_json::{Value, json};

/// The number of the catalogue's units in a dollar.
const PER_DOLLAR: u64 = 1_000_000;

pub(super) fn list(args: &ModelsArgs) -> Result<(), CliError> {
    let catalogue = catalogue(args.models.as_deref())?;
    let providers = match &args.provider {
        Some(name) => vec![providers::find(name).map_err(CliError::usage)?],
        None => providers::all(),
    };
    let rows: Vec<(&Provider, &ModelEntry)> = providers
        .iter()
        .flat_map(|provider| of(&catalogue, provider).map(move |known| (provider, known)))
        .collect();
    if args.json {
        let rows = rows.iter().map(|(provider, known)| model_json(provider, known));
        say_escaped(&rows.collect::<Value>().to_string());
        return Ok(());
    }
    let head = ["provider", "model", "window", "output", "$/M in", "$/M out", ""];
    let rows: Vec<[String; 7]> =
        rows.iter().map(|(provider, known)| row(provider, known)).collect();
    match (&args.provider, rows.is_empty()) {
        (Some(name), true) => say(&format!(
            "the catalogue has no models of {name}; --model takes any name that it knows"
        )),
        _ => table(head, &rows),
    }
    Ok(())
}

pub(super) fn providers(args: &ProvidersArgs) -> Result<(), CliError> {
    let mut model = ModelArgs::default();
    settings::of_model(&mut model);
    if let Err(why) = credentials::read() {
        warn(&why);
    }
    let lines: Vec<ProviderSetup> =
        providers::all().into_iter().map(|it| ProviderSetup::of(it, &model)).collect();
    if args.json {
        say_escaped(&lines.iter().map(ProviderSetup::json).collect::<Value>().to_string());
        return Ok(());
    }
    let rows: Vec<[String; 5]> = lines.iter().map(ProviderSetup::row).collect();
    table(["name", "key in", "key", "address", "model"], &rows);
    Ok(())
}

/// Returns the models that the catalogue lists for a provider.
fn of<'a>(catalogue: &'a Catalogue, provider: &Provider) -> impl Iterator<Item = &'a ModelEntry> {
    let name = provider.name.clone();
    let groups = catalogue.groups.iter();
    groups.filter(move |group| group.providers.contains(&name)).flat_map(|group| &group.models)
}

fn is_default(provider: &Provider, known: &ModelEntry) -> bool {
    provider.default_model.as_ref() == Some(&known.name)
}

fn row(provider: &Provider, known: &ModelEntry) -> [String; 7] {
    let count = |tokens: Option<u32>| tokens.map(|tokens| tokens.to_string()).unwrap_or_default();
    let price = |of: fn(&Price) -> u64| {
        known.price.as_ref().map(|price| dollars(of(price))).unwrap_or_default()
    };
    [
        provider.name.clone(),
        known.name.clone(),
        count(known.context_window),
        count(known.max_output_tokens),
        price(|price| price.input),
        price(|price| price.output),
        if is_default(provider, known) { "default".to_owned() } else { String::new() },
    ]
}

fn model_json(provider: &Provider, known: &ModelEntry) -> Value {
    let number = |dollars: u64| dollars.to_string().parse::<f64>().unwrap_or_default();
    let per_million = |units: u64| json!(number(units) / number(PER_DOLLAR));
    let price = known.price.as_ref().map(|price| {
        json!({
            "input": per_million(price.input),
            "output": per_million(price.output),
            "cache_read": price.cache_read.map(per_million),
            "cache_write": price.cache_write.map(per_million),
        })
    });
    json!({
        "provider": provider.name,
        "model": known.name,
        "default": is_default(provider, known),
        "context_window": known.context_window,
        "max_output_tokens": known.max_output_tokens,
        "images": known.images,
        "efforts": known.efforts,
        "price": price,
    })
}

/// Returns an amount in dollars, with two digits after the point or as many as it has.
fn dollars(units: u64) -> String {
    let (whole, rest) = (units / PER_DOLLAR, units % PER_DOLLAR);
    let digits = format!("{rest:06}");
    let digits = digits.trim_end_matches('0');
    format!("{whole}.{digits:0<2}")
}

/// A provider as it is set up here.
struct ProviderSetup {
    provider: Provider,
    /// The place of its key, if it has one.
    key: Option<String>,
    base_url: Option<String>,
    model: Option<String>,
}

impl ProviderSetup {
    fn of(provider: Provider, model: &ModelArgs) -> Self {
        // Not from the key ring, which takes time and may ask the user each time.
        let found = keys::at_hand(&provider, &model.settings).ok().flatten();
        let key = found.map(|found| found.origin.told());
        // The setting `base_url` belongs to the provider that settings choose, not to the others.
        let is_session = model.provider.as_ref() == Some(&provider.name);
        let mut args = ModelArgs { settings: model.settings.clone(), ..ModelArgs::default() };
        if !is_session {
            args.settings.base_url = None;
        }
        let base_url = setup::base_url(&provider, &args);
        // Parsed, since an address may contain a user name and a password, which are not shown.
        let base_url =
            match Endpoint::without_check(&provider, base_url.as_deref(), ApiKey::default()) {
                Ok(endpoint) => Some(endpoint.base().to_string()),
                Err(EndpointError::MissingUrl) => None,
                Err(error) => Some(error.to_string()),
            };
        let said = model.settings.of(&provider.name).and_then(|said| said.model.clone());
        let standard = said.or_else(|| provider.default_model.clone());
        Self { key, base_url, model: standard, provider }
    }

    fn row(&self) -> [String; 5] {
        let missing = if self.provider.key_optional { "needs none" } else { "missing" };
        [
            self.provider.name.clone(),
            self.provider.key_variables.first().cloned().unwrap_or_default(),
            self.key.clone().unwrap_or_else(|| missing.to_owned()),
            self.base_url.clone().unwrap_or_else(|| "--base-url".to_owned()),
            self.model.clone().unwrap_or_else(|| "--model".to_owned()),
        ]
    }

    fn json(&self) -> Value {
        let Self { provider, key, base_url, model } = self;
        json!({
            "name": provider.name,
            "title": provider.title,
            "variables": provider.key_variables,
            "needs_key": !provider.key_optional,
            "key": key,
            "base_url": base_url,
            "model": model,
        })
    }
}

/// Prints rows below a head, in columns.
fn table<const N: usize>(head: [&str; N], rows: &[[String; N]]) {
    let head = head.map(str::to_owned);
    let mut widths = [0; N];
    for row in rows.iter().chain([&head]) {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    for row in [&head].into_iter().chain(rows) {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        say(cells.collect::<Vec<_>>().join("  ").trim_end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_told_in_dollars() {
        for (units, want) in [
            (0, "0.00"),
            (3_000_000, "3.00"),
            (1_250_000, "1.25"),
            (75_000, "0.075"),
            (1, "0.000001"),
        ] {
            assert_eq!(dollars(units), want);
        }
    }
}
