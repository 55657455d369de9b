//! Values of form fields, read, and the YAML written from them.

use super::Form;
use crate::yaml::Out;

/// What is wrong where nobody was picked.
pub const NOBODY: &str = "`participants`: select at least one";

/// Returns the value of a field that must be filled in.
///
/// # Errors
/// That the field is empty, for the person.
pub fn needed(form: &Form, id: &str) -> Result<String, String> {
    let value = form.value(id).trim().to_owned();
    if value.is_empty() { Err(format!("`{id}` is empty")) } else { Ok(value) }
}

/// Returns the parts of a text between separators, trimmed, without empty ones.
pub fn parts(text: &str, by: char) -> Vec<String> {
    text.split(by).map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

pub fn texts(items: Vec<String>) -> Out<'static> {
    Out::List(items.into_iter().map(Out::text).collect())
}

/// Writes entries as YAML; texts quoted, so that what is typed is never taken for something else.
pub fn yaml(entries: Vec<(&str, Out<'_>)>) -> String {
    let entries: Vec<_> = entries.into_iter().map(|(key, value)| (key.into(), value)).collect();
    Out::document(&entries)
}
