//! An architecture decision record: the decision, its options, the arguments of all rounds, and dissent.
//!
//! The sections and their order are those of MADR 4.0 (Markdown Architectural Decision Records,
//! <https://adr.github.io/madr/>). Nothing is made up: reasons are the participants' own words, and every
//! number is counted from the record.

use serde::Serialize;
use serde_json::{Value, json};

use crate::ballot::Ballot;
use crate::history::{RoundRun, Session, Tally};
use crate::insight::wording::{Label, absent};
use crate::insight::{
    SeatView, estimates, headline, is_revealed, join_list, labels, rule_description, seats, tally,
};
use crate::report::model::{Approval, Moved, Page, Report, Reports, Source, plain_texts, said};
use crate::report::quote::first_line;
use crate::report::templates;
use crate::tally::Tier;

#[derive(Serialize)]
struct Adr<'a> {
    page: Page<'a>,
    status: &'static str,
    status_line: String,
    supersedes: Option<&'a str>,
    date: String,
    decided_by: String,
    consulted: String,
    mark: &'static str,
    title: &'a str,
    name: String,
    labels: Vec<Label>,
    missing: Vec<String>,
    context: Vec<&'a str>,
    constraints: &'a [String],
    artifacts: Vec<Artifact<'a>>,
    said_before: Vec<Quoted<'a>>,
    note: Option<&'a str>,
    costs: Vec<Quoted<'a>>,
    suggestions: Vec<Quoted<'a>>,
    rounds: Vec<RoundLine>,
    estimates: Vec<String>,
    moves: Vec<Moved>,
    snapshot_sha256: Option<&'a str>,
    session: &'a str,
    file: Option<&'a str>,
    entries: usize,
    last_hash: &'a str,
}

#[derive(Serialize)]
struct Artifact<'a> {
    id: &'a str,
    summary: &'a str,
}

/// What a seat said, and in answer to what.
#[derive(Serialize)]
struct Quoted<'a> {
    question: &'a str,
    text: String,
    seat: &'a str,
}

#[derive(Serialize)]
struct RoundLine {
    number: u32,
    said: String,
}

/// The decision record of one question.
pub fn madr(report: &Report<'_>) -> String {
    templates::render("decision.md", record(report))
}

fn record<'a>(report: &Report<'a>) -> Adr<'a> {
    let (session, run, page) = (report.session, report.run, report.page());
    let (status, said) = status(report);
    let mark = report.mark();
    let title = title(report);
    let goal = goal(report);
    let context = report.context().into_iter().filter(|text| Some(*text) != goal || text.contains('\n'));
    let asked = Some(report.title()).filter(|asked| Some(*asked) != goal);
    let named = |seat: SeatView<'_>| format!("{} ({})", seat.name, seat.model);
    let definition = session.definition.iter().flat_map(|definition| &definition.artifacts);
    Adr {
        status,
        status_line: format!("{status}, supersedes {}", supersedes(session).unwrap_or_default()),
        supersedes: supersedes(session),
        date: date(session),
        decided_by: said
            .map_or_else(|| "nobody yet".to_owned(), |said| format!("{} at {}", said.approver, said.at)),
        consulted: run.map(|run| join_list(seats(session, run).map(named))).unwrap_or_default(),
        mark,
        title: title.trim_end_matches(['.', ':']),
        name: report.made.name.strip_prefix(mark).unwrap_or(&report.made.name).to_owned(),
        labels: labels(session),
        missing: report.missing(),
        context: context.chain(asked).collect(),
        constraints: report.constraints(),
        artifacts: definition.map(|known| Artifact { id: &known.id, summary: &known.summary }).collect(),
        said_before: said_before(report),
        note: run.and_then(|run| run.synthesis.as_deref()),
        costs: costs(report, &page),
        suggestions: report.own_rounds().flat_map(|run| texts(session, run, &["suggestions"])).collect(),
        rounds: report.voted().filter_map(|run| Some(round_line(session, run, tally(run)?))).collect(),
        estimates: run.map(|run| estimates(session, run)).unwrap_or_default(),
        moves: report.moves(),
        snapshot_sha256: run.map(|run| run.opened.snapshot_sha256.as_str()),
        session: &session.id,
        file: report.source.file.as_deref(),
        entries: report.source.entries,
        last_hash: &report.source.last_hash,
        page,
    }
}

/// The status of a decision, and who adopted or rejected it; of a rehearsal nobody.
fn status<'a>(report: &Report<'a>) -> (&'static str, Option<Approval<'a>>) {
    let said = report.approval().filter(|_| report.mark().is_empty());
    (said.as_ref().map_or("proposed", Approval::status), said)
}

/// The decisions of a session, a row each; all values are texts or null.
pub fn decision_rows(session: &Session) -> Vec<Value> {
    let source = Source::default();
    let reports = Reports::new(session, &source);
    let row = |report: &Report<'_>| {
        let (status, said) = status(report);
        json!({
            "date": date(session),
            "question": report.title(),
            "outcome": report.made.label,
            "strength": report.tally.and_then(|tally| tally.tier).map(Tier::name),
            "status": if said.is_some() || report.is_decided() { status } else { "undecided" },
            "because": said.as_ref().and_then(|said| said.because),
            "adopted_by": said.filter(|said| said.approved).map(|said| said.approver),
            "supersedes": supersedes(session),
            "session": session.id,
        })
    };
    reports.parts.iter().filter(|part| part.decision.is_some()).map(row).collect()
}

fn supersedes(session: &Session) -> Option<&str> {
    session.definition.as_ref()?.supersedes.as_deref()
}

fn date(session: &Session) -> String {
    session.last_at.to_string().chars().take(10).collect()
}

fn goal<'a>(report: &Report<'a>) -> Option<&'a str> {
    report.session.definition.as_deref()?.goal.as_deref()
}

fn title<'a>(report: &Report<'a>) -> &'a str {
    goal(report).filter(|_| !report.is_one_of_many).unwrap_or_else(|| report.title())
}

/// Returns the title as part of a file name: lower-case words with hyphens, at most 60 characters.
pub fn file_title(report: &Report<'_>) -> String {
    let title = first_line(title(report)).to_lowercase();
    let mut name = String::new();
    for word in title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        if name.chars().count() + word.chars().count() >= 60 {
            break;
        }
        if !name.is_empty() {
            name.push('-');
        }
        name.push_str(word);
    }
    if name.is_empty() { "decision".to_owned() } else { name }
}

/// What was said in open rounds before the vote, a line a seat.
fn said_before<'a>(report: &Report<'a>) -> Vec<Quoted<'a>> {
    let last = report.run.map_or(0, |run| run.opened.number);
    let is_before = |run: &&RoundRun| {
        let is_open = run.opened.ballot.kind.info().countable.is_none();
        is_open && run.opened.number < last && is_revealed(run)
    };
    let line = |run: &'a RoundRun, seat: SeatView<'a>| {
        let text = said(&seat).lines().find(|line| !line.trim().is_empty())?.to_owned();
        Some(Quoted { question: &run.opened.question, text, seat: seat.name })
    };
    let rounds = report.own_rounds().filter(is_before);
    rounds.flat_map(|run| seats(report.session, run).filter_map(move |seat| line(run, seat))).collect()
}

/// The texts at a place of each answer of a round.
fn texts<'a>(session: &'a Session, run: &'a RoundRun, place: &'static [&str]) -> Vec<Quoted<'a>> {
    let of_seat = |seat: SeatView<'a>| {
        let (first, rest) = place.split_first()?;
        let value = seat.answer()?.answer.get(*first)?;
        let value = rest.iter().try_fold(value, |value, key| value.get(key))?;
        let quoted = move |text| Quoted { question: &run.opened.question, text, seat: seat.name };
        Some(plain_texts(Some(value)).into_iter().map(quoted))
    };
    seats(session, run).filter_map(of_seat).flatten().collect()
}

/// The costs that the voters of what was chosen accept.
fn costs<'a>(report: &Report<'a>, page: &Page<'a>) -> Vec<Quoted<'a>> {
    let Some(run) = report.run else { return Vec::new() };
    let chosen: Vec<&str> =
        page.options.iter().filter(|option| option.is_chosen).map(|option| option.name.as_str()).collect();
    let is_for = |seat: &SeatView<'_>| {
        let top = seat.ballot().and_then(Ballot::top_options).unwrap_or_default();
        top.iter().any(|option| chosen.contains(&option.as_str()))
    };
    let voters: Vec<&str> = seats(report.session, run).filter(is_for).map(|seat| seat.name).collect();
    let mut found = texts(report.session, run, &["trade_offs", "accepting_as_cost"]);
    found.retain(|one| voters.contains(&one.seat));
    found
}

/// "3 for a, 1 abstained; Decision: a (majority)".
fn round_line(session: &Session, run: &RoundRun, tally: &Tally) -> RoundLine {
    let rule = tally.rule.map_or_else(|| "no rule".to_owned(), |rule| rule_description(rule, &tally.terms));
    let scores = tally.verdict.scores.iter().map(|(name, score)| format!("{name} {score}"));
    let absent = absent(tally).into_iter().map(|(count, outcome)| format!("{count} {}", outcome.name()));
    let parts: Vec<String> = scores.chain(absent).collect();
    let counted = if parts.is_empty() { String::new() } else { format!("{}; ", join_list(parts)) };
    RoundLine {
        number: run.opened.number,
        said: format!("{counted}{} ({rule})", headline(session, run, tally).label),
    }
}
