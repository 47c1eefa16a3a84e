//! The set-up of a session: from options, the user's files and the environment to a session that
//! is ready to be driven, with everything that carries out its effects. `run`, `resume` and
//! conversations all begin here. What the user has said is checked first, so that a wrong option
//! fails before anything is opened or asked of a provider.

mod access;
mod choice;
mod hooks;
mod place;
mod source;
mod user_wishes;

pub(super) use place::over;
pub(super) use user_wishes::SessionRequest;

use super::{
    approval::{InteractiveTerminal, PersonHandle},
    args::ModelArgs,
    auto_approval::ApprovalJudge,
    call_summary::CallDescriber,
    exit::CliError,
    key_in_use::KeyInUse,
    mode::ChangeMode,
    preview::CallPreview,
    sessions::{self, LockedSession},
    style::OutputStyle,
    terminal::Screen,
};
use access::ModelAccess;
use choice::SessionChoice;
use innerloop_core::{message::Part, preset::ConfigPreset};
use innerloop_driver::{HostCapabilities, catalogue::Catalogue, providers::Provider};
use innerloop_host::{host::Host, local::HookCommands};
use innerloop_sandbox::OnProgress;
use innerloop_workspace::Workspace;
use place::SessionPlace;
use std::sync::Arc;

/// A session and what it works with.
pub(super) struct ActiveSession {
    pub(super) host: Host,
    /// The session's place among those that are kept, if it is one.
    pub(super) held: Option<LockedSession>,
    /// The person who answers questions, if anybody is there.
    pub(super) person: Option<PersonHandle>,
    pub(super) judge: ApprovalJudge,
    pub(super) workspace: Workspace,
    /// The words in which its calls are shown.
    pub(super) words: CallDescriber,
    /// The place where its changes go.
    pub(super) mode: ChangeMode,
    /// The preset that it was opened with; none if it goes on, since its log has no name for that.
    pub(super) preset: Option<ConfigPreset>,
    /// True if it changes and runs nothing.
    pub(super) reads_only: bool,
    /// True if its commands run on this machine.
    pub(super) is_local: bool,
    pub(super) key: KeyInUse,
    pub(super) provider: Provider,
    /// The options and settings that lead to providers.
    pub(super) access: ModelArgs,
    /// The provider's models, as far as they are known.
    pub(super) catalogue: Catalogue,
    /// The screen that shows it.
    pub(super) screen: Screen,
}

/// The person at the terminal, and the way to show something there.
pub(super) struct SessionFrontend {
    /// The screen that shows it.
    pub(super) screen: Screen,
    /// The terminal of somebody who can be asked; none if nobody can.
    pub(super) seat: Option<InteractiveTerminal>,
    pub(super) style: OutputStyle,
    /// Receives a line about everything that takes long.
    pub(super) progress: Option<OnProgress>,
}

impl ActiveSession {
    /// Opens or resumes the session in the steps of [`innerloop_host::setup`]: the model, the place
    /// where its tools work, the session, and what drives it and answers its questions.
    pub(super) async fn begin(
        mut asked: SessionRequest,
        audience: SessionFrontend,
    ) -> Result<Self, CliError> {
        let is_attended = audience.seat.is_some();
        let mut choice = SessionChoice::of(&mut asked, is_attended).await?;
        let fallbacks = choice.source.fallbacks()?;
        let access = asked.args.model.clone();
        let reached = ModelAccess::of(&choice.provider, &fallbacks, &mut asked)?;
        audience.tell(choice.because.as_deref());
        let mut place = SessionPlace::open(&asked, &mut choice, audience.progress.clone()).await?;
        let mut config = place.config(&mut asked, &choice.source).await?;
        // Once more, since the limit of an option is in force only now.
        choice.catalogue.add_prices(&choice.provider, &mut config);
        let hooks = hooks::open(&asked.args, &mut config, place.site.workspace())?;
        let journal = place.journal(&asked.args.files)?;
        let ModelAccess { setup, key, .. } = reached.settled(&choice.provider, &config);
        let tools = asked.tools(&place.site, &setup.keys());
        let people = place.people(&asked, &config, is_attended);
        let points = hooks.as_ref().map(HookCommands::points).unwrap_or_default();
        let people = HostCapabilities { hooks: points, ..people };
        let setup = setup.with_people(people).with_log(journal.is_some());
        let preset = choice.source.preset();
        let setup = match hooks {
            Some(hooks) => setup.with_hooks(Arc::new(hooks)),
            None => setup,
        };
        let (opened, words) = choice.source.begin(setup, config, &asked.args.tuning)?;
        let host = opened.host(tools, journal);
        place.tell_lost(&host.commands());
        let (mode, reads_only) = (asked.mode, asked.args.tuning.read_only);
        let is_local = place.site.is_local();
        let screen = audience.screen.clone();
        let (person, judge) = answering(&host, &words, (asked, &place), audience);
        Ok(Self {
            host,
            person,
            judge,
            workspace: place.site.workspace().clone(),
            held: place.held,
            words,
            mode,
            preset,
            reads_only,
            is_local,
            key,
            provider: choice.provider,
            access,
            catalogue: choice.catalogue,
            screen,
        })
    }

    /// Stores the first words that are said to the session as its title.
    pub(super) fn entitle(&mut self, said: &[Part]) {
        // Titles are stored and listed, where a key that was pasted into a prompt has no place.
        let mut title = sessions::title(said);
        self.host.driver().keys().mask(&mut title);
        let titled = self.held.as_mut().map_or(Ok(()), |held| held.entitle(&title));
        // A session without a title works as well.
        drop(titled);
    }
}

impl SessionFrontend {
    /// Shows a line in the place for progress.
    fn tell(&self, line: Option<&str>) {
        if let Some((line, tell)) = line.zip(self.progress.as_ref()) {
            tell(line);
        }
    }
}

/// Returns the person who sits there, and the judge that decides about calls before that person is
/// asked.
fn answering(
    host: &Host,
    words: &CallDescriber,
    (asked, place): (SessionRequest, &SessionPlace),
    SessionFrontend { seat, style, .. }: SessionFrontend,
) -> (Option<PersonHandle>, ApprovalJudge) {
    let (workspace, commands) = (place.site.workspace(), host.commands());
    let SessionRequest { rules, pages, .. } = asked;
    let preview = CallPreview::new(words, workspace, host.driver().firewall());
    let shown = (preview, rules.clone());
    let person = seat.map(|seat| PersonHandle::new(commands.clone(), shown, style, seat));
    let ruled = (rules, workspace.clone(), pages.ask(person.as_ref()));
    let told = (host.driver().session().config(), words);
    let judge = ApprovalJudge::new(told, ruled, place.judged(), commands, person.clone());
    (person, judge)
}
