//! A mock model server on a TCP port of this machine: it answers each request with the next
//! reply of its script, byte for byte and with whatever fault the script asks for, and keeps the
//! requests for the test to look at. One connection carries one request.

use crate::{anthropic::Message, wires};
use innerloop_core::config::WireKind;
use socket2::SockRef;
use std::{
    io::{BufRead, BufReader, Read, Write},
    iter,
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

/// One scripted answer.
#[derive(Clone, Debug)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    steps: Vec<Step>,
    end: End,
    /// Whether the steps are the whole answer, without status and headers.
    raw: bool,
}

/// How the connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// After the whole body.
    Whole,
    /// In the middle of the body.
    Cut,
    /// In the middle of the body, by a reset.
    Reset,
    /// Only when the other side hangs up: the last piece is sent again and again.
    Never,
}

#[derive(Clone, Debug)]
enum Step {
    Send(Vec<u8>),
    Pause(Duration),
}

impl Reply {
    /// An answer with that status, content type and body, sent in one piece.
    #[must_use]
    pub fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        let steps = vec![Step::Send(body.into())];
        Self { status, headers, steps, end: End::Whole, raw: false }
    }

    /// A stream of that message in Anthropic's form, sent event by event.
    #[must_use]
    pub fn stream(message: &Message) -> Self {
        Self::stream_in(WireKind::Anthropic, message)
    }

    /// A stream of that message in a protocol's form, sent event by event.
    #[must_use]
    pub fn stream_in(wire: WireKind, message: &Message) -> Self {
        let content_type = format!("{}; charset=utf-8", wires::stream_type(wire));
        let mut reply = Self::new(200, &content_type, "");
        let events = wires::events(wire, message).into_iter();
        reply.steps = events.map(|text| Step::Send(text.into())).collect();
        reply
    }

    /// An error in Anthropic's form.
    #[must_use]
    pub fn error(status: u16, kind: &str, message: &str) -> Self {
        let error = serde_json::json!({"type": kind, "message": message});
        let body = serde_json::json!({"type": "error", "error": error, "request_id": "req_1"});
        Self::new(status, "application/json", body.to_string())
    }

    /// 429 with `retry-after` in seconds.
    #[must_use]
    pub fn rate_limited(retry_after: &str) -> Self {
        Self::rate_limited_in(WireKind::Anthropic, retry_after)
    }

    /// 429 in a protocol's form, with `retry-after` in seconds.
    #[must_use]
    pub fn rate_limited_in(wire: WireKind, retry_after: &str) -> Self {
        let message = "Number of requests has exceeded a limit";
        let body = wires::refusal(wire, 429, "rate_limit_error", message);
        Self::new(429, "application/json", body).header("retry-after", retry_after)
    }

    /// A redirect to that URL.
    #[must_use]
    pub fn redirect(status: u16, to: &str) -> Self {
        Self::new(status, "text/plain", "moved").header("location", to)
    }

    /// Bytes that are not HTTP at all.
    #[must_use]
    pub fn garbage(bytes: impl Into<Vec<u8>>) -> Self {
        Self { raw: true, ..Self::new(0, "", bytes) }
    }

    /// With one more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With a pause before each piece of the body.
    #[must_use]
    pub fn paced(mut self, pause: Duration) -> Self {
        let steps = std::mem::take(&mut self.steps);
        self.steps = steps.into_iter().flat_map(|step| [Step::Pause(pause), step]).collect();
        self
    }

    /// With that body sent in pieces of `size` bytes.
    #[must_use]
    pub fn in_pieces_of(mut self, size: usize) -> Self {
        let body = self.body();
        self.steps = body.chunks(size).map(|piece| Step::Send(piece.to_vec())).collect();
        self
    }

    /// With the connection closed after `bytes` of the body.
    #[must_use]
    pub fn cut_after(mut self, bytes: usize) -> Self {
        let mut body = self.body();
        assert!(bytes < body.len(), "the body has only {} bytes", body.len());
        body.truncate(bytes);
        self.steps = vec![Step::Send(body)];
        self.and_closed()
    }

    /// With those bytes after the body.
    #[must_use]
    pub fn and_then(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.steps.push(Step::Send(bytes.into()));
        self
    }

    /// With a pause after the body, before its end is marked.
    #[must_use]
    pub fn and_paused(mut self, pause: Duration) -> Self {
        self.steps.push(Step::Pause(pause));
        self
    }

    /// With the connection closed after the body, before its end is marked.
    #[must_use]
    pub fn and_closed(self) -> Self {
        Self { end: End::Cut, ..self }
    }

    /// With the connection reset after the body, before its end is marked.
    #[must_use]
    pub fn and_reset(mut self) -> Self {
        // A reset may overtake what the other side has not read yet.
        self.steps.push(Step::Pause(Duration::from_millis(100)));
        self.end = End::Reset;
        self
    }

    /// With the last piece of the body sent again and again, until the other side hangs up.
    #[must_use]
    pub fn without_end(self) -> Self {
        Self { end: End::Never, ..self }
    }

    /// The whole body.
    #[must_use]
    pub fn body(&self) -> Vec<u8> {
        let pieces = self.steps.iter().filter_map(|step| match step {
            Step::Send(bytes) => Some(bytes.as_slice()),
            Step::Pause(_) => None,
        });
        pieces.flatten().copied().collect()
    }
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Request {
    /// Method and path.
    pub line: String,
    /// Headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

impl Request {
    /// The value of that header, whose name is given in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// The server. It stops when it is dropped.
#[derive(Debug)]
pub struct Mock {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    script: Mutex<std::vec::IntoIter<Reply>>,
    requests: Mutex<Vec<Request>>,
    stopped: AtomicBool,
}

impl Mock {
    /// Starts a server that gives these replies, one for each request. When they are used up,
    /// it answers with status 400, which no client tries again.
    ///
    /// # Panics
    /// No port is free.
    #[must_use]
    pub fn start(script: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let script = Mutex::new(script.into_iter());
        let shared = Arc::new(Shared { script, ..Shared::default() });
        let server = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if server.stopped.load(Ordering::SeqCst) {
                    return;
                }
                let server = Arc::clone(&server);
                // Some tests want a client that disconnects halfway.
                thread::spawn(move || drop(serve(&stream, &server)));
            }
        });
        Self { address, shared }
    }

    /// The base URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.shared.requests).clone()
    }

    /// How many replies have not been given.
    #[must_use]
    pub fn left(&self) -> usize {
        lock(&self.shared.script).len()
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // The listener waits for a connection; this one wakes it up to stop.
        drop(TcpStream::connect(self.address));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(mut stream: &TcpStream, shared: &Shared) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let request = read_request(&mut BufReader::new(stream))?;
    let reply = {
        lock(&shared.requests).push(request);
        lock(&shared.script).next()
    };
    let none = || Reply::error(400, "invalid_request_error", "the mock has no more replies");
    let reply = reply.unwrap_or_else(none);
    if !reply.raw {
        stream.write_all(head(&reply).as_bytes())?;
    }
    let last = match reply.end {
        End::Never => reply.steps.last(),
        _ => None,
    };
    // Sending ends with an error when nobody listens any more.
    for step in reply.steps.iter().chain(iter::repeat(last).map_while(|last| last)) {
        match step {
            Step::Pause(pause) => thread::sleep(*pause),
            Step::Send(bytes) if reply.raw => stream.write_all(bytes)?,
            Step::Send(bytes) if bytes.is_empty() => {}
            Step::Send(bytes) => {
                stream.write_all(format!("{:x}\r\n", bytes.len()).as_bytes())?;
                stream.write_all(bytes)?;
                stream.write_all(b"\r\n")?;
            }
        }
    }
    match reply.end {
        End::Reset => return SockRef::from(stream).set_linger(Some(Duration::ZERO)),
        End::Whole if !reply.raw => stream.write_all(b"0\r\n\r\n")?,
        End::Whole | End::Cut | End::Never => {}
    }
    stream.shutdown(std::net::Shutdown::Write)
}

fn head(reply: &Reply) -> String {
    let mut head = format!("HTTP/1.1 {} mock\r\nconnection: close\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("transfer-encoding: chunked\r\n\r\n");
    head
}

fn read_request(reader: &mut impl BufRead) -> std::io::Result<Request> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut request = Request { line: line.trim_end().to_owned(), headers, body: String::new() };
    let length = request.header("content-length").and_then(|text| text.parse().ok());
    reader.take(length.unwrap_or(0)).read_to_string(&mut request.body)?;
    Ok(request)
}
