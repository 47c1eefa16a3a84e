//! Arguments of one call: parsed and checked against the tool's schema once, then taken out piece
//! by piece. Readers need no error handling of their own: the first fault is kept until the end.

use crate::rules::{argv, coerce, schema};
use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use innerloop_json::{Value, from_str, joined, to_string};

/// Arguments that fit their tool's schema. The first fault that is still found while reading is
/// kept until [`ToolArguments::finish`].
#[derive(Debug)]
pub(crate) struct ToolArguments<'a> {
    tool: &'a str,
    value: Value,
    /// The arguments' text as it came; `None` if values were changed to fit the schema.
    text: Option<&'a str>,
    fault: Option<String>,
}

impl<'a> ToolArguments<'a> {
    /// Parses the arguments of the tool `tool` and checks them. `null` for an optional argument
    /// counts as absent, and a list of words becomes a command line; with `coerces`, values of the
    /// wrong type are converted first where their meaning is plain.
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
        // The text goes to a host's tool as it came: written anew, it would lose large numbers and
        // the order of keys (`docs/decisions.md#opaque-json`).
        Ok(Self { tool, value, text: (!is_coerced).then(|| text.trim()), fault: None })
    }

    /// Returns the name of the tool.
    pub(super) const fn tool(&self) -> &'a str {
        self.tool
    }

    /// Returns the arguments as JSON text.
    pub(crate) fn json(&self) -> String {
        self.text.map_or_else(|| to_string(&self.value), String::from)
    }

    /// Takes a required string.
    pub(super) fn text(&mut self, name: &str) -> String {
        let text = self.optional_text(name);
        if text.is_none() {
            self.reject(&format!("`{name}` is required"));
        }
        text.unwrap_or_default()
    }

    /// Takes a required string that is not blank; `what` names it in the error.
    pub(super) fn non_blank(&mut self, name: &str, what: &str) -> String {
        let text = self.text(name);
        if text.trim().is_empty() {
            self.reject(&format!("{what} is blank"));
        }
        text
    }

    /// Takes an optional string.
    pub(super) fn optional_text(&mut self, name: &str) -> Option<String> {
        match self.take(name)? {
            Value::String(text) => Some(text),
            _ => self.misfit(name, "string"),
        }
    }

    /// Takes an array of strings, empty if absent.
    pub(super) fn texts(&mut self, name: &str) -> Vec<String> {
        let mut texts = Vec::new();
        for item in self.items(name) {
            match item {
                Value::String(text) => texts.push(text),
                _ => self.misfit(name, "a list of strings").unwrap_or_default(),
            }
        }
        texts
    }

    /// Takes a boolean, false if absent.
    pub(super) fn flag(&mut self, name: &str) -> bool {
        self.optional_flag(name).unwrap_or(false)
    }

    /// Takes an optional boolean.
    pub(super) fn optional_flag(&mut self, name: &str) -> Option<bool> {
        match self.take(name)? {
            Value::Bool(flag) => Some(flag),
            _ => self.misfit(name, "boolean"),
        }
    }

    /// Takes an optional whole number from 0. Models write `3`, and sometimes `3.0`.
    pub(super) fn count(&mut self, name: &str) -> Option<u64> {
        // 2⁵³: up to there a floating-point number holds every whole number. A larger one, such as
        // `1e30`, means as much as there is.
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

    /// Takes an optional whole number from 0, saturating at 32 bits.
    pub(super) fn count_u32(&mut self, name: &str) -> Option<u32> {
        self.count(name).map(|count| u32::try_from(count).unwrap_or(u32::MAX))
    }

    /// Takes an optional string that is one of `choices`.
    pub(super) fn choice<T: Copy>(&mut self, name: &str, choices: &[(&str, T)]) -> Option<T> {
        let text = self.optional_text(name)?;
        let chosen = choices.iter().find(|(word, _)| *word == text).map(|(_, choice)| *choice);
        chosen.or_else(|| self.misfit(name, "one of the words that the schema names"))
    }

    /// Reads the nested object `name` with `read`, if there is one.
    pub(super) fn object<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        let value = self.take(name)?;
        self.read_in(value, read)
    }

    /// Reads each object of the array `name` with `read`.
    pub(super) fn objects<T>(
        &mut self,
        name: &str,
        read: impl Fn(&mut Self) -> Option<T>,
    ) -> Vec<T> {
        let mut objects = Vec::new();
        for item in self.items(name) {
            if let Some(object) = self.read_in(item, &read) {
                objects.push(object);
            }
        }
        objects
    }

    /// Records a fault that the schema cannot express.
    pub(super) fn reject(&mut self, why: &str) {
        if self.fault.is_none() {
            self.fault = Some(invalid(self.tool, why));
        }
    }

    /// Ends the reading, and reports the first fault.
    ///
    /// # Errors
    /// The first fault that was found, as a sentence for the model.
    pub(super) fn finish(self) -> Result<(), String> {
        self.fault.map_or(Ok(()), Err)
    }

    fn read_in<T>(&mut self, value: Value, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        // The readers take fields from `self.value`: with the nested object in its place, the same
        // functions read it, and its faults are kept here as well.
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

    /// Takes an argument out; `null` counts as absent.
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
