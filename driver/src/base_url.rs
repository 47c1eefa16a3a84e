//! The base URL of an endpoint: an origin and perhaps a path, nothing else. Hosts parse URLs with
//! different libraries, so only what all of them read alike is accepted: no request with a key
//! leaves its origin, whatever path it names.

use alloc::{borrow::ToOwned, format, string::String};
use core::{fmt, net::IpAddr};
use innerloop_core::config::WireKind;

/// An origin with a path prefix, in a form that every parser of URLs leaves as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl {
    /// The whole URL, without a slash at its end.
    text: String,
    host: String,
}

impl BaseUrl {
    /// Reads a base URL such as `https://api.anthropic.com` or `http://127.0.0.1:8080/proxy`.
    ///
    /// # Errors
    /// A clause that says what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        let (scheme, rest) =
            text.trim().split_once("://").ok_or("it does not begin with a scheme")?;
        let scheme = scheme.to_ascii_lowercase();
        if !matches!(scheme.as_str(), "http" | "https") {
            return Err("its scheme is neither http nor https");
        }
        if rest.contains(['?', '#']) {
            return Err("it has a query or fragment");
        }
        // A backslash ends the authority, too, and is refused in the path: of
        // `https://host\@evil.example`, browsers go to `host` and others to `evil.example`.
        let (authority, path) = match rest.find(['/', '\\']) {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        if authority.contains('@') {
            return Err("it holds a user name or password");
        }
        let (host, port) = host_and_port(authority)?;
        let host = host.to_ascii_lowercase();
        let path = match path {
            "" | "/" => String::new(),
            path => encoded(path).ok_or("its path has a backslash, or a dot for a folder")?,
        };
        let path = path.trim_end_matches('/');
        Ok(Self { text: format!("{scheme}://{host}{port}{path}"), host })
    }

    /// Returns the URL without the protocol's own path at its end, in whole or in part: people copy
    /// a complete address, or a base URL that another program wants.
    pub(crate) fn for_wire(self, wire: WireKind) -> Self {
        let ends: &[&str] = match wire {
            WireKind::OpenaiChat => &["/chat/completions"],
            WireKind::OpenaiResponses => &["/responses"],
            WireKind::Anthropic => &["/v1/messages", "/v1"],
            WireKind::Gemini => &["/v1beta/models", "/v1beta"],
            WireKind::Ollama => &["/api/chat", "/api", "/v1"],
        };
        // Only the path is looked at: a host may be called `responses`.
        let authority = self.text.split_once("://").map_or("", |(_, rest)| rest);
        let at = authority
            .find('/')
            .map_or(self.text.len(), |at| self.text.len() - authority.len() + at);
        let (origin, path) = self.text.split_at(at);
        let path = match (wire, path.split_once("/v1beta/models/")) {
            // A whole address of this protocol goes on with the model and a verb.
            (WireKind::Gemini, Some((before, _))) => before,
            _ => path,
        };
        let path = ends.iter().find_map(|end| path.strip_suffix(end)).unwrap_or(path);
        let text = format!("{origin}{}", path.trim_end_matches('/'));
        Self { text, ..self }
    }

    /// Returns the URL of `path` below the base, always on the same origin; `None` if the path does
    /// not begin with `/` or leads upwards.
    pub(crate) fn join(&self, path: &str) -> Option<String> {
        let (path, query) = match path.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (path, None),
        };
        let path = encoded(path)?;
        let query = query.map(|query| format!("?{}", escaped(query))).unwrap_or_default();
        Some(format!("{}{path}{query}", self.text))
    }

    /// Returns whether the URL's host is this machine.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        let host = self.host.trim_matches(['[', ']']);
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Returns the host, and the port with its colon if there is one.
fn host_and_port(authority: &str) -> Result<(&str, String), &'static str> {
    // The colons of an IPv6 address in brackets are no border of a port.
    let end = if authority.starts_with('[') { authority.find(']').map(|at| at + 1) } else { None };
    let end = end.or_else(|| authority.find(':')).unwrap_or(authority.len());
    let (host, port) = authority.split_at(end);
    // Names outside of ASCII are refused and not translated: parsers differ in how they do that,
    // and look-alike letters would lead to another host.
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    let is_ip6 = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).is_some_and(|ip| {
        ip.contains(':') && ip.bytes().all(|byte| byte.is_ascii_hexdigit() || b":.".contains(&byte))
    });
    if host.is_empty() || !(is_ip6 || host.bytes().all(is_name)) {
        return Err("its host is no name or address in ASCII");
    }
    let digits = port.strip_prefix(':').unwrap_or_default();
    let fits = digits.bytes().all(|byte| byte.is_ascii_digit())
        && digits.parse::<u16>().is_ok_and(|port| port > 0);
    match port {
        "" | ":" => Ok((host, String::new())),
        _ if fits => Ok((host, port.to_owned())),
        _ => Err("its port is no number from 1 to 65535"),
    }
}

/// Returns a path that begins with `/`, escaped; `None` if it has a backslash, which some parsers
/// take for a slash, or a segment that leads to another folder.
fn encoded(path: &str) -> Option<String> {
    // The URL Standard reads `%2e` as a dot, in either case of its letter.
    let is_dots = |segment: &str| {
        let segment = segment.to_ascii_lowercase().replace("%2e", ".");
        segment == "." || segment == ".."
    };
    let fits = path.starts_with('/') && !path.contains('\\') && !path.split('/').any(is_dots);
    fits.then(|| escaped(path))
}

/// Percent-encodes what cannot stand in a URL.
fn escaped(text: &str) -> String {
    // `%` stays as it is: a path that is encoded already must not be encoded twice.
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_graphic() && !b"\"#<>\\^`{|}".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
