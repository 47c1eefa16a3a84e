//! Which variables of this program's environment commands see: a pure function of the policy.

use super::super::options::Inherit;
use std::{collections::BTreeMap, ffi::OsString};

/// The variables that commands see.
pub(super) type Variables = BTreeMap<OsString, OsString>;

/// What every policy but [`Inherit::Nothing`] lets through, whatever it is called.
const ALWAYS: [&str; 10] =
    ["PATH", "HOME", "USER", "SHELL", "LANG", "TERM", "TMPDIR", "GOPATH", "CARGO_HOME", "NVM_DIR"];

/// How the names of variables end that hold secrets, whatever their case.
const SECRET: [&str; 5] = ["_API_KEY", "_SECRET", "_TOKEN", "_PASSWORD", "_CREDENTIAL"];

/// What commands see of an environment, and what is set for them, which comes before it.
#[must_use]
pub(super) fn variables(
    inherit: Inherit,
    environment: impl IntoIterator<Item = (OsString, OsString)>,
    set: impl IntoIterator<Item = (String, String)>,
) -> Variables {
    let kept = environment.into_iter().filter(|(name, _)| {
        let name = name.to_string_lossy();
        let is_core = ALWAYS.contains(&&*name);
        match inherit {
            Inherit::All => true,
            Inherit::Filtered => is_core || !is_secret(&name),
            Inherit::Core => is_core,
            Inherit::Nothing => false,
        }
    });
    kept.chain(set.into_iter().map(|(name, value)| (name.into(), value.into()))).collect()
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d6_what_commands_see_is_chosen_by_name_and_policy() {
        use Inherit::{All, Core, Filtered, Nothing};
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
            ("API_KEY", "fa--"),
            ("TOKENS", "fa--"),
            ("MY_TOKEN_FILE", "fa--"),
            ("SECRET", "fa--"),
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
                let seen = variables(policy, given, []);
                if seen.is_empty() { '-' } else { letter }
            });
            assert_eq!(found.iter().collect::<String>(), expected, "{name}");
        }
    }

    #[test]
    fn d6_what_is_set_comes_before_what_is_inherited_and_is_never_dropped() {
        let given = [("A", "1"), ("B_TOKEN", "2")].map(|(name, value)| (name.into(), value.into()));
        let set = [("A", "3"), ("C_TOKEN", "4")].map(|(n, v)| (n.to_owned(), v.to_owned()));
        let seen = variables(Inherit::Filtered, given.clone(), set.clone());
        let expected = [("A", "3"), ("C_TOKEN", "4")].map(|(n, v)| (n.into(), v.into()));
        assert_eq!(seen, Variables::from(expected.clone()));
        assert_eq!(variables(Inherit::Nothing, given, set), Variables::from(expected));
    }
}
