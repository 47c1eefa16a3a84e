//! Checks that a call keeps to the files and folders that an input allows
//! (`docs/decisions.md#options-of-an-input`). Paths are compared as text: where links lead is the
//! sandbox's business.

use alloc::{format, string::String};
use innerloop_types::{
    action::{Action, Patch},
    json::{Json, Value, from_str},
    path::{resolved, seen},
};

/// The characters that have a special meaning in patterns.
const SPECIAL: [char; 7] = ['*', '?', '[', '{', '!', '\\', '}'];

/// The files and folders that calls of an agent in a folder may name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathAllowlist<'a> {
    /// The allowed files and folders, from the workspace's root on.
    pub(crate) paths: &'a [String],
    /// The folder that the agent works in.
    pub(crate) folder: &'a str,
}

impl PathAllowlist<'_> {
    /// Checks a built-in action; `patch` is the outline of its patch, if it has one.
    ///
    /// # Errors
    /// The text that the model reads in place of a result.
    pub(crate) fn check(&self, action: &Action, patch: Option<&Patch>) -> Result<(), String> {
        match action {
            Action::Patch { .. } => {
                let files = action.files(patch);
                files.iter().try_for_each(|file| self.check_path(file.path))
            }
            Action::ReadMany { include, .. } => {
                include.iter().try_for_each(|text| self.check_pattern(text))
            }
            // Nobody knows what a program touches, whatever its arguments name.
            Action::RunProgram { .. } | Action::Shell { .. } => Err(self.refusal("programs")),
            // Fetching reads pages of the web, not files.
            Action::Fetch { .. } => Ok(()),
            Action::Read { .. }
            | Action::ViewImage { .. }
            | Action::Write { .. }
            | Action::Edit { .. }
            | Action::List { .. }
            | Action::Glob { .. }
            | Action::Grep(_) => self.check_path(action.path().unwrap_or_default()),
        }
    }

    /// Checks a call of a host's tool, of which the arguments with these names are paths.
    ///
    /// # Errors
    /// The text that the model reads in place of a result.
    pub(crate) fn check_own(
        &self,
        arguments: &Json,
        names: &[String],
        read_only: bool,
    ) -> Result<(), String> {
        if names.is_empty() {
            // A tool that declares no paths and may change something would be the way around the
            // rule.
            return if read_only { Ok(()) } else { Err(self.refusal("tools that may change any")) };
        }
        let arguments: Value = from_str(arguments.text()).unwrap_or_default();
        names.iter().try_for_each(|name| match arguments.get(name) {
            // An argument that is absent stands for the agent's own folder, so that leaving it out
            // must not pass.
            None | Some(Value::Null) => self.check_path(""),
            Some(Value::String(path)) => self.check_path(path),
            Some(Value::Array(paths)) => paths.iter().try_for_each(|path| match path.as_str() {
                Some(path) => self.check_path(path),
                None => Err(self.refusal(name)),
            }),
            Some(_) => Err(self.refusal(name)),
        })
    }

    fn check_path(&self, path: &str) -> Result<(), String> {
        if self.has(path) {
            return Ok(());
        }
        Err(self.refusal(if path.is_empty() { "the whole folder" } else { path }))
    }

    /// Checks a file, a folder, or a pattern of paths. A bare name is a pattern as well, and is
    /// looked for everywhere.
    fn check_pattern(&self, text: &str) -> Result<(), String> {
        // The folders in front of the first special character are all that is certain: everything
        // that matches lies below them.
        let inner = text.strip_prefix("./").unwrap_or(text).trim_start_matches('/');
        let literal = inner.find(SPECIAL).and_then(|end| inner.get(..end));
        let base = match literal {
            None if inner.contains('/') => inner,
            literal => {
                literal.and_then(|start| start.rsplit_once('/')).map_or("", |(base, _)| base)
            }
        };
        // The whole text is checked as well, since a `..` behind the pattern may lead out again:
        // `texts/*/../../src`.
        if self.has(base) && self.has(text) { Ok(()) } else { Err(self.refusal(text)) }
    }

    fn has(&self, path: &str) -> bool {
        let path = resolved(self.folder, path);
        path.is_some_and(|path| self.paths.iter().any(|allowed| contains(allowed, &path)))
    }

    fn refusal(&self, what: &str) -> String {
        if self.paths.is_empty() {
            return format!("{what}: no files may be used for this input.");
        }
        let paths = innerloop_json::joined(self.paths, ", ");
        format!("{what}: only these paths may be used for this input, from the root on: {paths}.")
    }
}

/// Returns whether a path is the allowed file, or in the allowed folder; both are given from the
/// root on.
fn contains(allowed: &str, path: &str) -> bool {
    resolved("", allowed).is_some_and(|allowed| seen(&allowed, path).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{vec, vec::Vec};
    use innerloop_types::action::{GrepQuery, LineNumbering};

    fn refused(folder: &str, paths: &[&str], action: &Action) -> bool {
        let paths: Vec<String> = paths.iter().map(|path| String::from(*path)).collect();
        let patch = match action {
            Action::Patch { patch, .. } => Patch::parse(patch).ok(),
            _ => None,
        };
        PathAllowlist { paths: &paths, folder }.check(action, patch.as_ref()).is_err()
    }

    #[test]
    fn paths_are_those_of_an_agent_in_its_folder() {
        let read = |path: &str| Action::read(path, None, LineNumbering::None);
        let table = [
            ("", "texts/a.md", false),
            ("", "/texts/a.md", false),
            ("", "./texts//a.md", false),
            ("", "texts", false),
            ("", "texts\\a.md", false),
            ("", "textsx/a.md", true),
            ("", "texts/../src/a.rs", true),
            ("", "../texts/a.md", true),
            ("", "notes.md", false),
            ("", "notes.md.bak", true),
            ("", "", true),
            ("texts", "a.md", false),
            ("texts", "../src/a.rs", true),
            ("src", "texts/a.md", true),
            ("src", "/texts/a.md", false),
        ];
        for (folder, path, is_refused) in table {
            let action = read(path);
            let found = refused(folder, &["texts/", "notes.md"], &action);
            assert_eq!(found, is_refused, "{path} in {folder}");
        }
        assert!(!refused("", &["."], &read("any/where")));
        assert!(refused("", &[], &read("any/where")));
    }

    #[test]
    fn patterns_begin_in_an_allowed_folder() {
        let table = [
            ("texts/**/*.md", false),
            ("texts/", false),
            ("texts/a.md", false),
            ("./texts/*", false),
            ("texts*/a.md", true),
            ("**/*.md", true),
            ("{texts,src}/*", true),
            ("!texts/*", true),
            ("texts/*/../../src/a.rs", true),
            ("texts\\*", true),
            // Bare names are looked for everywhere.
            ("texts", true),
            ("notes.md", true),
        ];
        for (text, is_refused) in table {
            let include = vec![text.into()];
            let hidden = innerloop_types::action::HiddenFiles::Ignored;
            let action = Action::ReadMany { include, exclude: vec![], flat: false, hidden };
            assert_eq!(refused("", &["texts", "notes.md"], &action), is_refused, "{text}");
            assert!(!refused("", &["."], &action), "{text}");
        }
    }

    #[test]
    fn every_target_of_a_patch_and_every_base_of_a_search_counts() {
        let patch =
            |text: &str| Action::patch(alloc::format!("*** Begin Patch\n{text}\n*** End Patch\n"));
        let moved = "*** Update File: texts/a.md\n*** Move to: src/a.md\n@@\n-a\n+b";
        let grep = |path: Option<&str>| {
            Action::Grep(GrepQuery { path: path.map(Into::into), ..GrepQuery::default() })
        };
        let table = [
            (patch("*** Add File: texts/b.md\n+b"), false),
            (patch("*** Add File: texts/b.md\n+b\n*** Delete File: src/a.rs"), true),
            (patch(moved), true),
            (grep(Some("texts")), false),
            (grep(None), true),
            (Action::glob("*.md", Some("texts".into())), false),
            (Action::glob("texts/*.md", None), true),
            (Action::list(Some("src".into()), 1), true),
            (Action::Shell { command: "cat texts/a.md".into(), folder: None }, true),
            (Action::RunProgram { program: "wc".into(), args: vec![], stdin: None }, true),
            (Action::Fetch { urls: vec!["https://example.com".into()], prompt: None }, false),
        ];
        for (action, is_refused) in table {
            assert_eq!(refused("", &["texts"], &action), is_refused, "{action:?}");
        }
    }

    #[test]
    fn a_tool_of_the_hosts_is_held_to_the_arguments_that_it_names() {
        let paths = [String::from("texts")];
        let allowed = PathAllowlist { paths: &paths, folder: "" };
        let named = ["from".into(), "to".into()];
        let table = [
            (r#"{"from":"texts/a","to":"texts/b"}"#, false),
            (r#"{"from":"texts/a","to":["texts/b","texts/c"]}"#, false),
            (r#"{"from":"texts/a","to":["texts/b","src"]}"#, true),
            (r#"{"from":"texts/a","to":7}"#, true),
            (r#"{"from":"texts/a"}"#, true),
            (r#"{"from":"texts/a","to":null}"#, true),
        ];
        for (arguments, is_refused) in table {
            let json = Json::parse(arguments).unwrap();
            assert_eq!(allowed.check_own(&json, &named, true).is_err(), is_refused, "{arguments}");
            assert!(allowed.check_own(&json, &[], false).is_err());
            assert!(allowed.check_own(&json, &[], true).is_ok());
        }
    }
}
