//! `doctor`: what is said of services that answer, refuse, are not there or have no key.

use crate::program::{Desk, KEY};
use crate::server::{Answer, Request, Server};

fn service(request: &Request) -> Answer {
    if request.path().ends_with("/models") {
        let models = r#"{"object":"list","data":[{"id":"small"},{"id":"large\u001b[2J"}]}"#;
        return Answer::new(200, &["content-type: application/json"], models);
    }
    Answer::chat_events(&["ready"])
}

#[test]
fn tells_models_key_and_pace_and_never_the_key() {
    let server = Server::start(service);
    let desk = Desk::new().served_by(&server);
    let ran = desk.run(["doctor", "lab", "--probe"]).code(0);
    assert!(ran.out.starts_with("lab  ok: 2 models (small, large"), "{}", ran.out);
    ran.shows("`small` began to answer after ").shows("key from LAB_KEY");
    assert!(!ran.out.contains(KEY) && !ran.err.contains(KEY) && !ran.out.contains('\u{1b}'));
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert!(requests[0].head.starts_with("GET /v1/models "), "{}", requests[0].head);
    assert_eq!(requests[0].header("authorization"), Some(&*format!("Bearer {KEY}")));
    assert_eq!(requests[1].json()["model"], "small");

    desk.run(["doctor", "lab/other", "--probe"]).code(0).shows("`other` began to answer after ");
}

#[test]
fn says_what_to_do_about_each_failure() {
    let refusing = Server::start(|_| {
        let told = format!(r#"{{"error":{{"message":"bad key {KEY}","type":"auth"}}}}"#);
        Answer::new(401, &["content-type: application/json"], told)
    });
    let desk = Desk::new().served_by(&refusing);
    let ran = desk.run(["doctor", "lab"]).code(5);
    ran.shows("unreachable: HTTP 401 auth: bad key ***");
    assert!(ran.out.contains("hint: check the key in LAB_KEY") && !ran.out.contains(KEY), "{}", ran.out);

    let page = Server::start(|_| Answer::new(200, &[], "<html>"));
    let ran = Desk::new().served_by(&page).run(["doctor", "lab"]).code(5);
    ran.shows("its list of models cannot be read").shows("hint: check the address");

    let failing = Server::start(|request| {
        if request.path().ends_with("/models") { service(request) } else { Answer::new(500, &[], "") }
    });
    let ran = Desk::new().served_by(&failing).run(["doctor", "lab", "--probe"]).code(5);
    ran.shows("`small` unreachable: HTTP 500");
    assert_eq!(failing.requests().len(), 2, "no second try");
}

#[test]
fn without_keys_every_provider_is_listed_and_nothing_fails() {
    let desk = Desk::new().set("GEMINI_API_KEY", "g").set("GOOGLE_API_KEY", "h");
    let desk =
        desk.set("GEMINI_BASE_URL", "http://127.0.0.1:9").set("OLLAMA_BASE_URL", "http://127.0.0.1:9/v1");
    let ran = desk.run(["doctor"]).code(0);
    let line = |name: &str| ran.out.lines().position(|line| line.starts_with(name)).expect("a line");
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(lines[line("openai ")].ends_with("no key"), "{}", ran.out);
    assert!(lines[line("openai ") + 1].ends_with("hint: set OPENAI_API_KEY"), "{}", ran.out);
    assert!(lines[line("ollama ") + 1].contains("`ollama serve`"), "{}", ran.out);
    assert!(lines[line("rehearsal")].contains("built-in placeholder"));
    desk.run(["doctor", "ollma"]).code(2).tells("did you mean `ollama`?");
}
