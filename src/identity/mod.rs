//! The leak scan: who an answer says that it is, whom it names, and the copy with that masked.
//!
//! Pure. The rules have a number, and a rule set that has been used is never changed: another stands
//! beside it, so that what an old session masked is found again as it was. It finds names, not style.

mod leak;
mod patterns;
mod redact;
mod scan;
#[cfg(test)]
mod tests;
mod tokenize;
mod vendors;

pub use leak::{Hit, Leak, LeakKind, LeakScanner, Named};
pub use redact::{leaks_in, masked};

/// The newest rules.
pub const RULES: u32 = 1;
