//! What differs between two sessions: their rounds, options, seats, votes, results and snapshots.
//!
//! Rounds are paired by their id, then by their question, then by a ballot of one kind with an option in
//! common. Nothing of a round is compared before its answers are revealed but what was frozen.

use serde_json::{Value, json};

use super::headline;
use super::movement::{Movement, between};
use super::round_view::{is_revealed, seats, tally};
use super::text_diff::text_diff;
use super::wording::join_list;
use crate::history::{RoundRun, Session};
use crate::tally::{Rule, Tier};

/// How two sessions differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Rounds that belong together, in the order of the first session.
    pub rounds: Vec<RoundComparison>,
    /// Rounds of the first session without a counterpart.
    pub only_before: Vec<String>,
    /// Rounds of the second session without a counterpart.
    pub only_after: Vec<String>,
}

/// A value before and after, where it differs.
type Changed = Option<(String, String)>;

/// How two rounds differ.
#[derive(Debug, Clone, PartialEq)]
pub struct RoundComparison {
    /// The ids of both rounds.
    pub rounds: (String, String),
    pub question: Changed,
    pub rule: Changed,
    pub quorum: Changed,
    pub options: Difference,
    pub seats: Difference,
    /// Seats of both rounds that another model answered for.
    pub models: Vec<(String, String, String)>,
    /// Who voted otherwise, of the seats of both rounds; none before both are revealed.
    pub votes: Option<Movement>,
    pub outcome: Changed,
    pub winners: (Vec<String>, Vec<String>),
    pub tiers: (Option<Tier>, Option<Tier>),
    pub orders: (Vec<Vec<String>>, Vec<Vec<String>>),
    /// The hashes of both snapshots.
    pub snapshots: (String, String),
    /// All lines of the snapshots with their signs; empty where they are the same.
    pub snapshot: Vec<(char, String)>,
}

/// What one list has and the other does not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    pub added: Vec<String>,
    pub removed: Vec<String>,
}

impl Difference {
    fn between(before: &[String], after: &[String]) -> Self {
        let missing = |of: &[String], from: &[String]| -> Vec<String> {
            of.iter().filter(|name| !from.contains(name)).cloned().collect()
        };
        Self { added: missing(after, before), removed: missing(before, after) }
    }

    fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty()
    }

    /// "added: a; removed: b, c".
    fn line(&self) -> String {
        let parts = [("added", &self.added), ("removed", &self.removed)];
        let parts = parts.iter().filter(|(_, names)| !names.is_empty());
        let parts: Vec<String> =
            parts.map(|(word, names)| format!("{word}: {}", join_list(*names))).collect();
        parts.join("; ")
    }

    fn json(&self) -> Value {
        json!({ "added": self.added, "removed": self.removed })
    }
}

/// Compares two sessions.
pub fn compare(before: &Session, after: &Session) -> Comparison {
    let mut left: Vec<&RoundRun> = after.rounds.iter().collect();
    let mut pairs: Vec<Option<&RoundRun>> = vec![None; before.rounds.len()];
    for belongs in [has_same_id, has_same_question, has_common_option] {
        for (run, pair) in before.rounds.iter().zip(&mut pairs).filter(|(_, pair)| pair.is_none()) {
            if let Some(at) = left.iter().position(|other| belongs(run, other)) {
                *pair = Some(left.remove(at));
            }
        }
    }
    let id = |run: &RoundRun| run.opened.round.clone();
    let mut found = Comparison {
        rounds: Vec::new(),
        only_before: Vec::new(),
        only_after: left.into_iter().map(id).collect(),
    };
    for (run, pair) in before.rounds.iter().zip(pairs) {
        match pair {
            Some(other) => found.rounds.push(compare_rounds((before, run), (after, other))),
            None => found.only_before.push(id(run)),
        }
    }
    found
}

fn has_same_id(a: &RoundRun, b: &RoundRun) -> bool {
    a.opened.round == b.opened.round
}

fn has_same_question(a: &RoundRun, b: &RoundRun) -> bool {
    a.opened.question == b.opened.question
}

fn has_common_option(a: &RoundRun, b: &RoundRun) -> bool {
    let (a, b) = (&a.opened.ballot, &b.opened.ballot);
    a.kind == b.kind && a.options.iter().any(|option| b.options.contains(option))
}

fn compare_rounds(before: (&Session, &RoundRun), after: (&Session, &RoundRun)) -> RoundComparison {
    let both = |of: &dyn Fn(&RoundRun) -> String| changed(of(before.1), of(after.1));
    let made = |(session, run): (&Session, &RoundRun)| match tally(run) {
        Some(tally) => headline(session, run, tally).label,
        None => "not counted yet".to_owned(),
    };
    let counted = (tally(before.1), tally(after.1));
    let names = |run: &RoundRun| run.seats.keys().cloned().collect::<Vec<_>>();
    let model_of = |(session, run): (&Session, &RoundRun), name: &str| {
        seats(session, run).find(|seat| seat.name == name).map(|seat| seat.model.to_owned())
    };
    let models = before.1.seats.keys().filter_map(|name| {
        let (from, to) = (model_of(before, name)?, model_of(after, name)?);
        (from != to).then(|| (name.clone(), from, to))
    });
    let (from, to) = (&before.1.opened, &after.1.opened);
    let is_same = from.snapshot == to.snapshot;
    RoundComparison {
        rounds: (from.round.clone(), to.round.clone()),
        question: both(&|run| run.opened.question.clone()),
        rule: both(&|run| run.opened.rule.map_or("no rule", Rule::name).to_owned()),
        quorum: both(&|run| run.opened.quorum.to_string()),
        options: Difference::between(&from.ballot.options, &to.ballot.options),
        seats: Difference::between(&names(before.1), &names(after.1)),
        models: models.collect(),
        votes: (is_revealed(before.1) && is_revealed(after.1)).then(|| between(before, after)),
        outcome: changed(made(before), made(after)),
        winners: (winners(before.1), winners(after.1)),
        tiers: (counted.0.and_then(|tally| tally.tier), counted.1.and_then(|tally| tally.tier)),
        orders: (order(before.1), order(after.1)),
        snapshots: (from.snapshot_sha256.clone(), to.snapshot_sha256.clone()),
        snapshot: if is_same { Vec::new() } else { text_diff(&from.snapshot, &to.snapshot) },
    }
}

fn changed(from: String, to: String) -> Changed {
    (from != to).then_some((from, to))
}

fn winners(run: &RoundRun) -> Vec<String> {
    tally(run).filter(|tally| tally.decided).map(|tally| tally.verdict.winners.clone()).unwrap_or_default()
}

fn order(run: &RoundRun) -> Vec<Vec<String>> {
    tally(run).map(|tally| tally.verdict.order.clone()).unwrap_or_default()
}

impl Comparison {
    /// Whether the sessions have no round in common.
    pub fn is_unrelated(&self) -> bool {
        self.rounds.is_empty()
    }

    /// The comparison in lines, each on one line. Its text is raw.
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.rounds.iter().flat_map(RoundComparison::lines).collect();
        for (which, ids) in [("first", &self.only_before), ("second", &self.only_after)] {
            if !ids.is_empty() {
                lines.push(format!("only in the {which} session: {}", join_list(ids)));
            }
        }
        lines
    }

    pub fn json(&self) -> Value {
        json!({
            "rounds": self.rounds.iter().map(RoundComparison::json).collect::<Value>(),
            "only_in_first": self.only_before,
            "only_in_second": self.only_after,
        })
    }
}

impl RoundComparison {
    /// Whether both rounds asked the same and led to the same.
    pub fn is_same(&self) -> bool {
        let changed = [&self.question, &self.rule, &self.quorum, &self.outcome];
        changed.iter().all(|value| value.is_none())
            && self.options.is_empty()
            && self.seats.is_empty()
            && self.models.is_empty()
            && self.votes.as_ref().is_none_or(|votes| votes.moves.is_empty())
            && self.winners.0 == self.winners.1
            && self.tiers.0 == self.tiers.1
            && self.orders.0 == self.orders.1
            && self.snapshot.is_empty()
    }

    fn lines(&self) -> Vec<String> {
        let (from, to) = &self.rounds;
        let name = if from == to { format!("round {from}") } else { format!("round {from} → {to}") };
        if self.is_same() {
            return vec![format!("{name}: the same question, votes and result")];
        }
        let mut lines = vec![name];
        let mut pair = |what: &str, from: &str, to: &str| {
            lines.extend([format!("  {what}:"), format!("    - {from}"), format!("    + {to}")]);
        };
        for (what, value) in [
            ("question", &self.question),
            ("rule", &self.rule),
            ("quorum", &self.quorum),
            ("outcome", &self.outcome),
        ] {
            if let Some((from, to)) = value {
                pair(what, from, to);
            }
        }
        if self.tiers.0 != self.tiers.1 {
            let name = |tier: Option<Tier>| tier.map_or("unknown", Tier::name);
            pair("strength", name(self.tiers.0), name(self.tiers.1));
        }
        if self.orders.0 != self.orders.1 {
            let places = |order: &[Vec<String>]| super::tally_text::places(order, usize::MAX);
            pair("order", &places(&self.orders.0), &places(&self.orders.1));
        }
        for (what, difference) in [("options", &self.options), ("seats", &self.seats)] {
            if !difference.is_empty() {
                lines.push(format!("  {what}: {}", difference.line()));
            }
        }
        for (seat, from, to) in &self.models {
            lines.push(format!("  model of {seat}: {from} → {to}"));
        }
        match &self.votes {
            Some(votes) if votes.moves.is_empty() && votes.stayed.is_empty() => {}
            Some(votes) => lines.extend(votes.lines().into_iter().map(|line| format!("  votes: {line}"))),
            None => lines.push("  votes: not compared before both rounds are revealed".to_owned()),
        }
        if !self.snapshot.is_empty() {
            let short = |hash: &str| hash.chars().take(12).collect::<String>();
            lines.push(format!("  snapshot: {}… → {}…", short(&self.snapshots.0), short(&self.snapshots.1)));
            let differs = self.snapshot.iter().filter(|(sign, _)| *sign != ' ');
            lines.extend(differs.map(|(sign, line)| format!("    {sign} {line}")));
        }
        lines
    }

    fn json(&self) -> Value {
        let changed = |value: &Changed| {
            value.as_ref().map_or(Value::Null, |(from, to)| json!({ "from": from, "to": to }))
        };
        let models =
            self.models.iter().map(|(seat, from, to)| json!({ "participant": seat, "from": from, "to": to }));
        let lines = self.snapshot.iter().filter(|(sign, _)| *sign != ' ');
        let lines = lines.map(|(sign, line)| json!({ "sign": sign.to_string(), "line": line }));
        json!({
            "first": self.rounds.0,
            "second": self.rounds.1,
            "same": self.is_same(),
            "question": changed(&self.question),
            "rule": changed(&self.rule),
            "quorum": changed(&self.quorum),
            "options": self.options.json(),
            "seats": self.seats.json(),
            "models": models.collect::<Value>(),
            "votes": self.votes.as_ref().map(|votes| {
                let mut votes = votes.json();
                if let Some(map) = votes.as_object_mut() {
                    map.shift_remove("since");
                }
                votes
            }),
            "outcome": changed(&self.outcome),
            "winners": { "from": self.winners.0, "to": self.winners.1 },
            "tier": { "from": self.tiers.0.map(Tier::name), "to": self.tiers.1.map(Tier::name) },
            "order": { "from": self.orders.0, "to": self.orders.1 },
            "snapshot": { "from": self.snapshots.0, "to": self.snapshots.1, "changes": lines.collect::<Value>() },
        })
    }
}
