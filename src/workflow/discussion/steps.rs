//! Generated steps of a discussion.

use serde_json::{Value as Json, json};

use super::lead::template_of;
use super::read::Discussion;
use crate::workflow::strategy::Phase;

const OF_EVERY_ROUND: [&str; 8] =
    ["exploration", "participants", "artifacts", "quorum", "close", "deadline", "on_failed", "on_error"];
const OF_MAIN_ROUNDS: [&str; 2] = ["ties", "act_at"];
const MOST_RANKED: u64 = 1000;

impl Discussion {
    pub fn steps(&self) -> Vec<Json> {
        let mut steps = Vec::new();
        let again = self.main().map(|main| self.step_id(&main.id)).unwrap_or_default();
        if let (Some(lead), Some(first)) = (&self.lead, self.phases.first()) {
            steps.extend(lead.open(&self.step_id("open"), &self.topic, &self.first_step(first)));
        }
        for (at, phase) in self.phases.iter().enumerate() {
            let after = match self.phases.get(at + 1) {
                Some(next) => self.first_step(next),
                None => self.step_id(if self.lead.is_some() { "conclude" } else { "done" }),
            };
            self.phase(phase, &after, &mut steps);
        }
        if let Some(lead) = &self.lead {
            let conclude = self.step_id("conclude");
            let runs = self.main().and_then(|main| self.runs(main)).unwrap_or(1);
            steps.extend(lead.conclude(&conclude, &self.topic, &again, &self.step_id("done"), runs));
        }
        steps.push(self.end());
        steps
    }

    /// Returns the last step, which branches on whether there is a decision.
    fn end(&self) -> Json {
        let mut end = json!({
            "id": self.step_id("done"), "type": "condition",
            "condition": format!("context[\"{}\"].outcome === 'decided'", self.id),
        });
        let next = self.keys.get("next");
        let named = ["on_undecided", "on_error"].iter().find_map(|key| self.keys.get(*key));
        // Only an `else` counts as the way out of an undecided discussion; `next` follows either way.
        let otherwise = if named.is_some() { ("else", named) } else { ("next", next) };
        for (key, target) in [("then", next), otherwise] {
            if let Some(target) = target {
                end[key] = target.clone();
            }
        }
        end
    }

    fn step_id(&self, phase: &str) -> String {
        format!("{}-{phase}", self.id)
    }

    fn first_step(&self, phase: &Phase) -> String {
        self.step_id(&phase.id) + if phase.skip_if.is_some() { "-if" } else { "" }
    }

    /// Returns the last deciding phase, which is repeated if the discussion continues.
    fn main(&self) -> Option<&Phase> {
        self.phases.iter().rev().find(|phase| phase.ballot == "main")
    }

    /// Rewrites a strategy's condition: phase names become the context keys of their steps.
    fn condition(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for phase in &self.phases {
            let key = if phase.ballot == "main" { self.id.clone() } else { self.step_id(&phase.id) };
            text = text.replace(&format!("phase.{}.", phase.id), &format!("context[\"{key}\"]."));
        }
        text
    }

    /// Appends the steps of a phase: skip condition, round, the facilitator's step and repeat condition.
    fn phase(&self, phase: &Phase, after: &str, steps: &mut Vec<Json>) {
        let id = self.step_id(&phase.id);
        if let Some(skip) = &phase.skip_if {
            steps.push(json!({
                "id": format!("{id}-if"), "type": "condition", "condition": self.condition(skip),
                "then": after, "else": id,
            }));
        }
        let again = phase.repeat_if.as_ref().map(|_| format!("{id}-again"));
        let on = again.as_deref().unwrap_or(after);
        let mut round = self.round(phase);
        let is_revised = self.phases.iter().any(|later| later.revises.as_ref() == Some(&phase.id));
        let next = self.phases.iter().skip_while(|other| other.id != phase.id).nth(1);
        let context = next.and_then(|next| next.context.as_ref());
        let stays_blind = context.is_some_and(|context| context["rounds"] == 0);
        let after_round = match &self.lead {
            Some(lead) if phase.ballot == "ideas" => {
                lead.merge(&id, &self.topic, after, &self.step_id("done"))
            }
            None if phase.ballot == "ideas" => vec![json!({
                "id": format!("{id}-merge"), "type": "approval", "merges": id, "on_approve": after,
                "on_reject": id, "message": "Merge the ideas into options.",
            })],
            // A note would reveal the count, or a result that the next seats must not see.
            Some(lead) if !is_revised && !stays_blind => {
                lead.note(&id, &self.topic, on, &self.step_id("done"), self.runs(phase).unwrap_or(1))
            }
            _ => Vec::new(),
        };
        round["next"] = after_round.first().map_or_else(|| on.into(), |first| first["id"].clone());
        steps.push(round);
        steps.extend(after_round);
        let Some(repeat_if) = &phase.repeat_if else { return };
        // A facilitating model amends the question in its note.
        let amend = phase.amend.as_ref().filter(|_| self.lead.is_none());
        let amend_id = format!("{id}-amend");
        steps.push(json!({
            "id": format!("{id}-again"), "type": "condition", "condition": self.condition(repeat_if),
            "then": amend.map_or(&id, |_| &amend_id), "else": after,
        }));
        steps.extend(amend.map(|message| {
            json!({
                "id": amend_id, "type": "approval", "message": message, "adopts": "none", "on_approve": id,
                "on_reject": after,
            })
        }));
    }

    /// Returns the limit of a phase's runs, if it has one.
    fn runs(&self, phase: &Phase) -> Option<u64> {
        let own = phase.max_runs.map(u64::from);
        if self.main().is_none_or(|main| main.id != phase.id) {
            return own;
        }
        let others = self.phases.iter().filter(|other| other.id != phase.id && other.skip_if.is_none());
        match self.max_rounds {
            Some(most) => Some(most.saturating_sub(others.count() as u64).max(1)),
            None if self.lead.is_some() => own.or(Some(1)),
            None => own,
        }
    }

    /// Returns the options as one line, or a template for the options that ideas are merged into.
    fn options(&self) -> String {
        if let Some(ideas) = self.phases.iter().find(|phase| phase.ballot == "ideas") {
            let merge = format!("{}-merge", self.step_id(&ideas.id));
            return format!("{{{{#each context.[{merge}].options}}}}{{{{title}}}}; {{{{/each}}}}");
        }
        let options = self.ballot.get("options").and_then(Json::as_array).into_iter().flatten();
        let name = |option: &Json| option.as_str().or(option["id"].as_str()).unwrap_or_default().to_owned();
        options.map(name).collect::<Vec<_>>().join(", ")
    }

    /// Returns the question of a phase: the topic, or the facilitator's version of it.
    fn question(&self, phase: &Phase) -> String {
        let topic = match self.lead {
            Some(_) => template_of(&self.step_id("open"), "question", &self.topic),
            None => self.topic.clone(),
        };
        let question = phase.question.replace("{{topic}}", &topic).replace("{{options}}", &self.options());
        let id = self.step_id(&phase.id);
        match (&phase.amend, &self.lead) {
            (None, _) => question,
            (Some(_), Some(_)) => template_of(&format!("{id}-note"), "amended", &question),
            (Some(_), None) => template_of(&format!("{id}-amend"), "comment", &question),
        }
    }

    fn round(&self, phase: &Phase) -> Json {
        let keys = &self.keys;
        let mut round = json!({
            "id": self.step_id(&phase.id), "type": "round", "label": phase.label,
            "question": self.question(phase), "facilitator_directive": phase.directive,
            "directives": phase.directives, "context": phase.context,
            "revises": phase.revises.as_ref().map(|of| self.step_id(of)),
            "feedback": phase.feedback, "max_runs": self.runs(phase),
        });
        if let Some(round) = round.as_object_mut() {
            round.retain(|_, value| !value.is_null() && *value != json!([]));
        }
        let take = |round: &mut Json, key: &str| {
            if let Some(value) = keys.get(key) {
                round[key] = value.clone();
            }
        };
        for key in OF_EVERY_ROUND {
            take(&mut round, key);
        }
        if self.lead.is_some() {
            let given = keys.get("exploration").and_then(Json::as_str).unwrap_or_default();
            round["exploration"] = template_of(&self.step_id("open"), "exploration", given).into();
        }
        if phase.ballot != "main" {
            round["ballot"] = phase.ballot.as_str().into();
            return round;
        }
        let mut ballot = self.ballot.clone();
        if let Some(ideas) = self.phases.iter().find(|phase| phase.ballot == "ideas") {
            let from = format!("context[\"{}-merge\"].options", self.step_id(&ideas.id));
            ballot.insert("options".to_owned(), json!({"from": from}));
        }
        if let Some(of) = &phase.ranks {
            let from = format!("context[\"{}\"].data", self.step_id(of));
            ballot.insert("options".to_owned(), json!({"from": from, "max": MOST_RANKED}));
            ballot.insert("exclude_own".to_owned(), true.into());
        }
        round["output"] = self.id.as_str().into();
        round["ballot"] = ballot.into();
        if let Some(rule) = keys.get("rule").or_else(|| self.strategy.rules.get(&self.kind)) {
            round["rule"] = rule.clone();
        }
        for key in OF_MAIN_ROUNDS {
            take(&mut round, key);
        }
        if self.runs(phase).is_some() {
            take(&mut round, "on_exhausted");
        }
        round
    }
}
