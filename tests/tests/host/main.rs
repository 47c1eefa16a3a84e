//! Tests of the native host: the sandbox, the driver, the program.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that fails this way says where"
)]

mod agents;
mod alone;
mod approvals;
mod automation;
mod bad_arguments;
mod clang;
mod commands;
mod config;
mod context;
mod conversation;
mod corrections;
mod decode;
mod endings;
mod environment;
mod errors;
mod faults;
mod flow;
mod full_disks;
mod functions;
mod hooks;
mod http;
mod install;
mod kept;
mod kills;
mod local;
mod login;
mod manifest;
mod modules;
mod parity;
mod people;
mod pictures;
mod providers;
mod python;
mod readme;
mod replay;
mod resumed;
mod review;
mod routing;
mod run;
mod rust;
mod sandbox;
mod secrets;
mod seeing;
mod sessions;
mod settings;
mod skills;
mod smoke;
mod startup;
mod tools;
mod tools_shown;
mod web;

use innerloop_sandbox::{EngineOptions, SandboxEngine};
use innerloop_tests::program::binary;
use std::sync::{Arc, OnceLock};

/// An engine for all tests that need no cache of their own.
fn sandbox_engine() -> Arc<SandboxEngine> {
    static ENGINE: OnceLock<Arc<SandboxEngine>> = OnceLock::new();
    let engine = ENGINE.get_or_init(|| {
        let cache = binary().with_file_name("innerloop-test-cache");
        let compiler = Some(innerloop_tests::program::binary().to_owned());
        SandboxEngine::new(EngineOptions {
            cache_dir: Some(cache),
            compiler,
            ..EngineOptions::default()
        })
    });
    Arc::clone(engine)
}
