//! Streams, subjects and consumers by name.

use crate::round::snapshot::sha256_hex;

pub const OFFERS: &str = "RT_OFFER";
pub const CONTEXTS: &str = "RT_CONTEXT";
/// The most bytes of a part of a snapshot.
pub const CONTEXT_PART: usize = 512 * 1024;
/// The header of an offer that holds its signature.
pub const SIGNATURE: &str = "rt-signature";
/// The header by which the server knows a duplicate.
pub const MESSAGE_ID: &str = "Nats-Msg-Id";

/// The stream of what a worker has sealed. Each has one: in a shared one a worker could have
/// another's message dropped by using its id first.
pub fn sealed_stream(worker: &str) -> String {
    format!("RT_SEALED_{worker}")
}

/// Subject of a seat's offer, by session, round and seat; of all of a round or a session where fewer are named.
pub fn offer(worker: &str, within: &[&str]) -> String {
    subject("offer", worker, within)
}

/// Subject of a seat's ballot or failure, as [`offer`].
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

/// Subject of a part of a snapshot; parts count from 0.
pub fn context(sha256: &str, number: usize) -> String {
    format!("rt.context.{sha256}.{number}")
}

/// The subject that gives a part of a snapshot to whoever asks.
pub fn get_context(sha256: &str, number: usize) -> String {
    format!("$JS.API.DIRECT.GET.{CONTEXTS}.{}", context(sha256, number))
}

/// The consumer by which a session takes in what a worker has sealed.
pub fn facilitator(session: &str) -> String {
    format!("facilitator-{}", part(session))
}

/// A name as a part of a subject: itself, or the begin of its hash where it holds other characters.
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
