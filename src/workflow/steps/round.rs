//! `round` step: one blind question to all chosen participants at once.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::ballot::BallotForm;
use crate::tally::{BallotSupport, Choose, Fraction, Rule, RuleOptions, Tier, Ties};
use crate::workflow::keys::spec::KeyType::{
    Duration, Either, List, Map, Named, Quorum as Seats, Share, Text, Texts, Whole, Words,
};
use crate::workflow::keys::spec::{KeySpec, MapSpec, REQUIRED, key, map, words_of};
use crate::workflow::load::ballot::{BallotKeys, OptionsFrom, ballot, options_from};
use crate::workflow::load::entries::{
    Entries, FromNode, as_text, enum_of_words, from_node, keys, texts, word,
};
use crate::yaml::{Node, Value};

keys! {
    #[derive(Debug, Clone, PartialEq)]
    pub struct Round {
        question: String = key("question", REQUIRED, "The question.", "\"Which cache first?\""),
        exploration: Option<String> =
            key("exploration", "", "Background to the question.", "\"We have two servers.\""),
        recall: RecallKeys =
            key("context", "the definition's", "What it recalls of earlier rounds.", "{rounds: 1}"),
        ballot: BallotForm as (BallotKeys::KIND) = key(
            "ballot",
            "position",
            "The ballot form, or its kind alone.",
            "{kind: choice, options: [redis, none]}",
        ) => ballot,
        /// If absent, ballots are counted but nothing is decided.
        rule: Option<Rule> as (RuleKeys::KIND) =
            key("rule", "counted, not decided", "The voting rule; TALLIES.md lists them.", "majority")
            => |entries: Entries<'_>| rule(entries).rule,
        ties: Ties = key("ties", "none", "How a tie is broken.", "ask"),
        quorum: Quorum = key("quorum", "more than half", "The seats that a decision needs.", "60%"),
        act_at: Option<Tier> = key("act_at", "any", "The strength that a decision needs.", "strong"),
        close: Close = key("close", "all", "When the round closes.", "quorum"),
        deadline_ms: Option<u64> as (Duration) =
            key("deadline", "none", "The most time the round stays open.", "90s"),
        /// Closes and reveals even if failed seats keep the round below its quorum.
        closes_below_quorum: bool as (Words(|| vec!["stop", "close"])) = key(
            "on_failed",
            "stop",
            "What a headless run does if failed seats keep the round below its quorum.",
            "close",
        ),
        /// Next step if the round ran without a decision.
        on_undecided: Option<String> =
            key("on_undecided", "`on_error`", "The next step if the round is held and not decided.", "again"),
        revises: Option<String> =
            key("revises", "", "An earlier round of the same ballot, voted again.", "vote"),
        feedback: Feedback =
            key("feedback", "reasons", "What is shown of the round that is revised.", "both"),
        directives: IndexMap<String, String> as (Either(&[Named(&Text), List(&Text)])) = key(
            "directives",
            "",
            "A line for single seats, by name; a list is given to the seats in turn.",
            "{qa-lead: \"Argue against it.\"}",
        ),
        participants: Selection = key("participants", "all", "The participants.", "[qa-lead]"),
        artifacts: Selection = key("artifacts", "all", "The artifacts they are shown.", "[REQ-001]"),
    } and {
        terms: RuleOptions => |entries: Entries<'_>| rule(entries).terms(),
        /// Source of the options, unless they are written.
        options_from: Option<Box<OptionsFrom>> => options_from,
        /// Set after an error in the round; a missing `rule` may then be a consequence.
        is_wrong: bool,
        /// Lines from a list, assigned to the seats in roster order.
        directives_in_turn: Vec<String>
            => |entries: Entries<'_>| entries.list("directives").iter().filter_map(as_text).collect(),
    }
}

keys! {
    /// Rule with its options, or only its name.
    #[derive(Default)]
    pub struct RuleKeys as "rule" ("the rule") or "name" (Words(Rule::names)) {
        rule: Option<Rule> = key("name", REQUIRED, "The rule; TALLIES.md lists them.", "supermajority"),
        choose: Option<Choose> = key(
            "choose",
            "one",
            "How many options are chosen by approval or score; `half`: all that half of the seats approve.",
            "3",
        ),
        threshold: Option<Fraction> =
            key("threshold", "the rule's", "The share that an option must reach.", "2/3"),
    }
}

const SEED: KeySpec =
    key("seeded", REQUIRED, "The seed that decides between tied options.", "7").with_type(Whole(0, u64::MAX));
const TIES: MapSpec = map("ties", "`ties`", &[SEED]);

pub fn round(entries: Entries<'_>) -> Round {
    let mut round = Round::read(entries);
    if !check_rule(&round, entries) {
        round.rule = None;
    }
    round.is_wrong = entries.found.is_wrong(entries.node);
    let options = round.ballot.options.len();
    match round.terms.choose {
        Some(Choose::Number(number)) if options > 0 && number >= options => {
            let message = format!("`choose: {number}` of {options} options leaves nothing to decide");
            entries.refuse(entries.node, message, "choose fewer than there are");
        }
        Some(_) if entries.has("ties") => {
            entries.refuse(entries.node, "`choose` leaves a tie at the edge open", "remove `ties`");
        }
        _ => {}
    }
    if round.close == Close::Deadline && !entries.has("deadline") {
        let message = "the round closes at a deadline it does not have";
        entries.refuse(entries.node, message, "add `deadline: 90s`");
    }
    round
}

/// Checks a round's rule and its options against the ballot. Returns whether the rule counts this ballot.
fn check_rule(round: &Round, entries: Entries<'_>) -> bool {
    if round.act_at.is_some() && !entries.has("rule") {
        let message = "`act_at` without a rule: nothing is decided";
        entries.refuse(entries.node, message, "add `rule: majority`, or remove it");
    }
    let Some((node, rule)) = entries.node("rule").zip(round.rule) else { return true };
    let refuse = |message: String, hint: &str| entries.refuse(node, message, hint);
    let (name, kind) = (rule.name(), round.ballot.kind);
    let info = kind.info();
    // If the ballot has an error, its support by the rule is unknown.
    let is_sound = !entries.found.is_wrong(entries.node("ballot").unwrap_or(entries.node));
    if is_sound && info.countable.is_none_or(|countable| rule.support_for(countable) != BallotSupport::Own) {
        let fitting = info.countable.map(Rule::for_kind).unwrap_or_default();
        let wanted = rule.kinds().join("` or `");
        let hint = if fitting.is_empty() || !info.has_options {
            format!("set `ballot: {{kind: {}}}`", rule.kinds().first().copied().unwrap_or_default())
        } else {
            format!("it counts `{wanted}`; `{}` ballots are counted by {}", kind.name(), fitting.join(", "))
        };
        refuse(format!("rule `{name}` does not count `{}` ballots", kind.name()), &hint);
        return false;
    }
    let RuleOptions { threshold, choose } = &round.terms;
    if choose.is_some_and(|choose| !rule.chooses(choose)) {
        let hint = "`choose: N` is for approval and score, `choose: half` for approval";
        refuse(format!("rule `{name}` does not choose so"), hint);
    }
    if threshold.is_some() && rule.default_threshold().is_none() {
        refuse(format!("rule `{name}` has no `threshold`"), "remove `threshold`");
    }
    if let Some(problem) = threshold.as_ref().and_then(|share| unfit(rule, share)) {
        refuse(problem, "a share such as 2/3 or 0.6667");
    }
    true
}

impl RuleKeys {
    fn terms(self) -> RuleOptions {
        RuleOptions { threshold: self.threshold, choose: self.choose }
    }
}

fn rule(entries: Entries<'_>) -> RuleKeys {
    entries.node("rule").and_then(|node| RuleKeys::from_node(node, &SEED, entries.found)).unwrap_or_default()
}

pub fn unfit(rule: Rule, share: &Fraction) -> Option<String> {
    if rule == Rule::Supermajority && share.compare(1, 2).is_gt() {
        return Some(format!("the threshold {share} is less than a half: two options could reach it"));
    }
    let is_whole = rule == Rule::WeightedMajority && share.compare(1, 1).is_eq();
    is_whole.then(|| "nothing can be above a threshold of 1".to_owned())
}

from_node! {
    Rule as Words(Rule::names) => |node, _key, _found| Rule::from_name(&as_text(node)?);
    Choose as Either(&[Words(|| vec!["half"]), Whole(1, 1000)])
        => |node, _key, _found| Choose::parse(&as_text(node)?);
    Tier as Words(|| words_of(&Tier::ASKED)) => |node, _key, _found| word(node, &Tier::ASKED);
    Fraction as Share => |node, _key, _found| match &node.value {
        Value::Number(number) => Fraction::parse(&number.to_string()),
        Value::Text(text) => Fraction::parse(text),
        _ => None,
    };
    Ties as Either(&[Words(|| vec!["none", "ask"]), Map(&TIES)])
        => |node, _key, found| match as_text(node).as_deref() {
            Some("ask") => Some(Ties::Ask),
            Some(_) => None,
            None => u64::from_node(node.given(SEED.name)?, &SEED, found).map(Ties::Seeded),
        };
    Selection as Either(&[Words(|| vec!["all"]), Texts])
        => |node, _key, found| Some(match as_text(node).as_deref() {
            Some("all") => Selection::All,
            _ if found.is_wrong(node) => Selection::All,
            _ => Selection::Named(texts(node)),
        });
    Quorum as Seats => |node, _key, _found| Quorum::parse(node);
}

/// All, or those named.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Selection {
    #[default]
    All,
    /// Names in the order of the definition.
    Named(Vec<String>),
}

impl Selection {
    pub fn includes(&self, name: &str) -> bool {
        *self == Self::All || self.names().iter().any(|known| known == name)
    }

    pub fn names(&self) -> &[String] {
        if let Self::Named(names) = self { names } else { &[] }
    }
}

/// Number of participating seats that a decision requires.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quorum {
    #[default]
    MoreThanHalf,
    Seats(u32),
    /// Share of the seats in percent, rounded up.
    Percent(u32),
}

impl Quorum {
    /// Reads a number from 1, or a percentage such as `60%`.
    pub fn parse(node: &Node) -> Option<Self> {
        match &node.value {
            Value::Number(n) => {
                n.as_u64().and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0).map(Self::Seats)
            }
            Value::Text(text) => {
                let percent = text.strip_suffix('%').and_then(|n| n.trim().parse().ok());
                percent.filter(|n| (1..=100).contains(n)).map(Self::Percent)
            }
            _ => None,
        }
    }

    /// Returns the required number among `seats` seats.
    pub fn required_of(self, seats: usize) -> usize {
        match self {
            Self::MoreThanHalf => seats / 2 + 1,
            Self::Seats(count) => count as usize,
            Self::Percent(percent) => (seats * percent as usize).div_ceil(100),
        }
    }
}

enum_of_words! {
    /// Close policy. Under every policy, a round also closes once all its seats are settled. If a person leads,
    /// `Manual` and failed seats that can still be saved keep it open.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Close {
        #[default]
        All = "all",
        /// Once as many seats are sealed as the quorum requires.
        Quorum = "quorum",
        Deadline = "deadline",
        Manual = "manual",
    }
}

enum_of_words! {
    /// Part of a revised round that is shown: the key `feedback`.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum Feedback {
        /// Reasons without authors and counts.
        #[default]
        Reasons = "reasons",
        Counts = "counts",
        Both = "both",
        None = "none",
    }
}

impl Feedback {
    pub fn has_reasons(self) -> bool {
        matches!(self, Self::Reasons | Self::Both)
    }

    pub fn has_counts(self) -> bool {
        matches!(self, Self::Counts | Self::Both)
    }
}

enum_of_words! {
    /// Part of the last closed round's answers that a snapshot shows.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum RecalledAnswers {
        #[default]
        Full = "full",
        /// Ballot and position of each answer, without its reasons.
        Positions = "positions",
        /// Reasons of each answer, without its ballot and confidence.
        Reasons = "reasons",
        /// No answers; only the tally.
        None = "none",
    }
}

keys! {
    /// Recall settings as written; an absent key has the definition's value or the default.
    #[derive(Debug, Clone, Default, PartialEq, Eq)]
    pub struct RecallKeys as "context" ("`context`") {
        answers: Option<RecalledAnswers> =
            key("answers", "full", "What is shown of the last answers.", "positions"),
        rounds: Option<usize> = key("rounds", "5", "The number of closed rounds that are shown.", "3"),
        results: Option<Selection> as (Either(&[Words(|| vec!["all", "none"]), List(&Text)])) =
            key("results", "all", "The other steps whose results are shown.", "[plan]") => results,
    }
}

fn results(context: Entries<'_>) -> Option<Selection> {
    let node = context.node("results")?;
    Some(match as_text(node).as_deref() {
        Some("none") => Selection::Named(Vec::new()),
        Some(_) => Selection::All,
        None => Selection::Named(texts(node)),
    })
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recall {
    pub answers: RecalledAnswers,
    /// Number of closed rounds; 0 hides all rounds.
    pub rounds: usize,
    /// Other steps whose results are shown, by id or result key.
    pub results: Selection,
}

/// Default number of closed rounds in a snapshot.
pub const RECENT_ROUNDS: usize = 5;
