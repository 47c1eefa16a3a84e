//! Tests of the store: what it lists, finds and removes, whatever was left in it.

use super::*;
use crate::sessions::{
    session_facts::SessionOptions,
    stored_session::{ABOUT, OVERLAY, VIEW},
};
use std::fs::{File, FileTimes};
use tempfile::TempDir;

fn about(id: &str) -> SessionInfo {
    SessionInfo {
        id: id.to_owned(),
        opened: 1,
        title: "title".to_owned(),
        workspace: "/srv/p".into(),
        provider: "anthropic".to_owned(),
        model: "some".to_owned(),
        fork_of: None,
        dropped: false,
        options: SessionOptions::default(),
    }
}

/// Returns a store with a session.
fn store() -> (TempDir, SessionStore, StoredSession) {
    let dir = TempDir::new().unwrap();
    let store = SessionStore(dir.path().join("sessions"));
    let held = store.create(about("0123456789")).unwrap();
    fs::write(held.kept.log_path(), "{}\n").unwrap();
    drop(held);
    let kept = store.find("0123", Path::new(".")).unwrap();
    (dir, store, kept)
}

#[test]
fn what_was_written_meanwhile_is_read_with_the_lock() {
    let (_dir, store, kept) = store();
    let (early, late) = (kept.clone(), kept.clone());
    let mut held = early.hold().unwrap();
    assert!(late.hold().unwrap_err().message.contains("another innerloop works with"));
    held.note_dropped(true);
    drop(held);
    let held = kept.clone().hold().unwrap();
    assert!(held.has_dropped());
    held.delete().unwrap();
    assert!(kept.hold().unwrap_err().message.contains("was deleted meanwhile"));
    assert_eq!(fs::read_dir(&store.0).unwrap().count(), 0);
}

#[test]
fn a_damaged_session_is_listed_and_becomes_whole_or_goes() {
    let (_dir, store, kept) = store();
    let path = kept.folder.join(ABOUT);
    for text in ["", "{\"id\":\"01", "[]", "{\"id\":\"other\"}"] {
        fs::write(&path, text).unwrap();
        let all = store.list().unwrap();
        assert!(matches!(&*all, [ListedSession::Damaged(it)] if it.id == "0123456789"), "{all:?}");
        let failure = store.find("0123456", Path::new(".")).unwrap_err();
        let log = kept.log_path();
        assert!(failure.message.contains(&format!("innerloop resume {}", log.display())));
    }
    let held = store.create(about("0123456789")).unwrap();
    assert!(store.create(about("0123456789")).is_err(), "somebody works with it");
    drop(held);
    let again = store.create(about("0123456789")).unwrap_err();
    assert!(again.message.contains("is kept already"), "{again}");
    fs::remove_file(&path).unwrap();
    assert!(matches!(&*store.list().unwrap(), [ListedSession::Damaged(_)]));
    store.find_any("0", Path::new(".")).unwrap().delete().unwrap();
    assert!(store.list().unwrap().is_empty());
}

#[test]
fn a_folder_that_cannot_be_read_is_no_folder_without_sessions() {
    let (_dir, store, _kept) = store();
    let place = store.0.join("a file");
    assert!(SessionStore(place.clone()).list().unwrap().is_empty(), "it is not there yet");
    fs::write(&place, "").unwrap();
    let failure = SessionStore(place.clone()).list().unwrap_err();
    assert!(failure.message.starts_with(&format!("cannot read {}", place.display())), "{failure}");
    assert!(SessionStore(place).find("last", Path::new(".")).is_err());
}

#[test]
fn options_of_another_version_are_no_damage() {
    let (_dir, store, kept) = store();
    let text = r#"{"id":"0123456789","workspace":"/srv/p","provider":"openai","new":1,
        "options":{"mode":"apply","environment":{"set_env":["KEY=secret","OTHER"]},"more":{}}}"#;
    fs::write(kept.folder.join(ABOUT), text).unwrap();
    let found = store.find("0", Path::new(".")).unwrap();
    assert_eq!(found.about.options.environment.set_env, ["KEY", "OTHER"]);
    assert_eq!(found.about.options.mode, crate::mode::ChangeMode::Apply);
}

#[test]
fn what_a_killed_program_has_left_is_swept() {
    let (_dir, store, kept) = store();
    let folder = |name: &str| {
        let folder = store.0.join(name);
        fs::create_dir_all(folder.join("overlay")).unwrap();
        folder
    };
    let (deleted, begun, old) = (folder(".deleted-1"), folder("2"), folder("3"));
    let hour_ago = SystemTime::now() - LEFT - Duration::from_secs(1);
    let long_ago = FileTimes::new().set_modified(hour_ago);
    File::open(&old).unwrap().set_times(long_ago).unwrap();
    let changed = folder("4");
    fs::write(changed.join(OVERLAY).join(VIEW), "{}").unwrap();
    File::open(&changed).unwrap().set_times(long_ago).unwrap();
    assert_eq!(store.list().unwrap().len(), 2, "the kept one, and what was changed without a log");
    store.sweep();
    assert!(!deleted.exists() && !old.exists());
    assert!(begun.exists() && changed.exists() && kept.folder.exists());
}

#[test]
fn no_two_ids_are_the_same() {
    let (one, other) = (new_id().unwrap(), new_id().unwrap());
    assert_ne!(one, other);
    assert!(one.0.len() == 32 && one.0.bytes().all(|byte| byte.is_ascii_hexdigit()));
}
