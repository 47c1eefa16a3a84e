//! The arguments that choose a model, and the pages of the web that the agent may read.

use super::settings::OfProviders;
use clap::Args;
use innerloop_driver::providers::Provider;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Model")]
pub(crate) struct ModelArgs {
    /// The model's provider [default: anthropic, or the one whose key is set].
    ///
    /// Known: anthropic, openai, gemini, openrouter, deepseek, mistral, xai, groq, together,
    /// fireworks, moonshot, zai, dashscope, cerebras, azure, openai-compatible, openai-chat,
    /// gemini-openai, anthropic-openai, ollama, ollama-v1, llamacpp, lmstudio, vllm.
    ///
    /// Any other gateway that speaks OpenAI's Chat Completions is `openai-compatible`, with
    /// --base-url and its key in `OPENAI_COMPATIBLE_API_KEY`.
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: Option<String>,
    /// The model's name [default: the provider's, where it has one].
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// A model that takes over where the one before fails, at once; give one for each, in order.
    ///
    /// A model that is overloaded, has had too many requests or refuses its key is left alone for a
    /// while. The provider's key is found as that of --provider is. Without a name the provider's
    /// default is meant.
    #[arg(long = "fallback", value_name = "PROVIDER/MODEL")]
    pub(crate) fallbacks: Vec<String>,
    /// The model that writes summaries, of the same provider or of another one; it also takes over
    /// where all others fail.
    #[arg(long, value_name = "[PROVIDER/]MODEL")]
    pub(crate) cheap_model: Option<String>,
    /// Where the provider is reached [default: its variable, such as `ANTHROPIC_BASE_URL`, else
    /// its own].
    ///
    /// It may end in `/v1`, or be the whole address, as `…/chat/completions`.
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// What settings say besides.
    #[arg(skip)]
    pub(crate) settings: OfProviders,
}

impl ModelArgs {
    /// Returns the way to another provider: what options and settings say of the session's own does
    /// not hold there.
    pub(crate) fn of(&self, provider: &Provider) -> Self {
        let settings = OfProviders { base_url: None, ..self.settings.clone() };
        Self { provider: Some(provider.name.clone()), settings, ..Self::default() }
    }
}

/// Which pages of the web may be read.
#[derive(Clone, Debug, Default, Args, Serialize, Deserialize)]
#[serde(default)]
#[command(next_help_heading = "What the agent may do")]
pub(crate) struct WebArgs {
    /// Let the agent read pages of this domain and of those below it; give one for each.
    ///
    /// On a terminal you are asked about pages of other domains, one by one, whatever --approve
    /// says; elsewhere they are refused, and where no domain is named there is no network but for
    /// the model. Pages are asked for with GET, without cookies or keys, and told to the model as
    /// text. What the agent writes into an address, the domain's owner can read.
    ///
    /// The usual ports of HTTP and HTTPS are allowed, or the one that is named:
    /// `example.com:8443`. This machine and private networks are not reached, wherever a name
    /// leads, unless you name the machine itself: `localhost:3000`, `10.0.0.7:8080`.
    #[arg(long = "allow-domain", value_name = "DOMAIN")]
    pub(crate) domains: Vec<String>,
}
