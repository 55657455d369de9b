//! Alignment of columns, and numbers that are never cut, at every width.

use super::many::panel;
use super::*;

/// Returns the words with a digit; skips words that end in a cut mark.
fn numbers(screen: &str) -> Vec<&str> {
    let is_number = |word: &&str| word.contains(|c: char| c.is_ascii_digit()) && !word.contains('…');
    screen.split_whitespace().filter(is_number).collect()
}

/// Returns the lines of a pane without its frame.
fn pane(model: &Model, pane: Pane, (width, height): (u16, u16)) -> String {
    let mut model = model.clone();
    (model.focus, model.size) = (pane, (width, height));
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, &model)).unwrap();
    let buffer = terminal.backend().buffer();
    let place = crate::tui::screen::place(&model, pane);
    let row = |y| (place.x..place.right()).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    let rows = (place.y + 1..place.bottom()).map(row);
    rows.map(|row| row.trim_matches('│').to_owned() + "\n").collect()
}

#[test]
fn no_number_is_cut() {
    let lines = saved("context-passing.s2s");
    let sealed = |event: &Event| matches!(event, Event::BallotSealed(_));
    let open = live_on(lines.clone(), sealed);
    let failed = live_on(panel(10), |event| matches!(event, Event::RoundClosed(_)));
    let counted = live_on(lines, |event| matches!(event, Event::TallyMade(_)));
    for (name, model) in [("open", open), ("failed", failed), ("counted", counted)] {
        for shown in [Pane::Seats] {
            let wide = pane(&model, shown, (300, 60));
            let known: std::collections::HashSet<&str> = numbers(&wide).into_iter().collect();
            assert!(!known.is_empty(), "{name} {shown:?}: {wide}");
            // Narrower screens show no list next to an answer.
            let least = if name == "counted" { 60 } else { 24 };
            for width in (least..=130).step_by(crate::cases::cases(3, 1)) {
                let narrow = pane(&model, shown, (width, 24));
                for number in numbers(&narrow) {
                    assert!(
                        known.contains(number),
                        "{name} {shown:?} at {width}: {number}\n{narrow}\n{wide}"
                    );
                }
            }
        }
    }
}

/// Times are right-aligned in one column; models start in one column.
#[test]
fn columns_are_aligned() {
    let mut lines = panel(10);
    for line in &mut lines {
        if let Event::SeatFailed(failed) = &mut line.stamped.event {
            failed.elapsed_ms = 12_500;
        }
    }
    let mut model = live_on(lines, |event| matches!(event, Event::RoundClosed(_)));
    // The state before the close.
    model.replay = Replay::new(model.replay.lines[..model.replay.lines.len() - 1].to_vec());
    for width in [60, 80, 100, 120, 160] {
        let rows = pane(&model, Pane::Seats, (width, 24));
        let ends = |row: &str| {
            let at = row.find(" s ").or_else(|| row.ends_with(" s").then(|| row.len() - 2))?;
            Some(row[..at].chars().count())
        };
        let times: Vec<Option<usize>> = rows.lines().take(10).map(ends).collect();
        assert!(times[0].is_some() && times.iter().all(|end| *end == times[0]), "{width}: {times:?}\n{rows}");
        let model = |row: &str| Some(row[..row.find("scripted")?].chars().count());
        let models: Vec<Option<usize>> = rows.lines().take(10).map(model).collect();
        assert!(models.iter().all(|start| *start == models[0]), "{width}: {models:?}\n{rows}");
    }
}
