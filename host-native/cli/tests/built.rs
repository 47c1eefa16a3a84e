//! The program is there and says what it is. With this test cargo builds the program before any
//! test of the workspace runs; those of the crate `innerloop-tests` start it as a child process.
#![allow(clippy::unwrap_used, reason = "a test that fails this way says where")]

use std::process::Command;

#[test]
fn the_program_says_its_version() {
    let output = Command::new(env!("CARGO_BIN_EXE_innerloop")).arg("--version").output().unwrap();
    let version = concat!("innerloop ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), version);
}
