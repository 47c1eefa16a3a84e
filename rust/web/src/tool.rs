//! The tools that are async functions of the page. The type of their arguments determines their
//! schema, with which the session checks a call before the function gets it.

use futures::future::{Either, LocalBoxFuture, select};
use gloo_timers::future::TimeoutFuture;
use innerloop_core::{
    action::{Outcome, ToolError},
    json::Json,
    tool::{ToolRun, ToolSpec},
};
use innerloop_driver::custom_tool_outcome;
use innerloop_face::schema_of;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::{
    fmt::{self, Display},
    rc::Rc,
    sync::Arc,
    time::Duration,
};

/// The longest delay of a browser's timer, in milliseconds: with a longer one it fires at once.
pub(crate) const LONGEST_MS: u64 = 0x7fff_ffff;

type ToolFunction = dyn Fn(OwnToolCall) -> LocalBoxFuture<'static, Result<Outcome, String>>;

/// A tool of the page. The model reads its name, its description and the schema of its arguments,
/// whose fields have their doc comments as descriptions.
///
/// ```
/// use innerloop_web::{JsonSchema, OwnToolCall, Tool};
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
    work: Rc<ToolFunction>,
}

impl Tool {
    /// Makes a tool that is called with arguments of type `A`. The function returns a text as the
    /// result, or an [`Outcome`] with further details. An error becomes an error result for the
    /// model, and the session goes on. When the run is interrupted or the call's time is up, the
    /// future is dropped. A panic ends the page's whole module, like any other panic in it.
    pub fn new<A, T, E>(
        name: impl Into<String>,
        description: impl Into<String>,
        function: impl AsyncFn(A, OwnToolCall) -> Result<T, E> + 'static,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + 'static,
        T: Into<Outcome> + 'static,
        E: Display + 'static,
    {
        let spec = ToolSpec::new(name, description, schema_of::<A>());
        Self::with_spec(spec, async move |call: OwnToolCall| {
            let arguments = call.read::<A>().map_err(|error| error.to_string())?;
            function(arguments, call).await.map_err(|error| error.to_string())
        })
    }

    /// Makes a tool whose specification is known only at run time, such as one from JavaScript. Its
    /// arguments are [`OwnToolCall::arguments`], which fit the schema. Otherwise it is like
    /// [`Tool::new`].
    pub fn with_spec<T, E>(
        spec: ToolSpec,
        function: impl AsyncFn(OwnToolCall) -> Result<T, E> + 'static,
    ) -> Self
    where
        T: Into<Outcome> + 'static,
        E: Display + 'static,
    {
        let function = Rc::new(function);
        let work = move |call| -> LocalBoxFuture<'static, Result<Outcome, String>> {
            let function = Rc::clone(&function);
            Box::pin(async move {
                function(call).await.map(Into::into).map_err(|error| error.to_string())
            })
        };
        Self { spec, work: Rc::new(work) }
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

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("spec", &self.spec).finish_non_exhaustive()
    }
}

/// One call of a tool. Clones refer to the same call.
///
/// ```
/// use innerloop_web::OwnToolCall;
///
/// async fn counted(call: OwnToolCall) -> String {
///     for step in 1..=3 {
///         call.say(&format!("step {step}\n"));
///     }
///     format!("the arguments have {} bytes", call.arguments.text().len())
/// }
/// # let _ = counted;
/// ```
#[derive(Clone)]
pub struct OwnToolCall {
    /// The call's id, as the model gave it.
    pub id: String,
    /// The arguments. They fit the tool's schema.
    pub arguments: Json,
    /// The folder of the workspace that the calling agent works in, relative to the root; empty for
    /// the root.
    pub folder: String,
    /// The time limit of the call. After that, the result is ignored.
    pub time_limit: Duration,
    on_delta: Rc<dyn Fn(&str)>,
}

impl OwnToolCall {
    /// Reads the arguments as a type.
    ///
    /// # Errors
    /// The arguments fit the schema, but not the type.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.arguments.text())
    }

    /// Shows output while the tool runs. It is not part of the result.
    pub fn say(&self, text: &str) {
        (self.on_delta)(text);
    }
}

impl fmt::Debug for OwnToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, arguments, folder, time_limit, .. } = self;
        f.debug_struct("OwnToolCall")
            .field("id", id)
            .field("arguments", arguments)
            .field("folder", folder)
            .field("time_limit", time_limit)
            .finish_non_exhaustive()
    }
}

/// Carries out a call with the tool of its name, for at most its time limit.
pub(crate) async fn carry_out(
    tool: Option<Tool>,
    run: Arc<ToolRun>,
    arguments: Json,
    on_delta: Rc<dyn Fn(&str)>,
) -> Outcome {
    // The page may have removed the tool since the model called it.
    let Some(tool) = tool else {
        let message = format!("The tool {} is not available here.", run.name);
        return Outcome::error(ToolError::UnknownTool, message);
    };
    let call = OwnToolCall {
        id: run.call_id.clone(),
        arguments,
        folder: run.folder.clone(),
        time_limit: Duration::from_millis(run.timeout_ms),
        on_delta,
    };
    let limit = u32::try_from(run.timeout_ms.min(LONGEST_MS)).unwrap_or(u32::MAX);
    match select((tool.work)(call), TimeoutFuture::new(limit)).await {
        Either::Left((Ok(outcome), _)) => outcome,
        Either::Left((Err(reason), _)) => custom_tool_outcome::failed(&run.name, &reason),
        Either::Right(_) => custom_tool_outcome::timed_out(),
    }
}
