//! The results so far, as the next step would be handed them.

use ratatui::text::Line;

use crate::tui::cell_text::wrapped;
use crate::tui::model::Model;

pub fn lines(model: &Model, width: u16) -> Vec<Line<'static>> {
    let session = model.session();
    let mut lines = Vec::new();
    let mut part = |name: &str, text: &str| {
        lines.push(Line::styled(name.to_owned(), model.theme.strong()));
        lines.extend(wrapped(text, usize::from(width), 20_000).into_iter().map(Line::from));
        lines.push(Line::from(""));
    };
    if let Some(input) = session.header.as_ref().map(|header| &header.input).filter(|input| !input.is_null())
    {
        part("input", &shown(input));
    }
    let context = session.context();
    if context.is_empty() {
        part("context", "No step results yet.");
    } else {
        part("context", &shown(&serde_json::Value::Object(context)));
    }
    lines
}

/// A value as YAML, as a person reads it.
pub fn shown(value: &serde_json::Value) -> String {
    use crate::yaml::Out;
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Object(_) => Out::json_document(value, true).trim_end().to_owned(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}
