//! The native host: it carries out what the core asks for. Model traffic goes through reqwest,
//! tools run in a wasmtime sandbox, and the program `innerloop` is built from it.

mod answering;
pub mod cli;
pub mod diff;
pub mod facts;
pub mod host;
pub mod http;
pub mod journal;
pub mod recording;
pub mod sandbox;
pub mod tools;

pub use sandbox::programs;
