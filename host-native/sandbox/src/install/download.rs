//! Downloads into files without names: redirects, retries and bounds. Nothing leads from an
//! encrypted address to one that is not, except on this machine, and no message shows a password.

use super::error::InstallError;
use crate::{
    client::{client, leads_to, plain_client, root},
    proxy::ProxySetting,
};
use reqwest::{
    Client, Response, Url,
    header::{ACCEPT, ACCEPT_ENCODING},
};
use std::{
    fs::File,
    io::{Seek as _, Write as _},
    net::IpAddr,
    path::{Path, PathBuf},
    sync::OnceLock,
    time::Duration,
};

/// The most redirects of one download.
const REDIRECTS: usize = 5;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// The time after which a server that sends nothing counts as stopped.
const STALLED: Duration = Duration::from_secs(60);

/// The waits before new attempts.
const WAITS: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(2)];

/// A downloader into files of one folder.
#[derive(Debug)]
pub(super) struct FileDownloader {
    scratch: PathBuf,
    /// The client for addresses without TLS on this machine.
    near: OnceLock<Client>,
    far: OnceLock<Client>,
}

/// The error of an attempt, and the prospect of the next one.
#[derive(Debug)]
struct DownloadError {
    error: InstallError,
    may_pass: bool,
}

impl FileDownloader {
    /// Makes a downloader into files without names in a folder.
    pub(super) fn into(scratch: &Path) -> Self {
        let (near, far) = (OnceLock::new(), OnceLock::new());
        Self { scratch: scratch.to_owned(), near, far }
    }

    /// Downloads the answer of an address, of at most `most` bytes.
    ///
    /// # Errors
    /// [`InstallError`] of the last attempt. Only broken connections and failures of the server are
    /// tried again.
    pub(super) async fn get(
        &self,
        address: &Url,
        kinds: &str,
        most: u64,
        on_bytes: &mut (dyn FnMut(u64, Option<u64>) + Send),
    ) -> Result<File, InstallError> {
        let file = tempfile::tempfile_in(&self.scratch);
        let mut file = file.map_err(InstallError::file(&self.scratch))?;
        let mut waits = WAITS.into_iter();
        loop {
            // An attempt may have left the first part of the answer.
            self.restart(&mut file)?;
            let failure = match self.attempt(address, kinds, most, &mut file, on_bytes).await {
                Ok(()) => return Ok(file),
                Err(failure) => failure,
            };
            match waits.next() {
                Some(wait) if failure.may_pass => tokio::time::sleep(wait).await,
                _ => return Err(failure.error),
            }
        }
    }

    fn restart(&self, file: &mut File) -> Result<(), InstallError> {
        let emptied = file.set_len(0).and_then(|()| file.rewind());
        emptied.map_err(InstallError::file(&self.scratch))
    }

    async fn attempt(
        &self,
        address: &Url,
        kinds: &str,
        most: u64,
        file: &mut File,
        on_bytes: &mut (dyn FnMut(u64, Option<u64>) + Send),
    ) -> Result<(), DownloadError> {
        let mut at = address.clone();
        for _ in 0..=REDIRECTS {
            let response = self.ask(&at, kinds).await?;
            let Some(location) = leads_to(&response) else {
                return self.keep(&at, response, most, file, on_bytes).await;
            };
            at = follow(&at, &location)?;
        }
        Err(InstallError::Redirects { address: shown(address) }.into())
    }

    async fn ask(&self, address: &Url, kinds: &str) -> Result<Response, DownloadError> {
        let call = self.client(address)?.get(address.clone());
        // The digest is that of the bytes as they were published, and the bound is on those.
        let call = call.header(ACCEPT, kinds).header(ACCEPT_ENCODING, "identity");
        let response = call.send().await.map_err(|error| broken(address, &error))?;
        let status = response.status();
        if status.is_success() || status.is_redirection() {
            return Ok(response);
        }
        let error = InstallError::Status { address: shown(address), status: status.as_u16() };
        Err(DownloadError { error, may_pass: status.is_server_error() })
    }

    fn client(&self, address: &Url) -> Result<&Client, DownloadError> {
        // An index on this machine is reached without the proxy, and needs no certificates.
        let is_near = address.scheme() == "http" && is_loopback(address);
        let made = if is_near { &self.near } else { &self.far };
        if let Some(client) = made.get() {
            return Ok(client);
        }
        let builder = if is_near { plain_client().no_proxy() } else { client() };
        let built = builder.connect_timeout(CONNECT_TIMEOUT).read_timeout(STALLED).build();
        let client = built.map_err(|error| {
            let why = format!("cannot set up TLS: {} (CA certificates are needed)", root(&error));
            InstallError::Unreachable { address: shown(address), why }
        })?;
        Ok(made.get_or_init(|| client))
    }

    async fn keep(
        &self,
        address: &Url,
        mut response: Response,
        most: u64,
        file: &mut File,
        on_bytes: &mut (dyn FnMut(u64, Option<u64>) + Send),
    ) -> Result<(), DownloadError> {
        // A redirect that names no address comes here.
        if !response.status().is_success() {
            let status = response.status().as_u16();
            return Err(InstallError::Status { address: shown(address), status }.into());
        }
        let whole = response.content_length();
        let mut so_far = 0_u64;
        let too_large = || InstallError::TooLarge { what: shown(address), most };
        // The stated length saves the download of an archive that is too large. It may be missing
        // or wrong, so that the bytes are counted as well.
        if whole.is_some_and(|whole| whole > most) {
            return Err(too_large().into());
        }
        on_bytes(0, whole);
        while let Some(piece) = response.chunk().await.map_err(|error| broken(address, &error))? {
            so_far = so_far.saturating_add(u64::try_from(piece.len()).unwrap_or(u64::MAX));
            if so_far > most {
                return Err(too_large().into());
            }
            file.write_all(&piece).map_err(InstallError::file(&self.scratch))?;
            on_bytes(so_far, whole);
        }
        Ok(())
    }
}

impl From<InstallError> for DownloadError {
    fn from(error: InstallError) -> Self {
        Self { error, may_pass: false }
    }
}

/// Parses an address.
///
/// # Errors
/// [`InstallError::Address`] if it is not one of HTTP or HTTPS, or has a name or a password.
pub(super) fn parse(text: &str) -> Result<Url, InstallError> {
    let wrong = |why| {
        // A text that is not an address may have a password anywhere, so that it is not shown.
        let address = Url::parse(text).map_or_else(|_| "the address".to_owned(), |url| shown(&url));
        InstallError::Address { address, why }
    };
    let mut url = Url::parse(text.trim()).map_err(|_| wrong("it is no address"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong("it is not one of http or https"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("it has a name or a password, and none is ever sent"));
    }
    url.set_fragment(None);
    Ok(url)
}

/// The address that an index names: encrypted, or at the index itself, which the user trusts by
/// naming it.
pub(super) fn link(index: &Url, named: &str) -> Result<Url, InstallError> {
    let to = joined(index, named)?;
    if to.scheme() == "https" || to.origin() == index.origin() {
        return Ok(to);
    }
    Err(InstallError::Unencrypted { from: shown(index), to: shown(&to) })
}

/// The address that another leads to: encrypted, or both on this machine.
fn follow(from: &Url, location: &str) -> Result<Url, InstallError> {
    let to = joined(from, location)?;
    if to.scheme() == "https" || (is_loopback(from) && is_loopback(&to)) {
        return Ok(to);
    }
    Err(InstallError::Unencrypted { from: shown(from), to: shown(&to) })
}

fn joined(from: &Url, to: &str) -> Result<Url, InstallError> {
    let why = "it leads to no address";
    let to = from.join(to).map_err(|_| InstallError::Address { address: shown(from), why })?;
    parse(to.as_str())
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// An address for messages: its first characters, without a name, a password and a query.
pub(super) fn shown(url: &Url) -> String {
    // Queries go as well: signed addresses have their keys there.
    let mut url = url.clone();
    // Both fail for an address without a host, which has neither a name nor a password.
    let _without = (url.set_username(""), url.set_password(None));
    url.set_query(None);
    url.set_fragment(None);
    url.as_str().chars().take(200).collect()
}

fn broken(address: &Url, error: &reqwest::Error) -> DownloadError {
    let proxy = if is_loopback(address) { None } else { ProxySetting::of(address.as_str()) };
    let address = shown(address);
    if error.is_timeout() && !error.is_connect() {
        return InstallError::Stalled { address }.into();
    }
    let may_pass = !error.is_timeout() && !error.is_builder();
    // Behind a proxy, a connection fails at the proxy.
    let mut why = root(error);
    if let Some(proxy) = proxy.filter(|_| error.is_connect()) {
        why = format!("no connection through {proxy}: {why}");
    }
    DownloadError { error: InstallError::Unreachable { address, why }, may_pass }
}
