//! A loaded definition: every default filled in, every word checked.

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
    /// A facilitator's file: goal, people, material and steps.
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
        /// Its service's cache of the shared part is then filled for the others.
        warm_first: bool as (Words(|| vec!["off", "on"])) =
            key("warm_first", "off", "Whether one seat a model is asked first.", "on"),
        recall: RecallKeys =
            key("context", "", "The earlier rounds and steps that snapshots hold.", "{rounds: 3}"),
        leaks: Option<LeakAction> = key(
            "leaks",
            "flag",
            "Names of seats, models and makers in answers: flagged, masked or left.",
            "mask",
        ),
        /// A ballot counts although its service dropped a part of the prompt.
        cut_prompts_count: bool as (Words(|| vec!["invalid", "count"])) = key(
            "cut_prompts",
            "invalid",
            "Ballots of seats whose service read less than half of the prompt; `count` counts them.",
            "count",
        ),
        /// Participants see each other by pseudonyms.
        pseudonyms: bool = key("pseudonyms", "false", "Pseudonyms in place of names.", "true"),
        completeness: Option<Completeness> =
            key("completeness", "warn", "The completeness check of steps that set none.", "strict"),
        max_snapshot_bytes: usize as (Whole(1, u64::MAX)) =
            key("max_snapshot_bytes", "262144", "The largest snapshot, in bytes.", "1000000"),
        /// Evidence that looks like a secret is sent, once the user agrees.
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
        /// Never empty. Who changes them resets the index.
        steps: Vec<Step> as (Steps) =
            key("steps", "one round of `question`", "The steps.", "[{id: a, question: \"Why?\"}]"),
    } and {
        index: StepIndex,
    }
}

/// What is looked for among the steps again and again; made when first needed.
#[derive(Debug, Clone, Default)]
pub struct StepIndex(OnceLock<Indexed>);

#[derive(Debug, Clone, Default)]
struct Indexed {
    /// By id, the places in the lists around a step, from the outermost in.
    places: HashMap<String, Vec<usize>>,
    /// The ids of rounds that revise another.
    revising: Vec<String>,
}

impl PartialEq for StepIndex {
    /// It follows from the steps.
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
        /// It is handed on as it is; the findings are on record.
        #[default]
        Flag = "flag",
        /// The copy that is handed on has the names masked.
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

    /// The step of that id, behind those that it is inside, the outermost first; nothing if there is none.
    fn path(&self, id: &str) -> Vec<&Step> {
        let mut list = self.steps.as_slice();
        let step = |at: &usize| {
            let step = list.get(*at)?;
            list = step.nested();
            Some(step)
        };
        self.indexed().places.get(id).into_iter().flatten().filter_map(step).collect()
    }

    /// The step of that id, nested ones among them.
    pub fn step(&self, id: &str) -> Option<&Step> {
        let (first, inside) = self.indexed().places.get(id)?.split_first()?;
        inside.iter().try_fold(self.steps.get(*first)?, |step, at| step.nested().get(*at))
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

    /// The keys under which a step sees results, and the items that it is for.
    pub fn keys_seen_by(&self, step: &Step) -> Vec<&str> {
        let results = self.seen_by(&step.id).map(Step::key);
        let keys: IndexSet<&str> = results.chain(self.items_seen_by(step)).collect();
        keys.into_iter().collect()
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

    /// The step asks somebody of this name: as a seat of a round, as an agent or as a reviewer.
    pub fn asks(&self, step: &Step, name: &str, agent_only: bool) -> bool {
        match &step.kind {
            StepKind::Round(round) => !agent_only && round.participants.holds(name),
            StepKind::Agent(agent) => agent.agent == name,
            StepKind::Review(review) => self.reviewers(review).contains(&name),
            _ => false,
        }
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

    /// The session draws by lot: the order of options or of reasons.
    pub fn draws(&self) -> bool {
        let mut rounds = self.all_steps().filter_map(Step::round);
        rounds.any(|round| round.revises.is_some() || !round.ballot.order.is_same())
    }

    /// The rounds that revise another, each behind that one.
    pub fn revisions(&self) -> impl Iterator<Item = (&Step, &Step)> {
        let pair = |id: &String| {
            let revising = self.step(id)?;
            Some((self.step(revising.round()?.revises.as_ref()?)?, revising))
        };
        self.indexed().revising.iter().filter_map(pair)
    }

    /// The step of the list that a step is, or is in.
    pub fn top(&self, id: &str) -> Option<&Step> {
        self.path(id).first().copied()
    }

    /// A path leads from one step of the list to another.
    pub fn leads_to(&self, from: &str, to: &str) -> bool {
        if self.is_routed() {
            return self.step(from).is_some_and(|step| self.reached_from(step).contains(to));
        }
        let place = |id: &str| self.steps.iter().position(|step| step.id == id);
        place(from) < place(to)
    }

    /// The steps of the list that routes lead to from one of them.
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

    /// The session's input: `input`, else the goal, else null.
    pub fn input(&self) -> Json {
        self.input.clone().or_else(|| self.goal.clone().map(Json::String)).unwrap_or_default()
    }
}
