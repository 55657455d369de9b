//! The record of a session as data: every round with its count and its seats. Texts are raw.
//!
//! What is not known, not given or still sealed is `null`; a seat without an outcome says where it
//! stands in `state`, a round whose key was lost names the seats in `key_lost`.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{Chart, Letters, chart, said, sure};
use crate::ballot::{Ballot, BallotForm};
use crate::core::Cost;
use crate::history::{CloseReason, RoundRun, SeatInfo, Session, Tally, Wrapped};
use crate::identity::Leak;
use crate::insight::independence::Independence;
use crate::insight::movement::Movement;
use crate::insight::references::Citable;
use crate::insight::slots::Slots;
use crate::insight::what_if::{WhatIf, what_if_all};
use crate::insight::{
    SeatView, VisibleState, close_reason, dissents, estimates, finding, format_duration, handling, headline,
    independence, is_revealed, join_list, long_order, money, movement, pluralize, quorum_ballots,
    rule_description, seats, shown_mask, slots, tables, turnout, winners,
};
use crate::round::answer::{Origin, Outcome, TokenUsage};
use crate::tally::{Backing, RuleOptions, Ties};
use crate::workflow::Close;
use crate::yaml;

#[derive(Debug, Serialize)]
pub struct RoundRecord<'a> {
    pub id: &'a str,
    pub number: u32,
    pub step: &'a str,
    pub question: &'a str,
    pub exploration: Option<String>,
    pub ballot: &'a BallotForm,
    /// The keys of an answer that are its ballot.
    pub ballot_keys: Vec<&'static str>,
    pub opened_at: String,
    pub closed_at: Option<String>,
    pub close_reason: Option<CloseReason>,
    /// "closed after 3.2 s: all seats settled".
    pub closing: String,
    pub snapshot_bytes: usize,
    pub snapshot_sha256: &'a str,
    pub snapshot: &'a str,
    pub rules: &'a str,
    pub headline: Option<RoundHeadline>,
    pub note: Option<&'a str>,
    /// How it was held, a line each; then how it was counted.
    pub held: Vec<String>,
    pub counted: Vec<String>,
    pub chart: Option<Chart>,
    /// The whole order, where the headline has no room for it.
    pub order: Option<String>,
    pub tables: Vec<String>,
    pub estimates: Vec<String>,
    pub tally: Value,
    pub seats: Vec<SeatRecord<'a>>,
    pub cost: Value,
    pub what_if: Vec<Value>,
    pub option_order: Option<Slots>,
    pub movement: Option<Movement>,
    pub independence: Option<Independence>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub key_lost: &'a [String],
    /// Whether its answers may be read.
    pub revealed: bool,
}

#[derive(Debug, Serialize)]
pub struct RoundHeadline {
    pub label: String,
    pub detail: String,
}

#[derive(Debug, Serialize)]
pub struct SeatRecord<'a> {
    pub participant: &'a str,
    pub origin: Origin,
    pub model: &'a str,
    /// Who answers, for people: the model and the one that answered in its place, or that it is none.
    pub who: String,
    pub served: Option<&'a str>,
    pub outcome: Option<&'static str>,
    pub reason: Option<&'a str>,
    pub vote: Option<String>,
    pub sure: Option<String>,
    pub dissents: bool,
    pub tries: Option<u32>,
    pub latency_ms: Option<u64>,
    pub elapsed_ms: Option<u64>,
    pub tokens: Option<TokenUsage>,
    pub cost: Option<Value>,
    #[serde(flatten)]
    pub settings: Settings<'a>,
    pub dropped: &'a [String],
    pub answer: Option<&'a Map<String, Value>>,
    pub ballot: Option<&'a Ballot>,
    /// The first text of the answer that says why.
    pub said: String,
    /// The entries of a ballot that is a list: ideas, findings.
    pub listing: Vec<String>,
    pub minimum_change: Option<&'a str>,
    /// The last reply, where it gave no valid answer.
    pub reply: Option<&'a str>,
    pub unresolved_references: Vec<&'a str>,
    pub flags: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<&'static str>,
    #[serde(flatten)]
    pub leaks: Option<Leaks<'a>>,
}

/// How a seat was set up.
#[derive(Debug, Default, Serialize)]
pub struct Settings<'a> {
    seed: Option<u64>,
    temperature: Option<f64>,
    effort: Value,
    weight: Option<f64>,
    persona: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wrapped: Option<&'a Wrapped>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    without_tools: bool,
}

/// What an answer gives away, and what becomes of it.
#[derive(Debug, Serialize)]
pub struct Leaks<'a> {
    leaks: Vec<LeakRecord<'a>>,
    leaks_are: String,
}

#[derive(Debug, Serialize)]
struct LeakRecord<'a> {
    kind: Value,
    place: &'a str,
    text: &'a str,
    #[serde(rename = "as")]
    mask: Option<&'a str>,
    said: String,
}

impl<'a> Leaks<'a> {
    pub fn new(session: &Session, found: &'a [Leak]) -> Self {
        let record = |leak: &'a Leak| {
            let mask = shown_mask(session, leak);
            let (kind, said) = (json!(leak.kind), finding(leak, mask));
            LeakRecord { kind, place: &leak.place, text: &leak.text, mask, said }
        };
        Self { leaks: found.iter().map(record).collect(), leaks_are: handling(found) }
    }
}

impl<'a> RoundRecord<'a> {
    pub fn new(session: &'a Session, run: &'a RoundRun) -> Self {
        let opened = &run.opened;
        let counted = crate::insight::tally(run);
        let headline = counted.map(|tally| headline(session, run, tally));
        let citable = Citable::of_round(run);
        let winners = winners(session, run);
        let what_if = what_if_all(session, run, &RuleOptions::default());
        Self {
            id: &opened.round,
            number: opened.number,
            step: &opened.step,
            question: &opened.question,
            exploration: exploration(run),
            ballot: &opened.ballot,
            ballot_keys: opened.ballot.kind.ballot_keys().collect(),
            opened_at: run.opened_at.to_string(),
            closed_at: run.closed_at.map(|at| at.to_string()),
            close_reason: run.closed.as_ref().map(|closed| closed.reason),
            closing: closing(run),
            snapshot_bytes: opened.snapshot_bytes,
            snapshot_sha256: &opened.snapshot_sha256,
            snapshot: &opened.snapshot,
            rules: &opened.rules,
            headline: headline.map(|made| RoundHeadline { label: made.label, detail: made.detail }),
            note: run.synthesis.as_deref(),
            held: held(session, run),
            counted: counted.map(|tally| how_counted(session, run, tally)).unwrap_or_default(),
            chart: counted.and_then(|tally| chart(&Letters::new(run, Some(tally)), run, tally)),
            order: counted.and_then(|tally| long_order(&tally.verdict)),
            tables: counted.map(|tally| tables(&tally.verdict)).unwrap_or_default(),
            estimates: counted.map(|_| estimates(session, run)).unwrap_or_default(),
            tally: counted.map(tally_record).unwrap_or_default(),
            seats: seats(session, run)
                .map(|view| SeatRecord::new(session, view, &citable, dissents(&view, &winners)))
                .collect(),
            cost: total(run.spent(&|model| session.price(model))),
            what_if: what_if.iter().map(WhatIf::json).collect(),
            option_order: slots(session, run),
            movement: movement(session, run),
            independence: independence(session, run),
            key_lost: &run.key_lost,
            revealed: is_revealed(run),
        }
    }
}

impl<'a> SeatRecord<'a> {
    fn new(session: &Session, view: SeatView<'a>, citable: &Citable, dissents: bool) -> Self {
        let answer = view.answer();
        let (tries, tokens) = match view.standing {
            VisibleState::Failed(failed) => (Some(failed.tries), failed.tokens),
            _ => (answer.map(|answer| answer.record.tries), answer.and_then(|answer| answer.record.tokens)),
        };
        let is_uncounted = |outcome: Outcome| !matches!(outcome, Outcome::Answered | Outcome::Abstained);
        let uncounted = answer.filter(|answer| is_uncounted(answer.outcome));
        let reply = uncounted.and_then(|answer| answer.record.replies.last());
        Self {
            participant: view.name,
            origin: view.origin,
            model: view.model,
            who: view.who(),
            served: answer.and_then(|answer| answer.record.served.as_deref()),
            outcome: view.outcome().map(Outcome::name),
            reason: view.reason(),
            vote: view.ballot().and_then(Ballot::phrase),
            sure: sure(&view),
            dissents,
            tries,
            latency_ms: answer.map(|answer| answer.record.latency_ms),
            elapsed_ms: view.elapsed_ms,
            tokens,
            cost: view.spent.map(cost),
            settings: view.info.map(Settings::new).unwrap_or_default(),
            dropped: answer.map_or(&[][..], |answer| &answer.record.dropped),
            answer: answer.map(|answer| &answer.answer).filter(|answer| !answer.is_empty()),
            ballot: answer.and_then(|answer| answer.ballot.as_ref()),
            said: said(&view),
            listing: view.ballot().map(Ballot::listing).unwrap_or_default(),
            minimum_change: view.ballot().and_then(Ballot::minimum_change),
            reply: reply.map(|reply| reply.text.as_str()),
            unresolved_references: answer.map(|answer| citable.unresolved(answer)).unwrap_or_default(),
            flags: answer.map_or(&[][..], |answer| &answer.flags),
            state: match view.standing {
                VisibleState::Unread(state) => Some(state),
                _ => None,
            },
            leaks: view.leaks.map(|found| Leaks::new(session, found)),
        }
    }
}

impl<'a> Settings<'a> {
    fn new(info: &'a SeatInfo) -> Self {
        Self {
            seed: info.seed,
            temperature: info.temperature,
            effort: json!(info.effort),
            weight: Some(info.weight),
            persona: Some(&info.persona),
            wrapped: info.wrapped.as_ref(),
            without_tools: info.without_tools,
        }
    }
}

/// What stands under `exploration` in the snapshot of a round.
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
        Close::Quorum => format!("open until {} seats are sealed", run.opened.quorum),
        Close::Deadline => "open until its deadline".to_owned(),
        Close::Manual => "open until the facilitator closes it".to_owned(),
    }
}

fn held(session: &Session, run: &RoundRun) -> Vec<String> {
    let (opened, form) = (&run.opened, &run.opened.ballot);
    let mut lines = Vec::new();
    for (option, about) in &form.about {
        let texts: Vec<&str> = about.entries().map(|(_, text)| text).collect();
        lines.push(format!("Option {option}: {}", texts.join(". ")));
    }
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
    let (kind, quorum) = (form.kind.name(), quorum_ballots(opened));
    lines.push(format!("Ballot: {kind}{of}{scale}; rule: {rule}{ties}; quorum {}{quorum}", opened.quorum));
    let spent = is_revealed(run).then(|| run.spent(&|model| session.price(model)));
    if let Some(cost) = spent.as_ref().and_then(money) {
        lines.push(format!("Cost: {cost}"));
    }
    if !run.key_lost.is_empty() {
        let seats = join_list(&run.key_lost);
        lines.push(format!("Lost with a key of this round, unread: what {seats} had sealed under it"));
    }
    lines
}

fn how_counted(session: &Session, run: &RoundRun, tally: &Tally) -> Vec<String> {
    let met = if tally.quorum_met { "met" } else { "not met" };
    let ballots = tally.quorum_ballots.map(|needed| {
        format!("; {} beside abstentions, {needed} needed", pluralize(tally.answered, "ballot"))
    });
    let took_part = format!("{} participated, {} required", tally.took_part(), tally.quorum);
    let mut lines = vec![
        format!("Seats: {}", turnout(tally)),
        format!("Quorum {met}: {took_part}{}", ballots.unwrap_or_default()),
    ];
    if let Some(found) = independence(session, run) {
        lines.extend(found.lines());
        lines.extend(slots(session, run).map(|found| found.line()));
    }
    lines
}

/// Money; none where it is not known.
fn cost(spent: Cost) -> Value {
    let is_known = !spent.is_unknown || spent.dollars > 0.0;
    // To a ten-thousandth of a cent.
    let usd = |dollars: f64| is_known.then(|| (dollars * 1e6).round() / 1e6);
    json!({ "usd": usd(spent.dollars), "saved_usd": usd(spent.saved) })
}

/// Money and tokens of several, if any service told of tokens; whether that is all of it, or the least it cost.
pub fn total(spent: Cost) -> Value {
    if !spent.is_told() && !spent.is_unknown {
        return Value::Null;
    }
    let mut total = cost(spent);
    total["tokens"] = json!(spent.tokens);
    total["complete"] = (!spent.is_unknown).into();
    total
}

/// The count under its own names, with every key.
fn tally_record(tally: &Tally) -> Value {
    const UNSET: &str = "rule quorum_ballots tier act_at trace order_by";
    let Ok(Value::Object(mut entries)) = serde_json::to_value(tally) else { return Value::Null };
    for key in UNSET.split(' ') {
        entries.entry(key).or_insert(Value::Null);
    }
    for key in ["step", "round", "same_answers"] {
        entries.shift_remove(key);
    }
    let own = [
        ("tier_because", json!(tally.tier_because.as_ref().map(Backing::to_string))),
        ("reason", json!(tally.verdict.why())),
        ("order", json!(tally.verdict.order)),
        ("placeholders", tally.placeholders.into()),
        ("rehearsal", tally.rehearsal.into()),
        ("terms", json!(tally.terms)),
    ];
    entries.extend(own.map(|(key, value)| (key.to_owned(), value)));
    entries.into()
}
