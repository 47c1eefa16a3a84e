//! Floor 1: plain data with public fields. What goes in, what comes out, what is remembered.

pub mod action;
pub mod compaction;
pub mod config;
pub mod event;
pub mod input;
pub(crate) mod limits;
pub mod media;
mod merge;
pub mod message;
pub(crate) mod model;
pub mod output;
pub(crate) mod patch;
pub mod preset;
pub mod status;
pub mod tool;
pub(crate) mod v4a;
