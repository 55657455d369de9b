//! Words the result of a round once, for the screen, standard error and every report.
//!
//! A headline, one sentence of numbers, and what goes with them. Texts are raw: each format makes
//! them harmless in its own way.

use std::fmt::Write as _;

use indexmap::IndexMap;
use serde::Serialize;

use super::estimates::spread;
use super::findings::grouped;
use super::movement::earlier;
use super::round_view::{SeatView, seats};
use super::tally_text::order;
use super::wording::{absent, as_sentence, capital, first_names, join_list, pluralize};
use crate::ballot::{Ballot, BallotKind, Stance, count_by_severity};
use crate::core::decides_nothing;
use crate::history::{RoundRun, Session, Tally};
use crate::tally::{
    Backing, Choose, CountableKind, NoDecision, Rule, Score, Settled, Shortfall, Tier, Ties, WeakBecause,
    and_list,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Headline {
    /// In one line that stands alone: "Decision: outbox", "No decision: a and b tie".
    pub label: String,
    /// The same below a word that says whether it is a decision: "outbox".
    #[serde(rename = "headline")]
    pub name: String,
    pub sentence: String,
    /// "Order: 1 a, 2= b, 2= c", of more than two options.
    pub order: Option<String>,
    pub detail: String,
}

impl Headline {
    /// All of it in one line: "Decision: outbox. 4 of 6 seats chose it."
    pub fn line(&self) -> String {
        format!("{} {}", as_sentence(&self.label), self.sentence).trim_end().to_owned()
    }

    /// The same with strength and order.
    pub fn whole(&self) -> String {
        format!("{} {}", as_sentence(&self.label), self.detail)
    }
}

pub(super) const REHEARSAL: &str = "REHEARSAL: ";

/// The mark of a rehearsal, empty for any other session.
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
    let order = order(&tally.verdict).map(|order| format!("{}.", capital(&order)));
    let strength = strength(tally).map(|strength| format!(" {strength}.")).unwrap_or_default();
    let after = order.as_ref().map(|order| format!(" {order}")).unwrap_or_default();
    let detail = format!("{sentence}{strength}{after}");
    Headline { label, name, sentence, order, detail }
}

/// "Strength: weak, since all 3 are one model (a/b)"; none where nothing was decided.
pub fn strength(tally: &Tally) -> Option<String> {
    let tier = tally.tier.filter(|tier| *tier > Tier::None)?;
    let why = cap(tally).map(|why| format!(", since {why}")).unwrap_or_default();
    Some(format!("Strength: {}{why}", tier.name()))
}

/// The reason to count a result as weak although most stand behind it.
pub fn cap(tally: &Tally) -> Option<&WeakBecause> {
    tally.tier_because.as_ref()?.but.as_ref()
}

/// "The only seat", "Both seats", "All 6 seats".
fn all_seats(count: usize) -> String {
    match count {
        1 => "The only seat".to_owned(),
        2 => "Both seats".to_owned(),
        more => format!("All {}", pluralize(more, "seat")),
    }
}

/// "a", "a and b", "a, b and c", "a, b, c and 3 more".
fn named(names: &[String]) -> String {
    if names.len() <= 4 { and_list(names) } else { first_names(names, 3) }
}

fn is_by_share(rule: Rule) -> bool {
    matches!(rule, Rule::Plurality | Rule::Majority | Rule::Supermajority | Rule::WeightedMajority)
}

/// The share of the ballots that a rule asks for.
fn needed_share(rule: Rule, tally: &Tally) -> Option<String> {
    let share = rule.threshold(&tally.terms).map(|share| match share.to_string().as_str() {
        "1/2" => "half".to_owned(),
        "2/3" => "two thirds".to_owned(),
        "3/4" => "three quarters".to_owned(),
        other => other.to_owned(),
    });
    match rule {
        Rule::Majority => Some("a majority".to_owned()),
        Rule::Unanimous => Some("all ballots".to_owned()),
        Rule::WeightedMajority => share.map(|share| format!("more than {share}")),
        _ => share,
    }
}

/// A headline and its sentence.
type Words = (String, String);

struct Count<'a> {
    session: &'a Session,
    round: &'a RoundRun,
    tally: &'a Tally,
}

impl<'a> Count<'a> {
    /// The headline and its sentence. What went wrong comes before what was counted.
    fn words(&self) -> Words {
        let tally = self.tally;
        if let Some(said) = self.too_few() {
            return said;
        }
        if let Some(why) = decides_nothing(self.session, tally) {
            let cast = self.scores(|_| true);
            let cast = if cast.is_empty() { cast } else { format!(" Counted: {cast}.") };
            return (self.undecided_name(&why.to_string()), format!("Placeholders pick at random.{cast}"));
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

    // What several sentences need.

    /// The seats that were asked, without those that were excused.
    fn asked(&self) -> usize {
        self.tally.asked.saturating_sub(self.tally.excused)
    }

    fn kind(&self) -> BallotKind {
        self.round.opened.ballot.kind
    }

    fn ballots(&self) -> impl Iterator<Item = SeatView<'a>> {
        seats(self.session, self.round).filter(|seat| seat.ballot().is_some())
    }

    fn score(&self, option: &str) -> Score {
        self.tally.verdict.scores.get(option).cloned().unwrap_or_default()
    }

    /// "a 3, b 1": the options whose score is shown.
    fn scores(&self, is_shown: impl Fn(&Score) -> bool) -> String {
        let shown = self.tally.verdict.scores.iter().filter(|(_, score)| is_shown(score));
        join_list(shown.map(|(option, score)| format!("{option} {score}")))
    }

    fn is_drawn(&self) -> bool {
        matches!(self.tally.verdict.settled, Some(Settled::Seed(_)))
    }

    /// Tells scores that are numbers of seats.
    fn counts_heads(&self) -> bool {
        let sum: f64 = self.tally.verdict.scores.values().map(Score::as_f64).sum();
        let is_whole = (sum - self.tally.answered as f64).abs() < 1e-6;
        match self.tally.rule {
            Some(Rule::Approval) => true,
            Some(Rule::WeightedMajority) => false,
            Some(Rule::Consent | Rule::Unanimous) | None => is_whole,
            Some(rule) => is_by_share(rule) && is_whole,
        }
    }

    /// "4 of 5 seats put it before each other option", as far as it was recorded.
    fn behind(&self) -> Option<String> {
        self.tally.tier_because.as_ref().map(Backing::behind)
    }

    fn ballots_counted(&self) -> String {
        match self.tally.answered {
            1 => "The only ballot.".to_owned(),
            all => format!("{all} ballots of {} asked.", pluralize(self.asked(), "seat")),
        }
    }

    fn why(&self) -> String {
        self.tally.verdict.why().unwrap_or_else(|| "the rule found no winner".to_owned())
    }

    fn undecided_name(&self, why: &str) -> String {
        if self.tally.rule.is_some() { format!("No decision: {why}") } else { capital(why) }
    }

    /// "1 failed, 2 missing." after `before`; empty where every seat counts.
    fn absent_with(&self, before: &str) -> String {
        let absent = join_list(absent(self.tally));
        if absent.is_empty() { String::new() } else { format!("{before}{absent}.") }
    }

    /// " Of 5 seats 1 failed."
    fn absent_after(&self) -> String {
        self.absent_with(&format!(" Of {} ", pluralize(self.tally.asked, "seat")))
    }

    // Decided.

    /// "outbox", "outbox (drawn by lot)", "csv-export first", "Estimate: 8".
    fn won(&self, rule: Rule, winner: &str) -> String {
        let options = || self.tally.verdict.order.iter().map(Vec::len).sum::<usize>();
        if self.is_drawn() {
            format!("{winner} (drawn by lot)")
        } else if rule == Rule::Median {
            format!("Estimate: {winner}")
        } else if self.kind() == BallotKind::Ranking && options() > 2 {
            format!("{winner} first")
        } else {
            winner.to_owned()
        }
    }

    fn how(&self, rule: Rule, winner: &str) -> String {
        let mut sentence = match self.kind().info().countable {
            Some(CountableKind::Choice) => self.chosen(rule, winner),
            Some(CountableKind::Estimate) => self.estimate(),
            Some(CountableKind::Score | CountableKind::Approval | CountableKind::Ranking) => {
                self.by_rule(rule, winner)
            }
            Some(CountableKind::Consent) | None => self.numbers(),
        };
        if self.tally.verdict.was_tied() {
            let by = if self.is_drawn() { "the recorded seed chose" } else { "the facilitator chose" };
            let _ = write!(sentence, " It was tied for first; {by}.");
        }
        sentence
    }

    fn chosen(&self, rule: Rule, winner: &str) -> String {
        let (tally, asked) = (self.tally, self.asked());
        let options = &self.round.opened.ballot.options;
        let mut choices: IndexMap<&str, usize> = options.iter().map(|option| (option.as_str(), 0)).collect();
        for seat in self.ballots() {
            if let Some(Ballot::Choice(option)) = seat.ballot() {
                *choices.entry(option).or_default() += 1;
            }
        }
        let votes = choices.shift_remove(winner).unwrap_or(0);
        let is_all = votes == asked;
        let who = if is_all { all_seats(asked) } else { format!("{votes} of {}", pluralize(asked, "seat")) };
        let mut aside = Vec::new();
        if !self.counts_heads() {
            let sum: f64 = tally.verdict.scores.values().map(Score::as_f64).sum();
            aside.push(if is_by_share(rule) {
                format!("{} of {sum} by weight", self.score(winner))
            } else {
                format!("decided by {}", rule.in_words())
            });
        } else if tally.answered == 1 && asked > 1 {
            aside.push("the only ballot".to_owned());
        } else if tally.answered != asked {
            aside.push(format!("{votes} of the {} ballots", tally.answered));
        }
        aside.extend(needed_share(rule, tally).filter(|_| !is_all).map(|need| format!("{need} needed")));
        let aside = if aside.is_empty() { String::new() } else { format!(" ({})", aside.join("; ")) };
        let others = choices.iter().filter(|(_, votes)| **votes > 0);
        let rest: Vec<String> = others.map(|(option, votes)| format!("{votes} chose {option}")).collect();
        let rest = Some(first_names(&rest, 5)).filter(|rest| !rest.is_empty());
        let rest = join_list(rest.into_iter().chain(absent(tally)));
        let rest = if rest.is_empty() { rest } else { format!(" {rest}.") };
        format!("{who} chose it{aside}.{rest}")
    }

    /// The mean, what stands behind the winner, the next option, and a rule that is not the form's own.
    fn by_rule(&self, rule: Rule, winner: &str) -> String {
        let verdict = &self.tally.verdict;
        let second = verdict.order.iter().flatten().find(|option| *option != winner);
        let next = |option: &String| Some(format!("next {option} with {}", verdict.scores.get(option)?));
        let mut next = second.and_then(next).filter(|_| self.kind() != BallotKind::Ranking);
        let mut said = Vec::new();
        if rule == Rule::Score {
            let next = next.take().map(|next| format!("; {next}")).unwrap_or_default();
            said.push(format!("Mean {}{next}.", self.score(winner)));
        }
        said.push(self.behind().map_or_else(|| self.ballots_counted(), |behind| format!("{behind}.")));
        said.extend(next.map(|next| format!("{}.", capital(&next))));
        let is_own = matches!(rule, Rule::Score | Rule::Approval);
        said.extend((!is_own).then(|| format!("Decided by {}.", rule.in_words())));
        said.join(" ") + &self.absent_after()
    }

    fn estimate(&self) -> String {
        let tally = self.tally;
        let rest = self.absent_after();
        let Some(spread) = spread(self.round) else { return self.ballots_counted() + &rest };
        if spread.values.len() == 1 {
            return format!("{} said so.{rest}", all_seats(tally.answered));
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

    /// "disk and cdn": the chosen, with what each has; the options at the edge; the rest.
    fn several(&self) -> Words {
        let verdict = &self.tally.verdict;
        let chosen = and_list(&verdict.winners);
        if self.tally.is_too_weak() {
            return self.too_weak(&chosen);
        }
        let of = if self.counts_heads() { format!(" of {}", self.asked()) } else { String::new() };
        let edge = match &verdict.reason {
            Some(NoDecision::EdgeTie(edge)) => edge.as_slice(),
            _ => &[],
        };
        let is_left = |option: &&String| !verdict.winners.contains(option) && !edge.contains(option);
        let left: Vec<String> = verdict.order.iter().flatten().filter(is_left).cloned().collect();
        let is_half = matches!(self.tally.terms.choose, Some(Choose::Share(_)));
        let word = if is_half { "Chosen by half of those asked or more" } else { "Chosen" };
        let parts = [(word, verdict.winners.as_slice()), ("Tied for the last place", edge), ("Left", &left)];
        let mut said = Vec::new();
        for (word, options) in parts.into_iter().filter(|(_, options)| !options.is_empty()) {
            let with_score = options.iter().map(|option| match verdict.scores.get(option) {
                Some(score) => format!("{option} {score}{of}"),
                None => option.clone(),
            });
            said.push(format!("{word}: {}.", join_list(with_score)));
        }
        let name = if self.tally.decided { chosen } else { format!("No decision: {}", self.why()) };
        (name, format!("{}{}", said.join(" "), self.absent_after()))
    }

    // Not decided.

    /// Nobody could be reached, all abstained, or the quorum is not met.
    fn too_few(&self) -> Option<Words> {
        let tally = self.tally;
        let said = tally.answered + tally.abstained + tally.invalid + tally.refused;
        if tally.failed > 0 && said == 0 && !tally.quorum_met {
            let name = self.undecided_name("no seat could be reached");
            let seats = pluralize(tally.asked, "seat");
            return Some((name, format!("None of {seats} answered.{}", self.absent_with(" "))));
        }
        if tally.abstained > 0 && said == tally.abstained && tally.failed + tally.missing == 0 {
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
        sentence += &self.absent_with(" ");
        let cast = self.scores(|score| score.as_f64() > 0.0);
        if self.counts_heads() && !cast.is_empty() {
            sentence += &format!(" The {} cast: {cast}.", pluralize(tally.answered, "ballot"));
        }
        Some((self.undecided_name("too few took part"), sentence))
    }

    fn without_rule(&self) -> Words {
        let (tally, kind) = (self.tally, self.kind());
        if kind.info().countable.is_some() {
            let would = tally.verdict.why().map(|would| format!(" {}.", capital(&would)));
            return ("No rule: counted only".to_owned(), self.numbers() + &would.unwrap_or_default());
        }
        let name = if kind == BallotKind::Findings {
            let groups = grouped(self.session, self.round);
            capital(&count_by_severity(groups.iter().map(|group| group.severity)))
        } else if kind == BallotKind::Position {
            "Opinions collected".to_owned()
        } else {
            format!("{} collected", capital(kind.name()))
        };
        let seats = pluralize(tally.asked, "seat");
        let sentence = format!("{} of {seats} answered; nothing was to be decided.", tally.took_part());
        (name, sentence + &self.absent_with(" "))
    }

    /// The rule found a winner, and it is not as strong as the round asks for.
    fn too_weak(&self, winner: &str) -> Words {
        let tally = self.tally;
        let wanted = tally.act_at.map_or("", Tier::name);
        let name = match tally.tier.unwrap_or(Tier::Weak) {
            Tier::None | Tier::Weak => "No decision: the result is weak".to_owned(),
            tier => format!("No decision: the result is {} only", tier.name()),
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

    fn tie(&self, rule: Rule, winners: &[String]) -> String {
        let verdict = &self.tally.verdict;
        if let Some(open @ NoDecision::OpenTie { .. }) = &verdict.reason {
            return format!("{}.{}", capital(&open.to_string()), self.absent_after());
        }
        if rule == Rule::Median {
            return format!("The median lies between them. {}", self.estimate());
        }
        let then = match self.round.opened.ties {
            Ties::Ask => "a person has to choose",
            Ties::None | Ties::Seeded(_) => "the rule breaks no ties",
        };
        let each = if winners.len() == 2 { "Both" } else { "All" };
        let score = self.score(&winners[0]);
        let level = if rule == Rule::Score {
            format!("{each} have the same mean, {score}")
        } else if self.counts_heads() {
            format!("{each} have {score} of {}", pluralize(self.tally.answered, "ballot"))
        } else {
            format!("{each} come first by {}", rule.in_words())
        };
        format!("{level}; {then}.{}", self.absent_after())
    }

    fn undecided(&self, rule: Rule) -> Words {
        let is_short = matches!(self.tally.verdict.reason, Some(NoDecision::BelowShare { .. }));
        let name = match needed_share(rule, self.tally) {
            Some(need) if is_short && self.tally.answered > 1 => format!("no option reached {need}"),
            _ if rule == Rule::Unanimous && self.tally.answered > 1 => {
                "the ballots are not unanimous".to_owned()
            }
            _ => self.why(),
        };
        (format!("No decision: {name}"), format!("{}{}", self.numbers(), self.absent_after()))
    }

    /// "outbox leads with 3 of 6 ballots.", "a and b lead with 8 of 24 ballots each."
    fn numbers(&self) -> String {
        if self.kind() == BallotKind::Consent {
            return self.stances() + ".";
        }
        let tally = self.tally;
        let most = tally.verdict.scores.values().map(Score::as_f64).fold(0.0, f64::max);
        let leads = tally.verdict.scores.iter().filter(|(_, score)| score.as_f64() >= most && most > 0.0);
        let leaders: Vec<String> = leads.map(|(option, _)| option.clone()).collect();
        let (lead, each) = match leaders.len() {
            0 => return self.ballots_counted(),
            1 => ("leads", ""),
            _ => ("lead", " each"),
        };
        let of = if self.counts_heads() {
            format!(" of {}", pluralize(tally.answered, "ballot"))
        } else if tally.rule.is_none_or(is_by_share) {
            String::new()
        } else {
            return self.ballots_counted();
        };
        format!("{} {lead} with {}{of}{each}.", named(&leaders), self.score(&leaders[0]))
    }

    // Consent.

    fn stance(&self, stance: Stance) -> Vec<SeatView<'a>> {
        self.ballots().filter(|seat| seat.stance() == Some(stance)).collect()
    }

    /// "2 of 5 seats support it, 2 stand aside, 1 blocks, 1 abstained".
    fn stances(&self) -> String {
        let support = self.stance(Stance::Support).len();
        let word = if support == 1 { "supports" } else { "support" };
        let who = if support == self.asked() {
            all_seats(support)
        } else {
            format!("{support} of {}", pluralize(self.asked(), "seat"))
        };
        let mut said = vec![format!("{who} {word} it")];
        let others =
            [(Stance::StandAside, "stands aside", "stand aside"), (Stance::Block, "blocks", "block")];
        for (stance, one, more) in others {
            let count = self.stance(stance).len();
            if count > 0 {
                said.push(format!("{count} {}", if count == 1 { one } else { more }));
            }
        }
        said.extend(absent(self.tally));
        said.join(", ")
    }

    fn consent(&self) -> Words {
        let mut sentence = self.stances() + ".";
        if self.tally.decided {
            sentence += &self.lifted().unwrap_or_default();
            if self.stance(Stance::Support).is_empty() {
                sentence += " Adopted without a single supporter.";
            }
            return ("Adopted: nobody blocks".to_owned(), sentence);
        }
        let blocks = self.stance(Stance::Block);
        let change = |seat: &SeatView<'a>| seat.ballot().and_then(Ballot::minimum_change);
        let names = |seats: &[&SeatView<'_>]| {
            named(&seats.iter().map(|seat| seat.name.to_owned()).collect::<Vec<_>>())
        };
        let silent: Vec<_> = blocks.iter().filter(|seat| change(seat).is_none()).collect();
        if !silent.is_empty() {
            let verb = if silent.len() == 1 { "blocks" } else { "block" };
            let who = names(&silent);
            return (format!("No decision: {who} {verb} without saying what would have to change"), sentence);
        }
        if !blocks.is_empty() {
            let quoted = |change: &str| format!("“{}”", change.trim().trim_end_matches('.'));
            let changes: Vec<String> = blocks.iter().filter_map(change).map(quoted).collect();
            let these = if changes.len() == 1 { "this change" } else { "these changes" };
            let _ = write!(sentence, " It would pass with {these}: {}.", changes.join("; "));
            return (format!("Blocked by {}", names(&blocks.iter().collect::<Vec<_>>())), sentence);
        }
        if self.tally.is_too_weak() {
            return self.too_weak("support");
        }
        (format!("No decision: {}", self.why()), sentence)
    }

    /// The seats that blocked in an earlier round of the same form.
    fn lifted(&self) -> Option<String> {
        let before = earlier(self.session, self.round)?;
        let blocked = seats(self.session, before).filter(|seat| seat.stance() == Some(Stance::Block));
        let names: Vec<String> = blocked.map(|seat| seat.name.to_owned()).collect();
        let (block, were) = if names.len() == 1 { ("block", "was") } else { ("blocks", "were") };
        (!names.is_empty())
            .then(|| format!(" The {block} of {} in an earlier round {were} lifted.", named(&names)))
    }
}
