//! The inbox of a session's host, and the responder by which the task of an effect answers. News of
//! networks and programs wait until there is room for them, which slows down whoever sends them;
//! messages of the host or its embedder never wait.

use crate::{key_renewal::KeyRenewal, tools::ToolRunner};
use innerloop_core::{
    action::Outcome,
    id::EffectId,
    input::{HookReply, HttpInput, Input, RejectedInput, ToolInput},
};
use innerloop_driver::{Driver, EndpointTable};
use std::{
    fmt,
    future::{Future, poll_fn},
    pin::pin,
    sync::atomic::{AtomicBool, Ordering},
    task::Poll,
};
use tokio::sync::{
    mpsc::{Receiver, Sender, UnboundedReceiver, UnboundedSender, channel, unbounded_channel},
    oneshot,
};

pub(crate) use tokio::sync::OwnedSemaphorePermit as Place;

/// The largest number of news that wait.
pub(crate) const ROOM: usize = 16;

/// The number of news in a row that may come before a deadline that is over.
const AHEAD: usize = 4 * ROOM;

/// An input with its place among those under way, which becomes free once the host has handled it.
pub(crate) type QueuedInput = (Input, Option<Place>);

/// A message of the embedder, or of the host to itself.
#[derive(Debug)]
pub(crate) enum HostMessage {
    /// A command, the answer of a person, or that something is lost.
    Input(Input),
    /// A look at the session between two things that happen.
    Visit(SessionInspection),
    /// An endpoint to which the session's configuration may change, with the renewal of its key.
    Reach(EndpointTable, Option<KeyRenewal>),
}

/// A function that looks at the session, and at the tools that it runs.
pub(crate) type InspectionCallback = dyn FnOnce(&Driver, &mut ToolRunner) + Send;

/// A look at the session, and an input that follows it.
pub(crate) struct SessionInspection {
    pub(crate) look: Box<InspectionCallback>,
    /// The input that follows with nothing in between, and the sender for whether the session takes
    /// it.
    pub(crate) say: Option<(Input, oneshot::Sender<Result<(), RejectedInput>>)>,
}

impl fmt::Debug for SessionInspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionInspection").field("say", &self.say).finish_non_exhaustive()
    }
}

/// The messages that come to the host.
#[derive(Debug)]
pub(crate) struct Inbox {
    /// Messages of people and of the host, of which there are few.
    // Each channel is kept with a sender, so that it never ends while the inbox is there.
    words: (UnboundedSender<HostMessage>, UnboundedReceiver<HostMessage>),
    /// Messages from networks and programs, of which there may be any number.
    news: (Sender<QueuedInput>, Receiver<QueuedInput>),
    /// The number of messages since the deadline was last looked at.
    ahead: usize,
}

impl Inbox {
    pub(crate) fn new() -> Self {
        Self { words: unbounded_channel(), news: channel(ROOM), ahead: 0 }
    }

    /// Returns the sender for messages that never wait.
    pub(crate) fn words(&self) -> UnboundedSender<HostMessage> {
        self.words.0.clone()
    }

    /// Creates the responder for the task of an effect.
    pub(crate) fn answering(&self, id: EffectId) -> EffectResponder {
        let (words, news) = (self.words.0.clone(), self.news.0.clone());
        EffectResponder { id, words, news, is_over: AtomicBool::new(false) }
    }

    /// Returns an input that has come already.
    pub(crate) fn waiting(&mut self) -> Option<QueuedInput> {
        self.news.1.try_recv().ok()
    }

    /// Returns the next message, or a tick when the deadline is over. Messages come before news,
    /// and news before a tick, so that what has come in time counts; but not so many that the tick
    /// never comes.
    pub(crate) async fn next(
        &mut self,
        deadline: impl Future<Output = ()>,
    ) -> (HostMessage, Option<Place>) {
        let mut deadline = pin!(deadline);
        let over = |()| (HostMessage::Input(Input::Tick), None);
        let news = poll_fn(|context| {
            if let Poll::Ready(Some(word)) = self.words.1.poll_recv(context) {
                return Poll::Ready((word, None));
            }
            // Polled in this order by hand: a random choice would let an answer that came in time
            // lose against its own time limit.
            if self.ahead >= AHEAD
                && let tick @ Poll::Ready(_) = deadline.as_mut().poll(context)
            {
                return tick.map(over);
            }
            if let Poll::Ready(Some((input, place))) = self.news.1.poll_recv(context) {
                return Poll::Ready((HostMessage::Input(input), place));
            }
            deadline.as_mut().poll(context).map(over)
        });
        let news = news.await;
        let is_tick = matches!(news, (HostMessage::Input(Input::Tick), _));
        self.ahead = if is_tick { 0 } else { self.ahead.saturating_add(1) };
        news
    }
}

/// The responder for the task of an effect. If it is dropped before it has answered, it reports the
/// effect as lost, so that no session waits for a task that failed.
#[derive(Debug)]
pub(crate) struct EffectResponder {
    id: EffectId,
    words: UnboundedSender<HostMessage>,
    news: Sender<QueuedInput>,
    is_over: AtomicBool,
}

impl EffectResponder {
    /// Sends news of an HTTP exchange.
    pub(crate) async fn http(&self, input: HttpInput) {
        let is_over = matches!(input, HttpInput::End | HttpInput::Failed(_));
        self.send(Input::Http { id: self.id, input }, None, is_over).await;
    }

    /// Sends the outcome of a tool's run, with its place. That stays taken until the host knows: a
    /// run that waits for it may be cancelled together with this one.
    pub(crate) async fn done(&self, outcome: Outcome, place: Option<Place>) {
        let input = Input::Tool { id: self.id, input: ToolInput::Done(outcome) };
        self.send(input, place, true).await;
    }

    /// Sends the reply of a hook.
    pub(crate) async fn hook(&self, reply: HookReply) {
        self.send(Input::Hook { id: self.id, reply }, None, true).await;
    }

    /// Returns the sender for further news.
    pub(crate) const fn inbox(&self) -> &Sender<QueuedInput> {
        &self.news
    }

    async fn send(&self, input: Input, place: Option<Place>, is_over: bool) {
        // The host is gone when its session is over, and then nobody waits for an answer.
        let _heard = self.news.send((input, place)).await;
        // After the await: a task that is dropped while it waits for room has not answered, and the
        // drop must say so.
        self.is_over.store(is_over, Ordering::Release);
    }
}

impl Drop for EffectResponder {
    fn drop(&mut self) {
        if !self.is_over.load(Ordering::Acquire) {
            // By the channel without a limit, since a drop cannot wait for room.
            drop(self.words.send(HostMessage::Input(Input::Lost { id: self.id })));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use innerloop_core::bytes::BodyBytes;
    use std::future::pending;
    use tokio::time::{Duration, timeout};

    const ID: EffectId = EffectId(7);

    /// The next input, where the deadline is over or never is.
    async fn next(inbox: &mut Inbox, is_over: bool) -> Input {
        let deadline = async {
            if !is_over {
                pending::<()>().await;
            }
        };
        match inbox.next(deadline).await.0 {
            HostMessage::Input(input) => input,
            other => panic!("{other:?}"),
        }
    }

    fn chunk() -> HttpInput {
        HttpInput::Chunk(BodyBytes::from("x"))
    }

    #[tokio::test]
    async fn a_task_that_breaks_answers_all_the_same() {
        let mut inbox = Inbox::new();
        drop(inbox.answering(ID));
        assert_eq!(next(&mut inbox, false).await, Input::Lost { id: ID });
        let answering = inbox.answering(ID);
        answering.done(Outcome::text("x"), None).await;
        drop(answering);
        assert!(matches!(next(&mut inbox, false).await, Input::Tool { .. }));
        assert_eq!(next(&mut inbox, true).await, Input::Tick, "and only once");
    }

    #[tokio::test]
    async fn news_wait_for_room_and_words_do_not() {
        let mut inbox = Inbox::new();
        let answering = inbox.answering(ID);
        for _ in 0..ROOM {
            answering.http(chunk()).await;
        }
        let more = timeout(Duration::from_millis(50), answering.http(chunk())).await;
        assert!(more.is_err(), "there is no more room");
        for _ in 0..2 * ROOM {
            inbox.words().send(HostMessage::Input(Input::Lost { id: EffectId(1) })).unwrap();
        }
        for _ in 0..2 * ROOM {
            assert_eq!(next(&mut inbox, true).await, Input::Lost { id: EffectId(1) });
        }
        // An answer that nobody has room for is waited with; given up, it counts as lost.
        let end = timeout(Duration::from_millis(50), answering.http(HttpInput::End)).await;
        assert!(end.is_err());
        drop(answering);
        assert_eq!(next(&mut inbox, false).await, Input::Lost { id: ID });
        assert!(matches!(next(&mut inbox, false).await, Input::Http { .. }));
    }

    #[tokio::test]
    async fn a_deadline_waits_for_what_has_come_but_not_for_ever() {
        let mut inbox = Inbox::new();
        let answering = inbox.answering(ID);
        answering.http(chunk()).await;
        assert!(matches!(next(&mut inbox, true).await, Input::Http { .. }));
        for _ in 1..AHEAD {
            answering.http(chunk()).await;
            assert!(matches!(next(&mut inbox, true).await, Input::Http { .. }));
        }
        answering.http(chunk()).await;
        assert_eq!(next(&mut inbox, true).await, Input::Tick);
        assert!(matches!(next(&mut inbox, true).await, Input::Http { .. }));
    }
}
