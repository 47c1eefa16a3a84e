//! A session that is ready to be driven: assembled from the options, the user's files and the
//! environment, with everything that carries out what it asks for.

use super::{
    approval::Person,
    args::{FileArgs, SessionArgs, Where},
    config::Plan,
    environment,
    exit::Failure,
    judge::Judge,
    keys, own,
    preview::Preview,
    review::Mode,
    settings,
    setup::{self, Choice},
    style::Style,
};
use crate::{
    environment::Environment,
    host::{Host, Parts},
    http::{Http, wall_time},
    journal::Journal,
    places,
    recording::{Recording, player},
    sandbox::{OnProgress, Workspace},
    tools::{OwnTool, Tools},
};
use innerloop_core::config::AskAbout;
use innerloop_driver::{
    Driver, Endpoints, Models, Parts as DriverParts, People, providers::Provider, traffic::Recorder,
};

/// A session and what it works with.
pub(super) struct Work {
    pub(super) host: Host,
    /// Who is asked, if anybody is there.
    pub(super) person: Option<Person>,
    pub(super) judge: Judge,
    pub(super) workspace: Workspace,
    /// Where its changes go.
    pub(super) mode: Mode,
    /// The variables that may hold the provider's key.
    pub(super) key: String,
}

/// Whoever sits there.
pub(super) struct Audience {
    /// Whether somebody can be asked.
    pub(super) is_attended: bool,
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
}

impl Asked {
    pub(super) async fn read(args: SessionArgs, is_attended: bool) -> Result<Self, Failure> {
        let folder = setup::workspace(&args.workspace, args.any_folder)?;
        let args = settings::settle(args, &folder, is_attended).await?;
        let args = environment::settled(args, is_attended)?;
        let mode = Mode::of(&args, is_attended)?;
        let own = own::read(&args.guests.tools)?;
        let web = setup::web(&args.tuning.web)?;
        Ok(Self { args, mode, folder, own, web })
    }
}

impl Work {
    /// Opens the session.
    pub(super) async fn begin(asked: Asked, audience: Audience) -> Result<Self, Failure> {
        let Asked { args, mode, folder, own, web } = asked;
        let Audience { is_attended, style, progress } = audience;
        let Choice { provider, because } = match args.files.replay {
            None => setup::provider(&args.model)?,
            Some(_) => setup::recorded_provider(&args.model)?,
        };
        let specs = own.iter().map(|tool| tool.spec().clone()).collect();
        let asks = asks_about(&args, mode, is_attended);
        let plan = Plan::read(&provider, &args.model, &args.tuning, specs, asks).await?;
        let traffic = Traffic::of(&provider, &args)?;
        if let (Some(because), Some(tell)) = (because, &progress) {
            tell(&because);
        }
        let workspace = mode.workspace(folder)?;
        let sandbox = setup::sandbox(workspace.clone(), args.guests.programs.as_deref(), progress)?
            .with_isolation(args.guests.isolation());
        own::prepare(&own, &sandbox).await?;
        let local = environment::open(&args.environment, &args.guests, &sandbox)?;
        let place: &dyn Environment = local.as_ref().map_or(&sandbox, |local| local);
        let config = plan.config(&workspace, sandbox.programs().facts(), place).await?;
        let journal = journal(&args.files, &workspace)?;
        let Traffic { endpoints, models, http, recording } = traffic;
        let approve = is_attended || local.is_none() && Judge::decides(&config);
        let people = People { approve, answer: is_attended, hooks: Vec::new() };
        let parts = DriverParts { endpoints, models, people, keeps_log: journal.is_some() };
        let driver = Driver::open(config, wall_time(), parts).map_err(|error| {
            Failure::configuration(format!("the configuration cannot work: config.{error}"))
        })?;
        let tools = Tools::new(sandbox.clone().without_keys(driver.keys()));
        // What a command line of the machine does is not known from reading it.
        let judged = if local.is_none() { Some(sandbox) } else { None };
        let local = local.map(|local| local.without_keys(driver.keys()));
        let tools = local.into_iter().fold(tools, Tools::with_environment);
        let tools = own.into_iter().fold(tools, Tools::with);
        let tools = web.into_iter().fold(tools, Tools::with_web_fetch);
        let config = driver.session().config().clone();
        let preview = Preview::new(&config, &workspace);
        let host = Host::new(driver, Parts { http, tools, journal, recording });
        let person = is_attended.then(|| Person::at_terminal(host.commands(), preview, style));
        let judge = Judge::new(&config, judged, host.commands(), person.clone());
        Ok(Self { host, person, judge, workspace, mode, key: keys::variables(&provider) })
    }
}

/// What needs approval if neither the preset nor the user says more.
fn asks_about(args: &SessionArgs, mode: Mode, is_attended: bool) -> AskAbout {
    match args.environment.env {
        _ if is_attended && mode == Mode::InPlace => AskAbout::Changes,
        Where::Local => AskAbout::Programs,
        Where::Sandbox => AskAbout::Nothing,
    }
}

/// The session's log, if one is wanted. What the host writes in the workspace nobody else changes,
/// nor what the next run obeys.
fn journal(files: &FileArgs, workspace: &Workspace) -> Result<Option<Journal>, Failure> {
    let journal = files.log.as_deref().map(Journal::create).transpose();
    let journal = journal.map_err(Failure::usage)?;
    let written = [&files.log, &files.record];
    written.into_iter().flatten().for_each(|file| workspace.reserve(file));
    places::of_next_run().for_each(|folder| workspace.reserve_folder(&folder));
    Ok(journal)
}

/// Where model traffic goes and comes from.
struct Traffic {
    endpoints: Endpoints,
    models: Models,
    http: Option<Http>,
    recording: Option<Recording>,
}

impl Traffic {
    fn of(provider: &Provider, args: &SessionArgs) -> Result<Self, Failure> {
        if let Some(path) = &args.files.replay {
            let player = player(path).map_err(Failure::configuration)?;
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
