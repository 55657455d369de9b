//! The reveal at every size, earlier rounds, colors of options.

use ratatui::style::{Color, Style};

use super::*;
use crate::ballot::Ballot;

/// Returns a session of two rounds; in the second, the product manager changes to `inline`.
pub fn two_rounds() -> Vec<LogEntry> {
    let lines = saved("context-passing.s2s");
    let (first, last) = (
        lines.iter().position(|line| matches!(line.stamped.event, Event::RoundOpened(_))).unwrap(),
        lines.iter().position(|line| matches!(line.stamped.event, Event::TallyMade(_))).unwrap(),
    );
    let mut all = lines[..=last].to_vec();
    let again = lines[first..=last].iter().cloned().map(|mut line| {
        line.stamped.at.0 += 125_000;
        match &mut line.stamped.event {
            Event::RoundOpened(opened) => {
                let opened = std::sync::Arc::make_mut(opened);
                (opened.round, opened.number) = ("second".to_owned(), 2);
            }
            Event::WorkItemOffered(item) => {
                std::sync::Arc::make_mut(item).round = "second".to_owned();
            }
            Event::BallotSealed(sealed) => sealed.round = "second".to_owned(),
            Event::RoundClosed(closed) => closed.round = "second".to_owned(),
            Event::AnswerRevealed(answer) => {
                let answer = std::sync::Arc::make_mut(answer);
                answer.round = "second".to_owned();
                if answer.participant == "product-manager" {
                    answer.ballot = Some(Ballot::Choice("inline".to_owned()));
                    answer.answer.insert("confidence".into(), 0.9.into());
                    answer.answer.insert("position".into(), "Zanzibar convinced me.".into());
                }
            }
            Event::TallyMade(tally) => {
                tally.round = "second".to_owned();
                tally.verdict.scores.insert("inline".to_owned(), 4_u64.into());
                tally.verdict.scores.insert("hybrid".to_owned(), 0_u64.into());
            }
            _ => {}
        }
        line
    });
    all.extend(again);
    for (seq, line) in (0..).zip(&mut all) {
        line.seq = seq;
    }
    all
}

fn live(lines: Vec<LogEntry>) -> Model {
    let mut model = Model::home((120, 40), Theme::from_environment(|_| None));
    model.show(Mode::Live(Box::<LiveSession>::default()), Replay::new(Vec::new()), "x.s2s".to_owned());
    for line in lines {
        update(&mut model, Message::EngineUpdate(EngineUpdate::Saw(Box::new(line))));
    }
    model
}

#[test]
fn the_first_screen_has_the_outcome_and_words_of_an_answer() {
    let counted = |event: &Event| matches!(event, Event::TallyMade(_));
    let open_question = || {
        let mut lines = saved("context-passing.s2s");
        for line in &mut lines {
            match &mut line.stamped.event {
                Event::SessionOpened(opened) => {
                    opened.definition = "question: Which?\nid: decide\n".to_owned();
                }
                Event::RoundOpened(opened) => {
                    let opened = std::sync::Arc::make_mut(opened);
                    (opened.ballot, opened.rule) = (crate::ballot::BallotForm::position(), None);
                }
                Event::AnswerRevealed(answer) => {
                    std::sync::Arc::make_mut(answer).ballot = Some(Ballot::Position);
                }
                Event::TallyMade(tally) => {
                    (tally.rule, tally.decided) = (None, false);
                    tally.verdict.scores.clear();
                }
                _ => {}
            }
        }
        lines
    };
    for (lines, outcome) in
        [(saved("context-passing.s2s"), "Decision: inline"), (open_question(), "Opinions collected")]
    {
        let live = live_on(lines.clone(), counted);
        for model in [live, model(lines)] {
            for size in [(40, 12), (80, 24), (120, 40), (200, 60)] {
                let mut model = model.clone();
                update(&mut model, Message::Resize(size.0, size.1));
                let screen = rendered(&model, size);
                for words in [outcome, "Hand the whole"] {
                    assert!(screen.contains(words), "{size:?}: {words}\n{screen}");
                }
            }
        }
    }
    let mut uncounted = live_on(open_question(), counted);
    press(&mut uncounted, KeyCode::Char('w'));
    assert!(uncounted.overlay.is_none() && uncounted.notice.is_some(), "no rule counts it");
}

/// `[` shows an earlier round, live and in a replay; `]` or `Esc` leaves it.
#[test]
fn an_earlier_round_can_be_shown() {
    let mut model = live(two_rounds());
    let screen = |model: &Model| rendered(model, (120, 40));
    assert!(screen(&model).contains("round 2") && screen(&model).contains("inline      ████"));
    assert!(screen(&model).contains("product-manager  hybrid → inline  .55 → .90"), "{}", screen(&model));
    assert!(screen(&model).contains("1 changed") && screen(&model).contains("4  ▲ 1"));
    press(&mut model, KeyCode::Char('['));
    let earlier = screen(&model);
    assert!(
        earlier.contains("round 1 of 2") && earlier.contains("▲ product-manager     hybrid"),
        "{earlier}"
    );
    assert_eq!(press(&mut model, KeyCode::Char('[')), []);
    assert!(model.notice.as_deref() == Some("This is the first round."));
    press(&mut model, KeyCode::Char(']'));
    assert!(screen(&model).contains("■ product-manager     inline"));
    press(&mut model, KeyCode::Char('['));
    assert_eq!(press(&mut model, KeyCode::Esc), []);
    assert!(model.rounds_back == 0 && matches!(model.mode, Mode::Live(_)));
    // An order shows the current round.
    press(&mut model, KeyCode::Char('['));
    press(&mut model, KeyCode::Char('A'));
    assert!(model.rounds_back == 0 && model.overlay.is_some());
}

/// The header summarizes all questions of a finished session; each has a line, even on the smallest screen.
#[test]
fn a_finished_session_names_each_of_its_decisions() {
    let mut lines = two_rounds();
    for line in &mut lines {
        if let Event::RoundOpened(opened) = &mut line.stamped.event
            && opened.number == 2
        {
            let opened = std::sync::Arc::make_mut(opened);
            (opened.step, opened.question) = ("name".to_owned(), "Which name?".to_owned());
        }
    }
    lines.extend(saved("context-passing.s2s").pop());
    let model = live(lines);
    for size in [(40, 12), (80, 24), (120, 40)] {
        let mut model = model.clone();
        update(&mut model, Message::Resize(size.0, size.1));
        let screen = rendered(&model, size);
        assert!(screen.contains("[FINISHED]") && screen.contains("✓ 2 decisions"), "{screen}");
        assert!(screen.contains("▸ Which name?") && screen.matches("  inline").count() >= 2, "{screen}");
    }
}

/// Bars and seats use the same color and sign; an abstention is no error.
#[test]
fn an_option_has_one_color_and_one_sign() {
    let mut lines = saved("context-passing.s2s");
    for line in &mut lines {
        if let Event::AnswerRevealed(answer) = &mut line.stamped.event
            && answer.participant == "technical-lead"
        {
            std::sync::Arc::make_mut(answer).ballot = Some(Ballot::Abstain);
        }
    }
    let model = live_on(lines, |event| matches!(event, Event::TallyMade(_)));
    let mut terminal = Terminal::new(TestBackend::new(120, 40)).unwrap();
    terminal
        .draw(|frame| {
            draw(frame, &model);
        })
        .unwrap();
    let buffer = terminal.backend().buffer();
    let cells = |sign: &str| -> Vec<Style> {
        buffer.content.iter().filter(|cell| cell.symbol() == sign).map(ratatui::buffer::Cell::style).collect()
    };
    let colors = |sign: &str| {
        // The signs in an answer's title have no color.
        let is_colored = |color: &Option<Color>| *color != Some(Color::Reset);
        let mut colors: Vec<Option<Color>> =
            cells(sign).iter().map(|style| style.fg).filter(is_colored).collect();
        colors.dedup();
        colors
    };
    let (inline, hybrid) = (colors("■"), colors("▲"));
    assert_eq!((cells("■").len(), cells("▲").len()), (5, 2), "the bar, its seats, the title of the answer");
    assert_eq!((inline.len(), hybrid.len()), (1, 1));
    assert_ne!(inline, hybrid);
    assert!(cells("○").iter().all(|style| style.fg != Some(Color::Red)) && cells("○").len() == 1);
}
