//! Screen without a terminal: messages in, rendered text out.

mod agenda;
mod columns;
mod footer;
mod forms;
mod many;
mod next;
mod phases;
mod reading;
mod replaying;
mod reveal;
mod scenes;

use std::collections::HashMap;
use std::path::Path;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::{
    Effect, EngineUpdate, LiveSession, Message, Mode, Model, Overlay, Pane, Replay, ScreenState, TextKind,
    TextView, Theme, draw, update,
};
use crate::core::Command::RecordSynthesis;
use crate::engine::FacilitatorRequest::Order;
use crate::history::{Event, LogEntry, Price, SeatStatus};
use crate::journal::read_log;
use crate::round::answer::TokenUsage;

const SIZES: [(u16, u16); 4] = [(120, 40), (80, 24), (40, 12), (24, 6)];

fn saved(name: &str) -> Vec<LogEntry> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("sessions").join(name);
    read_log(&std::fs::read(path).unwrap()).unwrap().lines
}

fn showing(mode: Mode, lines: Vec<LogEntry>) -> Model {
    let mut model = Model::home((120, 40), Theme::from_environment(|_| None));
    model.home.is_reading = false;
    model.show(mode, Replay::new(lines), "x.s2s".to_owned());
    model
}

fn model(lines: Vec<LogEntry>) -> Model {
    showing(Mode::Replay, lines)
}

fn rendered(model: &Model, (width, height): (u16, u16)) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal
        .draw(|frame| {
            draw(frame, model);
        })
        .unwrap();
    let buffer = terminal.backend().buffer();
    let row = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..height).map(|y| row(y).trim_end().to_owned() + "\n").collect()
}

fn press(model: &mut Model, code: KeyCode) -> Vec<Effect> {
    update(model, Message::Key(KeyEvent::new(code, KeyModifiers::NONE)))
}

/// Returns a live session up to the first event of this kind.
fn live_until(is_last: impl Fn(&Event) -> bool) -> Model {
    live_on(saved("context-passing.s2s"), is_last)
}

fn live_on(lines: Vec<LogEntry>, is_last: impl Fn(&Event) -> bool) -> Model {
    let end = lines.iter().position(|line| is_last(&line.stamped.event)).unwrap();
    let mut model = showing(Mode::Live(Box::<LiveSession>::default()), Vec::new());
    model.now = lines[end].stamped.at;
    for line in lines.into_iter().take(end + 1) {
        update(&mut model, Message::EngineUpdate(EngineUpdate::Saw(Box::new(line))));
    }
    model
}

fn type_in(model: &mut Model, text: &str) {
    for c in text.chars() {
        press(model, KeyCode::Char(c));
    }
}

#[test]
fn the_end_of_a_session_shows_decision_seats_tally_and_an_answer() {
    let screen = rendered(&model(saved("context-passing.s2s")), (120, 40));
    for words in ["Decision: inline", "hybrid ", " .55", "■ inline      ████", "confidence 0.85", "q quit"]
    {
        assert!(screen.contains(words), "{words}\n{screen}");
    }
}

/// Tokens and cost are shown next to revealed answers, and nowhere before.
#[test]
fn costs_are_shown_only_after_the_close() {
    let mut lines = saved("context-passing.s2s");
    for line in &mut lines {
        match &mut line.stamped.event {
            Event::SessionOpened(opened) => {
                let price = Price { input: 3.0, cached: 0.3, output: 15.0 };
                opened.prices.insert("lab/m".to_owned(), price);
            }
            Event::AnswerRevealed(answer) => {
                let answer = std::sync::Arc::make_mut(answer);
                answer.record.model = "lab/m".to_owned();
                answer.record.tokens =
                    Some(TokenUsage { input: 10_000, output: 200, cached: 8000, ..TokenUsage::default() });
            }
            _ => {}
        }
    }
    let open = live_on(lines.clone(), |event| matches!(event, Event::RoundClosed(_)));
    assert!(!rendered(&open, (120, 40)).contains("tokens in"));
    let counted = rendered(&live_on(lines, |event| matches!(event, Event::TallyMade(_))), (120, 40));
    for words in ["$0.0570", "50,000 tokens", "$0.0114", "(80 %"] {
        assert!(counted.contains(words), "{words}\n{counted}");
    }
}

#[test]
fn nothing_of_an_answer_is_on_any_pane_before_the_reveal() {
    let lines = saved("context-passing.s2s");
    let reveal =
        lines.iter().position(|line| matches!(line.stamped.event, Event::AnswerRevealed(_))).unwrap();
    let mut model = model(lines);
    for at in 0..=reveal {
        model.replay.seek(at);
        for pane in Pane::ALL {
            model.focus = pane;
            for size in SIZES {
                let screen = rendered(&model, size);
                for words in ["votes inline", "votes hybrid", "0.85", "Hand the whole", "Decision:"] {
                    assert!(!screen.contains(words), "at {at}, {pane:?}: {words}\n{screen}");
                }
            }
        }
    }
}

/// `UPDATE_SNAPSHOTS=1` rewrites the table.
#[test]
fn the_manual_has_the_table_of_keys() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/SCREEN.md");
    let manual = std::fs::read_to_string(&path).unwrap();
    let (before, rest) =
        manual.split_once("<!-- keys: made from the table in src/tui/keys.rs -->\n").unwrap();
    let (table, after) = rest.split_once("<!-- end of keys -->").unwrap();
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        let head = "<!-- keys: made from the table in src/tui/keys.rs -->\n";
        let new = format!("{before}{head}{}<!-- end of keys -->{after}", super::key_table());
        return std::fs::write(path, new).unwrap();
    }
    assert_eq!(table, super::key_table());
}

#[test]
fn every_pane_and_overlay_draws_at_every_size() {
    let mut model = model(saved("release-consent.s2s"));
    let overlays = [
        None,
        Some(Overlay::Text(TextView { kind: TextKind::Answer, scroll: 3, ..TextView::default() })),
        Some(Overlay::Search("é日".into())),
        Some(Overlay::List(crate::tui::List::new(crate::tui::ListKind::Steps, "R", Vec::new(), ""))),
    ];
    for overlay in overlays {
        model.overlay = overlay;
        for pane in Pane::ALL {
            model.focus = pane;
            model.scroll = [usize::MAX; Pane::ALL.len()];
            for size in SIZES.into_iter().chain([(1, 1), (300, 3), (90, 6), (200, 100)]) {
                rendered(&model, size);
            }
        }
    }
}

/// The outcome is never cut; the text at the right is whole or absent.
#[test]
fn the_outcome_is_never_covered() {
    let mut lines = saved("release-consent.s2s");
    let is_tally = |line: &LogEntry| matches!(line.stamped.event, Event::TallyMade(_));
    let tally = lines.iter().position(is_tally).unwrap();
    lines.truncate(tally + 1);
    let model = model(lines);
    for width in 40..130 {
        let screen = rendered(&model, (width, 24));
        let numbers = screen.lines().nth(1).unwrap();
        assert!(numbers.starts_with("  Blocked by secu"), "{width}: {numbers}");
        let is_whole = numbers.ends_with("disagrees") || numbers.ends_with("blocks.");
        assert!(!numbers.contains("1 dis") || is_whole, "{width}: {numbers}");
        let state = screen.lines().next().unwrap();
        assert!(state.contains("[3 REVEAL]"), "{width}: {state}");
    }
}

#[test]
fn keys_step_and_seek() {
    let mut model = model(saved("context-passing.s2s"));
    let end = model.replay.lines.len();
    press(&mut model, KeyCode::Char('g'));
    assert_eq!(model.replay.at, 0);
    press(&mut model, KeyCode::Char(']'));
    assert!(model.replay.session.open_round().is_some());
    let opened = rendered(&model, (80, 24));
    assert!(opened.lines().nth(2).unwrap().contains("open: 5 seats"), "{opened}");
    press(&mut model, KeyCode::End);
    assert_eq!(model.replay.at, end);
    type_in(&mut model, "/no such words");
    press(&mut model, KeyCode::Enter);
    assert!(model.notice.is_some(), "no hit is said");
}

#[test]
fn a_seek_gives_the_state_that_folding_gives() {
    let mut lines = saved("context-passing.s2s");
    // Long enough for several checkpoints; repeated events are harmless. Reading the definition takes longest.
    let (opened, closed) = (lines.remove(0), lines.pop());
    let repeated = std::iter::repeat_n(lines, crate::cases::cases(420, 1_000)).flatten();
    let lines: Vec<_> = std::iter::once(opened).chain(repeated).chain(closed).collect();
    let mut stops = vec![0, 1, 8191, 8192, 8193, 15_000, 40, lines.len(), 16_384];
    stops.retain(|at| *at <= lines.len());
    let (mut folded, mut states) = (crate::history::Session::default(), HashMap::new());
    for at in 0..=lines.len() {
        if stops.contains(&at) {
            states.insert(at, folded.clone());
        }
        lines.get(at).into_iter().for_each(|line| folded.apply_entry(line));
    }
    let mut replay = Replay::new(lines);
    for at in stops {
        replay.seek(at);
        assert_eq!(replay.session, states[&at], "at {at}");
        assert!(at == 8192 || replay.session != states[&8192], "at {at}");
    }
}

#[test]
fn playback_shortens_pauses_and_stops_at_the_end() {
    let mut lines = saved("context-passing.s2s");
    let last = lines.len() - 1;
    lines[last].stamped.at.0 += 3_600_000;
    let mut model = model(lines);
    press(&mut model, KeyCode::Char('g'));
    press(&mut model, KeyCode::Char(' '));
    assert!(model.replay.due_in().is_some());
    update(&mut model, Message::Pass(1_400));
    assert!(model.replay.due_in().is_some());
    update(&mut model, Message::Pass(4_000));
    assert!(model.replay.due_in().is_none(), "an hour of rest is played in a second and a half");
    assert_eq!(model.replay.at, last + 1);
}

#[test]
fn hostile_text_reaches_no_cell_and_breaks_no_border() {
    let mut lines = saved("context-passing.s2s");
    let hostile = format!(
        "\u{1b}[31mred\u{1b}]8;;x\u{7}\u{202e}\u{200b}tab\there 日本語 👩\u{200d}👩 e{}",
        "\u{301}".repeat(10_000)
    );
    for line in &mut lines {
        if let Event::AnswerRevealed(answer) = &mut line.stamped.event {
            let answer = std::sync::Arc::make_mut(answer);
            answer.answer.insert("position".into(), format!("{hostile}\n{}", "x".repeat(1_000_000)).into());
        }
    }
    let mut model = model(lines);
    assert!(
        model.replay.session.rounds[0].seats.values().all(|s| matches!(s.status, SeatStatus::Revealed(..)))
    );
    model.focus = Pane::Answer;
    for size in SIZES {
        let screen = rendered(&model, size);
        assert!(!screen.chars().any(|c| c != '\n' && crate::sanitize::is_unsafe(c)), "{size:?}");
        assert_eq!(screen.lines().count(), usize::from(size.1), "{size:?}\n{screen}");
    }
}

#[test]
fn the_screen_state_follows_from_the_events() {
    let place = |is_last: fn(&Event) -> bool| live_until(is_last).screen_state();
    assert_eq!(place(|event| matches!(event, Event::StepStarted(_))), ScreenState::Draft);
    assert_eq!(place(|event| matches!(event, Event::RoundOpened(_))), ScreenState::Open);
    assert_eq!(place(|event| matches!(event, Event::BallotSealed(_))), ScreenState::Open);
    assert_eq!(place(|event| matches!(event, Event::TallyMade(_))), ScreenState::Revealed);
    assert_eq!(place(|event| matches!(event, Event::SessionClosed(_))), ScreenState::Closed);
}

#[test]
fn a_round_that_is_open_is_not_left_by_one_key() {
    let mut model = live_until(|event| matches!(event, Event::BallotSealed(_)));
    assert_eq!(press(&mut model, KeyCode::Char('q')), []);
    assert!(matches!(model.overlay, Some(Overlay::Ask(_))));
    press(&mut model, KeyCode::Esc);
    assert!(model.overlay.is_none());
    press(&mut model, KeyCode::Char('q'));
    assert_eq!(press(&mut model, KeyCode::Char('y')), [Effect::Quit]);
    let mut model = live_until(|event| matches!(event, Event::TallyMade(_)));
    assert_eq!(press(&mut model, KeyCode::Char('q')), [Effect::Quit]);
}

#[test]
fn a_refused_form_reopens_with_its_text() {
    let mut model = live_until(|event| matches!(event, Event::TallyMade(_)));
    press(&mut model, KeyCode::Char('N'));
    type_in(&mut model, "Split.");
    let key = KeyEvent::new(KeyCode::Char('s'), KeyModifiers::CONTROL);
    let effects = update(&mut model, Message::Key(key));
    let is_note = |effect: &Effect| matches!(effect, Effect::Order(Order(RecordSynthesis { text, .. })) if text == "Split.");
    assert!(effects.iter().any(is_note) && model.overlay.is_none(), "{effects:?}");
    update(&mut model, Message::EngineUpdate(EngineUpdate::Refused("the disk is full".to_owned())));
    let Some(Overlay::Form(form)) = &model.overlay else { panic!("no form") };
    assert_eq!((form.value("note").as_str(), form.error.as_deref()), ("Split.", Some("the disk is full")));
}

#[test]
fn the_result_is_shown_again_once_the_last_approval_is_given() {
    let mut model = live_until(|event| matches!(event, Event::TallyMade(_)));
    model.focus = Pane::Question;
    let end = saved("context-passing.s2s").pop().unwrap();
    update(&mut model, Message::EngineUpdate(EngineUpdate::Saw(Box::new(end))));
    assert_eq!((model.screen_state(), model.focus), (ScreenState::Closed, Pane::Seats));
}
