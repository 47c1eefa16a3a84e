//! Writes the logs that every runtime must replay to the same bytes: `corpus FOLDER`, and beside
//! them `digests.txt`, what the native replay comes to, in lines of a name and a digest. What the
//! folder held before goes.

use innerloop_tests::corpus;
use std::{env, fs, io, path::PathBuf, process::ExitCode};

fn main() -> ExitCode {
    let Some(folder) = env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: corpus FOLDER");
        return ExitCode::from(2);
    };
    match write(&folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: cannot write the logs to {}: {error}", folder.display());
            ExitCode::FAILURE
        }
    }
}

fn write(folder: &std::path::Path) -> io::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    let mut digests = String::new();
    for log in corpus::logs() {
        fs::write(folder.join(format!("{}.log.jsonl", log.name)), &log.text)?;
        digests.push_str(&format!("{} {}\n", log.name, corpus::digest(&log)));
    }
    fs::write(folder.join("digests.txt"), digests)
}
