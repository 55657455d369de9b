//! `serve` over TLS, with a certificate that is made for it.

use std::path::{Path, PathBuf};

use reqwest::{Certificate, Client};
use serde_json::{Value, json};

use crate::home::is_sound;
use crate::patience::wait_for;
use crate::program::Desk;
use crate::served::{Browser, DEFINITION, Server, home};

fn client(certificate: &[u8]) -> Client {
    // Another test of this process may have done so.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let root = Certificate::from_pem(certificate).expect("a certificate");
    Client::builder().tls_certs_only([root]).no_proxy().build().expect("a client")
}

fn made_certificate(home: &Path) -> PathBuf {
    let found = |dir: &Path| {
        let path = dir.join("keys/serve-127.0.0.1.cert");
        path.exists().then_some(path)
    };
    let mut dirs = std::fs::read_dir(home.join("home")).expect("a folder");
    dirs.find_map(|dir| found(&dir.ok()?.path())).expect("a certificate")
}

/// Joins by a link over TLS, and seals a ballot.
async fn votes(client: &Client, link: &str, browser: &Browser, nonce: u8) {
    let base = link.split("/b#").next().expect("an address");
    assert!(base.starts_with("https://"), "{base}");
    let post = |path: &str, body: &Value| {
        let to = client.post(format!("{base}{path}")).bearer_auth(&browser.token);
        to.body(body.to_string()).send()
    };
    // Links are printed shortly before the invitations are on disk.
    let mut joined = 401;
    while joined == 401 {
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        let answer = post("/v1/seat/key", &json!({ "public_key": browser.key.public() })).await;
        joined = answer.expect("an answer").status().as_u16();
    }
    assert_eq!(joined, 204);
    let offer = loop {
        let seat = client.get(format!("{base}/v1/seat")).bearer_auth(&browser.token).send().await;
        let seat = seat.expect("an answer");
        if seat.headers().contains_key("rt-signature") {
            break serde_json::from_slice::<Value>(&seat.bytes().await.expect("a body")).expect("JSON");
        }
        tokio::time::sleep(std::time::Duration::from_millis(150)).await;
    };
    let sealed = post("/v1/seat/sealed", &browser.seal(&offer, "redis", nonce)).await.expect("an answer");
    assert_eq!(sealed.status(), 201);
}

fn vote(server: &Server, certificate: &[u8]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let client = client(certificate);
        for (number, (seat, link)) in (1..).zip(&server.links) {
            votes(&client, link, &server.browser(seat, number), number).await;
        }
    });
}

#[test]
fn people_vote_over_a_certificate_that_is_made_once() {
    let options = ["--bind", "127.0.0.1:0", "--self-signed"];
    let server = Server::start_at("d.yaml", home(DEFINITION), &options);
    let certificate = std::fs::read(made_certificate(server.home.path())).expect("a certificate");
    // A seat that asks there is told whom to trust, and behind a proxy that this is what does not answer.
    let link = &server.links[0].1;
    let base = format!("{}/v1", link.split("/b#").next().expect("an address"));
    let desk = Desk::with("question: q\nparticipants: [openai/m]\n").set("OPENAI_API_KEY", "sk-x");
    let desk = desk.set("OPENAI_BASE_URL", &base);
    desk.run(["--batch", "decide.yaml"]).code(5).tells("set SSL_CERT_FILE to its certificate");
    let desk = desk.set("OPENAI_BASE_URL", "https://models.example").set("HTTPS_PROXY", "http://127.0.0.1:1");
    let told = "cannot connect to `models.example` through the proxy `http://127.0.0.1:1` of HTTPS_PROXY: ";
    desk.run(["--batch", "decide.yaml"]).code(5).tells(told);
    let written = || std::fs::read_to_string(server.file()).ok();
    wait_for("ann's ballot", || written().filter(|text| text.contains("event: ballot_sealed")));
    let again = Server::start_at("s.s2s", server.killed(), &options);
    assert_eq!(std::fs::read(made_certificate(again.home.path())).expect("a certificate"), certificate);
    vote(&again, &certificate);
    is_sound(&again.ended());
}
