//! `innerloop config`: lists settings with their values and sources, and hands changes to `edit`.
//! No line shows a key of the environment, whatever a setting holds.

use super::{
    edit::{self, SettingsTarget},
    hooks,
    layer::{SettingSource, SettingsLayer},
    layers::LayerStack,
    project::{self, ProjectFile},
    table::{self, CONFIG, HOOKS, OF_PROVIDER, PROVIDERS, ROWS, unknown},
    trust, user,
};
use crate::{
    args::{ConfigArgs, ConfigCommand, OfProvider, ProjectArgs},
    console::{say, warn},
    exit::{CliError, ExitReason},
    keys, setup,
};
use innerloop_workspace::Workspace;
use serde_json::{Map, Value as Json, json};

pub(crate) fn carry_out(args: ConfigArgs) -> Result<(), CliError> {
    match args.command {
        ConfigCommand::List { place, json } => list(&place, json),
        ConfigCommand::Get { key, place } => get(&key, &place),
        ConfigCommand::Set { key, value, project, place } => {
            edit::set(&place_of(project, &place)?, &key, &value)
        }
        ConfigCommand::Unset { key, project, place } => {
            edit::unset(&place_of(project, &place)?, &key)
        }
        ConfigCommand::Path { place } => path(&place),
    }
}

/// A setting with its value and its layer; a default has no layer.
struct SettingEntry<'a> {
    key: String,
    value: Json,
    shown: String,
    layer: Option<&'a SettingsLayer>,
}

fn list(place: &ProjectArgs, as_json: bool) -> Result<(), CliError> {
    let workspace = workspace(place)?;
    let (layers, wrong) = read(&workspace);
    // All that can be read is listed before the first fault ends the command.
    let entries = entries(&layers);
    if as_json {
        let fields = entries.iter().map(|entry| (entry.key.clone(), entry.json()));
        shown(&Json::Object(fields.collect()).to_string());
    } else {
        let width = entries.iter().map(|entry| entry.key.len()).max().unwrap_or_default();
        for entry in &entries {
            shown(&format!("{:<width$}  {}  ({})", entry.key, entry.shown, entry.source()));
        }
    }
    match wrong.first() {
        None => Ok(()),
        Some(why) => Err(CliError::configuration(why)),
    }
}

fn get(key: &str, place: &ProjectArgs) -> Result<(), CliError> {
    let workspace = workspace(place)?;
    let (layers, wrong) = read(&workspace);
    wrong.iter().for_each(|why| warn(why));
    match found(&layers, key)? {
        Some(text) => shown(&text),
        None => return Err(CliError::new(ExitReason::Failed, unset(key))),
    }
    Ok(())
}

fn unset(key: &str) -> String {
    match table::find(key) {
        Some(row) => format!("{key} is not set; by default it is: {}", row.default),
        None => format!("{key} is not set"),
    }
}

/// Prints the paths of the settings files, one in a line.
fn path(place: &ProjectArgs) -> Result<(), CliError> {
    let own = user::path().map_or_else(
        || "nowhere: there is no home folder; set INNERLOOP_HOME".to_owned(),
        |path| path.display().to_string(),
    );
    say(&format!("user     {own}"));
    let workspace = workspace(place)?;
    let path = project::place(&workspace);
    say(&format!("project  {}", path.display()));
    Ok(())
}

fn place_of(is_project: bool, place: &ProjectArgs) -> Result<SettingsTarget, CliError> {
    if is_project {
        return Ok(SettingsTarget::Project(workspace(place)?));
    }
    let none = || CliError::configuration("there is no home folder; set INNERLOOP_HOME");
    user::path().map(SettingsTarget::User).ok_or_else(none)
}

fn workspace(place: &ProjectArgs) -> Result<Workspace, CliError> {
    // Any folder will do, since nothing in it is changed but the project's own settings.
    setup::workspace(&place.workspace, true)
}

/// Returns the layers as a session in that folder would have them, and the faults of files and
/// variables. Warns of a project's file that does not count.
fn read(workspace: &Workspace) -> (LayerStack, Vec<String>) {
    let (mut layers, wrong) = LayerStack::own(true);
    if let Some(file) = ProjectFile::find(workspace) {
        let path = file.path();
        let why = match (trust::said(&file), &file.layer) {
            (_, Err(why)) => Some(why.clone()),
            (Err(why), _) => Some(why),
            (Ok(Some(true)), Ok(_)) => None,
            (Ok(Some(false)), _) => Some("you have said no to it".to_owned()),
            (Ok(None), _) => Some("nobody has said that it may be".to_owned()),
        };
        match why {
            Some(why) => warn(&format!("{} is not used: {why}", path.display())),
            None => file.layer.into_iter().for_each(|layer| layers.add_project(layer)),
        }
    }
    layers.for_provider(None);
    (layers, wrong)
}

/// Prints a line with every key masked.
fn shown(line: &str) {
    say(&keys::of_environment().masked(line));
}

impl SettingEntry<'_> {
    fn json(&self) -> Json {
        let source = self.layer.map_or("default", |layer| layer.source.name());
        let mut fields = Map::from_iter([
            ("value".to_owned(), self.value.clone()),
            ("source".to_owned(), json!(source)),
        ]);
        if let Some(file) = self.layer.and_then(|layer| layer.source.file()) {
            fields.insert("file".to_owned(), json!(file.to_string_lossy()));
        }
        Json::Object(fields)
    }

    fn source(&self) -> String {
        match self.layer.map(|layer| &layer.source) {
            None => "default".to_owned(),
            Some(SettingSource::Environment) => {
                let variable = table::find(&self.key).and_then(table::SettingSpec::variable);
                variable.unwrap_or_else(|| "environment".to_owned())
            }
            Some(SettingSource::Project(path) | SettingSource::User(path)) => {
                path.display().to_string()
            }
        }
    }
}

/// Returns every setting, then the fields of `config` and `providers` that are set, and the hooks
/// in the order in which they run.
fn entries(layers: &LayerStack) -> Vec<SettingEntry<'_>> {
    let mut entries: Vec<SettingEntry<'_>> = Vec::new();
    for row in ROWS {
        let key = row.name.to_owned();
        entries.push(match layers.value(row.name) {
            Some((value, layer)) => {
                SettingEntry { key, value: value.json(), shown: value.shown(), layer: Some(layer) }
            }
            None => {
                SettingEntry { key, value: Json::Null, shown: row.default.to_owned(), layer: None }
            }
        });
    }
    for layer in layers.iter() {
        for (name, value) in &layer.config {
            let (key, shown) = (format!("{CONFIG}.{name}"), value.to_string());
            entries.push(SettingEntry { key, value: value.clone(), shown, layer: Some(layer) });
        }
        for (name, said) in &layer.providers {
            for (field, value) in fields(said) {
                let (key, value) = (format!("{PROVIDERS}.{name}.{field}"), value.to_owned());
                let shown = value.clone();
                entries.push(SettingEntry { key, value: json!(value), shown, layer: Some(layer) });
            }
        }
    }
    for (at, (hook, layer)) in layers.hooks().enumerate() {
        // With a number: several may stand at one point, and keys of JSON are unique.
        let key = format!("{HOOKS}.{}[{at}]", hooks::name(hook.point));
        let (value, shown) = (hooks::value(hook), hooks::shown(hook));
        entries.push(SettingEntry { key, value, shown, layer: Some(layer) });
    }
    entries
}

fn fields(said: &OfProvider) -> impl Iterator<Item = (&'static str, &str)> {
    let values = [&said.base_url, &said.model, &said.api_key_env];
    OF_PROVIDER.into_iter().zip(values).filter_map(|(name, value)| Some((name, value.as_deref()?)))
}

/// Returns the value of a key as it is printed; none if it is not set.
fn found(layers: &LayerStack, key: &str) -> Result<Option<String>, CliError> {
    let (first, rest) = key.split_once('.').unwrap_or((key, ""));
    match first {
        CONFIG => {
            let layers: Vec<&SettingsLayer> = layers.iter().collect();
            let mut all = json!({});
            // From the weakest layer to the strongest: each merge overrides what is there.
            layers.iter().rev().for_each(|layer| merge(&mut all, &layer.config));
            let steps = rest.split('.').filter(|step| !step.is_empty());
            let value = steps.into_iter().try_fold(&all, |value, step| value.get(step));
            Ok(value.filter(|value| **value != json!({})).map(|value| match value {
                Json::String(text) => text.clone(),
                value => value.to_string(),
            }))
        }
        PROVIDERS => {
            let (name, field) = rest.split_once('.').unwrap_or((rest, ""));
            if !OF_PROVIDER.contains(&field) {
                let what = "name a provider and one of its fields";
                let example = format!("{PROVIDERS}.openai.{}", OF_PROVIDER.join("|"));
                return Err(CliError::usage(format!("{what}: {example}")));
            }
            let providers = layers.providers();
            let said = providers.of(name).map(fields).into_iter().flatten();
            let mut values = said.filter(|(known, _)| *known == field);
            Ok(values.next().map(|(_, value)| value.to_owned()))
        }
        HOOKS => {
            let all = layers.hooks().map(|(hook, _)| hook);
            let all = all.filter(|hook| rest.is_empty() || rest == hooks::name(hook.point));
            let all: Vec<Json> = all.map(hooks::value).collect();
            Ok((!all.is_empty()).then(|| Json::Array(all).to_string()))
        }
        _ => match table::find(key) {
            Some(row) => Ok(layers.text(row.name)),
            None => Err(CliError::usage(unknown(key, table::names()))),
        },
    }
}

/// Merges fields into a value as RFC 7396 does, without its null, which TOML does not have.
fn merge(into: &mut Json, fields: &Map<String, Json>) {
    if !into.is_object() {
        *into = json!({});
    }
    let Some(place) = into.as_object_mut() else { return };
    for (name, value) in fields {
        match value.as_object() {
            Some(inner) => merge(place.entry(name.clone()).or_insert(Json::Null), inner),
            None => drop(place.insert(name.clone(), value.clone())),
        }
    }
}
