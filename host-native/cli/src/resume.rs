//! `innerloop resume`: goes on with a session that was kept, also if its program ended in the
//! middle of a run; then requests are sent again, and calls that ran are reported as lost. With a
//! prompt it is one run; without one it is a conversation on a terminal.

use super::{
    answer_schema::AnswerSchema,
    args::{EnvironmentArgs, ModelArgs, ResumeArgs, SessionArgs, TuningArgs},
    attach,
    call_summary::CallDescriber,
    config,
    console::{say_escaped, warn},
    conversation::{self, InitialInput},
    exit::CliError,
    interrupts::ShutdownHandle,
    key_in_use::KeyInUse,
    message_file::MessageFile,
    report::RunReport,
    resumed_session::ResumableSession,
    review::{self, ChangeMode, PendingChanges, ReviewOutcome},
    run::{self, PreparedRun},
    run_view,
    session_setup::{ActiveSession, SessionRequest},
    sessions::{self, SessionInfo, SessionStore},
    settings, setup,
    style::OutputStyle,
};
use innerloop_core::{
    input::Command,
    json::{JsonObject, from_str},
    message::Part,
};
use std::{env, path::Path};

/// The prompt for a run that has failed or was stopped, if the user gives none.
const GO_ON: &str = "Go on.";

/// The most characters of a call in a notice.
const LOST: usize = 60;

/// Goes on with the session.
pub(super) async fn run(mut args: ResumeArgs) -> Result<(), CliError> {
    args.output.color = settings::color(args.output.color, !args.settings.no_settings);
    let (output, limits) = (args.output, args.limits);
    let taken = taken(&args);
    let past = match taken {
        Ok(past) => past,
        Err(failure) => {
            return run::to_the_end(output, limits, async { Err(failure) }).await;
        }
    };
    if is_talk(&args) {
        return talk(args, past).await;
    }
    let has_changes = past.held().is_some_and(|held| held.kept.has_changes());
    if args.prompt.is_none() && args.attach.is_empty() && !past.goes_on() && has_changes {
        let report = match apply(&args, past).await {
            Ok(report) => report,
            Err(failure) => RunReport::failed(failure),
        };
        if output.json {
            say_escaped(&report.record());
        }
        return report.result();
    }
    run::to_the_end(output, limits, begin(args, past)).await
}

/// Opens the session that is meant, with the changes of its configuration.
fn taken(args: &ResumeArgs) -> Result<ResumableSession, CliError> {
    let folder = args.workspace.as_deref();
    let past = if sessions::is_file(&args.session) {
        ResumableSession::import(&args.session, folder)?
    } else {
        let folder = folder.unwrap_or(Path::new("."));
        ResumableSession::read(SessionStore::open()?.find(&args.session, folder)?.hold()?)?
    };
    let tuning = tuning(args, past.about());
    let changes: JsonObject = from_str(&config::options(&tuning)?).map_err(CliError::usage)?;
    past.with(args.model.clone(), changes)
}

/// Returns whether this is a conversation: somebody sits at a terminal, and has given neither a
/// prompt nor an option that only a run has.
fn is_talk(args: &ResumeArgs) -> bool {
    let ResumeArgs { result, limits, .. } = args;
    let is_run = limits.timeout.is_some()
        || limits.max_cost_usd.is_some()
        || limits.max_tokens.is_some()
        || result.file.is_some()
        || result.schema.is_some()
        || args.apply
        || args.diff;
    let is_silent = args.prompt.is_none() && args.attach.is_empty();
    is_silent && !is_run && run::is_attended(args.output)
}

/// Goes on as a conversation, after showing the last exchange.
async fn talk(args: ResumeArgs, past: ResumableSession) -> Result<(), CliError> {
    let style = OutputStyle::new(args.output.color.unwrap_or_default());
    let said = sessions::last_exchange(past.session());
    let mut options = options(args, past.about())?;
    // Unless the options say no, since somebody is here.
    options.tuning.asks_person.get_or_insert(true);
    said.lines().for_each(warn);
    goes_on_with(&past).iter().for_each(|line| warn(line));
    let first = past.was_stopped().then(|| Command::submit(vec![Part::text(GO_ON)]));
    let first = InitialInput { commands: first.into_iter().collect(), words: None };
    conversation::talk(options, Some(past), first, style).await
}

/// Returns a notice about what the session will do by itself. It costs money, so that the user is
/// told first.
fn goes_on_with(past: &ResumableSession) -> Option<String> {
    if past.was_stopped() {
        return Some(format!(
            "its last run came to no answer: the agent is told \u{201c}{GO_ON}\u{201d} now; Esc \
             stops it"
        ));
    }
    if !past.is_under_way {
        return None;
    }
    let words = CallDescriber::new(past.session().config());
    let lost = past.open_calls();
    let lost: Vec<String> =
        lost.iter().map(|call| words.phrase(&call.name, &call.arguments).label(LOST)).collect();
    let what = match lost.as_slice() {
        [] => "the model is asked again".to_owned(),
        lost => {
            format!("the model is told that it is not known what became of {}", lost.join(", "))
        }
    };
    Some(format!(
        "its program was ended in the middle of a run, which goes on now: {what}; Esc stops it"
    ))
}

/// Applies or shows the changes that a session holds, without running the agent.
async fn apply(args: &ResumeArgs, mut past: ResumableSession) -> Result<RunReport, CliError> {
    let own = past.about().options.clone();
    let says_where = args.apply || args.diff;
    let mode = match (args.apply || !says_where && own.mode == ChangeMode::Apply, args.diff) {
        (true, _) => ChangeMode::Apply,
        (_, true) => ChangeMode::Show,
        _ if args.in_place => ChangeMode::Apply,
        _ => return Err(nothing_to_do(past.about(), true)),
    };
    let folder = setup::workspace(&past.about().workspace, own.any_folder)?;
    let mut held = past.take_held();
    let workspace = super::session_setup::over(folder, mode, held.as_ref())?;
    let (ending, style) =
        (ShutdownHandle::default(), OutputStyle::new(args.output.color.unwrap_or_default()));
    let mut report = RunReport::new(&KeyInUse::default(), mode);
    report.without_run();
    report.compare(&workspace, &ending).await;
    run_view::changes(&report, args.output, style, mode);
    let has_changes = report.has_changes();
    let pending = PendingChanges { mode, workspace: &workspace, held: held.as_mut(), has_changes };
    let ReviewOutcome { settled, failure } = review::settle(pending, None, &ending).await;
    report.settled(settled);
    failure.into_iter().for_each(|failure| report.unsettled(failure));
    if !args.output.json && !args.output.quiet {
        report.fate().iter().for_each(|line| warn(line));
    }
    Ok(report)
}

/// Prepares the session to be driven, with the input that is sent to it.
async fn begin(args: ResumeArgs, past: ResumableSession) -> Result<PreparedRun, CliError> {
    let output = args.output;
    let is_under_way = past.is_under_way;
    let attached = attach::read(&args.attach)?;
    let form = args.result.schema.as_deref().map(AnswerSchema::read).transpose()?;
    let file = args.result.file.as_deref().map(MessageFile::check).transpose()?;
    let limits = args.limits;
    let said: Vec<Part> = match &args.prompt {
        Some(prompt) => {
            let prompt = setup::given(prompt.clone(), "the prompt").await?;
            std::iter::once(Part::text(prompt)).chain(attached).collect()
        }
        None if past.was_stopped() => std::iter::once(Part::text(GO_ON)).chain(attached).collect(),
        None if is_under_way && attached.is_empty() => Vec::new(),
        None => return Err(nothing_to_do(past.about(), false)),
    };
    let options = options(args, past.about())?;
    let asked = SessionRequest::read(options, Some(past), run::is_attended(output)).await?;
    let work = ActiveSession::begin(asked.with(form, limits), run::audience(output)).await?;
    file.iter().for_each(|file| work.workspace.reserve(file.path()));
    if is_under_way {
        warn("the session was stopped in the middle of a run, which goes on");
    }
    let word = match said.is_empty() {
        true => None,
        false if is_under_way => Some(Command::Steer { parts: said }),
        false => Some(Command::submit(said)),
    };
    Ok(PreparedRun { work, said: word.into_iter().collect(), file })
}

fn nothing_to_do(about: &SessionInfo, has_changes: bool) -> CliError {
    let title = if about.title.is_empty() { "nothing was said yet" } else { &about.title };
    let what = match has_changes {
        true => "say what to do next, or with --apply that the changes it holds be applied",
        false => "say what to do next",
    };
    CliError::usage(format!("the session ({title}) waits for you: {what}"))
}

/// Returns the options that change the session's configuration.
fn tuning(args: &ResumeArgs, about: &SessionInfo) -> TuningArgs {
    let own = &about.options;
    let allow = if args.allow.is_empty() { own.allow.clone() } else { args.allow.clone() };
    TuningArgs {
        approve: args.approve,
        allow,
        // Never off again: the session's other tools are gone from its configuration.
        read_only: args.read_only || own.read_only,
        asks_person: args.no_questions.then_some(false),
        web: own.web.clone(),
        effort: args.effort.clone(),
        max_turns: args.max_turns,
        max_tool_rounds: args.max_tool_rounds,
        ..TuningArgs::default()
    }
}

/// Returns the options that open the session again: its own, overridden by those that are given.
fn options(args: ResumeArgs, about: &SessionInfo) -> Result<SessionArgs, CliError> {
    let own = &about.options;
    let tuning = tuning(&args, about);
    let says_where = args.apply || args.diff || args.in_place || tuning.read_only;
    let mode = |given: bool, mode: ChangeMode| given || !says_where && own.mode == mode;
    Ok(SessionArgs {
        workspace: about.workspace.clone(),
        any_folder: own.any_folder,
        apply: mode(args.apply, ChangeMode::Apply),
        diff: mode(args.diff, ChangeMode::Show),
        in_place: mode(args.in_place, ChangeMode::InPlace),
        ephemeral: false,
        model: ModelArgs {
            provider: Some(about.provider.clone()),
            model: None,
            base_url: args.base_url.or_else(|| own.base_url.clone()),
            ..ModelArgs::default()
        },
        tuning,
        settings: args.settings,
        files: args.files,
        guests: own.guests.clone(),
        environment: EnvironmentArgs {
            set_env: variables(&own.environment.set_env, args.set_env)?,
            ..own.environment.clone()
        },
    })
}

/// Returns the variables of a session, of which only the names are stored, with values that are
/// given now or come from this program's environment.
fn variables(kept: &[String], mut given: Vec<String>) -> Result<Vec<String>, CliError> {
    let named = sessions::names(&given);
    for name in kept.iter().filter(|name| !named.contains(name)) {
        let value = env::var(name).map_err(|_| {
            CliError::usage(format!(
                "the session sets the variable {name} for commands, whose value is not kept: give \
                 it again with --set-env {name}=VALUE, or have {name} in the environment"
            ))
        })?;
        warn(&format!("{name} has the value of the environment, as --set-env {name} is not given"));
        given.push(format!("{name}={value}"));
    }
    Ok(given)
}
