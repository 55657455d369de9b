//! Scripted answers of seats, agents and the facilitator, by step and seat.
//!
//! Their source is an answers file (`--answers`) or the definition's `answers:`. A single answer serves every
//! time; a list is used in order. A map with the only key `fail` makes the attempt fail. `synthesis` contains
//! notes on rounds, by step.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::Value as Json;

use crate::core::{Question, QuestionKind, exhausted_key};
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::history::{
    ApprovalGiven, CONTINUE, DECIDE, DEFINITION, Merge, MergedOption, SCRIPTED, STOP, Session, SkippedIdea,
    TAKE, option_id,
};
use crate::participants::scripted::{Script, ScriptedReply};
use crate::tally::Ties;
use crate::workflow::keys::check::Keys;
use crate::workflow::keys::spec::{KeySpec, key};
use crate::workflow::load::entries::{Entries, Findings, items, keys};
use crate::workflow::{Definition, Round, Step, StepKind, Template, as_text, written_id};
use crate::yaml::{Map as YamlMap, MapKey, Node, Value, read_yaml_or_json};

/// Key of the notes on rounds, unless a step has this id.
const SYNTHESIS: &str = "synthesis";

/// Name under which a round's entry resolves a tie.
const TIE: &str = "tie";

const MERGE_HINT: &str = "write `options: [{title: \"…\", from: [seat#1, seat#2]}]`, and `set_aside: [{idea: seat#3, \
                          reason: \"…\"}]` for what goes into none";

#[derive(Debug, Clone, Default)]
pub struct Answers {
    file: String,
    steps: YamlMap,
    /// Ids of the entries that the definition holds.
    own: HashSet<String>,
    used: HashMap<String, usize>,
    /// The open round's key is lost, so its sealed answers are requested again.
    pub(super) has_lost_key: bool,
}

fn script(node: &Node) -> Script<&Node> {
    Script { lines: items(node).iter().collect(), in_turn: matches!(node.value, Value::List(_)) }
}

/// Returns the entry under a name: of a map, or of each map in a list.
fn named<'a>(node: &'a Node, name: &str) -> Option<Script<&'a Node>> {
    let Value::List(items) = &node.value else { return node.get(name).map(script) };
    let lines: Vec<&Node> = items.iter().filter_map(|item| item.get(name)).collect();
    (!lines.is_empty()).then_some(Script { lines, in_turn: true })
}

impl Answers {
    pub fn parse(text: &str, file: &str) -> Result<Self, Diagnostic> {
        let node = read_yaml_or_json(text, file)?;
        let steps = match node.value {
            Value::Map(steps) => steps,
            Value::Null => YamlMap::new(),
            _ => {
                let problem = node.problem(file, "an answers file is a map of step ids");
                return Err(problem.hint("write `step-id: answer`"));
            }
        };
        Ok(Self { file: file.to_owned(), steps, ..Self::default() })
    }

    pub fn written(definition: &Definition, file: &str) -> Self {
        Self { file: file.to_owned(), ..Self::default() }.with_written(definition, |_| true)
    }

    /// Adds the definition's answers for steps that the file does not answer. Answers of seats and agents count
    /// only if `is_scripted` accepts the step.
    #[must_use]
    pub fn with_written(mut self, definition: &Definition, is_scripted: impl Fn(&str) -> bool) -> Self {
        let Some(Value::Map(written)) = definition.answers.as_ref().map(|node| &node.value) else {
            return self;
        };
        let is_of_seats = |id: &str| {
            let step = step_of(definition, id).filter(|_| !is_after_rounds(id, definition));
            step.is_some_and(|step| !matches!(step.kind, StepKind::Approval(_)) && step.asks_somebody())
        };
        for (key, node) in written {
            let id = key.text.as_str();
            if self.step(id).is_none() && (!is_of_seats(id) || is_scripted(id)) {
                self.own.insert(id.to_owned());
                self.steps.push((key.clone(), node.clone()));
            }
        }
        self
    }

    fn step(&self, id: &str) -> Option<&Node> {
        self.steps.iter().find(|(key, _)| key.text == id).map(|(_, node)| node)
    }

    /// Returns the id under which a step is scripted: its own, or the one written in the definition.
    fn key<'a>(&self, id: &'a str) -> &'a str {
        if self.step(id).is_some() { id } else { written_id(id) }
    }

    /// Returns the script of each step for a seat or an agent.
    pub fn parts(&self, definition: &Definition, seat: &str) -> HashMap<String, Script<ScriptedReply>> {
        let mut parts = HashMap::new();
        for (key, node) in &self.steps {
            let Some(step) = step_of(definition, &key.text) else { continue };
            let found = match &step.kind {
                StepKind::Agent(agent) => (agent.agent == seat).then(|| script(node)),
                StepKind::Review(review) => {
                    let reviewers = definition.reviewers(review);
                    if names(node).any(|name| reviewers.contains(&name)) {
                        named(node, seat)
                    } else {
                        reviewers.contains(&seat).then(|| script(node))
                    }
                }
                StepKind::Round(_) => named(node, seat),
                _ => None,
            };
            if let Some(Script { lines, in_turn }) = found {
                let lines = lines.into_iter().map(reply).collect();
                parts.insert(key.text.clone(), Script { lines, in_turn });
            }
        }
        parts
    }

    /// Checks that each entry suits its step; returns warnings for unused entries.
    pub fn check(&self, definition: &Definition) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
        let ids: Vec<&str> = definition.all_steps().map(|step| step.id.as_str()).collect();
        let (mut problems, mut unused) = (Vec::new(), Vec::new());
        for (key, node) in &self.steps {
            let id = key.text.as_str();
            let at = |message: String| Diagnostic::new(message).at(&self.file, key.line, key.column);
            if is_after_rounds(id, definition) {
                self.check_notes(node, definition, &mut problems);
                continue;
            }
            let is_of = |step: &&Step| step.max_runs.is_some() && exhausted_key(&step.id) == id;
            if let Some(step) = definition.all_steps().find(is_of) {
                problems.extend(items(node).iter().filter_map(|item| self.check_exhausted(item, step).err()));
                continue;
            }
            let Some(step) = step_of(definition, id) else {
                let message = format!("unused answers for `{id}`: no such step");
                unused.push(at(message).hint(did_you_mean(id, &ids)));
                continue;
            };
            match &step.kind {
                StepKind::Approval(approval) => {
                    let merges = approval.merges.is_some();
                    let needs_merge = merges && approval.edits.is_none();
                    let said = items(node).iter().map(|item| said(item, merges, needs_merge, &self.file));
                    problems.extend(said.filter_map(Result::err));
                }
                StepKind::Round(round) => {
                    self.check_round(id, node, round, &mut problems);
                    let seats: Vec<&str> = definition.seats(round).map(|seat| seat.name.as_str()).collect();
                    let is_unused = |name: &&str| *name != TIE && !seats.contains(name);
                    let strangers: BTreeSet<&str> = names(node).filter(is_unused).collect();
                    unused.extend(strangers.into_iter().map(|name| {
                        let message = format!("the answer for `{name}` is unused: no such seat in `{id}`");
                        at(message).hint(did_you_mean(name, &seats))
                    }));
                }
                _ if !step.asks_somebody() => {
                    let kind = step.kind_name();
                    let message =
                        format!("the answers for `{id}` have no effect: a step of type `{kind}` asks nobody");
                    unused.push(at(message).hint("script the steps that ask someone"));
                }
                _ => {}
            }
        }
        if problems.is_empty() { Ok(unused) } else { Err(problems) }
    }

    /// Refuses a choice that the facilitator is not offered when a step's runs are used up.
    fn check_exhausted(&self, node: &Node, step: &Step) -> Result<(), Diagnostic> {
        let choice = exhausted(node, &self.file)?.choice.unwrap_or_default();
        let round = step.round();
        let is_known_later = round.is_some_and(is_known_later);
        let options = round.map_or(&[][..], |round| &round.ballot.options);
        let options = options.iter().map(|option| format!("{DECIDE}{option}"));
        let known: Vec<String> =
            [TAKE, CONTINUE, STOP].map(str::to_owned).into_iter().chain(options).collect();
        if known.contains(&choice) || is_known_later && choice.starts_with(DECIDE) {
            return Ok(());
        }
        let names: Vec<&str> = known.iter().map(String::as_str).collect();
        let message = format!("step `{}` cannot continue with `{choice}`", step.id);
        Err(node.problem(&self.file, message).hint(did_you_mean(&choice, &names)))
    }

    fn check_round(&self, step: &str, node: &Node, round: &Round, problems: &mut Vec<Diagnostic>) {
        let is_tie = matches!(node.value, Value::Text(_)) && round.ties == Ties::Ask;
        for item in items(node).iter().filter(|item| !matches!(item.value, Value::Map(_)) && !is_tie) {
            let message =
                format!("the answers for round `{step}` must be a map of seats, found {}", item.kind());
            problems.push(item.problem(&self.file, message).hint("write `seat: answer` under the step's id"));
        }
        let Some(ties) = tie(node).filter(|_| !is_known_later(round)) else { return };
        let options: Vec<&str> = round.ballot.options.iter().map(String::as_str).collect();
        for choice in ties.lines {
            let text = as_text(choice).unwrap_or_default();
            if !options.contains(&text.as_str()) {
                let message = format!("the tie of round `{step}` cannot go to `{text}`");
                problems.push(choice.problem(&self.file, message).hint(did_you_mean(&text, &options)));
            }
        }
    }

    /// Reports entries that are not notes, and notes on unknown rounds.
    fn check_notes(&self, node: &Node, definition: &Definition, problems: &mut Vec<Diagnostic>) {
        const HINT: &str = "write `pick: \"summary of the round\"`";
        let Value::Map(steps) = &node.value else {
            let message = format!("`{SYNTHESIS}` must be a map of rounds, found {}", node.kind());
            return problems.push(node.problem(&self.file, message).hint(HINT));
        };
        let rounds = definition.all_steps().filter(|step| step.round().is_some());
        let rounds: Vec<&str> = rounds.map(|step| step.id.as_str()).collect();
        for (MapKey { text: id, .. }, said) in steps {
            if !rounds.contains(&id.as_str()) {
                let message = format!("`{SYNTHESIS}` names no round: `{id}`");
                problems.push(node.problem(&self.file, message).hint(did_you_mean(id, &rounds)));
            }
            for item in items(said).iter().filter(|item| as_text(item).is_none()) {
                let message = format!("the synthesis of `{id}` must be text, found {}", item.kind());
                problems.push(item.problem(&self.file, message).hint(HINT));
            }
        }
    }

    /// Counts the answers of a resumed session as used.
    pub fn resume(&mut self, session: &Session) {
        for (step, count) in &session.answered {
            *self.used.entry(self.key(step).to_owned()).or_insert(0) += count;
        }
    }

    /// Returns the scripted answer to a question; `None` if none is scripted. Fails if all are used up.
    pub fn next_answer(&mut self, question: &Question) -> Result<Option<ApprovalGiven>, String> {
        let step = self.key(&question.step);
        let key = match &question.kind {
            QuestionKind::KeyLost(_) => return Ok(None),
            QuestionKind::Exhausted(_) => exhausted_key(step),
            _ => step.to_owned(),
        };
        let used = self.used.get(&key).copied().unwrap_or_default();
        let is_tie = matches!(question.kind, QuestionKind::Tie(_));
        let script = self.step(&key).and_then(|node| if is_tie { tie(node) } else { Some(script(node)) });
        let Some(script) = script else { return Ok(None) };
        let line = script.line(&key, used)?;
        let answer = match &question.kind {
            QuestionKind::Tie(_) => Ok(ApprovalGiven { choice: as_text(line), ..scripted(true) }),
            QuestionKind::Exhausted(_) => exhausted(line, &self.file),
            // The core knows whether a plain yes is enough for the proposal.
            kind => said(line, matches!(kind, QuestionKind::Merge(_)), false, &self.file),
        };
        let is_own = self.own.contains(&key);
        self.used.insert(key, used + 1);
        let mut given = answer.map_err(|problem| problem.to_string())?;
        if is_own {
            DEFINITION.clone_into(&mut given.by);
        }
        let name = given.name.filter(|name| !name.trim().is_empty());
        Ok(Some(ApprovalGiven { name, ..given }))
    }

    /// Returns the round and text of the scripted note on the last round, if it has none yet. A list has one
    /// note per round of the step.
    pub fn note(&self, session: &Session) -> Result<Option<(String, String)>, String> {
        let Some(round) = session.rounds.last().filter(|_| is_after_rounds(SYNTHESIS, session.definition()))
        else {
            return Ok(None);
        };
        let step = &round.opened.step;
        let Some(script) = self.step(SYNTHESIS).and_then(|node| named(node, step)) else {
            return Ok(None);
        };
        let earlier = session.rounds.iter().filter(|round| round.opened.step == *step).count() - 1;
        let text = as_text(script.line(step, earlier)?).filter(|_| round.synthesis.is_none());
        Ok(text.map(|text| (round.opened.round.clone(), text)))
    }
}

/// Returns true if the entry contains notes on rounds, not answers to a step.
fn is_after_rounds(key: &str, definition: &Definition) -> bool {
    key == SYNTHESIS && definition.step(key).is_none()
}

/// Returns the keys of an entry's map, or of the maps in its list.
fn names(node: &Node) -> impl Iterator<Item = &str> {
    let maps = items(node).iter().filter_map(|item| match &item.value {
        Value::Map(map) => Some(map),
        _ => None,
    });
    maps.flatten().map(|(key, _)| key.text.as_str())
}

/// Returns the entry that decides a round's tie.
fn tie(node: &Node) -> Option<Script<&Node>> {
    if matches!(node.value, Value::Text(_)) { Some(script(node)) } else { named(node, TIE) }
}

/// Returns true if the options are known only when the round opens.
fn is_known_later(round: &Round) -> bool {
    round.options_from.is_some() || round.ballot.options.iter().any(|option| Template::is_one(option))
}

/// Returns an entry's step. Steps in `each` exist as written, and later as copies; both names work.
fn step_of<'a>(definition: &'a Definition, id: &str) -> Option<&'a Step> {
    let copy = || definition.all_steps().find(|step| written_id(&step.id) == id);
    definition.step(id).or_else(|| definition.step(written_id(id))).or_else(copy)
}

fn reply(node: &Node) -> ScriptedReply {
    match &node.value {
        Value::Map(map) if map.len() == 1 && map[0].0.text == "fail" => {
            Err(as_text(&map[0].1).unwrap_or_else(|| "scripted failure".to_owned()))
        }
        Value::Text(text) => Ok(text.clone()),
        _ => Ok(node.to_json().to_string()),
    }
}

pub(super) fn scripted(approved: bool) -> ApprovalGiven {
    ApprovalGiven { by: SCRIPTED.to_owned(), ..ApprovalGiven::by_person(approved, String::new()) }
}

keys! {
    /// Answer as a map; each kind of question accepts some of these keys.
    pub struct GivenAnswer {
        approved: Option<bool> = answer_key("approved", "true"),
        edited: Option<Json> = answer_key("edited", "{…}"),
        choice: Option<String> = answer_key("choice", "take"),
        option: Option<String> = answer_key("option", "redis"),
        options: Vec<OptionAnswer> = answer_key("options", "[{title: A, from: [seat#1]}]"),
        set_aside: Vec<AsideAnswer> = answer_key("set_aside", "[{idea: seat#1, reason: \"…\"}]"),
        comment: Option<String> = answer_key("comment", "\"…\""),
        name: Option<String> = answer_key("by", "\"Ana Berg\""),
    }
}

keys! {
    pub struct OptionAnswer as "merged_option" ("an option") {
        id: Option<String> = answer_key("id", "queue"),
        title: String = answer_key("title", "\"One queue\""),
        description: Option<String> = answer_key("description", "\"…\""),
        from: Vec<String> = answer_key("from", "[seat#1, seat#2]"),
    }
}

keys! {
    pub struct AsideAnswer as "idea_set_aside" ("an idea set aside") {
        idea: String = answer_key("idea", "seat#1"),
        reason: String = answer_key("reason", "\"…\""),
    }
}

const fn answer_key(name: &'static str, example: &'static str) -> KeySpec {
    key(name, "", "", example)
}

/// Reads an answer with these keys. Returns the first error; `hint` applies if it is not a map.
fn answer(node: &Node, file: &str, what: &str, keys: &[&str], hint: &str) -> Result<GivenAnswer, Diagnostic> {
    let found = Findings::new(file);
    let known: Vec<_> = GivenAnswer::KEYS.iter().filter(|key| keys.contains(&key.name)).collect();
    Keys { what, places: &[], known: &known, is_open: false }.check(node, &found);
    match found.problems.take().into_iter().next() {
        None => Ok(GivenAnswer::read(Entries { node, found: &found })),
        Some(problem) if matches!(node.value, Value::Map(_)) => Err(problem),
        Some(problem) => Err(problem.hint(hint)),
    }
}

fn exhausted(node: &Node, file: &str) -> Result<ApprovalGiven, Diagnostic> {
    const HINT: &str = "write `take`, `continue`, `stop` or `{choice: decide, option: …, comment: \"…\"}`";
    if let Value::Text(word) = &node.value {
        return Ok(ApprovalGiven { choice: Some(word.clone()), ..scripted(true) });
    }
    let what = "the answer of a step whose runs are used up";
    let given = answer(node, file, what, &["choice", "option", "comment", "by"], HINT)?;
    let choice = match (given.choice, given.option) {
        (Some(choice), Some(option)) if choice == "decide" => format!("{DECIDE}{option}"),
        (Some(choice), None) => choice,
        _ => {
            let problem = node.problem(file, "the answer has no `choice`, or an `option` it does not take");
            return Err(problem.hint(HINT));
        }
    };
    Ok(ApprovalGiven { choice: Some(choice), comment: given.comment, name: given.name, ..scripted(true) })
}

/// Reads an approval; it may contain a merge if `merges`. With `needs_merge`, a plain yes is an error.
fn said(node: &Node, merges: bool, needs_merge: bool, file: &str) -> Result<ApprovalGiven, Diagnostic> {
    const HINT: &str =
        "write `true`, `false`, `{approved: true, comment: \"…\"}` or, of a proposal, `{edited: {…}}`";
    if merges && node.get("options").is_some() {
        return merged(node, file);
    }
    let given = if let Value::Bool(approved) = node.value {
        scripted(approved)
    } else {
        let what = "the answer to an approval";
        let given = answer(node, file, what, &["approved", "comment", "by", "edited"], HINT)?;
        let GivenAnswer { approved, edited, comment, name, .. } = given;
        let missing = || node.problem(file, "the answer to an approval has no `approved`").hint(HINT);
        let approved = approved.or(edited.as_ref().map(|_| true)).ok_or_else(missing)?;
        ApprovalGiven { comment, edited, name, ..scripted(approved) }
    };
    if given.approved && needs_merge {
        return Err(node.problem(file, "the answer to a merge has no `options`").hint(MERGE_HINT));
    }
    Ok(given)
}

/// Reads a merge of ideas into options; an option without an id gets one from its title.
pub fn merged(node: &Node, file: &str) -> Result<ApprovalGiven, Diagnostic> {
    let keys = ["options", "set_aside", "comment", "by", "approved"];
    let given = answer(node, file, "the merge", &keys, MERGE_HINT)?;
    let GivenAnswer { options, set_aside, comment, name, .. } = given;
    let option = |OptionAnswer { id, title, description, from }| {
        let id = id.unwrap_or_else(|| option_id(&title));
        MergedOption { id, title, description, from }
    };
    let aside = |AsideAnswer { idea, reason }| SkippedIdea { idea, reason };
    let merge = Merge {
        options: options.into_iter().map(option).collect(),
        set_aside: set_aside.into_iter().map(aside).collect(),
    };
    Ok(ApprovalGiven { comment, name, merge: Some(merge.into()), ..scripted(true) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "ok: [{approved: false, comment: smaller}, true]\n\
                        risks: {a: {position: x}, b: {fail: offline}, c: [{vote: x}, {vote: y}]}\n";

    #[test]
    fn single_answers_repeat_and_lists_are_used_in_order() {
        let answers = Answers::parse(FILE, "a.yaml").unwrap();
        let text = "steps: [{id: risks, type: round, question: q, participants: [a, b, c]}]\nparticipants: [a, b, c]\n";
        let source = crate::workflow::Source { text, file: "f.yaml", id: "f" };
        let definition = crate::workflow::load(source).unwrap();
        let parts = |seat| answers.parts(&definition, seat);
        let always = |line| Script { lines: vec![line], in_turn: false };
        assert_eq!(parts("a")["risks"], always(Ok("{\"position\":\"x\"}".into())));
        assert_eq!(parts("b")["risks"], always(Err("offline".into())));
        assert!(parts("c")["risks"].in_turn && parts("c")["risks"].lines.len() == 2);
        assert!(parts("d").is_empty());
    }

    #[test]
    fn approvals_are_used_up_and_running_out_names_the_step() {
        let mut answers = Answers::parse(FILE, "a.yaml").unwrap();
        let of = |step: &str| Question {
            step: step.to_owned(),
            kind: QuestionKind::Approval,
            message: String::new(),
        };
        let first = answers.next_answer(&of("ok")).unwrap().unwrap();
        assert_eq!((first.approved, first.comment.as_deref()), (false, Some("smaller")));
        assert!(answers.next_answer(&of("ok")).unwrap().unwrap().approved);
        assert!(answers.next_answer(&of("ok")).unwrap_err().contains("`ok`"));
        assert_eq!(answers.next_answer(&of("other")), Ok(None));
        let mut nobody = Answers::parse("ok: {approved: true, by: ' '}", "a.yaml").unwrap();
        assert_eq!(nobody.next_answer(&of("ok")).unwrap().unwrap().name, None);
    }
}
