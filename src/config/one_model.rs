//! Warns of rounds whose seats are one model and cannot reach `act_at`.

use crate::history::SeatInfo;
use crate::tally::Tier;
use crate::workflow::Definition;
use crate::workflow::load::entries::Findings;

/// Warns of each round whose `act_at` cannot be reached, since all of its seats are one model.
pub fn unreachable(definition: &Definition, seats: &[SeatInfo], found: &Findings<'_>) {
    for step in definition.all_steps() {
        let Some(least) = step.round().and_then(|round| round.act_at).filter(|least| *least > Tier::Weak)
        else {
            continue;
        };
        let seated: Vec<&SeatInfo> = seats.iter().filter(|seat| seat.sits_in(definition, step)).collect();
        let is_person = |seat: &&SeatInfo| {
            seat.scripted.contains(&step.id)
                || matches!(&*seat.model, "human" | "remote/link" | "remote/inbox")
        };
        let name = |seat: &SeatInfo| seat.model.rsplit('/').next().unwrap_or_default().to_owned();
        let Some(first) = seated.first().filter(|_| !seated.iter().any(is_person)) else {
            continue;
        };
        let is_nobody = first.is_rehearsal() || first.has_no_model();
        if !is_nobody && seated.iter().all(|seat| name(seat) == name(first)) {
            let message = format!(
                "round `{}` can never reach `act_at: {}`: all of its seats are one model ({}), which is weak at most",
                step.id,
                least.name(),
                first.model
            );
            found.warn_at(step.place, message, "seat another model or a person, or write `act_at: weak`");
        }
    }
}
