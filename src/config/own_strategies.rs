//! A project's own strategies: `.s2s/strategies/NAME.yaml`.

use super::dirs::Dirs;
use crate::diagnostic::Diagnostic;
use crate::persona::is_name;
use crate::workflow::{STRATEGIES, Strategy};

/// A file of a strategy may have so many bytes.
const MOST_BYTES: u64 = 256 * 1024;

pub fn own_strategy(name: &str, folders: &Dirs) -> Result<Option<Strategy>, Diagnostic> {
    let text = own_strategy_text(name, folders)?;
    text.map(|text| Strategy::parse(&text, name, &format!(".s2s/strategies/{name}.yaml"))).transpose()
}

/// The text of its file; `None` if the project has none of that name.
pub fn own_strategy_text(name: &str, folders: &Dirs) -> Result<Option<String>, Diagnostic> {
    if is_name(name) { folders.of_project(&format!("strategies/{name}.yaml"), MOST_BYTES) } else { Ok(None) }
}

pub fn own_strategy_names(folders: &Dirs) -> Vec<String> {
    let entries = folders.s2s().and_then(|s2s| std::fs::read_dir(s2s.join("strategies")).ok());
    let files = entries.into_iter().flatten().flatten();
    let names = files.filter_map(|file| file.file_name().to_str()?.strip_suffix(".yaml").map(str::to_owned));
    // A built-in strategy of the same name is the one that is used.
    let is_own = |name: &String| is_name(name) && STRATEGIES.iter().all(|(known, _)| known != name);
    let mut names: Vec<String> = names.filter(is_own).collect();
    names.sort();
    names
}
