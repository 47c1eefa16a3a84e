//! A chat with an agent that lives in the page: replies are streamed, runs can be stopped, the
//! agent has files in memory and a tool that paints the page, and the chat outlives a reload.

use futures::StreamExt as _;
use gloo_storage::{LocalStorage as Browser, Storage as _};
use innerloop_web::{Agent, EventKind, JsonSchema, MemoryFiles, OwnToolCall, RunEnd, Tool};
use leptos::{ev::SubmitEvent, prelude::*, task::spawn_local};
use std::error::Error;

/// Texts with their names: what was said by whom, or files by their paths.
type Texts = Vec<(String, String)>;
/// The name under which the browser keeps the chat.
const NAME: &str = "leptos-chat";

/// A chat as it is kept.
#[derive(Default, serde::Serialize, serde::Deserialize)]
struct Saved {
    lines: Texts,
    files: Texts,
    session: Option<Vec<u8>>,
}

#[derive(serde::Deserialize, JsonSchema)]
struct Paint {
    /// The colour, as `#rrggbb`.
    colour: String,
}

/// What the page shows, and the agent behind it.
#[derive(Clone, Copy, Default)]
struct Chat {
    lines: RwSignal<Texts>,
    files: RwSignal<Texts>,
    colour: RwSignal<String>,
    is_running: RwSignal<bool>,
    key: RwSignal<String>,
    server: RwSignal<String>,
    agent: StoredValue<Option<Agent>, LocalStorage>,
}

impl Chat {
    /// The agent, made when it is needed first; it goes on with the session that was saved.
    fn agent(self) -> Result<Agent, Box<dyn Error>> {
        if let Some(agent) = self.agent.get_value() {
            agent.set_api_key(&self.key.get_untracked());
            return Ok(agent);
        }
        let files = MemoryFiles::new();
        for (path, text) in self.files.get_untracked() {
            files.write(&path, text)?;
        }
        let paint = async move |Paint { colour }: Paint, _: OwnToolCall| {
            let digits = colour.strip_prefix('#').filter(|digits| digits.len() == 6);
            u32::from_str_radix(digits.ok_or("give it as #rrggbb")?, 16)?;
            self.colour.set(colour);
            Ok::<_, Box<dyn Error>>("The page has that colour now.")
        };
        let mut builder = Agent::builder()
            .api_key(self.key.get_untracked())
            .files(files)
            .tool(Tool::new("paint_page", "Paints the page in a colour.", paint));
        if let Some(server) = Some(self.server.get_untracked()).filter(|url| !url.is_empty()) {
            builder = builder.base_url(server);
        }
        if let Some(session) = Browser::get::<Saved>(NAME).unwrap_or_default().session {
            builder = builder.restore(session);
        }
        let agent = builder.build()?;
        self.agent.set_value(Some(agent.clone()));
        Ok(agent)
    }

    /// Says something to the agent, and shows what happens until it is done.
    async fn run(self, prompt: String) -> Result<(), Box<dyn Error>> {
        self.show("you", &prompt);
        let agent = self.agent()?;
        let mut run = agent.run(prompt);
        while let Some(event) = run.next().await {
            match event.kind {
                EventKind::AssistantTextDelta { text } => self.show("agent", &text),
                // The reply broke off, and comes anew.
                EventKind::TextReset => self.lines.update(|lines| drop(lines.pop())),
                EventKind::ToolCallStart { name, .. } => self.show("tool", &format!("{name}\n")),
                EventKind::ToolCallEnd { .. } => self.files.set(texts(&agent.files())),
                _ => {}
            }
        }
        let result = run.await?;
        if result.end != RunEnd::Completed {
            self.show("note", &result.error.unwrap_or(format!("{:?}", result.end)));
        }
        let (lines, files) = (self.lines.get_untracked(), self.files.get_untracked());
        Ok(Browser::set(NAME, Saved { lines, files, session: Some(agent.snapshot()) })?)
    }

    /// Shows a text, behind the last one if it is of the same kind.
    fn show(self, who: &str, text: &str) {
        self.lines.update(|lines| match lines.last_mut() {
            Some((last, line)) if last == who => line.push_str(text),
            _ => lines.push((who.to_owned(), text.to_owned())),
        });
    }
}

fn texts(files: &MemoryFiles) -> Texts {
    let text = |path: String| (path.clone(), files.text(&path).unwrap_or_default());
    files.paths().into_iter().map(text).collect()
}

#[component]
fn App() -> impl IntoView {
    let (chat, prompt) = (Chat::default(), RwSignal::new(String::new()));
    let Saved { lines, files, .. } = Browser::get(NAME).unwrap_or_default();
    chat.lines.set(lines);
    chat.files.set(files);
    let send = move |event: SubmitEvent| {
        event.prevent_default();
        chat.is_running.set(true);
        let said = std::mem::take(&mut *prompt.write());
        spawn_local(async move {
            if let Err(error) = chat.run(said).await {
                chat.show("note", &error.to_string());
            }
            chat.is_running.set(false);
        });
    };
    let stop = move |_| chat.agent.with_value(|agent| agent.iter().for_each(Agent::interrupt));
    let line = |(who, text)| view! { <li class=who>{text}</li> };
    let file = |(path, text)| view! { <h2>{path}</h2><pre>{text}</pre> };
    view! {
        <main style:background=chat.colour>
            <header>
                <input type="password" placeholder="Key of Anthropic" bind:value=chat.key />
                <input placeholder="Another server, if any" bind:value=chat.server />
            </header>
            <ol>{move || chat.lines.get().into_iter().map(line).collect_view()}</ol>
            <form on:submit=send>
                <input required placeholder="Say something" bind:value=prompt />
                <button disabled=chat.is_running>"Send"</button>
                <button type="button" on:click=stop>"Stop"</button>
            </form>
        </main>
        <aside>{move || chat.files.get().into_iter().map(file).collect_view()}</aside>
    }
}

fn main() {
    console_error_panic_hook::set_once();
    leptos::mount::mount_to_body(App);
}
