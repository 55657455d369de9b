//! What may be sent to a served session and is no ballot, or a hostile one.

use std::io::{Read as _, Write as _};

use crate::served::{Browser, served};

#[test]
fn a_page_of_another_origin_gets_nothing() {
    let server = served();
    let dana = server.browser("dana", 1);
    for method in ["OPTIONS", "POST", "GET"] {
        let mut stream = std::net::TcpStream::connect(&dana.address).expect("connects");
        let request = format!(
            "{method} /v1/seat/key HTTP/1.1\r\nHost: h\r\nOrigin: https://evil.example\r\nCookie: token={}\r\n\
             Access-Control-Request-Method: POST\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            dana.token
        );
        stream.write_all(request.as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("answered");
        let status = answer.split(' ').nth(1).expect("a status");
        let is_refusal = answer.contains("{\"refused\":\"no such ") && ["401", "405"].contains(&status);
        assert!(is_refusal && !answer.to_lowercase().contains("access-control-"), "{method}: {answer}");
    }
}

#[test]
fn every_refusal_is_json_and_headers_have_a_limit() {
    let server = served();
    let dana = server.browser("dana", 1);
    dana.get("/v1/context/%FF").refuses(404, "no such snapshot");
    dana.send("POST", "/v1/seat/key", &vec![b' '; 600 * 1024]).refuses(413, "too long");
    let mut large = Browser { token: "x".repeat(12 * 1024), ..server.browser("dana", 1) };
    assert_eq!(large.get("/v1/seat").status, 401);
    large.token = "x".repeat(20 * 1024);
    assert_eq!(large.get("/v1/seat").status, 431);
    let mut streams = [0; 4].map(|_| dana.open("GET", "/v1/events", b""));
    assert!(streams.iter_mut().all(|stream| stream.read_exact(&mut [0]).is_ok()));
    dana.get("/v1/events").refuses(429, "too many tries");
}
