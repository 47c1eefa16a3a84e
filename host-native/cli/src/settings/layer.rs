//! A layer of settings: the values of one source, which is a file of TOML or the environment. It is
//! checked as a whole while it is read: an unknown key, a wrong value, or one that this source may
//! not set is an error with its place.

use super::{
    hooks,
    table::{
        CONFIG, HOOKS, OF_PROJECTS, OF_PROVIDER, PROVIDERS, ROWS, SettingKind, SettingSpec, find,
        names, unknown,
    },
};
use crate::{
    allow::CallRules,
    args::{ApprovalLevel, CompactionTrigger, OfProvider, tools_shown},
    patch::set,
};
use clap::ValueEnum;
use innerloop_core::{config::EnvironmentFacts, id::SessionId};
use innerloop_driver::{SessionSettings, catalogue::Catalogue, providers};
use innerloop_host::local::HookCommand;
use innerloop_sandbox::toml_place::{place, position};
use innerloop_workspace::plain_file;
use serde_json::{Map, Value as Json, json};
use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// The source of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SettingSource {
    Environment,
    /// A project's file.
    Project(PathBuf),
    /// The user's file.
    User(PathBuf),
}

/// The value of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SettingValue {
    Text(String),
    Number(u32),
    Texts(Vec<String>),
}

/// The settings of one source.
#[derive(Clone, Debug)]
pub(super) struct SettingsLayer {
    pub(super) source: SettingSource,
    pub(super) values: BTreeMap<&'static str, SettingValue>,
    /// The session's configuration.
    pub(super) config: Map<String, Json>,
    pub(super) providers: BTreeMap<String, OfProvider>,
    /// The commands that are asked at points of the loop.
    pub(super) hooks: Vec<HookCommand>,
}

impl SettingSource {
    /// Returns the word for it in JSON.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Environment => "environment",
            Self::Project(_) => "project",
            Self::User(_) => "user",
        }
    }

    pub(super) fn file(&self) -> Option<&Path> {
        match self {
            Self::Environment => None,
            Self::Project(path) | Self::User(path) => Some(path),
        }
    }
}

impl SettingValue {
    /// Returns the value as it is shown to people.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
            Self::Texts(texts) => texts.join(","),
        }
    }

    pub(super) fn json(&self) -> Json {
        match self {
            Self::Text(text) => json!(text),
            Self::Number(number) => json!(number),
            Self::Texts(texts) => json!(texts),
        }
    }
}

impl SettingsLayer {
    fn empty(source: SettingSource) -> Self {
        let (values, config, providers) = (BTreeMap::new(), Map::new(), BTreeMap::new());
        Self { source, values, config, providers, hooks: Vec::new() }
    }

    /// Returns the settings of the environment.
    ///
    /// # Errors
    /// The variable whose value its setting does not take.
    pub(super) fn of_environment() -> Result<Self, String> {
        Self::of_variables(|name| env::var_os(name))
    }

    fn of_variables(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, String> {
        let mut layer = Self::empty(SettingSource::Environment);
        for row in ROWS {
            let Some(name) = row.variable() else { continue };
            // An empty variable counts as unset, as shells and CI systems often pass them.
            let Some(text) = variable(&name).filter(|text| !text.is_empty()) else { continue };
            let text = text.into_string().map_err(|_| format!("{name} is no text"))?;
            let value = parse(row, &text).map_err(|why| format!("{name}: {why}"))?;
            layer.values.insert(row.name, value);
        }
        Ok(layer)
    }

    /// Returns the settings in `text`, the file at `source`.
    ///
    /// # Errors
    /// The first fault in the file, with its line and column.
    pub(super) fn of_text(source: SettingSource, text: &str) -> Result<Self, String> {
        let file = DeTable::parse(text).map_err(|error| place(text, &error))?;
        let mut reading = LayerReader { text, layer: Self::empty(source) };
        for (key, value) in file.get_ref() {
            reading.entry(key, value)?;
        }
        let LayerReader { layer, .. } = reading;
        let is_set = |name: &str| layer.values.contains_key(name);
        // An address without a provider would get the key of whichever provider is chosen
        // elsewhere.
        if is_set("base_url") && !is_set("provider") {
            let advice = "say provider, too, or write base_url below [providers.NAME]";
            return Err(format!("base_url gets the key of a provider: {advice}"));
        }
        if let Some(SettingValue::Texts(rules)) = layer.values.get("allow") {
            CallRules::parse(rules).map_err(|why| format!("allow: {why}"))?;
        }
        check_config(&layer.config)?;
        Ok(layer)
    }

    /// Returns the layer as a patch of the session's configuration; none if it sets nothing there.
    pub(super) fn patch(&self) -> Result<Option<Json>, String> {
        let mut patch = Json::Object(self.config.clone());
        for row in ROWS.iter().filter(|row| !row.field.is_empty()) {
            let Some(value) = self.values.get(row.name) else { continue };
            if let Some(value) = field(row, value)? {
                set(&mut patch, row.field, value);
            }
        }
        Ok(patch.as_object().is_some_and(|fields| !fields.is_empty()).then_some(patch))
    }
}

/// Refuses fields that no configuration has, whatever the provider.
fn check_config(config: &Map<String, Json>) -> Result<(), String> {
    if config.is_empty() {
        return Ok(());
    }
    let patch = Json::Object(config.clone()).to_string();
    // Any provider serves: only the shape of the patch is checked here, before one is chosen.
    let provider = providers::find("anthropic").map_err(|error| error.to_string())?;
    let settings = SessionSettings {
        id: &SessionId(String::new()),
        provider: &provider,
        model: None,
        fallbacks: &[],
        catalogue: &Catalogue::default(),
        preset: None,
        facts: &EnvironmentFacts::default(),
        tools: &[],
        patches: &[&patch],
    };
    settings.config().map(drop).map_err(|error| error.to_string())
}

/// The most bytes of a `base_prompt` file.
const MOST_PROMPT: u64 = 1 << 20;

/// Returns a setting as its field of the configuration has it; none if the field stays as it is.
fn field(row: &SettingSpec, value: &SettingValue) -> Result<Option<Json>, String> {
    match (row.name, value) {
        ("approve", SettingValue::Text(word)) => {
            let approve = ApprovalLevel::from_str(word, false);
            Ok(Some(approve.map_or(Json::Null, |approve| json!(approve.asked()))))
        }
        ("compact", SettingValue::Text(text)) => {
            CompactionTrigger::parse(text).map(CompactionTrigger::patch)
        }
        ("tools_shown", SettingValue::Text(text)) => {
            tools_shown::parse(text).map(|shown| Some(tools_shown::field(shown)))
        }
        ("keep_results", SettingValue::Text(word)) => {
            Ok(Some(if word == "on" { json!({}) } else { Json::Null }))
        }
        ("base_prompt", SettingValue::Text(path)) => {
            match plain_file::text(Path::new(path), MOST_PROMPT) {
                Ok(text) => Ok(Some(json!(text))),
                Err(error) => Err(format!("base_prompt: cannot use {path}: {error}")),
            }
        }
        (_, value) => Ok(Some(value.json())),
    }
}

/// Parses the value of a setting from a text, as the environment and `config set` have it.
///
/// # Errors
/// The values that the setting takes.
pub(super) fn parse(row: &SettingSpec, text: &str) -> Result<SettingValue, String> {
    match row.kind {
        SettingKind::Number(_) => match text.trim().parse() {
            Ok(number) => check(row, SettingValue::Number(number)),
            Err(_) => Err(format!("{} takes {}", row.name, wanted(row))),
        },
        SettingKind::Texts | SettingKind::Paths if text.trim_start().starts_with('[') => {
            let wrong = || format!("{} takes {}, as in [\"one\", \"two\"]", row.name, wanted(row));
            let list: toml_edit::Value = text.trim().parse().map_err(|_| wrong())?;
            let items = list.as_array().into_iter().flatten();
            let items: Option<Vec<String>> =
                items.map(|item| item.as_str().map(str::to_owned)).collect();
            check(row, SettingValue::Texts(items.ok_or_else(wrong)?))
        }
        SettingKind::Texts | SettingKind::Paths => {
            let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
            check(row, SettingValue::Texts(items.map(str::to_owned).collect()))
        }
        SettingKind::Text
        | SettingKind::Word(_)
        | SettingKind::Compact
        | SettingKind::ToolsShown
        | SettingKind::Path => check(row, SettingValue::Text(text.to_owned())),
    }
}

/// Returns the value if the setting takes it.
fn check(row: &SettingSpec, value: SettingValue) -> Result<SettingValue, String> {
    let fits = match (row.kind, &value) {
        (SettingKind::Text | SettingKind::Path, SettingValue::Text(text)) => {
            !text.trim().is_empty()
        }
        (SettingKind::Word(words), SettingValue::Text(text)) => words().contains(text),
        (SettingKind::Compact, SettingValue::Text(text)) => CompactionTrigger::parse(text).is_ok(),
        (SettingKind::ToolsShown, SettingValue::Text(text)) => tools_shown::parse(text).is_ok(),
        (SettingKind::Number(least), SettingValue::Number(number)) => *number >= least,
        (SettingKind::Texts | SettingKind::Paths, SettingValue::Texts(_)) => true,
        _ => false,
    };
    if fits { Ok(value) } else { Err(format!("{} takes {}", row.name, wanted(row))) }
}

fn wanted(row: &SettingSpec) -> String {
    match row.kind {
        SettingKind::Text => "a text".to_owned(),
        SettingKind::Word(words) => format!("one of {}", words().join(", ")),
        SettingKind::Number(least) => format!("a whole number from {least} to {}", u32::MAX),
        SettingKind::Compact => {
            "auto, off, or when, such as \"75%\", \"120k\" or \"-20k\"".to_owned()
        }
        SettingKind::ToolsShown => "all, staged, or the number of tools".to_owned(),
        SettingKind::Texts => "a list of texts".to_owned(),
        SettingKind::Path => "a path".to_owned(),
        SettingKind::Paths => "a list of paths".to_owned(),
    }
}

type SpannedKey<'i> = Spanned<std::borrow::Cow<'i, str>>;

/// A file that is being read.
struct LayerReader<'a> {
    text: &'a str,
    layer: SettingsLayer,
}

impl LayerReader<'_> {
    /// Reads one entry of the file's top level.
    fn entry(&mut self, key: &SpannedKey<'_>, value: &Spanned<DeValue<'_>>) -> Result<(), String> {
        let name = key.get_ref().as_ref();
        match (name, find(name)) {
            (_, Some(row)) => {
                self.check_source(row.of_projects, key, name)?;
                let value = self.value(row, value)?;
                self.layer.values.insert(row.name, value);
            }
            (CONFIG, _) => self.config(value)?,
            (HOOKS, _) => {
                let at = |offset: usize, why: &str| self.at(offset, why);
                self.layer.hooks = hooks::read(self.table(value)?, &at)?;
            }
            (PROVIDERS, _) => {
                self.check_source(false, key, name)?;
                for (name, value) in self.table(value)? {
                    self.provider(name, value)?;
                }
            }
            _ => return Err(self.at(key.span().start, unknown(name, names()))),
        }
        Ok(())
    }

    fn value(
        &self,
        row: &'static SettingSpec,
        found: &Spanned<DeValue<'_>>,
    ) -> Result<SettingValue, String> {
        let wrong = || self.at(found.span().start, format!("{} takes {}", row.name, wanted(row)));
        let value = match found.get_ref() {
            DeValue::String(text) => SettingValue::Text(self.entered(row, text)),
            DeValue::Integer(number)
                if matches!(row.kind, SettingKind::Compact | SettingKind::ToolsShown) =>
            {
                SettingValue::Text(number.as_str().to_owned())
            }
            DeValue::Integer(number) => {
                let number = u32::from_str_radix(number.as_str(), number.radix());
                SettingValue::Number(number.map_err(|_| wrong())?)
            }
            DeValue::Array(items) => {
                let items = items.iter().map(|item| item.get_ref().as_str());
                let items = items.map(|item| Some(self.entered(row, item?)));
                SettingValue::Texts(items.collect::<Option<_>>().ok_or_else(wrong)?)
            }
            _ => return Err(wrong()),
        };
        let value = check(row, value).map_err(|_| wrong())?;
        // Refused already here, so that the person who is asked to trust the file never has to
        // judge it.
        let is_wide = row.name == "approve" && value == SettingValue::Text("all".to_owned());
        if is_wide && matches!(self.layer.source, SettingSource::Project(_)) {
            let why = "a project's file can't let calls run without a question: approve takes \
                       none or edits here";
            return Err(self.at(found.span().start, why));
        }
        Ok(value)
    }

    /// Returns the text as the setting means it: a path begins in the file's folder, or at home.
    fn entered(&self, row: &SettingSpec, text: &str) -> String {
        let folder = self.layer.source.file().and_then(Path::parent);
        match (row.kind, folder) {
            (SettingKind::Path | SettingKind::Paths, Some(folder)) if !text.is_empty() => {
                let home = text.strip_prefix("~/").zip(env::home_dir());
                let path = home.map_or_else(|| folder.join(text), |(rest, home)| home.join(rest));
                path.to_string_lossy().into_owned()
            }
            _ => text.to_owned(),
        }
    }

    fn provider(
        &mut self,
        key: &SpannedKey<'_>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<(), String> {
        let name = key.get_ref().as_ref();
        if let Err(error) = providers::find(name) {
            return Err(
                self.at(key.span().start, unknown(name, error.known.iter().map(|it| &**it)))
            );
        }
        let mut said = OfProvider::default();
        for (key, value) in self.table(value)? {
            let field = key.get_ref().as_ref();
            let place = match field {
                "base_url" => &mut said.base_url,
                "model" => &mut said.model,
                "api_key_env" => &mut said.api_key_env,
                _ => return Err(self.at(key.span().start, unknown(field, OF_PROVIDER))),
            };
            let text = value.get_ref().as_str().filter(|text| !text.trim().is_empty());
            let wrong = || self.at(value.span().start, format!("{field} takes a text"));
            *place = Some(text.ok_or_else(wrong)?.to_owned());
        }
        self.layer.providers.insert(name.to_owned(), said);
        Ok(())
    }

    fn config(&mut self, value: &Spanned<DeValue<'_>>) -> Result<(), String> {
        for (key, value) in self.table(value)? {
            let name = key.get_ref().as_ref();
            let full = format!("{CONFIG}.{name}");
            self.check_source(OF_PROJECTS.contains(&name), key, &full)?;
            let value = self.json(value)?;
            self.layer.config.insert(name.to_owned(), value);
        }
        Ok(())
    }

    fn json(&self, value: &Spanned<DeValue<'_>>) -> Result<Json, String> {
        let wrong = |what| self.at(value.span().start, format!("{what} is nothing for {CONFIG}"));
        Ok(match value.get_ref() {
            DeValue::String(text) => json!(text.as_ref()),
            DeValue::Integer(number) => {
                let number = i64::from_str_radix(number.as_str(), number.radix());
                json!(number.map_err(|_| wrong("such a number"))?)
            }
            DeValue::Float(number) => {
                let number: f64 = number.as_str().parse().map_err(|_| wrong("such a number"))?;
                json!(number)
            }
            DeValue::Boolean(value) => json!(value),
            DeValue::Datetime(_) => return Err(wrong("a date")),
            DeValue::Array(items) => {
                let items = items.iter().map(|item| self.json(item));
                Json::Array(items.collect::<Result<_, _>>()?)
            }
            DeValue::Table(fields) => {
                let field = |(key, value): (&SpannedKey<'_>, _)| {
                    Ok((key.get_ref().clone().into_owned(), self.json(value)?))
                };
                Json::Object(fields.iter().map(field).collect::<Result<_, String>>()?)
            }
        })
    }

    fn table<'t, 'i>(&self, value: &'t Spanned<DeValue<'i>>) -> Result<&'t DeTable<'i>, String> {
        let wrong = || self.at(value.span().start, "a table belongs here");
        value.get_ref().as_table().ok_or_else(wrong)
    }

    /// Refuses keys that a project's file may not set.
    fn check_source(
        &self,
        of_projects: bool,
        key: &SpannedKey<'_>,
        name: &str,
    ) -> Result<(), String> {
        if of_projects || !matches!(self.layer.source, SettingSource::Project(_)) {
            return Ok(());
        }
        let allowed = ROWS.iter().filter(|row| row.of_projects).map(|row| row.name);
        let allowed: Vec<&str> = allowed.collect();
        let fields = OF_PROJECTS.map(|field| format!("{CONFIG}.{field}"));
        let why = format!(
            "{name} is not for a project's file to say; it may say {}, {HOOKS}, {}",
            allowed.join(", "),
            fields.join(", ")
        );
        Err(self.at(key.span().start, why))
    }

    fn at(&self, offset: usize, why: impl std::fmt::Display) -> String {
        match position(self.text, offset) {
            Some(at) => format!("{at}: {why}"),
            None => why.to_string(),
        }
    }
}
