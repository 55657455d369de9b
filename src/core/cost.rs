//! Cost of tokens, at the prices recorded when the session opened.
//!
//! The cost is unknown if a provider reported no usage or a model has no price. An unknown cost is never
//! counted as 0; a sum that contains one is shown as "at least".

use std::collections::HashMap;

use crate::history::{Price, RoundRun, Seat, SeatInfo, SeatStatus, Session};
use crate::round::answer::TokenUsage;

/// Providers that call no paid service.
const FREE: [&str; 6] = ["rehearsal", "recorded", "tracker", "scripted", "human", "remote"];

pub fn is_free(model: &str) -> bool {
    FREE.contains(&model.split('/').next().unwrap_or(model))
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    pub tokens: TokenUsage,
    pub dollars: f64,
    /// Set if a price or a usage is missing for a part of the sum.
    pub is_unknown: bool,
}

impl Cost {
    /// Computes the cost of reported usage. A program's own figure has priority over the listed price.
    pub fn from_usage(tokens: TokenUsage, price: Option<Price>) -> Self {
        let said = tokens.cost_nano_usd.map(|cost| cost as f64 / 1e9);
        let listed = price.map_or(0.0, |price| price.cost_usd(tokens));
        let is_unknown = said.is_none() && price.is_none();
        Self { tokens, dollars: said.unwrap_or(listed), is_unknown }
    }

    /// Adds the cost of reported usage and of `unreported` requests without usage. Returns `None` if no usage
    /// was reported and the requests cannot cost anything.
    fn from_reports(reported: Option<TokenUsage>, unreported: u32, price: Option<Price>) -> Option<Self> {
        let is_charged = unreported > 0 && price.is_none_or(|price| !price.is_nothing());
        let unknown = is_charged.then(|| Self { is_unknown: true, ..Self::default() });
        let reported = reported.map(|tokens| Self::from_usage(tokens, price));
        reported.into_iter().chain(unknown).reduce(Self::and)
    }

    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let mut tokens = self.tokens;
        tokens += other.tokens;
        Self {
            tokens,
            dollars: self.dollars + other.dollars,
            is_unknown: self.is_unknown || other.is_unknown,
        }
    }

    pub fn has_usage(&self) -> bool {
        self.tokens.input + self.tokens.output > 0 || self.dollars > 0.0
    }
}

impl FromIterator<Cost> for Cost {
    fn from_iter<T: IntoIterator<Item = Cost>>(all: T) -> Self {
        all.into_iter().fold(Self::default(), Self::and)
    }
}

/// Token limits of a reply: a participant's own, else the provider's, else the usual one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplyLimits {
    pub usual: u64,
    pub by_provider: HashMap<String, u64>,
}

impl ReplyLimits {
    pub fn limit_for(&self, seat: Option<&SeatInfo>, model: &str) -> u64 {
        let provider = model.split('/').next().unwrap_or(model);
        let by_provider = || self.by_provider.get(provider).copied();
        seat.and_then(|seat| seat.max_output_tokens).or_else(by_provider).unwrap_or(self.usual)
    }
}

pub type PriceLookup<'a> = &'a dyn Fn(&str) -> Option<Price>;

impl Session {
    pub fn price(&self, model: &str) -> Option<Price> {
        let known = self.header.as_ref()?.prices.get(model).copied();
        known.or_else(|| is_free(model).then(Price::default))
    }

    /// Returns the cost of closed rounds and returned work items.
    pub fn spent(&self, prices: PriceLookup<'_>) -> Cost {
        let items = self.items.values().flat_map(|item| {
            let price = prices(&item.offered.model);
            item.returned.iter().filter_map(move |(back, _)| {
                Cost::from_reports(back.record.tokens, back.record.unreported_requests(), price)
            })
        });
        self.rounds.iter().map(|round| round.spent(prices)).chain(items).collect()
    }
}

impl RoundRun {
    /// Returns the cost of the round; 0 until all its answers are revealed.
    pub fn spent(&self, prices: PriceLookup<'_>) -> Cost {
        if self.closed.is_none() || self.sealed_seats().next().is_some() {
            return Cost::default();
        }
        self.seats.values().filter_map(|seat| seat.spent(prices)).collect()
    }
}

impl Seat {
    /// Returns the cost of the seat's requests once it is known. Remote workers pay for their own models.
    pub fn spent(&self, prices: PriceLookup<'_>) -> Option<Cost> {
        let of_request = |request: Request<'_>| request.spent(prices);
        self.requests().filter_map(of_request).reduce(Cost::and)
    }

    /// Returns the number of possibly charged requests whose usage is unknown.
    pub fn unreported_requests(&self) -> u32 {
        self.requests().map(|request| request.unreported()).sum()
    }

    fn requests(&self) -> impl Iterator<Item = Request<'_>> {
        let earlier = self.earlier.iter().map(|(item, status)| Request { model: Some(&item.model), status });
        let model = self.item.as_ref().map(|item| item.model.as_str());
        earlier.chain(std::iter::once(Request { model, status: &self.status }))
    }
}

/// Request of a seat, retries within it included.
struct Request<'a> {
    /// Requested model; `None` if the seat was not asked.
    model: Option<&'a str>,
    status: &'a SeatStatus,
}

impl Request<'_> {
    fn spent(&self, prices: PriceLookup<'_>) -> Option<Cost> {
        let (price, tokens) = match self.status {
            SeatStatus::Revealed(answer, _)
                if self.model.is_some_and(|model| model.starts_with("remote/")) =>
            {
                return Some(Cost { tokens: answer.record.tokens?, ..Cost::default() });
            }
            SeatStatus::Revealed(answer, _) => (prices(&answer.record.model), answer.record.tokens),
            SeatStatus::Failed(failed) => (self.model.and_then(prices), failed.tokens),
            _ => (self.model.and_then(prices), None),
        };
        Cost::from_reports(tokens, self.unreported(), price)
    }

    fn unreported(&self) -> u32 {
        match self.status {
            SeatStatus::Failed(failed) if failed.tokens.is_some() => 0,
            // A failed request may have been charged.
            SeatStatus::Failed(failed) => failed.tries.saturating_sub(failed.declined),
            // It was given up, at the close or before.
            SeatStatus::Missing => self.model.is_some().into(),
            SeatStatus::Revealed(answer, _) => answer.record.unreported_requests(),
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Command;
    use crate::core::testing::{does, open_round};
    use crate::history::SeatFailed;
    use crate::round::answer::{AnswerRecord, Origin};

    #[test]
    fn reported_cost_has_priority_over_the_price() {
        let price = Price { input: 10.0, cached: 1.0, output: 100.0 };
        let tokens = TokenUsage { input: 1000, output: 100, cached: 800, ..TokenUsage::default() };
        let spent = Cost::from_usage(tokens, Some(price));
        assert!((spent.dollars - 0.0128).abs() < 1e-12);
        let both: Cost = [spent, Cost::from_usage(tokens, None)].into_iter().collect();
        assert!(both.is_unknown && both.tokens.cached == 1600 && (both.dollars - 0.0128).abs() < 1e-12);
        assert!(!Cost::default().has_usage());
        let said = TokenUsage { cost_nano_usd: Some(20_000_000), ..tokens };
        let of_program = Cost::from_usage(said, Some(price));
        assert!((of_program.dollars - 0.02).abs() < 1e-12, "not the listed price");
        assert!(!Cost::from_usage(said, None).is_unknown);
        assert!(Cost::from_reports(None, 1, None).is_some_and(|spent| spent.is_unknown));
        assert!(Cost::from_reports(None, 1, Some(price)).is_some_and(|spent| spent.is_unknown));
        assert_eq!(Cost::from_reports(None, 1, Some(Price::default())), None, "nobody charges");
        let scripted = AnswerRecord { origin: Origin::Script, tries: 1, ..AnswerRecord::default() };
        assert_eq!(scripted.unreported_requests(), 0, "nobody charges for a script in a model's place");
        assert!(is_free("rehearsal") && is_free("recorded/x.s2s") && !is_free("command/x"));
    }
    #[test]
    fn requests_before_a_retry_or_an_excuse_count() {
        let mut session = open_round("question: q\n", &[("ann", "test/a"), ("bob", "test/a")]);
        let price = |_: &str| Some(Price { input: 10.0, cached: 1.0, output: 100.0 });
        let (round, participant) = ("w".to_owned(), "ann".to_owned());
        let tokens = TokenUsage { input: 1000, ..TokenUsage::default() };
        let failed =
            SeatFailed { round, participant, tries: 1, tokens: Some(tokens), ..SeatFailed::default() };
        does(&mut session, Command::Fail(Box::new(failed.clone())));
        let spent =
            |session: &Session, seat| session.rounds[0].seat(seat).and_then(|seat| seat.spent(&price));
        let known = spent(&session, "ann").unwrap();
        for (seat, is_unknown) in [("ann", false), ("bob", true)] {
            does(&mut session, Command::Retry { participant: seat.to_owned(), model: None });
            assert_eq!(spent(&session, seat).unwrap().is_unknown, is_unknown, "{seat}");
        }
        assert_eq!(spent(&session, "ann"), Some(known), "known tokens stay");
        let excuse = |seat: &str| Command::Excuse { participant: seat.to_owned(), reason: String::new() };
        does(&mut session, excuse("ann"));
        does(&mut session, excuse("bob"));
        assert_eq!(spent(&session, "ann"), Some(Cost { is_unknown: true, ..known }), "given up while asked");
        let unreported =
            ["ann", "bob"].map(|seat| session.rounds[0].seat(seat).unwrap().unreported_requests());
        assert_eq!(unreported, [1, 2]);
    }
}
