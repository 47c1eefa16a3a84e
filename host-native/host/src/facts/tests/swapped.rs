//! What is put in the place of a file that is read: links, pipes and folders, before the host looks
//! and while it does.

use super::{
    super::plain_files::FolderHandle,
    fixture::{Folder, Repository, documents, facts, link, loose, write},
};
use innerloop_workspace::Workspace;
use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::FileTypeExt as _,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

fn pipe(place: &Path) {
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    assert!(Command::new("mkfifo").arg(place).status().unwrap().success());
    assert!(fs::symlink_metadata(place).unwrap().file_type().is_fifo());
}

/// A project with a commit, instructions and a folder, beside a folder that is not its own.
fn project(folder: &Folder) -> Repository {
    let secret = folder.repository("secret");
    let commit = secret.checkout(&[("AGENTS.md", "SECRET")]);
    assert!(secret.git.join("objects").join(loose(&commit)).exists());
    secret.set("HEAD", "ref: refs/heads/SECRET\n");
    write(&folder.path("secret/text"), "SECRET");
    let project = folder.repository("project");
    project.checkout(&[("AGENTS.md", "own"), ("web/CLAUDE.md", "web"), ("a", "1\n")]);
    project
}

#[test]
fn e13_a_pipe_or_a_folder_is_no_instruction_file_and_holds_nothing_up() {
    let folder = Folder::new("pipes");
    let project = project(&folder);
    let agents = project.root.join("AGENTS.md");
    fs::remove_file(&agents).unwrap();
    pipe(&agents);
    fs::create_dir(project.root.join("CLAUDE.md")).unwrap();
    let found = facts(&project.root);
    assert_eq!(found.project_docs, []);
    assert_eq!(found.nested_docs.len(), 1, "web/CLAUDE.md");
    assert_eq!(found.git.unwrap().modified, Some(1));
}

#[test]
fn e12_a_pipe_in_a_repository_counts_as_absent() {
    let folder = Folder::new("git-pipes");
    for (name, subjects, modified) in [
        ("index", 1, None),
        ("packed-refs", 1, Some(0)),
        ("info/exclude", 1, Some(0)),
        ("refs/heads/main", 0, None),
        ("objects/info", 0, None),
        ("objects/pack/a.idx", 0, None),
    ] {
        let project = folder.repository(&name.replace('/', "-"));
        project.checkout(&[("a", "1\n")]);
        let place = project.git.join(name);
        drop(fs::remove_dir(&place));
        drop(fs::remove_file(&place));
        pipe(&place);
        let found = project.facts();
        assert_eq!(found.branch, "main", "{name}");
        assert_eq!((found.recent_commits.len(), found.modified), (subjects, modified), "{name}");
    }
    let project = folder.repository("rules");
    let commit = project.checkout(&[("a", "1\n")]);
    pipe(&project.root.join(".gitignore"));
    pipe(&project.root.join(".gitattributes"));
    assert_eq!(project.counts(), (Some(0), Some(0)), "neither is a file");
    let object = project.git.join("objects").join(loose(&commit));
    fs::remove_file(&object).unwrap();
    pipe(&object);
    assert_eq!(project.facts().recent_commits, [""; 0]);
    for (name, make) in [("pipe", pipe as fn(&Path)), ("folder", |it| fs::create_dir(it).unwrap())]
    {
        let project = folder.repository(name);
        fs::remove_file(project.git.join("HEAD")).unwrap();
        make(&project.git.join("HEAD"));
        assert_eq!(facts(&project.root).git, None);
    }
}

#[test]
fn e12_a_link_in_the_place_of_any_file_of_a_repository_leads_nowhere() {
    let folder = Folder::new("swapped");
    project(&folder);
    let secret = |name: &str| folder.path("secret/.git").join(name);
    for name in ["HEAD", "refs/heads/main", "index", "objects", "refs", "info"] {
        let project = folder.repository(&format!("own-{}", name.replace('/', "-")));
        project.checkout(&[("a", "1\n")]);
        let place = project.git.join(name);
        let kept = folder.path(&format!("kept-{}", name.replace('/', "-")));
        fs::rename(&place, &kept).unwrap();
        fs::create_dir_all(secret("info")).unwrap();
        write(&secret("info/exclude"), "*\n");
        write(&project.root.join("new"), "");
        link(secret(name), &place);
        let found = facts(&project.root).git.unwrap_or_default();
        assert!(!format!("{found:?}").contains("SECRET"), "{name}: {found:?}");
        assert_ne!(found.untracked, Some(0), "{name}");
        // Put back, it is read again.
        fs::remove_file(&place).unwrap();
        fs::rename(&kept, &place).unwrap();
        assert_eq!(project.facts().recent_commits, ["The start"], "{name}");
    }
}

#[test]
fn e12_a_linked_folder_of_tracked_files_is_not_looked_into() {
    let folder = Folder::new("tracked");
    let project = project(&folder);
    fs::rename(project.root.join("web"), folder.path("away")).unwrap();
    link(folder.path("away"), &project.root.join("web"));
    let found = facts(&project.root);
    assert_eq!(found.nested_docs, [], "it is not the workspace's");
    assert_eq!(found.git.unwrap().modified, Some(1));
}

#[test]
fn e12_packed_objects_are_read_as_loose_ones_are() {
    let folder = Folder::new("packed");
    let project = project(&folder);
    let tip = project.history(&["One", "Two", "Three"]);
    project.pack();
    assert!(!project.git.join("objects").join(loose(&tip)).exists());
    assert_eq!(project.facts().recent_commits, ["Three", "Two", "One"]);
    // One that is broken somewhere gives less, and nothing that is not there.
    for (name, step) in [("all.idx", 23), ("all.pack", 7)] {
        let place = project.git.join("objects/pack").join(name);
        let whole = fs::read(&place).unwrap();
        for at in (0..whole.len()).step_by(step) {
            let mut broken = whole.clone();
            broken[at] ^= 0xff;
            fs::write(&place, &broken).unwrap();
            let found = project.facts();
            assert_eq!(found.branch, "main", "byte {at} of {name}");
            assert!(found.recent_commits.len() <= 3, "byte {at} of {name}: {found:?}");
        }
        fs::write(&place, &whole[..whole.len() / 2]).unwrap();
        assert!(project.facts().recent_commits.len() < 3, "half of {name}");
        fs::write(&place, &whole).unwrap();
    }
    fs::write(project.git.join("objects/pack/all.pack"), b"PACK").unwrap();
    assert_eq!(project.facts().recent_commits, [""; 0]);
}

#[test]
fn e11_the_handle_stays_with_the_folder_that_was_opened() {
    let folder = Folder::new("moved");
    let project = project(&folder);
    let workspace = Workspace::open(&project.root).unwrap();
    fs::rename(&project.root, folder.path("elsewhere")).unwrap();
    link(folder.path("secret"), &project.root);
    let found = super::super::collect(&workspace, Vec::new(), super::super::ProfileKind::Openai);
    assert_eq!(found.project_docs[0].text, "own");
    assert_eq!(found.git.unwrap().branch, "main");
    assert!(workspace.file(Path::new("text")).is_err());
}

/// Puts one thing after the other in a place, until it is told to stop.
fn flip(place: &Path, things: &[&dyn Fn(&Path)], is_over: &AtomicBool) {
    let beside: PathBuf = place.with_extension("next");
    while !is_over.load(Ordering::Relaxed) {
        for thing in things {
            thing(&beside);
            fs::rename(&beside, place).unwrap();
        }
    }
}

/// Moves a folder out of the way and a link into its place, and back.
fn flip_folder(place: &Path, target: &Path, is_over: &AtomicBool) {
    let beside: PathBuf = place.with_extension("away");
    while !is_over.load(Ordering::Relaxed) {
        fs::rename(place, &beside).unwrap();
        link(target, place);
        fs::remove_file(place).unwrap();
        fs::rename(&beside, place).unwrap();
    }
}

#[test]
fn e11_what_is_flipped_while_the_host_looks_leads_nowhere_and_holds_nothing_up() {
    const ROUNDS: usize = 20;
    const READS: usize = 1_000;
    // Only what is held up for good takes that long, however busy the machine is.
    const PATIENCE: Duration = Duration::from_secs(180);
    let folder = Folder::new("flipped");
    let project = project(&folder);
    let (secret, root) = (folder.path("secret"), project.root);
    pipe(&folder.path("pipe"));
    let is_over = AtomicBool::new(false);
    let own = |text: &'static str| move |place: &Path| fs::write(place, text).unwrap();
    let leads = |target: PathBuf| move |place: &Path| link(&target, place);
    let (tell, told) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| {
            let secret = leads(secret.join("AGENTS.md"));
            let pipe = |place: &Path| fs::hard_link(folder.path("pipe"), place).unwrap();
            flip(&root.join("AGENTS.md"), &[&own("own"), &secret, &pipe], &is_over);
        });
        scope.spawn(|| {
            let (main, secret) = (own("ref: refs/heads/main\n"), leads(secret.join(".git/HEAD")));
            flip(&root.join(".git/HEAD"), &[&main, &secret], &is_over);
        });
        scope.spawn(|| flip_folder(&root.join("web"), &secret, &is_over));
        let workspace = Workspace::open(&root).unwrap();
        thread::spawn(move || while tell.send(told_of(&workspace, READS)).is_ok() {});
        let mut found: Vec<String> = Vec::new();
        while found.len() < ROUNDS || !found.iter().any(|found| found.contains("own")) {
            let Ok(next) = told.recv_timeout(PATIENCE) else { break };
            found.push(next);
        }
        drop(told);
        is_over.store(true, Ordering::Relaxed);
        assert!(found.len() >= ROUNDS, "the host was held up");
        assert!(!found.concat().contains("SECRET"), "{:?}", found.concat());
        assert!(found.concat().contains("own"), "it was read in between");
    });
    fs::remove_file(root.join("AGENTS.md")).unwrap();
    write(&root.join("AGENTS.md"), "own");
    assert_eq!(documents(&root), [("AGENTS.md".to_owned(), "own".to_owned())]);
}

/// Returns what is told of the workspace, and what its instructions are over and over.
fn told_of(workspace: &Workspace, reads: usize) -> String {
    let found = super::super::collect(workspace, Vec::new(), super::super::ProfileKind::Anthropic);
    let place = FolderHandle::of(workspace);
    let texts: BTreeSet<_> = (0..reads).filter_map(|_| place.text("AGENTS.md")).collect();
    format!("{:?} {:?} {:?} {texts:?}\n", found.project_docs, found.nested_docs, found.git)
}
