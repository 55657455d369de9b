//! Randomness of keys, tokens, ids and seeds.

use crate::diagnostic::Diagnostic;

/// Random bytes.
pub fn random<const N: usize>() -> Result<[u8; N], Diagnostic> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| Diagnostic::new(format!("the operating system gives no randomness: {error}")))?;
    Ok(bytes)
}
