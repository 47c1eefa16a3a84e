//! Tests of the native host: the sandbox, the driver, the program.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that fails this way says where"
)]

mod commands;
mod config;
mod decode;
mod endings;
mod environment;
mod errors;
mod faults;
mod flow;
mod functions;
mod http;
mod install;
mod local;
mod modules;
mod parity;
mod people;
mod providers;
mod readme;
mod replay;
mod resumed;
mod review;
mod run;
mod sandbox;
mod secrets;
mod smoke;
mod startup;
mod web;
