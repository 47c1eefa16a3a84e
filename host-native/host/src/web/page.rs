//! One page: asked for without cookies, keys or proxies, followed where it leads, and read within
//! bounds.

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

/// Most bytes of a page that are read.
const LARGEST: usize = 5 << 20;

/// The number of times that a page may lead to another.
const REDIRECTS: usize = 5;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The content types that a page is asked for.
const KINDS: &str = "text/html, text/plain;q=0.9, text/*;q=0.8, application/json;q=0.8, */*;q=0.1";

/// A page as it came.
#[derive(Debug)]
pub(super) struct WebPage {
    /// The address at which it was found in the end.
    pub(super) address: PageAddress,
    pub(super) status: StatusCode,
    /// The content type that it declares.
    pub(super) kind: ContentType,
    pub(super) body: Vec<u8>,
    /// True if it is longer.
    pub(super) is_cut: bool,
}

/// The content type that a page declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ContentType {
    /// Type and subtype in lower case; empty if it does not say, or says something else there: this
    /// is told outside of the page's frame.
    pub(super) essence: String,
    pub(super) charset: Option<String>,
}

/// Asks for pages.
#[derive(Debug, Default)]
pub(super) struct PageClient {
    /// Without TLS, which needs no certificates.
    plain: OnceLock<Client>,
    secure: OnceLock<Client>,
}

impl PageClient {
    /// Reads the page of that address, and where it leads.
    pub(super) async fn read(
        &self,
        gate: &FetchGate,
        address: &str,
    ) -> Result<WebPage, FetchError> {
        let mut address = gate.enter(address).await?;
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
        let call = call.header(ACCEPT, KINDS).header(ACCEPT_ENCODING, "identity");
        call.send().await.map_err(|error| broken(&error))
    }

    /// The client for that address. It goes straight to what [`PublicResolver`] has judged,
    /// whatever proxies the environment names, and knows no cookies.
    fn client(&self, address: &PageAddress) -> Result<&Client, FetchError> {
        let is_plain = address.url().scheme() == "http";
        let made = if is_plain { &self.plain } else { &self.secure };
        if let Some(client) = made.get() {
            return Ok(client);
        }
        let builder = if is_plain { plain_client() } else { client() };
        let builder =
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

    /// Returns whether it is HTML; `body` decides where it does not say what it is.
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

/// Returns whether that may be a type and a subtype.
fn is_essence(text: &str) -> bool {
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || b"/+-._".contains(&byte);
    text.len() <= 100 && text.bytes().all(is_sign)
}

/// The page that a response holds, as far as it is read.
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
    if kind.essence.is_empty() && body.contains(&0) {
        let why = "It does not say what it is, and is no text.".to_owned();
        return Err(FetchError { error: ToolError::Binary, why });
    }
    Ok(WebPage { address, status: response.status(), kind, body, is_cut })
}

fn broken(error: &reqwest::Error) -> FetchError {
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
