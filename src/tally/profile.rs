//! Ballots as the voting rules see them: content, count and weight.
//!
//! A ballot of weight 2 counts as two under every rule that adds up ballots. Options are indexes into one
//! list, in form order. Eligibility and validity are checked before.

use strum::{IntoStaticStr, VariantArray};

use super::decimal::Decimal;

#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum CountableKind {
    Choice,
    Approval,
    /// Options in order; ties and omissions are allowed.
    Ranking,
    Score,
    /// `support`, `stand-aside` or `block`.
    Consent,
    Estimate,
}

impl CountableKind {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Rank of an option that a ballot omits: below all that it lists.
pub const UNLISTED: u16 = u16::MAX;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexedBallot {
    Choice(usize),
    Approval(Vec<usize>),
    /// Rank of each option: 0 is best, equal ranks tie, [`UNLISTED`] means omitted.
    Ranking(Vec<u16>),
    /// Score of each option, if it has one.
    Scores(Vec<Option<Decimal>>),
    Support,
    /// Has doubts but does not object.
    StandAside,
    /// Objects until this change is made, if one is stated.
    Block(Option<String>),
    Number(Decimal),
    Card(usize),
}

/// Ballot, cast by one voter or by several alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeightedBallot {
    pub voter: String,
    pub count: u64,
    pub weight: Decimal,
    /// The voter's own option, which this ballot does not compare with others.
    pub own: Option<usize>,
    pub mark: IndexedBallot,
}

impl WeightedBallot {
    /// Creates a ballot of weight 1, cast once.
    pub fn one(voter: impl Into<String>, mark: IndexedBallot) -> Self {
        Self { voter: voter.into(), count: 1, weight: Decimal::ONE, own: None, mark }
    }

    /// Returns the weight times the count.
    pub fn total_weight(&self) -> Decimal {
        self.weight.repeated(self.count)
    }
}

/// Input of a rule: the options and the valid ballots, without abstentions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    /// Options in form order; the cards of an estimate.
    pub options: Vec<String>,
    pub ballots: Vec<WeightedBallot>,
    /// Seats whose invalid reply may be a block.
    pub may_block: Vec<String>,
    /// Weight of the seats asked, if known.
    pub asked: Option<Decimal>,
}

impl Profile {
    pub fn ballot_count(&self) -> u64 {
        self.ballots.iter().map(|ballot| ballot.count).sum()
    }

    /// Checks if any ballot scores the option, even with 0 or less.
    pub fn scores(&self, option: &str) -> bool {
        let at = self.options.iter().position(|own| own == option);
        let is_scored = |ballot: &WeightedBallot| match &ballot.mark {
            IndexedBallot::Scores(scores) => at.and_then(|at| scores.get(at)).is_some_and(Option::is_some),
            _ => false,
        };
        self.ballots.iter().any(is_scored)
    }

    pub fn total_weight(&self) -> Decimal {
        self.ballots.iter().map(WeightedBallot::total_weight).sum()
    }

    /// Returns a step that lists weights, if any differs from 1.
    pub fn weights_step(&self) -> Option<String> {
        let heavy = self.ballots.iter().filter(|ballot| ballot.weight != Decimal::ONE);
        let mut named: Vec<String> =
            heavy.map(|ballot| format!("{} {}", ballot.voter, ballot.weight)).take(9).collect();
        let more = if named.len() > 8 { " and others" } else { "" };
        named.truncate(8);
        let named = named.join(", ");
        (!named.is_empty())
            .then(|| format!("a ballot counts as often as it weighs: {named}{more}; all others 1"))
    }

    /// Returns a step about own options that are not compared, if any.
    pub fn own_step(&self) -> Option<String> {
        let is_any = self.ballots.iter().any(|ballot| ballot.own.is_some());
        is_any.then(|| "a ballot compares no option with its voter's own".to_owned())
    }

    /// Returns the ballots with their ranks, without those that rank nothing.
    ///
    /// A chosen or approved option ranks above the others; scores rank by size.
    pub fn ranked(&self) -> impl Iterator<Item = (&WeightedBallot, Vec<u16>)> {
        self.ballots.iter().filter_map(|ballot| Some((ballot, self.ranks(&ballot.mark)?)))
    }

    fn ranks(&self, mark: &IndexedBallot) -> Option<Vec<u16>> {
        let listed = |top: &[usize]| {
            let mut ranks = vec![UNLISTED; self.options.len()];
            for option in top {
                *ranks.get_mut(*option)? = 0;
            }
            Some(ranks)
        };
        match mark {
            IndexedBallot::Choice(option) => listed(&[*option]),
            IndexedBallot::Approval(options) => listed(options),
            IndexedBallot::Ranking(ranks) => Some(ranks.clone()),
            IndexedBallot::Scores(scores) => Some(by_score(scores)),
            _ => None,
        }
    }

    pub fn names(&self, options: &[usize]) -> Vec<String> {
        options.iter().filter_map(|option| self.options.get(*option).cloned()).collect()
    }
}

/// Converts scores to ranks, highest first; options without a score are unlisted.
fn by_score(scores: &[Option<Decimal>]) -> Vec<u16> {
    let mut given: Vec<Decimal> = scores.iter().flatten().copied().collect();
    given.sort_unstable_by(|a, b| b.cmp(a));
    given.dedup();
    let rank = |score: &Option<Decimal>| {
        given.iter().position(|other| Some(*other) == *score).map_or(UNLISTED, |at| at as u16)
    };
    scores.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_over_options_has_its_ranking() {
        let profile = Profile { options: ["a", "b", "c"].map(str::to_owned).to_vec(), ..Profile::default() };
        let ranks = |mark: IndexedBallot| profile.ranks(&mark);
        assert_eq!(ranks(IndexedBallot::Choice(1)), Some(vec![UNLISTED, 0, UNLISTED]));
        assert_eq!(ranks(IndexedBallot::Approval(vec![0, 2])), Some(vec![0, UNLISTED, 0]));
        let scores = vec![Some(Decimal::whole(4)), None, Some(Decimal::whole(4))];
        assert_eq!(ranks(IndexedBallot::Scores(scores)), Some(vec![0, UNLISTED, 0]));
        assert_eq!(ranks(IndexedBallot::Support), None);
        assert_eq!(ranks(IndexedBallot::Choice(9)), None);
    }
}
