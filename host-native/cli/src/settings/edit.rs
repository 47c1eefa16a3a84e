//! `innerloop config set` and `unset`: change one setting in a file and leave all else as it is,
//! comments and order included. A file that was valid is valid afterwards.

use super::{
    layer::{SettingSource, SettingValue, SettingsLayer, parse},
    project::{self, ProjectFile},
    table::{self, CONFIG, HOOKS, OF_PROVIDER, PROVIDERS, SettingKind, unknown},
    trust, user,
};
use crate::{
    console::{say, warn},
    exit::{CliError, ExitReason},
    style::harmless,
};
use innerloop_workspace::{Workspace, app_dirs, private_files};
use std::{
    fs, io,
    path::{Path, PathBuf},
};
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, Value as Toml};

/// The file that is changed.
pub(super) enum SettingsTarget {
    /// The user's.
    User(PathBuf),
    /// The project's.
    Project(Workspace),
}

/// Writes a setting.
pub(super) fn set(place: &SettingsTarget, key: &str, value: &str) -> Result<(), CliError> {
    let steps: Vec<&str> = key.split('.').collect();
    let value = value_of(&steps, value).map_err(CliError::usage)?;
    let shown = value.to_string();
    change(place, |file| {
        let (last, above) = steps.split_last().ok_or("there is no key")?;
        let mut table: &mut dyn TableLike = file.as_table_mut();
        for step in above {
            let mut made = Table::new();
            // Without this, `config.retry.max_retries` would also write an empty `[config]`.
            made.set_implicit(true);
            let item = table.entry(step).or_insert(Item::Table(made));
            let why = || format!("{step} is no table in the file");
            table = item.as_table_like_mut().ok_or_else(why)?;
        }
        match table.get_mut(last).and_then(Item::as_value_mut) {
            Some(old) => {
                // The decor holds the spaces and the comment that the user has put beside it.
                let decor = old.decor().clone();
                *old = value;
                *old.decor_mut() = decor;
            }
            None => drop(table.insert(last, Item::Value(value))),
        }
        Ok(format!("{key} = {}", shown.trim()))
    })
}

/// Removes a setting, also one that is unknown.
pub(super) fn unset(place: &SettingsTarget, key: &str) -> Result<(), CliError> {
    change(place, |file| {
        let steps: Vec<&str> = key.split('.').collect();
        let (last, above) = steps.split_last().ok_or("there is no key")?;
        let mut table: &mut dyn TableLike = file.as_table_mut();
        let missing = || format!("{key} is not set there");
        for step in above {
            let item = table.get_mut(step).ok_or_else(missing)?;
            table = item.as_table_like_mut().ok_or_else(missing)?;
        }
        table.remove(last).ok_or_else(missing)?;
        Ok(format!("{key} is removed"))
    })
}

/// Returns the value of a key as TOML.
///
/// # Errors
/// There is no such key, or it does not take that value.
fn value_of(steps: &[&str], text: &str) -> Result<Toml, String> {
    match steps {
        // A word without quotes is not TOML but is what people type, so that it counts as a text.
        [CONFIG, _, ..] => Ok(text.parse().unwrap_or_else(|_| Toml::from(text))),
        [PROVIDERS, _, field] if OF_PROVIDER.contains(field) => Ok(Toml::from(text)),
        [HOOKS, ..] => Err("hooks are written in the file itself, as [[hooks.before_tool]] with \
                            command, matcher and timeout; `innerloop config path` says where it is"
            .to_owned()),
        [PROVIDERS, ..] => {
            Err(format!("name a provider and one of its fields: {}", OF_PROVIDER.join(", ")))
        }
        [name] => {
            let row = table::find(name).ok_or_else(|| unknown(name, table::names()))?;
            Ok(match (row.kind, parse(row, text)?) {
                (SettingKind::Path, SettingValue::Text(path)) => Toml::from(absolute(&path)),
                (SettingKind::Paths, SettingValue::Texts(paths)) => {
                    Toml::from(paths.iter().map(|path| absolute(path)).collect::<Array>())
                }
                (_, SettingValue::Text(text)) => Toml::from(text),
                (_, SettingValue::Number(number)) => Toml::from(i64::from(number)),
                (_, SettingValue::Texts(texts)) => Toml::from(texts.into_iter().collect::<Array>()),
            })
        }
        _ => Err(unknown(&steps.join("."), table::names())),
    }
}

/// Returns the path from the current folder on. In a file it would begin in the file's folder,
/// which is not what somebody meant who typed it here.
fn absolute(path: &str) -> String {
    if path.starts_with("~/") {
        return path.to_owned();
    }
    let path = std::path::absolute(path).unwrap_or_else(|_| path.into());
    path.to_string_lossy().into_owned()
}

/// Changes a file and prints what was done. A file that was invalid before may stay so: otherwise
/// it could not be repaired setting by setting.
fn change(
    place: &SettingsTarget,
    how: impl FnOnce(&mut DocumentMut) -> Result<String, String>,
) -> Result<(), CliError> {
    let (path, source) = match place {
        SettingsTarget::User(path) => (path.clone(), SettingSource::User(path.clone())),
        SettingsTarget::Project(workspace) => {
            let path = project::place(workspace);
            (path.clone(), SettingSource::Project(path))
        }
    };
    let wrong =
        |why: String| CliError::configuration(format!("cannot change {}: {why}", path.display()));
    if let SettingsTarget::Project(_) = place {
        check_links(&path).map_err(wrong)?;
    }
    let text = user::text(&path).map_err(|error| wrong(error.to_string()))?.unwrap_or_default();
    let mut file: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        let at = error
            .span()
            .and_then(|span| innerloop_sandbox::toml_place::position(&text, span.start));
        let at = at.map(|at| format!("{at}: ")).unwrap_or_default();
        wrong(format!("{at}{}; fix it in an editor", error.message().replace('\n', "; ")))
    })?;
    let done = how(&mut file).map_err(wrong)?;
    let after = file.to_string();
    let was_good = SettingsLayer::of_text(source.clone(), &text).is_ok();
    if let Err(why) = SettingsLayer::of_text(source, &after) {
        if was_good {
            return Err(wrong(why));
        }
        warn(&format!("{} is still not in order: {why}", path.display()));
    }
    // Read before the file is written, since trust is tied to the digest of its content.
    let was_trusted = match place {
        SettingsTarget::Project(workspace) => is_trusted(workspace),
        SettingsTarget::User(_) => false,
    };
    write(&path, &after).map_err(|error| {
        let why = match place {
            SettingsTarget::User(_) => app_dirs::unwritten(&path, &error),
            SettingsTarget::Project(_) => format!("cannot write {}: {error}", path.display()),
        };
        CliError::new(ExitReason::Failed, why)
    })?;
    if let (SettingsTarget::Project(workspace), true) = (place, was_trusted) {
        trust_again(workspace);
    }
    say(&format!("{} in {}", harmless(&done), path.display()));
    Ok(())
}

/// Replaces the file; where the user has put a link, its target.
fn write(path: &Path, text: &str) -> io::Result<()> {
    // Replacing is a rename, which would put a plain file in the place of the link.
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    private_files::keep(&real, text.as_bytes())
}

/// Refuses links in a project: they may come with the repository and lead anywhere.
fn check_links(path: &Path) -> Result<(), String> {
    let is_link = |path: &&Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    let on_the_way = [Some(path), path.parent()];
    match on_the_way.into_iter().flatten().find(is_link) {
        Some(link) => Err(format!("{} is a link", link.display())),
        None => Ok(()),
    }
}

/// Returns whether nothing of the project's is yet to be judged.
fn is_trusted(workspace: &Workspace) -> bool {
    ProjectFile::find(workspace).is_none_or(|file| trust::said(&file) == Ok(Some(true)))
}

/// Trusts the project's file again: users need not be asked about their own changes.
fn trust_again(workspace: &Workspace) {
    let Some(file) = ProjectFile::find(workspace).filter(|file| file.layer.is_ok()) else { return };
    if let Err(why) = trust::keep(&file, Some(true)) {
        warn(&format!("you will be asked whether to obey it: {why}"));
    }
}
