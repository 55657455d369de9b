//! What a round came to, worded once for the screen, standard error and every report.
//!
//! A headline, one sentence of numbers, and what goes with them. Texts are raw: each format makes
//! them harmless in its own way.

mod consent;
mod session;
mod undecided;

pub use session::{question_headline, session_headline};

use std::fmt::Write as _;

use indexmap::IndexMap;

use super::round_view::{SeatView, VisibleState, seats};
use super::tally_text::short_order;
use super::wording::{absent, join_list, pluralize};
use crate::ballot::{Ballot, BallotKind};
use crate::core::decides_nothing;
use crate::history::{RoundRun, Session, Tally};
use crate::round::answer::Outcome;
use crate::tally::{Backing, CountableKind, NoDecision, Rule, Score, Settled, Tier, WeakBecause, and_list};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Headline {
    /// In one line that stands alone: "Decision: outbox", "No decision: a and b tie".
    pub label: String,
    /// The same below a word that says whether it is a decision: "outbox".
    pub name: String,
    pub sentence: String,
    /// "Order: 1 a, 2= b, 2= c", of more than two options.
    pub order: Option<String>,
    pub detail: String,
    /// Whether label and name say that it is a rehearsal.
    is_rehearsal: bool,
}

impl Headline {
    /// All of it in one line: "Decision: outbox. 4 of 6 seats chose it."
    pub fn line(&self) -> String {
        let end = if self.label.ends_with(['.', '?', '!']) { "" } else { "." };
        format!("{}{end} {}", self.label, self.sentence).trim_end().to_owned()
    }
}

pub const REHEARSAL: &str = "REHEARSAL: ";

/// The same for a session, and nothing for one that is none.
pub fn rehearsal_mark(session: &Session) -> &'static str {
    if session.is_rehearsal() { REHEARSAL } else { "" }
}

pub fn headline(session: &Session, round: &RoundRun, tally: &Tally) -> Headline {
    let (name, sentence) = Count { session, round, tally }.words();
    let is_option = tally.decided && !matches!(tally.rule, Some(Rule::Consent | Rule::Median));
    let (name, label) = match (tally.rehearsal, is_option) {
        (true, _) => (format!("{REHEARSAL}{name}"), format!("{REHEARSAL}{name}")),
        (false, true) => (name.clone(), format!("Decision: {name}")),
        (false, false) => (name.clone(), name),
    };
    let mut detail = sentence.clone();
    if let Some(strength) = strength(tally) {
        let _ = write!(detail, " {strength}.");
    }
    let order = short_order(&tally.verdict).map(|order| format!("{}.", capital(&order)));
    if let Some(order) = &order {
        let _ = write!(detail, " {order}");
    }
    Headline { label, name, sentence, order, detail, is_rehearsal: tally.rehearsal }
}

/// "Strength: weak, since all 3 are one model (a/b)"; none where nothing was decided.
pub fn strength(tally: &Tally) -> Option<String> {
    let tier = tally.tier.filter(|tier| *tier > Tier::None)?;
    let why = cap(tally).map(|why| format!(", since {why}")).unwrap_or_default();
    Some(format!("Strength: {}{why}", tier.name()))
}

/// Why a result counts as weak although most stand behind it.
pub fn cap(tally: &Tally) -> Option<&WeakBecause> {
    tally.tier_because.as_ref()?.but.as_ref()
}

pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// "1 seat", and of more the word for all: "Both seats", "All 6 seats".
fn all_seats(count: usize) -> String {
    match count {
        1 => "The only seat".to_owned(),
        2 => "Both seats".to_owned(),
        more => format!("All {}", pluralize(more, "seat")),
    }
}

/// "a", "a and b", "a, b and 3 more".
fn named(names: &[String]) -> String {
    const NAMED: usize = 4;
    match names.len() {
        ..=NAMED => and_list(names),
        all => format!("{} and {} more", join_list(&names[..NAMED - 1]), all - NAMED + 1),
    }
}

/// Whether a rule adds up votes and asks for a share of them, if for any.
fn is_by_share(rule: Rule) -> bool {
    matches!(rule, Rule::Plurality | Rule::Majority | Rule::Supermajority | Rule::WeightedMajority)
}

fn measure(rule: Rule) -> Option<&'static str> {
    (rule == Rule::Score).then_some("mean")
}

struct Count<'a> {
    session: &'a Session,
    round: &'a RoundRun,
    tally: &'a Tally,
}

impl Count<'_> {
    /// The headline and its sentence. What went wrong comes before what was counted.
    fn words(&self) -> (String, String) {
        let tally = self.tally;
        if let Some(said) = self.too_few() {
            return said;
        }
        if let Some(why) = decides_nothing(self.session, tally) {
            return self.by_lot(&why.to_string());
        }
        let Some(rule) = tally.rule else { return self.without_rule() };
        if rule == Rule::Consent {
            return self.consent();
        }
        if tally.terms.choose.is_some() {
            return self.several();
        }
        match tally.verdict.winners.as_slice() {
            [winner] if tally.verdict.settled == Some(Settled::Rehearsal) => {
                let name = format!("no decision; it goes on with {winner}");
                (name, format!("{}{}", self.numbers(), self.absent_after()))
            }
            [winner] if tally.decided => (self.won(rule, winner), self.how(rule, winner)),
            [winner] => self.too_weak(winner),
            [] => self.undecided(rule),
            winners => (format!("No decision: {} tie", named(winners)), self.tie(rule, winners)),
        }
    }

    /// "disk and cdn": the chosen, with what each has; the options at the edge; the rest.
    fn several(&self) -> (String, String) {
        let verdict = &self.tally.verdict;
        let of = if self.counts_heads() { format!(" of {}", self.asked()) } else { String::new() };
        let with_score = |options: &[String]| {
            let score = |option: &String| verdict.scores.get(option).map(|score| format!(" {score}{of}"));
            join_list(options.iter().map(|option| format!("{option}{}", score(option).unwrap_or_default())))
        };
        let edge = match &verdict.reason {
            Some(NoDecision::EdgeTie(edge)) => edge.as_slice(),
            _ => &[],
        };
        let is_left = |option: &&String| !verdict.winners.contains(option) && !edge.contains(option);
        let left: Vec<String> = verdict.order.iter().flatten().filter(is_left).cloned().collect();
        let parts =
            [("Chosen", verdict.winners.as_slice()), ("Tied for the last place", edge), ("Left", &left)];
        let said = parts.into_iter().filter(|(_, options)| !options.is_empty());
        let said: Vec<String> =
            said.map(|(word, options)| format!("{word}: {}.", with_score(options))).collect();
        let name = match self.tally.decided {
            true => and_list(&verdict.winners),
            false if self.tally.is_too_weak() => return self.too_weak(&and_list(&verdict.winners)),
            false => format!("No decision: {}", self.why()),
        };
        (name, format!("{}{}", said.join(" "), self.absent_after()))
    }

    /// How many seats were asked; those that were let go were not.
    fn asked(&self) -> usize {
        self.tally.asked - self.tally.excused.min(self.tally.asked)
    }

    /// "outbox", "outbox (drawn by lot)", "csv-export first", "Estimate: 8".
    fn won(&self, rule: Rule, winner: &str) -> String {
        if self.is_drawn() {
            return format!("{winner} (drawn by lot)");
        }
        if rule == Rule::Median {
            return format!("Estimate: {winner}");
        }
        let is_order = self.round.opened.ballot.kind == BallotKind::Ranking;
        if is_order && self.tally.verdict.order.iter().map(Vec::len).sum::<usize>() > 2 {
            return format!("{winner} first");
        }
        winner.to_owned()
    }

    fn is_drawn(&self) -> bool {
        matches!(self.tally.verdict.settled, Some(Settled::Seed(_)))
    }

    fn counts_heads(&self) -> bool {
        let sum: f64 = self.tally.verdict.scores.values().map(Score::as_f64).sum();
        let is_whole = (sum - self.tally.answered as f64).abs() < 1e-6;
        let is_of_ballots = self.tally.rule.is_none_or(|rule| {
            rule == Rule::Consent
                || rule == Rule::Unanimous
                || is_by_share(rule) && rule != Rule::WeightedMajority
        });
        self.tally.rule == Some(Rule::Approval) || is_of_ballots && is_whole
    }

    fn how(&self, rule: Rule, winner: &str) -> String {
        let mut sentence = match self.round.opened.ballot.kind.spec().countable() {
            Some(CountableKind::Choice) => self.chosen(rule, winner),
            Some(CountableKind::Estimate) => self.estimate(),
            Some(CountableKind::Score) => self.scored(rule, winner),
            Some(CountableKind::Approval) => self.approved(rule, winner),
            Some(CountableKind::Ranking) => self.ranked(rule),
            Some(CountableKind::Consent) | None => self.numbers(),
        };
        if self.tally.verdict.was_tied() {
            let by = if self.is_drawn() { "the recorded seed chose" } else { "the facilitator chose" };
            let _ = write!(sentence, " It was tied for first; {by}.");
        }
        sentence
    }

    /// The seats that chose each option, in the order of the form.
    fn choices(&self) -> IndexMap<String, usize> {
        let mut found: IndexMap<String, usize> =
            self.round.opened.ballot.options.iter().map(|option| (option.clone(), 0)).collect();
        for seat in self.ballots() {
            if let Some(Ballot::Choice(option)) = seat.ballot() {
                *found.entry(option.clone()).or_default() += 1;
            }
        }
        found
    }

    fn ballots(&self) -> impl Iterator<Item = SeatView<'_>> {
        seats(self.session, self.round).filter(|seat| seat.ballot().is_some())
    }

    fn chosen(&self, rule: Rule, winner: &str) -> String {
        let (tally, asked) = (self.tally, self.asked());
        let choices = self.choices();
        let votes = choices.get(winner).copied().unwrap_or(0);
        let mut sentence = if votes == asked {
            format!("{} chose it", all_seats(asked))
        } else {
            format!("{votes} of {} chose it", pluralize(asked, "seat"))
        };
        let mut aside = Vec::new();
        if !self.counts_heads() {
            let score = tally.verdict.scores.get(winner).cloned().unwrap_or_default();
            let sum: f64 = tally.verdict.scores.values().map(Score::as_f64).sum();
            if is_by_share(rule) {
                aside.push(format!("{score} of {sum} by weight"));
            } else {
                aside.push(format!("decided by {}", rule.in_words()));
            }
        } else if tally.answered == 1 && asked > 1 {
            aside.push("the only ballot".to_owned());
        } else if tally.answered != asked {
            aside.push(format!("{votes} of the {} ballots", tally.answered));
        }
        aside.extend(self.need(rule).filter(|_| votes != asked).map(|need| format!("{need} needed")));
        if !aside.is_empty() {
            let _ = write!(sentence, " ({})", aside.join("; "));
        }
        sentence.push('.');
        let others = choices.iter().filter(|(option, votes)| *option != winner && **votes > 0);
        let mut rest: Vec<String> = others.map(|(option, votes)| format!("{votes} chose {option}")).collect();
        if rest.len() > 5 {
            let more = rest.split_off(4).len();
            rest.push(format!("others chose {more} more options"));
        }
        rest.extend(self.absent());
        if !rest.is_empty() {
            let _ = write!(sentence, " {}.", rest.join(", "));
        }
        sentence
    }

    fn need(&self, rule: Rule) -> Option<String> {
        let share = rule.threshold(&self.tally.terms).map(|share| match share.to_string().as_str() {
            "1/2" => "half".to_owned(),
            "2/3" => "two thirds".to_owned(),
            "3/4" => "three quarters".to_owned(),
            other => other.to_owned(),
        });
        if rule == Rule::Majority {
            Some("a majority".to_owned())
        } else if rule == Rule::Unanimous {
            Some("all ballots".to_owned())
        } else if rule == Rule::WeightedMajority {
            share.map(|share| format!("more than {share}"))
        } else {
            share
        }
    }

    /// "4 of 5 seats put it before each other option", as far as it was recorded.
    fn behind(&self) -> Option<String> {
        self.tally.tier_because.as_ref().map(Backing::behind)
    }

    fn approved(&self, rule: Rule, winner: &str) -> String {
        let behind = self.behind().map_or_else(|| self.ballots_counted(), |behind| format!("{behind}."));
        let next = self.next(winner).map(|next| format!(" Next {next}.")).unwrap_or_default();
        let by =
            if rule == Rule::Approval { String::new() } else { format!(" Decided by {}.", rule.in_words()) };
        format!("{behind}{next}{by}{}", self.absent_after())
    }

    fn scored(&self, rule: Rule, winner: &str) -> String {
        let score = self.tally.verdict.scores.get(winner).cloned().unwrap_or_default();
        let what = match measure(rule) {
            Some(what) => format!("{} {score}", capital(what)),
            None => format!("Decided by {}", rule.in_words()),
        };
        let next = self.next(winner).map(|next| format!("; next {next}")).unwrap_or_default();
        let behind = self.behind().map(|behind| format!(" {behind}.")).unwrap_or_default();
        format!("{what}{next}.{behind}{}", self.absent_after())
    }

    fn ranked(&self, rule: Rule) -> String {
        let behind = self.behind().map_or_else(|| self.ballots_counted(), |behind| format!("{behind}."));
        format!("{behind} Decided by {}.{}", rule.in_words(), self.absent_after())
    }

    /// "b with 3": the second in the order.
    fn next(&self, winner: &str) -> Option<String> {
        let verdict = &self.tally.verdict;
        let second = verdict.order.iter().flatten().find(|option| *option != winner)?;
        Some(format!("{second} with {}", verdict.scores.get(second)?))
    }

    fn ballots_counted(&self) -> String {
        match self.tally.answered {
            1 => "The only ballot.".to_owned(),
            all => format!("{all} ballots of {} asked.", pluralize(self.asked(), "seat")),
        }
    }

    fn estimate(&self) -> String {
        let tally = self.tally;
        let rest = self.absent_after();
        let spread = tally.verdict.trace.as_ref().and_then(|trace| trace.spread.as_ref());
        let Some(spread) = spread else { return self.ballots_counted() + &rest };
        if tally.answered == 1 {
            return format!("The only estimate.{rest}");
        }
        if spread.values.len() == 1 {
            return format!("{} said the same.{rest}", all_seats(tally.answered));
        }
        let middle = if spread.first_quartile == spread.third_quartile {
            spread.median.clone()
        } else {
            format!("{} to {}", spread.first_quartile, spread.third_quartile)
        };
        format!(
            "Median of {}. The middle half says {middle}; the extremes are {} and {}.{rest}",
            pluralize(tally.answered, "seat"),
            spread.lowest,
            spread.highest
        )
    }

    /// "1 abstained", "3 failed (connection refused)".
    fn absent(&self) -> Vec<String> {
        let say = |(count, outcome): (usize, Outcome)| {
            let why = if outcome == Outcome::Failed { self.common_reason() } else { None };
            format!("{count} {}{}", outcome.name(), why.map(|why| format!(" ({why})")).unwrap_or_default())
        };
        absent(self.tally).into_iter().map(say).collect()
    }

    fn absent_sentence(&self) -> String {
        let absent = self.absent();
        if absent.is_empty() { String::new() } else { format!("{}.", absent.join(", ")) }
    }

    /// " Of 5 seats 1 failed."
    fn absent_after(&self) -> String {
        match self.absent() {
            absent if absent.is_empty() => String::new(),
            absent => format!(" Of {} {}.", pluralize(self.tally.asked, "seat"), absent.join(", ")),
        }
    }

    /// Why all failed seats failed, if it is the same for all and short.
    fn common_reason(&self) -> Option<String> {
        /// How long a reason may be in a sentence, in characters.
        const SHORT: usize = 90;
        let failed = seats(self.session, self.round)
            .filter(|seat| matches!(seat.standing, VisibleState::Failed(_) | VisibleState::Lost));
        let mut reasons: Vec<&str> = failed.filter_map(|seat| seat.reason()).collect();
        reasons.dedup();
        match reasons.as_slice() {
            [one] if one.chars().count() <= SHORT && !one.contains('\n') => Some((*one).to_owned()),
            _ => None,
        }
    }
}
