//! The terminal: an area below the scrolling lines that is redrawn in place, keys as they are
//! pressed, the line editor and its history. It knows nothing of sessions; `conversation` and
//! `transcript` use it.

mod history;
mod keyboard;
mod layout;
mod line;
mod screen;
mod size;

pub(super) use history::History;
pub(super) use keyboard::{KeyReader, Keyboard, is_stop_key, restore};
pub(super) use layout::{RowLayout, columns_of_line, laid_out};
pub(super) use line::LineBuffer;
pub(super) use screen::{HiddenArea, Screen, tell};
pub(super) use size::{columns, size};
