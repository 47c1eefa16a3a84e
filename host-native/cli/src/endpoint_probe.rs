//! The probe of a model's provider for `innerloop doctor`: asks for the list of models, which costs
//! nothing and shows whether the provider is reachable, takes the key and has the model.

use super::{
    args::ModelArgs,
    arguments::nearest,
    diagnostic::CheckFinding::{self, Broken, Fine, Warning},
    keys::{self, KeyOrigin},
    setup,
};
use innerloop_core::{bytes::BodyBytes, config::WireKind, output::HttpRequest};
use innerloop_driver::{EndpointTable, providers::Provider};
use innerloop_host::http::HttpClient;
use serde_json::Value;
use std::time::Duration;

/// The time limit of the request for the list.
const PATIENCE: Duration = Duration::from_secs(10);

/// The most bytes of the list that are read.
const MOST_BYTES: usize = 16 << 20;

/// The most characters of a provider's message that are shown.
const MOST_SAID: usize = 200;

/// Asks the provider, with its key, if there is one; `key` says where that is from.
pub(super) async fn ask(
    provider: &Provider,
    args: &ModelArgs,
    key: Option<&KeyOrigin>,
) -> CheckFinding {
    let endpoint = match setup::endpoint_of(provider, args) {
        Ok(reached) => reached.endpoint,
        Err(failure) => return Broken(failure.message),
    };
    let (base, has_key) = (endpoint.base().to_string(), key.is_some());
    let is_loopback = endpoint.base().is_loopback();
    let endpoints = EndpointTable::default().with(provider.endpoint(), endpoint);
    let asked = match (HttpClient::new(is_loopback), endpoints.request(request(provider))) {
        (Ok(http), Ok(request)) => http.get(request, MOST_BYTES, PATIENCE).await,
        (Err(failure), _) | (_, Err(failure)) => Err(failure),
    };
    let (status, body) = match asked {
        Ok(answer) => answer,
        Err(failure) => return Broken(unreached(&failure.message)),
    };
    let key = key.map_or_else(|| keys::variables(provider), KeyOrigin::told);
    let said = said(&body);
    let answers = format!("{base} answers (HTTP {status}{said})");
    match status {
        200 => listed(&base, &body, setup::model(provider, args), has_key),
        401 | 403 if has_key => {
            Broken(format!("{answers}: it does not take the key in {key}; put another one there"))
        }
        401 | 403 => Broken(format!("{answers}: it wants a key; set {key}")),
        429 => Warning(format!("{answers}: too many requests or no credit; look at your account")),
        300..=399 => Broken(format!("{answers}: it leads elsewhere; give that as --base-url")),
        500.. => Broken(format!("{answers}: it has a problem of its own; try again later")),
        _ => Warning(format!(
            "{answers}, and lists no models, so that the key is not tried; check --base-url"
        )),
    }
}

/// Returns the request for the list in the provider's protocol.
fn request(provider: &Provider) -> HttpRequest {
    let (path, headers) = match provider.wire {
        WireKind::Anthropic => {
            let version = ("anthropic-version".to_owned(), "2023-06-01".to_owned());
            ("/v1/models?limit=1000", vec![version])
        }
        WireKind::Gemini => ("/v1beta/models?pageSize=1000", Vec::new()),
        WireKind::Ollama => ("/api/tags", Vec::new()),
        // OpenAI's protocols, and those of others that imitate them.
        _ => ("/models", Vec::new()),
    };
    let (endpoint, body) = (provider.endpoint(), BodyBytes::default());
    HttpRequest { endpoint, path: path.to_owned(), headers, body }
}

/// Checks whether the list of models has the one that would be used.
fn listed(base: &str, body: &[u8], model: Option<&str>, has_key: bool) -> CheckFinding {
    let Some(names) = names(body) else {
        return Warning(format!(
            "{base} answers with something else than models; check --base-url"
        ));
    };
    let key = if has_key { "takes the key" } else { "answers without a key" };
    let count = names.len();
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    match model {
        None => Fine(format!("{base} {key}, and has {count} models; --model names one")),
        Some(model) if known.iter().any(|name| is_it(name, model)) => {
            Fine(format!("{base} {key}, and {model} is among its {count} models"))
        }
        Some(model) => {
            let meant = nearest(model, &known).or_else(|| known.first().copied());
            let meant = meant.map(|meant| format!(", such as {}", short(meant)));
            Warning(format!(
                "{base} {key}, and {model} is not among its {count} models; name one with \
                 --model{}",
                meant.unwrap_or_default()
            ))
        }
    }
}

/// Returns whether a listed name is that of the model: Ollama lists names with a tag.
fn is_it(name: &str, model: &str) -> bool {
    name == model || name.strip_suffix(":latest") == Some(model)
}

/// Returns the names of models in a list of any protocol.
fn names(body: &[u8]) -> Option<Vec<String>> {
    let list: Value = serde_json::from_slice(body).ok()?;
    let models = list.get("data").or_else(|| list.get("models")).unwrap_or(&list).as_array()?;
    let name = |model: &Value| {
        let name = model.get("id").or_else(|| model.get("name"))?.as_str()?;
        // Gemini lists resource names, `models/NAME`.
        Some(name.strip_prefix("models/").unwrap_or(name).to_owned())
    };
    Some(models.iter().filter_map(name).collect())
}

/// Returns the message in a provider's error.
fn said(body: &[u8]) -> String {
    let Ok(answer) = serde_json::from_slice::<Value>(body) else { return String::new() };
    let error = answer.get("error").unwrap_or(&answer);
    let text = error.get("message").unwrap_or(error).as_str().map(short).unwrap_or_default();
    if text.is_empty() { text } else { format!(", {text}") }
}

/// Returns the first line of a text, cut and with keys masked: providers repeat keys in messages.
fn short(text: &str) -> String {
    let text = keys::of_environment().masked(text).into_owned();
    text.lines().next().unwrap_or_default().chars().take(MOST_SAID).collect()
}

/// Returns the reason why there was no answer, and advice.
fn unreached(message: &str) -> String {
    let lower = message.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let advice = if message.contains("--base-url") && !has(&["certificate", "lookup", "dns"]) {
        ""
    } else if has(&["certificate", "tls", "handshake"]) {
        "; TLS fails: install CA certificates, or name them in SSL_CERT_FILE"
    } else if has(&["lookup", "dns", "resolve"]) {
        "; the name is not found: look at the network, DNS and proxies (HTTPS_PROXY)"
    } else if has(&["timed out", "timeout", "elapsed"]) {
        "; nothing came in time: look at the network, a firewall and proxies (HTTPS_PROXY)"
    } else {
        "; look at the network and at proxies (HTTPS_PROXY)"
    };
    format!("{message}{advice}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_to_connect_says_what_to_look_at() {
        let refused = "cannot connect to http://a: connection refused; check that --base-url is";
        assert_eq!(unreached(refused), refused);
        let lookup = "cannot connect to https://a: failed to lookup address; check --base-url";
        assert!(unreached(lookup).contains("DNS"));
        assert!(unreached("cannot connect: invalid peer certificate").contains("SSL_CERT_FILE"));
        assert!(unreached("the connection broke: operation timed out").contains("firewall"));
    }

    #[test]
    fn a_list_of_models_is_read_in_every_protocol() {
        for body in [
            r#"{"data": [{"id": "a"}, {"id": "b"}, {}]}"#,
            r#"{"models": [{"name": "models/a"}, {"name": "models/b"}]}"#,
            r#"[{"id": "a"}, {"id": "b"}]"#,
        ] {
            assert_eq!(names(body.as_bytes()).unwrap(), ["a", "b"]);
        }
        assert_eq!(names(b"<html>"), None);
        assert_eq!(names(b"{}"), None);
        assert!(is_it("llama3:latest", "llama3") && !is_it("llama3:7b", "llama3"));
    }
}
