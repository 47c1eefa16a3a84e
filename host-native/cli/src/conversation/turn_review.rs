//! The review of changes after each turn of a conversation: applies them, shows how many there are,
//! or asks. The review at the end of a session is `review`.

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

/// Applies the changes or leaves them pending, after a question if the mode asks for one.
pub(super) async fn settle(ui: &RefCell<ConversationUi>) {
    let (workspace, mode, person) = ui.borrow().unsettled();
    let style = ui.borrow().style();
    let folder = harmless(&workspace.root().display().to_string()).into_owned();
    if mode != ChangeMode::InPlace {
        let notices = changes::notices(&workspace, style).await;
        ui.borrow_mut().show_notices(notices);
    }
    loop {
        // Counted each time: a command may have applied or dropped them while the question was
        // open.
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
            // A command has applied them meanwhile, or the review at the end will ask.
            _ if changed(&workspace) == 0 || ui.is_leaving() => return,
            _ => {
                return ui
                    .note("not applied yet; /apply does it, /diff shows it, /drop gives it up");
            }
        }
    }
}
