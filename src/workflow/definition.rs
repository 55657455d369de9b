//! Loaded definition: defaults filled in, values checked.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use indexmap::IndexSet;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::keys::spec::KeyType::{
    Any, Duration, Either, List, Map, Named, Positive, Steps, Text, Whole, Words,
};
use super::keys::spec::key;
use super::load::entries::{enum_of_words, keys};
use super::load::material::{AgendaKeys, ArtifactKeys, agenda, artifacts};
use super::participants::{ParticipantSpec, SeatTools, participants};
use super::steps::review::Review;
use super::steps::round::{RECENT_ROUNDS, Recall, RecallKeys, Round, Selection};
use super::steps::step::{Completeness, Item, Step, StepKind};
use super::task::{LinkDefinition, Report, TASK, Task, TrackerFile, links, tasks};
use crate::round::material::{AgendaItem, Artifact};
use crate::yaml::Node;

keys! {
    /// Facilitator's file: goal, participants, material and steps.
    #[derive(Debug, Clone, Default, PartialEq)]
    pub struct Definition as "definition" ("the definition") {
        id: String = key("id", "the file's name", "The session's id.", "cache-choice"),
        description: Option<String> =
            key("description", "", "A line about the session.", "\"Which cache we build first\""),
        goal: Option<String> = key("goal", "", "The purpose of the session.", "\"Choose a cache\""),
        constraints: Vec<String> =
            key("constraints", "", "Conditions that every result must meet.", "[\"no new server\"]"),
        project_summary: Option<String> =
            key("project_summary", "`.s2s/CONTEXT.md`", "The project in a few lines.", "\"A web shop\""),
        input: Option<Json> =
            key("input", "the goal", "The input of the first step, any value.", "\"Add a dark mode\""),
        /// Never empty.
        participants: Vec<ParticipantSpec> as (List(&Either(&[Text, Map(&ParticipantSpec::MAP)]))) = key(
            "participants",
            "five personas",
            "The roster: models, `human`, names of personas, or maps; answers are revealed in this order.",
            "[openai/gpt-5-mini, human, qa-lead, {name: ana, model: ollama/llama3.2}]",
        ) => participants,
        facilitator_directive: Option<String> =
            key("facilitator_directive", "", "A line for everyone, after `your_role`.", "\"Be brief.\""),
        artifacts: Vec<Artifact> as (List(&Map(&ArtifactKeys::MAP))) =
            key("artifacts", "", "Numbered material.", "[{id: R-1, title: A}]") => artifacts,
        agenda: Vec<AgendaItem> as (List(&Map(&AgendaKeys::MAP))) =
            key("agenda", "", "The items to discuss.", "[{title: Caching}]") => agenda,
        tasks: Vec<Task> as (List(&Map(&TASK))) =
            key("tasks", "", "Tasks of a tracker.", "[{id: APP-15, title: Mode}]") => tasks,
        tracker: Option<TrackerFile> = key("tracker", "", "The file of the tasks.", "{file: tasks.yaml}"),
        links: Vec<LinkDefinition> as (List(&Map(&LinkDefinition::MAP))) = key(
            "links",
            "",
            "Links between tasks, agents and saved sessions.",
            "[{id: l1, fromId: agent-1, toId: APP-15, type: agent_task}]",
        ) => links,
        reports: Vec<Report> = key("reports", "", "Agents' reports.", "[{agentId: a, content: Ok}]"),
        open_conflicts: Vec<Json> =
            key("open_conflicts", "", "Conflicts that are still open.", "[\"speed or safety\"]"),
        open_questions: Vec<Json> =
            key("open_questions", "", "Questions that are still open.", "[\"Who pays?\"]"),
        current_round: u32 as (Whole(1, u64::MAX)) =
            key("current_round", "1", "The number of the first round.", "3"),
        budget: Option<f64> as (Positive) =
            key("max_usd", "no limit", "The most that the session may cost, in US dollars.", "0.50"),
        supersedes: Option<String> =
            key("supersedes", "", "The session or decision record that the decision replaces.", "ADR-0007"),
        /// The first request fills the provider's cache of the shared part for the other seats.
        warm_first: bool as (Words(|| vec!["off", "on"])) =
            key("warm_first", "off", "Whether one seat of each model is asked first.", "on"),
        recall: RecallKeys =
            key("context", "", "The earlier rounds and steps that snapshots hold.", "{rounds: 3}"),
        leaks: Option<LeakAction> = key(
            "leaks",
            "flag",
            "Names of seats, models and makers in answers: flagged, masked or left.",
            "mask",
        ),
        /// If set, a ballot counts even if the provider dropped a part of the prompt.
        cut_prompts_count: bool as (Words(|| vec!["invalid", "count"])) = key(
            "cut_prompts",
            "invalid",
            "Ballots of seats whose service read less than half of the prompt; `count` counts them.",
            "count",
        ),
        pseudonyms: bool = key("pseudonyms", "false", "Pseudonyms in place of names.", "true"),
        completeness: Option<Completeness> =
            key("completeness", "warn", "The completeness check of steps that set none.", "strict"),
        max_snapshot_bytes: usize as (Whole(1, u64::MAX)) =
            key("max_snapshot_bytes", "262144", "The largest snapshot, in bytes.", "1000000"),
        secrets_allowed: bool as (Words(|| vec!["refuse", "allow"])) = key(
            "secrets",
            "refuse",
            "Evidence that looks like a key or password; `allow` sends it, once you agree.",
            "allow",
        ),
        max_iterations: u32 as (Whole(1, u64::MAX)) =
            key("max_iterations", "100", "The most step runs in one session, loops included.", "20"),
        max_duration_ms: Option<u64> as (Duration) =
            key("max_duration", "no limit", "The most time the session may take.", "10m"),
        answers: Option<Node> as (Named(&Any)) = key(
            "answers",
            "",
            "Answers written beforehand, by step and seat, as in a file of `--answers`; no model is asked.",
            "{pick: {qa-lead: {vote: redis}}, ok: true}",
        ),
        /// Never empty. Code that changes the steps must reset the index.
        steps: Vec<Step> as (Steps) =
            key("steps", "one round of `question`", "The steps.", "[{id: a, question: \"Why?\"}]"),
    } and {
        index: StepIndex,
    }
}

/// Lookup tables of the steps, built on first use.
#[derive(Debug, Clone, Default)]
pub struct StepIndex(OnceLock<Indexed>);

#[derive(Debug, Clone, Default)]
struct Indexed {
    /// By step id: the index at each nesting level, outermost first.
    places: HashMap<String, Vec<usize>>,
    revising: Vec<String>,
}

impl PartialEq for StepIndex {
    /// Always equal: the index follows from the steps.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Indexed {
    fn note(&mut self, steps: &[Step], around: &[usize]) {
        for (at, step) in steps.iter().enumerate() {
            let place = [around, &[at]].concat();
            self.places.entry(step.id.clone()).or_insert_with(|| place.clone());
            if step.round().is_some_and(|round| round.revises.is_some()) {
                self.revising.push(step.id.clone());
            }
            self.note(step.nested(), &place);
        }
    }
}

enum_of_words! {
    /// Treatment of an answer that names a seat, a model or a maker, before it is disclosed.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum LeakAction {
        Off = "off",
        /// The answer is disclosed unchanged; the event log keeps the findings.
        #[default]
        Flag = "flag",
        /// The names are masked in the disclosed copy.
        Mask = "mask",
    }
}

impl Definition {
    fn indexed(&self) -> &Indexed {
        self.index.0.get_or_init(|| {
            let mut index = Indexed::default();
            index.note(&self.steps, &[]);
            index
        })
    }

    /// Returns the step of that id after its enclosing steps, outermost first; empty if the id is unknown.
    fn path(&self, id: &str) -> Vec<&Step> {
        let mut list = self.steps.as_slice();
        let step = |at: &usize| {
            let step = list.get(*at)?;
            list = step.nested();
            Some(step)
        };
        self.indexed().places.get(id).into_iter().flatten().filter_map(step).collect()
    }

    /// Finds a step by id, nested steps included.
    pub fn step(&self, id: &str) -> Option<&Step> {
        let (first, inside) = self.indexed().places.get(id)?.split_first()?;
        inside.iter().try_fold(self.steps.get(*first)?, |step, at| step.nested().get(*at))
    }

    pub fn step_mut(&mut self, id: &str) -> Option<&mut Step> {
        self.index = StepIndex::default();
        self.steps.iter_mut().find_map(|step| step.find_mut(id))
    }

    /// Returns the enclosing steps of a step, outermost first.
    pub fn around(&self, id: &str) -> Vec<&Step> {
        let mut path = self.path(id);
        path.pop();
        path
    }

    /// Returns the steps whose results a step may see. First the earlier steps of the sequences around it,
    /// innermost first; then all top-level steps.
    pub fn seen_by(&self, id: &str) -> impl Iterator<Item = &Step> {
        let mut levels: Vec<&[Step]> = vec![&self.steps];
        for pair in self.path(id).windows(2) {
            let is_in_order = match &pair[0].kind {
                StepKind::Each(_) => pair[0].copies.is_empty(),
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

    /// Returns the context keys that a step sees: those of results and of its items.
    pub fn keys_seen_by(&self, step: &Step) -> Vec<&str> {
        let results = self.seen_by(&step.id).map(Step::key);
        let keys: IndexSet<&str> = results.chain(self.items_seen_by(step)).collect();
        keys.into_iter().collect()
    }

    /// Returns the keys of the items that a step runs for, outermost first.
    pub fn items_seen_by<'a>(&'a self, step: &Step) -> Vec<&'a str> {
        let item = |around: &'a Step| {
            if let StepKind::Each(each) = &around.kind { Some(each.item.as_str()) } else { None }
        };
        self.around(&step.id).into_iter().filter_map(item).collect()
    }

    /// Returns the items of a step copy with their keys, outermost first.
    pub fn items_for<'a>(&'a self, id: &str) -> Vec<&'a Item> {
        let item = |step: &'a Step| match &step.kind {
            StepKind::Sequence { item } => item.as_ref(),
            _ => None,
        };
        self.path(id).into_iter().filter_map(item).collect()
    }

    /// Finds a step visible to `by` by its context key or its id.
    pub fn step_of_key(&self, key: &str, by: &Step) -> Option<&Step> {
        self.seen_by(&by.id).find(|step| step.key() == key || step.id == key)
    }

    /// Iterates over all steps; nested steps follow the step that contains them.
    pub fn all_steps(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().flat_map(Step::all)
    }

    /// Returns whether any step names its successor; if none does, steps run in order.
    pub fn is_routed(&self) -> bool {
        self.steps.iter().any(|step| !step.targets().is_empty())
    }

    /// Iterates over the seats of a round step, in roster order.
    pub fn seats<'a>(&'a self, round: &'a Round) -> impl Iterator<Item = &'a ParticipantSpec> {
        self.participants.iter().filter(|p| !p.agent_only && round.participants.includes(&p.name))
    }

    /// Returns the authors of each result that a review of `of` covers. An agent step has its agent, a round
    /// all its seats, and an artifact of the definition no author.
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

    /// Returns whether the step asks this name: as a seat of a round, an agent or a reviewer.
    pub fn asks(&self, step: &Step, name: &str, agent_only: bool) -> bool {
        match &step.kind {
            StepKind::Round(round) => !agent_only && round.participants.includes(name),
            StepKind::Agent(agent) => agent.agent == name,
            StepKind::Review(review) => self.reviewers(review).contains(&name),
            _ => false,
        }
    }

    /// Returns the reviewers of a step, without those who wrote every result under review.
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

    /// Returns whether a participant, or the model of an agent step, may use its program's tools.
    pub fn allows_tools(&self, name: &str) -> bool {
        if let Some(spec) = self.participants.iter().find(|spec| spec.name == name) {
            return spec.tools == Some(SeatTools::Allowed);
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

    /// Returns whether the session needs randomness, for the order of options or of reasons.
    pub fn draws(&self) -> bool {
        let mut rounds = self.all_steps().filter_map(Step::round);
        rounds.any(|round| round.revises.is_some() || !round.ballot.order.is_same())
    }

    /// Returns each revised round with the round that revises it.
    pub fn revisions(&self) -> impl Iterator<Item = (&Step, &Step)> {
        let pair = |id: &String| {
            let revising = self.step(id)?;
            Some((self.step(revising.round()?.revises.as_ref()?)?, revising))
        };
        self.indexed().revising.iter().filter_map(pair)
    }

    /// Returns the top-level step that is or contains this step.
    pub fn top(&self, id: &str) -> Option<&Step> {
        self.path(id).first().copied()
    }

    /// Returns whether one top-level step can be reached from another.
    pub fn leads_to(&self, from: &str, to: &str) -> bool {
        if self.is_routed() {
            return self.step(from).is_some_and(|step| self.reached_from(step).contains(to));
        }
        let place = |id: &str| self.steps.iter().position(|step| step.id == id);
        place(from) < place(to)
    }

    /// Returns the ids of the steps that routes from `step` reach.
    pub fn reached_from<'a>(&'a self, step: &'a Step) -> HashSet<&'a str> {
        let (mut reached, mut todo) = (HashSet::new(), vec![step]);
        while let Some(step) = todo.pop() {
            for (_, target) in step.targets() {
                if reached.insert(target) {
                    todo.extend(self.step(target));
                }
            }
        }
        reached
    }

    /// Returns the session's input: `input`, else the goal, else null.
    pub fn input(&self) -> Json {
        self.input.clone().or_else(|| self.goal.clone().map(Json::String)).unwrap_or_default()
    }
}
