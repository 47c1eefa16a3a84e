//! The package for Debian, written by its own `dpkg-deb`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::TaskError;
use crate::package::{PackageTree, VERSION, runs, size};
use crate::{files, licences, process};

/// The makers of the program. They have no address together, and none is made up.
const AUTHORS: &str = env!("CARGO_PKG_AUTHORS");
const MIT: &str = include_str!("../../LICENSE-MIT");

/// The completion files: the name that each has here, and the path at which Debian's shells look
/// for it.
const COMPLETIONS: [(&str, &str); 3] = [
    ("innerloop", "usr/share/bash-completion/completions/innerloop"),
    ("_innerloop", "usr/share/zsh/vendor-completions/_innerloop"),
    ("innerloop.fish", "usr/share/fish/vendor_completions.d/innerloop.fish"),
];

/// Packs the tree as a package and says what that is called; nothing where there is no `dpkg-deb`,
/// which is said.
///
/// # Errors
/// When something cannot be read or written.
pub(crate) fn pack(tree: &PackageTree, into: &Path) -> Result<Option<String>, TaskError> {
    if process::on_path("dpkg-deb").is_none() {
        println!("no package for Debian: there is no dpkg-deb here (apt-get install dpkg)");
        return Ok(None);
    }
    let architecture = process::capture(Command::new("dpkg").arg("--print-architecture"))?;
    let root = into.join("debian");
    files::remove_folder(&root)?;
    let program = root.join("usr/bin/innerloop");
    lay_out(tree, &root)?;
    let control = control(&tree.program(), &architecture, size(&root)?)?;
    files::write_if_changed(&root.join("DEBIAN/control"), control.as_bytes())?;
    files::set_modes(&root, &|path| path == program)?;
    let file = format!("innerloop_{VERSION}_{architecture}.deb");
    let mut build = Command::new("dpkg-deb");
    build.args(["--root-owner-group", "--threads-max=1", "-Zxz"]);
    build.arg(format!("-z{}", tree.effort())).env("SOURCE_DATE_EPOCH", &tree.time);
    process::run(build.arg("--build").arg(&root).arg(into.join(&file)))?;
    files::remove_folder(&root)?;
    Ok(Some(file))
}

/// Puts the files where Debian has them.
fn lay_out(tree: &PackageTree, root: &Path) -> Result<(), TaskError> {
    let put = |from: &Path, to: &str| files::copy_if_changed(from, &root.join(to)).map(drop);
    put(&tree.program(), "usr/bin/innerloop")?;
    put(&tree.root.join("README.md"), "usr/share/doc/innerloop/README.md")?;
    let notices = "usr/share/doc/innerloop/THIRD-PARTY.txt";
    put(&tree.root.join(licences::FILE), notices)?;
    let mut gzip = Command::new("gzip");
    process::run(gzip.args(["-9", "--no-name"]).arg(root.join(notices)))?;
    let copyright = root.join("usr/share/doc/innerloop/copyright");
    files::write_if_changed(&copyright, self::copyright().as_bytes())?;
    for (ours, theirs) in COMPLETIONS {
        let file = tree.completion(ours);
        if file.is_file() {
            put(&file, theirs)?;
        }
    }
    let manual = tree.manual();
    if manual.is_dir() {
        let place = root.join("usr/share/man/man1");
        files::copy_folder(&manual, &place)?;
        let mut gzip = Command::new("gzip");
        process::run(gzip.args(["-9", "--no-name", "--recursive"]).arg(&place))?;
    }
    Ok(())
}

/// Returns what the package is, and what it needs: the C library that the program was linked with.
fn control(program: &Path, architecture: &str, bytes: u64) -> Result<String, TaskError> {
    let mut readelf = Command::new("readelf");
    let symbols = process::capture(readelf.args(["--version-info", "--wide"]).arg(program))?;
    let unknown = || TaskError(format!("cannot tell the C library of {}", program.display()));
    let (major, minor) = c_library(&symbols).ok_or_else(unknown)?;
    let size = bytes.div_ceil(1024);
    Ok(format!(
        "\
Package: innerloop
Version: {VERSION}
Architecture: {architecture}
Maintainer: {AUTHORS}
Installed-Size: {size}
Depends: libc6 (>= {major}.{minor}), libgcc-s1
Recommends: ca-certificates
Suggests: bubblewrap
Section: devel
Priority: optional
Description: coding agent whose tools run in a WebAssembly sandbox
 innerloop lets a model work on a folder: what it writes or runs goes through
 WASI programs inside of wasmtime, with nothing granted but that folder. It
 brings a shell and QuickJS.
"
    ))
}

/// The newest version of the C library that is asked for.
fn c_library(symbols: &str) -> Option<(u32, u32)> {
    let versions = symbols.split("GLIBC_").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(rest.len());
        let mut numbers = rest.get(..end)?.split('.').map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    });
    versions.max()
}

fn copyright() -> String {
    let paragraph = |line: &str| match line.trim() {
        "" => " .\n".to_owned(),
        line => format!(" {line}\n"),
    };
    let mit: String = MIT.lines().map(paragraph).collect();
    format!(
        "\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: innerloop

Files: *
Copyright: {AUTHORS}
License: Expat or Apache-2.0
Comment: The notices of all that others have made of it are in
 /usr/share/doc/innerloop/THIRD-PARTY.txt.gz

License: Expat
{mit}
License: Apache-2.0
 See /usr/share/common-licenses/Apache-2.0.
"
    )
}

/// Reads the packages of a folder back, as their users do, and runs what is in them.
///
/// # Errors
/// When one is not as it should be.
pub(crate) fn look(folder: &Path, scratch: &Path) -> Result<(), TaskError> {
    let unreadable = |error| TaskError(format!("cannot list {}: {error}", folder.display()));
    let entries = fs::read_dir(folder).map_err(unreadable)?;
    let paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    for package in paths.iter().filter(|path| path.extension().is_some_and(|it| it == "deb")) {
        process::run(Command::new("dpkg-deb").arg("--info").arg(package))?;
        let mut listed = Command::new("dpkg-deb");
        let listed = process::capture(listed.arg("--contents").arg(package))?;
        if listed.lines().any(|line| !line.contains(" root/root ")) {
            return Err(TaskError(format!(
                "not all is root's in {}:\n{listed}",
                package.display()
            )));
        }
        let place = scratch.join("debian");
        process::run(Command::new("dpkg-deb").arg("--extract").arg(package).arg(&place))?;
        runs(&place.join("usr/bin/innerloop"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{c_library, copyright};

    #[test]
    fn the_newest_c_library_counts() {
        let symbols = "Name: GLIBC_2.9  Flags\n Name: GLIBC_2.34\n Name: GLIBC_2.2.5 GLIBC_PRIVATE";
        assert_eq!(c_library(symbols), Some((2, 34)));
        assert_eq!(c_library("Name: GCC_3.0"), None);
    }

    #[test]
    fn a_paragraph_of_a_licence_has_no_empty_line() {
        assert!(copyright().contains("\n .\n") && !copyright().contains("\n\n\n"));
    }
}
