//! The variables of this program's environment that commands see: a pure function of the policy.
//! Names and values that look like secrets are kept back.

use super::super::options::InheritPolicy;
use std::{collections::BTreeMap, ffi::OsString};

/// The variables that commands see.
pub(super) type EnvironmentVariables = BTreeMap<OsString, OsString>;

/// The variables that every policy but [`InheritPolicy::Nothing`] passes on, whatever their value
/// is.
const ALWAYS: [&str; 10] =
    ["PATH", "HOME", "USER", "SHELL", "LANG", "TERM", "TMPDIR", "GOPATH", "CARGO_HOME", "NVM_DIR"];

/// Words between the `_` of names of variables that hold secrets; a `*` stands for any ending.
// Whole words, so that `KEYBOARD` or `TOKENIZERS_PARALLELISM` are passed on.
const SECRET_WORDS: [&str; 13] = [
    "KEY",
    "KEYS",
    "SECRET",
    "SECRETS",
    "TOKEN",
    "TOKENS",
    "PASS*",
    "PWD",
    "PAT",
    "AUTH",
    "CREDENTIAL*",
    "CREDS",
    "PRIVATE",
];

/// Names with a word of the list above that hold a shell's current folder.
const FOLDERS: [&str; 2] = ["PWD", "OLDPWD"];

/// The beginnings by which keys and tokens are recognised.
const SECRET_BEGINNINGS: [&str; 16] = [
    "-----BEGIN ",
    "AIza",
    "AKIA",
    "ASIA",
    "eyJ",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "hf_",
    "npm_",
    "pypi-",
    "sk-",
    "xoxb-",
    "xoxp-",
];
/// The length below which a value with such a beginning is something else.
const SHORTEST_SECRET: usize = 16;

/// Returns the variables that commands see, and how many were kept back since they hold secrets.
/// What is `set` for them replaces what is inherited.
#[must_use]
pub(super) fn variables(
    inherit: InheritPolicy,
    environment: impl IntoIterator<Item = (OsString, OsString)>,
    set: impl IntoIterator<Item = (String, String)>,
) -> (EnvironmentVariables, usize) {
    let mut kept_back = 0;
    let kept = environment.into_iter().filter(|(name, value)| {
        let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
        let is_core = ALWAYS.contains(&&*name);
        match inherit {
            InheritPolicy::All => true,
            InheritPolicy::Filtered => {
                let is_secret = !is_core && (is_secret_name(&name) || is_secret_value(&value));
                kept_back += usize::from(is_secret);
                !is_secret
            }
            InheritPolicy::Core => is_core,
            InheritPolicy::Nothing => false,
        }
    });
    let kept: EnvironmentVariables = kept.collect();
    let set = set.into_iter().map(|(name, value)| (name.into(), value.into()));
    // In a map the last value of a name stays.
    (kept.into_iter().chain(set).collect(), kept_back)
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let is_secret = |word: &str| {
        SECRET_WORDS.iter().any(|known| match known.strip_suffix('*') {
            Some(begin) => word.starts_with(begin),
            None => word == *known,
        })
    };
    !FOLDERS.contains(&&*name) && name.split('_').any(is_secret)
}

/// Returns whether a value looks like a key, or is an address with a password.
fn is_secret_value(value: &str) -> bool {
    let is_key = value.len() >= SHORTEST_SECRET
        && SECRET_BEGINNINGS.iter().any(|begin| value.starts_with(begin));
    let has_password = || {
        let (_, rest) = value.split_once("://")?;
        let authority = rest.split(['/', '?', '#']).next()?;
        // From the right, since a password may hold an `@`.
        let (user, _) = authority.rsplit_once('@')?;
        user.split_once(':').filter(|(_, password)| !password.is_empty())
    };
    is_key || has_password().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d6_what_commands_see_is_chosen_by_name_and_policy() {
        use InheritPolicy::{All, Core, Filtered, Nothing};
        // Which of the four policies let it through: filtered, all, core, nothing.
        let table = [
            ("PATH", "fac-"),
            ("HOME", "fac-"),
            ("USER", "fac-"),
            ("SHELL", "fac-"),
            ("LANG", "fac-"),
            ("TERM", "fac-"),
            ("TMPDIR", "fac-"),
            ("GOPATH", "fac-"),
            ("CARGO_HOME", "fac-"),
            ("NVM_DIR", "fac-"),
            ("EDITOR", "fa--"),
            ("LC_ALL", "fa--"),
            ("path", "fa--"),
            ("PWD", "fa--"),
            ("OLDPWD", "fa--"),
            ("PATH_INFO", "fa--"),
            ("KEYBOARD", "fa--"),
            ("TOKENIZERS_PARALLELISM", "fa--"),
            ("COMPOSE_FILE", "fa--"),
            ("API_KEY", "-a--"),
            ("TOKENS", "-a--"),
            ("MY_TOKEN_FILE", "-a--"),
            ("SECRET", "-a--"),
            ("SECRET_KEY_BASE", "-a--"),
            ("AWS_SECRET_ACCESS_KEY", "-a--"),
            ("AWS_ACCESS_KEY_ID", "-a--"),
            ("PGPASSWORD_FILE", "fa--"),
            ("MYSQL_PWD", "-a--"),
            ("DB_PASS", "-a--"),
            ("SSH_PASSPHRASE", "-a--"),
            ("GITHUB_PAT", "-a--"),
            ("NPM_CONFIG__AUTH", "-a--"),
            ("GOOGLE_APPLICATION_CREDENTIALS", "-a--"),
            ("JWT_PRIVATE_PEM", "-a--"),
            ("ANTHROPIC_API_KEY", "-a--"),
            ("openai_api_key", "-a--"),
            ("_API_KEY", "-a--"),
            ("AWS_SECRET", "-a--"),
            ("GitHub_Token", "-a--"),
            ("DB_PASSWORD", "-a--"),
            ("gcp_CREDENTIAL", "-a--"),
        ];
        for (name, expected) in table {
            let policies = [(Filtered, 'f'), (All, 'a'), (Core, 'c'), (Nothing, 'n')];
            let found = policies.map(|(policy, letter)| {
                let given = [(OsString::from(name), OsString::from("value"))];
                let (seen, _) = variables(policy, given, []);
                if seen.is_empty() { '-' } else { letter }
            });
            assert_eq!(found.iter().collect::<String>(), expected, "{name}");
        }
    }

    #[test]
    fn d6_what_is_set_comes_before_what_is_inherited_and_is_never_dropped() {
        let given = [("A", "1"), ("B_TOKEN", "2")].map(|(name, value)| (name.into(), value.into()));
        let set = [("A", "3"), ("C_TOKEN", "4")].map(|(n, v)| (n.to_owned(), v.to_owned()));
        let (seen, kept_back) = variables(InheritPolicy::Filtered, given.clone(), set.clone());
        assert_eq!(kept_back, 1);
        let expected = [("A", "3"), ("C_TOKEN", "4")].map(|(n, v)| (n.into(), v.into()));
        assert_eq!(seen, EnvironmentVariables::from(expected.clone()));
        assert_eq!(
            variables(InheritPolicy::Nothing, given, set),
            (EnvironmentVariables::from(expected), 0)
        );
    }

    #[test]
    fn d6_values_that_are_secrets_are_kept_back_whatever_their_name() {
        let table = [
            ("postgres://app:hunter2@db.example/x", true),
            ("redis://:hunter2@cache:6379", true),
            ("sk-0123456789abcdefgh", true),
            ("ghp_0123456789abcdefgh", true),
            ("-----BEGIN PRIVATE KEY-----", true),
            ("https://proxy.example:8080", false),
            ("https://ann@example.com/x:y@z", false),
            ("git@example.com:a/b.git", false),
            ("sk-short", false),
            ("eyJ", false),
            ("1", false),
        ];
        for (value, is_secret) in table {
            let given = [(OsString::from("SOMETHING"), OsString::from(value))];
            let (seen, kept_back) = variables(InheritPolicy::Filtered, given, []);
            assert_eq!((seen.is_empty(), kept_back == 1), (is_secret, is_secret), "{value}");
        }
    }
}
