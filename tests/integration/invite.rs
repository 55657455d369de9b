//! Links from the screen: a seat is invited, votes elsewhere, and is invited anew.

use roundtable::journal::{fold, read_log, verify};

use crate::program::Desk;
use crate::pty::Screen;

const DEFINITION: &str = "question: Which?\nballot: {kind: choice, options: [alpha, beta]}\nrule: majority\n\
                          participants: [{name: ann, model: rehearsal}, {name: dana, model: remote/link}]\n";

fn desk() -> Desk {
    let desk = Desk::with(DEFINITION);
    desk.write("../home/config/config.yaml", "remote: {bind: \"127.0.0.1:0\"}\n");
    desk.write("alpha.yaml", "vote: alpha\n");
    desk
}

/// The link that the screen shows now.
fn link(screen: &Screen) -> String {
    let drawn = screen.drawn();
    let from = drawn.find("http://").unwrap_or_else(|| panic!("no link:\n{drawn}"));
    drawn[from..]
        .split(|c: char| c.is_whitespace() || c.is_control() || c == '│')
        .next()
        .unwrap_or_default()
        .to_owned()
}

#[test]
fn a_seat_is_invited_from_the_screen_and_votes_elsewhere() {
    let desk = desk();
    let mut screen = Screen::open(&desk, (120, 40), &["decide.yaml"]);
    screen.wait_for(&["DRAFT", "dana votes by a link: no link yet", "i invites"]);
    screen.press("i", &["Link of dana", "█ ▄▄▄▄▄ █", "http://127.0.0.1:", "send it to one person alone"]);
    let old = link(&screen);
    // Another link, and the old one is withdrawn.
    screen.press("\u{1b}", &["dana votes by a link: invited"]);
    screen.press("i", &["dana: invited", "New link"]);
    screen.press("G\r", &["Link of dana", "http://127.0.0.1:", "send it to one person alone"]);
    let new = link(&screen);
    assert_ne!(old, new);
    let said = desk.run(["seat", &old, "--answer", "alpha.yaml"]).code(2);
    assert!(said.err.contains("this link is not valid"), "{}", said.err);
    screen.press("\u{1b}", &["DRAFT"]);
    screen.press("o", &["OPEN", "1 of 2 sealed", "invited: i"]);
    let said = desk.run(["seat", &new, "--answer", "alpha.yaml"]).code(0);
    assert!(said.out.contains("\"participant\":\"dana\""), "{}", said.out);
    screen.press("", &["REVEAL", "alpha"]);
    screen.press("A", &["Accept"]);
    screen.press("y", &["Session finished"]);
    // Whoever voted still sees the result.
    let said = desk.run(["seat", &new, "--answer", "alpha.yaml"]).code(0);
    assert!(said.err.contains("Your receipt fits the answer that was opened."), "{}", said.err);
    screen.send("q");
    assert_eq!(screen.end().0, 0);
    let bytes = std::fs::read(desk.session()).expect("a session");
    assert_eq!(verify(&bytes, None).findings, []);
    let session = fold(&read_log(&bytes).expect("readable"));
    assert_eq!(session.rounds[0].sealed(), 2);
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
