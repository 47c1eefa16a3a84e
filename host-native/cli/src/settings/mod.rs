//! Settings: what stands in files and in the environment, so that it need not be said as an option
//! each time. `docs/settings.md` says which there are and which come first.

mod edit;
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
