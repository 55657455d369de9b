//! What a model's tokens cost: the user's prices, else a table of usual ones.
//!
//! The table is what services published late in 2025, in US dollars per million tokens; it ages.
//! `prices` in config.yaml goes before it. A price is never guessed from a name that only looks
//! alike: a model is priced if it is in the table, or is a dated version of one that is.

use super::models::Catalog;
use super::providers::KNOWN;
use crate::engine::Price;

/// When the table was true.
pub const AS_OF: &str = "late 2025";

/// Provider, model, and what a million tokens cost: of a prompt, from the cache, of a reply.
const TABLE: [(&str, &str, f64, f64, f64); 33] = [
    ("openai", "gpt-5", 1.25, 0.125, 10.0),
    ("openai", "gpt-5-mini", 0.25, 0.025, 2.0),
    ("openai", "gpt-5-nano", 0.05, 0.005, 0.4),
    ("openai", "gpt-4.1", 2.0, 0.5, 8.0),
    ("openai", "gpt-4.1-mini", 0.4, 0.1, 1.6),
    ("openai", "gpt-4.1-nano", 0.1, 0.025, 0.4),
    ("openai", "gpt-4o", 2.5, 1.25, 10.0),
    ("openai", "gpt-4o-mini", 0.15, 0.075, 0.6),
    ("openai", "o3", 2.0, 0.5, 8.0),
    ("openai", "o3-mini", 1.1, 0.55, 4.4),
    ("openai", "o4-mini", 1.1, 0.275, 4.4),
    ("anthropic", "claude-opus-4-5", 5.0, 0.5, 25.0),
    ("anthropic", "claude-opus-4-1", 15.0, 1.5, 75.0),
    ("anthropic", "claude-opus-4", 15.0, 1.5, 75.0),
    ("anthropic", "claude-sonnet-4-5", 3.0, 0.3, 15.0),
    ("anthropic", "claude-sonnet-4", 3.0, 0.3, 15.0),
    ("anthropic", "claude-3-7-sonnet", 3.0, 0.3, 15.0),
    ("anthropic", "claude-haiku-4-5", 1.0, 0.1, 5.0),
    ("anthropic", "claude-3-5-haiku", 0.8, 0.08, 4.0),
    ("anthropic", "claude-3-haiku", 0.25, 0.03, 1.25),
    ("gemini", "gemini-2.5-pro", 1.25, 0.125, 10.0),
    ("gemini", "gemini-2.5-flash", 0.3, 0.03, 2.5),
    ("gemini", "gemini-2.5-flash-lite", 0.1, 0.01, 0.4),
    ("gemini", "gemini-2.0-flash", 0.1, 0.025, 0.4),
    ("mistral", "mistral-large-latest", 2.0, 2.0, 6.0),
    ("mistral", "mistral-small-latest", 0.1, 0.1, 0.3),
    ("deepseek", "deepseek-chat", 0.28, 0.028, 0.42),
    ("deepseek", "deepseek-reasoner", 0.28, 0.028, 0.42),
    ("groq", "llama-3.3-70b-versatile", 0.59, 0.59, 0.79),
    ("groq", "llama-3.1-8b-instant", 0.05, 0.05, 0.08),
    ("xai", "grok-4", 3.0, 0.75, 15.0),
    ("xai", "grok-3", 3.0, 0.75, 15.0),
    ("xai", "grok-3-mini", 0.3, 0.075, 0.5),
];
/// Who answers without a service.
const FREE: [&str; 6] = ["rehearsal", "recorded", "tracker", "command", "scripted", "human"];

/// What a model's tokens cost; `None` when nobody has said. A server of one's own costs nothing.
pub fn price_of(catalog: &Catalog<'_>, model: &str) -> Option<Price> {
    if let Some(price) = catalog.configured_price(model) {
        return Some(price);
    }
    let (provider, name) = model.split_once('/').unwrap_or((model, ""));
    if FREE.contains(&provider) {
        return Some(Price::default());
    }
    let known = KNOWN.iter().find(|known| known.name == provider)?;
    // A proxy passes on what its models cost, and does not say.
    if known.start.is_some() {
        return (provider != "litellm").then(Price::default);
    }
    // At another address it is another service, whatever it is called.
    if catalog.service(provider).is_ok_and(|service| service.base_url != known.base_url) {
        return None;
    }
    if provider == "openrouter" && name.ends_with(":free") {
        return Some(Price::default());
    }
    usual(provider, name)
}

fn usual(provider: &str, name: &str) -> Option<Price> {
    let provider = if provider == "openai-responses" { "openai" } else { provider };
    let is = |known: &str| {
        let dated = |rest: &str| {
            let rest = rest.strip_prefix('-').unwrap_or("x");
            rest == "latest" || (rest.len() >= 8 && rest.chars().all(|c| c.is_ascii_digit() || c == '-'))
        };
        name == known || name.strip_prefix(known).is_some_and(dated)
    };
    let found = TABLE.iter().find(|(of, known, ..)| *of == provider && is(known));
    found.map(|(_, _, input, cached, output)| Price { input: *input, cached: *cached, output: *output })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dated_version_is_priced_and_what_only_looks_alike_is_not() {
        let input = |provider, name| usual(provider, name).map(|price| price.input);
        assert_eq!(input("openai", "gpt-4o"), Some(2.5));
        assert_eq!(input("openai", "gpt-4o-2024-08-06"), Some(2.5));
        assert_eq!(input("openai-responses", "gpt-5-mini"), Some(0.25));
        assert_eq!(input("anthropic", "claude-sonnet-4-5-20250929"), Some(3.0));
        assert_eq!(input("anthropic", "claude-sonnet-4-20250514"), Some(3.0));
        for (provider, name) in [
            ("openai", "gpt-4o-audio-preview"),
            ("openai", "gpt-5-pro"),
            ("openai", "gpt-4"),
            ("anthropic", "claude-opus-4-7"),
            ("groq", "gpt-4o"),
        ] {
            assert_eq!(input(provider, name), None, "{name}");
        }
    }
}
