//! The price of a model as it is configured here: the user's, else the published one.

use super::access::known;
use super::participant_factory::ParticipantFactory;
use super::prices::usual;
use crate::core::is_free;
use crate::history::Price;
use crate::participants::http::is_this_machine;

/// Returns the price of a model's tokens; `None` if it is not known. A server on this machine costs nothing,
/// unless it has the name of a hosted service or of a proxy.
pub fn price_of(catalog: &ParticipantFactory<'_>, model: &str) -> Option<Price> {
    if let Some(price) = catalog.configured_price(model) {
        return Some(price);
    }
    let (provider, name) = model.split_once('/').unwrap_or((model, ""));
    if let Some(found) = catalog.seat_program(provider) {
        return usual(found.program.priced_as?, name);
    }
    let address = catalog.address(provider);
    let is_here = address.as_deref().is_some_and(is_this_machine);
    let known = known(provider);
    let is_local = provider != "litellm" && known.is_none_or(|known| known.start.is_some());
    if is_free(model) || is_here && is_local {
        return Some(Price::default());
    }
    let known = known?;
    // At another address it is another service, whatever it is called.
    if known.start.is_some() || address.is_some_and(|url| url != known.base_url) {
        return None;
    }
    if provider == "openrouter" && name.ends_with(":free") {
        return Some(Price::default());
    }
    usual(provider, name)
}

pub fn unpriced(catalog: &ParticipantFactory<'_>, model: &str) -> &'static str {
    let provider = model.split('/').next().unwrap_or(model);
    if catalog.seat_program(provider).is_some() {
        return "no price is listed for what this program asks";
    }
    let known = known(provider);
    match (provider, known, catalog.address(provider)) {
        ("command", ..) => "a program does not say what its model costs",
        ("litellm", ..) => "a proxy passes on what its models cost, and does not say",
        (_, Some(known), Some(url)) if url != known.base_url => {
            "its service is at another address than its own"
        }
        (_, Some(_), _) => "the built-in table does not list it",
        _ => "no price is built in for this provider",
    }
}
