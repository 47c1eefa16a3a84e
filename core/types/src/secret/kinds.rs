//! The table of the kinds of secrets that have a shape, one a line, and its index. Nothing else
//! knows a provider; a new kind is a new line.
//!
//! A line is `lead name parts…`: the literal that a secret begins with, the name that its mask
//! bears, and what follows the lead. A part is a run of a class of bytes, `w20-300` (`w20` is
//! exactly 20), or a literal, `'.`; the secret begins at `|` if its lead is not secret. The lines
//! of one first byte stand together, and of two that fit the first wins.

/// The shapes. They are the ones that the providers, or scanners such as gitleaks, have published.
static TABLE: &str = "\
sk-ant- anthropic w80-300
sk-proj- openai w40-300
sk-svcacct- openai w40-300
sk-admin- openai w40-300
sk-or-v1- openrouter h64
sk-lf- langfuse w36
sk- openai A20 'T3BlbkFJ A20
sk- sk A32-64
sk_live_ stripe A16-120
sk_test_ stripe A16-120
shpat_ shopify H32
shpca_ shopify H32
shppa_ shopify H32
shpss_ shopify H32
shippo_live_ shippo H40
shippo_test_ shippo H40
sq0atp- square w22
sq0csp- square w43
squ_ sonar h40
sqp_ sonar h40
sqa_ sonar h40
sbp_ supabase h40
sb_secret_ supabase w20-60
sntrys_eyJ sentry B40-500 '_ b43
sntryu_ sentry h64
sgp_ sourcegraph H40
sgp_ sourcegraph a5-16 '_ H40
secret_ notion A43
ghp_ github A36-255
gho_ github A36-255
ghu_ github A36-255
ghs_ github A36-255
ghr_ github A36-255
github_pat_ github w60-255
glpat- gitlab w20-300 '. d2 '. a9
glpat- gitlab w20-300 '. a9
glpat- gitlab w20-300
glrt- gitlab w20-300 '. d2 '. a9
glrt- gitlab w20-300 '. a9
glrt- gitlab w20-300
gldt- gitlab w20-300
glcbt- gitlab w20-2000 '. w20-8000 '. w20-2000
glcbt- gitlab w20-300
glptt- gitlab h40
glft- gitlab w20-300
glsoat- gitlab w20-300
gloas- gitlab w64
glimt- gitlab w25
glc_ grafana B32-400
glsa_ grafana A32 '_ H8
gsk_ groq A40-64
GOCSPX- google w28
ya29.c. google w30-1100
ya29. google w30-1100
1//0 google w35-200
AIza google w35
AKIA aws U16
ASIA aws U16
ABIA aws U16
ACCA aws U16
ABSK aws B109-280
AGE-SECRET-KEY-1 age U58
AccountKey= azure | b86 '==
ATATT3 atlassian p100-300
ATCTT3 atlassian p100-300
ATBB atlassian A32
xoxb- slack d8-14 '- w15-255
xoxp- slack d8-14 '- w20-255
xoxa- slack d1-14 '- w8-255
xoxr- slack d1-14 '- w8-255
xoxe.xox slack a1 '- d1 '- w100-300
xoxe- slack d1 '- w100-300
xapp- slack d1 '- w30-255
xai- xai A60-100
xkeysib- brevo h64 '- A16
hf_ huggingface A30-40
hvs. vault w24-300
hvb. vault w100-400
hvr. vault w24-300
hooks.slack.com/services/ slack | U8-12 '/ U8-12 '/ A20-30
npm_ npm A36
nvapi- nvidia w60-70
ntn_ notion A40-60
pypi-AgE pypi w60-1000
pplx- perplexity A40-64
pat airtable A14 '. h64
pul- pulumi h40
pscale_tkn_ planetscale p32-64
pscale_pw_ planetscale p32-64
pscale_oauth_ planetscale p32-64
pnu_ prefect A36
pk-lf- langfuse w36
pcsk_ pinecone w60-80
dckr_pat_ docker w27-36
dckr_oat_ docker w27-36
dop_v1_ digitalocean h64
doo_v1_ digitalocean h64
dor_v1_ digitalocean h64
dapi databricks h32
dp.pt. doppler A40-44
dp.st. doppler A40-44
dp.st. doppler w2-35 '. A40-44
dt0c01. dynatrace A24 '. A64
discord.com/api/webhooks/ discord d17-20 '/ | w60-80
discordapp.com/api/webhooks/ discord d17-20 '/ | w60-80
r8_ replicate A37-40
rk_live_ stripe A16-120
rk_test_ stripe A16-120
rubygems_ rubygems h48
rdme_ readme a70
re_ resend A8 '_ A24
whsec_ stripe B24-100
csk- cerebras a40-60
cio crates A32
fw_ fireworks A22-24
fc- firecrawl h32
figd_ figma w40-43
fm2_ fly B100-900
fo1_ fly w43
tvly- tavily w28-60
tfp_ typeform p59
tskey- tailscale w20-90
jina_ jina w40-70
e2b_ e2b h40
eyJ jwt w10-2000 '.eyJ w10-8000 '. w10-2000
lsv2_pt_ langsmith h32 '_ h10
lsv2_sk_ langsmith h32 '_ h10
lin_api_ linear A40
SG. sendgrid w22 '. w43
SK twilio h32
key- mailgun h32
EAAA square w58-62
EAA facebook A100-400
EZAK easypost A54
EZTK easypost A54
PMAK- postman h24 '- h34
NRAK- newrelic U27
HRKU- heroku w36-64
FLWSECK- flutterwave w34-60
FLWSECK_TEST- flutterwave w12-40
LTAI alibaba A16-20
ops_eyJ 1password B250-1200
oy2 nuget a43
CLOJARS_ clojars A60
CCIPAT_ circleci A22 '_ h40
v1.0- cloudflare h24 '- h146
_authToken= npm | w20-200
:AA telegram w33
.atlasv1. terraform w60-70
Q~ azure p31-34
";

/// The number of kinds in the table.
const COUNT: usize = count();
/// The length of each kind's line.
static LENGTHS: [u8; COUNT] = index().0;
/// For each first byte, the number of lines before its first; [`COUNT`] if none begins with it.
static FIRST: [u8; 128] = index().1;

const fn count() -> usize {
    let (mut at, mut count) = (0, 0);
    while at < TABLE.len() {
        if byte(at) == b'\n' {
            count += 1;
        }
        at += 1;
    }
    count
}

// Only the compiler runs this and `count`: a wrong table fails to build.
#[expect(clippy::cast_possible_truncation, reason = "numbers and lengths of lines, below 256")]
const fn index() -> ([u8; COUNT], [u8; 128]) {
    const { assert!(COUNT < 256) };
    let (mut lengths, mut first) = ([0; COUNT], [COUNT as u8; 128]);
    let (mut line, mut at, mut before) = (0, 0, 0);
    while line < COUNT {
        let lead = byte(at);
        assert!(lead < 128 && byte(at + 1) != b' ');
        if before != lead {
            let known = replace(&mut first, lead as usize, line as u8);
            assert!(known == COUNT as u8, "lines of one first byte do not stand together");
        }
        before = lead;
        let start = at;
        while byte(at) != b'\n' {
            at += 1;
        }
        replace(&mut lengths, line, (at - start) as u8);
        at += 1;
        line += 1;
    }
    (lengths, first)
}

/// Returns the byte of the table at a place.
const fn byte(at: usize) -> u8 {
    match TABLE.as_bytes().split_at_checked(at) {
        Some((_, [byte, ..])) => *byte,
        // The last line has its end, too.
        _ => b'\n',
    }
}

/// Replaces one of the numbers, and returns it as it was.
const fn replace(numbers: &mut [u8], at: usize, by: u8) -> u8 {
    match numbers.split_at_mut_checked(at) {
        Some((_, [number, ..])) => core::mem::replace(number, by),
        _ => by,
    }
}

/// Returns whether a secret of the table may begin with the byte.
pub(super) fn is_lead(byte: u8) -> bool {
    FIRST.get(usize::from(byte)).is_some_and(|first| usize::from(*first) < COUNT)
}

/// Returns what `fits` returns for the first line that fits, of those that begin with the bytes.
pub(super) fn first_of<T>(
    lead: u8,
    next: u8,
    mut fits: impl FnMut(&'static str) -> Option<T>,
) -> Option<T> {
    let skipped = usize::from(*FIRST.get(usize::from(lead))?);
    let (before, lengths) = LENGTHS.split_at_checked(skipped)?;
    // Each line has a line break behind it.
    let mut start = before.iter().map(|len| usize::from(*len) + 1).sum();
    for len in lengths {
        let end = start + usize::from(*len);
        let line = TABLE.get(start..end)?;
        match line.as_bytes() {
            [first, ..] if *first != lead => return None,
            // The second byte by itself: of many lines with one first byte, few have it.
            [_, second, ..] if *second == next => {
                let found = fits(line);
                if found.is_some() {
                    return found;
                }
            }
            _ => {}
        }
        start = end + 1;
    }
    None
}

/// Returns all lines of the table, for tests that make secrets of each kind.
#[cfg(feature = "seams")]
pub fn all_lines() -> impl Iterator<Item = &'static str> {
    TABLE.lines()
}

const DIGIT: u8 = 1;
const LOWER_HEX: u8 = 2;
const LOWER: u8 = 4;
const UPPER_HEX: u8 = 8;
const UPPER: u8 = 16;
const DASH: u8 = 32;
const SLASH: u8 = 64;
const DOT: u8 = 128;

/// The class of letters and digits.
pub(super) const ALNUM: u8 = DIGIT | LOWER_HEX | LOWER | UPPER_HEX | UPPER;
/// The class of bytes that go on a word, before which no secret begins.
pub(super) const WORD: u8 = ALNUM | DASH;
/// The class of base64 with its padding, and the dot.
pub(super) const BASE64: u8 = ALNUM | SLASH | DOT;

/// Returns the class of a letter of the table, as a set of the bits of [`bits`].
pub(super) fn class(letter: u8) -> u8 {
    match letter {
        b'd' => DIGIT,
        b'h' => DIGIT | LOWER_HEX,
        b'H' => DIGIT | LOWER_HEX | UPPER_HEX,
        b'a' => DIGIT | LOWER_HEX | LOWER,
        b'U' => DIGIT | UPPER_HEX | UPPER,
        b'A' => ALNUM,
        b'w' => WORD,
        b'b' => ALNUM | SLASH,
        b'B' => BASE64,
        // `p`
        _ => WORD | DOT,
    }
}

/// Returns the bit of the smallest class that has the byte; 0 if none has it.
pub(super) fn bits(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => DIGIT,
        b'a'..=b'f' => LOWER_HEX,
        b'g'..=b'z' => LOWER,
        b'A'..=b'F' => UPPER_HEX,
        b'G'..=b'Z' => UPPER,
        b'-' | b'_' => DASH,
        b'+' | b'/' => SLASH,
        b'.' | b'=' => DOT,
        _ => 0,
    }
}
