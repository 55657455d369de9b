//! Snapshots, fetched from the queue in parts and checked by their hash.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use async_nats::{Client, StatusCode};
use tokio::sync::OnceCell;

use crate::remote::nats::names::{CONTEXT_PART, get_context};
use crate::round::snapshot::{sha256_hex, unhex};

const KEPT: usize = 8;
const MAX_PARTS: usize = 64;

/// The snapshots asked for last, by hash.
pub struct Contexts {
    client: Client,
    kept: Mutex<VecDeque<(String, Arc<Fetched>)>>,
}

/// Seats of one round wait for the one fetch of what they share.
type Fetched = OnceCell<Arc<str>>;

impl Contexts {
    pub fn new(client: Client) -> Self {
        Self { client, kept: Mutex::default() }
    }

    pub async fn get(&self, sha256: &str) -> Result<Arc<str>, String> {
        if unhex::<32>(sha256).is_none() {
            return Err("the offer names no snapshot".to_owned());
        }
        let fetched = self.kept(sha256);
        fetched.get_or_try_init(|| self.fetch(sha256)).await.cloned()
    }

    fn kept(&self, sha256: &str) -> Arc<Fetched> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, fetched)) = kept.iter().find(|(hash, _)| hash == sha256) {
            return Arc::clone(fetched);
        }
        let fetched = Arc::<Fetched>::default();
        kept.truncate(KEPT - 1);
        kept.push_front((sha256.to_owned(), Arc::clone(&fetched)));
        fetched
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
