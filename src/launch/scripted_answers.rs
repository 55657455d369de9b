//! The answers file: what seats and the facilitator say, written beforehand, by step id.
//!
//! A bare answer serves every time; a list is used up in order. A map whose only key is `fail`
//! makes that try fail.

use std::collections::HashMap;

use super::scripted_entry::{
    MERGE_HINT, as_map, find, is_after_rounds, items, merged, part_of, part_of_review, seat_names, whole_part,
};
use crate::core::{QuestionKind, exhausted_key};
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::history::{Merge, Session};
use crate::participants::scripted::ScriptedSeat;
use crate::tally::Ties;
use crate::workflow::{Definition, Fields, Round, Step, StepKind, Template, written_id};
use crate::yaml::{Map, Node, Value, read, read_json};

#[derive(Debug, Clone, Default)]
pub struct Answers {
    pub(super) file: String,
    steps: Map,
    used: HashMap<String, usize>,
    /// Whether the key of the open round is gone: what is sealed in it is asked for again.
    pub(super) has_lost_key: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScriptedAnswer {
    pub approved: bool,
    /// The option chosen among level ones.
    pub choice: Option<String>,
    pub comment: Option<String>,
    pub edited: Option<serde_json::Value>,
    pub merge: Option<Merge>,
}

impl Answers {
    pub fn parse(text: &str, file: &str) -> Result<Self, Diagnostic> {
        let is_json = text.trim_start().starts_with('{');
        let node = if is_json { read_json(text, file)? } else { read(text, file)? };
        match node.value {
            Value::Map(steps) => Ok(Self { file: file.to_owned(), steps, ..Self::default() }),
            Value::Null => Ok(Self { file: file.to_owned(), ..Self::default() }),
            _ => Err(Diagnostic::new("an answers file is a map of step ids")
                .hint("write `step-id: answer`")
                .at(file, node.line, node.column)),
        }
    }

    pub(super) fn step(&self, id: &str) -> Option<&Node> {
        self.steps.iter().find(|(key, _)| key.text == id).map(|(_, node)| node)
    }

    /// The id under which a step is scripted: its own, or the one it was written with.
    fn key<'a>(&self, id: &'a str) -> &'a str {
        if self.step(id).is_some() { id } else { written_id(id) }
    }

    /// What each step scripts for a seat or an agent.
    pub fn parts(&self, definition: &Definition, seat: &str) -> HashMap<String, ScriptedSeat> {
        let mut parts = HashMap::new();
        for (key, node) in &self.steps {
            let part = match step_of(definition, &key.text).map(|step| &step.kind) {
                Some(StepKind::Agent(agent)) => (agent.agent == seat).then(|| whole_part(node)),
                Some(StepKind::Review(review)) => {
                    let reviewers = definition.reviewers(review);
                    part_of_review(node, seat, &reviewers)
                }
                Some(StepKind::Round(_)) => part_of(node, seat),
                _ => None,
            };
            if let Some(part) = part {
                parts.insert(key.text.clone(), part);
            }
        }
        parts
    }

    /// Entries that serve nothing in this definition.
    pub fn unused_answers(&self, definition: &Definition) -> Vec<Diagnostic> {
        let ids: Vec<&str> = definition.all_steps().map(|step| step.id.as_str()).collect();
        let mut problems = Vec::new();
        for (key, node) in &self.steps {
            let at = |message: String| Diagnostic::new(message).at(&self.file, key.line, key.column);
            let asks = |step: &Step| step.max_runs.is_some() && exhausted_key(&step.id) == key.text;
            if is_after_rounds(&key.text, definition) || definition.all_steps().any(asks) {
                continue;
            }
            let Some(step) = step_of(definition, &key.text) else {
                let message = format!("unused answers for `{}`: no such step", key.text);
                problems.push(at(message).hint(did_you_mean(&key.text, &ids)));
                continue;
            };
            if !step.asks_somebody() {
                let message = format!(
                    "the answers for `{}` serve nothing: a step of type `{}` asks nobody",
                    key.text,
                    step.kind_name()
                );
                problems.push(at(message).hint("script the steps that ask someone"));
            }
            let StepKind::Round(round) = &step.kind else { continue };
            let seats: Vec<&str> = definition.seats(round).map(|seat| seat.name.as_str()).collect();
            for name in seat_names(node).into_iter().filter(|name| name != "tie") {
                if !seats.contains(&name.as_str()) {
                    let message =
                        format!("the answer for `{name}` is unused: no such seat in `{}`", key.text);
                    problems.push(at(message).hint(did_you_mean(&name, &seats)));
                }
            }
        }
        problems
    }

    /// Whether every entry has a form that its step can use.
    pub fn check(&self, definition: &Definition) -> Result<(), Vec<Diagnostic>> {
        let mut problems = Vec::new();
        for (key, node) in &self.steps {
            match step_of(definition, &key.text).map(|step| &step.kind) {
                Some(StepKind::Approval(approval)) => {
                    let merges = approval.merges.is_some();
                    let needs_merge = merges && approval.edits.is_none();
                    let said = items(node).iter().map(|item| said(item, merges, needs_merge, &self.file));
                    problems.extend(said.filter_map(Result::err));
                }
                Some(StepKind::Round(round)) => self.check_round(&key.text, node, round, &mut problems),
                _ => {}
            }
        }
        self.check_after_rounds(definition, &mut problems);
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    fn check_round(&self, step: &str, node: &Node, round: &Round, problems: &mut Vec<Diagnostic>) {
        let is_tie = matches!(node.value, Value::Text(_)) && round.ties == Ties::Ask;
        for item in items(node).iter().filter(|item| as_map(item).is_none() && !is_tie) {
            let message =
                format!("the answers for round `{step}` must be a map of seats, found {}", item.kind());
            problems.push(item.problem(&self.file, message).hint("write `seat: answer` under the step's id"));
        }
        if round.options_from.is_some() || round.ballot.options.iter().any(|option| Template::is_one(option))
        {
            return;
        }
        let options: Vec<&str> = round.ballot.options.iter().map(String::as_str).collect();
        for choice in choices(node).0 {
            let text = crate::workflow::as_text(choice).unwrap_or_default();
            if !options.contains(&text.as_str()) {
                let message = format!("the tie of round `{step}` cannot go to `{text}`");
                problems.push(choice.problem(&self.file, message).hint(did_you_mean(&text, &options)));
            }
        }
    }

    /// Counts the answers of a resumed session as used.
    pub fn resume(&mut self, session: &Session) {
        for (step, count) in &session.answered {
            *self.used.entry(self.key(step).to_owned()).or_insert(0) += count;
        }
    }

    /// The scripted answer to a question, `None` when nothing is scripted.
    pub fn next_answer(&mut self, step: &str, kind: &QuestionKind) -> Result<Option<ScriptedAnswer>, String> {
        let step = self.key(step);
        let key =
            if matches!(kind, QuestionKind::Exhausted(_)) { exhausted_key(step) } else { step.to_owned() };
        let Some(node) = self.step(&key).cloned() else { return Ok(None) };
        match kind {
            QuestionKind::KeyLost(_) => Ok(None),
            QuestionKind::Exhausted(_) => self.next_of(&key, &node).and_then(|one| {
                let choice = exhausted(one, &self.file).map_err(|problem| problem.to_string())?;
                Ok(Some(ScriptedAnswer { approved: true, choice: Some(choice), ..ScriptedAnswer::default() }))
            }),
            QuestionKind::Tie(_) => {
                let (choices, in_turn) = choices(&node);
                if choices.is_empty() {
                    return Ok(None);
                }
                let used = self.used.entry(step.to_owned()).or_insert(0);
                *used += 1;
                let at = if in_turn { *used - 1 } else { 0 };
                let choice = choices.get(at).ok_or_else(|| used_up(step))?;
                let choice = crate::workflow::as_text(choice);
                Ok(choice.map(|choice| ScriptedAnswer {
                    approved: true,
                    choice: Some(choice),
                    ..ScriptedAnswer::default()
                }))
            }
            QuestionKind::Approval | QuestionKind::Proposal(_) | QuestionKind::Merge(_) => {
                let one = self.next_of(&key, &node)?;
                // Whether a yes is enough depends on the proposal, which the core knows.
                said(one, matches!(kind, QuestionKind::Merge(_)), false, &self.file)
                    .map(Some)
                    .map_err(|problem| problem.to_string())
            }
        }
    }

    /// The answer whose turn it is: of a list the next one, else the same every time.
    fn next_of<'a>(&mut self, key: &str, node: &'a Node) -> Result<&'a Node, String> {
        let used = self.used.entry(key.to_owned()).or_insert(0);
        *used += 1;
        match &node.value {
            Value::List(items) => items.get(*used - 1).ok_or_else(|| used_up(key)),
            _ => Ok(node),
        }
    }
}

/// The step that an entry is for. Steps of an `each` are there as they are written or, once it has begun, as
/// copies; an entry may name either.
fn step_of<'a>(definition: &'a Definition, id: &str) -> Option<&'a Step> {
    let copy = || definition.all_steps().find(|step| written_id(&step.id) == id);
    definition.step(id).or_else(|| definition.step(written_id(id))).or_else(copy)
}

/// What is said of a step whose runs are used up: `take`, `{choice: decide, option: a}`.
fn exhausted(node: &Node, file: &str) -> Result<String, Diagnostic> {
    let hint = "write `take`, `continue`, `stop` or `{choice: decide, option: …}`";
    if let Value::Text(word) = &node.value {
        return Ok(word.clone());
    }
    let mut fields = Fields::from_node(node, "the answer", file).map_err(|problem| problem.hint(hint))?;
    let (choice, option) = (fields.text("choice"), fields.text("option"));
    match (fields.finish(&[]).into_iter().next(), choice, option) {
        (Some(problem), ..) => Err(problem),
        (None, Some(choice), Some(option)) if choice == "decide" => Ok(format!("decide: {option}")),
        (None, Some(choice), None) => Ok(choice),
        _ => {
            Err(node.problem(file, "the answer has no `choice`, or an `option` it does not take").hint(hint))
        }
    }
}

pub(super) fn used_up(step: &str) -> String {
    format!("the answers file has no more answers for step `{step}`")
}

/// Whom a round's entry gives a tie to, and whether each choice serves once.
fn choices(node: &Node) -> (Vec<&Node>, bool) {
    let of_map = |map| find(map, "tie");
    match &node.value {
        Value::Text(_) => (vec![node], false),
        Value::Map(map) => match of_map(map) {
            Some(Node { value: Value::List(items), .. }) => (items.iter().collect(), true),
            found => (found.into_iter().collect(), false),
        },
        Value::List(items) => (items.iter().filter_map(as_map).filter_map(of_map).collect(), true),
        _ => (Vec::new(), false),
    }
}

/// An answer to an approval. Where ideas are merged it may hold the merge; where that is needed, a yes
/// without one is an error.
fn said(node: &Node, merges: bool, needs_merge: bool, file: &str) -> Result<ScriptedAnswer, Diagnostic> {
    if merges && as_map(node).is_some_and(|map| find(map, "options").is_some()) {
        let (merge, comment) = merged(node, file)?;
        return Ok(ScriptedAnswer {
            approved: true,
            comment,
            merge: Some(merge),
            ..ScriptedAnswer::default()
        });
    }
    let no_options = || node.problem(file, "the answer to a merge has no `options`").hint(MERGE_HINT);
    if let Value::Bool(approved) = node.value {
        if approved && needs_merge {
            return Err(no_options());
        }
        return Ok(ScriptedAnswer { approved, ..ScriptedAnswer::default() });
    }
    let hint = "write `true`, `false`, `{approved: true, comment: \"…\"}` or, of a proposal, `{edited: {…}}`";
    let mut fields =
        Fields::from_node(node, "the answer to an approval", file).map_err(|problem| problem.hint(hint))?;
    let approved = fields.flag("approved");
    let comment = fields.text("comment");
    let edited = fields.node("edited").map(Node::to_json);
    let approved = approved.or(edited.as_ref().map(|_| true));
    let problems = fields.finish(&[]);
    match (approved, problems.into_iter().next()) {
        (_, Some(problem)) => Err(problem),
        (None, None) => Err(node.problem(file, "the answer to an approval has no `approved`").hint(hint)),
        (Some(true), None) if needs_merge => Err(no_options()),
        (Some(approved), None) => {
            Ok(ScriptedAnswer { approved, comment, edited, ..ScriptedAnswer::default() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::participants::scripted::ScriptedReply;

    const FILE: &str = "ok: [{approved: false, comment: smaller}, true]\n\
                        risks: {a: {position: x}, b: {fail: offline}, c: [{vote: x}, {vote: y}]}\n";

    #[test]
    fn a_bare_answer_serves_always_and_a_list_in_turn() {
        let answers = Answers::parse(FILE, "a.yaml").unwrap();
        let text = "steps: [{id: risks, type: round, question: q, participants: [a, b, c]}]\nparticipants: [a, b, c]\n";
        let source = crate::workflow::Source { text, file: "f.yaml", id: "f" };
        let definition = crate::workflow::load(source).unwrap().definition;
        let parts = |seat| answers.parts(&definition, seat);
        assert_eq!(
            parts("a")["risks"],
            ScriptedSeat::Always(ScriptedReply::Reply("{\"position\":\"x\"}".into()))
        );
        assert_eq!(parts("b")["risks"], ScriptedSeat::Always(ScriptedReply::Fail("offline".into())));
        assert!(matches!(&parts("c")["risks"], ScriptedSeat::InTurn(lines) if lines.len() == 2));
        assert!(parts("d").is_empty());
    }

    #[test]
    fn approvals_are_used_up_and_running_out_names_the_step() {
        let mut answers = Answers::parse(FILE, "a.yaml").unwrap();
        let first = answers.next_answer("ok", &QuestionKind::Approval).unwrap().unwrap();
        assert_eq!((first.approved, first.comment.as_deref()), (false, Some("smaller")));
        assert!(answers.next_answer("ok", &QuestionKind::Approval).unwrap().unwrap().approved);
        assert!(answers.next_answer("ok", &QuestionKind::Approval).unwrap_err().contains("`ok`"));
        assert_eq!(answers.next_answer("other", &QuestionKind::Approval), Ok(None));
    }
}
