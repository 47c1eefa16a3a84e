//! The subscribers to a session's events: the current run, and all others.

use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use innerloop_core::{
    event::{Event, EventKind},
    id::AgentId,
};

/// The subscribers to a session's events.
#[derive(Debug, Default)]
pub(crate) struct EventSubscribers {
    run: Option<RunSubscriber>,
    runs: u64,
    all: Vec<UnboundedSender<Event>>,
    is_over: bool,
}

/// The subscriber of a run.
#[derive(Debug)]
struct RunSubscriber {
    number: u64,
    tell: UnboundedSender<Event>,
}

impl EventSubscribers {
    /// Registers a run whose prompt is about to be submitted, and returns its number and events.
    pub(crate) fn expect_run(&mut self) -> (u64, UnboundedReceiver<Event>) {
        // During a run the session refuses another one, which must not get its place here: its
        // sender is dropped, and its stream is empty.
        let (tell, events) = unbounded();
        self.runs += 1;
        let number = self.runs;
        self.run.get_or_insert(RunSubscriber { number, tell });
        (number, events)
    }

    /// Forgets a run whose prompt was refused.
    pub(crate) fn forget_run(&mut self, number: u64) {
        self.run.take_if(|run| run.number == number);
    }

    /// Returns whether that run is the current one.
    pub(crate) fn has_run(&self, number: u64) -> bool {
        self.run.as_ref().is_some_and(|run| run.number == number)
    }

    /// Returns the events from now on; none if the session is closed.
    pub(crate) fn subscribe(&mut self) -> UnboundedReceiver<Event> {
        let (tell, events) = unbounded();
        if !self.is_over {
            self.all.push(tell);
        }
        events
    }

    /// Sends an event to all subscribers, and forgets those that are gone.
    pub(crate) fn tell(&mut self, event: &Event) {
        if let Some(run) = &self.run {
            let _heard = run.tell.unbounded_send(event.clone());
        }
        self.all.retain(|watcher| watcher.unbounded_send(event.clone()).is_ok());
        let is_end = matches!(event.kind, EventKind::ProcessingEnd { .. });
        if is_end && event.agent == AgentId::ROOT {
            self.run = None;
        }
        if matches!(event.kind, EventKind::SessionEnd { .. }) {
            self.is_over = true;
            self.run = None;
            self.all.clear();
        }
    }
}
