//! Plain files that are read by their paths, such as settings: whatever stands at the path, reading
//! it neither waits for a pipe nor goes on without an end, as a device would.

use crate::platform;
use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::Path,
};

/// Opens a plain file for reading; a link is followed.
///
/// # Errors
/// The system's, or that something else stands there.
pub fn open(path: &Path) -> io::Result<File> {
    let is_plain = |found: &fs::Metadata| {
        let why = "it is no plain file; put one there";
        if found.is_file() { Ok(()) } else { Err(io::Error::other(why)) }
    };
    // Looked at twice: to open some devices makes them act, so it must be known before; and what
    // was looked at may have been replaced before it was opened.
    is_plain(&fs::metadata(path)?)?;
    let file = platform::open_without_waiting(path)?;
    is_plain(&file.metadata()?)?;
    Ok(file)
}

/// Reads a plain file of at most `most` bytes.
///
/// # Errors
/// As [`open`]'s, or that it is larger.
pub fn bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("it has more than {most} bytes")));
    }
    Ok(bytes)
}

/// Reads a plain file of at most `most` bytes as text.
///
/// # Errors
/// As [`bytes`]', or that it is not UTF-8.
pub fn text(path: &Path, most: u64) -> io::Result<String> {
    let no_text = |_| io::Error::new(io::ErrorKind::InvalidData, "it is no text in UTF-8");
    String::from_utf8(bytes(path, most)?).map_err(no_text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn what_is_no_plain_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let _listener = UnixListener::bind(&socket).unwrap();
        for path in [&*socket, Path::new("/dev/zero"), folder.path()] {
            let error = text(path, 10).unwrap_err().to_string();
            assert!(error.contains("no plain file"), "{}: {error}", path.display());
        }
        let file = folder.path().join("file");
        fs::write(&file, "1234567890").unwrap();
        assert_eq!(text(&file, 10).unwrap(), "1234567890");
        assert!(text(&file, 9).unwrap_err().to_string().contains("more than 9 bytes"));
        assert_eq!(open(&folder.path().join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
