//! The next action on every live screen; pickers, forms and dialogs.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::many::panel;
use super::scenes::{draft, draft_of_one_model};
use super::*;
use crate::core::{Command, decide};
use crate::engine::FacilitatorRequest;
use crate::history::{ApprovalGiven, SeatStatus, TimedEvent};
use crate::round::seal::SealedRecord;

fn third(model: &Model) -> String {
    let mut model = model.clone();
    update(&mut model, Message::Resize(80, 24));
    rendered(&model, (80, 24)).lines().nth(2).unwrap_or_default().trim().to_owned()
}

/// Passes the events of a command to the model, as an engine would.
fn happen(model: &mut Model, command: Command) {
    let at = model.session().last_at;
    for event in decide(model.session(), command, at).unwrap() {
        let stamped = TimedEvent { at, event };
        let line = LogEntry { seq: 99, prev: String::new(), hash: String::new(), stamped };
        update(model, Message::EngineUpdate(EngineUpdate::Saw(Box::new(line))));
    }
    update(model, Message::Context(Ok(None)));
}

#[test]
fn the_third_line_shows_the_next_action() {
    let failed = live_on(panel(10), |event| matches!(event, Event::SeatFailed(_)));
    let mut elsewhere = failed.clone();
    press(&mut elsewhere, KeyCode::End);
    for (model, words) in [
        (Box::new(draft(None)), "o opens the round: the same 3,376 bytes for 5 seats"),
        (Box::new(failed), "1 failed: r asks qa-lead-0003 again, x drops it, c closes at "),
        (Box::new(elsewhere), "1 failed: r asks qa-lead-0003 again"),
        (
            Box::new(live_until(|event| matches!(event, Event::TallyMade(_)))),
            "A adopts it, n asks again, N adds a note",
        ),
        (
            Box::new(live_until(|event| matches!(event, Event::SessionClosed(_)))),
            "over, saved as x.s2s: R exports a report",
        ),
    ] {
        assert!(third(&model).contains(words), "{words}: {}", third(&model));
    }
}

/// Failed seats fill the line, but the time left stays.
#[test]
fn the_time_left_stays_when_seats_fail() {
    let mut lines = panel(10);
    for line in &mut lines {
        if let Event::RoundOpened(opened) = &mut line.stamped.event {
            std::sync::Arc::make_mut(opened).deadline_ms = Some(300_000);
        }
    }
    let model = live_on(lines, |event| matches!(event, Event::SeatFailed(_)));
    for width in 40..=120 {
        let mut model = model.clone();
        update(&mut model, Message::Resize(width, 24));
        let screen = rendered(&model, (width, 24));
        assert!(screen.lines().nth(1).unwrap().contains("5:00 left"), "{width}\n{screen}");
    }
}

/// `m` chooses for one seat, Alt-Enter for all; typing narrows the list or adds a model.
#[test]
fn a_model_is_typed_for_one_seat_or_for_all() {
    let chosen = |typed: &str, modifiers| {
        let mut model = draft_of_one_model(3);
        press(&mut model, KeyCode::Right);
        press(&mut model, KeyCode::Char('m'));
        type_in(&mut model, typed);
        let screen = rendered(&model, (80, 24));
        let effects = update(&mut model, Message::Key(KeyEvent::new(KeyCode::Enter, modifiers)));
        let seats = effects.iter().find_map(|effect| match effect {
            Effect::Redraft(choice) => Some(choice.seats.clone()),
            _ => None,
        });
        (screen, seats.unwrap())
    };
    let (screen, seats) = chosen("qwen", KeyModifiers::NONE);
    assert!(
        screen.contains("Model of seat-1") && screen.contains("> qwen") && screen.contains("2 of 6"),
        "{screen}"
    );
    assert!(
        screen.contains("Enter this seat · Alt-Enter all 3") && !screen.contains("llama3.2  in"),
        "{screen}"
    );
    assert_eq!(seats, [("seat-1".to_owned(), "ollama/qwen3".to_owned())]);
    let (_, seats) = chosen("lab/new", KeyModifiers::ALT);
    assert_eq!((seats.len(), seats[2].1.as_str()), (3, "lab/new"));
}

#[test]
fn a_model_is_chosen_between_rounds() {
    let mut lines = saved("context-passing.s2s");
    if let Event::SessionOpened(opened) = &mut lines[0].stamped.event {
        opened.participants.iter_mut().for_each(|seat| seat.scripted.clear());
    }
    let mut model = live_on(lines, |event| matches!(event, Event::TallyMade(_)));
    happen(&mut model, Command::AskRoundAgain);
    type_in(&mut model, "mlab/other");
    let effects = press(&mut model, KeyCode::Enter);
    let [Effect::Order(Order(Command::ReviseRound(revised)))] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(revised.models["software-architect"], "lab/other");
    happen(&mut model, Command::ReviseRound(revised.clone()));
    assert!(rendered(&model, (80, 24)).contains("lab/other"));
}

#[test]
fn a_draft_warns_of_what_would_be_refused() {
    let background = "too long ".repeat(40_000);
    let long = format!("participants: [qa-lead]\nquestion: Which?\nexploration: \"{background}\"\n");
    let mut model = draft(Some(&long));
    model.focus = Pane::Checks;
    let screen = rendered(&model, (80, 24));
    assert!(
        screen.contains("`max_snapshot_bytes` is 262,144") && screen.contains("o open (1 problem)"),
        "{screen}"
    );
    // The lines are wrapped once, not for each key.
    press(&mut model, KeyCode::Char('j'));
    let begun = std::time::Instant::now();
    for _ in 0..10 {
        press(&mut model, KeyCode::Char('j'));
        rendered(&model, (80, 24));
    }
    assert!(begun.elapsed() < std::time::Duration::from_secs(3), "{:?}", begun.elapsed());
    let mut model = draft_of_one_model(1);
    model.home.sources.as_mut().unwrap()[0].models = vec!["ollama/qwen3".to_owned()];
    model.focus = Pane::Checks;
    let screen = rendered(&model, (80, 24));
    assert!(screen.contains("ollama/llama3.2: its provider does not list it"), "{screen}");
}

/// The form supports every ballot, deadline and quorum; rarely needed fields are folded.
#[test]
fn the_form_of_a_question_unfolds_what_few_need() {
    let mut model = super::scenes::home();
    press(&mut model, KeyCode::Char('n'));
    type_in(&mut model, "Which cache first?");
    assert!(!rendered(&model, (80, 40)).contains("deadline     "));
    let Some(Overlay::Form(form)) = &mut model.overlay else { panic!("no form") };
    let mut set = |id: &str, value: &str| {
        let field = form.fields.iter_mut().find(|field| field.id == id).unwrap();
        field.restore(value);
    };
    for (id, value) in [("options", "redis\nnone"), ("deadline", "5m"), ("quorum", "1"), ("ties", "ask")] {
        set(id, value);
    }
    for _ in 0..3 {
        press(&mut model, KeyCode::Tab);
    }
    while matches!(&model.overlay, Some(Overlay::Form(form)) if form.value("ballot") != "ranking") {
        press(&mut model, KeyCode::Right);
    }
    let effects = update(&mut model, Message::Key(KeyEvent::new(KeyCode::F(2), KeyModifiers::NONE)));
    let text = effects.iter().find_map(|effect| match effect {
        Effect::Open(crate::tui::OpenTarget::Text { text, .. }) => Some(text.clone()),
        _ => None,
    });
    let text = text.unwrap();
    for words in ["kind: ranking", "rule: schulze", "deadline: 5m", "quorum: 1", "ties: ask"] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    let loaded = crate::workflow::load(crate::workflow::Source { text: &text, file: "q.yaml", id: "q" });
    assert!(loaded.is_ok(), "{text}");
}

/// A private answer is not stored, so discarding it needs a confirmation.
#[test]
fn a_private_answer_is_thrown_away_only_when_one_agrees() {
    let mut model = live_until(|event| matches!(event, Event::RoundOpened(_)));
    let seat = model.session().open_round().unwrap().seats.keys().next().unwrap().clone();
    update(&mut model, Message::Asked(seat));
    let screen = rendered(&model, (80, 24));
    assert!(screen.contains("your turn. Enter opens") && screen.contains("c close"), "{screen}");
    press(&mut model, KeyCode::Enter);
    press(&mut model, KeyCode::Right);
    press(&mut model, KeyCode::Esc);
    assert!(rendered(&model, (80, 24)).contains("Throw away what you typed?"));
    press(&mut model, KeyCode::Esc);
    assert!(matches!(model.overlay, Some(Overlay::Form(_))), "it is still there");
    press(&mut model, KeyCode::Esc);
    press(&mut model, KeyCode::Char('y'));
    assert!(model.overlay.is_none() && model.notice.is_none());
}

/// Returns a session whose proposal was just blocked. Its approval follows a condition; `step` in it is replaced
/// by the round's id.
fn at_a_block(approval: &str) -> Model {
    let mut lines = saved("release-consent.s2s");
    let opened = lines.iter().find_map(|line| match &line.stamped.event {
        Event::RoundOpened(opened) => Some(opened.step.clone()),
        _ => None,
    });
    let step = opened.unwrap();
    if let Event::SessionOpened(opened) = &mut lines[0].stamped.event {
        opened.definition = format!(
            "participants: [qa-lead]\nsteps:\n  - {{id: {step}, type: round, question: Ship it?, ballot: consent, \
             rule: consent, next: is}}\n  - {{id: is, type: condition, condition: \"true\", then: ok}}\n  \
             - {{id: ok, type: approval, {}}}\n",
            approval.replace("step", &step)
        );
    }
    live_on(lines, |event| matches!(event, Event::TallyMade(_)))
}

/// Returns that session once its approval is asked.
fn after_a_block(approval: &str) -> Model {
    use crate::core::{NextAction, next};
    let mut model = at_a_block(approval);
    while model.question().is_none() {
        let NextAction::Decide(command) = next(model.session()) else { panic!("nothing is asked") };
        happen(&mut model, command);
    }
    model
}

/// Enter amends only where a yes asks the proposal again.
#[test]
fn an_approval_after_a_block_says_what_it_asks() {
    let mut model = after_a_block("message: Adopt it?, on_reject: step");
    let screen = rendered(&model, (80, 24));
    assert!(screen.contains("Adopt it?") && !screen.contains("Enter amends"), "{screen}");
    happen(&mut model, Command::Answer(ApprovalGiven::yes("ok", "facilitator")));
    let screen = rendered(&model, (120, 40));
    assert!(
        screen.contains("stays proposed: approved by facilitator") && !screen.contains("adopted by"),
        "{screen}"
    );
}

#[test]
fn accepting_a_block_says_whether_the_proposal_is_amended_next() {
    for (approval, next, title, then) in [
        ("on_approve: step", "A leads to the amendment", "Amend the blocked proposal?", "Next you amend"),
        ("on_reject: step", "A continues despite the block", "Continue despite", "with its next step"),
    ] {
        let mut model = at_a_block(&format!("message: Now?, {approval}"));
        assert!(third(&model).contains(next), "{}", third(&model));
        press(&mut model, KeyCode::Char('A'));
        let screen = rendered(&model, (80, 24));
        assert!(screen.contains(title) && screen.contains(then), "{screen}");
    }
}

#[test]
fn a_strategy_is_left_only_where_there_is_one() {
    let mut model = at_a_block("message: Now?, on_approve: step");
    press(&mut model, KeyCode::Char('L'));
    assert!(
        model.overlay.is_none() && model.notice.as_deref().is_some_and(|said| said.contains("No strategy"))
    );
}

#[test]
fn the_seat_that_waits_for_the_person_is_chosen() {
    let mut model = live_on(panel(10), |event| matches!(event, Event::SeatFailed(_)));
    let asked = |model: &mut Model, at: usize| {
        let seat = model.session().rounds[0].seats.get_index(at).unwrap().0.clone();
        update(model, Message::Asked(seat));
    };
    let status = |model: &Model| model.session().rounds[0].seats[model.seat].status.clone();
    // The first seat is sealed, so the failed one is chosen; an open seat stays chosen until a person is asked.
    assert!(matches!(status(&model), SeatStatus::Failed(_)), "{:?}", status(&model));
    let open: Vec<usize> =
        (0..10).filter(|at| model.session().rounds[0].seats[*at].status.is_open()).collect();
    asked(&mut model, open[1]);
    assert_eq!((model.seat, model.focus), (open[1], Pane::Question));
    asked(&mut model, open[0]);
    assert_eq!(model.seat, open[0], "the first of the roster, as in the line above");
    let seal = SealedRecord { commitment: String::new(), enc: String::new(), sealed: Vec::new() };
    let round = model.session().rounds[0].opened.round.clone();
    let participant = model.session().rounds[0].seats.get_index(open[0]).unwrap().0.clone();
    happen(&mut model, Command::Seal { round, participant, seal });
    assert_eq!(model.seat, open[1]);
}

#[test]
fn a_block_without_its_change_stays_in_its_form() {
    let model = live_on(saved("release-consent.s2s"), |event| matches!(event, Event::RoundOpened(_)));
    let says =
        |text: &str| crate::tui::form::check_reply(model.session(), "", text).err().unwrap_or_default();
    assert!(says(r#"{"consent": "block"}"#).contains("minimum_change"));
    assert_eq!(says(r#"{"consent": "block", "minimum_change": "wait"}"#), "");
}

#[test]
fn a_block_is_answered_with_the_proposal_amended() {
    let mut model = after_a_block("message: Amend it?, on_approve: step");
    let screen = rendered(&model, (80, 24));
    assert!(screen.contains("Enter amends the proposal and asks again"), "{screen}");
    assert!(screen.contains("blocks") && screen.contains("would pass with"), "{screen}");
    assert!(!screen.contains("stepId"), "{screen}");
    super::scenes::shows("block", &model);
    press(&mut model, KeyCode::Enter);
    super::scenes::shows("form-amend", &model);
    press(&mut model, KeyCode::Char('!'));
    let effects = update(&mut model, Message::Key(KeyEvent::new(KeyCode::F(2), KeyModifiers::NONE)));
    let amended = |effect: &Effect| {
        matches!(effect, Effect::Order(FacilitatorRequest::Answer(ApprovalGiven { approved: true, comment: Some(text), .. }))
            if text.ends_with('!'))
    };
    assert!(effects.iter().any(amended), "{effects:?}");
}

#[test]
fn a_recorded_note_is_shown() {
    let mut model = live_until(|event| matches!(event, Event::TallyMade(_)));
    let round = model.session().rounds[0].opened.round.clone();
    happen(&mut model, Command::RecordSynthesis { round, text: "One minute is fine.".to_owned() });
    let screen = rendered(&model, (80, 24));
    assert!(screen.contains("Note kept") && screen.contains("note: One minute is fine."), "{screen}");
}

#[test]
fn many_sessions_are_distinguished_and_counted() {
    let mut model = super::scenes::home();
    let mut home = model.home.clone();
    for at in 0..50 {
        let name = format!("Should we adopt proposal {at} about billing?");
        home.rows.push(crate::tui::HomeRow { name, ..home.rows[1].clone() });
    }
    update(&mut model, Message::Home(Box::new(home)));
    let screen = rendered(&model, (80, 24));
    assert!(screen.contains("of 51 · / finds"), "{screen}");
    assert!(
        screen.contains("proposal 4 about billing?") && screen.contains("a question of your own"),
        "{screen}"
    );
}

#[test]
fn a_long_list_in_a_form_says_how_much_is_below() {
    let mut model = super::scenes::home();
    model.home.personas = (0..17).map(|at| (format!("persona-{at}"), String::new())).collect();
    press(&mut model, KeyCode::Char('n'));
    for _ in 0..6 {
        press(&mut model, KeyCode::Tab);
    }
    let screen = rendered(&model, (80, 30));
    assert!(screen.contains("] persona-0") && screen.contains("… 6 more"), "{screen}");
}

/// Models given to seats would be lost.
#[test]
fn models_given_to_seats_are_not_left_by_one_key() {
    let mut model = draft_of_one_model(3);
    if let Some(draft) = model.live_mut().and_then(|live| live.draft.as_mut()) {
        draft.from.1.seats.push(("seat-1".to_owned(), "ollama/qwen3".to_owned()));
    }
    assert_eq!(press(&mut model, KeyCode::Esc), []);
    assert!(rendered(&model, (80, 24)).contains("Leave this draft?"));
    press(&mut model, KeyCode::Char('y'));
    assert!(matches!(model.mode, Mode::Home));
}
