//! From an empty home to answers of models, by keys alone.

use std::time::Instant;

use roundtable::history::SeatStatus;

use crate::face::saved;
use crate::patience::PATIENCE;
use crate::program::Desk;
use crate::pty::{Screen, command};
use crate::seat_programs::with_claude;
use crate::server::{Answer, Server};

const DONE: &str = "\u{13}";
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
        let home = ["Ask several AIs one question", "a question of your own", "can answer", "n new"];
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
