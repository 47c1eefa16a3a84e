//! One rule for every host: which URLs are base URLs, and where a request below one goes.

use innerloop_core::{
    bytes::BodyBytes, id::EndpointId, input::HttpFailureKind, output::HttpRequest,
};
use innerloop_driver::{
    ApiKey, Endpoint, EndpointError, EndpointRequest, EndpointTable, providers,
};

fn at(base: &str) -> Result<Endpoint, EndpointError> {
    let provider = providers::find("anthropic").unwrap();
    Endpoint::new(&provider, Some(base), ApiKey::new("sk-ant-0123456789"))
}

fn request(endpoint: Endpoint, path: &str) -> Option<EndpointRequest> {
    let id = EndpointId("mock".into());
    let headers = vec![("content-type".into(), "application/json".into())];
    let (path, body) = (path.to_owned(), BodyBytes::from("{}"));
    let request = HttpRequest { endpoint: id.clone(), path, headers, body };
    EndpointTable::default().with(id, endpoint).request(request).ok()
}

#[test]
fn a_request_stays_on_its_origin() {
    const HOST: &str = "https://api.example";
    let cases = [
        (HOST, "/v1/messages", Some("https://api.example/v1/messages")),
        ("https://api.example/", "/v1", Some("https://api.example/v1")),
        (" HTTPS://API.example:443/a/b/ ", "/v1", Some("https://api.example:443/a/b/v1")),
        ("http://[::1]:80/x", "/v1", Some("http://[::1]:80/x/v1")),
        ("http://127.0.0.1:8080/proxy/", "/v1?a=b", Some("http://127.0.0.1:8080/proxy/v1?a=b")),
        (HOST, "//evil.example/v1", Some("https://api.example//evil.example/v1")),
        (HOST, "/@evil.example/v1", Some("https://api.example/@evil.example/v1")),
        (HOST, "/models/my model:go", Some("https://api.example/models/my%20model:go")),
        (HOST, "/models/ü\n", Some("https://api.example/models/%C3%BC%0A")),
        (HOST, "/a#b", Some("https://api.example/a%23b")),
        (HOST, "", None),
        (HOST, "v1/messages", None),
        (HOST, "@evil.example/v1", None),
        (HOST, ".evil.example/v1", None),
        (HOST, ":8080/v1", None),
        (HOST, "\\evil.example", None),
        (HOST, "/..\\..\\v1", None),
        ("https://api.example/tenant", "/../other", None),
        ("https://api.example/tenant", "/./v1", None),
        ("https://api.example/tenant", "/%2e%2E/other", None),
        ("https://api.example/tenant", "/a/.%2e", None),
    ];
    for (base, path, url) in cases {
        let found = request(at(base).unwrap(), path).map(|request| request.url);
        assert_eq!(found.as_deref(), url, "{base} {path:?}");
    }
}

#[test]
fn a_base_url_may_be_the_whole_address() {
    let cases = [
        ("anthropic", "https://a.example/v1", "https://a.example"),
        ("anthropic", "https://a.example/v1/", "https://a.example"),
        ("anthropic", "https://a.example/x/v1/messages", "https://a.example/x"),
        ("anthropic", "https://a.example/anthropic", "https://a.example/anthropic"),
        ("openai", "https://a.example/v1/responses", "https://a.example/v1"),
        ("openai", "https://a.example/v1", "https://a.example/v1"),
        ("openai-chat", "https://a.example/v1/chat/completions", "https://a.example/v1"),
        ("openai-compatible", "https://a.example/chat/completions/", "https://a.example"),
        ("openai-compatible", "https://a.example/v1", "https://a.example/v1"),
        ("gemini", "https://a.example/v1beta", "https://a.example"),
        ("gemini", "https://a.example/v1beta/models", "https://a.example"),
        ("gemini", "https://a.example/v1beta/models/m:generateContent", "https://a.example"),
        ("gemini-openai", "https://a.example/v1beta/openai", "https://a.example/v1beta/openai"),
        ("ollama", "http://localhost:11434/api", "http://localhost:11434"),
        ("ollama", "http://localhost:11434/v1", "http://localhost:11434"),
        ("ollama", "http://localhost:11434/api/chat", "http://localhost:11434"),
        ("ollama-v1", "http://localhost:11434/v1", "http://localhost:11434/v1"),
        ("openai", "https://responses", "https://responses"),
    ];
    for (name, base, want) in cases {
        let provider = providers::find(name).unwrap();
        let endpoint = Endpoint::new(&provider, Some(base), ApiKey::new("sk-0123456789")).unwrap();
        assert_eq!(endpoint.base().to_string(), want, "{name} {base}");
    }
}

#[test]
fn what_is_no_base_url_is_said_without_its_password() {
    let cases = [
        ("", "scheme"),
        ("api.example", "scheme"),
        ("ftp://a", "neither http nor https"),
        ("javascript://a", "neither http nor https"),
        ("https://me:hidden@host", "user name"),
        ("https://hidden@host/x", "user name"),
        ("https://host\\@evil.example", "backslash"),
        ("https://host/a\\b", "backslash"),
        ("https://host/a/../b", "dot"),
        ("https://a?b=c", "query"),
        ("https://a/#c", "query"),
        ("https://", "host"),
        ("https:///path", "host"),
        ("https://hö.example", "host"),
        ("https://a b", "host"),
        ("https://a%2eb", "host"),
        ("https://[::1", "host"),
        ("https://[evil.example]", "host"),
        ("https://[::1]x:80", "port"),
        ("https://a:b", "port"),
        ("https://a:0", "port"),
        ("https://a:65536", "port"),
        ("https://a:80:80", "port"),
    ];
    for (url, why) in cases {
        let error = at(url).unwrap_err().to_string();
        assert!(error.contains("is no base URL") && error.contains(why), "{url}: {error}");
        assert!(!error.contains("hidden@") && !error.contains("me:"), "{error}");
    }
}

#[test]
fn each_provider_is_let_in_by_its_own_header() {
    let header = |name: &str| {
        let provider = providers::find(name).unwrap();
        let endpoint = Endpoint::new(&provider, None, ApiKey::new("k-0123456789")).unwrap();
        let headers = vec![("X-Api-Key".into(), "own".into()), ("content-type".into(), "a".into())];
        let request = request(endpoint.with_headers(headers), "/v1").unwrap();
        assert!(!format!("{request:?}").contains("0123456789"));
        let (name, value) = request.key.unwrap();
        let plain: Vec<_> = request.headers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(plain, ["X-Api-Key", "content-type"], "one of each name");
        format!("{name}: {}", value.expose())
    };
    assert_eq!(header("openai"), "authorization: Bearer k-0123456789");
    assert_eq!(header("gemini"), "x-goog-api-key: k-0123456789");
    let local = providers::find("ollama").unwrap();
    let keyless = Endpoint::new(&local, None, ApiKey::default()).unwrap();
    assert!(keyless.base().is_loopback());
    assert_eq!(request(keyless, "/v1").unwrap().key, None);
}

#[test]
fn a_key_is_needed_and_fits_a_header() {
    let anthropic = providers::find("anthropic").unwrap();
    let new = |key: &str| Endpoint::new(&anthropic, None, ApiKey::new(key)).map(|_| ());
    assert_eq!(new("  "), Err(EndpointError::MissingKey));
    for key in ["sk-ant\nx: y", "schlüssel", "a\"b", "a\\b", "a b"] {
        assert_eq!(new(key), Err(EndpointError::BadKey), "{key:?}");
    }
    let azure = providers::find("azure").unwrap();
    let nowhere = Endpoint::new(&azure, None, ApiKey::new("k")).unwrap_err();
    assert_eq!(nowhere, EndpointError::MissingUrl);
}

#[test]
fn an_endpoint_that_is_not_in_the_table_is_refused() {
    let endpoint = EndpointId("elsewhere".into());
    let (path, headers, body) = ("/v1".to_owned(), Vec::new(), BodyBytes::default());
    let request = HttpRequest { endpoint, path, headers, body };
    let failure = EndpointTable::default().request(request).unwrap_err();
    assert_eq!(failure.kind, HttpFailureKind::Refused);
    assert_eq!(failure.message, "this host knows no endpoint \"elsewhere\"");
}
