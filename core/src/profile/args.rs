//! The arguments of one call: parsed and checked against the tool's schema once, then taken out
//! piece by piece.

use crate::rules::{argv, coerce, schema};
use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use innerloop_json::{Value, from_str, joined, to_string};

/// Arguments that fit their tool's schema. The first fault that reading still finds is kept until
/// [`ToolArguments::finish`].
#[derive(Debug)]
pub(crate) struct ToolArguments<'a> {
    tool: &'a str,
    value: Value,
    /// The arguments as they came, unless values were changed to fit the schema.
    text: Option<&'a str>,
    fault: Option<String>,
}

impl<'a> ToolArguments<'a> {
    /// Parses the arguments of the tool `tool` and checks them. `null` for what need not be there
    /// counts as absent, and a list of words is a command line; with `coerces`, values of the wrong
    /// type that plainly mean a right one are changed first.
    ///
    /// # Errors
    /// A sentence for the model.
    pub(crate) fn parse(
        tool: &'a str,
        text: &'a str,
        schema: &Value,
        coerces: bool,
    ) -> Result<Self, String> {
        let mut value = from_str(text).map_err(|error| invalid(tool, &error.to_string()))?;
        let is_line = cfg!(feature = "builtins") && argv::to_line(schema, &mut value);
        let is_coerced = coerce::coerce(schema, &mut value, coerces) || is_line;
        let violations = schema::violations(schema, &value);
        if !violations.is_empty() {
            return Err(invalid(tool, &joined(&violations, "; ")));
        }
        Ok(Self { tool, value, text: (!is_coerced).then(|| text.trim()), fault: None })
    }

    /// The name of the tool.
    pub(super) const fn tool(&self) -> &'a str {
        self.tool
    }

    /// The arguments as JSON text.
    pub(crate) fn json(&self) -> String {
        self.text.map_or_else(|| to_string(&self.value), String::from)
    }

    /// A required string.
    pub(super) fn text(&mut self, name: &str) -> String {
        let text = self.optional_text(name);
        if text.is_none() {
            self.reject(&format!("`{name}` is required"));
        }
        text.unwrap_or_default()
    }

    /// A required string that is not blank; `what` names it in the error.
    pub(super) fn non_blank(&mut self, name: &str, what: &str) -> String {
        let text = self.text(name);
        if text.trim().is_empty() {
            self.reject(&format!("{what} is blank"));
        }
        text
    }

    /// An optional string.
    pub(super) fn optional_text(&mut self, name: &str) -> Option<String> {
        match self.take(name)? {
            Value::String(text) => Some(text),
            _ => self.misfit(name, "string"),
        }
    }

    /// An array of strings, empty if absent.
    pub(super) fn texts(&mut self, name: &str) -> Vec<String> {
        let items = self.items(name);
        let texts = items.into_iter().filter_map(|item| match item {
            Value::String(text) => Some(text),
            _ => self.misfit(name, "a list of strings"),
        });
        texts.collect()
    }

    /// A boolean, false if absent.
    pub(super) fn flag(&mut self, name: &str) -> bool {
        self.optional_flag(name).unwrap_or(false)
    }

    /// An optional boolean.
    pub(super) fn optional_flag(&mut self, name: &str) -> Option<bool> {
        match self.take(name)? {
            Value::Bool(flag) => Some(flag),
            _ => self.misfit(name, "boolean"),
        }
    }

    /// An optional whole number from 0: models write `3`, and sometimes `3.0`. One that is too
    /// large means as much as there is.
    pub(super) fn count(&mut self, name: &str) -> Option<u64> {
        const MOST: f64 = 9_007_199_254_740_992.0;
        let value = self.take(name)?;
        if let Some(count) = value.as_u64() {
            return Some(count);
        }
        match value.as_f64() {
            Some(number) if number >= 0.0 && number % 1.0 == 0.0 =>
            {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "it is whole, positive and cut to what fits"
                )]
                Some(number.min(MOST) as u64)
            }
            _ => self.misfit(name, "a whole number from 0"),
        }
    }

    /// The same, saturating at 32 bits.
    pub(super) fn count_u32(&mut self, name: &str) -> Option<u32> {
        self.count(name).map(|count| u32::try_from(count).unwrap_or(u32::MAX))
    }

    /// An optional string of an enum.
    pub(super) fn choice<T: Copy>(&mut self, name: &str, choices: &[(&str, T)]) -> Option<T> {
        let text = self.optional_text(name)?;
        let chosen = choices.iter().find(|(word, _)| *word == text).map(|(_, choice)| *choice);
        chosen.or_else(|| self.misfit(name, "one of the words that the schema names"))
    }

    /// Returns what `read` finds in the nested object `name`, if there is one.
    pub(super) fn object<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        let value = self.take(name)?;
        self.read_in(value, read)
    }

    /// Returns what `read` finds in each object of the array `name`.
    pub(super) fn objects<T>(
        &mut self,
        name: &str,
        read: impl Fn(&mut Self) -> Option<T>,
    ) -> Vec<T> {
        let items = self.items(name);
        items.into_iter().filter_map(|item| self.read_in(item, &read)).collect()
    }

    /// Records a fault that the schema cannot express.
    pub(super) fn reject(&mut self, why: &str) {
        if self.fault.is_none() {
            self.fault = Some(invalid(self.tool, why));
        }
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// The first fault that was found, as a sentence for the model.
    pub(super) fn finish(self) -> Result<(), String> {
        self.fault.map_or(Ok(()), Err)
    }

    fn read_in<T>(&mut self, value: Value, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let outer = core::mem::replace(&mut self.value, value);
        let found = read(self);
        self.value = outer;
        found
    }

    fn items(&mut self, name: &str) -> Vec<Value> {
        match self.take(name) {
            None => Vec::new(),
            Some(Value::Array(items)) => items,
            Some(_) => self.misfit(name, "array").unwrap_or_default(),
        }
    }

    /// An argument, which is then no longer there.
    fn take(&mut self, name: &str) -> Option<Value> {
        let value = self.value.as_object_mut()?.get_mut(name)?;
        Some(core::mem::take(value)).filter(|value| !value.is_null())
    }

    fn misfit<T>(&mut self, name: &str, wanted: &str) -> Option<T> {
        self.reject(&format!("`{name}` must be {wanted}"));
        None
    }
}

fn invalid(tool: &str, why: &str) -> String {
    format!("Invalid arguments for tool: {tool}: {why}")
}
