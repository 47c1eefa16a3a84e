//! The size of pictures: those that are larger than the provider takes are made smaller before the
//! session has them, and a text says so. One that can't be made smaller is passed on to the
//! session, or left out if it is larger than any that is sent. One picture is processed at a time,
//! since decoded it may have 400 MB.

use base64ct::{Base64, Encoding as _};
use image::{
    DynamicImage, ImageDecoder, ImageFormat, ImageReader, ImageResult, codecs::jpeg::JpegEncoder,
    error::ImageError, imageops::FilterType,
};
use innerloop_core::{
    action::Outcome,
    input::{Command, Input},
    media::MediaLimits,
    message::Part,
};
use innerloop_tools::MAX_PICTURE_BYTES;
use std::io::Cursor;
use tokio::{sync::Semaphore, task::spawn_blocking};

/// The largest number of bytes of a decoded picture: 100 million pixels of four bytes.
const MOST_DECODED: u64 = 400_000_000;
/// The number of bytes up to which a picture is scaled by the better filter, which needs four times
/// as much memory.
const FINELY_SCALED: u64 = 64 << 20;
/// The number of pixels of the longer side below which no picture is scaled.
const LEAST_SIDE: u32 = 200;
/// The quality with which a JPEG is encoded.
const QUALITY: u8 = 90;

/// The limits for one picture in any conversation.
#[derive(Clone, Copy, Debug)]
struct PictureLimits {
    base64_bytes: usize,
    /// The largest number of pixels of the longer side; `None` for any number.
    side_px: Option<u32>,
}

impl PictureLimits {
    fn of(limits: &MediaLimits) -> Self {
        let most = limits.base64_bytes_or(MAX_PICTURE_BYTES as u64);
        let base64_bytes = usize::try_from(most).unwrap_or(usize::MAX);
        Self { base64_bytes, side_px: limits.safe_side_px() }
    }
}

static ONE_AT_A_TIME: Semaphore = Semaphore::const_new(1);

/// Returns a tool's outcome with its pictures made to fit.
pub(crate) async fn fit_outcome(outcome: Outcome, limits: MediaLimits) -> Outcome {
    Outcome { parts: fit_parts(outcome.parts, limits).await, ..outcome }
}

/// Returns an input with the pictures that people give made to fit.
pub(crate) async fn fit_input(mut input: Input, limits: MediaLimits) -> Input {
    if let Input::Command { command, .. } = &mut input
        && let Command::Submit { parts, .. }
        | Command::Steer { parts, .. }
        | Command::FollowUp { parts, .. } = command
    {
        *parts = fit_parts(std::mem::take(parts), limits).await;
    }
    input
}

async fn fit_parts(parts: Vec<Part>, limits: MediaLimits) -> Vec<Part> {
    if !parts.iter().any(|part| matches!(part, Part::Image { .. })) {
        return parts;
    }
    let limits = PictureLimits::of(&limits);
    let _turn = ONE_AT_A_TIME.acquire().await;
    // The original is kept for the case that the thread panics.
    let given = parts.clone();
    let fitted = spawn_blocking(move || {
        given.into_iter().flat_map(|part| fitted(part, limits)).collect::<Vec<Part>>()
    });
    // Decoders are given hostile bytes; one that panics must not lose what was said.
    fitted.await.unwrap_or(parts)
}

/// Returns the part, with a text behind it if it is a picture that had to be made smaller.
fn fitted(part: Part, limits: PictureLimits) -> Vec<Part> {
    let Part::Image { data, .. } = &part else { return vec![part] };
    let is_long = data.len() > limits.base64_bytes;
    // The session reports data that is not base64.
    let Ok(bytes) = Base64::decode_vec(data) else { return vec![part] };
    let side = side_px(&bytes);
    if !is_long && side.is_none_or(|side| limits.side_px.is_none_or(|most| side <= most)) {
        return vec![part];
    }
    match smaller(&bytes, limits) {
        Ok(Some(ResizedPicture { picture, before, after })) => {
            let ((width, height), (w, h)) = (before, after);
            let words =
                format!("[The picture has {width} × {height} pixels and is shown with {w} × {h}.]");
            vec![picture, Part::text(words)]
        }
        Ok(None) if is_long => vec![left_out(bytes.len(), "however small", limits)],
        Err(error) if is_long => vec![left_out(bytes.len(), &error.to_string(), limits)],
        // It has few enough bytes to be sent; the provider may take it all the same, or say what is
        // wrong.
        Ok(None) | Err(_) => vec![part],
    }
}

fn left_out(size: usize, why: &str, limits: PictureLimits) -> Part {
    let most = limits.base64_bytes / 4 * 3;
    Part::text(format!(
        "[The picture has {size} bytes, of which at most {most} are sent, and cannot be made \
         smaller here, so it is left out: {why}]"
    ))
}

/// Returns the longer side of a picture, read from its first bytes.
fn side_px(bytes: &[u8]) -> Option<u32> {
    let reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().ok()?;
    let (width, height) = reader.into_dimensions().ok()?;
    Some(width.max(height))
}

/// A picture that was made smaller, with its pixels before and after.
struct ResizedPicture {
    picture: Part,
    before: (u32, u32),
    after: (u32, u32),
}

/// Returns the picture as large as it may be; `None` if it is too large at any size.
fn smaller(bytes: &[u8], limits: PictureLimits) -> ImageResult<Option<ResizedPicture>> {
    let (image, format) = decoded(bytes)?;
    let before = (image.width(), image.height());
    let longer = before.0.max(before.1);
    let mut side = limits.side_px.map_or(longer, |most| most.min(longer));
    // Bytes do not follow from the side, so sizes are tried in steps of seven tenths, which halve
    // the pixels. A picture that is small already is tried once.
    while side >= LEAST_SIDE.min(longer) {
        let scaled = scaled(&image, side);
        for format in formats(&scaled, format) {
            let (bytes, media_type) = encoded(&scaled, format)?;
            if Base64::encoded_len(&bytes) > limits.base64_bytes {
                continue;
            }
            let data = Base64::encode_string(&bytes);
            let picture = Part::Image { media_type: media_type.to_owned(), data };
            let after = (scaled.width(), scaled.height());
            return Ok(Some(ResizedPicture { picture, before, after }));
        }
        side = side / 10 * 7;
    }
    Ok(None)
}

/// Returns the picture upright; of an animation the first frame.
fn decoded(bytes: &[u8]) -> ImageResult<(DynamicImage, ImageFormat)> {
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format()?;
    let format = reader.format().unwrap_or(ImageFormat::Png);
    let mut limits = image::Limits::default();
    limits.max_alloc = Some(MOST_DECODED);
    reader.limits(limits);
    let mut decoder = reader.into_decoder()?;
    // `ImageReader::decode` would count the picture itself among the allocations; a decoder that is
    // taken out of it does not.
    if decoder.total_bytes() > MOST_DECODED {
        let why = image::error::LimitErrorKind::InsufficientMemory;
        return Err(ImageError::Limits(image::error::LimitError::from_kind(why)));
    }
    // The encoded picture has no EXIF data, so that the turn has to be in its pixels.
    let orientation = decoder.orientation()?;
    let mut image = DynamicImage::from_decoder(decoder)?;
    image.apply_orientation(orientation);
    Ok((image, format))
}

fn scaled(image: &DynamicImage, side: u32) -> DynamicImage {
    if side >= image.width().max(image.height()) {
        return image.clone();
    }
    match u64::try_from(image.as_bytes().len()) {
        Ok(..=FINELY_SCALED) => image.resize(side, side, FilterType::Triangle),
        _ => image.thumbnail(side, side),
    }
}

/// Returns the formats that are tried: the one that the picture has, and for an opaque one the one
/// that is shorter.
fn formats(image: &DynamicImage, own: ImageFormat) -> Vec<ImageFormat> {
    // JPEG has no transparency. WebP is written only without loss here, which makes photographs
    // longer.
    let is_opaque = !image.color().has_alpha();
    match own {
        ImageFormat::Jpeg | ImageFormat::WebP if is_opaque => vec![ImageFormat::Jpeg],
        _ if is_opaque => vec![ImageFormat::Png, ImageFormat::Jpeg],
        _ => vec![ImageFormat::Png],
    }
}

fn encoded(image: &DynamicImage, format: ImageFormat) -> ImageResult<(Vec<u8>, &'static str)> {
    let mut bytes = Cursor::new(Vec::new());
    if format == ImageFormat::Jpeg {
        let jpeg = JpegEncoder::new_with_quality(&mut bytes, QUALITY);
        image.to_rgb8().write_with_encoder(jpeg)?;
        return Ok((bytes.into_inner(), "image/jpeg"));
    }
    // Sixteen bits per colour would double the bytes, and no model sees the difference.
    match image.color().has_alpha() {
        true => image.to_rgba8().write_to(&mut bytes, ImageFormat::Png)?,
        false => image.to_rgb8().write_to(&mut bytes, ImageFormat::Png)?,
    }
    Ok((bytes.into_inner(), "image/png"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{ImageBuffer, Rgb, RgbImage, Rgba};

    const FEW: PictureLimits = PictureLimits { base64_bytes: 400_000, side_px: Some(500) };

    /// A picture that compresses badly.
    fn noise(width: u32, height: u32) -> RgbImage {
        ImageBuffer::from_fn(width, height, |x, y| {
            let mixed = x.wrapping_mul(0x9e37_79b1) ^ y.wrapping_mul(0x85eb_ca6b);
            let [r, g, b, _] = (mixed ^ mixed >> 13).wrapping_mul(0xc2b2_ae35).to_le_bytes();
            Rgb([r, g, b].map(|byte| 100 + byte % 32))
        })
    }

    fn written(image: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        image.into().write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    fn part(bytes: &[u8]) -> Part {
        let data = Base64::encode_string(bytes);
        Part::Image { media_type: "image/png".to_owned(), data }
    }

    fn opened(part: &Part) -> (DynamicImage, String) {
        let Part::Image { media_type, data } = part else { panic!("{part:?}") };
        let bytes = Base64::decode_vec(data).unwrap();
        (image::load_from_memory(&bytes).unwrap(), media_type.clone())
    }

    #[test]
    fn what_fits_stays_byte_for_byte() {
        let small = part(&written(noise(100, 50), ImageFormat::Png));
        for kept in [small, part(b"no picture"), Part::text("x")] {
            assert_eq!(fitted(kept.clone(), FEW), [kept]);
        }
        let odd = Part::Image { media_type: "image/png".to_owned(), data: "no base64!".to_owned() };
        assert_eq!(fitted(odd.clone(), FEW), [odd]);
    }

    #[test]
    fn what_is_too_large_is_made_smaller_in_every_format() {
        let all = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP];
        for format in all {
            let [picture, words] = &fitted(part(&written(noise(1_000, 400), format)), FEW)[..]
            else {
                panic!("{format:?}")
            };
            let (image, media_type) = opened(picture);
            assert_eq!((image.width(), image.height()), (500, 200), "{format:?}");
            assert!(["image/png", "image/jpeg"].contains(&&*media_type));
            let told = "[The picture has 1000 × 400 pixels and is shown with 500 × 200.]";
            assert_eq!(words, &Part::text(told));
        }
    }

    #[test]
    fn a_picture_with_many_bytes_takes_fewer() {
        let bytes = written(noise(500, 500), ImageFormat::Png);
        assert!(Base64::encoded_len(&bytes) > FEW.base64_bytes);
        let made = fitted(part(&bytes), FEW);
        let (image, media_type) = opened(&made[0]);
        assert_eq!((image.width(), &*media_type), (500, "image/jpeg"), "as large, and shorter");
        let opaque = noise(500, 500);
        let clear = ImageBuffer::from_fn(500, 500, |x, y| {
            let Rgb([r, g, b]) = *opaque.get_pixel(x, y);
            Rgba([r, g, b, b])
        });
        let few = PictureLimits { side_px: None, ..FEW };
        let made = fitted(part(&written(clear, ImageFormat::Png)), few);
        let (image, media_type) = opened(&made[0]);
        assert!(image.color().has_alpha() && image.width() < 500, "what is clear stays clear");
        assert_eq!(media_type, "image/png");
    }

    #[test]
    fn a_bomb_and_what_cannot_be_read_are_left_out_or_to_the_session() {
        // A PNG that says to have 30,000 × 30,000 pixels.
        let mut bomb = written(noise(2, 2), ImageFormat::Png);
        bomb[16..24].copy_from_slice(&[0, 0, 0x75, 0x30, 0, 0, 0x75, 0x30]);
        let sum = crc(&bomb[12..29]);
        bomb[29..33].copy_from_slice(&sum.to_be_bytes());
        assert_eq!(fitted(part(&bomb), FEW), [part(&bomb)], "the session tells of its side");
        bomb.resize(400_000, 0);
        let Part::Text { text } = &fitted(part(&bomb), FEW)[0] else { panic!() };
        let told = "[The picture has 400000 bytes, of which at most 300000 are sent, and";
        assert!(text.starts_with(told), "{text}");
    }

    #[tokio::test]
    async fn what_people_and_tools_show_is_made_smaller() {
        let limits = MediaLimits { picture_base64_bytes: Some(200_000), ..MediaLimits::default() };
        let picture = part(&written(noise(400, 300), ImageFormat::Png));
        let said = vec![Part::text("See"), picture.clone()];
        let command = Command::Submit { parts: said, options: None };
        let Input::Command { command: Command::Submit { parts, .. }, .. } =
            fit_input(Input::command(command), limits).await
        else {
            panic!()
        };
        assert_eq!(parts.len(), 3);
        let outcome = Outcome { parts: vec![picture], ..Outcome::default() };
        assert_eq!(fit_outcome(outcome, limits).await.parts, parts[1..]);
    }

    /// The checksum of a PNG's chunk.
    fn crc(bytes: &[u8]) -> u32 {
        let step = |crc: u32| if crc & 1 == 1 { 0xedb8_8320 ^ crc >> 1 } else { crc >> 1 };
        !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc)))
    }
}
