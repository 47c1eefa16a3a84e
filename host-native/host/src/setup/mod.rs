//! The set-up of a session on this machine, which the program and the crate `innerloop` share: the
//! traffic with its model, the site of its tools, and the session between the two. The options that
//! their users have, and the words in which they report a failure, are their own.
//!
//! The steps, each of which needs those before it:
//!
//! 1. [`ModelTraffic`]: the endpoint and its key, or a recording in its place.
//! 2. [`SessionSetup::new`]: the way to it, and who answers the session.
//! 3. [`WorkSite::open`]: the workspace, the sandbox over it, or another place for actions.
//! 4. [`WorkSite::reserve`]: what the agent must not change in it, such as the session's own log.
//! 5. [`WorkSite::facts`]: what the model reads about the place, for the configuration.
//! 6. [`SessionSetup::open`], or [`restore`](SessionSetup::restore), or
//!    [`resume`](SessionSetup::resume): the session itself.
//! 7. [`WorkSite::tools`] and [`OpenSession::host`]: what drives it.

mod session;
mod traffic;
mod work_site;

pub use session::{OpenSession, SessionSetup};
pub use traffic::ModelTraffic;
pub use work_site::{SiteError, WorkSite};
