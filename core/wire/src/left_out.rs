//! Content that a model does not take: it is left out, or described in words, before a protocol
//! encodes it. That is so for pictures and files of other types, beyond a known limit or damaged
//! (`docs/decisions.md#what-a-provider-refuses`), and for what only the model that wrote it
//! understands.

use crate::picture::{PictureInfo, is_base64, pdf_pages};
use alloc::{borrow::Cow, format, string::String, vec::Vec};
use innerloop_json::{IntoList, base64};
use innerloop_types::{
    media::MediaLimits,
    message::{Part, ToolResult, VisibleTurn},
    model::{ModelConfig, ModelOrigin, WireKind},
    text::{grouped, listed},
};

/// The stand-in for the signature of a call that the Gemini model that is asked has not signed:
/// without one, Gemini 3 refuses the request.
pub(super) const UNSIGNED: &str = "skip_thought_signature_validator";

/// The types of picture that Anthropic takes.
const PICTURES: &str = "image/jpeg|image/png|image/gif|image/webp";

const PDF: &str = "application/pdf";

/// The rules for the media that may be sent to a model.
#[derive(Clone, Copy, Debug)]
pub struct MediaGate {
    wire: WireKind,
    takes_images: bool,
    limits: MediaLimits,
    /// True if the conversation has so many pictures that the lower limit holds.
    is_crowded: bool,
}

impl MediaGate {
    /// Makes the gate for a conversation of few pictures.
    pub const fn new(model: &ModelConfig) -> Self {
        let (wire, takes_images) = (model.wire, model.compat.images);
        Self { wire, takes_images, limits: MediaLimits::of(model), is_crowded: false }
    }

    /// Returns the gate for a conversation in which `said` has been said so far: the lower limit
    /// holds if that has many pictures.
    pub fn among<'a>(self, said: impl Iterator<Item = VisibleTurn<'a>>) -> Self {
        let Some(many) = self.limits.many else { return self };
        let count = said.map(|said| parts(&said).iter().filter(|part| is_picture(part)).count());
        let is_crowded = count.sum::<usize>() > many.above as usize;
        Self { is_crowded, ..self }
    }

    /// Returns whether the lower limit for many pictures holds.
    pub const fn is_crowded(self) -> bool {
        self.is_crowded
    }

    /// Returns a turn as the model reads it, with words in place of what it does not take.
    pub(super) fn readable(self, said: VisibleTurn<'_>) -> VisibleTurn<'_> {
        let is_plain = |parts: &[Part]| parts.iter().all(|part| part.as_text().is_some());
        let read =
            |parts: &[Part]| -> Vec<Part> { parts.iter().map(|part| self.told(part)).into_list() };
        // A turn of text alone, as most are, is passed on without a copy. Every protocol encodes
        // steering like the user's own words, so that both come out as the user's.
        match &said {
            VisibleTurn::User(parts) | VisibleTurn::Steering(parts) if !is_plain(parts) => {
                VisibleTurn::User(Cow::Owned(read(parts)))
            }
            VisibleTurn::ToolResults(results) if !results.iter().all(|it| is_plain(&it.parts)) => {
                let result = |ToolResult { call_id, parts, is_error }: &ToolResult| {
                    let (call_id, parts) = (call_id.clone(), read(parts));
                    ToolResult { call_id, parts, is_error: *is_error }
                };
                VisibleTurn::ToolResults(results.iter().map(result).collect())
            }
            _ => said,
        }
    }

    fn told(self, part: &Part) -> Part {
        if let Some(why) = self.why_not(part) {
            let what = match part {
                Part::File { name, .. } => name.as_str(),
                _ => "an image",
            };
            if let Some(text) = text_in(part) {
                return Part::text(format!("{what}:\n\n{text}"));
            }
            return Part::text(format!("[{what} is left out: {why}]"));
        }
        match part {
            // The picture's own bytes decide: under the name of another type it would be refused.
            Part::Image { media_type, data } => {
                let own = PictureInfo::of(data).map(|it| it.media_type);
                let own = own.filter(|own| own != media_type).map(String::from);
                let media_type = own.unwrap_or_else(|| media_type.clone());
                Part::Image { media_type, data: data.clone() }
            }
            _ => part.clone(),
        }
    }

    /// Returns whether a part is sent as it is.
    pub fn is_open_for(self, part: &Part) -> bool {
        self.why_not(part).is_none()
    }

    /// Returns why a part is not sent, if it is not.
    fn why_not(self, part: &Part) -> Option<String> {
        let is_undecided = self.takes_images && self.wire == WireKind::Gemini;
        if self.takes(part) || (is_undecided && text_in(part).is_none()) {
            return self.fault(part);
        }
        Some(String::from("this model does not take it"))
    }

    /// Returns whether the model takes parts of that type.
    fn takes(self, part: &Part) -> bool {
        match part {
            Part::Text { .. } => true,
            _ if !self.takes_images => false,
            Part::Image { .. } if self.wire != WireKind::Anthropic => true,
            Part::Image { media_type, data } => {
                let own = PictureInfo::of(data).map_or(media_type.as_str(), |it| it.media_type);
                listed(PICTURES).any(|known| known == own)
            }
            Part::ImageUrl { .. } => self.wire != WireKind::Ollama,
            Part::File { media_type, .. } => match self.wire {
                WireKind::Ollama => false,
                // Gemini takes texts under their own types only. About other files it decides
                // itself, so they are sent, see `why_not`.
                WireKind::Gemini => !media_type.starts_with("application/") || media_type == PDF,
                _ => media_type == PDF,
            },
        }
    }

    /// Returns what is wrong with a part, if its type is one that the model takes.
    pub fn fault(self, part: &Part) -> Option<String> {
        match part {
            // A part of a type that the model does not take is described in other words, see
            // `why_not`.
            _ if !self.takes(part) => None,
            Part::Text { .. } | Part::ImageUrl { .. } => None,
            Part::Image { data, .. } | Part::File { data, .. } if !is_base64(data) => {
                Some(String::from("its data is not base64, so it cannot be read"))
            }
            Part::Image { data, .. } => self.picture_fault(data),
            Part::File { media_type, data, .. } if media_type == PDF => self.pdf_fault(data),
            Part::File { .. } => None,
        }
    }

    fn picture_fault(self, data: &str) -> Option<String> {
        let picture = PictureInfo::of(data);
        if data.is_empty() || picture.is_some_and(|it| it.is_cut) {
            return Some(String::from("its end is missing, so it cannot be read"));
        }
        // The provider's limit is on the text in base64, not on the file.
        let size = data.len() as u64;
        if let Some(most) = self.limits.picture_base64_bytes.filter(|most| size > *most) {
            return Some(format!(
                "it has {} bytes in base64, and this model takes at most {}; make it smaller \
                 first",
                grouped(size),
                grouped(most)
            ));
        }
        let side = picture.map_or(0, |it| it.side_px);
        let many = self.limits.many.filter(|_| self.is_crowded);
        let (most, among) = match (many, self.limits.picture_side_px) {
            (Some(many), _) => {
                (many.side_px, format!(" in a conversation of more than {} images", many.above))
            }
            (None, Some(most)) => (most, String::new()),
            (None, None) => return None,
        };
        (side > most).then(|| {
            format!(
                "its longer side has {} pixels, and this model takes at most {}{among}; make it \
                 smaller first",
                grouped(side.into()),
                grouped(most.into())
            )
        })
    }

    fn pdf_fault(self, data: &str) -> Option<String> {
        let most = self.limits.pdf_pages?;
        let pages = u32::try_from(pdf_pages(data)).unwrap_or(u32::MAX);
        (pages > most).then(|| {
            format!(
                "it has {} pages, and this model takes at most {}; take out those that matter",
                grouped(pages.into()),
                grouped(most.into())
            )
        })
    }
}

/// Returns the parts of a turn of the user or of tools; none for other turns.
#[must_use]
pub fn parts<'a>(said: &'a VisibleTurn<'_>) -> Vec<&'a Part> {
    let mut all = Vec::new();
    match said {
        VisibleTurn::User(parts) | VisibleTurn::Steering(parts) => all.extend(&**parts),
        VisibleTurn::ToolResults(results) => {
            results.iter().for_each(|result| all.extend(&result.parts));
        }
        VisibleTurn::Assistant(_) | VisibleTurn::System(_) => {}
    }
    all
}

const fn is_picture(part: &Part) -> bool {
    matches!(part, Part::Image { .. } | Part::ImageUrl { .. })
}

/// Returns the text of a file that holds text, whatever its type is said to be.
fn text_in(part: &Part) -> Option<String> {
    let Part::File { data, .. } = part else { return None };
    let text = String::from_utf8(base64::decoded(data)?).ok()?;
    // A PDF may be written in plain ASCII, and is still no text for a model.
    (!text.contains('\0') && !text.starts_with("%PDF-")).then_some(text)
}

/// Returns a turn as `reader`, a model at an endpoint, reads it. The reply of any other model loses
/// its signatures and sealed thinking, like that of another provider: `reader` would refuse them
/// for ever.
pub(super) fn unsigned<'a>(said: VisibleTurn<'a>, reader: &ModelOrigin) -> VisibleTurn<'a> {
    match said {
        VisibleTurn::Assistant(ref reply)
            if reply.origin.as_ref().is_some_and(|own| **own != *reader) =>
        {
            said.unsigned()
        }
        said => said,
    }
}
