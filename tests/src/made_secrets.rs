//! Secrets made at random, by the lines of the scanner's table and by shapes that are written down
//! independently of it, and texts around them.

use crate::simulator::rng::Rng;
use innerloop_core::secret::all_lines;
use std::mem;

const DIGITS: &str = "0123456789";
const HEX: &str = "0123456789abcdef";
const ANY_HEX: &str = "0123456789abcdefABCDEF";
const LOWER: &str = "0123456789abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const BASE32: &str = "234567ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ALNUM: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const WORD: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-";
const BASE64: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/";

/// A secret with what must stand around it.
#[derive(Clone, Debug)]
pub struct MadeSecret {
    /// The kind that its mask names.
    pub kind: String,
    /// The secret.
    pub secret: String,
    before: String,
    after: String,
}

impl MadeSecret {
    /// A secret of any kind.
    pub fn any(rng: &mut Rng) -> Self {
        if rng.chance(50) {
            let lines: Vec<&str> = all_lines().collect();
            Self::by_line(rng.pick(&lines), rng)
        } else {
            Self::by_shape(SHAPES[rng.index(SHAPES.len())], rng)
        }
    }

    /// A secret by a line of the scanner's table.
    pub fn by_line(line: &str, rng: &mut Rng) -> Self {
        let mut parts = line.split(' ');
        let mut secret = parts.next().unwrap_or_default().to_owned();
        let kind = parts.next().unwrap_or_default().to_owned();
        let mut before = match secret.as_bytes()[0] {
            b':' => "123456789:".to_owned(),
            b'.' => random(ALNUM, 14, rng) + ".",
            b'Q' => "a.B7".to_owned(),
            _ => String::new(),
        };
        secret = secret.trim_start_matches([':', '.']).to_owned();
        for part in parts {
            match part.split_at(1) {
                ("|", _) => before.push_str(&mem::take(&mut secret)),
                ("'", literal) => secret.push_str(literal),
                (class, counts) => {
                    let (min, max) = counts.split_once('-').unwrap_or((counts, counts));
                    let (min, max): (u64, u64) = (min.parse().unwrap(), max.parse().unwrap());
                    let len = rng.between(min, max.min(min + 60));
                    secret.push_str(&random(signs(class), len, rng));
                }
            }
        }
        Self { kind, secret, before, after: String::new() }
    }

    /// A secret by one of [`SHAPES`].
    pub fn by_shape((kind, shape): (&str, &str), rng: &mut Rng) -> Self {
        let mut text = String::new();
        let mut rest = shape;
        while let Some((before, part)) = rest.split_once('{') {
            let (part, after) = part.split_once('}').unwrap();
            let (class, len) = part.split_at(1);
            text.push_str(before);
            text.push_str(&random(signs(class), len.parse().unwrap(), rng));
            rest = after;
        }
        text.push_str(rest);
        let (before, secret) = text.split_once('⟦').unwrap_or(("", &text));
        let (secret, after) = secret.split_once('⟧').unwrap_or((secret, ""));
        let [secret, before, after] = [secret, before, after].map(str::to_owned);
        Self { kind: kind.to_owned(), secret, before, after }
    }

    /// The secret with what must stand around it.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}{}{}", self.before, self.secret, self.after)
    }

    /// The secret at one of the places that secrets stand in.
    pub fn placed(&self, rng: &mut Rng) -> String {
        rng.pick(PLACES).replace('¤', &self.text())
    }

    /// The parts of the secret that have a mask each: the lines of a private key, and else all.
    #[must_use]
    pub fn masked_parts(&self) -> Vec<&str> {
        if self.kind != "pem" {
            return vec![&self.secret];
        }
        let lines = self.secret.split('\n').flat_map(|line| line.split("\\n"));
        // A plus at the beginning of a line stays, as it does in a patch.
        lines.map(|line| line.trim_start_matches('+')).filter(|line| !line.is_empty()).collect()
    }

    /// Whether a piece of the secret, of that length or longer, stands in the text.
    #[must_use]
    pub fn leaks(&self, text: &str, piece: usize) -> bool {
        self.masked_parts().into_iter().any(|part| {
            let len = piece.min(part.len());
            (0..=part.len() - len).any(|at| text.contains(&part[at..at + len]))
        })
    }
}

/// A text with several secrets, and beginnings of some.
pub fn text(rng: &mut Rng) -> String {
    let mut text = String::new();
    for _ in 0..rng.between(1, 6) {
        let placed = MadeSecret::any(rng).placed(rng);
        match rng.below(8) {
            // Cut within the secret, so that others follow directly.
            0 => {
                let most = rng.index(placed.len() + 1);
                text.push_str(&placed[..placed.floor_char_boundary(most)]);
            }
            1 => text.push_str(TRAPS),
            _ => text.push_str(&placed),
        }
        text.push_str(rng.pick(&["\n", " ", "", "\\t", "é"]));
    }
    text
}

/// A text of pieces of secrets and of what stands around them, in any order.
pub fn pieces(rng: &mut Rng) -> String {
    (0..rng.between(1, 40)).map(|_| rng.pick(PIECES)).collect()
}

fn random(signs: &str, len: u64, rng: &mut Rng) -> String {
    (0..len).map(|_| char::from(signs.as_bytes()[rng.index(signs.len())])).collect()
}

fn signs(class: &str) -> &'static str {
    match class {
        "2" => BASE32,
        "d" => DIGITS,
        "h" => HEX,
        "H" => ANY_HEX,
        "a" => LOWER,
        "U" => UPPER,
        "L" => LETTERS,
        "A" => ALNUM,
        "w" | "p" => WORD,
        "b" | "B" => BASE64,
        other => panic!("no class {other}"),
    }
}

/// Beginnings of secrets, and a mask.
const TRAPS: &str = "€ü\\n: = key=token=\"‹secret:github:3f9a2c› a://b:c@d -----BEGIN ";

/// Shapes as providers write them down: `{A36}` is 36 characters of a class; what stands before
/// `⟦` and behind `⟧` is not secret.
pub const SHAPES: &[(&str, &str)] = &[
    ("anthropic", "sk-ant-api03-{w93}AA"),
    ("anthropic", "sk-ant-admin01-{w93}AA"),
    ("anthropic", "sk-ant-oat01-{w93}AA"),
    ("openai", "sk-proj-{w74}T3BlbkFJ{w74}"),
    ("openai", "sk-svcacct-{w74}T3BlbkFJ{w74}"),
    ("openai", "sk-admin-{w58}T3BlbkFJ{w58}"),
    ("openai", "sk-{A20}T3BlbkFJ{A20}"),
    ("openrouter", "sk-or-v1-{h64}"),
    ("google", "AIza{w35}"),
    ("google", "AIzaSy{w33}"),
    ("google", "GOCSPX-{w28}"),
    ("google", "ya29.a0{w160}"),
    ("google", "1//0{w60}"),
    ("aws", "AKIA{216}"),
    ("aws", "ASIA{216}"),
    ("aws", "ABIA{216}"),
    ("aws", "aws_secret_access_key = ⟦{b40}⟧"),
    ("aws", "AWS_SECRET_ACCESS_KEY=⟦{b40}⟧"),
    ("aws", "\"SecretAccessKey\": \"⟦{b40}⟧\""),
    ("github", "ghp_{A36}"),
    ("github", "gho_{A36}"),
    ("github", "ghu_{A36}"),
    ("github", "ghs_{A36}"),
    ("github", "ghr_{A36}"),
    ("github", "github_pat_{A22}_{A59}"),
    ("gitlab", "glpat-{w20}"),
    ("gitlab", "glpat-{w27}.01.1a{a7}"),
    ("gitlab", "glrt-t1_{w27}.1a{a7}"),
    ("gitlab", "gldt-{w20}"),
    ("gitlab", "glcbt-1f_{w20}"),
    ("gitlab", "glptt-{h40}"),
    ("slack", "xoxb-{d12}-{d13}-{A24}"),
    ("slack", "xoxp-{d12}-{d12}-{d13}-{h32}"),
    ("slack", "xoxe.xoxp-1-{U164}"),
    ("slack", "xapp-1-A{U10}-{d13}-{h64}"),
    ("slack", "https://hooks.slack.com/services/⟦T{U10}/B{U10}/{A24}⟧"),
    ("discord", "https://discord.com/api/webhooks/{d18}/⟦{w68}⟧"),
    ("telegram", "{d10}:⟦AA{w33}⟧"),
    ("stripe", "sk_live_{A24}"),
    ("stripe", "sk_test_51{A97}"),
    ("stripe", "rk_live_{A24}"),
    ("stripe", "whsec_{A32}"),
    ("npm", "npm_{A36}"),
    ("npm", "//registry.npmjs.org/:_authToken=⟦{h8}-{h4}-{h4}-{h4}-{h12}⟧"),
    ("pypi", "pypi-AgEIcHlwaS5vcmc{w150}"),
    ("docker", "dckr_pat_{w27}"),
    ("huggingface", "hf_{L34}"),
    ("groq", "gsk_{A52}"),
    ("xai", "xai-{A80}"),
    ("perplexity", "pplx-{A48}"),
    ("replicate", "r8_{A37}"),
    ("cerebras", "csk-{a48}"),
    ("nvidia", "nvapi-{w64}"),
    ("fireworks", "fw_{A24}"),
    ("tavily", "tvly-{A32}"),
    ("tavily", "tvly-dev-{A32}"),
    ("jina", "jina_{h32}{A28}"),
    ("firecrawl", "fc-{h32}"),
    ("e2b", "e2b_{h40}"),
    ("langsmith", "lsv2_pt_{h32}_{h10}"),
    ("langfuse", "sk-lf-{h8}-{h4}-{h4}-{h4}-{h12}"),
    ("digitalocean", "dop_v1_{h64}"),
    ("sendgrid", "SG.{w22}.{w43}"),
    ("twilio", "SK{h32}"),
    ("mailgun", "key-{h32}"),
    ("brevo", "xkeysib-{h64}-{A16}"),
    ("shopify", "shpat_{h32}"),
    ("square", "sq0atp-{w22}"),
    ("square", "EAAA{w60}"),
    ("vault", "hvs.{w95}"),
    ("vault", "hvb.{w150}"),
    ("terraform", "{A14}.⟦atlasv1.{w67}⟧"),
    ("databricks", "dapi{h32}"),
    ("linear", "lin_api_{A40}"),
    ("notion", "ntn_{d11}{A35}"),
    ("notion", "secret_{A43}"),
    ("figma", "figd_{w40}"),
    ("postman", "PMAK-{h24}-{h34}"),
    ("pulumi", "pul-{h40}"),
    ("planetscale", "pscale_tkn_{w43}"),
    ("prefect", "pnu_{A36}"),
    ("rubygems", "rubygems_{h48}"),
    ("grafana", "glc_{b80}=="),
    ("grafana", "glsa_{A32}_{h8}"),
    ("newrelic", "NRAK-{U27}"),
    ("doppler", "dp.pt.{A43}"),
    ("dynatrace", "dt0c01.{U24}.{U64}"),
    ("easypost", "EZAK{A54}"),
    ("fly", "fm2_{b150}="),
    ("heroku", "HRKU-AA{w58}"),
    ("supabase", "sbp_{h40}"),
    ("sentry", "sntrys_eyJpYXQiO{b60}LCJyZWdpb25fdXJs{b40}=_{b43}"),
    ("sentry", "sntryu_{h64}"),
    ("sonar", "squ_{h40}"),
    ("typeform", "tfp_{w59}"),
    ("age", "AGE-SECRET-KEY-1{U58}"),
    ("alibaba", "LTAI{A20}"),
    ("azure", "Protocol=https;AccountName=x;AccountKey=⟦{b86}==⟧;EndpointSuffix=y"),
    ("azure", "{A3}8⟦Q~{w34}⟧"),
    ("cloudflare", "v1.0-{h24}-{h146}"),
    ("airtable", "pat{A14}.{h64}"),
    ("1password", "ops_eyJ{b400}"),
    ("nuget", "oy2{a43}"),
    ("crates", "cio{A32}"),
    ("clojars", "CLOJARS_{a60}"),
    ("readme", "rdme_{a70}"),
    ("shippo", "shippo_live_{h40}"),
    ("jwt", "eyJhbGciOiJIUzI1NiJ9.eyJ{w80}.{w43}"),
    ("url-password", "postgres://app:⟦{A16}⟧@db.example.com:5432/app"),
    ("url-password", "redis://:⟦{A12}⟧@cache"),
    ("url-password", "https://user:⟦{A9}@{A4}⟧@example.com/x"),
    ("assignment", "CLIENT_SECRET=⟦{A32}⟧"),
    ("assignment", "export API_TOKEN=\"⟦{A40}⟧\""),
    ("assignment", "\"apiKey\": \"⟦{A40}⟧\","),
    ("assignment", "password: ⟦{A32}⟧"),
    ("assignment", "DB_PASSWORD='⟦{A16}#{A16}⟧'"),
    ("assignment", "SECRET_KEY=⟦{h64}⟧"),
    (
        "pem",
        "-----BEGIN RSA PRIVATE KEY-----⟦\n{b64}\n{b64}\n{b64}\n{b30}==\n⟧\
         -----END RSA PRIVATE KEY-----",
    ),
    ("pem", "-----BEGIN PRIVATE KEY-----⟦\\n{b64}\\n{b64}\\n{b14}\\n⟧-----END PRIVATE KEY-----\\n"),
    (
        "pem",
        "-----BEGIN OPENSSH PRIVATE KEY-----⟦\n{b70}\n{b70}\n{b12}\n⟧\
         -----END OPENSSH PRIVATE KEY-----",
    ),
];

/// Places that secrets stand in: `¤` is the secret.
const PLACES: &[&str] = &[
    "¤",
    "SOME_NAME=¤\nOTHER=1\n",
    "{\"a\": \"¤\", \"b\": 1}",
    "value: ¤\nnext: x\n",
    "let x = \"¤\";\n",
    "call('¤', 2)",
    "https://example.com/?a=¤&b=2",
    "text before\\n¤\\nand after",
    "see ¤ there",
    "ends with ¤",
    "¤ begins",
    "Authorization: Bearer ¤\r\n",
    "<code>¤</code>",
    "Grüße — „¤“ — ü",
    "a=1&b=%3D¤&c",
    "-e ¤ run",
    "\\u003c¤\\u003e",
];

/// Pieces of secrets and of what stands around them.
const PIECES: &[&str] = &[
    "sk-",
    "eyJ",
    "ghp_",
    "AKIA",
    ":",
    "=",
    "TOKEN",
    "key",
    "secret_access_key",
    "\"",
    "'",
    "\\n",
    "\\",
    "://",
    "@",
    "user",
    "-----BEGIN ",
    "PRIVATE KEY-----",
    "-----END ",
    "-----",
    "-",
    ".",
    "/",
    " ",
    "\n",
    "\t",
    "é",
    "€",
    "‹secret:",
    "github:",
    "3f9a2c›",
    "0123456789",
    "aB3dE6gH9",
    "AAAAAAAAAAAAAAAA",
    "%3D",
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123",
    "Q~",
    "8",
    "AA",
    "&",
    "=>",
    "&x=",
    "\\u003c",
    "glpat-",
    "xoxb-",
    "12345678-",
    ".01.",
    "hooks.slack.com/services/",
    "T0123456789/",
    "$",
    "{",
    "<",
];
