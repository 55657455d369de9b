//! Numbers in words that several parts of the screen say alike: the quorum's outlook, minutes and seconds.

use crate::history::RoundRun;

pub fn quorum(round: &RoundRun) -> String {
    let (sealed, needed) = (round.sealed(), round.opened.quorum);
    let may_seal = sealed + round.open_seats().count();
    let outlook = match needed.saturating_sub(sealed) {
        0 => "met".to_owned(),
        more if may_seal >= needed => format!("{more} more"),
        _ if may_seal + round.failed_seats().count() >= needed => "needs a failed seat".to_owned(),
        _ => "out of reach".to_owned(),
    };
    format!("quorum {needed}: {outlook}")
}

pub fn clock(seconds: u64) -> String {
    format!("{}:{:02}", seconds / 60, seconds % 60)
}
