//! One discussion: its strategy, its ballot and its agenda.

use serde_json::{Map as JsonMap, Value as Json};

use super::lead::Lead;
use crate::diagnostic::did_you_mean;
use crate::workflow::load::entries::Findings;
use crate::workflow::strategy::{Phase, ReadStrategy, Strategy, strategies, strategy_names};
use crate::yaml::Node;

/// Kinds of ballots with options to choose from.
pub const WITH_OPTIONS: [&str; 4] = ["choice", "approval", "ranking", "score"];

pub struct Discussion {
    pub(super) id: String,
    pub(super) keys: JsonMap<String, Json>,
    pub(super) strategy: Strategy,
    pub(super) ballot: JsonMap<String, Json>,
    pub(super) kind: String,
    pub(super) items: Vec<Item>,
    pub lead: Option<Lead>,
}

/// An item of a discussion's own agenda.
pub(super) struct Item {
    pub id: String,
    pub title: String,
}

impl Discussion {
    pub fn read(step: &Node, read_strategy: ReadStrategy<'_>, found: &Findings<'_>) -> Option<Self> {
        let Json::Object(keys) = step.to_json() else { return None };
        let name = keys.get("strategy").and_then(Json::as_str).unwrap_or("blind").to_owned();
        let built_in = || strategies().iter().find(|known| known.name == name).cloned().map(Ok);
        let strategy = match built_in().or_else(|| read_strategy(&name).transpose()) {
            Some(Ok(strategy)) => strategy,
            Some(Err(problem)) => {
                found.problems.borrow_mut().push(problem);
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
        let lead = Lead::read(step, &keys, found);
        let items = read_items(step, &keys, found)?;
        let read = Self { id: step.text("id"), keys, strategy, ballot, kind, items, lead };
        if read.strategy.ranks_answers() && read.ballot.contains_key("options") {
            let message = format!("the answers are the options of strategy `{name}`");
            found.refuse(step, message, "leave `options` out");
            return None;
        }
        let shortest = read.phases().iter().filter(|phase| phase.skip_if.is_none()).count() as u64;
        if read.max_rounds().is_some_and(|most| most < shortest) {
            let message = format!("`max_rounds` is below the {shortest} rounds that `{name}` takes at least");
            found.refuse(step, message, format!("write `max_rounds: {shortest}` or more"));
            return None;
        }
        Some(read)
    }

    pub(super) fn max_rounds(&self) -> Option<u64> {
        self.keys.get("max_rounds").and_then(Json::as_u64)
    }

    fn has_options(&self) -> bool {
        self.strategy.ranks_answers()
            || self.ballot.contains_key("options")
            || !WITH_OPTIONS.contains(&self.kind.as_str())
    }

    /// Its phases: without options, one that collects them comes first, unless the strategy has one.
    pub(super) fn phases(&self) -> Vec<Phase> {
        let is_ideas = |phase: &&Phase| phase.ballot == "ideas";
        if self.has_options() {
            return self.strategy.phases.iter().filter(|phase| !is_ideas(phase)).cloned().collect();
        }
        let collected = (!self.strategy.phases.iter().any(|phase| is_ideas(&phase))).then(Phase::of_ideas);
        collected.into_iter().chain(self.strategy.phases.iter().cloned()).collect()
    }

    /// Its agenda as items of the definition's, each with an id.
    pub fn agenda(&self) -> Vec<Json> {
        let with_id = |(written, item): (&Json, &Item)| {
            let mut written = written.clone();
            written["id"] = item.id.as_str().into();
            written
        };
        written_agenda(&self.keys).zip(&self.items).map(with_id).collect()
    }
}

fn written_agenda(keys: &JsonMap<String, Json>) -> impl Iterator<Item = &Json> {
    keys.get("agenda").and_then(Json::as_array).into_iter().flatten()
}

/// The items of the discussion's agenda; `None`, with a finding, if two have one id or the topic names what
/// an item does not have.
fn read_items(step: &Node, keys: &JsonMap<String, Json>, found: &Findings<'_>) -> Option<Vec<Item>> {
    let mut items: Vec<Item> = Vec::new();
    for (at, item) in written_agenda(keys).enumerate() {
        let text = |key: &str| item[key].as_str().map(str::to_owned);
        let id = text("id").unwrap_or_else(|| format!("item-{}", at + 1));
        if items.iter().any(|other| other.id == id) {
            let message = format!("two items of the agenda have the id `{id}`");
            found.refuse(step, message, "give each its own id");
            return None;
        }
        let title = text("title").unwrap_or_else(|| id.clone());
        items.push(Item { id, title });
    }
    let topic = keys.get("topic").and_then(Json::as_str).unwrap_or_default();
    let mut named = topic.split("{{item.").skip(1).filter_map(|rest| rest.split("}}").next());
    if let Some(key) = named.find(|key| *key != "title" || items.is_empty()) {
        let why =
            if items.is_empty() { "the discussion has no `agenda`" } else { "an item has a title only" };
        let message = format!("the topic names `item.{key}`: {why}");
        found.refuse(step, message, "write `{{item.title}}` and an `agenda`, or leave it out");
        return None;
    }
    Some(items)
}
