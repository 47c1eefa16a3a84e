//! What the host tells the core of the place it works in: the day, the system, the branch, the
//! project's instruction files. Nothing here runs a program or leaves the workspace.

use innerloop_core::{
    config::{Facts, GitFacts, ProfileKind, ProgramFacts, ProjectDoc},
    doc_names,
};
use std::{
    fs,
    io::Read as _,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

/// Most bytes of one file that are read.
const MOST_BYTES: u64 = 32 * 1024;

/// The facts about `workspace`, with the programs that the sandbox can run there and the
/// instruction files that the model family reads.
#[must_use]
pub fn collect(workspace: &Path, programs: Vec<ProgramFacts>, family: ProfileKind) -> Facts {
    Facts {
        working_directory: "/".to_owned(),
        platform: platform().to_owned(),
        os_version: os_version(),
        date: date(SystemTime::now()),
        git: git(workspace),
        programs,
        project_docs: documents(workspace, family),
        ..Facts::default()
    }
}

fn platform() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    }
}

fn os_version() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    release.trim().to_owned()
}

/// `YYYY-MM-DD` of that time, in UTC.
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

/// The branch, if the workspace is the root of a repository. What else version control knows is
/// left out: `git` would run what the repository's own configuration names.
fn git(workspace: &Path) -> Option<GitFacts> {
    let folder = workspace.join(".git");
    fs::symlink_metadata(&folder).ok().filter(fs::Metadata::is_dir)?;
    let head = text(&folder.join("HEAD"))?;
    let head = head.trim();
    let branch = head.strip_prefix("ref: refs/heads/").unwrap_or("(detached)");
    Some(GitFacts { branch: branch.to_owned(), ..GitFacts::default() })
}

/// The instruction files at the workspace's root.
fn documents(workspace: &Path, family: ProfileKind) -> Vec<ProjectDoc> {
    let found = doc_names(family).iter().filter_map(|name| {
        let text = text(&workspace.join(name))?;
        Some(ProjectDoc { path: (*name).to_owned(), text })
    });
    found.collect()
}

/// The start of a plain file. A link is left out: it may lead outside.
fn text(path: &Path) -> Option<String> {
    fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_workspace_is_looked_at_and_nothing_outside() {
        let folder = std::env::temp_dir().join(format!("innerloop-facts-{}", std::process::id()));
        fs::create_dir_all(folder.join("repository/.git")).unwrap();
        let workspace = folder.join("repository");
        fs::write(folder.join("secret"), "outside").unwrap();
        fs::write(workspace.join("AGENTS.md"), "Be brief.").unwrap();
        fs::write(workspace.join(".git/HEAD"), "ref: refs/heads/topic/one\n").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("../secret", workspace.join("CLAUDE.md")).unwrap();
        let facts = collect(&workspace, Vec::new(), ProfileKind::Anthropic);
        let outside = collect(&folder, Vec::new(), ProfileKind::Anthropic);
        fs::remove_dir_all(&folder).unwrap();
        let doc = ProjectDoc { path: "AGENTS.md".to_owned(), text: "Be brief.".to_owned() };
        assert_eq!(facts.project_docs, [doc]);
        assert_eq!(facts.git.unwrap().branch, "topic/one");
        assert_eq!(outside.git, None);
    }

    #[test]
    fn days_are_counted_as_the_calendar_does() {
        let at = |seconds| date(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01");
        assert_eq!(at(951_782_400), "2000-02-29");
        assert_eq!(at(951_868_800), "2000-03-01");
        assert_eq!(at(1_767_225_599), "2025-12-31");
        assert_eq!(at(4_107_542_400), "2100-03-01");
    }
}
