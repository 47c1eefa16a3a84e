//! `tar`: archives with the modes, links and long names of what is in them, plain or compressed by
//! gzip or bzip2. What goes in is in `pack`, what comes out in `unpack`.

mod job;
mod pack;
mod unpack;

use super::{options::OptionSpec, shared::fail};
use bashkit::{Command, CommandContext, CommandStatus, Result, async_trait};
use job::{FAILED, TarJob};

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
