//! Calls while they arrive in pieces. An index is a key, not a position: it may start anywhere,
//! be missing, or be used again for a further call.

use super::chunk::{Call, Function};
use crate::types::message::{CallDetail, ToolCall};
use alloc::{boxed::Box, collections::BTreeMap, string::String, vec::Vec};

/// The calls of one reply.
#[derive(Clone, Debug, Default)]
pub(super) struct Calls {
    /// In the order in which they began.
    list: Vec<Building>,
    /// Where the call stands that the provider's index means now.
    by_index: BTreeMap<u64, usize>,
    by_id: BTreeMap<String, usize>,
    /// Where the call of the older field `function_call` stands.
    legacy: Option<usize>,
}

/// A call while it arrives.
#[derive(Clone, Debug, Default)]
struct Building {
    id: String,
    name: String,
    arguments: String,
    is_freeform: bool,
    signature: Option<String>,
}

/// What a delta says of a call.
struct Fresh<'a> {
    id: &'a str,
    name: &'a str,
    arguments: &'a str,
}

impl Calls {
    /// Takes a piece of a call, or a call that is `whole`; gives the position of one that begins
    /// with it.
    pub(super) fn take(&mut self, call: Call<'_>, whole: bool) -> Option<usize> {
        let function = call.function.0.unwrap_or_default();
        // Snowflake puts an empty one beside each function.
        let custom = call.custom.0.filter(|custom| !custom.is_empty());
        let (name, arguments) = match &custom {
            Some(custom) => (&custom.name, custom.input.some().unwrap_or_default()),
            None => (&function.name, &*function.arguments),
        };
        let id = call.id.some().unwrap_or_default();
        let fresh = Fresh { id, name: name.some().unwrap_or_default(), arguments };
        let index = call.index.0;
        let found = if whole { None } else { self.find(index, &fresh) };
        let at = self.put(found, &fresh);
        if let Some(index) = index {
            self.by_index.insert(index, at);
        }
        let signature = call.extra_content.0.and_then(super::chunk::Extra::signature);
        if let Some(building) = self.list.get_mut(at) {
            building.is_freeform |= custom.is_some() || call.kind.some() == Some("custom");
            building.signature = signature.or(building.signature.take());
        }
        found.is_none().then_some(at)
    }

    /// Takes a piece of the older field `function_call`.
    pub(super) fn take_legacy(&mut self, function: &Function<'_>) -> Option<usize> {
        let arguments = &*function.arguments;
        let name = function.name.some().unwrap_or_default();
        if name.is_empty() && arguments.is_empty() {
            return None;
        }
        let found = self.legacy;
        let at = self.put(found, &Fresh { id: "", name, arguments });
        self.legacy = Some(at);
        found.is_none().then_some(at)
    }

    /// The call that a piece belongs to; none if it begins one.
    fn find(&self, index: Option<u64>, fresh: &Fresh<'_>) -> Option<usize> {
        let at = match index {
            Some(index) => match self.by_index.get(&index) {
                Some(&at) => at,
                // A piece that names no call belongs to the last one, whatever its index.
                None if fresh.id.is_empty() && fresh.name.is_empty() => {
                    self.list.len().checked_sub(1)?
                }
                None => return None,
            },
            None => match self.by_id.get(fresh.id) {
                Some(&at) => at,
                None if fresh.id.is_empty() => self.list.len().checked_sub(1)?,
                None => return None,
            },
        };
        let building = self.list.get(at)?;
        (!building.is_other(fresh)).then_some(at)
    }

    /// Adds a piece to the call at `found`, or begins one.
    fn put(&mut self, found: Option<usize>, fresh: &Fresh<'_>) -> usize {
        let at = found.unwrap_or(self.list.len());
        if found.is_none() {
            self.list.push(Building::default());
        }
        if let Some(building) = self.list.get_mut(at) {
            building.add(fresh);
            if !fresh.id.is_empty() && building.id == fresh.id {
                self.by_id.entry(fresh.id.into()).or_insert(at);
            }
        }
        at
    }

    /// The whole calls in the order in which they began; `None` for what turned out to be none.
    pub(super) fn finish(self) -> Vec<Option<ToolCall>> {
        self.list.into_iter().map(Building::call).collect()
    }
}

impl Building {
    /// Whether a piece that points here begins a further call instead.
    fn is_other(&self, fresh: &Fresh<'_>) -> bool {
        if fresh.name.is_empty() || self.name.is_empty() {
            return false;
        }
        if !fresh.id.is_empty() && !self.id.is_empty() {
            return fresh.id != self.id;
        }
        // Without ids, only arguments that begin again behind whole ones tell calls apart.
        fresh.arguments.trim_start().starts_with('{')
            && self.arguments.trim_end().ends_with('}')
            && serde_json::from_str::<serde::de::IgnoredAny>(&self.arguments).is_ok()
    }

    fn add(&mut self, fresh: &Fresh<'_>) {
        if self.id.is_empty() {
            self.id.push_str(fresh.id);
        }
        // Some servers repeat the name with each piece; a few send it in pieces itself.
        let is_piece = fresh.id.is_empty() && fresh.arguments.is_empty();
        if self.name.is_empty()
            || (is_piece && self.arguments.is_empty() && self.name != fresh.name)
        {
            self.name.push_str(fresh.name);
        }
        self.arguments.push_str(fresh.arguments);
    }

    /// The whole call, unless nothing was ever said of it.
    fn call(self) -> Option<ToolCall> {
        let Self { id, name, mut arguments, is_freeform, signature } = self;
        let is_blank = arguments.trim().is_empty();
        if id.is_empty() && name.is_empty() && is_blank {
            return None;
        }
        if (is_blank && !is_freeform) || arguments == "null" {
            arguments = String::from("{}");
        }
        let detail = CallDetail { freeform: is_freeform, signature, item: None };
        let detail = (detail != CallDetail::default()).then(|| Box::new(detail));
        Some(ToolCall { id, name, arguments, detail })
    }
}
