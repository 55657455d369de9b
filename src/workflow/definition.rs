//! A loaded definition: every default filled in, every word checked.

use std::collections::HashMap;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::keys::spec::enum_of_words;
use super::recall::{RECENT_ROUNDS, Recall, RecallKeys};
use super::steps::review::Review;
use super::steps::round::{Round, Selection};
use super::steps::step::{Completeness, Item, Step, StepKind};
use super::task::{LinkDefinition, Report, Task, TrackerFile};
use crate::round::material::{AgendaItem, Artifact};
use crate::yaml::Node;

/// A facilitator's file: goal, people, material and steps; `keys` describes its keys.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Definition {
    pub id: String,
    pub description: Option<String>,
    pub goal: Option<String>,
    pub constraints: Vec<String>,
    pub project_summary: Option<String>,
    /// The largest snapshot that is sent, in bytes.
    pub max_snapshot_bytes: usize,
    pub input: Option<Value>,
    /// The roster in the order of reveal; never empty.
    pub participants: Vec<ParticipantSpec>,
    pub facilitator_directive: Option<String>,
    pub artifacts: Vec<Artifact>,
    pub agenda: Vec<AgendaItem>,
    pub tasks: Vec<Task>,
    pub tracker: Option<TrackerFile>,
    pub links: Vec<LinkDefinition>,
    pub reports: Vec<Report>,
    pub current_round: u32,
    pub open_conflicts: Vec<Value>,
    pub open_questions: Vec<Value>,
    pub budget: Option<f64>,
    pub supersedes: Option<String>,
    pub warm_first: WarmFirst,
    /// Evidence that looks like a secret is sent, once the user agrees.
    pub secrets_allowed: bool,
    pub leaks: Option<LeakAction>,
    pub recall: RecallKeys,
    /// Participants see each other by pseudonyms, drawn with the seed if one is given.
    pub pseudonyms: Option<PseudonymSetting>,
    pub completeness: Option<Completeness>,
    pub max_iterations: u32,
    pub max_duration_ms: Option<u64>,
    pub answers: Option<Node>,
    /// The steps, in the order of the file; never empty. Who changes them resets the index.
    pub steps: Vec<Step>,
    pub index: StepIndex,
}

/// Places of steps in the lists around them, from the outermost in; made when first needed.
#[derive(Debug, Clone, Default)]
pub struct StepIndex(OnceLock<HashMap<String, Vec<usize>>>);

impl PartialEq for StepIndex {
    /// It follows from the steps.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl StepIndex {
    fn places(&self, steps: &[Step]) -> &HashMap<String, Vec<usize>> {
        self.0.get_or_init(|| {
            let mut places = HashMap::new();
            note_places(steps, &[], &mut places);
            places
        })
    }
}

fn note_places(steps: &[Step], around: &[usize], places: &mut HashMap<String, Vec<usize>>) {
    for (at, step) in steps.iter().enumerate() {
        let place = [around, &[at]].concat();
        places.entry(step.id.clone()).or_insert_with(|| place.clone());
        note_places(step.nested(), &place, places);
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ParticipantSpec {
    pub name: String,
    /// The persona it takes; its name unless given, and empty of a seat that is named after its model.
    pub persona: String,
    /// The seat needs that persona.
    pub needs_persona: bool,
    pub role: Option<String>,
    pub tools: SeatTools,
    pub prompt: Option<String>,
    pub command: Option<ProgramSpec>,
    pub agent_only: bool,
    pub skills: Vec<String>,
    pub tags: Vec<String>,
    pub model: Option<String>,
    /// The models that are asked in turn when it fails in a round.
    pub fallbacks: Vec<String>,
    pub weight: f64,
    pub seed: Option<u64>,
    pub temperature: Option<f64>,
    pub effort: Option<Effort>,
    pub max_output_tokens: Option<u64>,
    pub place: (u64, u64),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SeatTools {
    /// Nothing: a persona that lists tools takes no seat in a round.
    #[default]
    Unset,
    /// It sits without the tools that its persona lists.
    LeftOut,
    /// The program that its model is may use its tools.
    Allowed,
}

/// An external program that answers: started without a shell, the prompt on its standard input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramSpec {
    pub command: Vec<String>,
    /// The names of the variables it is passed, beside `PATH`, `HOME` and the like.
    pub env: Vec<String>,
    /// The exit codes, beside 0, with which it answers: that it ended so, and what it printed.
    pub ok_exit: Vec<i64>,
    pub tool_less: bool,
}

impl ParticipantSpec {
    /// A participant that is a persona and nothing else.
    pub fn named(name: &str, place: (u64, u64)) -> Self {
        let name = name.to_owned();
        Self { persona: name.clone(), name, needs_persona: true, weight: 1.0, place, ..Self::default() }
    }

    /// A model, or a person, without a persona; it is named after its model.
    pub fn of_model(model: &str, place: (u64, u64)) -> Self {
        let persona = String::new();
        let model_name = Some(model.to_owned());
        let seat = Self::named(&name_of_model(model), place);
        Self { persona, needs_persona: false, model: model_name, ..seat }
    }

    /// The models that follow this one in the seat's list; none if it is not in the list.
    pub fn models_after(&self, model: &str) -> &[String] {
        if self.model.as_deref() == Some(model) {
            return &self.fallbacks;
        }
        let at = self.fallbacks.iter().position(|other| other == model);
        at.map_or(&[], |at| &self.fallbacks[at + 1..])
    }

    /// One entry of a roster: a model, a person, or a persona by its name.
    pub fn of_text(text: &str, place: (u64, u64)) -> Self {
        if is_model_text(text) { Self::of_model(text, place) } else { Self::named(text, place) }
    }
}

/// The entry of a roster is a model, or a person at this terminal; else it names a persona.
pub fn is_model_text(text: &str) -> bool {
    text.contains('/') || matches!(text, "human" | "rehearsal")
}

enum_of_words! {
    /// One seat of each model is asked first, so that its service's cache of the shared part is filled for the
    /// others.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum WarmFirst {
        /// All are asked at once.
        #[default]
        Off = "off",
        /// If the shared part is long enough for a cache and enough seats share a model.
        Auto = "auto",
        On = "on",
    }
}

enum_of_words! {
    /// Treatment of an answer that names a seat, a model or a maker, before it is disclosed.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum LeakAction {
        Off = "off",
        /// It is handed on as it is; the findings are on record.
        #[default]
        Flag = "flag",
        /// The copy that is handed on has the names masked.
        Mask = "mask",
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PseudonymSetting {
    pub seed: Option<u64>,
}

impl Definition {
    /// The step of that id, behind those that it is inside, the outermost first; nothing if there is none.
    fn path(&self, id: &str) -> Vec<&Step> {
        let mut list = self.steps.as_slice();
        let step = |at: &usize| {
            let step = list.get(*at)?;
            list = step.nested();
            Some(step)
        };
        self.index.places(&self.steps).get(id).into_iter().flatten().filter_map(step).collect()
    }

    /// The step of that id, nested ones among them.
    pub fn step(&self, id: &str) -> Option<&Step> {
        self.path(id).pop()
    }

    pub fn step_mut(&mut self, id: &str) -> Option<&mut Step> {
        self.index = StepIndex::default();
        self.steps.iter_mut().find_map(|step| step.find_mut(id))
    }

    /// The steps that a step is inside, the outermost first.
    pub fn around(&self, id: &str) -> Vec<&Step> {
        let mut path = self.path(id);
        path.pop();
        path
    }

    /// The steps whose results a step may see: those of the list, and those before it in the sequences
    /// that it is in, these first.
    pub fn seen_by(&self, id: &str) -> impl Iterator<Item = &Step> {
        let mut levels: Vec<&[Step]> = vec![&self.steps];
        for pair in self.path(id).windows(2) {
            let is_in_order = match &pair[0].kind {
                StepKind::Each(each) => each.copies.is_empty(),
                StepKind::Sequence { .. } => true,
                _ => false,
            };
            if is_in_order {
                let nested = pair[0].nested();
                let place = nested.iter().position(|inside| inside.id == pair[1].id);
                levels.push(&nested[..place.unwrap_or(nested.len())]);
            }
        }
        levels.into_iter().rev().flatten()
    }

    /// The keys under which a step sees results, and the items that it is for.
    pub fn keys_seen_by(&self, step: &Step) -> Vec<&str> {
        let results = self.seen_by(&step.id).map(Step::key);
        results.chain(self.items_seen_by(step)).collect()
    }

    /// The keys of the items that a step is for, the outermost first.
    pub fn items_seen_by<'a>(&'a self, step: &Step) -> Vec<&'a str> {
        let item = |around: &'a Step| {
            if let StepKind::Each(each) = &around.kind { Some(each.item.as_str()) } else { None }
        };
        self.around(&step.id).into_iter().filter_map(item).collect()
    }

    /// The items that a copied step is for, with their keys, the outermost first.
    pub fn items_for<'a>(&'a self, id: &str) -> Vec<&'a Item> {
        let item = |step: &'a Step| match &step.kind {
            StepKind::Sequence { item } => item.as_ref(),
            _ => None,
        };
        self.path(id).into_iter().filter_map(item).collect()
    }

    /// The step that `by` may see whose result goes by that key in the context, or has that id.
    pub fn step_of_key(&self, key: &str, by: &Step) -> Option<&Step> {
        self.seen_by(&by.id).find(|step| step.key() == key || step.id == key)
    }

    /// Every step, each nested one right after the step it is in.
    pub fn all_steps(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().flat_map(Step::all)
    }

    /// A step of the file names the next one; if none does, steps run in order.
    pub fn is_routed(&self) -> bool {
        self.steps.iter().any(|step| !step.targets().is_empty())
    }

    /// The seats of a round step, in roster order.
    pub fn seats<'a>(&'a self, round: &'a Round) -> impl Iterator<Item = &'a ParticipantSpec> {
        self.participants.iter().filter(|p| !p.agent_only && round.participants.holds(&p.name))
    }

    /// Returns the authors of everything that may be reviewed under a name: the agent of a step and those
    /// inside it, all seats of a round, nobody of an artifact of the definition.
    pub fn authors(&self, of: &str) -> Vec<Vec<&str>> {
        let Some(step) = self.step(of) else {
            return self.artifacts.iter().filter(|artifact| artifact.id == of).map(|_| Vec::new()).collect();
        };
        let of_step = |step: &'_ Step| -> Option<Vec<&str>> {
            let step = self.step(&step.id)?;
            match step.round() {
                Some(round) => Some(self.seats(round).map(|seat| seat.name.as_str()).collect()),
                None => Some(step.agents()).filter(|agents| !agents.is_empty()),
            }
        };
        step.all().into_iter().filter_map(of_step).collect()
    }

    /// Returns the reviewers of a step in roster order, without a single author of everything.
    pub fn reviewers<'a>(&'a self, review: &'a Review) -> Vec<&'a str> {
        let authors = self.authors(&review.of);
        let mut reviewers: Vec<&str> = match &review.reviewers {
            Selection::All => {
                self.participants.iter().filter(|p| !p.agent_only).map(|p| p.name.as_str()).collect()
            }
            Selection::Named(names) => names.iter().map(String::as_str).collect(),
        };
        reviewers.retain(|name| authors.iter().any(|authors| !authors.contains(name)));
        reviewers
    }

    /// A participant, or the model that an agent step names, may use the tools of its program.
    pub fn allows_tools(&self, name: &str) -> bool {
        if let Some(spec) = self.participants.iter().find(|spec| spec.name == name) {
            return spec.tools == SeatTools::Allowed;
        }
        let mut agents = self.all_steps().filter_map(Step::agent);
        agents.any(|agent| agent.agent == name && agent.allows_tools)
    }

    pub fn recall(&self, round: &Round) -> Recall {
        let (own, all) = (&round.recall, &self.recall);
        Recall {
            answers: own.answers.or(all.answers).unwrap_or_default(),
            rounds: own.rounds.or(all.rounds).unwrap_or(RECENT_ROUNDS),
            results: own.results.as_ref().or(all.results.as_ref()).cloned().unwrap_or_default(),
        }
    }

    pub fn completeness(&self, step: &Step) -> Completeness {
        step.completeness.or(self.completeness).unwrap_or_default()
    }

    /// The session draws by lot: the order of options or of reasons.
    pub fn draws(&self) -> bool {
        let mut rounds = self.all_steps().filter_map(Step::round);
        rounds.any(|round| round.revises.is_some() || !round.ballot.order.is_same())
    }

    pub fn revisions(&self) -> impl Iterator<Item = (&Step, &Step)> {
        let revising = |step: &'_ Step| step.round()?.revises.clone();
        self.all_steps().filter_map(move |step| Some((self.step(&revising(step)?)?, step)))
    }

    /// The step of the list that a step is, or is in.
    pub fn top(&self, id: &str) -> Option<&Step> {
        self.path(id).first().copied()
    }

    /// A path leads from one step of the list to another.
    pub fn leads_to(&self, from: &str, to: &str) -> bool {
        if !self.is_routed() {
            let place = |id: &str| self.steps.iter().position(|step| step.id == id);
            return place(from) < place(to);
        }
        let mut seen: Vec<&str> = Vec::new();
        let mut todo: Vec<&Step> = self.step(from).into_iter().collect();
        while let Some(step) = todo.pop() {
            for (_, target) in step.targets() {
                if target == to {
                    return true;
                }
                if !seen.contains(&target) {
                    seen.push(target);
                    todo.extend(self.step(target));
                }
            }
        }
        false
    }

    /// The session's input: `input`, else the goal, else null.
    pub fn input(&self) -> Value {
        self.input.clone().or_else(|| self.goal.clone().map(Value::String)).unwrap_or(Value::Null)
    }
}

enum_of_words! {
    /// Reasoning effort. Which of them a model takes, its service knows.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Effort {
        None = "none",
        Minimal = "minimal",
        Low = "low",
        Medium = "medium",
        High = "high",
        Xhigh = "xhigh",
        Max = "max",
    }
}

/// The most characters of a name that is made of a model's.
const LONGEST: usize = 64;

/// Returns the last part of a model's name; of a program without a model, such as `claude-cli/`, its own.
pub fn name_of_model(model: &str) -> String {
    let whole = model.trim_end_matches('/');
    let last = whole.rsplit('/').next().unwrap_or_default();
    let last = if whole == model { last } else { last.strip_suffix("-cli").unwrap_or(last) };
    let fits = |c: char| if c.is_alphanumeric() || "-_.:".contains(c) { c } else { '-' };
    let name: String = last.chars().take(LONGEST).map(fits).collect();
    if name.is_empty() { "participant".to_owned() } else { name }
}

/// The names that are taken, each with the number it was last given.
#[derive(Debug, Default)]
pub struct SeatNames(HashMap<String, usize>);

impl SeatNames {
    pub fn taken<'a>(names: impl Iterator<Item = &'a String>) -> Self {
        Self(names.map(|name| (name.clone(), 1)).collect())
    }

    /// Takes a name, or the first of `-2`, `-3` … behind it that is free.
    pub fn free(&mut self, name: &str) -> String {
        let mut nth = self.0.get(name).map_or(1, |last| last + 1);
        let numbered = |nth: usize| if nth == 1 { name.to_owned() } else { format!("{name}-{nth}") };
        while self.0.contains_key(&numbered(nth)) {
            nth += 1;
        }
        self.0.insert(numbered(nth), 1);
        self.0.insert(name.to_owned(), nth);
        numbered(nth)
    }
}
