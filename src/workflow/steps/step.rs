//! Step of any type: shared keys, loaded form and reader.
//!
//! Expressions, templates and schemas are parsed here and evaluated where they are used.

use serde_json::Value;

use super::agent::Agent;
use super::approval::Approval;
use super::discussion::DiscussionKeys;
use super::flow::{Branch, Each};
use super::review::{Review, VERDICT};
use super::round::{Round, Selection};
use super::{flow, round};
use crate::workflow::keys::spec::KeyType::{Duration, Whole, Words};
use crate::workflow::keys::spec::{KeySpec, REQUIRED, StepType, key};
use crate::workflow::lang::{OutputSchema, Transform};
use crate::workflow::load::entries::{Entries, FromKey, as_text, enum_of_words, keys};
use crate::yaml::{Node, Value as Yaml};

keys! {
    #[derive(Debug, Clone, Default, PartialEq)]
    pub struct Step as "step" ("a step") {
        id: String = key("id", REQUIRED, "The step's id, unique in the file.", "pick"),
        kind: StepKind as (Words(type_names)) =
            key("type", "round, if there is a `question`", "The step's type.", "agent") => kind,
        description: Option<String> =
            key("description", "", "A line about the step.", "\"the release plan\""),
        label: Option<String> = key("label", "", "The name of the stage.", "Planning"),
        next: Option<String> =
            key("next", "the next, if no step names one", "The next step after a success.", "review"),
        on_error: Option<String> = key("on_error", "`next`", "The next step after a failure.", "repair"),
        max_runs: Option<u32> as (Whole(1, u64::MAX)) =
            key("max_runs", "no limit", "The most runs of the step.", "3"),
        on_exhausted: Option<String> =
            key("on_exhausted", "the facilitator is asked", "The next step after `max_runs`.", "escalate"),
        // The following keys exist only for some types.
        input: Option<String> = key(
            "input",
            "",
            "The step or key whose result is handed over in addition to the context.",
            "plan",
        ),
        output: Option<String> =
            key("output", "the step's id", "The key of the result in the context.", "files"),
        brief: bool as (Words(|| vec!["full", "none"])) = key(
            "brief",
            "full",
            "Whether the brief precedes the prompt.",
            "none",
        ) => |entries: Entries<'_>| entries.text("brief").is_none_or(|word| word == "full"),
        record: Option<Record> =
            key("record", "", "What it records from a result.", "{from: context.synth.artifacts}"),
        task: Option<String> = key("task", "", "The task that the step works on.", "APP-15"),
        requires: Vec<String> = key("requires", "", "Paths that the input must contain.", "[issue.issue_id]"),
        completeness: Option<Completeness> =
            key("completeness", "the definition's", "How its work item is checked.", "strict"),
        max_retries: u32 = key("max_retries", "0", "The number of retries after a failure.", "2"),
        retry_delay_ms: Option<u64> as (Duration) =
            key("retry_delay", "none", "The time before each retry.", "1s"),
        /// Limit of one attempt, or of one seat of a round.
        timeout_ms: Option<u64> as (Duration) =
            key("timeout", "the configured one", "The limit of one attempt.", "5m"),
        facilitator_directive: Option<String> = key(
            "facilitator_directive",
            "",
            "A line for everyone who is asked in this step.",
            "\"Be brief.\"",
        ),
    } and {
        /// Steps inside the step, in file order.
        steps: Vec<Step> => nested,
        /// In an `each`: one sequence per item (`ID.1`, `ID.2` …), created when the step begins.
        copies: Vec<Step>,
        place: (u64, u64) => Entries::place,
        is_copy: bool,
    }
}

pub const EVERY: &[KeySpec] = Step::KEYS.split_at(8).0;

/// Keys shared by several step types, with these types.
const SHARED: [(&str, &str); 6] = [
    ("input", "agent sequence use"),
    ("output", "agent round parallel sequence each use transform approval review"),
    ("record", "agent sequence use transform approval"),
    ("task requires completeness timeout facilitator_directive", "agent round review"),
    ("brief max_retries retry_delay", "agent review"),
    (
        "exploration ballot rule ties quorum act_at close deadline on_failed on_undecided participants \
         artifacts",
        "round discussion",
    ),
];

const fn step_type(name: &'static str, about: &'static str, keys: &'static [KeySpec]) -> StepType {
    StepType { name, about, keys }
}

pub static TYPES: [StepType; 11] = [
    step_type("agent", "Gives one work item to one agent.", Agent::KEYS),
    step_type("round", "Asks all chosen participants one question at once, blind.", Round::KEYS),
    step_type("parallel", "Runs its steps at once; none sees another's result.", flow::PARALLEL),
    step_type(
        "sequence",
        "Runs its steps in order. Each sees the results before it; the last result is the sequence's.",
        flow::SEQUENCE,
    ),
    step_type(
        "each",
        "Runs its steps in order, once for each item of a list; no item's steps see another's results.",
        Each::KEYS,
    ),
    step_type(
        "use",
        "Runs the steps of another definition in order; the last result is the step's.",
        flow::USE,
    ),
    step_type("transform", "Takes a value out of the results so far.", flow::TRANSFORM),
    step_type("condition", "Chooses the next step by the results so far.", Branch::KEYS),
    step_type("approval", "Asks the facilitator for a yes or no.", Approval::KEYS),
    step_type("review", "Asks reviewers for a verdict on a result or an artifact.", Review::KEYS),
    step_type(
        "discussion",
        "Leads a topic through the rounds of a strategy; TALLIES.md describes them.",
        DiscussionKeys::KEYS,
    ),
];

pub fn type_names() -> Vec<&'static str> {
    TYPES.iter().map(|of| of.name).collect()
}

/// Returns the type of a step; `None` if it is unknown.
pub fn type_of(step: &Node) -> Option<&'static StepType> {
    if !matches!(step.value, Yaml::Map(_)) {
        return None;
    }
    let name = match step.given("type") {
        Some(node) => as_text(node)?,
        None if step.given("question").is_some() => "round".to_owned(),
        None => return None,
    };
    TYPES.iter().find(|of| of.name == name)
}

impl StepType {
    pub fn has_steps(&self) -> bool {
        self.keys.iter().any(|key| key.name == "steps")
    }

    /// Returns whether the type has this shared key.
    pub fn shares(&self, key: &str) -> bool {
        let has = |words: &str, word: &str| words.split(' ').any(|known| known == word);
        SHARED.iter().any(|(keys, types)| has(keys, key) && has(types, self.name))
    }
}

/// Iterates over the shared keys, each with the types that have it.
pub fn shared_keys() -> impl Iterator<Item = (&'static KeySpec, &'static str)> {
    Step::KEYS[EVERY.len()..].iter().map(|key| {
        let row = SHARED.iter().find(|(keys, _)| keys.split(' ').any(|name| name == key.name));
        (key, row.map_or("", |(_, types)| *types))
    })
}

/// Returns the keys of a step type; if the type is unknown, those of all types.
pub fn step_keys(of: Option<&'static StepType>) -> Vec<&'static KeySpec> {
    let own = TYPES.iter().filter(|known| of.is_none_or(|of| of.name == known.name));
    let own: Vec<&KeySpec> = own.flat_map(|of| of.keys).collect();
    let shared = Step::KEYS[EVERY.len()..].iter().chain(Round::KEYS);
    let is_shared = |key: &&KeySpec| {
        of.is_none_or(|of| of.shares(key.name) && !own.iter().any(|own| own.name == key.name))
    };
    EVERY.iter().chain(own.clone()).chain(shared.filter(is_shared)).collect()
}

/// Reads the nested steps of a step; empty if its type has none.
fn nested(entries: Entries<'_>) -> Vec<Step> {
    let Some(of) = type_of(entries.node).filter(|of| of.has_steps()) else { return Vec::new() };
    if let Some(node) = entries.node("steps").filter(|node| node.value == Yaml::List(Vec::new())) {
        entries.refuse(node, format!("{} has no `steps`", of.what()), "add the steps to run");
    }
    entries.maps("steps").map(Step::read).collect()
}

fn kind(entries: Entries<'_>) -> StepKind {
    match type_of(entries.node).map_or("", |of| of.name) {
        "agent" => StepKind::Agent(Box::new(Agent::read(entries))),
        "round" => StepKind::Round(Box::new(round::round(entries))),
        "parallel" => StepKind::Parallel { min_success: flow::min_success(entries) },
        "sequence" => StepKind::default(),
        "each" => StepKind::Each(Box::new(Each::read(entries))),
        "transform" => StepKind::Transform(Transform::from_key(entries, &flow::TRANSFORM[0])),
        "condition" => StepKind::Condition(Branch::read(entries)),
        "review" => StepKind::Review(Review::read(entries)),
        // An approval, or an unknown type; the latter has an error, so the file does not load.
        _ => StepKind::Approval(Approval::read(entries)),
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum StepKind {
    Round(Box<Round>),
    Approval(Approval),
    Agent(Box<Agent>),
    Parallel {
        /// Number of steps that must succeed; `None` means all.
        min_success: Option<usize>,
    },
    Sequence {
        /// Item that this sequence is the copy for, inside an `each`.
        item: Option<Item>,
    },
    Each(Box<Each>),
    Transform(Transform),
    Condition(Branch),
    Review(Review),
}

impl Default for StepKind {
    fn default() -> Self {
        Self::Sequence { item: None }
    }
}

/// Item of the list of an `each`.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    pub key: String,
    pub value: Value,
}

/// Most items in the list of an `each`.
pub const MOST_ITEMS: usize = 1_000;

/// Returns the id of a copied step as written: the part after the item's number.
pub fn written_id(id: &str) -> &str {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = id.split('.').collect();
    let number = parts.iter().rposition(|part| is_number(part));
    let Some(at) = number.filter(|at| *at > 0 && at + 1 < parts.len()) else { return id };
    let after: usize = parts[at + 1..].iter().map(|part| part.len() + 1).sum();
    &id[id.len() + 1 - after..]
}

keys! {
    #[derive(Debug, Clone, PartialEq)]
    pub struct Record as "record" ("`record`") {
        from: Transform =
            key("from", REQUIRED, "The path of a list, or of a map of lists.", "context.synth.questions"),
    }
}

enum_of_words! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Recorded {
        Artifacts = "artifacts",
        Conflicts = "conflicts",
        Resolved = "resolved",
        Questions = "questions",
        Answered = "answered",
        Agenda = "agenda",
    }
}

impl Record {
    /// Returns the kind of the listed records; `None` if the path must lead to a map of lists.
    pub fn recorded(&self) -> Option<Recorded> {
        let last = self.from.path().last().map_or("", String::as_str);
        Recorded::WORDS.iter().find(|(word, _)| *word == last).map(|(_, what)| *what)
    }
}

enum_of_words! {
    /// Level of the completeness check of a work item.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum Completeness {
        /// Every finding rejects the work item, including those guessed from its wording.
        Strict = "strict",
        /// Certain findings reject the work item; possible ones are warnings.
        #[default]
        Warn = "warn",
        Off = "off",
    }
}

impl Step {
    /// Creates a copy of the steps of an `each` for every item.
    pub fn expand(&mut self, items: &[Value]) {
        let StepKind::Each(each) = &self.kind else { return };
        let ids: Vec<String> = self.steps.iter().flat_map(Self::own_ids).collect();
        let copy = |(item, number): (&Value, usize)| {
            let id = format!("{}.{number}", self.id);
            let mut steps = self.steps.clone();
            for step in &mut steps {
                step.put_into(&id, &ids);
            }
            let item = Item { key: each.item.clone(), value: item.clone() };
            let kind = StepKind::Sequence { item: Some(item) };
            Self { id, kind, steps, place: self.place, is_copy: true, ..Self::default() }
        };
        self.copies = items.iter().zip(1..).map(copy).collect();
    }

    /// Returns the ids of the step and its nested steps. The steps of a nested `each` are copied later.
    fn own_ids(&self) -> Vec<String> {
        let inside: &[Self] = if let StepKind::Each(_) = self.kind { &[] } else { &self.steps };
        std::iter::once(self.id.clone()).chain(inside.iter().flat_map(Self::own_ids)).collect()
    }

    /// Turns the step into a copy inside the step `around`; `ids` are the steps copied together.
    fn put_into(&mut self, around: &str, ids: &[String]) {
        self.rename_references(around, ids);
        if self.output.is_none() {
            self.output = Some(self.id.clone());
        }
        self.id = format!("{around}.{}", self.id);
        self.is_copy = true;
        // The steps of a nested `each` are copied later.
        let is_each = matches!(self.kind, StepKind::Each(_));
        let put = if is_each { Self::rename_all_references } else { Self::put_into };
        self.steps.iter_mut().for_each(|step| put(step, around, ids));
    }

    fn rename_all_references(&mut self, around: &str, ids: &[String]) {
        self.rename_references(around, ids);
        self.steps.iter_mut().for_each(|step| step.rename_all_references(around, ids));
    }

    fn rename_references(&mut self, around: &str, ids: &[String]) {
        let references = match &mut self.kind {
            StepKind::Round(round) => [round.revises.as_mut(), None],
            StepKind::Approval(approval) => [approval.merges.as_mut(), approval.edits.as_mut()],
            StepKind::Agent(agent) => [agent.synthesis_of.as_mut(), None],
            StepKind::Review(review) => [Some(&mut review.of), None],
            _ => [None, None],
        };
        for id in references.into_iter().flatten().filter(|id| ids.contains(id)) {
            *id = format!("{around}.{id}");
        }
    }

    /// Returns the id of the step's result. Copies use their own id, because they share one key.
    pub fn made_id(&self) -> &str {
        if self.is_copy { &self.id } else { self.key() }
    }

    pub fn targets(&self) -> Vec<(&'static str, &str)> {
        let mut targets =
            vec![("next", &self.next), ("on_error", &self.on_error), ("on_exhausted", &self.on_exhausted)];
        match &self.kind {
            StepKind::Round(round) => targets.push(("on_undecided", &round.on_undecided)),
            StepKind::Approval(approval) => {
                targets.extend([("on_approve", &approval.on_approve), ("on_reject", &approval.on_reject)]);
            }
            StepKind::Review(review) => targets.push(("on_reject", &review.on_reject)),
            StepKind::Condition(condition) => {
                targets.extend([("then", &condition.then), ("else", &condition.otherwise)]);
            }
            _ => {}
        }
        targets.into_iter().filter_map(|(key, to)| Some((key, to.as_deref()?))).collect()
    }

    pub fn round(&self) -> Option<&Round> {
        if let StepKind::Round(round) = &self.kind { Some(round) } else { None }
    }

    pub fn answer_schema(&self) -> Option<&OutputSchema> {
        match &self.kind {
            StepKind::Agent(agent) => agent.output_schema.as_ref(),
            StepKind::Review(_) => Some(&VERDICT),
            _ => None,
        }
    }

    pub fn agent(&self) -> Option<&Agent> {
        if let StepKind::Agent(agent) = &self.kind { Some(agent) } else { None }
    }

    /// Returns the nested steps; for an `each` that has begun, the copies.
    pub fn nested(&self) -> &[Self] {
        if self.copies.is_empty() { &self.steps } else { &self.copies }
    }

    fn nested_mut(&mut self) -> impl Iterator<Item = &mut Self> {
        self.steps.iter_mut().chain(&mut self.copies)
    }

    /// Returns the step and all nested steps, each directly after its parent.
    pub fn all(&self) -> Vec<&Self> {
        let inside = self.nested().iter().flat_map(Self::all);
        std::iter::once(self).chain(inside).collect()
    }

    /// Returns whether the step or a nested one has this id.
    pub fn contains(&self, id: &str) -> bool {
        self.id == id || self.nested().iter().any(|step| step.contains(id))
    }

    /// Returns the step that produces the result: in a sequence, the last one.
    pub fn last(&self) -> &Self {
        match &self.kind {
            StepKind::Sequence { .. } => self.steps.last().map_or(self, Self::last),
            _ => self,
        }
    }

    /// Returns whether the step asks participants, who then receive its `facilitator_directive`.
    pub fn asks_seats(&self) -> bool {
        matches!(self.kind, StepKind::Round(_) | StepKind::Agent(_) | StepKind::Review(_))
    }

    pub fn asks_somebody(&self) -> bool {
        self.asks_seats() || matches!(self.kind, StepKind::Approval(_))
    }

    /// Returns the key of the result in the context.
    pub fn key(&self) -> &str {
        self.output.as_deref().unwrap_or(&self.id)
    }

    pub fn kind_name(&self) -> &'static str {
        match &self.kind {
            StepKind::Round(_) => "round",
            StepKind::Approval(_) => "approval",
            StepKind::Agent(_) => "agent",
            StepKind::Parallel { .. } => "parallel",
            StepKind::Sequence { .. } => "sequence",
            StepKind::Each(_) => "each",
            StepKind::Transform(_) => "transform",
            StepKind::Condition(_) => "condition",
            StepKind::Review(_) => "review",
        }
    }

    /// Returns whether the result is an envelope, which enters the context even after a failure.
    pub fn is_envelope(&self) -> bool {
        matches!(
            self.kind,
            StepKind::Round(_) | StepKind::Parallel { .. } | StepKind::Each(_) | StepKind::Review(_)
        )
    }

    pub fn agents(&self) -> Vec<&str> {
        match &self.kind {
            StepKind::Agent(agent) => vec![agent.agent.as_str()],
            StepKind::Review(review) => review.reviewers.names().iter().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// Applies `change` to its round and to every nested one.
    pub fn change_rounds(&mut self, change: &mut dyn FnMut(&mut Round)) {
        if let StepKind::Round(round) = &mut self.kind {
            change(round);
        }
        self.nested_mut().for_each(|step| step.change_rounds(change));
    }

    /// Adds an artifact to each nested round that selects artifacts by name.
    pub fn show_artifact(&mut self, id: &str) {
        self.change_rounds(&mut |round| {
            if let Selection::Named(names) = &mut round.artifacts
                && !names.iter().any(|name| name == id)
            {
                names.push(id.to_owned());
            }
        });
    }

    pub fn find_mut(&mut self, id: &str) -> Option<&mut Self> {
        if self.id == id {
            return Some(self);
        }
        self.nested_mut().find_map(|step| step.find_mut(id))
    }
}
