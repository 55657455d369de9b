//! What tokens cost, at the prices that stood when the session opened.
//!
//! Only what a service told of is counted, and a model whose price is not known costs nothing that
//! could be said.

use serde::{Deserialize, Serialize};

use super::event::AnswerRevealed;
use super::state::{RoundRun, Seat, SeatStatus, Session};
use crate::round::record::Usage;

/// What a million tokens cost, in US dollars.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
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

/// Tokens and what they cost.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spent {
    /// The tokens.
    pub tokens: Usage,
    /// In US dollars, as far as prices are known.
    pub dollars: f64,
    /// What it would have cost more without caches.
    pub saved: f64,
    /// Whether the price of some of it is not known.
    pub is_unpriced: bool,
}

impl Spent {
    /// What these tokens of a model cost.
    pub fn of(tokens: Usage, price: Option<Price>) -> Self {
        let dollars = price.map_or(0.0, |price| price.of(tokens));
        let without = price.map_or(0.0, |price| price.of(Usage { cached: 0, ..tokens }));
        Self { tokens, dollars, saved: without - dollars, is_unpriced: price.is_none() }
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let (a, b) = (self.tokens, other.tokens);
        let tokens =
            Usage { input: a.input + b.input, output: a.output + b.output, cached: a.cached + b.cached };
        Self {
            tokens,
            dollars: self.dollars + other.dollars,
            saved: self.saved + other.saved,
            is_unpriced: self.is_unpriced || other.is_unpriced,
        }
    }

    /// Whether any service told of tokens.
    pub fn is_told(&self) -> bool {
        self.tokens.input + self.tokens.output > 0
    }
}

impl FromIterator<Spent> for Spent {
    fn from_iter<T: IntoIterator<Item = Spent>>(all: T) -> Self {
        all.into_iter().fold(Self::default(), Self::and)
    }
}

/// Says what a model's tokens cost, if that is known.
pub type Prices<'a> = &'a dyn Fn(&str) -> Option<Price>;

impl Session {
    /// What a model's tokens cost when the session opened.
    pub fn price(&self, model: &str) -> Option<Price> {
        self.header.as_ref()?.prices.get(model).copied()
    }

    /// What the session has cost so far: closed rounds, and work items that came back.
    pub fn spent(&self, prices: Prices<'_>) -> Spent {
        let items = self.items.values().flat_map(|item| {
            let told = item.returned.iter().filter_map(|(back, _)| back.tokens);
            told.map(|tokens| Spent::of(tokens, prices(&item.offered.model)))
        });
        self.rounds.iter().map(|round| round.spent(prices)).chain(items).collect()
    }
}

impl RoundRun {
    /// What the round has cost; nothing before all of its answers are revealed.
    pub fn spent(&self, prices: Prices<'_>) -> Spent {
        let is_sealed = |seat: &Seat| matches!(seat.status, SeatStatus::Sealed(_));
        if self.closed.is_none() || self.seats.values().any(is_sealed) {
            return Spent::default();
        }
        let answers = self.seats.values().filter_map(|seat| match &seat.status {
            SeatStatus::Revealed(answer, _) => answer.spent(prices),
            _ => None,
        });
        answers.collect()
    }
}

impl AnswerRevealed {
    /// What the answer has cost, if its service told of tokens.
    pub fn spent(&self, prices: Prices<'_>) -> Option<Spent> {
        self.tokens.map(|tokens| Spent::of(tokens, prices(&self.model)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_caches_saved_is_the_difference_to_a_price_without_them() {
        let price = Price { input: 10.0, cached: 1.0, output: 100.0 };
        let tokens = Usage { input: 1000, output: 100, cached: 800 };
        let spent = Spent::of(tokens, Some(price));
        assert!((spent.dollars - 0.0128).abs() < 1e-12 && (spent.saved - 0.0072).abs() < 1e-12);
        let both: Spent = [spent, Spent::of(tokens, None)].into_iter().collect();
        assert!(both.is_unpriced && both.tokens.cached == 1600 && (both.dollars - 0.0128).abs() < 1e-12);
        assert!(!Spent::default().is_told());
    }
}
