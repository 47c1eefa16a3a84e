//! Instruction files: where they are found, what a link counts as, and what is left out.

use super::{
    super::{ProfileKind, collect},
    fixture::{self, Folder, documents, facts, write},
};
use innerloop_workspace::Workspace;
use std::fs;

#[test]
fn e13_instructions_are_read_from_the_root_of_the_repository_down() {
    let folder = Folder::new("documents");
    folder.repository("project");
    for (path, text) in [
        ("AGENTS.md", "outside"),
        ("project/AGENTS.md", "root"),
        ("project/CLAUDE.md", "root of Claude"),
        ("project/GEMINI.md", "another family's"),
        ("project/web/AGENTS.md", "web"),
        ("project/web/app/CLAUDE.md", "app"),
        ("project/web/app/deeper/AGENTS.md", "below"),
    ] {
        write(&folder.path(path), text);
    }
    let expected = [
        ("../../AGENTS.md", "root"),
        ("../../CLAUDE.md", "root of Claude"),
        ("../AGENTS.md", "web"),
        ("CLAUDE.md", "app"),
    ];
    let expected = expected.map(|(path, text)| (path.to_owned(), text.to_owned()));
    assert_eq!(documents(&folder.path("project/web/app")), expected);
    let root = documents(&folder.path("project"));
    assert_eq!(root[0], ("AGENTS.md".to_owned(), "root".to_owned()));
    fs::remove_dir_all(folder.path("project/.git")).unwrap();
    let alone = documents(&folder.path("project/web/app"));
    assert_eq!(alone, [("CLAUDE.md".to_owned(), "app".to_owned())]);
}

#[test]
fn f1_tracked_instructions_of_folders_below_are_found() {
    let folder = Folder::new("nested-documents");
    let repository = folder.repository("project");
    let nested = |place: &str| {
        let found = facts(&folder.path(place)).nested_docs.into_iter();
        found.map(|doc| (doc.path, doc.text)).collect::<Vec<_>>()
    };
    let files = [
        ("AGENTS.md", "root"),
        ("web/a/AGENTS.md", "a"),
        ("web/Z/deep/CLAUDE.md", "deep"),
        ("web/Z/GEMINI.md", "another family's"),
        ("web/NOT-AGENTS.md", "none"),
        ("web/CLAUDE.md", "web"),
        ("gone/AGENTS.md", "gone"),
    ];
    for (path, text) in files {
        repository.file(path, text);
    }
    repository.add(&files);
    fs::remove_file(folder.path("project/gone/AGENTS.md")).unwrap();
    write(&folder.path("project/untracked/AGENTS.md"), "untracked");
    let own = |found: &[(&str, &str)]| -> Vec<(String, String)> {
        found.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    };
    let all =
        [("web/CLAUDE.md", "web"), ("web/Z/deep/CLAUDE.md", "deep"), ("web/a/AGENTS.md", "a")];
    assert_eq!(nested("project"), own(&all));
    assert_eq!(nested("project/web"), own(&[("Z/deep/CLAUDE.md", "deep"), ("a/AGENTS.md", "a")]));
}

#[test]
fn e13_instructions_are_found_in_deep_folders_worktrees_and_submodules() {
    let folder = Folder::new("document-places");
    let main = folder.repository("main");
    main.set("worktrees/one/HEAD", "ref: refs/heads/topic\n");
    main.set("worktrees/one/gitdir", &format!("{}\n", folder.path("one/.git").display()));
    let git = format!("gitdir: {}\n", folder.path("main/.git/worktrees/one").display());
    let deep = format!("one{}", "/deeper".repeat(50));
    for (path, text) in [
        ("one/.git", &*git),
        ("AGENTS.md", "of nobody"),
        ("main/AGENTS.md", "of the other worktree"),
        ("one/AGENTS.md", "of the worktree"),
        (&format!("{deep}/AGENTS.md"), "deep"),
        ("main/lib/AGENTS.md", "of the submodule"),
    ] {
        write(&folder.path(path), text);
    }
    let up = "../".repeat(50);
    let expected = [(format!("{up}AGENTS.md"), "of the worktree"), ("AGENTS.md".into(), "deep")];
    let expected = expected.map(|(path, text)| (path, text.to_owned()));
    assert_eq!(documents(&folder.path(&deep)), expected);

    let lib = fixture::Repository::init(folder.path("main/lib"), main.git.join("modules/lib"));
    lib.set("config", "[core]\n\tworktree = ../../../lib\n");
    write(&folder.path("main/lib/.git"), "gitdir: ../.git/modules/lib\n");
    write(&folder.path("main/lib/src/lib.rs"), "");
    let own = [("../AGENTS.md".to_owned(), "of the submodule".to_owned())];
    assert_eq!(documents(&folder.path("main/lib/src")), own);
}

#[test]
fn e13_a_link_to_a_file_of_the_repository_is_that_file() {
    let folder = Folder::new("linked-inside");
    let repository = folder.repository("project");
    write(&folder.path("project/notes/agents.md"), "of the notes");
    write(&folder.path("project/web/app/main.js"), "");
    for (target, place) in [
        ("notes/agents.md", "AGENTS.md"),
        ("AGENTS.md", "CLAUDE.md"),
        ("../notes", "web/.codex"),
        ("../../web/../notes/other.md", "web/app/CLAUDE.md"),
        (".git/config", "web/AGENTS.md"),
        ("loop.md", "web/CLAUDE.md"),
        ("CLAUDE.md", "web/loop.md"),
    ] {
        fixture::link(target, &folder.path("project").join(place));
    }
    write(&folder.path("project/notes/other.md"), "other");
    write(&folder.path("project/notes/instructions.md"), "codex");
    repository.set("config", "SECRET");
    let told = |place: &str, family| {
        let workspace = Workspace::open(folder.path(place)).unwrap();
        let found = collect(&workspace, Vec::new(), family).project_docs.into_iter();
        found.map(|doc| format!("{}: {}", doc.path, doc.text)).collect::<Vec<_>>()
    };
    let anthropic = ProfileKind::Anthropic;
    let app = told("project/web/app", anthropic);
    assert_eq!(app, ["../../AGENTS.md: of the notes", "CLAUDE.md: other"], "one file, one name");
    let web = told("project/web", ProfileKind::Openai);
    assert_eq!(web, ["../AGENTS.md: of the notes", ".codex/instructions.md: codex"]);
    fs::remove_dir_all(folder.path("project/.git")).unwrap();
    assert_eq!(told("project", anthropic), ["AGENTS.md: of the notes"]);
    assert_eq!(told("project/web/app", anthropic), [""; 0], "without a repository it is outside");
}

#[test]
fn e13_what_a_document_imports_stands_behind_it_as_far_as_it_is_in_the_repository() {
    let folder = Folder::new("imports");
    let repository = folder.repository("project");
    let claude = "See @notes/style.md, @../secret, @out.md, @.git/config and `@code.md`.";
    let files = [
        ("CLAUDE.md", claude),
        ("notes/style.md", "Tabs: @more.md"),
        ("notes/more.md", "More."),
        ("code.md", "CODE"),
        ("web/CLAUDE.md", "@../notes/more.md"),
    ];
    for (path, text) in files {
        repository.file(path, text);
    }
    repository.add(&files);
    repository.set("config", "SECRET");
    write(&folder.path("secret"), "SECRET");
    fixture::link("../secret", &folder.path("project/out.md"));
    let collected = |place: &str| {
        let workspace = Workspace::open(folder.path(place)).unwrap();
        collect(&workspace, Vec::new(), ProfileKind::Anthropic)
    };
    let style = "--- notes/style.md, imported by CLAUDE.md ---\nTabs: @more.md";
    let more = "--- notes/more.md, imported by notes/style.md ---\nMore.";
    let found = collected("project");
    assert_eq!(found.project_docs[0].text, format!("{claude}\n\n{style}\n\n{more}"));
    let nested = "@../notes/more.md\n\n--- notes/more.md, imported by web/CLAUDE.md ---\nMore.";
    assert_eq!(found.nested_docs[0].text, nested);
    // The same from a folder of the repository.
    let web = collected("project/web").project_docs;
    let paths: Vec<&str> = web.iter().map(|doc| doc.path.as_str()).collect();
    assert_eq!(paths, ["../CLAUDE.md", "CLAUDE.md"]);
    assert!(web[0].text.contains(more) && web[1].text == nested, "{web:?}");
}

#[test]
fn f1_tracked_instructions_may_be_links_inside_the_repository() {
    let folder = Folder::new("linked-nested");
    let repository = folder.repository("project");
    let files = [("web/AGENTS.md", "web"), ("web/CLAUDE.md", "x"), ("api/CLAUDE.md", "x")];
    for (path, text) in files {
        repository.file(path, text);
    }
    repository.add(&files);
    for path in ["web/CLAUDE.md", "api/CLAUDE.md"] {
        fs::remove_file(folder.path("project").join(path)).unwrap();
    }
    fixture::link("AGENTS.md", &folder.path("project/web/CLAUDE.md"));
    fixture::link("../../secret", &folder.path("project/api/CLAUDE.md"));
    write(&folder.path("secret"), "SECRET");
    let found = facts(&folder.path("project")).nested_docs.into_iter();
    let found: Vec<String> = found.map(|doc| doc.path + ": " + &doc.text).collect();
    assert_eq!(found, ["web/AGENTS.md: web"]);
}

#[test]
fn e13_what_the_prompt_has_no_room_for_can_be_told() {
    let folder = Folder::new("documents-too-long");
    folder.repository("project");
    write(&folder.path("project/AGENTS.md"), &"a\n".repeat(10_000));
    write(&folder.path("project/CLAUDE.md"), &"b\n".repeat(10_000));
    write(&folder.path("project/web/AGENTS.md"), "of the web");
    let found = facts(&folder.path("project/web"));
    let cut: Vec<&str> = innerloop_core::cut_docs(&found).map(|doc| doc.path.as_str()).collect();
    assert_eq!(cut, ["../CLAUDE.md", "AGENTS.md"]);
    write(&folder.path("small/AGENTS.md"), "a");
    assert_eq!(innerloop_core::cut_docs(&facts(&folder.path("small"))).count(), 0);
}

#[test]
fn e13_a_link_that_leads_outside_is_no_instruction_file() {
    let folder = Folder::new("linked-documents");
    folder.repository("project");
    write(&folder.path("secret/instructions.md"), "outside");
    write(&folder.path("project/web/main.js"), "");
    let absolute = folder.path("secret/instructions.md");
    fixture::link(&absolute, &folder.path("project/AGENTS.md"));
    fixture::link("../secret/instructions.md", &folder.path("project/CLAUDE.md"));
    fixture::link("../../secret/instructions.md", &folder.path("project/web/CLAUDE.md"));
    fixture::link(folder.path("secret"), &folder.path("project/web/.codex"));
    let workspace = Workspace::open(folder.path("project/web")).unwrap();
    let collect = |family| collect(&workspace, Vec::new(), family);
    for family in [ProfileKind::Anthropic, ProfileKind::Openai] {
        assert_eq!(collect(family).project_docs, []);
    }
}
