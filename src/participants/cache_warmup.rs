//! One seat of each model ahead of the others, so that they find the service's cache filled.
//!
//! The first to ask a model for a round goes at once; the others of that model wait until it has
//! the first piece of its reply, or has failed, and no longer than [`PATIENCE`].

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;
use tokio::time::timeout;

/// Nobody waits longer than this for the one ahead.
const PATIENCE: Duration = Duration::from_secs(30);
/// Number of rounds and models that are remembered.
const KEPT: usize = 32;

#[derive(Default)]
pub(super) struct CacheWarmup(Mutex<Vec<WarmupState>>);

struct WarmupState {
    model: String,
    /// The shared part of the round; kept, so that its address stays its own.
    head: Bytes,
    warm: watch::Receiver<()>,
}

/// The one ahead; letting go of it lets the others follow.
pub(super) struct WarmupGuard(
    #[expect(dead_code, reason = "it is dropped, which is what the others wait for")] watch::Sender<()>,
);

impl CacheWarmup {
    /// Waits for the one ahead of this model and round; gives the lead to the first who comes.
    pub async fn wait_or_lead(&self, model: &str, head: &Bytes) -> Option<WarmupGuard> {
        let mut warm = {
            let mut ahead = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let is_same = |known: &&WarmupState| known.model == model && known.head.as_ptr() == head.as_ptr();
            let Some(known) = ahead.iter().find(is_same) else {
                let (lead, warm) = watch::channel(());
                if ahead.len() == KEPT {
                    ahead.remove(0);
                }
                ahead.push(WarmupState { model: model.to_owned(), head: head.clone(), warm });
                return Some(WarmupGuard(lead));
            };
            known.warm.clone()
        };
        // Ends with an error when the lead is let go, which is what is waited for.
        let _ = timeout(PATIENCE, warm.changed()).await;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn one_of_each_model_goes_first() {
        let warmth = CacheWarmup::default();
        let (round, other) = (Bytes::from("x".to_owned()), Bytes::from("y".to_owned()));
        let lead = warmth.wait_or_lead("m", &round).await.expect("the first");
        assert!(warmth.wait_or_lead("n", &round).await.is_some(), "another model");
        assert!(warmth.wait_or_lead("m", &other).await.is_some(), "another round");
        let ms = Duration::from_millis;
        assert!(timeout(ms(100), warmth.wait_or_lead("m", &round)).await.is_err(), "not yet warm");
        drop(lead);
        assert!(timeout(ms(1), warmth.wait_or_lead("m", &round)).await.expect("warm").is_none());
        let _stuck = warmth.wait_or_lead("s", &round).await.expect("the first");
        assert!(
            timeout(PATIENCE + ms(1), warmth.wait_or_lead("s", &round))
                .await
                .expect("patience ends")
                .is_none()
        );
    }
}
