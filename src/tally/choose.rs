//! Several winners: the first few of an order, or every option that at least half of those asked approve.

use super::decimal::{Decimal, Score};
use super::no_decision::NoDecision;
use super::rule::{Choose, Share};
use super::verdict::Verdict;

impl Choose {
    /// Takes the winners from the order of a count; `asked` is what the seats that were asked weigh.
    pub(super) fn apply(self, verdict: &mut Verdict, asked: Decimal) {
        let half = Score::from(asked).as_f64() / 2.0;
        let (mut chosen, mut edge) = (Vec::new(), Vec::new());
        for level in &verdict.order {
            let score =
                level.first().and_then(|option| verdict.scores.get(option)).map_or(0.0, Score::as_f64);
            let fits = match self {
                Self::Number(most) => chosen.len() + level.len() <= most,
                Self::Share(Share::Half) => score >= half,
            };
            if score > 0.0 && fits {
                chosen.extend(level.iter().cloned());
                continue;
            }
            if matches!(self, Self::Number(most) if score > 0.0 && chosen.len() < most) {
                edge.clone_from(level);
            }
            break;
        }
        verdict.tie = !edge.is_empty();
        verdict.reason = match (edge.is_empty(), chosen.is_empty()) {
            (false, _) => Some(NoDecision::EdgeTie(edge)),
            (true, true) if self == Self::HALF => Some(NoDecision::NoneByHalf),
            (true, true) => Some(NoDecision::NoBallots),
            (true, false) => None,
        };
        verdict.winners = chosen;
    }
}
