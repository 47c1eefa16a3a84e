//! The titles of a conversation's steps, so that undo and redo can name the steps they affect and
//! rewinding can list them. The list mirrors the session's own: an input after an undo drops the
//! undone steps.

use crate::{sessions, style::brief};
use innerloop_core::{
    Session,
    event::EventKind,
    id::AgentId,
    message::{RewindReason, VisibleTurn},
};

/// The most characters of a step's title, and the most steps of one undo that are named.
const WORDS: usize = 80;
const TOLD: usize = 3;

/// The titles of the steps: the first words of each.
#[derive(Debug, Default)]
pub(super) struct StepTitles {
    said: Vec<String>,
    /// The number of steps at the end that are undone.
    undone: usize,
    /// The number of steps at the beginning of whose changes to files nothing is known: they were
    /// made before this program began to listen.
    unheard: usize,
}

impl StepTitles {
    /// Returns the titles of a session that goes on.
    pub(super) fn of(session: &Session) -> Self {
        let seen = session.history(AgentId::ROOT).into_iter().flat_map(|it| it.seen());
        let said = seen.filter_map(|said| match said {
            VisibleTurn::User(parts) => Some(brief(&sessions::title(&parts), WORDS)),
            _ => None,
        });
        let said: Vec<String> = said.collect();
        Self { unheard: said.len(), said, undone: 0 }
    }

    /// Returns the steps that can be undone, newest first, each with the number of steps to undo to
    /// get to before it.
    pub(super) fn newest_first(&self) -> impl Iterator<Item = (usize, &str)> {
        let standing = self.said.len().saturating_sub(self.undone);
        let standing = self.said.get(..standing).unwrap_or_default();
        standing.iter().rev().map(String::as_str).enumerate().map(|(at, said)| (at + 1, said))
    }

    /// Returns whether steps are undone of whose changes to files nothing is known.
    pub(super) fn undoes_unheard(&self) -> bool {
        self.said.len().saturating_sub(self.undone) < self.unheard
    }

    /// Follows an event of the root agent; returns a line about the steps that it undoes or puts
    /// back.
    pub(super) fn on_event(&mut self, kind: &EventKind) -> Option<String> {
        match kind {
            EventKind::UserInput { parts, .. } => {
                self.begin(brief(&sessions::title(parts), WORDS));
                None
            }
            EventKind::Rewound {
                why: RewindReason::Undo | RewindReason::Redo, redo_left, ..
            } => {
                let undone = usize::try_from(*redo_left).unwrap_or(usize::MAX);
                let before = std::mem::replace(&mut self.undone, undone);
                let at = |undone: usize| self.said.len().saturating_sub(undone);
                let (from, to) = (at(undone.max(before)), at(undone.min(before)));
                let steps = self.said.get(from..to).unwrap_or_default();
                told(if undone > before { "undone" } else { "put back" }, steps)
            }
            EventKind::Rewound { .. } => {
                // Clearing is a step, too, which can be undone: it needs a title.
                self.begin("/clear".to_owned());
                None
            }
            _ => None,
        }
    }

    fn begin(&mut self, words: String) {
        self.said.truncate(self.said.len().saturating_sub(self.undone));
        self.undone = 0;
        self.unheard = self.unheard.min(self.said.len());
        self.said.push(words);
    }
}

/// Returns a line such as `undone: "fix it", "again"`.
fn told(what: &str, steps: &[String]) -> Option<String> {
    let first = steps.iter().take(TOLD).map(|words| format!("\u{201c}{words}\u{201d}"));
    let mut named: Vec<String> = first.collect();
    if named.is_empty() {
        return None;
    }
    if let more @ 1.. = steps.len().saturating_sub(TOLD) {
        named.push(format!("and {more} more"));
    }
    Some(format!("{what}: {}", named.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use innerloop_core::message::Part;

    fn input(text: &str) -> EventKind {
        EventKind::UserInput { parts: vec![Part::text(text)] }
    }

    fn rewound(why: RewindReason, redo_left: u32) -> EventKind {
        EventKind::Rewound { why, to: 0, undo_left: 0, redo_left }
    }

    #[test]
    fn what_is_undone_is_told_by_its_words() {
        let mut steps = StepTitles::default();
        for text in ["one", "two", "three", "four", "five"] {
            assert_eq!(steps.on_event(&input(text)), None);
        }
        let mut line = |kind| steps.on_event(&kind).unwrap_or_default();
        assert_eq!(line(rewound(RewindReason::Undo, 1)), "undone: “five”");
        assert_eq!(line(rewound(RewindReason::Undo, 3)), "undone: “three”, “four”");
        assert_eq!(line(rewound(RewindReason::Redo, 2)), "put back: “three”");
        assert_eq!(line(input("other")), "");
        assert_eq!(line(rewound(RewindReason::Undo, 2)), "undone: “three”, “other”");
        assert_eq!(line(rewound(RewindReason::Clear, 0)), "");
        assert_eq!(line(rewound(RewindReason::Undo, 1)), "undone: “/clear”");
        assert_eq!(line(rewound(RewindReason::Undo, 9)), "undone: “one”, “two”");
        assert_eq!(line(rewound(RewindReason::Undo, 20)), "");
    }

    #[test]
    fn n20_what_was_said_is_listed_newest_first_without_what_is_undone() {
        let mut steps = StepTitles { unheard: 1, said: vec!["old".to_owned()], undone: 0 };
        for text in ["one", "two", "three"] {
            assert_eq!(steps.on_event(&input(text)), None);
        }
        let _ = steps.on_event(&rewound(RewindReason::Undo, 1));
        let listed: Vec<_> = steps.newest_first().collect();
        assert_eq!(listed, [(1, "two"), (2, "one"), (3, "old")]);
        assert!(!steps.undoes_unheard());
        let _ = steps.on_event(&rewound(RewindReason::Undo, 4));
        assert!(steps.undoes_unheard());
        // Other words take the place of those steps, and what they change is heard.
        let _ = steps.on_event(&input("anew"));
        let _ = steps.on_event(&rewound(RewindReason::Undo, 1));
        assert!(!steps.undoes_unheard());
    }
}
