//! Paths of the machine in actions on files: agents name files as commands do, from the machine's
//! root on. A path that leads into the workspace is replaced by the one that the tools know, from
//! the workspace's root on; any other stays as it is.

use innerloop_core::action::{Action, GrepQuery};

/// The beginnings of the lines of a patch that name a file.
const NAMING: [&str; 4] =
    ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];

/// Returns the same action, with paths and patterns that began with `root`, the workspace's place
/// on the machine, beginning at the workspace's root.
pub(super) fn below(root: &str, mut action: Action) -> Action {
    let map = |path: &mut String| {
        if let Some(mapped) = mapped(root, path) {
            *path = mapped;
        }
    };
    match &mut action {
        Action::Read { path, .. }
        | Action::ViewImage { path }
        | Action::Write { path, .. }
        | Action::Edit { path, .. } => map(path),
        Action::ReadMany { include, exclude, .. } => {
            include.iter_mut().chain(exclude).for_each(map);
        }
        Action::Patch { patch, .. } => *patch = in_patch(root, patch),
        Action::List { path, ignore, .. } => path.iter_mut().chain(ignore).for_each(map),
        Action::Glob { pattern, path, .. } => {
            map(pattern);
            path.iter_mut().for_each(map);
        }
        Action::Grep(GrepQuery { path, glob, .. }) => path.iter_mut().chain(glob).for_each(map),
        // These see the machine's own paths.
        Action::RunProgram { .. } | Action::Shell { .. } | Action::Fetch { .. } => {}
    }
    action
}

/// Returns the path from the workspace's root on; `None` if it does not lead there.
fn mapped(root: &str, path: &str) -> Option<String> {
    let rest = path.strip_prefix(root.trim_end_matches('/'))?;
    // The end of a name must follow: `/home/u/pp` is not in `/home/u/p`.
    let is_inside = rest.is_empty() || rest.starts_with('/');
    is_inside.then(|| if rest.is_empty() { "/".to_owned() } else { rest.to_owned() })
}

/// Returns the patch with the names of its files mapped. Its text is left alone, since all its
/// lines begin with a sign.
fn in_patch(root: &str, patch: &str) -> String {
    let line = |line: &str| {
        let named = NAMING.iter().find_map(|naming| Some((naming, line.strip_prefix(naming)?)));
        let mapped = named.and_then(|(naming, path)| Some((naming, mapped(root, path)?)));
        mapped.map_or_else(|| line.to_owned(), |(naming, path)| format!("{naming}{path}"))
    };
    patch.split_inclusive('\n').map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use innerloop_core::json::{from_str, to_string};

    #[test]
    fn d3_real_paths_of_the_workspace_are_told_from_its_root_on() {
        for (path, expected) in [
            ("/home/u/p/a.txt", "/a.txt"),
            ("/home/u/p/src/../a.txt", "/src/../a.txt"),
            ("/home/u/p", "/"),
            ("/home/u/p/", "/"),
            ("/home/u/pp/a.txt", "/home/u/pp/a.txt"),
            ("/home/u", "/home/u"),
            ("/a.txt", "/a.txt"),
            ("a.txt", "a.txt"),
            ("home/u/p/a.txt", "home/u/p/a.txt"),
        ] {
            let read = Action::read(path, None, Default::default());
            assert_eq!(below("/home/u/p", read).path(), Some(expected), "{path}");
        }
        let read = Action::read("/a", None, Default::default());
        assert_eq!(below("/", read).path(), Some("/a"));
    }

    #[test]
    fn d3_whatever_an_action_calls_its_paths_they_are_told_so() {
        for (given, expected) in [
            (r#"{"action":"glob","pattern":"/w/**/*.rs"}"#, r#""pattern":"/**/*.rs""#),
            (r#"{"action":"grep","pattern":"/w/x","path":"/w/s"}"#, r#""/w/x","path":"/s""#),
            (r#"{"action":"list","path":"/w","depth":1}"#, r#""path":"/""#),
            (r#"{"action":"read_many","include":["/w/a","b"]}"#, r#"["/a","b"]"#),
            (
                r#"{"action":"patch","patch":"*** Update File: /w/a\n-/w/a\n*** Move to: /w/b"}"#,
                r#""*** Update File: /a\n-/w/a\n*** Move to: /b""#,
            ),
            (r#"{"action":"shell","command":"ls /w/a"}"#, r#""ls /w/a""#),
        ] {
            let mapped = to_string(&below("/w", from_str(given).unwrap()));
            assert!(mapped.contains(expected), "{mapped}");
        }
    }
}
