//! The arguments of one call: parsed and checked against the tool's schema once, then taken out
//! piece by piece.

use crate::rules::{coerce, schema};
use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use innerloop_json::{Value, from_str, to_string};

/// Arguments that fit their tool's schema. What a reader of them still finds wrong is kept, and
/// told once it is done.
#[derive(Debug)]
pub(crate) struct Args<'a> {
    tool: &'a str,
    value: Value,
    /// The arguments as they came, unless they were bent to the schema.
    text: Option<&'a str>,
    wrong: Option<String>,
}

impl<'a> Args<'a> {
    /// Parses the arguments of the tool `tool` and checks them, bent to the schema first where
    /// `bends`.
    ///
    /// # Errors
    /// A sentence for the model.
    pub(crate) fn parse(
        tool: &'a str,
        text: &'a str,
        schema: &Value,
        bends: bool,
    ) -> Result<Self, String> {
        let mut value = from_str(text).map_err(|error| invalid(tool, &error.to_string()))?;
        let bent = bends && coerce::coerce(schema, &mut value);
        let violations = schema::violations(schema, &value);
        if !violations.is_empty() {
            return Err(invalid(tool, &violations.join("; ")));
        }
        Ok(Self { tool, value, text: (!bent).then(|| text.trim()), wrong: None })
    }

    /// The name of the tool.
    pub(super) const fn tool(&self) -> &'a str {
        self.tool
    }

    /// The arguments as JSON text.
    pub(crate) fn json(&self) -> String {
        self.text.map_or_else(|| to_string(&self.value), String::from)
    }

    /// A text.
    pub(super) fn text(&mut self, name: &str) -> String {
        let text = self.maybe_text(name);
        if text.is_none() {
            self.reject(&format!("`{name}` is required"));
        }
        text.unwrap_or_default()
    }

    /// A text that says something; `what` names it where it does not.
    pub(super) fn words(&mut self, name: &str, what: &str) -> String {
        let text = self.text(name);
        if text.trim().is_empty() {
            self.reject(&format!("{what} is blank"));
        }
        text
    }

    /// A text that may be left out.
    pub(super) fn maybe_text(&mut self, name: &str) -> Option<String> {
        match self.take(name)? {
            Value::String(text) => Some(text),
            _ => self.misfit(name, "string"),
        }
    }

    /// A list of texts, empty if it is left out.
    pub(super) fn texts(&mut self, name: &str) -> Vec<String> {
        let items = self.items(name);
        let texts = items.into_iter().filter_map(|item| match item {
            Value::String(text) => Some(text),
            _ => self.misfit(name, "a list of strings"),
        });
        texts.collect()
    }

    /// A yes or no, no if it is left out.
    pub(super) fn flag(&mut self, name: &str) -> bool {
        self.maybe_flag(name).unwrap_or(false)
    }

    /// A yes or no that may be left out.
    pub(super) fn maybe_flag(&mut self, name: &str) -> Option<bool> {
        match self.take(name)? {
            Value::Bool(flag) => Some(flag),
            _ => self.misfit(name, "boolean"),
        }
    }

    /// A whole number from 0: models write `3`, and sometimes `3.0`. Numbers beyond all use mean
    /// as much as there is.
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

    /// The same, cut to what 32 bits hold.
    pub(super) fn small_count(&mut self, name: &str) -> Option<u32> {
        self.count(name).map(|count| u32::try_from(count).unwrap_or(u32::MAX))
    }

    /// One of some words.
    pub(super) fn choice<T: Copy>(&mut self, name: &str, choices: &[(&str, T)]) -> Option<T> {
        let text = self.maybe_text(name)?;
        let chosen = choices.iter().find(|(word, _)| *word == text).map(|(_, choice)| *choice);
        chosen.or_else(|| self.misfit(name, "one of the words that the schema names"))
    }

    /// What `read` finds in the object `name`, if there is one.
    pub(super) fn within<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        let value = self.take(name)?;
        self.read_in(value, read)
    }

    /// What `read` finds in each object of the list `name`.
    pub(super) fn each<T>(&mut self, name: &str, read: impl Fn(&mut Self) -> Option<T>) -> Vec<T> {
        let items = self.items(name);
        items.into_iter().filter_map(|item| self.read_in(item, &read)).collect()
    }

    /// Says what is wrong with the arguments beyond what the schema can say.
    pub(super) fn reject(&mut self, why: &str) {
        if self.wrong.is_none() {
            self.wrong = Some(invalid(self.tool, why));
        }
    }

    /// # Errors
    /// The first thing that was found to be wrong, as a sentence for the model.
    pub(super) fn done(self) -> Result<(), String> {
        self.wrong.map_or(Ok(()), Err)
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

    fn take(&mut self, name: &str) -> Option<Value> {
        self.value.as_object_mut()?.remove(name)
    }

    fn misfit<T>(&mut self, name: &str, wanted: &str) -> Option<T> {
        self.reject(&format!("`{name}` must be {wanted}"));
        None
    }
}

fn invalid(tool: &str, why: &str) -> String {
    format!("Invalid arguments for tool: {tool}: {why}")
}
