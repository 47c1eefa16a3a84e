//! `innerloop decode --text-calls`: reads the calls in a model's text, one line of JSON per text.

use super::interaction::{InputLineError, fields, text_of};
use innerloop_core::{
    json::{Json, JsonObject},
    text_calls::{Family, parse},
    tool::ToolSpec,
};
use innerloop_driver::decode::{DecodedCall, DecodedError, DecodedResponse};
use innerloop_json::{ToJson, to_string};

/// The answer to one line `{id, body, tools?}`.
#[derive(ToJson)]
struct DecodedLine {
    id: Json,
    text: String,
    reasoning: String,
    tool_calls: Vec<DecodedCall>,
    #[json(skip_serializing_if = "Option::is_none")]
    error: Option<DecodedError>,
}

/// Returns the text, reasoning and calls of a line, or the reason why it can't be read.
pub(super) fn answer(line: &[u8], family: Family) -> String {
    let read = fields(line).and_then(|fields| {
        let id = fields.field("id").cloned().unwrap_or_default();
        match text_of(&fields, "body") {
            Ok(Some(body)) => Ok((id, body, tools(&fields))),
            Ok(None) => Err(InputLineError { id, why: "`body` is missing".to_owned() }),
            Err(why) => Err(InputLineError { id, why }),
        }
    });
    let line = match read {
        Ok((id, body, tools)) => {
            let found = parse(family, &body, &tools);
            let tool_calls = found.calls.into_iter().map(DecodedCall::new).collect();
            DecodedLine {
                id,
                text: found.text,
                reasoning: found.reasoning,
                tool_calls,
                error: None,
            }
        }
        Err(InputLineError { id, why }) => DecodedLine {
            id,
            text: String::new(),
            reasoning: String::new(),
            tool_calls: Vec::new(),
            error: DecodedResponse::unreadable(why).error,
        },
    };
    to_string(&line)
}

/// Reads the tools of a line, in the shape of any protocol. Other values are skipped: tools only
/// help to find the types of arguments.
fn tools(fields: &JsonObject) -> Vec<ToolSpec> {
    let Some(given) = fields.field("tools") else { return Vec::new() };
    // Some recordings hold the list as a string of JSON.
    let text: Option<String> = serde_json::from_str(given.text()).ok();
    let text = text.as_deref().unwrap_or_else(|| given.text());
    let items: Vec<Json> = serde_json::from_str(text)
        .or_else(|_| serde_json::from_str(text).map(|one| vec![one]))
        .unwrap_or_default();
    items.iter().flat_map(|item| definitions(item.text())).collect()
}

/// Returns the tools that one element of the list defines: one, or Gemini's list of declarations.
fn definitions(json: &str) -> Vec<ToolSpec> {
    let Ok(object) = serde_json::from_str::<JsonObject>(json) else { return Vec::new() };
    let declared = ["functionDeclarations", "function_declarations"];
    if let Some(list) = declared.iter().find_map(|name| object.field(name)) {
        let items: Vec<Json> = serde_json::from_str(list.text()).unwrap_or_default();
        return items.iter().filter_map(|item| definition(item.text())).collect();
    }
    definition(json).into_iter().collect()
}

/// Reads one tool: `{type: "function", function: {name, parameters}}`, or the same without the
/// wrapper.
fn definition(json: &str) -> Option<ToolSpec> {
    let object: JsonObject = serde_json::from_str(json).ok()?;
    let inner = object.field("function").and_then(|inner| serde_json::from_str(inner.text()).ok());
    let object: JsonObject = inner.unwrap_or(object);
    let name: String = serde_json::from_str(object.field("name")?.text()).ok()?;
    let schemas = ["parameters", "input_schema", "inputSchema", "parametersJsonSchema"];
    let parameters = schemas.iter().find_map(|name| object.field(name)).cloned();
    Some(ToolSpec::new(name, "", parameters.unwrap_or_default()))
}
