//! A response's body: a stream of data or one whole value. The first bytes decide which, since
//! content types lie; the body of an error is always taken whole.

use super::{sse::SseSplitter, values::JsonSplitter};
use alloc::vec::Vec;
use innerloop_types::input::ResponseHead;

/// The meaning that JSON without server-sent events around it has for a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BareJsonMode {
    /// The whole body, of another shape than a stream's data.
    Whole,
    /// One or more values of the same shape as a stream's data.
    Values,
}

/// A body while it arrives.
#[derive(Debug)]
pub(super) enum ResponseBody {
    /// Not known yet: nothing but white space has come.
    Unknown(BareJsonMode),
    /// Server-sent events.
    Stream(SseSplitter),
    /// JSON values.
    Values(JsonSplitter),
    /// JSON values of which the first stands alone, in no array.
    Bare(JsonSplitter),
    /// All of it, to be read at its end.
    Whole(Vec<u8>),
}

/// The kind of a body, once it has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BodyEnd {
    /// Nothing came.
    Empty,
    /// All data has been handed out.
    Stream,
    /// All data has been handed out; it began with a value in no frame and no array.
    Bare,
    /// The whole body, of which nothing has been handed out.
    Whole(Vec<u8>),
}

impl ResponseBody {
    /// Makes the body of the response that begins with `head`.
    pub(super) fn new(head: &ResponseHead, bare: BareJsonMode) -> Self {
        // An error comes as events, JSON, a page or words. It is small, and is read in any of these
        // forms once all of it is there.
        if head.is_success() { Self::Unknown(bare) } else { Self::Whole(Vec::new()) }
    }

    /// Takes the next bytes and hands out the data that they complete.
    pub(super) fn feed(&mut self, mut bytes: &[u8], on_data: &mut dyn FnMut(&[u8])) {
        if let Self::Unknown(bare) = *self {
            // A byte order mark may stand before either form. It may also be cut by the end of a
            // read, so its bytes are skipped one by one and none of it is kept.
            let is_blank = |byte: &u8| {
                byte.is_ascii_whitespace() || matches!(byte, b'\xef' | b'\xbb' | b'\xbf')
            };
            let begin = bytes.iter().position(|byte| !is_blank(byte)).unwrap_or(bytes.len());
            bytes = bytes.get(begin..).unwrap_or_default();
            match bytes.first() {
                None => return,
                Some(b'{') if bare == BareJsonMode::Values => {
                    *self = Self::Bare(JsonSplitter::default());
                }
                Some(b'[') if bare == BareJsonMode::Values => {
                    *self = Self::Values(JsonSplitter::default());
                }
                // `<` begins the HTML page of a proxy, which is quoted in the error.
                Some(b'{' | b'[' | b'<') => *self = Self::Whole(Vec::new()),
                Some(_) => *self = Self::Stream(SseSplitter::default()),
            }
        }
        match self {
            Self::Unknown(_) => {}
            Self::Stream(events) => events.feed(bytes, on_data),
            Self::Values(values) | Self::Bare(values) => values.feed(bytes, on_data),
            Self::Whole(body) => body.extend_from_slice(bytes),
        }
    }

    /// Returns how many bytes wait for the rest of what they belong to.
    pub(super) const fn waiting(&self) -> usize {
        match self {
            Self::Unknown(_) => 0,
            Self::Stream(events) => events.waiting(),
            Self::Values(values) | Self::Bare(values) => values.waiting(),
            Self::Whole(body) => body.len(),
        }
    }

    /// Ends the body and hands out what data is left. Returns the kind of the body.
    pub(super) fn finish(&mut self, on_data: &mut dyn FnMut(&[u8])) -> BodyEnd {
        match self {
            Self::Unknown(_) => BodyEnd::Empty,
            Self::Stream(events) => {
                events.finish(on_data);
                BodyEnd::Stream
            }
            Self::Values(values) => {
                values.finish(on_data);
                BodyEnd::Stream
            }
            Self::Bare(values) => {
                values.finish(on_data);
                BodyEnd::Bare
            }
            Self::Whole(body) => BodyEnd::Whole(core::mem::take(body)),
        }
    }
}
