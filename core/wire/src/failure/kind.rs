//! The kinds of failed model calls. A kind says what can be done about the failure, rather than
//! what the provider called it.

use innerloop_types::event::ErrorKind;

/// The kind of a failed model call, which says what can be done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// Use another key.
    Authentication,
    /// Pay, or wait for days: credit, quota or plan are used up.
    Quota,
    /// Wait.
    RateLimit,
    /// Wait.
    Overloaded,
    /// Send less.
    ContextOverflow,
    /// Send something else.
    InvalidRequest,
    /// Describe the tools in the prompt: the model or its server takes none.
    NoTools,
    /// Send something else: a filter of the provider refused the request or the reply.
    ContentFilter,
    /// Try again.
    Server,
    /// Try again.
    Network,
    /// Try again: the response was cut or is not of this protocol.
    Protocol,
    /// Fix the host's configuration.
    Host,
}

impl FailureKind {
    /// Returns the kind as an event shows it.
    #[must_use]
    pub const fn as_event(self) -> ErrorKind {
        match self {
            Self::Authentication => ErrorKind::Authentication,
            Self::Quota => ErrorKind::Quota,
            Self::RateLimit => ErrorKind::RateLimit,
            Self::Overloaded => ErrorKind::Overloaded,
            Self::ContextOverflow => ErrorKind::ContextOverflow,
            Self::InvalidRequest | Self::NoTools => ErrorKind::InvalidRequest,
            Self::ContentFilter => ErrorKind::ContentFilter,
            Self::Server => ErrorKind::Server,
            Self::Network => ErrorKind::Network,
            Self::Protocol => ErrorKind::Protocol,
            Self::Host => ErrorKind::Host,
        }
    }
}
