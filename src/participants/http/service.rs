//! Description of a service: address, key, limits.
//!
//! Plain data. No debug output shows the key. The address is checked where it is used.

use std::sync::Arc;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use super::retry::FIRST_WAIT;
use crate::participants::api::{ApiStyle, RequestOptions};
use crate::participants::key_command::KeyCommand;

/// The most tokens a reply may have unless something else is said: for thinking and answer together.
pub const MAX_OUTPUT_TOKENS: u32 = 16_384;
/// The same for a server of one's own, whose small models go on for minutes.
pub const LOCAL_OUTPUT_TOKENS: u32 = 2048;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    pub connect: Duration,
    /// Between two pieces of a body.
    pub idle: Duration,
    /// For one call, tries and the pauses between them, unless its step says otherwise; waiting for a
    /// permit, or because the service asked for it, does not count.
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

/// The ways in which local servers tell their context window.
#[derive(Debug, Clone, Copy)]
pub struct WindowQuestion {
    /// Paths from the server's root; the first that tells one counts.
    pub paths: &'static [&'static str],
    /// The server's own setting of it.
    pub setting: &'static str,
}

/// A service that answers over HTTP, and how to speak to it.
#[derive(Debug, Clone, Default)]
pub struct Service {
    pub dialect: ApiStyle,
    /// Its address, with or without a closing `/`, such as `https://api.openai.com/v1`.
    pub base_url: String,
    pub key: Option<SecretString>,
    /// The command that prints the key, in place of one that is known.
    pub key_command: Option<Arc<KeyCommand>>,
    /// Variables one of which must hold the key; none where it needs none, or is at an address of the user's.
    pub wanted_keys: &'static [&'static str],
    /// The variable the key is read from, for messages.
    pub key_name: Option<String>,
    /// Which header holds the key, where it is not the usual one.
    pub auth: Option<KeyHeader>,
    pub headers: Vec<(String, SecretString)>,
    /// Values of headers that come from the environment: masked like the key.
    pub secrets: Vec<SecretString>,
    /// The usual parameters of a request.
    pub limits: RequestOptions,
    /// As many tokens of a reply in place of these, for a model that was seen thinking.
    pub thinking_room: Option<u32>,
    /// A local server, which tells its context window.
    pub window: Option<WindowQuestion>,
    pub timeouts: Timeouts,
    pub first_wait: Duration,
}

impl Service {
    /// A service without a key, with the usual limits.
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

    /// The key as it is sent, as far as it is known yet; one that is only blanks is none.
    pub(super) fn key(&self) -> Option<String> {
        let printed = || self.key_command.as_ref()?.known();
        let key = self.key.as_ref().map(|key| key.expose_secret().to_owned()).or_else(printed);
        key.map(|key| key.trim().to_owned()).filter(|key| !key.is_empty())
    }

    /// Returns the texts that are masked everywhere: the key, if known yet, and headers' values from the
    /// environment.
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
