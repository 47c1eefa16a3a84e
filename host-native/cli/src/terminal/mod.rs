//! The terminal as a place where something is shown and typed at the same time: an area below the
//! lines that scroll away, keys as they are pressed, and a text that is edited.

mod history;
mod keyboard;
mod layout;
mod line;
mod screen;
mod size;

pub(super) use history::History;
pub(super) use keyboard::{KeyReader, Keyboard, restore};
pub(super) use layout::{RowLayout, columns_of_line, laid_out};
pub(super) use line::LineBuffer;
pub(super) use screen::{HiddenArea, Screen, tell};
pub(super) use size::{columns, size};
