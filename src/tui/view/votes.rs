//! The votes of a counted round: what was decided for first, on tracks with the rule's line; who moved.

use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use crate::ballot::{Ballot, BallotKind, Stance};
use crate::history::{RoundRun, Tally};
use crate::insight::movement::{Movement, earlier, movement};
use crate::insight::round_view::{confidence, seat_at, seats, tally};
use crate::insight::sides::{Bar, bars_with_seats};
use crate::sanitize::harmless_line;
use crate::tally::Rule;
use crate::tui::cell_text::{clipped_middle, wrapped};
use crate::tui::model::Model;

const LONGEST_TRACK: usize = 64;
/// The most seats that moved are named.
const NAMED_MOVES: usize = 30;

/// What the numbers beside the tracks are.
pub fn unit(round: &RoundRun) -> &'static str {
    const UNITS: [(Rule, &str); 5] = [
        (Rule::WeightedMajority, "weight"),
        (Rule::Approval, "approvals"),
        (Rule::Score, "mean score"),
        (Rule::Borda, "points"),
        (Rule::Schulze, "pairs won"),
    ];
    let kind = round.opened.ballot.kind.name();
    let rule = round.opened.rule.map_or(kind, Rule::name);
    UNITS.iter().find(|(of, _)| of.name() == rule).map_or("seats", |(_, unit)| unit)
}

/// How sure a seat is, in two digits: ".70".
pub fn sure(text: &str) -> String {
    let number = text.parse::<f64>().map(|sure| format!("{sure:.2}"));
    let short = number.map(|text| text.strip_prefix('0').map_or(text.clone(), str::to_owned));
    short.unwrap_or_else(|_| text.to_owned())
}

/// The sides with their places in the form: the highest first where their order says nothing else.
fn ordered<'a>(model: &'a Model, round: &'a RoundRun) -> Vec<(usize, Bar<'a>)> {
    let mut sides: Vec<(usize, Bar<'a>)> =
        bars_with_seats(model.session(), round).into_iter().enumerate().collect();
    if !matches!(round.opened.ballot.kind, BallotKind::Consent | BallotKind::Estimate) {
        sides.sort_by(|(_, a), (_, b)| b.score.as_f64().total_cmp(&a.score.as_f64()));
    }
    sides
}

/// Numbers that stand below each other, all with the same decimals.
fn figures(sides: &[(usize, Bar<'_>)]) -> Vec<String> {
    let numbers = sides.iter().map(|(_, side)| side.score.as_f64());
    let is_whole = numbers.clone().all(|number| number.fract().abs() < 1e-9);
    let texts: Vec<String> = numbers
        .map(|number| if is_whole { format!("{number:.0}") } else { format!("{number:.2}") })
        .collect();
    let width = texts.iter().map(String::len).max().unwrap_or(0);
    texts.into_iter().map(|text| format!("{text:>width$}")).collect()
}

/// The share of all seats that the rule needs, and its name.
fn line_of_rule(tally: &Tally) -> Option<(f64, &'static str)> {
    let valid: f64 = tally.verdict.scores.values().map(crate::tally::Score::as_f64).sum();
    let rule = tally.rule.filter(|_| tally.asked > 0 && valid > 0.0)?;
    let needed = match rule {
        Rule::Majority => (valid / 2.0).floor() + 1.0,
        Rule::Supermajority => {
            let share = rule.threshold(&tally.terms)?.to_string();
            let (above, below) = share.split_once('/').unwrap_or((&share, "1"));
            (valid * above.parse::<f64>().ok()? / below.parse::<f64>().ok()?).ceil()
        }
        Rule::Unanimous => valid,
        _ => return None,
    };
    Some((needed / tally.asked as f64, rule.name()))
}

/// The tracks: as long as all seats where each seat counts one, darker where one is surer.
pub fn bars(model: &Model, round: &RoundRun, width: usize) -> Vec<Line<'static>> {
    let (sides, theme) = (ordered(model, round), model.theme);
    let Some(counted) = tally(round).filter(|_| !sides.is_empty()) else { return Vec::new() };
    let longest = sides.iter().map(|(_, side)| harmless_line(side.name).width()).max().unwrap_or(0);
    let longest = longest.min(width / 3);
    let figures = figures(&sides);
    let changes: Vec<String> = sides.iter().map(|(_, side)| change(model, round, side)).collect();
    let of_changes = changes.iter().map(|change| change.width()).max().unwrap_or(0);
    let used = 2 + longest + 2 + 2 + figures.first().map_or(0, String::len) + of_changes + 2;
    let room = width.saturating_sub(used).min(LONGEST_TRACK);
    let rule = line_of_rule(counted).map(|(share, name)| ((share * room as f64).ceil() as usize, name));
    let mark = theme.sign("┊", ":");
    let mut lines = Vec::new();
    if let Some((at, name)) = rule {
        let before = (2 + longest + 2 + at).saturating_sub(name.len() + 1);
        lines.push(Line::styled(format!("{}{name} {mark}", " ".repeat(before)), theme.faint()));
    }
    for (((place, side), figure), change) in sides.iter().zip(figures).zip(changes) {
        let style = theme.option(*place);
        let bar = bar(side, room, names_seats(round.opened.ballot.kind));
        let filled = bar.chars().count();
        let rest = |cell: usize| if rule.is_some_and(|(at, _)| at == cell) { '┊' } else { '░' };
        let rest: String = (filled..room).map(rest).collect();
        // A track that ends at the line still shows it.
        let end = if rule.is_some_and(|(at, _)| at == room) { mark } else { " " };
        lines.push(Line::from(vec![
            Span::styled(format!("{} ", theme.option_sign(*place)), style),
            Span::raw(format!("{}  ", clipped_middle(&harmless_line(side.name), longest))),
            Span::styled(theme.drawn(bar), style),
            Span::styled(theme.drawn(rest), theme.faint()),
            Span::styled(end, theme.faint()),
            Span::styled(format!(" {figure}"), theme.strong()),
            Span::styled(format!("  {change}"), theme.faint()),
        ]));
    }
    lines
}

/// How an option fared since the last round: "▲ 2".
fn change(model: &Model, round: &RoundRun, side: &Bar<'_>) -> String {
    let before = earlier(model.session(), round).and_then(tally);
    let was =
        before.map(|before| before.verdict.scores.get(side.name).map_or(0.0, crate::tally::Score::as_f64));
    let by = side.score.as_f64() - was.unwrap_or(side.score.as_f64());
    let sign = if by > 0.0 { model.theme.sign("▲", "+") } else { model.theme.sign("▼", "-") };
    if by.abs() < 1e-9 {
        return String::new();
    }
    if by.fract().abs() < 1e-9 {
        format!("{sign} {:.0}", by.abs())
    } else {
        format!("{sign} {:.2}", by.abs())
    }
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
fn bar(side: &Bar<'_>, room: usize, is_named: bool) -> String {
    let cells =
        ((side.share * room as f64).floor() as usize).clamp(usize::from(side.share > 0.0), room.max(1));
    let seats = side.seats.len();
    if !is_named || seats == 0 || seats > cells || (seats as f64 - side.score.as_f64()).abs() > 0.01 {
        return "█".repeat(cells);
    }
    let shade = |cell: usize| match side.seats[cell * seats / cells].share() {
        sure if sure >= 0.66 => '█',
        sure if sure >= 0.33 => '▓',
        _ => '▒',
    };
    (0..cells).map(shade).collect()
}

/// Who blocks, and what would end that; who gave no ballot.
pub fn apart(model: &Model, round: &RoundRun, width: usize) -> Vec<Line<'static>> {
    const MOST: usize = 3;
    let mut said = Vec::new();
    let mut without = Vec::new();
    for seat in seats(model.session(), round) {
        let name = harmless_line(seat.name);
        if let Some(Ballot::Consent(Stance::Block, change)) = seat.ballot() {
            let change =
                change.as_ref().map(|change| format!("; would pass with: {}", harmless_line(change)));
            said.push((format!("{name} blocks{}", change.unwrap_or_default()), true));
        }
        let what = seat.ballot().map_or_else(
            || seat.outcome().map(|outcome| outcome.name().to_owned()),
            |ballot| (*ballot == Ballot::Abstain).then(|| "abstained".to_owned()),
        );
        let gave_none = seat.ballot().is_none_or(|ballot| *ballot == Ballot::Abstain);
        without.extend(what.filter(|_| gave_none).map(|what| format!("{name} ({what})")));
    }
    if !without.is_empty() {
        let more = without.len().saturating_sub(8);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let shown = without.iter().take(8).cloned().collect::<Vec<_>>().join(", ");
        said.push((format!("No ballot: {shown}{more}"), false));
    }
    let style = |is_strong: bool| if is_strong { model.theme.strong() } else { ratatui::style::Style::new() };
    let lines = said.into_iter().flat_map(|(text, is_block)| {
        wrapped(&text, width, MOST).into_iter().map(move |line| Line::styled(line, style(is_block)))
    });
    lines.collect()
}

/// Who moved since the last round of the same form.
pub fn moved(model: &Model, round: &RoundRun, width: usize) -> Vec<Line<'static>> {
    let session = model.session();
    let (Some(moved), Some(before)) = (movement(session, round), earlier(session, round)) else {
        return Vec::new();
    };
    let title = format!("Since round {}", before.opened.number);
    let mut lines = vec![Line::styled(title, model.theme.strong())];
    lines.extend(one_by_one(model, &moved, before, round, width));
    let stayed = match (moved.moves.len(), moved.stayed.len()) {
        (0, stayed) => format!("nobody changed; {stayed} stayed"),
        (_, stayed) => format!("{stayed} stayed"),
    };
    lines.push(Line::styled(stayed, model.theme.faint()));
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
    let arrow = model.theme.sign("→", "->");
    let longest = moved.moves.iter().map(|one| one.seat.width()).max().unwrap_or(0).min(width / 3);
    let line = |one: &crate::insight::movement::Move| {
        let new = if one.has_new_argument { "" } else { "  no new argument" };
        let text = format!(
            "{}  {} {arrow} {}{}{new}",
            clipped_middle(&harmless_line(&one.seat), longest),
            harmless_line(&one.from),
            harmless_line(&one.to),
            sure_then(model, before, round, &one.seat).map(|sure| format!("  {sure}")).unwrap_or_default()
        );
        wrapped(&text, width, 2).into_iter().map(Line::from)
    };
    moved.moves.iter().take(NAMED_MOVES).flat_map(line).collect()
}

/// How sure a seat was and is: ".31 → .70".
pub fn sure_then(model: &Model, before: &RoundRun, round: &RoundRun, seat: &str) -> Option<String> {
    let of = |round: &RoundRun| {
        let found = seat_at(model.session(), round, round.seats.get_index_of(seat)?)?;
        found.answer().and_then(confidence).map(|text| sure(&text))
    };
    let arrow = model.theme.sign("→", "->");
    let now = of(round)?;
    Some(of(before).map_or_else(|| now.clone(), |was| format!("{was} {arrow} {now}")))
}
