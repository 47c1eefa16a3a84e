//! What goes on, in a line that moves: a sign of life with the time that it takes.

use super::{
    style::{Colour, Style, brief},
    terminal::Screen,
};
use std::time::{Duration, Instant};

/// How often it moves.
pub(super) const PAUSE: Duration = Duration::from_millis(120);

const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// What is over before that is not told.
const SHORTEST: Duration = Duration::from_millis(300);

/// The line.
#[derive(Debug)]
pub(super) struct Spinner {
    screen: Screen,
    style: Style,
    activity: Option<String>,
    since: Instant,
    /// What else is told there.
    hint: Option<String>,
}

impl Spinner {
    pub(super) fn new(screen: Screen, style: Style) -> Self {
        Self { screen, style, activity: None, since: Instant::now(), hint: None }
    }

    /// What goes on from now on, if anything does.
    pub(super) fn set(&mut self, activity: Option<String>) {
        if self.activity != activity {
            self.activity = activity;
            self.since = Instant::now();
            self.tick();
        }
    }

    /// Tells something in place of what goes on.
    pub(super) fn hint(&mut self, hint: Option<String>) {
        if self.hint != hint {
            self.hint = hint;
            self.tick();
        }
    }

    /// Time has passed.
    pub(super) fn tick(&self) {
        self.screen.set_status(self.line());
    }

    fn line(&self) -> Option<String> {
        let columns = self.screen.width().saturating_sub(1);
        if let Some(hint) = &self.hint {
            return Some(self.style.paint(Colour::Dim, &brief(hint, columns)).into_owned());
        }
        let elapsed = self.since.elapsed();
        let activity = self.activity.as_ref().filter(|_| elapsed >= SHORTEST)?;
        let at = usize::try_from(elapsed.as_millis() / PAUSE.as_millis()).unwrap_or_default();
        let frame = FRAMES.get(at % FRAMES.len()).unwrap_or(&"");
        let time = match elapsed.as_secs() {
            seconds @ 0..60 => format!("{seconds} s"),
            seconds => format!("{} min {:02} s", seconds / 60, seconds % 60),
        };
        // The time is told also where there is little room.
        let room = columns.saturating_sub(time.len() + 5);
        let line = format!("{frame} {} · {time}", brief(activity, room));
        Some(self.style.paint(Colour::Dim, &line).into_owned())
    }
}
