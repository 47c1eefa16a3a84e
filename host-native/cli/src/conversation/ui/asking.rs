//! The questions that commands put to the session. They are asked by visits, since the session is
//! the host's: an answer comes between two of its inputs, also while the agent works.

use super::{
    super::{
        context_table::{headline, table},
        session_answers::{SessionAnswer, status, tool_table},
    },
    ConversationUi,
};
use crate::header;
use innerloop_core::{Session, id::AgentId, json::to_string};

impl ConversationUi {
    /// Asks the session what fills the context window.
    pub(super) fn ask_context(&mut self) {
        self.ask(|session| session.context(AgentId::ROOT).map(SessionAnswer::Context));
    }

    /// Asks the session which tools it has.
    pub(super) fn ask_tools(&mut self) {
        self.ask(|session| session.tools(AgentId::ROOT).map(SessionAnswer::Tools));
    }

    /// Asks the session how it stands.
    pub(super) fn ask_status(&mut self) {
        let provider = self.provider.name.clone();
        let preset = self.preset.map(|preset| to_string(&preset).trim_matches('"').to_owned());
        self.ask(move |session| status(session, &provider, preset).map(SessionAnswer::Status));
    }

    fn ask(&mut self, look: impl FnOnce(&Session) -> Option<SessionAnswer> + Send + 'static) {
        self.answers.expect(self.commands.visit(|driver, _| look(driver.session())));
    }

    /// Shows the answers that have come.
    pub(super) fn show_answers(&mut self) {
        let columns = self.screen.width();
        while let Some(answer) = self.answers.next() {
            // A table stands behind a note, which ends a line that the model is in the middle of.
            match answer {
                SessionAnswer::Context(usage) => {
                    self.note(&headline(&usage));
                    self.write(&table(&usage, columns, self.style));
                }
                SessionAnswer::Status(lines) => {
                    lines.iter().for_each(|(name, told)| self.note(&format!("{name:8} {told}")));
                }
                SessionAnswer::Tools(tools) => {
                    self.note(header::asks(self.asks_about));
                    self.write(&tool_table(&tools, columns, self.style));
                }
            }
        }
    }
}
