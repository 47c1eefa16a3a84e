//! The header of a session, the first line on a terminal: the model, the preset, the folder, what
//! becomes of changes, and the limits.

use super::{
    review::ChangeMode, session_setup::ActiveSession, sessions::LockedSession, style::harmless,
};
use innerloop_core::{config::AskAbout, json::to_string, text::counted};
use innerloop_host::facts::skill_files;
use std::env;

/// Returns the header of a session.
pub(super) fn of(work: &ActiveSession) -> String {
    let config = work.host.driver().session().config();
    let changes = match work.mode {
        _ if work.reads_only => "only reads",
        ChangeMode::InPlace => "changes the folder itself",
        ChangeMode::Apply => "changes are applied at the end",
        ChangeMode::Ask => "changes are shown and asked about",
        ChangeMode::Show => "changes are only shown",
    };
    let asks = Some(config.approval.ask).filter(|ask| *ask != AskAbout::Nothing).map(asks);
    let limits = &config.limits;
    let rounds = (limits.max_tool_rounds_per_input > 0)
        .then(|| format!("{} rounds", limits.max_tool_rounds_per_input));
    let turns = (limits.max_turns > 0).then(|| format!("{} turns", limits.max_turns));
    let session = work.held.as_ref().map(|held| format!("session {}", LockedSession::short(held)));
    let skills = skill_files::lines(config);
    let words = [
        Some(format!("{} ({})", harmless(&config.model.name), work.provider.name)),
        work.preset.map(|preset| format!("preset {}", to_string(&preset).trim_matches('"'))),
        Some(folder(work)),
        Some(changes.to_owned()),
        asks.map(str::to_owned),
        rounds,
        turns,
        (!skills.is_empty()).then(|| counted(skills.len() as u64, "skill")),
        session,
    ];
    words.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// Returns the calls that need a yes, in words.
pub(super) const fn asks(about: AskAbout) -> &'static str {
    match about {
        AskAbout::Nothing => "no call needs a yes",
        AskAbout::Programs => "programs need a yes",
        AskAbout::Changes => "changes and programs need a yes",
        AskAbout::Everything => "all calls need a yes",
    }
}

/// Returns the folder, with `~` for the home folder.
fn folder(work: &ActiveSession) -> String {
    let root = work.workspace.root();
    let below =
        env::home_dir().and_then(|home| root.strip_prefix(home).ok().map(ToOwned::to_owned));
    let path = match below {
        Some(below) if below.as_os_str().is_empty() => "~".to_owned(),
        Some(below) => format!("~/{}", below.display()),
        None => root.display().to_string(),
    };
    harmless(&path).into_owned()
}
