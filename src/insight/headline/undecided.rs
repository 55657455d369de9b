//! Rounds that decided nothing: who was missing, what came closest.

use std::fmt::Write as _;

use super::{Count, cap, capital, is_by_share, measure, named};
use crate::ballot::BallotKind;
use crate::insight::findings::grouped;
use crate::insight::wording::{join_list, pluralize};
use crate::tally::{NoDecision, Rule, Score, Shortfall, Tier, Ties};

impl Count<'_> {
    /// Nobody could be reached, all abstained, or the quorum is not met.
    pub(super) fn too_few(&self) -> Option<(String, String)> {
        let tally = self.tally;
        let seats = pluralize(tally.asked, "seat");
        let said = tally.answered + tally.abstained + tally.invalid + tally.refused;
        let failed = tally.failed + tally.missing;
        if tally.failed > 0 && said == 0 && !tally.quorum_met {
            let name = self.undecided_name("no seat could be reached");
            return Some((name, format!("None of {seats} answered. {}", self.absent_sentence())));
        }
        if tally.abstained > 0 && tally.answered == 0 && failed + tally.invalid + tally.refused == 0 {
            let name = match tally.abstained {
                1 => "the only seat abstained".to_owned(),
                all => format!("all {all} abstained"),
            };
            let sentence = "Every seat answered, and none named an option.".to_owned();
            return Some((self.undecided_name(&name), sentence));
        }
        let mut sentence = match tally.shortfall()? {
            Shortfall::Seats { took_part, asked, needed } => {
                let are = if needed == 1 { "is" } else { "are" };
                format!("{took_part} of {asked} took part, {needed} {are} needed.")
            }
            Shortfall::Ballots { cast, asked, needed } => {
                format!("{cast} of {asked} cast a ballot that is no abstention, {needed} needed.")
            }
        };
        let _ = write!(sentence, " {}", self.absent_sentence());
        let cast = tally.verdict.scores.iter().filter(|(_, score)| score.as_f64() > 0.0);
        let cast = join_list(cast.map(|(option, score)| format!("{option} {score}")));
        if self.counts_heads() && !cast.is_empty() {
            let ballots = if tally.answered == 1 {
                "The ballot cast".to_owned()
            } else {
                format!("The {} ballots cast", tally.answered)
            };
            let _ = write!(sentence, " {ballots}: {cast}.");
        }
        Some((self.undecided_name("too few took part"), sentence.trim_end().to_owned()))
    }

    pub(super) fn by_lot(&self, why: &str) -> (String, String) {
        let tally = self.tally;
        let name = self.undecided_name(why);
        let cast = join_list(tally.verdict.scores.iter().map(|(option, score)| format!("{option} {score}")));
        let cast = if cast.is_empty() { String::new() } else { format!(" Counted: {cast}.") };
        (name, format!("Placeholders pick at random.{cast}"))
    }

    fn undecided_name(&self, why: &str) -> String {
        if self.tally.rule.is_some() { format!("No decision: {why}") } else { capital(why) }
    }

    pub(super) fn without_rule(&self) -> (String, String) {
        let tally = self.tally;
        let kind = self.round.opened.ballot.kind;
        if kind.spec().countable().is_none() {
            let what = if kind == BallotKind::default() { "opinions" } else { kind.name() };
            let name = if kind == BallotKind::Findings {
                grouped(self.session, self.round).counts()
            } else {
                format!("{} collected", capital(what))
            };
            let took_part = tally.took_part();
            let rest = self.absent_sentence();
            let sentence = format!(
                "{took_part} of {} answered; nothing was to be decided. {rest}",
                pluralize(tally.asked, "seat")
            );
            return (name, sentence.trim_end().to_owned());
        }
        let mut sentence = self.numbers();
        if let Some(would) = tally.verdict.why() {
            let _ = write!(sentence, " {}.", capital(&would));
        }
        ("No rule: counted only".to_owned(), sentence)
    }

    /// The rule found a winner, and it is not as strong as the round asks for.
    pub(super) fn too_weak(&self, winner: &str) -> (String, String) {
        let tally = self.tally;
        let wanted = tally.act_at.map_or("", Tier::name);
        let tier = tally.tier.unwrap_or(Tier::Weak);
        let name = match tier {
            Tier::None | Tier::Weak => "No decision: the result is weak".to_owned(),
            Tier::Strong | Tier::Unanimous => format!("No decision: the result is {} only", tier.name()),
        };
        let behind = self.behind().map(|behind| format!(": {behind}")).unwrap_or_default();
        let why = cap(tally).map(|why| format!(", but {why}")).unwrap_or_default();
        let needed = match (tally.act_at, cap(tally)) {
            (Some(Tier::Strong), None) if self.counts_heads() => {
                format!(" ({} of {})", (3 * self.asked()).div_ceil(4), self.asked())
            }
            _ => String::new(),
        };
        (name, format!("{winner} leads{behind}{why}; {wanted} was asked for{needed}.{}", self.absent_after()))
    }

    pub(super) fn tie(&self, rule: Rule, winners: &[String]) -> String {
        let verdict = &self.tally.verdict;
        if let Some(open @ NoDecision::OpenTie { .. }) = &verdict.reason {
            return format!("{}.{}", capital(&open.to_string()), self.absent_after());
        }
        let then = match self.round.opened.ties {
            Ties::Ask => "a person has to choose",
            Ties::None | Ties::Seeded(_) => "the rule breaks no ties",
        };
        let each = if winners.len() == 2 { "Both" } else { "All" };
        let score = winners.first().and_then(|winner| verdict.scores.get(winner));
        let score = score.map(Score::to_string).unwrap_or_default();
        if rule == Rule::Median {
            return format!("The median lies between them. {}", self.estimate());
        }
        let level = if let Some(what) = measure(rule) {
            format!("{each} have the same {what}, {score}")
        } else if self.counts_heads() {
            format!("{each} have {score} of {}", pluralize(self.tally.answered, "ballot"))
        } else {
            format!("{each} come first by {}", rule.in_words())
        };
        format!("{level}; {then}.{}", self.absent_after())
    }

    pub(super) fn undecided(&self, rule: Rule) -> (String, String) {
        let is_short = matches!(self.tally.verdict.reason, Some(NoDecision::BelowShare { .. }));
        let name = match self.need(rule) {
            Some(need) if is_short && self.tally.answered > 1 => format!("no option reached {need}"),
            _ if rule == Rule::Unanimous && self.tally.answered > 1 => {
                "the ballots are not unanimous".to_owned()
            }
            _ => self.why(),
        };
        (format!("No decision: {name}"), format!("{}{}", self.numbers(), self.absent_after()))
    }

    pub(super) fn why(&self) -> String {
        self.tally.verdict.why().unwrap_or_else(|| "the rule found no winner".to_owned())
    }

    /// "outbox leads with 3 of 6 ballots.", "a and b lead with 8 of 24 ballots each."
    pub(super) fn numbers(&self) -> String {
        let tally = self.tally;
        let most = tally.verdict.scores.values().map(Score::as_f64).fold(0.0, f64::max);
        let leads = tally.verdict.scores.iter().filter(|(_, score)| score.as_f64() >= most && most > 0.0);
        let leaders: Vec<String> = leads.map(|(option, _)| option.clone()).collect();
        let is_consent = self.round.opened.ballot.kind == BallotKind::Consent;
        let is_of_votes = self.counts_heads() || tally.rule.is_none_or(is_by_share);
        if is_consent || leaders.is_empty() || !is_of_votes {
            return if is_consent { self.stances() + "." } else { self.ballots_counted() };
        }
        let (lead, each) = if leaders.len() == 1 { ("leads", "") } else { ("lead", " each") };
        let most =
            leaders.first().and_then(|leader| tally.verdict.scores.get(leader)).cloned().unwrap_or_default();
        let of = if self.counts_heads() {
            format!(" of {}", pluralize(tally.answered, "ballot"))
        } else {
            String::new()
        };
        format!("{} {lead} with {most}{of}{each}.", named(&leaders))
    }
}
