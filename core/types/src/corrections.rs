//! Corrections: the faults of replies that the loop points out to the model before it asks again,
//! and how often (`docs/decisions.md#corrections`). The rules in `core` detect the faults.

use alloc::string::String;
use innerloop_json::{FromJson, Map, ToJson};

/// The corrections of a run. A fault beyond its number is accepted.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct CorrectionPolicy {
    /// The number of times that a run corrects each fault, by the fault's name; 0 for never.
    // One map for all of them is a third of the code that ten fields are, in every build.
    #[json(like = "FaultCounts")]
    pub faults: Map<u32>,
    /// The number of corrections of a run for replies after a call: `fake_result`, `named_tool` and
    /// `greeting` together.
    pub max_after_calls: u32,
    /// The number of corrections of a run, whatever the faults.
    pub max_per_run: u32,
}

/// The fields of [`CorrectionPolicy::faults`], for the schema of its JSON.
#[cfg(feature = "schema")]
#[derive(Default, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
struct FaultCounts {
    /// Replies that announce an action, and do nothing.
    #[json(skip_serializing_if = "is_zero")]
    promised: u32,
    /// Replies of less than 100 characters without a complete sentence.
    #[json(skip_serializing_if = "is_zero")]
    too_short: u32,
    /// Replies that ask whether to begin. They do not count if the model may ask the user
    /// (`ask_user`).
    #[json(skip_serializing_if = "is_zero")]
    asked_instead: u32,
    /// First replies of more than 300 characters from a model that has called no tool yet.
    #[json(skip_serializing_if = "is_zero")]
    wrote_only: u32,
    /// Replies that claim a change of files, from a model that has called no tool yet.
    #[json(skip_serializing_if = "is_zero")]
    claimed: u32,
    /// Replies that invent a tool's result. They are cut off there, even beyond the number.
    #[json(skip_serializing_if = "is_zero")]
    fake_result: u32,
    /// Replies after a call that write another one as text, in a form that is not parsed.
    #[json(skip_serializing_if = "is_zero")]
    named_tool: u32,
    /// Replies after a call that greet the user instead of answering.
    #[json(skip_serializing_if = "is_zero")]
    greeting: u32,
    /// Replies that repeat one passage over and over. They are ended at once, even beyond the
    /// number.
    #[json(skip_serializing_if = "is_zero")]
    echo: u32,
    /// Edits of one file that fail four times in a row. With any number but 0, each file is
    /// reported once.
    #[json(skip_serializing_if = "is_zero")]
    patch_spiral: u32,
}

/// If absent, the fault is never corrected.
#[cfg(feature = "schema")]
const fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl Default for CorrectionPolicy {
    fn default() -> Self {
        Self { faults: Map::new(), max_after_calls: 2, max_per_run: 8 }
    }
}

/// The fault of a reply that is corrected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson)]
#[json(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReplyFault {
    /// The reply announces an action, and does nothing.
    Promised,
    /// The reply is short, without a complete sentence.
    TooShort,
    /// The reply asks whether to begin.
    AskedInstead,
    /// The reply is long, and no tool was called yet.
    WroteOnly,
    /// The reply claims a change, and no tool was called yet.
    Claimed,
    /// The reply invents a tool's result.
    FakeResult,
    /// The reply writes a call as text.
    NamedTool,
    /// The reply greets the user instead of answering.
    Greeting,
    /// The reply repeats one passage over and over.
    Echo,
    /// The reply edits a file again on which earlier edits have failed.
    PatchSpiral,
}

impl ReplyFault {
    /// Every fault.
    pub const ALL: [Self; 10] = [
        Self::Promised,
        Self::TooShort,
        Self::AskedInstead,
        Self::WroteOnly,
        Self::Claimed,
        Self::FakeResult,
        Self::NamedTool,
        Self::Greeting,
        Self::Echo,
        Self::PatchSpiral,
    ];

    /// Returns the name of the fault, as in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Promised => "promised",
            Self::TooShort => "too_short",
            Self::AskedInstead => "asked_instead",
            Self::WroteOnly => "wrote_only",
            Self::Claimed => "claimed",
            Self::FakeResult => "fake_result",
            Self::NamedTool => "named_tool",
            Self::Greeting => "greeting",
            Self::Echo => "echo",
            Self::PatchSpiral => "patch_spiral",
        }
    }

    /// Returns whether the fault can only follow a call.
    #[must_use]
    pub const fn is_after_calls(self) -> bool {
        matches!(self, Self::FakeResult | Self::NamedTool | Self::Greeting)
    }
}

impl CorrectionPolicy {
    /// Creates a policy that corrects each listed fault up to its number of times.
    #[must_use]
    pub fn of(faults: &[(ReplyFault, u32)]) -> Self {
        let mut policy = Self::default();
        for (fault, most) in faults {
            policy.faults.insert(String::from(fault.name()), *most);
        }
        policy
    }

    /// Returns how often a run corrects that fault.
    #[must_use]
    pub fn most(&self, fault: ReplyFault) -> u32 {
        self.faults.get(fault.name()).copied().unwrap_or_default()
    }
}
