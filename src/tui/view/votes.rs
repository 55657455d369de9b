//! The votes of a counted round: bars in the colors of the options, who stands behind each, who moved.

use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use crate::ballot::{Ballot, BallotKind, Stance};
use crate::history::RoundRun;
use crate::insight::movement::{Movement, earlier, movement};
use crate::insight::round_view::{dissents, seats, tally, winners};
use crate::insight::sides::{Side, sides};
use crate::sanitize::harmless_line;
use crate::tui::cell_text::{clipped_middle, cut_middle, wrapped};
use crate::tui::model::Model;

/// The narrowest pane with names beside the bars; on a narrower one they stand below.
const BESIDE: usize = 70;
/// How long a bar is where names stand beside it; on a wide pane longer.
const BAR: usize = 16;
/// How many lines the names behind one option take.
const NAME_LINES: usize = 2;
/// With more seats that moved, they are counted and not named one by one.
const NAMED_MOVES: usize = 30;

/// The bars, with the seats' names where each seat stands behind what its ballot names.
pub fn bars(model: &Model, round: &RoundRun, width: usize) -> Vec<Line<'static>> {
    let sides = sides(model.session(), round);
    let theme = model.theme;
    let longest = sides.iter().map(|side| harmless_line(side.name).width()).max().unwrap_or(0).min(width / 3);
    let digits = sides.iter().map(|side| side.score.to_string().len()).max().unwrap_or(0);
    let is_named = names_seats(round.opened.ballot.kind);
    let is_beside = is_named && width >= BESIDE;
    let used = 2 + longest + 2 + digits + 2;
    let room = if is_beside { BAR.max(width / 5) } else { width.saturating_sub(used) };
    let mut lines = Vec::new();
    for (place, side) in sides.iter().enumerate() {
        let style = theme.option(place);
        let bar = bar(side, room, is_named);
        let mut spans = vec![
            Span::styled(format!("{} ", theme.option_sign(place)), style),
            Span::raw(format!("{}  ", clipped_middle(&harmless_line(side.name), longest))),
            Span::styled(theme.drawn(format!("{bar:<room$}")), style),
            Span::raw(format!("  {:>digits$}", side.score.to_string())),
        ];
        let indent = if is_beside { used + room + 1 } else { 2 };
        let named = if is_named { named(side, width.saturating_sub(indent)) } else { Vec::new() };
        let mut named = named.into_iter();
        if is_beside {
            spans.push(Span::styled(format!("   {}", named.next().unwrap_or_default()), style));
        }
        lines.push(Line::from(spans));
        lines.extend(named.map(|names| Line::styled(format!("{}{names}", " ".repeat(indent)), style)));
    }
    lines
}

/// Whether the ballots behind an option are its number.
fn names_seats(kind: BallotKind) -> bool {
    match kind {
        BallotKind::Choice | BallotKind::Approval | BallotKind::Consent | BallotKind::Estimate => true,
        BallotKind::Position
        | BallotKind::Ranking
        | BallotKind::Score
        | BallotKind::Ideas
        | BallotKind::Findings => false,
    }
}

/// A bar; where each seat counts one it is made of its seats, darker where one is surer.
fn bar(side: &Side<'_>, room: usize, is_named: bool) -> String {
    let cells =
        ((side.share * room as f64).floor() as usize).clamp(usize::from(side.share > 0.0), room.max(1));
    let seats = side.seats.len();
    if !is_named || seats == 0 || seats > cells || (seats as f64 - side.score.as_f64()).abs() > 0.01 {
        return "█".repeat(cells);
    }
    let shade = |cell: usize| match side.seats[cell * seats / cells].share() {
        sure if sure >= 0.75 => '█',
        sure if sure >= 0.5 => '▓',
        sure if sure >= 0.25 => '▒',
        _ => '░',
    };
    (0..cells).map(shade).collect()
}

/// The names behind an option, the surest first, as many as fit; of the others their number.
fn named(side: &Side<'_>, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for (at, backer) in side.seats.iter().enumerate() {
        let sure = backer.sure.as_ref().map(|sure| format!(" {sure}")).unwrap_or_default();
        let name = format!("{}{sure}", cut_middle(&harmless_line(backer.seat), 18));
        let more = format!("+{}", side.seats.len() - at);
        let is_last = lines.len() == NAME_LINES;
        let line = lines.last_mut().map_or(0, |line| line.width());
        // Where others follow, the last line keeps room for their number.
        let tail = if is_last && at + 1 < side.seats.len() { more.len() + 3 } else { 0 };
        if line > 0 && line + 2 + name.width() + tail > width {
            if is_last {
                lines.last_mut().into_iter().for_each(|line| line.push_str(&format!("  {more}")));
                break;
            }
            lines.push(String::new());
        }
        let Some(line) = lines.last_mut() else { break };
        let gap = if line.is_empty() { "" } else { "  " };
        line.push_str(&format!("{gap}{name}"));
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// Who disagreed, where the bars do not name them; what would end a block; who gave no ballot.
pub fn apart(model: &Model, round: &RoundRun, width: usize) -> Vec<Line<'static>> {
    const MOST: usize = 3;
    let mut said = Vec::new();
    let (mut others, mut without) = (Vec::new(), Vec::new());
    let winners = winners(model.session(), round);
    for seat in seats(model.session(), round) {
        let name = harmless_line(seat.name);
        if let Some(Ballot::Consent(Stance::Block, change)) = seat.ballot() {
            let change =
                change.as_ref().map(|change| format!("; would pass with: {}", harmless_line(change)));
            said.push((format!("{name} blocks{}", change.unwrap_or_default()), true));
        } else if !names_seats(round.opened.ballot.kind) && dissents(&seat, &winners) {
            let stands =
                seat.ballot().and_then(Ballot::brief).map(|brief| format!(" ({})", harmless_line(&brief)));
            others.push(format!("{name}{}", stands.unwrap_or_default()));
        }
        let what = seat.ballot().map_or_else(
            || seat.outcome().map(|outcome| outcome.name().to_owned()),
            |ballot| (*ballot == Ballot::Abstain).then(|| "abstained".to_owned()),
        );
        let gave_none = seat.ballot().is_none_or(|ballot| *ballot == Ballot::Abstain);
        without.extend(what.filter(|_| gave_none).map(|what| format!("{name} ({what})")));
    }
    for (label, names) in [("Disagree", others), ("No ballot", without)] {
        if !names.is_empty() {
            let more = names.len().saturating_sub(8);
            let shown = names.iter().take(8).cloned().collect::<Vec<_>>().join(", ");
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            said.push((format!("{label}: {shown}{more}"), false));
        }
    }
    let style = |is_bad: bool| if is_bad { model.theme.bad() } else { model.theme.active() };
    let lines = said.into_iter().flat_map(|(text, is_bad)| {
        wrapped(&text, width, MOST).into_iter().map(move |line| Line::styled(line, style(is_bad)))
    });
    lines.collect()
}

/// Who moved since the last round of the same form, and how each option fared.
pub fn moved(model: &Model, round: &RoundRun, width: usize) -> Vec<Line<'static>> {
    let session = model.session();
    let (Some(moved), Some(before)) = (movement(session, round), earlier(session, round)) else {
        return Vec::new();
    };
    let title = format!("Since round {}", harmless_line(&before.opened.number.to_string()));
    let mut lines = vec![Line::styled(title, model.theme.strong())];
    if moved.moves.len() <= NAMED_MOVES {
        lines.extend(one_by_one(model, &moved, before, round, width));
    } else {
        for ((from, to), seats) in moved.flows() {
            let text = format!("{from} {} {to}: {}", model.theme.sign("→", "->"), seats.len());
            lines.extend(wrapped(&text, width, 2).into_iter().map(Line::from));
        }
    }
    let stayed = match (moved.moves.len(), moved.stayed.len()) {
        (0, stayed) => format!("nobody changed; {stayed} stayed"),
        (_, stayed) => format!("{stayed} stayed"),
    };
    lines.push(Line::styled(stayed, model.theme.faint()));
    if let (Some(was), Some(now)) = (tally(before), tally(round)) {
        let arrow = model.theme.sign("→", "->");
        let count = |option: &String| was.verdict.scores.get(option).map(ToString::to_string);
        let change = now.verdict.scores.iter().filter(|(option, now)| count(option) != Some(now.to_string()));
        let change: Vec<String> = change
            .take(12)
            .map(|(option, now)| {
                let was = count(option).unwrap_or_else(|| "0".to_owned());
                format!("{} {was} {arrow} {now}", harmless_line(option))
            })
            .collect();
        lines.extend(
            wrapped(&change.join("   "), width, 3)
                .into_iter()
                .filter(|line| !line.is_empty())
                .map(Line::from),
        );
    }
    lines
}

/// A line a seat that moved: from what to what, and how sure it was and is.
fn one_by_one(
    model: &Model,
    moved: &Movement,
    before: &RoundRun,
    round: &RoundRun,
    width: usize,
) -> Vec<Line<'static>> {
    let sure = |round: &RoundRun, seat: &str| {
        let seat = seats(model.session(), round).find(|other| other.name == seat)?;
        seat.answer().and_then(crate::insight::round_view::confidence)
    };
    let arrow = model.theme.sign("→", "->");
    let longest = moved.moves.iter().map(|one| one.seat.width()).max().unwrap_or(0).min(width / 3);
    let line = |one: &crate::insight::movement::Move| {
        let sure = match (sure(before, &one.seat), sure(round, &one.seat)) {
            (Some(was), Some(is)) => format!("  {was} {arrow} {is}"),
            (None, Some(is)) => format!("  {is}"),
            _ => String::new(),
        };
        let new = if one.has_new_argument { "" } else { "  no new argument" };
        let text = format!(
            "{}  {} {arrow} {}{sure}{new}",
            clipped_middle(&harmless_line(&one.seat), longest),
            harmless_line(&one.from),
            harmless_line(&one.to)
        );
        wrapped(&text, width, 2).into_iter().map(Line::from)
    };
    moved.moves.iter().flat_map(line).collect()
}
