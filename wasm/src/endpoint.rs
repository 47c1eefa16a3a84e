//! The table of endpoints: the one place that knows origin and key. The core names an endpoint;
//! what is not in the table is refused, and the key goes to its origin only.

use crate::masking::masked;
use gloo_net::http::{Headers, Method, Request, RequestBuilder};
use innerloop_core::{
    id::EndpointId,
    input::{HttpFailure, HttpFailureKind},
    output::HttpRequest,
};
use js_sys::Uint8Array;
use serde::Deserialize;
use web_sys::{AbortSignal, RequestRedirect, Url};

/// An endpoint. Has no `Debug`: nothing may print the key.
#[derive(Deserialize)]
pub(crate) struct Endpoint {
    id: EndpointId,
    /// Origin and path prefix, without a slash at the end.
    base: String,
    key_header: String,
    /// What stands in front of the key.
    key_prefix: String,
    /// Empty where the user's own function adds it, and where none is needed.
    key: String,
    /// Headers that the endpoint wants from this platform.
    headers: Vec<(String, String)>,
}

impl Endpoint {
    /// Whether this is the endpoint of that name.
    pub(crate) fn is(&self, id: &EndpointId) -> bool {
        self.id == *id
    }

    /// The key, for taking it out of what comes in.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// `text` without the key.
    pub(crate) fn masked(&self, text: String) -> String {
        masked(&self.key, text)
    }

    /// Where the endpoint is, for display.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// The request with address, headers and key.
    ///
    /// # Errors
    /// A refusal where the path leads to another origin, or where the platform does not take
    /// the request.
    pub(crate) fn request(
        &self,
        request: &HttpRequest,
        signal: &AbortSignal,
    ) -> Result<Request, HttpFailure> {
        let url = self.url(&request.path).ok_or_else(|| {
            refused(format!("{:?} is no path of the endpoint {}", request.path, self.base))
        })?;
        let headers = Headers::new();
        for (name, value) in request.headers.iter().chain(&self.headers) {
            headers.set(name, value);
        }
        if !self.key.is_empty() {
            headers.set(&self.key_header, &format!("{}{}", self.key_prefix, self.key));
        }
        RequestBuilder::new(&url)
            .method(Method::POST)
            .headers(headers)
            .redirect(RequestRedirect::Manual)
            .abort_signal(Some(signal))
            .body(Uint8Array::from(&*request.body.0))
            .map_err(|error| refused(self.masked(error.to_string())))
    }

    fn url(&self, path: &str) -> Option<String> {
        let base = Url::new(&self.base).ok()?;
        let url = Url::new(&format!("{}{path}", self.base)).ok()?;
        let stays = path.starts_with('/') && url.origin() == base.origin();
        (stays && url.username().is_empty()).then(|| url.href())
    }
}

/// A request that this host does not send.
pub(crate) fn refused(message: String) -> HttpFailure {
    HttpFailure { kind: HttpFailureKind::Refused, message }
}
