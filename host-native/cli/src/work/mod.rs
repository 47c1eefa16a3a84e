//! A session that is ready to be driven: assembled from the options, the user's files and the
//! environment, with everything that carries out what it asks for.

mod access;
mod asked;
mod chosen;
mod ground;
mod source;

pub(super) use asked::Asked;
pub(super) use ground::over;

use super::{
    approval::{Person, Seat},
    exit::Failure,
    judge::Judge,
    key_in_use::KeyInUse,
    mode::Mode,
    preview::Preview,
    sessions::{self, Held},
    style::Style,
    terminal::Screen,
    words::Words,
};
use access::Access;
use chosen::Chosen;
use ground::Ground;
use innerloop_core::message::Part;
use innerloop_driver::{catalogue::Catalogue, providers::Provider};
use innerloop_host::host::Host;
use innerloop_sandbox::OnProgress;
use innerloop_workspace::Workspace;

/// A session and what it works with.
pub(super) struct Work {
    pub(super) host: Host,
    /// The session's place among those that are kept, if it is one.
    pub(super) held: Option<Held>,
    /// Who is asked, if anybody is there.
    pub(super) person: Option<Person>,
    pub(super) judge: Judge,
    pub(super) workspace: Workspace,
    /// How its calls are told.
    pub(super) words: Words,
    /// Where its changes go.
    pub(super) mode: Mode,
    /// Whether it changes and runs nothing.
    pub(super) reads_only: bool,
    pub(super) key: KeyInUse,
    pub(super) provider: Provider,
    /// What is known of its models.
    pub(super) catalogue: Catalogue,
    /// Where it is shown.
    pub(super) screen: Screen,
}

/// Whoever sits there.
pub(super) struct Audience {
    /// Where it is shown.
    pub(super) screen: Screen,
    /// Where somebody sits who can be asked.
    pub(super) seat: Option<Seat>,
    pub(super) style: Style,
    /// Whom it is told what takes long.
    pub(super) progress: Option<OnProgress>,
}

impl Work {
    /// Opens the session, or goes on with it, in the steps of [`innerloop_host::setup`]: the model,
    /// the place where its tools work, the session, and what drives it and answers it.
    pub(super) async fn begin(mut asked: Asked, audience: Audience) -> Result<Self, Failure> {
        let is_attended = audience.seat.is_some();
        let mut chosen = Chosen::of(&mut asked, is_attended).await?;
        let access = Access::of(&chosen.provider, &mut asked)?;
        audience.tell(chosen.because.as_deref());
        let mut ground = Ground::open(&asked, &mut chosen, audience.progress.clone()).await?;
        let config = ground.config(&mut asked, &chosen.source).await?;
        let journal = ground.journal(&asked.args.files)?;
        let Access { setup, key, .. } = access.settled(&chosen.provider, &config);
        let tools = asked.tools(&ground.site, &setup.keys());
        let people = ground.people(&asked, &config, is_attended);
        let setup = setup.with_people(people).with_log(journal.is_some());
        let (opened, words) = chosen.source.begin(setup, config, &asked.args.tuning)?;
        let host = opened.host(tools, journal);
        ground.tell_lost(&host.commands());
        let (mode, reads_only) = (asked.mode, asked.args.tuning.read_only);
        let screen = audience.screen.clone();
        let (person, judge) = answering(&host, &words, (asked, &ground), audience);
        Ok(Self {
            host,
            person,
            judge,
            workspace: ground.site.workspace().clone(),
            held: ground.held,
            words,
            mode,
            reads_only,
            key,
            provider: chosen.provider,
            catalogue: chosen.catalogue,
            screen,
        })
    }

    /// Notes the first words that are said to the session, by which a person knows it again.
    pub(super) fn entitle(&mut self, said: &[Part]) {
        let mut title = sessions::title(said);
        self.host.driver().keys().mask(&mut title);
        let titled = self.held.as_mut().map_or(Ok(()), |held| held.entitle(&title));
        drop(titled);
    }
}

impl Audience {
    /// Tells something, where what takes long is told.
    fn tell(&self, line: Option<&str>) {
        if let Some((line, tell)) = line.zip(self.progress.as_ref()) {
            tell(line);
        }
    }
}

/// Whoever sits there, and what says of calls that they may run before anybody is asked.
fn answering(
    host: &Host,
    words: &Words,
    (asked, ground): (Asked, &Ground),
    Audience { seat, style, .. }: Audience,
) -> (Option<Person>, Judge) {
    let (workspace, commands) = (ground.site.workspace(), host.commands());
    let Asked { rules, pages, .. } = asked;
    let shown = (Preview::new(words, workspace), rules.clone());
    let person = seat.map(|seat| Person::new(commands.clone(), shown, style, seat));
    let ruled = (rules, workspace.clone(), pages.ask(person.as_ref()));
    let told = (host.driver().session().config(), words);
    let judge = Judge::new(told, ruled, ground.judged(), commands, person.clone());
    (person, judge)
}
