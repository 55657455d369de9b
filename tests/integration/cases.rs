//! Number of cases of heavy tests, for unit tests and integration tests.

/// Returns how many cases a heavy test runs: `sample` in a plain `cargo test`, `full` if
/// `ROUNDTABLE_CASES` is `full`, as in `.ci/full`.
pub fn cases<T>(sample: T, full: T) -> T {
    if std::env::var_os("ROUNDTABLE_CASES").is_some_and(|cases| cases == "full") { full } else { sample }
}
