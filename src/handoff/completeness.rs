//! The completeness of a work item: the facilitator's words against what is handed over.
//!
//! Of a template only what the facilitator wrote counts, and the ids that stand in its places: never
//! an answer or an artifact. What is certain refuses the work item, what is a guess is a warning.

use serde_json::{Map, Value};

use super::scope::directive;
use super::work_item_input::{look_up, missing};
use crate::history::Session;
use crate::workflow::{
    Completeness, CompletenessFinding, Definition, Held, ReferencedContent, Round, Step, StepKind, Template,
    findings, is_held, looks_like_id,
};

/// What the check of a work item comes to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checked {
    /// Why it is refused, if it is.
    pub refusal: Option<String>,
    /// What is said of it all the same.
    pub warnings: Vec<String>,
    /// The phrases that led to either, as they were written.
    pub phrases: Vec<String>,
}

impl Checked {
    /// With what is found under `completeness`.
    fn of(found: Vec<CompletenessFinding>, completeness: Completeness) -> Self {
        let refuses =
            |finding: &CompletenessFinding| finding.is_certain || completeness == Completeness::Strict;
        let phrases = found.iter().map(|finding| finding.phrase.clone()).collect();
        let (certain, guesses): (Vec<CompletenessFinding>, Vec<CompletenessFinding>) =
            found.into_iter().partition(refuses);
        let certain: Vec<String> = certain.iter().map(CompletenessFinding::to_string).collect();
        let warnings = guesses.iter().map(|guess| format!("the work item may be incomplete: {guess}"));
        Self { refusal: incomplete(&certain), warnings: warnings.collect(), phrases }
    }
}

fn incomplete(reasons: &[String]) -> Option<String> {
    (!reasons.is_empty()).then(|| format!("incomplete work item: {}", reasons.join("; ")))
}

impl Session {
    /// What is to be said of the round that waits before it is opened: that its work item may not be whole,
    /// and what of its linked tasks could not be built.
    pub fn opening_warnings(&self) -> Vec<String> {
        let Some(definition) = self.definition.as_deref() else { return Vec::new() };
        let waiting = self.active_steps().filter(|run| run.round.is_none());
        let mut steps = waiting.filter_map(|run| definition.step(&run.id));
        let Some((step, round)) = steps.find_map(|step| Some((step, step.round()?))) else {
            return Vec::new();
        };
        let checked = self.check_round(definition, step, round);
        let dropped = self.rendered_round(definition, step, round).map(|asked| asked.warnings);
        let dropped = dropped.unwrap_or_default();
        let warnings = checked.warnings.iter().chain(&dropped);
        let warnings = warnings.map(|warning| format!("round `{}`: {warning}", step.id));
        warnings.chain(self.linked(definition, step).warnings).collect()
    }

    /// The check of a round's work item as it would be made now.
    pub fn check_round(&self, definition: &Definition, step: &Step, round: &Round) -> Checked {
        let completeness = definition.completeness(step);
        let lacking = || missing(step, &self.input_of(step)?);
        if let Some(why) = if step.requires.is_empty() { None } else { lacking().err() } {
            return Checked { refusal: Some(why), ..Checked::default() };
        }
        let asked = match self.rendered_round(definition, step, round) {
            Ok(asked) => asked,
            Err(why) => return Checked { refusal: Some(why), ..Checked::default() },
        };
        if completeness == Completeness::Off {
            return Checked::default();
        }
        let scope = asked.written.as_ref().and_then(|_| self.scope_of(definition, step).ok());
        let own = |text: &String| own_words(text, scope.as_ref());
        let texts: Vec<String> = round_texts(definition, step, round).into_iter().map(own).collect();
        // Whatever names nothing needs no comparison.
        if texts.iter().all(|text| findings(text, &Held { may_grow: true, ..own_ids(definition) }).is_empty())
        {
            return Checked::default();
        }
        let snapshot = self.render_snapshot(step, &asked.round, None);
        let context = self.context_for(&step.id);
        let held = |text: &str| {
            let mut held = held(definition, &known(definition, &context), text, &snapshot.text);
            // An artifact of the round is in its snapshot, with its summary at least.
            hold_artifacts(&mut held, definition, round);
            held
        };
        Checked::of(texts.iter().flat_map(|text| findings(text, &held(text))).collect(), completeness)
    }

    /// The check of an agent's work item; `sent` is all that it is handed.
    pub(crate) fn check_agent(
        &self,
        definition: &Definition,
        step: &Step,
        template: Option<(&Template, &Value)>,
        input: &Map<String, Value>,
        sent: &str,
    ) -> Checked {
        let completeness = definition.completeness(step);
        if completeness == Completeness::Off || self.is_tracker(step) {
            return Checked::default();
        }
        let known = known(definition, input);
        let said = template.map(|(template, scope)| own_words(template.text(), Some(scope)));
        let texts = said.iter().chain(directive(definition, step));
        let found = texts.flat_map(|text| findings(text, &held(definition, &known, text, sent)));
        Checked::of(found.collect(), completeness)
    }

    fn is_tracker(&self, step: &Step) -> bool {
        match &step.kind {
            StepKind::Agent(agent) => {
                self.seat_info(&agent.agent).is_some_and(|seat| seat.model == crate::workflow::TRACKER)
            }
            _ => false,
        }
    }

    /// What can be said of every step's work item before anything runs: whatever results come, it will
    /// be refused, or a warning will be given. One entry a step that has something to say.
    pub fn foreseen(&self) -> Vec<(&Step, Checked)> {
        let Some(definition) = self.definition.as_deref() else { return Vec::new() };
        let brings = |step: &Step| matches!(step.kind, StepKind::Agent(_) | StepKind::Review(_));
        let grows = |step: &Step| definition.all_steps().any(|other| brings(other) && other.id != step.id);
        let checked = definition.all_steps().map(|step| (step, self.foresee(definition, step, grows(step))));
        checked.filter(|(_, checked)| *checked != Checked::default()).collect()
    }

    fn foresee(&self, definition: &Definition, step: &Step, may_grow: bool) -> Checked {
        if let Some(why) = self.never_there(definition, step) {
            return Checked { refusal: Some(why), ..Checked::default() };
        }
        let completeness = definition.completeness(step);
        if completeness == Completeness::Off || self.is_tracker(step) {
            return Checked::default();
        }
        let mut held = Held { may_grow, ..own_ids(definition) };
        let (texts, is_open): (Vec<String>, bool) = match &step.kind {
            StepKind::Round(round) => {
                hold_artifacts(&mut held, definition, round);
                let own = |text: &String| own_words(text, None);
                (round_texts(definition, step, round).into_iter().map(own).collect(), false)
            }
            StepKind::Agent(_) | StepKind::Review(_) => {
                let own = super::work_item_input::own_prompt(step).map(Template::text);
                let is_open = own.is_none_or(|text| text.contains("{{"));
                let said = own.map(|text| own_words(text, None));
                (said.into_iter().chain(directive(definition, step).cloned()).collect(), is_open)
            }
            _ => return Checked::default(),
        };
        // What a template or a result may bring is not known yet.
        let tasks = |id: &str| definition.tasks.iter().any(|task| task.id == id);
        let sent = texts.join("\n");
        let known = known(definition, &Map::new());
        for (id, is_there) in &mut held.ids {
            *is_there |= is_open || may_grow && tasks(id) || is_held(id, &sent, &sent, &known);
        }
        Checked::of(texts.iter().flat_map(|text| findings(text, &held)).collect(), completeness)
    }

    /// What a step requires and no result can bring: it would stand in the input.
    fn never_there(&self, definition: &Definition, step: &Step) -> Option<String> {
        let input = Map::from_iter([("input".to_owned(), self.given_input(&step.id))]);
        let first = |path: &str| path.split('.').next().unwrap_or_default().to_owned();
        let comes = |path: &str| {
            matches!(first(path).as_str(), "context" | "error")
                || definition.step_of_key(&first(path), step).is_some()
                || look_up(&input, path).is_some_and(|value| !crate::workflow::is_blank(value))
        };
        let lacking: Vec<String> = step.requires.iter().filter(|path| !comes(path)).cloned().collect();
        missing(&Step { requires: lacking, ..step.clone() }, &Map::new()).err()
    }
}

/// What the facilitator wrote of a round.
fn round_texts<'a>(definition: &'a Definition, step: &'a Step, round: &'a Round) -> Vec<&'a String> {
    [Some(&round.question), round.exploration.as_ref(), directive(definition, step)]
        .into_iter()
        .flatten()
        .collect()
}

/// The ids of a definition, none of them at hand but those of the agenda, which every round is shown.
fn own_ids(definition: &Definition) -> Held {
    let artifacts = definition.artifacts.iter().map(|artifact| (artifact.id.clone(), false));
    let tasks = definition.tasks.iter().map(|task| (task.id.clone(), false));
    let agenda = definition.agenda.iter().map(|item| (item.id.clone(), true));
    Held { ids: artifacts.chain(tasks).chain(agenda).collect(), ..Held::default() }
}

fn hold_artifacts(held: &mut Held, definition: &Definition, round: &Round) {
    for artifact in definition.artifacts.iter().filter(|artifact| round.artifacts.holds(&artifact.id)) {
        held.ids.push((artifact.id.clone(), true));
        let title = artifact.details.iter().find(|(key, _)| *key == "title");
        let title = title.and_then(|(_, title)| title.as_str()).unwrap_or_default();
        held.names.push_str(&format!("{} {} {title}\n", artifact.id, artifact.summary));
    }
}

/// Which of the ids that are known have their content in `sent`, or in what is `said` itself.
fn held(definition: &Definition, known: &[ReferencedContent], said: &str, sent: &str) -> Held {
    let mut held = own_ids(definition);
    held.ids.extend(known.iter().map(|thing| (thing.id.clone(), is_held(&thing.id, said, sent, known))));
    held
}

/// Everything with an id that the definition or the results know, and what it says.
fn known(definition: &Definition, input: &Map<String, Value>) -> Vec<ReferencedContent> {
    let tasks = definition.tasks.iter().map(|task| (&task.id, task.description.clone()));
    let artifacts = definition.artifacts.iter().map(|artifact| {
        let description = artifact.details.iter().find(|(key, _)| *key == "description");
        let text = description.and_then(|(_, value)| value.as_str()).unwrap_or(&artifact.summary);
        (&artifact.id, text.to_owned())
    });
    let mut known: Vec<ReferencedContent> = tasks
        .chain(artifacts)
        .map(|(id, content)| ReferencedContent { id: id.clone(), content: Some(content) })
        .collect();
    input.values().for_each(|value| gather(value, &mut known));
    known
}

/// Things in a value that have an id and a description.
fn gather(value: &Value, known: &mut Vec<ReferencedContent>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| gather(item, known)),
        Value::Object(map) => {
            let text = |key: &str| map.get(key).and_then(Value::as_str);
            if let (Some(id), Some(content)) = (text("issue_id").or_else(|| text("id")), text("description"))
                && looks_like_id(id)
            {
                known.push(ReferencedContent { id: id.to_owned(), content: Some(content.to_owned()) });
            }
            map.values().for_each(|value| gather(value, known));
        }
        _ => {}
    }
}

/// A template with its places left blank, but for the ids that stand in them over `scope`.
fn own_words(template: &str, scope: Option<&Value>) -> String {
    let mut words = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        words.push_str(before);
        let (tag, behind) = after.split_once("}}").unwrap_or((after, ""));
        rest = behind.strip_prefix('}').unwrap_or(behind);
        let value = Template::parse(&format!("{{{{{}}}}}", tag.trim_matches(['{', '~', ' '])))
            .ok()
            .zip(scope)
            .and_then(|(tag, scope)| tag.render(scope).ok())
            .unwrap_or_default();
        words.push_str(if looks_like_id(value.trim()) { value.trim() } else { "…" });
    }
    words.push_str(rest);
    words
}
