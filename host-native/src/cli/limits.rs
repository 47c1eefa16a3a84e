//! The limits of a run that the host keeps itself: time, cost and tokens. A run that hits one is
//! interrupted and closed, as by a signal.

use super::{
    args::LimitArgs,
    console::warn,
    exit::Failure,
    figures::{dollars, grouped},
};
use crate::host::Commands;
use innerloop_core::{
    config::SessionConfig,
    cost,
    event::{Event, EventKind},
    input::Command,
};
use jiff::SignedDuration;
use std::{
    cell::{Cell, OnceCell, RefCell},
    convert::Infallible,
    future::pending,
    time::Duration,
};
use tokio::time::{Instant, sleep_until};

/// What is left of what a run may take.
#[derive(Debug)]
pub(super) struct Limits {
    args: LimitArgs,
    begun: Instant,
    spent: RefCell<Spent>,
    /// Whether it was told that something can't be counted.
    is_told: Cell<bool>,
    /// What is told of the limit that was hit.
    hit: OnceCell<String>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    tokens: u64,
    nano_usd: Option<u64>,
}

impl Limits {
    /// The time counts from now on.
    pub(super) fn new(args: LimitArgs) -> Self {
        let (spent, is_told, hit) = (RefCell::default(), Cell::new(false), OnceCell::new());
        Self { args, begun: Instant::now(), spent, is_told, hit }
    }

    /// Counts what an event tells, and stops the session if that is too much.
    pub(super) fn add(&self, event: &Event, commands: &Commands) {
        if let Some(hit) = self.counted(event)
            && self.hit.set(hit).is_ok()
        {
            stop(commands);
        }
    }

    /// Waits for the end of the time and stops the session.
    pub(super) async fn run_out(&self, commands: &Commands) -> Infallible {
        let hit = self.time_out().await;
        if self.hit.set(hit).is_ok() {
            stop(commands);
        }
        pending().await
    }

    /// Waits for the end of the time; gives what is told of it.
    pub(super) async fn time_out(&self) -> String {
        let Some((time, end)) = self.end() else { return pending().await };
        sleep_until(end).await;
        format!("the limit of --timeout {} was hit", shown(time))
    }

    /// What is told of the limit that was hit, if one was.
    pub(super) fn hit(&self) -> Option<&str> {
        self.hit.get().map(String::as_str)
    }

    /// A time that never comes is no limit.
    fn end(&self) -> Option<(Duration, Instant)> {
        let time = self.args.timeout?;
        Some((time, self.begun.checked_add(time)?))
    }

    /// What is told if the event brings a limit to be hit.
    fn counted(&self, event: &Event) -> Option<String> {
        let EventKind::AssistantTextEnd { usage, cost_nano_usd, .. } = &event.kind else {
            return None;
        };
        let mut spent = self.spent.borrow_mut();
        let LimitArgs { max_tokens, max_cost_usd, .. } = self.args;
        match usage {
            Some(usage) => {
                let tokens = usage.input_total.saturating_add(usage.output_total);
                spent.tokens = spent.tokens.saturating_add(tokens);
            }
            None if max_tokens.is_some() => self.warn_once("--max-tokens", "how many tokens"),
            None => {}
        }
        if cost_nano_usd.is_none() && max_cost_usd.is_some() {
            self.warn_once("--max-cost-usd", "what");
        }
        spent.nano_usd = cost::sum(spent.nano_usd, *cost_nano_usd);
        let cost = spent.nano_usd.unwrap_or_default();
        let (tokens, most) = (spent.tokens, max_tokens.filter(|most| spent.tokens >= *most));
        if let Some(most) = most {
            let (most, tokens) = (grouped(most), grouped(tokens));
            return Some(format!("the limit of --max-tokens {most} was hit: {tokens} so far"));
        }
        let most = max_cost_usd.filter(|most| cost >= *most)?;
        let (most, cost) = (dollars(most), dollars(cost));
        Some(format!("the limit of --max-cost-usd {most} was hit: {cost} so far"))
    }

    fn warn_once(&self, option: &str, what: &str) {
        if !self.is_told.replace(true) {
            warn(&format!(
                "{option} does not count all: it is not known {what} a reply has cost, since the \
                 provider did not tell, or no price is known of its model"
            ));
        }
    }
}

fn stop(commands: &Commands) {
    commands.send(Command::Interrupt);
    commands.send(Command::Close);
}

/// Refuses a limit of the cost where no cost will be known.
///
/// # Errors
/// The model has no price.
pub(super) fn check_price(limits: LimitArgs, config: &SessionConfig) -> Result<(), Failure> {
    if limits.max_cost_usd.is_none() || config.model.price.is_some() {
        return Ok(());
    }
    Err(Failure::configuration(format!(
        "--max-cost-usd: the price of {} is not known; give a catalogue that has it with \
         --models FILE, or limit the run with --max-tokens",
        config.model.name
    )))
}

/// For example `1h 30m`.
fn shown(time: Duration) -> String {
    SignedDuration::try_from(time).map_or_else(|_| format!("{time:?}"), |time| format!("{time:#}"))
}
