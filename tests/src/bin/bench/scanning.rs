//! The search for secrets in text, beside the search for one byte by `memchr`.

use crate::limits::{least, timed};
use innerloop_core::secret::{SecretScanner, SecretStream};
use std::{fs, hint::black_box, path::Path, time::Duration};

/// The sizes of the pieces in which a tool's output comes.
const PIECES: [usize; 2] = [64, 4096];
const RUNS: usize = 7;

/// The repository's sources, as whole texts and as streams.
pub(super) fn run() {
    let texts = sources();
    let bytes: usize = texts.iter().map(String::len).sum();
    let (scanner, mut found) = (SecretScanner::default(), Vec::new());
    let report = |name: &str, goal: &str, work: &mut dyn FnMut()| {
        let time: Duration = least(RUNS, || timed(&mut *work));
        println!("    {name}: {:.0} MB/s{goal}", bytes as f64 / 1e6 / time.as_secs_f64());
    };
    println!("secrets in {} sources of {:.1} MB", texts.len(), bytes as f64 / 1e6);
    report("whole texts", " (goal ≥ 200)", &mut || {
        for text in &texts {
            black_box(scanner.masked(text, &mut found));
        }
    });
    for size in PIECES {
        report(&format!("streams in pieces of {size} bytes"), "", &mut || {
            for text in &texts {
                let mut stream = SecretStream::new(&scanner);
                for piece in text.as_bytes().chunks(size) {
                    black_box(stream.push(piece.to_vec()));
                }
                black_box(stream.end());
            }
        });
    }
    report("limit: memchr for one byte", "", &mut || {
        for text in &texts {
            black_box(memchr::memchr_iter(b':', text.as_bytes()).count());
        }
    });
}

/// The texts of all Rust files.
fn sources() -> Vec<String> {
    let mut texts = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            if path.is_dir() && !["target", "node_modules", ".git"].contains(&&*name) {
                folders.push(path);
            } else if name.ends_with(".rs") {
                texts.push(fs::read_to_string(path).unwrap());
            }
        }
    }
    texts
}
