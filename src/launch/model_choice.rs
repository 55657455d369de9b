//! Which model a participant has: the first given of flag, environment, definition, the flag for
//! all, persona, the configuration; else none.

use std::collections::HashMap;

use crate::config::{Config, is_model};
use crate::diagnostic::Diagnostic;
use crate::history::NO_MODEL;
use crate::persona::Persona;
use crate::workflow::ParticipantSpec;

#[derive(Debug, Clone, Default)]
pub struct ModelFlags {
    pub all: Option<String>,
    pub named: HashMap<String, String>,
}

impl ModelFlags {
    pub fn parse(values: &[String]) -> Self {
        let mut flags = Self::default();
        for value in values {
            match value.split_once('=') {
                Some((name, model)) => {
                    flags.named.insert(name.to_owned(), model.to_owned());
                }
                None => flags.all = Some(value.clone()),
            }
        }
        flags
    }
}

/// `inherit` leaves the choice to the next place.
fn is_given(model: &impl AsRef<str>) -> bool {
    !matches!(model.as_ref(), "" | "inherit")
}

pub(crate) enum ModelSource {
    Flag,
    Variable(String),
    Definition,
    Persona,
    Configuration(String),
}

impl ModelSource {
    /// Says of a problem with the model where it was named.
    pub(crate) fn blame(&self, problem: Diagnostic, spec: &ParticipantSpec, file: &str) -> Diagnostic {
        let named =
            |by: &str| Diagnostic { message: format!("{by}: {}", problem.message), ..problem.clone() };
        match self {
            Self::Flag => named("--model"),
            Self::Variable(name) => named(name),
            Self::Configuration(from) => named(&format!("`model` of {from}")),
            Self::Persona => named(&format!("persona `{}`", spec.persona)),
            Self::Definition => problem.at(file, spec.place.0, spec.place.1),
        }
    }
}

pub(crate) fn model_of(
    spec: &ParticipantSpec,
    persona: Option<&Persona>,
    config: &Config,
    flags: &ModelFlags,
    notices: &mut Vec<Diagnostic>,
) -> (String, ModelSource) {
    let flag = |model: &String| (model.clone(), ModelSource::Flag);
    let names = || [&spec.name, &spec.persona].into_iter().filter(|name| !name.is_empty());
    let by_flag = names().find_map(|name| flags.named.get(name)).filter(is_given).map(flag);
    let variable = |name: &str| {
        let name = format!("{}_MODEL", name.to_uppercase().replace('-', "_"));
        let model = std::env::var(&name).ok().filter(is_given)?;
        Some((model, ModelSource::Variable(name)))
    };
    let by_environment = || names().find_map(|name| variable(name));
    let by_persona = persona.and_then(|persona| persona.model.clone()).filter(is_given).filter(|model| {
        if is_model(model) {
            return true;
        }
        let message =
            format!("the model `{model}` of persona `{}` is not `provider/model`: not used", spec.persona);
        notices.push(Diagnostic::new(message));
        false
    });
    let configured = || {
        let model = config.model.clone().filter(|model| is_given(&model.value))?;
        Some((model.value, ModelSource::Configuration(model.from)))
    };
    by_flag
        .or_else(by_environment)
        .or_else(|| Some((spec.model.clone().filter(is_given)?, ModelSource::Definition)))
        .or_else(|| flags.all.as_ref().filter(is_given).map(flag))
        .or_else(|| Some((by_persona?, ModelSource::Persona)))
        .or_else(configured)
        .unwrap_or_else(|| (NO_MODEL.to_owned(), ModelSource::Definition))
}
