//! What is typed, kept beside the keys of open rounds until it is handed in; and the person's editor.

use std::path::{Path, PathBuf};

use crate::config::read_file::read_text;
use crate::diagnostic::Diagnostic;
use crate::journal::Disk;

/// More than this is not kept, in bytes.
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
        None if path.exists() => disk.erase(&path),
        None => Ok(()),
    };
    done.map_err(|error| Diagnostic::new(error.to_string()))
}

pub fn load_draft(folder: &Path, name: &str) -> Option<String> {
    let bytes = Disk::default().read_own(&path(folder, name), MOST).ok()?;
    String::from_utf8(bytes).ok()
}

/// Has the person edit a text in `$VISUAL` or `$EDITOR`.
pub fn edit(folder: &Path, text: &str) -> Result<String, Diagnostic> {
    let named = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let editor = named("VISUAL").or_else(|| named("EDITOR")).ok_or_else(|| {
        Diagnostic::new("no editor is named").hint("set EDITOR, for example to `nano` or `vim`")
    })?;
    let failed = |error: crate::journal::DiskError| Diagnostic::new(error.to_string());
    let disk = Disk::default();
    let path = folder.join(format!("edit-{}.md", std::process::id()));
    disk.make_own_dir(folder).map_err(failed)?;
    disk.write_whole(&path, text.as_bytes()).map_err(failed)?;
    let edited = run(&editor, &path).and_then(|()| read_text(&path, MOST));
    // What was edited is read; a copy that stays is its owner's alone.
    let _ = disk.erase(&path);
    edited
}

fn run(editor: &str, path: &Path) -> Result<(), Diagnostic> {
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or_default();
    let status = std::process::Command::new(program).args(words).arg(path).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Diagnostic::new(format!("`{program}` ended with {status}: the text is as it was"))),
        Err(error) => Err(Diagnostic::new(format!("`{program}` cannot be started: {error}"))
            .hint("set EDITOR to one that can")),
    }
}
