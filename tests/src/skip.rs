//! What a test could not look at on this machine. It is said at once, also where the output of
//! tests that pass is not shown, and `cargo xtask` says it again at its end.

use std::{
    env,
    fs::OpenOptions,
    io::{Write as _, stderr},
    thread,
};

/// Names the file in which `cargo xtask` wants to have it, too.
const FILE: &str = "INNERLOOP_SKIPPED";

/// Tells that the test on this thread skips a part of what it looks at, and why.
///
/// # Panics
/// The file that the environment names cannot be written.
pub fn skip(part: &str, why: &str) {
    let thread = thread::current();
    let test = thread.name().unwrap_or("a test");
    let line = format!("SKIPPED {test}, {part}: {}\n", why.replace('\n', " "));
    let _ = stderr().write_all(line.as_bytes());
    if let Some(file) = env::var_os(FILE) {
        // In one piece, since other tests write there, too.
        let mut file = OpenOptions::new().create(true).append(true).open(file).unwrap();
        file.write_all(line.as_bytes()).unwrap();
    }
}
