//! The limits of a run: cost and tokens, which the session watches, and the time since the program
//! began, which is watched here. A run whose time is up is interrupted and closed as by a signal.

use super::{
    args::LimitArgs,
    exit::CliError,
    number_format::{dollars, grouped},
};
use innerloop_core::{config::SessionConfig, input::Command};
use innerloop_host::host::CommandSender;
use jiff::SignedDuration;
use std::{cell::OnceCell, convert::Infallible, future::pending, time::Duration};
use tokio::time::{Instant, sleep_until};

/// The time limit of a run.
#[derive(Debug)]
pub(super) struct RunLimits {
    timeout: Option<Duration>,
    begun: Instant,
    /// The message about the limit that was hit.
    hit: OnceCell<String>,
}

impl RunLimits {
    /// Begins to count the time.
    pub(super) fn new(args: LimitArgs) -> Self {
        Self { timeout: args.timeout, begun: Instant::now(), hit: OnceCell::new() }
    }

    /// Waits until the time is up and stops the session.
    pub(super) async fn run_out(&self, commands: &CommandSender) -> Infallible {
        let hit = self.time_out().await;
        if self.hit.set(hit).is_ok() {
            stop(commands);
        }
        pending().await
    }

    /// Waits until the time is up; returns the message about it.
    pub(super) async fn time_out(&self) -> String {
        let Some((time, end)) = self.end() else { return pending().await };
        sleep_until(end).await;
        format!("the limit of --timeout {} was hit", shown(time))
    }

    /// Returns the message about the limit that was hit, if one was.
    pub(super) fn hit(&self) -> Option<&str> {
        self.hit.get().map(String::as_str)
    }

    /// Returns the limit and its end; none without a limit, or with one too far off to be reached.
    fn end(&self) -> Option<(Duration, Instant)> {
        let time = self.timeout?;
        Some((time, self.begun.checked_add(time)?))
    }
}

fn stop(commands: &CommandSender) {
    commands.send(Command::Interrupt);
    commands.send(Command::Close);
}

/// Sets the limits of cost and tokens in the session's configuration.
///
/// # Errors
/// The model's price is not known: the limit of cost could never be hit.
pub(super) fn set(limits: LimitArgs, config: &mut SessionConfig) -> Result<(), CliError> {
    let LimitArgs { max_cost_usd, max_tokens, .. } = limits;
    if max_cost_usd.is_some() && config.model.price.is_none() {
        return Err(CliError::configuration(format!(
            "--max-cost-usd: the price of {} is not known; give a catalogue that has it with \
             --models FILE, or limit the run with --max-tokens",
            config.model.name
        )));
    }
    let run = &mut config.limits.run;
    run.cost_nano_usd = max_cost_usd.unwrap_or(run.cost_nano_usd);
    run.tokens = max_tokens.unwrap_or(run.tokens);
    Ok(())
}

/// Returns the message about a limit that was hit, by its name in the configuration.
pub(super) fn text(which: &str, used: u64, limit: u64) -> String {
    let (of, what) = which.split_once('.').unwrap_or(("run", which));
    let shown = |amount| match what {
        "cost_nano_usd" => dollars(amount),
        "ms" => shown(Duration::from_millis(amount)),
        _ => grouped(amount),
    };
    let option = match (of, what) {
        ("run", "cost_nano_usd") => "--max-cost-usd",
        ("run", "tokens") => "--max-tokens",
        _ => return format!("limits.{which} is used up: {} of {}", shown(used), shown(limit)),
    };
    format!("the limit of {option} {} was hit: {} so far", shown(limit), shown(used))
}

/// Returns a time such as `1h 30m`.
fn shown(time: Duration) -> String {
    SignedDuration::try_from(time).map_or_else(|_| format!("{time:?}"), |time| format!("{time:#}"))
}
