//! The yardstick: the shortest program that sends the same bodies.
//!
//! tokio, reqwest and `join_all` with their usual settings: one client, one owned body a request.
//! It reads no reply, tries nothing again and caps nothing.

use futures::future::join_all;
use reqwest::Client;

/// A client as most would make it. Certificates are left out so that both sides start alike.
pub fn client() -> Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().tls_certs_only([]).build().expect("a client")
}

/// Posts all bodies at once and gives the statuses, in order; 0 for a request that failed.
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

/// Raises the limit of open descriptors as far as it goes.
pub fn raise_descriptor_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(Resource::Nofile).maximum;
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}
