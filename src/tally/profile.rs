//! Ballots as the rules see them: what each says, how often it was cast and what it weighs.
//!
//! A ballot of weight 2 counts as two under every rule that adds ballots up. Options are indices into
//! one list, in the order of the form. Who may vote and what is valid was settled before.

use strum::{IntoStaticStr, VariantArray};

use super::decimal::Decimal;

#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum CountableKind {
    Choice,
    Approval,
    /// Options in order, ties and truncation allowed.
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

/// The rank of an option that a ballot leaves out: below all that it lists.
pub const UNLISTED: u16 = u16::MAX;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexedBallot {
    Choice(usize),
    Approval(Vec<usize>),
    /// The rank of each option, 0 the best, equal ranks a tie, [`UNLISTED`] where it is left out.
    Ranking(Vec<u16>),
    /// The score of each option, where it has one.
    Scores(Vec<Option<Decimal>>),
    Support,
    /// Has doubts and does not stand in the way.
    StandAside,
    /// Stands in the way until this change is made, if one is stated.
    Block(Option<String>),
    Number(Decimal),
    Card(usize),
}

/// A ballot, cast by one voter or by several alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeightedBallot {
    pub voter: String,
    pub count: u64,
    pub weight: Decimal,
    /// The option that is its voter's own: it is not compared with others on this ballot.
    pub own: Option<usize>,
    pub mark: IndexedBallot,
}

impl WeightedBallot {
    /// A ballot of weight 1, cast once.
    pub fn one(voter: impl Into<String>, mark: IndexedBallot) -> Self {
        Self { voter: voter.into(), count: 1, weight: Decimal::ONE, own: None, mark }
    }

    /// Its weight, as often as it was cast.
    pub fn total_weight(&self) -> Decimal {
        self.weight.repeated(self.count)
    }
}

/// Everything a rule counts: the options and the valid ballots, abstentions not among them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    /// The options in the order of the form; of an estimate its cards.
    pub options: Vec<String>,
    pub ballots: Vec<WeightedBallot>,
    /// Seats without a valid answer that may block all the same.
    pub may_block: Vec<String>,
    /// The weight of the seats that were asked, where that is known.
    pub asked: Option<Decimal>,
}

impl Profile {
    pub fn ballot_count(&self) -> u64 {
        self.ballots.iter().map(|ballot| ballot.count).sum()
    }

    /// Returns whether a ballot scores the option, be it with 0 or less.
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

    /// A step that says how weights count, if a ballot has another weight than 1.
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

    /// A step that says that own options are not compared, if they are not.
    pub fn own_step(&self) -> Option<String> {
        let is_any = self.ballots.iter().any(|ballot| ballot.own.is_some());
        is_any.then(|| "a ballot compares no option with its voter's own".to_owned())
    }

    /// The ballots with their rankings; those that rank nothing are left out.
    ///
    /// A choice stands above all others, approved options above the rest, scores by their size.
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

/// Scores as ranks: the highest first, options without a score left out.
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
