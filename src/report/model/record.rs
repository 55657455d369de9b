//! Rounds, tallies and seats of a session as data. Texts are raw.
//!
//! Unknown, absent and sealed values are `null`. A seat without an outcome has a `state`; a round whose key
//! was lost lists the seats in `key_lost`.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::dissent::{said, sure};
use super::facts::quorum;
use super::options::{Chart, chart};
use crate::ballot::{Ballot, BallotForm};
use crate::core::Cost;
use crate::history::{CloseReason, Leak, RoundRun, SeatStatus, Session, Tally, Timestamp, Wrapped};
use crate::insight::counts::{WhatIf, what_if_all};
use crate::insight::independence::{FirstShownVotes, Independence, first_shown_votes};
use crate::insight::movement::Movement;
use crate::insight::references::Citable;
use crate::insight::wording::{absent, capital};
use crate::insight::{
    Headline, SeatView, close_reason, dissents, estimates, finding, format_duration, headline, independence,
    is_revealed, join_list, money, movement, rule_description, scripted, seats, shown_mask, tables, turnout,
    uncapital, winners,
};
use crate::round::answer::{Origin, Outcome, TokenUsage};
use crate::tally::{Backing, RuleOptions, Ties};
use crate::workflow::{Close, Effort};
use crate::yaml;

#[derive(Debug, Serialize)]
pub struct RoundRecord<'a> {
    pub id: &'a str,
    pub number: u32,
    pub step: &'a str,
    pub question: &'a str,
    pub exploration: Option<String>,
    pub ballot: &'a BallotForm,
    /// Keys of an answer that form its ballot.
    pub ballot_keys: Vec<&'static str>,
    pub opened_at: Timestamp,
    pub closed_at: Option<Timestamp>,
    pub close_reason: Option<CloseReason>,
    /// "closed after 3.2 s: all seats settled".
    pub closing: String,
    /// Number of sealed seats, including revealed ones.
    pub sealed: usize,
    pub snapshot_bytes: usize,
    pub snapshot_sha256: &'a str,
    pub snapshot: &'a str,
    pub rules: &'a str,
    /// Rule with its options.
    pub rule: Option<String>,
    pub headline: Option<Headline>,
    /// Decision of the rule or the facilitator.
    pub winners: Vec<&'a str>,
    pub note: Option<&'a str>,
    /// Settings of the round, one per line.
    pub held: Vec<String>,
    pub counted: Vec<String>,
    pub chart: Option<Chart<'a>>,
    /// Set if the round collects ballots, not only texts.
    pub countable: bool,
    /// "a 3, b 1, 1 abstained; Decision: a (majority)".
    pub counts: Option<String>,
    pub tables: Vec<String>,
    pub estimates: Vec<(String, String)>,
    pub tally: Value,
    #[serde(skip)]
    pub count: Option<&'a Tally>,
    pub seats: Vec<SeatRecord<'a>>,
    pub answers: usize,
    /// Number of answers that scripts gave in place of models.
    pub scripted: usize,
    pub cost: Value,
    pub what_if: Vec<Value>,
    pub option_order: Option<FirstShownVotes>,
    pub movement: Option<Movement>,
    pub independence: Option<Independence>,
    pub key_lost: &'a [String],
    /// Set once its answers may be read.
    pub revealed: bool,
    /// Set if its missing decision makes the exit code nonzero.
    pub failed: bool,
}

#[derive(Debug, Serialize)]
pub struct SeatRecord<'a> {
    pub participant: &'a str,
    pub origin: Origin,
    pub model: &'a str,
    /// Model, for people: with the one that answered instead, or the label of another source.
    pub who: String,
    pub served: Option<&'a str>,
    pub outcome: Option<Outcome>,
    pub reason: Option<&'a str>,
    pub vote: Option<String>,
    pub sure: Option<String>,
    pub dissents: bool,
    pub tries: Option<u32>,
    pub latency_ms: Option<u64>,
    pub elapsed_ms: Option<u64>,
    pub tokens: Option<TokenUsage>,
    #[serde(skip)]
    pub spent: Option<Cost>,
    pub cost: Option<Value>,
    pub seed: Option<u64>,
    pub temperature: Option<f64>,
    pub effort: Option<Effort>,
    pub weight: Option<f64>,
    pub persona: Option<&'a str>,
    pub wrapped: Option<&'a Wrapped>,
    pub without_tools: bool,
    pub dropped: &'a [String],
    pub answer: Option<&'a Map<String, Value>>,
    pub ballot: Option<&'a Ballot>,
    /// Options that the ballot ranks first.
    pub first: Vec<String>,
    /// First text of the answer that gives a reason.
    pub said: String,
    /// Entries of a ballot that is a list: ideas, findings.
    pub listing: Vec<String>,
    pub minimum_change: Option<&'a str>,
    /// Last reply, if no reply was valid.
    pub reply: Option<&'a str>,
    pub unresolved_references: Vec<&'a str>,
    pub flags: &'a [String],
    /// Commitment and hash of the sealed bytes, once revealed; receipts contain the same values.
    pub commitment: Option<&'a str>,
    pub sealed_sha256: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaks: Option<Vec<Value>>,
}

/// Returns the identity leaks of an answer, each with its replacement.
pub fn leaks(session: &Session, found: &[Leak]) -> Vec<Value> {
    let record = |leak: &Leak| {
        let Leak { kind, text, .. } = leak;
        let mask = shown_mask(session, leak);
        json!({ "kind": kind, "text": text, "as": mask, "said": finding(leak, mask) })
    };
    found.iter().map(record).collect()
}

impl<'a> RoundRecord<'a> {
    pub fn new(session: &'a Session, run: &'a RoundRun, failed: bool) -> Self {
        let opened = &run.opened;
        let count = crate::insight::tally(run);
        let citable = Citable::from_snapshot(&run.opened.snapshot);
        let winners = winners(session, run);
        let seat = |view: SeatView<'a>| SeatRecord::new(session, run, view, &citable, &winners);
        let (scripted, answers) = scripted(session, run);
        let what_if = what_if_all(session, run, &RuleOptions::default());
        Self {
            id: &opened.round,
            number: opened.number,
            step: &opened.step,
            question: &opened.question,
            exploration: exploration(run),
            ballot: &opened.ballot,
            ballot_keys: opened.ballot.kind.ballot_keys().collect(),
            opened_at: run.opened_at,
            closed_at: run.closed_at,
            close_reason: run.closed.as_ref().map(|closed| closed.reason),
            closing: closing(run),
            sealed: run.sealed(),
            snapshot_bytes: opened.snapshot_bytes,
            snapshot_sha256: &opened.snapshot_sha256,
            snapshot: &opened.snapshot,
            rules: &opened.rules,
            rule: opened.rule.map(|rule| rule_description(rule, &opened.terms)),
            headline: count.map(|tally| headline(session, run, tally)),
            note: run.synthesis.as_deref(),
            held: settings(session, run),
            counted: count.map(|tally| how_counted(session, run, tally)).unwrap_or_default(),
            chart: count.and_then(|tally| chart(session, run, tally)),
            countable: opened.ballot.kind.info().countable.is_some(),
            counts: count.map(|tally| counts(session, run, tally)),
            tables: count.map(|tally| tables(&tally.verdict)).unwrap_or_default(),
            estimates: count.map(|_| estimates(session, run)).unwrap_or_default(),
            tally: count.map(tally_record).unwrap_or_default(),
            count,
            seats: seats(session, run).map(seat).collect(),
            winners,
            answers,
            scripted,
            cost: total(run.spent(&|model| session.price(model))),
            what_if: what_if.iter().map(WhatIf::json).collect(),
            option_order: first_shown_votes(session, run),
            movement: movement(session, run),
            independence: independence(session, run),
            key_lost: &run.key_lost,
            revealed: is_revealed(run),
            failed,
        }
    }
}

impl<'a> SeatRecord<'a> {
    fn new(
        session: &Session,
        run: &'a RoundRun,
        view: SeatView<'a>,
        citable: &Citable,
        winners: &[&str],
    ) -> Self {
        let answer = view.answer;
        let record = answer.map(|answer| &answer.record);
        let (tries, tokens) = match view.failed {
            Some(failed) => (Some(failed.tries), failed.tokens),
            None => (record.map(|record| record.tries), record.and_then(|record| record.tokens)),
        };
        let has_ballot = matches!(view.outcome, Some(Outcome::Answered | Outcome::Abstained));
        let reply = record.filter(|_| !has_ballot).and_then(|record| record.replies.last());
        let held = match run.seat(view.name).map(|seat| &seat.status) {
            Some(SeatStatus::Revealed(_, held)) if answer.is_some() => Some(held),
            _ => None,
        };
        Self {
            participant: view.name,
            origin: view.origin,
            model: view.model,
            who: view.who(),
            served: record.and_then(|record| record.served.as_deref()),
            outcome: view.outcome,
            reason: view.reason,
            vote: view.ballot().and_then(Ballot::phrase),
            sure: sure(&view),
            dissents: dissents(&view, winners),
            tries,
            latency_ms: record.map(|record| record.latency_ms),
            elapsed_ms: view.elapsed_ms,
            tokens,
            spent: view.spent,
            cost: view.spent.map(cost),
            seed: view.info.and_then(|info| info.seed),
            temperature: view.info.and_then(|info| info.temperature),
            effort: view.info.and_then(|info| info.effort),
            weight: view.info.map(|info| info.weight),
            persona: view.info.map(|info| info.persona.as_str()),
            wrapped: view.info.and_then(|info| info.wrapped.as_ref()),
            without_tools: view.info.is_some_and(|info| info.without_tools),
            dropped: record.map_or(&[], |record| &record.dropped),
            answer: answer.map(|answer| &answer.answer).filter(|answer| !answer.is_empty()),
            ballot: answer.and_then(|answer| answer.ballot.as_ref()),
            first: view.ballot().and_then(Ballot::top_options).unwrap_or_default(),
            said: said(&view),
            listing: view.ballot().map(Ballot::listing).unwrap_or_default(),
            minimum_change: view.ballot().and_then(Ballot::minimum_change),
            reply: reply.map(|reply| reply.text.as_str()),
            unresolved_references: answer.map(|answer| citable.unresolved(answer)).unwrap_or_default(),
            flags: answer.map_or(&[], |answer| &answer.flags),
            commitment: held.map(|held| held.commitment.as_str()),
            sealed_sha256: held.map(|held| held.sealed_sha256.as_str()),
            state: view.outcome.is_none().then_some(view.state),
            leaks: view.leaks.map(|found| leaks(session, found)),
        }
    }
}

/// Reads the `exploration` of a round from its snapshot.
fn exploration(run: &RoundRun) -> Option<String> {
    let value = yaml::read(&run.opened.snapshot, "snapshot").ok()?.to_json();
    value["participant_context"]["exploration"].as_str().map(str::to_owned)
}

fn closing(run: &RoundRun) -> String {
    if let (Some(closed), Some(at)) = (&run.closed, run.closed_at) {
        let took = format_duration(at.since(run.opened_at));
        return format!("closed after {took}: {}", close_reason(closed.reason));
    }
    match run.opened.close {
        Close::All => "open until every seat is settled".to_owned(),
        Close::Quorum => format!("open until the quorum of {} is sealed", run.opened.quorum),
        Close::Deadline => "open until its deadline".to_owned(),
        Close::Manual => "open until the facilitator closes it".to_owned(),
    }
}

fn settings(session: &Session, run: &RoundRun) -> Vec<String> {
    let (opened, form) = (&run.opened, &run.opened.ballot);
    let options = join_list(if form.cards.is_empty() { &form.options } else { &form.cards });
    let of = if options.is_empty() { String::new() } else { format!(" of {options}") };
    let scale = match (&form.min, &form.max) {
        (Some(min), Some(max)) => format!(" from {min} to {max}"),
        _ => String::new(),
    };
    let rule = opened.rule.map(|rule| rule_description(rule, &opened.terms));
    let rule = rule.unwrap_or_else(|| "none (no decision)".to_owned());
    let ties = match opened.ties {
        Ties::None => String::new(),
        Ties::Ask => ", ties to the facilitator".to_owned(),
        Ties::Seeded(seed) => format!(", ties by seed {seed}"),
    };
    let kind = form.kind.name();
    let spent = is_revealed(run).then(|| run.spent(&|model| session.price(model)));
    let cost = spent.as_ref().and_then(money).map(|cost| format!("Cost: {cost}"));
    [format!("Ballot: {kind}{of}{scale}; rule: {rule}{ties}; quorum {}", opened.quorum)]
        .into_iter()
        .chain(cost)
        .collect()
}

fn counts(session: &Session, run: &RoundRun, tally: &Tally) -> String {
    let rule = tally.rule.map_or_else(|| "no rule".to_owned(), |rule| rule_description(rule, &tally.terms));
    let scores = tally.verdict.scores.iter().map(|(name, score)| format!("{name} {score}"));
    let parts: Vec<String> = scores.chain(absent(tally)).collect();
    let counted = if parts.is_empty() { String::new() } else { format!("{}; ", join_list(parts)) };
    format!("{counted}{} ({rule})", headline(session, run, tally).label)
}

fn how_counted(session: &Session, run: &RoundRun, tally: &Tally) -> Vec<String> {
    let quorum = quorum(run);
    let mut lines = vec![
        format!("Seats: {}", turnout(tally)),
        format!("Quorum {}: {}", uncapital(&quorum.value), quorum.note),
    ];
    if let Some(found) = independence(session, run) {
        lines.push(format!("Independence: {}", found.counts()));
        lines.extend(found.notes().iter().map(|note| capital(note)));
        let slots = first_shown_votes(session, run);
        lines.extend(slots.map(|FirstShownVotes { votes, first }| {
            format!(
                "Each seat was shown its own order of the options; votes for the first: {first} of {votes}"
            )
        }));
    }
    lines
}

/// Returns the cost in dollars; null if unknown.
fn cost(spent: Cost) -> Value {
    let is_known = !spent.is_unknown || spent.dollars > 0.0;
    // Rounded to a ten-thousandth of a cent.
    json!({ "usd": is_known.then(|| (spent.dollars * 1e6).round() / 1e6) })
}

/// Returns cost and tokens; null if no usage is known. `complete` is false for a lower bound.
pub fn total(spent: Cost) -> Value {
    if !spent.has_usage() && !spent.is_unknown {
        return Value::Null;
    }
    let mut total = cost(spent);
    total["tokens"] = json!(spent.tokens);
    total["complete"] = (!spent.is_unknown).into();
    total
}

/// Returns the tally with all its keys, reasons in words.
fn tally_record(tally: &Tally) -> Value {
    let mut record = json!(tally);
    record["order"] = json!(tally.verdict.order);
    record["tier_because"] = json!(tally.tier_because.as_ref().map(Backing::to_string));
    record["reason"] = json!(tally.verdict.why());
    record
}
