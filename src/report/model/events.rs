//! What a session holds beside its rounds, as data: steps, merges, findings, the agenda. Texts are raw.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::record::Leaks;
use crate::ballot::{Finding, Severity};
use crate::history::{Point, RoundRun, Session, StepFinished};
use crate::insight::findings::{FindingGroup, grouped};
use crate::insight::format_duration;
use crate::round::material::{AgendaItem, Artifact};
use crate::workflow::{Step, StepKind};

#[derive(Debug, Serialize)]
pub struct StepRecord<'a> {
    #[serde(flatten)]
    result: &'a StepFinished,
    kind: &'a str,
    agent: Option<&'a str>,
    model: Option<&'a str>,
    runs: u32,
    took: String,
    /// Whether its data are the results of nested steps.
    envelope: bool,
    /// Whether a section of its own says what it came to: a round, an approval, the way that was taken.
    told_elsewhere: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    leaks: Vec<StepLeaks<'a>>,
}

#[derive(Debug, Serialize)]
struct StepLeaks<'a> {
    participant: &'a str,
    #[serde(flatten)]
    found: Leaks<'a>,
}

/// The last result of every step, in the order they came.
pub fn steps(session: &Session) -> Vec<StepRecord<'_>> {
    session.results.values().map(|result| step(session, result)).collect()
}

fn step<'a>(session: &'a Session, result: &'a StepFinished) -> StepRecord<'a> {
    let step = session.definition.as_deref().and_then(|definition| definition.step(&result.step));
    let agent = step.and_then(|step| step.agent());
    let seat = agent.and_then(|agent| session.seat_info(&agent.agent));
    let items = session.items.values().filter(|item| item.offered.step == result.step);
    let leaks = |item: &'a crate::history::WorkItem| {
        let found = Leaks::new(session, session.leaks_of(&item.offered.item)?);
        Some(StepLeaks { participant: &item.offered.participant, found })
    };
    let is_round = session.rounds.iter().any(|round| round.opened.step == result.step);
    let is_shown = |kind: &StepKind| {
        !matches!(kind, StepKind::Round(_) | StepKind::Approval(_) | StepKind::Condition(_))
    };
    StepRecord {
        result,
        kind: step.map_or("", |step| step.kind_name()),
        agent: agent.map(|agent| agent.agent.as_str()),
        model: seat.map(|seat| seat.label(&result.step)),
        runs: session.runs.get(&result.step).copied().unwrap_or(1),
        took: format_duration(result.duration),
        envelope: step.is_some_and(Step::is_envelope),
        told_elsewhere: if result.success {
            !step.is_some_and(|step| is_shown(&step.kind))
        } else {
            is_round
        },
        leaks: items.filter_map(leaks).collect(),
    }
}

#[derive(Debug, Serialize)]
pub struct MergeRecord<'a> {
    step: &'a str,
    round: &'a str,
    ballot: &'static str,
    by: &'a str,
    options: Vec<MergedRecord<'a>>,
    set_aside: Vec<IdeaRecord<'a>>,
}

#[derive(Debug, Serialize)]
struct MergedRecord<'a> {
    id: &'a str,
    title: &'a str,
    from: Vec<IdeaRecord<'a>>,
}

#[derive(Debug, Serialize)]
struct IdeaRecord<'a> {
    idea: &'a str,
    title: String,
    participant: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

/// The ideas and findings that a person or a model put together, by round.
pub fn merges(session: &Session) -> Vec<MergeRecord<'_>> {
    session.rounds.iter().filter_map(|round| merge(session, round)).collect()
}

fn merge<'a>(session: &'a Session, round: &'a RoundRun) -> Option<MergeRecord<'a>> {
    let merged = session.merge_of(&round.opened.round)?;
    let ideas = round.ideas();
    let idea = |id: &'a str, reason: Option<&'a str>| {
        let known = ideas.iter().find(|idea| idea.id == id);
        let participant = id.rsplit_once('#').map_or(id, |(seat, _)| seat);
        IdeaRecord { idea: id, title: known.map_or(id, |idea| &idea.title).to_owned(), participant, reason }
    };
    let options = merged.merge.options.iter().map(|option| MergedRecord {
        id: &option.id,
        title: &option.title,
        from: option.from.iter().map(|id| idea(id, None)).collect(),
    });
    Some(MergeRecord {
        step: &merged.step,
        round: &merged.round,
        ballot: round.opened.ballot.kind.name(),
        by: &merged.by,
        options: options.collect(),
        set_aside: merged
            .merge
            .set_aside
            .iter()
            .map(|aside| idea(&aside.idea, Some(&aside.reason)))
            .collect(),
    })
}

/// Findings at one place, or that were put together.
#[derive(Debug, Serialize)]
pub struct FindingRecord {
    pub round: String,
    pub file: Option<String>,
    pub lines: Option<(u32, u32)>,
    pub place: Option<String>,
    pub severity: &'static str,
    pub level: &'static str,
    pub title: Option<String>,
    pub set_aside: Option<String>,
    pub not_in_evidence: Vec<(String, String)>,
    pub seats: usize,
    pub of: usize,
    pub findings: Vec<Claim>,
}

#[derive(Debug, Serialize)]
pub struct Claim {
    pub participant: String,
    pub place: Option<String>,
    #[serde(flatten)]
    pub finding: Finding,
}

/// The findings of all rounds in groups, the gravest of each round first.
pub fn findings(session: &Session) -> Vec<FindingRecord> {
    let of_round = |run: &RoundRun| -> Vec<FindingRecord> {
        let found = grouped(session, run);
        found.groups.iter().map(|group| finding_record(run, group, found.answered)).collect()
    };
    session.rounds.iter().flat_map(of_round).collect()
}

fn finding_record(run: &RoundRun, group: &FindingGroup<'_>, of: usize) -> FindingRecord {
    let claim = |(seat, finding): &(&str, &Finding)| Claim {
        participant: (*seat).to_owned(),
        place: finding.place(),
        finding: (*finding).clone(),
    };
    let elsewhere = |(seat, place): &(&str, String)| ((*seat).to_owned(), place.clone());
    FindingRecord {
        round: run.opened.round.clone(),
        file: group.file().map(str::to_owned),
        lines: group.lines(),
        place: group.place(),
        severity: group.severity().name(),
        level: level(group.severity()),
        title: group.title.map(str::to_owned),
        set_aside: group.set_aside.map(str::to_owned),
        not_in_evidence: group.not_in_evidence.iter().map(elsewhere).collect(),
        seats: group.seats(),
        of,
        findings: group.findings.iter().map(claim).collect(),
    }
}

/// What systems that show code call a severity.
pub fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Low => "note",
        Severity::Medium => "warning",
        Severity::High | Severity::Critical => "error",
    }
}

pub fn agenda_item(item: &AgendaItem) -> Value {
    json!({ "id": item.id, "title": item.title, "status": item.status, "reason": item.reason })
}

/// A conflict or a question; `settled` is null while it is open, and empty if nobody blocks any more.
pub fn point(point: &Point) -> Value {
    json!({
        "id": point.id, "title": point.title, "description": point.description,
        "minimum_change": point.minimum_change, "round": point.round, "participant": point.participant,
        "settled": point.settled,
    })
}

pub fn artifact(artifact: &Artifact) -> Value {
    let named = [("id", &artifact.id), ("summary", &artifact.summary)];
    let named = named.map(|(key, text)| (key.to_owned(), text.as_str().into()));
    let details = artifact.details.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
    named.into_iter().chain(details).collect::<Map<_, _>>().into()
}
