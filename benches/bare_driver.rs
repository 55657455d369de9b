//! Baseline: the shortest program that sends the same bodies.
//!
//! Uses tokio, reqwest and `join_all` with default settings: one client, one owned body per request. It discards
//! the replies, never retries and limits nothing.

use futures::future::join_all;
use reqwest::Client;

/// Returns a client without certificates, as the program's own for plain http.
pub fn client() -> Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().tls_certs_only([]).build().expect("a client")
}

/// Posts all bodies concurrently; returns the statuses in order, 0 for a failed request.
pub async fn run(client: &Client, url: &str, bodies: &[Vec<u8>]) -> Vec<u16> {
    join_all(bodies.iter().map(|body| send(client, url, body.clone()))).await
}

async fn send(client: &Client, url: &str, body: Vec<u8>) -> u16 {
    let request = client.post(url).header("content-type", "application/json").body(body);
    let Ok(response) = request.send().await else { return 0 };
    let status = response.status().as_u16();
    match response.bytes().await {
        Ok(_) => status,
        Err(_) => 0,
    }
}

/// Raises the limit of open files to the maximum.
pub fn raise_descriptor_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(Resource::Nofile).maximum;
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}
