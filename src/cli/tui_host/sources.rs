//! Models that can answer on this machine: local servers are asked, services are found by their keys.
//!
//! A service that wants a key is not contacted: its models are those with a built-in price.

use crate::cli::doctor;
use crate::config::doctor::{Checkup, CheckupStatus, ProbeLevel};
use crate::config::prices::TABLE;
use crate::config::providers::KNOWN;
use crate::launch::environment::Environment;
use crate::tui::ModelSource;

/// Finds them all; takes as long as the slowest local server.
pub fn sources(set_up: &Environment) -> Vec<ModelSource> {
    let catalog = set_up.catalog();
    let (mut found, mut asked) = (Vec::new(), Vec::new());
    for provider in catalog.providers() {
        let wanted = catalog.service(provider).map(|service| {
            let wanted = catalog.key_variables(provider, &service);
            (wanted, service.has_key())
        });
        match wanted {
            Ok((wanted, false)) if !wanted.is_empty() => found.push(source(provider, false, Vec::new())),
            Ok((wanted, true)) if !wanted.is_empty() && !priced(provider).is_empty() => {
                found.push(source(provider, true, priced(provider)));
            }
            _ => asked.push(provider.to_owned()),
        }
    }
    let checked = doctor::checked(set_up, &asked, ProbeLevel::Listing).ok();
    let mut all: Vec<ModelSource> = checked.unwrap_or_default().iter().filter_map(of_checkup).collect();
    all.extend(found);
    all.sort_by_key(|source| !source.is_ready);
    all
}

/// The models of a provider that have a built-in price, the cheapest first.
fn priced(provider: &str) -> Vec<String> {
    let table = TABLE.iter().find(|source| source.provider == provider);
    let mut prices: Vec<_> = table.map(|source| source.prices.to_vec()).unwrap_or_default();
    prices.sort_by(|a, b| a.3.total_cmp(&b.3));
    prices.into_iter().map(|price| format!("{provider}/{}", price.0)).collect()
}

fn source(provider: &str, is_ready: bool, models: Vec<String>) -> ModelSource {
    ModelSource { provider: provider.to_owned(), is_ready, models }
}

/// Returns nothing for a server that nobody started or configured.
fn of_checkup(checkup: &Checkup) -> Option<ModelSource> {
    let provider = checkup.provider.as_str();
    match &checkup.state {
        CheckupStatus::Answers(models) | CheckupStatus::Probed(models, ..) => {
            let models = models.iter().map(|model| format!("{provider}/{model}")).collect();
            Some(source(provider, true, models))
        }
        CheckupStatus::Program { .. } => Some(source(provider, true, vec![format!("{provider}/")])),
        CheckupStatus::Silent(_) | CheckupStatus::NotSetUp(_) | CheckupStatus::NoKey => {
            let is_usual = KNOWN.iter().any(|known| known.name == provider);
            (!is_usual).then(|| source(provider, false, Vec::new()))
        }
    }
}
