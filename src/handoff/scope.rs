//! What templates see of the definition, and a text rendered in place.

use serde_json::{Map, Value, json};

use crate::round::material::{AgendaItem, Artifact};
use crate::workflow::{Definition, Step, Template};

/// The definition's material, as every template sees it.
pub fn of_definition(definition: &Definition) -> Map<String, Value> {
    let agenda = |item: &AgendaItem| json!({"id": item.id, "title": item.title, "status": item.status});
    Map::from_iter([
        ("project_summary".to_owned(), definition.project_summary.as_deref().into()),
        ("artifacts".to_owned(), definition.artifacts.iter().map(Artifact::to_json).collect()),
        ("agenda".to_owned(), definition.agenda.iter().map(agenda).collect()),
    ])
}

/// The facilitator's line to everyone who is handed a step.
pub fn directive<'a>(definition: &'a Definition, step: &'a Step) -> Option<&'a String> {
    step.facilitator_directive.as_ref().or(definition.facilitator_directive.as_ref())
}

/// Renders a text in place; returns it as it was written, if it is a template.
pub fn render(text: &mut String, what: &str, scope: &Value) -> Result<Option<String>, String> {
    if !Template::is_one(text) {
        return Ok(None);
    }
    let template = Template::parse(text).map_err(|error| format!("{what} is no template: {error}"))?;
    let rendered =
        template.render_in_full(scope).map_err(|error| format!("{what} cannot be rendered: {error}"))?;
    Ok(Some(std::mem::replace(text, rendered)))
}
