//! An agent as a module for JavaScript: its options and tools come from JavaScript, and its events
//! go to a function there. `cargo xtask test page` drives it in Chromium.

use futures::StreamExt as _;
use innerloop_web::{
    Agent, AgentBuilder, AgentRun, ApprovalDecision, Event, OwnToolCall, Prompt, RunError,
    RunResult, Tool, ToolSpec,
    js::{from_js, to_js},
};
use js_sys::{Function, Promise};
use wasm_bindgen::{JsError, JsValue, prelude::wasm_bindgen};
use wasm_bindgen_futures::JsFuture;

/// An agent for JavaScript.
#[wasm_bindgen]
pub struct ScriptAgent(Agent);

/// A message as a page may send it to its worker: a type of your own with an event in it.
#[derive(serde::Serialize)]
struct Envelope<'a> {
    label: &'a str,
    #[serde(with = "innerloop_web::js")]
    event: Event,
}

/// The result of a run, for JavaScript.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Ended {
    text: String,
    end: String,
    error: Option<String>,
    tool_calls: u32,
}

#[wasm_bindgen]
impl ScriptAgent {
    /// Makes an agent of options, tools (`[spec, function]` each) and a function that is asked for
    /// approval, if one is given.
    ///
    /// # Errors
    /// The option or tool that does not fit.
    #[wasm_bindgen(constructor)]
    pub fn new(
        options: &JsValue,
        tools: Vec<js_sys::Array>,
        approve: Option<Function>,
    ) -> Result<Self, JsError> {
        let mut builder = AgentBuilder::from_js(options)?;
        for tool in tools {
            let spec: ToolSpec = from_js(&tool.get(0)).map_err(|error| JsError::new(&error))?;
            let function = Function::from(tool.get(1));
            builder = builder.tool(Tool::with_spec(spec, async move |call: OwnToolCall| {
                let result = called(&function, &to_js(&call.arguments)).await?;
                result.as_string().ok_or_else(|| "a tool gives a text".to_owned())
            }));
        }
        if let Some(approve) = approve {
            builder = builder.approve(async move |call| {
                let answer = called(&approve, &to_js(&call.arguments)).await;
                match answer.is_ok_and(|answer| answer.is_truthy()) {
                    true => ApprovalDecision::Allow,
                    false => ApprovalDecision::deny("the page says no"),
                }
            });
        }
        Ok(Self(builder.build()?))
    }

    /// Runs a prompt to its end, and calls `on_event` with each event. If that returns `false`, the
    /// run is dropped.
    ///
    /// # Errors
    /// The session refuses the prompt, or is closed.
    pub async fn run(&self, prompt: String, on_event: Function) -> Result<JsValue, JsError> {
        let mut run = self.0.run(Prompt::from(prompt));
        while let Some(event) = run.next().await {
            let told = serde_wasm_bindgen::to_value(&Envelope { label: "event", event })?;
            let heard = on_event.call1(&JsValue::NULL, &told);
            if heard.is_ok_and(|heard| heard == JsValue::FALSE) {
                return Ok(JsValue::NULL);
            }
        }
        ended(run).await
    }

    /// Steers the current run.
    ///
    /// # Errors
    /// The text is empty, or the session is closed.
    pub fn steer(&self, text: String) -> Result<(), JsError> {
        Ok(self.0.steer(text)?)
    }

    /// Interrupts the current run.
    pub fn interrupt(&self) {
        self.0.interrupt();
    }

    /// Uses another key from the next request on.
    #[wasm_bindgen(js_name = setApiKey)]
    pub fn set_api_key(&self, key: &str) {
        self.0.set_api_key(key);
    }

    /// Returns the session as bytes.
    #[must_use]
    pub fn snapshot(&self) -> Vec<u8> {
        self.0.snapshot()
    }

    /// Opens another agent with the same conversation.
    ///
    /// # Errors
    /// The page gives no random numbers.
    pub fn fork(&self) -> Result<Self, JsError> {
        Ok(Self(self.0.fork(None)?))
    }

    /// Waits for the next end of a run that nobody holds, such as that of a restored session.
    #[wasm_bindgen(js_name = nextEnd)]
    pub async fn next_end(&self) -> JsValue {
        let mut events = self.0.subscribe();
        while let Some(event) = events.next().await {
            let told = to_js(&event);
            if js_sys::Reflect::get(&told, &"type".into()) == Ok("processing_end".into()) {
                return told;
            }
        }
        JsValue::NULL
    }

    /// Returns all turns of the conversation.
    #[must_use]
    pub fn history(&self) -> JsValue {
        to_js(&self.0.history())
    }

    /// Returns the status of the agent.
    #[must_use]
    pub fn status(&self) -> JsValue {
        to_js(&self.0.status())
    }

    /// Returns the text of a file.
    #[must_use]
    pub fn text(&self, path: &str) -> Option<String> {
        self.0.files().text(path)
    }

    /// Ends the session.
    pub fn close(&self) {
        self.0.close();
    }
}

async fn ended(run: AgentRun) -> Result<JsValue, JsError> {
    let result: Result<RunResult, RunError> = run.await;
    let RunResult { text, end, error, tool_calls, .. } = result?;
    let ended = Ended { text, end: format!("{end:?}"), error, tool_calls };
    Ok(serde_wasm_bindgen::to_value(&ended)?)
}

/// Calls a function of JavaScript, which may be async.
async fn called(function: &Function, argument: &JsValue) -> Result<JsValue, String> {
    let said = |error: JsValue| String::from(js_sys::Error::from(error).message());
    let result = function.call1(&JsValue::NULL, argument).map_err(said)?;
    JsFuture::from(Promise::resolve(&result)).await.map_err(said)
}
