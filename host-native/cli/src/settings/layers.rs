//! All that settings say, in layers: the environment over the project's file over the user's. The
//! options of the command line come before them, and the defaults of the program behind.

use super::{
    layer::{SettingSource, SettingValue, SettingsLayer},
    table::ROWS,
    user,
};
use crate::args::{ModelArgs, OfProviders};
use std::collections::BTreeMap;

/// The layers, the first before the others.
#[derive(Debug, Default)]
pub(super) struct LayerStack(Vec<SettingsLayer>);

impl LayerStack {
    /// The environment and the user's file, and what is wrong with them; `files` says whether files
    /// count.
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

    /// Puts a project's layer in its place.
    pub(super) fn add_project(&mut self, layer: SettingsLayer) {
        let is_before = |other: &SettingsLayer| other.source == SettingSource::Environment;
        let at = self.0.iter().take_while(|other| is_before(other)).count();
        self.0.insert(at, layer);
    }

    /// Leaves out each model and address that was said with another provider than the one that
    /// `option` names, or that counts if it names none: a key goes nowhere but where its user has
    /// said, and no provider has another's models.
    pub(super) fn for_provider(&mut self, option: Option<&str>) {
        let named = |layers: &[SettingsLayer]| {
            let mut named = layers.iter().filter_map(|layer| layer.values.get("provider"));
            named.next().map(SettingValue::shown)
        };
        let provider = option.map(str::to_owned).or_else(|| named(&self.0));
        let meant: Vec<Option<String>> =
            (0..self.0.len()).map(|at| named(self.0.get(at..).unwrap_or_default())).collect();
        for (layer, meant) in self.0.iter_mut().zip(meant) {
            if meant != provider {
                layer.values.remove("model");
                layer.values.remove("base_url");
            }
        }
    }

    /// The value of a setting, and the layer that it is from.
    pub(super) fn value(&self, name: &str) -> Option<(&SettingValue, &SettingsLayer)> {
        self.0.iter().find_map(|layer| Some((layer.values.get(name)?, layer)))
    }

    /// A setting that is a text or a path.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.value(name).map(|(value, _)| value.shown())
    }

    /// A setting that is a list.
    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        match self.value(name) {
            Some((SettingValue::Texts(texts), _)) => texts.clone(),
            _ => Vec::new(),
        }
    }

    /// The patch of the session's configuration that a kind of source makes.
    pub(super) fn patch(
        &self,
        of: impl Fn(&SettingSource) -> bool,
    ) -> Result<Option<String>, String> {
        let layer = self.0.iter().find(|layer| of(&layer.source));
        let patch = layer.map(SettingsLayer::patch).transpose()?.flatten();
        Ok(patch.map(|patch| patch.to_string()))
    }

    /// Returns what is said of providers.
    pub(super) fn providers(&self) -> OfProviders {
        let each = self.0.iter().rev().flat_map(|layer| layer.providers.clone());
        OfProviders { base_url: self.text("base_url"), each: each.collect::<BTreeMap<_, _>>() }
    }

    /// Fills in who serves the model and where; the model's name is part of the patches.
    pub(super) fn fill_model(&self, args: &mut ModelArgs) {
        args.settings = self.providers();
        let provider = || self.text("provider");
        args.provider = args.provider.take().or_else(provider);
    }

    /// Every layer, the first before the others.
    pub(super) fn iter(&self) -> impl Iterator<Item = &SettingsLayer> {
        self.0.iter()
    }

    /// Returns whether anything is said at all.
    pub(super) fn is_empty(&self) -> bool {
        let says =
            |layer: &SettingsLayer| ROWS.iter().any(|row| layer.values.contains_key(row.name));
        let more = |layer: &SettingsLayer| !layer.config.is_empty() || !layer.providers.is_empty();
        !self.0.iter().any(|layer| says(layer) || more(layer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(source: SettingSource, text: &str) -> SettingsLayer {
        SettingsLayer::of_text(source, text).unwrap()
    }

    /// A key must not follow a model's name, nor go to another provider's address.
    #[test]
    fn a_model_and_an_address_belong_to_the_provider_they_were_said_with() {
        let user = "provider = 'openai'\nmodel = 'gpt-u'\nbase_url = 'https://proxy.example'";
        let cases = [
            // Option, what the project says, what then counts as model and address.
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
