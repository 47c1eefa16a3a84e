//! Corrections: the faults of replies that the loop answers with a word to the model before it asks
//! again, and how often (`docs/decisions.md#corrections`). What tells a fault is in `core`'s rules.

use alloc::string::String;
use innerloop_json::{FromJson, Map, ToJson};

/// The corrections of a run. A fault over its number stands as it is.
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

/// The fields of [`CorrectionPolicy::faults`], for those who describe its JSON.
#[cfg(feature = "schema")]
#[derive(Default, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
struct FaultCounts {
    /// Replies that announce what they will do, and do nothing.
    #[json(skip_serializing_if = "is_zero")]
    promised: u32,
    /// Replies of less than 100 characters that end nowhere.
    #[json(skip_serializing_if = "is_zero")]
    too_short: u32,
    /// Replies that ask whether to begin. Where the model may ask the user (`ask_user`), they are
    /// none.
    #[json(skip_serializing_if = "is_zero")]
    asked_instead: u32,
    /// First replies of more than 300 characters of a model that has called no tool yet.
    #[json(skip_serializing_if = "is_zero")]
    wrote_only: u32,
    /// Replies that claim a change of files by a model that has called no tool yet.
    #[json(skip_serializing_if = "is_zero")]
    claimed: u32,
    /// Replies that go on with a tool's result of their own making. It is cut off, also over the
    /// number.
    #[json(skip_serializing_if = "is_zero")]
    fake_result: u32,
    /// Replies after a call that write another one as text, in a form that nobody reads.
    #[json(skip_serializing_if = "is_zero")]
    named_tool: u32,
    /// Replies after a call that greet the user in place of an answer.
    #[json(skip_serializing_if = "is_zero")]
    greeting: u32,
    /// Replies that repeat one passage over and over. They are ended as they do, also over the
    /// number.
    #[json(skip_serializing_if = "is_zero")]
    echo: u32,
    /// Edits of one file that fail four times in a row. With any number but 0, each file is told of
    /// once.
    #[json(skip_serializing_if = "is_zero")]
    patch_spiral: u32,
}

/// Absent stands for never.
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
    /// It announces what it will do, and does nothing.
    Promised,
    /// It is short, and ends nowhere.
    TooShort,
    /// It asks whether to begin.
    AskedInstead,
    /// It is long, and no tool was called yet.
    WroteOnly,
    /// It claims a change, and no tool was called yet.
    Claimed,
    /// It goes on with a tool's result of its own making.
    FakeResult,
    /// It writes a call as text.
    NamedTool,
    /// It greets the user in place of an answer.
    Greeting,
    /// It repeats one passage over and over.
    Echo,
    /// It edits a file that earlier edits have failed on.
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

    /// The name of the fault, as JSON has it.
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

    /// Returns whether it can only follow a call.
    #[must_use]
    pub const fn is_after_calls(self) -> bool {
        matches!(self, Self::FakeResult | Self::NamedTool | Self::Greeting)
    }
}

impl CorrectionPolicy {
    /// The corrections of those faults, each so often.
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
