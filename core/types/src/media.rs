//! How large pictures and documents may be that are sent to a model: what is known of each
//! protocol's author (`docs/decisions.md#what-a-provider-refuses`).

use super::model::{ModelConfig, WireKind};
use innerloop_json::{FromJson, ToJson};

/// The limits of what one request may carry; absent where none is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default)]
pub struct MediaLimits {
    /// Most bytes of a picture's text in base64.
    #[json(skip_serializing_if = "Option::is_none")]
    pub picture_base64_bytes: Option<u64>,
    /// Most pixels of a picture's longer side.
    #[json(skip_serializing_if = "Option::is_none")]
    pub picture_side_px: Option<u32>,
    /// The same where the conversation has many pictures.
    #[json(skip_serializing_if = "Option::is_none")]
    pub many: Option<ManyPictures>,
    /// Most pages of a PDF.
    #[json(skip_serializing_if = "Option::is_none")]
    pub pdf_pages: Option<u32>,
}

/// The limit for a request that has more pictures than some number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
pub struct ManyPictures {
    /// It holds for more than so many.
    pub above: u32,
    /// Most pixels of a picture's longer side.
    pub side_px: u32,
}

impl MediaLimits {
    /// The limits that hold for a model.
    #[must_use]
    pub const fn of(model: &ModelConfig) -> Self {
        let none =
            Self { picture_base64_bytes: None, picture_side_px: None, many: None, pdf_pages: None };
        match model.wire {
            WireKind::Anthropic => Self {
                picture_base64_bytes: Some(5 << 20),
                picture_side_px: Some(8_000),
                many: Some(ManyPictures { above: 20, side_px: 2_000 }),
                pdf_pages: Some(if model.context_window > 200_000 { 600 } else { 100 }),
            },
            WireKind::Gemini => Self { pdf_pages: Some(1_000), ..none },
            WireKind::OpenaiResponses | WireKind::OpenaiChat | WireKind::Ollama => none,
        }
    }

    /// The longer side to which a picture is made smaller so that it fits in any conversation.
    #[must_use]
    pub fn safe_side_px(&self) -> Option<u32> {
        self.many.map(|many| many.side_px).or(self.picture_side_px)
    }

    /// Most bytes of a picture's text in base64; where no limit is known, those of a picture of so
    /// many bytes.
    #[must_use]
    pub fn base64_bytes_or(&self, bytes: u64) -> u64 {
        self.picture_base64_bytes.unwrap_or(bytes.div_ceil(3) * 4)
    }
}
