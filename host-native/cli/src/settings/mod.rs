//! Settings: values in files and in the environment that need not be given as an option each time.
//! `docs/settings.md` lists them and their order of precedence. A project's file is the work of
//! others: it counts only when its user has trusted it. Of the agent it can only ask for less; its
//! hooks are commands on the user's machine, which are shown before.

mod edit;
mod hooks;
mod layer;
mod layers;
mod list;
mod project;
mod session;
mod settings_check;
mod table;
mod trust;
mod user;

pub(super) use list::carry_out;
pub(super) use session::{color, of_model, settle, trust_folder};
pub(super) use settings_check::standing;
