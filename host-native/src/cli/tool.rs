//! `innerloop tool`: runs one tool in the sandbox and prints what it says.

use super::{
    args::ToolArgs,
    console::say,
    exit::{Exit, Failure},
    interrupts::Interrupts,
    setup,
    style::harmless,
};
use innerloop_core::{
    Profile,
    action::{Action, ToolError},
    config::{Facts, ProfileKind, Timeouts, Vocabulary},
    json::to_string,
};
use serde_json::Value;
use std::{
    io::{IsTerminal, stdout},
    sync::{Arc, OnceLock},
    time::Duration,
};

/// Whose words the arguments are in.
const PROFILE: Profile = Profile::new(ProfileKind::Anthropic, Vocabulary::Seed);

pub(super) async fn run(args: ToolArgs) -> Result<(), Failure> {
    let arguments = setup::given(args.arguments, "the JSON of the arguments").await?;
    let (action, timeout_ms) = read(&args.name, &arguments)?;
    let sandbox = setup::sandbox(&args.workspace, args.programs.as_deref(), None).await?;
    let timeouts = Timeouts::default();
    let family = PROFILE.default_command_ms();
    let asked = timeout_ms.or(family).unwrap_or(timeouts.default_command_ms);
    let timeout = Duration::from_millis(asked.min(timeouts.max_command_ms));
    let mut interrupts = Interrupts::new()?;
    let signal = Arc::new(OnceLock::new());
    let heard = Arc::clone(&signal);
    let stop = async move {
        let exit = interrupts.next().await;
        heard.get_or_init(|| exit);
    };
    let outcome = sandbox.run_until(&action, timeout, None, stop).await;
    let text = outcome.joined_text();
    let text = text.strip_suffix('\n').unwrap_or(&text);
    // Another program gets what the tool said as it is.
    say(&if stdout().is_terminal() { harmless(text) } else { text.into() });
    match outcome.error {
        None => Ok(()),
        Some(ToolError::Interrupted) => {
            let exit = signal.get().copied().unwrap_or(Exit::Interrupted);
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

/// The action of that name, in the words of the model's profile or else in canonical ones.
fn read(name: &str, arguments: &str) -> Result<(Action, Option<u64>), Failure> {
    let mut value: Value = serde_json::from_str(arguments)
        .map_err(|error| Failure::usage(format!("the arguments are no JSON: {error}")))?;
    let Some(fields) = value.as_object_mut() else {
        return Err(Failure::usage("the arguments are no JSON object; write {\"name\": …}"));
    };
    let why = match PROFILE.translate(&Facts::default(), name, arguments) {
        Ok(translated) => return Ok((translated.action, translated.timeout_ms)),
        Err(why) => why,
    };
    fields.insert("action".to_owned(), Value::from(name));
    let action = serde_json::from_value(value).map_err(|error| {
        Failure::usage(if PROFILE.knows(name) { why } else { format!("{name}: {error}") })
    })?;
    Ok((action, None))
}
