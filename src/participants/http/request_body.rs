//! A request body whose first part all seats of a round share.
//!
//! The rules and the snapshot are encoded once a round and dialect and then handed on by
//! reference; only the few bytes behind them belong to one seat. The length is exact, so that a
//! `Content-Length` is sent. It knows no dialect and sends nothing.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use crate::participants::Prompt;

/// One request's bytes: the shared head, then the seat's own tail.
#[derive(Debug, Clone)]
pub(super) struct SplitBody {
    /// The bytes all seats of the round share.
    pub head: Bytes,
    pub tail: Bytes,
}

impl Body for SplitBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let part = if self.head.is_empty() { &mut self.tail } else { &mut self.head };
        let part = std::mem::take(part);
        Poll::Ready((!part.is_empty()).then(|| Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.head.is_empty() && self.tail.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.head.len() as u64 + self.tail.len() as u64)
    }
}

/// Number of rounds whose encoded heads are kept.
const KEPT: usize = 4;

/// The heads of the rounds asked last, found by the identity of their shared texts.
#[derive(Default)]
pub(super) struct PrefixCache(Mutex<Vec<SharedPrefix>>);

struct SharedPrefix {
    rules: Arc<str>,
    snapshot: Arc<str>,
    bytes: Bytes,
}

impl PrefixCache {
    /// The head for this prompt's shared parts; `encode` runs once for all seats that share them.
    pub fn get(&self, prompt: &Prompt, encode: impl FnOnce() -> Vec<u8>) -> Bytes {
        let mut heads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = heads.iter().find(|head| {
            Arc::ptr_eq(&head.rules, &prompt.rules) && Arc::ptr_eq(&head.snapshot, &prompt.snapshot)
        });
        if let Some(head) = known {
            return head.bytes.clone();
        }
        let bytes = Bytes::from(encode());
        if heads.len() == KEPT {
            heads.remove(0);
        }
        let (rules, snapshot) = (prompt.rules.clone(), prompt.snapshot.clone());
        heads.push(SharedPrefix { rules, snapshot, bytes: bytes.clone() });
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(rules: &str, snapshot: &str) -> Prompt {
        Prompt { rules: rules.into(), snapshot: snapshot.into(), tail: String::new() }
    }

    #[test]
    fn gives_head_then_tail_and_knows_its_length() {
        let mut body = SplitBody { head: Bytes::from_static(b"abc"), tail: Bytes::from_static(b"de") };
        assert_eq!(body.size_hint().exact(), Some(5));
        let mut cx = Context::from_waker(std::task::Waker::noop());
        let mut seen = Vec::new();
        while let Poll::Ready(Some(Ok(frame))) = Pin::new(&mut body).poll_frame(&mut cx) {
            seen.push(frame.into_data().expect("data"));
        }
        assert_eq!(seen, ["abc", "de"]);
        assert!(body.is_end_stream());
    }

    #[test]
    fn encodes_once_for_all_who_share() {
        let heads = PrefixCache::default();
        let first = prompt("rules", "snapshot");
        let encode = || b"x".to_vec();
        let bytes = heads.get(&first, encode);
        let again = heads.get(&first.clone(), || unreachable!("already encoded"));
        assert_eq!(bytes.as_ptr(), again.as_ptr());
        let others: Vec<_> = (0..KEPT).map(|_| prompt("rules", "snapshot")).collect();
        for other in &others {
            assert_ne!(heads.get(other, encode).as_ptr(), bytes.as_ptr());
        }
        assert_eq!(heads.get(&first, || b"anew".to_vec()), "anew");
    }
}
