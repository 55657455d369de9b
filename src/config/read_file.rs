//! Text files of bounded size, and what is said of one that cannot be read.

use std::path::Path;

use crate::diagnostic::Diagnostic;
use crate::journal::Disk;

/// What is said of a file that cannot be read.
pub fn unreadable(path: &Path, cause: &std::io::Error) -> Diagnostic {
    let problem = match cause.kind() {
        std::io::ErrorKind::NotFound => Diagnostic::new("there is no such file").hint("check the path"),
        std::io::ErrorKind::IsADirectory => {
            Diagnostic::new("this is a folder").hint("give a file; the shell's `*.yaml` names several")
        }
        std::io::ErrorKind::PermissionDenied => {
            Diagnostic::new("may not be read").hint("check the file's permissions")
        }
        std::io::ErrorKind::InvalidInput => {
            Diagnostic::new(cause.to_string()).hint("write it to a file, or pipe it into standard input")
        }
        _ => Diagnostic::new(format!("cannot be read: {cause}")),
    };
    problem.with_file(&path.display().to_string())
}

/// Reads a text file of at most `limit` bytes. A pipe, a device or a socket, which might never end, is none.
pub fn read_text(path: &Path, limit: u64) -> Result<String, Diagnostic> {
    let bytes = Disk::default().read(path, limit.saturating_add(1));
    text_of(path, limit, bytes.map_err(|error| unreadable(path, &error.cause))?)
}

/// Bytes as text, of at most `limit`.
pub fn text_of(path: &Path, limit: u64, bytes: Vec<u8>) -> Result<String, Diagnostic> {
    let name = path.display().to_string();
    if bytes.len() as u64 > limit {
        return Err(Diagnostic::new(format!("is larger than {limit} bytes")).with_file(&name));
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count() as u64;
        Diagnostic::new("is not UTF-8 text").hint("save the file as UTF-8").at(&name, line, 0)
    })
}
