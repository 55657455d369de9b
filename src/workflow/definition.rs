//! What a definition holds once it is loaded: every default filled in, every word checked.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::round::ballot::BallotForm;
use crate::round::material::{AgendaItem, Artifact};
use crate::tally::{Rule, Terms, Ties};

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
    /// Numbered material.
    pub artifacts: Vec<Artifact>,
    /// What is to be discussed.
    pub agenda: Vec<AgendaItem>,
    /// Disagreements still open.
    pub open_conflicts: Vec<Value>,
    /// Questions still open.
    pub open_questions: Vec<Value>,
    /// The most money the session may cost, in US dollars.
    pub budget: Option<f64>,
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
    /// Whether it is an external program: never a seat in a blind round.
    pub is_command: bool,
    /// `provider/model`, if the definition names one.
    pub model: Option<String>,
    /// What its ballot weighs: one of weight 2 counts as two.
    pub weight: f64,
    /// Passed on to providers that take one.
    pub seed: Option<u64>,
    /// The line and column it stands at.
    pub place: (u64, u64),
}

impl ParticipantSpec {
    /// A participant that is a persona and nothing else.
    pub fn named(name: &str, place: (u64, u64)) -> Self {
        let name = name.to_owned();
        Self {
            persona: name.clone(),
            name,
            prompt: None,
            is_command: false,
            model: None,
            weight: 1.0,
            seed: None,
            place,
        }
    }
}

/// One unit of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Its id, unique in the file.
    pub id: String,
    /// A line about it.
    pub description: Option<String>,
    /// The stage's name.
    pub label: Option<String>,
    /// Where to go on success.
    pub next: Option<String>,
    /// Where to go on failure.
    pub on_error: Option<String>,
    /// What it does.
    pub kind: StepKind,
    /// The line and column it stands at.
    pub place: (u64, u64),
}

/// What a step does.
#[expect(clippy::large_enum_variant, reason = "a definition has few steps")]
#[derive(Debug, Clone, PartialEq)]
pub enum StepKind {
    /// Asks every chosen participant at once, blind.
    Round(Round),
    /// Asks the facilitator for a yes or no.
    Approval(Approval),
    /// A type that loads and does not run yet; holds its name.
    Later(&'static str),
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
    /// The form of an answer.
    pub ballot: BallotForm,
    /// How ballots are counted; none: counted and not decided.
    pub rule: Option<Rule>,
    /// What the rule was told beside its name.
    pub terms: Terms,
    /// What happens when options are level.
    pub ties: Ties,
    /// How many seats must take part for a decision.
    pub quorum: Quorum,
    /// When the round closes.
    pub close: Close,
    /// How long the round may stay open, in milliseconds.
    pub deadline_ms: Option<u64>,
    /// How long one seat may take, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// A line for every participant of this round.
    pub facilitator_directive: Option<String>,
}

/// A yes or no from the facilitator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// What is asked.
    pub message: String,
    /// Where yes leads.
    pub on_approve: Option<String>,
    /// Where no leads; the end, as `rejected`, when absent.
    pub on_reject: Option<String>,
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
    pub fn of(self, seats: usize) -> usize {
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
    /// The step of that id.
    pub fn step(&self, id: &str) -> Option<&Step> {
        self.steps.iter().find(|step| step.id == id)
    }

    /// Whether any step of the file says where to go next; if none does, steps run in order.
    pub fn is_routed(&self) -> bool {
        self.steps.iter().any(|step| !step.targets().is_empty())
    }

    /// The seats of a round step, in roster order.
    pub fn seats<'a>(&'a self, round: &'a Round) -> impl Iterator<Item = &'a ParticipantSpec> {
        self.participants.iter().filter(|p| round.participants.holds(&p.name))
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
        let seated: Vec<&String> = self.participants.iter().map(|p| &p.name).collect();
        for step in &mut self.steps {
            if let StepKind::Round(Round { participants: Selection::Named(chosen), .. }) = &mut step.kind {
                chosen.retain(|name| seated.contains(&name));
            }
        }
        self
    }

    /// The session's input: `input`, else the goal, else null.
    pub fn input(&self) -> Value {
        self.input.clone().or_else(|| self.goal.clone().map(Value::String)).unwrap_or(Value::Null)
    }
}

impl Step {
    /// Every step this one may lead to, with the key that says so.
    pub fn targets(&self) -> Vec<(&'static str, &str)> {
        let mut targets = vec![("next", &self.next), ("on_error", &self.on_error)];
        if let StepKind::Approval(approval) = &self.kind {
            targets.extend([("on_approve", &approval.on_approve), ("on_reject", &approval.on_reject)]);
        }
        targets.into_iter().filter_map(|(key, to)| Some((key, to.as_deref()?))).collect()
    }

    /// The round, if it is one.
    pub fn round(&self) -> Option<&Round> {
        match &self.kind {
            StepKind::Round(round) => Some(round),
            _ => None,
        }
    }
}
