//! What a tool says while it runs, on its way to the session: joined to pieces, so that each
//! character costs no input of its own, and no faster than the session takes it.

use crate::{
    answering::News,
    sandbox::{Room, Watcher},
};
use innerloop_core::{
    id::EffectId,
    input::{Input, ToolInput},
};
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

/// How long what is said waits for more.
const JOINED: Duration = Duration::from_millis(50);

/// Bytes of a piece.
const PIECE: usize = 16 << 10;

/// Bytes that wait at most before a program has to.
const FULL: usize = 64 << 10;

/// The way of one tool's output. Clones are of the same one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deltas(Arc<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    text: StdMutex<String>,
    /// There is something to send, or enough for a piece.
    said: Notify,
    /// There is room again.
    taken: Notify,
    /// Held by whoever takes what waits, until it is on its way.
    turn: Mutex<()>,
}

impl Deltas {
    /// As long as this is kept, nothing more is sent.
    pub(crate) async fn turn(&self) -> MutexGuard<'_, ()> {
        self.0.turn.lock().await
    }

    /// Takes all that waits, in place of its being sent.
    pub(crate) fn take(&self) -> String {
        let text = mem::take(&mut *self.0.text());
        self.0.taken.notify_waiters();
        text
    }

    /// Waits for the end of the run, and sends meanwhile what it says; all of it, when it ends.
    pub(crate) async fn send_during<T>(
        &self,
        run: impl Future<Output = T>,
        id: EffectId,
        inbox: &Sender<News>,
    ) -> T {
        let sending = async {
            loop {
                self.0.due().await;
                if self.0.send(id, inbox).await.is_none() {
                    // Nobody listens any more: it is left to the host when the run ends.
                    return pending().await;
                }
            }
        };
        let ended = tokio::select! {
            biased;
            ended = run => ended,
            () = sending => pending().await,
        };
        while !self.0.text().is_empty() && self.0.send(id, inbox).await.is_some() {}
        ended
    }
}

impl Waiting {
    fn text(&self) -> StdMutexGuard<'_, String> {
        self.text.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is something to send, and a while for more of it.
    async fn due(&self) {
        self.holds(1).await;
        let _enough = timeout(JOINED, self.holds(PIECE)).await;
    }

    async fn holds(&self, bytes: usize) {
        loop {
            let said = self.said.notified();
            if self.text().len() >= bytes {
                return;
            }
            said.await;
        }
    }

    /// Sends a piece of what waits, as soon as there is room for it in the inbox. Given up before,
    /// it has taken nothing.
    async fn send(&self, id: EffectId, inbox: &Sender<News>) -> Option<()> {
        let place = inbox.reserve().await.ok()?;
        let _turn = self.turn.lock().await;
        let piece = {
            let mut text = self.text();
            let rest = text.floor_char_boundary(PIECE);
            let rest = text.split_off(rest);
            mem::replace(&mut *text, rest)
        };
        if !piece.is_empty() {
            place.send((Input::Tool { id, input: ToolInput::Delta(piece) }, None));
        }
        self.taken.notify_waiters();
        Some(())
    }
}

impl Watcher for Deltas {
    fn tell(&self, text: &str) {
        let mut waiting = self.0.text();
        let was_empty = waiting.is_empty();
        waiting.push_str(text);
        if was_empty || waiting.len() >= PIECE {
            self.0.said.notify_one();
        }
    }

    fn has_room(&self) -> bool {
        self.0.text().len() < FULL
    }

    fn room(&self) -> Room<'_> {
        Box::pin(async {
            loop {
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

    async fn next(inbox: &mut Receiver<News>) -> String {
        match inbox.recv().await {
            Some((Input::Tool { id: ID, input: ToolInput::Delta(text) }, None)) => text,
            other => panic!("not a delta: {other:?}"),
        }
    }

    #[tokio::test]
    async fn what_is_said_shortly_one_after_the_other_is_one_piece() {
        let (sender, mut inbox) = channel(64);
        let deltas = Deltas::default();
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
        let deltas = Deltas::default();
        let text = "€uro ".repeat(40_000);
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
        let deltas = Deltas::default();
        let run = async {
            let mut told = 0;
            for _ in 0..100 {
                deltas.room().await;
                deltas.tell(&"x".repeat(4096));
                told += 4096;
            }
            told
        };
        let mut sending = pin!(deltas.send_during(run, ID, &sender));
        let unread = timeout(Duration::from_millis(300), &mut sending).await;
        assert!(unread.is_err(), "nobody has read, and yet it is done");
        assert!(deltas.0.text().len() <= FULL + 4096, "{}", deltas.0.text().len());
        let reading = async {
            let mut read = 0;
            while read < 409_600 {
                read += next(&mut inbox).await.len();
            }
            read
        };
        let (read, told) = tokio::join!(reading, sending);
        assert_eq!((read, told), (409_600, 409_600));
    }
}
