//! The plan that a model keeps of its task: the families' tools for it, which never leave the
//! core. Hosts show the plan; nothing else follows from it.

use super::translated::{arguments as read, invalid};
use crate::types::event::{PlanItem, PlanStatus};
use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use serde::{Deserialize, Serialize};

/// The names of the tools.
const TOOLS: [&str; 3] = ["update_plan", "TodoWrite", "write_todos"];

/// A call of one of the tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanCall {
    /// The whole plan.
    pub items: Vec<PlanItem>,
    /// What the model is answered.
    pub reply: String,
}

/// Whether a tool keeps the plan.
pub(super) fn is_tool(name: &str) -> bool {
    TOOLS.contains(&name)
}

#[derive(Deserialize)]
struct UpdatePlan {
    plan: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    step: String,
    status: PlanStatus,
}

#[derive(Deserialize)]
struct TodoWrite {
    todos: Vec<Todo>,
}

#[derive(Deserialize)]
struct Todo {
    content: String,
    status: PlanStatus,
}

#[derive(Deserialize)]
struct WriteTodos {
    todos: Vec<Described>,
}

#[derive(Deserialize)]
struct Described {
    description: String,
    status: PlanStatus,
}

/// Reads a call whose arguments fit the schema; `None` for other tools.
pub(super) fn call(name: &str, arguments: &str) -> Option<Result<PlanCall, String>> {
    Some(match name {
        "update_plan" => update_plan(name, arguments),
        "TodoWrite" => todo_write(name, arguments),
        "write_todos" => write_todos(name, arguments),
        _ => return None,
    })
}

fn update_plan(name: &str, arguments: &str) -> Result<PlanCall, String> {
    let UpdatePlan { plan } = read(name, arguments)?;
    let items: Vec<PlanItem> =
        plan.into_iter().map(|Step { step, status }| PlanItem { text: step, status }).collect();
    let under_way = items.iter().filter(|item| item.status == PlanStatus::InProgress).count();
    if under_way > 1 {
        return Err(invalid(name, "at most one step can be in_progress"));
    }
    Ok(PlanCall { items, reply: "Plan updated".to_string() })
}

fn todo_write(name: &str, arguments: &str) -> Result<PlanCall, String> {
    let TodoWrite { todos } = read(name, arguments)?;
    let item = |Todo { content, status }| PlanItem { text: content, status };
    let items: Vec<PlanItem> = todos.into_iter().map(item).collect();
    let done = items.iter().filter(|item| item.status == PlanStatus::Completed).count();
    let reply = format!("The list is kept: {done} of {} done. Go on with the next.", items.len());
    Ok(PlanCall { items, reply })
}

fn write_todos(name: &str, arguments: &str) -> Result<PlanCall, String> {
    let WriteTodos { todos } = read(name, arguments)?;
    let item = |Described { description, status }| PlanItem { text: description, status };
    let items: Vec<PlanItem> = todos.into_iter().map(item).collect();
    if items.is_empty() {
        let reply = "Successfully cleared the todo list.".to_string();
        return Ok(PlanCall { items, reply });
    }
    let mut reply = "Successfully updated the todo list. The current list is now:".to_string();
    for (number, item) in (1..).zip(&items) {
        reply.push_str(&format!("\n{number}. [{}] {}", item.status.name(), item.text));
    }
    Ok(PlanCall { items, reply })
}
