//! Description of a service: address, key, limits.
//!
//! Plain data. Debug output never shows the key. The address is validated when it is used.

use std::sync::Arc;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use super::retry::FIRST_WAIT;
use crate::participants::api::{ApiStyle, RequestOptions};
use crate::participants::key_command::KeyCommand;

/// Default limit of output tokens, thinking included.
pub const MAX_OUTPUT_TOKENS: u32 = 16_384;
/// Default for local servers, whose small models may otherwise run for minutes.
pub const LOCAL_OUTPUT_TOKENS: u32 = 2048;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    pub connect: Duration,
    /// Between two pieces of a body.
    pub idle: Duration,
    /// For one call: attempts and the pauses between them, unless the step sets a limit. Waits for a permit or
    /// at the service's request do not count.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        let s = Duration::from_secs;
        Self { connect: s(10), idle: s(120), total: s(600) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyHeader {
    Bearer,
    ApiKey,
}

/// Requests by which local servers report their context window.
#[derive(Debug, Clone, Copy)]
pub struct WindowQuestion {
    /// Paths from the server's root, tried in order.
    pub paths: &'static [&'static str],
    /// Server setting that changes the window, for messages.
    pub setting: &'static str,
}

/// Service that answers over HTTP.
#[derive(Debug, Clone, Default)]
pub struct Service {
    pub dialect: ApiStyle,
    /// Base address, with or without a final `/`, such as `https://api.openai.com/v1`.
    pub base_url: String,
    pub key: Option<SecretString>,
    /// Command that prints the key, if no key is set.
    pub key_command: Option<Arc<KeyCommand>>,
    /// Variables one of which must contain the key. Empty if no key is needed, or if the user set the address.
    pub wanted_keys: &'static [&'static str],
    /// Variable of the key, for messages.
    pub key_name: Option<String>,
    /// Header of the key, if it is not the usual one.
    pub auth: Option<KeyHeader>,
    pub headers: Vec<(String, SecretString)>,
    /// Header values from the environment; masked like the key.
    pub secrets: Vec<SecretString>,
    /// Default parameters of a request.
    pub limits: RequestOptions,
    /// Limit of output tokens for a model that was seen thinking.
    pub thinking_room: Option<u32>,
    /// Set for a local server that reports its context window.
    pub window: Option<WindowQuestion>,
    pub timeouts: Timeouts,
    pub first_wait: Duration,
}

impl Service {
    pub fn new(dialect: ApiStyle, base_url: impl Into<String>) -> Self {
        Self {
            dialect,
            base_url: base_url.into(),
            limits: RequestOptions {
                max_output_tokens: Some(MAX_OUTPUT_TOKENS),
                ..RequestOptions::default()
            },
            first_wait: FIRST_WAIT,
            ..Self::default()
        }
    }

    /// Returns the key to send, trimmed, if it is known already; a blank key counts as none.
    pub(super) fn key(&self) -> Option<String> {
        let printed = || self.key_command.as_ref()?.known();
        let key = self.key.as_ref().map(|key| key.expose_secret().to_owned()).or_else(printed);
        key.map(|key| key.trim().to_owned()).filter(|key| !key.is_empty())
    }

    /// Returns the texts to mask everywhere: the key, if known already, and header values from the environment.
    pub(super) fn secrets(&self) -> Vec<String> {
        let of_headers = self.secrets.iter().map(|value| value.expose_secret().to_owned());
        self.key().into_iter().chain(of_headers).filter(|secret| !secret.is_empty()).collect()
    }

    pub fn lacks_key(&self) -> bool {
        !self.wanted_keys.is_empty() && !self.has_key()
    }

    pub fn has_key(&self) -> bool {
        self.key().is_some() || self.key_command.is_some()
    }
}
