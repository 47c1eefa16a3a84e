//! The indexes for packages: those of pip and npm on this machine, as far as their settings are
//! simple to read, so that a mirror that is set up for them serves programs as well.

use innerloop_workspace::plain_file;
use std::{
    env,
    ffi::OsString,
    io::Read as _,
    path::{Path, PathBuf},
};

/// The most bytes that are read of a settings file.
const LARGEST: u64 = 1 << 20;

const PYPI: &str = "https://pypi.org/simple";
const NPM: &str = "https://registry.npmjs.org";

/// The addresses of the indexes.
#[derive(Clone, PartialEq, Eq)]
pub struct PackageIndexes {
    /// The simple index (PEP 691) of PyPI.
    pub pypi: String,
    /// The registry of npm.
    pub npm: String,
}

impl PackageIndexes {
    /// The indexes that pip and npm use: `PIP_INDEX_URL` or `index-url` of pip's settings files,
    /// `npm_config_registry`, `NPM_CONFIG_REGISTRY` or `registry` of `~/.npmrc`; otherwise the
    /// public ones.
    #[must_use]
    pub fn of_environment() -> Self {
        Self::of(|name| env::var_os(name))
    }

    /// The same with another environment.
    #[must_use]
    pub fn of(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let text = |name: &str| set(name)?.into_string().ok();
        let path = |name: &str| set(name).map(PathBuf::from);
        let home = path("HOME");
        let pypi = text("PIP_INDEX_URL").or_else(|| {
            let own = path("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config")));
            // pip's own order of precedence.
            let files = [
                path("PIP_CONFIG_FILE"),
                path("VIRTUAL_ENV").map(|folder| folder.join("pip.conf")),
                own.map(|folder| folder.join("pip/pip.conf")),
                home.as_ref().map(|folder| folder.join(".pip/pip.conf")),
                Some(PathBuf::from("/etc/pip.conf")),
            ];
            files.into_iter().flatten().find_map(|file| pip(&read(&file)?))
        });
        let npm = text("npm_config_registry").or_else(|| text("NPM_CONFIG_REGISTRY"));
        let npm = npm.or_else(|| npmrc(&read(&home.as_ref()?.join(".npmrc"))?));
        Self {
            pypi: pypi.unwrap_or_else(|| PYPI.to_owned()),
            npm: npm.unwrap_or_else(|| NPM.to_owned()),
        }
    }
}

// The addresses may hold passwords, so that they are not shown.
impl std::fmt::Debug for PackageIndexes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PackageIndexes").finish_non_exhaustive()
    }
}

fn read(path: &Path) -> Option<String> {
    let file = plain_file::open(path).ok()?;
    let mut text = String::new();
    file.take(LARGEST).read_to_string(&mut text).ok()?;
    Some(text)
}

/// The index that a settings file of pip names, for all of its commands or for `install`.
fn pip(text: &str) -> Option<String> {
    let (mut section, mut found) = ("", None);
    for line in text.lines() {
        if let Some(name) = line.trim().strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
            section = name.trim();
        }
        let Some((key, value)) = line.split_once(['=', ':']) else { continue };
        let is_index = matches!(key.trim(), "index-url" | "index_url");
        // As in pip, the section of a command takes precedence over that of all.
        match section {
            "install" if is_index => return Some(value.trim().to_owned()),
            "global" if is_index => found = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    found
}

/// The registry that a settings file of npm names.
fn npmrc(text: &str) -> Option<String> {
    let mut settings = text.lines().filter_map(|line| line.split_once('='));
    // The last line counts. A registry of one scope has another key, `@scope:registry`.
    let (_, value) = settings.rfind(|(key, _)| key.trim() == "registry")?;
    let value = value.trim().trim_matches(['"', '\'']).to_owned();
    // npm expands variables here, and this reader does not: the public registry is used then.
    (!value.contains("${")).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::PackageIndexes;
    use std::{ffi::OsString, fs};

    #[test]
    fn indexes_are_those_that_pip_and_npm_ask() {
        let home = tempfile::tempdir().unwrap();
        let of = |variables: &[(&str, &str)]| {
            PackageIndexes::of(|name| match name {
                "HOME" => Some(home.path().into()),
                _ => variables.iter().find(|(key, _)| *key == name).map(|(_, v)| OsString::from(v)),
            })
        };
        fs::create_dir_all(home.path().join(".config/pip")).unwrap();
        let pip = "[global]\nindex-url = https://a.example/simple\n[list]\nindex-url = b\n";
        fs::write(home.path().join(".config/pip/pip.conf"), pip).unwrap();
        let npmrc = "fund=false\n@own:registry=https://x.example\nregistry=https://n.example/\n";
        fs::write(home.path().join(".npmrc"), npmrc).unwrap();
        let found = of(&[]);
        assert_eq!(found.pypi, "https://a.example/simple");
        assert_eq!(found.npm, "https://n.example/");
        let set = [("PIP_INDEX_URL", "https://p.example"), ("npm_config_registry", "https://r")];
        let found = of(&set);
        assert_eq!((found.pypi.as_str(), found.npm.as_str()), ("https://p.example", "https://r"));
        fs::write(home.path().join("own"), format!("{pip}[install]\nindex_url: i\n")).unwrap();
        let own = home.path().join("own");
        assert_eq!(of(&[("PIP_CONFIG_FILE", own.to_str().unwrap())]).pypi, "i");
        fs::write(home.path().join(".npmrc"), "registry=${HOST}/npm").unwrap();
        assert_eq!(of(&[]).npm, super::NPM);
        assert!(!format!("{:?}", of(&set)).contains("example"));
    }
}
