//! The money a session may cost: checked before a round is opened, never after.
//!
//! What was spent is counted from the tokens services reported; what a round may cost is estimated
//! from its prompts and the longest reply allowed. A model without a known price is refused before.

use std::collections::HashMap;

use crate::round::record::Usage;
use crate::session::{RoundOpened, SeatStatus, Session, WorkItemOffered};
use crate::text::estimated_tokens;

/// What a million tokens cost, in US dollars.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Price {
    /// Of a prompt.
    pub input: f64,
    /// Of what of a prompt the service had in its cache.
    pub cached: f64,
    /// Of a reply.
    pub output: f64,
}

impl Price {
    /// What these tokens cost.
    pub fn of(&self, tokens: Usage) -> f64 {
        let anew = tokens.input.saturating_sub(tokens.cached);
        let input = anew as f64 * self.input + tokens.cached as f64 * self.cached;
        (input + tokens.output as f64 * self.output) / 1e6
    }
}

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
        self.spend(model, Usage { input, output, cached: 0 })
    }

    fn spend(&self, model: &str, tokens: Usage) -> f64 {
        self.prices.get(model).copied().unwrap_or_default().of(tokens)
    }

    /// What the session has cost so far, as far as services reported tokens.
    pub fn spent(&self, session: &Session) -> f64 {
        let seats = session.rounds.iter().flat_map(|round| round.seats.values());
        let cost = |status: &SeatStatus| match status {
            SeatStatus::Revealed(answer, _) => {
                answer.tokens.map_or(0.0, |tokens| self.spend(&answer.model, tokens))
            }
            _ => 0.0,
        };
        let items = session.items.values().flat_map(|item| {
            let returned = item.returned.iter().filter_map(|(back, _)| back.tokens);
            returned.map(|tokens| self.spend(&item.offered.model, tokens))
        });
        seats.map(|seat| cost(&seat.status)).chain(items).sum()
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
}
