//! What a session has cost so far: money and tokens, by round and seat, from closed rounds alone.
//!
//! While a round is open its tokens are sealed, so nothing of it is counted here.

use std::collections::HashMap;

use super::console::Console;
use crate::core::Cost;
use crate::history::{Price, SeatStatus, Session};
use crate::insight::money;

/// Says what was spent, if any service told of tokens.
pub fn print_cost(session: &Session, prices: &HashMap<String, Price>, output: &Console) {
    let price = |model: &str| session.price(model).or_else(|| prices.get(model).copied());
    for round in &session.rounds {
        let spent = round.spent(&price);
        if spent.dollars <= 0.0 && !spent.is_unknown {
            continue;
        }
        let revealed = round.seats.values().filter(|seat| matches!(seat.status, SeatStatus::Revealed(..)));
        let parts = revealed.filter_map(|seat| {
            let spent = seat.spent(&price)?;
            (spent.dollars > 0.0 || spent.is_unknown).then(|| format!("{} {}", seat.name, dollars(&spent)))
        });
        let parts: Vec<String> = parts.collect();
        let (number, dollars) = (round.opened.number, dollars(&spent));
        let parts = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
        output.note(&format!("cost of round {number}: {dollars}{parts}"));
    }
    if let Some(said) = money(&session.spent(&price)) {
        output.note(&format!("spent: {said}"));
    }
}

/// Money, as far as it is known.
fn dollars(spent: &Cost) -> String {
    match (spent.dollars > 0.0, spent.is_unknown) {
        (false, true) => "unknown".to_owned(),
        (true, true) => format!("at least ${:.4}", spent.dollars),
        _ => format!("${:.4}", spent.dollars),
    }
}
