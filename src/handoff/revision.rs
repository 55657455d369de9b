//! Revisions: rounds in which seats may change an earlier ballot.
//!
//! The snapshot shows only what `feedback` allows of the earlier round. Reasons have no authors and a random
//! order. A seat's own earlier ballot appears only in its address lines.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::names::{options_named, plain_texts, words};
use crate::ballot::{BallotForm, BallotKind, OptionOrder};
use crate::history::{RoundOpened, RoundRun, Seat, SeatStatus, Session};
use crate::round::answer::Outcome;
use crate::round::snapshot::sha256_hex;
use crate::workflow::{Feedback, Round, Step};

impl Session {
    /// Returns the closed round that a round revises; `None` if it revises none.
    pub(crate) fn revised(&self, step: &Step, round: &Round) -> Result<Option<&RoundRun>, String> {
        let Some(of) = round.revises.as_deref() else { return Ok(None) };
        let before = self.last_round_of(of).filter(|before| before.closed.is_some());
        let Some(before) = before else {
            return Err(format!("it revises `{of}`, which was not held"));
        };
        let (kind, now) = (before.opened.ballot.kind, round.ballot.kind);
        if kind != now {
            let (kind, now) = (kind.name(), now.name());
            return Err(format!("it is of kind `{now}` and revises `{of}`, which was of kind `{kind}`"));
        }
        let sits = |seat: &&Seat| is_asked_again(seat) && round.participants.includes(&seat.name);
        if !before.seats.values().any(|seat| sits(&seat)) || self.definition().step(&step.id).is_none() {
            return Err(format!("it revises `{of}`, and no seat of that is left to ask"));
        }
        Ok(Some(before))
    }

    /// Returns the steps of which the snapshot of `step` shows only what `feedback` allows. These are both
    /// rounds of each revision that is `step` itself, or that can still follow and is undecided.
    pub(super) fn hidden_steps(&self, step: &str) -> Vec<String> {
        let definition = self.definition();
        let mut hidden = Vec::new();
        for (before, after) in definition.revisions() {
            let is_decided = || {
                let last = self.last_round_of(&after.id).filter(|round| {
                    let revised = round.opened.revises.as_deref();
                    revised == self.last_round_of(&before.id).map(|round| round.opened.round.as_str())
                });
                last.and_then(|round| round.tally.as_ref()).is_some_and(|tally| tally.decided)
            };
            let top = |id: &str| definition.top(id).map_or("", |step| step.id.as_str()).to_owned();
            let comes = || definition.leads_to(&top(step), &top(&after.id));
            if step == after.id || comes() && !is_decided() {
                hidden.extend([before.id.clone(), after.id.clone()]);
            }
        }
        hidden
    }

    pub(super) fn earlier_reasons(&self, before: &RoundRun, drawn_for: &str) -> Vec<Value> {
        let mut blocks: IndexMap<Option<&str>, [Vec<String>; 2]> = IndexMap::new();
        for disclosed in before.seats.values().filter_map(|seat| self.disclosed_answer(seat).ok()) {
            let Some(answer) = disclosed.as_object() else { continue };
            for (option, is_against, text) in attributed(&before.opened.ballot, answer) {
                let list = &mut blocks.entry(option).or_default()[usize::from(is_against)];
                if !list.iter().any(|known| words(known) == words(&text)) {
                    list.push(text);
                }
            }
        }
        let draw = |item: &str| self.draw(drawn_for, "", item);
        blocks.sort_by_cached_key(|option, _| draw(option.unwrap_or_default()));
        let block = |(option, sides): (Option<&str>, [Vec<String>; 2])| {
            let mut block = Map::new();
            block.extend(option.map(|option| ("option".to_owned(), option.into())));
            for (key, mut texts) in ["for", "against"].into_iter().zip(sides) {
                texts.sort_by_cached_key(|text| draw(text));
                if !texts.is_empty() {
                    block.insert(key.to_owned(), texts.into());
                }
            }
            block.into()
        };
        blocks.into_iter().map(block).collect()
    }

    pub(crate) fn earlier_ballot(&self, opened: &RoundOpened, seat: &str) -> Option<Map<String, Value>> {
        let before = self.round(opened.revises.as_deref()?)?;
        let answer = before.seat(seat)?.content()?;
        let keys = before.opened.ballot.kind.info().keys;
        let own = answer.iter().filter(|(key, _)| keys.contains(&key.as_str()) || *key == "vote");
        Some(own.map(|(key, value)| (key.clone(), value.clone())).collect())
    }

    /// Returns the ballot form of a seat, with its options in its order.
    pub fn form_of(&self, opened: &RoundOpened, seat: &str) -> BallotForm {
        let mut form = opened.ballot.clone();
        form.options = self.option_order(opened, seat).unwrap_or(form.options);
        form
    }

    /// Returns a seat's options in its order; `None` if they are the form's.
    pub fn option_order(&self, opened: &RoundOpened, seat: &str) -> Option<Vec<String>> {
        let mut options = opened.ballot.options.clone();
        if opened.ballot.exclude_own {
            options.retain(|option| option != self.display_name(seat));
        }
        match opened.ballot.order {
            OptionOrder::Same if opened.ballot.exclude_own => {}
            OptionOrder::Same => return None,
            OptionOrder::PerSeat => {
                options.sort_by_cached_key(|option| self.draw(&opened.round, seat, option));
            }
            OptionOrder::Mirrored => {
                let mut seats: Vec<&String> = opened.seats.iter().collect();
                seats.sort_by_cached_key(|name| self.draw(&opened.round, name, "mirrored"));
                if seats.iter().position(|name| *name == seat).is_some_and(|place| place % 2 == 1) {
                    options.reverse();
                }
            }
        }
        Some(options)
    }

    /// Returns the key by which an item is sorted in a random order.
    fn draw(&self, round: &str, seat: &str, item: &str) -> String {
        let seed = self.header.as_ref().and_then(|header| header.draw_seed).unwrap_or(0);
        sha256_hex(format!("roundtable order 1\n{seed}\n{round}\n{seat}\n{item}"))
    }
}

/// Returns true if a revision asks this seat: it answered, abstained, or has no valid answer.
pub(crate) fn is_asked_again(seat: &Seat) -> bool {
    match &seat.status {
        SeatStatus::Revealed(answer, _) => answer.outcome != Outcome::Refused,
        SeatStatus::Failed(_) | SeatStatus::Lost(_) | SeatStatus::Missing => true,
        SeatStatus::Excused(_) | SeatStatus::Waiting | SeatStatus::Asking | SeatStatus::Sealed(_) => false,
    }
}

/// Returns the reasons of an answer: the option, if known, true if the reason is against it, and the text. A
/// choice's reasons are about the option voted for, others about each option that they mention.
fn attributed<'a>(form: &'a BallotForm, answer: &Map<String, Value>) -> Vec<(Option<&'a str>, bool, String)> {
    let text = |key: &str| answer.get(key).and_then(Value::as_str);
    let chosen = text("vote").and_then(|vote| form.options.iter().find(|option| *option == vote));
    let objects = form.kind == BallotKind::Consent && text("consent").is_some_and(|it| it != "support");
    let is_position = form.kind == BallotKind::Position && !answer.contains_key("vote");
    let keys = [("rationale", objects), ("position", false), ("concerns", true), ("minimum_change", true)];
    let mut found = Vec::new();
    for (key, is_against) in keys.into_iter().filter(|(key, _)| *key != "position" || is_position) {
        for text in plain_texts(answer.get(key)) {
            let named: Vec<&String> = match chosen {
                Some(chosen) => vec![chosen],
                None if form.kind == BallotKind::Choice => Vec::new(),
                None => options_named(&text, &form.options).collect(),
            };
            if named.is_empty() {
                found.push((None, is_against, text));
            } else {
                found.extend(
                    named.into_iter().map(|option| (Some(option.as_str()), is_against, text.clone())),
                );
            }
        }
    }
    found
}

pub(super) fn earlier_counts(before: &RoundRun, feedback: Feedback) -> Option<Value> {
    let tally = before.tally.as_ref().filter(|_| feedback.has_counts())?;
    let mut counts = json!({ "asked": tally.asked, "answered": tally.answered });
    if let Some(spread) = tally.verdict.trace.as_ref().and_then(|trace| trace.spread.as_ref()) {
        counts["median"] = spread.median.as_str().into();
        counts["quartiles"] = json!([spread.first_quartile, spread.third_quartile]);
    } else {
        counts["scores"] = json!(tally.verdict.scores);
    }
    Some(counts)
}
