//! Patterns of paths: `*`, `**`, `?`, `[a-z]`, `{a,b}`.

use crate::{
    explain,
    path::{WorkspacePath, lower_case},
};
use fast_glob::{glob_match, validate};
use innerloop_core::action::{Outcome, ToolError};
use innerloop_json::quoted;
use std::borrow::Cow;

/// Most combinations of alternatives that a pattern's braces may have.
const MAX_ALTERNATIVES: usize = 1000;

/// A pattern of paths below a folder. Without a `/` it matches names at any depth.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    glob: String,
    names_only: bool,
    ignore_case: bool,
}

impl Pattern {
    /// Reads a pattern that the model gave.
    pub(crate) fn parse(text: &str) -> Result<Self, Outcome> {
        let invalid = |why: &str| {
            let message = format!("The pattern {} is invalid: {why}.", quoted(text));
            explain::error(ToolError::InvalidArguments, message)
        };
        let negations = text.len() - text.trim_start_matches('!').len();
        let (sign, rest) = text.split_at_checked(negations).unwrap_or(("", text));
        let rest = rest.strip_prefix("./").unwrap_or(rest).trim_start_matches('/');
        if rest.is_empty() {
            return Err(invalid("it is empty; give for example **/*.ts"));
        }
        validate(rest).map_err(|error| invalid(&error.to_string()))?;
        if alternatives(rest) > MAX_ALTERNATIVES {
            return Err(invalid("it has more than 1,000 alternatives"));
        }
        // A folder's name with a slash at its end means everything below it.
        let rest = match rest.ends_with('/') {
            true => Cow::Owned(format!("{rest}**")),
            false => Cow::Borrowed(rest),
        };
        let names_only = !rest.contains('/');
        Ok(Self { names_only, glob: format!("{sign}{rest}"), ignore_case: false })
    }

    /// The same pattern, for letters of any case.
    pub(crate) fn ignoring_case(self) -> Self {
        Self { glob: lower_case(&self.glob), ignore_case: true, ..self }
    }

    /// Whether the pattern matches `path`, seen from `folder`.
    pub(crate) fn matches(&self, path: &WorkspacePath, folder: &WorkspacePath) -> bool {
        let subject = if self.names_only { path.name() } else { path.relative_to(folder) };
        if self.ignore_case {
            glob_match(&self.glob, lower_case(subject))
        } else {
            glob_match(&self.glob, subject)
        }
    }
}

/// How many combinations of alternatives the braces have, at most.
fn alternatives(glob: &str) -> usize {
    let mut product = 1_usize;
    let mut open: Vec<usize> = Vec::new();
    let mut escaped = false;
    for byte in glob.bytes() {
        match byte {
            _ if escaped => {
                escaped = false;
                continue;
            }
            b'\\' => escaped = true,
            b'{' => open.push(1),
            b',' => {
                if let Some(count) = open.last_mut() {
                    *count += 1;
                }
            }
            b'}' => product = product.saturating_mul(open.pop().unwrap_or(1)),
            _ => {}
        }
    }
    product
}
