//! Names of streams, subjects and consumers.

use crate::round::snapshot::sha256_hex;

pub const OFFERS: &str = "RT_OFFER";
pub const CONTEXTS: &str = "RT_CONTEXT";
/// Size limit of a snapshot part, in bytes.
pub const CONTEXT_PART: usize = 512 * 1024;
/// Header with the signature of an offer.
pub const SIGNATURE: &str = "rt-signature";
/// Header by which the server detects duplicates.
pub const MESSAGE_ID: &str = "Nats-Msg-Id";

/// Returns the stream of a worker's replies. It is not shared: otherwise a worker could suppress another's
/// message by using its id first.
pub fn sealed_stream(worker: &str) -> String {
    format!("RT_SEALED_{worker}")
}

/// Returns the subject of a seat's offer, by session, round and seat. Fewer names match all offers within them.
pub fn offer(worker: &str, within: &[&str]) -> String {
    subject("offer", worker, within)
}

/// Returns the subject of a seat's ballot or failure; names as in [`offer`].
pub fn sealed(worker: &str, within: &[&str]) -> String {
    subject("sealed", worker, within)
}

fn subject(kind: &str, worker: &str, within: &[&str]) -> String {
    let mut subject = format!("rt.{kind}.{worker}");
    for name in within {
        subject = subject + "." + &part(name);
    }
    if within.len() < 3 { subject + ".>" } else { subject }
}

/// Returns the subject of a snapshot part, counted from 0.
pub fn context(sha256: &str, number: usize) -> String {
    format!("rt.context.{sha256}.{number}")
}

/// Returns the subject for requests of a snapshot part.
pub fn get_context(sha256: &str, number: usize) -> String {
    format!("$JS.API.DIRECT.GET.{CONTEXTS}.{}", context(sha256, number))
}

/// Returns the consumer by which a session receives a worker's replies.
pub fn facilitator(session: &str) -> String {
    format!("facilitator-{}", part(session))
}

/// Returns a name as part of a subject: unchanged, or a hash prefix if it contains other characters.
fn part(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if !name.is_empty() && name.bytes().all(is_plain) {
        name.to_owned()
    } else {
        sha256_hex(name)[..20].to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_other_characters_is_hashed() {
        assert_eq!(offer("fleet", &["20261122-1", "vote", "ann_2"]), "rt.offer.fleet.20261122-1.vote.ann_2");
        assert_eq!(sealed("fleet", &["s", "vote.2", "ann"]), "rt.sealed.fleet.s.f17c79aa41aea1e926c2.ann");
        assert_eq!(
            [offer("fleet", &["s"]), sealed("fleet", &[])],
            ["rt.offer.fleet.s.>", "rt.sealed.fleet.>"]
        );
        for name in ["", "*", ">", "a b", "größe", "a.b"] {
            assert_eq!(part(name).len(), 20, "{name}");
            assert!(part(name).bytes().all(|byte| byte.is_ascii_alphanumeric()), "{name}");
        }
    }
}
