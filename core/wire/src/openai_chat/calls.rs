//! Calls while they arrive in pieces. An index is a key, not a position: it may start anywhere,
//! be missing, or be used again for a further call.

use super::{
    super::{
        lenient::ValueRef, list_positions::PositionMap, sink::PieceSink,
        surrogates::PendingSurrogate, values::JsonNesting,
    },
    chunk::ChatCall,
};
use alloc::{
    borrow::Cow,
    boxed::Box,
    string::{String, ToString},
    vec::Vec,
};
use innerloop_json::{IntoList, PlaceMap};
use innerloop_types::{
    message::{CallDetail, ToolCall},
    steps,
};

/// The calls of one reply.
#[derive(Debug, Default)]
pub(super) struct CallList {
    /// In the order in which they began.
    list: Vec<PartialCall>,
    /// The position of the call that the provider's index means now.
    by_index: PositionMap,
    by_id: PlaceMap,
    /// The position of the call of the older field `function_call`.
    legacy: Option<usize>,
}

/// A call while it arrives.
#[derive(Debug, Default)]
struct PartialCall {
    id: String,
    name: String,
    arguments: String,
    /// The nesting of the arguments at their end.
    nesting: JsonNesting,
    /// True if nothing stands behind the last bracket that closed them.
    is_whole: bool,
    is_freeform: bool,
    signature: Option<String>,
    surrogate: PendingSurrogate,
    /// True if a surrogate was lost, which would change what the call does.
    is_damaged: bool,
}

/// The data about a call in one piece.
struct CallUpdate<'a> {
    id: Cow<'a, str>,
    name: Cow<'a, str>,
    arguments: ValueRef<'a>,
}

impl CallList {
    /// Takes a piece of a call, or a call that is `whole`. Returns the position of a call that
    /// begins with it.
    pub(super) fn take(
        &mut self,
        call: &ChatCall<'_>,
        whole: bool,
        out: &mut PieceSink,
    ) -> Option<usize> {
        let fresh = CallUpdate::of(call);
        // In a whole body each entry is a call of its own, whatever its index.
        let found = if whole { None } else { self.find(call.index, &fresh) };
        let at = self.put(found, &fresh, out)?;
        if let Some(index) = call.index {
            self.by_index.set(index, at);
        }
        if let Some(building) = self.list.get_mut(at) {
            building.is_freeform |= call.is_freeform;
            let signature = call.signature.word().map(Cow::into_owned);
            out.keep(signature.as_ref().map_or(0, String::len));
            building.signature = signature.or(building.signature.take());
        }
        found.is_none().then_some(at)
    }

    /// Takes a piece of the older field `function_call`.
    pub(super) fn take_legacy(
        &mut self,
        call: &ChatCall<'_>,
        out: &mut PieceSink,
    ) -> Option<usize> {
        if !call.says_something() {
            return None;
        }
        let found = self.legacy;
        let at = self.put(found, &CallUpdate::of(call), out)?;
        self.legacy = Some(at);
        found.is_none().then_some(at)
    }

    /// Returns the call that a piece belongs to; none if it begins one.
    fn find(&self, index: Option<u64>, fresh: &CallUpdate<'_>) -> Option<usize> {
        steps::count(1 + fresh.id.len());
        let at = match index {
            Some(index) => match self.by_index.get(index) {
                Some(at) => at,
                // A piece that names no call belongs to the last one, whatever its index.
                None if fresh.id.is_empty() && fresh.name.is_empty() => {
                    self.list.len().checked_sub(1)?
                }
                None => return None,
            },
            None => match self.by_id.get(&fresh.id) {
                Some(at) => at,
                None if fresh.id.is_empty() => self.list.len().checked_sub(1)?,
                None => return None,
            },
        };
        let building = self.list.get(at)?;
        (!building.is_other(fresh)).then_some(at)
    }

    /// Adds a piece to the call at `found`, or begins one if there is room.
    fn put(
        &mut self,
        found: Option<usize>,
        fresh: &CallUpdate<'_>,
        out: &mut PieceSink,
    ) -> Option<usize> {
        let at = found.unwrap_or(self.list.len());
        if found.is_none() {
            if !out.item() {
                return None;
            }
            self.list.push(PartialCall::default());
        }
        let building = self.list.get_mut(at)?;
        let before = building.arguments.len();
        building.add(fresh, out);
        let more = building.arguments.get(before..).unwrap_or_default();
        if found.is_none() || !more.is_empty() {
            out.call(at, &building.id, &building.name, more);
        }
        if !fresh.id.is_empty() && building.id == *fresh.id {
            self.by_id.or_insert(fresh.id.to_string(), at);
        }
        Some(at)
    }

    /// Returns whether one of the calls may go on, unless the provider says that the reply is
    /// whole.
    pub(super) fn are_cut(&self) -> bool {
        // Free text has no bracket that would show its end.
        self.list.iter().any(|building| building.is_freeform || building.nesting.is_open())
    }

    /// Returns whether one of the calls lacks half of a surrogate pair.
    pub(super) fn are_damaged(&self) -> bool {
        self.list.iter().any(|building| building.is_damaged || building.surrogate.is_waiting())
    }

    /// Returns the whole calls in the order in which they began; `None` for what turned out to be
    /// none.
    pub(super) fn finish(self) -> Vec<Option<ToolCall>> {
        self.list.into_iter().map(PartialCall::call).into_list()
    }
}

impl<'a> CallUpdate<'a> {
    fn of(call: &ChatCall<'a>) -> Self {
        Self {
            id: call.id.string().unwrap_or_default(),
            name: call.name.string().unwrap_or_default(),
            arguments: call.arguments,
        }
    }

    /// Returns whether the arguments begin like an object.
    fn begins(&self) -> bool {
        let json = self.arguments.json();
        json.strip_prefix('"').unwrap_or(json).trim_start().starts_with('{')
    }
}

impl PartialCall {
    /// Returns whether a piece that points here begins a further call instead.
    fn is_other(&self, fresh: &CallUpdate<'_>) -> bool {
        if fresh.name.is_empty() || self.name.is_empty() {
            return false;
        }
        // An index may be used again: a name with another id is another call. Some servers repeat
        // id and name with every piece, which begins nothing.
        if !fresh.id.is_empty() && !self.id.is_empty() {
            return fresh.id != self.id;
        }
        if self.name != fresh.name {
            return !self.is_named_by(fresh);
        }
        // Without ids, only arguments that begin again behind whole ones tell calls apart.
        fresh.begins() && self.is_whole && !self.has(fresh)
    }

    /// Returns whether a piece with another name is a further piece of the name itself. Without
    /// ids, only what joins words tells that from another call.
    fn is_named_by(&self, fresh: &CallUpdate<'_>) -> bool {
        let joins = |byte: Option<&u8>| matches!(byte, Some(b'_' | b'-' | b'.'));
        let (name, more) = (self.name.as_bytes(), fresh.name.as_bytes());
        let is_piece = fresh.id.is_empty() && matches!(fresh.arguments.json(), "null" | "\"\"");
        let goes_on = !self.id.is_empty() || joins(name.last()) || joins(more.first());
        is_piece && self.arguments.is_empty() && goes_on
    }

    /// Returns whether a piece has the very arguments that are there: some gateways repeat the
    /// whole call at the end.
    fn has(&self, fresh: &CallUpdate<'_>) -> bool {
        steps::count(fresh.arguments.json().len());
        let mut surrogate = PendingSurrogate::default();
        let given = match fresh.arguments {
            raw if raw.is_string() => raw.joined(&mut surrogate).text,
            raw => Cow::Borrowed(raw.json()),
        };
        self.is_whole && given == self.arguments
    }

    fn add(&mut self, fresh: &CallUpdate<'_>, out: &mut PieceSink) {
        out.keep(fresh.id.len() + fresh.name.len());
        // Id and name are taken once and not appended: some servers repeat both in every piece.
        if self.id.is_empty() {
            self.id.push_str(&fresh.id);
        }
        if self.name.is_empty() || (self.name != fresh.name && self.is_named_by(fresh)) {
            self.name.push_str(&fresh.name);
        }
        if !fresh.name.is_empty() && self.has(fresh) {
            return;
        }
        // The arguments' JSON is what the string holds, or the value itself where it is none.
        let arguments = match fresh.arguments {
            raw if raw.is_string() => {
                let joined = raw.joined(&mut self.surrogate);
                self.is_damaged |= !joined.is_whole;
                joined.text
            }
            raw => Cow::Borrowed(raw.some().map_or("", ValueRef::json)),
        };
        let mut rest = arguments.as_bytes();
        while let Some(end) = self.nesting.close(rest) {
            self.is_whole = true;
            rest = rest.get(end..).unwrap_or_default();
        }
        self.is_whole &= rest.trim_ascii().is_empty();
        out.keep(arguments.len());
        self.arguments.push_str(&arguments);
    }

    /// Returns the whole call, unless nothing was ever said of it.
    fn call(self) -> Option<ToolCall> {
        let Self { id, name, mut arguments, is_freeform, signature, .. } = self;
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
