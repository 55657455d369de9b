//! Session result in one line: as JSON for scripts (`--json=result`), and as text.
//!
//! The JSON always has all its keys, `null` for unknown values. Under `"v": 1`, keys may be added, but none
//! changes its meaning. Text is raw; print it through [`super::safe_json`].

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Value, json};

use super::model::{ApprovalFacts, Document, Page, date, people_money};
use crate::history::RoundOutcome;
use crate::insight::format_duration;
use crate::insight::independence::Independence;
use crate::round::answer::Outcome;
use crate::tally::{Rule, Score, Tier};

/// Version of the line's keys.
const VERSION: u32 = 1;

/// Keys of the result line; those of a single decision are `null` if there are several.
#[derive(Default, Serialize)]
struct Line<'a> {
    v: u32,
    session: Option<&'a str>,
    status: &'a str,
    exit: i32,
    decided: bool,
    rehearsal: Option<bool>,
    outcome: Option<RoundOutcome>,
    #[serde(flatten)]
    only: DecisionLine<'a>,
    headline: Option<&'a str>,
    reason: Option<&'a str>,
    not_counted: Option<IndexMap<&'a str, Outcome>>,
    models: Option<usize>,
    makers: Option<usize>,
    same_answers: Option<&'a [Vec<String>]>,
    decisions: Option<Vec<Value>>,
    usd: Option<f64>,
    seconds: Option<f64>,
    file: Option<&'a str>,
    hash: Option<&'a str>,
}

#[derive(Default, Serialize)]
struct DecisionLine<'a> {
    winner: Option<&'a str>,
    winners: Option<&'a [&'a str]>,
    order: Option<&'a [Vec<String>]>,
    tier: Option<Tier>,
    votes: Option<&'a Score>,
    ballots: Option<usize>,
    scripted: Option<usize>,
    asked: Option<usize>,
    rule: Option<Rule>,
    tied: Option<&'a [String]>,
    dissent: Option<Vec<&'a str>>,
    approved: Option<bool>,
}

/// Returns the result as a JSON object. `exit` is the exit code of the run, `file` the session's path as
/// given.
pub fn result(document: &Document<'_>, exit: i32, file: &str) -> Value {
    let only = document.only();
    let run = only.and_then(|page| document.round(page));
    let found = run.and_then(|run| run.independence.as_ref());
    let same_answers = found.map_or(&[][..], |found| &found.same_answers);
    let without =
        run.iter().flat_map(|run| &run.seats).filter_map(|seat| Some((seat.participant, seat.outcome?)));
    let decision = |page: &Page<'_>| {
        let mut line = json!(decision_line(document, page));
        line["question"] = page.question.into();
        line["round"] = page.round.into();
        line["decided"] = (page.verdict.decided && !document.rehearsal).into();
        line["headline"] = page.verdict.made.label.as_str().into();
        line
    };
    json!(Line {
        v: VERSION,
        session: Some(document.session),
        status: document.status,
        exit,
        decided: document.verdict.decided && !document.rehearsal,
        rehearsal: Some(document.rehearsal),
        outcome: only.and_then(|page| page.outcome),
        headline: document.outcome.as_deref().filter(|_| only.is_some()),
        only: only.map(|page| decision_line(document, page)).unwrap_or_default(),
        reason: document.reason.as_deref(),
        not_counted: Some(without.filter(|(_, outcome)| *outcome != Outcome::Answered).collect()),
        models: found.map(|found| found.models.len()),
        makers: found.and_then(Independence::count_makers),
        same_answers: Some(same_answers),
        decisions: Some(document.decisions.iter().map(decision).collect()),
        // Null if part of the cost is unknown.
        usd: (!document.spent.is_unknown).then(|| (document.spent.dollars * 1e6).round() / 1e6),
        seconds: Some(document.took_ms as f64 / 1000.0),
        file: Some(file),
        hash: Some(&document.source.last_hash),
    })
}

fn decision_line<'a>(document: &'a Document<'_>, page: &'a Page<'_>) -> DecisionLine<'a> {
    let run = document.round(page);
    let tally = run.and_then(|run| run.count);
    let winners = page.winners.as_slice();
    let dissenting = run.into_iter().flat_map(|run| &run.seats).filter(|seat| seat.dissents);
    // Absent for rules whose scores are not numbers of ballots.
    let counting = tally.filter(|tally| tally.rule.is_some_and(Rule::counts_ballots));
    DecisionLine {
        winner: winners.first().copied(),
        winners: Some(winners),
        order: tally.map(|tally| &*tally.verdict.order),
        tier: page.tier,
        votes: winners.first().and_then(|winner| counting?.verdict.scores.get(*winner)),
        ballots: tally.map(|tally| tally.answered),
        scripted: run.map(|run| run.scripted),
        asked: tally.map(|tally| tally.asked),
        rule: tally.and_then(|tally| tally.rule),
        tied: tally.map(|tally| if tally.verdict.tie { &*tally.verdict.winners } else { &[] }),
        // Empty for estimates.
        dissent: Some(dissenting.map(|seat| seat.participant).collect()),
        approved: page.approval.as_ref().filter(|said| !said.is_decision).map(|said| said.given.approved),
    }
}

/// Returns the line for a file that produced no session, with the reason and the exit code.
pub fn no_result(exit: i32, reason: &str, file: Option<&str>) -> Value {
    json!(Line { v: VERSION, status: "error", exit, reason: Some(reason), file, ..Line::default() })
}

/// Returns the outcome, strength, dissent, approval, cost and duration in one line of raw text. `None`
/// before the first outcome.
pub fn in_one_line(document: &Document<'_>) -> Option<String> {
    let mut parts = vec![document.outcome.clone()?];
    if let Some(page) = document.only() {
        let run = document.round(page).filter(|run| run.scripted > 0);
        parts.extend(run.map(|run| format!("scripted: {} of {}", run.scripted, run.answers)));
        parts.extend(page.short.iter().cloned());
    } else {
        parts.push(document.verdict.made.sentence.trim_end_matches('.').to_owned());
    }
    if document.spent.dollars > 0.0 {
        parts.push(people_money(&document.spent));
    }
    parts.push(format_duration(document.took_ms));
    Some(parts.join(" · "))
}

/// Returns the decisions as rows for a decision log; all values are texts or null.
pub fn decision_rows(document: &Document<'_>) -> Vec<Value> {
    let row = |page: &Page<'_>| {
        let said = page.approval.as_ref().filter(|_| !document.rehearsal);
        let is_rejected = said.is_some_and(|said| !said.given.approved);
        let because = |said: &ApprovalFacts<'_>| match said.because {
            Some(_) if !page.verdict.decided => {
                Some(format!("approved by {}: {}", said.approver, said.message))
            }
            why => why.map(str::to_owned),
        };
        json!({
            "date": date(document.last_at),
            "question": page.question,
            "outcome": page.verdict.made.label,
            "strength": page.tier,
            "status": if is_rejected || page.verdict.decided { page.status } else { "undecided" },
            "because": said.and_then(because),
            "adopted_by": said.filter(|said| said.given.approved && page.verdict.decided).map(|said| &said.approver),
            "supersedes": document.supersedes,
            "session": document.session,
        })
    };
    document.decisions.iter().filter(|page| page.mark.is_empty()).map(row).collect()
}
