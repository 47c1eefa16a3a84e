//! A session that is ready to be driven: assembled from the options, the user's files and the
//! environment, with everything that carries out what it asks for.

use super::{
    allow::Rules,
    approval::{Person, Seat},
    args::{FileArgs, LimitArgs, SessionArgs, TuningArgs, Where},
    config::{self, Plan},
    console::warn,
    environment,
    exit::Failure,
    form::Form,
    judge::Judge,
    key_in_use::KeyInUse,
    limits, own,
    pages::Pages,
    past::Past,
    preview::Preview,
    recorded::{self, Replay},
    review::Mode,
    sessions::{self, About, Held, Store},
    settings,
    setup::{self, Choice, Reached},
    style::{Style, harmless},
    terminal::{self, Screen},
    words::Words,
};
use innerloop_core::{
    config::{AskAbout, SessionConfig},
    input::Command,
    message::{Part, ToolCall},
};
use innerloop_driver::{
    Driver, Endpoints, Keys, Models, Parts as DriverParts, People,
    catalogue::Catalogue,
    providers::Provider,
    traffic::{Player, Recorder},
};
use innerloop_host::{
    environment::{Environment, ReadOnly},
    host::{Commands, Host, Parts, Renewal},
    http::{Http, wall_time},
    journal::{Journal, JournalError},
    local::Local,
    recording::{Origin, Recording},
    tools::{OwnTool, Tools},
};
use innerloop_sandbox::{Executor, OnProgress};
use innerloop_workspace::{Workspace, places};
use std::fs;

/// What the model reads where its changes were not taken over.
const DROPPED: &str = "The changes that were made to files before have not been taken over: the \
                       files are as they were at the beginning.";

/// What it reads where a call was cut off that changed files.
const CUT_OFF: &str = "The program was stopped while a call changed files: they may be changed by \
                       half. Look at what you have changed last before you go on.";

/// What the person reads then.
const PARTIAL: &str = "the program was stopped while a call changed files: they may be changed by \
                       half, and the agent is told to look; --apply does not apply them, but a \
                       yes does";

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

/// What the user's own words say of a session, looked at before anything of the environment.
pub(super) struct Asked {
    args: SessionArgs,
    mode: Mode,
    folder: Workspace,
    own: Vec<OwnTool>,
    pages: Pages,
    rules: Rules,
    /// The session that goes on, if none is opened.
    past: Option<Past>,
    replay: Option<Replay>,
    /// The form of the final answer, if it is to have one.
    form: Option<Form>,
    limits: LimitArgs,
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
        let own = if args.tuning.read_only { own::that_only_read(own) } else { own };
        let may_ask = is_attended && !args.tuning.read_only;
        let pages = Pages::of(setup::domains(&args.tuning.web)?, may_ask);
        let rules = rules(&args)?;
        let replay = Replay::read(&mut args)?;
        let (form, limits) = (None, LimitArgs::default());
        Ok(Self { args, mode, folder, own, pages, rules, past, replay, form, limits })
    }

    /// With a final answer of that form, and limits that the session must be able to tell.
    pub(super) fn with(self, form: Option<Form>, limits: LimitArgs) -> Self {
        Self { form, limits, ..self }
    }
}

impl Work {
    /// Opens the session, or goes on with it.
    pub(super) async fn begin(asked: Asked, audience: Audience) -> Result<Self, Failure> {
        let Asked { args, mode, folder, own, pages, rules, past, replay, form, limits } = asked;
        let Audience { seat, screen, style, progress } = audience;
        let is_attended = seat.is_some();
        let Choice { provider, because } = match args.files.replay {
            None => setup::provider(&args.model)?,
            Some(_) => setup::recorded_provider(&args.model)?,
        };
        let catalogue = config::catalogue(args.tuning.models.as_deref())?;
        let specs = own.iter().map(|tool| tool.spec().clone()).collect::<Vec<_>>();
        let mut source = match past {
            Some(past) => {
                let past = past.with_model(&provider, &catalogue)?.with_pages(&pages)?;
                Source::Kept(Box::new(past.with_tools(&specs, args.tuning.read_only)?))
            }
            None => {
                let asks = asks_about(&args, mode, is_attended);
                let plan = Plan::read(&provider, &args.model, &args.tuning, specs, asks, &pages);
                Source::New(Box::new(plan.await?))
            }
        };
        let (player, recorded) = replay.map(Replay::parts).unzip();
        let traffic = Traffic::of(&provider, &args, player)?;
        if let (Some(because), Some(tell)) = (because, &progress) {
            tell(&because);
        }
        let mut held = match &mut source {
            Source::Kept(past) => past.take_held(),
            Source::New(plan) => keep(&args, mode, &folder, &provider, &plan.draft()?),
        };
        let workspace = over(folder, mode, held.as_ref())?;
        let site = Site::open(&args, workspace, progress)?;
        own::prepare(&own, &site.sandbox).await?;
        let (mut config, told) = (source.config(&site).await?, source.open_calls());
        granted(&args, &rules, &mut config, held.as_mut())?;
        form.into_iter().for_each(|form| form.set(&mut config));
        limits::set(limits, &mut config)?;
        let journal = journal(&args.files, held.as_ref(), &site.workspace)?;
        let Traffic { endpoints, models, http, mut recording, key, renewal } = traffic;
        name_model(recorded.flatten().as_ref(), recording.as_mut(), &provider, &config);
        let decides = !rules.is_empty() || site.local.is_none() && Judge::decides(&config);
        let people = people(is_attended, decides);
        let parts = DriverParts { endpoints, models, people, keeps_log: journal.is_some() };
        let driver = source.driver(config, parts, &args.tuning)?;
        let (config, workspace) = (driver.session().config().clone(), site.workspace.clone());
        let (tools, judged) = site.tools(own, pages.reader(), driver.keys());
        let words = Words::new(&config).with_told(told);
        let host = Host::new(driver, Parts { http, tools, journal, recording });
        let host = host.with_renewal(renewal);
        tell_lost(workspace.is_partial(), held.as_mut(), &host.commands());
        let shown = (Preview::new(&words, &workspace), rules.clone());
        let person = seat.map(|seat| Person::new(host.commands(), shown, style, seat));
        let ruled = (rules, workspace.clone(), pages.ask(person.as_ref()));
        let judge = Judge::new((&config, &words), ruled, judged, host.commands(), person.clone());
        Ok(Self {
            host,
            held,
            person,
            judge,
            workspace,
            words,
            mode,
            reads_only: args.tuning.read_only,
            key,
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

/// Who answers: somebody who sits there, or rules that decide about calls.
const fn people(is_attended: bool, decides: bool) -> People {
    People { approve: is_attended || decides, answer: is_attended, hooks: Vec::new() }
}

/// Takes out of a configuration what a session has not that only reads, checks that rules name
/// tools of the session, and keeps both with it.
fn granted(
    args: &SessionArgs,
    rules: &Rules,
    config: &mut SessionConfig,
    held: Option<&mut Held>,
) -> Result<(), Failure> {
    let (allow, read_only) = (&args.tuning.allow, args.tuning.read_only);
    if read_only {
        config.tools.retain(|tool| tool.read_only);
    }
    // Settings may name tools that another session has.
    if !allow.is_empty() {
        rules.check(config).map_err(|why| Failure::usage(format!("--allow: {why}")))?;
    }
    let set = sessions::names(&args.environment.set_env);
    let change = |options: &mut sessions::Options| {
        (options.allow, options.read_only) = (allow.clone(), read_only);
        options.environment.set_env = set;
    };
    let noted = held.map_or(Ok(()), |held| held.note(change, &config.model.name));
    noted.map_err(|error| Failure::configuration(format!("cannot note the options: {error}")))
}

/// The workspace as the agent sees it, with what a session that goes on has changed.
pub(super) fn over(
    folder: Workspace,
    mode: Mode,
    held: Option<&Held>,
) -> Result<Workspace, Failure> {
    let overlay = held.map(|held| held.kept.overlay());
    if let Some(overlay) = overlay.as_deref().filter(|_| held.is_some_and(Held::has_dropped)) {
        // The program may have been ended after it had noted that.
        drop(fs::remove_dir_all(overlay));
    }
    sessions::put_right(&folder);
    let workspace = mode.workspace(folder, overlay.as_deref())?;
    sessions::tell_taken_back(&workspace, "the session");
    if workspace.is_partial() {
        warn(PARTIAL);
    }
    if mode != Mode::Show
        && let Err(error) = workspace.check_writable()
    {
        let folder = workspace.root().display();
        warn(&format!("nothing can be written to {folder}: {error}"));
    }
    Ok(workspace)
}

/// Tells the agent of changes that may be half done, and of those that are gone, once.
fn tell_lost(is_partial: bool, held: Option<&mut Held>, commands: &Commands) {
    if is_partial {
        commands.send(Command::Steer { parts: vec![Part::text(CUT_OFF)] });
    }
    if let Some(held) = held.filter(|held| held.has_dropped()) {
        commands.send(Command::Steer { parts: vec![Part::text(DROPPED)] });
        held.note_dropped(false);
    }
}

/// The rules of options, or else those of settings.
fn rules(args: &SessionArgs) -> Result<Rules, Failure> {
    let (options, settings) = (&args.tuning.allow, &args.tuning.settings.allow);
    let rules = if options.is_empty() {
        Rules::parse(settings).map_err(|why| Failure::configuration(format!("allow: {why}")))
    } else {
        Rules::parse(options).map_err(|why| Failure::usage(format!("--allow: {why}")))
    }?;
    rules.understood().for_each(|rule| warn(&rule));
    Ok(rules)
}

/// Where calls are carried out.
struct Site {
    workspace: Workspace,
    sandbox: Executor,
    /// This machine, if commands run there.
    local: Option<Local>,
    /// Whether nothing is changed or run.
    reads_only: bool,
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
        Ok(Self { workspace, sandbox, local, reads_only: args.tuning.read_only })
    }

    /// The configuration of a session that works here.
    async fn config(&self, plan: &Plan<'_>) -> Result<SessionConfig, Failure> {
        let place: &dyn Environment = self.local.as_ref().map_or(&self.sandbox, |local| local);
        plan.config(&self.workspace, self.sandbox.programs().facts(), place).await
    }

    /// The tools that work here, without those keys; and where command lines are carried out that
    /// can be judged.
    fn tools(self, own: Vec<OwnTool>, web: OwnTool, keys: &Keys) -> (Tools, Option<Executor>) {
        let Self { sandbox, local, reads_only, .. } = self;
        let masking = sandbox.clone().without_keys(keys);
        let tools = Tools::new(masking.clone());
        let tools = match reads_only {
            true => tools.with_environment(ReadOnly::new(masking)),
            false => tools,
        };
        // What a command line of the machine does is not known from reading it.
        let judged = if local.is_none() { Some(sandbox) } else { None };
        let local = local.map(|local| local.without_keys(keys));
        let tools = local.into_iter().fold(tools, Tools::with_environment);
        let tools = own.into_iter().fold(tools, Tools::with);
        (tools.with_web_fetch(web), judged)
    }
}

/// Where a session comes from.
enum Source<'a> {
    New(Box<Plan<'a>>),
    Kept(Box<Past>),
}

impl Source<'_> {
    /// Its configuration, where the tools of the site are.
    async fn config(&self, site: &Site) -> Result<SessionConfig, Failure> {
        match self {
            Self::Kept(past) => Ok(past.session().config().clone()),
            Self::New(plan) => site.config(plan).await,
        }
    }

    /// The calls that wait for their results.
    fn open_calls(&self) -> Vec<ToolCall> {
        match self {
            Self::Kept(past) => past.open_calls(),
            Self::New(_) => Vec::new(),
        }
    }

    /// The session: a new one of that configuration, or the one that was kept, with what is
    /// otherwise by now.
    fn driver(
        self,
        config: SessionConfig,
        parts: DriverParts,
        tuning: &TuningArgs,
    ) -> Result<Driver, Failure> {
        match self {
            Self::Kept(mut past) => {
                past.adapt(&config)?;
                let snapshot = past.session().snapshot();
                Driver::restore(&snapshot, wall_time(), parts).map_err(Failure::configuration)
            }
            Self::New(_) => Driver::open(config, wall_time(), parts)
                .map_err(|error| config::unworkable(&error, tuning)),
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
    let held = Store::open().and_then(|store| store.create(about));
    held.inspect_err(|failure| {
        warn(&format!(
            "this session is not kept: {}; the run goes on without (--ephemeral asks for that)",
            failure.message
        ));
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
    let replace = |path| Journal::try_replace(path, tell_unkept);
    let journals = [
        kept.as_deref().map(replace).transpose().map_err(Failure::configuration)?,
        files.log.as_deref().map(Journal::create).transpose().map_err(Failure::usage)?,
    ];
    let written = [&kept, &files.log, &files.record];
    written.into_iter().flatten().for_each(|file| workspace.reserve(file));
    places::of_next_run().for_each(|folder| workspace.reserve_folder(&folder));
    Ok(journals.into_iter().flatten().reduce(Journal::and))
}

/// Tells that the session can't be kept any more. That is no reason to end a run.
fn tell_unkept(error: &JournalError) {
    let why = match error {
        JournalError::Write { path, error } => format!("{}: {error}", path.display()),
        error => error.to_string(),
    };
    let line = format!("from here on this session is not kept, but goes on: cannot write {why}");
    // Off a terminal, what the model says may stand in the middle of a line.
    let before = if terminal::size().is_some() { "" } else { "\n" };
    terminal::tell(&format!("{before}{}\n", harmless(&line)));
}

/// Where model traffic goes and comes from.
struct Traffic {
    endpoints: Endpoints,
    models: Models,
    http: Option<Http>,
    recording: Option<Recording>,
    key: KeyInUse,
    /// What looks for another key, unless a recording answers.
    renewal: Option<Renewal>,
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
            let key = KeyInUse::recorded(provider);
            let (http, recording, renewal) = (None, None, None);
            return Ok(Self { endpoints, models, http, recording, key, renewal });
        }
        let Reached { endpoint, found } = setup::endpoint_of(provider, &args.model)?;
        if let Some(found) = found.as_ref().filter(|found| found.key.is_simple()) {
            let place = found.origin.told();
            let why = "is short or a plain word, so it is not masked where it appears in text";
            warn(&format!("the key in {place} {why}"));
        }
        let key = KeyInUse::new(provider, found);
        let endpoints = Endpoints::default().with(provider.endpoint(), endpoint);
        let http = Http::new(endpoints.are_loopback());
        let http = http.map_err(|failure| Failure::configuration(failure.message))?;
        let recording = args.files.record.as_deref().map(Recording::create).transpose();
        let recording = recording.map_err(Failure::usage)?;
        let models = match recording {
            Some(_) => Models::Recorded(Recorder::default()),
            None => Models::Live,
        };
        let renewal = Some(key.renewal(provider, &args.model));
        Ok(Self { endpoints, models, http: Some(http), recording, key, renewal })
    }
}
