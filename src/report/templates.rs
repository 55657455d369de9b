//! Report templates and the escaping of text.
//!
//! Every text is escaped for its template's format, unless a filter here has produced markup.

use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, State, UndefinedBehavior, Value};
use serde::Serialize;

use super::markup::{escape_html, rendered};
use super::quote;
use crate::handoff::plain_texts;
use crate::insight::wording::capital;
use crate::insight::{as_sentence, cut, format_duration, group_digits, pluralize, uncapital};
use crate::sanitize::harmless_line;

const SOURCES: [(&str, &str); 6] = [
    ("page.html", include_str!("html/page.html")),
    ("report.md", include_str!("markdown/report.md")),
    ("round.md", include_str!("markdown/round.md")),
    ("rest.md", include_str!("markdown/rest.md")),
    ("about.md", include_str!("markdown/about.md")),
    ("decision.md", include_str!("markdown/decision.md")),
];

/// Templates of the web page; a Markdown report parses only those of `TEXTS`, which is faster.
static PAGES: LazyLock<Environment<'static>> = LazyLock::new(|| environment(""));
static TEXTS: LazyLock<Environment<'static>> = LazyLock::new(|| environment(".md"));

/// Renders a template. Prints errors in its place; tests cover every template.
pub fn render(template: &str, values: impl Serialize) -> String {
    let all = if template.ends_with("html") { &PAGES } else { &TEXTS };
    let filled = all.get_template(template).and_then(|found| found.render(Value::from(Serde(values))));
    filled.unwrap_or_else(|problem| format!("{problem:#}"))
}

fn environment(ending: &str) -> Environment<'static> {
    let mut all = Environment::new();
    let syntax =
        SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build();
    all.set_syntax(syntax.unwrap_or_default());
    all.set_undefined_behavior(UndefinedBehavior::Chainable);
    all.set_auto_escape_callback(|name| match name.rsplit_once('.') {
        Some((_, "html")) => AutoEscape::Html,
        _ => AutoEscape::Custom("markdown".into()),
    });
    all.set_formatter(|out, state, value| {
        match value.as_str() {
            Some(text) if !value.is_safe() => out.write_str(&escaped(state, text))?,
            _ if value.is_none() || value.is_undefined() => {}
            _ => write!(out, "{value}")?,
        }
        Ok(())
    });
    all.add_filter("cut", |text: &str, room: usize| cut(text, room));
    all.add_filter("plural", |count: usize, noun: &str| pluralize(count, noun));
    all.add_filter("capital", |text: &str| capital(text));
    all.add_filter("uncapital", |text: &str| uncapital(text));
    all.add_filter("prose", |state: &State, text: &str| Value::from_safe_string(prose(state, text)));
    all.add_filter("code", |text: &str| Value::from_safe_string(quote::code(text)));
    all.add_filter("quote", |text: &str| Value::from_safe_string(quote::quote(text)));
    all.add_filter("cell", |text: &str| Value::from_safe_string(quote::cell(text)));
    all.add_filter("tag", |text: &str| Value::from_safe_string(quote::tag(text)));
    all.add_filter("first_line", |text: &str| quote::first_line(text));
    all.add_filter("ended", |text: &str| as_sentence(text));
    all.add_filter("sentence", |text: &str| text.trim_end_matches(['.', ':']).to_owned());
    all.add_filter("texts", |value: Value| plain_texts(Some(&json(&value))));
    all.add_filter("yaml", |text: &str| Value::from_safe_string(quote::yaml(text)));
    all.add_filter("words", |text: &str| text.replace('_', " "));
    all.add_filter("digits", |number: usize| group_digits(number));
    all.add_filter("duration", |millis: u64| format_duration(millis));
    all.add_filter("line", |text: &str| Value::from_safe_string(harmless_line(text)));
    all.add_filter("value", |value: Value| Value::from_safe_string(quote::quote_value(&json(&value))));
    all.add_filter("part", |value: Value, heading: &str| {
        Value::from_safe_string(quote::part(heading, &json(&value)))
    });
    all.add_filter("lines", |text: &str| Value::from_safe_string(quote::lines(text)));
    all.add_filter("rendered", |text: &str| Value::from_safe_string(rendered(text)));
    for (name, source) in SOURCES.into_iter().filter(|(name, _)| name.ends_with(ending)) {
        // A broken template produces an error when it is rendered.
        let _ = all.add_template(name, source);
    }
    all
}

fn json(value: &Value) -> serde_json::Value {
    serde_json::to_value(value).unwrap_or_default()
}

fn is_html(state: &State) -> bool {
    matches!(state.auto_escape(), AutoEscape::Html)
}

fn escaped(state: &State, text: &str) -> String {
    if is_html(state) { escape_html(text) } else { quote::inline(text) }
}

/// Formats a sentence of the report; text in backquotes becomes code.
fn prose(state: &State, text: &str) -> String {
    let mut said = String::new();
    if text.matches('`').count() % 2 == 1 {
        return escaped(state, text);
    }
    for (at, part) in text.split('`').enumerate() {
        let is_code = at % 2 == 1;
        said += &match (is_code, is_html(state)) {
            (true, true) => format!("<code>{}</code>", escape_html(part)),
            (true, false) => quote::code(part),
            (false, _) if part.trim().is_empty() => part.to_owned(),
            (false, true) => escape_html(part),
            (false, false) => {
                let spaces = |is: bool| if is { " " } else { "" };
                let (before, after) = (spaces(part.starts_with(' ')), spaces(part.ends_with(' ')));
                format!("{before}{}{after}", quote::inline(part))
            }
        };
    }
    said
}

#[cfg(test)]
mod tests {
    use super::{PAGES, SOURCES, TEXTS};

    #[test]
    fn every_template_parses() {
        for (name, _) in SOURCES {
            assert!(PAGES.get_template(name).or_else(|_| TEXTS.get_template(name)).is_ok(), "{name}");
        }
    }
}
