//! What a definition holds once it is loaded: every default filled in, every word checked.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::recall::RecallKeys;
use super::step::{Completeness, Review, Step};
use super::task::{LinkDefinition, Report, Task, TrackerFile};
use crate::ballot::BallotForm;
use crate::round::material::{AgendaItem, Artifact};
use crate::tally::{Rule, RuleOptions, Tier, Ties};

/// A facilitator's file: goal, people, material and steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// Its id; the file's name unless given.
    pub id: String,
    /// A line about it.
    pub description: Option<String>,
    /// What the session is for.
    pub goal: Option<String>,
    /// What any outcome must respect.
    pub constraints: Vec<String>,
    /// The project in a few lines; `.s2s/CONTEXT.md` stands in for it when absent.
    pub project_summary: Option<String>,
    /// The session's input; the goal when absent.
    pub input: Option<Value>,
    /// Who takes part, in the order of reveal; never empty.
    pub participants: Vec<ParticipantSpec>,
    /// A line for every participant, appended after `your_role`.
    pub facilitator_directive: Option<String>,
    pub artifacts: Vec<Artifact>,
    /// What is to be discussed.
    pub agenda: Vec<AgendaItem>,
    /// The tracker's tasks.
    pub tasks: Vec<Task>,
    /// The file that the tracker's tasks are read from and written back to, if they have one.
    pub tracker: Option<TrackerFile>,
    /// What is linked to what.
    pub links: Vec<LinkDefinition>,
    /// What agents reported.
    pub reports: Vec<Report>,
    /// Disagreements still open.
    pub open_conflicts: Vec<Value>,
    /// Questions still open.
    pub open_questions: Vec<Value>,
    /// The most money the session may cost, in US dollars.
    pub budget: Option<f64>,
    /// Whether one seat of each model is asked ahead of the others.
    pub warm_first: WarmFirst,
    /// Whether the form of an answer goes with a request as a JSON Schema.
    pub structured: StructuredAnswers,
    /// What becomes of names in an answer before it is handed on, where the definition says.
    pub leaks: Option<LeakAction>,
    /// What snapshots recall of what was before.
    pub recall: RecallKeys,
    /// Whether participants are shown to each other by pseudonyms, and the seed if one is given.
    pub pseudonyms: Option<PseudonymSetting>,
    /// How work items are checked, where a step does not say.
    pub completeness: Option<Completeness>,
    /// How many steps may run in all, loops included.
    pub max_iterations: u32,
    /// How long the session may take, in milliseconds.
    pub max_duration_ms: Option<u64>,
    /// The steps, in the order of the file; never empty.
    pub steps: Vec<Step>,
}

/// One participant as written.
#[derive(Debug, Clone, PartialEq)]
pub struct ParticipantSpec {
    /// The seat's name, unique.
    pub name: String,
    /// The persona it takes; its name unless given.
    pub persona: String,
    /// Its own text, in place of a persona's.
    pub prompt: Option<String>,
    /// The external program it is, if it is one.
    pub command: Option<ProgramSpec>,
    /// Whether it answers agent steps alone and takes no seat in rounds.
    pub agent_only: bool,
    /// What it can use, as its work items say.
    pub skills: Vec<String>,
    /// Words it is known by; a reviewer is told of an author by the first two.
    pub tags: Vec<String>,
    /// `provider/model`, if the definition names one.
    pub model: Option<String>,
    /// What its ballot weighs: one of weight 2 counts as two.
    pub weight: f64,
    /// Passed on to providers that take one.
    pub seed: Option<u64>,
    /// Passed on to providers that take one.
    pub temperature: Option<f64>,
    /// The line and column it stands at.
    pub place: (u64, u64),
}

/// An external program that answers: started without a shell, the prompt on its standard input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramSpec {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The folder it runs in; the facilitator's own unless given.
    pub cwd: Option<String>,
    /// The names of the variables it is passed, beside `PATH`, `HOME` and the like.
    pub env: Vec<String>,
    /// How many bytes it may answer with.
    pub max_bytes: Option<u64>,
    /// The exit codes, beside 0, with which it answers: that it ended so, and what it printed.
    pub ok_exit: Vec<i64>,
    /// Whether it is declared to have no tools, and may take a seat in a blind round.
    pub tool_less: bool,
}

impl ParticipantSpec {
    /// A participant that is a persona and nothing else.
    pub fn named(name: &str, place: (u64, u64)) -> Self {
        let name = name.to_owned();
        Self {
            persona: name.clone(),
            name,
            prompt: None,
            command: None,
            agent_only: false,
            skills: Vec::new(),
            tags: Vec::new(),
            model: None,
            weight: 1.0,
            seed: None,
            temperature: None,
            place,
        }
    }
}

/// A blind round.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// What is asked.
    pub question: String,
    /// Background to the question.
    pub exploration: Option<String>,
    /// Who is asked.
    pub participants: Selection,
    /// What they are shown.
    pub artifacts: Selection,
    /// What its snapshot recalls of what was before, where that is its own.
    pub recall: Box<RecallKeys>,
    /// The form of an answer.
    pub ballot: BallotForm,
    /// How ballots are counted; none: counted and not decided.
    pub rule: Option<Rule>,
    /// What the rule was told beside its name.
    pub terms: RuleOptions,
    /// What happens when options are level.
    pub ties: Ties,
    /// How many seats must take part for a decision.
    pub quorum: Quorum,
    /// How many valid ballots, abstentions not among them, must be in for a decision; none: any number.
    pub quorum_ballots: Option<Quorum>,
    /// How strong a result must be to be a decision; none: any.
    pub act_at: Option<Tier>,
    /// When the round closes.
    pub close: Close,
    /// How long the round may stay open, in milliseconds.
    pub deadline_ms: Option<u64>,
    /// Whether it closes and reveals also where failed seats keep it below its quorum: `on_failed: close`.
    pub closes_below_quorum: bool,
}

/// Whether one seat of each model is asked ahead of the others, so that its service's cache of the
/// shared part is filled for them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WarmFirst {
    /// All are asked at once.
    #[default]
    Off,
    /// Where the shared part is long enough for a cache and enough seats share a model.
    Auto,
    On,
}

/// Whether services that hold a reply to a JSON Schema are given that of the ballot form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StructuredAnswers {
    /// Those that are known to take one, or configured to.
    #[default]
    Auto,
    Off,
}

/// What becomes of an answer that says who it is or names somebody, before it is handed on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeakAction {
    Off,
    /// It is handed on as it is; the findings are on record.
    #[default]
    Flag,
    /// The copy that is handed on has the names masked.
    Mask,
    /// It is not handed on.
    Refuse,
}

/// Pseudonyms are asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PseudonymSetting {
    /// What they are drawn with, if that is said.
    pub seed: Option<u64>,
}

/// All, or those named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// Everything there is.
    All,
    /// These, in roster order.
    Named(Vec<String>),
}

impl Selection {
    /// Whether `name` is chosen.
    pub fn holds(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Named(names) => names.iter().any(|n| n == name),
        }
    }
}

/// How many seats must take part for a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quorum {
    /// More than half of the seats.
    MoreThanHalf,
    /// This many seats.
    Seats(u32),
    /// This share of the seats, in percent, rounded up.
    Percent(u32),
}

impl Quorum {
    /// The number of seats it means at a table of `seats`.
    pub fn required_of(self, seats: usize) -> usize {
        match self {
            Self::MoreThanHalf => seats / 2 + 1,
            Self::Seats(count) => count as usize,
            Self::Percent(percent) => (seats * percent as usize).div_ceil(100),
        }
    }
}

/// When a round closes by itself. Every policy also ends when no seat is open any more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Close {
    /// When every seat is sealed, failed or excused.
    #[default]
    All,
    /// When as many seats are sealed as the quorum asks.
    Quorum,
    /// At the deadline.
    Deadline,
    /// When the facilitator says so.
    Manual,
}

impl Definition {
    /// The step of that id, nested ones among them.
    pub fn step(&self, id: &str) -> Option<&Step> {
        self.all_steps().find(|step| step.id == id)
    }

    /// As [`Definition::step`], to change it.
    pub fn step_mut(&mut self, id: &str) -> Option<&mut Step> {
        self.steps.iter_mut().find_map(|step| step.find_mut(id))
    }

    /// The step whose result goes by that key in the context, or has that id.
    pub fn step_of_key(&self, key: &str) -> Option<&Step> {
        self.steps.iter().find(|step| step.key() == key || step.id == key)
    }

    /// Every step, each nested one right after the step it is in.
    pub fn all_steps(&self) -> impl Iterator<Item = &Step> {
        let mut left: Vec<&Step> = self.steps.iter().rev().collect();
        std::iter::from_fn(move || {
            let step = left.pop()?;
            left.extend(step.nested().iter().rev());
            Some(step)
        })
    }

    /// The step that a nested step is in.
    pub fn parent(&self, id: &str) -> Option<&Step> {
        self.all_steps().find(|step| step.nested().iter().any(|nested| nested.id == id))
    }

    /// Whether any step of the file says where to go next; if none does, steps run in order.
    pub fn is_routed(&self) -> bool {
        self.steps.iter().any(|step| !step.targets().is_empty())
    }

    /// The seats of a round step, in roster order.
    pub fn seats<'a>(&'a self, round: &'a Round) -> impl Iterator<Item = &'a ParticipantSpec> {
        self.participants.iter().filter(|p| !p.agent_only && round.participants.holds(&p.name))
    }

    /// Who made each thing that may be reviewed under a name: of a step and those inside it the agent,
    /// of a round all its seats, of an artifact of the definition nobody.
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
        std::iter::once(step).chain(step.nested()).filter_map(of_step).collect()
    }

    /// Who reviews in a review step, in roster order; not who made all of it.
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

    /// The same definition with only these participants, in this order. A name that no participant
    /// has stands for all of that persona; one that is not in the definition is taken as a persona.
    #[must_use]
    pub fn with_participants(mut self, names: &[String]) -> Self {
        let known = std::mem::take(&mut self.participants);
        let find = |name: &String| {
            let has = |of: fn(&ParticipantSpec) -> &String| -> Vec<ParticipantSpec> {
                known.iter().filter(|p| of(p) == name).cloned().collect()
            };
            let found = has(|p| &p.name);
            let found = if found.is_empty() { has(|p| &p.persona) } else { found };
            if found.is_empty() { vec![ParticipantSpec::named(name, (0, 0))] } else { found }
        };
        self.participants = names.iter().flat_map(find).collect();
        let seated: Vec<String> = self.participants.iter().map(|p| p.name.clone()).collect();
        for step in &mut self.steps {
            step.keep_seats(&seated);
        }
        let agents: Vec<String> = self.all_steps().flat_map(Step::agents).map(str::to_owned).collect();
        let rest = known.into_iter().filter(|p| agents.contains(&p.name) && !seated.contains(&p.name));
        self.participants.extend(rest.map(|spec| ParticipantSpec { agent_only: true, ..spec }));
        self
    }

    /// How a step's work item is checked.
    pub fn completeness(&self, step: &Step) -> Completeness {
        step.completeness.or(self.completeness).unwrap_or_default()
    }

    /// The session's input: `input`, else the goal, else null.
    pub fn input(&self) -> Value {
        self.input.clone().or_else(|| self.goal.clone().map(Value::String)).unwrap_or(Value::Null)
    }
}
