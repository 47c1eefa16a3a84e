//! The user's wishes for a session: options and settings, read and checked before anything is
//! opened, so that a fault in them leaves no session behind.

use super::source::SessionSource;
use crate::{
    allow::CallRules,
    answer_schema::AnswerSchema,
    args::{ExecutionTarget, LimitArgs, SessionArgs},
    config::SessionPlan,
    console::warn,
    environment,
    exit::CliError,
    limits,
    mode::ChangeMode,
    model_recording::Replay,
    resumed_session::ResumableSession,
    settings, setup, user_tools,
    web_pages::PageAccess,
};
use innerloop_core::config::{AskAbout, SessionConfig};
use innerloop_driver::{SecretKeys, catalogue::Catalogue, providers::Provider};
use innerloop_host::{
    facts::command_files::CommandFile,
    setup::WorkSite,
    tools::{OwnTool, ToolRunner},
};
use innerloop_workspace::Workspace;
use serde_json::Value;
use std::mem;

/// The user's wishes for a session.
pub(crate) struct SessionRequest {
    pub(super) args: SessionArgs,
    pub(super) mode: ChangeMode,
    pub(super) folder: Workspace,
    pub(super) own: Vec<OwnTool>,
    pub(super) pages: PageAccess,
    pub(super) rules: CallRules,
    /// The session that goes on, if none is opened.
    past: Option<ResumableSession>,
    pub(super) replay: Option<Replay>,
    /// The form of the final answer, if it is to have one.
    form: Option<AnswerSchema>,
    limits: LimitArgs,
}

impl SessionRequest {
    /// Takes the files that describe a person's commands, which only a conversation needs.
    pub(crate) fn take_commands(&mut self) -> Vec<CommandFile> {
        mem::take(&mut self.args.tuning.settings.commands)
    }

    /// Reads the wishes for a new session, or for `past`, which goes on.
    pub(crate) async fn read(
        args: SessionArgs,
        past: Option<ResumableSession>,
        is_attended: bool,
    ) -> Result<Self, CliError> {
        let folder = setup::workspace(&args.workspace, args.any_folder)?;
        let args = settings::settle(args, &folder, is_attended).await?;
        let mut args = environment::settled(args, is_attended)?;
        let mode = ChangeMode::of(&args, is_attended)?;
        let own = user_tools::read(&args.guests.tools)?;
        let own = if args.tuning.read_only { user_tools::that_only_read(own) } else { own };
        let may_ask = is_attended && !args.tuning.read_only;
        let pages = PageAccess::of(setup::domains(&args.tuning.web)?, may_ask);
        let rules = rules(&args)?;
        let replay = Replay::read(&mut args)?;
        let (form, limits) = (None, LimitArgs::default());
        Ok(Self { args, mode, folder, own, pages, rules, past, replay, form, limits })
    }

    /// Adds a form of the final answer, and limits.
    pub(crate) fn with(self, form: Option<AnswerSchema>, limits: LimitArgs) -> Self {
        Self { form, limits, ..self }
    }

    /// Returns the session that goes on, adapted to the present wishes, or the plan of a new one.
    pub(super) async fn source(
        &mut self,
        provider: &Provider,
        catalogue: &Catalogue,
        is_attended: bool,
    ) -> Result<SessionSource, CliError> {
        let (args, pages) = (&self.args, &self.pages);
        let specs = self.own.iter().map(|tool| tool.spec().clone()).collect::<Vec<_>>();
        if let Some(past) = self.past.take() {
            let past = past.with_model(provider, catalogue)?.with_pages(pages)?;
            let past = past.with_tools(&specs, args.tuning.read_only)?;
            let past = if asks_person(args) { past.with_questions()? } else { past };
            return Ok(SessionSource::Kept(Box::new(past)));
        }
        let asks = asks_about(args, self.mode, is_attended);
        let plan =
            SessionPlan::read(provider, &args.model, &args.tuning, specs, asks, pages).await?;
        Ok(SessionSource::New(Box::new(plan)))
    }

    /// Removes tools that change something if the session only reads, and checks that rules name
    /// tools of the session.
    pub(super) fn narrow(&self, config: &mut SessionConfig) -> Result<(), CliError> {
        let tuning = &self.args.tuning;
        if tuning.read_only {
            config.tools.retain(|tool| tool.read_only);
        }
        // Only rules of options are checked: settings may name tools of other sessions.
        if tuning.allow.is_empty() {
            return Ok(());
        }
        self.rules.check(config).map_err(|why| CliError::usage(format!("--allow: {why}")))
    }

    /// Sets the form of the final answer and the limits.
    pub(super) fn bound(&mut self, config: &mut SessionConfig) -> Result<(), CliError> {
        self.form.take().into_iter().for_each(|form| form.set(config));
        limits::set(self.limits, config)
    }

    /// Returns the tools of the site, with `keys` masked in their output.
    pub(super) fn tools(&mut self, site: &WorkSite, keys: &SecretKeys) -> ToolRunner {
        let tools = mem::take(&mut self.own).into_iter().fold(site.tools(keys), ToolRunner::with);
        tools.with_web_fetch(self.pages.reader())
    }
}

/// Returns the rules of options, or else those of settings.
fn rules(args: &SessionArgs) -> Result<CallRules, CliError> {
    let (options, settings) = (&args.tuning.allow, &args.tuning.settings.allow);
    let rules = if options.is_empty() {
        CallRules::parse(settings).map_err(|why| CliError::configuration(format!("allow: {why}")))
    } else {
        CallRules::parse(options).map_err(|why| CliError::usage(format!("--allow: {why}")))
    }?;
    rules.understood().for_each(|rule| warn(&rule));
    Ok(rules)
}

/// Returns whether the model of a session that goes on may ask the person. The user's settings say
/// no for good, as they do for a new session.
fn asks_person(args: &SessionArgs) -> bool {
    let settings = args.tuning.settings.user.as_deref().unwrap_or_default();
    let said = serde_json::from_str(settings)
        .ok()
        .and_then(|said: Value| said.get("ask_user").and_then(Value::as_bool));
    args.tuning.asks_person == Some(true) && said != Some(false)
}

/// Returns the calls that need approval if neither the preset nor the user says more.
fn asks_about(args: &SessionArgs, mode: ChangeMode, is_attended: bool) -> AskAbout {
    match args.environment.env {
        // Nothing can be dropped at the end of a run in place, so that each change is asked about.
        _ if is_attended && mode == ChangeMode::InPlace => AskAbout::Changes,
        ExecutionTarget::Local => AskAbout::Programs,
        ExecutionTarget::Sandbox => AskAbout::Nothing,
    }
}
