//! Links from the screen: a seat is invited, votes elsewhere, and is invited again.

use std::io::{BufRead as _, BufReader};

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

#[test]
fn a_seat_is_invited_from_the_screen_and_votes_elsewhere() {
    let desk = desk();
    let mut screen = Screen::open(&desk, (120, 40), &["decide.yaml"]);
    screen.wait_for(&["DRAFT", "link of dana: not invited", "i invites"]);
    screen.press("i", &["dana: link", "█ ▄▄▄▄▄ █", "http://127.0.0.1:", "send it to one person alone"]);
    let old = link(&screen);
    // Another link, and the old one is withdrawn.
    screen.press("\u{1b}", &["link of dana: invited"]);
    screen.press("i", &["dana: invited", "New link"]);
    screen.press("\x1b[F\r", &["dana: link", "http://127.0.0.1:", "send it to one person alone"]);
    let new = link(&screen);
    assert_ne!(old, new);
    let old = Browser::of(&old, 6);
    old.join(&old.key).refuses(401, "no such invitation");
    let kept = desk.files().into_iter().find(|file| file.extension().is_some_and(|end| end == "links"));
    let kept = std::fs::read_to_string(kept.expect("the tokens")).expect("a text");
    let token = new.split(['#', '.']).nth_back(1).expect("a token");
    assert!(kept.contains(token), "a session that goes on needs the new link: {kept}");
    screen.press("\u{1b}", &["DRAFT"]);
    screen.press("o", &["OPEN", "1 of 2 sealed", "invited: i"]);
    let dana = Browser::of(&new, 7);
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
    screen.quits();
    desk.verify();
    assert_eq!(desk.saved().rounds[0].sealed(), 2);
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
    let session = desk.saved();
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
