//! Limits of pictures and documents in a request, as far as each protocol's author documents them
//! (`docs/decisions.md#what-a-provider-refuses`). The wire leaves out parts above them, and hosts
//! scale pictures down to them.

use super::model::{ModelConfig, WireKind};
use innerloop_json::{FromJson, ToJson};

/// The limits of one request; absent if unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default)]
pub struct MediaLimits {
    /// The maximum number of bytes of a picture in base64.
    #[json(skip_serializing_if = "Option::is_none")]
    pub picture_base64_bytes: Option<u64>,
    /// The maximum number of pixels of a picture's longer side.
    #[json(skip_serializing_if = "Option::is_none")]
    pub picture_side_px: Option<u32>,
    /// The limit of a conversation with many pictures.
    #[json(skip_serializing_if = "Option::is_none")]
    pub many: Option<ManyPictures>,
    /// The maximum number of pages of a PDF.
    #[json(skip_serializing_if = "Option::is_none")]
    pub pdf_pages: Option<u32>,
}

/// The limit for a request that has more pictures than some number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
pub struct ManyPictures {
    /// The number of pictures above which the limit applies.
    pub above: u32,
    /// The maximum number of pixels of a picture's longer side.
    pub side_px: u32,
}

impl MediaLimits {
    /// Returns the limits that apply to a model.
    #[must_use]
    pub const fn of(model: &ModelConfig) -> Self {
        let none =
            Self { picture_base64_bytes: None, picture_side_px: None, many: None, pdf_pages: None };
        match model.wire {
            WireKind::Anthropic => Self {
                // The base64 text counts, not the file, which is a quarter shorter.
                picture_base64_bytes: Some(5 << 20),
                picture_side_px: Some(8_000),
                many: Some(ManyPictures { above: 20, side_px: 2_000 }),
                // The documentation gives the larger number for models with a window of more than
                // 200,000 tokens.
                pdf_pages: Some(if model.context_window > 200_000 { 600 } else { 100 }),
            },
            WireKind::Gemini => Self { pdf_pages: Some(1_000), ..none },
            // Nothing is guessed for protocols that many servers speak: a limit that is not theirs
            // would hide pictures from a model that takes them. What such a server refuses is left
            // out afterwards.
            WireKind::OpenaiResponses | WireKind::OpenaiChat | WireKind::Ollama => none,
        }
    }

    /// Returns the longer side, in pixels, to which a picture is scaled down so that it fits in any
    /// conversation; `None` if no limit is known.
    #[must_use]
    pub fn safe_side_px(&self) -> Option<u32> {
        // The limit of crowded conversations goes first: a picture stays in the history, and would
        // be left out when the twenty-first comes, which changes the cached prefix.
        self.many.map(|many| many.side_px).or(self.picture_side_px)
    }

    /// Returns the limit of a picture in base64, in bytes; if none is known, the length in base64
    /// of a picture of `bytes` bytes.
    #[must_use]
    pub fn base64_bytes_or(&self, bytes: u64) -> u64 {
        self.picture_base64_bytes.unwrap_or(bytes.div_ceil(3) * 4)
    }
}
