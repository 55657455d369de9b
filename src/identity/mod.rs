//! The leak scan: who an answer says that it is, whom it names, and the copy with that masked.
//!
//! Pure. It finds names, not style.

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
