//! The report of a session as data: every format writes it down, and JSON is it. Texts are raw.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Value, json};

use super::events::{
    FindingRecord, MergeRecord, StepRecord, agenda_item, artifact, findings, merges, point, steps,
};
use super::facts::Waiting;
use super::page::{Decided, Page, Verdict};
use super::record::{RoundRecord, total};
use super::{Approval, Report, Reports, cost_lines, remote_notes, status};
use crate::ballot::Ballot;
use crate::core::{artifact_view, session_exit};
use crate::history::{ReviewRecorded, RoundRun, Session};
use crate::insight::wording::Label;
use crate::insight::{SeatView, dissents, labels, money, pluralize, seats, winners};

#[derive(Debug, Serialize)]
pub struct Document<'a> {
    pub session: &'a str,
    pub status: &'static str,
    pub exit_code: i32,
    pub opened_at: String,
    pub last_at: String,
    pub file: Option<&'a str>,
    pub entries: usize,
    pub last_hash: &'a str,
    pub outcome: Option<String>,
    pub rehearsal: bool,
    /// What stands before the title.
    pub mark: &'static str,
    pub verdict: Verdict<'a>,
    pub task: Task<'a>,
    /// Labels of answers that no model gave.
    pub labels: Vec<Label>,
    pub missing: Vec<String>,
    pub decision: Option<Decided<'a>>,
    pub decisions: Vec<Page<'a>>,
    /// The first page of a session without decisions.
    pub page: Option<Page<'a>>,
    pub dissent: Vec<Value>,
    pub rounds: Vec<RoundRecord<'a>>,
    pub not_held: Vec<Value>,
    pub artifacts: Vec<Value>,
    pub agenda: Vec<Value>,
    pub conflicts: Vec<Value>,
    pub questions: Vec<Value>,
    pub merges: Vec<MergeRecord<'a>>,
    pub findings: Vec<FindingRecord>,
    pub approvals: Vec<Approval<'a>>,
    pub waiting: Option<Waiting<'a>>,
    pub steps: Vec<StepRecord<'a>>,
    pub reviews: Vec<&'a ReviewRecorded>,
    pub warnings: &'a [String],
    pub conclusions: Vec<(Option<&'a str>, String)>,
    pub cost: Value,
    pub prices: Value,
    /// Money, tokens and time for people: in short, then in all.
    pub spent: Vec<String>,
    pub money: Option<String>,
    pub date: String,
    /// "4 seats, 2 blind rounds".
    pub size: String,
    /// What is less certain of remote ballots than their signatures say.
    pub notes: Vec<String>,
    /// How the session stands, for people.
    pub standing: String,
    pub program: &'a str,
    pub definition_file: &'a str,
    pub definition_sha256: &'a str,
    pub definition: &'a str,
    /// The pseudonyms are resolved when nobody is asked any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pseudonyms: Option<&'a IndexMap<String, String>>,
}

#[derive(Debug, Serialize)]
pub struct Task<'a> {
    pub title: &'a str,
    pub goal: Option<&'a str>,
    pub project_summary: Option<&'a str>,
    pub constraints: &'a [String],
    /// What else is said of the task: question or goal below the title, summary.
    pub context: Vec<&'a str>,
}

impl<'a> Reports<'a> {
    pub fn document(&self) -> Document<'a> {
        let (session, report, agenda) = (self.session, self.head(), &self.session.agenda);
        let header = session.header.as_ref();
        let text = |value: Option<&'a String>| value.map_or("", String::as_str);
        let only = self.only();
        let pages = self.parts.iter().map(Report::page);
        let (decisions, mut others): (Vec<Page<'a>>, Vec<Page<'a>>) =
            pages.partition(|page| page.decided.is_some());
        let verdict = only.map(Report::verdict);
        Document {
            session: &session.id,
            status: session_status(session),
            exit_code: session_exit(session) as i32,
            opened_at: session.opened_at.to_string(),
            last_at: session.last_at.to_string(),
            file: self.source.file.as_deref(),
            entries: self.source.entries,
            last_hash: &self.source.last_hash,
            outcome: crate::report::outcome(session),
            rehearsal: session.is_rehearsal(),
            mark: report.mark(),
            verdict: verdict.unwrap_or_else(|| Verdict::new(&self.made, self.is_decided())),
            task: self.task(),
            labels: labels(session),
            missing: report.missing(),
            decision: only.filter(|only| only.is_decided()).and_then(Report::decided),
            decisions,
            page: others.pop(),
            dissent: session.rounds.iter().flat_map(|run| dissent(session, run)).collect(),
            rounds: session.rounds.iter().map(|run| RoundRecord::new(session, run)).collect(),
            not_held: not_held(session),
            artifacts: artifacts(session),
            agenda: agenda.items.iter().map(agenda_item).collect(),
            conflicts: agenda.conflicts.iter().map(point).collect(),
            questions: agenda.questions.iter().map(point).collect(),
            merges: merges(session),
            findings: findings(session),
            approvals: session.approvals.iter().map(Approval::from).collect(),
            waiting: report.waiting(),
            steps: steps(session),
            reviews: session.reviews_in_order().collect(),
            warnings: &session.warnings,
            conclusions: report.conclusions(),
            cost: total(session.spent(&|model| session.price(model))),
            prices: json!(header.map(|header| &header.prices)),
            spent: cost_lines(session),
            money: money(&session.spent(&|model| session.price(model))),
            date: report.date(),
            size: size(session, report),
            notes: remote_notes(session),
            standing: status(session),
            program: header.map_or("roundtable", |header| &header.program),
            definition_file: text(header.map(|header| &header.definition_file)),
            definition_sha256: text(header.map(|header| &header.definition_sha256)),
            definition: text(header.map(|header| &header.definition)),
            pseudonyms: session.pseudonyms().filter(|_| session.closed.is_some()),
        }
    }

    fn task(&self) -> Task<'a> {
        let definition = self.session.definition.as_deref();
        let report = self.head();
        Task {
            title: self.title(),
            goal: definition.and_then(|known| known.goal.as_deref()),
            project_summary: definition.and_then(|known| known.project_summary.as_deref()),
            constraints: report.constraints(),
            context: report.context().into_iter().filter(|text| *text != self.title()).collect(),
        }
    }
}

pub fn session_status(session: &Session) -> &'static str {
    match &session.closed {
        Some(closed) => closed.status.name(),
        None if session.paused.is_some() => "paused",
        None => "open",
    }
}

fn size(session: &Session, report: &Report<'_>) -> String {
    let seats = report.run.map_or(session.roster.len(), |run| run.seats.len());
    let rounds = match session.rounds.len() {
        0 => "no round".to_owned(),
        count => pluralize(count, "blind round"),
    };
    format!("{}, {rounds}", pluralize(seats, "seat"))
}

fn not_held(session: &Session) -> Vec<Value> {
    let held = session.not_held.iter();
    held.map(|(step, not_held)| json!({ "step": step, "reason": not_held.why })).collect()
}

/// What the definition brought, then what the session made.
fn artifacts(session: &Session) -> Vec<Value> {
    let written = session.definition.iter().flat_map(|definition| &definition.artifacts).map(artifact);
    written.chain(session.made_in_order().map(|made| artifact_view(session, made))).collect()
}

/// What dissenting seats said, word for word; of one that gave no valid answer its last reply.
fn dissent(session: &Session, round: &RoundRun) -> Vec<Value> {
    let winners = winners(session, round);
    let said = |seat: SeatView<'_>| {
        let answer = seat.answer();
        let reply = answer.filter(|answer| answer.may_block).and_then(|answer| answer.record.replies.last());
        json!({
            "participant": seat.name,
            "round": round.opened.round,
            "vote": seat.ballot().and_then(Ballot::phrase),
            "answer": answer.filter(|answer| !answer.answer.is_empty()).map(|answer| &answer.answer),
            "reply": reply.map(|reply| reply.text.as_str()),
        })
    };
    seats(session, round).filter(|seat| dissents(seat, &winners)).map(said).collect()
}
