//! Votes of a counted round: bars, threshold, dissent, movement, count details.
//!
//! While the round is open, the pane shows the possible actions for the chosen seat.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::seats;
use crate::ballot::{Ballot, BallotKind, Stance};
use crate::core::{AskedQuestion, decided_by_person, questions};
use crate::history::{RoundRun, Tally};
use crate::insight::counts::{WhatIf, tables, what_if_all};
use crate::insight::headline::{question_headline, rehearsal_mark};
use crate::insight::independence::{Independence, independence};
use crate::insight::movement::{Move, earlier, movement};
use crate::insight::round_view::{self, Bar, bar_cells, confidence, scripted, seat_named, tally};
use crate::insight::wording::{first_names, money, turnout};
use crate::insight::{estimates, headline};
use crate::sanitize::harmless_line;
use crate::tally::{Rule, RuleOptions, Score};
use crate::tui::model::Model;
use crate::tui::text::{clipped, clipped_middle, paragraph, sure};
use crate::tui::theme::Theme;

const LONGEST_TRACK: usize = 64;
const NAMED_MOVES: usize = 30;

pub fn lines(model: &Model, width: u16) -> Vec<Line<'static>> {
    let (width, session, plain) = (usize::from(width), model.session(), Style::new());
    let Some(round) = model.shown_round() else { return Vec::new() };
    if round.closed.is_none() {
        return seats::card(model, round, width);
    }
    let Some(tally) = tally(round) else { return Vec::new() };
    let found = independence(session, round);
    let mut lines = head(model, width, found.as_ref());
    lines.push(Line::default());
    lines.extend(moved(model, round, width));
    let made = headline(session, round, tally);
    lines.extend(paragraph(&made.whole(), width, 8, model.theme.strong()));
    let quorum = if tally.quorum_met { "quorum met" } else { "quorum not met" };
    lines.extend(paragraph(&format!("{} · {quorum}", turnout(tally)), width, 4, plain));
    let prices = |name: &str| session.price(name);
    if let Some(spent) = money(&round.spent(&prices)) {
        let whole = money(&session.spent(&prices)).filter(|_| session.rounds.len() > 1);
        let whole = whole.map(|whole| format!("; session total: {whole}")).unwrap_or_default();
        lines.extend(paragraph(&format!("{spent}{whole}"), width, 4, plain));
    }
    let estimates = estimates(session, round).into_iter().map(|(what, said)| format!("{what}: {said}"));
    let around = found.iter().flat_map(Independence::notes).chain(estimates);
    lines.extend(around.flat_map(|line| paragraph(&harmless_line(&line), width, 4, plain)));
    let steps = tally.verdict.steps.iter().map(|step| format!("- {step}"));
    lines.extend(steps.flat_map(|step| paragraph(&step, width, 6, model.theme.faint())));
    lines.extend(tables(&tally.verdict).into_iter().map(|line| Line::styled(line, model.theme.faint())));
    lines
}

/// Returns the first lines: the questions if several, the bars, and a summary of the facilitator's note,
/// dissent, independence and other rules.
pub fn head(model: &Model, width: usize, found: Option<&Independence>) -> Vec<Line<'static>> {
    let Some(round) = model.shown_round() else { return Vec::new() };
    let Some(tally) = tally(round) else { return Vec::new() };
    let theme = model.theme;
    let mut lines = decisions(model, round, width);
    lines.extend(bars(model, round, tally, width));
    lines.extend(note_and_adoption(model, round, width));
    lines.extend(dissent(model, round, width));
    lines.extend(found.iter().flat_map(|found| independence_line(found, width, theme)));
    lines.extend(other_rules(model, round).iter().flat_map(|text| paragraph(text, width, 2, theme.faint())));
    lines
}

/// Returns the facilitator's note on the round, and whether its result was adopted.
fn note_and_adoption(model: &Model, round: &RoundRun, width: usize) -> Vec<Line<'static>> {
    let session = model.session();
    let is_made = !round_view::winners(session, round).is_empty();
    let mut said: Vec<String> = round.synthesis.iter().map(|note| format!("note: {note}")).collect();
    if let Some(asked) = session.approval_of(Some(round)).or(decided_by_person(session, round)) {
        let is_real = rehearsal_mark(session).is_empty() && scripted(session, round).0 == 0;
        let adopts = is_made && is_real && !asked.given.is_of_definition();
        let (done, adopted) =
            if asked.given.choice.is_some() { ("decided", "decided") } else { ("approved", "adopted") };
        let word = if adopts { adopted.to_owned() } else { format!("stays proposed: {done}") };
        let word = if asked.given.approved { word } else { "rejected".to_owned() };
        let why = asked.given.comment.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        said.push(format!("{word} by {}{why}", asked.given.approver()));
    } else if session.closed.is_some() && is_made {
        said.push("recommended by the seats; adopted by nobody".to_owned());
    }
    said.iter().flat_map(|said| paragraph(&harmless_line(said), width, 2, model.theme.strong())).collect()
}

/// Returns a line for each question of a session with several; the question of this round is marked.
fn decisions(model: &Model, round: &RoundRun, width: usize) -> Vec<Line<'static>> {
    const MOST: usize = 6;
    let (session, theme) = (model.session(), model.theme);
    let asked = questions(session);
    if asked.len() < 2 {
        return Vec::new();
    }
    let is_here =
        |one: &AskedQuestion<'_>| one.rounds.iter().any(|other| other.opened.round == round.opened.round);
    let line = |one: &AskedQuestion<'_>| {
        let (pointer, style) = if is_here(one) { ("▸", theme.strong()) } else { (" ", theme.faint()) };
        let question = harmless_line(one.decides.opened.question.lines().next().unwrap_or_default());
        let made = question_headline(session, one.decides).name;
        let made = harmless_line(made.strip_prefix(rehearsal_mark(session)).unwrap_or(&made));
        let room = width.saturating_sub(made.width().min(width / 2) + 4);
        let text = format!("{pointer} {}  {made}", clipped_middle(&question, room));
        Line::styled(clipped(&text, width), style)
    };
    let first = asked.iter().position(is_here).map_or(0, |here| (here + 1).saturating_sub(MOST));
    asked.iter().skip(first).take(MOST).map(line).collect()
}

/// Returns the independence of the answers; highlighted if one model may count several times.
fn independence_line(found: &Independence, width: usize, theme: Theme) -> Vec<Line<'static>> {
    let same: usize = found.same_answers.iter().map(Vec::len).sum();
    let shared = found.models.values().map(Vec::len).max().unwrap_or(0);
    let mut text = format!("independence: {}", found.counts());
    if shared > 1 {
        text.push_str(&format!(" · {shared} seats share one"));
    }
    if same > 0 {
        text.push_str(&format!(" · {same} say nearly the same"));
    }
    let style = if same > 0 || shared > 1 { theme.active() } else { theme.faint() };
    paragraph(&harmless_line(&text), width, 2, style)
}

fn other_rules(model: &Model, round: &RoundRun) -> Option<String> {
    const MOST_SEATS: usize = 200;
    if round.opened.rule.is_none() || round.seats.len() > MOST_SEATS {
        return None;
    }
    let found = what_if_all(model.session(), round, &RuleOptions::default());
    let others: Vec<&WhatIf> =
        found.iter().filter(|what| what.read_as.is_none() && !what.is_recorded).collect();
    let winner = |what: &WhatIf| what.verdict.winners.first().map_or("none", String::as_str).to_owned();
    let differs = others.iter().filter(|what| what.differs == Some(true));
    let differs: Vec<String> = differs.map(|what| format!("{} {}", what.rule.name(), winner(what))).collect();
    let (count, same) = (others.len(), others.len() - differs.len());
    let but = if differs.is_empty() { String::new() } else { format!("; {}", differs.join(", ")) };
    (count > 0).then(|| harmless_line(&format!("other rules (w): {same} of {count} say the same{but}")))
}

/// Returns the unit of the numbers next to the bars.
pub fn unit(round: &RoundRun) -> &'static str {
    match round.opened.rule.map_or(round.opened.ballot.kind.name(), Rule::name) {
        "weighted-majority" => "weight",
        "approval" => "approvals",
        "score" => "mean score",
        "borda" => "points",
        "schulze" => "pairs won",
        _ => "seats",
    }
}

/// Returns the sides with their form index, highest first; consent and estimate keep the form's order.
fn ordered<'a>(model: &'a Model, round: &'a RoundRun) -> Vec<(usize, Bar<'a>)> {
    let (bars, _) = round_view::bars(model.session(), round);
    let mut sides: Vec<(usize, Bar<'a>)> = bars.into_iter().enumerate().collect();
    if !matches!(round.opened.ballot.kind, BallotKind::Consent | BallotKind::Estimate) {
        sides.sort_by(|(_, a), (_, b)| b.score.as_f64().total_cmp(&a.score.as_f64()));
    }
    sides
}

fn is_whole(number: f64) -> bool {
    number.fract().abs() < 1e-9
}

/// Returns the share of all seats that the rule needs, and its name.
fn line_of_rule(tally: &Tally) -> Option<(f64, &'static str)> {
    let valid: f64 = tally.verdict.scores.values().map(Score::as_f64).sum();
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

fn bars(model: &Model, round: &RoundRun, tally: &Tally, width: usize) -> Vec<Line<'static>> {
    let (sides, theme) = (ordered(model, round), model.theme);
    let decimals = if sides.iter().all(|(_, side)| is_whole(side.score.as_f64())) { 0 } else { 2 };
    let figures: Vec<String> =
        sides.iter().map(|(_, side)| format!("{:.decimals$}", side.score.as_f64())).collect();
    let changes: Vec<String> = sides.iter().map(|(_, side)| change(model, round, side)).collect();
    let widest = |texts: &[String]| texts.iter().map(|text| text.width()).max().unwrap_or(0);
    let names: Vec<String> = sides.iter().map(|(_, side)| harmless_line(side.name)).collect();
    let (longest, of_figures) = (widest(&names).min(width / 3), widest(&figures));
    let used = 2 + longest + 2 + 2 + of_figures + widest(&changes) + 2;
    let room = width.saturating_sub(used).min(LONGEST_TRACK);
    let rule = line_of_rule(tally).filter(|_| !sides.is_empty());
    let rule = rule.map(|(share, name)| ((share * room as f64).ceil() as usize, name));
    let mut lines = Vec::new();
    if let Some((at, name)) = rule {
        let before = (2 + longest + 2 + at).saturating_sub(name.len() + 1);
        lines.push(Line::styled(format!("{}{name} ┊", " ".repeat(before)), theme.faint()));
    }
    for (at, (place, side)) in sides.iter().enumerate() {
        let style = theme.option(*place);
        let bar = bar(side, room, round.opened.ballot.kind);
        let rest = |cell: usize| if rule.is_some_and(|(at, _)| at == cell) { '┊' } else { '░' };
        let rest: String = (bar.chars().count()..room).map(rest).collect();
        // A threshold at the end of the bar stays visible.
        let end = if rule.is_some_and(|(at, _)| at == room) { "┊" } else { " " };
        lines.push(Line::from(vec![
            Span::styled(format!("{} ", Theme::option_sign(*place)), style),
            Span::raw(format!("{}  ", clipped_middle(&names[at], longest))),
            Span::styled(bar, style),
            Span::styled(rest + end, theme.faint()),
            Span::styled(format!(" {:>of_figures$}", figures[at]), theme.strong()),
            Span::styled(format!("  {}", changes[at]), theme.faint()),
        ]));
    }
    lines
}

/// Returns an option's change since the last round: "▲ 2".
fn change(model: &Model, round: &RoundRun, side: &Bar<'_>) -> String {
    let Some(before) = earlier(model.session(), round).and_then(tally) else { return String::new() };
    let by = side.score.as_f64() - before.verdict.scores.get(side.name).map_or(0.0, Score::as_f64);
    let sign = if by > 0.0 { "▲" } else { "▼" };
    match by.abs() {
        by if by < 1e-9 => String::new(),
        by if is_whole(by) => format!("{sign} {by:.0}"),
        by => format!("{sign} {by:.2}"),
    }
}

/// Returns a bar; if each seat counts as one, it consists of its seats, darker for higher confidence.
fn bar(side: &Bar<'_>, room: usize, kind: BallotKind) -> String {
    let is_named = matches!(
        kind,
        BallotKind::Choice | BallotKind::Approval | BallotKind::Consent | BallotKind::Estimate
    );
    let cells = bar_cells(side.share, room.max(1));
    let seats = side.seats.len();
    if !is_named || seats == 0 || seats > cells || (seats as f64 - side.score.as_f64()).abs() > 0.01 {
        return "█".repeat(cells);
    }
    let shade = |cell: usize| match side.seats[cell * seats / cells].sure.unwrap_or(1.0) {
        sure if sure >= 0.66 => '█',
        sure if sure >= 0.33 => '▓',
        _ => '▒',
    };
    (0..cells).map(shade).collect()
}

/// Returns the blocks with the change that would end them, and the seats without a ballot.
fn dissent(model: &Model, round: &RoundRun, width: usize) -> Vec<Line<'static>> {
    const MOST: usize = 3;
    const NAMED: usize = 8;
    let (mut lines, mut without) = (Vec::new(), Vec::new());
    for seat in round_view::seats(model.session(), round) {
        let (name, ballot) = (harmless_line(seat.name), seat.ballot());
        if let Some(Ballot::Consent(Stance::Block, change)) = ballot {
            let change = change.as_ref().map(|to| format!("; would pass with: {}", harmless_line(to)));
            let text = format!("{name} blocks{}", change.unwrap_or_default());
            lines.extend(paragraph(&text, width, MOST, model.theme.strong()));
        }
        if ballot == Some(&Ballot::Abstain) {
            without.push(format!("{name} (abstained)"));
        } else if let (None, Some(outcome)) = (ballot, seat.outcome) {
            without.push(format!("{name} ({})", outcome.name()));
        }
    }
    if !without.is_empty() {
        let text = format!("No ballot: {}", first_names(&without, NAMED));
        lines.extend(paragraph(&text, width, MOST, Style::new()));
    }
    lines
}

/// Returns the votes that changed since the last round of the same form, with both confidences.
fn moved(model: &Model, round: &RoundRun, width: usize) -> Vec<Line<'static>> {
    let session = model.session();
    let (Some(moved), Some(before)) = (movement(session, round), earlier(session, round)) else {
        return Vec::new();
    };
    let title = format!("Since round {}", before.opened.number);
    let mut lines = vec![Line::styled(title, model.theme.strong())];
    let longest = moved.moves.iter().map(|one| one.seat.width()).max().unwrap_or(0).min(width / 3);
    let line = |one: &Move| {
        let name = clipped_middle(&harmless_line(&one.seat), longest);
        let (from, to) = (harmless_line(&one.from), harmless_line(&one.to));
        let sure = confidence_change(model, before, round, &one.seat).map(|sure| format!("  {sure}"));
        let new = if one.has_new_argument { "" } else { "  no new argument" };
        let text = format!("{name}  {from} → {to}{}{new}", sure.unwrap_or_default());
        paragraph(&text, width, 2, Style::new())
    };
    lines.extend(moved.moves.iter().take(NAMED_MOVES).flat_map(line));
    let nobody = if moved.moves.is_empty() { "nobody changed; " } else { "" };
    lines.push(Line::styled(format!("{nobody}{} stayed", moved.stayed.len()), model.theme.faint()));
    lines
}

/// Returns a seat's confidence then and now: ".31 → .70".
pub fn confidence_change(model: &Model, before: &RoundRun, round: &RoundRun, seat: &str) -> Option<String> {
    let of = |round: &RoundRun| {
        let found = seat_named(model.session(), round, seat)?;
        found.answer.and_then(confidence).map(|text| sure(&text))
    };
    let now = of(round)?;
    Some(of(before).map_or_else(|| now.clone(), |was| format!("{was} → {now}")))
}
