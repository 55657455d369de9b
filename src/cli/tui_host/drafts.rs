//! Texts of unsent forms, kept next to the keys of open rounds.

use std::path::{Path, PathBuf};

use crate::diagnostic::Diagnostic;
use crate::journal::Disk;

const MOST: u64 = 16 * 1024 * 1024;

fn path(folder: &Path, name: &str) -> PathBuf {
    let safe: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).take(150).collect();
    folder.join(format!("{safe}.json"))
}

/// Keeps a text under a name, for its owner alone; `None` forgets it.
pub fn save_draft(folder: &Path, name: &str, text: Option<&str>) -> Result<(), Diagnostic> {
    let (disk, path) = (Disk::default(), path(folder, name));
    let done = match text {
        Some(text) => disk.make_own_dir(folder).and_then(|()| disk.write_whole(&path, text.as_bytes())),
        None => disk.remove(&path),
    };
    done.map_err(|error| Diagnostic::new(error.to_string()))
}

pub fn load_draft(folder: &Path, name: &str) -> Option<String> {
    let bytes = Disk::default().read_own(&path(folder, name), MOST).ok()?;
    String::from_utf8(bytes).ok()
}
