//! The request for one page: sent without cookies, keys or proxies, followed through redirects, and
//! read within bounds.

use super::{
    allowed_domains::PageAddress,
    domain_approval::FetchGate,
    fault::{FetchError, refused},
    host_names::{PublicResolver, ResolveError},
};
use innerloop_core::action::ToolError;
use innerloop_sandbox::client::{client, leads_to, plain_client};
use reqwest::{
    Client, Response, StatusCode,
    header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap},
};
use std::{error::Error, sync::OnceLock, time::Duration};

/// The largest number of bytes of a page that are read.
const LARGEST: usize = 5 << 20;

/// The largest number of redirects of a page.
const REDIRECTS: usize = 5;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The content types that are asked for.
const KINDS: &str = "text/html, text/plain;q=0.9, text/*;q=0.8, application/json;q=0.8, */*;q=0.1";

/// A page as it was received.
#[derive(Debug)]
pub(super) struct WebPage {
    /// The address at which it was found in the end.
    pub(super) address: PageAddress,
    pub(super) status: StatusCode,
    /// The content type that it declares.
    pub(super) kind: ContentType,
    pub(super) body: Vec<u8>,
    /// True if the page is longer than what was read.
    pub(super) is_cut: bool,
}

/// The content type that a page declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ContentType {
    /// Type and subtype in lower case; empty if the page declares none or something else: this is
    /// shown outside of the page's frame.
    pub(super) essence: String,
    pub(super) charset: Option<String>,
}

/// The clients that request pages, made when they are needed.
#[derive(Debug, Default)]
pub(super) struct PageClient {
    /// The client without TLS, which needs no certificates.
    plain: OnceLock<Client>,
    secure: OnceLock<Client>,
}

impl PageClient {
    /// Reads the page of that address, or the one that it leads to.
    pub(super) async fn read(
        &self,
        gate: &FetchGate,
        address: &str,
    ) -> Result<WebPage, FetchError> {
        let mut address = gate.enter(address).await?;
        // Followed by hand: the client would go to an address that nobody has judged.
        for _ in 0..=REDIRECTS {
            let response = self.ask(&address).await?;
            match leads_to(&response) {
                Some(location) => address = gate.follow(&address, &location).await?,
                None => return whole(address, response).await,
            }
        }
        let why = format!("It leads to another address more than {REDIRECTS} times.");
        Err(FetchError { error: ToolError::Limit, why })
    }

    async fn ask(&self, address: &PageAddress) -> Result<Response, FetchError> {
        let client = self.client(address)?;
        let call = client.get(address.url().clone());
        // Uncompressed: the limit counts the bytes that come, and a small compressed page may be a
        // huge one.
        let call = call.header(ACCEPT, KINDS).header(ACCEPT_ENCODING, "identity");
        call.send().await.map_err(|error| broken(&error))
    }

    /// Returns the client for that address. It connects to what [`PublicResolver`] has judged,
    /// whatever proxies the environment names, and has no cookies.
    fn client(&self, address: &PageAddress) -> Result<&Client, FetchError> {
        let is_plain = address.url().scheme() == "http";
        let made = if is_plain { &self.plain } else { &self.secure };
        if let Some(client) = made.get() {
            return Ok(client);
        }
        let builder = if is_plain { plain_client() } else { client() };
        let builder =
            // A proxy would look up the name itself, and could lead it to a private network.
            builder.no_proxy().dns_resolver(PublicResolver).connect_timeout(CONNECT_TIMEOUT);
        let client = builder.build().map_err(|error| broken(&error))?;
        Ok(made.get_or_init(|| client))
    }
}

impl ContentType {
    fn of(headers: &HeaderMap) -> Self {
        let value = headers.get(CONTENT_TYPE).map(|value| value.as_bytes()).unwrap_or_default();
        let value = String::from_utf8_lossy(value).to_ascii_lowercase();
        let mut parts = value.split(';').map(str::trim);
        let essence = parts.next().filter(|essence| is_essence(essence)).unwrap_or_default();
        let essence = essence.to_owned();
        let charset = parts.find_map(|part| part.strip_prefix("charset="));
        let charset = charset.map(|label| label.trim_matches(['"', '\'', ' ']).to_owned());
        Self { essence, charset }
    }

    /// Returns whether it is HTML; `body` decides where nothing is declared.
    pub(super) fn is_html(&self, body: &[u8]) -> bool {
        match self.essence.as_str() {
            "text/html" | "application/xhtml+xml" => true,
            "" => {
                let start = body.trim_ascii_start();
                let start = start.get(..14).unwrap_or(start).to_ascii_lowercase();
                start.starts_with(b"<!doctype html") || start.starts_with(b"<html")
            }
            _ => false,
        }
    }

    /// Returns whether it can be read as text.
    fn is_text(&self) -> bool {
        let Some((kind, subtype)) = self.essence.split_once('/') else {
            return self.essence.is_empty();
        };
        let is_known = matches!(
            subtype,
            "json"
                | "ndjson"
                | "x-ndjson"
                | "xml"
                | "javascript"
                | "x-javascript"
                | "ecmascript"
                | "yaml"
                | "x-yaml"
                | "toml"
                | "xhtml+xml"
        );
        let is_based = subtype.ends_with("+json") || subtype.ends_with("+xml");
        kind == "text" || (kind == "application" && (is_known || is_based))
    }
}

/// Returns whether the text can be a type and a subtype.
fn is_essence(text: &str) -> bool {
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || b"/+-._".contains(&byte);
    // Anything else could pretend to be a line of the report.
    text.len() <= 100 && text.bytes().all(is_sign)
}

/// Returns the page of a response, as far as it is read.
async fn whole(address: PageAddress, mut response: Response) -> Result<WebPage, FetchError> {
    let kind = ContentType::of(response.headers());
    if !kind.is_text() {
        let why = format!("It is no text, but {}.", kind.essence);
        return Err(FetchError { error: ToolError::Binary, why });
    }
    let encoding = response.headers().get(CONTENT_ENCODING);
    if encoding.is_some_and(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        let why = "It came compressed, which was not asked for.".to_owned();
        return Err(FetchError { error: ToolError::Binary, why });
    }
    let (mut body, mut is_cut) = (Vec::new(), false);
    while let Some(piece) = response.chunk().await.map_err(|error| broken(&error))? {
        let room = LARGEST - body.len();
        is_cut = piece.len() > room;
        body.extend_from_slice(piece.get(..room).unwrap_or(&piece));
        if is_cut {
            break;
        }
    }
    // A declared type is believed: UTF-16 has zero bytes, too.
    if kind.essence.is_empty() && body.contains(&0) {
        let why = "It does not say what it is, and is no text.".to_owned();
        return Err(FetchError { error: ToolError::Binary, why });
    }
    Ok(WebPage { address, status: response.status(), kind, body, is_cut })
}

fn broken(error: &reqwest::Error) -> FetchError {
    // The resolver's own error is somewhere in the chain of causes, and says more than the
    // outermost one.
    let mut cause: &dyn Error = error;
    loop {
        match cause.downcast_ref::<ResolveError>() {
            Some(ResolveError::Private(_)) => return refused(format!("{cause}.")),
            Some(ResolveError::Unknown(..)) => {
                return FetchError { error: ToolError::NotFound, why: format!("{cause}.") };
            }
            None => {}
        }
        match cause.source() {
            Some(inner) => cause = inner,
            None => break,
        }
    }
    let why = if error.is_builder() {
        format!("cannot set up TLS: {cause}; CA certificates are needed.")
    } else if error.is_connect() {
        format!("cannot connect: {cause}.")
    } else {
        format!("the connection broke: {cause}.")
    };
    FetchError { error: ToolError::Io, why }
}
