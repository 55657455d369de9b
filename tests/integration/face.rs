//! Facilitator's screen in a real terminal: whole sessions by keys alone.

use std::fs;
use std::time::Instant;

use roundtable::history::{CloseReason, SeatStatus, Session};
use roundtable::journal::{fold, read_log};
use rustix::process::{Pid, Signal, kill_process};

use crate::patience::{NEVER, PATIENCE, SOON, wait_for};
use crate::program::{Desk, is_sound};
use crate::pty::{Screen, command};
use crate::seat_programs::with_claude;
use crate::server::{Answer, Server};

const WIDE: (u16, u16) = (120, 40);
const ESC: &str = "\u{1b}";
const DONE: &str = "\u{13}";
const SECRET: &str = "zebra-crossing";

const THREE: &str = "\
id: cache
goal: \"Pick one\"
participants: [{name: ann, persona: qa-lead, model: lab/m}, {name: bob, persona: skeptic, model: lab/m},
  {name: cyd, persona: technical-lead, model: lab/m}]
question: \"Which cache?\"
ballot: {kind: choice, options: [alpha, beta]}
rule: majority
deadline: 60s
";

/// Starts a service where everyone votes alpha at once, except `slow`, which never answers.
fn service(slow: &'static str) -> Server {
    Server::start(move |request| {
        let answer = Answer::chat(&format!("vote: alpha\nrationale: [\"{SECRET}\"]\n"));
        if request.body.is_empty() {
            return Answer::new(404, &[], ""); // the screen looks for its models
        }
        if request.seat() == slow { answer.after(NEVER) } else { answer }
    })
}

fn saved(desk: &Desk) -> Session {
    desk.verify();
    desk.saved()
}

#[test]
fn a_new_question_reaches_its_decision() {
    let desk = Desk::new();
    let mut screen = Screen::open(&desk, WIDE, &[]);
    screen.wait_for(&["begin", "context-passing", "n new"]);
    screen.press("D", &["Providers", "set OPENAI_API_KEY", "built-in placeholder"]);
    screen.press(ESC, &["begin", "n new"]);
    screen.press("n", &["A question of your own", "Ctrl-S submit"]);
    screen.send("Where do we keep prices?\t");
    screen.send("Fast and simple prices\tin-process cache is simple\rredis is complex\t");
    screen.press(DONE, &["DRAFT", "Snapshot to be sent", "question: \"Where do we keep prices?\""]);
    screen.press("a", &["Artifact (used from the next round)"]);
    screen.send("\tNo new server\t");
    screen.press(DONE, &["REQ-001", "summary: \"No new server\""]);
    assert!(desk.sessions().len() == 1, "what was done is on disk: {:?}", desk.sessions());
    screen.press("o", &["Votes", "answered", "A accept"]);
    screen.press("N", &["Note on round"]);
    screen.send("Simple wins.");
    screen.press(DONE, &["Note kept"]);
    screen.press("Ay", &["Session finished"]);
    screen.press("R", &["Report written to "]);
    screen.quits();
    let session = saved(&desk);
    assert_eq!(session.rounds.len(), 1);
    assert_eq!(session.rounds[0].synthesis.as_deref(), Some("Simple wins."));
    assert!(session.rounds[0].opened.snapshot.contains("No new server"));
    let report = desk.files().into_iter().find(|path| path.to_string_lossy().ends_with(".md"));
    let report = fs::read_to_string(report.expect("a report")).expect("read");
    assert!(report.contains("Simple wins."), "{report}");
}

#[test]
fn a_round_is_watched_closed_early_and_asked_again() {
    let server = service("cyd");
    let desk = Desk::with(THREE).served_by(&server);
    let mut screen = Screen::open(&desk, (80, 24), &["decide.yaml"]);
    // The service is in the user's configuration, so no consent is needed.
    screen.wait_for(&["DRAFT", "o open", "it asks `"]);
    assert!(!String::from_utf8_lossy(&screen.raw()).contains("asks you first"));
    screen.press("o", &["2 of 3 sealed", "OPEN", "asked", "c close"]);
    screen.send("\t\t\t\t\t\t");
    screen.press("t", &[" 1:", " left"]);
    // While the round was open, no screen showed anything of an answer.
    let raw = String::from_utf8_lossy(&screen.raw()).into_owned();
    assert!(raw.contains("sealed") && !raw.contains(SECRET) && !raw.contains("votes"), "{raw}");
    screen.press("cy", &["votes alpha", "missing", "n ask again"]);
    screen.press("n", &["DRAFT", "round 2", "o open"]);
    screen.press("o", &["2 of 3 sealed", "c close"]);
    screen.send("g");
    screen.press("r", &["Ask cyd again", "the same again"]);
    screen.press("\r", &["2 of 3 sealed", "c close"]);
    let seven = || server.requests().iter().filter(|request| !request.body.is_empty()).count() == 7;
    wait_for("three seats twice, and one of them once more", || seven().then_some(()));
    screen.press("x", &["Continue without cyd?"]);
    screen.press("y", &["alpha  ███", "cyd (excused)", "A accept"]);
    screen.press("Ay", &["Session finished"]);
    screen.quits();
    let session = saved(&desk);
    let [first, second] = session.rounds.as_slice() else { panic!("two rounds") };
    assert_eq!(first.closed.as_ref().expect("closed").reason, CloseReason::Facilitator);
    assert_eq!(first.deadline_ms, Some(120_000));
    assert!(matches!(second.seats["cyd"].status, SeatStatus::Excused(_)));
    assert_eq!(second.seats["cyd"].retried, 1);
    assert!(seven());
}

#[test]
fn a_killed_session_is_resumed() {
    let server = service("cyd");
    let desk = Desk::with(THREE).served_by(&server);
    let mut screen = Screen::open(&desk, WIDE, &["decide.yaml"]);
    screen.wait_for(&["DRAFT"]);
    screen.press("o", &["2 of 3 sealed", "c close"]);
    screen.press("x", &["`ann` is settled already"]);
    screen.kill();
    let mut screen = Screen::open(&desk, WIDE, &[]);
    screen.wait_for(&["resume (1)", "round 1 open, 2 of 3"]);
    screen.press("g\r", &["Resume this session?"]);
    screen.press("y", &["2 of 3 sealed", "c close"]);
    screen.press("q", &["A round is open"]);
    screen.send("y");
    let (code, raw) = screen.end();
    assert_eq!(code, 0);
    let raw = String::from_utf8_lossy(&raw).into_owned();
    assert!(!raw.contains(SECRET), "nothing of an answer was shown");
    assert!(raw.contains("\u{1b}[?1049l") && raw.contains("\u{1b}[?2004l"), "the terminal is given back");
    let session = saved(&desk);
    assert!(session.paused.is_some() && session.rounds[0].sealed() == 2);
}

#[test]
fn a_replay_seeks_and_leads_to_a_fork() {
    let desk = Desk::rehearsing(include_str!("../../sessions/context-passing.yaml"));
    desk.run(["--batch", "decide.yaml", "--save", "old.s2s"]).code(0);
    let original = desk.read("old.s2s");
    let mut screen = Screen::open(&desk, WIDE, &["old.s2s"]);
    screen.wait_for(&["REHEARSAL: ", "event 22 of 22"]);
    screen.press("g", &["event 0 of 22"]);
    screen.press("]", &["OPEN", "□ 0 of 5"]);
    screen.press("......", &["□ 1 of 5"]);
    screen.press("\x1b[F", &["[FINISHED]"]);
    screen.press("F", &["Fork the session here?"]);
    screen.press("y", &["New session: ", "[3 REVEAL]"]);
    screen.press("n", &["round 2", "DRAFT", "o open"]);
    screen.press("o", &["A accept", "round 2"]);
    screen.press("Ay", &["Session finished"]);
    screen.quits();
    let sessions: Vec<_> = desk.sessions();
    assert_eq!(sessions.len(), 2, "{sessions:?}");
    let forked = sessions.iter().find(|path| !path.ends_with("old.s2s")).expect("a new one");
    let bytes = fs::read(forked).expect("read");
    is_sound(&bytes);
    let session = fold(&read_log(&bytes).expect("readable"));
    assert_eq!(session.rounds.len(), 2);
    assert_ne!(session.rounds[0].session, session.rounds[1].session);
    assert_eq!(original, desk.read("old.s2s"));
}

#[test]
fn hostile_texts_reach_no_terminal_and_a_storm_of_sizes_breaks_nothing() {
    let hostile = "X\\e[31mred\\e]8;;http://e/\\a\\e]52;c;QUJD\\a\\x9b2J\\u202eflip\\u200b";
    let flood = format!("e{}", "\u{301}".repeat(10_000));
    let desk = Desk::with(&format!(
        "goal: \"{hostile}\"\nquestion: \"{hostile} {flood} {}\"\nballot: {{kind: choice, options: [\"a {hostile}\", b]}}\nrule: majority\n",
        "long ".repeat(20_000)
    ));
    let mut screen = Screen::open(&desk, WIDE, &["decide.yaml"]);
    screen.wait_for(&["DRAFT", "\\u{1b}[31mred"]);
    for (columns, rows) in [(40, 12), (200, 60), (24, 6), (20, 5), (80, 24), (1, 1), (120, 40)] {
        screen.resize(columns, rows);
    }
    screen.press("o", &["A accept"]);
    screen.send("\t\t\t\t\t\t/red\r");
    screen.press("v", &["A accept"]);
    let raw = screen.quits();
    for bad in ["\u{1b}]8;", "\u{1b}]52", "\u{1b}[31mred", "\u{202e}", "\u{200b}", "\u{9b}"] {
        assert!(!raw.contains(bad), "{bad:?}");
    }
    assert!(!raw.contains("panicked"));
}

#[test]
fn a_signal_restores_the_terminal_and_pauses_the_session() {
    let server = service("cyd");
    let desk = Desk::with(THREE).served_by(&server);
    for (signal, expected) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)] {
        let mut screen = Screen::open(&desk, (40, 12), &["decide.yaml"]);
        screen.wait_for(&["o open"]);
        screen.press("o", &["q quit"]);
        let open = || {
            let bytes = fs::read(desk.sessions().first()?).ok()?;
            fold(&read_log(&bytes).ok()?).open_round().map(drop)
        };
        wait_for("an open round", open);
        let pid = i32::try_from(screen.id()).ok().and_then(Pid::from_raw).expect("an id");
        let at = Instant::now();
        kill_process(pid, signal).expect("sent");
        let (code, raw) = screen.end();
        assert_eq!(code, expected, "{signal:?}");
        assert!(at.elapsed() < SOON, "{:?}", at.elapsed());
        assert!(String::from_utf8_lossy(&raw).contains("\u{1b}[?1049l"), "{signal:?}");
        assert!(saved(&desk).paused.is_some());
        fs::remove_file(desk.session()).expect("removed");
    }
}

#[test]
fn a_file_that_cannot_be_opened_says_why() {
    let desk = Desk::with("question: \"Which?\"\nruel: majority\n");
    let mut screen = Screen::open(&desk, WIDE, &["decide.yaml"]);
    screen.wait_for(&["Cannot open", "ruel", "did you mean `rule`?"]);
    screen.send(ESC);
    screen.wait_without(&["Cannot open"]);
    screen.quits();
    // A missing program is the problem of its seat, which another model mends.
    let desk = Desk::with("question: \"Which?\"\nparticipants: [rehearsal/a, gemini-cli/m]\n");
    let mut screen = Screen::open(&desk, WIDE, &["decide.yaml"]);
    screen.wait_for(&["DRAFT", "m: `gemini` is not on PATH", "m another model", "o open (1 problem)"]);
    screen.quits();
}

const PEOPLE: &str = "\
goal: \"Pick one\"
participants: [{name: ann, persona: qa-lead, model: human}, {name: bob, persona: skeptic, model: human}]
question: \"Which cache?\"
ballot: {kind: choice, options: [alpha, beta]}
rule: majority
";

#[test]
fn people_answer_in_turn_and_nobody_sees_what_the_other_typed() {
    let desk = Desk::with(PEOPLE);
    let mut screen = Screen::open(&desk, WIDE, &["decide.yaml"]);
    screen.wait_for(&["DRAFT", "o open"]);
    screen.press("o", &["ann: your turn"]);
    screen.press("\r", &["Private answer for ann"]);
    screen.send(&format!("\t{SECRET}\tsure"));
    // No choice is preselected.
    screen.press(DONE, &["choose one first", SECRET]);
    screen.send("\x1b[C\t\t");
    // An invalid confidence would not count: the form reports it and keeps the text.
    screen.press(DONE, &["This would not count", "confidence", SECRET]);
    screen.send("\u{7f}\u{7f}\u{7f}\u{7f}0.5");
    screen.press(DONE, &["1 of 2 sealed"]);
    screen.wait_without(&[SECRET]);
    let kept = desk.files().into_iter().filter_map(|path| fs::read(path).ok());
    assert!(kept.into_iter().all(|bytes| !String::from_utf8_lossy(&bytes).contains(SECRET)));
    screen.press("\r", &["Private answer for bob"]);
    screen.send("\x1b[C\tbecause\t0.5");
    screen.press(DONE, &["A accept"]);
    screen.press("Ay", &["Session finished"]);
    screen.quits();
    let session = saved(&desk);
    assert_eq!(session.rounds[0].tally.as_ref().expect("counted").verdict.winners, ["alpha"]);
}

#[test]
fn what_was_typed_is_back_the_next_time() {
    let desk = Desk::new();
    let mut screen = Screen::open(&desk, WIDE, &[]);
    screen.wait_for(&["begin"]);
    screen.press("n", &["What everyone is asked", "[x] qa-lead"]);
    screen.send("What now?");
    // A late reply of the terminal to another program does not enter a field.
    screen.send("\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\ Again");
    screen.wait_for(&["What now? Again"]);
    screen.press(DONE, &["DRAFT"]);
    // Left before anything was on disk: the text is still there the next time.
    screen.quits();
    let mut screen = Screen::open(&desk, WIDE, &[]);
    screen.wait_for(&["begin"]);
    screen.press("n", &["What now? Again", "Draft restored."]);
    screen.send("\u{3}");
    assert_eq!(screen.end().0, 0);
}

/// Maximum number of keys other than text, and maximum time.
const KEYS: usize = 25;

/// Counts the keys that are no text.
struct Newcomer {
    screen: Screen,
    keys: usize,
    begun: Instant,
}

impl Newcomer {
    fn sits_down(desk: &Desk) -> Self {
        desk.write("../home/config/config.yaml", "");
        Self { screen: Screen::open(desk, (80, 24), &[]), keys: 0, begun: Instant::now() }
    }

    #[track_caller]
    fn press(&mut self, keys: &[&str], words: &[&str]) {
        self.keys += keys.len();
        for key in keys {
            self.screen.send(key);
        }
        self.screen.wait_for(words);
    }

    #[track_caller]
    fn asks(&mut self, model: &str) {
        let home = ["Ask several models the same question", "a question of your own", "can answer", "n new"];
        self.screen.wait_for(&home);
        self.press(&["n"], &["A question of your own", "background", "Ctrl-S submit"]);
        self.screen.send("Which cache first?");
        self.press(&["\t"], &["Which cache first?"]);
        self.screen.send("Redis: one truth. In-process: simple.");
        self.press(&["\t"], &["In-process: simple."]);
        self.screen.send("redis\rin-process");
        let draft = ["DRAFT", "Which cache first?", "software-architect", "no model yet", "m model"];
        self.press(&[DONE], &draft);
        self.press(&["m"], &["Model of ", model, "Alt-Enter all 5"]);
        self.press(&["\x1b\r"], &[model, "o open"]);
        self.screen.wait_without(&["Model of", "no model yet"]);
        self.press(&["o"], &["REVEAL", "redis"]);
    }

    fn leaves(mut self, desk: &Desk, model: &str) {
        assert!(self.keys <= KEYS, "{} keys", self.keys);
        assert!(self.begun.elapsed() < PATIENCE, "{:?}", self.begun.elapsed());
        self.press(&["A", "y"], &["Session finished"]);
        self.press(&["q"], &[]);
        let (code, raw) = self.screen.end();
        assert!(code == 0 && String::from_utf8_lossy(&raw).contains("see it with: roundtable report "));
        let seats = &saved(desk).rounds[0].seats;
        assert_eq!(seats.len(), 5);
        for seat in seats.values() {
            let SeatStatus::Revealed(answer, _) = &seat.status else { panic!("{:?}", seat.status) };
            assert!(answer.record.model.starts_with(model), "{}", answer.record.model);
        }
    }
}

fn local(said: &'static str) -> Server {
    Server::start(move |request| match request.path() {
        path if path.ends_with("/models") => Answer::new(200, &[], r#"{"data": [{"id": "llama3.2"}]}"#),
        _ => Answer::chat(said),
    })
}

#[test]
fn a_newcomer_has_a_local_server_answer_and_it_is_remembered() {
    let server = local("vote: redis\nrationale: [one truth]");
    let desk = Desk::new().set("OLLAMA_BASE_URL", &format!("{}/v1", server.url()));
    let mut newcomer = Newcomer::sits_down(&desk);
    newcomer.screen.wait_for(&["ollama 1"]);
    newcomer.asks("ollama/llama3.2");
    newcomer.leaves(&desk, "ollama/llama3.2");
    let mut again = Screen::open(&desk, (80, 24), &[]);
    again.wait_for(&["Which cache first?", "answers come from: ollama/llama3.2"]);
    again.quits();
}

#[test]
fn a_newcomer_has_a_command_line_agent_answer() {
    const ANSWER: &str =
        "cat > /dev/null\nprintf '{\"type\":\"result\",\"is_error\":false,\"result\":\"vote: redis\"}\\n'\n";
    let desk = with_claude(Desk::new(), ANSWER);
    let mut newcomer = Newcomer::sits_down(&desk);
    newcomer.screen.wait_for(&["claude-cli"]);
    newcomer.asks("claude-cli/");
    newcomer.leaves(&desk, "claude-cli/");
}

/// The draft warns; the session starts anyway, and the seat can be saved.
#[test]
fn a_seat_without_a_key_is_reported_early_and_saved_in_the_open_round() {
    let server = local("vote: alpha");
    let definition = "question: \"Which?\"\nballot: {kind: choice, options: [alpha, beta]}\nrule: majority\n\
                      participants: [{persona: qa-lead, model: openai/gpt-5-mini}, {persona: skeptic, model: ollama/llama3.2}]\n";
    let desk = Desk::with(definition).set("OLLAMA_BASE_URL", &format!("{}/v1", server.url()));
    let mut screen = Screen::open(&desk, (80, 24), &["decide.yaml"]);
    screen.wait_for(&["Before you open: 1 problem", "qa-lead", "OPENAI_API_KEY", "open (1 problem)"]);
    let open = ["1 failed", "OPENAI_API_KEY", "stays open while a failed seat can be saved", "r again"];
    screen.press("o", &open);
    // Leaving keeps the choice, and shows where the session is saved.
    screen.press("q", &["A round is open"]);
    screen.send("y");
    let (code, raw) = screen.end();
    assert_eq!(code, 0);
    assert!(String::from_utf8_lossy(&raw).contains("resume with: roundtable resume "));
    let mut screen = Screen::open(&desk, (80, 24), &[]);
    screen.wait_for(&["round 1 open, 1 of 2"]);
    screen.press("g\r", &["Resume this session?"]);
    screen.press("y", &["1 failed", "r again"]);
    screen.press("r", &["Ask qa-lead again", "the same again", "ollama/llama3.2"]);
    screen.press("\x1b[B\r", &["REVEAL", "alpha"]);
    screen.quits();
    // Resuming asks it again; then the person retries it.
    let round = &saved(&desk).rounds[0];
    assert_eq!((round.sealed(), round.seats["qa-lead"].retried), (2, 2));
}

#[test]
fn an_unsuitable_terminal_gets_an_alternative() {
    let desk = Desk::new();
    let mut command = command(&desk, &[]);
    command.env("TERM", "dumb");
    let screen = Screen::run(command, (80, 24));
    let (code, raw) = screen.end();
    let raw = String::from_utf8_lossy(&raw).into_owned();
    assert_eq!(code, 2, "{raw}");
    assert!(raw.contains("roundtable run FILE") && !raw.contains("\u{1b}[?1049h"), "{raw}");
}
