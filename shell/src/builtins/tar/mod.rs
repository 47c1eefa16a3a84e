//! `tar`: archives with the modes, links and long names of what is in them, plain or compressed by
//! gzip or bzip2. What goes in is in `pack`, what comes out in `unpack`.

mod pack;
mod unpack;

use super::{
    options::{OptionSpec, ParsedArguments},
    shared::{content, fail, fits, path, reason},
};
use bashkit::{Command, CommandContext, CommandStatus, Result, async_trait, vfs_join};
use bzip2::{read::MultiBzDecoder, write::BzEncoder};
use flate2::{read::MultiGzDecoder, write::GzEncoder};
use std::{
    io::{Cursor, Read, Write},
    path::{Path, PathBuf},
};

pub(super) struct TarCommand;

/// The letters that no short option has stand for long ones: `e` for `--exclude`, `s` for
/// `--skip-old-files`, `l` for `--strip-components`, `W` for `--wildcards`, `R` for
/// `--no-recursion`, and `.` for what changes nothing here, where all files have one owner.
const KNOWN: OptionSpec = OptionSpec {
    command: "tar",
    short: "cxtzjJavpPOkmhC:f:T:X:b:So",
    long: &[
        ("absolute-names", 'P'),
        ("auto-compress", 'a'),
        ("bzip2", 'j'),
        ("create", 'c'),
        ("dereference", 'h'),
        ("directory:", 'C'),
        ("exclude:", 'e'),
        ("exclude-from:", 'X'),
        ("extract", 'x'),
        ("file:", 'f'),
        ("files-from:", 'T'),
        ("format:", '.'),
        ("get", 'x'),
        ("group:", '.'),
        ("gunzip", 'z'),
        ("gzip", 'z'),
        ("keep-old-files", 'k'),
        ("list", 't'),
        ("no-recursion", 'R'),
        ("no-same-owner", '.'),
        ("no-same-permissions", '.'),
        ("numeric-owner", '.'),
        ("overwrite", '.'),
        ("owner:", '.'),
        ("preserve-permissions", 'p'),
        ("same-owner", '.'),
        ("same-permissions", 'p'),
        ("skip-old-files", 's'),
        ("sort:", '.'),
        ("strip-components:", 'l'),
        ("to-stdout", 'O'),
        ("touch", 'm'),
        ("verbose", 'v'),
        ("wildcards", 'W'),
        ("xz", 'J'),
        ("zstd", 'J'),
    ],
};

/// The status of a mistake, and of an archive of which not all went in or out.
const FAILED: i32 = 2;

/// The last line of an archive of which not all went in or out.
const NOT_ALL: &str = "tar: Exiting with failure status due to previous errors\n";

/// The compression of an archive.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ArchiveCompression {
    Plain,
    Gzip,
    Bzip2,
}

#[async_trait]
impl Command for TarCommand {
    async fn execute(&self, context: CommandContext<'_>) -> Result<CommandStatus> {
        let given = match KNOWN.read(&modern(context.args)) {
            Ok(given) => given,
            Err(words) => return fail(&context, &words, FAILED).await,
        };
        let deeds: Vec<char> = "cxt".chars().filter(|letter| given.has(*letter)).collect();
        let wrong = match deeds.len() {
            0 => KNOWN.wrong("You must specify one of the '-ctx' options"),
            1 if given.has('J') => "tar: xz and zstd are not known here\n".to_owned(),
            1 => String::new(),
            _ => KNOWN.wrong("You may not specify more than one of the '-ctx' options"),
        };
        if !wrong.is_empty() {
            return fail(&context, &wrong, FAILED).await;
        }
        let job = match TarJob::new(&context, &given).await {
            Ok(job) => job,
            Err(words) => return fail(&context, &words, FAILED).await,
        };
        if given.has('c') { pack::create(&job).await } else { unpack::read_out(&job).await }
    }
}

/// Returns the words with the old form of the first one, as in `tar xzf FILE`, as options of today:
/// the values of its letters follow it in their order.
fn modern(args: &[String]) -> Vec<String> {
    let Some((first, rest)) = args.split_first().filter(|(first, _)| !first.starts_with('-'))
    else {
        return args.to_vec();
    };
    let (mut words, mut rest) = (Vec::new(), rest.iter());
    for letter in first.chars() {
        words.push(format!("-{letter}"));
        if KNOWN.short.contains(&format!("{letter}:")) {
            words.extend(rest.next().cloned());
        }
    }
    words.extend(rest.cloned());
    words
}

/// A call of `tar`, with what its options name read.
struct TarJob<'a> {
    context: &'a CommandContext<'a>,
    given: &'a ParsedArguments,
    /// The archive as it was named; `-` for the standard streams.
    archive: &'a str,
    /// The names of members with the folders in which they are meant.
    names: Vec<(PathBuf, String)>,
    /// The folder in which all is extracted.
    folder: PathBuf,
    excluded: Vec<String>,
}

impl<'a> TarJob<'a> {
    /// Reads the files that the options name.
    ///
    /// # Errors
    /// The message about one that can't be read.
    async fn new(
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
    fn is_excluded(&self, name: &str) -> bool {
        let name = name.trim_end_matches('/');
        let ends = name.match_indices('/').filter_map(|(at, _)| name.get(at + 1..));
        let mut ends = std::iter::once(name).chain(ends);
        ends.any(|end| self.excluded.iter().any(|it| fits(it.trim_end_matches('/'), end)))
    }

    async fn warn(&self, words: &str) -> Result<()> {
        self.context.stderr.write_all(format!("tar: {words}\n").as_bytes()).await
    }
}

/// Returns the path of a name in a folder.
fn below(folder: &Path, name: &str) -> PathBuf {
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
fn found_in(bytes: &[u8]) -> std::result::Result<ArchiveCompression, &'static str> {
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
    fn asked(given: &ParsedArguments, archive: &str) -> Self {
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

    fn reader(self, bytes: Vec<u8>) -> Box<dyn Read> {
        let bytes = Cursor::new(bytes);
        match self {
            Self::Plain => Box::new(bytes),
            Self::Gzip => Box::new(MultiGzDecoder::new(bytes)),
            Self::Bzip2 => Box::new(MultiBzDecoder::new(bytes)),
        }
    }

    fn packed(self, bytes: Vec<u8>) -> std::io::Result<Vec<u8>> {
        match self {
            Self::Plain => Ok(bytes),
            Self::Gzip => {
                let mut packer = GzEncoder::new(Vec::new(), flate2::Compression::default());
                packer.write_all(&bytes)?;
                packer.finish()
            }
            Self::Bzip2 => {
                let mut packer = BzEncoder::new(Vec::new(), bzip2::Compression::best());
                packer.write_all(&bytes)?;
                packer.finish()
            }
        }
    }
}
