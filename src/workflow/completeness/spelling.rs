//! Words as they are compared, and what looks like an id.

/// A word without what stands around it, in lower case.
pub fn plain(word: &str) -> String {
    let edge = |c: char| !c.is_alphanumeric() && !matches!(c, '/' | '~' | '.');
    word.trim_matches(edge).trim_end_matches(['.', ',']).to_lowercase()
}

/// Whether a word looks like `APP-15`.
pub fn looks_like_id(word: &str) -> bool {
    let Some((project, number)) = word.split_once('-') else { return false };
    project.starts_with(|c: char| c.is_ascii_uppercase())
        && project.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
        && !number.is_empty()
        && number.chars().all(|c| c.is_ascii_digit())
}
