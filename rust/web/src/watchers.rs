//! Who is told what happens: the run that is under way, and whoever has subscribed.

use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use innerloop_core::{
    event::{Event, EventKind},
    id::AgentId,
};

/// The subscribers that are told what happens.
#[derive(Debug, Default)]
pub(crate) struct EventSubscribers {
    run: Option<RunSubscriber>,
    runs: u64,
    all: Vec<UnboundedSender<Event>>,
    is_over: bool,
}

/// A run, and who is told of it.
#[derive(Debug)]
struct RunSubscriber {
    number: u64,
    tell: UnboundedSender<Event>,
}

impl EventSubscribers {
    /// A run whose prompt is about to be said. While one is under way, the session refuses another.
    pub(crate) fn expect_run(&mut self) -> (u64, UnboundedReceiver<Event>) {
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

    /// Returns whether that run is under way.
    pub(crate) fn has_run(&self, number: u64) -> bool {
        self.run.as_ref().is_some_and(|run| run.number == number)
    }

    /// All that happens from here on.
    pub(crate) fn subscribe(&mut self) -> UnboundedReceiver<Event> {
        let (tell, events) = unbounded();
        if !self.is_over {
            self.all.push(tell);
        }
        events
    }

    /// Tells everybody. Who has dropped their end hears nothing more.
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
