//! `innerloop tool`: runs one tool in the sandbox and prints what it says.

use super::{
    args::ToolArgs,
    console::say,
    environment,
    exit::{Exit, Failure},
    interrupts::Interrupts,
    own, setup,
};
use crate::{
    environment::{Environment, Request, Stop},
    sandbox::Executor,
    tools::OwnTool,
};
use innerloop_core::{
    Profile,
    action::{Action, Outcome, ToolError},
    config::{Facts, ProfileKind, Timeouts, Vocabulary},
    id::AgentId,
    json::{Json, from_str, to_string},
    schema,
    tool::{Job, ToolRun},
};
use serde_json::{Map, Value};
use std::{
    slice,
    sync::{Arc, OnceLock},
    time::Duration,
};

/// Whose words the arguments are in.
const PROFILE: Profile = Profile::new(ProfileKind::Anthropic, Vocabulary::Seed);

pub(super) async fn run(args: ToolArgs) -> Result<(), Failure> {
    let own = own::read(&args.guests.tools)?.into_iter().find(|own| own.spec().name == args.name);
    let web = setup::web(&args.web)?;
    let arguments = setup::given(args.arguments, "the JSON of the arguments").await?;
    let workspace = setup::workspace(&args.workspace, args.any_folder)?;
    let sandbox = setup::executor(workspace, args.guests.programs.as_deref(), None)?
        .with_isolation(args.guests.isolation());
    let facts = environment::facts(&args.environment, &sandbox);
    let asked = match own {
        Some(tool) => Asked::own(tool, &arguments)?,
        None => Asked::builtin(&args.name, &arguments, &facts)?.reading(web),
    };
    let local = environment::open(&args.environment, &args.guests, &sandbox)?;
    let place: &dyn Environment = local.as_ref().map_or(&sandbox, |local| local);
    let mut interrupts = Interrupts::new()?;
    let signal = Arc::new(OnceLock::new());
    let heard = Arc::clone(&signal);
    let stop = Box::pin(async move {
        let exit = interrupts.next().await;
        heard.get_or_init(|| exit);
    });
    let outcome = asked.run(&sandbox, place, stop).await?;
    told(&outcome, signal.get().copied())
}

/// Prints what the tool said; an error is one of the program, too.
fn told(outcome: &Outcome, signal: Option<Exit>) -> Result<(), Failure> {
    let text = outcome.joined_text();
    let text = text.strip_suffix('\n').unwrap_or(&text);
    // Another program gets what the tool said as it is.
    say(text);
    match outcome.error {
        None => Ok(()),
        Some(ToolError::Interrupted) => {
            let exit = signal.unwrap_or(Exit::Interrupted);
            Err(Failure::new(exit, "interrupted; what was done so far stays"))
        }
        Some(error) => {
            let kind = to_string(&error);
            let timed_out = if outcome.timed_out { ", at its time limit" } else { "" };
            let kind = kind.trim_matches('"');
            Err(Failure::new(Exit::Failed, format!("the tool failed: {kind}{timed_out}")))
        }
    }
}

/// What is to be run.
struct Asked {
    work: Work,
    /// The time limit that the call or the tool asks for.
    timeout_ms: Option<u64>,
}

enum Work {
    Builtin(Action),
    Own(OwnTool, Json),
}

impl Asked {
    /// The action of that name, in the words of the model's profile or else in canonical ones.
    fn builtin(name: &str, arguments: &str, facts: &Facts) -> Result<Self, Failure> {
        let mut value = object(arguments)?;
        let why = match PROFILE.translate(facts, name, arguments) {
            Ok(call) => {
                let work = Work::Builtin(call.action);
                return Ok(Self { work, timeout_ms: call.timeout_ms });
            }
            Err(why) => why,
        };
        value.insert("action".to_owned(), Value::from(name));
        let action = serde_json::from_value(value.into()).map_err(|error| {
            Failure::usage(if PROFILE.knows(name) { why } else { format!("{name}: {error}") })
        })?;
        Ok(Self { work: Work::Builtin(action), timeout_ms: None })
    }

    /// The same, where pages of the web are read by `web`, if they are at all.
    fn reading(self, web: Option<OwnTool>) -> Self {
        match (self.work, web) {
            (Work::Builtin(action @ Action::Fetch { .. }), Some(web)) => {
                Self { work: Work::Own(web, Json::of(&action)), ..self }
            }
            (work, _) => Self { work, ..self },
        }
    }

    /// A call of one of the user's tools.
    fn own(tool: OwnTool, arguments: &str) -> Result<Self, Failure> {
        object(arguments)?;
        let schema = schema::of_tool(tool.spec()).map_err(Failure::configuration)?;
        let value = from_str(arguments).map_err(Failure::usage)?;
        let violations = schema::violations(&schema, &value).join("; ");
        if !violations.is_empty() {
            return Err(Failure::usage(format!("{}: {violations}", tool.spec().name)));
        }
        let arguments = Json::parse(arguments).map_err(Failure::usage)?;
        let timeout_ms = tool.spec().timeout_ms;
        Ok(Self { work: Work::Own(tool, arguments), timeout_ms })
    }

    async fn run(
        self,
        sandbox: &Executor,
        place: &dyn Environment,
        stop: Stop,
    ) -> Result<Outcome, Failure> {
        let timeouts = Timeouts::default();
        let asked = self.timeout_ms.or(PROFILE.default_command_ms());
        let asked = asked.unwrap_or(timeouts.default_command_ms);
        let timeout_ms = asked.clamp(1, timeouts.max_command_ms);
        let (tool, arguments) = match self.work {
            Work::Builtin(action) => {
                let request = Request {
                    action,
                    call_id: String::new(),
                    agent: AgentId::ROOT,
                    folder: String::new(),
                    known: None,
                    timeout: Duration::from_millis(timeout_ms),
                    on_delta: None,
                    stop,
                };
                return Ok(place.carry_out(request).await);
            }
            Work::Own(tool, arguments) => (tool, arguments),
        };
        own::prepare(slice::from_ref(&tool), sandbox).await?;
        let run = ToolRun {
            call_id: "tool".to_owned(),
            name: tool.spec().name.clone(),
            job: Job::Custom(arguments.clone()),
            folder: String::new(),
            known: None,
            timeout_ms,
        };
        Ok(tool.run(sandbox, &run, &arguments, Arc::new(|_: &str| ()), stop).await)
    }
}

/// The arguments as an object of JSON.
fn object(arguments: &str) -> Result<Map<String, Value>, Failure> {
    match serde_json::from_str(arguments) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(Failure::usage("the arguments are no JSON object; write {\"name\": …}")),
        Err(error) => Err(Failure::usage(format!("the arguments are no JSON: {error}"))),
    }
}
