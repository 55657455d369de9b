//! What happens in a round: frozen, offered, sealed, closed, revealed, counted.

use std::sync::Arc;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::remote::SealedBy;
use crate::ballot::{Ballot, BallotForm};
use crate::round::answer::{AnswerRecord, Outcome, TokenUsage, is_zero};
use crate::round::seal::{SealTo, SealedRecord};
use crate::tally::{Backing, NoDecision, Rule, RuleOptions, Shortfall, Tier, Ties, Verdict};
use crate::workflow::Close;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RoundOpened {
    pub step: String,
    /// The round's id: the step's, with `.2`, `.3` … when it runs again.
    pub round: String,
    pub number: u32,
    pub question: String,
    pub ballot: BallotForm,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
    #[serde(default, skip_serializing_if = "RuleOptions::is_default")]
    pub terms: RuleOptions,
    pub ties: Ties,
    pub quorum: usize,
    /// How many valid ballots, abstentions not among them, a decision needs; none: any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quorum_ballots: Option<usize>,
    /// How strong a result must be to be a decision; none: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act_at: Option<Tier>,
    pub close: Close,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<SealTo>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<Box<Written>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directive: Option<String>,
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub directives: IndexMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revises: Option<String>,
    pub seats: Vec<String>,
    pub rules: Arc<str>,
    pub snapshot_bytes: usize,
    /// The tokens of one prompt's shared part, estimated.
    pub estimated_tokens: usize,
    pub snapshot_sha256: String,
    pub snapshot: Arc<str>,
}

/// The templates of a round, where its texts are rendered from some.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Written {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exploration: Option<String>,
    /// The options as the definition has them: a list, or the path they were taken from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directive: Option<String>,
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub directives: IndexMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BallotSealed {
    pub step: String,
    pub round: String,
    pub participant: String,
    pub elapsed_ms: u64,
    #[serde(flatten)]
    pub seal: Arc<SealedRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<SealedBy>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatFailed {
    pub step: String,
    pub round: String,
    pub participant: String,
    pub reason: String,
    /// The reason in full, sealed: it quotes what may have been generated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_full: Option<Arc<SealedRecord>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    pub tries: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokenUsage>,
    pub elapsed_ms: u64,
    /// The signature of a remote seat that said so, in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CloseReason {
    All,
    Quorum,
    Deadline,
    Facilitator,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundClosed {
    pub step: String,
    pub round: String,
    pub reason: CloseReason,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    pub key: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerRevealed {
    pub step: String,
    pub round: String,
    pub participant: String,
    pub outcome: Outcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ballot: Option<Ballot>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub answer: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// What was sealed; each reply that does not count has its reason.
    #[serde(flatten)]
    pub record: AnswerRecord,
    /// Whether a reply that holds no valid answer may be a block: then a proposal is not adopted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_block: bool,
    pub nonce: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub step: String,
    pub round: String,
    /// The rule; none when the round is counted and not decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
    #[serde(default, skip_serializing_if = "RuleOptions::is_default")]
    pub terms: RuleOptions,
    pub asked: usize,
    pub sealed: usize,
    /// Valid ballots, abstentions not among them.
    pub answered: usize,
    pub abstained: usize,
    pub invalid: usize,
    pub refused: usize,
    /// Seats from which nothing came back, time-outs among them.
    pub failed: usize,
    pub missing: usize,
    pub excused: usize,
    pub quorum: usize,
    /// Valid ballots that had to be in, where the round asks for a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quorum_ballots: Option<usize>,
    /// Whether that many seats answered or abstained, and that many ballots are in.
    pub quorum_met: bool,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub placeholders: u32,
    /// Whether it is a rehearsal: of placeholders alone, or held as one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rehearsal: bool,
    pub decided: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier_because: Option<Backing>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act_at: Option<Tier>,
    /// Seats that gave the same or nearly the same answer, in groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub same_answers: Vec<Vec<String>>,
    #[serde(flatten)]
    pub verdict: Verdict,
}

impl Tally {
    pub fn took_part(&self) -> usize {
        self.answered + self.abstained
    }

    /// Whether the rule found a winner and the result is too weak to be a decision.
    pub fn is_too_weak(&self) -> bool {
        self.act_at.is_some_and(|least| self.tier.is_some_and(|tier| tier > Tier::None && tier < least))
    }

    /// What there was too little of; none when the quorum is met.
    pub fn shortfall(&self) -> Option<Shortfall> {
        let (took_part, cast, asked) = (self.took_part(), self.answered, self.asked);
        if took_part < self.quorum {
            return Some(Shortfall::Seats { took_part, asked, needed: self.quorum });
        }
        let needed = self.quorum_ballots.filter(|needed| cast < *needed)?;
        Some(Shortfall::Ballots { cast, asked, needed })
    }

    /// Why the step of its round fails; none where it succeeds.
    pub fn failure(&self) -> Option<NoDecision> {
        match self.shortfall() {
            Some(shortfall) => Some(NoDecision::NoQuorum(shortfall)),
            None if self.rule.is_some() && !self.decided => self.verdict.reason.clone(),
            None => None,
        }
    }
}
