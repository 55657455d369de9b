//! Links from the screen: a seat is invited, votes elsewhere, and is invited again.

use std::io::{BufRead as _, BufReader};

use roundtable::journal::{fold, read_log, verify};
use roundtable::round::seal::sign::SigningKey;

use crate::program::Desk;
use crate::pty::Screen;
use crate::served::Browser;

const DEFINITION: &str = "question: Which?\nballot: {kind: choice, options: [alpha, beta]}\nrule: majority\n\
                          participants: [{name: ann, model: rehearsal}, {name: dana, model: remote/link}]\n";

fn desk() -> Desk {
    let desk = Desk::with(DEFINITION);
    desk.write("../home/config/config.yaml", "remote: {bind: \"127.0.0.1:0\"}\n");
    desk
}

fn link(screen: &Screen) -> String {
    let drawn = screen.drawn();
    let from = drawn.find("http://").unwrap_or_else(|| panic!("no link:\n{drawn}"));
    drawn[from..]
        .split(|c: char| c.is_whitespace() || c.is_control() || c == '│')
        .next()
        .unwrap_or_default()
        .to_owned()
}

fn browser(link: &str, seed: u8) -> Browser {
    let (address, secret) = link["http://".len()..].split_once("/b#").expect("a link");
    let (token, fingerprint) = secret.split_once('.').expect("a fingerprint");
    let [address, token, fingerprint] = [address, token, fingerprint].map(str::to_owned);
    Browser { address, token, fingerprint, key: SigningKey::new([seed; 32]) }
}

#[test]
fn a_seat_is_invited_from_the_screen_and_votes_elsewhere() {
    let desk = desk();
    let mut screen = Screen::open(&desk, (120, 40), &["decide.yaml"]);
    screen.wait_for(&["DRAFT", "link of dana: not invited", "i invites"]);
    screen.press("i", &["Link of dana", "█ ▄▄▄▄▄ █", "http://127.0.0.1:", "send it to one person alone"]);
    let old = link(&screen);
    // Another link, and the old one is withdrawn.
    screen.press("\u{1b}", &["link of dana: invited"]);
    screen.press("i", &["dana: invited", "New link"]);
    screen.press("G\r", &["Link of dana", "http://127.0.0.1:", "send it to one person alone"]);
    let new = link(&screen);
    assert_ne!(old, new);
    let old = browser(&old, 6);
    old.join(&old.key).refuses(401, "no such invitation");
    let kept = desk.files().into_iter().find(|file| file.extension().is_some_and(|end| end == "links"));
    let kept = std::fs::read_to_string(kept.expect("the tokens")).expect("a text");
    let token = new.split(['#', '.']).nth_back(1).expect("a token");
    assert!(kept.contains(token), "a session that goes on needs the new link: {kept}");
    screen.press("\u{1b}", &["DRAFT"]);
    screen.press("o", &["OPEN", "1 of 2 sealed", "invited: i"]);
    let dana = browser(&new, 7);
    assert_eq!(dana.join(&dana.key).status, 204);
    let receipt = dana.votes("alpha", 3).json();
    assert_eq!(receipt["participant"], "dana");
    screen.press("", &["REVEAL", "alpha"]);
    screen.press("A", &["Accept"]);
    screen.press("y", &["Session finished"]);
    // Whoever voted still sees the result.
    let result = dana.get("/v1/seat/result").json();
    assert_eq!(result["own"]["commitment"], receipt["commitment"]);
    assert!(result["counts"].is_object(), "{result}");
    screen.send("q");
    assert_eq!(screen.end().0, 0);
    let bytes = std::fs::read(desk.session()).expect("a session");
    assert_eq!(verify(&bytes, None).findings, []);
    let session = fold(&read_log(&bytes).expect("readable"));
    assert_eq!(session.rounds[0].sealed(), 2);
}

#[test]
fn the_fingerprint_of_a_certificate_stands_beside_the_link() {
    let desk = desk();
    desk.write("../home/config/config.yaml", "remote: {bind: \"127.0.0.1:0\", self_signed: true}\n");
    let mut screen = Screen::open(&desk, (120, 60), &["decide.yaml"]);
    screen.wait_for(&["link of dana: not invited"]);
    screen.press("i", &["Link of dana", "https://127.0.0.1:", "its SHA-256 fingerprint:"]);
    screen.press("\u{1b}", &["DRAFT"]);
    screen.send("q");
    assert_eq!(screen.end().0, 0);
}

#[test]
fn a_new_link_for_a_sealed_seat_is_refused_and_the_old_one_stays() {
    let desk = desk();
    let remote = DEFINITION.replace("{name: ann, model: rehearsal}", "{name: eve, model: remote/link}");
    desk.write("decide.yaml", remote.replace("}]", "}, {name: poet, model: remote/inbox}]"));
    let mut screen = Screen::open(&desk, (120, 40), &["decide.yaml"]);
    screen.wait_for(&["link of eve: not invited", "access token of poet: not invited"]);
    screen.press("i", &["Link of eve"]);
    let eve = link(&screen);
    screen.press("\u{1b}", &["DRAFT"]);
    screen.press("o", &["OPEN", "0 of 3 sealed", "invited: i"]);
    screen.press("j", &[]);
    screen.press("i", &["dana: invited"]);
    screen.press("\r", &["Link of dana"]);
    let dana = link(&screen);
    screen.press("\u{1b}", &["0 of 3 sealed"]);
    let voter = browser(&dana, 8);
    assert_eq!(voter.join(&voter.key).status, 204);
    voter.votes("alpha", 3);
    screen.wait_for(&["1 of 3 sealed", "■ dana  sealed"]);
    screen.press("i", &["dana: joined", "New link"]);
    screen.press("G\r", &["`dana` has sealed in the open round: invite again after the close"]);
    screen.wait_without(&["Link of dana"]);
    screen.press("i\r", &["Link of dana"]);
    assert_eq!(link(&screen), dana);
    // Eve's browser joins; the agent has a token instead of a link.
    screen.press("\u{1b}", &["invited: i"]);
    let eve = browser(&eve, 7);
    assert_eq!(eve.join(&eve.key).status, 204);
    screen.wait_for(&["eve   joined", "■ dana  sealed", "poet  invited: i"]);
    screen.press("k", &[]);
    screen.press(
        "i",
        &["poet: invited", "Show the access token", "New access token: the old one stops working"],
    );
    screen.press("\r", &["Access token of poet", "ROUNDTABLE_TOKEN=", "give it to one agent alone"]);
}

#[test]
fn a_port_that_is_taken_is_told_before_anything_is_written() {
    let desk = desk();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address");
    desk.write("../home/config/config.yaml", format!("remote: {{bind: \"{address}\"}}\n"));
    let mut screen = Screen::open(&desk, (120, 40), &["decide.yaml"]);
    screen.press("i", &["Cannot open", "cannot listen at"]);
    screen.press("\u{1b}", &["DRAFT"]);
    screen.send("q");
    assert_eq!(screen.end().0, 0);
    assert!(!desk.home().join("state/sessions").exists());
}

#[test]
fn whoever_serves_people_and_agents_is_warned_of_links_and_tokens() {
    let desk = desk();
    let poet = DEFINITION.replace("{name: ann, model: rehearsal}", "{name: poet, model: remote/inbox}");
    desk.write("decide.yaml", poet);
    let warnings =
        ["whoever opens a link first votes as that seat", "whoever has a token works as that agent"];
    serves(&desk, &["serve", "decide.yaml"], &warnings);
}

/// Serves until these have been said on lines of standard error, one after the other.
fn serves(desk: &Desk, arguments: &[&str], said: &[&str]) {
    let mut served = desk.start(arguments);
    let mut lines = BufReader::new(served.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    for words in said {
        assert!(lines.any(|line| line.contains(words)), "{words}");
    }
    served.kill().expect("ended");
    served.wait().expect("ended");
}

#[test]
fn people_are_invited_by_name_without_a_change_of_the_definition() {
    let desk = desk();
    desk.write("decide.yaml", DEFINITION.replace("remote/link", "rehearsal"));
    let serve = ["serve", "decide.yaml", "--bind", "127.0.0.1:0", "--invite", "dana,bob"];
    serves(&desk, &serve, &["link of dana: http", "link of bob: http"]);
    let session = fold(&read_log(&std::fs::read(desk.session()).expect("a session")).expect("readable"));
    let seats: Vec<_> = session.roster.values().map(|seat| (&*seat.name, &*seat.model)).collect();
    assert_eq!(seats, [("ann", "rehearsal"), ("dana", "remote/link"), ("bob", "remote/link")]);
    let text = "participants: [rehearsal, {name: ann, model: rehearsal}]\n\
         steps: [{id: vote, type: round, question: Which?, participants: [ann], ballot: {kind: position}}]\n";
    desk.write("decide.yaml", text);
    let cases = [("", "--invite names no seat: ``"), ("eve", "no step asks `eve`, whom --invite names")];
    for (name, why) in cases {
        desk.run(["serve", "decide.yaml", "--bind", "127.0.0.1:0", "--invite", name]).code(2).tells(why);
    }
}
