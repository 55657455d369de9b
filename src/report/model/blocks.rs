//! What the first page says beside the verdict: what each seat said, findings in groups, the estimates of each
//! round, how a proposal changed. Texts are raw.

use serde::Serialize;

use super::dissent::{Absent, Moved};
use super::{Report, said};
use crate::ballot::{Ballot, BallotKind};
use crate::history::RoundRun;
use crate::insight::findings::{FindingGroup, grouped};
use crate::insight::{cut, estimates, first_names, is_revealed, join_list, seats};

/// How much of an answer stands in its line, in characters.
const PART: usize = 280;
/// How many lines a block has; the rest is in the record.
const MOST: usize = 30;

/// Lines under a heading, each with what it is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Block {
    pub heading: String,
    pub note: Option<String>,
    pub lines: Vec<(String, String)>,
    pub more: usize,
}

impl Block {
    fn new(heading: String, note: Option<String>, mut lines: Vec<(String, String)>) -> Self {
        let more = lines.len().saturating_sub(MOST);
        lines.truncate(MOST);
        Self { heading, note, lines, more }
    }
}

impl Report<'_> {
    pub fn blocks(&self) -> Vec<Block> {
        let mut found: Vec<Block> = match &self.decision {
            Some(_) => self.amendments().into_iter().collect(),
            None => {
                self.rounds.iter().filter(|run| is_revealed(run)).flat_map(|run| self.said_in(run)).collect()
            }
        };
        let spread = self.run.map(|run| estimates(self.session, run)).unwrap_or_default();
        if !spread.is_empty() {
            let line = |line: String| match line.split_once(": ") {
                Some((round, rest)) => (round.to_owned(), rest.to_owned()),
                None => (String::new(), line),
            };
            let lines = spread.into_iter().map(line).collect();
            found.push(Block::new("The estimates, round by round".to_owned(), None, lines));
        }
        found.retain(|block| !block.lines.is_empty() || block.note.is_some());
        found
    }

    /// Who changed their ballot between the rounds; none where nobody did.
    pub fn movement(&self) -> Option<Block> {
        let line = |one: Moved| {
            let with = if one.has_new_argument { "with" } else { "without" };
            let words =
                if one.said.is_empty() { String::new() } else { format!(": “{}”", cut(&one.said, PART)) };
            let way = format!("{} → {}", cut(&one.from, 80), cut(&one.to, 80));
            (format!("{} in round {}", one.seat, one.round), format!("{way}, {with} a new argument{words}"))
        };
        let lines: Vec<_> = self.moves().into_iter().map(line).collect();
        (!lines.is_empty()).then(|| Block::new("How it moved".to_owned(), None, lines))
    }

    /// The seats without a ballot that counts, with the reasons; none where all have one.
    pub fn without_ballot(&self) -> Option<Block> {
        let line = |one: Absent| {
            let why = one.reason.map(|why| format!(": {}", cut(&why, 1000))).unwrap_or_default();
            (first_names(&one.seats, 12), format!("{}{why}", one.outcome))
        };
        let lines: Vec<_> = self.absent().into_iter().map(line).collect();
        (!lines.is_empty()).then(|| Block::new("Seats that did not count".to_owned(), None, lines))
    }

    /// What a round without a rule brought: its findings in groups, else a line a seat.
    fn said_in(&self, run: &RoundRun) -> Vec<Block> {
        let note = run.synthesis.clone();
        if run.opened.ballot.kind == BallotKind::Findings {
            return self.findings(run, note);
        }
        let line = |seat: crate::insight::SeatView<'_>| {
            let listed = seat.ballot().map(Ballot::listing).unwrap_or_default().join("; ");
            let text = Some(said(&seat)).filter(|text| !text.is_empty()).unwrap_or(listed);
            (!text.is_empty()).then(|| (seat.name.to_owned(), cut(&text, PART)))
        };
        let lines: Vec<_> = seats(self.session, run).filter_map(line).collect();
        let heading = match self.rounds.len() {
            1 => "What each seat said".to_owned(),
            _ => format!("Round {}: {}", run.opened.number, cut(&run.opened.question, 200)),
        };
        vec![Block::new(heading, note, lines)]
    }

    fn findings(&self, run: &RoundRun, note: Option<String>) -> Vec<Block> {
        let found = grouped(self.session, run);
        let silent = seats(self.session, run)
            .filter(|seat| matches!(seat.ballot(), Some(Ballot::Findings(own)) if own.is_empty()));
        let silent = join_list(silent.map(|seat| seat.name.to_owned()));
        let silent = if silent.is_empty() { silent } else { format!(" (none found by {silent})") };
        let of = found.answered;
        let (shared, alone): (Vec<_>, Vec<_>) = found.groups.iter().partition(|group| group.seats() > 1);
        let lines =
            |groups: &[&FindingGroup<'_>]| groups.iter().map(|group| finding_line(group, of)).collect();
        let first = if shared.is_empty() { "Findings" } else { "Found by several seats" };
        let mut blocks = vec![Block::new(format!("{first}{silent}"), note, lines(&shared))];
        blocks.push(Block::new("Found by one seat only".to_owned(), None, lines(&alone)));
        if shared.is_empty() {
            blocks[0].lines = std::mem::take(&mut blocks[1].lines);
        }
        let missing = found.groups.iter().flat_map(|group| &group.not_in_evidence);
        let missing = missing.map(|(seat, place)| (place.clone(), format!("named by {seat}"))).collect();
        blocks.push(Block::new("Places that are not in the evidence".to_owned(), None, missing));
        blocks
    }

    /// The texts of a proposal that was amended, the earliest first: who blocked each, and what was changed.
    fn amendments(&self) -> Option<Block> {
        let is_consent = self.run?.opened.ballot.kind == BallotKind::Consent;
        let mut texts: Vec<(&RoundRun, &str)> = Vec::new();
        for run in self.rounds.iter().filter(|_| is_consent) {
            if texts.last().is_none_or(|(_, text)| *text != run.opened.question) {
                texts.push((run, &run.opened.question));
            }
        }
        let mut lines = Vec::new();
        for (at, (run, text)) in texts.iter().enumerate() {
            lines.push((format!("Round {}", run.opened.number), (*text).to_owned()));
            if let Some((_, before)) = at.checked_sub(1).map(|before| texts[before]) {
                lines.push(("Changed".to_owned(), changed(before, text)));
            }
            for seat in seats(self.session, run).filter(|_| at + 1 < texts.len() && is_revealed(run)) {
                if let Some(change) = seat.ballot().and_then(Ballot::minimum_change) {
                    lines.push((format!("{} blocked", seat.name), format!("until: {}", cut(change, PART))));
                }
            }
        }
        (texts.len() > 1).then(|| Block::new("How the proposal changed".to_owned(), None, lines))
    }
}

/// The words in which two texts differ: "“weekly” became “every two weeks”".
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

fn finding_line(group: &FindingGroup<'_>, of: usize) -> (String, String) {
    let place = group.place().map(|place| format!(" {place}")).unwrap_or_default();
    let (seat, claim) =
        group.findings.first().map_or(("", ""), |(seat, finding)| (*seat, finding.claim.as_str()));
    let more = match group.findings.len() - 1 {
        0 => String::new(),
        more => format!(" + {more} more"),
    };
    let aside = group.set_aside.map(|why| format!(" Set aside: {why}")).unwrap_or_default();
    let text = group.title.unwrap_or(claim);
    let head = format!("{}{place}", group.severity().name());
    (head, format!("{} of {of}: {} ({seat}{more}){aside}", group.seats(), cut(text, PART)))
}

#[cfg(test)]
mod tests {
    use super::changed;

    #[test]
    fn what_was_amended_is_marked() {
        let [before, now] = ["Paid 100 EUR a day. Agreed?", "Paid 100 EUR a day; a free Monday. Agreed?"];
        assert_eq!(changed(before, now), "“day.” became “day; a free Monday.”");
        assert_eq!(
            (changed("a b a", "a a"), changed("a", "a b")),
            ("left out “b”".into(), "added “b”".into())
        );
    }
}
