//! The one place that reads the clock.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::history::Timestamp;

#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
pub fn system_time() -> SystemTime {
    SystemTime::now()
}

pub fn now() -> Timestamp {
    let since = system_time().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
