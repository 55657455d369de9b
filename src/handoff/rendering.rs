//! Rendering of the templates in rounds and approvals.
//!
//! Renders once, over finished steps and the definition. Text from results, people or models is never read as a
//! template. A tag without a value fails the step.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::linked_tasks::NO_LINKS;
use crate::ballot::{BallotForm, OptionText};
use crate::history::{Session, Written};
use crate::round::material::{AgendaItem, Artifact};
use crate::sanitize::pluralize;
use crate::workflow::{Approval, Definition, OptionsFrom, Round, Step, Template};

/// Longest option from a result, in characters.
const LONGEST_OPTION: usize = 200;

pub struct Rendered<'a> {
    pub round: Cow<'a, Round>,
    pub directive: Option<String>,
    pub written: Option<Box<Written>>,
    pub warnings: Vec<String>,
}

impl Session {
    pub fn rendered_round<'a>(&self, step: &'a Step, round: &'a Round) -> Result<Rendered<'a>, String> {
        let directive = directive(self.definition(), step).cloned();
        let texts = step.written().into_iter().map(|(_, text)| text);
        let is_plain = !texts.chain(directive.as_deref()).any(Template::is_one) && round.revises.is_none();
        if is_plain && round.options_from.is_none() {
            return Ok(Rendered {
                round: Cow::Borrowed(round),
                directive,
                written: None,
                warnings: Vec::new(),
            });
        }
        let scope = self.scope_of(step)?;
        let mut asked = round.clone();
        let question = render(&mut asked.question, "`question`", &scope)?;
        let mut written = Written { question, ..Written::default() };
        if let Some(exploration) = &mut asked.exploration {
            written.exploration = render(exploration, "`exploration`", &scope)?;
        }
        let mut said = directive;
        if let Some(directive) = &mut said {
            written.directive = render(directive, "`facilitator_directive`", &scope)?;
        }
        for (seat, line) in &mut asked.directives {
            let template = render(line, "a line of `directives`", &scope)?;
            written.directives.extend(template.map(|template| (seat.clone(), template)));
        }
        let form = &mut asked.ballot;
        let mut warnings = Vec::new();
        if let Some(before) = self.revised(step, round)? {
            // A revision has the same options, even if their source has changed.
            let order = form.order;
            *form = BallotForm { order, is_revision: true, ..before.opened.ballot.clone() };
        } else if let Some(from) = &round.options_from {
            warnings = take_options(from, &scope, form)?;
            written.options = Some(json!({ "from": from.transform.text(), "max": from.max }));
        } else if render_options(form, &scope)? {
            check_names(&form.options)?;
            written.options = Some(round.ballot.options.as_slice().into());
        }
        let written = (written != Written::default()).then(|| Box::new(written));
        Ok(Rendered { round: Cow::Owned(asked), directive: said, written, warnings })
    }

    pub fn rendered_message(
        &self,
        step: &Step,
        approval: &Approval,
    ) -> Result<(String, Option<String>), String> {
        let mut message = approval.message.clone();
        if !Template::is_one(&message) {
            return Ok((message, None));
        }
        let written = render(&mut message, "`message`", &self.scope_of(step)?)?;
        Ok((message, written))
    }

    /// Returns the names that a step's templates see: results of finished steps, and the definition.
    pub(super) fn scope_of(&self, step: &Step) -> Result<Value, String> {
        let definition = self.definition();
        let mut scope = of_definition(definition);
        scope.insert("goal".to_owned(), definition.goal.as_deref().into());
        scope.insert("constraints".to_owned(), definition.constraints.as_slice().into());
        scope.insert("stage_context".to_owned(), json!({ "stage_description": stage(step) }));
        let linked = Some(self.linked(step).json).filter(|json| json != NO_LINKS);
        scope.extend(linked.map(|json| ("linked_tasks".to_owned(), json.into())));
        scope.extend(self.input_of(step)?);
        Ok(Value::Object(scope))
    }
}

fn render_options(form: &mut BallotForm, scope: &Value) -> Result<bool, String> {
    let mut is_rendered = false;
    let mut about = std::mem::take(&mut form.about);
    for option in &mut form.options {
        let text = about.shift_remove(option);
        is_rendered |= render(option, "an option", scope)?.is_some();
        let Some(mut text) = text else { continue };
        for part in [&mut text.title, &mut text.description].into_iter().flatten() {
            is_rendered |= render(part, "an option's text", scope)?.is_some();
        }
        form.about.insert(option.clone(), text);
    }
    Ok(is_rendered)
}

fn take_options(from: &OptionsFrom, scope: &Value, form: &mut BallotForm) -> Result<Vec<String>, String> {
    let path = from.transform.text();
    let none = Map::new();
    let found = from.transform.apply(scope["context"].as_object().unwrap_or(&none));
    let found = found.map_err(|error| format!("`options` come from nothing: {error}"))?;
    let Value::Array(items) = found else {
        return Err(format!("`options` come from `{path}`, which is no list"));
    };
    form.options.clear();
    form.about.clear();
    let mut kept: Vec<&Value> = Vec::new();
    let (mut empty, mut doubles) = (0, 0);
    for item in &items {
        let (id, text) = option(item, path)?;
        if id.is_empty() {
            empty += 1;
        } else if kept.contains(&item) || text == OptionText::default() && form.options.contains(&id) {
            doubles += 1;
        } else {
            kept.push(item);
            if text != OptionText::default() {
                form.about.insert(id.clone(), text);
            }
            form.options.push(id);
        }
    }
    let count = form.options.len();
    if count < 2 {
        return Err(format!("`{path}` has {}; a ballot needs at least two", pluralize(count, "option")));
    }
    if count > from.max {
        return Err(format!("`{path}` has {count} options; at most {} are accepted: `max`", from.max));
    }
    check_names(&form.options)?;
    let left_out = [(empty, "empty"), (doubles, "double")].into_iter().filter(|(count, _)| *count > 0);
    Ok(left_out
        .map(|(count, what)| format!("left out of `{path}`: {}", pluralize(count, &format!("{what} option"))))
        .collect())
}

/// Reads an option from a text, a number, a map with an `id`, or a round's position.
fn option(item: &Value, path: &str) -> Result<(String, OptionText), String> {
    let text =
        |key: &str| item[key].as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    let id = match item {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Null => String::new(),
        // Answer of a round, under its displayed name.
        Value::Object(entry) if entry.contains_key("stepId") => {
            let said = item["result"]["position"].as_str();
            let id = said.and(text("stepId")).unwrap_or_default();
            return Ok((id, OptionText { title: None, description: said.map(str::to_owned) }));
        }
        Value::Object(_) => {
            let about = OptionText { title: text("title"), description: text("description") };
            return Ok((text("id").unwrap_or_default(), about));
        }
        Value::Bool(_) | Value::Array(_) => {
            return Err(format!("`{path}` contains an invalid option: write texts, or maps with an `id`"));
        }
    };
    Ok((id, OptionText::default()))
}

/// Checks that ballots can tell the options apart.
fn check_names(options: &[String]) -> Result<(), String> {
    for (nth, option) in options.iter().enumerate() {
        let shown: String = option.chars().take(40).collect();
        if option.trim() != option || option.is_empty() || option.contains('\n') {
            return Err(format!("option `{shown}` is not one line of text"));
        }
        if option.chars().count() > LONGEST_OPTION {
            return Err(format!("option `{shown}…` is longer than {LONGEST_OPTION} characters"));
        }
        if option.eq_ignore_ascii_case("abstain") {
            return Err("`abstain` is always possible and is no option".to_owned());
        }
        if options[..nth].iter().any(|other| other.to_lowercase() == option.to_lowercase()) {
            return Err(format!("two options have the name `{shown}`"));
        }
    }
    Ok(())
}

/// Describes a step in one line.
pub fn stage(step: &Step) -> &str {
    step.description.as_ref().or(step.label.as_ref()).unwrap_or(&step.id)
}

/// Returns the definition's material for templates.
pub fn of_definition(definition: &Definition) -> Map<String, Value> {
    let agenda = |item: &AgendaItem| json!({"id": item.id, "title": item.title, "status": item.status});
    Map::from_iter([
        ("project_summary".to_owned(), definition.project_summary.as_deref().into()),
        ("artifacts".to_owned(), definition.artifacts.iter().map(Artifact::to_json).collect()),
        ("agenda".to_owned(), definition.agenda.iter().map(agenda).collect()),
    ])
}

/// Returns the facilitator's line for all who work on a step.
pub fn directive<'a>(definition: &'a Definition, step: &'a Step) -> Option<&'a String> {
    step.facilitator_directive.as_ref().or(definition.facilitator_directive.as_ref())
}

/// Renders a text in place; returns the original if it is a template.
pub fn render(text: &mut String, what: &str, scope: &Value) -> Result<Option<String>, String> {
    if !Template::is_one(text) {
        return Ok(None);
    }
    let template = Template::parse(text).map_err(|error| format!("{what} is no template: {error}"))?;
    let rendered =
        template.render_in_full(scope).map_err(|error| format!("{what} cannot be rendered: {error}"))?;
    Ok(Some(std::mem::replace(text, rendered)))
}
