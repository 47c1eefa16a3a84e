//! What becomes of the changes after each turn of a conversation.

use super::{
    changes::{self, changed, files, pending},
    ui::ConversationUi,
};
use crate::{
    question::Question,
    review::{ChangeMode, NOT_NOW},
    style::harmless,
};
use std::cell::RefCell;

/// Brings the changes where they belong, after a question if that is open.
pub(super) async fn settle(ui: &RefCell<ConversationUi>) {
    let (workspace, mode, person) = ui.borrow().unsettled();
    let style = ui.borrow().style();
    let folder = harmless(&workspace.root().display().to_string()).into_owned();
    if mode != ChangeMode::InPlace {
        let notices = changes::notices(&workspace, style).await;
        ui.borrow_mut().show_notices(notices);
    }
    loop {
        let count = pending(&workspace).await;
        match mode {
            _ if count == 0 => return,
            ChangeMode::InPlace => return,
            ChangeMode::Apply => return ui.borrow_mut().apply(),
            ChangeMode::Show => {
                let line = format!("{} changed, not applied; /diff shows it", files(count));
                return ui.borrow_mut().note(&line);
            }
            ChangeMode::Ask => {}
        }
        let Some(person) = &person else { return };
        let asked = format!("apply {} to {folder}? ", files(count));
        let words = [("yes", ""), ("not now", ""), ("diff", ""), ("always", "after each turn")];
        let synonyms = [&NOT_NOW[..], &[("drop", "drop")]].concat();
        let question = Question::choice(&asked, &words).also(&synonyms);
        let answer = person.answer(question.clone()).await.unwrap_or_default();
        let mut ui = ui.borrow_mut();
        match question.word(&answer) {
            Some("yes") => return ui.apply(),
            Some("always") => {
                ui.set_mode(ChangeMode::Apply);
                return ui.apply();
            }
            Some("diff") => ui.show_diff(),
            Some("drop") => return ui.drop_changes(),
            // Something else has applied them, or the last question is still to come.
            _ if changed(&workspace) == 0 || ui.is_leaving() => return,
            _ => {
                return ui
                    .note("not applied yet; /apply does it, /diff shows it, /drop gives it up");
            }
        }
    }
}
