//! Numbers in words that several parts of the screen say alike: the quorum's outlook, minutes and seconds.

use crate::history::RoundRun;
use crate::insight::wording::group_digits;

pub fn quorum(round: &RoundRun) -> String {
    let (sealed, needed) = (round.sealed(), round.opened.quorum);
    let may_seal = sealed + round.open_seats().count();
    let outlook = match needed.saturating_sub(sealed) {
        0 => "met".to_owned(),
        more if may_seal >= needed => format!("{} more", group_digits(more)),
        _ if may_seal + round.failed_seats().count() >= needed => "needs a failed seat".to_owned(),
        _ => "out of reach".to_owned(),
    };
    format!("quorum {}: {outlook}", group_digits(needed))
}

pub fn clock(seconds: u64) -> String {
    if seconds >= 3600 {
        return format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    }
    format!("{}:{:02}", seconds / 60, seconds % 60)
}
