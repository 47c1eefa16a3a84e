//! The warning about instruction files that do not fit into the prompt. The core decides what is
//! cut; this module only tells it.

use super::style::brief;
use innerloop_core::{config::EnvironmentFacts, cut_docs};

/// The bytes of instruction files that the core's prompt has room for, each with a line before it.
const ROOM: usize = 32 << 10;

/// The bytes around a file's path and text.
const AROUND: usize = 10;

/// The most characters of a path.
const WIDTH: usize = 100;

/// Returns a line about the files that the model does not see in full; none if there are none.
pub(super) fn cut(facts: &EnvironmentFacts) -> Option<String> {
    let mut cut = cut_docs(facts);
    let first = cut.next()?;
    let mut room = ROOM;
    for doc in facts.project_docs.iter().take_while(|doc| *doc != first) {
        room = room.saturating_sub(doc.path.len() + doc.text.trim_end().len() + AROUND);
    }
    let kept = room.saturating_sub(first.path.len() + AROUND) / 1024;
    let mut line = format!(
        "{} is cut: the model sees the first {kept} KiB of it, since instruction files have {} KiB \
         together",
        brief(&first.path, WIDTH),
        ROOM / 1024
    );
    let others: Vec<String> = cut.map(|doc| brief(&doc.path, WIDTH)).collect();
    if !others.is_empty() {
        line += &format!(", and nothing of {}", others.join(", "));
    }
    Some(line + "; shorten them, or move parts into files that it reads when it needs them")
}

#[cfg(test)]
mod tests {
    use super::*;
    use innerloop_core::config::ProjectDoc;

    fn facts(docs: &[(&str, usize)]) -> EnvironmentFacts {
        let doc = |(path, length): &(&str, usize)| ProjectDoc {
            path: (*path).to_owned(),
            text: "x".repeat(*length),
            private: false,
        };
        EnvironmentFacts {
            project_docs: docs.iter().map(doc).collect(),
            ..EnvironmentFacts::default()
        }
    }

    #[test]
    fn a4_what_does_not_fit_into_the_prompt_is_told_in_a_line() {
        assert_eq!(cut(&facts(&[])), None);
        assert_eq!(cut(&facts(&[("AGENTS.md", 20 << 10)])), None);
        let one = cut(&facts(&[("AGENTS.md", 40 << 10)])).unwrap();
        assert!(one.starts_with("AGENTS.md is cut: the model sees the first 31 KiB"), "{one}");
        let two = [("../AGENTS.md", 20 << 10), ("AGENTS.md", 20 << 10), ("CLAUDE.md", 5)];
        let two = cut(&facts(&two)).unwrap();
        assert!(two.starts_with("AGENTS.md is cut: the model sees the first 11 KiB"), "{two}");
        assert!(two.contains(", and nothing of CLAUDE.md; "), "{two}");
    }
}
