//! Full-screen reading of an answer, and search in all readable texts.

use super::*;

fn read(model: &Model) -> &TextView {
    let Some(Overlay::Text(read)) = &model.overlay else { panic!("nothing is read") };
    read
}

fn counted() -> Model {
    let mut model = live_until(|event| matches!(event, Event::TallyMade(_)));
    update(&mut model, Message::Resize(80, 24));
    model
}

#[test]
fn scrolling_ends_at_the_end_and_says_where_one_is() {
    let mut model = counted();
    press(&mut model, KeyCode::Enter);
    let first = rendered(&model, (80, 24));
    assert!(first.contains("software-architect · ■ · sure .85 · 1 of 5") && !first.contains("##"), "{first}");
    assert!(first.contains("% · ↓"), "{first}");
    for _ in 0..200 {
        press(&mut model, KeyCode::Char('j'));
    }
    let end = rendered(&model, (80, 24));
    assert!(end.contains("╰ end ─"), "{end}");
    press(&mut model, KeyCode::Char('k'));
    assert_ne!(rendered(&model, (80, 24)), end, "one line back is seen at once");
}

#[test]
fn the_arrows_lead_to_the_other_seats() {
    let mut model = counted();
    press(&mut model, KeyCode::Enter);
    press(&mut model, KeyCode::Char('j'));
    press(&mut model, KeyCode::Right);
    assert_eq!(
        (read(&model).title.as_str(), read(&model).scroll),
        ("security-champion · ■ · sure .90 · 2 of 5", 0)
    );
    assert_eq!(model.seat_name(), Some("security-champion"));
    press(&mut model, KeyCode::Left);
    press(&mut model, KeyCode::Left);
    assert_eq!(read(&model).title, "technical-lead · ● · sure .50 · 5 of 5");
    press(&mut model, KeyCode::Esc);
    assert_eq!(model.seat_name(), Some("technical-lead"));
}

/// Matches on and behind the screen are found from any cursor position, counted, and visited in a cycle.
#[test]
fn search_reads_all_answers_of_all_rounds() {
    let mut model = counted();
    model.show(Mode::Live(Box::<LiveSession>::default()), Replay::new(Vec::new()), "x.s2s".to_owned());
    for line in super::reveal::two_rounds() {
        update(&mut model, Message::EngineUpdate(EngineUpdate::Saw(Box::new(line))));
    }
    type_in(&mut model, "/zanzibar");
    press(&mut model, KeyCode::Enter);
    assert_eq!(model.notice.as_deref(), Some("1 of 1 matches of “zanzibar”"));
    assert_eq!((model.focus, model.seat_name()), (Pane::Answer, Some("product-manager")));
    assert!(rendered(&model, (80, 24)).contains("Zanzibar"));
    // The question's words are also in the first round's snapshot.
    type_in(&mut model, "/atomic");
    press(&mut model, KeyCode::Enter);
    let of = |model: &Model| {
        let notice = model.notice.clone().unwrap();
        let numbers: Vec<usize> = notice.split(' ').filter_map(|word| word.parse().ok()).collect();
        (numbers[0], numbers[1])
    };
    let (first, all) = of(&model);
    assert!(all > 5, "{all}");
    let mut rounds = std::collections::BTreeSet::new();
    for _ in 0..all {
        press(&mut model, KeyCode::Char('>'));
        rounds.insert(model.rounds_back);
    }
    assert_eq!((of(&model).0, rounds.len()), (first, 2));
    press(&mut model, KeyCode::Char('<'));
    assert_eq!(of(&model).0, if first == 1 { all } else { first - 1 });
    press(&mut model, KeyCode::Esc);
    assert!(model.words.is_empty() && matches!(model.mode, Mode::Live(_)), "Esc ends the search first");
}

#[test]
fn a_notice_is_whole_on_a_small_screen() {
    let mut model = live_until(|event| matches!(event, Event::TallyMade(_)));
    update(&mut model, Message::Resize(40, 12));
    let notice = "Replay is read-only. Press o to resume the session, F to fork it.";
    model.notice = Some(notice.to_owned());
    let screen = rendered(&model, (40, 12));
    let text: String = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.ends_with(&format!("{notice} A accept Enter read ? help q quit")), "{screen}");
    model.notice = Some("word ".repeat(100));
    assert!(rendered(&model, (40, 12)).contains("word…"));
}

#[test]
fn a_pane_is_read_at_the_width_of_the_screen() {
    let mut model = live_until(|event| matches!(event, Event::TallyMade(_)));
    update(&mut model, Message::Resize(40, 12));
    model.focus = Pane::Tally;
    press(&mut model, KeyCode::Enter);
    let screen = rendered(&model, (40, 12));
    assert!(screen.lines().any(|line| line.contains("■ inline  ") && line.contains("  3")), "{screen}");
}

#[test]
fn the_help_page_begins_with_what_works_here() {
    let mut model = live_until(|event| matches!(event, Event::TallyMade(_)));
    update(&mut model, Message::Resize(80, 300));
    press(&mut model, KeyCode::Char('?'));
    let screen = rendered(&model, (80, 300));
    let at = |words: &str| screen.find(words).unwrap_or_else(|| panic!("{words}\n{screen}"));
    assert!(at("accept result") < at("export report") && at("export report") < at("In a form"));
    assert!(screen.lines().filter(|line| line.contains(char::is_alphanumeric)).count() <= 44, "{screen}");
}
