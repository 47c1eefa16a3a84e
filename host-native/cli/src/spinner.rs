//! The spinner: a line with the current activity and its time, as a sign of life.

use super::{
    style::{OutputStyle, TextColour, brief},
    terminal::Screen,
};
use std::{
    fmt::{self, Display, Formatter},
    time::{Duration, Instant},
};

/// The time between two moves.
pub(super) const PAUSE: Duration = Duration::from_millis(120);

const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// The time for which an activity is not shown, so that short ones do not flicker.
const SHORTEST: Duration = Duration::from_millis(300);

/// The current activity, in a few words without punctuation at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ActivityLabel {
    pub(super) what: String,
    /// The newest detail, which changes while the activity goes on.
    pub(super) detail: Option<String>,
}

impl ActivityLabel {
    pub(super) fn of(what: impl Into<String>) -> Self {
        Self { what: what.into(), detail: None }
    }
}

impl Display for ActivityLabel {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match &self.detail {
            None => write!(out, "{}", self.what),
            Some(detail) => write!(out, "{} · {detail}", self.what),
        }
    }
}

/// The spinner's line on a screen.
#[derive(Debug)]
pub(super) struct Spinner {
    screen: Screen,
    style: OutputStyle,
    activity: Option<ActivityLabel>,
    since: Instant,
    /// The text that is shown in place of the activity.
    hint: Option<String>,
    /// True while everything waits for the person.
    is_paused: bool,
}

impl Spinner {
    pub(super) fn new(screen: Screen, style: OutputStyle) -> Self {
        Self { screen, style, activity: None, since: Instant::now(), hint: None, is_paused: false }
    }

    /// Sets the current activity, if there is one.
    pub(super) fn set(&mut self, activity: Option<ActivityLabel>) {
        if self.activity != activity {
            // A new detail belongs to the same activity, whose time goes on.
            let what =
                |activity: &Option<ActivityLabel>| activity.as_ref().map(|it| it.what.clone());
            if what(&self.activity) != what(&activity) {
                self.since = Instant::now();
            }
            self.activity = activity;
            self.tick();
        }
    }

    /// Shows a hint in place of the activity, or none.
    pub(super) fn hint(&mut self, hint: Option<String>) {
        if self.hint != hint {
            self.hint = hint;
            self.tick();
        }
    }

    /// Hides the activity while a person is asked, or shows it again.
    pub(super) fn pause(&mut self, is_paused: bool) {
        if self.is_paused != is_paused {
            self.is_paused = is_paused;
            self.tick();
        }
    }

    /// Redraws the line.
    pub(super) fn tick(&self) {
        self.screen.set_status(self.line());
    }

    fn line(&self) -> Option<String> {
        let columns = self.screen.width().saturating_sub(1);
        if let Some(hint) = &self.hint {
            return Some(self.style.paint(TextColour::Dim, &brief(hint, columns)).into_owned());
        }
        let elapsed = self.since.elapsed();
        let activity = self.activity.as_ref().filter(|_| elapsed >= SHORTEST && !self.is_paused)?;
        let at = usize::try_from(elapsed.as_millis() / PAUSE.as_millis()).unwrap_or_default();
        let frame = FRAMES.get(at % FRAMES.len()).unwrap_or(&"");
        let time = match elapsed.as_secs() {
            seconds @ 0..60 => format!("{seconds} s"),
            seconds => format!("{} min {:02} s", seconds / 60, seconds % 60),
        };
        // The activity is cut rather than the time.
        let room = columns.saturating_sub(time.len() + 5);
        let line = format!("{frame} {} · {time}", brief(&activity.to_string(), room));
        Some(self.style.paint(TextColour::Dim, &line).into_owned())
    }
}
