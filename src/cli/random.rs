//! Randomness of keys.

use crate::diagnostic::Diagnostic;

/// 32 random bytes.
///
/// # Errors
/// When the operating system gives none.
pub fn random() -> Result<[u8; 32], Diagnostic> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| Diagnostic::new(format!("the operating system gives no randomness: {error}")))?;
    Ok(bytes)
}
