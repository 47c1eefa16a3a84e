//! An environment that logs what is asked of another one, which it passes every action on to
//! unchanged.

use super::interface::{ActionRequest, Environment, OutcomeFuture};
use innerloop_core::{
    action::{Action, Outcome, Patch},
    config::EnvironmentFacts,
    json::to_string,
};
use std::{
    fmt::{self, Debug},
    slice,
    sync::Arc,
    time::Instant,
};

/// Writes a line for each action and one for its end; everything else is left to the environment
/// inside.
#[derive(Clone)]
pub struct LoggingEnvironment<E> {
    inner: E,
    log: Arc<dyn Fn(&str) + Send + Sync>,
}

impl<E: Environment> LoggingEnvironment<E> {
    /// Wraps that environment. `log` is called with each line, such as `exec: ls -l`, `write:
    /// a.txt`, `exit: 0 in 12 ms`, `done in 1 ms` and `failed: not_found in 1 ms`.
    pub fn new(inner: E, log: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { inner, log: Arc::new(log) }
    }
}

impl<E: Environment> Environment for LoggingEnvironment<E> {
    fn carry_out(&self, request: ActionRequest) -> OutcomeFuture<'_> {
        (self.log)(&told(&request.action));
        // The first line is written before the future is awaited, so that a log also shows an
        // action that never ends or is dropped.
        let begun = Instant::now();
        Box::pin(async move {
            let outcome = self.inner.carry_out(request).await;
            let end = end(&outcome);
            (self.log)(&format!("{end} in {} ms", begun.elapsed().as_millis()));
            outcome
        })
    }

    fn facts(&self, found: EnvironmentFacts) -> EnvironmentFacts {
        self.inner.facts(found)
    }
}

impl<E: Debug> Debug for LoggingEnvironment<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LoggingEnvironment").field(&self.inner).finish()
    }
}

/// Returns an action as one line.
fn told(action: &Action) -> String {
    let (what, on) = match action {
        Action::Shell { command, .. } => ("exec", command.clone()),
        Action::RunProgram { program, args, .. } => {
            ("exec", [slice::from_ref(program), &**args].concat().join(" "))
        }
        Action::Patch { patch, .. } => {
            let parsed = Patch::parse(patch).ok();
            let files = parsed.iter().flat_map(Patch::paths).map(|file| file.path);
            ("patch", files.collect::<Vec<_>>().join(", "))
        }
        Action::ReadMany { include, .. } => ("read", include.join(", ")),
        Action::Fetch { urls, .. } => ("fetch", urls.join(", ")),
        Action::Read { .. } | Action::ViewImage { .. } => ("read", path(action)),
        Action::Write { .. } => ("write", path(action)),
        Action::Edit { .. } => ("edit", path(action)),
        Action::List { .. } => ("list", path(action)),
        Action::Glob { pattern, .. } => ("glob", pattern.clone()),
        Action::Grep(grep) => ("grep", grep.pattern.clone()),
    };
    // A command may have many lines; readers of the log count on one for each action.
    format!("{what}: {}", on.replace('\n', "\\n"))
}

fn path(action: &Action) -> String {
    action.path().unwrap_or(".").to_owned()
}

/// Returns the words for how an action has ended.
fn end(outcome: &Outcome) -> String {
    match (outcome.exit, outcome.error) {
        (Some(code), _) => format!("exit: {code}"),
        (None, None) => "done".to_owned(),
        (None, Some(error)) => format!("failed: {}", to_string(&error).trim_matches('"')),
    }
}
