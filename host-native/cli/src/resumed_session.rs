//! A session that was kept and goes on: restored from its log, and changed as the user wants before
//! it is driven. The changes are inputs of the session like any other, so that its log stays
//! complete; their outputs are owed until the session is driven.

use super::{
    console::warn,
    exit::CliError,
    model_change,
    sessions::{self, LockedSession, SessionInfo, SessionStore},
    web_pages::PageAccess,
};
use innerloop_core::{
    Session,
    config::SessionConfig,
    id::AgentId,
    input::{Command, Input},
    json::{Json, JsonObject, from_str},
    message::{Block, ToolCall, TurnKind, VisibleTurn},
    output::{Effect, Output},
    status::AgentState,
    tool::ToolSpec,
};
use innerloop_driver::{catalogue::Catalogue, providers::Provider};
use std::path::Path;

/// The platform of sessions whose files are in memory.
const IN_MEMORY: &str = "wasm";

/// A session that was kept.
pub(super) struct ResumableSession {
    /// Its locked folder, until the session's new owner takes it.
    held: Option<LockedSession>,
    about: SessionInfo,
    session: Session,
    /// True if its program ended in the middle of a run.
    pub(super) is_under_way: bool,
    /// True if its last run ended without an answer: it has failed, or was stopped here.
    was_stopped: bool,
    /// The other model that it goes on with, if there is one.
    model: Option<String>,
    /// The other changes of its configuration.
    changes: JsonObject,
}

impl ResumableSession {
    /// Reads the log of a session that is kept.
    pub(super) fn read(held: LockedSession) -> Result<Self, CliError> {
        let log = held.kept.log();
        let found = log.and_then(|log| sessions::still_open(&log, held.short()));
        let (session, damaged) = found.map_err(|failure| match held.kept.has_changes() {
            true => CliError::configuration(format!(
                "{}; what its agent has changed is not lost: innerloop sessions apply {} applies \
                 it",
                failure.message,
                held.short()
            )),
            false => failure,
        })?;
        if let Some(line) = damaged {
            let copy = held.kept.keep_damaged()?;
            let told = sessions::told_damage(held.short(), line);
            warn(&format!("{told}; the damaged log is kept as {}", copy.display()));
        }
        Self::of(held, session)
    }

    /// Imports the log in a file as a session that is kept. It works on that folder, or on the
    /// current one; a session whose files were in memory must name one.
    pub(super) fn import(named: &str, folder: Option<&Path>) -> Result<Self, CliError> {
        let (session, damaged) = sessions::still_open(&sessions::read(Path::new(named))?, named)?;
        damaged.iter().for_each(|line| warn(&sessions::told_damage(named, *line)));
        let was_in_memory = session.config().facts.platform == IN_MEMORY;
        let folder = match folder {
            None if was_in_memory => {
                return Err(CliError::usage(format!(
                    "the files of the session of {named} were in memory and are not in its log: \
                     name the folder that it goes on in with -C DIR"
                )));
            }
            folder => folder.unwrap_or(Path::new(".")),
        };
        let held = SessionStore::open()?.create(SessionInfo::of_log(&session, folder)?)?;
        Self::of(held, session)
    }

    fn of(held: LockedSession, session: Session) -> Result<Self, CliError> {
        let status = session.status(AgentId::ROOT);
        let is_under_way = status.is_none_or(|status| status.state != AgentState::Idle);
        let was_stopped = !is_under_way && is_unanswered(&session);
        let about = held.kept.about.clone();
        let mut past = Self {
            held: Some(held),
            about,
            session,
            is_under_way,
            was_stopped,
            model: None,
            changes: JsonObject(Vec::new()),
        };
        // A summary that a person has asked for is not worth going on with: nobody waits for it.
        if status.is_some_and(|status| status.compacting) {
            past.stop()?;
            past.was_stopped = false;
        }
        Ok(past)
    }

    pub(super) const fn about(&self) -> &SessionInfo {
        &self.about
    }

    /// Returns the session.
    pub(super) const fn session(&self) -> &Session {
        &self.session
    }

    /// Returns its locked folder, until that is taken.
    pub(super) const fn held(&self) -> Option<&LockedSession> {
        self.held.as_ref()
    }

    /// Returns whether its last run has failed or was stopped here, and should begin again.
    pub(super) const fn was_stopped(&self) -> bool {
        self.was_stopped
    }

    /// Returns whether there is something to do without an input of the user.
    pub(super) const fn goes_on(&self) -> bool {
        self.is_under_way || self.was_stopped
    }

    /// Takes the session's locked folder.
    pub(super) const fn take_held(&mut self) -> Option<LockedSession> {
        self.held.take()
    }

    /// Notes another model, and other changes of its configuration. A request to the old model that
    /// was not answered is given up.
    ///
    /// # Errors
    /// The session refuses to stop, which does not happen.
    pub(super) fn with(self, model: Option<String>, changes: JsonObject) -> Result<Self, CliError> {
        let mut past = Self { model, changes, ..self };
        if past.model.is_some() && past.is_under_way && past.waits_for_model() {
            past.stop()?;
        }
        Ok(past)
    }

    /// Returns whether the session waits only for the model, so that its request would go to the
    /// old one.
    fn waits_for_model(&self) -> bool {
        self.session.owed().into_iter().all(|output| {
            !matches!(output, Output::Effect(Effect::RunTool { .. } | Effect::Ask { .. }))
        })
    }

    /// Stops the run. Its effects are reported as lost, since no program carries them out any more.
    fn stop(&mut self) -> Result<(), CliError> {
        let owed = self.session.owed();
        self.hear(Input::command(Command::Interrupt))?;
        for output in owed {
            if let Output::Effect(effect) = output {
                self.hear(Input::Lost { id: effect.id() })?;
            }
        }
        (self.is_under_way, self.was_stopped) = (false, true);
        Ok(())
    }

    /// Gives the session an input. The outputs are dropped here: those that still matter are owed,
    /// and the driver asks for them when the session goes on.
    fn hear(&mut self, input: Input) -> Result<(), CliError> {
        let now = self.session.now();
        let heard = self.session.handle(input, now);
        heard.map(drop).map_err(CliError::usage)
    }

    fn configure(&mut self, patch: JsonObject) -> Result<(), CliError> {
        if patch.0.is_empty() {
            return Ok(());
        }
        self.hear(Input::command(Command::Configure { patch }))
    }

    /// Applies the model and the configuration that the user wants from now on.
    pub(super) fn with_model(
        mut self,
        provider: &Provider,
        catalogue: &Catalogue,
    ) -> Result<Self, CliError> {
        if let Some(name) = self.model.take() {
            let current = &self.session.config().model;
            let changed = model_change::to(&name, provider, catalogue, current);
            let patch = serde_json::json!({"model": changed}).to_string();
            self.configure(from_str(&patch).map_err(CliError::usage)?)?;
        }
        let changes = std::mem::replace(&mut self.changes, JsonObject(Vec::new()));
        self.configure(changes)?;
        Ok(self)
    }

    /// Adds the tool that reads pages, if somebody can be asked about them: the session may have
    /// begun where nobody could.
    pub(super) fn with_pages(mut self, pages: &PageAccess) -> Result<Self, CliError> {
        if pages.can_be_asked_for() && !self.session.config().web_fetch {
            self.configure(JsonObject(vec![("web_fetch".to_owned(), Json::of(&true))]))?;
        }
        Ok(self)
    }

    /// Lets the model ask the person who now talks with it: the session may have begun where nobody
    /// could be asked.
    pub(super) fn with_questions(mut self) -> Result<Self, CliError> {
        if !self.session.config().ask_user {
            self.configure(JsonObject(vec![("ask_user".to_owned(), Json::of(&true))]))?;
        }
        Ok(self)
    }

    /// Updates the user's own tools to their present definitions. Tools that are missing here, such
    /// as functions of another program, stay: the model is told if it calls one, and the person is
    /// warned now.
    pub(super) fn with_tools(
        mut self,
        tools: &[ToolSpec],
        reads_only: bool,
    ) -> Result<Self, CliError> {
        let mut own = self.session.config().tools.clone();
        let mut absent = Vec::new();
        for tool in own.iter_mut().filter(|tool| !reads_only || tool.read_only) {
            match tools.iter().find(|there| there.name == tool.name) {
                Some(there) => tool.clone_from(there),
                None => absent.push(tool.name.as_str()),
            }
        }
        if !absent.is_empty() {
            let (tools, are) = if absent.len() == 1 { ("tool", "is") } else { ("tools", "are") };
            warn(&format!(
                "the session's {tools} {} {are} not available here, which the model is told where \
                 it calls one",
                absent.join(", ")
            ));
        }
        if own != self.session.config().tools {
            self.configure(JsonObject(vec![("tools".to_owned(), Json::of(&own))]))?;
        }
        Ok(self)
    }

    /// Takes over the tools, the hooks and the answer's schema of a configuration, if they differ.
    pub(super) fn adapt(&mut self, config: &SessionConfig) -> Result<(), CliError> {
        let own = self.session.config();
        let mut changed = Vec::new();
        if config.answer != own.answer {
            changed.push(("answer".to_owned(), Json::of(&config.answer)));
        }
        if config.tools != own.tools {
            changed.push(("tools".to_owned(), Json::of(&config.tools)));
        }
        if config.hooks != own.hooks {
            changed.push(("hooks".to_owned(), Json::of(&config.hooks)));
        }
        self.configure(JsonObject(changed))
    }

    /// Returns the calls of the last reply, some of which may not have ended.
    pub(super) fn open_calls(&self) -> Vec<ToolCall> {
        let history = self.session.history(AgentId::ROOT);
        let mut turns = history.into_iter().flat_map(|history| history.turns()).rev();
        let reply = turns.find_map(|turn| match &turn.kind {
            TurnKind::Assistant(reply) if self.is_under_way => Some(reply),
            _ => None,
        });
        let blocks = reply.into_iter().flat_map(|reply| &reply.blocks);
        let calls = blocks.filter_map(|block| match block {
            Block::ToolCall(call) => Some(call.clone()),
            _ => None,
        });
        calls.collect()
    }
}

/// Returns whether the history ends with an input of the user or with results, unanswered.
fn is_unanswered(session: &Session) -> bool {
    let last = session.history(AgentId::ROOT).and_then(|history| history.seen().next_back());
    last.is_some_and(|said| matches!(said, VisibleTurn::User(_) | VisibleTurn::ToolResults(_)))
}
