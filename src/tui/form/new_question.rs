//! The definition that the form for a new question makes.

use super::Form;
use super::values::{NOBODY, needed, parts, texts, yaml};
use crate::workflow::{Template, WITH_OPTIONS, is_model_text, split_participants, strategies};
use crate::yaml::Out;

/// A definition of one round, or of a discussion.
///
/// # Errors
/// What is wrong with the form, for the person.
pub fn definition(form: &Form) -> Result<String, String> {
    let value = |id: &str| form.value(id).trim().to_owned();
    let question = needed(form, "question")?;
    let id: String =
        question.to_lowercase().chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    let words: Vec<&str> = id.split('-').filter(|word| !word.is_empty() && word.is_ascii()).take(5).collect();
    let id = if words.is_empty() { "topic".to_owned() } else { words.join("-").chars().take(40).collect() };
    let mut entries = vec![("id", Out::text(id))];
    if !value("goal").is_empty() {
        entries.push(("goal", Out::text(value("goal"))));
    }
    let constraints = parts(&value("constraints"), ';');
    if !constraints.is_empty() {
        entries.push(("constraints", texts(constraints)));
    }
    let background = value("exploration");
    let mut names = parts(&form.value("participants"), '\n');
    let models = split_participants(&value("models"));
    if let Some(name) = models.iter().find(|name| !is_model_text(name) && !name.starts_with('{')) {
        return Err(format!("`models`: `{name}` is not a seat; write `provider/model` or `human`"));
    }
    names.extend(models);
    if names.is_empty() {
        return Err(NOBODY.to_owned());
    }
    let seat = |name: String| if name.starts_with('{') { Out::Raw(name.into()) } else { Out::word(name) };
    entries.push(("participants", Out::List(names.into_iter().map(seat).collect())));
    let strategy = value("strategy");
    let is_led = strategy != "blind";
    entries.push((if is_led { "topic" } else { "question" }, Out::text(Template::literal(&question))));
    if !background.is_empty() {
        entries.push(("exploration", Out::text(Template::literal(&background))));
    }
    let options = parts(&form.value("options"), '\n');
    let kind = if is_led { led_kind(&strategy, &options)? } else { Some("choice") };
    let mut ballot: Vec<_> = kind.map(|kind| ("kind".into(), Out::word(kind))).into_iter().collect();
    if !options.is_empty() {
        let options = options.iter().map(|option| Template::literal(option)).collect();
        ballot.push(("options".into(), texts(options)));
    }
    if is_led {
        entries.extend([("type", Out::word("discussion")), ("strategy", Out::word(strategy))]);
    }
    if !ballot.is_empty() && (is_led || !options.is_empty()) {
        entries.push(("ballot", Out::Map(ballot)));
    }
    let rule = value("rule");
    if rule != "none" && kind == Some("choice") && (is_led || !options.is_empty()) {
        entries.push(("rule", Out::word(rule)));
    }
    Ok(yaml(entries))
}

/// The ballot kind of a discussion: the strategy's first, of those with options where there are some. None of
/// a project's own strategy, which is read with the definition.
fn led_kind(strategy: &str, options: &[String]) -> Result<Option<&'static str>, String> {
    let Some(found) = strategies().iter().find(|known| known.name == strategy) else { return Ok(None) };
    let fits = |kind: &&str| options.is_empty() || WITH_OPTIONS.contains(kind) && !found.ranks_answers();
    let kind = found.accepts.iter().map(String::as_str).find(fits);
    kind.map(Some).ok_or_else(|| format!("`options`: strategy `{strategy}` takes none"))
}
