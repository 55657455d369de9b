//! The names of seats that nobody named: those of their models, made unique.

use std::collections::HashMap;

const LONGEST: usize = 64;

/// Returns the last part of a model's name; of a program without a model, such as `claude-cli/`, its own.
pub fn name_of_model(model: &str) -> String {
    let whole = model.trim_end_matches('/');
    let last = whole.rsplit('/').next().unwrap_or_default();
    let last = if whole == model { last } else { last.strip_suffix("-cli").unwrap_or(last) };
    let fits = |c: char| if c.is_alphanumeric() || "-_.:".contains(c) { c } else { '-' };
    let name: String = last.chars().take(LONGEST).map(fits).collect();
    if name.is_empty() { "participant".to_owned() } else { name }
}

#[derive(Debug, Default)]
pub struct SeatNames(HashMap<String, usize>);

impl SeatNames {
    pub fn taken<'a>(names: impl Iterator<Item = &'a String>) -> Self {
        Self(names.map(|name| (name.clone(), 1)).collect())
    }

    /// Takes a name, or the first of `-2`, `-3` … behind it that is free.
    pub fn free(&mut self, name: &str) -> String {
        let mut nth = self.0.get(name).map_or(1, |last| last + 1);
        let numbered = |nth: usize| if nth == 1 { name.to_owned() } else { format!("{name}-{nth}") };
        while self.0.contains_key(&numbered(nth)) {
            nth += 1;
        }
        self.0.insert(numbered(nth), 1);
        self.0.insert(name.to_owned(), nth);
        numbered(nth)
    }
}
