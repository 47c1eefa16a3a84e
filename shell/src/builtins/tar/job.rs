//! A call of `tar` with what its options name, and the compressions of archives.

use crate::builtins::{
    options::ParsedArguments,
    shared::{content, fits, reason},
};
use bashkit::{CommandContext, Result, vfs_join};
use bzip2::{read::MultiBzDecoder, write::BzEncoder};
use flate2::{read::MultiGzDecoder, write::GzEncoder};
use std::{
    io::{self, Cursor, Read, Write},
    path::{Path, PathBuf},
};

/// The status of a mistake, and of an archive of which not all went in or out.
pub(super) const FAILED: i32 = 2;

/// The most bytes of a new archive.
const MOST_PACKED: usize = 64 << 20;

/// The last line of an archive of which not all went in or out.
pub(super) const NOT_ALL: &str = "tar: Exiting with failure status due to previous errors\n";

/// The compression of an archive.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ArchiveCompression {
    Plain,
    Gzip,
    Bzip2,
}

/// A call of `tar`, with what its options name read.
pub(super) struct TarJob<'a> {
    pub(super) context: &'a CommandContext<'a>,
    pub(super) given: &'a ParsedArguments,
    /// The archive as it was named; `-` for the standard streams.
    pub(super) archive: &'a str,
    /// The names of members with the folders in which they are meant.
    pub(super) names: Vec<(PathBuf, String)>,
    /// The folder in which all is extracted.
    pub(super) folder: PathBuf,
    excluded: Vec<String>,
}

impl<'a> TarJob<'a> {
    /// Reads the files that the options name.
    ///
    /// # Errors
    /// The message about one that can't be read.
    pub(super) async fn new(
        context: &'a CommandContext<'a>,
        given: &'a ParsedArguments,
    ) -> std::result::Result<Self, String> {
        let mut excluded = Vec::new();
        for (letter, value) in &given.options {
            match letter {
                'e' => excluded.push(value.clone()),
                'X' => excluded.extend(lines_of(context, value).await?),
                _ => {}
            }
        }
        let folder_at = |count: usize| {
            let before = given.options.iter().take(count);
            before
                .filter(|(letter, _)| *letter == 'C')
                .fold(PathBuf::from(context.cwd), |folder, (_, inner)| below(&folder, inner))
        };
        let folder = folder_at(given.options.len());
        let operands = given.operands.iter().zip(&given.options_before);
        let mut names: Vec<(PathBuf, String)> =
            operands.map(|(name, count)| (folder_at(*count), name.clone())).collect();
        for (_, list) in given.options.iter().filter(|(letter, _)| *letter == 'T') {
            let listed = lines_of(context, list).await?;
            names.extend(listed.into_iter().map(|name| (folder.clone(), name)));
        }
        let archive = given.value('f').unwrap_or("-");
        Ok(Self { context, given, archive, names, folder, excluded })
    }

    /// Returns whether a member is left out: a pattern of `--exclude` fits its name, or the end of
    /// it from one of its folders on.
    pub(super) fn is_excluded(&self, name: &str) -> bool {
        let name = name.trim_end_matches('/');
        let ends = name.match_indices('/').filter_map(|(at, _)| name.get(at + 1..));
        let mut ends = std::iter::once(name).chain(ends);
        ends.any(|end| self.excluded.iter().any(|it| fits(it.trim_end_matches('/'), end)))
    }

    pub(super) async fn warn(&self, words: &str) -> Result<()> {
        self.context.stderr.write_all(format!("tar: {words}\n").as_bytes()).await
    }
}

/// Returns the path of a name in a folder.
pub(super) fn below(folder: &Path, name: &str) -> PathBuf {
    vfs_join(folder, Path::new(name))
}

/// Returns the lines of a file that an option names.
async fn lines_of(
    context: &CommandContext<'_>,
    file: &str,
) -> std::result::Result<Vec<String>, String> {
    let bytes = content(context, file).await.map_err(|error| {
        format!(
            "tar: {file}: Cannot open: {}\ntar: Error is not recoverable: exiting now\n",
            reason(&error)
        )
    })?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

/// Returns the compression of an archive by its first bytes.
///
/// # Errors
/// The name of one that is not known here.
pub(super) fn found_in(bytes: &[u8]) -> std::result::Result<ArchiveCompression, &'static str> {
    match bytes {
        [0x1f, 0x8b, ..] => Ok(ArchiveCompression::Gzip),
        [b'B', b'Z', b'h', ..] => Ok(ArchiveCompression::Bzip2),
        [0xfd, b'7', b'z', b'X', b'Z', ..] => Err("xz"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Err("zstd"),
        _ => Ok(ArchiveCompression::Plain),
    }
}

impl ArchiveCompression {
    /// Returns the compression that the options of a new archive ask for.
    pub(super) fn asked(given: &ParsedArguments, archive: &str) -> Self {
        let ends = |ends: &[&str]| ends.iter().any(|end| archive.ends_with(end));
        match given.last("zj") {
            Some('z') => Self::Gzip,
            Some(_) => Self::Bzip2,
            None if !given.has('a') => Self::Plain,
            None if ends(&[".tar.gz", ".tgz", ".taz"]) => Self::Gzip,
            None if ends(&[".tar.bz2", ".tbz", ".tbz2"]) => Self::Bzip2,
            None => Self::Plain,
        }
    }

    pub(super) fn reader(self, bytes: Vec<u8>) -> Box<dyn Read> {
        let bytes = Cursor::new(bytes);
        match self {
            Self::Plain => Box::new(bytes),
            Self::Gzip => Box::new(MultiGzDecoder::new(bytes)),
            Self::Bzip2 => Box::new(MultiBzDecoder::new(bytes)),
        }
    }

    pub(super) fn writer(self) -> TarWriter {
        let packed = PackedBytes::default();
        match self {
            Self::Plain => TarWriter::Plain(packed),
            Self::Gzip => TarWriter::Gzip(GzEncoder::new(packed, flate2::Compression::default())),
            Self::Bzip2 => TarWriter::Bzip2(BzEncoder::new(packed, bzip2::Compression::best())),
        }
    }
}

/// An archive while it is written. It is compressed as it grows: its members together may be larger
/// than the memory of the shell.
pub(super) enum TarWriter {
    Plain(PackedBytes),
    Gzip(GzEncoder<PackedBytes>),
    Bzip2(BzEncoder<PackedBytes>),
}

/// The bytes of an archive, no more than [`MOST_PACKED`].
#[derive(Default)]
pub(super) struct PackedBytes {
    bytes: Vec<u8>,
    is_full: bool,
}

impl TarWriter {
    /// Ends the archive, and returns its bytes.
    pub(super) fn finish(self) -> io::Result<Vec<u8>> {
        let packed = match self {
            Self::Plain(packed) => packed,
            Self::Gzip(packer) => packer.finish()?,
            Self::Bzip2(packer) => packer.finish()?,
        };
        Ok(packed.bytes)
    }

    /// Returns whether the archive had no room for something, and is not whole.
    pub(super) fn is_full(&self) -> bool {
        match self {
            Self::Plain(packed) => packed.is_full,
            Self::Gzip(packer) => packer.get_ref().is_full,
            Self::Bzip2(packer) => packer.get_ref().is_full,
        }
    }
}

impl Write for TarWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(packed) => packed.write(bytes),
            Self::Gzip(packer) => packer.write(bytes),
            Self::Bzip2(packer) => packer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Write for PackedBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // To grow further would end the shell, whose memory is limited.
        if self.is_full || self.bytes.len() + bytes.len() > MOST_PACKED {
            self.is_full = true;
            return Err(io::Error::other("the archive would have more than 64 MiB"));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
