//! The saved form of a view: JSON, in which the same view gives the same bytes, and bytes of names
//! that are not UTF-8 are `\xNN`. What changes later stands in `saved_changes`, until the view is
//! saved whole again. What is read is not trusted: every path leads down from the
//! workspace's root, and a view that no sequence of changes could have made is refused.

use super::{
    super::{
        apply_step::{ApplyStep, PlanApplication, StepAction},
        file_stat::{EntryKind, PathStat},
        resolve::stays_inside,
        state::{escaped, unescaped},
    },
    MAX_NAME, MAX_NOTED, MAX_PATH, TMP,
    overlay_folder::MAX_NUMBER,
    view::{LowerSnapshot, OverlayContent, OverlayEntry, OverlayView},
};
use crate::digest::Digest;
use innerloop_json::{FromJson, ToJson, from_str, to_string};
use std::{
    collections::BTreeSet,
    ffi::OsStr,
    path::{Path, PathBuf},
};

/// The version of the form that is written, and the only one that is read.
const VERSION: u64 = 1;

/// The identity of the folder that a view is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RootIdentity {
    pub(super) path: PathBuf,
    pub(super) device: u64,
    pub(super) inode: u64,
}

/// A view as it was saved.
#[derive(Debug)]
pub(super) struct SavedView {
    pub(super) root: RootIdentity,
    pub(super) view: OverlayView,
    /// True if a run was changing files when the view was saved.
    pub(super) is_partial: bool,
    /// The application of the view that was about to be carried out.
    pub(super) application: Option<PlanApplication>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the derive calls it with a reference")]
pub(super) const fn is_false(flag: &bool) -> bool {
    !*flag
}

// Read first and alone: a form of another version has other fields, and the message should name the
// version and not the first field that is unknown.
#[derive(FromJson)]
struct FormVersion {
    version: u64,
}

#[derive(ToJson, FromJson)]
#[json(deny_unknown_fields)]
pub(super) struct SavedViewForm {
    version: u64,
    root: RootForm,
    /// True in views of older programs where nothing in `tmp` is applied; never written.
    #[json(default, skip_serializing_if = "is_false")]
    scratch: bool,
    /// The paths that are never applied.
    #[json(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) passing: Vec<String>,
    /// True if a run was changing files.
    #[json(default, skip_serializing_if = "is_false")]
    pub(super) partial: bool,
    pub(super) last: u64,
    pub(super) digested: u64,
    pub(super) changed: Vec<ChangedForm>,
    pub(super) noted: Vec<NotedForm>,
    #[json(skip_serializing_if = "Option::is_none")]
    application: Option<ApplicationForm>,
}

#[derive(ToJson, FromJson)]
#[json(deny_unknown_fields)]
struct RootForm {
    path: String,
    device: u64,
    inode: u64,
}

#[derive(ToJson, FromJson)]
#[json(deny_unknown_fields)]
pub(super) struct ChangedForm {
    pub(super) path: String,
    pub(super) is: EntryForm,
}

#[derive(ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub(super) enum EntryForm {
    Gone,
    Folder(u64),
    File(u64),
    MovedFrom(String),
    Link { to: String, number: u64 },
}

#[derive(ToJson, FromJson)]
#[json(deny_unknown_fields)]
pub(super) struct NotedForm {
    pub(super) path: String,
    #[json(skip_serializing_if = "Option::is_none")]
    stat: Option<StatForm>,
    #[json(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    #[json(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
}

// Without the device, which is the root's for every entry, and without the time of the last read,
// which is no change.
#[derive(ToJson, FromJson)]
#[json(deny_unknown_fields)]
struct StatForm {
    kind: KindForm,
    size: u64,
    mode: u32,
    inode: u64,
    modified: u64,
    changed: u64,
}

#[derive(Clone, Copy, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
enum KindForm {
    File,
    Folder,
    Link,
    Other,
}

#[derive(ToJson, FromJson)]
#[json(deny_unknown_fields)]
struct ApplicationForm {
    stage: String,
    is_first: bool,
    steps: Vec<StepForm>,
}

#[derive(ToJson, FromJson)]
#[json(deny_unknown_fields)]
struct StepForm {
    path: String,
    work: WorkForm,
    #[json(skip_serializing_if = "Option::is_none")]
    lower: Option<StatForm>,
    #[json(skip_serializing_if = "Option::is_none")]
    moved_from: Option<String>,
}

#[derive(ToJson, FromJson)]
#[json(rename_all = "snake_case")]
enum WorkForm {
    Remove,
    CreateFolder,
    Place(KindForm),
}

/// Returns the view as text.
pub(super) fn write(
    (root, view): (&RootIdentity, &OverlayView),
    partial: bool,
    application: Option<&PlanApplication>,
) -> String {
    let changed = view
        .entries()
        .map(|(path, entry)| ChangedForm { path: shown(&path), is: EntryForm::of(entry) });
    let noted = view.noted.iter().map(|(path, noted)| NotedForm::of(path, noted.as_ref()));
    to_string(&SavedViewForm {
        version: VERSION,
        root: RootForm { path: shown(&root.path), device: root.device, inode: root.inode },
        scratch: false,
        passing: view.passing().map(|path| shown(path)).collect(),
        partial,
        last: view.last(),
        digested: view.digested,
        changed: changed.collect(),
        noted: noted.collect(),
        application: application.map(application_form),
    })
}

fn application_form(application: &PlanApplication) -> ApplicationForm {
    let steps = application.steps.iter().map(|step| StepForm {
        path: shown(&step.path),
        work: match step.work {
            StepAction::Remove => WorkForm::Remove,
            StepAction::CreateFolder => WorkForm::CreateFolder,
            StepAction::Place(kind) => WorkForm::Place(kind_form(kind)),
        },
        lower: step.lower.as_ref().map(stat_form),
        moved_from: step.moved_from.as_deref().map(shown),
    });
    ApplicationForm {
        stage: shown(&application.stage),
        is_first: application.is_first,
        steps: steps.collect(),
    }
}

impl EntryForm {
    pub(super) fn of(entry: &OverlayEntry) -> Self {
        match entry {
            OverlayEntry::Gone => Self::Gone,
            OverlayEntry::Folder(number) => Self::Folder(*number),
            OverlayEntry::File(OverlayContent::Own(number)) => Self::File(*number),
            OverlayEntry::File(OverlayContent::Lower(from)) => Self::MovedFrom(shown(from)),
            OverlayEntry::Link(to, number) => Self::Link { to: shown(to), number: *number },
        }
    }
}

impl NotedForm {
    pub(super) fn of(path: &Path, noted: Option<&LowerSnapshot>) -> Self {
        Self {
            path: shown(path),
            stat: noted.map(|noted| stat_form(&noted.stat)),
            digest: noted.and_then(|noted| noted.digest).map(|digest| digest.to_string()),
            target: noted.and_then(|noted| noted.target.as_deref()).map(shown),
        }
    }
}

pub(super) fn shown(path: &Path) -> String {
    escaped(path.as_os_str())
}

const fn stat_form(stat: &PathStat) -> StatForm {
    StatForm {
        kind: kind_form(stat.kind),
        size: stat.size,
        mode: stat.mode,
        inode: stat.inode,
        modified: stat.modified,
        changed: stat.changed,
    }
}

const fn kind_form(kind: EntryKind) -> KindForm {
    match kind {
        EntryKind::File => KindForm::File,
        EntryKind::Folder => KindForm::Folder,
        EntryKind::Link => KindForm::Link,
        EntryKind::Other => KindForm::Other,
    }
}

/// Returns the view that a text holds, after `changed` has brought it to what was saved later.
///
/// # Errors
/// The fault of the text or of what changes it, as the end of a sentence.
pub(super) fn read(
    text: &str,
    changed: impl FnOnce(&mut SavedViewForm) -> Result<(), String>,
) -> Result<SavedView, String> {
    let no_json = |error: innerloop_json::Error| format!("the saved view is not one: {error}");
    let FormVersion { version } = from_str(text).map_err(no_json)?;
    if version != VERSION {
        return Err(format!("its form {version} is that of another version of this program"));
    }
    let mut form: SavedViewForm = from_str(text).map_err(no_json)?;
    changed(&mut form)?;
    // A changed name is a noted one, but for the overlay's own `/tmp`.
    if form.changed.len() > MAX_NOTED + 1 || form.noted.len() > MAX_NOTED {
        return Err("it names too many paths".to_owned());
    }
    let device = form.root.device;
    let root =
        RootIdentity { path: unescaped(&form.root.path).into(), device, inode: form.root.inode };
    let mut view = view(form.last, form.digested, form.changed, form.noted, device)?;
    set_passing(&mut view, form.scratch, &form.passing)?;
    let application = form.application.map(|form| application(form, device)).transpose()?;
    Ok(SavedView { root, view, is_partial: form.partial, application })
}

fn view(
    last: u64,
    digested: u64,
    changed: Vec<ChangedForm>,
    noted: Vec<NotedForm>,
    device: u64,
) -> Result<OverlayView, String> {
    if last > MAX_NUMBER {
        return Err("its numbers are too large".to_owned());
    }
    let mut view = OverlayView::after(last);
    view.digested = digested;
    let mut numbers = BTreeSet::new();
    for ChangedForm { path, is } in changed {
        let path = path_of(&path)?;
        let (entry, number) = entry(is, &path)?;
        // Two names with one number would be one file: writing to either would change both. One
        // beyond the last would be given a second time.
        if number.is_some_and(|number| number == 0 || number > last || !numbers.insert(number)) {
            return Err(format!("{} has a number that cannot be its own", path.display()));
        }
        if view.entry(&path).is_some() {
            return Err(format!("{} is named twice", path.display()));
        }
        view.set(&path, entry);
    }
    for form in noted {
        let path = path_of(&form.path)?;
        let noted = noted_of(&form, device)?;
        if view.noted.contains_key(&path) {
            return Err(format!("{} is noted twice", path.display()));
        }
        view.note(&path, noted);
    }
    // Only now: a text that was not written here may name a folder after its entries.
    if let Some(folder) = view.folders().find(|folder| !is_folder(&view, folder)) {
        return Err(format!("{} holds something and is no folder", folder.display()));
    }
    Ok(view)
}

/// Marks the entries of `tmp` that are never applied.
fn set_passing(view: &mut OverlayView, are_all: bool, passing: &[String]) -> Result<(), String> {
    let inside = |path: &Path| path.starts_with(TMP);
    if are_all {
        let all = view.entries().map(|(path, _)| path).filter(|path| inside(path));
        all.collect::<Vec<_>>().iter().for_each(|path| view.pass(path));
    }
    for shown in passing {
        let path = path_of(shown)?;
        // What was below before is the project's. Taken for temporary, its change would be lost
        // without a word.
        let is_new = !matches!(view.noted.get(&path), Some(Some(_)));
        if !inside(&path) || view.entry(&path).is_none() || !is_new {
            return Err(format!("{shown:?} is no temporary file"));
        }
        view.pass(&path);
    }
    Ok(())
}

/// Returns whether the view may have a folder at the path, as far as the view alone shows it.
fn is_folder(view: &OverlayView, path: &Path) -> bool {
    match view.entry(path) {
        Some(entry) => matches!(entry, OverlayEntry::Folder(_)),
        None => view.hides(path).is_none(),
    }
}

/// Returns the entry of the view at a path, and the entry's own number if it has one.
fn entry(form: EntryForm, path: &Path) -> Result<(OverlayEntry, Option<u64>), String> {
    Ok(match form {
        EntryForm::Gone => (OverlayEntry::Gone, None),
        EntryForm::Folder(number) => (OverlayEntry::Folder(number), Some(number)),
        EntryForm::File(number) => (OverlayEntry::File(OverlayContent::Own(number)), Some(number)),
        EntryForm::MovedFrom(from) => {
            (OverlayEntry::File(OverlayContent::Lower(path_of(&from)?)), None)
        }
        EntryForm::Link { to, number } => {
            let to = target_of(&to)?;
            // The rule for links that guests make holds for links from a file, too.
            if !stays_inside(path.parent().unwrap_or(Path::new("")), &to) {
                return Err(format!("{} leads out of the workspace", path.display()));
            }
            (OverlayEntry::Link(to, number), Some(number))
        }
    })
}

fn noted_of(form: &NotedForm, device: u64) -> Result<Option<LowerSnapshot>, String> {
    let Some(stat) = &form.stat else { return Ok(None) };
    let digest = form
        .digest
        .as_deref()
        .map(|digest| Digest::parse(digest).ok_or_else(|| format!("{digest:?} is no digest")));
    let target = form.target.as_deref().map(target_of);
    let (digest, target) = (digest.transpose()?, target.transpose()?);
    Ok(Some(LowerSnapshot { stat: stat_of(stat, device), digest, target }))
}

fn application(form: ApplicationForm, device: u64) -> Result<PlanApplication, String> {
    // Each path has two steps at most: one that removes and one that creates.
    if form.steps.len() > 2 * MAX_NOTED {
        return Err("it names too many steps".to_owned());
    }
    let step = |form: StepForm| {
        let path = path_of(&form.path)?;
        let work = match form.work {
            WorkForm::Remove => StepAction::Remove,
            WorkForm::CreateFolder => StepAction::CreateFolder,
            WorkForm::Place(kind) => StepAction::Place(kind_of(kind)),
        };
        let moved_from = form.moved_from.as_deref().map(path_of).transpose()?;
        let lower = form.lower.as_ref().map(|stat| stat_of(stat, device));
        Ok(ApplyStep { path, lower, work, moved_from })
    };
    let steps: Result<_, String> = form.steps.into_iter().map(step).collect();
    Ok(PlanApplication { stage: path_of(&form.stage)?, is_first: form.is_first, steps: steps? })
}

/// Returns the path in the workspace that a text shows.
fn path_of(shown: &str) -> Result<PathBuf, String> {
    let path = unescaped(shown);
    // Checked after unescaping, which can give any byte: `\x2e\x2e` is `..`.
    let is_name = |name: &[u8]| {
        !matches!(name, b"" | b"." | b"..") && name.len() <= MAX_NAME && !name.contains(&0)
    };
    if path.len() > MAX_PATH || !path.as_encoded_bytes().split(|byte| *byte == b'/').all(is_name) {
        return Err(format!("{shown:?} is no path of a workspace"));
    }
    Ok(path.into())
}

/// Returns the target of a link that a text shows.
fn target_of(shown: &str) -> Result<PathBuf, String> {
    let target = unescaped(shown);
    if target.len() > MAX_TARGET || target.as_encoded_bytes().contains(&0) {
        return Err(format!("{:?} is no target of a link", OsStr::new(shown)));
    }
    Ok(target.into())
}

/// The longest target of a link that is read.
// Longer than a path may be: the target of a link below is noted whatever it is.
const MAX_TARGET: usize = 64 << 10;

const fn stat_of(form: &StatForm, device: u64) -> PathStat {
    let StatForm { kind, size, mode, inode, modified, changed } = *form;
    let kind = kind_of(kind);
    PathStat { kind, size, mode, links: 1, device, inode, accessed: 0, modified, changed }
}

const fn kind_of(form: KindForm) -> EntryKind {
    match form {
        KindForm::File => EntryKind::File,
        KindForm::Folder => EntryKind::Folder,
        KindForm::Link => EntryKind::Link,
        KindForm::Other => EntryKind::Other,
    }
}
