//! The changes of a view since it was saved whole, as JSON: one record for each save, so that a
//! save costs what was changed and not what the view holds. A record says what stands at each path
//! that was changed, and replaces what the view or an earlier record has said of that path.

use super::{
    saved_view::{ChangedForm, EntryForm, NotedForm, SavedViewForm, is_false, shown},
    view::OverlayView,
};
use innerloop_json::{FromJson, ToJson, from_str, to_string};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

#[derive(ToJson, FromJson)]
#[json(deny_unknown_fields)]
struct ChangeRecord {
    /// The number of the save, counted from the view.
    save: u64,
    #[json(default, skip_serializing_if = "is_false")]
    partial: bool,
    last: u64,
    digested: u64,
    paths: Vec<PathForm>,
}

/// All that a view says of a path.
#[derive(ToJson, FromJson)]
#[json(deny_unknown_fields)]
struct PathForm {
    path: String,
    #[json(skip_serializing_if = "Option::is_none")]
    is: Option<EntryForm>,
    #[json(skip_serializing_if = "Option::is_none")]
    noted: Option<NotedForm>,
    /// True if it is never applied.
    #[json(default, skip_serializing_if = "is_false")]
    passing: bool,
}

/// Returns the record of a save as text: what the view says of these paths.
pub(super) fn write(
    view: &OverlayView,
    changed: &BTreeSet<PathBuf>,
    save: u64,
    partial: bool,
) -> String {
    let paths = changed.iter().map(|path| PathForm {
        path: shown(path),
        is: view.entry(path).map(EntryForm::of),
        noted: view.noted.get(path).map(|noted| NotedForm::of(path, noted.as_ref())),
        passing: view.passes(path),
    });
    let (last, digested, paths) = (view.last(), view.digested, paths.collect());
    to_string(&ChangeRecord { save, partial, last, digested, paths })
}

/// Brings a saved view to what these records say.
///
/// # Errors
/// The fault of a record, as the end of a sentence.
pub(super) fn replay(form: &mut SavedViewForm, records: &[String]) -> Result<(), String> {
    if records.is_empty() {
        return Ok(());
    }
    let keyed = |form: ChangedForm| (form.path, form.is);
    let mut changed: BTreeMap<_, _> =
        std::mem::take(&mut form.changed).into_iter().map(keyed).collect();
    let keyed = |form: NotedForm| (form.path.clone(), form);
    let mut noted: BTreeMap<_, _> =
        std::mem::take(&mut form.noted).into_iter().map(keyed).collect();
    let mut passing: BTreeSet<_> = std::mem::take(&mut form.passing).into_iter().collect();
    for (number, record) in (1..).zip(records) {
        let record: ChangeRecord = from_str(record)
            .map_err(|error| format!("a change after the saved view is not one: {error}"))?;
        if record.save != number {
            return Err("a change after the saved view is missing".to_owned());
        }
        (form.partial, form.last, form.digested) = (record.partial, record.last, record.digested);
        for PathForm { path, is, noted: note, passing: passes } in record.paths {
            match is {
                Some(is) => changed.insert(path.clone(), is),
                None => changed.remove(&path),
            };
            match note {
                Some(note) if note.path != path => {
                    return Err(format!("{path} is noted under another name"));
                }
                Some(note) => noted.insert(path.clone(), note),
                None => noted.remove(&path),
            };
            if passes {
                passing.insert(path);
            } else {
                passing.remove(&path);
            }
        }
    }
    form.changed = changed.into_iter().map(|(path, is)| ChangedForm { path, is }).collect();
    form.noted = noted.into_values().collect();
    form.passing = passing.into_iter().collect();
    Ok(())
}
