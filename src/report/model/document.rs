//! Report of a session as data, with raw texts.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Value, json};

use super::events::{StepRecord, artifacts, merges, point, steps};
use super::facts::{ApprovalFacts, Waiting, conclusions, cost_lines, waiting};
use super::page::{Page, PageVerdict};
use super::question::{QuestionRounds, goal};
use super::record::{RoundRecord, total};
use crate::core::{Cost, Deciding, deciding, failing_rounds, session_exit};
use crate::history::{ReviewRecorded, Session, Timestamp};
use crate::insight::findings::{FindingGroup, grouped};
use crate::insight::headline::rehearsal_mark;
use crate::insight::wording::{Label, resume_verb};
use crate::insight::{as_sentence, join_list, labels, session_headline};
use crate::round::material::AgendaItem;
use crate::workflow::Step;

/// File that a session was read from.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Source {
    /// File name without its folder.
    pub file: Option<String>,
    pub entries: usize,
    pub last_hash: String,
    /// Length in bytes of an incomplete write after the last entry.
    #[serde(skip)]
    pub torn: usize,
}

#[derive(Debug, Serialize)]
pub struct Document<'a> {
    pub session: &'a str,
    pub status: &'static str,
    pub exit_code: i32,
    /// Reason for the end, the pause or the missing decision.
    pub reason: Option<String>,
    pub opened_at: Timestamp,
    pub last_at: Timestamp,
    /// Duration in milliseconds, without the time spent waiting for people.
    #[serde(skip)]
    pub took_ms: u64,
    #[serde(flatten)]
    pub source: Source,
    pub outcome: Option<String>,
    pub rehearsal: bool,
    /// Prefix of the title.
    pub mark: &'static str,
    pub verdict: PageVerdict,
    pub task: TaskFacts<'a>,
    pub supersedes: Option<&'a str>,
    /// Labels of answers that no model gave.
    pub labels: Vec<Label>,
    pub missing: Vec<String>,
    /// The only decision, once it is made.
    pub decision: Option<Value>,
    pub decisions: Vec<Page<'a>>,
    /// First page of a session without decisions.
    pub page: Option<Page<'a>>,
    pub rounds: Vec<RoundRecord<'a>>,
    pub not_held: Vec<RoundNotHeld<'a>>,
    pub artifacts: Vec<Value>,
    pub agenda: &'a [AgendaItem],
    pub conflicts: Vec<Value>,
    pub questions: Vec<Value>,
    pub merges: Vec<Value>,
    /// Most severe finding of each round first.
    pub findings: Vec<FindingGroup<'a>>,
    pub approvals: Vec<ApprovalFacts<'a>>,
    pub waiting: Option<Waiting<'a>>,
    pub steps: Vec<StepRecord<'a>>,
    pub reviews: Vec<&'a ReviewRecorded>,
    pub warnings: &'a [String],
    pub conclusions: Vec<(Option<&'a str>, String)>,
    #[serde(skip)]
    pub spent: Cost,
    pub cost: Value,
    /// Cost, tokens and time for people: short, then complete.
    pub cost_lines: Vec<String>,
    /// Limits of what the signatures of remote ballots prove.
    pub notes: Vec<String>,
    /// Verb that resumes the session, unless it is closed.
    pub resume_verb: Option<&'static str>,
    #[serde(flatten)]
    pub written: WrittenBy<'a>,
    /// Real names of the pseudonyms, once the session is closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pseudonyms: Option<&'a IndexMap<String, String>>,
}

/// Program and definition that produced the session.
#[derive(Debug, Serialize)]
pub struct WrittenBy<'a> {
    program: &'a str,
    definition_file: &'a str,
    definition_sha256: &'a str,
    definition: &'a str,
    prices: Value,
}

#[derive(Debug, Serialize)]
pub struct TaskFacts<'a> {
    /// The only question, else the goal.
    pub title: &'a str,
    pub goal: Option<&'a str>,
    pub project_summary: Option<&'a str>,
    pub constraints: &'a [String],
    /// Further texts about the task: question or goal below the title, summary.
    pub context: Vec<&'a str>,
}

/// Round that was never opened.
#[derive(Debug, Serialize)]
pub struct RoundNotHeld<'a> {
    pub step: &'a str,
    pub question: Option<&'a str>,
    pub reason: &'a str,
    /// The session fails because of it.
    pub failed: bool,
}

impl Source {
    fn name(&self) -> &str {
        self.file.as_deref().unwrap_or("FILE")
    }
}

impl<'a> Document<'a> {
    pub fn new(session: &'a Session, source: Source) -> Self {
        Self::from_questions(session, source, &QuestionRounds::all(session))
    }

    /// Creates the report of one decision: that of the given round or step. `None` if it has no decision.
    pub fn for_round(session: &'a Session, source: Source, round: &str) -> Option<Self> {
        let mut questions = QuestionRounds::all(session);
        let is_of = |question: &QuestionRounds<'_>| {
            question.record().iter().any(|run| run.opened.round == round || run.opened.step == round)
        };
        questions.retain(is_of);
        questions.truncate(1);
        (!questions.is_empty()).then(|| Self::from_questions(session, source, &questions))
    }

    fn from_questions(session: &'a Session, source: Source, questions: &[QuestionRounds<'a>]) -> Self {
        let failing = failing_rounds(session);
        let record = |run| RoundRecord::new(session, run, failing.iter().any(|one| std::ptr::eq(*one, run)));
        let alone = questions.first().filter(|one| questions.len() == 1 && one.is_one_of_many);
        let runs = alone.map_or_else(|| session.rounds.iter().collect(), QuestionRounds::record);
        let rounds: Vec<RoundRecord<'a>> = runs.iter().copied().map(record).collect();
        let mut decisions: Vec<Page<'a>> =
            questions.iter().map(|question| question.page(source.name())).collect();
        let verdict = match decisions.as_slice() {
            [only] => only.verdict.clone(),
            _ => PageVerdict {
                made: session_headline(session),
                decided: questions.iter().all(QuestionRounds::is_decided),
                facts: None,
            },
        };
        let page = decisions.pop_if(|page| page.rule.is_none());
        let spent = session.spent(&|model| session.price(model));
        let agenda = &session.agenda;
        Self {
            session: &session.id,
            status: session_status(session),
            exit_code: session_exit(session) as i32,
            reason: reason(session, questions),
            opened_at: session.opened_at,
            last_at: session.last_at,
            took_ms: session.ran_ms(session.last_at),
            outcome: crate::report::outcome(session),
            rehearsal: session.is_rehearsal(),
            mark: rehearsal_mark(session),
            verdict,
            task: task(session, questions),
            supersedes: session.definition().supersedes.as_deref(),
            labels: labels(session, alone.map(|_| &*runs)),
            missing: missing(session, &source),
            decision: decision(&decisions).filter(|_| !session.is_rehearsal()),
            decisions,
            page,
            rounds,
            not_held: not_held(session),
            artifacts: artifacts(session),
            agenda: &agenda.items,
            conflicts: agenda.conflicts.iter().map(point).collect(),
            questions: agenda.questions.iter().map(point).collect(),
            merges: merges(session),
            findings: runs.into_iter().flat_map(|run| grouped(session, run)).collect(),
            approvals: session.approvals.iter().map(|asked| ApprovalFacts::new(asked, session)).collect(),
            waiting: waiting(session),
            steps: steps(session),
            reviews: session.reviews_in_order().collect(),
            warnings: &session.warnings,
            conclusions: conclusions(session),
            cost: total(spent),
            cost_lines: cost_lines(session, &spent),
            spent,
            notes: session.remote_notes(),
            resume_verb: session.closed.is_none().then(|| resume_verb(session)),
            written: written(session),
            pseudonyms: session.pseudonyms().filter(|_| session.closed.is_some()),
            source,
        }
    }

    /// Iterates over the pages: one per decision, or one for a session without decisions.
    pub fn pages(&self) -> impl Iterator<Item = &Page<'a>> {
        self.decisions.iter().chain(&self.page)
    }

    /// Returns the only page; `None` if there are several.
    pub fn only(&self) -> Option<&Page<'a>> {
        self.pages().next().filter(|_| self.pages().count() == 1)
    }

    /// Returns the round of a page: the deciding one, else the last one.
    pub fn round(&self, page: &Page<'_>) -> Option<&RoundRecord<'a>> {
        self.rounds.iter().find(|round| Some(round.id) == page.round)
    }
}

fn decision(decisions: &[Page<'_>]) -> Option<Value> {
    let [Page { round, rule, winners, by, verdict, .. }] = decisions else { return None };
    verdict.decided.then(|| json!({ "round": round, "rule": rule, "winners": winners, "by": by }))
}

fn written(session: &Session) -> WrittenBy<'_> {
    let header = session.header.as_deref();
    WrittenBy {
        program: header.map_or("roundtable", |header| &header.program),
        definition_file: header.map_or("", |header| &header.definition_file),
        definition_sha256: header.map_or("", |header| &header.definition_sha256),
        definition: header.map_or("", |header| &header.definition),
        prices: json!(header.map(|header| &header.prices)),
    }
}

fn task<'a>(session: &'a Session, questions: &[QuestionRounds<'a>]) -> TaskFacts<'a> {
    let definition = session.definition();
    let title = match questions {
        [only] => only.title(),
        _ => goal(session).unwrap_or(&session.id),
    };
    TaskFacts {
        title,
        goal: goal(session),
        project_summary: definition.project_summary.as_deref(),
        constraints: &definition.constraints,
        context: questions[0].context().into_iter().filter(|text| *text != title).collect(),
    }
}

fn session_status(session: &Session) -> &'static str {
    match &session.closed {
        Some(closed) => closed.status.name(),
        None if session.paused.is_some() => "paused",
        None => "open",
    }
}

fn reason(session: &Session, questions: &[QuestionRounds<'_>]) -> Option<String> {
    if let Some(reason) = session.closed.as_ref().and_then(|closed| closed.reason.clone()) {
        return Some(reason);
    }
    if let Some((_, reason)) = &session.paused {
        return Some(reason.to_string());
    }
    if let Some(Deciding::NotHeld(_, not_held)) = deciding(session) {
        return Some(not_held.why.clone());
    }
    let [only] = questions else { return None };
    let counted = only.tally?;
    counted.shortfall().map(|shortfall| shortfall.to_string()).or_else(|| counted.verdict.why())
}

/// Lists the reasons why a report is incomplete, worst first.
fn missing(session: &Session, source: &Source) -> Vec<String> {
    let mut said = Vec::new();
    if source.torn > 0 {
        let torn = source.torn;
        said.push(format!(
            "Cut short: {torn} bytes of an incomplete write at the end of the file are left out."
        ));
    }
    if session.closed.is_none() && session.header.is_some() {
        let why = session.paused.as_ref().map(|(_, reason)| format!(": {reason}")).unwrap_or_default();
        said.push(format!(
            "{} This report ends with the last event, {}. `roundtable {} {}` continues it.",
            as_sentence(&format!("Not finished{why}")),
            session.last_at,
            resume_verb(session),
            source.name()
        ));
    }
    for round in &session.rounds {
        let lost = if round.key_lost.is_empty() { round.lost_seats() } else { round.key_lost.clone() };
        if !lost.is_empty() {
            said.push(format!(
                "Round `{}`: its key was lost, and with it what {} had sealed. Those answers cannot be shown.",
                round.opened.round,
                join_list(&lost)
            ));
        }
    }
    said
}

fn not_held(session: &Session) -> Vec<RoundNotHeld<'_>> {
    let decides = match deciding(session) {
        Some(Deciding::NotHeld(step, _)) => Some(step),
        _ => None,
    };
    let mut found = Vec::new();
    for (step, not_held) in &session.not_held {
        let round = session.definition().step(step).and_then(Step::round);
        let question = round.map(|round| round.question.as_str());
        found.push(RoundNotHeld { step, question, reason: &not_held.why, failed: decides == Some(step) });
    }
    found
}
