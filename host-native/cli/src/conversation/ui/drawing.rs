//! Writing to the screen of a conversation: what was said, notes, and the line that is typed with
//! the question above it.

use super::ConversationUi;
use crate::{
    style::{TextColour, TextStyle, harmless},
    terminal::{RowLayout, laid_out},
    wrap::wrapped,
};
use std::io::Write as _;

impl ConversationUi {
    /// Draws the open question and the line that is being typed.
    pub(super) fn draw(&mut self) {
        let asked = self.slot.question();
        self.spinner.hint(self.composer.hint());
        self.spinner.pause(asked.is_some());
        let (width, height) = (self.screen.width(), self.screen.height());
        // Room is kept for the spinner and for the end of the transcript.
        let most = height.saturating_sub(3);
        let mut question = RowLayout::default();
        if let Some((asked, _)) = asked {
            let columns = u16::try_from(width).ok();
            let prompt = wrapped(asked.prompt.trim_end(), columns);
            question = laid_out("", &prompt, "", width, most / 2);
        }
        let input = self.composer.layout(width, most - question.rows.len().min(most / 2));
        let style = self.style;
        let asked = question.rows.iter().map(|row| style.paint(TextColour::Bold, row).into_owned());
        self.screen.set_input(Some(input.below(asked.collect())));
    }

    pub(super) fn echo(&mut self, text: &str) {
        let text = harmless(text).replace('\n', "\n  ");
        let said = self.style.paint(TextColour::Bold, &format!("> {text}")).into_owned();
        self.write(&format!("\n{said}\n"));
    }

    pub(in super::super) fn note(&mut self, text: &str) {
        self.tell(TextStyle::DIM, text);
    }

    pub(super) fn tell(&mut self, look: TextStyle, text: &str) {
        self.transcript.tell(look, text);
    }

    pub(super) fn write(&mut self, text: &str) {
        drop(self.screen.write_all(text.as_bytes()));
    }
}
