//! Facts about the place that the host works in: the day, the system, the state of version control,
//! the project's instruction files. Nothing here runs a program, follows a repository's
//! configuration, or leaves the workspace and the repository that it belongs to: each of their
//! folders is held open, and files are reached by those handles. Links are followed for instruction
//! files alone, as far as they stay inside.

pub mod agent_files;
mod budget;
mod documents;
mod head;
mod objects;
mod packs;
mod plain_files;
mod repository;
pub mod skill_files;
mod status;
#[cfg(test)]
mod tests;
mod untracked;

use innerloop_core::config::{EnvironmentFacts, GitFacts, ProfileKind, ProgramFacts};
use innerloop_workspace::{Workspace, platform};
use plain_files::FolderHandle;
use std::{
    fs, io,
    path::PathBuf,
    sync::mpsc,
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

/// The time limit for facts about a repository that are not known yet.
const PATIENCE: Duration = Duration::from_secs(3);

/// Returns the facts about `workspace`, with the programs that the sandbox can run there and the
/// instruction files that the model family reads. It may take seconds where a repository is large.
#[must_use]
pub fn collect(
    workspace: &Workspace,
    programs: Vec<ProgramFacts>,
    family: ProfileKind,
) -> EnvironmentFacts {
    let repository = repository::find(workspace);
    let workspace = FolderHandle::of(workspace);
    let root = repository.as_ref().map_or_else(|| workspace.clone(), |found| found.root.clone());
    let project_docs = documents::find(&root, &workspace, family);
    let nested = documents::InstructionFilter::new(&root, &workspace, family);
    let no_git = repository.is_none();
    let told = repository.map(|repository| git(repository, nested));
    let (git, tracked) = told.map(|told| (told.git, told.nested)).unzip();
    EnvironmentFacts {
        // In the sandbox the workspace is the root; an environment that sees another path replaces
        // this.
        working_directory: "/".to_owned(),
        platform: platform_name().to_owned(),
        os_version: platform::os_version(),
        date: date(SystemTime::now()),
        programs,
        project_docs,
        nested_docs: documents::read(&root, &workspace, &tracked.unwrap_or_default()),
        git,
        no_git,
        ..EnvironmentFacts::default()
    }
}

/// Returns a file of the project by its path below the workspace or, if there is none, below the
/// root of the repository that the workspace is in: the folder, and its bytes, or an error if
/// what stands there is no plain file of at most `most` bytes. Links are not followed.
pub fn project_file(
    workspace: &Workspace,
    path: &str,
    most: u64,
) -> Option<(PathBuf, io::Result<Vec<u8>>)> {
    let found = |place: &FolderHandle| {
        // Where something stands but is not a plain file, that is an error, and the repository's
        // file does not stand in for it.
        place.stat(path)?;
        let why = || io::Error::other(format!("it is no plain file of at most {most} bytes"));
        Some((place.path().components().collect(), place.whole(path, most).ok_or_else(why)))
    };
    let own = found(&FolderHandle::of(workspace));
    // Hardly any folder has such a file, and a look at the paths is faster than finding the
    // repository. It only decides whether to go on: the file itself is read by the handle.
    let mut above = workspace.root().ancestors().skip(1).map(|folder| folder.join(path));
    own.or_else(|| {
        above.find(|file| fs::symlink_metadata(file).is_ok())?;
        found(&repository::find(workspace)?.root)
    })
}

fn platform_name() -> &'static str {
    match std::env::consts::OS {
        // The name that `uname` and Node.js have for it.
        "macos" => "darwin",
        other => other,
    }
}

/// Returns `YYYY-MM-DD` of that time, in UTC.
fn date(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let (year, month, day) = civil(seconds / 86_400);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Year, month and day of the `days`th day after 1970-01-01. Years are counted from a first of
/// March, so that the leap day comes last and month lengths follow one line.
const fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + carry, month, day)
}

/// The facts that come from a repository.
#[derive(Clone, Default)]
struct Told {
    git: GitFacts,
    /// Tracked instruction files below the workspace, as seen from there.
    nested: Vec<String>,
}

/// Returns the facts that a repository gives, as far as they are known in time. A thread looks,
/// which is left behind if a broken repository holds it up.
fn git(repository: repository::GitRepository, nested: documents::InstructionFilter) -> Told {
    let (tell, told) = mpsc::channel();
    let look = move || look(&repository, &nested, &|found| drop(tell.send(found)));
    drop(thread::Builder::new().name("git".to_owned()).spawn(look));
    let until = Instant::now() + PATIENCE;
    // Each message holds all facts so far, so that the last one that comes in time is enough. The
    // thread's own budget ends earlier than this; the limit is for calls to the system that hang.
    let next = || told.recv_timeout(until.saturating_duration_since(Instant::now())).ok();
    std::iter::from_fn(next).last().unwrap_or_default()
}

/// Sends the state of a repository in steps, each with more facts than the one before, the cheapest
/// first.
fn look(
    repository: &repository::GitRepository,
    nested: &documents::InstructionFilter,
    tell: &dyn Fn(Told),
) {
    let budget = budget::ScanBudget::new();
    let Some(folders) = &repository.folders else { return };
    let Some(head) = head::read(folders) else { return };
    let mut told = Told::default();
    // Every text of the repository goes through `one_line`: it stands in the prompt.
    told.git.branch = objects::one_line(&head.branch);
    tell(told.clone());
    let objects = objects::ObjectStore::open(folders, &budget);
    if let (Some(objects), head::HeadCommit::At(tip)) = (&objects, head.tip) {
        told.git.recent_commits = objects.subjects(tip);
        tell(told.clone());
    }
    if folders.is_bare() {
        return;
    }
    let Some(index) = status::GitIndex::read(folders) else { return };
    // The index gives the instruction files, so that no folder is searched for them.
    told.nested = nested.among(index.paths());
    tell(told.clone());
    let root = &repository.root;
    told.git.modified = status::count_modified(root, &index, head.tip, objects.as_ref(), &budget);
    tell(told.clone());
    // Last, since it lists every folder and may take the rest of the time.
    told.git.untracked = untracked::count(root, folders, &index.state, &budget.for_another());
    tell(told);
}
