//! Reader of the system clock; no other code reads it.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::history::Timestamp;

#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
pub fn system_time() -> SystemTime {
    SystemTime::now()
}

/// Start of the year 9999, in milliseconds. Later clocks could reach years of five digits.
const END: u128 = 253_370_764_800_000;

pub fn now() -> Timestamp {
    let since = system_time().duration_since(UNIX_EPOCH).unwrap_or_default();
    written(since.as_millis())
}

/// Wraps a time beyond [`END`], so that it can be written.
fn written(millis: u128) -> Timestamp {
    Timestamp((millis % END) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_of_any_year_is_written_and_read_alike() {
        for millis in [0, 1_795_302_307_120, END - 1, END, 10 * END + 7] {
            let week_on = Timestamp(written(millis).0 + 7 * 24 * 3_600_000);
            let text = serde_json::to_string(&week_on).unwrap();
            assert_eq!(serde_json::from_str::<Timestamp>(&text).unwrap(), week_on, "{text}");
        }
    }
}
