//! Snapshots: fetched from the queue in parts, verified by hash.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_nats::{Client, StatusCode};
use tokio::sync::OnceCell;

use crate::participants::lock;
use crate::remote::nats::names::{CONTEXT_PART, get_context};
use crate::round::snapshot::{sha256_hex, unhex};

const MOST_KEPT: usize = 8;
const MAX_PARTS: usize = 64;

pub struct Contexts {
    client: Client,
    kept: KeptContexts,
}

/// Latest snapshots by hash. Seats that share a snapshot share its fetch, and do not wait for other snapshots.
#[derive(Default)]
struct KeptContexts(Mutex<VecDeque<(String, Arc<Fetched>)>>);

type Fetched = OnceCell<Arc<str>>;

impl KeptContexts {
    fn place(&self, sha256: &str) -> Arc<Fetched> {
        let mut kept = lock(&self.0);
        if let Some((_, fetched)) = kept.iter().find(|(hash, _)| hash == sha256) {
            return Arc::clone(fetched);
        }
        let fetched = Arc::<Fetched>::default();
        kept.truncate(MOST_KEPT - 1);
        kept.push_front((sha256.to_owned(), Arc::clone(&fetched)));
        fetched
    }
}

impl Contexts {
    pub fn new(client: Client) -> Self {
        Self { client, kept: KeptContexts::default() }
    }

    pub async fn get(&self, sha256: &str) -> Result<Arc<str>, String> {
        if unhex::<32>(sha256).is_none() {
            return Err("the offer names no snapshot".to_owned());
        }
        let place = self.kept.place(sha256);
        place.get_or_try_init(|| self.fetch(sha256)).await.cloned()
    }

    async fn fetch(&self, sha256: &str) -> Result<Arc<str>, String> {
        let mut bytes = Vec::new();
        for number in 0..MAX_PARTS {
            let part = self.client.request(get_context(sha256, number), "".into()).await;
            let part = part.map_err(|error| format!("the snapshot cannot be fetched: {error}"))?;
            match part.status {
                Some(StatusCode::NOT_FOUND) => break,
                Some(status) => return Err(format!("the snapshot cannot be fetched: status {status}")),
                None => bytes.extend_from_slice(&part.payload),
            }
            if part.payload.len() < CONTEXT_PART {
                break;
            }
        }
        let text = String::from_utf8(bytes).unwrap_or_default();
        if sha256_hex(&text) == sha256 {
            return Ok(text.into());
        }
        Err("the snapshot is not there, or does not have its hash".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn few_snapshots_are_kept_and_a_slow_fetch_blocks_no_other() {
        let kept = KeptContexts::default();
        let slow = kept.place("slow");
        let slow = slow.get_or_init(std::future::pending);
        let text = async { Arc::<str>::from("text") };
        let other = kept.place("other");
        tokio::select! {
            biased;
            _ = slow => panic!("it never comes"),
            text = other.get_or_init(|| text) => assert_eq!(&**text, "text"),
        }
        assert!(Arc::ptr_eq(&other, &kept.place("other")), "one fetch for what is shared");
        (0..5000).for_each(|number| drop(kept.place(&number.to_string())));
        assert_eq!(kept.0.lock().unwrap().len(), MOST_KEPT);
    }
}
