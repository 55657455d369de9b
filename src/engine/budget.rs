//! Budget of a session, checked before each round, work item and retry.
//!
//! Spending is computed from the tokens that providers report. The cost of a round is estimated from its prompts
//! and the longest allowed replies. A request without reported tokens counts at its worst case once it has
//! ended. A model without a known price is refused beforehand.

use std::collections::HashMap;

use crate::core::ReplyLimits;
use crate::history::{Price, RoundOpened, SeatInfo, SeatStatus, Session, WorkItemOffered};
use crate::participants::purse::{Funds, Purse};
use crate::round::answer::TokenUsage;
use crate::tokens::estimated_tokens;
use crate::workflow::ParticipantSpec;

/// Cost limit in USD, with prices by model.
#[derive(Debug, Clone)]
pub struct Budget {
    pub limit: f64,
    /// Models without a price are free (rehearsal, scripted and recorded seats).
    pub prices: HashMap<String, Price>,
    pub limits: ReplyLimits,
    /// Money for requests beyond the reserved ones.
    pub funds: Funds,
    /// Round that an earlier run left open.
    pub left_open: Option<u32>,
}

impl Budget {
    pub fn new(limit: f64, prices: HashMap<String, Price>, limits: ReplyLimits) -> Self {
        Self { limit, prices, limits, funds: Funds::default(), left_open: None }
    }

    fn price(&self, model: &str) -> Price {
        self.prices.get(model).copied().unwrap_or_default()
    }

    pub fn spent(&self, session: &Session) -> f64 {
        session.spent(&|model| Some(self.price(model))).dollars + self.funds.unreported_cost()
    }

    /// Returns the most that one request of a seat may cost.
    fn request_cost(&self, seat: Option<&SeatInfo>, model: &str, prompt_tokens: usize) -> f64 {
        let (input, output) = (prompt_tokens as u64 + 1000, self.limits.limit_for(seat, model));
        self.price(model).cost_usd(TokenUsage { input, output, ..TokenUsage::default() })
    }

    pub fn purse(&self, seat: Option<&SeatInfo>, model: &str, prompt_tokens: usize, reserved: u32) -> Purse {
        self.funds.purse(self.request_cost(seat, model, prompt_tokens), reserved)
    }

    /// Accounts for an earlier run: requests without reported tokens count at their worst case. Seats of a round
    /// that it left open have no reserve; each of their requests must fit into the rest.
    pub fn resume(&mut self, session: &Session) {
        let mut sealed = 0.0;
        for round in &session.rounds {
            for seat in round.seats.values() {
                let model = seat.item.as_ref().map_or("", |item| item.model.as_str());
                let each =
                    self.request_cost(session.seat_info(&seat.name), model, round.opened.estimated_tokens);
                if let SeatStatus::Sealed(_) = seat.status {
                    sealed += 2.0 * each;
                }
                self.funds.add_unreported_cost(f64::from(seat.unreported_requests()) * each);
            }
        }
        self.left_open = session.open_round().map(|round| round.opened.number);
        self.funds.set_free(self.limit - self.spent(session) - sealed);
    }

    /// Returns the number of reserved requests per seat of a round: the first and one re-ask, or none if an
    /// earlier run opened it.
    pub fn reserved_requests(&self, round: u32) -> u32 {
        if self.left_open == Some(round) { 0 } else { 2 }
    }

    /// Returns the money reserved for the open round and for open work items.
    fn reserved(&self, session: &Session) -> f64 {
        let round = session.open_round().map_or(0.0, |round| self.at_most(session, &round.opened));
        session.open_items().map(|item| self.item_cost(session, &item.offered)).sum::<f64>() + round
    }

    fn item_cost(&self, session: &Session, item: &WorkItemOffered) -> f64 {
        let (system, text) = session.agent_prompt(item);
        let seat = session.seat_info(&item.participant);
        2.0 * self.request_cost(seat, &item.model, estimated_tokens(&system) + estimated_tokens(&text))
    }

    /// Reserves `next` for the action named `what`, or returns why the limit does not allow it. The rest may go
    /// to further requests.
    fn reserve(&self, session: &Session, next: f64, what: &str) -> Option<String> {
        let (limit, spent, reserved) = (self.limit, self.spent(session), self.reserved(session));
        self.funds.set_free(limit - spent - reserved - next);
        let besides = if reserved > 0.0 { format!(", ${reserved:.4} are reserved") } else { String::new() };
        let spent_so_far =
            if spent > 0.0 { format!("${spent:.4} are spent") } else { "nothing is spent".into() };
        (spent + reserved + next > limit).then(|| {
            format!("{what} could cost ${next:.4}; the limit is ${limit}{besides}, and {spent_so_far}")
        })
    }

    /// Returns why work items may not be offered, if so. Assumes one re-ask each and the longest allowed
    /// replies.
    pub fn refuses_items<'a>(
        &self,
        session: &Session,
        items: impl Iterator<Item = &'a WorkItemOffered>,
    ) -> Option<String> {
        let (mut next, mut step) = (0.0, "");
        for item in items {
            next += self.item_cost(session, item);
            step = &item.step;
        }
        self.reserve(session, next, &format!("step `{step}`"))
    }

    /// Returns the most that a round may cost: one re-ask per seat, every reply as long as allowed.
    pub fn at_most(&self, session: &Session, opened: &RoundOpened) -> f64 {
        let specs = session.definition().participants.iter();
        let lists: HashMap<&str, &ParticipantSpec> =
            specs.filter(|spec| spec.models.len() > 1).map(|spec| (spec.name.as_str(), spec)).collect();
        // The most expensive of a list of models.
        let each = |seat: &SeatInfo| {
            let label = seat.label(&opened.step);
            let each = |model: &str| self.request_cost(Some(seat), model, opened.estimated_tokens);
            let list = lists.get(seat.name.as_str()).map(|spec| spec.models_from(label));
            list.map_or_else(|| each(label), |models| models.map(each).fold(0.0, f64::max))
        };
        let seats = opened.seats.iter().filter_map(|name| session.seat_info(name));
        seats.map(|seat| 2.0 * each(seat)).sum()
    }

    pub fn refuses(&self, session: &Session, opened: &RoundOpened) -> Option<String> {
        self.reserve(session, self.at_most(session, opened), &format!("round `{}`", opened.round))
    }

    /// Returns why a seat may not be retried, if so: the request must fit in addition to the reserved money.
    pub fn refuses_retry(
        &self,
        session: &Session,
        opened: &RoundOpened,
        seat: Option<&SeatInfo>,
        model: &str,
    ) -> Option<String> {
        let more = 2.0 * self.request_cost(seat, model, opened.estimated_tokens);
        self.reserve(session, more, "asking again").filter(|_| more > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Command;
    use crate::core::testing::{does, open_round};
    use crate::round::seal::SealedRecord;

    #[test]
    fn sealed_seats_keep_their_reserve_when_a_session_resumes() {
        let mut session = open_round("question: q\n", &[("ann", "test/a"), ("bob", "test/a")]);
        let price = Price { input: 0.0, cached: 0.0, output: 1.0 };
        let limits = ReplyLimits { usual: 1_000_000, ..ReplyLimits::default() };
        // A request costs one dollar.
        let mut budget = Budget::new(2.5, [("test/a".to_owned(), price)].into(), limits);
        let pays = |budget: &Budget| budget.purse(None, "test/a", 0, 0).pay(1).is_ok();
        budget.resume(&session);
        assert!(pays(&budget));
        let seal = SealedRecord { commitment: String::new(), enc: String::new(), sealed: Vec::new() };
        does(&mut session, Command::Seal { round: "w".to_owned(), participant: "ann".to_owned(), seal });
        let mut budget = Budget { funds: Funds::default(), ..budget };
        budget.resume(&session);
        assert!(!pays(&budget), "two requests of the sealed seat may have been charged");
    }
}
