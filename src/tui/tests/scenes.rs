//! Screens at several sizes, compared with `tests/snapshots/screen/*.txt`.
//!
//! `UPDATE_SNAPSHOTS=1` rewrites the files; review the difference before you keep it.

use std::path::{Path, PathBuf};

use crossterm::event::KeyCode;

use super::{live_on, live_until, press, rendered, saved, type_in};
use crate::engine::FacilitatorRequest;
use crate::history::{Event, LogEntry, SeatInfo, SessionOpened, Timestamp};
use crate::participants::progress::{Progress, RequestPhase};
use crate::tui::{
    Draft, Effect, EngineUpdate, Home, HomeRow, Message, Model, ModelSource, OpenTarget, Pane, SeatChoice,
    Theme, update,
};

const SIZES: [(u16, u16); 3] = [(40, 12), (80, 24), (120, 40)];
const LARGE: (u16, u16) = (200, 60);
const MAIN: [&str; 5] = ["home", "draft", "open", "counted", "replay"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/screen")
}

/// Compares a scene at every size with its file.
#[track_caller]
pub fn shows(name: &str, model: &Model) {
    let mut all = String::new();
    let large = MAIN.contains(&name).then_some(LARGE);
    for (width, height) in SIZES.into_iter().chain(large) {
        let mut model = model.clone();
        update(&mut model, Message::Resize(width, height));
        all.push_str(&format!("== {width}x{height}\n{}", rendered(&model, (width, height))));
    }
    let path = folder().join(format!("{name}.txt"));
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::create_dir_all(folder()).unwrap();
        return std::fs::write(path, all).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == all, "{name} is drawn otherwise than {} says:\n{all}", path.display());
}

fn theme() -> Theme {
    Theme::from_environment(|_| None)
}

pub fn home() -> Model {
    let mut model = Model::home((120, 40), theme());
    let row = |sign, name: &str, about: &str| HomeRow {
        sign,
        name: name.to_owned(),
        about: about.to_owned(),
        age: if sign == "+" { String::new() } else { "12 min".to_owned() },
        opening: if sign == "+" { OpenTarget::File(name.into()) } else { OpenTarget::Replay(name.into()) },
    };
    let queue = "Which queue do the writes of the shop wait in until the night?";
    let rows = vec![
        row("●", "Which cache first?", "round 2 open, 4 of 5"),
        row("✓", queue, "待ち行列 (by majority)"),
        row("+", "a question of your own", "two fields are enough"),
        row("+", "risk-review", "example: Know the risks"),
    ];
    let personas = ["qa-lead", "skeptic"].map(|name| (name.to_owned(), format!("What {name} cares for")));
    let read = Home { project: "~/shop".into(), rows, ..Home::default() };
    let read = Home { personas: personas.to_vec(), ..read };
    update(&mut model, Message::Home(Box::new(read)));
    let source = |provider: &str, models: &[&str]| ModelSource {
        provider: provider.to_owned(),
        is_ready: !models.is_empty(),
        models: models.iter().map(|name| format!("{provider}/{name}")).collect(),
    };
    let found = vec![source("ollama", &["llama3.2", "qwen3"]), source("anthropic", &[])];
    update(&mut model, Message::Sources(found));
    model
}

fn header() -> SessionOpened {
    let lines = saved("context-passing.s2s");
    let Event::SessionOpened(opened) = lines[0].stamped.event.clone() else { panic!("no header") };
    *opened
}

/// Returns the draft of a session that has not begun.
pub fn draft(definition: Option<&str>) -> Model {
    let mut opened = header();
    if let Some(definition) = definition {
        opened.definition = definition.to_owned();
    }
    draft_of(opened)
}

/// Returns a draft with `count` seats of one model.
pub fn draft_of_one_model(count: usize) -> Model {
    let mut opened = header();
    let seat = SeatInfo { model: "ollama/llama3.2".to_owned(), ..opened.participants[0].clone() };
    let seats = (0..count).map(|at| SeatInfo { name: format!("seat-{at}"), ..seat.clone() });
    opened.participants = seats.collect();
    let names: Vec<&str> = opened.participants.iter().map(|seat| &*seat.name).collect();
    let entries: Vec<String> =
        names.iter().map(|n| format!("{{name: {n}, model: ollama/llama3.2}}")).collect();
    opened.definition = format!("participants: [{}]\nquestion: Which cache first?\n", entries.join(", "));
    draft_of(opened)
}

fn draft_of(opened: SessionOpened) -> Model {
    let mut model = home();
    update(&mut model, Message::Tick(Timestamp(1_795_302_307_120)));
    update(&mut model, Message::Drafted(Box::new(drafted(opened))));
    update(&mut model, Message::Context(Ok(None)));
    model
}

fn drafted(opened: SessionOpened) -> Draft {
    let from = (OpenTarget::File("cache.yaml".into()), SeatChoice::default());
    Draft {
        opened,
        notices: Vec::new(),
        evidence: Vec::new(),
        needs: Vec::new(),
        asks_first: false,
        problems: Vec::new(),
        from,
    }
}

fn counted() -> Model {
    live_until(|event| matches!(event, Event::TallyMade(_)))
}

#[test]
fn the_home_screen() {
    shows("home", &home());
    let mut model = home();
    press(&mut model, KeyCode::Char('n'));
    type_in(&mut model, "Which cache first?");
    shows("form-new-topic", &model);
}

#[test]
fn a_draft() {
    shows("draft", &draft(None));
    let mut model = draft(None);
    press(&mut model, KeyCode::Char('e'));
    shows("form-round", &model);
    let mut again = counted();
    let session = again.session().clone();
    let events = crate::core::decide(&session, crate::core::Command::AskRoundAgain, session.last_at).unwrap();
    for event in events {
        let stamped = crate::history::TimedEvent { at: session.last_at, event };
        let line = LogEntry { seq: 99, prev: String::new(), hash: String::new(), stamped };
        update(&mut again, Message::EngineUpdate(EngineUpdate::Saw(Box::new(line))));
    }
    update(&mut again, Message::Context(Ok(None)));
    press(&mut again, KeyCode::Char('s'));
    press(&mut again, KeyCode::Char('s'));
    shows("draft-again", &again);
}

/// The checks mark questions that refer to missing material or outside sources; a refused round is corrected,
/// not skipped.
#[test]
fn checks_mark_questions_without_material() {
    let definition = |question: &str| {
        format!(
            "participants: [qa-lead]\nartifacts: [{{id: REQ-001, summary: s}}]\nquestion: \"{question}\"\n"
        )
    };
    let drafted = |question: &str| {
        let mut opened = header();
        opened.definition = definition(question);
        let mut model = home();
        update(&mut model, Message::Drafted(Box::new(super::scenes::drafted(opened))));
        update(&mut model, Message::Context(Ok(None)));
        model
    };
    let mut model = drafted("Do we accept REQ-002 as it is?");
    shows("draft-refused", &model);
    assert_eq!(press(&mut model, KeyCode::Char('o')), []);
    assert!(model.notice.as_ref().is_some_and(|notice| notice.contains("`REQ-002`, which does not exist")));
    press(&mut model, KeyCode::Char('e'));
    assert!(rendered(&model, (80, 24)).contains("Do we accept REQ-002 as it is?"));
    let mut model = drafted("Check Linear: what is open?");
    assert!(!press(&mut model, KeyCode::Char('o')).is_empty());
}

#[test]
fn an_open_round() {
    let open = live_until(|event| matches!(event, Event::BallotSealed(s) if s.participant == "qa-lead"));
    shows("open", &open);
    let progress = |standing, for_ms, tries, trouble: Option<&str>| Progress {
        phase: standing,
        for_ms,
        left_ms: matches!(standing, RequestPhase::Waiting).then_some(42_000),
        tries,
        trouble: trouble.map(str::to_owned),
        said: None,
        tokens: 0,
    };
    let told = [
        (
            "product-manager",
            progress(RequestPhase::Waiting, 800, 2, Some("cannot connect to `models.example`")),
        ),
        // Progress of a settled seat is not shown.
        ("qa-lead", progress(RequestPhase::Stalled, 7000, 1, None)),
    ];
    let mut open = open;
    let told = told.into_iter().map(|(seat, progress)| (seat.to_owned(), progress)).collect();
    update(&mut open, Message::Progress(told));
    press(&mut open, KeyCode::Right);
    press(&mut open, KeyCode::Right);
    open.focus = Pane::Answer;
    shows("open-trouble", &open);
    let mut model = open.clone();
    press(&mut model, KeyCode::Char('x'));
    shows("confirm-excuse", &model);
    let mut model = open;
    press(&mut model, KeyCode::Char('q'));
    shows("leave", &model);
}

#[test]
fn a_counted_round_in_every_pane() {
    let mut model = counted();
    shows("counted", &model);
    for (pane, name) in [
        (Pane::Answer, "answer"),
        (Pane::Snapshot, "snapshot"),
        (Pane::Question, "question"),
        (Pane::Tally, "tally"),
    ] {
        model.focus = pane;
        shows(name, &model);
    }
    model.is_side_by_side = true;
    shows("side-by-side", &model);
}

#[test]
fn a_question_to_the_person() {
    let mut model = draft(Some(
        "goal: \"Ship it\"\nparticipants: [software-architect]\nsteps:\n  - {id: ok, type: approval, message: \"Accept the risks?\"}\n",
    ));
    shows("asked", &model);
    press(&mut model, KeyCode::Enter);
    shows("form-answer", &model);
}

/// A workflow whose first step would be sent at once.
const WORKFLOW: &str = "\
goal: \"Plan and check\"
participants: [software-architect, qa-lead]
steps:
  - {id: plan, type: agent, agent: software-architect, prompt: \"Plan {{input}}\", next: both, on_error: ok}
  - id: both
    type: parallel
    next: ok
    steps:
      - {id: one, type: transform, transform: plan.result}
      - {id: two, type: agent, agent: qa-lead, prompt: \"Check {{context.plan}}\"}
  - {id: ok, type: approval, message: \"Accept?\", on_reject: plan}
";

#[test]
fn a_workflow_as_a_map() {
    let model = &mut draft(Some(WORKFLOW));
    assert_eq!(model.screen_state(), crate::tui::ScreenState::Draft);
    assert_eq!(press(model, KeyCode::Char('o')), [crate::tui::Effect::Begin]);
    shows("workflow", model);
}

#[test]
fn a_work_item_whole() {
    let mut model = counted();
    model.focus = Pane::Steps;
    press(&mut model, KeyCode::Enter);
    shows("items", &model);
    press(&mut model, KeyCode::Enter);
    shows("item", &model);
}

/// The last seconds have a sign.
#[test]
fn the_time_left_of_a_round() {
    let mut lines = saved("context-passing.s2s");
    for line in &mut lines {
        if let Event::RoundOpened(opened) = &mut line.stamped.event {
            std::sync::Arc::make_mut(opened).deadline_ms = Some(60_000);
        }
    }
    let mut model = live_on(lines, |event| matches!(event, Event::RoundOpened(_)));
    let opened = model.now;
    for (passed, shown) in [(20_000, " 0:40 left"), (50_001, " ! 0:10 left"), (99_000, " ! 0:00 left")] {
        update(&mut model, Message::Tick(Timestamp(opened.0 + passed)));
        for size in SIZES {
            let screen = rendered(&model, size);
            assert!(screen.contains(shown), "{screen}");
        }
    }
}

#[test]
fn a_key_that_cannot_work_says_why() {
    let open = live_until(|event| matches!(event, Event::BallotSealed(s) if s.participant == "qa-lead"));
    for (model, key, footer, why) in [
        (&open, 'x', "x excuse", "`software-architect` is settled already"),
        (&open, 'r', "r retry", "`software-architect` is already sealed"),
        (&open, 'o', "o open", "No effect in open. o: open round (or start session) · in draft"),
        (&draft(Some(WORKFLOW)), 'e', "e edit", "No round is drafted yet."),
    ] {
        let mut pressed = model.clone();
        assert_eq!(press(&mut pressed, KeyCode::Char(key)), []);
        let notice = pressed.notice.clone().unwrap_or_default();
        assert!(pressed.overlay.is_none() && notice.contains(why), "{key}: {notice}");
        assert!(!rendered(model, (120, 40)).contains(footer), "{footer}");
    }
}

/// Enter only reads. Accepting and closing ask for confirmation; the text differs without a decision.
#[test]
fn ending_a_round_or_session_asks_first() {
    let mut decided = counted();
    assert_eq!(press(&mut decided, KeyCode::Enter), []);
    shows("read-item", &decided);
    press(&mut decided, KeyCode::Esc);
    let blocked = live_on(saved("release-consent.s2s"), |event| matches!(event, Event::TallyMade(_)));
    let open = live_until(|event| matches!(event, Event::BallotSealed(s) if s.participant == "qa-lead"));
    for (mut model, key, name, request) in [
        (decided, 'A', "confirm-accept", FacilitatorRequest::Accept),
        (blocked, 'A', "confirm-accept-undecided", FacilitatorRequest::Accept),
        (open, 'c', "confirm-close", FacilitatorRequest::CloseRound),
    ] {
        assert_eq!(press(&mut model, KeyCode::Char(key)), []);
        shows(name, &model);
        let mut kept = model.clone();
        for key in [KeyCode::Enter, KeyCode::Char(key), KeyCode::Esc] {
            assert_eq!(press(&mut kept, key), [], "{name}");
        }
        assert!(kept.overlay.is_none());
        assert_eq!(press(&mut model, KeyCode::Char('y')), [Effect::Order(request)]);
    }
}

#[test]
fn overlays_over_the_panes() {
    for (keys, name) in [("?", "help"), ("a", "material"), ("/inl", "search")] {
        let mut model = counted();
        type_in(&mut model, keys);
        shows(name, &model);
    }
}

#[test]
fn a_replay() {
    shows("replay", &super::model(saved("context-passing.s2s")));
    let mut low = super::model(saved("release-consent.s2s"));
    low.theme.ascii = true;
    shows("replay-ascii", &low);
}
