//! Corrections: the faults of replies that the loop answers with a word to the model before it asks
//! again, and how often (`docs/decisions.md#corrections`). What tells a fault is in `core`'s rules.

use innerloop_json::{FromJson, ToJson};

/// The corrections of a run: the number of times that each fault is corrected, 0 for never. A fault
/// over its number stands as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct CorrectionPolicy {
    /// Replies that announce what they will do, and do nothing.
    pub promised: u32,
    /// Replies of less than 100 characters that end nowhere.
    pub too_short: u32,
    /// Replies that ask whether to begin. Where the model may ask the user (`ask_user`), they are
    /// none.
    pub asked_instead: u32,
    /// First replies of more than 300 characters of a model that has called no tool yet.
    pub wrote_only: u32,
    /// Replies that claim a change of files by a model that has called no tool yet.
    pub claimed: u32,
    /// Replies that go on with a tool's result of their own making. It is cut off, also over the
    /// number.
    pub fake_result: u32,
    /// Replies after a call that write another one as text, in a form that nobody reads.
    pub named_tool: u32,
    /// Replies after a call that greet the user in place of an answer.
    pub greeting: u32,
    /// Replies that repeat one passage over and over. They are ended as they do, also over the
    /// number.
    pub echo: u32,
    /// Edits of one file that fail four times in a row, for each file.
    pub patch_spiral: u32,
    /// The number of corrections of a run for replies after a call: `fake_result`, `named_tool` and
    /// `greeting` together.
    pub max_after_calls: u32,
    /// The number of corrections of a run, whatever the faults.
    pub max_per_run: u32,
}

impl Default for CorrectionPolicy {
    fn default() -> Self {
        Self {
            promised: 0,
            too_short: 0,
            asked_instead: 0,
            wrote_only: 0,
            claimed: 0,
            fake_result: 0,
            named_tool: 0,
            greeting: 0,
            echo: 0,
            patch_spiral: 0,
            max_after_calls: 2,
            max_per_run: 8,
        }
    }
}

/// The fault of a reply that is corrected. Each has its number in [`CorrectionPolicy`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
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
    /// Every fault, in the order of the policy's fields.
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

    /// Returns whether it can only follow a call.
    #[must_use]
    pub const fn is_after_calls(self) -> bool {
        matches!(self, Self::FakeResult | Self::NamedTool | Self::Greeting)
    }
}

impl CorrectionPolicy {
    /// Returns how often a run corrects that fault.
    #[must_use]
    pub const fn most(&self, fault: ReplyFault) -> u32 {
        match fault {
            ReplyFault::Promised => self.promised,
            ReplyFault::TooShort => self.too_short,
            ReplyFault::AskedInstead => self.asked_instead,
            ReplyFault::WroteOnly => self.wrote_only,
            ReplyFault::Claimed => self.claimed,
            ReplyFault::FakeResult => self.fake_result,
            ReplyFault::NamedTool => self.named_tool,
            ReplyFault::Greeting => self.greeting,
            ReplyFault::Echo => self.echo,
            ReplyFault::PatchSpiral => self.patch_spiral,
        }
    }
}
