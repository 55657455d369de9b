//! All pictures of a counted round on one page that is scrolled.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Axis, Chart, Clear, Dataset, GraphType, Paragraph, Sparkline};
use unicode_width::UnicodeWidthStr as _;

use super::reading::position;
use super::score_dots::{lines_of, marker};
use super::{score_dots, votes};
use crate::ballot::BallotKind;
use crate::history::RoundRun;
use crate::insight::courses::courses;
use crate::insight::likeness::{MOST_SEATS, likeness};
use crate::insight::round_view::{VisibleState, is_revealed, seats, tally};
use crate::insight::sides::{side_of, sides};
use crate::insight::tally_text::whole_order;
use crate::insight::wording::format_duration;
use crate::insight::{agreement, pictures};
use crate::sanitize::harmless_line;
use crate::tally::Tier;
use crate::tui::cell_text::{clipped_middle, wrapped};
use crate::tui::model::Model;

/// The narrowest page with two columns of pictures.
const TWO_COLUMNS: u16 = 110;

/// A picture under its title.
type Picture = (&'static str, Vec<Line<'static>>);

/// Draws the page over the whole screen; below it the keys.
pub fn draw(frame: &mut Frame<'_>, area: Rect, model: &Model, scroll: usize) {
    let place = Rect { height: area.height.saturating_sub(1), ..area };
    let room = usize::from(place.height.saturating_sub(2));
    let all = page(model, place.width.saturating_sub(2));
    let count = all.len();
    let start = scroll.min(count.saturating_sub(room));
    let shown: Vec<Line<'static>> = all.into_iter().skip(start).take(room).collect();
    let number = model.shown_round().map_or(0, |round| round.opened.number);
    let block = model.theme.block(format!(" Pictures of round {number} "), true);
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(shown).block(block.title_bottom(position(start, room, count))), place);
    let foot = Rect { y: area.bottom().saturating_sub(1), height: 1, ..area };
    let key = |key: &'static str| Span::styled(key, model.theme.key());
    let keys = vec![Span::raw(" "), key("Esc"), Span::raw(" back   "), key("j k"), Span::raw(" scroll")];
    frame.render_widget(Paragraph::new(Line::from(keys)), foot);
}

/// How far the page can be scrolled.
pub fn most_pictures(model: &Model) -> usize {
    let (width, height) = model.size;
    page(model, width.saturating_sub(2)).len().saturating_sub(usize::from(height.saturating_sub(3)))
}

/// All lines of the page; on a wide one two columns of pictures.
pub fn page(model: &Model, width: u16) -> Vec<Line<'static>> {
    if width < TWO_COLUMNS {
        return column(model, all(model, usize::from(width)));
    }
    let half = usize::from(width / 2).saturating_sub(1);
    let (mut left, mut right): (Vec<Picture>, Vec<Picture>) = (Vec::new(), Vec::new());
    let height = |pictures: &[Picture]| pictures.iter().map(|(_, lines)| lines.len() + 2).sum::<usize>();
    for picture in all(model, half) {
        if height(&left) <= height(&right) { left.push(picture) } else { right.push(picture) }
    }
    let (left, right) = (column(model, left), column(model, right));
    let row = |at: usize| {
        let mut line = left.get(at).cloned().unwrap_or_default();
        let gap = (half + 2).saturating_sub(line.width());
        line.spans.push(Span::raw(" ".repeat(gap)));
        line.spans.extend(right.get(at).cloned().unwrap_or_default().spans);
        line
    };
    (0..left.len().max(right.len())).map(row).collect()
}

fn column(model: &Model, pictures: Vec<Picture>) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for (title, picture) in pictures {
        if !lines.is_empty() {
            lines.push(Line::from(""));
        }
        lines.push(Line::styled(title, model.theme.strong()));
        lines.extend(picture);
    }
    lines
}

/// The pictures there are of the round that is shown, the most telling first.
fn all(model: &Model, width: usize) -> Vec<Picture> {
    let Some(round) = model.shown_round().filter(|round| is_revealed(round)) else { return Vec::new() };
    let session = model.session();
    let mut all: Vec<Picture> = vec![
        ("Result", gauges(model, round, width)),
        ("Votes, darker where surer", votes::bars(model, round, width)),
        ("Consent, seat by seat", consent(model, round, width)),
        ("Scores by option, a dot a ballot", score_dots::scores(model, round, width)),
    ];
    let order = tally(round).and_then(|tally| whole_order(&tally.verdict));
    let order = order.filter(|_| round.opened.ballot.kind == BallotKind::Ranking);
    all.push(("Order", order.iter().flat_map(|order| wrapped(order, width, 9)).map(Line::from).collect()));
    let drawn = pictures(session, round, width);
    let drawn = drawn.iter().map(|line| Line::from(model.theme.drawn(harmless_line(line))));
    all.push(("Ballots", drawn.collect()));
    all.push(("Movement over the rounds", moved(model, round, width)));
    all.push(("Agreement over the rounds", trend(model, round, width)));
    all.push(("Who agrees with whom", agree(model, round, width)));
    all.push(("Who answered when", answered(model, round, width)));
    all.retain(|(_, lines)| !lines.is_empty());
    all
}

/// Quorum and strength as gauges.
fn gauges(model: &Model, round: &RoundRun, width: usize) -> Vec<Line<'static>> {
    let Some(tally) = tally(round) else { return Vec::new() };
    let theme = model.theme;
    let room = width.saturating_sub(32).clamp(8, 30);
    let gauge = |name: &str, part: usize, whole: usize, needed: Option<usize>, text: String, style: Style| {
        let cells = |count: usize| count * room / whole.max(1);
        let mark = needed.map(|needed| cells(needed).min(room).saturating_sub(1));
        let cell = |at: usize| match mark {
            Some(mark) if mark == at => '|',
            _ if at < cells(part) => '█',
            _ => '░',
        };
        let drawn: String = (0..room).map(cell).collect();
        Line::from(vec![
            Span::raw(format!("{name:<9}")),
            Span::styled(theme.drawn(drawn), style),
            Span::raw(format!(" {text}")),
        ])
    };
    let took_part = tally.answered + tally.abstained;
    let style = if tally.quorum_met { theme.good() } else { theme.bad() };
    let text = format!("{took_part} of {}, {} needed", tally.asked, tally.quorum);
    let mut lines = vec![gauge("quorum", took_part, tally.asked, Some(tally.quorum), text, style)];
    if let Some(tier) = tally.tier.filter(|tier| *tier > Tier::None) {
        let winner = tally.verdict.winners.first();
        let sides = sides(model.session(), round);
        let side = sides.iter().position(|side| winner.is_some_and(|winner| winner == side.name));
        let behind = side.map_or(0, |side| sides[side].seats.len());
        let style = side.map_or(theme.good(), |side| theme.option(side));
        let because = tally.tier_because.as_deref().unwrap_or_default();
        if behind > 0 {
            let text = format!("{}, {behind} of {}", tier.name(), tally.asked);
            lines.push(gauge("strength", behind, tally.asked, None, text, style));
        }
        let text = harmless_line(because);
        lines.extend(wrapped(&text, width, 2).into_iter().map(|line| Line::styled(line, theme.faint())));
    }
    lines
}

/// Each seat's stance in roster order.
fn consent(model: &Model, round: &RoundRun, width: usize) -> Vec<Line<'static>> {
    if round.opened.ballot.kind != BallotKind::Consent {
        return Vec::new();
    }
    let theme = model.theme;
    let cells: Vec<Span<'static>> = seats(model.session(), round)
        .map(|seat| match side_of(&seat, round) {
            Some(side) => Span::styled(theme.option_sign(side), theme.option(side)),
            None => Span::styled(theme.sign("·", "."), theme.faint()),
        })
        .collect();
    let mut lines: Vec<Line<'static>> =
        cells.chunks(width.max(1)).map(|row| Line::from(row.to_vec())).collect();
    let legend = sides(model.session(), round).into_iter().enumerate().map(|(place, side)| {
        Span::styled(
            format!("{} {} {}   ", theme.option_sign(place), side.name, side.score),
            theme.option(place),
        )
    });
    lines.push(Line::from(legend.collect::<Vec<_>>()));
    lines
}

/// What each seat stood for over the rounds; of more seats than are shown the flows.
fn moved(model: &Model, round: &RoundRun, width: usize) -> Vec<Line<'static>> {
    let theme = model.theme;
    let Some(courses) = courses(model.session(), round) else { return Vec::new() };
    if courses.seats.len() > MOST_SEATS {
        return votes::moved(model, round, width);
    }
    let names = courses.seats.iter().map(|(name, _)| name.width()).max().unwrap_or(0).min(width / 3);
    // The newest rounds are shown where not all fit.
    const CELL: usize = 7;
    let fit = (width.saturating_sub(names + 2) / CELL).max(1);
    let skip = courses.rounds.len().saturating_sub(fit);
    let title = courses
        .rounds
        .iter()
        .skip(skip)
        .fold(" ".repeat(names + 2), |line, number| format!("{line}{:<CELL$}", format!("r{number}")));
    let mut lines = vec![Line::styled(title, theme.faint())];
    for (seat, stands) in &courses.seats {
        let mut spans = vec![Span::raw(format!("{}  ", clipped_middle(&harmless_line(seat), names)))];
        for stand in stands.iter().skip(skip) {
            let Some(stand) = stand else {
                spans.push(Span::styled(format!("{:<CELL$}", theme.sign("·", ".")), theme.faint()));
                continue;
            };
            let (sign, style) = match stand.side {
                Some(side) => (theme.option_sign(side), theme.option(side)),
                None => ("?", theme.faint()),
            };
            let sure = stand.sure.as_deref().unwrap_or_default();
            spans.push(Span::styled(
                format!("{:<CELL$}", format!("{sign} {}", sure.get(..4).unwrap_or(sure))),
                style,
            ));
        }
        lines.push(Line::from(spans));
    }
    let legend = sides(model.session(), round);
    let legend = legend.iter().enumerate().map(|(place, side)| {
        Span::styled(
            format!("{} {}   ", theme.option_sign(place), harmless_line(side.name)),
            theme.option(place),
        )
    });
    lines.push(Line::from(legend.collect::<Vec<_>>()));
    lines
}

/// How agreement went over the rounds, as a line where there are three or more.
fn trend(model: &Model, round: &RoundRun, width: usize) -> Vec<Line<'static>> {
    let heights = agreement::heights(model.session(), round);
    let mut lines = Vec::new();
    if heights.len() >= 3 {
        let points: Vec<(f64, f64)> =
            heights.iter().map(|(number, height)| (f64::from(*number), *height)).collect();
        let (first, last) = (points[0].0, points[points.len() - 1].0);
        let data = Dataset::default()
            .marker(marker(model))
            .graph_type(GraphType::Line)
            .style(model.theme.active())
            .data(&points);
        let x = Axis::default().bounds([first, last]).labels([format!("r{first}"), format!("r{last}")]);
        let y = Axis::default().bounds([0.0, 1.0]).labels(["0", "1"]);
        lines = lines_of(Chart::new(vec![data]).x_axis(x).y_axis(y), width.min(60), 9);
    }
    let told = agreement::chart(model.session(), round);
    if told.len() > 1 {
        lines.extend(told.iter().map(|line| Line::from(model.theme.drawn(harmless_line(line)))));
    }
    lines
}

/// The agreement of each seat with each other; of more seats the number of pairs.
fn agree(model: &Model, round: &RoundRun, width: usize) -> Vec<Line<'static>> {
    let theme = model.theme;
    let Some(found) = likeness(model.session(), round) else {
        let sides = sides(model.session(), round);
        let pairs = |count: usize| count * count.saturating_sub(1) / 2;
        let all = pairs(sides.iter().map(|side| side.seats.len()).sum());
        if all == 0 {
            return Vec::new();
        }
        let same: usize = sides.iter().map(|side| pairs(side.seats.len())).sum();
        let text = format!("{same} of {all} pairs of ballots are the same ({} %)", same * 100 / all);
        return vec![Line::from(text)];
    };
    let names = found.seats.iter().map(|name| name.width()).max().unwrap_or(0).min(width / 3);
    let short = |name: &String| format!(" {:<3}", harmless_line(name).chars().take(3).collect::<String>());
    let fit = (width.saturating_sub(names + 1) / 4).max(1);
    let title: String = found.seats.iter().take(fit).map(short).collect();
    let mut lines = vec![Line::styled(format!("{}{title}", " ".repeat(names)), theme.faint())];
    for (at, (seat, pairs)) in found.seats.iter().zip(&found.pairs).enumerate() {
        let cell = |(other, (same, shares)): (usize, &(f64, bool))| match same {
            _ if other == at => "  · ",
            same if *same >= 0.75 => " ██ ",
            same if *same >= 0.5 => " ▓▓ ",
            same if *same >= 0.25 || *shares => " ▒▒ ",
            _ => " ░░ ",
        };
        let row: String = pairs.iter().enumerate().take(fit).map(cell).collect();
        let name = clipped_middle(&harmless_line(seat), names);
        lines.push(Line::from(format!("{name}{}", theme.drawn(row))));
    }
    let legend = "██ same ballot  ▓▓ nearly  ▒▒ partly, or a shared reason  ░░ neither";
    lines.extend(
        wrapped(&theme.drawn(legend.to_owned()), width, 2)
            .into_iter()
            .map(|line| Line::styled(line, theme.faint())),
    );
    lines
}

/// When each seat was sealed or failed; of more seats how many by when.
fn answered(model: &Model, round: &RoundRun, width: usize) -> Vec<Line<'static>> {
    let theme = model.theme;
    let times: Vec<u64> = seats(model.session(), round).filter_map(|seat| seat.elapsed_ms).collect();
    let Some(longest) = times.iter().max().copied().filter(|longest| *longest > 0) else { return Vec::new() };
    if round.seats.len() > MOST_SEATS {
        let mut counts = vec![0_u64; width.max(1)];
        let last = counts.len() as u64 - 1;
        for time in &times {
            counts[usize::try_from(time * last / longest).unwrap_or(0)] += 1;
        }
        let mut lines = if theme.ascii {
            let most = counts.iter().max().copied().unwrap_or(1).max(1);
            let sign = |count: &u64| {
                [' ', '.', ':', '+', '#'][usize::try_from((count * 4).div_ceil(most)).unwrap_or(4)]
            };
            vec![Line::from(counts.iter().map(sign).collect::<String>())]
        } else {
            lines_of(Sparkline::default().data(&counts).style(theme.good()), width, 4)
        };
        lines.push(Line::from(format!("0 s to {}, {} seats", format_duration(longest), times.len())));
        return lines;
    }
    let names = round.seats.keys().map(|name| name.width()).max().unwrap_or(0).min(width / 3);
    let room = width.saturating_sub(names + 14).max(4);
    let line = |seat: crate::insight::SeatView<'_>| {
        let name = clipped_middle(&harmless_line(seat.name), names);
        let cells = |ms: u64| usize::try_from(ms * (room as u64 - 1) / longest).unwrap_or(0);
        let (bar, end, style) = match (&seat.standing, seat.elapsed_ms) {
            (VisibleState::Revealed(_), Some(ms)) => (cells(ms), theme.sign("■", "#"), theme.good()),
            (VisibleState::Failed(_) | VisibleState::Lost, Some(ms)) => {
                (cells(ms), theme.sign("✗", "x"), theme.bad())
            }
            _ => (room - 1, "?", theme.faint()),
        };
        let style = side_of(&seat, round).map_or(style, |side| theme.option(side));
        let time = seat.elapsed_ms.map_or_else(|| "no answer".to_owned(), format_duration);
        Line::from(vec![
            Span::raw(format!("{name}  ")),
            Span::styled(
                format!("{}{end}{}", theme.sign("▬", "-").repeat(bar), " ".repeat(room - 1 - bar)),
                style,
            ),
            Span::raw(format!(" {time:>10}")),
        ])
    };
    seats(model.session(), round).map(line).collect()
}
