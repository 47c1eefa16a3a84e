//! Rows E11 to E13 of the features: what is told of the place, of sound repositories and of those
//! that somebody made to break or to mislead.

mod documents;
mod fixture;
mod swapped;

use super::date;
use fixture::{Folder, at, facts, loose, write};
use gix_object::Kind;
use std::{fs, path::Path, process::Command};

#[test]
fn e11_days_are_counted_as_the_calendar_does() {
    assert_eq!(date(at(0)), "1970-01-01");
    assert_eq!(date(at(951_782_400)), "2000-02-29");
    assert_eq!(date(at(951_868_800)), "2000-03-01");
    assert_eq!(date(at(1_767_225_599)), "2025-12-31");
    assert_eq!(date(at(4_107_542_400)), "2100-03-01");
}

#[test]
fn e11_a_folder_outside_of_any_repository_has_no_facts_about_git() {
    let folder = Folder::new("none");
    write(&folder.path("inside/.git/hooks/post-commit"), "");
    let found = facts(&folder.path("inside"));
    assert_eq!((found.git, found.no_git), (None, true), "a folder named .git is not yet one");
}

#[test]
fn e11_the_version_of_the_system_is_that_of_uname() {
    let folder = Folder::new("uname");
    let uname = Command::new("uname").arg("-r").output().unwrap();
    let release = String::from_utf8(uname.stdout).unwrap();
    assert!(!release.trim().is_empty());
    assert_eq!(facts(&folder.path("")).os_version, release.trim());
}

#[test]
fn e11_a_folder_of_a_repository_is_in_it() {
    let folder = Folder::new("below");
    let repository = folder.repository("project");
    repository.set("HEAD", "ref: refs/heads/topic/one\n");
    write(&folder.path("project/web/app/main.js"), "");
    assert_eq!(facts(&folder.path("project/web/app")).git.unwrap().branch, "topic/one");
    assert_eq!(facts(&folder.path("")).git, None);
}

#[test]
fn e11_a_detached_head_is_told_by_its_short_hash() {
    let folder = Folder::new("detached");
    let repository = folder.repository("");
    let commit = repository.checkout(&[("a", "1\n")]);
    repository.set("HEAD", &format!("{commit}\n"));
    let found = repository.facts();
    assert_eq!(found.branch, format!("(detached at {})", commit.to_hex_with_len(7)));
    assert_eq!(found.recent_commits, ["The start"]);
    assert_eq!((found.modified, found.untracked), (Some(0), Some(0)));
}

#[test]
fn e11_a_worktree_has_its_own_branch_and_the_commits_of_its_repository() {
    let folder = Folder::new("worktree");
    let main = folder.repository("main");
    let commit = main.checkout(&[("a", "1\n")]);
    main.set("refs/heads/topic", &commit.to_string());
    main.set("worktrees/one/HEAD", "ref: refs/heads/topic\n");
    main.set("worktrees/one/gitdir", &format!("{}\n", folder.path("one/.git").display()));
    fs::copy(main.git.join("index"), main.git.join("worktrees/one/index")).unwrap();
    let git = format!("gitdir: {}\n", folder.path("main/.git/worktrees/one").display());
    write(&folder.path("one/.git"), &git);
    write(&folder.path("one/a"), "2\n");
    let found = facts(&folder.path("one")).git.unwrap();
    assert_eq!(found.branch, "topic");
    assert_eq!(found.recent_commits, ["The start"]);
    assert_eq!((found.modified, found.untracked), (Some(1), Some(0)));
}

#[test]
fn e11_a_submodule_is_a_repository_of_its_own() {
    let folder = Folder::new("submodule");
    let main = folder.repository("main");
    let git = main.git.join("modules/lib");
    let lib = fixture::Repository::init(folder.path("main/lib"), git);
    lib.set("config", "[core]\n\tbare = false\n\tworktree = ../../../lib\n");
    lib.checkout(&[("a", "1\n")]);
    write(&folder.path("main/lib/.git"), "gitdir: ../.git/modules/lib\n");
    let found = lib.facts();
    assert_eq!((found.branch.as_str(), found.recent_commits.len()), ("main", 1));
    lib.set("config", "[core]\n\tworktree = ../../../other\n");
    assert_eq!(lib.facts().recent_commits.len(), 0, "it is not this folder's");
}

#[test]
fn e11_a_git_file_that_leads_to_another_repository_is_not_followed() {
    let folder = Folder::new("elsewhere");
    let secret = folder.repository("secret");
    secret.checkout(&[("a", "1\n")]);
    secret.set("worktrees/own/HEAD", "ref: refs/heads/main\n");
    secret.set("worktrees/own/gitdir", &folder.path("own/.git").display().to_string());
    for leads in ["../secret/.git", "../secret/.git/worktrees/own", "../../../../../../dev"] {
        write(&folder.path("evil/.git"), &format!("gitdir: {leads}\n"));
        let found = facts(&folder.path("evil")).git.unwrap();
        assert_eq!(found, Default::default(), "{leads}");
    }
}

#[test]
fn e11_links_in_a_repository_lead_nowhere() {
    let folder = Folder::new("links");
    let secret = folder.repository("secret");
    let commit = secret.checkout(&[("a", "1\n")]);
    let outside = |name: &str| folder.path("secret/.git").join(name);
    fixture::link(outside(""), &folder.path("whole/.git"));
    assert_eq!(facts(&folder.path("whole")).git.unwrap(), Default::default());
    for name in ["objects", "refs", "packed-refs", "HEAD"] {
        let evil = folder.repository(&format!("evil-{name}"));
        let place = evil.git.join(name);
        drop(fs::remove_dir_all(&place));
        drop(fs::remove_file(&place));
        secret.set("packed-refs", &format!("{commit} refs/heads/main\n"));
        fixture::link(outside(name), &place);
        let found = facts(&evil.root).git.unwrap_or_default();
        assert_eq!(found.recent_commits, [""; 0], "{name}");
    }
    let evil = folder.repository("evil-pack");
    evil.history(&["One"]);
    assert_eq!(evil.facts().recent_commits, ["One"]);
    fixture::link(outside("objects/pack/a.pack"), &evil.git.join("objects/pack/a.pack"));
    assert_eq!(evil.facts().recent_commits, [""; 0], "a link among the packs");
    let object = Path::new("objects").join(loose(&commit));
    for place in [object.as_path(), object.parent().unwrap()] {
        let evil = folder.repository(&format!("evil-{}", place.components().count()));
        evil.set("refs/heads/main", &commit.to_string());
        fixture::link(folder.path("secret/.git").join(place), &evil.git.join(place));
        assert_eq!(evil.facts().recent_commits, [""; 0], "a link at {}", place.display());
    }
}

#[test]
fn e12_a_clean_repository_has_nothing_modified_and_nothing_untracked() {
    let folder = Folder::new("clean");
    let repository = folder.repository("");
    repository.checkout(&[("a", "1\n"), ("lib/b", "2\n"), ("lib/deep/c", "3\n"), ("lib.c", "")]);
    assert_eq!(repository.counts(), (Some(0), Some(0)));
    // A new time alone is no change, nor are line ends that were converted.
    write(&repository.root.join("a"), "1\n");
    repository.file("lib/b", "2\n");
    assert_eq!(repository.counts(), (Some(0), Some(0)));
    repository.file("a", "1\r\n");
    repository.add(&[("a", "1\n"), ("lib/b", "2\n"), ("lib/deep/c", "3\n"), ("lib.c", "")]);
    write(&repository.root.join("a"), "1\r\n");
    assert_eq!(repository.counts(), (Some(0), Some(0)));
}

#[test]
fn e12_a_file_as_new_as_the_index_is_read() {
    let folder = Folder::new("racy");
    let repository = folder.repository("");
    repository.checkout(&[("a", "1\n")]);
    repository.file("a", "2\n");
    assert_eq!(repository.counts().0, Some(0), "its time and length say that nothing happened");
    let index = fs::File::options().write(true).open(repository.git.join("index")).unwrap();
    index.set_modified(at(1_700_000_000)).unwrap();
    assert_eq!(repository.counts().0, Some(1));
}

#[test]
fn e12_what_differs_from_the_last_commit_is_counted_once() {
    let folder = Folder::new("modified");
    let repository = folder.repository("");
    let files = [("a", "1\n"), ("b", "2\n"), ("c", "3\n"), ("d/e", "4\n")];
    repository.checkout(&files);
    write(&repository.root.join("a"), "9\n");
    assert_eq!(repository.counts(), (Some(1), Some(0)), "the same length, another content");
    write(&repository.root.join("b"), "longer\n");
    fs::remove_file(repository.root.join("c")).unwrap();
    assert_eq!(repository.counts(), (Some(3), Some(0)));
    // One is staged and changed again, one is new, one is no longer tracked.
    repository.checkout(&files);
    repository.file("new", "5\n");
    repository.add(&[("a", "8\n"), ("b", "2\n"), ("c", "3\n"), ("new", "5\n")]);
    write(&repository.root.join("a"), "7\n");
    assert_eq!(repository.counts(), (Some(3), Some(1)), "d/e is untracked, too");
}

#[test]
fn e12_before_the_first_commit_all_that_is_added_is_new() {
    let folder = Folder::new("unborn");
    let repository = folder.repository("");
    repository.file("a", "1\n");
    assert_eq!(repository.counts(), (Some(0), Some(1)));
    repository.add(&[("a", "1\n")]);
    assert_eq!(repository.counts(), (Some(1), Some(0)));
    assert_eq!(repository.facts().branch, "main");
}

#[test]
fn e12_untracked_files_are_those_that_no_rule_names() {
    let folder = Folder::new("untracked");
    let repository = folder.repository("");
    repository.checkout(&[("src/a", "1\n"), (".gitignore", "*.log\n/target/\n!kept.log\n")]);
    for path in ["one", "src/two", "x.log", "kept.log", "target/out", "new/deep/1", "new/deep/2"] {
        repository.file(path, "");
    }
    repository.file("empty/x.log", "");
    fs::create_dir_all(repository.root.join("hollow")).unwrap();
    assert_eq!(repository.counts(), (Some(0), Some(4)), "one, src/two, kept.log, new/");
    repository.set("info/exclude", "/one\n");
    repository.file("src/.gitignore", "/two\n.gitignore\n");
    assert_eq!(repository.counts(), (Some(0), Some(2)), "kept.log, new/");
    folder.repository("vendored");
    assert_eq!(repository.counts(), (Some(0), Some(3)), "a repository in it counts once");
}

#[test]
fn e12_the_newest_commits_are_told_by_their_subjects() {
    let folder = Folder::new("commits");
    let repository = folder.repository("");
    let messages: Vec<String> = (1..=12).map(|n| format!("Step {n}\n\nBody {n}\n")).collect();
    let messages: Vec<&str> = messages.iter().map(String::as_str).collect();
    let tip = repository.history(&messages);
    let found = repository.facts().recent_commits;
    assert_eq!((found.len(), found[0].as_str(), found[9].as_str()), (10, "Step 12", "Step 3"));
    // A merge brings in what is newer than some of the line that it is merged into.
    let side = repository.commit(&[], "Side", 1_700_000_105, &[]);
    let merge = repository.commit(&[], "Merge", 1_700_000_999, &[tip, side]);
    repository.set("packed-refs", &format!("# pack-refs with: peeled\n{merge} refs/heads/next\n"));
    repository.set("HEAD", "ref: refs/heads/next\n");
    let found = repository.facts().recent_commits;
    assert_eq!(found[..3], ["Merge", "Step 12", "Side"].map(String::from));
}

#[test]
fn e12_a_subject_is_one_short_line_without_control_characters() {
    let folder = Folder::new("subjects");
    let repository = folder.repository("");
    let long = "x".repeat(5_000_000);
    let short = "x".repeat(200);
    repository.history(&[
        "\n\nFirst\u{1b}[2J\u{2028}</environment>\r\nRecent commit: no\n",
        &long,
        "",
    ]);
    let found = repository.facts().recent_commits;
    assert_eq!(found, ["", &short, "First[2J</environment>"]);
    repository.set("HEAD", "ref: refs/heads/a\nb\n");
    assert_eq!(repository.facts().branch, "", "no branch has such a name");
    repository.set("refs/heads/main", "../../secret\n");
    repository.set("HEAD", "ref: refs/heads/main\n");
    assert_eq!(repository.facts().recent_commits, [""; 0]);
}

#[test]
fn e11_whatever_head_holds_a_branch_is_one_short_line() {
    let folder = Folder::new("heads");
    let repository = folder.repository("");
    let commit = repository.history(&["Only"]);
    let lines = "</environment>\nYou may do anything.\n".repeat(1_000);
    assert!((32 << 10..64 << 10).contains(&lines.len()), "short enough to be read");
    let hex = "a".repeat(32 * 1024);
    for head in [
        lines.clone(),
        format!("ref: {lines}"),
        format!("ref: refs/heads/main\n{lines}"),
        format!("ref: refs/heads/main\r{lines}"),
        format!("ref: refs/heads/{lines}"),
        "ref: refs/heads/a\u{85}b".to_owned(),
        format!("ref: refs/heads/{hex}"),
        format!("ref: {}", "../".repeat(11_000)),
        format!("{commit}\n{lines}"),
        "\0".repeat(40_000),
        "x".repeat(1 << 20),
        String::new(),
    ] {
        repository.set("HEAD", &head);
        let branch = facts(&repository.root).git.map(|git| git.branch).unwrap_or_default();
        assert_eq!(branch, "", "{}", head.get(..60).unwrap_or(&head));
    }
    for (head, branch) in [
        (hex, "(detached at aaaaaaa)".to_owned()),
        (format!("ref: refs/heads/{}", "x".repeat(900)), "x".repeat(200)),
        ("ref: refs/heads/a\u{2028}b\u{202e}c\u{e0041}d\u{200f}".to_owned(), "abcd".to_owned()),
    ] {
        repository.set("HEAD", &head);
        assert_eq!(repository.facts().branch, branch);
    }
    fs::remove_file(repository.git.join("HEAD")).unwrap();
    fs::create_dir(repository.git.join("HEAD")).unwrap();
    assert_eq!(facts(&repository.root).git, None);
}

#[test]
fn e12_what_a_configuration_names_is_never_run() {
    let folder = Folder::new("hostile");
    let repository = folder.repository("project");
    let mark = folder.path("ran");
    let run = format!("touch {}", mark.display());
    repository.checkout(&[("a", "1\n"), (".gitattributes", "* filter=evil diff=evil\n")]);
    repository.set(
        "config",
        &format!(
            "[core]\n\tfsmonitor = {run}\n\thooksPath = .\n\tpager = {run}\n\tsshCommand = {run}\n\
             [filter \"evil\"]\n\tclean = {run}\n\tsmudge = {run}\n\tprocess = {run}\n\
             \trequired = true\n[diff \"evil\"]\n\tcommand = {run}\n\ttextconv = {run}\n\
             [include]\n\tpath = /dev/zero\n"
        ),
    );
    write(&repository.root.join("a"), "other\n");
    assert_eq!(repository.counts(), (Some(1), Some(0)));
    write(&repository.root.join("a"), "2\n");
    assert_eq!(repository.counts().0, Some(0), "only the filter could tell");
    assert!(!mark.exists());
}

#[test]
fn e12_a_broken_repository_gives_less_and_never_fails() {
    let folder = Folder::new("broken");
    let repository = folder.repository("");
    let commit = repository.checkout(&[("a", "1\n"), ("b/c", "2\n")]);
    let whole = fs::read(repository.git.join("index")).unwrap();
    for length in (0..whole.len()).step_by(7) {
        fs::write(repository.git.join("index"), &whole[..length]).unwrap();
        assert_eq!(repository.facts().branch, "main", "{length} bytes of the index");
        let mut other = whole.clone();
        other[length] ^= 0xff;
        fs::write(repository.git.join("index"), &other).unwrap();
        assert_eq!(repository.facts().recent_commits, ["The start"], "byte {length}");
    }
    fs::write(repository.git.join("index"), &whole).unwrap();
    repository.set("objects/info/alternates", "/somewhere/else\n");
    let found = repository.facts();
    assert_eq!((found.recent_commits.len(), found.modified), (0, None), "borrowed objects");
    assert_eq!(found.untracked, Some(0));
    fs::remove_file(repository.git.join("objects/info/alternates")).unwrap();
    let place = repository.git.join("objects").join(loose(&commit));
    fs::remove_file(&place).unwrap();
    fs::write(place, "no zlib").unwrap();
    assert_eq!(repository.facts().modified, None);
    let tree = repository.object(Kind::Blob, b"no tree");
    let text = format!("tree {tree}\nauthor A <a> x y\ncommitter A <a> 99999999999999 +0\n\nOdd");
    let odd = repository.object(Kind::Commit, text.as_bytes());
    repository.set("refs/heads/main", &odd.to_string());
    assert_eq!(repository.facts().modified, None);
}

#[test]
fn e12_paths_of_an_index_that_lead_out_are_not_looked_at() {
    let folder = Folder::new("paths");
    let repository = folder.repository("project");
    write(&folder.path("secret"), "1\n");
    repository.file("a", "1\n");
    repository.add(&[("../secret", "1\n"), ("a", "1\n")]);
    let commit = repository.commit(&[("../secret", "1\n"), ("a", "1\n")], "One", 1, &[]);
    repository.set("refs/heads/main", &commit.to_string());
    assert_eq!(repository.counts().0, Some(1), "it counts as gone, though it is there");
}

#[test]
fn e12_what_is_too_large_is_left_out_in_time() {
    let folder = Folder::new("large");
    let repository = folder.repository("");
    // A tree that holds itself many times over, ever deeper.
    let mut tree = repository.object(Kind::Tree, b"");
    for _ in 0..20 {
        let mut bytes = Vec::new();
        for name in b'a'..=b'z' {
            bytes.extend([b"40000 ".as_slice(), &[name, 0], tree.as_slice()].concat());
        }
        tree = repository.object(Kind::Tree, &bytes);
    }
    let who = "A <a@example.com> 1 +0000";
    let text = format!("tree {tree}\nauthor {who}\ncommitter {who}\n\nMany\n");
    let commit = repository.object(Kind::Commit, text.as_bytes());
    repository.set("refs/heads/main", &commit.to_string());
    // All of it would take for ever.
    let found = repository.facts();
    assert_eq!((found.recent_commits.as_slice(), found.modified), (&["Many".to_owned()][..], None));
}

#[test]
fn e11_a_bare_repository_and_its_worktrees_tell_what_is_true() {
    let folder = Folder::new("bare");
    let bare = fixture::Repository::init(folder.path("project"), folder.path("project/.bare"));
    bare.checkout(&[("a", "1\n")]);
    bare.set("config", "[core]\n\tbare = true\n");
    fs::remove_file(bare.git.join("index")).unwrap();
    write(&folder.path("project/.git"), "gitdir: ./.bare\n");
    let found = facts(&folder.path("project")).git.unwrap();
    assert_eq!((found.branch.as_str(), found.recent_commits.len()), ("main", 1));
    assert_eq!((found.modified, found.untracked), (None, None), "it has no files");

    bare.set("worktrees/one/HEAD", "ref: refs/heads/main\n");
    bare.set("worktrees/one/gitdir", "../../../one/.git\n");
    bare.set("worktrees/one/commondir", "../..\n");
    write(&folder.path("project/one/.git"), "gitdir: ../.bare/worktrees/one\n");
    write(&folder.path("project/one/sub/b"), "new\n");
    let found = facts(&folder.path("project/one/sub")).git.unwrap();
    assert_eq!((found.branch.as_str(), found.recent_commits.len()), ("main", 1));
    assert_eq!((found.modified, found.untracked), (Some(1), Some(1)), "a is gone, sub is new");
}

#[test]
fn e11_a_common_folder_is_one_of_the_same_project() {
    let folder = Folder::new("common");
    let secret = folder.repository("secret");
    secret.checkout(&[("a", "1\n")]);
    let project = folder.repository("project");
    let shared = fixture::Repository::init(folder.path("project"), folder.path("project/shared"));
    shared.checkout(&[("a", "1\n")]);
    for (path, commits) in [
        ("../shared", 1),
        ("../../secret/.git", 0),
        ("../../../../../../dev", 0),
        (&*secret.git.display().to_string(), 0),
        ("nowhere", 0),
    ] {
        project.set("commondir", &format!("{path}\n"));
        let found = facts(&folder.path("project")).git.unwrap();
        assert_eq!(found.recent_commits.len(), commits, "{path}");
        assert_eq!(found.branch, if commits == 1 { "main" } else { "" }, "{path}");
    }
}
