//! Results of other rules on the same ballots: shown as such, deciding nothing.
//!
//! The recorded decision stays what it is; each result says whether it differs from it.

use serde_json::{Value, json};

use super::round_view;
use super::tally_text::{result, rule_description};
use crate::core::{decides_nothing, profile};
use crate::history::{RoundRun, Session, Tally};
use crate::tally::{
    self, BallotSupport, CountableKind, Profile, Rule, RuleOptions, Settled, Ties, Verdict, seeded_winner,
};

#[derive(Debug, Clone, PartialEq)]
pub struct WhatIf {
    pub rule: Rule,
    pub terms: RuleOptions,
    pub verdict: Verdict,
    /// The reading of the ballots, where the rule is made for others.
    pub read_as: Option<&'static str>,
    /// It is the rule that was fixed for the round.
    pub is_recorded: bool,
    /// Its outcome differs from the recorded one; never without a rule or below quorum.
    pub differs: bool,
}

impl WhatIf {
    /// "schulze: winner: a", with a mark where the outcome differs.
    pub fn line(&self) -> String {
        let mark = match (self.is_recorded, self.differs) {
            (true, _) => "  (this round's rule)",
            (_, true) => "  ← differs",
            _ => "",
        };
        format!("{:<18} {}{mark}", self.rule.name(), result(&self.verdict))
    }

    /// The keys of every tally, and those of a what-if alone.
    pub fn json(&self) -> Value {
        let mut value = verdict_json(self.rule, &self.terms, &self.verdict);
        value["what_if"] = (!self.is_recorded).into();
        value["differs"] = self.differs.into();
        if let Some(how) = self.read_as {
            value["read_as"] = how.into();
        }
        value
    }
}

/// A count as JSON, with the keys that scripts build on.
pub fn verdict_json(rule: Rule, terms: &RuleOptions, verdict: &Verdict) -> Value {
    let mut value = json!({
        "rule": rule.name(),
        "winners": verdict.winners,
        "tie": verdict.tie,
        "scores": verdict.scores,
        "steps": verdict.steps,
        "reason": verdict.why(),
        "order": verdict.order,
        "order_by": verdict.order_by,
    });
    if !terms.is_default() {
        value["terms"] = json!(terms);
    }
    if let Some(trace) = &verdict.trace {
        value["trace"] = json!(trace);
    }
    value
}

fn not_counted(rule: Rule, kind: &str) -> String {
    format!("rule `{}` does not count `{kind}` ballots", rule.name())
}

/// Counts a profile by a rule that is made for its ballots or can read them; the error says which can.
pub fn counted(
    profile: &Profile,
    kind: CountableKind,
    rule: Rule,
    terms: &RuleOptions,
) -> Result<(Verdict, Option<&'static str>), String> {
    let read_as = match rule.fit(kind) {
        BallotSupport::Own => None,
        BallotSupport::Read(how) => Some(how),
        BallotSupport::None => return Err(not_counted(rule, kind.name())),
    };
    let mut verdict = tally::count(profile, rule, terms);
    if let Some(how) = read_as {
        verdict.steps.insert(0, format!("`{}` ballots are read so: {how}", kind.name()));
    }
    Ok((verdict, read_as))
}

pub fn rules_for(kind: CountableKind) -> impl Iterator<Item = Rule> {
    Rule::all().filter(move |rule| rule.fit(kind) != BallotSupport::None)
}

/// Counts the revealed ballots of a round by a rule, also below quorum.
///
/// # Errors
/// In words, when the rule cannot count these ballots or the round may not be read yet.
pub fn what_if(
    session: &Session,
    round: &RoundRun,
    rule: Rule,
    terms: &RuleOptions,
) -> Result<WhatIf, String> {
    if !round_view::is_revealed(round) {
        return Err(format!("round `{}` is not revealed yet", round.opened.round));
    }
    let opened = &round.opened;
    let kind = opened.ballot.kind;
    let countable = kind.info().countable.ok_or_else(|| not_counted(rule, kind.name()))?;
    let profile = profile(session, round);
    let (mut verdict, read_as) = counted(&profile, countable, rule, terms)?;
    if let (Ties::Seeded(seed), true) = (opened.ties, verdict.tie)
        && let Some(winner) = seeded_winner(seed, &verdict.winners)
    {
        verdict.settle(&winner, Settled::Seed(seed));
    }
    let is_recorded = opened.rule == Some(rule) && opened.terms == *terms;
    let recorded = round_view::tally(round);
    let by_lot = recorded.and_then(|tally| decides_nothing(session, tally));
    // Below quorum nobody won, and there is nothing to differ from.
    let compared = recorded.filter(|tally| tally.rule.is_some() && tally.quorum_met && by_lot.is_none());
    let differs = !is_recorded
        && compared.is_some_and(|Tally { verdict: own, .. }| {
            (&own.winners, own.tie) != (&verdict.winners, verdict.tie)
        });
    if let Some(why) = by_lot {
        verdict.decide_nothing(why);
    }
    Ok(WhatIf { rule, terms: terms.clone(), verdict, read_as, is_recorded, differs })
}

/// Counts by every rule that can count a round's ballots, by the round's own with its own terms.
pub fn what_if_all(session: &Session, round: &RoundRun, terms: &RuleOptions) -> Vec<WhatIf> {
    let own = |rule| if round.opened.rule == Some(rule) { &round.opened.terms } else { terms };
    let rules = round.opened.ballot.kind.info().countable.into_iter().flat_map(rules_for);
    rules.filter_map(|rule| what_if(session, round, rule, own(rule)).ok()).collect()
}

/// Lines for a person: what is recorded, then what each rule finds.
pub fn lines(session: &Session, round: &RoundRun, found: &[WhatIf]) -> Vec<String> {
    let id = &round.opened.round;
    let recorded = match (round.opened.rule, round_view::tally(round)) {
        (Some(rule), Some(tally)) => {
            let rule = rule_description(rule, &round.opened.terms);
            let label = super::headline(session, round, tally).label;
            format!("The recorded outcome stays: {label} (by {rule}).")
        }
        _ => "The round has no rule, and nothing was decided.".to_owned(),
    };
    let mut lines = vec![format!("Round {id} under other rules. {recorded}")];
    lines.extend(found.iter().map(WhatIf::line));
    lines
}
