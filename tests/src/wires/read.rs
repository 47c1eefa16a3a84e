//! Reading a request's body in any protocol: what was said by whom, in the same words for all.

use innerloop_core::config::WireKind;
use serde_json::Value;

/// One thing that a request says.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// The system prompt, or a word of the system later on.
    System(String),
    /// A message of the user: its text, and how many images it holds.
    User(String, usize),
    /// Text of the model.
    Text(String),
    /// Thinking, with what the provider signed or sealed it with.
    Thought(String, Option<String>),
    /// A call.
    Call(Call),
    /// A call's result.
    Result(Answer),
    /// What only a provider understands.
    Other(Value),
}

/// A call, as a request says it.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Its id; empty where the request gives none.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments, or the free text of a free-form call.
    pub arguments: Value,
    /// The provider's mark on the call.
    pub seal: Option<String>,
}

/// A result, as a request says it.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The call's id; empty where the request gives none.
    pub id: String,
    /// The tool; empty where the request does not say.
    pub name: String,
    /// The text that the model reads.
    pub text: String,
    /// Whether it is marked as an error, or says so in front of its text.
    pub is_error: Option<bool>,
    /// How many images it holds.
    pub images: usize,
}

impl Said {
    /// Whether the model said this.
    #[must_use]
    pub const fn is_models(&self) -> bool {
        matches!(self, Self::Text(_) | Self::Thought(..) | Self::Call(_) | Self::Other(_))
    }
}

/// The name of the field that holds what was said.
#[must_use]
pub const fn turns(wire: WireKind) -> &'static str {
    match wire {
        WireKind::OpenaiResponses => "input",
        WireKind::Gemini => "contents",
        _ => "messages",
    }
}

/// All that a request says, in order, the system prompt first.
///
/// # Panics
/// The body has not the protocol's form.
#[must_use]
pub fn said(wire: WireKind, body: &Value) -> Vec<Said> {
    let mut said = Vec::new();
    let prompt = match wire {
        WireKind::OpenaiResponses => &body["instructions"],
        WireKind::Gemini => &body["systemInstruction"]["parts"],
        WireKind::Anthropic => &body["system"],
        _ => &Value::Null,
    };
    if !prompt.is_null() {
        said.push(Said::System(text(prompt)));
    }
    for turn in body[turns(wire)].as_array().expect("turns") {
        match wire {
            WireKind::OpenaiResponses => item(turn, &mut said),
            WireKind::Gemini => content(turn, &mut said),
            WireKind::Anthropic => blocks(turn, &mut said),
            _ => message(turn, &mut said),
        }
    }
    said
}

/// The results behind the model's last word.
#[must_use]
pub fn results(wire: WireKind, body: &Value) -> Vec<Answer> {
    let all = said(wire, body);
    let since = all.iter().rposition(Said::is_models).map_or(0, |at| at + 1);
    let answer = |said: &Said| match said {
        Said::Result(answer) => Some(answer.clone()),
        _ => None,
    };
    all[since..].iter().filter_map(answer).collect()
}

/// The names of the tools that a request shows.
#[must_use]
pub fn tools(wire: WireKind, body: &Value) -> Vec<String> {
    let list = match wire {
        WireKind::Gemini => &body["tools"][0]["functionDeclarations"],
        _ => &body["tools"],
    };
    let name = |tool: &Value| {
        let places = [&tool["name"], &tool["function"]["name"], &tool["custom"]["name"]];
        places.into_iter().find_map(Value::as_str).unwrap_or_default().to_owned()
    };
    list.as_array().map(|tools| tools.iter().map(name).collect()).unwrap_or_default()
}

/// What a request says about tools that must, may or must not be called.
#[must_use]
pub fn tool_choice(wire: WireKind, body: &Value) -> Value {
    match wire {
        WireKind::Gemini => body["toolConfig"]["functionCallingConfig"].clone(),
        _ => body["tool_choice"].clone(),
    }
}

/// What a request says about effort.
#[must_use]
pub fn effort(wire: WireKind, body: &Value) -> Value {
    match wire {
        WireKind::OpenaiResponses => body["reasoning"]["effort"].clone(),
        WireKind::OpenaiChat => body["reasoning_effort"].clone(),
        WireKind::Gemini => body["generationConfig"]["thinkingConfig"]["thinkingLevel"].clone(),
        WireKind::Ollama => body["think"].clone(),
        _ => body["output_config"]["effort"].clone(),
    }
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn mark(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// The text of a string, or of parts, joined by line feeds.
fn text(content: &Value) -> String {
    match content {
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        other => word(other),
    }
}

/// How many images are among parts.
fn images(content: &Value) -> usize {
    let is_image =
        |part: &&Value| part["inlineData"].is_object() || word(&part["type"]).contains("image");
    content.as_array().map_or(0, |parts| parts.iter().filter(is_image).count())
}

/// The value of JSON text; the text itself where it is none.
fn parsed(arguments: &Value) -> Value {
    let value = arguments.as_str().and_then(|text| serde_json::from_str(text).ok());
    value.unwrap_or_else(|| arguments.clone())
}

/// An item of OpenAI Responses.
fn item(item: &Value, said: &mut Vec<Said>) {
    let kind = word(&item["type"]);
    let id = word(&item["call_id"]);
    said.push(match kind.as_str() {
        "message" => match item["role"].as_str() {
            Some("assistant") => {
                let content = &item["content"][0];
                let refused = content["refusal"].as_str();
                Said::Text(refused.map_or_else(|| text(&item["content"]), str::to_owned))
            }
            Some("user") => Said::User(text(&item["content"]), images(&item["content"])),
            _ => Said::System(text(&item["content"])),
        },
        "function_call" | "custom_tool_call" => {
            let given = if item["input"].is_string() { &item["input"] } else { &item["arguments"] };
            let arguments = if kind == "function_call" { parsed(given) } else { given.clone() };
            Said::Call(Call { id, name: word(&item["name"]), arguments, seal: None })
        }
        "reasoning" => Said::Thought(text(&item["summary"]), mark(&item["encrypted_content"])),
        _ if kind.ends_with("_output") => {
            let (text, is_error) = told(text(&item["output"]));
            let (name, images) = (String::new(), images(&item["output"]));
            Said::Result(Answer { id, name, text, is_error, images })
        }
        _ => Said::Other(item.clone()),
    });
}

/// A message of Anthropic.
fn blocks(message: &Value, said: &mut Vec<Said>) {
    let is_user = message["role"] == "user";
    for block in message["content"].as_array().expect("blocks") {
        said.push(match block["type"].as_str().unwrap_or_default() {
            "text" if is_user => Said::User(word(&block["text"]), 0),
            "image" => Said::User(String::new(), 1),
            "text" => Said::Text(word(&block["text"])),
            "thinking" => Said::Thought(word(&block["thinking"]), mark(&block["signature"])),
            "tool_use" => Said::Call(Call {
                id: word(&block["id"]),
                name: word(&block["name"]),
                arguments: block["input"].clone(),
                seal: None,
            }),
            "tool_result" => Said::Result(Answer {
                id: word(&block["tool_use_id"]),
                name: String::new(),
                text: text(&block["content"]),
                is_error: Some(block["is_error"] == true),
                images: images(&block["content"]),
            }),
            _ => Said::Other(block.clone()),
        });
    }
}

/// A content of Gemini.
fn content(content: &Value, said: &mut Vec<Said>) {
    let is_user = content["role"] == "user";
    for part in content["parts"].as_array().expect("parts") {
        let seal = mark(&part["thoughtSignature"]);
        let (call, response) = (&part["functionCall"], &part["functionResponse"]);
        said.push(if call.is_object() {
            let (id, name) = (word(&call["id"]), word(&call["name"]));
            Said::Call(Call { id, name, arguments: call["args"].clone(), seal })
        } else if response.is_object() {
            let is_error = response["response"]["error"].is_string();
            let field = if is_error { "error" } else { "output" };
            Said::Result(Answer {
                id: word(&response["id"]),
                name: word(&response["name"]),
                text: word(&response["response"][field]),
                is_error: Some(is_error),
                images: images(&response["parts"]),
            })
        } else if is_user {
            Said::User(word(&part["text"]), usize::from(part["inlineData"].is_object()))
        } else if part["thought"] == true || (seal.is_some() && part["text"] == "") {
            Said::Thought(word(&part["text"]), seal)
        } else if part["text"].is_string() {
            Said::Text(word(&part["text"]))
        } else {
            Said::Other(part.clone())
        });
    }
}

/// The text of a result without the word that says in front of it that it is an error.
fn told(text: String) -> (String, Option<bool>) {
    match text.strip_prefix("Error: ") {
        Some(rest) => (rest.to_owned(), Some(true)),
        None => (text, Some(false)),
    }
}

/// A message of Chat Completions or Ollama.
fn message(message: &Value, said: &mut Vec<Said>) {
    let content = &message["content"];
    match message["role"].as_str().unwrap_or_default() {
        "system" | "developer" => said.push(Said::System(text(content))),
        "user" => {
            let beside = message["images"].as_array().map_or(0, Vec::len);
            said.push(Said::User(text(content), images(content) + beside));
        }
        "tool" => {
            let (text, is_error) = told(text(content));
            said.push(Said::Result(Answer {
                id: word(&message["tool_call_id"]),
                name: word(&message["tool_name"]),
                text,
                is_error,
                images: message["images"].as_array().map_or(0, Vec::len),
            }));
        }
        _ => {
            let thoughts = [&message["thinking"], &message["reasoning_content"]];
            let thought = thoughts.into_iter().find_map(Value::as_str);
            said.extend(thought.map(|text| Said::Thought(text.to_owned(), None)));
            said.extend(Some(text(content)).filter(|text| !text.is_empty()).map(Said::Text));
            for call in message["tool_calls"].as_array().into_iter().flatten() {
                let (function, custom) = (&call["function"], &call["custom"]);
                let (name, arguments) = if custom.is_object() {
                    (&custom["name"], custom["input"].clone())
                } else {
                    (&function["name"], parsed(&function["arguments"]))
                };
                let seal = mark(&call["extra_content"]["google"]["thought_signature"]);
                let (id, name) = (word(&call["id"]), word(name));
                said.push(Said::Call(Call { id, name, arguments, seal }));
            }
        }
    }
}
