//! The form of a waiting input in a snapshot.

use crate::machine::agent_state::UserInput;
use alloc::{borrow::Cow, boxed::Box, vec::Vec};
use innerloop_json::{Error, FromJson, FromJsonCow, Reader, ToJson, ValueKind, any_schema};
use innerloop_types::{input::TurnOptions, message::Part};

/// An input that waits.
#[derive(ToJson)]
pub(super) struct InputForm<'a> {
    parts: Cow<'a, [Part]>,
    #[json(skip_serializing_if = "Option::is_none")]
    options: Option<Cow<'a, TurnOptions>>,
}

impl<'a> InputForm<'a> {
    pub(super) fn of(input: &'a UserInput) -> Self {
        let options = input.options.as_deref().map(Cow::Borrowed);
        Self { parts: Cow::Borrowed(&input.parts), options }
    }

    /// Returns an input without options.
    pub(super) const fn plain(parts: Vec<Part>) -> Self {
        Self { parts: Cow::Owned(parts), options: None }
    }

    pub(super) fn input(self) -> UserInput {
        let options = self.options.map(|options| Box::new(FromJsonCow::read_value(options)));
        UserInput { parts: FromJsonCow::read_value(self.parts), options }
    }
}

impl<'a> FromJson<'a> for InputForm<'_> {
    fn blank() -> Self {
        Self::plain(Vec::new())
    }

    /// Reads both forms: snapshots before version 5 have a list of the parts alone.
    fn fill(&mut self, reader: &mut Reader<'a>) -> Result<(), Error> {
        #[derive(FromJson)]
        struct Whole {
            parts: Vec<Part>,
            #[json(default)]
            options: Option<TurnOptions>,
        }
        *self = match reader.kind()? {
            ValueKind::Array => Self::plain(Vec::<Part>::read(reader)?),
            _ => {
                let Whole { parts, options } = Whole::read(reader)?;
                Self { parts: Cow::Owned(parts), options: options.map(Cow::Owned) }
            }
        };
        Ok(())
    }
}

any_schema!(read InputForm<'_>);
