//! HTTP client of an agent for the session that it works for.

use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use super::{Certificate, Method, Timeouts, Url, builder, cause, is_loopback};
use crate::diagnostic::Diagnostic;

const PATIENCE: Duration = Duration::from_secs(40);
/// Limit of an answer, in bytes.
const MAX_BODY: usize = 64 * 1024 * 1024;

pub struct LinkClient {
    client: super::Client,
    base: Url,
    token: SecretString,
}

pub struct LinkReply {
    pub status: u16,
    pub body: Vec<u8>,
}

impl LinkReply {
    /// Returns true if the same request may succeed later.
    pub fn is_passing(&self) -> bool {
        self.status >= 500 || [408, 429].contains(&self.status)
    }

    pub fn word(&self) -> String {
        let value: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        value["refused"].as_str().map_or_else(|| format!("status {}", self.status), str::to_owned)
    }
}

impl LinkClient {
    /// Creates a client for an address; trusts only `root`, if given.
    ///
    /// # Errors
    /// The address is invalid, or would send the token over plain http; the certificate is invalid.
    pub fn new(base: &str, token: &str, root: Option<&str>) -> Result<Self, Diagnostic> {
        let no_address = || Diagnostic::new("the session's address is no http or https address");
        let url = Url::parse(base).map_err(|_| no_address())?;
        match url.scheme() {
            "https" => {}
            "http" if is_loopback(&url) => {}
            "http" => {
                return Err(Diagnostic::new("the token would be sent over plain http")
                    .hint("use an address that begins with https"));
            }
            _ => return Err(no_address()),
        }
        let mut builder = builder(&url, &Timeouts::default());
        if let Some(root) = root {
            let root = Certificate::from_pem(root.as_bytes());
            builder = builder
                .tls_certs_only([root.map_err(|_| Diagnostic::new("the file contains no certificate"))?]);
        }
        let client = builder.build().map_err(|error| Diagnostic::new(cause(&error)))?;
        Ok(Self { client, base: url, token: SecretString::from(token) })
    }

    pub async fn get(&self, path: &str) -> Result<LinkReply, String> {
        self.send(Method::GET, path, Vec::new()).await
    }

    pub async fn post(&self, path: &str, body: Vec<u8>) -> Result<LinkReply, String> {
        self.send(Method::POST, path, body).await
    }

    async fn send(&self, method: Method, path: &str, body: Vec<u8>) -> Result<LinkReply, String> {
        let url = format!("{}{path}", self.base.as_str().trim_end_matches('/'));
        let request = self.client.request(method, url).bearer_auth(self.token.expose_secret());
        let exchange = async {
            let mut response = request.body(body).send().await.map_err(|error| cause(&error))?;
            let status = response.status().as_u16();
            let mut body = Vec::new();
            while let Some(piece) = response.chunk().await.map_err(|error| cause(&error))? {
                if body.len() + piece.len() > MAX_BODY {
                    return Err("the answer is too long".to_owned());
                }
                body.extend_from_slice(&piece);
            }
            Ok(LinkReply { status, body })
        };
        tokio::time::timeout(PATIENCE, exchange).await.unwrap_or_else(|_| Err("no answer in time".to_owned()))
    }
}
