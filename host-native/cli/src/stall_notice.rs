//! The notice about a silent endpoint. Slow models may think for minutes before a request counts as
//! failed, so that whoever waits is told what the program waits for.

use innerloop_core::id::EffectId;
use innerloop_host::host::{HostEvent, RequestProgress};
use std::{
    cell::RefCell, collections::BTreeMap, convert::Infallible, future::pending, time::Duration,
};
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

/// The times without a byte after which a notice is given, and the time between further ones.
const FIRST: [Duration; 3] =
    [Duration::from_secs(10), Duration::from_secs(30), Duration::from_secs(60)];
const THEN: Duration = Duration::from_secs(60);

/// The monitor of silent endpoints.
#[derive(Debug, Default)]
pub(super) struct SilenceMonitor {
    exchanges: RefCell<PendingExchanges>,
    /// Notified when a new request is sent.
    sent: Notify,
}

impl SilenceMonitor {
    /// Follows an event of the host.
    pub(super) fn add(&self, news: &HostEvent<'_>) {
        let now = Instant::now();
        let mut exchanges = self.exchanges.borrow_mut();
        match news {
            HostEvent::Http(id, RequestProgress::Sent(base)) => {
                exchanges.sent(*id, base.to_string(), now);
                self.sent.notify_one();
            }
            HostEvent::Http(id, RequestProgress::Came) => exchanges.came(*id, now),
            HostEvent::Http(id, RequestProgress::Over) | HostEvent::Withdrawn(id) => {
                exchanges.over(*id);
            }
            HostEvent::Event(_) | HostEvent::Asked(..) | HostEvent::Rejected(_) => {}
        }
    }

    /// Gives notices whenever one is due.
    pub(super) async fn told(&self, mut tell: impl FnMut(&str)) -> Infallible {
        loop {
            let due = self.exchanges.borrow().due();
            let due = async {
                match due {
                    Some(due) => sleep_until(due).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                () = due => {
                    let lines = self.exchanges.borrow_mut().told(Instant::now());
                    lines.iter().for_each(|line| tell(line));
                }
                () = self.sent.notified() => {}
            }
        }
    }
}

/// The requests that are under way.
#[derive(Debug, Default)]
struct PendingExchanges(BTreeMap<EffectId, PendingExchange>);

#[derive(Debug)]
struct PendingExchange {
    to: String,
    /// The time since which nothing has arrived.
    since: Instant,
    /// True if anything has arrived.
    has_begun: bool,
    /// The number of times that its silence was reported.
    told: u32,
}

impl PendingExchange {
    /// Returns the length of the silence at which the next notice is due.
    fn next(&self) -> Duration {
        let first = usize::try_from(self.told).ok().and_then(|told| FIRST.get(told));
        let more = || THEN.saturating_mul(self.told.saturating_sub(1));
        first.copied().unwrap_or_else(more)
    }
}

impl PendingExchanges {
    fn sent(&mut self, id: EffectId, to: String, now: Instant) {
        self.0.insert(id, PendingExchange { to, since: now, has_begun: false, told: 0 });
    }

    fn came(&mut self, id: EffectId, now: Instant) {
        if let Some(exchange) = self.0.get_mut(&id) {
            (exchange.since, exchange.has_begun, exchange.told) = (now, true, 0);
        }
    }

    fn over(&mut self, id: EffectId) {
        self.0.remove(&id);
    }

    /// Returns the time at which the next notice may be due.
    fn due(&self) -> Option<Instant> {
        self.0.values().map(|exchange| exchange.since + exchange.next()).min()
    }

    /// Returns the notices that are due, each once.
    fn told(&mut self, now: Instant) -> Vec<String> {
        let mut lines = Vec::new();
        for exchange in self.0.values_mut() {
            let silent = now.saturating_duration_since(exchange.since);
            let mut told = None;
            // Several may be due at once, if this was not polled in time: only the last is shown.
            while exchange.next() <= silent {
                told = Some(exchange.next());
                exchange.told += 1;
            }
            if let Some(time) = told {
                let what = if exchange.has_begun { "nothing more" } else { "no answer" };
                let time = time.as_secs();
                lines.push(format!("{what} from {} for {time} s; Ctrl-C interrupts", exchange.to));
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the notices with their times in seconds, if each is given when it is due.
    fn told(exchanges: &mut PendingExchanges, begun: Instant, until: u64) -> Vec<(u64, String)> {
        let mut all = Vec::new();
        while let Some(due) = exchanges.due().filter(|due| (*due - begun).as_secs() <= until) {
            let lines = exchanges.told(due);
            all.extend(lines.into_iter().map(|line| ((due - begun).as_secs(), line)));
        }
        all
    }

    fn seconds(told: &[(u64, String)]) -> Vec<u64> {
        told.iter().map(|(at, _)| *at).collect()
    }

    #[test]
    fn silence_is_told_after_seconds_and_then_each_minute() {
        let begun = Instant::now();
        let mut exchanges = PendingExchanges::default();
        assert_eq!(exchanges.due(), None);
        exchanges.sent(EffectId(1), "https://a.example".to_owned(), begun);
        let lines = told(&mut exchanges, begun, 250);
        assert_eq!(seconds(&lines), [10, 30, 60, 120, 180, 240]);
        let first = "no answer from https://a.example for 10 s; Ctrl-C interrupts";
        assert_eq!(lines[0].1, first);
        assert!(lines[5].1.contains(" for 240 s; "), "{lines:?}");
        exchanges.over(EffectId(1));
        assert_eq!((exchanges.due(), exchanges.told(begun + 9 * THEN)), (None, vec![]));
    }

    #[test]
    fn each_byte_begins_another_silence() {
        let begun = Instant::now();
        let after = |seconds| begun + Duration::from_secs(seconds);
        let mut exchanges = PendingExchanges::default();
        exchanges.sent(EffectId(1), "https://a.example".to_owned(), begun);
        assert_eq!(exchanges.told(after(9)), [""; 0]);
        exchanges.came(EffectId(1), after(9));
        let lines = told(&mut exchanges, begun, 40);
        assert_eq!(seconds(&lines), [19, 39]);
        let first = "nothing more from https://a.example for 10 s; Ctrl-C interrupts";
        assert_eq!(lines[0].1, first);
        exchanges.came(EffectId(1), after(40));
        assert_eq!(exchanges.due(), Some(after(50)));
        // Of several notices that are overdue only the last is given.
        let late = exchanges.told(after(40 + 65));
        assert_eq!(late, ["nothing more from https://a.example for 60 s; Ctrl-C interrupts"]);
    }

    #[test]
    fn what_came_for_nobody_is_no_matter() {
        let mut exchanges = PendingExchanges::default();
        exchanges.came(EffectId(7), Instant::now());
        exchanges.over(EffectId(7));
        assert_eq!(exchanges.due(), None);
    }
}
