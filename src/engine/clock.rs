//! The one place that reads the clock.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::session::Moment;

/// Now, in UTC.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
pub fn now() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
