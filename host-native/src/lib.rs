//! The native host: it carries out what the core asks for. Model traffic goes through reqwest,
//! tools run in a wasmtime sandbox, and the program `innerloop` is built from it.

pub mod diff;
pub mod endpoints;
pub mod facts;
pub mod http;
pub mod secret;
