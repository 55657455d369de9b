//! Paths of the project that begin with what was typed.

use std::path::Path;

use crate::sanitize::harmless;

const MOST: usize = 10_000;

/// Returns the files and folders that begin with `typed`, in order; folders end with `/`. Hidden ones are
/// left out unless their dot was typed.
pub fn beginning_with(project: &Path, typed: &str) -> Vec<String> {
    let (folder, start) = typed.rsplit_once('/').map_or(("", typed), |(folder, start)| (folder, start));
    let shown = &typed[..typed.len() - start.len()];
    let folder = if shown == "/" { Path::new("/").to_owned() } else { project.join(folder) };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST);
    let mut found: Vec<String> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let is_hidden = name.starts_with('.') && !start.starts_with('.');
            // A name that cannot be typed as it is would lead elsewhere.
            if is_hidden || !name.starts_with(start) || harmless(&name) != name {
                return None;
            }
            let is_folder = entry.path().is_dir();
            Some(format!("{shown}{name}{}", if is_folder { "/" } else { "" }))
        })
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_a_folder_are_found_by_how_they_begin() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(dir.path().join("src/cache")).expect("folders");
        for name in ["src/cache.rs", "src/caches.rs", "src/main.rs", ".env", "a\tb"] {
            std::fs::write(dir.path().join(name), "").expect("a file");
        }
        let found = |typed: &str| beginning_with(dir.path(), typed);
        assert_eq!(found("s"), ["src/"]);
        assert_eq!(found("src/ca"), ["src/cache.rs", "src/cache/", "src/caches.rs"]);
        assert_eq!(found("src/m"), ["src/main.rs"]);
        assert_eq!(found("."), [".env"]);
        assert!(found("a").is_empty() && found("none/x").is_empty() && found("src/main.rs:1").is_empty());
    }
}
