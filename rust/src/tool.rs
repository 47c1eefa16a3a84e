//! The tools that are async functions of the program. The type of their arguments determines their
//! schema, with which the session checks a call before the function gets it.

use innerloop_core::{action::Outcome, tool::ToolSpec};
use innerloop_face::schema_of;
use innerloop_host::tools::{OwnTool, OwnToolCall};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::{
    fmt::{self, Display},
    future::Future,
    pin::Pin,
    sync::Arc,
    time::Duration,
};

type ToolFunction = dyn Fn(OwnToolCall) -> ToolFuture + Send + Sync;
type ToolFuture = Pin<Box<dyn Future<Output = Result<Outcome, String>> + Send>>;

/// A tool of the program. The model reads its name, its description and the schema of its
/// arguments, whose fields have their doc comments as descriptions.
///
/// ```
/// use innerloop::{JsonSchema, OwnToolCall, Tool};
///
/// #[derive(serde::Deserialize, JsonSchema)]
/// struct Weather {
///     /// The city, with its country.
///     city: String,
/// }
///
/// let tool = Tool::new(
///     "temperature",
///     "The temperature in a city, in degrees Celsius.",
///     async |arguments: Weather, call: OwnToolCall| {
///         call.say("asking the weather service\n");
///         Ok::<_, std::io::Error>(format!("21 degrees in {}", arguments.city))
///     },
/// )
/// .read_only();
/// assert!(tool.spec().parameters.text().contains("The city, with its country."));
/// ```
#[derive(Clone)]
pub struct Tool {
    spec: ToolSpec,
    work: Arc<ToolFunction>,
}

impl Tool {
    /// Makes a tool that is called with arguments of type `A`. The function returns a text as the
    /// result, or an [`Outcome`] with further details. An error or a panic becomes an error result
    /// for the model, and the session goes on. [`OwnToolCall`] has further facts about the call.
    pub fn new<A, F, R, T, E>(
        name: impl Into<String>,
        description: impl Into<String>,
        function: F,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(A, OwnToolCall) -> R + Send + Sync + 'static,
        R: Future<Output = Result<T, E>> + Send + 'static,
        T: Into<Outcome>,
        E: Display,
    {
        let spec = ToolSpec::new(name, description, schema_of::<A>());
        // The schema allows more than the type: what serde refuses behind it, such as a number that
        // is too large, is an error for the model to read.
        let work = move |call: OwnToolCall| match call.read::<A>() {
            Err(error) => Box::pin(async move { Err(error.to_string()) }) as ToolFuture,
            Ok(arguments) => {
                let running = function(arguments, call);
                Box::pin(
                    async move { running.await.map(Into::into).map_err(|error| error.to_string()) },
                )
            }
        };
        Self { spec, work: Arc::new(work) }
    }

    /// Declares that the tool only reads: its calls need no approval, and run side by side with
    /// others that only read.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.spec.read_only = true;
        self
    }

    /// Says that its results come from elsewhere, such as the web: the model reads them as
    /// information that nobody has checked.
    #[must_use]
    pub fn untrusted(mut self) -> Self {
        self.spec.untrusted = true;
        self
    }

    /// Sets a time limit for each call.
    #[must_use]
    pub fn with_time_limit(mut self, limit: Duration) -> Self {
        // `Duration::MAX`, with which programs mean no limit, has more milliseconds than fit.
        self.spec.timeout_ms = Some(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
        self
    }

    /// Declares which arguments, by name, are paths of the workspace, so that rules about paths
    /// apply to them.
    #[must_use]
    pub fn with_paths(mut self, arguments: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.spec.paths = arguments.into_iter().map(Into::into).collect();
        self
    }

    /// Returns the specification of the tool, as the model sees it.
    #[must_use]
    pub const fn spec(&self) -> &ToolSpec {
        &self.spec
    }
}

impl From<Tool> for OwnTool {
    fn from(Tool { spec, work }: Tool) -> Self {
        Self::new(spec, move |call| work(call))
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("spec", &self.spec).finish_non_exhaustive()
    }
}
