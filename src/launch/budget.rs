//! The limit on cost, and the prices it is kept by.

use std::collections::HashMap;

use super::environment::Environment;
use super::error::no_problems;
use crate::config::model_price::{price_of, unpriced};
use crate::diagnostic::Diagnostic;
use crate::engine::Budget;
use crate::history::{Price, Session};

/// Returns the limit on cost: the smaller of `max_usd` and the definition's.
pub fn budget(
    max_usd: Option<f64>,
    session: &Session,
    set_up: &Environment,
) -> Result<Option<Budget>, Vec<Diagnostic>> {
    let of_session = session.definition.as_ref().and_then(|definition| definition.budget);
    let Some(limit) = max_usd.into_iter().chain(of_session).reduce(f64::min) else { return Ok(None) };
    let prices = known_prices(session, set_up);
    let mut problems = Vec::new();
    for model in models(session).filter(|model| !prices.contains_key(*model)) {
        let why = unpriced(&set_up.catalog(), model);
        let message = format!("the price of `{model}` is not known, so that no budget can be kept: {why}");
        let hint = format!("add `prices: {{{model}: {{input: …, output: …}}}}` to your own config.yaml");
        problems.push(Diagnostic::new(message).hint(hint));
    }
    no_problems(problems)?;
    let mut budget = Budget::new(limit, prices, set_up.config.reply_limits());
    budget.go_on(session);
    Ok(Some(budget))
}

/// The prices of a session's models, as far as they are known.
pub fn known_prices(session: &Session, set_up: &Environment) -> HashMap<String, Price> {
    let catalog = set_up.catalog();
    let priced = |model: &String| Some((model.clone(), price_of(&catalog, model)?));
    models(session).filter_map(priced).collect()
}

/// Every model that may answer.
fn models(session: &Session) -> impl Iterator<Item = &String> {
    let specs = session.definition.iter().flat_map(|definition| &definition.participants);
    let lists = specs.filter_map(|spec| Some(spec.models_after(&session.roster.get(&spec.name)?.model)));
    session.roster.values().map(|seat| &seat.model).chain(lists.flatten())
}
