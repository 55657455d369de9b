//! Summary blocks: answers, grouped findings, estimates and amendments, with raw texts.

use indexmap::IndexMap;
use serde::Serialize;

use super::dissent::{Moved, said};
use super::question::QuestionRounds;
use crate::ballot::{Ballot, BallotKind};
use crate::history::RoundRun;
use crate::insight::findings::{FindingGroup, grouped};
use crate::insight::{SeatView, cut, estimates, first_names, is_revealed, seats};
use crate::round::answer::Outcome;

/// Longest excerpt of an answer in its line, in characters.
const PART: usize = 280;
/// Most lines of a block; the record has all.
const MOST: usize = 30;

/// Lines under a heading, each with its subject.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Block {
    pub heading: String,
    pub note: Option<String>,
    pub lines: Vec<(String, String)>,
    pub more: usize,
}

impl Block {
    fn new(heading: impl Into<String>, note: Option<String>, mut lines: Vec<(String, String)>) -> Self {
        let more = lines.len().saturating_sub(MOST);
        lines.truncate(MOST);
        Self { heading: heading.into(), note, lines, more }
    }

    /// Creates a block without a note; `None` without lines.
    fn from_lines(heading: &str, lines: Vec<(String, String)>) -> Option<Self> {
        (!lines.is_empty()).then(|| Self::new(heading, None, lines))
    }

    /// Lists the seats that changed their ballot between rounds.
    pub fn from_moves(moves: &[Moved]) -> Option<Self> {
        let line = |one: &Moved| {
            let Moved { round, seat, from, to, has_new_argument, joined_leader, said } = one;
            let joined = if *joined_leader { ", joining the leader" } else { "" };
            let with = if *has_new_argument { "with" } else { "without" };
            let words = if said.is_empty() { String::new() } else { format!(": “{}”", cut(said, PART)) };
            let way = format!("{} → {}", cut(from, 80), cut(to, 80));
            (format!("{seat} in round {round}"), format!("{way}{joined}, {with} a new argument{words}"))
        };
        Self::from_lines("How it moved", moves.iter().map(line).collect())
    }
}

impl QuestionRounds<'_> {
    pub fn blocks(&self) -> Vec<Block> {
        let mut found: Vec<Block> = if self.rule.is_some() {
            self.amendments().into_iter().collect()
        } else {
            self.rounds.iter().filter(|run| is_revealed(run)).flat_map(|run| self.said_in(run)).collect()
        };
        let spread = self.run.map(|run| estimates(self.session, run)).unwrap_or_default();
        found.extend(Block::from_lines("The estimates, round by round", spread));
        found.extend(Block::from_lines(
            "Chosen by fewer than a third before the reasons were read",
            self.risen_winners(),
        ));
        found.retain(|block| !block.lines.is_empty() || block.note.is_some());
        found
    }

    /// Lists the seats of the deciding round without a counted ballot, by reason. Abstentions are ballots.
    pub fn not_counted(&self) -> Option<Block> {
        let mut found: IndexMap<(&str, Option<&str>), Vec<&str>> = IndexMap::new();
        let counted = self.run.filter(|_| self.tally.is_some());
        for seat in counted.into_iter().flat_map(|run| seats(self.session, run)) {
            let outcome = match seat.outcome {
                None | Some(Outcome::Answered | Outcome::Abstained) => continue,
                Some(Outcome::Invalid) => "gave no valid answer",
                Some(Outcome::Refused) => "declined to answer",
                Some(Outcome::Failed) => "failed",
                Some(Outcome::TimedOut) => "timed out",
                Some(Outcome::Missing) => "did not answer before the close",
                Some(Outcome::Excused) => "was excused",
            };
            found.entry((outcome, seat.reason)).or_default().push(seat.name);
        }
        let lines = found.into_iter().map(|((outcome, reason), seats)| {
            let why = reason.map(|why| format!(": {}", cut(why, 1000))).unwrap_or_default();
            (first_names(&seats, 12), format!("{outcome}{why}"))
        });
        Block::from_lines("Seats that did not count", lines.collect())
    }

    /// Returns the content of a round without a rule: grouped findings, else one line per seat.
    fn said_in(&self, run: &RoundRun) -> Vec<Block> {
        if run.opened.ballot.kind == BallotKind::Findings {
            return self.findings(run);
        }
        let line = |seat: SeatView<'_>| {
            let listed = seat.ballot().map(Ballot::listing).unwrap_or_default().join("; ");
            let mut text = Some(said(&seat)).filter(|text| !text.is_empty()).unwrap_or(listed);
            if seat.outcome == Some(Outcome::Abstained) {
                text = if text.is_empty() { "abstained".to_owned() } else { format!("abstained: {text}") };
            }
            (!text.is_empty()).then(|| (seat.name.to_owned(), cut(&text, PART)))
        };
        let lines: Vec<_> = seats(self.session, run).filter_map(line).collect();
        let heading = match self.rounds.len() {
            1 => "What each seat said".to_owned(),
            _ => format!("Round {}: {}", run.opened.number, cut(&run.opened.question, 200)),
        };
        vec![Block::new(heading, run.synthesis.clone(), lines)]
    }

    fn findings(&self, run: &RoundRun) -> Vec<Block> {
        let is_silent =
            |seat: &SeatView<'_>| matches!(seat.ballot(), Some(Ballot::Findings(own)) if own.is_empty());
        let silent: Vec<&str> = seats(self.session, run).filter(is_silent).map(|seat| seat.name).collect();
        let (mut shared, mut alone) = (Vec::new(), Vec::new());
        let groups = grouped(self.session, run);
        for group in &groups {
            let side = if group.seats > 1 { &mut shared } else { &mut alone };
            side.push(finding_line(group));
        }
        let mut heading = "Found by several seats".to_owned();
        if shared.is_empty() {
            (heading, shared) = ("Findings".to_owned(), std::mem::take(&mut alone));
        }
        if !silent.is_empty() {
            heading += &format!(" (none found by {})", first_names(&silent, 12));
        }
        let missing = groups.iter().flat_map(|group| &group.not_in_evidence);
        let missing = missing.map(|(seat, place)| (place.clone(), format!("named by {seat}"))).collect();
        vec![
            Block::new(heading, run.synthesis.clone(), shared),
            Block::new("Found by one seat only", None, alone),
            Block::new("Places that are not in the evidence", None, missing),
        ]
    }

    /// Lists the versions of an amended proposal, earliest first: each change, and who blocked why.
    fn amendments(&self) -> Option<Block> {
        let mut texts = self.rounds.clone();
        texts.dedup_by_key(|run| &run.opened.question);
        if self.kind() != BallotKind::Consent || texts.len() < 2 {
            return None;
        }
        let mut lines = Vec::new();
        for (at, run) in texts.iter().enumerate() {
            lines.push((format!("Round {}", run.opened.number), run.opened.question.clone()));
            if let Some(before) = at.checked_sub(1).map(|before| texts[before]) {
                let what = changed(&before.opened.question, &run.opened.question);
                lines.push(("Changed".to_owned(), what));
            }
            for seat in seats(self.session, run).filter(|_| at + 1 < texts.len()) {
                if let Some(change) = seat.ballot().and_then(Ballot::minimum_change) {
                    lines.push((format!("{} blocked until", seat.name), cut(change, PART)));
                }
            }
        }
        Some(Block::new("How the proposal changed", None, lines))
    }
}

/// Describes the words that changed: "“weekly” became “every two weeks”".
fn changed(before: &str, now: &str) -> String {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<String>>();
    let (old, new) = (words(before), words(now));
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let ends = old[head..].iter().rev().zip(new[head..].iter().rev());
    let tail = ends.take_while(|(a, b)| a == b).count();
    let part = |words: &[String]| cut(&words[head..words.len() - tail].join(" "), PART);
    match (part(&old), part(&new)) {
        (old, new) if old.is_empty() => format!("added “{new}”"),
        (old, new) if new.is_empty() => format!("left out “{old}”"),
        (old, new) => format!("“{old}” became “{new}”"),
    }
}

/// Formats a group: "2 of 3: It pays twice (qa); It retries (architect, skeptic)".
fn finding_line(group: &FindingGroup<'_>) -> (String, String) {
    /// Number of claims shown; the record has all.
    const CLAIMS: usize = 4;
    let mut claims: IndexMap<&str, Vec<&str>> = IndexMap::new();
    for one in &group.findings {
        claims.entry(one.finding.claim.trim()).or_default().push(one.participant);
    }
    let more = claims.len().saturating_sub(CLAIMS);
    let claim = |(claim, seats): (&&str, &Vec<&str>)| {
        format!("{} ({})", cut(claim.trim_end_matches('.'), PART), first_names(seats, 4))
    };
    let mut shown: Vec<String> = claims.iter().take(CLAIMS).map(claim).collect();
    shown.extend((more > 0).then(|| format!("{more} more")));
    let title = group.title.map(|title| format!("{}: ", cut(title, PART))).unwrap_or_default();
    let place = group.place.as_ref().map(|place| format!(" {place}")).unwrap_or_default();
    let aside = group.set_aside.map(|why| format!("; set aside: {why}")).unwrap_or_default();
    let text = format!("{} of {}: {title}{}{aside}", group.seats, group.of, shown.join("; "));
    (format!("{}{place}", group.severity.name()), text)
}

#[cfg(test)]
mod tests {
    use super::changed;

    #[test]
    fn amended_words_are_marked() {
        let [before, now] = ["Paid 100 EUR a day. Agreed?", "Paid 100 EUR a day; a free Monday. Agreed?"];
        assert_eq!(changed(before, now), "“day.” became “day; a free Monday.”");
        assert_eq!(
            (changed("a b a", "a a"), changed("a", "a b")),
            ("left out “b”".into(), "added “b”".into())
        );
    }
}
