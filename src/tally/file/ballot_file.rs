//! A ballot file while it is read, whatever its form, and what it holds in the end.

use std::collections::HashMap;

use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::tally::decimal::Decimal;
use crate::tally::profile::{CountableKind, IndexedBallot, Profile, UNLISTED, WeightedBallot};

pub(super) const ANSWERS: [(&str, CountableKind); 6] = [
    ("vote", CountableKind::Choice),
    ("approve", CountableKind::Approval),
    ("ranking", CountableKind::Ranking),
    ("scores", CountableKind::Score),
    ("consent", CountableKind::Consent),
    ("estimate", CountableKind::Estimate),
];

/// More options than this are not counted.
pub(super) const MOST_OPTIONS: usize = 1_000;

/// All ballots together may count for so much.
const MOST_VOTES: u64 = 1_000_000_000_000;

/// No more problems than this are reported.
const MOST_PROBLEMS: usize = 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BallotFile {
    pub kind: CountableKind,
    pub profile: Profile,
    pub abstained: u64,
}

pub(super) struct BallotFileBuilder<'a> {
    pub(super) file: &'a str,
    pub(super) options: Vec<String>,
    pub(super) places: HashMap<String, usize>,
    /// Whether the options stand in the file; else they are those that the ballots name.
    pub(super) are_listed: bool,
    pub(super) kind: Option<CountableKind>,
    pub(super) ballots: Vec<WeightedBallot>,
    pub(super) abstained: u64,
    pub(super) problems: Vec<Diagnostic>,
}

pub(super) struct BallotMeta {
    pub(super) line: u64,
    pub(super) column: u64,
    pub(super) voter: String,
    pub(super) count: u64,
    pub(super) weight: Decimal,
}

impl<'a> BallotFileBuilder<'a> {
    pub(super) fn new(file: &'a str) -> Self {
        Self {
            file,
            options: Vec::new(),
            places: HashMap::new(),
            are_listed: false,
            kind: None,
            ballots: Vec::new(),
            abstained: 0,
            problems: Vec::new(),
        }
    }

    pub(super) fn refuse(&mut self, at: (u64, u64), message: impl Into<String>, hint: impl Into<String>) {
        self.problems.push(Diagnostic::new(message).hint(hint).at(self.file, at.0, at.1));
    }

    pub(super) fn is_full(&self) -> bool {
        self.problems.len() >= MOST_PROBLEMS
    }

    /// Adds an option of the file's list.
    pub(super) fn list(&mut self, name: &str, at: (u64, u64)) {
        self.are_listed = true;
        if name.trim().is_empty() {
            self.refuse(at, "an option is blank", "give it a name");
        } else if self.places.insert(name.to_owned(), self.options.len()).is_some() {
            self.refuse(at, format!("option `{name}` is given twice"), "give each option once");
        } else {
            self.options.push(name.to_owned());
        }
        if self.options.len() == MOST_OPTIONS + 1 {
            self.refuse(at, format!("there are more than {MOST_OPTIONS} options"), "count fewer at a time");
        }
    }

    pub(super) fn place(&mut self, name: &str, at: (u64, u64)) -> Option<usize> {
        if let Some(place) = self.places.get(name) {
            return Some(*place);
        }
        if !self.are_listed && !name.is_empty() && self.options.len() < MOST_OPTIONS {
            self.places.insert(name.to_owned(), self.options.len());
            self.options.push(name.to_owned());
            return Some(self.options.len() - 1);
        }
        let known: Vec<&str> = self.options.iter().take(30).map(String::as_str).collect();
        let hint = did_you_mean(name, &known);
        self.refuse(at, format!("`{name}` is not among the options"), hint);
        None
    }

    /// Ranks from the options of each place; an option that stands twice is refused.
    pub(super) fn ranks(&mut self, places: &[Vec<usize>], at: (u64, u64)) -> Option<Vec<u16>> {
        let mut ranks = vec![UNLISTED; self.options.len()];
        for (rank, options) in places.iter().enumerate() {
            for option in options {
                if ranks[*option] != UNLISTED {
                    let message = format!("`{}` stands twice in one ranking", self.options[*option]);
                    self.refuse(at, message, "rank each option once");
                    return None;
                }
                ranks[*option] = rank as u16;
            }
        }
        Some(ranks)
    }

    /// Adds a ballot, if it is of the kind of those before it.
    pub(super) fn cast(&mut self, head: BallotMeta, kind: CountableKind, mark: IndexedBallot) {
        let at = (head.line, head.column);
        let known = *self.kind.get_or_insert(kind);
        if known != kind {
            let message = format!("a `{}` ballot among `{}` ballots", kind.name(), known.name());
            return self.refuse(at, message, "a file holds ballots of one kind");
        }
        let BallotMeta { voter, count, weight, .. } = head;
        self.ballots.push(WeightedBallot { voter, count, weight, own: None, mark });
    }

    pub(super) fn finish(mut self) -> Result<BallotFile, Vec<Diagnostic>> {
        let options = self.options.len();
        for ballot in &mut self.ballots {
            // Options that a later ballot named first.
            if let IndexedBallot::Ranking(ranks) = &mut ballot.mark {
                ranks.resize(options, UNLISTED);
            }
            if let IndexedBallot::Scores(scores) = &mut ballot.mark {
                scores.resize(options, None);
            }
        }
        let profile = Profile { options: self.options, ballots: self.ballots, ..Profile::default() };
        let cast = profile.ballots.iter().fold(0_u64, |sum, ballot| sum.saturating_add(ballot.count));
        if cast.saturating_add(self.abstained) > MOST_VOTES
            || profile.total_weight() > Decimal::whole(MOST_VOTES)
        {
            let problem = Diagnostic::new("the ballots count for more than a million million votes");
            self.problems
                .push(problem.hint("count fewer, or give them smaller weights").with_file(self.file));
        }
        let kind = self.kind.unwrap_or(CountableKind::Choice);
        if profile.ballots.is_empty() && self.abstained == 0 && self.problems.is_empty() {
            let problem = Diagnostic::new("the file holds no ballots").hint("add one under `ballots`");
            self.problems.push(problem.with_file(self.file));
        }
        if self.problems.is_empty() {
            Ok(BallotFile { kind, profile, abstained: self.abstained })
        } else {
            self.problems.truncate(MOST_PROBLEMS);
            Err(self.problems)
        }
    }
}

pub(super) fn count_of(text: &str) -> Option<u64> {
    text.trim().parse().ok().filter(|count| *count <= MOST_VOTES)
}
