//! The scanner of secrets over the repository's own texts: it leaves nearly all of them alone.
//! Tests that need a key put it together, so that other scanners find none here either.

use super::house::{root, walk};
use innerloop_core::secret::SecretScanner;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

/// Folders that hold what others wrote, or what was built.
const FOREIGN: [&str; 6] = ["target", "node_modules", "dist", ".git", ".venv", "__pycache__"];

/// The files in which the scanner finds something, each with the reason.
const TOUCHED: [(&str, &str); 3] = [
    ("host-native/host/src/local/machine/variables.rs", "addresses with a password, for its tests"),
    ("tests/tests/driver/origin.rs", "an address with a password, which is refused"),
    ("tests/tests/host/providers.rs", "an address with a password, which is told nowhere"),
];

/// One in so many files may be touched.
const FILES_PER_HIT: usize = 500;

#[test]
fn k16_ordinary_files_are_left_alone() {
    let (root, scanner) = (root(), SecretScanner::default());
    let mut files = 0;
    let mut touched = BTreeMap::new();
    for path in walk(&root, &FOREIGN) {
        // What is not text is not scanned in a session either.
        let Ok(text) = fs::read_to_string(&path) else { continue };
        files += 1;
        let mut kinds = Vec::new();
        let _masked = scanner.masked(&text, &mut kinds);
        if !kinds.is_empty() {
            let path = path.strip_prefix(&root).unwrap().to_str().unwrap();
            touched.insert(path.to_owned(), kinds);
        }
    }
    let expected = BTreeSet::from(TOUCHED.map(|(path, _)| path));
    assert_eq!(
        touched.keys().map(String::as_str).collect::<BTreeSet<_>>(),
        expected,
        "{touched:?}"
    );
    assert!(touched.len() * FILES_PER_HIT <= files, "{} of {files}", touched.len());
}
