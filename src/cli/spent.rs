//! What a session has cost so far: money and tokens, by round and seat, from closed rounds alone.
//!
//! While a round is open its tokens are sealed, so nothing of it is counted here.

use std::collections::HashMap;

use super::output::Output;
use crate::session::{Price, SeatStatus, Session, Spent};

/// Says what was spent, if any service told of tokens.
pub fn say(session: &Session, prices: &HashMap<String, Price>, output: &Output) {
    let price = |model: &str| session.price(model).or_else(|| prices.get(model).copied());
    for round in &session.rounds {
        let spent = round.spent(&price);
        if spent.dollars <= 0.0 {
            continue;
        }
        let parts = round.seats.values().filter_map(|seat| match &seat.status {
            SeatStatus::Revealed(answer, _) => {
                let dollars = answer.spent(&price)?.dollars;
                (dollars > 0.0).then(|| format!("{} {dollars:.4} $", seat.name))
            }
            _ => None,
        });
        let parts: Vec<String> = parts.collect();
        let (number, dollars) = (round.opened.number, spent.dollars);
        output.note(&format!("cost of round {number}: {dollars:.4} $ ({})", parts.join(", ")));
    }
    let spent = session.spent(&price);
    if spent.is_told() {
        output.note(&in_words(&spent));
    }
}

fn in_words(spent: &Spent) -> String {
    let mut said = format!("tokens: {} in", spent.tokens.input);
    if spent.tokens.cached > 0 {
        said.push_str(&format!(" ({} from a cache)", spent.tokens.cached));
    }
    said.push_str(&format!(", {} out", spent.tokens.output));
    if spent.dollars > 0.0 {
        said.push_str(&format!("; spent: {:.4} $", spent.dollars));
    }
    if spent.saved > 0.0 {
        said.push_str(&format!(", {:.4} $ saved by caches", spent.saved));
    }
    if spent.is_unpriced {
        said.push_str("; not every model's price is known");
    }
    said
}
