//! The encoding of events for the package: a JSON array for each batch. Behind an event may stand a
//! list of texts; each is one more event that equals the one before it but for its number and its
//! text, as the pieces of a reply do. What is the same for a whole batch is left out.

use innerloop_core::{
    event::{Event, EventKind},
    id::{AgentId, EffectId},
    time::SessionInstant,
};
use innerloop_json::{ToJson, Writer};

/// An event without what is the same for all of a batch.
#[derive(ToJson)]
struct BatchedEvent<'a> {
    seq: u64,
    at: SessionInstant,
    #[json(skip_serializing_if = "Option::is_none")]
    effect: Option<EffectId>,
    agent: AgentId,
    #[json(flatten)]
    kind: &'a EventKind,
}

/// Encodes a batch of events, in this order.
pub(crate) fn batch(events: &[Event]) -> String {
    let mut writer = Writer::new();
    writer.array();
    for alike in events.chunk_by(|before, event| more(before, event).is_some()) {
        // `chunk_by` compares neighbours, but all of a group equal the first: `more` looks at
        // everything except number and text. The numbers have no gaps, so the package counts on.
        let [first, others @ ..] = alike else { continue };
        writer.element();
        BatchedEvent::of(first).write(&mut writer);
        if others.is_empty() {
            continue;
        }
        writer.element();
        writer.array();
        for text in others.iter().filter_map(|event| more(first, event)) {
            writer.element();
            writer.string(text);
        }
        writer.end_array();
    }
    writer.end_array();
    writer.finish()
}

/// Returns the text of `event` if it differs from `before` in number and text only.
fn more<'a>(before: &Event, event: &'a Event) -> Option<&'a str> {
    let text = match (&before.kind, &event.kind) {
        (EventKind::AssistantTextDelta { .. }, EventKind::AssistantTextDelta { text })
        | (
            EventKind::AssistantReasoningDelta { .. },
            EventKind::AssistantReasoningDelta { text },
        ) => text,
        (
            EventKind::ToolCallDelta { index: known_index, call_id: known_id, name: known, .. },
            EventKind::ToolCallDelta { index, call_id, name, text },
        ) if (known_index, known_id, known) == (index, call_id, name) => text,
        _ => return None,
    };
    let from = |event: &Event| (event.at, event.agent, event.effect);
    (from(before) == from(event)).then_some(text)
}

impl<'a> BatchedEvent<'a> {
    const fn of(event: &'a Event) -> Self {
        // Without `..`: a new field of events has to be thought of here.
        let Event { seq, at, wall: _, session: _, effect, agent, kind } = event;
        Self { seq: *seq, at: *at, effect: *effect, agent: *agent, kind }
    }
}
