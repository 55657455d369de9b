//! Text files of limited size, and errors of unreadable ones.

use std::io::Read as _;
use std::path::Path;

use crate::diagnostic::{Diagnostic, nearest};
use crate::journal::Disk;
use crate::workflow::STANDARD_INPUT;

pub fn unreadable(path: &Path, cause: &std::io::Error) -> Diagnostic {
    let problem = match cause.kind() {
        std::io::ErrorKind::NotFound => no_such_file(path),
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

/// Returns the error of a missing file, with a similar file name as hint.
pub fn no_such_file(path: &Path) -> Diagnostic {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let there = std::fs::read_dir(folder).into_iter().flatten().flatten().take(1000);
    let names: Vec<String> = there.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let wanted = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = |name: &str| name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned();
    let is_near = |name: &&str| nearest(&stem(&wanted), [&*stem(name)]).is_some();
    let near = nearest(&wanted, names.iter().map(String::as_str).filter(is_near));
    let near = near.map(|name| path.with_file_name(name));
    let hint = near
        .map_or_else(|| "check the path".to_owned(), |near| format!("did you mean `{}`?", near.display()));
    Diagnostic::new("there is no such file").hint(hint)
}

/// Reads a text file of at most `limit` bytes. Rejects pipes, devices and sockets, which might never end.
pub fn read_text(path: &Path, limit: u64) -> Result<String, Diagnostic> {
    let bytes = Disk::default().read(path, limit.saturating_add(1));
    text_of(path, limit, bytes.map_err(|error| unreadable(path, &error.cause))?)
}

/// Reads a text file, or standard input for `-`; returns its name for messages and its text.
pub fn read_input(path: &Path, limit: u64) -> Result<(String, String), Diagnostic> {
    if path != Path::new("-") {
        return Ok((path.display().to_string(), read_text(path, limit)?));
    }
    let (name, mut bytes) = (Path::new(STANDARD_INPUT), Vec::new());
    let read = std::io::stdin().lock().take(limit.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(name, &error))?;
    Ok((STANDARD_INPUT.to_owned(), text_of(name, limit, bytes)?))
}

/// Converts at most `limit` bytes to text.
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
