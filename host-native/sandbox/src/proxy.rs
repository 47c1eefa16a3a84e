//! The proxy between this program and an address, as the environment names it. It is for error
//! messages only: behind a proxy, the server that cannot be reached is rarely at fault.

use hyper_util::client::proxy::matcher::Matcher;
use std::{env, fmt};

/// A proxy, and the variable that names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxySetting {
    /// The proxy's address, without a user's name and password.
    address: String,
    /// The environment variable that names the proxy.
    variable: &'static str,
}

impl ProxySetting {
    /// The proxy for requests to an address, if there is one.
    pub fn of(url: &str) -> Option<Self> {
        // The same matcher as the client's, so that NO_PROXY means the same in messages.
        let proxy = Matcher::from_system().intercept(&url.parse().ok()?)?;
        let names = match url.split_once("://")?.0 {
            "https" => ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"],
            _ => ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"],
        };
        let is_set = |name: &&str| env::var_os(name).is_some_and(|value| !value.is_empty());
        let variable = names.into_iter().find(is_set)?;
        // Put together anew, without the password that the variable may hold.
        let uri = proxy.uri();
        let port = uri.port().map(|port| format!(":{port}")).unwrap_or_default();
        let scheme = uri.scheme_str().unwrap_or("http");
        let address = format!("{scheme}://{}{port}", uri.host()?);
        Some(Self { address, variable })
    }

    /// The message for a proxy that wants a user name and password.
    pub fn wants_password(&self) -> String {
        let (scheme, host) = self.address.split_once("://").unwrap_or(("http", &self.address));
        format!(
            "{self} wants a user name and password: put them into the variable, as \
             {}={scheme}://NAME:PASSWORD@{host}",
            self.variable
        )
    }

    /// The advice for an address that cannot be reached through a proxy.
    pub const fn advice() -> &'static str {
        "check the proxy, or name the host in NO_PROXY if it is reached without one"
    }
}

impl fmt::Display for ProxySetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the proxy {} (from {})", self.address, self.variable)
    }
}
