//! Expands discussions into ordinary steps, before a definition is read any further. Nothing of a
//! discussion remains in what a session saves: a change of a strategy changes no saved session.

use serde_json::{Map as JsonMap, Value as Json, json};

use super::load::findings::Findings;
use super::strategy::{Phase, Strategy, strategies, strategy_names};
use crate::diagnostic::did_you_mean;
use crate::yaml::{Map, Node, Value, named, placed};

/// Keys of a discussion that each of its rounds has.
const OF_EVERY_ROUND: [&str; 8] =
    ["exploration", "participants", "artifacts", "quorum", "close", "deadline", "on_failed", "on_error"];
/// Keys of a discussion that its deciding rounds have.
const OF_MAIN_ROUNDS: [&str; 3] = ["ties", "quorum_ballots", "act_at"];
/// Keys that lead to another step.
pub(super) const TARGETS: [&str; 8] =
    ["next", "on_error", "on_undecided", "on_exhausted", "on_approve", "on_reject", "then", "else"];
/// Kinds of ballots with options to choose from.
pub const WITH_OPTIONS: [&str; 4] = ["choice", "approval", "ranking", "score"];

/// The definition with the steps of each discussion in its place; `None` if it has no discussion, or one
/// with errors, which are then among `found`.
pub fn expanded(root: &Node, id: &str, found: &Findings<'_>) -> Option<Node> {
    let (mut entries, steps) = parts(root, id)?;
    let mut firsts: Vec<(String, String)> = Vec::new();
    let mut all = Vec::new();
    for step in with_next(steps) {
        if let Some(Value::List(nested)) = step.get("steps").map(|nested| &nested.value)
            && let Some(inner) = nested.iter().find(|inner| is_discussion(inner))
        {
            found.refuse(
                inner,
                "a discussion cannot stand inside another step",
                "move it into the list `steps`",
            );
        }
        if !is_discussion(&step) {
            all.push(step);
            continue;
        }
        let expansion = Discussion::read(&step, found)?.steps();
        let first = expansion.first().and_then(|step| step["id"].as_str()).unwrap_or_default();
        firsts.push((step.text("id"), first.to_owned()));
        all.extend(expansion.into_iter().map(|of_it| placed(of_it, &step)));
    }
    if firsts.is_empty() || !found.problems.borrow().is_empty() {
        return None;
    }
    for step in &mut all {
        lead_to(step, &firsts);
    }
    if entries.iter().all(|(key, _)| key.text != "pseudonyms") {
        entries.push((named("pseudonyms", root), placed(json!(true), root)));
    }
    entries.push((named("steps", root), root.with(Value::List(all))));
    Some(root.with(Value::Map(entries)))
}

/// The steps with the `next` that they have by their order, where no step says what follows it.
fn with_next(mut steps: Vec<Node>) -> Vec<Node> {
    if steps.iter().any(|step| TARGETS.iter().any(|key| step.get(key).is_some())) {
        return steps;
    }
    let ids: Vec<String> = steps.iter().map(|step| step.text("id")).collect();
    for (step, id) in steps.iter_mut().zip(ids.into_iter().skip(1)) {
        let next = (named("next", step), placed(id.into(), step));
        if let Value::Map(entries) = &mut step.value {
            entries.push(next);
        }
    }
    steps
}

/// The entries of a definition without its steps, and its steps; a file that is one discussion has one.
pub(super) fn parts(root: &Node, id: &str) -> Option<(Map, Vec<Node>)> {
    let Value::Map(entries) = &root.value else { return None };
    if is_discussion(root) {
        let of_definition = ["id", "participants", "goal", "constraints", "description", "budget"];
        let is_of_step = |key: &str| {
            key == "type" || super::steps::discussion::TYPE.has(key) && !of_definition.contains(&key)
        };
        let (mut step, rest): (Map, Map) =
            entries.iter().cloned().partition(|(key, _)| is_of_step(&key.text));
        let id = root.get("id").map_or_else(|| id.to_owned(), |_| root.text("id"));
        step.push((named("id", root), placed(id.into(), root)));
        return Some((rest, vec![root.with(Value::Map(step))]));
    }
    if root.get("type").is_some() {
        // The file is one step of another type.
        return Some((Map::new(), vec![root.clone()]));
    }
    let Value::List(steps) = &root.get("steps")?.value else { return None };
    let rest = entries.iter().filter(|(key, _)| key.text != "steps").cloned().collect();
    Some((rest, steps.clone()))
}

pub(super) fn is_discussion(step: &Node) -> bool {
    is_of_type(step, "discussion")
}

pub(super) fn is_of_type(step: &Node, name: &str) -> bool {
    step.text("type") == name
}

/// Leads to the first step of a discussion what led to the discussion.
fn lead_to(step: &mut Node, firsts: &[(String, String)]) {
    let Value::Map(entries) = &mut step.value else { return };
    for (_, target) in entries.iter_mut().filter(|(key, _)| TARGETS.contains(&key.text.as_str())) {
        if let Value::Text(id) = &mut target.value
            && let Some((_, first)) = firsts.iter().find(|(of, _)| of == id)
        {
            first.clone_into(id);
        }
    }
}

/// A discussion whose strategy fits its ballot.
struct Discussion {
    id: String,
    keys: JsonMap<String, Json>,
    strategy: &'static Strategy,
    ballot: JsonMap<String, Json>,
    kind: String,
}

impl Discussion {
    fn read(step: &Node, found: &Findings<'_>) -> Option<Self> {
        let Json::Object(keys) = step.to_json() else { return None };
        let name = keys.get("strategy").and_then(Json::as_str).unwrap_or("blind");
        let Some(strategy) = strategies().iter().find(|known| known.name == name) else {
            let hint = did_you_mean(name, &strategy_names());
            found.refuse(step, format!("there is no strategy `{name}`"), hint);
            return None;
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
        Some(Self { id: step.text("id"), keys, strategy, ballot, kind })
    }

    fn has_options(&self) -> bool {
        self.ballot.contains_key("options") || !WITH_OPTIONS.contains(&self.kind.as_str())
    }

    /// Its phases: without options, one that collects them comes first, unless the strategy has one.
    fn phases(&self) -> Vec<Phase> {
        let is_ideas = |phase: &&Phase| phase.ballot == "ideas";
        if self.has_options() {
            return self.strategy.phases.iter().filter(|phase| !is_ideas(phase)).cloned().collect();
        }
        let collected = (!self.strategy.phases.iter().any(|phase| is_ideas(&phase))).then(Phase::of_ideas);
        collected.into_iter().chain(self.strategy.phases.iter().cloned()).collect()
    }

    fn step_id(&self, phase: &str) -> String {
        format!("{}-{phase}", self.id)
    }

    /// The step that a phase begins with.
    fn first_step(&self, phase: &Phase) -> String {
        self.step_id(&phase.id) + if phase.skip_if.is_some() { "-if" } else { "" }
    }

    /// A condition of the strategy, with the results of its phases under their steps.
    fn condition(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for phase in self.phases() {
            // Deciding rounds leave their result under the discussion's id.
            let key = if phase.ballot == "main" { self.id.clone() } else { self.step_id(&phase.id) };
            text = text.replace(&format!("phase.{}.", phase.id), &format!("context[\"{key}\"]."));
        }
        text
    }

    fn steps(&self) -> Vec<Json> {
        let phases = self.phases();
        let merged = phases.iter().find(|phase| phase.ballot == "ideas");
        let mut steps = Vec::new();
        for (at, phase) in phases.iter().enumerate() {
            let id = self.step_id(&phase.id);
            let after = phases.get(at + 1).map_or_else(|| self.step_id("done"), |next| self.first_step(next));
            if let Some(skip) = &phase.skip_if {
                steps.push(json!({
                    "id": format!("{id}-if"), "type": "condition", "condition": self.condition(skip),
                    "then": after, "else": id,
                }));
            }
            let mut round = self.round(phase, merged);
            if phase.ballot == "ideas" {
                let merge = format!("{id}-merge");
                round["next"] = merge.as_str().into();
                steps.push(round);
                steps.push(json!({
                    "id": merge, "type": "approval", "merges": id, "on_approve": after, "on_reject": id,
                    "message": "Merge the ideas into options.",
                }));
            } else {
                let again = phase.repeat_if.as_ref().map(|_| format!("{id}-again"));
                round["next"] = again.unwrap_or_else(|| after.clone()).into();
                steps.push(round);
            }
            if let Some(again) = &phase.repeat_if {
                let amend = format!("{id}-amend");
                let then = if phase.amend.is_some() { &amend } else { &id };
                steps.push(json!({
                    "id": format!("{id}-again"), "type": "condition", "condition": self.condition(again),
                    "then": then, "else": after,
                }));
                if let Some(message) = &phase.amend {
                    steps.push(json!({
                        "id": amend, "type": "approval", "message": message,
                        "on_approve": id, "on_reject": after,
                    }));
                }
            }
        }
        steps.push(self.end());
        steps
    }

    fn round(&self, phase: &Phase, merged: Option<&Phase>) -> Json {
        let is_main = phase.ballot == "main";
        let topic = self.keys.get("topic").and_then(Json::as_str).unwrap_or_default();
        let mut round = JsonMap::new();
        let mut set = |key: &str, value: Option<Json>| {
            if let Some(value) = value {
                round.insert(key.to_owned(), value);
            }
        };
        set("id", Some(self.step_id(&phase.id).into()));
        set("type", Some("round".into()));
        set("label", phase.label.clone().map(Json::from));
        set("question", Some(phase.question.replace("{{topic}}", topic).into()));
        set("facilitator_directive", phase.directive.clone().map(Json::from));
        set("context", phase.context.clone());
        set("revises", phase.revises.as_ref().map(|of| self.step_id(of).into()));
        set("feedback", phase.feedback.clone().map(Json::from));
        set("max_runs", phase.max_runs.map(Json::from));
        for key in OF_EVERY_ROUND {
            set(key, self.keys.get(key).cloned());
        }
        if is_main {
            let mut ballot = self.ballot.clone();
            if let Some(ideas) = merged {
                let from = format!("context[\"{}-merge\"].options", self.step_id(&ideas.id));
                ballot.insert("options".to_owned(), json!({"from": from}));
            }
            set("output", Some(self.id.as_str().into()));
            set("ballot", Some(ballot.into()));
            let rule = self.strategy.rules.get(&self.kind).map(|rule| rule.as_str().into());
            set("rule", self.keys.get("rule").cloned().or(rule));
            for key in OF_MAIN_ROUNDS {
                set(key, self.keys.get(key).cloned());
            }
        } else {
            set("ballot", Some(phase.ballot.as_str().into()));
        }
        round.into()
    }

    /// The last step: leads on by whether there is a decision.
    fn end(&self) -> Json {
        let mut end = json!({
            "id": self.step_id("done"), "type": "condition",
            "condition": format!("context[\"{}\"].outcome === 'decided'", self.id),
        });
        let next = self.keys.get("next");
        let otherwise = ["on_undecided", "on_error"].iter().find_map(|key| self.keys.get(*key)).or(next);
        for (key, target) in [("then", next), ("else", otherwise)] {
            if let Some(target) = target {
                end[key] = target.clone();
            }
        }
        end
    }
}

impl Phase {
    /// Collects the options of a discussion that names none.
    fn of_ideas() -> Self {
        Self {
            id: "ideas".to_owned(),
            label: Some("Options".to_owned()),
            question: "{{topic}}".to_owned(),
            directive: Some("Propose options. Do not judge them.".to_owned()),
            ballot: "ideas".to_owned(),
            context: Some(json!({"answers": "none", "results": "none", "rounds": 0})),
            revises: None,
            feedback: None,
            skip_if: None,
            repeat_if: None,
            max_runs: None,
            amend: None,
        }
    }
}
