//! The resolver of host names for pages. A name is looked up once for each connection, and the
//! connection goes to the addresses that were judged: no name can lead elsewhere between the two.
//! An address that is an IP itself never comes here, and is judged by its text.

use super::address::is_public;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::{io, net::SocketAddr};
use thiserror::Error;
use tokio::net::lookup_host;

/// Looks up names and passes on the addresses that may be reached.
#[derive(Clone, Copy, Debug)]
pub(super) struct PublicResolver;

/// The reason why a name leads to no address.
#[derive(Debug, Error)]
pub(super) enum ResolveError {
    /// The name leads only to addresses that are not public.
    #[error("{0} is no public address; this machine and private networks are not read")]
    Private(String),
    /// There is no such name.
    #[error("the name {0} is not known: {1}")]
    Unknown(String, io::Error),
}

impl Resolve for PublicResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let name = name.as_str();
            let found = lookup_host((name, 0)).await;
            let found = found.map_err(|error| ResolveError::Unknown(name.to_owned(), error))?;
            let reached = judged(name, found.collect())?;
            Ok(Box::new(reached.into_iter()) as Addrs)
        })
    }
}

/// Returns those of a name's addresses that may be reached. `localhost` gets here only if the user
/// named it, and leads to this machine only.
fn judged(name: &str, mut found: Vec<SocketAddr>) -> Result<Vec<SocketAddr>, ResolveError> {
    let is_local = name.eq_ignore_ascii_case("localhost");
    found.retain(|found| {
        if is_local { found.ip().to_canonical().is_loopback() } else { is_public(found.ip()) }
    });
    if found.is_empty() { Err(ResolveError::Private(name.to_owned())) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::judged;
    use std::net::SocketAddr;

    fn told(name: &str, found: &[&str]) -> String {
        let found = found.iter().map(|ip| SocketAddr::new(ip.parse().unwrap(), 0)).collect();
        match judged(name, found) {
            Ok(addresses) => {
                let addresses = addresses.iter().map(|address| address.ip().to_string());
                addresses.collect::<Vec<_>>().join(" ")
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn c16_a_name_leads_to_public_addresses_only() {
        let refused =
            "a.example is no public address; this machine and private networks are not read";
        assert_eq!(told("a.example", &["1.1.1.1", "2606:4700::1"]), "1.1.1.1 2606:4700::1");
        assert_eq!(told("a.example", &["127.0.0.1", "1.1.1.1", "fd00::1"]), "1.1.1.1");
        assert_eq!(told("a.example", &["169.254.169.254", "::1"]), refused);
        assert_eq!(told("a.example", &[]), refused);
        assert_eq!(told("localhost", &["127.0.0.1", "::1", "1.1.1.1"]), "127.0.0.1 ::1");
        assert!(told("localhost", &["10.0.0.1"]).contains("no public address"));
    }

    #[tokio::test]
    async fn c16_the_name_of_this_machine_is_looked_up_and_judged() {
        use super::PublicResolver;
        use reqwest::dns::Resolve;
        let found = PublicResolver.resolve("localhost".parse().unwrap()).await.unwrap();
        assert!(found.into_iter().all(|address| address.ip().is_loopback()));
        let unknown = PublicResolver.resolve("nowhere.invalid".parse().unwrap()).await;
        let error = unknown.err().unwrap().to_string();
        assert!(error.starts_with("the name nowhere.invalid is not known"), "{error}");
    }
}
