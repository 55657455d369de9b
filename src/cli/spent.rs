//! What a session has cost so far: money and tokens, by round and seat, from closed rounds alone.
//!
//! While a round is open its tokens are sealed, so nothing of it is counted here.

use std::collections::HashMap;

use super::output::Output;
use crate::engine::Price;
use crate::round::record::Usage;
use crate::session::{SeatStatus, Session};

/// Says what was spent, if any service told of tokens.
pub fn say(session: &Session, prices: &HashMap<String, Price>, output: &Output) {
    let mut sum = Sum::default();
    for round in &session.rounds {
        let mut parts = Vec::new();
        let mut of_round = Sum::default();
        for seat in round.seats.values() {
            if let SeatStatus::Revealed(answer, _) = &seat.status
                && let Some(tokens) = answer.tokens
            {
                let dollars = of_round.add(&answer.model, tokens, prices);
                parts.extend(
                    dollars
                        .filter(|dollars| *dollars > 0.0)
                        .map(|dollars| format!("{} {dollars:.4} $", seat.name)),
                );
            }
        }
        if of_round.dollars > 0.0 {
            let (number, dollars) = (round.opened.number, of_round.dollars);
            output.note(&format!("cost of round {number}: {dollars:.4} $ ({})", parts.join(", ")));
        }
        sum.take(&of_round);
    }
    for item in session.items.values() {
        for tokens in item.returned.iter().filter_map(|(back, _)| back.tokens) {
            sum.add(&item.offered.model, tokens, prices);
        }
    }
    sum.say(output);
}

#[derive(Default)]
struct Sum {
    dollars: f64,
    saved: f64,
    tokens: Usage,
    unpriced: bool,
}

impl Sum {
    fn add(&mut self, model: &str, tokens: Usage, prices: &HashMap<String, Price>) -> Option<f64> {
        self.tokens.input += tokens.input;
        self.tokens.output += tokens.output;
        self.tokens.cached += tokens.cached;
        let Some(price) = prices.get(model) else {
            self.unpriced = true;
            return None;
        };
        let dollars = price.of(tokens);
        self.dollars += dollars;
        self.saved += price.of(Usage { cached: 0, ..tokens }) - dollars;
        Some(dollars)
    }

    fn take(&mut self, other: &Self) {
        self.dollars += other.dollars;
        self.saved += other.saved;
        self.tokens.input += other.tokens.input;
        self.tokens.output += other.tokens.output;
        self.tokens.cached += other.tokens.cached;
        self.unpriced |= other.unpriced;
    }

    fn say(&self, output: &Output) {
        let Usage { input, output: replied, cached } = self.tokens;
        if input + replied == 0 {
            return;
        }
        let mut said = format!("tokens: {input} in");
        if cached > 0 {
            said.push_str(&format!(" ({cached} from a cache)"));
        }
        said.push_str(&format!(", {replied} out"));
        if self.dollars > 0.0 {
            said.push_str(&format!("; spent: {:.4} $", self.dollars));
        }
        if self.saved > 0.0 {
            said.push_str(&format!(", {:.4} $ saved by caches", self.saved));
        }
        if self.unpriced {
            said.push_str("; not every model's price is known");
        }
        output.note(&said);
    }
}
