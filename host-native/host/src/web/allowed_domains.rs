//! The domains whose pages may be read, as the user has named them. An address is judged by its
//! text, before its name is looked up; what the name leads to is judged by `host_names`.

use super::address::is_public;
use reqwest::Url;
use std::{fmt, net::IpAddr};
use thiserror::Error;

/// The largest number of bytes of an address.
const LONGEST: usize = 8 << 10;

/// The domains whose pages may be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowedDomains(Vec<DomainEntry>);

/// One of the domains, as it was named.
#[derive(Clone, Debug, PartialEq, Eq)]
struct DomainEntry {
    host: String,
    /// The port that was named; the scheme's own otherwise.
    port: Option<u16>,
    /// True if a machine itself was named, and not a domain with all that is below it.
    is_machine: bool,
}

/// A domain that can't be allowed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DomainError {
    /// Something that is not a domain, such as the address of a page.
    #[error("{0:?} is no domain; name it alone, such as docs.example.com or localhost:8000")]
    NotADomain(String),
    /// A domain with a star: everything below a domain is allowed anyway.
    #[error("{0:?} has a star; name the domain alone, which includes all that is below it")]
    Star(String),
    /// A domain that holds those of many owners.
    #[error("{0:?} is no domain of one owner; name one below it")]
    TopLevel(String),
}

/// The address of a page that may be read, unless its name turns out to lead elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PageAddress(Url);

/// An address that may not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DeniedAddress {
    pub(super) why: String,
    /// The address, if it could be read once somebody allows its domain.
    pub(super) unless: Option<PageAddress>,
}

impl AllowedDomains {
    /// Reads domains: `docs.example.com` allows that domain and all that is below it, at the usual
    /// ports of HTTP and HTTPS, or at the one that is named, `docs.example.com:8443`. `localhost`
    /// and IP addresses allow that machine only, even in a private network.
    ///
    /// # Errors
    /// [`DomainError`] if one of them is not a domain that can be allowed.
    pub fn parse<S: AsRef<str>>(domains: &[S]) -> Result<Self, DomainError> {
        domains
            .iter()
            .map(|domain| DomainEntry::parse(domain.as_ref()))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Returns whether no domain is allowed.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the address in a text, if it may be read; else the reason why not. Without a scheme
    /// it is one of HTTPS.
    pub(super) fn judge(&self, text: &str) -> Result<PageAddress, DeniedAddress> {
        let text = text.trim();
        // An address without a scheme may have another one in its query, as in
        // `example.com/?to=http://…`.
        let is_scheme = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let whole = match text.split_once("://") {
            Some((scheme, _)) if is_scheme(scheme) => text.to_owned(),
            _ => format!("https://{text}"),
        };
        // The parser that sends the request later decides what the host is: it also reads `0x7f.1`
        // as an address and `\` as `/`.
        let url =
            Url::parse(&whole).map_err(|error| denied(format!("That is no address: {error}.")))?;
        self.admit(url)
    }

    /// Returns the address that a page leads to, if it may be read; else the reason why not.
    pub(super) fn follow(
        &self,
        from: &PageAddress,
        location: &str,
    ) -> Result<PageAddress, DeniedAddress> {
        let to = from.0.join(location);
        let to = to.map_err(|error| denied(format!("It leads to no address: {error}.")))?;
        // Somebody on the way could change a page that the user expects to be encrypted.
        if from.0.scheme() == "https" && to.scheme() == "http" {
            return Err(denied(format!("It leads to {}, which is not encrypted.", shown(&to))));
        }
        let shown = shown(&to);
        self.admit(to).map_err(|DeniedAddress { why, unless }| DeniedAddress {
            why: format!("It leads to {shown}. {why}"),
            unless,
        })
    }

    fn admit(&self, mut url: Url) -> Result<PageAddress, DeniedAddress> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(denied(format!("Only http and https are read, not {}.", url.scheme())));
        }
        if url.as_str().len() > LONGEST {
            return Err(denied(format!("The address is longer than {LONGEST} bytes.")));
        }
        // Such an address looks like one of another host: `https://example.com@evil.example/`.
        if !url.username().is_empty() || url.password().is_some() {
            return Err(denied("Addresses with a name or a password are not read.".to_owned()));
        }
        url.set_fragment(None);
        // With the point that may end it, a host is the same and would not be found in the list.
        if let Some(host) = url.host_str().and_then(|host| host.strip_suffix('.')) {
            let host = host.to_owned();
            url.set_host(Some(&host))
                .map_err(|error| denied(format!("That is no address: {error}.")))?;
        }
        let address = PageAddress(url);
        if self.covers(&address) {
            return Ok(address);
        }
        let domain = address.domain();
        let list = if self.is_empty() { "none".to_owned() } else { self.to_string() };
        let mut why = format!("{domain} is not allowed here. Pages can be read of: {list}.");
        // No advice that would be refused: a name such as `com` can't be allowed.
        if DomainEntry::parse(&domain).is_ok() {
            why += &format!(" The user can allow it with --allow-domain {domain}.");
        }
        let unless = Some(address).filter(PageAddress::may_be_public);
        Err(DeniedAddress { why, unless })
    }

    /// Returns whether the address belongs to one of these domains.
    pub(super) fn covers(&self, address: &PageAddress) -> bool {
        self.0.iter().any(|entry| entry.covers(&address.0))
    }

    /// Allows the domain of an address, too, and all that is below it.
    pub(super) fn add(&mut self, address: &PageAddress) {
        if let Ok(entry) = DomainEntry::parse(&address.domain()) {
            self.0.push(entry);
        }
    }

    /// Returns the domains in the form in which a user names them.
    pub(super) fn names(&self) -> Vec<String> {
        self.0.iter().map(DomainEntry::to_string).collect()
    }
}

impl fmt::Display for AllowedDomains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names().join(", "))
    }
}

impl fmt::Display for DomainEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port, .. } = self;
        match port {
            Some(port) => write!(f, "{host}:{port}"),
            None => f.write_str(host),
        }
    }
}

impl DomainEntry {
    fn parse(text: &str) -> Result<Self, DomainError> {
        let text = text.trim();
        let wrong = || DomainError::NotADomain(text.to_owned());
        if text.contains('*') {
            return Err(DomainError::Star(text.to_owned()));
        }
        if text.contains(['/', '@', '?', '#', '\\']) {
            return Err(wrong());
        }
        // An IPv6 address has colons of its own and may come without its brackets, so that a port
        // is looked for behind them only.
        let bare = text.parse::<IpAddr>().is_ok_and(|address| address.is_ipv6());
        let whole = if bare { format!("[{text}]") } else { text.to_owned() };
        let after = whole.rsplit_once(']').map_or(whole.as_str(), |(_, after)| after);
        let port = after.rsplit_once(':').map(|(_, port)| port.parse::<u16>());
        let port = port.transpose().map_err(|_| wrong())?;
        let url = Url::parse(&format!("https://{whole}/")).map_err(|_| wrong())?;
        let host = host_of(&url).to_owned();
        let is_machine = host == "localhost" || address_of(&host).is_some();
        if !is_machine && !host.contains('.') {
            return Err(DomainError::TopLevel(text.to_owned()));
        }
        Ok(Self { host, port, is_machine })
    }

    fn covers(&self, url: &Url) -> bool {
        let host = host_of(url);
        // A point must stand between the two: `badexample.com` is not below `example.com`.
        let below = host.strip_suffix(self.host.as_str()).and_then(|rest| rest.strip_suffix('.'));
        let is_below = below.is_some_and(|below| !below.is_empty());
        let is_port = match self.port {
            Some(port) => url.port_or_known_default() == Some(port),
            // The address has a port only where it is not the scheme's own.
            None => url.port().is_none(),
        };
        is_port && (host == self.host || (is_below && !self.is_machine))
    }
}

impl PageAddress {
    /// Returns the address as it is requested.
    pub(super) const fn url(&self) -> &Url {
        &self.0
    }

    /// Returns its host, with the port if that is not the scheme's own.
    pub(super) fn domain(&self) -> String {
        let port = self.0.port().map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}{port}", host_of(&self.0))
    }

    /// Returns whether only its domain speaks against it, as far as its text shows: the addresses
    /// of a name are judged when it is looked up.
    fn may_be_public(&self) -> bool {
        let host = host_of(&self.0);
        let is_local = host == "localhost" || host.ends_with(".localhost");
        match address_of(host) {
            Some(address) => is_public(address),
            // A name with an empty part belongs to nobody.
            None => !is_local && !host.starts_with('.') && DomainEntry::parse(host).is_ok(),
        }
    }
}

impl fmt::Display for PageAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

fn denied(why: String) -> DeniedAddress {
    DeniedAddress { why, unless: None }
}

/// Returns the host without the point that may end it.
fn host_of(url: &Url) -> &str {
    let host = url.host_str().unwrap_or_default();
    host.strip_suffix('.').unwrap_or(host)
}

/// Returns the IP address that a host stands for, if it is one.
fn address_of(host: &str) -> Option<IpAddr> {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    bare.unwrap_or(host).parse().ok()
}

/// Returns an address for a text: its first 200 characters, without a name and a password.
fn shown(url: &Url) -> String {
    let mut url = url.clone();
    // An address without a host has neither, and the calls fail.
    let _without = (url.set_username(""), url.set_password(None));
    url.as_str().chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::{AllowedDomains, DomainError};

    fn allowed(domains: &[&str]) -> AllowedDomains {
        AllowedDomains::parse(domains).unwrap()
    }

    #[test]
    fn c16_a_domain_allows_what_is_below_it_at_the_usual_ports() {
        let allowed = allowed(&["Example.com", "münchen.example", "api.test.example:8443"]);
        for (text, is_allowed) in [
            ("https://example.com", "https://example.com/"),
            ("example.com/a?b#c", "https://example.com/a?b"),
            (
                "example.com/?to=http://other.example/",
                "https://example.com/?to=http://other.example/",
            ),
            (" http://EXAMPLE.com:80/ ", "http://example.com/"),
            ("https://docs.example.com:443/x", "https://docs.example.com/x"),
            ("https://a.b.example.com./x", "https://a.b.example.com/x"),
            ("https://xn--mnchen-3ya.example/", "https://xn--mnchen-3ya.example/"),
            ("https://münchen.example/", "https://xn--mnchen-3ya.example/"),
            ("https://api.test.example:8443/", "https://api.test.example:8443/"),
            ("http://v1.api.test.example:8443/", "http://v1.api.test.example:8443/"),
        ] {
            assert_eq!(allowed.judge(text).unwrap().to_string(), is_allowed, "{text}");
        }
        let at = |host: &str| {
            let named = "example.com, xn--mnchen-3ya.example, api.test.example:8443";
            let advice = format!(" The user can allow it with --allow-domain {host}.");
            let advice = if host == "com" { String::new() } else { advice };
            format!("{host} is not allowed here. Pages can be read of: {named}.{advice}")
        };
        for (text, why) in [
            ("https://example.org/", at("example.org")),
            ("https://badexample.com/", at("badexample.com")),
            ("https://example.com.evil.example/", at("example.com.evil.example")),
            ("https://com/", at("com")),
            ("https://.example.com/", at(".example.com")),
            ("https://example.com:8443/", at("example.com:8443")),
            ("http://example.com:443/", at("example.com:443")),
            ("https://api.test.example/", at("api.test.example")),
            ("https://93.184.216.34/", at("93.184.216.34")),
            ("https://0x7f.1/", at("127.0.0.1")),
            ("https://[::ffff:127.0.0.1]/", at("[::ffff:7f00:1]")),
            ("http://localhost/", at("localhost")),
            ("https://me@example.com/", "Addresses with a name or a password are not read.".into()),
            ("https://:x@example.com/", "Addresses with a name or a password are not read.".into()),
            (
                "https://example.com@evil.example/",
                "Addresses with a name or a password are not read.".into(),
            ),
            ("https://example.com\\@evil.example/", "https://example.com/@evil.example/".into()),
            ("ftp://example.com/", "Only http and https are read, not ftp.".into()),
            ("file:///etc/passwd", "Only http and https are read, not file.".into()),
            ("", "That is no address: empty host.".into()),
            (
                "https://exa mple.com/",
                "That is no address: invalid international domain name.".into(),
            ),
        ] {
            let judged = allowed.judge(text);
            let told = judged.map_or_else(|denied| denied.why, |address| address.to_string());
            assert_eq!(told, why, "{text}");
        }
        let long = format!("https://example.com/{}", "x".repeat(9_000));
        let why = allowed.judge(&long).unwrap_err().why;
        assert_eq!(why, "The address is longer than 8192 bytes.");
        assert!(AllowedDomains::default().judge("https://example.com/").is_err());
    }

    #[test]
    fn c16_a_machine_that_is_named_is_allowed_alone() {
        let allowed =
            allowed(&["localhost:3000", "127.0.0.1:8000", "10.0.0.7", "::1", "[fd00::1]:81"]);
        for text in [
            "http://localhost:3000/x",
            "http://127.0.0.1:8000/",
            "http://2130706433:8000/",
            "http://10.0.0.7/",
            "https://10.0.0.7/",
            "http://[::1]/",
            "http://[fd00::1]:81/",
        ] {
            assert!(allowed.judge(text).is_ok(), "{text}");
        }
        for text in [
            "http://localhost/",
            "http://localhost:3001/",
            "http://a.localhost:3000/",
            "http://127.0.0.1/",
            "http://127.0.0.2:8000/",
            "http://10.0.0.7:8000/",
            "http://1.10.0.0.7/",
            "http://[::1]:81/",
            "http://[::2]/",
        ] {
            assert!(allowed.judge(text).is_err(), "{text}");
        }
        assert_eq!(
            allowed.to_string(),
            "localhost:3000, 127.0.0.1:8000, 10.0.0.7, [::1], [fd00::1]:81"
        );
    }

    #[test]
    fn c16_only_what_may_be_public_can_be_asked_for() {
        let mut allowed = allowed(&["localhost:3000"]);
        for (text, domain) in [
            ("https://docs.example.org/a?b", Some("docs.example.org")),
            ("http://docs.example.org:8080/", Some("docs.example.org:8080")),
            ("https://93.184.216.34/", Some("93.184.216.34")),
            ("https://intranet/", None),
            ("https://.example.org/", None),
            ("http://localhost/", None),
            ("http://a.localhost/", None),
            ("http://127.0.0.1/", None),
            ("http://169.254.169.254/latest", None),
            ("http://[::1]/", None),
            ("http://[::ffff:10.0.0.1]/", None),
            ("ftp://example.org/", None),
            ("https://me@example.org/", None),
        ] {
            let unless = allowed.judge(text).unwrap_err().unless;
            assert_eq!(unless.map(|address| address.domain()).as_deref(), domain, "{text}");
        }
        let asked = allowed.judge("https://docs.example.org:8443/").unwrap_err().unless.unwrap();
        allowed.add(&asked);
        assert_eq!(allowed.names(), ["localhost:3000", "docs.example.org:8443"]);
        assert!(allowed.judge("https://v2.docs.example.org:8443/x").is_ok());
        assert!(allowed.judge("https://docs.example.org/").is_err());
    }

    #[test]
    fn c16_each_step_of_a_redirect_is_judged() {
        let allowed = allowed(&["example.com", "localhost:3000"]);
        let from = allowed.judge("https://example.com/a/b?c").unwrap();
        let to = |location| match allowed.follow(&from, location) {
            Ok(address) => address.to_string(),
            Err(denied) => denied.why,
        };
        assert_eq!(to("d"), "https://example.com/a/d");
        assert_eq!(to("//www.example.com/#x"), "https://www.example.com/");
        let shown = "It leads to http://www.example.com/, which is not encrypted.";
        assert_eq!(to("http://www.example.com/"), shown);
        let evil = to("https://a:b@evil.example/?x");
        assert_eq!(
            evil,
            "It leads to https://evil.example/?x. Addresses with a name or a password are not read."
        );
        assert!(
            to("https://127.0.0.1/").starts_with("It leads to https://127.0.0.1/. 127.0.0.1 is")
        );
        assert!(to("data:text/html,x").contains("Only http and https are read, not data."));
        let plain = allowed.judge("http://example.com/").unwrap();
        assert!(allowed.follow(&plain, "https://example.com/").is_ok());
        assert!(allowed.follow(&plain, "http://localhost:3000/").is_ok());
        assert!(allowed.follow(&plain, "http://localhost:3001/").is_err());
    }

    #[test]
    fn c16_what_is_no_domain_is_refused() {
        use DomainError::{NotADomain, Star, TopLevel};
        let refused = |text: &str| AllowedDomains::parse(&[text]).unwrap_err();
        for text in ["https://example.com", "example.com/x", "a@example.com", "exa mple.com", ""] {
            assert_eq!(refused(text), NotADomain(text.to_owned()));
        }
        for text in
            ["example.com:", "example.com:x", "example.com:99999", "[::1", "example.com:80:80"]
        {
            assert_eq!(refused(text), NotADomain(text.to_owned()));
        }
        assert_eq!(refused("*.example.com"), Star("*.example.com".to_owned()));
        assert_eq!(refused("com"), TopLevel("com".to_owned()));
    }
}
