//! The money a session may cost: checked before a round is opened, never after.
//!
//! What was spent is counted from the tokens services reported; what a round may cost is estimated
//! from its prompts and the longest reply allowed. A model without a known price is refused before.

use std::collections::HashMap;

use crate::round::record::Usage;
use crate::session::{Price, RoundOpened, Session, WorkItemOffered};
use crate::text::estimated_tokens;

/// A limit in US dollars, and prices by model.
#[derive(Debug, Clone)]
pub struct Budget {
    /// The limit.
    pub limit: f64,
    /// Prices; models without one cost nothing (the rehearsal, scripted and recorded seats).
    pub prices: HashMap<String, Price>,
    /// The most tokens a reply may have.
    pub max_output_tokens: u64,
}

impl Budget {
    fn cost(&self, model: &str, input: u64, output: u64) -> f64 {
        self.price(model).of(Usage { input, output, cached: 0 })
    }

    fn price(&self, model: &str) -> Price {
        self.prices.get(model).copied().unwrap_or_default()
    }

    /// What the session has cost so far, as far as services reported tokens.
    pub fn spent(&self, session: &Session) -> f64 {
        session.spent(&|model| Some(self.price(model))).dollars
    }

    /// Why work items may not be handed out, if they may not: each could be asked once more, every
    /// reply as long as allowed.
    pub fn refuses_items<'a>(
        &self,
        session: &Session,
        items: impl Iterator<Item = &'a WorkItemOffered>,
    ) -> Option<String> {
        let mut next = 0.0;
        let mut steps = Vec::new();
        for item in items {
            let (system, text) = session.agent_prompt(item);
            let input = estimated_tokens(system.len() + text.len()) as u64 + 1000;
            next += 2.0 * self.cost(&item.model, input, self.max_output_tokens);
            steps.push(item.step.as_str());
        }
        let spent = self.spent(session);
        (spent + next > self.limit).then(|| {
            let (limit, step) = (self.limit, steps.first().copied().unwrap_or_default());
            format!(
                "step `{step}` could cost {next:.4} $ and {spent:.4} $ are spent: more than the limit of {limit} $"
            )
        })
    }

    /// What the round may cost at most: every seat asked once more, every reply as long as allowed.
    pub fn at_most(&self, session: &Session, opened: &RoundOpened) -> f64 {
        let input = opened.estimated_tokens as u64 + 1000;
        let models = opened.seats.iter().filter_map(|name| session.seat_info(name));
        models.map(|seat| 2.0 * self.cost(seat.label(&opened.step), input, self.max_output_tokens)).sum()
    }

    /// Why the round may not be opened, if it may not.
    pub fn refuses(&self, session: &Session, opened: &RoundOpened) -> Option<String> {
        let (spent, next) = (self.spent(session), self.at_most(session, opened));
        (spent + next > self.limit).then(|| {
            let limit = self.limit;
            format!(
                "round `{}` could cost {next:.4} $ and {spent:.4} $ are spent: more than the limit of {limit} $",
                opened.round
            )
        })
    }

    /// Why a seat of the open round may not be asked anew, if it may not: the round as it was opened and
    /// this request on top must bear it.
    pub fn refuses_retry(&self, session: &Session, opened: &RoundOpened, model: &str) -> Option<String> {
        let input = opened.estimated_tokens as u64 + 1000;
        let more = 2.0 * self.cost(model, input, self.max_output_tokens);
        let (spent, round) = (self.spent(session), self.at_most(session, opened));
        (more > 0.0 && spent + round + more > self.limit).then(|| {
            let limit = self.limit;
            format!(
                "asking anew could cost {more:.4} $ beside {round:.4} $ for the round and {spent:.4} $ spent: \
                 more than the limit of {limit} $"
            )
        })
    }
}
