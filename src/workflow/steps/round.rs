//! `round`: asks every chosen participant the same question at once, blind.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::ballot::{BallotForm, BallotKind};
use crate::tally::{Choose, Rule, RuleOptions, Tier, Ties};
use crate::workflow::keys::spec::KeyType::{
    Duration, Either, List, Map, Named, Quorum as Share, Text, Texts, Words,
};
use crate::workflow::keys::spec::{KeySpec, REQUIRED, enum_of_words, key, words, words_of};
use crate::workflow::load::ballot::{BALLOT as BALLOT_MAP, OptionsFrom, ballot};
use crate::workflow::load::entries::{Entries, FromKey, keys};
use crate::workflow::load::map_reader::as_text;
use crate::workflow::load::rule::{RULE as RULE_MAP, TIES as TIES_MAP, act_at, rule, terms, ties};
use crate::workflow::recall::{RECALL, RecallKeys, recall};
use crate::yaml::{Node, Value};

keys! {
    #[derive(Debug, Clone, PartialEq)]
    pub struct Round {
        question: String = key("question", Text, REQUIRED, "The question.", "\"Which cache first?\""),
        exploration: Option<String> =
            key("exploration", Text, "", "Background to the question.", "\"We have two servers.\""),
        recall: Box<RecallKeys> = key(
            "context", Map(&RECALL), "the definition's", "What it recalls of earlier rounds.", "{rounds: 1}",
        ) => |entries: Entries<'_>| Box::new(recall(entries)),
        ballot: BallotForm = key(
            "ballot",
            Either(&[Words(BallotKind::names), Map(&BALLOT_MAP)]),
            "position",
            "The ballot form, or its kind alone.",
            "{kind: choice, options: [redis, none]}",
        ) => ballot,
        /// None: counted and not decided.
        rule: Option<Rule> = key(
            "rule",
            Either(&[Words(Rule::names), Map(&RULE_MAP)]),
            "counted, not decided",
            "The voting rule; TALLIES.md lists them.",
            "majority",
        ) => rule,
        ties: Ties = key(
            "ties",
            Either(&[Words(|| vec!["none", "ask"]), Map(&TIES_MAP)]),
            "none",
            "How a tie is broken.",
            "ask",
        ) => ties,
        quorum: Quorum =
            key("quorum", Share, "more than half", "The seats that a decision needs.", "60%")
            => |entries: Entries<'_>| needed(entries, "quorum").unwrap_or(Quorum::MoreThanHalf),
        quorum_ballots: Option<Quorum> = key(
            "quorum_ballots",
            Share,
            "any number",
            "The valid ballots, without abstentions, that a decision needs.",
            "3",
        ) => |entries: Entries<'_>| needed(entries, "quorum_ballots"),
        act_at: Option<Tier> = key(
            "act_at",
            Words(|| words_of(&Tier::ASKED)),
            "any",
            "The strength that a decision needs.",
            "strong",
        ) => act_at,
        close: Close = key("close", words!(Close), "all", "When the round closes.", "quorum"),
        deadline_ms: Option<u64> =
            key("deadline", Duration, "none", "The most time the round stays open.", "90s"),
        /// It also closes and reveals while failed seats keep it below its quorum.
        closes_below_quorum: bool = key(
            "on_failed",
            Words(|| vec!["stop", "close"]),
            "stop",
            "What a headless run does if failed seats keep the round below its quorum.",
            "close",
        ) => |entries: Entries<'_>| entries.text("on_failed").as_deref() == Some("close"),
        /// Next step if it is held and not decided.
        on_undecided: Option<String> = key(
            "on_undecided",
            Text,
            "`on_error`",
            "The next step if the round is held and not decided.",
            "again",
        ),
        revises: Option<String> =
            key("revises", Text, "", "An earlier round of the same ballot, voted again.", "vote"),
        feedback: Feedback = key(
            "feedback", words!(Feedback), "reasons", "What is shown of the round that is revised.", "both",
        ),
        directives: IndexMap<String, String> = key(
            "directives",
            Either(&[Named(&Text), List(&Text)]),
            "",
            "A line for single seats, by name; a list is given to the seats in turn.",
            "{qa-lead: \"Argue against it.\"}",
        ),
        participants: Selection = key(
            "participants", Either(&[Words(|| vec!["all"]), Texts]), "all", "The participants.", "[qa-lead]",
        ),
        artifacts: Selection = key(
            "artifacts",
            Either(&[Words(|| vec!["all"]), Texts]),
            "all",
            "The artifacts they are shown.",
            "[REQ-001]",
        ),
    } and {
        terms: RuleOptions,
        /// Source of its options; none if they are written.
        options_from: Option<Box<OptionsFrom>>,
        /// Something of it is refused, from which it may follow that it has no rule.
        is_wrong: bool,
        /// Lines that the seats get in turn, in the order of the roster, if they are not given by name.
        directives_in_turn: Vec<String>,
    }
}

pub fn round(entries: Entries<'_>) -> Round {
    let mut round = Round::read(entries);
    round.terms = terms(entries, round.rule);
    round.is_wrong = entries.found.is_wrong(entries.node);
    let options = entries.map("ballot").and_then(|ballot| ballot.map("options"));
    round.options_from = options.map(OptionsFrom::read).map(Box::new);
    round.directives_in_turn = entries.list("directives").iter().filter_map(as_text).collect();
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

fn needed(entries: Entries<'_>, key: &str) -> Option<Quorum> {
    entries.node(key).and_then(Quorum::from_node)
}

impl FromKey for Selection {
    fn from_key(entries: Entries<'_>, key: &KeySpec) -> Self {
        match entries.text(key.name).as_deref() {
            None if !entries.has(key.name) => Self::All,
            Some("all") => Self::All,
            _ => Self::Named(entries.texts(key.name)),
        }
    }
}

/// All, or those named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    All,
    /// These, in roster order.
    Named(Vec<String>),
}

impl Selection {
    pub fn holds(&self, name: &str) -> bool {
        *self == Self::All || self.names().iter().any(|known| known == name)
    }

    /// The names that are given.
    pub fn names(&self) -> &[String] {
        if let Self::Named(names) = self { names } else { &[] }
    }
}

/// Number of seats that must take part for a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quorum {
    MoreThanHalf,
    Seats(u32),
    /// This share of the seats, in percent, rounded up.
    Percent(u32),
}

impl Quorum {
    /// A number from 1 on, or a percentage such as `60%`.
    pub fn from_node(node: &Node) -> Option<Self> {
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

    /// The number of seats it means at a table of `seats`.
    pub fn required_of(self, seats: usize) -> usize {
        match self {
            Self::MoreThanHalf => seats / 2 + 1,
            Self::Seats(count) => count as usize,
            Self::Percent(percent) => (seats * percent as usize).div_ceil(100),
        }
    }
}

enum_of_words! {
    /// When a round closes by itself. Every policy also ends when no seat is open any more.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Close {
        /// When every seat is sealed, failed or excused.
        #[default]
        All = "all",
        /// When as many seats are sealed as the quorum asks.
        Quorum = "quorum",
        Deadline = "deadline",
        Manual = "manual",
    }
}

enum_of_words! {
    /// The part of a revised round that is shown: the key `feedback`.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum Feedback {
        /// The reasons, without authors and counts.
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
