//! The ways to tools that requests do not show: a search, and the choice of a category. Schemas are
//! the search's result, so that what the request begins with, and the provider has cached, stays as
//! it is; once the model knows one, it calls the tool as any other.

use super::{ctx::StepContext, turn_tools::allows};
use crate::{profile::inner::CATEGORIES, rules::tool_rank::score};
use alloc::{format, string::String, vec::Vec};
use innerloop_json::{IntoList, joined, sort, to_string};
use innerloop_types::{
    action::{Outcome, ToolError},
    text::prefix,
};

/// The number of tools that a search finds at most.
const MOST: usize = 5;

/// The number of bytes of a query that count. Each of its words is compared with each word that is
/// said of each tool, so that a long text would take more than its length.
const MOST_OF_QUERY: usize = 1_000;

/// Returns the tools that fit a query best, as the model reads them.
pub(super) fn find(query: &str, ctx: &StepContext<'_>) -> Outcome {
    if !cfg!(feature = "tools-shown") {
        return Outcome::text("");
    }
    let query = prefix(query, MOST_OF_QUERY);
    let options = ctx.body.run.options.as_deref();
    let mut found = Vec::new();
    for tool in ctx.setup.unshown() {
        let score = score(query, &tool.spec);
        if score > 0 && options.is_none_or(|options| allows(options, tool.name())) {
            found.push((score, &tool.spec));
        }
    }
    sort(&mut found, |(one, _), (other, _)| other.cmp(one));
    found.truncate(MOST);
    if found.is_empty() {
        return Outcome::text("No further tool fits: look for one of the names.");
    }
    let specs: Vec<String> = found.iter().map(|(_, spec)| to_string(&***spec)).into_list();
    Outcome::text(joined(&specs, "\n"))
}

/// Returns what the model reads of its choice of a category.
pub(super) fn choose(category: &str, ctx: &StepContext<'_>) -> Outcome {
    if !cfg!(feature = "tools-shown") {
        return Outcome::text("");
    }
    let place = CATEGORIES.iter().position(|known| *known == category);
    let names = joined(&place.map(|place| ctx.setup.names_of(place)).unwrap_or_default(), ", ");
    if names.is_empty() {
        let message = "There is no tool of that kind: choose another one.";
        return Outcome::error(ToolError::InvalidArguments, message);
    }
    Outcome::text(format!("You can call {names} now."))
}
