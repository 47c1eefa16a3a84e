//! The arguments of `innerloop decode`.

use super::number;
use clap::{Args, ValueEnum};
use innerloop_core::{config::WireKind, text_calls::Family};

#[derive(Debug, Args)]
pub(crate) struct DecodeArgs {
    /// The protocol of the response; with --jsonl, of lines that name none.
    #[arg(long, value_enum, required_unless_present_any = ["jsonl", "text_calls"])]
    pub(crate) wire: Option<WireFormat>,
    /// The response's status code; with --jsonl, of lines that name none.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = status)]
    pub(crate) status: u16,
    /// Feed the body in pieces of N bytes instead of whole.
    #[arg(long, value_name = "N", value_parser = number::positive::<u64>)]
    pub(crate) chunk: Option<u64>,
    /// Read one interaction per line: `{id, wire, status, headers, body or body_base64}`.
    ///
    /// Each line gets its answer, also one that cannot be read.
    #[arg(long)]
    pub(crate) jsonl: bool,
    /// Read calls and thinking from a model's text instead, one `{id, body, tools?}` per line.
    ///
    /// FAMILY is the text's format: `auto`, `hermes`, `qwen3_coder_xml`, `llama_json`, `mistral`,
    /// `deepseek`, `pythonic`, `harmony`, `glm`, `kimi`, `gemma`, `step3`, `minimax`, `cohere`,
    /// `hunyuan`, `react`, `functionary`, `inkling`, `fenced_json` or `json`.
    #[arg(
        long,
        value_name = "FAMILY",
        requires = "jsonl",
        conflicts_with_all = ["wire", "status", "chunk"]
    )]
    pub(crate) text_calls: Option<Family>,
}

fn status(text: &str) -> Result<u16, String> {
    let status = number::whole(text).ok().filter(|status| (100..600).contains(status));
    status.ok_or_else(|| "give a status code from 100 to 599".to_owned())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum WireFormat {
    /// OpenAI Responses.
    OpenaiResponses,
    /// OpenAI Chat Completions and its dialects.
    OpenaiChat,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini `generateContent`.
    Gemini,
    /// Ollama's own `/api/chat`.
    Ollama,
}

impl WireFormat {
    pub(crate) const fn kind(self) -> WireKind {
        match self {
            Self::OpenaiResponses => WireKind::OpenaiResponses,
            Self::OpenaiChat => WireKind::OpenaiChat,
            Self::Anthropic => WireKind::Anthropic,
            Self::Gemini => WireKind::Gemini,
            Self::Ollama => WireKind::Ollama,
        }
    }
}
