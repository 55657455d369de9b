//! Prices of models: the user's, else published ones from a table.
//!
//! Each price in the table has a source and a date. It omits prices without a trustworthy source or that vary by
//! the hour; such a model has no price until the user sets one. A model is priced if it, or the model it is a
//! dated or `-latest` version of, is listed.

use super::need::{Need, NeedKind};
use super::participant_factory::ParticipantFactory;
use super::providers::known;
use crate::core::is_free;
use crate::diagnostic::Diagnostic;
use crate::history::Price;
use crate::participants::http::is_this_machine;

/// Month in which the table was last compared with published prices.
pub const AS_OF: &str = "2026-11";

pub struct PriceSource {
    pub provider: &'static str,
    pub as_of: &'static str,
    pub source: &'static str,
    /// Model, and US dollars per million tokens: input, cached input, output.
    pub prices: &'static [(&'static str, f64, f64, f64)],
}

pub const TABLE: [PriceSource; 6] = [
    PriceSource {
        provider: "anthropic",
        as_of: "2026-10",
        source: "platform.claude.com/docs, pricing and models",
        prices: &[
            ("claude-fable-5-1", 10.0, 0.25, 50.0),
            ("claude-fable-5", 10.0, 1.0, 50.0),
            ("claude-opus-5-5", 4.0, 0.2, 20.0),
            ("claude-opus-5", 5.0, 0.5, 25.0),
            ("claude-opus-4-8", 5.0, 0.5, 25.0),
            ("claude-opus-4-7", 5.0, 0.5, 25.0),
            ("claude-opus-4-6", 5.0, 0.5, 25.0),
            ("claude-opus-4-5", 5.0, 0.5, 25.0),
            ("claude-sonnet-5-5", 2.0, 0.1, 10.0),
            ("claude-sonnet-5", 2.0, 0.2, 10.0),
            ("claude-sonnet-4-6", 3.0, 0.3, 15.0),
            ("claude-sonnet-4-5", 3.0, 0.3, 15.0),
            ("claude-haiku-4-5", 1.0, 0.1, 5.0),
        ],
    },
    PriceSource {
        provider: "openai",
        as_of: "2026-10",
        source: "release notes of PromptFuel, which compares with OpenAI's pages; prompts of up to 272,000 tokens",
        prices: &[
            ("gpt-6.1-sol", 2.0, 0.1, 10.0),
            ("gpt-6-sol", 2.0, 0.2, 10.0),
            ("gpt-6-luna", 0.1, 0.01, 0.5),
        ],
    },
    PriceSource {
        provider: "openai",
        as_of: "2026-06",
        source: "morphllm.com, after OpenAI's pricing page",
        prices: &[
            ("gpt-5.5", 5.0, 0.5, 30.0),
            ("gpt-5.4", 2.5, 0.25, 15.0),
            ("gpt-5.4-mini", 0.75, 0.075, 4.5),
            ("gpt-5.4-nano", 0.2, 0.02, 1.25),
        ],
    },
    PriceSource {
        provider: "openai",
        as_of: "2026-03",
        source: "deploybase.ai and adk-model, after OpenAI's pricing page; o3 and o4-mini from caches: LiteLLM's table",
        prices: &[
            ("gpt-5", 1.25, 0.125, 10.0),
            ("gpt-5-mini", 0.25, 0.025, 2.0),
            ("gpt-5-nano", 0.05, 0.005, 0.4),
            ("gpt-4.1", 2.0, 0.5, 8.0),
            ("gpt-4.1-mini", 0.4, 0.1, 1.6),
            ("gpt-4.1-nano", 0.1, 0.025, 0.4),
            ("gpt-4o", 2.5, 1.25, 10.0),
            ("gpt-4o-mini", 0.15, 0.075, 0.6),
            ("o3", 2.0, 0.5, 8.0),
            ("o4-mini", 1.1, 0.275, 4.4),
        ],
    },
    // Sources differ on the cache price, so cached tokens are priced in full.
    PriceSource {
        provider: "gemini",
        as_of: "2026-09",
        source: "ai.google.dev/gemini-api/docs/pricing as transcribed by APIs.io; prompts of up to 200,000 tokens",
        prices: &[("gemini-3.5-flash", 1.5, 1.5, 9.0), ("gemini-3.1-pro-preview", 2.0, 2.0, 12.0)],
    },
    PriceSource {
        provider: "xai",
        as_of: "2025-06",
        source: "docs.x.ai, models and pricing, in an archived copy",
        prices: &[("grok-3", 3.0, 0.75, 15.0), ("grok-3-mini", 0.3, 0.075, 0.5)],
    },
];

/// Returns the listed price of a model, or of the model that it is a version of.
fn usual(provider: &str, name: &str) -> Option<Price> {
    let provider = if provider == "openai-responses" { "openai" } else { provider };
    let is = |known: &str| {
        let dated = |rest: &str| {
            let rest = rest.strip_prefix('-').unwrap_or("x");
            rest == "latest" || (rest.len() >= 8 && rest.chars().all(|c| c.is_ascii_digit() || c == '-'))
        };
        name == known || name.strip_prefix(known).is_some_and(dated)
    };
    let listed = TABLE.iter().filter(|published| published.provider == provider);
    let found = listed.flat_map(|published| published.prices).find(|(known, ..)| is(known));
    found.map(|(_, input, cached, output)| Price { input: *input, cached: *cached, output: *output })
}

/// Returns the price of a model's tokens. A server on this machine is free, unless it has the name of a hosted
/// service or of a proxy.
///
/// # Errors
/// The price is unknown, so no cost limit is possible; with the reason.
pub fn price_of(catalog: &ParticipantFactory<'_>, model: &str) -> Result<Price, Diagnostic> {
    let found = users(catalog, model).or_else(|why| of_project(catalog, model).ok_or(why));
    found.map_err(|why| {
        let message = format!("the price of `{model}` is not known, so that no budget can be kept: {why}");
        let hint = format!("add `prices: {{{model}: {{input: …, output: …}}}}` to your own config.yaml");
        Diagnostic::new(message).hint(hint)
    })
}

/// Returns the price that counts toward a cost limit: the higher one if the user agreed to a project's price.
pub fn highest_price_of(catalog: &ParticipantFactory<'_>, model: &str) -> Result<Price, Diagnostic> {
    let price = price_of(catalog, model)?;
    let other = of_project(catalog, model).unwrap_or(price);
    let higher = |of: fn(&Price) -> f64| of(&price).max(of(&other));
    Ok(Price {
        input: higher(|price| price.input),
        cached: higher(|price| price.cached),
        output: higher(|price| price.output),
    })
}

/// Returns the project's price if no other is known, so that a cost limit needs it.
pub fn needed_price<'a>(catalog: &ParticipantFactory<'a>, model: &str) -> Option<&'a Need> {
    catalog.config.project_prices.get(model).filter(|_| users(catalog, model).is_err())
}

/// Returns the project's price if the user has not agreed to it.
pub fn unagreed_price<'a>(catalog: &ParticipantFactory<'a>, model: &str) -> Option<&'a Need> {
    catalog.config.project_prices.get(model).filter(|need| !catalog.trust.allows(need))
}

fn of_project(catalog: &ParticipantFactory<'_>, model: &str) -> Option<Price> {
    let need = catalog.config.project_prices.get(model).filter(|need| catalog.trust.allows(need))?;
    if let NeedKind::Price { price, .. } = need.what { Some(price) } else { None }
}

fn users(catalog: &ParticipantFactory<'_>, model: &str) -> Result<Price, &'static str> {
    catalog.config.prices.get(model).copied().map_or_else(|| published(catalog, model), Ok)
}

fn published(catalog: &ParticipantFactory<'_>, model: &str) -> Result<Price, &'static str> {
    let (provider, name) = model.split_once('/').unwrap_or((model, ""));
    if let Some(found) = catalog.seat_program(provider) {
        let listed = found.program.priced_as.and_then(|provider| usual(provider, name));
        return listed.ok_or("no price is listed for what this program asks");
    }
    if is_free(model) {
        return Ok(Price::default());
    }
    match provider {
        "command" => return Err("a program does not say what its model costs"),
        "litellm" => return Err("a proxy passes on what its models cost, and does not say"),
        _ => {}
    }
    let (known, address) = (known(provider), catalog.address(provider));
    if known.is_none_or(|known| known.start.is_some()) && address.as_deref().is_some_and(is_this_machine) {
        return Ok(Price::default());
    }
    match known.ok_or("no price is built in for this provider")? {
        // A built-in name at another address is another service.
        known if address.is_some_and(|url| url != known.base_url) => {
            Err("its service is at another address than its own")
        }
        _ if provider == "openrouter" && name.ends_with(":free") => Ok(Price::default()),
        _ => usual(provider, name).ok_or("the built-in table does not list it"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::providers::KNOWN;
    use super::*;

    #[test]
    fn dated_versions_are_priced_and_similar_names_are_not() {
        let input = |provider, name| usual(provider, name).map(|price| price.input);
        assert_eq!(input("openai", "gpt-4o"), Some(2.5));
        assert_eq!(input("openai", "gpt-4o-2024-08-06"), Some(2.5));
        assert_eq!(input("openai-responses", "gpt-5-mini"), Some(0.25));
        assert_eq!(input("anthropic", "claude-sonnet-4-5-20250929"), Some(3.0));
        for (provider, name) in [
            ("openai", "gpt-4o-audio-preview"),
            ("openai", "gpt-5-pro"),
            ("openai", "gpt-4"),
            ("anthropic", "claude-opus-9"),
            ("anthropic", "claude-haiku-5-5"),
            ("mistral", "mistral-large-latest"),
            ("deepseek", "deepseek-chat"),
            ("groq", "gpt-4o"),
        ] {
            assert_eq!(input(provider, name), None, "{name}");
        }
    }

    #[test]
    fn price_table_is_dated_unique_and_documented() {
        let mut names = Vec::new();
        let mut rows = String::new();
        for PriceSource { provider, as_of, source, prices } in &TABLE {
            assert!(as_of.len() == 7 && *as_of <= AS_OF && !source.is_empty(), "{provider} {as_of}");
            assert!(KNOWN.iter().any(|known| known.name == *provider), "{provider}");
            let mut listed = Vec::new();
            for (model, input, cached, output) in *prices {
                assert!(cached <= input && input <= output, "{model}");
                names.push(format!("{provider}/{model}"));
                listed.push(format!("`{model}` {input}/{cached}/{output}"));
            }
            rows.push_str(&format!("- `{provider}`, {as_of}: {} ({source})\n", listed.join(", ")));
        }
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count, "a model is named twice");
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/PROVIDERS.md");
        let text = std::fs::read_to_string(path).expect("the document");
        let (before, after) = text
            .split_once("<!-- prices: made from the table in src/config/prices.rs -->\n")
            .expect("a mark");
        let (_, after) = after.split_once("<!-- end of prices -->").expect("an end");
        let whole = format!(
            "{before}<!-- prices: made from the table in src/config/prices.rs -->\n\
             {rows}<!-- end of prices -->{after}"
        );
        if std::env::var_os("UPDATE_PRICES").is_some() {
            std::fs::write(path, &whole).expect("a file");
        }
        assert_eq!(
            whole,
            std::fs::read_to_string(path).expect("the document"),
            "run this test with UPDATE_PRICES=1"
        );
    }
}
