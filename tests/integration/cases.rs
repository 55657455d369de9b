//! Number of cases of heavy tests, for unit and integration tests.

/// Returns `full` if `ROUNDTABLE_CASES` is `full`, as in `.ci/full`, else `sample`.
pub fn cases<T>(sample: T, full: T) -> T {
    if std::env::var_os("ROUNDTABLE_CASES").is_some_and(|cases| cases == "full") { full } else { sample }
}
