//! The stack of all settings: the environment over the project's file over the user's. Options of
//! the command line override all of them; the program's defaults come last.

use super::{
    layer::{SettingSource, SettingValue, SettingsLayer},
    table::ROWS,
    user,
};
use crate::args::{ModelArgs, OfProviders};
use innerloop_host::local::HookCommand;
use std::collections::BTreeMap;

/// The layers; an earlier one overrides those after it.
#[derive(Debug, Default)]
pub(super) struct LayerStack(Vec<SettingsLayer>);

impl LayerStack {
    /// Reads the environment and, if `files` is true, the user's file; also returns their faults.
    pub(super) fn own(files: bool) -> (Self, Vec<String>) {
        let user = if files { user::read() } else { Ok(None) };
        let (mut layers, mut wrong) = (Vec::new(), Vec::new());
        for read in [SettingsLayer::of_environment().map(Some), user] {
            match read {
                Ok(layer) => layers.extend(layer),
                Err(why) => wrong.push(why),
            }
        }
        (Self(layers), wrong)
    }

    /// Inserts a project's layer below the environment and above the user's file.
    pub(super) fn add_project(&mut self, layer: SettingsLayer) {
        let is_before = |other: &SettingsLayer| other.source == SettingSource::Environment;
        let at = self.0.iter().take_while(|other| is_before(other)).count();
        self.0.insert(at, layer);
    }

    /// Drops each model and address that belongs to another provider than the one that counts:
    /// `option`, or else the one that settings name. A key goes only where its user has sent it,
    /// and no provider has another's models.
    pub(super) fn for_provider(&mut self, option: Option<&str>) {
        let named = |layers: &[SettingsLayer]| {
            let mut named = layers.iter().filter_map(|layer| layer.values.get("provider"));
            named.next().map(SettingValue::shown)
        };
        let provider = option.map(str::to_owned).or_else(|| named(&self.0));
        // A layer without a provider means that of the layers below it, not of those above: its
        // author could not know what is set there.
        let meant: Vec<Option<String>> =
            (0..self.0.len()).map(|at| named(self.0.get(at..).unwrap_or_default())).collect();
        for (layer, meant) in self.0.iter_mut().zip(meant) {
            if meant != provider {
                layer.values.remove("model");
                layer.values.remove("base_url");
            }
        }
    }

    /// Returns the value of a setting, and the layer that it is from.
    pub(super) fn value(&self, name: &str) -> Option<(&SettingValue, &SettingsLayer)> {
        self.0.iter().find_map(|layer| Some((layer.values.get(name)?, layer)))
    }

    /// Returns a setting that is a text or a path.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.value(name).map(|(value, _)| value.shown())
    }

    /// Returns a setting that is a list; empty if it is not set.
    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        match self.value(name) {
            Some((SettingValue::Texts(texts), _)) => texts.clone(),
            _ => Vec::new(),
        }
    }

    /// Returns the patch of the session's configuration from the source that `of` picks.
    pub(super) fn patch(
        &self,
        of: impl Fn(&SettingSource) -> bool,
    ) -> Result<Option<String>, String> {
        let layer = self.0.iter().find(|layer| of(&layer.source));
        let patch = layer.map(SettingsLayer::patch).transpose()?.flatten();
        Ok(patch.map(|patch| patch.to_string()))
    }

    /// Returns the hooks of all layers in the order in which they run.
    pub(super) fn hooks(&self) -> impl Iterator<Item = (&HookCommand, &SettingsLayer)> {
        // Not the first layer's alone: a project's file must not take away what the user has set up
        // to watch over the agent. The user's come last and see what the project's have replaced.
        self.0.iter().flat_map(|layer| layer.hooks.iter().map(move |hook| (hook, layer)))
    }

    /// Returns the settings of providers.
    pub(super) fn providers(&self) -> OfProviders {
        let each = self.0.iter().rev().flat_map(|layer| layer.providers.clone());
        OfProviders { base_url: self.text("base_url"), each: each.collect::<BTreeMap<_, _>>() }
    }

    /// Fills in the provider and its address; the model's name is part of the patches.
    pub(super) fn fill_model(&self, args: &mut ModelArgs) {
        args.settings = self.providers();
        let provider = || self.text("provider");
        args.provider = args.provider.take().or_else(provider);
    }

    /// Iterates over the layers in order of precedence.
    pub(super) fn iter(&self) -> impl Iterator<Item = &SettingsLayer> {
        self.0.iter()
    }

    /// Returns whether nothing is set at all.
    pub(super) fn is_empty(&self) -> bool {
        let says =
            |layer: &SettingsLayer| ROWS.iter().any(|row| layer.values.contains_key(row.name));
        let more = |layer: &SettingsLayer| {
            !(layer.config.is_empty() && layer.providers.is_empty() && layer.hooks.is_empty())
        };
        !self.0.iter().any(|layer| says(layer) || more(layer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(source: SettingSource, text: &str) -> SettingsLayer {
        SettingsLayer::of_text(source, text).unwrap()
    }

    /// Tests that a key never goes to another provider because of a model's name or an address.
    #[test]
    fn a_model_and_an_address_belong_to_the_provider_they_were_said_with() {
        let user = "provider = 'openai'\nmodel = 'gpt-u'\nbase_url = 'https://proxy.example'";
        let cases = [
            // The option, the project's settings, and the model and address that count then.
            (None, "", Some("gpt-u"), true),
            (Some("openai"), "", Some("gpt-u"), true),
            (Some("anthropic"), "", None, false),
            (None, "model = 'gpt-p'", Some("gpt-p"), true),
            (Some("anthropic"), "model = 'gpt-p'", None, false),
        ];
        for (option, project, model, has_address) in cases {
            let mut layers = LayerStack(vec![layer(SettingSource::User("u".into()), user)]);
            layers.add_project(layer(SettingSource::Project("p".into()), project));
            layers.for_provider(option);
            assert_eq!(layers.text("model").as_deref(), model, "{option:?} {project}");
            assert_eq!(layers.text("base_url").is_some(), has_address, "{option:?} {project}");
        }
    }
}
