//! Events of a round: opened, sealed, failed, closed, revealed, counted.

use std::sync::Arc;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with_macros::skip_serializing_none;

use crate::ballot::{Ballot, BallotForm};
use crate::round::answer::{AnswerRecord, Outcome, TokenUsage, is_zero};
use crate::round::seal::{SealTo, SealedRecord};
use crate::tally::{Backing, NoDecision, Rule, RuleOptions, Shortfall, Tier, Ties, Verdict};
use crate::workflow::Close;

#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RoundOpened {
    pub step: String,
    /// Round id: the step's id, with `.2`, `.3` … when it runs again.
    pub round: String,
    pub number: u32,
    pub question: String,
    pub ballot: BallotForm,
    pub rule: Option<Rule>,
    #[serde(default, skip_serializing_if = "RuleOptions::is_default")]
    pub terms: RuleOptions,
    pub ties: Ties,
    pub quorum: usize,
    pub act_at: Option<Tier>,
    pub close: Close,
    pub deadline_ms: Option<u64>,
    pub seal: Option<SealTo>,
    pub written: Option<Box<Written>>,
    pub directive: Option<String>,
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub directives: IndexMap<String, String>,
    pub revises: Option<String>,
    pub seats: Vec<String>,
    pub rules: Arc<str>,
    pub snapshot_bytes: usize,
    /// Estimate for the part that all prompts share.
    pub estimated_tokens: usize,
    pub snapshot_sha256: String,
    pub snapshot: Arc<str>,
}

/// Templates of a round's texts.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Written {
    pub question: Option<String>,
    pub exploration: Option<String>,
    /// Options as the definition writes them: a list, or the path of their source.
    pub options: Option<Value>,
    pub directive: Option<String>,
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub directives: IndexMap<String, String>,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BallotSealed {
    pub step: String,
    pub round: String,
    pub participant: String,
    pub elapsed_ms: u64,
    #[serde(flatten)]
    pub seal: Arc<SealedRecord>,
    /// In hex, for a remote seat that seals its ballots itself.
    pub signature: Option<String>,
}

#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatFailed {
    pub step: String,
    pub round: String,
    pub participant: String,
    pub reason: String,
    /// The complete reason, sealed because it may quote generated text.
    pub in_full: Option<Arc<SealedRecord>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    pub tries: u32,
    /// Attempts that cannot have cost anything, such as refused ones.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub declined: u32,
    pub tokens: Option<TokenUsage>,
    pub elapsed_ms: u64,
    /// In hex, for a remote seat.
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

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerRevealed {
    pub step: String,
    pub round: String,
    pub participant: String,
    pub outcome: Outcome,
    pub reason: Option<String>,
    pub ballot: Option<Ballot>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub answer: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// The sealed record; each rejected reply has its reason.
    #[serde(flatten)]
    pub record: AnswerRecord,
    /// The reply has no valid answer and may be a block, so the proposal is not adopted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_block: bool,
    pub nonce: String,
}

#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub step: String,
    pub round: String,
    /// `None` if the round is counted without a decision.
    pub rule: Option<Rule>,
    #[serde(default, skip_serializing_if = "RuleOptions::is_default")]
    pub terms: RuleOptions,
    pub asked: usize,
    pub sealed: usize,
    /// Valid ballots, without abstentions.
    pub answered: usize,
    pub abstained: usize,
    pub invalid: usize,
    pub refused: usize,
    /// Includes timeouts.
    pub failed: usize,
    pub missing: usize,
    pub excused: usize,
    pub quorum: usize,
    pub quorum_met: bool,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub placeholders: u32,
    /// Placeholders answered in a rehearsal, or in every seat.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rehearsal: bool,
    pub decided: bool,
    pub tier: Option<Tier>,
    pub tier_because: Option<Backing>,
    pub act_at: Option<Tier>,
    /// Groups of seats with the same or nearly the same answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub same_answers: Vec<Vec<String>>,
    #[serde(flatten)]
    pub verdict: Verdict,
}

impl Tally {
    pub fn took_part(&self) -> usize {
        self.answered + self.abstained
    }

    /// Returns the number of seats asked, without excused ones.
    pub fn not_excused(&self) -> usize {
        self.asked.saturating_sub(self.excused)
    }

    /// Checks if the rule found a winner whose strength is below `act_at`.
    pub fn is_too_weak(&self) -> bool {
        self.act_at.is_some_and(|least| self.tier.is_some_and(|tier| tier > Tier::None && tier < least))
    }

    pub fn shortfall(&self) -> Option<Shortfall> {
        let (took_part, asked, needed) = (self.took_part(), self.asked, self.quorum);
        (took_part < needed).then_some(Shortfall { took_part, asked, needed })
    }

    /// Returns the reason why the round's step fails, if it does.
    pub fn failure(&self) -> Option<NoDecision> {
        match self.shortfall() {
            Some(seats) => Some(NoDecision::NoQuorum { seats }),
            None if self.rule.is_some() && !self.decided => self.verdict.reason.clone(),
            None => None,
        }
    }
}
