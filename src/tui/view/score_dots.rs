//! The scores of each option as dots on a scale; and widgets as lines of a page.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;
use ratatui::widgets::canvas::{Canvas, Line as Stroke, Points};
use unicode_width::UnicodeWidthStr as _;

use crate::core::profile;
use crate::history::RoundRun;
use crate::sanitize::harmless_line;
use crate::tally::{IndexedBallot, Score};
use crate::tui::cell_text::clipped_middle;
use crate::tui::model::Model;

/// A widget as lines: what it draws on a place of its own.
pub fn lines_of(widget: impl Widget, width: usize, height: u16) -> Vec<Line<'static>> {
    let area = Rect { x: 0, y: 0, width: u16::try_from(width).unwrap_or(u16::MAX), height };
    let mut buffer = Buffer::empty(area);
    widget.render(area, &mut buffer);
    let row = |y: u16| {
        let cells = (0..area.width).map(|x| &buffer[(x, y)]);
        Line::from(cells.map(|cell| Span::styled(cell.symbol().to_owned(), cell.style())).collect::<Vec<_>>())
    };
    (0..height).map(row).collect()
}

/// The marker of charts: braille, or plain dots in ASCII.
pub fn marker(model: &Model) -> Marker {
    if model.theme.ascii { Marker::Dot } else { Marker::Braille }
}

/// The scores of each option as dots on a scale, its mean as a stroke.
pub fn scores(model: &Model, round: &RoundRun, width: usize) -> Vec<Line<'static>> {
    const MOST_OPTIONS: usize = 20;
    let ballots = profile(model.session(), round);
    let given: Vec<&Vec<Option<crate::tally::Decimal>>> = ballots
        .ballots
        .iter()
        .filter_map(|cast| if let IndexedBallot::Scores(scores) = &cast.mark { Some(scores) } else { None })
        .collect();
    let of = |option: usize| -> Vec<f64> {
        let scores = given.iter().filter_map(|scores| scores.get(option).copied().flatten());
        scores.map(|score| Score::from(score).as_f64()).collect()
    };
    let all: Vec<Vec<f64>> = (0..ballots.options.len().min(MOST_OPTIONS)).map(of).collect();
    let low = all.iter().flatten().copied().fold(f64::MAX, f64::min);
    let high = all.iter().flatten().copied().fold(f64::MIN, f64::max);
    if low > high {
        return Vec::new();
    }
    let theme = model.theme;
    let names =
        ballots.options.iter().map(|name| harmless_line(name).width()).max().unwrap_or(0).min(width / 3);
    let room = width.saturating_sub(names + 10).max(10);
    let (low, high) = if low < high { (low, high) } else { (low - 1.0, high + 1.0) };
    let mut lines = Vec::new();
    for (place, scores) in all.iter().enumerate() {
        let mean = scores.iter().sum::<f64>() / (scores.len().max(1)) as f64;
        let canvas = dots(model, scores, mean, (low, high), theme.option(place));
        for (row, drawn) in lines_of(canvas, room, 2).into_iter().enumerate() {
            let name = if row == 0 { harmless_line(&ballots.options[place]) } else { String::new() };
            let mut line =
                vec![Span::styled(format!("{}  ", clipped_middle(&name, names)), theme.option(place))];
            line.extend(drawn.spans);
            line.push(Span::raw(if row == 0 { format!("  ø {mean:.2}") } else { String::new() }));
            lines.push(Line::from(line));
        }
    }
    let (low, high) = (format!("{low}"), format!("{high}"));
    let gap = room.saturating_sub(low.len() + high.len());
    lines.push(Line::from(format!("{}{low}{}{high}", " ".repeat(names + 2), " ".repeat(gap))));
    lines
}

/// Scores as dots, equal ones over each other, and their mean as a stroke.
fn dots(
    model: &Model,
    scores: &[f64],
    mean: f64,
    (low, high): (f64, f64),
    style: Style,
) -> impl Widget + use<> {
    const LEVELS: usize = 7;
    let mut seen: Vec<f64> = Vec::new();
    let mut points: Vec<(f64, f64)> = Vec::new();
    for score in scores {
        let level = seen.iter().filter(|other| (*other - score).abs() < f64::EPSILON).count();
        seen.push(*score);
        points.push((*score, (level % LEVELS + 1) as f64));
    }
    let color = style.fg.unwrap_or_default();
    let stroke = Stroke { x1: mean, y1: 0.0, x2: mean, y2: 8.0, color: ratatui::style::Color::Reset };
    let canvas = Canvas::default().marker(marker(model)).x_bounds([low, high]).y_bounds([0.0, 8.0]);
    canvas.paint(move |canvas| {
        canvas.draw(&stroke);
        canvas.draw(&Points { coords: &points, color });
    })
}
