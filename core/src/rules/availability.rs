//! Which of a session's models can be asked now: one that has failed is left alone for a while, and
//! another one takes its place.

use alloc::vec::Vec;
use innerloop_types::{
    routing::{RoutedModel, RoutingPolicy},
    time::SessionInstant,
};
use innerloop_wire::{FailureKind, ModelCallError};

/// The time for which a model is left alone whose quota is used up.
const QUOTA_MS: u64 = 3_600_000;

/// The times until which the session's models are left alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ModelAvailability {
    /// By the model's place: 0 is the session's own, 1 the first of the policy. Models behind the
    /// end have not failed.
    pub(crate) off_until: Vec<SessionInstant>,
}

impl ModelAvailability {
    /// Returns whether the model at that place can be asked.
    pub(crate) fn is_free(&self, at: usize, now: SessionInstant) -> bool {
        self.off_until.get(at).is_none_or(|until| *until <= now)
    }

    /// Leaves the model at that place alone.
    pub(crate) fn leave_alone(&mut self, at: usize, until: SessionInstant) {
        if self.off_until.len() <= at {
            self.off_until.resize(at + 1, SessionInstant(0));
        }
        if let Some(off) = self.off_until.get_mut(at) {
            *off = until.max(*off);
        }
    }

    /// Returns the place of the model to ask for a task of that kind; `None` if none is free.
    pub(crate) fn best(
        &self,
        policy: &RoutingPolicy,
        task: Option<&str>,
        now: SessionInstant,
    ) -> Option<usize> {
        let places = (0..=policy.models.len()).filter(|at| self.is_free(*at, now));
        places.min_by_key(|at| {
            let Some(model) = further(policy, *at) else { return (1, *at) };
            let is_for = task.is_some_and(|task| model.tasks.iter().any(|name| name == task));
            (if is_for { 0 } else { 1 + usize::from(model.cheap) }, *at)
        })
    }

    /// Returns when the first of the models can be asked again.
    pub(crate) fn first(&self, policy: &RoutingPolicy) -> SessionInstant {
        let until = |at| self.off_until.get(at).copied().unwrap_or(SessionInstant(0));
        (0..=policy.models.len()).map(until).min().unwrap_or(SessionInstant(0))
    }
}

/// Returns the model at that place, unless it is the session's own.
pub(crate) fn further(policy: &RoutingPolicy, at: usize) -> Option<&RoutedModel> {
    policy.models.get(at.checked_sub(1)?)
}

/// Returns for how long a model is left alone after a failure, in milliseconds; `None` if another
/// model would fail in the same way. `delay_ms` is the delay before the next try where there is
/// only one.
pub(crate) fn off_ms(
    failure: &ModelCallError,
    policy: &RoutingPolicy,
    delay_ms: u64,
) -> Option<u64> {
    let asked = failure.retry_after_ms.unwrap_or_default();
    match failure.kind {
        FailureKind::RateLimit | FailureKind::Overloaded => {
            Some(policy.backoff_ms.max(asked).max(delay_ms))
        }
        FailureKind::Quota => Some(QUOTA_MS.max(asked)),
        // A key does not become right by waiting.
        FailureKind::Authentication => Some(u64::MAX),
        FailureKind::Server | FailureKind::Network | FailureKind::Protocol => {
            Some(delay_ms.max(asked))
        }
        FailureKind::InvalidRequest
        | FailureKind::NoTools
        | FailureKind::ContextOverflow
        | FailureKind::ContentFilter
        | FailureKind::Host => None,
    }
}
