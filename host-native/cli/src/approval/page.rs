//! The question whether a page may be read whose domain is not allowed yet. The whole address is
//! shown, up to a bound, since the model may put anything into it.

use super::{PersonHandle, PersonMessage, QuestionQueue};
use crate::{
    question::Question,
    style::{brief, harmless},
};
use innerloop_host::web::{DomainAnswer, DomainRequest};

/// The most characters of an address.
const SHOWN: usize = 600;

impl PersonHandle {
    /// Asks whether a page may be read; the answer goes to the request.
    pub(crate) fn ask_for_page(&self, page: DomainRequest) {
        drop(self.0.send(PersonMessage::Page(page)));
    }
}

impl QuestionQueue {
    /// Asks about a page. A request that is dropped without an answer is denied.
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

    /// Waits for the next line: `Some(None)` at the end of the input, and none if the page is no
    /// longer wanted.
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
        // What was typed for this question must not answer the next one.
        self.lines.forget();
        None
    }
}

/// Returns the address that is asked for, and the page that led there.
fn headline(page: &DomainRequest) -> String {
    let length = page.address.chars().count();
    let more =
        if length > SHOWN { format!(" ({length} characters in all)") } else { String::new() };
    let leads = page.from.as_ref().map(|from| format!("  {} leads there\n", brief(from, SHOWN)));
    let address = brief(&page.address, SHOWN);
    format!("? the agent wants to read {address}{more}\n{}", leads.unwrap_or_default())
}
