//! What requests went without since their service does not take it, and the seats that are the same for it.

use indexmap::IndexMap;

use super::round_view::{self, SeatView};
use crate::history::{AnswerRevealed, RoundRun, Session};

/// The temperature that services have where none is sent.
const USUAL: f64 = 1.0;

/// Returns the seats of a revealed round that differ by a temperature alone which their service does not
/// take, in groups: each group is one seat asked several times.
pub fn same_seats(session: &Session, round: &RoundRun) -> Vec<Vec<String>> {
    let mut groups: IndexMap<String, (Vec<String>, bool)> = IndexMap::new();
    for seat in round_view::seats(session, round).filter(|seat| !seat.scripted) {
        let (Some(info), Some(answer)) = (seat.info, seat.answer()) else { continue };
        let is_dropped = is_dropped(answer, "temperature");
        if !is_dropped && info.temperature.is_some_and(|warmth| (warmth - USUAL).abs() > f64::EPSILON) {
            continue;
        }
        let seed = info.seed.filter(|_| !self::is_dropped(answer, "seed"));
        let key = format!("{:?}", (seat.model, &info.persona, seed, info.effort, info.max_output_tokens));
        let (names, any) = groups.entry(key).or_default();
        names.push(seat.name.to_owned());
        *any |= is_dropped;
    }
    groups.into_values().filter(|(names, any)| *any && names.len() > 1).map(|(names, _)| names).collect()
}

fn is_dropped(answer: &AnswerRevealed, parameter: &str) -> bool {
    answer.dropped.iter().any(|dropped| dropped == parameter)
}

/// Says what a seat's requests went without, if anything: `without temperature, seed: not taken by …`.
pub fn left_out(seat: &SeatView<'_>) -> Option<String> {
    let answer = seat.answer().filter(|answer| !answer.dropped.is_empty())?;
    Some(format!("without {}", answer.dropped.join(", ")))
}
