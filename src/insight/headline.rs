//! Words the result of a round once, for the screen, standard error and every report.
//!
//! A headline, one sentence of numbers, and what goes with them. Texts are raw: each format makes
//! them harmless in its own way.

use std::fmt::Write as _;

use indexmap::IndexMap;
use serde::Serialize;

use super::findings::grouped;
use super::movement::earlier;
use super::round_view::{SeatView, seats};
use super::tally_text::{order, spread};
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
    let mut detail = sentence.clone();
    if let Some(tier) = tally.tier.filter(|tier| *tier > Tier::None) {
        let why = cap(tally).map(|why| format!(", since {why}")).unwrap_or_default();
        detail += &format!(" Strength: {}{why}.", tier.name());
    }
    detail.extend(order.iter().flat_map(|order| [" ", order]));
    Headline { label, name, sentence, order, detail }
}

/// The reason to count a result as weak although most stand behind it.
fn cap(tally: &Tally) -> Option<&WeakBecause> {
    tally.tier_because.as_ref()?.but.as_ref()
}

/// "The only seat", "Both seats", "All 6 seats", "4 of 6 seats".
fn seats_of(count: usize, of: usize) -> String {
    match count {
        _ if count != of => format!("{count} of {}", pluralize(of, "seat")),
        1 => "The only seat".to_owned(),
        2 => "Both seats".to_owned(),
        more => format!("All {}", pluralize(more, "seat")),
    }
}

fn names(seats: &[SeatView<'_>]) -> String {
    named(&seats.iter().map(|seat| seat.name.to_owned()).collect::<Vec<_>>())
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

struct Count<'a> {
    session: &'a Session,
    round: &'a RoundRun,
    tally: &'a Tally,
}

impl<'a> Count<'a> {
    /// The headline and its sentence. What went wrong comes before what was counted.
    fn words(&self) -> (String, String) {
        let tally = self.tally;
        if let Some(said) = self.too_few() {
            return said;
        }
        if let Some(why) = decides_nothing(self.session, tally) {
            let cast = join_list(self.scores());
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

    /// "a 3", "b 1".
    fn scores(&self) -> impl Iterator<Item = String> {
        self.tally.verdict.scores.iter().map(|(option, score)| format!("{option} {score}"))
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
        let need = needed_share(rule, tally).filter(|_| votes != asked).map(|need| format!("{need} needed"));
        let of = if !self.counts_heads() && is_by_share(rule) {
            let sum: f64 = tally.verdict.scores.values().map(Score::as_f64).sum();
            Some(format!("{} of {sum} by weight", self.score(winner)))
        } else if !self.counts_heads() {
            Some(format!("decided by {}", rule.in_words()))
        } else if tally.answered == 1 && asked > 1 {
            Some("the only ballot".to_owned())
        } else {
            (tally.answered != asked).then(|| format!("{votes} of the {} ballots", tally.answered))
        };
        let aside: Vec<String> = of.into_iter().chain(need).collect();
        let aside = if aside.is_empty() { String::new() } else { format!(" ({})", aside.join("; ")) };
        choices.retain(|_, votes| *votes > 0);
        let rest: Vec<String> =
            choices.iter().map(|(option, votes)| format!("{votes} chose {option}")).collect();
        let rest = Some(first_names(&rest, 5)).filter(|rest| !rest.is_empty());
        let rest = join_list(rest.into_iter().chain(absent(tally)));
        let rest = if rest.is_empty() { rest } else { format!(" {rest}.") };
        format!("{} chose it{aside}.{rest}", seats_of(votes, asked))
    }

    /// The mean, what stands behind the winner, the next option, and a rule that is not the form's own.
    fn by_rule(&self, rule: Rule, winner: &str) -> String {
        let mut said = self.behind().map_or_else(|| self.ballots_counted(), |behind| behind + ".");
        let next = self.tally.verdict.order.iter().flatten().find(|option| *option != winner);
        if rule == Rule::Score {
            let next = next.map(|next| format!("; next {next} with {}", self.score(next)));
            said = format!("Mean {}{}. {said}", self.score(winner), next.unwrap_or_default());
        } else if rule == Rule::Approval {
            said.extend(next.map(|next| format!(" Next {next} with {}.", self.score(next))));
        } else {
            said += &format!(" Decided by {}.", rule.in_words());
        }
        said + &self.absent_after()
    }

    fn estimate(&self) -> String {
        let tally = self.tally;
        let rest = self.absent_after();
        let Some(spread) = spread(self.round) else { return self.ballots_counted() + &rest };
        if spread.values.len() == 1 {
            return format!("{} said so.{rest}", seats_of(tally.answered, tally.answered));
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
    fn several(&self) -> (String, String) {
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

    /// Nobody could be reached, all abstained, or the quorum is not met.
    fn too_few(&self) -> Option<(String, String)> {
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
        let cast = join_list(self.scores().filter(|score| !score.ends_with(" 0")));
        if self.counts_heads() && !cast.is_empty() {
            sentence += &format!(" The {} cast: {cast}.", pluralize(tally.answered, "ballot"));
        }
        Some((self.undecided_name("too few took part"), sentence))
    }

    fn without_rule(&self) -> (String, String) {
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
    fn too_weak(&self, winner: &str) -> (String, String) {
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

    fn undecided(&self, rule: Rule) -> (String, String) {
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

    fn stance(&self, stance: Stance) -> Vec<SeatView<'a>> {
        self.ballots().filter(|seat| seat.stance() == Some(stance)).collect()
    }

    /// "2 of 5 seats support it, 2 stand aside, 1 blocks, 1 abstained".
    fn stances(&self) -> String {
        let support = self.stance(Stance::Support).len();
        let supports = if support == 1 { "supports" } else { "support" };
        let mut said = vec![format!("{} {supports} it", seats_of(support, self.asked()))];
        let others =
            [(Stance::StandAside, "stands aside", "stand aside"), (Stance::Block, "blocks", "block")];
        for (stance, one, more) in others {
            match self.stance(stance).len() {
                0 => {}
                1 => said.push(format!("1 {one}")),
                count => said.push(format!("{count} {more}")),
            }
        }
        join_list(said.into_iter().chain(absent(self.tally)))
    }

    fn consent(&self) -> (String, String) {
        let mut sentence = self.stances() + ".";
        if self.tally.decided {
            sentence += &self.lifted();
            if self.stance(Stance::Support).is_empty() {
                sentence += " Adopted without a single supporter.";
            }
            return ("Adopted: nobody blocks".to_owned(), sentence);
        }
        let change = |seat: &SeatView<'a>| seat.ballot().and_then(Ballot::minimum_change);
        let (stated, silent): (Vec<_>, Vec<_>) =
            self.stance(Stance::Block).into_iter().partition(|seat| change(seat).is_some());
        if !silent.is_empty() {
            let (who, verb) = (names(&silent), if silent.len() == 1 { "blocks" } else { "block" });
            return (format!("No decision: {who} {verb} without saying what would have to change"), sentence);
        }
        if !stated.is_empty() {
            let quoted = |change: &str| format!("“{}”", change.trim().trim_end_matches('.'));
            let changes: Vec<String> = stated.iter().filter_map(change).map(quoted).collect();
            let these = if changes.len() == 1 { "this change" } else { "these changes" };
            sentence += &format!(" It would pass with {these}: {}.", changes.join("; "));
            return (format!("Blocked by {}", names(&stated)), sentence);
        }
        if self.tally.is_too_weak() {
            return self.too_weak("support");
        }
        (format!("No decision: {}", self.why()), sentence)
    }

    /// The seats that blocked in an earlier round of the same form.
    fn lifted(&self) -> String {
        let before = earlier(self.session, self.round).into_iter();
        let blocked = before.flat_map(|before| seats(self.session, before));
        let blocked: Vec<_> = blocked.filter(|seat| seat.stance() == Some(Stance::Block)).collect();
        match blocked.len() {
            0 => String::new(),
            1 => format!(" The block of {} in an earlier round was lifted.", names(&blocked)),
            _ => format!(" The blocks of {} in an earlier round were lifted.", names(&blocked)),
        }
    }
}
