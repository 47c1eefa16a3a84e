//! `innerloop tool`: runs one tool in the sandbox and prints its output as it comes; without
//! arguments, describes the tools. A tool can be named as a model knows it, as an action, or as one
//! of the user's own, which come first.

use super::{
    args::ToolArgs,
    arguments::{ToolParameters, nearest, unknown},
    console::{note, say, say_escaped, shown, warn},
    environment,
    exit::{CliError, ExitReason},
    interrupts::SignalStream,
    setup, user_tools,
};
use innerloop_core::{
    Profile,
    action::{Action, Outcome, Part, ToolError},
    config::{EnvironmentFacts, ProfileKind, ToolTimeouts, VocabularyKind},
    json::{self, Json, JsonFault, VariantNames as _, from_str, to_string},
    schema,
    tool::{Job, ToolRun, ToolSpec},
};
use innerloop_host::{
    environment::{ActionRequest, Environment, StopFuture},
    tools::OwnTool,
};
use innerloop_sandbox::{CallContext, Executor, OnDelta, OnProgress, programs::ProgramRegistry};
use serde_json::{Map, Value};
use std::{
    fmt::Write as _,
    io::{Write as _, stdout},
    slice,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

/// The profile whose vocabulary names the tools and their arguments.
const PROFILE: Profile = Profile::new(ProfileKind::Anthropic, VocabularyKind::Seed);

pub(super) async fn run(args: ToolArgs) -> Result<(), CliError> {
    let own = user_tools::read(&args.guests.tools)?;
    match (&args.name, &args.arguments) {
        (None, _) => list(&args, &own),
        (Some(name), None) => describe(name, &args, &own),
        (Some(name), Some(arguments)) => {
            let (name, arguments) = (name.clone(), arguments.clone());
            let own = own.into_iter().find(|own| own.spec().name == name);
            call(&name, arguments, own, args).await
        }
    }
}

/// Lists the tools, each with its arguments.
fn list(args: &ToolArgs, own: &[OwnTool]) -> Result<(), CliError> {
    let specs = specs(args, own)?;
    if args.json {
        specs.iter().for_each(|spec| say_escaped(&to_string(spec)));
        return Ok(());
    }
    let width = specs.iter().map(|spec| spec.name.len()).max().unwrap_or_default();
    for spec in &specs {
        let about = spec.description.split_inclusive(". ").next().unwrap_or_default();
        say(&format!("{:<width$}  {}", spec.name, about.trim_end()));
        say(&format!("{:<width$}  {}", "", ToolParameters::of(spec).line()));
    }
    let actions = Action::VARIANTS.join(", ");
    say("\ninnerloop tool NAME tells more of one, innerloop tool NAME JSON runs it.");
    say(&format!("Actions have names of their own, too: {actions}."));
    Ok(())
}

/// Returns the tools under the names of the specification, and the user's own, which come first.
fn specs(args: &ToolArgs, own: &[OwnTool]) -> Result<Vec<ToolSpec>, CliError> {
    let programs = ProgramRegistry::find(args.guests.programs.as_deref());
    let mut programs = programs.map_err(CliError::configuration)?;
    if let Ok(workspace) = setup::workspace(&args.workspace, args.any_folder) {
        programs = programs.in_project(&workspace).map_err(CliError::configuration)?;
    }
    let facts = environment::facts(&args.environment, &programs);
    let mut specs: Vec<ToolSpec> = own.iter().map(|own| own.spec().clone()).collect();
    let builtin = builtin(&facts);
    let web = setup::web(&args.web)?.and_then(|web| PROFILE.tool(&web.spec().name));
    for spec in builtin.into_iter().chain(web) {
        if specs.iter().all(|other| other.name != spec.name) {
            specs.push(spec);
        }
    }
    Ok(specs)
}

/// Returns all tools that become actions, under the names of the specification. No single family
/// has all of them, so that those of three are merged.
fn builtin(facts: &EnvironmentFacts) -> Vec<ToolSpec> {
    let kinds = [ProfileKind::Anthropic, ProfileKind::Openai, ProfileKind::Gemini];
    let mut specs: Vec<ToolSpec> = Vec::new();
    for kind in kinds {
        let tools = Profile::new(kind, VocabularyKind::Seed).tools(facts);
        let is_new = |spec: &ToolSpec| specs.iter().all(|other| other.name != spec.name);
        let new: Vec<ToolSpec> = tools.into_iter().filter(is_new).collect();
        specs.extend(new);
    }
    specs
}

/// Describes a tool and its arguments, with a call that works.
fn describe(name: &str, args: &ToolArgs, own: &[OwnTool]) -> Result<(), CliError> {
    let own = own.iter().map(OwnTool::spec).find(|spec| spec.name == name).cloned();
    let Some(spec) = own.or_else(|| PROFILE.tool(name)) else {
        let fields = Action::fields(name).ok_or_else(|| no_tool(name))?;
        say(&format!("{name}, an action, takes {}", fields.join(", ")));
        return Ok(());
    };
    if args.json {
        say_escaped(&to_string(&spec));
        return Ok(());
    }
    let fields = ToolParameters::of(&spec);
    let mut text = format!("{}: {}\n", spec.name, spec.description);
    for line in fields.lines() {
        let _written = write!(text, "\n  {line}");
    }
    // Quoted for a shell, since people copy the line.
    let example = fields.example(name).replace('\'', "'\\''");
    let folders = args.guests.tools.iter().map(|folder| format!(" --tool {}", folder.display()));
    let _written =
        write!(text, "\n\n  innerloop tool {name} '{example}'{}", folders.collect::<String>());
    say(&text);
    Ok(())
}

/// Runs a tool.
async fn call(
    name: &str,
    arguments: String,
    own: Option<OwnTool>,
    args: ToolArgs,
) -> Result<(), CliError> {
    let web = setup::web(&args.web)?;
    let arguments = setup::given(arguments, "the JSON of the arguments").await?;
    let workspace = setup::workspace(&args.workspace, args.any_folder)?;
    let tell: OnProgress = Arc::new(|line: &str| warn(line));
    let site = setup::site(workspace, args.guests.programs.as_deref(), Some(tell))?
        .with_isolation(args.guests.isolation());
    let facts = environment::facts(&args.environment, site.sandbox().programs());
    let asked = match own {
        Some(tool) => ToolRequest::own(tool, &arguments)?,
        None => ToolRequest::builtin(name, &arguments, &facts)?.reading(web),
    };
    let site = environment::open(&args.environment, &args.guests, site)?;
    let mut interrupts = SignalStream::new()?;
    let signal = Arc::new(OnceLock::new());
    let heard = Arc::clone(&signal);
    let stop = Box::pin(async move {
        let exit = interrupts.next().await;
        heard.get_or_init(|| exit);
    });
    let live = LivePrinter::default();
    let on_delta = (!args.json).then(|| live.watcher());
    let outcome = asked.run(site.sandbox(), site.place(), on_delta, stop).await?;
    match args.json {
        true => say_escaped(&to_string(&outcome)),
        false => live.end(&outcome),
    }
    told(&outcome, signal.get().copied())
}

/// The printer that shows a program's output as it comes.
#[derive(Clone, Default)]
struct LivePrinter {
    /// The last character that was shown.
    last: Arc<Mutex<Option<char>>>,
}

impl LivePrinter {
    fn watcher(&self) -> OnDelta {
        let last = Arc::clone(&self.last);
        Arc::new(move |text: &str| {
            let mut out = stdout().lock();
            note(out.write_all(shown(text).as_bytes()).and_then(|()| out.flush()));
            let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
            *last = text.chars().next_back().or(*last);
        })
    }

    /// Shows the rest of the outcome at the end: all of it, if nothing was shown before.
    fn end(&self, outcome: &Outcome) {
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(last) = last.filter(|_| outcome.stdout().is_some()) else {
            let text = outcome.joined_text();
            // `say` adds a line feed: a program that reads it should get the text unchanged.
            return say(text.strip_suffix('\n').unwrap_or(&text));
        };
        // The first two parts are the streams, which were shown as they came.
        let rest = outcome.parts.get(2..).unwrap_or_default();
        let rest: String = rest.iter().filter_map(Part::as_text).collect();
        match (last == '\n', rest.trim_matches('\n')) {
            (true, "") => {}
            (true, rest) => say(rest),
            (false, "") => say(""),
            (false, rest) => say(&format!("\n{rest}")),
        }
    }
}

/// Returns an error if the tool has failed.
fn told(outcome: &Outcome, signal: Option<ExitReason>) -> Result<(), CliError> {
    match outcome.error {
        None => Ok(()),
        Some(ToolError::Interrupted) => {
            let exit = signal.unwrap_or(ExitReason::Interrupted);
            Err(CliError::new(exit, "interrupted; what was done so far stays"))
        }
        Some(error) => {
            let kind = match (error, outcome.exit) {
                (ToolError::Exit, Some(code)) => format!("exit code {code}"),
                _ => to_string(&error).trim_matches('"').to_owned(),
            };
            let timed_out = if outcome.timed_out { ", at its time limit" } else { "" };
            Err(CliError::new(ExitReason::Failed, format!("the tool failed: {kind}{timed_out}")))
        }
    }
}

/// The call that should be run.
struct ToolRequest {
    work: ToolInvocation,
    /// The time limit that the call or the tool asks for.
    timeout_ms: Option<u64>,
}

enum ToolInvocation {
    Builtin(Action),
    Own(OwnTool, Json),
}

impl ToolRequest {
    /// Returns the call of a built-in tool, by its name for models or as an action.
    fn builtin(name: &str, arguments: &str, facts: &EnvironmentFacts) -> Result<Self, CliError> {
        let value = object(arguments)?;
        let why = match PROFILE.translate(facts, name, arguments) {
            Ok(call) => {
                let work = ToolInvocation::Builtin(call.action);
                return Ok(Self { work, timeout_ms: call.timeout_ms });
            }
            Err(why) => why,
        };
        let spec = PROFILE.tool(name);
        if spec.is_none() && !Action::VARIANTS.contains(&name) {
            return Err(no_tool(name));
        }
        let mut action = value.clone();
        action.insert("action".to_owned(), Value::from(name));
        match (from_str(&Value::from(action).to_string()), spec) {
            (Ok(action), _) => Ok(Self { work: ToolInvocation::Builtin(action), timeout_ms: None }),
            (Err(_), Some(spec)) => Err(misfit(&spec, &value, &why)),
            (Err(error), None) => Err(CliError::usage(format!("{name}: {}", in_action(&error)))),
        }
    }

    /// Has pages of the web read by `web`, if there is one.
    fn reading(self, web: Option<OwnTool>) -> Self {
        match (self.work, web) {
            (ToolInvocation::Builtin(action @ Action::Fetch { .. }), Some(web)) => {
                Self { work: ToolInvocation::Own(web, Json::of(&action)), ..self }
            }
            (work, _) => Self { work, ..self },
        }
    }

    /// Returns the call of one of the user's tools.
    fn own(tool: OwnTool, arguments: &str) -> Result<Self, CliError> {
        let given = object(arguments)?;
        let schema = schema::of_tool(tool.spec()).map_err(CliError::configuration)?;
        let value = from_str(arguments).map_err(CliError::usage)?;
        let violations = schema::violations(&schema, &value).join("; ");
        if !violations.is_empty() {
            return Err(misfit(tool.spec(), &given, &violations));
        }
        let arguments = Json::parse(arguments).map_err(CliError::usage)?;
        let timeout_ms = tool.spec().timeout_ms;
        Ok(Self { work: ToolInvocation::Own(tool, arguments), timeout_ms })
    }

    async fn run(
        self,
        sandbox: &Executor,
        place: &dyn Environment,
        on_delta: Option<OnDelta>,
        stop: StopFuture,
    ) -> Result<Outcome, CliError> {
        let timeouts = ToolTimeouts::default();
        let asked = self.timeout_ms.or(PROFILE.default_command_ms());
        let asked = asked.unwrap_or(timeouts.default_command_ms);
        let timeout_ms = asked.clamp(1, timeouts.max_command_ms);
        let (tool, arguments) = match self.work {
            ToolInvocation::Builtin(action) => {
                let request = ActionRequest {
                    action,
                    call: CallContext::default(),
                    timeout: Duration::from_millis(timeout_ms),
                    on_delta,
                    stop,
                };
                return Ok(place.carry_out(request).await);
            }
            ToolInvocation::Own(tool, arguments) => (tool, arguments),
        };
        user_tools::prepare(slice::from_ref(&tool), sandbox).await?;
        let call = CallContext { id: "tool".to_owned(), ..CallContext::default() };
        let run = ToolRun {
            call_id: call.id.clone(),
            name: tool.spec().name.clone(),
            job: Job::Custom(arguments.clone()),
            folder: String::new(),
            known: None,
            timeout_ms,
        };
        let called = (&call, &run, &arguments);
        Ok(tool.run(sandbox, called, Arc::new(|_: &str| ()), stop).await)
    }
}

fn no_tool(name: &str) -> CliError {
    let names = builtin(&EnvironmentFacts::default()).into_iter().map(|spec| spec.name);
    let names: Vec<String> = names.collect();
    let known = names.iter().map(String::as_str).chain(Action::VARIANTS.iter().copied());
    let known: Vec<&str> = known.chain(["web_fetch"]).collect();
    let meant = nearest(name, &known).map(|meant| format!(", did you mean {meant}?"));
    let meant = meant.unwrap_or_default();
    CliError::usage(format!("there is no tool {name}{meant}; `innerloop tool` lists them"))
}

/// Returns the error for arguments that a tool does not take: the faults, and what it takes. `why`
/// is used if no fault is found.
fn misfit(spec: &ToolSpec, given: &Map<String, Value>, why: &str) -> CliError {
    let fields = ToolParameters::of(spec);
    let faults = fields.faults(given).join("; ");
    let prefix = format!("Invalid arguments for tool: {}: ", spec.name);
    let faults = match faults.is_empty() {
        true => why.strip_prefix(&prefix).unwrap_or(why),
        false => &faults,
    };
    CliError::usage(format!("{}: {faults}; it takes {}", spec.name, fields.line()))
}

/// Returns the fault of an action's fields.
fn in_action(error: &json::Error) -> String {
    match error.fault() {
        JsonFault::MissingField { .. } => format!("{}: missing", error.path()),
        JsonFault::UnknownField { name, known } => {
            format!("{}; it takes {}", unknown(name, known), known.join(", "))
        }
        fault => format!("{}: {fault}", error.path()),
    }
}

/// Parses the arguments as a JSON object.
fn object(arguments: &str) -> Result<Map<String, Value>, CliError> {
    match serde_json::from_str(arguments) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(CliError::usage("the arguments are no JSON object; write {\"name\": …}")),
        Err(error) => Err(CliError::usage(format!("the arguments are no JSON: {error}"))),
    }
}
