//! The output of a tool on its way to the session while it runs: joined to pieces, so that not
//! every character costs an input, and no faster than the session takes it. Of long output only the
//! beginning and, when the tool is done, the end are sent, since everything that is sent stays in
//! the log.

use crate::inbox::QueuedInput;
use innerloop_core::{
    id::EffectId,
    input::{Input, ToolInput},
};
use innerloop_sandbox::{OutputWatcher, RoomFuture};
use std::{
    future::{Future, pending},
    mem,
    pin::pin,
    sync::{Arc, Mutex as StdMutex, MutexGuard as StdMutexGuard, PoisonError},
    time::Duration,
};
use tokio::{
    sync::{Mutex, MutexGuard, Notify, mpsc::Sender},
    time::timeout,
};

/// The time for which output waits for more of it.
const JOINED: Duration = Duration::from_millis(50);

/// The number of bytes of a piece.
const PIECE: usize = 16 << 10;

/// The number of waiting bytes at which a program has to wait.
const FULL: usize = 64 << 10;

/// The number of bytes of one tool's output that are sent as they come, and the number of the last
/// bytes of the rest that are sent at the end.
const HEAD: usize = 512 << 10;
const TAIL: usize = 64 << 10;

/// The notice that the rest is sent at the end.
const REST_LATER: &str = "\n[the rest of the output is shown when it ends]\n";

/// The channel for one tool's output. Clones are the same channel.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeltaChannel(Arc<DeltaQueue>);

#[derive(Debug, Default)]
struct DeltaQueue {
    said: StdMutex<DeltaBuffer>,
    /// Notifies that there is something to send, or enough for a piece.
    more: Notify,
    /// Notifies that there is room again.
    taken: Notify,
    /// The lock of whoever moves output to the inbox, held until it is there.
    turn: Mutex<()>,
}

/// Output that is not on its way yet.
#[derive(Debug, Default)]
struct DeltaBuffer {
    /// The text that is to be sent.
    text: String,
    /// The number of bytes that were to be sent as they came.
    head: usize,
    /// True if what comes now waits for the end.
    is_late: bool,
    /// The end of the rest. It may be twice as long as what is sent of it.
    tail: String,
    /// The number of bytes that were dropped between the two.
    dropped: usize,
}

impl DeltaBuffer {
    fn push(&mut self, text: &str) {
        // Once a piece was put aside, later ones are, too, even if they would fit: output is never
        // sent out of order.
        let room = if self.is_late { 0 } else { HEAD.saturating_sub(self.head) };
        let (head, rest) = text.split_at(text.floor_char_boundary(room));
        self.head += head.len();
        self.text.push_str(head);
        if rest.is_empty() {
            return;
        }
        if !mem::replace(&mut self.is_late, true) {
            self.text.push_str(REST_LATER);
        }
        self.tail.push_str(rest);
        // Cut only when it has doubled, so that each byte is moved once and not for every line that
        // is printed.
        if self.tail.len() >= 2 * TAIL {
            self.cut();
        }
    }

    /// Drops all of the rest but the end that is sent.
    fn cut(&mut self) {
        let excess = self.tail.ceil_char_boundary(self.tail.len().saturating_sub(TAIL));
        self.tail.drain(..excess);
        self.dropped += excess;
    }

    /// Moves the end to what is sent.
    fn finish(&mut self) {
        self.cut();
        if mem::take(&mut self.dropped) > 0 {
            self.text.push_str("[…]\n");
        }
        self.text.push_str(&mem::take(&mut self.tail));
    }
}

impl DeltaChannel {
    /// Waits for the lock of this channel. While the guard is held, nothing more is sent.
    pub(crate) async fn turn(&self) -> MutexGuard<'_, ()> {
        self.0.turn.lock().await
    }

    /// Takes all output that waits, which is then not sent.
    pub(crate) fn take(&self) -> String {
        let text = {
            let mut said = self.0.said();
            said.finish();
            mem::take(&mut said.text)
        };
        self.0.taken.notify_waiters();
        text
    }

    /// Waits for the end of the run and sends its output meanwhile, and the rest when it ends.
    pub(crate) async fn send_during<T>(
        &self,
        run: impl Future<Output = T>,
        id: EffectId,
        inbox: &Sender<QueuedInput>,
    ) -> T {
        let sending = async {
            loop {
                self.0.due().await;
                if self.0.send(id, inbox).await.is_none() {
                    // The inbox is closed, so that nothing can be sent. The run still decides how
                    // this ends.
                    return pending().await;
                }
            }
        };
        let ended = tokio::select! {
            biased;
            ended = run => ended,
            () = sending => pending().await,
        };
        self.0.said().finish();
        // The outcome follows behind this: everything that was printed must be in the inbox before
        // it.
        while !self.0.said().text.is_empty() && self.0.send(id, inbox).await.is_some() {}
        ended
    }
}

impl DeltaQueue {
    fn said(&self) -> StdMutexGuard<'_, DeltaBuffer> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is something to send, and then a while for more of it.
    async fn due(&self) {
        self.holds(1).await;
        let _enough = timeout(JOINED, self.holds(PIECE)).await;
    }

    async fn holds(&self, bytes: usize) {
        loop {
            // Before the look at the text, or a notification between the two would be missed.
            let more = self.more.notified();
            if self.said().text.len() >= bytes {
                return;
            }
            more.await;
        }
    }

    /// Sends a piece of the waiting output, as soon as there is room for it in the inbox. If it is
    /// dropped before, it has taken nothing.
    async fn send(&self, id: EffectId, inbox: &Sender<QueuedInput>) -> Option<()> {
        // The place comes first: text that was taken before a wait would be lost if this future is
        // dropped.
        let place = inbox.reserve().await.ok()?;
        let _turn = self.turn.lock().await;
        let piece = {
            let text = &mut self.said().text;
            let rest = text.floor_char_boundary(PIECE);
            let rest = text.split_off(rest);
            mem::replace(text, rest)
        };
        if !piece.is_empty() {
            place.send((Input::Tool { id, input: ToolInput::Delta(piece) }, None));
        }
        self.taken.notify_waiters();
        Some(())
    }
}

impl OutputWatcher for DeltaChannel {
    fn tell(&self, text: &str) {
        let mut said = self.0.said();
        let was_empty = said.text.is_empty();
        said.push(text);
        if (was_empty && !said.text.is_empty()) || said.text.len() >= PIECE {
            self.0.more.notify_one();
        }
    }

    fn has_room(&self) -> bool {
        self.0.said().text.len() < FULL
    }

    fn room(&self) -> RoomFuture<'_> {
        Box::pin(async {
            loop {
                // `notify_waiters` leaves nothing for those who come later, so that the wait is
                // registered before the look.
                let mut taken = pin!(self.0.taken.notified());
                taken.as_mut().enable();
                if self.has_room() {
                    return;
                }
                taken.await;
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::ready;
    use tokio::{
        sync::mpsc::{Receiver, channel},
        time::{Instant, sleep},
    };

    const ID: EffectId = EffectId(7);

    async fn next(inbox: &mut Receiver<QueuedInput>) -> String {
        match inbox.recv().await {
            Some((Input::Tool { id: ID, input: ToolInput::Delta(text) }, None)) => text,
            other => panic!("not a delta: {other:?}"),
        }
    }

    #[tokio::test]
    async fn what_is_said_shortly_one_after_the_other_is_one_piece() {
        let (sender, mut inbox) = channel(64);
        let deltas = DeltaChannel::default();
        let run = async {
            for _ in 0..100 {
                deltas.tell("x");
                sleep(Duration::from_millis(1)).await;
            }
            sleep(Duration::from_millis(500)).await;
            deltas.tell("last");
        };
        let begun = Instant::now();
        deltas.send_during(run, ID, &sender).await;
        let most = usize::try_from(begun.elapsed().as_millis() / 50).unwrap() + 1;
        drop(sender);
        let mut pieces = Vec::new();
        while !inbox.is_empty() {
            pieces.push(next(&mut inbox).await);
        }
        assert_eq!(pieces.concat(), "x".repeat(100) + "last");
        assert!(pieces.len() <= most, "{pieces:?}");
        assert_eq!(pieces.last().unwrap(), "last");
    }

    #[tokio::test]
    async fn pieces_are_of_whole_characters_and_none_is_lost_at_the_end() {
        let (sender, mut inbox) = channel(1);
        let deltas = DeltaChannel::default();
        let text = "€uro ".repeat(30_000);
        deltas.tell(&text);
        assert!(!deltas.has_room());
        let reading = async {
            let mut said = String::new();
            while said.len() < text.len() {
                let piece = next(&mut inbox).await;
                assert!(piece.len() <= PIECE);
                said.push_str(&piece);
                sleep(Duration::from_millis(10)).await;
            }
            said
        };
        let (said, ()) = tokio::join!(reading, deltas.send_during(ready(()), ID, &sender));
        assert_eq!(said, text);
    }

    #[tokio::test]
    async fn a_program_waits_for_room_until_somebody_reads() {
        let (sender, mut inbox) = channel(1);
        let deltas = DeltaChannel::default();
        let run = async {
            let mut told = 0;
            for _ in 0..50 {
                deltas.room().await;
                deltas.tell(&"x".repeat(4096));
                told += 4096;
            }
            told
        };
        let mut sending = pin!(deltas.send_during(run, ID, &sender));
        let unread = timeout(Duration::from_millis(300), &mut sending).await;
        assert!(unread.is_err(), "nobody has read, and yet it is done");
        assert!(deltas.0.said().text.len() <= FULL + 4096);
        let reading = async {
            let mut read = 0;
            while read < 204_800 {
                read += next(&mut inbox).await.len();
            }
            read
        };
        let (read, told) = tokio::join!(reading, sending);
        assert_eq!((read, told), (204_800, 204_800));
    }

    #[tokio::test]
    async fn of_much_the_beginning_and_the_end_are_sent() {
        let (sender, mut inbox) = channel(1);
        let deltas = DeltaChannel::default();
        let run = async {
            deltas.tell("first ");
            for n in 0..200_000 {
                deltas.room().await;
                deltas.tell(&format!("{n} €\n"));
            }
            deltas.tell("last");
        };
        let reading = async {
            let mut read = String::new();
            while !read.ends_with("last") {
                read.push_str(&next(&mut inbox).await);
            }
            read
        };
        let (read, ()) = tokio::join!(reading, deltas.send_during(run, ID, &sender));
        assert!(read.starts_with("first 0 €\n1 €\n"), "{read:.100}");
        let (head, tail) = read.split_once(REST_LATER).unwrap();
        assert!(head.len() <= HEAD && head.len() > HEAD - 4, "{}", head.len());
        assert!(tail.starts_with("[…]\n") && tail.ends_with("199999 €\nlast"), "{tail:.20}");
        assert!(tail.len() <= TAIL + 10 && tail.len() > TAIL - 10, "{}", tail.len());
        assert_eq!(deltas.take(), "", "nothing is sent twice");
    }
}
