//! What the loop of the screen waits for: each never comes where there is nothing to wait for.

use std::io;
use std::time::Duration;

use crossterm::event::{Event as Input, EventStream};
use futures::StreamExt as _;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Interval, MissedTickBehavior};

use crate::tui::host::LoadProgress;

pub async fn next_input(inputs: &mut Option<EventStream>) -> Option<io::Result<Input>> {
    match inputs {
        Some(inputs) => inputs.next().await,
        None => std::future::pending().await,
    }
}

pub async fn next_part(loading: &mut Option<UnboundedReceiver<LoadProgress>>) -> Option<LoadProgress> {
    match loading {
        Some(loading) => loading.recv().await,
        None => std::future::pending().await,
    }
}

/// Ticks once a second; those that were missed are skipped.
pub fn ticks() -> Interval {
    let mut ticks = tokio::time::interval(Duration::from_secs(1));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    ticks
}

pub async fn sleep(due: Option<Duration>) {
    match due {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}
