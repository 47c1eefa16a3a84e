//! The way from a protocol's name to its implementation. In a build without a protocol the name
//! leads to [`AbsentWire`](super::protocol::AbsentWire), so that callers need no condition of their
//! own.

use super::protocol::WireProtocol;

#[cfg(feature = "anthropic")]
pub(crate) use super::anthropic::AnthropicMessages;
#[cfg(feature = "gemini")]
pub(crate) use super::gemini::GeminiContent;
#[cfg(feature = "ollama")]
pub(crate) use super::ollama::OllamaChat;
#[cfg(feature = "openai-chat")]
pub(crate) use super::openai_chat::ChatCompletions;
#[cfg(feature = "openai-responses")]
pub(crate) use super::openai_responses::OpenAiResponses;
#[cfg(not(feature = "anthropic"))]
pub(crate) use super::protocol::AbsentWire as AnthropicMessages;
#[cfg(not(feature = "gemini"))]
pub(crate) use super::protocol::AbsentWire as GeminiContent;
#[cfg(not(feature = "ollama"))]
pub(crate) use super::protocol::AbsentWire as OllamaChat;
#[cfg(not(feature = "openai-chat"))]
pub(crate) use super::protocol::AbsentWire as ChatCompletions;
#[cfg(not(feature = "openai-responses"))]
pub(crate) use super::protocol::AbsentWire as OpenAiResponses;

/// All protocols are compiled whatever the features, so that none breaks in a build that does not
/// speak it. The linker leaves out what nothing dispatches to.
const _: () = {
    const fn is_wire<W: WireProtocol>() {}
    is_wire::<super::anthropic::AnthropicMessages>();
    is_wire::<super::gemini::GeminiContent>();
    is_wire::<super::ollama::OllamaChat>();
    is_wire::<super::openai_chat::ChatCompletions>();
    is_wire::<super::openai_responses::OpenAiResponses>();
    is_wire::<super::protocol::AbsentWire>();
};

/// Runs an expression with the type of the protocol that a `WireKind` names.
macro_rules! with_wire {
    ($kind:expr, $wire:ident => $run:expr) => {{
        use $crate::dispatch;
        match $kind {
            WireKind::Anthropic => {
                type $wire = dispatch::AnthropicMessages;
                $run
            }
            WireKind::Gemini => {
                type $wire = dispatch::GeminiContent;
                $run
            }
            WireKind::Ollama => {
                type $wire = dispatch::OllamaChat;
                $run
            }
            WireKind::OpenaiChat => {
                type $wire = dispatch::ChatCompletions;
                $run
            }
            WireKind::OpenaiResponses => {
                type $wire = dispatch::OpenAiResponses;
                $run
            }
        }
    }};
}

/// Runs an expression with the value of an enum that has a variant for each protocol.
macro_rules! with_each {
    ($value:expr, $held:ident => $run:expr) => {
        match $value {
            Self::Anthropic($held) => $run,
            Self::Gemini($held) => $run,
            Self::Ollama($held) => $run,
            Self::OpenaiChat($held) => $run,
            Self::OpenaiResponses($held) => $run,
        }
    };
}

pub(crate) use {with_each, with_wire};
