//! Request bodies with a shared head, and cache warm-up.
//!
//! The head, which all seats of a round share, is encoded once per round and API style.

use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::participants::{Prompt, lock};

/// Bytes of one request: the round's shared head, then the seat's own tail.
#[derive(Clone)]
pub(super) struct SplitBody(pub [Bytes; 2]);

impl Body for SplitBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let part = self.0.iter_mut().map(std::mem::take).find(|part| !part.is_empty());
        Poll::Ready(part.map(|part| Ok(Frame::data(part))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.iter().map(|part| part.len() as u64).sum())
    }
}

/// Number of rounds whose heads are kept.
const KEPT: usize = 4;
/// Longest wait for the warm-up seat.
const PATIENCE: Duration = Duration::from_secs(30);

/// Encoded heads of the latest rounds, found by the identity of their shared texts.
#[derive(Default)]
pub(super) struct PrefixCache(Mutex<Vec<Arc<SharedPrefix>>>);

pub(super) struct SharedPrefix {
    rules: Arc<str>,
    snapshot: Arc<str>,
    pub bytes: Bytes,
    /// Warm-up seat of each model; its channel closes when it is done.
    ahead: Mutex<HashMap<String, watch::Receiver<()>>>,
}

/// Guard of a warm-up seat; dropping it releases the waiting seats.
pub(super) struct WarmupGuard(
    #[expect(dead_code, reason = "it is dropped, which is what the others wait for")] watch::Sender<()>,
);

impl PrefixCache {
    /// Returns the head of this prompt's shared parts; calls `encode` once for all seats that share them.
    pub fn get(&self, prompt: &Prompt, encode: impl FnOnce() -> Vec<u8>) -> Arc<SharedPrefix> {
        let mut heads = lock(&self.0);
        let known = heads.iter().find(|head| {
            Arc::ptr_eq(&head.rules, &prompt.rules) && Arc::ptr_eq(&head.snapshot, &prompt.snapshot)
        });
        if let Some(head) = known {
            return Arc::clone(head);
        }
        if heads.len() == KEPT {
            heads.remove(0);
        }
        let (rules, snapshot) = (prompt.rules.clone(), prompt.snapshot.clone());
        let head = SharedPrefix { rules, snapshot, bytes: encode().into(), ahead: Mutex::default() };
        heads.push(Arc::new(head));
        Arc::clone(&heads[heads.len() - 1])
    }
}

impl SharedPrefix {
    /// Returns a guard to the first seat of a model. Other seats wait until it is dropped: after the first piece
    /// of the reply, or a failure. They then find the service's cache filled.
    pub async fn wait_or_lead(&self, model: &str) -> Option<WarmupGuard> {
        let mut warm = {
            let mut ahead = lock(&self.ahead);
            let Some(warm) = ahead.get(model) else {
                let (lead, warm) = watch::channel(());
                ahead.insert(model.to_owned(), warm);
                return Some(WarmupGuard(lead));
            };
            warm.clone()
        };
        // A dropped sender ends the wait with an error, as intended.
        let _ = timeout(PATIENCE, warm.changed()).await;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(rules: &str, snapshot: &str) -> Prompt {
        Prompt { rules: rules.into(), snapshot: snapshot.into(), tail: String::new() }
    }

    #[test]
    fn a_body_is_its_shared_head_and_then_its_tail_without_a_copy() {
        let mut body = SplitBody([Bytes::from(b"abc".to_vec()), Bytes::from_static(b"de")]);
        let head = body.0[0].as_ptr();
        assert_eq!(body.size_hint().exact(), Some(5));
        let mut cx = Context::from_waker(std::task::Waker::noop());
        let mut seen = Vec::new();
        while let Poll::Ready(Some(Ok(frame))) = Pin::new(&mut body).poll_frame(&mut cx) {
            seen.push(frame.into_data().expect("data"));
        }
        assert_eq!(seen, ["abc", "de"]);
        assert_eq!(seen[0].as_ptr(), head);
    }

    #[test]
    fn shared_head_is_encoded_once() {
        let heads = PrefixCache::default();
        let first = prompt("rules", "snapshot");
        let encode = || b"x".to_vec();
        let bytes = heads.get(&first, encode).bytes.as_ptr();
        let again = heads.get(&first.clone(), || unreachable!("already encoded"));
        assert_eq!(bytes, again.bytes.as_ptr());
        let others: Vec<_> = (0..KEPT).map(|_| prompt("rules", "snapshot")).collect();
        for other in &others {
            assert_ne!(heads.get(other, encode).bytes.as_ptr(), bytes);
        }
        assert_eq!(heads.get(&first, || b"anew".to_vec()).bytes, "anew");
    }

    #[tokio::test(start_paused = true)]
    async fn one_seat_per_model_goes_first() {
        let heads = PrefixCache::default();
        let [round, other] = ["a", "b"].map(|rules| heads.get(&prompt(rules, ""), Vec::new));
        let lead = round.wait_or_lead("m").await.expect("the first");
        assert!(round.wait_or_lead("n").await.is_some(), "another model");
        assert!(other.wait_or_lead("m").await.is_some(), "another round");
        let ms = Duration::from_millis;
        assert!(timeout(ms(100), round.wait_or_lead("m")).await.is_err(), "not yet warm");
        drop(lead);
        assert!(timeout(ms(1), round.wait_or_lead("m")).await.expect("warm").is_none());
        let _stuck = round.wait_or_lead("s").await.expect("the first");
        let waited = timeout(PATIENCE + ms(1), round.wait_or_lead("s")).await;
        assert!(waited.expect("patience ends").is_none());
    }
}
