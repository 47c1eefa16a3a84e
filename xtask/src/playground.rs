//! `cargo xtask playground`: builds the package and the page, and serves the page on this machine
//! only, with the right types and the content security policy that it must live under.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::failure::TaskError;
use crate::prepare;
use crate::site;
use crate::steps::run_all;
use crate::workspace::Workspace;

const FIRST_PORT: u16 = 8080;
const LONGEST_HEAD: u64 = 16 * 1024;
const POLICY: &str = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; \
    connect-src 'self' https: http://localhost:* http://127.0.0.1:*; worker-src 'self'; \
    frame-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' blob:; \
    object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// The frame of what people preview; the rest of its policy stands in it.
const PREVIEW: &str = "preview.html";
const PREVIEW_POLICY: &str = "sandbox allow-scripts; frame-ancestors 'self'";

/// Runs the command; it ends when it is interrupted.
///
/// # Errors
/// When a step fails or the port cannot be had.
pub(crate) fn run(workspace: &mut Workspace, port: Option<u16>) -> Result<(), TaskError> {
    let programs = [prepare::PROGRAMS, prepare::SHELL, prepare::PYTHON];
    let parts = [&prepare::MACHINE[..], &prepare::PACKAGE, &programs, &[site::ASSEMBLE]];
    run_all(workspace, &parts.concat())?;
    let listener = listen(port)?;
    let address = listener
        .local_addr()
        .map_err(|error| TaskError(format!("cannot tell the port: {error}")))?;
    println!("\nThe playground is on http://{address}/ until you press Ctrl-C.");
    let root = workspace.path(site::SITE);
    for stream in listener.incoming().flatten() {
        let root = root.clone();
        // A browser that disconnects in the middle of a file is not an error.
        thread::spawn(move || answer(&stream, &root).unwrap_or_default());
    }
    Ok(())
}

fn listen(port: Option<u16>) -> Result<TcpListener, TaskError> {
    let ports = port.map_or(FIRST_PORT..=FIRST_PORT + 20, |port| port..=port);
    let mut reason = String::new();
    for port in ports {
        match TcpListener::bind(("127.0.0.1", port)) {
            Ok(listener) => return Ok(listener),
            Err(error) => reason = format!("cannot listen on 127.0.0.1:{port}: {error}"),
        }
    }
    Err(TaskError(format!("{reason}; choose another with --port")))
}

fn answer(stream: &TcpStream, root: &Path) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    stream.set_write_timeout(Some(Duration::from_secs(30)))?;
    let mut head = BufReader::new(stream).take(LONGEST_HEAD);
    let mut request = String::new();
    head.read_line(&mut request)?;
    let mut takes_gzip = false;
    let mut field = String::new();
    while head.read_line(&mut field)? > 0 && !field.trim().is_empty() {
        let lower = field.to_ascii_lowercase();
        takes_gzip |= lower.starts_with("accept-encoding:") && lower.contains("gzip");
        field.clear();
    }
    let mut words = request.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let with_body = method == "GET";
    let plain =
        |body: &[u8]| HttpResponse { media_type: "text/plain", ..HttpResponse::of(body.to_vec()) };
    if !matches!(method, "GET" | "HEAD") {
        let answer = plain(b"GET and HEAD only\n");
        return send(stream, "405 Method Not Allowed", &answer, true);
    }
    match file_for(target, root).and_then(|file| found(&file, takes_gzip)) {
        Some(answer) => send(stream, "200 OK", &answer, with_body),
        None => send(stream, "404 Not Found", &plain(b"no such file\n"), with_body),
    }
}

/// The body of a response, and what the headers say of it.
struct HttpResponse {
    body: Vec<u8>,
    media_type: &'static str,
    policy: &'static str,
    encoding: &'static str,
}

impl HttpResponse {
    fn of(body: Vec<u8>) -> Self {
        Self { body, media_type: "text/plain", policy: POLICY, encoding: "" }
    }
}

/// A file, compressed where that was done when the site was built and the browser takes it.
fn found(file: &Path, takes_gzip: bool) -> Option<HttpResponse> {
    let mut packed = file.as_os_str().to_owned();
    packed.push(".gz");
    let packed = takes_gzip.then(|| fs::read(packed).ok()).flatten();
    let encoding = if packed.is_some() { "Content-Encoding: gzip\r\n" } else { "" };
    let body = packed.or_else(|| fs::read(file).ok())?;
    let policy = if file.ends_with(PREVIEW) { PREVIEW_POLICY } else { POLICY };
    Some(HttpResponse { media_type: media_type(file), policy, encoding, ..HttpResponse::of(body) })
}

fn send(
    mut stream: &TcpStream,
    status: &str,
    answer: &HttpResponse,
    with_body: bool,
) -> io::Result<()> {
    let HttpResponse { body, media_type, policy, encoding } = answer;
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {}\r\n{encoding}\
         Content-Security-Policy: {policy}\r\nX-Content-Type-Options: nosniff\r\n\
         Referrer-Policy: no-referrer\r\nCache-Control: no-cache\r\n\
         Vary: Accept-Encoding\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    if with_body {
        stream.write_all(body)?;
    }
    stream.flush()
}

/// The file that a request target names; it cannot name one outside the root.
fn file_for(target: &str, root: &Path) -> Option<PathBuf> {
    let path = target.split(['?', '#']).next()?.strip_prefix('/')?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./@+".contains(c);
    if !path.chars().all(plain) {
        return None;
    }
    let inside = Path::new(path);
    if !inside.components().all(|part| matches!(part, Component::Normal(_))) {
        return None;
    }
    let file = root.join(inside);
    Some(if file.is_dir() { file.join("index.html") } else { file })
}

fn media_type(file: &Path) -> &'static str {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json" | "map") => "application/json",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("jsonl" | "md" | "txt" | "ts") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::env;
    use std::process;

    /// Returns what is answered to a request with one more header: the head and the body.
    fn answered(root: &Path, request: &str, header: &str) -> io::Result<(String, String)> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let mut client = TcpStream::connect(listener.local_addr()?)?;
        client.write_all(format!("{request} HTTP/1.1\r\nHost: here\r\n{header}\r\n").as_bytes())?;
        let (stream, _) = listener.accept()?;
        answer(&stream, root)?;
        drop(stream);
        let mut answered = String::new();
        client.read_to_string(&mut answered)?;
        let (head, body) = answered.split_once("\r\n\r\n").unwrap_or_default();
        Ok((head.to_owned(), body.to_owned()))
    }

    #[test]
    fn files_are_served_with_their_type_and_the_policy() -> io::Result<()> {
        let root = env::temp_dir().join(format!("xtask-playground-{}", process::id()));
        fs::create_dir_all(&root)?;
        fs::write(root.join("index.html"), "<p>hello")?;
        fs::write(root.join("index.html.gz"), "packed")?;
        fs::write(root.join("module.wasm"), b"\0asm")?;
        fs::write(root.join(PREVIEW), "<p>frame")?;
        let asked = [
            ("GET /", "200 OK", "text/html", "<p>hello"),
            ("HEAD /", "200 OK", "text/html", ""),
            ("GET /module.wasm?v=1", "200 OK", "application/wasm", "\0asm"),
            ("GET /none.js", "404 Not Found", "text/plain", "no such file\n"),
            ("POST /", "405 Method Not Allowed", "text/plain", "GET and HEAD only\n"),
        ];
        for (request, status, media_type, body) in asked {
            let (head, sent) = answered(&root, request, "")?;
            assert!(head.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{request}: {head}");
            assert!(head.contains(&format!("\r\nContent-Type: {media_type}")), "{request}: {head}");
            assert!(head.contains("script-src 'self' 'wasm-unsafe-eval';"), "{request}: {head}");
            assert!(!head.contains("Content-Encoding"), "{request}: {head}");
            assert_eq!(sent, body, "{request}");
        }
        let gzip = "Accept-Encoding: br, gzip\r\n";
        let (head, sent) = answered(&root, "GET /", gzip)?;
        assert!(head.contains("\r\nContent-Encoding: gzip\r\n"), "{head}");
        assert!(head.contains("\r\nContent-Type: text/html"), "{head}");
        assert_eq!(sent, "packed");
        let (head, sent) = answered(&root, "GET /preview.html", gzip)?;
        assert!(head.contains("\r\nContent-Security-Policy: sandbox allow-scripts;"), "{head}");
        assert!(!head.contains("Content-Encoding"), "{head}");
        assert_eq!(sent, "<p>frame");
        fs::remove_dir_all(&root)
    }

    #[test]
    fn only_files_below_the_root_can_be_named() {
        let root = Path::new("/site");
        assert_eq!(file_for("/a/b.js?x=1", root), Some(PathBuf::from("/site/a/b.js")));
        assert_eq!(file_for("/", root), Some(PathBuf::from("/site/")));
        for target in ["/../etc/passwd", "//etc/passwd", "/a/%2e%2e/b", "/a/../../b", "a", "*"] {
            assert_eq!(file_for(target, root), None, "{target}");
        }
    }
}
