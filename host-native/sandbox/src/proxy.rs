//! The proxy that stands between this program and an address, as the environment names it: for
//! messages, since whoever cannot be reached behind one is rarely at fault.

use hyper_util::client::proxy::matcher::Matcher;
use std::{env, fmt};

/// A proxy, and who names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxySetting {
    /// Its address, without a user's name and password.
    address: String,
    /// The variable of the environment.
    variable: &'static str,
}

impl ProxySetting {
    /// The one through which requests to that address go, if any.
    pub fn of(url: &str) -> Option<Self> {
        let proxy = Matcher::from_system().intercept(&url.parse().ok()?)?;
        let names = match url.split_once("://")?.0 {
            "https" => ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"],
            _ => ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"],
        };
        let is_set = |name: &&str| env::var_os(name).is_some_and(|value| !value.is_empty());
        let variable = names.into_iter().find(is_set)?;
        let uri = proxy.uri();
        let port = uri.port().map(|port| format!(":{port}")).unwrap_or_default();
        let scheme = uri.scheme_str().unwrap_or("http");
        let address = format!("{scheme}://{}{port}", uri.host()?);
        Some(Self { address, variable })
    }

    /// Returns what is told where it wants to know who asks.
    pub fn wants_password(&self) -> String {
        let (scheme, host) = self.address.split_once("://").unwrap_or(("http", &self.address));
        format!(
            "{self} wants a user name and password: put them into the variable, as \
             {}={scheme}://NAME:PASSWORD@{host}",
            self.variable
        )
    }

    /// Returns what is told where nothing is reached through it.
    pub const fn advice() -> &'static str {
        "check the proxy, or name the host in NO_PROXY if it is reached without one"
    }
}

impl fmt::Display for ProxySetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the proxy {} (from {})", self.address, self.variable)
    }
}
