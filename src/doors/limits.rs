//! How often somebody may ask in a second.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Counts requests by who makes them, second by second.
#[derive(Default)]
pub struct Limits(Mutex<(i64, HashMap<String, u32>)>);

impl Limits {
    /// Whether this is one of the first `most` requests of `who` in this second.
    pub fn allows(&self, who: &str, most: u32, second: i64) -> bool {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.0 != second {
            *counts = (second, HashMap::new());
        }
        let count = counts.1.entry(who.to_owned()).or_insert(0);
        *count += 1;
        *count <= most
    }
}

#[cfg(test)]
mod tests {
    use super::Limits;

    #[test]
    fn counts_each_second_anew() {
        let limits = Limits::default();
        let seen = [7, 7, 7, 8].map(|second| limits.allows("ann", 2, second));
        assert_eq!(seen, [true, true, false, true]);
        assert!(limits.allows("bob", 1, 8));
    }
}
