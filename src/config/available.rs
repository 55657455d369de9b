//! A model that can be asked from this machine, as far as that is known without asking anybody.

use super::prices::TABLE;
use super::programs::{self, found};
use super::providers::KNOWN;
use super::settings::Config;

/// A model, and what says that it is there.
#[derive(Debug, PartialEq, Eq)]
pub struct AvailableModel {
    /// `provider/model`; `MODEL` stands for a name that is not known here.
    pub model: String,
    pub because: String,
}

/// Returns the first that is there: a service whose key is in the environment, a server of the user's
/// configuration, a program on `PATH`.
pub fn available_model(config: &Config) -> Option<AvailableModel> {
    by_key().or_else(|| by_configuration(config)).or_else(|| by_program(config))
}

fn by_key() -> Option<AvailableModel> {
    let is_set = |name: &&&str| std::env::var(name).is_ok_and(|value| !value.trim().is_empty());
    KNOWN.iter().filter(|known| known.needs_key()).find_map(|known| {
        let key = known.keys.iter().find(is_set)?;
        let prices = TABLE.iter().find(|source| source.provider == known.name).map(|source| source.prices);
        let cheapest = prices.and_then(|prices| prices.iter().min_by(|a, b| a.3.total_cmp(&b.3)));
        let model = format!("{}/{}", known.name, cheapest.map_or("MODEL", |price| price.0));
        Some(AvailableModel { model, because: format!("`{key}` is set") })
    })
}

fn by_configuration(config: &Config) -> Option<AvailableModel> {
    config.providers.iter().find_map(|(name, said)| {
        let own = said.own.as_ref().filter(|own| own.value.base_url.is_some())?;
        Some(AvailableModel {
            model: format!("{name}/MODEL"),
            because: format!("`{name}` is a provider of {}", own.from),
        })
    })
}

fn by_program(config: &Config) -> Option<AvailableModel> {
    let provider = *found(config).first()?;
    let program = programs::program(config, provider)?.program;
    let because = format!("`{}` is on PATH", program.executable());
    Some(AvailableModel { model: format!("{provider}/"), because })
}
