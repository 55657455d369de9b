//! One discussion: its strategy, ballot and phases.

use serde_json::{Map as JsonMap, Value as Json};

use super::lead::Lead;
use crate::diagnostic::did_you_mean;
use crate::workflow::load::entries::{Entries, Findings};
use crate::workflow::steps::discussion::DiscussionKeys;
use crate::workflow::strategy::{Phase, ReadStrategy, Strategy, strategies, strategy_names};
use crate::yaml::Node;

/// Ballot kinds with options to choose from.
pub const WITH_OPTIONS: [&str; 4] = ["choice", "approval", "ranking", "score"];

pub struct Discussion {
    pub(super) id: String,
    pub(super) keys: JsonMap<String, Json>,
    pub(super) strategy: Strategy,
    pub(super) ballot: JsonMap<String, Json>,
    pub(super) kind: String,
    pub(super) topic: String,
    pub(super) phases: Vec<Phase>,
    pub(super) max_rounds: Option<u64>,
    pub lead: Option<Lead>,
}

impl Discussion {
    pub fn read(step: &Node, read_strategy: ReadStrategy<'_>, found: &Findings<'_>) -> Option<Self> {
        let Json::Object(keys) = step.to_json() else { return None };
        let own = DiscussionKeys::read(Entries { node: step, found });
        let name = own.strategy.clone().unwrap_or_else(|| "blind".to_owned());
        let built_in = || strategies().iter().find(|known| known.name == name).cloned().map(Ok);
        let strategy = match built_in().or_else(|| read_strategy(&name).transpose()) {
            Some(Ok(strategy)) => strategy,
            Some(Err(problem)) => {
                found.add(problem);
                return None;
            }
            None => {
                let hint = did_you_mean(&name, &strategy_names());
                found.refuse(step, format!("there is no strategy `{name}`"), hint);
                return None;
            }
        };
        let mut ballot = match keys.get("ballot") {
            Some(Json::Object(ballot)) => ballot.clone(),
            Some(kind) => JsonMap::from_iter([("kind".to_owned(), kind.clone())]),
            None => JsonMap::new(),
        };
        let default = strategy.accepts.first().map_or("", String::as_str);
        let kind = ballot.get("kind").and_then(Json::as_str).unwrap_or(default).to_owned();
        if !strategy.accepts.contains(&kind) {
            let hint = format!("it takes {}", strategy.accepts.join(", "));
            found.refuse(step, format!("strategy `{name}` takes no ballot `{kind}`"), hint);
            return None;
        }
        ballot.shift_insert(0, "kind".to_owned(), kind.clone().into());
        if WITH_OPTIONS.contains(&kind.as_str()) {
            ballot.entry("order").or_insert_with(|| "per-seat".into());
        }
        let (topic, max_rounds) = (own.topic.clone(), own.max_rounds);
        let lead = Lead::read(step, own);
        if strategy.ranks_answers() && ballot.contains_key("options") {
            let message = format!("the answers are the options of strategy `{name}`");
            found.refuse(step, message, "leave `options` out");
            return None;
        }
        let needs_ideas = WITH_OPTIONS.contains(&kind.as_str())
            && !strategy.ranks_answers()
            && !ballot.contains_key("options");
        let phases = phases(&strategy, needs_ideas);
        let read =
            Self { id: step.text("id"), topic, phases, max_rounds, keys, strategy, ballot, kind, lead };
        let shortest = read.phases.iter().filter(|phase| phase.skip_if.is_none()).count() as u64;
        if max_rounds.is_some_and(|most| most < shortest) {
            let message = format!("`max_rounds` is below the {shortest} rounds that `{name}` takes at least");
            found.refuse(step, message, format!("write `max_rounds: {shortest}` or more"));
            return None;
        }
        Some(read)
    }
}

/// Returns the phases of a strategy. If options are missing, one phase collects ideas; otherwise those
/// phases are removed.
fn phases(strategy: &Strategy, needs_ideas: bool) -> Vec<Phase> {
    let is_ideas = |phase: &Phase| phase.ballot == "ideas";
    let mut phases = strategy.phases.clone();
    if !needs_ideas {
        phases.retain(|phase| !is_ideas(phase));
    } else if !phases.iter().any(is_ideas) {
        phases.insert(0, Phase::ideas());
    }
    phases
}
