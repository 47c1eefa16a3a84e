//! A session that is ready to be driven: assembled from the options, the user's files and the
//! environment, with everything that carries out what it asks for.

use super::{
    approval::{Person, Seat},
    args::{FileArgs, LimitArgs, SessionArgs, Where},
    config::{self, Plan},
    console::warn,
    environment,
    exit::Failure,
    form::Form,
    judge::Judge,
    keys, limits, own,
    preview::Preview,
    recorded::{self, Replay},
    review::Mode,
    sessions::{self, About, Held, Store},
    settings,
    setup::{self, Choice},
    style::Style,
    terminal::Screen,
    words::Words,
};
use crate::{
    environment::Environment,
    host::{Host, Parts},
    http::{Http, wall_time},
    journal::Journal,
    local::Local,
    places,
    recording::{Origin, Recording},
    sandbox::{Executor, OnProgress, Workspace},
    tools::{OwnTool, Tools},
};
use innerloop_core::{
    config::{AskAbout, SessionConfig},
    id::AgentId,
    input::Command,
    json::{Json, Object},
    message::Part,
    status::AgentState,
    tool::ToolSpec,
};
use innerloop_driver::{
    Driver, Endpoints, Keys, Models, Parts as DriverParts, People,
    catalogue::Catalogue,
    providers::Provider,
    traffic::{Player, Recorder},
};

/// What the model reads where its changes were not taken over.
const DROPPED: &str = "The changes that were made to files before have not been taken over: the \
                       files are as they were at the beginning.";

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
    /// The variables that may hold the provider's key.
    pub(super) key: String,
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

/// What the user's own words say of a session, looked at before anything of the environment.
pub(super) struct Asked {
    args: SessionArgs,
    mode: Mode,
    folder: Workspace,
    own: Vec<OwnTool>,
    web: Option<OwnTool>,
    /// The session that goes on, if none is opened.
    past: Option<Past>,
    replay: Option<Replay>,
    /// The form of the final answer, if it is to have one.
    form: Option<Form>,
    limits: LimitArgs,
}

/// A session that was kept.
pub(super) struct Past {
    /// Until the session goes on.
    held: Option<Held>,
    about: About,
    log: String,
    config: SessionConfig,
    /// Whether its program ended in the middle of a run.
    pub(super) is_under_way: bool,
}

impl Past {
    pub(super) const fn about(&self) -> &About {
        &self.about
    }

    /// Reads the session's log.
    pub(super) fn read(held: Held) -> Result<Self, Failure> {
        let log = held.kept.log()?;
        let (log, session) = sessions::still_open(&log)?;
        let state = session.status(AgentId::ROOT).map(|status| status.state);
        let is_idle = state == Some(AgentState::Idle);
        let config = session.config().clone();
        let (log, about) = (log.to_owned(), held.kept.about.clone());
        Ok(Self { log, about, held: Some(held), config, is_under_way: !is_idle })
    }
}

impl Asked {
    /// Reads what is said of a new session, or of `past`, which goes on.
    pub(super) async fn read(
        args: SessionArgs,
        past: Option<Past>,
        is_attended: bool,
    ) -> Result<Self, Failure> {
        let folder = setup::workspace(&args.workspace, args.any_folder)?;
        let args = settings::settle(args, &folder, is_attended).await?;
        let mut args = environment::settled(args, is_attended)?;
        let mode = Mode::of(&args, is_attended)?;
        let own = own::read(&args.guests.tools)?;
        let web = setup::web(&args.tuning.web)?;
        let replay = Replay::read(&mut args)?;
        let (form, limits) = (None, LimitArgs::default());
        Ok(Self { args, mode, folder, own, web, past, replay, form, limits })
    }

    /// With a final answer of that form, and limits that the session must be able to tell.
    pub(super) fn with(self, form: Option<Form>, limits: LimitArgs) -> Self {
        Self { form, limits, ..self }
    }
}

impl Work {
    /// Opens the session, or goes on with it.
    pub(super) async fn begin(asked: Asked, audience: Audience) -> Result<Self, Failure> {
        let Asked { args, mode, folder, own, web, past, replay, form, limits } = asked;
        let Audience { seat, screen, style, progress } = audience;
        let is_attended = seat.is_some();
        let Choice { provider, because } = match args.files.replay {
            None => setup::provider(&args.model)?,
            Some(_) => setup::recorded_provider(&args.model)?,
        };
        let catalogue = config::catalogue(args.tuning.models.as_deref())?;
        let specs: Vec<ToolSpec> = own.iter().map(|tool| tool.spec().clone()).collect();
        let mut source = match past {
            Some(past) => Source::Kept(Box::new(past.with_tools(&specs)?)),
            None => {
                let asks = asks_about(&args, mode, is_attended);
                let plan = Plan::read(&provider, &args.model, &args.tuning, specs, asks);
                Source::New(Box::new(plan.await?))
            }
        };
        let (player, recorded) = replay.map(Replay::parts).unzip();
        let traffic = Traffic::of(&provider, &args, player)?;
        if let (Some(because), Some(tell)) = (because, &progress) {
            tell(&because);
        }
        let mut held = match &mut source {
            Source::Kept(past) => past.held.take(),
            Source::New(plan) => keep(&args, mode, &folder, &provider, &plan.draft()?),
        };
        let overlay = held.as_ref().map(|held| held.kept.overlay());
        let workspace = mode.workspace(folder, overlay.as_deref())?;
        let site = Site::open(&args, workspace, progress)?;
        own::prepare(&own, &site.sandbox).await?;
        let mut config = match &source {
            Source::Kept(past) => past.config.clone(),
            Source::New(plan) => site.config(plan).await?,
        };
        form.into_iter().for_each(|form| form.set(&mut config));
        let first = source.first(&config, held.as_mut());
        limits::check_price(limits, &config)?;
        let journal = journal(&args.files, held.as_ref(), &site.workspace)?;
        let Traffic { endpoints, models, http, mut recording } = traffic;
        name_model(recorded.flatten().as_ref(), recording.as_mut(), &provider, &config);
        let approve = is_attended || site.local.is_none() && Judge::decides(&config);
        let people = People { approve, answer: is_attended, hooks: Vec::new() };
        let parts = DriverParts { endpoints, models, people, keeps_log: journal.is_some() };
        let driver = source.driver(config, parts)?;
        let (config, workspace) = (driver.session().config().clone(), site.workspace.clone());
        let (tools, judged) = site.tools(own, web, driver.keys());
        let (preview, words) = (Preview::new(&config, &workspace), Words::new(&config));
        let host = Host::new(driver, Parts { http, tools, journal, recording });
        first.into_iter().for_each(|command| host.commands().send(command));
        let person = seat.map(|seat| Person::new(host.commands(), preview, style, seat));
        let judge = Judge::new(&config, judged, host.commands(), person.clone());
        Ok(Self {
            host,
            held,
            person,
            judge,
            workspace,
            words,
            mode,
            key: keys::variables(&provider),
            provider,
            catalogue,
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

/// Where calls are carried out.
struct Site {
    workspace: Workspace,
    sandbox: Executor,
    /// This machine, if commands run there.
    local: Option<Local>,
}

impl Site {
    fn open(
        args: &SessionArgs,
        workspace: Workspace,
        progress: Option<OnProgress>,
    ) -> Result<Self, Failure> {
        let sandbox = setup::sandbox(workspace.clone(), args.guests.programs.as_deref(), progress)?
            .with_isolation(args.guests.isolation());
        let local = environment::open(&args.environment, &args.guests, &sandbox)?;
        Ok(Self { workspace, sandbox, local })
    }

    /// The configuration of a session that works here.
    async fn config(&self, plan: &Plan<'_>) -> Result<SessionConfig, Failure> {
        let place: &dyn Environment = self.local.as_ref().map_or(&self.sandbox, |local| local);
        plan.config(&self.workspace, self.sandbox.programs().facts(), place).await
    }

    /// The tools that work here, without those keys; and where command lines are carried out that
    /// can be judged.
    fn tools(
        self,
        own: Vec<OwnTool>,
        web: Option<OwnTool>,
        keys: &Keys,
    ) -> (Tools, Option<Executor>) {
        let Self { sandbox, local, .. } = self;
        let tools = Tools::new(sandbox.clone().without_keys(keys));
        // What a command line of the machine does is not known from reading it.
        let judged = if local.is_none() { Some(sandbox) } else { None };
        let local = local.map(|local| local.without_keys(keys));
        let tools = local.into_iter().fold(tools, Tools::with_environment);
        let tools = own.into_iter().fold(tools, Tools::with);
        (web.into_iter().fold(tools, Tools::with_web_fetch), judged)
    }
}

/// Where a session comes from.
enum Source<'a> {
    New(Box<Plan<'a>>),
    Kept(Box<Past>),
}

impl Source<'_> {
    /// What a session that goes on is told first: what is otherwise than it was.
    fn first(&self, config: &SessionConfig, held: Option<&mut Held>) -> Vec<Command> {
        let Self::Kept(past) = self else { return Vec::new() };
        let mut first = Vec::new();
        if config.answer != past.config.answer {
            let answer = Json::of(&config.answer);
            let patch = Object(vec![("answer".to_owned(), answer)]);
            first.push(Command::Configure { patch });
        }
        if held.is_some_and(Held::take_dropped) {
            first.push(Command::Steer { parts: vec![Part::text(DROPPED)] });
        }
        first
    }

    /// The session: a new one of that configuration, or the one that was kept.
    fn driver(self, config: SessionConfig, parts: DriverParts) -> Result<Driver, Failure> {
        match self {
            Self::Kept(past) => {
                Driver::resume(&past.log, wall_time(), parts).map_err(Failure::configuration)
            }
            Self::New(_) => Driver::open(config, wall_time(), parts).map_err(|error| {
                Failure::configuration(format!("the configuration cannot work: config.{error}"))
            }),
        }
    }
}

impl Past {
    /// The session, if what carries out its own tools is there.
    fn with_tools(self, tools: &[ToolSpec]) -> Result<Self, Failure> {
        let missing = self.config.tools.iter().find(|tool| !tools.contains(tool));
        match missing {
            None => Ok(self),
            Some(tool) => Err(Failure::configuration(format!(
                "the session has a tool {} that is gone or has changed; bring it back as it was",
                tool.name
            ))),
        }
    }
}

/// Writes which model a recording is made of, and tells where that of a replay is another one.
fn name_model(
    recorded: Option<&Origin>,
    recording: Option<&mut Recording>,
    provider: &Provider,
    config: &SessionConfig,
) {
    let made = recorded::origin(provider, config);
    let differs = recorded.and_then(|recorded| recorded::difference(recorded, &made));
    differs.iter().for_each(|told| warn(told));
    recording.into_iter().for_each(|recording| recording.begin(&made));
}

/// What needs approval if neither the preset nor the user says more.
fn asks_about(args: &SessionArgs, mode: Mode, is_attended: bool) -> AskAbout {
    match args.environment.env {
        _ if is_attended && mode == Mode::InPlace => AskAbout::Changes,
        Where::Local => AskAbout::Programs,
        Where::Sandbox => AskAbout::Nothing,
    }
}

/// Keeps a new session, if that is wanted. That it cannot be is no reason not to work.
fn keep(
    args: &SessionArgs,
    mode: Mode,
    workspace: &Workspace,
    provider: &Provider,
    config: &SessionConfig,
) -> Option<Held> {
    // What comes from a recording can be had again.
    if args.ephemeral || args.files.replay.is_some() {
        return None;
    }
    let about = About {
        id: config.id.0.clone(),
        opened: wall_time().0,
        title: String::new(),
        workspace: workspace.root().to_owned(),
        provider: provider.name.clone(),
        model: config.model.name.clone(),
        fork_of: None,
        dropped: false,
        options: sessions::Options::of(args, mode),
    };
    let held = Store::open().and_then(|store| store.create(about).map_err(Failure::configuration));
    held.inspect_err(|failure| {
        warn(&format!("this session is not kept: {}; --ephemeral says so", failure.message));
    })
    .ok()
}

/// The session's log, where it is kept and where the user wants it. What the host writes in the
/// workspace nobody else changes, nor what the next run obeys.
fn journal(
    files: &FileArgs,
    held: Option<&Held>,
    workspace: &Workspace,
) -> Result<Option<Journal>, Failure> {
    let kept = held.map(|held| held.kept.log_path());
    let journals = [
        kept.as_deref().map(Journal::replace).transpose().map_err(Failure::configuration)?,
        files.log.as_deref().map(Journal::create).transpose().map_err(Failure::usage)?,
    ];
    let written = [&kept, &files.log, &files.record];
    written.into_iter().flatten().for_each(|file| workspace.reserve(file));
    places::of_next_run().for_each(|folder| workspace.reserve_folder(&folder));
    Ok(journals.into_iter().flatten().reduce(Journal::and))
}

/// Where model traffic goes and comes from.
struct Traffic {
    endpoints: Endpoints,
    models: Models,
    http: Option<Http>,
    recording: Option<Recording>,
}

impl Traffic {
    fn of(
        provider: &Provider,
        args: &SessionArgs,
        player: Option<Player>,
    ) -> Result<Self, Failure> {
        if let Some(player) = player {
            let endpoint = setup::recorded_endpoint(provider, &args.model);
            let endpoints = endpoint.map_or_else(Endpoints::default, |endpoint| {
                Endpoints::default().with(provider.endpoint(), endpoint)
            });
            let models = Models::Replayed { player, pace_ms: 0 };
            return Ok(Self { endpoints, models, http: None, recording: None });
        }
        let endpoint = setup::endpoint_of(provider, &args.model)?;
        let endpoints = Endpoints::default().with(provider.endpoint(), endpoint);
        let http = Http::new(endpoints.are_loopback());
        let http = http.map_err(|failure| Failure::configuration(failure.message))?;
        let recording = args.files.record.as_deref().map(Recording::create).transpose();
        let recording = recording.map_err(Failure::usage)?;
        let models = match recording {
            Some(_) => Models::Recorded(Recorder::default()),
            None => Models::Live,
        };
        Ok(Self { endpoints, models, http: Some(http), recording })
    }
}
