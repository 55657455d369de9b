//! `round`: asks every chosen participant the same question at once, blind.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::ballot::{BallotForm, BallotKind};
use crate::tally::{Choose, Rule, RuleOptions, Tier, Ties};
use crate::workflow::keys::shared::RECALL;
use crate::workflow::keys::spec::KeyType::{
    Duration, Either, List, Map, Named, Quorum as Share, Text, Texts, Words,
};
use crate::workflow::keys::spec::{KeySpec, REQUIRED, StepType, enum_of_words, key, words, words_of};
use crate::workflow::load::ballot::{BALLOT as BALLOT_MAP, ballot};
use crate::workflow::load::ballot::{OptionsFrom, options_from};
use crate::workflow::load::entries::Entries;
use crate::workflow::load::map_reader::as_text;
use crate::workflow::load::rule::{RULE as RULE_MAP, TIES as TIES_MAP, act_at, rule, ties};
use crate::workflow::recall::{RecallKeys, recall};
use crate::yaml::{Node, Value};

// Keys that a discussion has, too.
pub(super) static EXPLORATION: KeySpec =
    key("exploration", Text, "", "Background to the question.", "\"We have two servers.\"");
pub(super) static BALLOT: KeySpec = key(
    "ballot",
    Either(&[Words(BallotKind::names), Map(&BALLOT_MAP)]),
    "position",
    "The ballot form, or its kind alone.",
    "{kind: choice, options: [redis, none]}",
);
pub(super) static RULE: KeySpec = key(
    "rule",
    Either(&[Words(Rule::names), Map(&RULE_MAP)]),
    "counted, not decided",
    "The voting rule; TALLIES.md lists them.",
    "majority",
);
pub(super) static TIES: KeySpec = key(
    "ties",
    Either(&[Words(|| vec!["none", "ask"]), Map(&TIES_MAP)]),
    "none",
    "How a tie is broken.",
    "ask",
);
pub(super) static QUORUM: KeySpec =
    key("quorum", Share, "more than half", "The seats that a decision needs.", "60%");
pub(super) static QUORUM_BALLOTS: KeySpec = key(
    "quorum_ballots",
    Share,
    "any number",
    "The valid ballots, without abstentions, that a decision needs.",
    "3",
);
pub(super) static ACT_AT: KeySpec =
    key("act_at", Words(|| words_of(&Tier::ASKED)), "any", "The strength that a decision needs.", "strong");
pub(super) static CLOSE: KeySpec = key("close", words!(Close), "all", "When the round closes.", "quorum");
pub(super) static DEADLINE: KeySpec =
    key("deadline", Duration, "none", "The most time the round stays open.", "90s");
pub(super) static ON_FAILED: KeySpec = key(
    "on_failed",
    Words(|| words_of(&FAILED_WORDS)),
    "stop",
    "What a headless run does if failed seats keep the round below its quorum.",
    "close",
);
pub(super) static ON_UNDECIDED: KeySpec =
    key("on_undecided", Text, "`on_error`", "The next step if the round is held and not decided.", "again");
pub(super) static PARTICIPANTS: KeySpec =
    key("participants", Either(&[Words(|| vec!["all"]), Texts]), "all", "The participants.", "[qa-lead]");
pub(super) static ARTIFACTS: KeySpec = key(
    "artifacts",
    Either(&[Words(|| vec!["all"]), Texts]),
    "all",
    "The artifacts they are shown.",
    "[REQ-001]",
);

pub static TYPE: StepType = StepType {
    name: "round",
    what: "a round step",
    about: "Asks all chosen participants one question at once, blind.",
    keys: &[
        key("question", Text, REQUIRED, "The question.", "\"Which cache first?\""),
        EXPLORATION,
        key("context", Map(&RECALL), "the definition's", "What it recalls of earlier rounds.", "{rounds: 1}"),
        BALLOT,
        RULE,
        TIES,
        QUORUM,
        QUORUM_BALLOTS,
        ACT_AT,
        CLOSE,
        DEADLINE,
        ON_FAILED,
        ON_UNDECIDED,
        key("revises", Text, "", "An earlier round of the same ballot, voted again.", "vote"),
        key("feedback", words!(Feedback), "reasons", "What is shown of the round that is revised.", "both"),
        key(
            "directives",
            Either(&[Named(&Text), List(&Text)]),
            "",
            "A line for single seats, by name; a list is given to the seats in turn.",
            "{qa-lead: \"Argue against it.\"}",
        ),
        PARTICIPANTS,
        ARTIFACTS,
    ],
    shared: &["output", "task", "requires", "completeness", "timeout", "facilitator_directive"],
};

/// A round closes although failed seats keep it below its quorum.
const FAILED_WORDS: [(&str, bool); 2] = [("stop", false), ("close", true)];

pub fn read(entries: Entries<'_>) -> Round {
    let ballot = ballot(entries);
    let (rule, terms) = rule(entries, ballot.kind);
    match terms.choose {
        Some(Choose::Number(number)) if !ballot.options.is_empty() && number >= ballot.options.len() => {
            let message =
                format!("`choose: {number}` of {} options leaves nothing to decide", ballot.options.len());
            entries.refuse(entries.node, message, "choose fewer than there are");
        }
        Some(_) if entries.has("ties") => {
            entries.refuse(entries.node, "`choose` leaves a tie at the edge open", "remove `ties`");
        }
        _ => {}
    }
    let close = entries.word("close", &Close::WORDS).unwrap_or_default();
    if close == Close::Deadline && !entries.has("deadline") {
        let message = "the round closes at a deadline it does not have";
        entries.refuse(entries.node, message, "add `deadline: 90s`");
    }
    let needed = |key| entries.node(key).and_then(Quorum::from_node);
    Round {
        question: entries.text("question").unwrap_or_default(),
        exploration: entries.text("exploration"),
        participants: selection(entries, "participants"),
        artifacts: selection(entries, "artifacts"),
        recall: Box::new(recall(entries)),
        revises: entries.text("revises"),
        feedback: entries.word("feedback", &Feedback::WORDS).unwrap_or_default(),
        directives: entries.named_texts("directives"),
        directives_in_turn: entries.list("directives").iter().filter_map(as_text).collect(),
        rule,
        terms,
        ballot,
        options_from: options_from(entries).map(Box::new),
        ties: ties(entries),
        quorum: needed("quorum").unwrap_or(Quorum::MoreThanHalf),
        quorum_ballots: needed("quorum_ballots"),
        act_at: act_at(entries, rule),
        close,
        deadline_ms: entries.duration("deadline"),
        closes_below_quorum: entries.word("on_failed", &FAILED_WORDS).unwrap_or(false),
    }
}

/// All, or those that a list names.
pub fn selection(entries: Entries<'_>, key: &str) -> Selection {
    match entries.node(key).map(|node| &node.value) {
        None => Selection::All,
        Some(Value::Text(word)) if word == "all" => Selection::All,
        Some(_) => Selection::Named(entries.texts(key)),
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    pub question: String,
    pub exploration: Option<String>,
    pub participants: Selection,
    pub artifacts: Selection,
    pub recall: Box<RecallKeys>,
    /// The earlier round whose seats are asked again, by its step.
    pub revises: Option<String>,
    pub feedback: Feedback,
    pub directives: IndexMap<String, String>,
    /// Lines that the seats get in turn, in the order of the roster, if they are not given by name.
    pub directives_in_turn: Vec<String>,
    pub ballot: BallotForm,
    /// Source of its options; none if they are written.
    pub options_from: Option<Box<OptionsFrom>>,
    /// The voting rule; none: counted and not decided.
    pub rule: Option<Rule>,
    pub terms: RuleOptions,
    pub ties: Ties,
    pub quorum: Quorum,
    pub quorum_ballots: Option<Quorum>,
    pub act_at: Option<Tier>,
    pub close: Close,
    pub deadline_ms: Option<u64>,
    /// It also closes and reveals while failed seats keep it below its quorum: `on_failed: close`.
    pub closes_below_quorum: bool,
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
        match self {
            Self::All => true,
            Self::Named(names) => names.iter().any(|n| n == name),
        }
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
