//! Headlines of rounds and sessions, shared by screen, stderr and every report.
//!
//! A headline is a short result, one sentence of numbers and details. Texts are raw; each format escapes
//! them.

use serde::Serialize;
use serde_json::Value;

use super::counts::{WhatIf, order, rule_description, seats_of, spread, spread_words};
use super::findings::grouped;
use super::movement::earlier;
use super::round_view::{author, blocks, seats, tally, votes, winners};
use super::wording::{absent, as_sentence, capital, cut, first_names, join_list, pluralize, resume_verb};
use crate::ballot::{BallotKind, Stance, count_by_severity};
use crate::core::{
    AskedQuestion, Deciding, Proposal, decided_by_person, decides_nothing, deciding, question_asked,
    questions,
};
use crate::history::{
    ApprovalRequested, MergedOption, RoundOpened, RoundOutcome, RoundRun, Session, SkippedIdea, Status,
    Tally, round_outcome,
};
use crate::tally::{NoDecision, Rule, Score, Settled, Tier, Ties, and_list, leading};
use crate::workflow::StepKind;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Headline {
    /// The result as a complete line: "Decision: outbox", "No decision: a and b tie".
    pub label: String,
    /// The result for use below a label that states whether it is a decision: "outbox".
    #[serde(rename = "headline")]
    pub name: String,
    pub sentence: String,
    /// "Order: 1 a, 2= b, 2= c", for more than two options.
    pub order: Option<String>,
    /// The sentence, the strength and the order.
    pub detail: String,
}

impl Headline {
    fn new(name: String, sentence: String) -> Self {
        Self { label: name.clone(), name, detail: sentence.clone(), sentence, order: None }
    }

    /// Returns label and sentence in one line: "Decision: outbox. 4 of 6 seats chose it."
    pub fn line(&self) -> String {
        format!("{} {}", as_sentence(&self.label), self.sentence).trim_end().to_owned()
    }

    /// Returns label, sentence, strength and order in one line.
    pub fn whole(&self) -> String {
        format!("{} {}", as_sentence(&self.label), self.detail)
    }
}

pub const REHEARSAL: &str = "REHEARSAL: ";

/// Returns the mark of a rehearsal; empty for other sessions.
pub fn rehearsal_mark(session: &Session) -> &'static str {
    if session.is_rehearsal() { REHEARSAL } else { "" }
}

pub fn headline(session: &Session, round: &RoundRun, tally: &Tally) -> Headline {
    let (name, sentence) = Count { session, round, tally }.describe();
    let mark = if tally.rehearsal { REHEARSAL } else { "" };
    let mut made = Headline::new(format!("{mark}{name}"), sentence);
    let is_option = tally.decided && !matches!(tally.rule, Some(Rule::Consent | Rule::Median));
    if is_option && !tally.rehearsal {
        made.label.insert_str(0, "Decision: ");
    }
    if let Some(tier) = tally.tier.filter(|tier| *tier > Tier::None) {
        let cap = tally.tier_because.as_ref().and_then(|because| because.but.as_ref());
        let why = cap.map(|why| format!(", since {why}")).unwrap_or_default();
        made.detail += &format!(" Strength: {}{why}.", tier.name());
    }
    if let Some(order) = order(&tally.verdict) {
        let order = made.order.insert(capital(&order) + ".");
        made.detail += &format!(" {order}");
    }
    made
}

/// Joins names as "a", "a and b", "a, b and c" or "a, b, c and 3 more".
fn join_names(names: &[String]) -> String {
    if names.len() <= 4 { and_list(names) } else { first_names(names, 3) }
}

/// Formats parts to append to a sentence, such as " 1 failed, 2 missing."; empty if none.
fn after(words: impl Iterator<Item = String>) -> String {
    let words = join_list(words);
    if words.is_empty() { words } else { format!(" {words}.") }
}

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

impl Count<'_> {
    /// Returns the result and its sentence. Too few votes and rehearsals take precedence over any count.
    fn describe(&self) -> (String, String) {
        let (tally, winners) = (self.tally, self.tally.verdict.winners.as_slice());
        if let Some(said) = self.too_few() {
            return said;
        }
        if let Some(why) = decides_nothing(self.session, tally) {
            let sentence = format!("Placeholders pick at random.{}", self.cast());
            return (self.undecided(&why.to_string()), sentence);
        }
        let Some(rule) = tally.rule else { return self.without_rule() };
        let (name, sentence) = match winners {
            _ if tally.is_too_weak() => return self.too_weak(winners),
            _ if rule == Rule::Consent => return self.consent(),
            _ if tally.terms.choose.is_some() => self.several(),
            [winner] if tally.verdict.settled == Some(Settled::Rehearsal) => {
                (format!("no decision; the rehearsal continues with {winner}"), self.numbers())
            }
            [winner] if self.kind() == BallotKind::Choice => {
                return (self.won(rule, winner), self.chosen(rule, winner));
            }
            [winner] => (self.won(rule, winner), self.by_rule(rule, winner)),
            [] => (self.undecided(&self.why(rule)), self.numbers()),
            _ => (self.undecided(&format!("{} tie", join_names(winners))), self.tie(rule, winners)),
        };
        (name, sentence + &self.absent_after())
    }

    fn kind(&self) -> BallotKind {
        self.round.opened.ballot.kind
    }

    fn score(&self, option: &str) -> String {
        self.tally.verdict.scores.get(option).cloned().unwrap_or_default().rounded()
    }

    fn sum(&self) -> f64 {
        self.tally.verdict.scores.values().map(Score::as_f64).sum()
    }

    /// Checks if the scores are numbers of seats.
    fn counts_heads(&self) -> bool {
        let is_whole = (self.sum() - self.tally.answered as f64).abs() < 1e-6;
        match self.tally.rule {
            Some(Rule::Approval) => true,
            Some(rule) => is_whole && (rule == Rule::Consent || rule.counts_first_places()),
            None => is_whole,
        }
    }

    fn ballots_counted(&self) -> String {
        let ballots = pluralize(self.tally.answered, "ballot");
        format!("{ballots} of {} asked.", pluralize(self.tally.not_excused(), "seat"))
    }

    /// Formats " The 2 ballots cast: a 2."
    fn cast(&self) -> String {
        let is_told = |(_, score): &(&String, &Score)| self.counts_heads() && score.as_f64() > 0.0;
        let scores = self.tally.verdict.scores.iter().filter(is_told);
        let cast = after(scores.map(|(option, score)| format!("{option} {score}")));
        let ballots = pluralize(self.tally.answered, "ballot");
        if cast.is_empty() { cast } else { format!(" The {ballots} cast:{cast}") }
    }

    fn undecided(&self, why: &str) -> String {
        if self.tally.rule.is_some() { format!("No decision: {why}") } else { capital(why) }
    }

    fn why(&self, rule: Rule) -> String {
        match (&self.tally.verdict.reason, needed_share(rule, self.tally)) {
            (Some(NoDecision::BelowShare { .. }), Some(need)) if self.tally.answered > 1 => {
                format!("no option reached {need}")
            }
            (Some(NoDecision::NotUnanimous { .. }), _) => "the ballots are not unanimous".to_owned(),
            (Some(reason), _) => reason.to_string(),
            (None, _) => "the rule found no winner".to_owned(),
        }
    }

    /// Formats " Of 5 seats 1 failed."
    fn absent_after(&self) -> String {
        match after(absent(self.tally)) {
            none if none.is_empty() => none,
            absent => format!(" Of {}{absent}", pluralize(self.tally.asked, "seat")),
        }
    }

    /// Formats "outbox", "outbox (drawn by lot)", "csv-export first" or "Estimate: 8".
    fn won(&self, rule: Rule, winner: &str) -> String {
        let verdict = &self.tally.verdict;
        if verdict.settled == Some(Settled::Facilitator) {
            format!("{winner} (the facilitator broke the tie)")
        } else if verdict.was_tied() {
            format!("{winner} (drawn by lot)")
        } else if rule == Rule::Median {
            format!("Estimate: {winner}")
        } else if self.kind() == BallotKind::Ranking && verdict.order.iter().flatten().count() > 2 {
            let author = author(self.session, self.round, winner).map(|seat| format!(" (by {seat})"));
            format!("{winner}{} first", author.unwrap_or_default())
        } else {
            winner.to_owned()
        }
    }

    fn chosen(&self, rule: Rule, winner: &str) -> String {
        let (tally, asked, votes) = (self.tally, self.tally.not_excused(), votes(self.session, self.round));
        let own = votes.get(winner).copied().unwrap_or(0);
        let mut aside = Vec::new();
        if !self.counts_heads() && rule.counts_first_places() {
            aside.push(format!("{} of {} by weight", self.score(winner), self.sum()));
        } else if !self.counts_heads() {
            aside.push(format!("decided by {}", rule.in_words()));
        } else if tally.answered == 1 && asked > 1 {
            aside.push("the only ballot".to_owned());
        } else if tally.answered != asked {
            let is_all = tally.answered + tally.abstained == asked;
            let of = if is_all { "who did not abstain" } else { "ballots" };
            aside.push(format!("{own} of the {} {of}", tally.answered));
        }
        if own != asked {
            aside.extend(needed_share(rule, tally).map(|need| format!("{need} needed")));
        }
        let aside = if aside.is_empty() { String::new() } else { format!(" ({})", aside.join("; ")) };
        let others = self.round.opened.ballot.options.iter().filter(|option| *option != winner);
        let others: Vec<String> =
            others.filter_map(|option| Some(format!("{} chose {option}", votes.get(option)?))).collect();
        let others = (!others.is_empty()).then(|| first_names(&others, 5));
        format!("{} chose it{aside}.{}", seats_of(own, asked), after(others.into_iter().chain(absent(tally))))
    }

    /// Describes a decision by other rules: mean, supporters, next option, and the rule if unusual.
    fn by_rule(&self, rule: Rule, winner: &str) -> String {
        let backing = self.tally.tier_because.as_ref();
        let behind = backing.map_or_else(|| self.ballots_counted(), |backing| backing.behind() + ".");
        let next = self.tally.verdict.order.iter().flatten().find(|option| *option != winner);
        let next = |before: &str, after: &str| {
            next.map(|next| format!("{before} {next} with {}{after}", self.score(next))).unwrap_or_default()
        };
        match rule {
            Rule::Median => self.estimate(),
            Rule::Score => format!("Mean {}{}. {behind}", self.score(winner), next("; next", "")),
            Rule::Approval => behind + &next(" Next", "."),
            other => format!("{behind} Decided by {}.", other.in_words()),
        }
    }

    fn estimate(&self) -> String {
        spread(self.round).map_or_else(|| self.ballots_counted(), |spread| spread_words(spread, self.tally))
    }

    /// Returns the chosen options as "disk and cdn", and the scores of chosen, tied and other options.
    fn several(&self) -> (String, String) {
        let verdict = &self.tally.verdict;
        let of =
            if self.counts_heads() { format!(" of {}", self.tally.not_excused()) } else { String::new() };
        let edge = match &verdict.reason {
            Some(NoDecision::EdgeTie(edge)) => edge.as_slice(),
            _ => &[],
        };
        let mut parts = ["Chosen", "Tied for the last place", "Left"].map(|word| (word, Vec::new()));
        for option in verdict.order.iter().flatten() {
            let is_edge = edge.contains(option);
            let at = if verdict.winners.contains(option) { 0 } else { 2 - usize::from(is_edge) };
            parts[at].1.push(format!("{option} {}{of}", self.score(option)));
        }
        let parts = parts.iter().filter(|(_, options)| !options.is_empty());
        let said: Vec<String> =
            parts.map(|(word, options)| format!("{word}: {}.", options.join(", "))).collect();
        let name = match &verdict.reason {
            Some(reason) if !self.tally.decided => self.undecided(&reason.to_string()),
            _ => and_list(&verdict.winners),
        };
        (name, said.join(" "))
    }

    /// Returns the result if no seat could be reached, all abstained, or the quorum is not met.
    fn too_few(&self) -> Option<(String, String)> {
        let tally = self.tally;
        let replied = tally.took_part() + tally.invalid + tally.refused;
        let (name, sentence) = if tally.failed > 0 && replied == 0 && !tally.quorum_met {
            let sentence = format!("None of {} answered.", pluralize(tally.asked, "seat"));
            ("no seat could be reached".to_owned(), sentence + &after(absent(tally)))
        } else if tally.abstained > 0 && replied == tally.abstained && tally.failed + tally.missing == 0 {
            let name = match tally.abstained {
                1 => "the only seat abstained".to_owned(),
                2 => "both seats abstained".to_owned(),
                all => format!("all {all} abstained"),
            };
            (name, "Every seat answered, and none named an option.".to_owned())
        } else {
            let sentence = format!("{}.{}{}", tally.shortfall()?, after(absent(tally)), self.cast());
            ("too few took part".to_owned(), sentence)
        };
        Some((self.undecided(&name), sentence))
    }

    fn without_rule(&self) -> (String, String) {
        let (tally, kind) = (self.tally, self.kind());
        if kind.info().countable.is_some() {
            return ("No rule: counted only".to_owned(), self.numbers());
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
        (name, sentence + &after(absent(tally)))
    }

    /// Returns the result if the rule's winner is weaker than the round requires.
    fn too_weak(&self, winners: &[String]) -> (String, String) {
        let tally = self.tally;
        let name = format!("No decision: the result is {}", tally.tier.map_or("weak", Tier::name));
        let backing = tally.tier_because.as_ref().map(|backing| format!(": {backing}")).unwrap_or_default();
        let wanted = tally.act_at.map_or("", Tier::name);
        let leads = if winners.len() == 1 { "leads" } else { "lead" };
        let lead = format!("{} {leads}{backing}", and_list(winners));
        (name, format!("{lead}; {wanted} was asked for.{}", self.absent_after()))
    }

    fn tie(&self, rule: Rule, winners: &[String]) -> String {
        if let Some(open @ NoDecision::OpenTie { .. }) = &self.tally.verdict.reason {
            return capital(&open.to_string()) + ".";
        }
        let each = if winners.len() == 2 { "Both" } else { "All" };
        let score = self.score(&winners[0]);
        let level = match rule {
            Rule::Median => return format!("The median lies between them. {}", self.estimate()),
            Rule::Score => format!("have the same mean, {score}"),
            _ if self.counts_heads() => {
                format!("have {score} of {}", pluralize(self.tally.answered, "ballot"))
            }
            other => format!("come first by {}", other.in_words()),
        };
        let then = match self.round.opened.ties {
            Ties::Ask => "a person has to choose",
            Ties::None | Ties::Seeded(_) => "the rule breaks no ties",
        };
        format!("{each} {level}; {then}.")
    }

    /// Formats "outbox leads with 3 of 6 ballots." or "a and b lead with 8 of 24 ballots each."
    fn numbers(&self) -> String {
        let tally = self.tally;
        if self.kind() == BallotKind::Consent {
            return self.stances();
        }
        let is_sum = tally.rule.is_none_or(|rule| rule == Rule::Approval || rule.counts_first_places());
        let leaders: Vec<String> = leading(&tally.verdict.scores).filter(|_| is_sum).cloned().collect();
        let (lead, each) = match leaders.len() {
            0 => return self.ballots_counted(),
            1 => ("leads", ""),
            _ => ("lead", " each"),
        };
        let heads = self.counts_heads();
        let of = if heads { format!(" of {}", pluralize(tally.answered, "ballot")) } else { String::new() };
        format!("{} {lead} with {}{of}{each}.", join_names(&leaders), self.score(&leaders[0]))
    }

    /// Formats "2 of 5 seats support it, 2 stand aside, 1 blocks, 1 abstained."
    fn stances(&self) -> String {
        let with = |stance| seats(self.session, self.round).filter(move |seat| seat.stance() == Some(stance));
        let support = with(Stance::Support).count();
        let supports = if support == 1 { "supports" } else { "support" };
        let others =
            [(Stance::StandAside, "stands aside", "stand aside"), (Stance::Block, "blocks", "block")];
        let others = others.into_iter().filter_map(|(stance, one, more)| match with(stance).count() {
            0 => None,
            1 => Some(format!("1 {one}")),
            count => Some(format!("{count} {more}")),
        });
        let first = format!("{} {supports} it", seats_of(support, self.tally.not_excused()));
        join_list([first].into_iter().chain(others).chain(absent(self.tally))) + "."
    }

    fn consent(&self) -> (String, String) {
        let stances = self.stances();
        if self.tally.decided {
            let has_support = self.score(Stance::Support.name()) != "0";
            let alone = if has_support { "" } else { " Adopted without a single supporter." };
            return ("Adopted: nobody blocks".to_owned(), stances + &self.lifted() + alone);
        }
        let blocks: Vec<_> = blocks(self.session, self.round).collect();
        if blocks.is_empty() {
            return (self.undecided(&self.why(Rule::Consent)), stances);
        }
        let quoted = |change: &str| format!("“{}”", change.trim().trim_end_matches('.'));
        let changes: Vec<String> = blocks.iter().filter_map(|(_, change)| change.map(quoted)).collect();
        let silent = blocks.iter().filter(|(_, change)| change.is_none());
        let silent: Vec<String> = silent.map(|(seat, _)| (*seat).to_owned()).collect();
        let pass = match changes.as_slice() {
            _ if !silent.is_empty() => format!("No change is stated by {}.", join_names(&silent)),
            [change] => format!("It would pass with this change: {change}."),
            _ => format!("It would pass with these changes: {}.", changes.join("; ")),
        };
        let seats: Vec<String> = blocks.iter().map(|(seat, _)| (*seat).to_owned()).collect();
        (format!("Blocked by {}", join_names(&seats)), format!("{stances} {pass}"))
    }

    /// Names the seats that blocked in an earlier round of the same form.
    fn lifted(&self) -> String {
        let before = earlier(self.session, self.round).into_iter();
        let blocked = before.flat_map(|before| blocks(self.session, before));
        let blocked: Vec<String> = blocked.map(|(seat, _)| seat.to_owned()).collect();
        if blocked.is_empty() {
            return String::new();
        }
        let (block, was) = if blocked.len() == 1 { ("block", "was") } else { ("blocks", "were") };
        format!(" The {block} of {} in an earlier round {was} lifted.", join_names(&blocked))
    }
}

pub fn session_headline(session: &Session) -> Headline {
    let made = ended(session).or_else(|| several(session)).or_else(|| deciding_headline(session));
    let (mut made, mark) = (made.unwrap_or_else(|| without_round(session)), rehearsal_mark(session));
    if !made.label.starts_with(mark) {
        made.label.insert_str(0, mark);
        made.name.insert_str(0, mark);
    }
    made
}

/// Returns the headline of a question: the facilitator's own decision, else the result of its round.
pub fn question_headline(session: &Session, round: &RoundRun) -> Headline {
    let counted = tally(round).map(|tally| headline(session, round, tally));
    let Some(decided) = decided_by_person(session, round) else {
        return counted.unwrap_or_else(|| not_counted(session, round));
    };
    let option = decided.decides().unwrap_or_default();
    let reason = decided.given.comment.as_deref().map(|why| format!("Reason: {}", as_sentence(why)));
    let own = counted.map(|made| format!("The round itself: {}", made.line()));
    let sentence = reason.into_iter().chain(own).collect::<Vec<_>>().join(" ");
    let label = format!("Decided by the facilitator: {option}");
    Headline { label, ..Headline::new(option.to_owned(), sentence) }
}

/// Returns the headline of a session with several decisions: "2 of 3 questions decided".
fn several(session: &Session) -> Option<Headline> {
    let asked = questions(session);
    if asked.len() < 2 || matches!(deciding(session), Some(Deciding::NotHeld(..) | Deciding::NoneHeld)) {
        return None;
    }
    let is_made = |one: &&AskedQuestion<'_>| !winners(session, one.decides).is_empty();
    let (made, all) = (asked.iter().filter(is_made).count(), asked.len());
    let name =
        if made == all { format!("{all} decisions") } else { format!("{made} of {all} questions decided") };
    let line = |one: &AskedQuestion<'_>| {
        let question = question_asked(&one.rounds, one.decides).lines().next().unwrap_or_default();
        let made = question_headline(session, one.decides);
        format!("{} {}", as_sentence(&cut(question, 80)), as_sentence(&made.name))
    };
    Some(Headline::new(name, asked.iter().map(line).collect::<Vec<_>>().join(" ")))
}

/// Returns the headline of an ended but unfinished session: "Rejected by the facilitator: too dear".
fn ended(session: &Session) -> Option<Headline> {
    let closed = session.closed.as_ref()?;
    let word = match closed.status {
        Status::Rejected => "Rejected by the facilitator",
        Status::Failed => "Failed",
        Status::Stopped => "Stopped",
        Status::Finished => return None,
    };
    let name = match closed.reason.as_deref() {
        // The reason already states that the session stopped.
        Some(reason) if session.stopped_at.is_some() => capital(reason),
        Some(reason) => format!("{word}: {reason}"),
        None => word.to_owned(),
    };
    let is_counted = session.rounds.last().is_some_and(|round| tally(round).is_some());
    let before = deciding_headline(session).filter(|_| is_counted);
    let before = before.map(|made| format!("Before that: {}", made.line())).unwrap_or_default();
    Some(Headline::new(name, before))
}

/// Returns the headline of a round that is open, or closed and not counted.
fn not_counted(session: &Session, round: &RoundRun) -> Headline {
    let state = if round.closed.is_some() { "is closed and not counted" } else { "is open" };
    let (sealed, asked, id) = (round.sealed(), round.seats.len(), &round.opened.round);
    let mut stand = format!("Round “{id}” {state}; {sealed} of {} sealed.", pluralize(asked, "seat"));
    let (failed, lost) = (round.failed_seats().count(), round.lost_seats().len());
    let why = if session.closed.is_some() {
        "No decision: the round was not counted".to_owned()
    } else if lost > 0 {
        let verb = resume_verb(session);
        stand += &format!(" To ask these seats again: roundtable {verb} --ask-again.");
        format!("Not finished: the key of {} is lost", pluralize(lost, "answer"))
    } else if session.below_quorum().is_some() && failed > 0 {
        format!("Not finished: {} failed", pluralize(failed, "seat"))
    } else {
        let what = if session.paused.is_some() { "session is paused" } else { "round is open" };
        format!("Not finished: the {what}")
    };
    Headline::new(why, stand)
}

/// Returns the headline of the deciding round; `None` if no round was held and none was required.
fn deciding_headline(session: &Session) -> Option<Headline> {
    let (name, before) = match deciding(session)? {
        Deciding::Round(round) => return Some(question_headline(session, round)),
        Deciding::NotHeld(step, not_held) => {
            let before = session.rounds.iter().rev().find_map(|round| {
                let tally = tally(round).filter(|tally| tally.decided)?;
                let made = headline(session, round, tally);
                Some(format!("Before that, round `{}`: {}", tally.round, made.line()))
            });
            let name = format!("No decision: round `{step}` was not held: {}", not_held.why);
            (name, before.unwrap_or_default())
        }
        Deciding::NoneHeld => ("No decision: no round with a rule was held".to_owned(), String::new()),
    };
    Some(Headline::new(name, before))
}

fn without_round(session: &Session) -> Headline {
    let steps = pluralize(session.iterations as usize, "step");
    let (name, sentence) = if session.closed.is_none() {
        ("Not finished".to_owned(), format!("{steps} so far."))
    } else if session.definition().all_steps().any(|step| step.round().is_some()) {
        ("No decision: no round was opened".to_owned(), format!("{steps} ran."))
    } else {
        (format!("Finished after {steps}"), "There was no round, and nothing to be decided.".to_owned())
    };
    Headline::new(name, sentence)
}

/// Returns the recorded outcome, then the result of each rule, one per line.
pub fn what_if_lines(session: &Session, round: &RoundRun, found: &[WhatIf]) -> Vec<String> {
    let RoundOpened { round: id, rule, terms, .. } = &*round.opened;
    let recorded = match (rule, tally(round)) {
        (Some(rule), Some(tally)) => {
            let label = headline(session, round, tally).label;
            format!("The recorded outcome stays: {label} (by {}).", rule_description(*rule, terms))
        }
        _ => "The round has no rule, and nothing was decided.".to_owned(),
    };
    let first = format!("Round {id} under other rules. {recorded}");
    [first].into_iter().chain(found.iter().map(WhatIf::line)).collect()
}

/// Returns the first open question.
pub fn asked(session: &Session) -> Option<&ApprovalRequested> {
    Some(&session.asked().next()?.approval.as_ref()?.requested)
}

/// Returns the blocked round if approving the open question repeats it, so that its proposal can be amended.
pub fn blocked(session: &Session) -> Option<&RoundRun> {
    let step = session.definition().step(&session.step.as_ref()?.id)?;
    let StepKind::Approval(approval) = &step.kind else { return None };
    last_blocked(session).filter(|round| approval.on_approve.as_ref() == Some(&round.opened.step))
}

/// Returns the last round if it is blocked and the open question offers no proposal or choices.
fn last_blocked(session: &Session) -> Option<&RoundRun> {
    asked(session).filter(|asked| asked.proposal.is_none() && asked.choices.is_empty())?;
    let is_blocked = |round: &&RoundRun| tally(round).map(round_outcome) == Some(RoundOutcome::Blocked);
    session.rounds.last().filter(is_blocked)
}

/// Returns the proposal of the open question if it can be approved.
pub fn valid_proposal(session: &Session) -> Option<Proposal> {
    let step = session.definition().step(&asked(session)?.step)?;
    Proposal::for_step(session, step).filter(|proposal| proposal.answer.is_ok())
}

/// Returns the subjects of the open question, one per line; empty if its message is complete.
pub fn asked_about(session: &Session) -> Vec<String> {
    let Some(asked) = asked(session) else { return Vec::new() };
    let ideas = asked.ideas.iter().map(|idea| format!("idea {}: {}", idea.id, idea.title));
    let merge = valid_proposal(session).and_then(|proposal| proposal.merge()).unwrap_or_default();
    let option = |one: &MergedOption| format!("proposed option: {}, of {}", one.title, one.from.join(", "));
    let aside = |one: &SkippedIdea| format!("proposed to set aside: {}, as {}", one.idea, one.reason);
    let merged = merge.options.iter().map(option).chain(merge.set_aside.iter().map(aside));
    // These fields use idea ids that hide the seats; `merged` shows them with resolved ids.
    let is_merge = |key: &str| !asked.ideas.is_empty() && matches!(key, "options" | "set_aside");
    let parts = asked.proposal.as_ref().and_then(Value::as_object).into_iter().flatten();
    let is_said = |(key, value): &(&String, &Value)| !(value.is_null() || *value == "" || is_merge(key));
    let parts = parts.filter(is_said).map(|(key, value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("proposed {}: {text}", key.replace('_', " "))
    });
    let blocks = last_blocked(session).into_iter().flat_map(|round| blocks(session, round));
    let blocks = blocks.map(|(seat, change)| {
        let change = change.map(|change| format!(", until: {change}")).unwrap_or_default();
        format!("{seat} blocks{change}")
    });
    ideas.chain(parts).chain(merged).chain(blocks).collect()
}
