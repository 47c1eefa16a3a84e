//! Web pages as text: the tool that carries out `Action::Fetch` where the user has allowed domains,
//! or can be asked about them. Every address is judged before anything is sent to it, also each
//! step of a redirect and each address that a name leads to. What is read is bounded.

mod address;
mod allowed_domains;
mod charset;
mod domain_approval;
mod fault;
mod host_names;
mod layout;
mod page;
mod text;

pub use allowed_domains::{AllowedDomains, DomainError};
pub use domain_approval::{DomainAnswer, DomainRequest, SessionDomains};

use crate::tools::{OwnTool, OwnToolCall};
use domain_approval::FetchGate;
use fault::FetchError;
use innerloop_core::{
    action::{Outcome, Part, ToolError},
    json::{Json, JsonObject},
    tool::ToolSpec,
};
use page::{PageClient, WebPage};
use serde::Deserialize;
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::Semaphore,
    task::{JoinSet, spawn_blocking},
};

/// The largest number of pages of one call.
const PAGES: usize = 20;

/// The number of pages that are read at once.
const AT_ONCE: usize = 4;

/// The largest number of bytes of text that a call returns, over all its pages.
const TEXT: usize = 2 << 20;

/// The part of the time limit that is kept for reporting what came, at most.
const RESERVE: Duration = Duration::from_millis(500);

/// The arguments: those of `Action::Fetch`.
#[derive(Deserialize)]
struct FetchArguments {
    urls: Vec<String>,
}

/// Creates the tool that reads pages of these domains, for `ToolRunner::with_web_fetch`.
#[must_use]
pub fn reader(domains: SessionDomains) -> OwnTool {
    // The model sees the name and the schema of its family; these are never shown.
    let spec = ToolSpec::new("web_fetch", "", Json::of(&JsonObject::default()));
    let reader = Arc::new(PageFetcher { web: PageClient::default(), domains });
    OwnTool::new(spec, move |call: OwnToolCall| {
        let reader = Arc::clone(&reader);
        async move {
            let FetchArguments { urls } = call.read()?;
            Ok::<_, serde_json::Error>(reader.carry_out(urls, &call).await)
        }
    })
}

#[derive(Debug)]
struct PageFetcher {
    web: PageClient,
    domains: SessionDomains,
}

/// The report on one page.
struct PageReport {
    text: String,
    is_cut: bool,
    error: Option<ToolError>,
}

impl PageFetcher {
    /// Reads pages side by side. A page that can't be read has a report that says so, in its place.
    async fn carry_out(self: Arc<Self>, urls: Vec<String>, call: &OwnToolCall) -> Outcome {
        if urls.is_empty() {
            let why = "There is no address of a page; name one, such as https://example.com/.";
            return Outcome::error(ToolError::InvalidArguments, why);
        }
        let left_out = urls.len().saturating_sub(PAGES);
        let count = urls.len().min(PAGES);
        // At the time limit itself the whole call would fail. A little earlier, the pages that came
        // are still returned.
        let reserve = RESERVE.min(call.time_limit / 10);
        let gate = Arc::new(FetchGate::new(self.domains.clone(), call.clone()));
        let room = Arc::new(Semaphore::new(AT_ONCE));
        let mut reading = JoinSet::new();
        for (index, url) in urls.into_iter().take(PAGES).enumerate() {
            let (reader, room, call) = (Arc::clone(&self), Arc::clone(&room), call.clone());
            let gate = Arc::clone(&gate);
            reading.spawn(async move {
                let told = async {
                    let _room = room.acquire().await;
                    reader.one(&url, TEXT / count, &gate, &call).await
                };
                let told = tokio::select! {
                    told = told => told,
                    () = call.is_nearly_over(reserve) => {
                        let seconds = call.time_limit.as_secs_f32();
                        let why = format!("It was not read within {seconds} s.");
                        failed(&url, &FetchError { error: ToolError::Timeout, why })
                    }
                };
                (index, told)
            });
        }
        // `join_all` passes on the panic of a page, with which the call fails as a whole.
        let mut all = reading.join_all().await;
        // In the order of the addresses, not of the answers, so that the model finds each page in
        // its place.
        all.sort_by_key(|(index, _)| *index);
        // A call fails only if all its pages do; some pages are a result.
        let error = all.iter().find_map(|(_, told)| told.error);
        let is_failure = all.iter().all(|(_, told)| told.error.is_some());
        let is_cut = all.iter().any(|(_, told)| told.is_cut);
        let mut parts: Vec<Part> = all.into_iter().map(|(_, told)| Part::text(told.text)).collect();
        if left_out > 0 {
            let note = format!("[{left_out} more pages were not read: at most {PAGES} at a time]");
            parts.push(Part::text(note));
        }
        Outcome {
            parts,
            error: error.filter(|_| is_failure),
            timed_out: is_failure && error == Some(ToolError::Timeout),
            capped_at_source: is_cut || left_out > 0,
            ..Outcome::default()
        }
    }

    async fn one(
        &self,
        url: &str,
        limit: usize,
        gate: &FetchGate,
        call: &OwnToolCall,
    ) -> PageReport {
        let page = match self.web.read(gate, url).await {
            Ok(page) => page,
            Err(fault) => return failed(url, &fault),
        };
        let call = call.clone();
        // A long page takes a while to convert, and would hold up the other tasks of its thread.
        let told = spawn_blocking(move || tell(&page, limit, || call.is_cancelled())).await;
        told.unwrap_or_else(|error| {
            let why = format!("It cannot be told: {error}.");
            failed(url, &FetchError { error: ToolError::Crashed, why })
        })
    }
}

fn failed(url: &str, FetchError { error, why }: &FetchError) -> PageReport {
    let url: String = url.chars().filter(|char| !char.is_control()).take(200).collect();
    PageReport { text: format!("{url} was not read. {why}\n"), is_cut: false, error: Some(*error) }
}

/// Returns a page with its address. The driver puts it into a frame.
fn tell(page: &WebPage, limit: usize, is_stopped: impl Fn() -> bool) -> PageReport {
    let WebPage { address, status, kind, body, is_cut } = page;
    let text = charset::decode(body, *is_cut, kind.charset.as_deref());
    let is_html = kind.is_html(body);
    let (text, is_cut_here) = if is_html {
        text::from_html(&text, address.url(), limit, is_stopped)
    } else {
        layout::plain(&text, limit)
    };
    let is_cut = *is_cut || is_cut_here;
    let kind = if kind.essence.is_empty() { "unknown" } else { &kind.essence };
    let cut = if is_cut { "[The page is longer: what follows was not read.]\n" } else { "" };
    let nothing = if text.is_empty() { "[no text]" } else { "" };
    let text =
        format!("address: {address}\nstatus: {status}\nkind: {kind}\n\n{text}{nothing}\n{cut}");
    PageReport { text, is_cut, error: None }
}
