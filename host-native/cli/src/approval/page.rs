//! The question whether a page of a domain may be read that is not allowed yet.

use super::{PersonHandle, PersonMessage, QuestionQueue};
use crate::{
    question::Question,
    style::{brief, harmless},
};
use innerloop_host::web::{DomainAnswer, DomainRequest};

/// Most characters of an address that are shown.
const SHOWN: usize = 600;

impl PersonHandle {
    pub(crate) fn ask_for_page(&self, page: DomainRequest) {
        drop(self.0.send(PersonMessage::Page(page)));
    }
}

impl QuestionQueue {
    /// Asks for a page; one whose question goes away is refused.
    pub(super) async fn ask_for_page(&mut self, mut page: DomainRequest) {
        let domain = harmless(&page.domain).into_owned();
        let _turn = self.screen.turn();
        self.tell_wrapped(&headline(&page));
        let words = [
            ("yes", "for this call"),
            ("always", "in this session, with all below it"),
            ("no", ""),
        ];
        let question = Question::choice(&format!("{domain} is not allowed: "), &words).by_key();
        let word = loop {
            let Some(line) = self.read_for(&mut page, &question).await else {
                return self.tell("(no longer needed)\n");
            };
            let Some(line) = line else { return };
            match question.word(&line) {
                Some("yes") => break DomainAnswer::Once,
                Some("no") => break DomainAnswer::No,
                Some("always") => break DomainAnswer::Always,
                _ => {}
            }
        };
        if word == DomainAnswer::Always {
            let domains = [&page.allowed[..], &[page.domain.clone()]].concat().join(",");
            let how = format!("innerloop config set allow_domain {}", harmless(&domains));
            self.tell(&format!("(for all sessions: {how})\n"));
        }
        page.answer(word);
    }

    /// The next line that the person types, nothing behind the last; or nothing at all if the page
    /// is no longer wanted.
    async fn read_for(
        &mut self,
        page: &mut DomainRequest,
        question: &Question,
    ) -> Option<Option<String>> {
        let _turn = self.put(question);
        loop {
            tokio::select! {
                biased;
                () = page.is_withdrawn() => break,
                message = self.inbox.recv() => {
                    let message = message?;
                    let is_last = matches!(message, PersonMessage::SessionIsOver);
                    self.note(message);
                    if is_last {
                        break;
                    }
                }
                line = self.lines.next(question) => return Some(line),
            }
        }
        // It was no answer to what is asked next.
        self.lines.forget();
        None
    }
}

/// Returns what is asked for, in words.
fn headline(page: &DomainRequest) -> String {
    let length = page.address.chars().count();
    let more =
        if length > SHOWN { format!(" ({length} characters in all)") } else { String::new() };
    let leads = page.from.as_ref().map(|from| format!("  {} leads there\n", brief(from, SHOWN)));
    let address = brief(&page.address, SHOWN);
    format!("? the agent wants to read {address}{more}\n{}", leads.unwrap_or_default())
}
