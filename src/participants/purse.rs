//! Budget of requests under a cost limit.
//!
//! Each request is charged before it is sent. A seat has its first request and one re-ask reserved; more
//! requests must fit into the unreserved rest. A request without reported usage counts with its maximum cost.

use std::sync::{Arc, Mutex};

use super::TokenUsage;
use super::progress::lock;

/// Rest of the cost limit for all seats, in US dollars.
#[derive(Debug, Clone, Default)]
pub struct Funds(Arc<Mutex<Left>>);

#[derive(Debug, Default)]
struct Left {
    /// Dollars that are not reserved for any seat.
    free: f64,
    /// Maximum cost of the requests without reported usage, in dollars.
    unreported: f64,
    /// Usage of all other requests.
    reported: Vec<TokenUsage>,
}

impl Funds {
    pub fn unreported_cost(&self) -> f64 {
        lock(&self.0).unreported
    }

    pub fn reported_usage(&self) -> Vec<TokenUsage> {
        lock(&self.0).reported.clone()
    }

    /// Adds the maximum cost of earlier requests without reported usage.
    pub fn add_unreported_cost(&self, dollars: f64) {
        lock(&self.0).unreported += dollars;
    }

    /// Sets the dollars that are not reserved for any seat.
    pub fn set_free(&self, dollars: f64) {
        lock(&self.0).free = dollars;
    }

    /// Returns the budget of one seat: `aside` reserved requests of at most `each` dollars.
    pub fn purse(&self, each: f64, aside: u32) -> Purse {
        Purse { funds: self.clone(), each, aside: Arc::new(Mutex::new(aside)) }
    }
}

/// Budget of one seat; unlimited without a cost limit, or if its requests are free.
#[derive(Debug, Clone, Default)]
pub struct Purse {
    funds: Funds,
    each: f64,
    aside: Arc<Mutex<u32>>,
}

impl Purse {
    pub fn is_limited(&self) -> bool {
        self.each > 0.0
    }

    /// Charges a request before it is sent, or fails; `rooms` is 2 if its output limit is doubled.
    pub fn pay(&self, rooms: u32) -> Result<Paid, String> {
        let (mut aside, mut left) = (lock(&self.aside), lock(&self.funds.0));
        let from_aside = rooms.min(*aside);
        let beyond = f64::from(rooms - from_aside) * self.each;
        if self.is_limited() && left.free < beyond {
            return Err(format!("one more request could cost ${beyond:.4}, more than the limit leaves"));
        }
        *aside -= from_aside;
        left.free -= beyond;
        Ok(Paid { purse: self.clone(), rooms })
    }
}

/// Request that is charged. Dropping it without `settle` counts its maximum cost.
#[derive(Debug)]
pub struct Paid {
    purse: Purse,
    rooms: u32,
}

impl Paid {
    /// Settles a finished request. Reported usage replaces the maximum cost; if the request was free, its
    /// reservation returns to the seat.
    pub fn settle(mut self, usage: Option<TokenUsage>, may_cost: bool) {
        lock(&self.purse.funds.0).reported.extend(usage);
        if usage.is_some() || !may_cost {
            let rooms = std::mem::take(&mut self.rooms);
            *lock(&self.purse.aside) += if usage.is_some() { 0 } else { rooms };
        }
    }
}

impl Drop for Paid {
    fn drop(&mut self) {
        self.purse.funds.add_unreported_cost(f64::from(self.rooms) * self.purse.each);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_requests_are_reserved_and_more_need_budget() {
        let funds = Funds::default();
        funds.set_free(0.15);
        let (purse, usage) = (funds.purse(0.1, 2), Some(TokenUsage::default()));
        purse.pay(1).expect("the first").settle(usage, true);
        purse.pay(1).expect("a re-ask").settle(None, false);
        drop(purse.pay(1).expect("what was not charged is had again"));
        drop(purse.pay(1).expect("the limit leaves one"));
        assert!((funds.unreported_cost() - 0.2).abs() < 1e-9, "{}", funds.unreported_cost());
        let why = purse.pay(1).expect_err("no more");
        funds.set_free(0.15);
        let twice = funds.purse(0.1, 1).pay(2).expect("one is set aside, the limit leaves the other");
        twice.settle(usage, true);
        assert!((lock(&funds.0).free - 0.05).abs() < 1e-9);
        assert_eq!(why, "one more request could cost $0.1000, more than the limit leaves");
        funds.purse(0.0, 0).pay(1).expect("nothing is charged").settle(None, true);
        Purse::default().pay(1).expect("no limit").settle(None, true);
    }
}
